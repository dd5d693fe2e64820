# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""YAML files of MoveIt and ros2_control in an editor, together with the URDF and the SRDF of their package."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from support.configured_arm import srdf, urdf
from support.editor import Editor, position, text_at

from robot_semantics.cli.main import main

LIMITS = """joint_limits:
  shoulder:
    has_velocity_limits: true
    max_velocity: 1
  elbw: # 😀
    has_velocity_limits: true
    max_velocity: 9.0
"""
CONTROLLERS = """controller_manager:
  ros__parameters:
    update_rate: 100
    arm_controller:
      type: joint_trajectory_controller/JointTrajectoryController
arm_controller:
  ros__parameters:
    joints: ["shoulder", 'elbow']
    command_interfaces: [position]
    state_interfaces: [position, velocity]
"""
MOVEIT = """moveit_simple_controller_manager:
  controller_names:
    - arm_controller
  arm_controller:
    type: FollowJointTrajectory
    action_ns: follow_joint_trajectory
    joints:
      - shoulder
      - elbow
"""
SOLVERS = """arm:
  kinematics_solver: kdl_kinematics_plugin/KDLKinematicsPlugin
  kinematics_solver_timeout: 0.1
"""
FILES = {
    "arm.urdf": urdf(),
    "arm.srdf": srdf(),
    "joint_limits.yaml": LIMITS,
    "ros2_controllers.yaml": CONTROLLERS,
    "moveit_controllers.yaml": MOVEIT,
    "kinematics.yaml": SOLVERS,
}


@pytest.fixture
def arm(editor: Editor, folder: Path) -> Editor:
    """The files of the arm, all open."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for name in FILES:
        editor.open(name)
    return editor


def here(editor: Editor, name: str, mark: str, offset: int = 0) -> dict[str, Any]:
    return {"text_document": editor.identifier(name), "position": editor.at(name, mark, offset)}


def test_problems_are_those_of_check(arm: Editor, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path.cwd()
    os.chdir(folder)
    try:
        main(["check", *FILES, "--all", "--json"])
    finally:
        os.chdir(before)
    expected = [
        (row["file"], row["code"], row["line"] - 1) for row in json.loads(capsys.readouterr().out)["diagnostics"]
    ]
    found = [(name, problem.code, problem.range.start.line) for name in FILES for problem in arm.problems(name)]
    assert sorted(found) == sorted(expected)
    assert len({code for _, code, _ in found}) > 1
    (unknown,) = [problem for problem in arm.problems("joint_limits.yaml") if problem.code == "unknown-joint"]
    assert text_at(LIMITS, unknown.range) == "elbw"
    arm.change("joint_limits.yaml", LIMITS.replace("elbw", "elbow"))
    assert "unknown-joint" not in {problem.code for problem in arm.problems("joint_limits.yaml")}


def test_the_fix_is_that_of_check(arm: Editor, folder: Path) -> None:
    whole = types.Range(types.Position(0, 0), types.Position(100, 0))
    only = types.CodeActionContext([], only=["source.fixAll"])
    name = "joint_limits.yaml"
    (action,) = arm.ask("textDocument/codeAction", types.CodeActionParams(arm.identifier(name), whole, only))
    main(["check", *(str(folder / each) for each in FILES), "--fix"])
    (edit,) = action.edit.changes[arm.uri(name)]
    lines = LIMITS.split("\n")
    start, end = edit.range.start, edit.range.end
    head = "\n".join([*lines[: start.line], lines[start.line][: start.character]])
    tail = "\n".join([lines[end.line][end.character :], *lines[end.line + 1 :]])
    assert head + edit.new_text + tail == (folder / name).read_text()
    assert "max_velocity: 1.0" in (folder / name).read_text()


@pytest.mark.parametrize(
    ("name", "mark", "target"),
    [
        ("joint_limits.yaml", "shoulder:", ("arm.urdf", '<joint name="shoulder" type')),
        ("ros2_controllers.yaml", "elbow", ("arm.urdf", '<joint name="elbow" type')),
        ("moveit_controllers.yaml", "- shoulder", ("arm.urdf", '<joint name="shoulder" type')),
        ("moveit_controllers.yaml", "- arm_controller", ("ros2_controllers.yaml", "    arm_controller:\n      type")),
        ("kinematics.yaml", "arm:", ("arm.srdf", '<group name="arm"')),
    ],
)
def test_a_name_leads_to_its_declaration(arm: Editor, name: str, mark: str, target: tuple[str, str]) -> None:
    (found,) = arm.ask("textDocument/definition", types.DefinitionParams(**here(arm, name, mark, 3)))
    file, text = target
    whole = FILES[file]
    word = text_at(whole, found.range)
    assert word in mark
    assert (found.uri, found.range.start) == (arm.uri(file), position(whole, whole.index(text) + text.index(word)))


def test_a_joint_is_renamed_in_all_files(arm: Editor) -> None:
    where = here(arm, "joint_limits.yaml", "shoulder:")
    change = arm.ask("textDocument/rename", types.RenameParams(new_name="hip", **where))
    changed = {arm.uri(name) for name, text in FILES.items() if "shoulder" in text}
    assert set(change.changes) == changed
    for uri, edits in change.changes.items():
        text = FILES[uri.rpartition("/")[2]]
        assert len(edits) == text.count("shoulder")
        assert all(text_at(text, edit.range) == "shoulder" and edit.new_text == "hip" for edit in edits)
    with pytest.raises(JsonRpcException, match="cannot be written"):
        arm.ask("textDocument/rename", types.RenameParams(new_name="a: b", **where))


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("joint_limits:\n  sh§", {"shoulder", "elbow"}, {"arm", "base"}),
        ("arm_controller:\n  ros__parameters:\n    joints:\n      - §", {"shoulder"}, {"arm"}),
        ("arm_controller:\n  ros__parameters:\n    joints:\n      - shoulder\n      - el§", {"elbow"}, {"arm"}),
        ("a:\n  ros__parameters:\n    joints: [shoulder, §", {"elbow"}, {"arm"}),
        ("m:\n  controller_names:\n  - §", {"arm_controller"}, {"elbow"}),
        ("§", {"arm", "arm_controller"}, {"elbow"}),
        ("joint_limits:\n  shoulder:\n    max_velocity: §", set(), {"elbow", "arm"}),
    ],
)
def test_names_that_fit_are_offered(arm: Editor, text: str, some: set[str], none: set[str]) -> None:
    arm.open("new.yaml", text.replace("§", ""))
    at = position(text, text.index("§"))
    params = types.CompletionParams(text_document=arm.identifier("new.yaml"), position=at)
    words = {item.text_edit.new_text for item in arm.ask("textDocument/completion", params)}
    assert some <= words
    assert not none & words


def test_other_yaml_files_have_no_problems(editor: Editor, folder: Path) -> None:
    editor.open("compose.yml", "services:\n  robot:\n    image: ros:jazzy\n")
    assert editor.problems("compose.yml") == []


OUTLINED = """# limits
joint_limits:
  shoulder:
    has_velocity_limits: true   # a note

    max_velocity: 1.5
  elbow: {max_velocity: 1.5}
text: |
  no: key
controller_list:
- name: arm_controller
  joints:
    - shoulder
after: 1
"""
TREE = {
    "joint_limits": {"shoulder": {"has_velocity_limits": {}, "max_velocity": {}}, "elbow": {"max_velocity": {}}},
    "text": {},
    "controller_list": {"name": {}, "joints": {}},
    "after": {},
}


def test_the_outline_has_the_keys_and_blocks_fold(arm: Editor) -> None:
    name = "joint_limits.yaml"
    arm.change(name, OUTLINED)
    found = arm.ask("textDocument/documentSymbol", types.DocumentSymbolParams(arm.identifier(name)))

    def tree(symbols: list[types.DocumentSymbol]) -> dict[str, Any]:
        for symbol in symbols:
            assert text_at(OUTLINED, symbol.selection_range) == symbol.name
            assert text_at(OUTLINED, symbol.range).startswith(symbol.name)
        return {symbol.name: tree(list(symbol.children or ())) for symbol in symbols}

    assert tree(found) == TREE
    shoulder, _ = found[0].children
    assert (shoulder.kind, shoulder.detail) == (types.SymbolKind.Function, "joint")
    folds = arm.ask("textDocument/foldingRange", types.FoldingRangeParams(arm.identifier(name)))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(1, 6), (2, 5), (7, 8), (9, 12), (11, 12)]
