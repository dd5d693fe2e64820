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
