# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`info`, `help`, `python -m robot_semantics`, `sim run --duration`, and the source lines of `check`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import RunCommand
from support.terminal import on_a_terminal

from robot_semantics.cli.running import all_commands

KEYS = {"version", "file", "kind", "robots", "start", "end", "duration", "start_ns", "end_ns", "duration_ns", "topics"}
KEYS |= {"joints", "size"}


@pytest.fixture
def drive(folder: Path, run: RunCommand) -> Path:
    """Return a recording of 11 states, 0.1 s apart."""
    pytest.importorskip("rosbags")
    for number in range(11):
        time = ["--time", str(5 + number / 10), "-o", f"states/{number:02}.usdf"]
        Path("states").mkdir(exist_ok=True)
        assert run("usdf", "edit", "world.usdf", *time).code == 0
    assert run("bag", "states", "-o", "drive").code == 0
    return folder / "drive"


def info(run: RunCommand, file: str | Path) -> dict[str, object]:
    result = run("info", file, "--json")
    assert result.code == 0, result.err
    value: dict[str, object] = json.loads(result.out)
    return value


def test_info_of_descriptions_and_worlds(folder: Path, run: RunCommand) -> None:
    urdf, srdf, usdf = (info(run, f"robot.{kind}") if kind != "usdf" else info(run, "world.usdf")
                        for kind in ("urdf", "srdf", "usdf"))  # fmt: skip
    assert set(urdf) == set(srdf) == set(usdf) == KEYS
    assert [value["kind"] for value in (urdf, srdf, usdf)] == ["urdf", "srdf", "usdf"]
    assert urdf["robots"] == srdf["robots"] == ["rover_arm"]
    assert len(urdf["joints"]) == 14  # type: ignore[arg-type]
    assert urdf["size"] == (folder / "robot.urdf").stat().st_size
    assert (urdf["start"], urdf["topics"]) == (None, {})
    assert usdf["robots"] == ["rover_arm", "block_1", "block_2", "block_3"]
    assert (usdf["start"], usdf["duration"]) == (0.0, 0.0)


def test_info_of_a_recording_a_series_and_a_folder(drive: Path, run: RunCommand) -> None:
    found = info(run, drive)
    assert (found["kind"], found["start_ns"], found["end_ns"]) == ("recording", 5 * 10**9, 6 * 10**9)
    assert (found["start"], found["end"], found["duration"]) == (5.0, 6.0, 1.0)
    assert "rover_arm" in found["robots"]  # type: ignore[operator]
    assert "elbow_joint" in found["joints"]  # type: ignore[operator]
    topic = found["topics"]["/rover_arm/joint_states"]  # type: ignore[index]
    assert topic["type"] == "sensor_msgs/msg/JointState"
    assert topic["count"] > 11
    assert {sender["kind"] for sender in topic["senders"]} == {"joints"}
    assert any(sender["rate"] == pytest.approx(10.0) for sender in topic["senders"])
    assert found["size"] == sum(file.stat().st_size for file in drive.iterdir())
    series = info(run, "states")
    assert (series["kind"], series["start"], series["duration"]) == ("series", 5.0, 1.0)
    shutil.copytree(drive, "bags/one")
    shutil.copytree(drive, "bags/deep/two")
    both = info(run, "bags")
    assert both["kind"] == "folder"
    assert [file["file"] for file in both["files"]] == ["bags/deep/two", "bags/one"]  # type: ignore[attr-defined]
    assert both["size"] == 2 * found["size"]
    assert both["topics"]["/rover_arm/joint_states"]["count"] == 2 * topic["count"]  # type: ignore[index]
    text = run("info", drive).out
    assert "from 5.000000000 s, 1.000000000 s long" in text
    assert "/rover_arm/joint_states" in text


def test_info_of_what_is_not_there_or_has_nothing(folder: Path, run: RunCommand) -> None:
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("hello")
    for file in ("nowhere", "empty", "notes.txt"):
        result = run("info", file)
        assert (result.code, result.out) == (1, ""), file
        assert file in result.err


def test_help_prints_what_the_option_prints(folder: Path, run: RunCommand) -> None:
    for words, _ in all_commands():
        asked, told = run("help", *words.split()), run(*words.split(), "--help")
        assert (asked.code, asked.out) == (told.code, told.out) == (0, told.out)
    assert run("help").out == run("--help").out
    wrong = run("help", "chek")
    assert wrong.code == 2
    assert "did you mean 'check'" in wrong.err
    assert run("help", "check", "--man").code == 2


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "robot_semantics", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("robot_semantics ")


def test_a_duration_is_a_number_of_steps(folder: Path, run: RunCommand) -> None:
    pytest.importorskip("mujoco")
    steps, duration = (
        run("sim", "run", "world.usdf", "--steps", "5"),
        run("sim", "run", "world.usdf", "--duration", ".01"),
    )
    assert (steps.code, steps.out) == (duration.code, duration.out) == (0, steps.out)
    for words in (("--duration", "0.003"), ("--duration", "1", "--steps", "2"), ("--duration", "-1"), ()):
        result = run("sim", "run", "world.usdf", *words)
        assert (result.code, result.out) == (2, ""), words


def test_check_shows_the_line_and_a_caret_on_a_terminal_only(folder: Path, run: RunCommand) -> None:
    long = "<!-- " + "x" * 200 + " -->"
    (folder / "bad.urdf").write_text(
        f'<robot name="r">\n\t<linkk name="\u00e9"/>\n{long}<link name="a"/><bad/>{long}\n</robot>\n'
    )
    text = on_a_terminal(["check", "bad.urdf", "--all"], 60)
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("bad.urdf:2:2"))
    assert lines[start + 1 : start + 3] == [' 2 |  <linkk name="\u00e9"/>', "   |  ^"]
    start = next(number for number, line in enumerate(lines) if line.startswith("bad.urdf:3:"))
    source, caret = lines[start + 1 : start + 3]
    assert len(source) <= 60
    assert source[caret.index("^") :].startswith("<bad/>")
    assert "|" not in run("check", "bad.urdf", "--all").out
