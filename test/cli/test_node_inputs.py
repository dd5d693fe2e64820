# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`--node` without ROS 2, and beside files."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import RunCommand

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli import check
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.node_inputs import AskedNode
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.model.robot_model import RobotModel

COMMANDS = [
    ("groups",),
    ("groups", "arm"),
    ("groups", "--link", "palm_link"),
    ("show",),
    ("check",),
    ("collisions", "check"),
    ("collisions", "table"),
    ("collisions", "witness", "base_link", "palm_link"),
    ("usdf", "resolve"),
    ("states",),
    ("fk",),
    ("usdf", "show"),
]


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


# The words of `usdf resolve` are names, beside a node as well.
@pytest.mark.parametrize("words", [words for words in COMMANDS if "resolve" not in words], ids=" ".join)
def test_files_beside_a_node_are_wrong_usage(run: RunCommand, words: tuple[str, ...], rover: tuple[Path, Path]) -> None:
    start = 2 if words[0] in ("usdf", "collisions") else 1
    result = run(*words[:start], *rover, *words[start:], "--fix" if words == ("check",) else "--quiet", "--node")
    assert result.code == 2


NO_FILES = ": --live takes no files; the name of a node follows an equals sign: --node=NAME"


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("fk --node elbow_joint=1", "unexpected 'elbow_joint=1'; did you mean '--joint elbow_joint=1'?"),
        ("fk elbow_joint=1 --node", "unexpected 'elbow_joint=1'; did you mean '--joint elbow_joint=1'?"),
        ("usdf show --node world.usdf", "unexpected 'world.usdf'; see --help"),
        ("groups --node palm_link x", "unexpected 'x'; see --help"),
        ("groups --node=2nd", "argument --node: '2nd' is not the name of a node"),
        ("groups --node=", "argument --node: '' is not the name of a node"),
        ("groups robot.urdf robot.srdf --timeout 2", "--timeout needs --node"),
        ("show --node --timeout soon", "argument --timeout: should be a number, not 'soon'"),
        ("view robot.urdf --node", "--node needs --live"),
        ("view --live --node /left/robot_semantics", f"'/left/robot_semantics'{NO_FILES}"),
        ("view --live robot.urdf", f"'robot.urdf'{NO_FILES}"),
        ("view --live --urdf robot.urdf", "--urdf cannot be used with --live"),
        ("view --live --loops robot.yaml", "--loops cannot be used with --live"),
        ("view --live --png picture.png", "--png cannot be used with --live"),
        ("view --live --html page.html", "--html cannot be used with --live"),
        ("view --live --state arm/home", "--state cannot be used with --live"),
        ("view --live --joint elbow_joint=1", "--joint cannot be used with --live"),
        ("view --live --model r", "--model cannot be used with --live"),
        ("view --live --witnesses pairs.json", "--witnesses cannot be used with --live"),
        ("view --live --spheres", "--spheres cannot be used with --live"),
        ("view --live --collision-geometry", "--collision-geometry cannot be used with --live"),
        ("view --live --view top", "--view cannot be used with --live"),
    ],
)
def test_only_an_equals_sign_names_another_node(run: RunCommand, line: str, remedy: str) -> None:
    result = run(*line.split())
    assert result.code == 2
    assert result.err.rstrip().endswith(remedy)


def test_the_word_behind_node_is_not_the_name_of_a_node(run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[AskedNode] = []

    def robot(node: AskedNode, _: Diagnostics) -> RobotModel:
        asked.append(node)
        return load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))

    monkeypatch.setattr(inputs, "robot_of_node", robot)
    for words in (("--node", "arm"), ("arm", "--node"), ("--node=/other", "arm", "--timeout", "2")):
        result = run("groups", *words, "--json")
        assert result.code == 0, result.err
        assert "lift_joint" in json.loads(result.out)["joints"]
    assert asked == [("/robot_semantics", 10.0), ("/robot_semantics", 10.0), ("/other", 2.0)]


def test_check_reports_the_problems_of_the_texts_of_a_node(run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = '<robot name="r"><link name="a"/><link name="a"/></robot>'
    texts = [
        SimpleNamespace(urdf=bad, srdf="", loops="", implicit_links=False),
        SimpleNamespace(
            urdf=example("rover_arm.urdf").read_text(),
            srdf=example("rover_arm.srdf").read_text(),
            loops="",
            implicit_links=False,
        ),
    ]
    monkeypatch.setattr(check, "texts_of_node", lambda _: texts.pop(0))
    result = run("check", "--node", "--json")
    assert result.code == 1
    (problem,) = json.loads(result.out)["diagnostics"]
    assert (problem["code"], problem["file"]) == ("duplicate-name", "robot_description")
    assert run("check", "--node").out == "2 files checked: no problems\n"
    assert run("check", "--node", "--for", "moveit").code == 2
