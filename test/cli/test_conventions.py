# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules for all commands: positions of the SRDF, options between words, errors for programs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from robot_semantics.cli import main as command_line
from robot_semantics.cli.frame import old_words
from robot_semantics.cli.running import all_commands

# Commands about one robot and its semantics: what stands behind the SRDF.
ABOUT_A_ROBOT: dict[str, list[str]] = {
    "show": [],
    "fk": ["--state", "arm/reach"],
    "groups": ["arm"],
    "states": ["arm"],
    "view": ["--png", "a.png", "--force", "--size", "64x64", "--group", "arm"],
    "collisions check": ["--samples", "20"],
    "collisions table": ["--samples", "20"],
    "collisions witness": ["base_link", "palm_link", "--samples", "50"],
    "collisions generate": ["-o", "new.srdf", "--force", "--samples", "20"],
}


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        code = command_line.main(words)
    except SystemExit as end:
        code = int(end.code or 0)
    return (code, *capsys.readouterr())


@pytest.mark.parametrize("command", ABOUT_A_ROBOT)
def test_the_srdf_may_stand_behind_the_urdf_or_behind_its_option_anywhere(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start, behind = command.split(), ABOUT_A_ROBOT[command]
    placed = told([*start, "robot.urdf", "robot.srdf", *behind], capsys)
    assert "usage:" not in placed[2]
    for words in (
        [*start, "robot.urdf", "--srdf", "robot.srdf", *behind],
        [*start, "--srdf=robot.srdf", "robot.urdf", *behind],
        [*start, "robot.urdf", *behind, "--srdf", "robot.srdf"],
    ):
        assert told(words, capsys) == placed, words


@pytest.mark.parametrize("command", ["groups", "states", "collisions check", "collisions table"])
def test_where_the_srdf_is_needed_its_lack_is_wrong_usage(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = told([*command.split(), "robot.urdf"], capsys)
    assert code == 2
    assert "SRDF" in error


def test_an_srdf_that_is_given_twice_is_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = told(["show", "robot.urdf", "robot.srdf", "--srdf", "robot.srdf"], capsys)
    assert code == 2
    assert "unexpected 'robot.srdf'" in error


def test_options_may_stand_between_a_commands_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = told(["states", "robot.urdf", "robot.srdf", "arm", "--json"], capsys)
    assert told(["states", "robot.urdf", "--json", "robot.srdf", "arm"], capsys) == first
    assert told(["states", "robot.urdf", "robot.srdf", "--json", "arm"], capsys) == first
    assert list(json.loads(first[1])["states"]) == ["arm"]


def test_with_json_an_error_is_json_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, error = told(["groups", "robot.urdf", "robot.srdf", "amr", "--json"], capsys)
    assert code == 1
    assert error == "error: unknown group 'amr'; did you mean 'arm'?\n"
    assert json.loads(out) == {
        "version": 2,
        "ok": False,
        "errors": 1,
        "warnings": 0,
        "diagnostics": [],
        "error": "unknown group 'amr'; did you mean 'arm'?",
    }


def test_with_json_the_problems_of_a_file_are_json_with_their_places(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.urdf").write_text('<robot name="r">\n <link name="a"/>\n <joint name="j" type="fixed"/>\n</robot>\n')
    code, out, error = told(["fk", "bad.urdf", "--strict", "--json"], capsys)
    assert code == 1
    report = json.loads(out)
    assert report["errors"] == len(report["diagnostics"]) > 0
    assert {(item["file"], item["line"]) for item in report["diagnostics"]} == {("bad.urdf", 3)}
    assert error.startswith("bad.urdf:3:2: error:")


def test_without_json_an_error_prints_nothing_on_standard_output(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = told(["groups", "robot.urdf", "robot.srdf", "amr"], capsys)
    assert (code, out) == (1, "")
    assert error


NUMBERS = {
    "states robot.urdf robot.srdf --tolerance": ["nan", "-1", "1_0", ""],
    "doctor --no-ros --listen": ["nan", "-1", "inf", "1e9"],
    "view robot.urdf --port": ["99999", "-5", "80.0", "8_0"],
    "view robot.urdf --png a.png --zoom": ["0", "nan", "-1", "1e-300"],
    "view robot.urdf --png a.png --azimuth": ["nan", "inf", "north"],
    "view --live --timeout": ["nan", "-1", "soon"],
    "studio robot.urdf -o o.srdf --port": ["65536", "x"],
    "sim run world.usdf --steps": ["-1", "1.5", "1_0", "9" * 30],
    "sim run world.usdf --steps 1 --timestep": ["0", "nan", "-0.1"],
    "sim run world.usdf --steps 1 -o out --every": ["0", "nan"],
    "export bag -o out --run": ["0", "1.0"],
    "diff world.usdf world.usdf --tolerance": ["-1", "1_0", "nan", "position="],
    "usdf interpolate world.usdf world.usdf --share": ["nan", "half"],
}


@pytest.mark.parametrize("words", NUMBERS)
def test_an_option_that_takes_a_number_refuses_what_is_none_and_what_makes_no_sense(
    words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    for number in NUMBERS[words]:
        *start, option = words.split()
        code, out, error = told([*start, f"{option}={number}"], capsys)
        assert (code, out) == (2, ""), (number, out, error)
        assert option in error
    assert sorted(folder.iterdir()) == before


OLD_OPTIONS = [row for row in old_words.OPTIONS if row[1] != "--srdf"]
OLD_WORDS = [
    *((command, new) for command, new in old_words.COMMANDS.items()),
    *((f"{command} {old}", new) for commands, old, new in OLD_OPTIONS for command in commands.split(", ")),
]


@pytest.mark.parametrize(("old", "new"), OLD_WORDS, ids=[old for old, _ in OLD_WORDS])
def test_an_old_word_is_wrong_usage_and_is_answered_in_one_line_with_the_new_word(
    old: str, new: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    for more in ([], ["robot.urdf", "robot.srdf"], ["--help"]):
        code, out, error = told([*old.split(), *more], capsys)
        assert (code, out) == (2, ""), more
        assert error.startswith("error: '")
        assert error.endswith(f"' is now '{new}'\n")
        assert error.count("\n") == 1
    assert sorted(folder.iterdir()) == before
    code, out, _ = told([*old.split(), "--json"], capsys)
    assert code == 2
    assert new in json.loads(out)["error"]


def test_no_command_has_an_old_word() -> None:
    lines = dict(all_commands())
    assert lines.keys().isdisjoint(old_words.COMMANDS)
    for commands, option, _ in OLD_OPTIONS:
        for words in commands.split(", "):
            parser = argparse.ArgumentParser()
            lines[words].declare(parser)
            assert option not in parser._option_string_actions, (words, option)
