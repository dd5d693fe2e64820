# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`--node` without ROS 2, and beside files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from support.commands import RunCommand

COMMANDS = [("groups",), ("group", "arm"), ("find", "palm_link"), ("states",), ("fk",), ("usdf", "show")]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_ros_an_error_names_the_extra(
    run: RunCommand, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setitem(sys.modules, "robot_semantics.ros.tools.running_node", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "rclpy" else find_spec(name))
    result = run(*words, "--node")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: --node needs the Python module 'rclpy': ")
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_files_beside_a_node_are_wrong_usage(run: RunCommand, words: tuple[str, ...], rover: tuple[Path, Path]) -> None:
    result = run(*words[:1], *(words[1:] if words[0] == "usdf" else ()), *rover, *words[1:], "--node")
    assert result.code == 2


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("fk --node elbow_joint=1", "'elbow_joint=1' is not the name of a node: write --positions elbow_joint=1"),
        ("fk elbow_joint=1 --node", "unexpected 'elbow_joint=1'; did you mean '--positions elbow_joint=1'?"),
        ("states --node elbow_joint=1 --json", "is not the name of a node: write --positions elbow_joint=1"),
        ("groups --node robot.urdf", "'robot.urdf' is not the name of a node: --node replaces the files"),
        ("usdf show --node world.usdf", "'world.usdf' is not the name of a node: --node replaces the files"),
        ("group --node arm", "missing: GROUP; write it before --node"),
        ("find --node palm_link", "--passive-joints; write it before --node"),
        ("groups --node 2nd", "'2nd' is not the name of a node: write it before --node"),
    ],
)
def test_a_word_that_is_taken_as_the_name_of_a_node_is_an_error_with_the_remedy(
    run: RunCommand, line: str, remedy: str
) -> None:
    result = run(*line.split())
    assert result.code == 2
    assert result.err.rstrip().endswith(remedy)
