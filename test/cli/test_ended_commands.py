# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""SIGINT and SIGTERM end every command in the same way: one word, the exit code, no unfinished file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.patience import PATIENCE_S
from support.served import Served

from robot_semantics.examples import example

# A background process of a shell ignores SIGINT from its start.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from robot_semantics.cli.main import main; sys.exit(main(sys.argv[1:]))"
)
ENDINGS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
COMMANDS = [
    ("check", "PIPE"),
    ("show", "PIPE"),
    ("upgrade", "PIPE", "-o", "OUT/robot.urdf"),
    ("fk", "PIPE"),
    ("usdf", "show", "PIPE"),
    ("srdf", "new", "PIPE", "-o", "OUT/r.srdf"),
]


def wait_for_reader(pipe: Path, process: subprocess.Popen[str]) -> int:
    """Return the open end of a pipe as soon as the process reads it."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None
        with contextlib.suppress(OSError):
            end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        time.sleep(0.01)
    else:
        raise AssertionError("nobody reads the pipe")
    # Python notes a signal that comes just before a read begins, and handles it after the read.
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return end


@pytest.mark.parametrize("words", COMMANDS, ids=[" ".join(words[:2]) for words in COMMANDS])
@pytest.mark.parametrize(("number", "code", "word"), ENDINGS, ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_a_command_with_its_code_and_leaves_nothing(
    tmp_path: Path, words: tuple[str, ...], number: int, code: int, word: str
) -> None:
    pipe, out = tmp_path / ("w.usdf" if words[0] == "usdf" else "r.urdf"), tmp_path / "out"
    os.mkfifo(pipe)
    out.mkdir()
    own = tmp_path / "temporary"
    own.mkdir()
    given = [str(pipe) if word == "PIPE" else word.replace("OUT", str(out)) for word in words]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *given],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(own)},
    )
    end = wait_for_reader(pipe, process)
    process.send_signal(number)
    _, text = process.communicate(timeout=PATIENCE_S)
    os.close(end)
    assert (process.returncode, text) == (code, f"{word}\n")
    assert [*out.iterdir(), *own.iterdir()] == []


@pytest.mark.parametrize(("number", "code", "word"), ENDINGS, ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("command", ["view", "studio"])
def test_a_page_ends_as_every_other_command(tmp_path: Path, command: str, number: int, code: int, word: str) -> None:
    pytest.importorskip("nicegui")
    srdf = tmp_path / "r.srdf"
    srdf.write_bytes(example("rover_arm.srdf").read_bytes())
    served = Served("-c", PROGRAM, command, str(example("rover_arm.urdf")), str(srdf), "--no-browser")
    served.process.send_signal(number)
    assert served.process.wait(PATIENCE_S) == code
    assert served.rest() == f"{word}\n"
    assert list(tmp_path.iterdir()) == [srdf]


def test_a_simulation_ends_and_leaves_the_old_file(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    out = tmp_path / "w.usdf"
    out.write_bytes(b"old")
    words = ["sim", "run", str(example("rover_arm.usdf")), "--steps", "100000000", "-o", str(out), "--force"]
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *words], stderr=subprocess.PIPE, text=True)
    time.sleep(2.0)
    process.terminate()
    _, text = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, text.splitlines()[-1]) == (143, "terminated")
    assert out.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [out]


TWICE = """
import os, signal, sys
from pathlib import Path
from robot_semantics.base.files import scratch_folder
from robot_semantics.cli import main, running

def work(words):
    with scratch_folder(Path(words[0])) as folder:
        (folder / "unfinished").write_text("x")
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            sum(range(1000))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            sum(range(1000))

running.run = work
sys.exit(main.main(sys.argv[1:]))
"""


def test_a_second_sigterm_does_not_disturb_the_cleaning(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", TWICE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "terminated\n")
    assert list(tmp_path.iterdir()) == []
