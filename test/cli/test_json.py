# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""JSON output of every command, checked by its schema, for success and for failure."""

from __future__ import annotations

import argparse
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
from robot_semantics.kinematics.joint_orders import ORDERS

ROBOT = ("robot.urdf", "robot.srdf")
FEW = ("--samples", "50")
OF_ROBOT = ("--urdf", "robot.urdf")

# Of every command: words with which it gives a result, in a folder with the example's files.
GIVEN: dict[str, list[tuple[str, ...]]] = {
    "check": [ROBOT, ("odd.urdf",), ("world.usdf",)],
    "info": [("robot.urdf",), ("robot.srdf",), ("world.usdf",), ("series.npz",), ("recording",), ("bags",)],
    "explain": [(), ("unknown-link",)],
    "show": [
        ROBOT,
        ("robot.urdf",),
        *((*ROBOT, "--order", order) for order in ORDERS),
        (*ROBOT, "--map", "mujoco", "isaacsim"),
        (*ROBOT, "--pair", "palm_link", "base_link"),
        (*ROBOT, "--pair", "palm_link", "palm_link"),
        (*ROBOT, "--end-effectors"),
        (*ROBOT, "--passive-joints"),
    ],
    "diff": [
        ("robot.urdf,robot.srdf", "robot.urdf,bare.srdf"),
        ("robot.urdf", "robot.urdf"),
        ("world.usdf", "world.usdf"),
        ("world.usdf", "other.usdf"),
        ("robot.srdf", "robot.srdf"),
        ("robot.srdf", "block.srdf"),
    ],
    "fk": [("robot.urdf",), (*ROBOT, "--joint", "world_joint/x=1")],
    "groups": [ROBOT, (*ROBOT, "arm"), (*ROBOT, "base"), (*ROBOT, "--link", "palm_link")],
    "states": [ROBOT, (*ROBOT, "arm/reach", "--fill"), (*ROBOT, "gripper", "--joint", "left_finger_joint=0.04")],
    "collisions generate": [("robot.urdf", "-o", "pairs.srdf", *FEW)],
    "collisions check": [(*ROBOT, *FEW)],
    "collisions table": [(*ROBOT, *FEW)],
    "collisions witness": [("robot.urdf", "base_link", "palm_link", *FEW)],
    "collisions spheres check": [ROBOT, ("robot.urdf", "--spheres", "robot.srdf", "--tolerance", "0.1")],
    "export": [
        ("recording", "--at", "0", "--dry-run"),
        ("series.npz", "--at", "0", "-o", "then.usdf"),
        ("recording", "--each", "-o", "states"),
    ],
    "bag": [("world.usdf", "-o", "again"), ("world.usdf", "--dry-run")],
    "plot": [("world.usdf", "-o", "p.png")],
    "compose": [
        ("robot.urdf", "robot.urdf", "--at", "palm_link", "--prefix", "l_", "-o", "two.urdf"),
        (",".join(ROBOT), "robot.urdf", "--at", "palm_link", "--prefix", "l_", "--dry-run", *FEW),
    ],
    "view": [
        (*ROBOT, "--html", "page.html", "--png", "robot.png", "--size", "64x48"),
        ("robot.urdf", "--html", "other.html", "--dry-run"),
    ],
    "sim run": [
        ("world.usdf", "--steps", "2", "-o", "later.usdf"),
        ("world.usdf", "--steps", "4", "--every", "0.004", "-o", "later"),
        ("world.usdf", "--steps", "4", "--every", "0.004", "--dry-run"),
    ],
    "srdf new": [("robot.urdf", "--suggest", "-o", "new.srdf"), ("robot.urdf", "--dry-run")],
    "srdf add": [("robot.srdf", *OF_ROBOT, "--passive-joint", "elbow_joint", "-o", "more.srdf")],
    "srdf remove": [("robot.srdf", *OF_ROBOT, "--state", "arm/reach", "--dry-run")],
    "srdf rename": [
        ("robot.srdf", "group", "arm", "limb", *OF_ROBOT, "-o", "limb.srdf"),
        ("robot.srdf", "joint", "elbow_joint", "elbow", *OF_ROBOT, "--in-urdf", "--in-place"),
    ],
    "collisions enable": [("robot.srdf", "palm_link", "base_link", *OF_ROBOT, "--in-place")],
    "collisions disable": [("robot.srdf", "palm_link", "base_link", *OF_ROBOT, "-o", "less.srdf")],
    "example": [("here",), ("--path",)],
    "usdf split": [("world.usdf", "-o", "models")],
    "doctor": [("--no-ros",)],
    "usdf show": [("world.usdf",)],
    "usdf resolve": [("world.usdf",), ("world.usdf", "--links", "rover_arm")],
}

# Answered by a running node, and tested beside one.
OF_A_NODE = {"snapshot save", "snapshot restore", "snapshot list", "snapshot delete"}


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
    shutil.copytree(recorded / "recording", folder / "bags" / "one")
    (folder / "odd.urdf").write_text('<robot name="r"><link name="a"/><joint name="j" type="fixed"/></robot>')
    (folder / "bare.srdf").write_text(
        '<robot name="rover_arm"><group name="g"><joint name="elbow_joint"/></group></robot>'
    )
    (folder / "other.usdf").write_text((folder / "world.usdf").read_text().replace('name="world_1"', 'name="other"'))
    return folder


def test_every_command_with_json_is_tried_here_or_needs_a_node() -> None:
    does = {words: command for words, command in all_commands() if command.run is not None}
    for words, command in does.items():
        parser = argparse.ArgumentParser()
        command.declare(parser)
        has_json = "--json" in parser._option_string_actions
        assert has_json == (words in GIVEN or words in OF_A_NODE), words


@pytest.mark.parametrize("command", GIVEN)
def test_a_result_is_as_the_commands_schema_says(command: str, prepared: Path, run: RunCommand) -> None:
    shape = json.loads(command_schema(command))
    for words in GIVEN[command]:
        result = run(*command.split(), *words, "--json")
        assert result.code in (0, 1), result.err
        value = json.loads(result.out)
        validate(value, shape)
        # `usdf show` prints a world state in the JSON form, which has its own format key.
        version = 1 if command == "collisions spheres check" else 2
        assert value.get("version") == version or value["format"] == "urn:robot-semantics:usdf:1"


# Commands that print a document without `-o`, with words that are complete but for it.
DOCUMENTS = {
    "sim run": ("world.usdf", "--steps", "1"),
    "srdf new": ("robot.urdf",),
    "srdf add": ("robot.srdf", "--passive-joint", "elbow_joint"),
    "srdf remove": ("robot.srdf", "--state", "arm/reach"),
    "srdf rename": ("robot.srdf", "group", "arm", "limb"),
    "collisions enable": ("robot.srdf", "palm_link", "base_link"),
    "collisions disable": ("robot.srdf", "palm_link", "base_link"),
}


def test_json_and_a_document_never_share_standard_output(prepared: Path, run: RunCommand) -> None:
    printing = set()
    for words, command in all_commands():
        parser = argparse.ArgumentParser()
        command.declare(parser)
        rule = parser.get_default("result_rule")
        if rule is not None and rule.printed and "--json" in parser._option_string_actions:
            printing.add(words)
    assert printing == set(DOCUMENTS)
    for words, more in DOCUMENTS.items():
        for dash in ((), ("-o", "-")):
            result = run(*words.split(), *more, *dash, "--json")
            assert result.code == 2, words
            assert "--json needs a file for the document: -o" in result.err
            assert not json.loads(result.out)["ok"]
        assert run(*words.split(), *more, "--quiet").out.startswith("<?xml")


def test_json_of_a_change_says_what_happened(prepared: Path, run: RunCommand) -> None:
    def change(*words: str) -> dict[str, object]:
        result = run("collisions", "disable", "robot.srdf", "palm_link", "base_link", *OF_ROBOT, *words, "--json")
        assert result.code == 0, result.err
        value: dict[str, object] = json.loads(result.out)
        return value

    before = (prepared / "robot.srdf").read_bytes()
    assert change("--dry-run") == {"version": 2, "changed": True, "written": []}
    assert (prepared / "robot.srdf").read_bytes() == before
    assert change("-o", "less.srdf") == {"version": 2, "changed": True, "written": ["less.srdf"]}
    assert change("--in-place") == {"version": 2, "changed": True, "written": ["robot.srdf"]}
    assert (prepared / "robot.srdf").read_bytes() == (prepared / "less.srdf").read_bytes()
    assert change("--in-place") == {"version": 2, "changed": False, "written": []}


def test_json_of_a_picture_and_a_page_has_their_sizes(prepared: Path, run: RunCommand) -> None:
    text = (prepared / "robot.urdf").read_text()
    mesh = '<visual><geometry><mesh filename="missing.stl"/></geometry></visual></link>'
    (prepared / "robot.urdf").write_text(text.replace("</link>", mesh, 1))
    words = ("robot.urdf", "--png", "robot.png", "--html", "page.html", "--size", "64x48", "--json")
    value = json.loads(run("view", *words).out)
    picture, page = ((prepared / name).read_bytes() for name in ("robot.png", "page.html"))
    # A PNG has its width and height at bytes 16 to 24.
    assert (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")) == (64, 48)
    assert value["written"] == [
        {"file": "robot.png", "size": len(picture), "width": 64, "height": 48},
        {"file": "page.html", "size": len(page), "width": None, "height": None},
    ]
    assert any("missing.stl" in problem["message"] for problem in value["problems"])
    assert json.loads(run("view", *words, "--force", "--dry-run").out)["written"] == []
    served = run("view", "robot.urdf", "--json")
    assert (served.code, "--json needs --png or --html" in served.err) == (2, True)


def test_a_command_without_a_result_has_no_json(prepared: Path, run: RunCommand) -> None:
    for words in (
        ("expand", "robot.urdf"),
        ("upgrade", "robot.urdf"),
    ):
        result = run(*words, "--json")
        assert result.code == 2
        assert "unexpected '--json'" in result.err
        assert not json.loads(result.out)["ok"]


# How a line is wrong: words that stand for its first file, or are added to it; and the exit code.
WRONG: dict[str, tuple[str | None, tuple[str, ...], int]] = {
    "a missing file": ("missing.xml", (), 1),
    "a folder": ("folder", (), 1),
    "no XML": ("noise.xml", (), 1),
    "another document": ("other.xml", (), 1),
    "an unknown option": (None, ("--no-such-option",), 2),
}
# Commands that read no file as the first word.
WITHOUT_FILES = {"explain", "doctor", "example"}


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("command", GIVEN)
def test_an_error_is_a_problem_as_json_and_as_a_line(command: str, how: str, prepared: Path, run: RunCommand) -> None:
    (prepared / "folder").mkdir()
    (prepared / "noise.xml").write_bytes(bytes(range(256)))
    (prepared / "other.xml").write_text("<sdf version='1.12'><world name='w'/></sdf>")
    instead, more, code = WRONG[how]
    if instead and command in WITHOUT_FILES:
        pytest.skip("reads no file, or any")
    first, *others = (*GIVEN[command][0], *more) or more
    result = run(*command.split(), instead or first, *others, "--json")
    assert result.code == code, result
    assert result.err or command == "check"
    value = json.loads(result.out)
    validate(value, PROBLEMS)
    assert not value["ok"]
    assert value["errors"] > 0


def test_a_command_without_json_has_no_schema(run: RunCommand) -> None:
    result = run("schema", "json", "studio")
    assert (result.code, result.out) == (2, "")
    assert "unknown command with JSON 'studio'" in result.err
    assert "did you mean 'usdf resolve'" in run("schema", "json", "usdf", "resolv").err
    assert run("schema", "usdf", "resolve").code == 2


def test_the_schema_of_a_command_is_printed(run: RunCommand) -> None:
    printed = json.loads(run("schema", "json", "collisions", "check").out)
    assert printed["$id"] == "urn:robot-semantics:commands:2:collisions-check"
    assert set(printed["required"]) == {"version", "samples", "seed", "dangerous", "findings"}


def test_a_version_of_json_that_is_not_known_is_wrong_usage(prepared: Path, run: RunCommand) -> None:
    assert run("groups", *ROBOT, "--json=2").code == 2
