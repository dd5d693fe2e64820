"""The help of every command: examples that run, and completion for shells that knows all of it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from robot_semantics.cli import main as command_line
from robot_semantics.cli.completion import script
from robot_semantics.cli.examples import EXAMPLES, OPERATIONS
from robot_semantics.examples import FOLDER

# What needs a running node, serves a page until it is stopped, needs a recording, or is the shell's own business.
NOT_RUN = ("snapshot ", "view --live", "view robot.urdf robot.srdf\n", "export ", "plot ", "completion ", "doctor")
ALL = [(command, line) for command, lines in (EXAMPLES | OPERATIONS).items() for line in lines]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which examples run, with the files that they name."""
    for kind in ("urdf", "srdf", "usdf"):
        shutil.copy(FOLDER / f"rover_arm.{kind}", tmp_path)
        shutil.copy(FOLDER / f"rover_arm.{kind}", tmp_path / f"{'world' if kind == 'usdf' else 'robot'}.{kind}")
    for kind in ("urdf", "srdf"):
        shutil.copy(FOLDER / f"block.{kind}", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_has_examples_and_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(EXAMPLES) == set(command_line.COMMANDS)
    for command, lines in EXAMPLES.items():
        with pytest.raises(SystemExit) as stop:
            command_line.main([command, "--help"])
        assert stop.value.code == 0
        text = capsys.readouterr().out
        assert lines
        for line in lines:
            assert f"  {line}\n" in text
            assert line.startswith(f"robot_semantics {command} ") or line == f"robot_semantics {command}"


def operations(command: str) -> list[str]:
    """Return the operations of a command, as its parser knows them."""
    chosen = command_line._parser(command)._actions[-1].choices[command]  # type: ignore[index]
    found = [action.choices for action in chosen._actions if action.dest in ("action", "operation")]
    return [f"{command} {name}" for choices in found for name in choices or ()]


def test_every_operation_has_examples_and_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    known = [operation for command in command_line.COMMANDS for operation in operations(command)]
    assert len(known) > 15
    assert set(known) == set(OPERATIONS)
    for operation in known:
        with pytest.raises(SystemExit) as stop:
            command_line.main([*operation.split(), "--help"])
        assert stop.value.code == 0
        text = capsys.readouterr().out
        for line in OPERATIONS[operation]:
            assert f"  {line}\n" in text
            assert line.startswith(f"robot_semantics {operation} ") or line == f"robot_semantics {operation}"


def test_the_help_says_what_the_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.main(["--help"])
    text = capsys.readouterr().out
    assert "exit codes of all commands:\n  0  done" in text
    assert command_line.main([]) == 2
    assert "\n  2  wrong usage" in capsys.readouterr().out


@pytest.mark.parametrize(("command", "line"), ALL, ids=[line.removeprefix("robot_semantics ") for _, line in ALL])
def test_examples_are_understood_and_run(
    folder: Path, command: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(line.partition(" > ")[0])[1:]
    command_line._parser(command.split()[0]).parse_args(words)
    if any(f"{' '.join(words)}\n".startswith(start) for start in NOT_RUN):
        return
    if "a.srdf" in words and "rename" in words:
        first = EXAMPLES["srdf"][0]
        assert command_line.main(shlex.split(first)[1:]) == 0
    code = command_line.main(words)
    # An audit that finds something ends with 1.
    assert code == 0 or (code == 1 and words[:2] == ["collisions", "check"]), capsys.readouterr().err


def completed(folder: Path, *words: str) -> list[str]:
    """Return what bash offers for the last of the words."""
    code = (
        script("bash")
        + f"""
COMP_WORDS=(robot_semantics {" ".join(shlex.quote(word) for word in words)})
COMP_CWORD={len(words)}
_robot_semantics
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_operations_options_choices_and_files(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").touch()
    assert set(completed(tmp_path, "")) == {*command_line.COMMANDS, "--help", "--version"}
    assert completed(tmp_path, "gr") == ["group", "groups"]
    assert "resolve" in completed(tmp_path, "usdf", "")
    assert completed(tmp_path, "snapshot", "re") == ["restore"]
    assert completed(tmp_path, "view", "--pn") == ["--png"]
    assert completed(tmp_path, "snapshot", "restore", "--dry") == ["--dry-run"]
    assert completed(tmp_path, "show", "rob") == ["robot.urdf"]
    assert completed(tmp_path, "export", "--format", "") == ["usdf", "jsonl", "npz", "csv"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_its_syntax_is_right(shell: str) -> None:
    text = script(shell)
    for command in command_line.COMMANDS:
        assert command in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_example_writes_files_that_can_be_used_and_never_over_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["example", "here"]) == 0
    names = sorted(path.name for path in Path("here").iterdir())
    assert names == ["block.srdf", "block.urdf", "rover_arm.srdf", "rover_arm.urdf", "rover_arm.usdf"]
    assert command_line.main(["check", "here/rover_arm.urdf", "here/rover_arm.srdf", "here/rover_arm.usdf"]) == 0
    assert command_line.main(["example", "here"]) == 0  # the same again
    Path("here/block.urdf").write_text("mine")
    Path("here/rover_arm.urdf").unlink()
    capsys.readouterr()
    assert command_line.main(["example", "here"]) == 1
    assert capsys.readouterr().err == (
        "error: here/block.urdf is there and differs: nothing was written; --force writes over it\n"
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
    assert "note     bag: recordings: missing rosbags; get it by pip install 'robot_semantics[bag]'\n" in text
    assert "ok       robot_semantics " in text
