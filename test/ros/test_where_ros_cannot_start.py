# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Commands that ask a node on a machine where ROS cannot start: one line with the remedy, never a traceback."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest


def run(words: str, folder: Path, files: int | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command, with a limit of open files."""

    def limit() -> None:
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    variables = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-m", "robot_semantics.cli.main", *words.split()],
        cwd=folder,
        env={name: value for name, value in variables.items() if value != "unset"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limit,
    )


@pytest.mark.parametrize("home", ["/proc/none", "unset"])
@pytest.mark.parametrize("words", ["doctor --listen 0.1", "snapshot list --timeout 1", "groups --node"])
def test_without_a_home_folder_the_log_folder_is_named(ros_domain: int, tmp_path: Path, words: str, home: str) -> None:
    done = run(words, tmp_path, HOME=home, ROS_LOG_DIR="unset", ROS_HOME="unset")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    (line,) = [line for line in (done.stdout + done.stderr).splitlines() if "ROS_LOG_DIR" in line]
    assert "ROS 2 cannot start: " in line
    logs = tmp_path / "logs"
    again = run(words, tmp_path, HOME=home, ROS_LOG_DIR=str(logs), ROS_HOME="unset")
    assert "ROS_LOG_DIR" not in again.stdout + again.stderr
    assert ros_domain >= 0


@pytest.mark.parametrize("files", [16, 24])
def test_the_doctor_explains_a_small_limit_of_open_files(ros_domain: int, tmp_path: Path, files: int) -> None:
    done = run("doctor --listen 0.1", tmp_path, files)
    assert "Traceback" not in done.stderr
    assert "ok       robot_semantics" in done.stdout
    assert "ulimit -n" in done.stdout
    assert (done.returncode, ros_domain >= 0) == (1, True)


def test_the_doctor_works_in_a_deleted_folder(ros_domain: int, tmp_path: Path) -> None:
    folder = tmp_path / "deleted"
    folder.mkdir()
    program = (
        "import os, sys; os.rmdir(os.getcwd()); from robot_semantics.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "doctor", "--listen", "0.1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    assert (done.returncode, ros_domain >= 0) == (0, True)
