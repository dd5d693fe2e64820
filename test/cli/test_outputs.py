# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""No command writes over a file that is there without being told to, and each says so before it does any work."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from robot_semantics.cli import main as command_line

COMMANDS = (
    "show robot.urdf --svg OUT.svg",
    "upgrade robot.urdf -o OUT",
    "usdf edit world.usdf --time 3 -o OUT.usdf",
    "usdf merge world.usdf world.usdf -o OUT",
    "usdf interpolate world.usdf world.usdf --share 0.5 -o OUT",
    "usdf convert world.usdf -o OUT.json",
    "sim run world.usdf --steps 1 -o OUT",
    "srdf new robot.urdf -o OUT",
    "srdf add robot.srdf --passive-joint lift_joint -o OUT",
    "view world.usdf --html OUT.html",
    "view world.usdf --png OUT.png",
    "plot world.usdf -o OUT.png",
    "collisions generate robot.urdf robot.srdf --samples 20 -o OUT",
    "collisions generate robot.urdf robot.srdf --samples 20 -o new.srdf --report OUT.json",
    "collisions generate robot.urdf robot.srdf --samples 20 -o newer.srdf --plot OUT.png",
    "collisions witness robot.urdf base_link palm_link --samples 50 --usdf OUT.usdf",
)


@pytest.mark.parametrize("line", COMMANDS)
def test_what_is_there_stays_and_the_command_ends_with_1(
    folder: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = line.replace("OUT", "mine").split()
    there = next(folder / word for word in words if word.startswith("mine"))
    there.write_text("mine")
    before = sorted(path.name for path in folder.iterdir())
    assert command_line.main(words) == 1
    assert "exists already" in capsys.readouterr().err
    assert there.read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("line", COMMANDS[:3])
def test_with_force_it_is_written_over(folder: Path, line: str) -> None:
    words = line.replace("OUT", "mine").split()
    there = next(folder / word for word in words if word.startswith("mine"))
    there.write_text("mine")
    assert command_line.main([*words, "--force"]) == 0
    assert there.read_text() != "mine"


def test_a_device_is_no_file_that_could_be_lost(folder: Path) -> None:
    assert command_line.main(["usdf", "edit", "world.usdf", "--time", "3", "-o", "/dev/null"]) == 0


def test_a_name_that_leads_nowhere_is_an_error_without_a_traceback(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    command = [sys.executable, "-m", "robot_semantics.cli.main", "upgrade", "robot.urdf", "-o", "loop"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 1
    assert "loop: Too many levels of symbolic links" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("--help",), ("show", "robot.urdf"), ("usdf", "show", "world.usdf", "--json")])
def test_output_that_nobody_can_take_is_said_and_not_hidden(folder: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "robot_semantics.cli.main", *words]
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], capture_output=True, text=True, check=False, cwd=folder
    )
    with open("/dev/full", "w") as full:  # noqa: PTH123  # a device
        filled = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=folder)
    for done in (closed, filled):
        assert done.returncode == 1, done.stderr
        assert next(line for line in done.stderr.splitlines() if not line.startswith("note: ")).startswith("error: ")
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr


START = ("<?xml", "digraph")
FOLDERS = ("bag world.usdf -o OUT", "usdf split world.usdf -o OUT", "export recording -o OUT")


@pytest.mark.parametrize("line", [line for line in (*COMMANDS, *FOLDERS) if "OUT.json" not in line])
def test_a_dash_is_standard_output_or_wrong_usage_and_never_a_files_name(
    folder: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-" if word.startswith("OUT") else word for word in line.split()]
    try:
        code = command_line.main(words)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    said = capsys.readouterr()
    assert not (folder / "-").exists()
    assert (code == 0 and said.out.startswith(START)) or (code == 2 and "standard output" in said.err)


@pytest.mark.parametrize(
    "line",
    [
        "expand müller.urdf",
        "upgrade müller.urdf",
        "srdf new müller.urdf",
        "usdf new müller.urdf",
        "usdf edit müller.usdf --time 3",
        "usdf merge müller.usdf",
        "usdf convert müller.usdf --to json",
        "usdf convert müller.usdf --to sdformat",
    ],
)
def test_a_document_is_printed_in_utf_8_whatever_the_locale(
    folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "müller_→_世界"
    (folder / "müller.urdf").write_text(f'<robot name="{name}"><link name="{name}"/></robot>', encoding="utf-8")
    state = f'<world_state name="w"><model_state name="{name}"><pose>0 0 0 0 0 0</pose></model_state></world_state>'
    (folder / "müller.usdf").write_text(state, encoding="utf-8")
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="latin-1"))
    assert command_line.main(line.split()) == 0
    sys.stdout.flush()
    assert name in printed.getvalue().decode("utf-8")
