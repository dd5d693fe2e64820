# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The generated reference pages are current, and have each parameter, topic, service, option and code exactly once."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from robot_semantics.cli.frame.explanations import explanations
from robot_semantics.cli.help import man_page
from robot_semantics.cli.running import all_commands

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

ROOT = Path(__file__).resolve().parents[2]
REFERENCE, COMMANDS, CODES = ((ROOT / "doc" / f"{name}.md").read_text() for name in ("reference", "commands", "codes"))


def sections(text: str, level: str) -> dict[str, list[str]]:
    """Return the first cells of the table rows of each section of a page."""
    parts = re.split(rf"^{level} (.+)$", text, flags=re.MULTILINE)
    found: dict[str, list[str]] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        cells = re.findall(r"^\| `((?:[^`|]|\\\|)+)` \|", body, flags=re.MULTILINE)
        found.setdefault(title, []).extend(cells)
    return found


def repeated(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


@pytest.mark.ros
def test_the_reference_is_current(ros_domain: int) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"],
        capture_output=True,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(ros_domain)},
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"run tools/reference.py:\n{done.stdout}{done.stderr}"


@pytest.mark.ros
def test_every_parameter_and_interface_is_there_exactly_once() -> None:
    from robot_semantics.ros.node import parameters
    from robot_semantics.ros.simulators import world_node as simulation_parameters

    names = [item.name for item in (*parameters.NODE, *parameters.ROBOT, *parameters.SNAPSHOTS)]
    names += [f"virtual_joints.NAME.{item.name}" for item in parameters.VIRTUAL_JOINT]
    tables = sections(REFERENCE.partition("\n## Topics and services\n")[0], "###")
    simulator = tables.pop("`mujoco_world`")
    documented = [name for rows in tables.values() for name in rows]
    assert repeated(documented) == [] == repeated(simulator)
    assert set(documented) == {*names, "simulators.entities.ENTITY"}
    assert set(simulator) == {item.name for item in simulation_parameters.TABLE}
    headings = re.findall(r"^### (\w+\.(?:msg|srv|action))$", REFERENCE, flags=re.MULTILINE)
    files = [path.name for kind in ("msg", "srv", "action") for path in (ROOT / "interfaces" / kind).iterdir()]
    assert sorted(headings) == sorted(files)


def test_every_topic_and_service_of_a_node_is_there_exactly_once() -> None:
    """`test_the_reference_is_current` compares the rows with running nodes."""
    tables = sections(REFERENCE.partition("\n## Topics and services\n")[2].partition("\n## Interfaces\n")[0], "###")
    assert set(tables) == {"`robot_semantics`", "`mujoco_world`"}
    assert repeated(tables["`mujoco_world`"]) == []
    # The node publishes and subscribes to these: one row for each direction.
    assert set(repeated(tables["`robot_semantics`"])) <= {"/tf", "/tf_static"}
    assert {"~/get_group", "joint_states", "~/generate_collision_matrix"} <= {
        row.lstrip("/") for row in tables["`robot_semantics`"]
    }


def test_every_option_is_there_exactly_once() -> None:
    documented = sections(COMMANDS, "##")
    shared = set(documented["Shared options"])
    listed = dict(zip(documented, re.split(r"^## ", COMMANDS, flags=re.MULTILINE)[1:], strict=True))
    for name, command in all_commands():
        if command.run is None:
            continue
        parser = argparse.ArgumentParser()
        command.declare(parser)
        assert repeated(documented[name]) == []
        also = re.findall(r"`(-[\w-]+)`", listed[name].rpartition("Shared: ")[2]) if "Shared: " in listed[name] else []
        rows = [row.split()[0].rstrip(",").partition("[")[0] for row in documented[name]]
        for action in parser._actions:
            if action.option_strings and action.help != argparse.SUPPRESS and action.dest != "help":
                times = [*rows, *also].count(action.option_strings[0])
                assert times == 1, f"{name} {action.option_strings[0]}"
        assert {*also} <= {row.split()[0].rstrip(",") for row in shared}
    assert set(documented) - {"Shared options"} == {name for name, command in all_commands() if command.run is not None}


def test_the_manual_page_is_current_and_has_every_command() -> None:
    page = (ROOT / "doc" / "robot_semantics.1").read_text()
    assert page == man_page()
    for name, _ in all_commands():
        assert f'.SH "{name.upper()}"' in page


def test_every_problem_code_is_there_exactly_once() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", CODES, flags=re.MULTILINE)
    assert rows == list(explanations())
