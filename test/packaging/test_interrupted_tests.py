# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An interrupted run of the tests leaves no process; one that hangs ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.templates import start_module

TEST = """
import os, subprocess, sys, time
from pathlib import Path
from support.templates import start_module

HIDDEN = "import subprocess; subprocess.Popen(['sleep', '{number}'], start_new_session=True)"

def test_it():
    # Before, a copy of a process that has done its imports.
    start_module("json.tool", ["--help"], os.environ, 1, "json").wait(60)
    # One in a session of its own, one that ignores requests to end, and one whose parent has ended.
    subprocess.Popen(["sleep", "{number}"], start_new_session=True)
    subprocess.Popen(["sh", "-c", "trap '' TERM INT; sleep {number} & wait; sleep {number}"])
    subprocess.run([sys.executable, "-c", HIDDEN], check=True)
    Path({started!r}).touch()
    time.sleep(60)
"""


@pytest.mark.parametrize("fresh", [False, True])
def test_a_module_of_the_tests_starts_as_a_copy_and_afresh(fresh: bool) -> None:
    assert start_module("support.patience", [], os.environ, 2, "json", fresh=fresh).wait(60) == 0


def sleeping(number: int) -> list[str]:
    """Return the running `sleep` processes of a test."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(path.read_bytes())
        except OSError:
            continue
    return [command.decode() for command in commands if command == f"sleep\0{number}\0".encode()]


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["0", "2"])
def test_an_interrupted_run_stops_every_process(tmp_path: Path, by: signal.Signals, workers: str) -> None:
    number = 100_000 + os.getpid()
    (tmp_path / "test_it.py").write_text(TEST.format(number=number, started=str(tmp_path / "started")))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "support.processes", "-p", "no:cacheprovider", "-n", workers]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command += ["--rootdir", str(tmp_path), str(tmp_path / "test_it.py")]
    run = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "started").exists():
        assert run.poll() is None
        time.sleep(0.02)
    assert len(sleeping(number)) >= 3
    run.send_signal(by)
    assert run.wait(60) == pytest.ExitCode.INTERRUPTED
    assert sleeping(number) == []


HANGS = """
import os, signal, time

def test_it():
    # A child before its exec has all files of the worker open, the pipe to the controller too.
    if os.fork() == 0:
        time.sleep({number})
    os.kill(os.getpid(), signal.{how})
    while True:
        pass

def test_others_run():
    pass
"""


@pytest.mark.parametrize("how", ["SIGSTOP", "SIGCONT"])
def test_a_test_that_hangs_fails_and_the_others_go_on(tmp_path: Path, how: str) -> None:
    (tmp_path / "test_it.py").write_text(HANGS.format(number=100_000, how=how))
    command = [sys.executable, "-m", "pytest", "-p", "support.processes", "-p", "no:cacheprovider", "-n", "2"]
    command += ["-p", "no:timeout", "--max-worker-restart", "1", "--rootdir", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HANG_S": "4", "MORE_S": "8"}
    run = subprocess.run(
        [*command, str(tmp_path / "test_it.py")],
        cwd=tmp_path,
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    assert "1 failed, 1 passed" in run.stdout
    assert "crashed while running 'test_it.py::test_it'" in run.stdout
    assert "is killed (" in run.stderr
    assert ("in test_it" in run.stderr) == (how == "SIGCONT")
