# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What commands print for programs: of every command by its schema, when it succeeds and when it fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands import RunCommand
from support.json_shapes import validate

from robot_semantics.cli import main as command_line
from robot_semantics.cli.running import all_commands
from robot_semantics.cli.schema import command_schema, schema
from robot_semantics.examples import example

ROBOT = ("robot.urdf", "robot.srdf")
FEW = ("--samples", "50")

# Of every command: words with which it gives a result, in a folder with the example's files.
GIVEN: dict[str, list[tuple[str, ...]]] = {
    "check": [ROBOT, ("odd.urdf",)],
    "explain": [(), ("unknown-link",)],
    "show": [ROBOT, ("robot.urdf",)],
    "fk": [("robot.urdf",), (*ROBOT, "--world", "world.usdf"), (*ROBOT, "--positions", "world_joint/x=1")],
    "group": [(*ROBOT, "arm"), (*ROBOT, "base")],
    "groups": [ROBOT],
    "states": [ROBOT, (*ROBOT, "arm/reach", "--fill"), (*ROBOT, "gripper", "--positions", "left_finger_joint=0.04")],
    "find": [
        (*ROBOT, "palm_link"),
        (*ROBOT, "--pair", "palm_link", "base_link"),
        (*ROBOT, "--pair", "palm_link", "palm_link"),
        (*ROBOT, "--end-effectors"),
        (*ROBOT, "--passive-joints"),
    ],
    "srdf new": [("robot.urdf", "-o", "made.srdf")],
    "srdf add": [("robot.srdf", "--urdf", "robot.urdf", "--state", "arm/low", "lift_joint=0", "-o", "made.srdf")],
    "srdf remove": [("robot.srdf", "--urdf", "robot.urdf", "--state", "arm/reach", "-o", "made.srdf")],
    "srdf rename": [("robot.srdf", "group", "arm", "limb", "--urdf", "robot.urdf", "-o", "made.srdf")],
    "expand": [("robot.urdf",)],
    "upgrade": [("robot.urdf",), ("robot.urdf", "-o", "upgraded.urdf")],
    "collisions generate": [("robot.urdf", "-o", "pairs.srdf", *FEW)],
    "collisions check": [(*ROBOT, *FEW)],
    "collisions table": [(*ROBOT, *FEW)],
    "collisions enable": [("robot.srdf", "base_link", "palm_link", "--urdf", "robot.urdf", "-o", "made.srdf")],
    "collisions disable": [("robot.srdf", "base_link", "palm_link", "--urdf", "robot.urdf", "-o", "made.srdf")],
    "collisions witness": [("robot.urdf", "base_link", "palm_link", *FEW)],
    "collisions diff": [("robot.srdf", "robot.srdf"), ("robot.srdf", "block.srdf")],
    "export": [("recording", "--at", "0", "--dry-run"), ("recording", "--each", "-o", "states")],
    "bag": [("world.usdf", "-o", "again")],
    "view": [("robot.urdf", "--png", "robot.png", "--size", "64x64")],
    "plot": [("world.usdf", "-o", "plot.png")],
    "sim run": [("world.usdf", "--steps", "1"), ("world.usdf", "--steps", "1", "-o", "later.usdf")],
    "sim export": [("world.usdf", "-o", "model.xml")],
    "sim example": [()],
    "doctor": [("--no-ros",)],
    "example": [("made",)],
    "schema": [("check",)],
    "conformance": [("--reader", "false", "--format", "usdf")],
    "completion": [("bash",)],
    "usdf new": [("robot.urdf", "-o", "new.usdf")],
    "usdf check": [("world.usdf",)],
    "usdf show": [("world.usdf",)],
    "usdf resolve": [("world.usdf",)],
    "usdf diff": [("world.usdf", "world.usdf"), ("world.usdf", "other.usdf")],
    "usdf merge": [("world.usdf", "-o", "merged.usdf")],
    "usdf split": [("world.usdf", "-o", "parts")],
    "usdf interpolate": [("world.usdf", "world.usdf", "--share", "0.5")],
    "usdf from-series": [("series.npz", "-o", "back.usdf")],
    "usdf convert": [("world.usdf", "--to", "json")],
    "usdf edit": [("world.usdf", "--joint", "rover_arm/lift_joint", "0.2")],
}

# Answered by a running node, and tested beside one.
OF_A_NODE = {"snapshot save", "snapshot restore", "snapshot list", "snapshot delete"}
# Served until they are stopped: there is no result.
SERVED = {"studio"}


PROBLEMS = json.loads(schema("check"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a recording of the example's world, and a series made of it."""
    made = tmp_path_factory.mktemp("recorded")
    world = example("rover_arm.usdf")
    assert command_line.main(["bag", str(world), "-o", str(made / "recording")]) == 0
    assert command_line.main(["export", str(made / "recording"), "--every", "0.1", "-o", str(made / "series.npz")]) == 0
    return made


@pytest.fixture
def prepared(recorded: Path, folder: Path) -> Path:
    shutil.copytree(recorded, folder, dirs_exist_ok=True)
    (folder / "odd.urdf").write_text('<robot name="r"><link name="a"/><joint name="j" type="fixed"/></robot>')
    (folder / "other.usdf").write_text((folder / "world.usdf").read_text().replace('name="world_1"', 'name="other"'))
    return folder


def test_every_command_is_tried_here_or_needs_a_node_or_serves() -> None:
    does = {words: command for words, command in all_commands() if command.run is not None}
    assert {*GIVEN, *OF_A_NODE, *SERVED} == set(does)
    assert {words for words, command in does.items() if command.serves} == SERVED


@pytest.mark.parametrize("command", GIVEN)
def test_a_result_is_as_the_commands_schema_says(command: str, prepared: Path, run: RunCommand) -> None:
    shape = json.loads(command_schema(command))
    for words in GIVEN[command]:
        versioned = run(*command.split(), *words, "--json=1")
        assert versioned.code in (0, 1), versioned.err
        value = json.loads(versioned.out)
        validate(value, shape)
        assert "version" in value or value["format"] == "urn:robot-semantics:usdf:1"
        plain = run(*command.split(), *words, "--json", *["--force"] * ("-o" in words or "--png" in words))
        alone = json.loads(plain.out)
        if "--json alone" in shape["description"] and "version" not in alone:
            assert alone in value.values()
        else:
            assert alone.keys() == value.keys()


# How a line is wrong: words that stand for its first file, or are added to it; and the exit code.
WRONG: dict[str, tuple[str | None, tuple[str, ...], int]] = {
    "a missing file": ("missing.xml", (), 1),
    "a folder": ("folder", (), 1),
    "no XML": ("noise.xml", (), 1),
    "another document": ("other.xml", (), 1),
    "an unknown option": (None, ("--no-such-option",), 2),
}
# What reads no file that stands first on the line.
WITHOUT_FILES = {"explain", "doctor", "example", "schema", "conformance", "completion", "sim example"}


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("command", GIVEN)
def test_an_error_is_a_problem_as_json_and_as_a_line(command: str, how: str, prepared: Path, run: RunCommand) -> None:
    (prepared / "folder").mkdir()
    (prepared / "noise.xml").write_bytes(bytes(range(256)))
    (prepared / "other.xml").write_text("<sdf version='1.12'><world name='w'/></sdf>")
    instead, more, code = WRONG[how]
    if (instead and command in WITHOUT_FILES) or (command, how) == ("expand", "another document"):
        pytest.skip("reads no file, or any")
    first, *others = (*GIVEN[command][0], *more) or more
    result = run(*command.split(), instead or first, *others, "--json=1")
    assert result.code == code, result
    assert result.err or command in ("check", "usdf check")
    value = json.loads(result.out)
    validate(value, PROBLEMS)
    assert not value["ok"]
    assert value["errors"] > 0


def test_a_command_without_json_has_no_schema(run: RunCommand) -> None:
    result = run("schema", "json", "studio")
    assert (result.code, result.out) == (1, "")
    assert "unknown command with JSON 'studio'" in result.err
    assert "did you mean 'usdf diff'" in run("schema", "json", "usdf", "dif").err
    assert run("schema", "usdf", "check").code == 2


def test_the_schema_of_a_command_is_printed(run: RunCommand) -> None:
    printed = json.loads(run("schema", "json", "collisions", "check").out)
    assert printed["$id"] == "urn:robot-semantics:commands:1:collisions-check"
    assert set(printed["required"]) == {"version", "samples", "seed", "dangerous", "findings"}


def test_a_version_of_json_that_is_not_known_is_wrong_usage(prepared: Path, run: RunCommand) -> None:
    assert run("groups", *ROBOT, "--json=2").code == 2
