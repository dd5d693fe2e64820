# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The help of every command: examples that run, and completion for shells that knows all of it."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from robot_semantics.cli import main as command_line
from robot_semantics.cli import running
from robot_semantics.cli.completion import SHELLS
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.running import help_text

# Commands that need a running node or a recording, serve a page, or are only for shells.
NOT_RUN = (
    "export ",
    "snapshot ",
    "studio ",
    "view --live",
    "view robot.urdf robot.srdf\n",
    "plot ",
    "completion ",
    "doctor",
    "lsp",
    "fk --node",
)


ALL = [(words, line) for words, command in running.all_commands() for line in command.examples]


@pytest.mark.parametrize(
    ("words", "command"), list(running.all_commands()), ids=[words for words, _ in running.all_commands()]
)
def test_every_command_and_operation_has_examples_and_shows_them(
    words: str, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        command_line.main([*words.split(), "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert command.examples
    assert (command.run is None) == bool(command.operations)
    for line in command.examples:
        assert f"  {line}\n" in text
        assert line.startswith(f"robot_semantics {words} ") or line == f"robot_semantics {words}"


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from parsers(inner)


PARSERS = {
    parser.prog: parser
    for name in running.COMMANDS
    for action in running.parser_of([name])._actions
    if isinstance(action, argparse._SubParsersAction)
    for parser in parsers(action.choices[name])
}


@pytest.mark.parametrize("prog", PARSERS)
def test_a_help_fits_one_screen_of_80_columns(prog: str) -> None:
    lines = help_text(PARSERS[prog], 80).rstrip("\n").splitlines()
    assert sum(max(1, math.ceil(len(line) / 80)) for line in lines) <= 40
    assert len(lines[0]) <= 80


@pytest.mark.parametrize("prog", PARSERS)
def test_a_help_phrase_has_at_most_ten_words(prog: str) -> None:
    phrases = [re.sub(r"\(.*?\)|%\S+", "", action.help or "") for action in PARSERS[prog]._actions]
    assert [phrase for phrase in phrases if len(phrase.split()) > 10 and phrase != argparse.SUPPRESS] == []


@pytest.mark.parametrize(
    ("words", "usage", "mistake"),
    [
        ("chek", "[options] COMMAND ...", "unknown command 'chek'; did you mean 'check'?"),
        ("usdf resolv w.usdf", "usdf [options] OPERATION ...", "unknown operation 'resolv'; did you mean 'resolve'?"),
        (
            "fk r.urdf --jiont j=1",
            "fk [options] URDF [SRDF]",
            "unexpected '--jiont'; did you mean '--joint'?",
        ),
        # The dashes that all options share are no resemblance.
        ("check r.urdf --suggest", "check [options] FILE ...", "unexpected '--suggest'; see --help"),
        ("sim run w.usdf", "sim run [options] WORLD.usdf", "missing: --steps or --duration"),
        (
            "view r.urdf --view frnt",
            "view [options] [FILE ...]",
            "unknown --view 'frnt'; did you mean 'front'?",
        ),
        (
            "usdf edit w.usdf --pose r=1 2 0",
            "usdf edit [options] FILE",
            "unexpected '2 0': quote the numbers of one value, as in \"1 2 0\"",
        ),
    ],
)
def test_a_usage_error_is_one_line_of_usage_and_the_mistake(
    words: str, usage: str, mistake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        command_line.main(words.split())
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"usage: robot_semantics {usage}\nerror: {mistake}\n"


def test_numbers_without_quotes_are_told_where_robots_are_expected(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["usdf", "new", "robot.urdf", "--pose", "rover_arm=1", "2", "0"]) == 2
    assert capsys.readouterr().err == "error: unexpected '2': quote the numbers of one value, as in \"1 2 0\"\n"


def test_the_help_says_what_the_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.main(["--help"])
    text = capsys.readouterr().out
    assert "exit codes:\n  0  success" in text
    assert command_line.main([]) == 2
    assert "\n  2  wrong usage" in capsys.readouterr().out


@pytest.mark.parametrize(("command", "line"), ALL, ids=[line.removeprefix("robot_semantics ") for _, line in ALL])
def test_examples_are_understood_and_run(
    folder: Path, command: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(line.partition(" > ")[0])[1:]
    running.parser_of(words).parse_args(words)
    if any(f"{' '.join(words)}\n".startswith(start) for start in NOT_RUN):
        return
    (folder / "config").mkdir()
    (folder / "config" / "joint_limits.yaml").write_text("joint_limits: {}\n")
    if "a.srdf" in words and "rename" in words:
        first = running.command_of("srdf").examples[0]
        assert command_line.main(shlex.split(first)[1:]) == 0
    code = command_line.main(words)
    # An audit that finds something ends with 1.
    assert code == 0 or (code == 1 and words[:2] == ["collisions", "check"]), capsys.readouterr().err


def completed(folder: Path, line: str) -> list[str]:
    """Return the words that argcomplete offers the shell as the next word of the line."""
    answers = folder / "answers"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\v",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answers),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    program = [sys.executable, "-m", "robot_semantics.cli.main"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return [word.rstrip() for word in answers.read_text().split("\v") if word]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("robot_semantics gr", {"groups"}),
        ("robot_semantics usdf res", {"resolve"}),
        ("robot_semantics snapshot re", {"restore"}),
        ("robot_semantics view --pn", {"--png"}),
        ("robot_semantics snapshot restore --dry", {"--dry-run"}),
        ("robot_semantics export --to ", {"usdf", "jsonl", "npz", "csv"}),
        ("robot_semantics groups robot.urdf robot.srdf ", {"arm", "gripper"}),
        ("robot_semantics fk robot.urdf robot.srdf --state arm/", {"arm/reach"}),
        ("robot_semantics groups robot.urdf robot.srdf --link palm", {"palm_link"}),
        ("robot_semantics groups robot.urdf robot.srdf --joint ", {"elbow_joint"}),
        ("robot_semantics show robot.urdf robot.srdf --pair ", {"palm_link"}),
        ("robot_semantics groups robot.urdf robot.srdf --json a", {"arm"}),
        ("robot_semantics fk robot.urdf --joint elb", {"elbow_joint="}),
        ("robot_semantics states robot.urdf robot.srdf arm/", {"arm/reach", "arm/stowed"}),
        ("robot_semantics groups missing.urdf robot.srdf ", set()),
    ],
)
def test_completion_knows_commands_options_choices_and_names_out_of_the_files_given(
    folder: Path, line: str, some: set[str]
) -> None:
    found = completed(folder, line)
    assert some <= set(found)
    if not some:
        assert "arm" not in found


@pytest.mark.parametrize("shell", SHELLS)
def test_the_code_for_each_shell_has_the_right_syntax(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "robot_semantics" in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_example_writes_files_that_can_be_used_and_never_over_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["example", "here"]) == 0
    names = sorted(path.name for path in Path("here").iterdir())
    pairs = [f"{name}.{ending}" for name in ("block", "gripper", "leg", "rover_arm") for ending in ("srdf", "urdf")]
    assert names == [*pairs, "rover_arm.usdf"]
    assert command_line.main(["check", "here/rover_arm.urdf", "here/rover_arm.srdf", "here/rover_arm.usdf"]) == 0
    assert command_line.main(["example", "here"]) == 0  # the same again
    Path("here/block.urdf").write_text("mine")
    Path("here/rover_arm.urdf").unlink()
    capsys.readouterr()
    assert command_line.main(["example", "here"]) == 1
    assert capsys.readouterr().err == (
        "error: here/block.urdf exists with other content, so nothing was written; --force overwrites it\n"
    )
    assert not Path("here/rover_arm.urdf").exists()
    assert command_line.main(["example", "here", "--force"]) == 0
    assert Path("here/block.urdf").read_text() != "mine"


def test_doctor_says_what_is_missing_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "rosbags" else real(name))
    assert command_line.main(["doctor", "--no-ros"]) == 0
    text = capsys.readouterr().out
    assert "note     bag: recordings: missing rosbags; get it by pip install '.[bag]'\n" in text
    assert "ok       robot_semantics " in text


def test_ros2_semantics_is_the_command_line_with_its_words_as_they_are(
    rover: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (entry,) = entry_points(group="ros2cli.command", name="semantics")
    extension = entry.load()()
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter)
    extension.add_arguments(parser, "ros2")
    # ros2 hands over its own parser here.
    assert extension.main(parser=argparse.ArgumentParser(prog="ros2"), args=parser.parse_args([])) == 2
    listed = capsys.readouterr().out
    assert all(f"\n  {name} " in listed for name in ("check", "usdf", "sim"))
    words = ["groups", *map(str, rover), "arm", "--json"]
    assert extension.main(parser=parser, args=parser.parse_args(words)) == 0
    assert json.loads(capsys.readouterr().out)["joints"][0] == "lift_joint"
    assert extension.main(parser=parser, args=parser.parse_args(["check", "no.urdf"])) == 1
