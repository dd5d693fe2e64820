# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A plugin: the files of tests that take longest begin first, so that no worker is left alone with one of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LONGEST = (
    "ros/test_where_a_robot_is.py",
    "ros/test_snapshots.py",
    "ros/test_live_page.py",
    "test_every_element.py",
    "ros/test_node_start.py",
    "ros/test_joint_sliders.py",
    "packaging/test_extras.py",
    "ros/test_in_other_hands.py",
    "ros/test_two_clocks.py",
    "ros/test_node_company.py",
    "ros/test_where_ros_cannot_start.py",
    "viewer/test_server.py",
    "test_one_state.py",
    "test_robot_sweep.py",
    "recording/test_fleet.py",
    "recording/test_parallel.py",
    "recording/test_bombs.py",
    "cli/test_ended_commands.py",
    "cli/test_pipes.py",
    "cli/test_exit_codes.py",
    "ros/test_mujoco_world.py",
    "ros/test_demo.py",
    "ros/test_soak.py",
    "recording/test_every_series_format.py",
    "recording/test_export_options.py",
    "packaging/test_colcon.py",
    "packaging/test_pip_install.py",
    "usdf/test_shared_snapshot_folder.py",
    "usdf/test_round_trip.py",
)
"""In the order in which they begin. xdist alone would begin with the files of most tests, and end with long ones."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the order of all others, and inside a file, stays."""
    ranks = {os.fspath(TESTS / file): rank for rank, file in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(os.fspath(item.path), len(ranks)))
