# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A plugin: the order of the tests, and the option `--cases`.

The files of tests that take longest begin first, so that no worker is left alone with one of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LONGEST = (
    "viewer/test_studio.py",
    "test_every_element.py",
    "viewer/test_hostile_names.py",
    "ros/test_live_view.py",
    "viewer/test_studio_drafts.py",
    "viewer/test_studio_collisions.py",
    "viewer/test_studio_keyboard.py",
    "ros/test_two_clocks.py",
    "xml/test_scaling.py",
    "viewer/test_server.py",
    "ros/test_where_a_robot_is.py",
    "test_other_systems.py",
    "test_robot_sweep.py",
    "viewer/test_studio_changes.py",
    "ros/test_live_page.py",
    "viewer/test_page.py",
    "ros/test_snapshots.py",
    "packaging/test_interrupted_tests.py",
    "viewer/test_studio_suggestions.py",
    "ros/test_in_other_hands.py",
    "base/test_yaml_reader.py",
    "ros/test_joint_sliders.py",
    "packaging/test_extras.py",
    "test_every_named_state.py",
    "viewer/test_studio_kills.py",
    "packaging/test_pip_install.py",
    "kinematics/test_loop_names.py",
    "lsp/test_kills.py",
    "ros/test_where_ros_cannot_start.py",
    "viewer/test_page_loops.py",
    "packaging/test_pages_in_order.py",
    "collision/test_spheres.py",
    "test_terminal.py",
    "ros/test_commands_with_node.py",
    "packaging/test_colcon.py",
    "ros/test_node_company.py",
    "ros/test_values_in_a_swap.py",
    "test_one_state.py",
    "ros/test_foreign_transforms.py",
    "recording/test_export_options.py",
    "model/test_urdf_corpus.py",
    "ros/test_entity_simulator.py",
    "simulation/test_world_export.py",
    "recording/test_every_series_format.py",
    "lsp/test_problems.py",
    "cli/test_json.py",
    "ros/test_node_start.py",
    "ros/test_soak.py",
    "kinematics/test_loops.py",
    "viewer/test_studio_3d.py",
    "viewer/test_every_element_on_pages.py",
    "viewer/test_studio_clicks.py",
    "comparison/test_planted_differences.py",
    "recording/test_bombs.py",
    "base/test_sets_of_files.py",
    "viewer/test_real_robots.py",
    "ros/test_spinning.py",
    "cli/test_generated_spheres.py",
    "lsp/test_hostile.py",
    "recording/test_plot.py",
    "ros/test_node_joint_states.py",
    "recording/test_corruption.py",
)
"""In the order in which they begin. xdist alone would begin with the files of most tests, and end with long ones."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--cases`."""
    text = "run at most N cases of each test: one of each kind (first parameter), then others, spread over the list"
    parser.addoption("--cases", type=int, metavar="N", help=text)


def chosen(cases: Sequence[pytest.Item], most: int) -> list[pytest.Item]:
    """Return at most `most` cases of one test: one for each value of its first parameter, then others."""
    first: dict[str, pytest.Item] = {}
    for case in cases:
        spec = getattr(case, "callspec", None)
        first.setdefault(repr(next(iter(spec.params.values()), None)) if spec is not None else "", case)
    kinds = list(first.values())
    if len(kinds) >= most:
        return spread(kinds, most)
    others = [case for case in cases if case not in kinds]
    return kinds + spread(others, most - len(kinds))


def spread(cases: Sequence[pytest.Item], most: int) -> list[pytest.Item]:
    """Return at most `most` cases with equal distances in the list, the first among them."""
    if len(cases) <= most:
        return list(cases)
    return [cases[number * len(cases) // most] for number in range(most)]


def first_longest(items: list[pytest.Item]) -> None:
    """Put the longest files first; the order of all others, and inside a file, stays."""
    ranks = {os.fspath(TESTS / file): rank for rank, file in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(os.fspath(item.path), len(ranks)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose cases, and put the longest files first."""
    most = config.getoption("--cases")
    if most is not None:
        tests: dict[tuple[str, str], list[pytest.Item]] = {}
        for item in items:
            assert item.parent is not None
            tests.setdefault((item.parent.nodeid, getattr(item, "originalname", item.name)), []).append(item)
        kept = {case for cases in tests.values() for case in chosen(cases, most)}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    first_longest(items)
