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
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from robot_semantics.cli import main as command_line
from robot_semantics.cli.frame import old_words
from robot_semantics.cli.frame.printing import grouped
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
def test_the_srdf_stands_behind_the_urdf_also_beside_options(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start, behind = command.split(), ABOUT_A_ROBOT[command]
    placed = told([*start, "robot.urdf", "robot.srdf", *behind], capsys)
    assert "usage:" not in placed[2]
    options = [word for word in behind if word.startswith("-")]
    if options and behind[0] == options[0]:
        assert told([*start, *behind, "robot.urdf", "robot.srdf"], capsys) == placed
    code, out, error = told([*start, "robot.urdf", "--srdf", "robot.srdf", *behind], capsys)
    assert (code, out) == (2, "")
    assert error == f"error: '--srdf' is now '{'FILE' if command == 'view' else 'URDF SRDF'}'\n"


@pytest.mark.parametrize("command", ["groups", "states", "collisions check", "collisions table"])
def test_where_the_srdf_is_needed_its_lack_is_wrong_usage(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = told([*command.split(), "robot.urdf"], capsys)
    assert code == 2
    assert "error: missing: SRDF; robot.srdf lies beside robot.urdf\n" in error


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


OLD_OPTIONS = old_words.OPTIONS
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


def leaf_parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of every command and operation that does something, by its words."""
    found = {}
    for words, command in all_commands():
        if command.run is not None:
            found[words] = argparse.ArgumentParser()
            command.declare(found[words])
    return found


def test_every_command_has_quiet_and_a_timeout_beside_a_node() -> None:
    for words, parser in leaf_parsers().items():
        options = parser._option_string_actions
        assert "--quiet" in options, words
        assert ("--node" in options) <= ("--timeout" in options), words


BAD_LINK = '<robot name="r"><link name="a"><foo/></link></robot>'
# Command lines that print notes or warnings, and their results; `-` in place of a file is BAD_LINK or the world.
NOISY = [
    "show odd.urdf",
    "fk odd.urdf",
    "usdf new odd.urdf",
    "usdf resolve world.usdf --links rover_arm",
    "usdf convert world.usdf --to sdformat",
    "upgrade robot.urdf",
    "srdf add robot.srdf --passive-joint elbow_joint",
    "sim run world.usdf --steps 1",
    "collisions check unlimited.urdf empty.srdf --samples 20",
]


@pytest.mark.parametrize("line", NOISY)
def test_quiet_prints_the_result_and_no_note(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "odd.urdf").write_text(BAD_LINK)
    (folder / "empty.srdf").write_text('<robot name="r"/>')
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    (folder / "unlimited.urdf").write_text(
        f'<robot name="r"><link name="a">{box}</link><link name="b">{box}</link><joint name="j" type="prismatic">'
        '<parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
        '<limit lower="-1e9" upper="1e9" effort="1" velocity="1"/>'
        "</joint></robot>"
    )
    loud, quiet = told(line.split(), capsys), told([*line.split(), "--quiet"], capsys)
    assert loud[2] != ""
    assert (quiet[0], quiet[1], quiet[2]) == (loud[0], loud[1], "")


def test_quiet_keeps_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.urdf").write_text('<robot name="r"><foo/><joint name="j"/></robot>')
    code, out, error = told(["show", "bad.urdf", "--quiet"], capsys)
    assert (code, out) == (1, "")
    assert "error: " in error
    assert "warning: " not in error
    (folder / "odd.urdf").write_text(BAD_LINK)
    code, out, error = told(["show", "odd.urdf", "--quiet", "--strict"], capsys)
    assert (code, out) == (1, "")
    assert "(unknown-element)" in error


def test_every_problem_on_standard_error_has_its_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.urdf").write_text('<robot name="r"><foo/><link name="a"/><link name="a"/></robot>')
    (folder / "bad.usdf").write_text(
        '<world_state><model_state name="a"><parent>b</parent></model_state></world_state>'
    )
    for line in ("show bad.urdf", "fk bad.urdf", "usdf show bad.usdf", "usdf resolve bad.usdf", "bag bad.usdf -o x"):
        code, _, error = told(line.split(), capsys)
        assert code == 1, line
        problems = [row for row in error.splitlines() if ": error: " in row or ": warning: " in row]
        assert problems, (line, error)
        assert all(re.search(r" \([a-z-]+(, [\d,]+ times)?\)(, and .*)?(: see .*)?$", row) for row in problems), error


def test_the_settings_of_a_project_are_heard_by_every_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = folder / "sources" / "parts"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>parts</name></package>")
    (package / "part.urdf").write_text('<robot name="p"><link name="tip"/></robot>')
    (folder / "odd.urdf").write_text(BAD_LINK)
    (folder / "w.usdf").write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1">'
        '<model_state name="p" rs:description="package://parts/part.urdf"><pose>0 0 0 0 0 0</pose></model_state>'
        "</world_state>"
    )
    before = told(["usdf", "resolve", "w.usdf", "p::tip"], capsys)
    assert before[0] == 1
    assert "(unknown-element)" in told(["show", "odd.urdf"], capsys)[2]
    assert told(["show", "odd.urdf", "--strict"], capsys)[0] == 1
    (folder / ".robot_semantics.toml").write_text('package_path = ["sources"]\nignore = ["unknown-element"]\n')
    code, out, error = told(["usdf", "resolve", "w.usdf", "p::tip"], capsys)
    assert (code, error) == (0, "")
    assert "p::tip" in out
    for words in (["show", "odd.urdf"], ["show", "odd.urdf", "--strict"], ["fk", "odd.urdf"]):
        code, _, error = told(words, capsys)
        assert (code, error) == (0, "")
    # An error is never ignored outside of `check`.
    (folder / ".robot_semantics.toml").write_text('ignore = ["duplicate-name", "missing-limit", "unknown-link"]\n')
    (folder / "bad.urdf").write_text('<robot name="r"><link name="a"/><link name="a"/></robot>')
    code, _, error = told(["show", "bad.urdf"], capsys)
    assert code == 1
    assert "(duplicate-name)" in error


READERS = {
    "check": "robot.urdf",
    "show": "robot.urdf",
    "fk": "robot.urdf",
    "groups {} robot.srdf": "robot.urdf",
    "states robot.urdf {}": "robot.srdf",
    "expand": "robot.urdf",
    "upgrade": "robot.urdf",
    "diff {} robot.urdf": "robot.urdf",
    "diff robot.srdf {}": "robot.srdf",
    "diff {} world.usdf": "world.usdf",
    "usdf show": "world.usdf",
    "usdf resolve": "world.usdf",
    "usdf resolve world.usdf --links rover_arm --urdf": "robot.urdf",
    "usdf merge {} other.usdf": "world.usdf",
    "usdf interpolate {} world.usdf --share 0.5": "world.usdf",
    "usdf convert {} --to json": "world.usdf",
    "usdf edit {} --name a": "world.usdf",
    "srdf add {} --passive-joint elbow_joint": "robot.srdf",
    "collisions check {} robot.srdf --samples 20": "robot.urdf",
    "sim run {} --steps 1": "world.usdf",
}


@pytest.mark.parametrize("line", READERS)
def test_a_dash_is_standard_input(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(folder / "block.urdf", folder / "b.urdf")
    (folder / "other.usdf").write_text("<world_state/>")
    line = line if "{}" in line else f"{line} {{}}"
    name = READERS[line] if line in READERS else READERS[line.removesuffix(" {}")]
    expected = told(line.format(name).split(), capsys)
    with (folder / name).open("rb") as file, standard_input(file):
        code, out, error = told(line.format("-").split(), capsys)
    assert (code, out) == (expected[0], expected[1]), error
    assert expected[0] in (0, 1)
    assert "usage" not in error


@contextmanager
def standard_input(file: IO[bytes]) -> Iterator[None]:
    """Make a file the standard input of this process."""
    before = os.dup(0)
    os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_json_and_yaml_on_standard_input_are_told_by_their_content(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(["usdf", "convert", "world.usdf", "-o", "world.json"], capsys)[0] == 0
    with (folder / "world.json").open("rb") as file, standard_input(file):
        assert told(["diff", "-", "world.usdf"], capsys)[:2] == (0, "no difference\n")
    (folder / "limits.yaml").write_text("joint_limits: {elbow: {max_velocity: 1}}\n")
    with (folder / "limits.yaml").open("rb") as file, standard_input(file):
        _, out, _ = told(["check", "robot.urdf", "-"], capsys)
    assert "-:1:16: " in out
    assert "(unknown-joint)" in out


@pytest.mark.parametrize(
    "line",
    [
        "groups - -",
        "usdf new -,-",
        "usdf new a=- b=-",
        "usdf resolve - --urdf -",
        "check - --fix",
        "usdf edit - --name a --in-place",
        "bag - -o b",
        "plot - -o p.svg",
        "studio - -o s.srdf",
        "export - -o e.usdf",
        "studio robot.urdf - -o s.srdf",
    ],
)
def test_a_dash_that_cannot_be_read_is_wrong_usage(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.iterdir())
    code, out, error = told(line.split(), capsys)
    assert (code, out) == (2, "")
    assert "'-' is standard input" in error
    assert sorted(folder.iterdir()) == before


def test_a_robot_from_standard_input_is_saved_beside_its_world(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "robot.urdf").open("rb") as file, standard_input(file):
        assert told(["usdf", "new", "-"], capsys)[0] == 2
    with (folder / "robot.urdf").open("rb") as file, standard_input(file):
        code, _, error = told(["usdf", "new", "-", "-o", "new.usdf"], capsys)
    assert code == 0, error
    assert told(["check", "new.usdf", "--quiet"], capsys)[0] == 0
    assert 'description="-"' not in (folder / "new.usdf").read_text()


def test_notes_that_differ_only_in_names_and_numbers_are_one() -> None:
    texts = [
        *(f"model 'a': joint '{name}' has friction {value}, which Drake does not have" for name, value in
          (("elbow", 0.1), ("wrist", 2), ("lift", 1e-3))),
        "the floor",
        "model 'a': its twist is not stated",
        "model 'b': its twist is not stated",
        "the floor",
    ]  # fmt: skip
    assert grouped(texts) == [
        "3 joints: model 'a': joint 'elbow' has friction 0.1, which Drake does not have; likewise: 'wrist', 'lift'",
        "the floor",
        "2 models: model 'a': its twist is not stated; likewise: 'b'",
    ]
    # What else differs is never dropped: a new name, and of what a conversion loses also a number.
    renamed = ["link 'a': it is called 'x'", "link 'b': it is called 'y'"]
    assert grouped(renamed) == renamed
    masses = ["link 'a': 1 kg are lost", "link 'b': 2 kg are lost"]
    assert grouped(masses, exact=True) == masses
    assert grouped(masses) == ["2 links: link 'a': 1 kg are lost; likewise: 'b'"]
