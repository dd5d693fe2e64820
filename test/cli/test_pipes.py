# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A pipe that the user names is read to its end, once; devices, and what a file or folder names, are refused."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from robot_semantics.base.files import keep_pipes, read_named
from robot_semantics.examples import example

URDF = example("rover_arm.urdf")
COMMANDS = [
    "check PIPE.urdf",
    "check PIPE.urdf {srdf}",
    "fk PIPE.urdf",
    "show PIPE.urdf {srdf}",
    "groups PIPE.urdf {srdf}",
    "groups PIPE.urdf --link base_link",
    "diff {urdf} PIPE.urdf",
    "compose PIPE.urdf {urdf} --at base_link --prefix x_ -o out.urdf",
    "check {usdf} --urdf PIPE.urdf",
    "collisions check PIPE.urdf {srdf}",
]


def run(words: list[str], folder: Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "robot_semantics.cli.main", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_read_like_its_file(tmp_path: Path, command: str) -> None:
    names = {kind: str(example(f"rover_arm.{kind}")) for kind in ("urdf", "srdf", "usdf")}
    os.mkfifo(tmp_path / "PIPE.urdf")
    threading.Thread(target=lambda: (tmp_path / "PIPE.urdf").write_bytes(URDF.read_bytes()), daemon=True).start()
    piped = run(command.format(**names).split(), tmp_path)
    (tmp_path / "out.urdf").unlink(missing_ok=True)
    (tmp_path / "PIPE.urdf").unlink()
    (tmp_path / "PIPE.urdf").write_bytes(URDF.read_bytes())
    plain = run(command.format(**names).split(), tmp_path)
    assert (piped.returncode, piped.stdout) == (plain.returncode, plain.stdout)


def test_standard_input_can_be_named(tmp_path: Path) -> None:
    done = run(["fk", "/dev/stdin"], tmp_path, input=URDF.read_text())
    assert (done.returncode, done.stdout) == (0, run(["fk", str(URDF)], tmp_path).stdout)


DEVICES = [
    "check /dev/zero",
    "check {urdf} /dev/zero",
    "fk /dev/full",
    "diff {urdf} /dev/zero",
    "fk {urdf} --loops /dev/zero",
    "usdf show /dev/zero",
    "check {urdf} --baseline /dev/zero",
    "export zero.npz --at 0 -o o.usdf",
    "export zero.parquet --at 0 -o o.usdf",
    "export pipe.npz --at 0 -o o.usdf",
    "collisions spheres check {urdf} --spheres zero.yml",
    "collisions spheres check {urdf} --spheres zero.urdf",
]


@pytest.mark.parametrize("command", DEVICES)
def test_a_device_is_refused_with_one_sentence(tmp_path: Path, command: str) -> None:
    for ending in ("npz", "parquet", "yml", "urdf"):
        (tmp_path / f"zero.{ending}").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.npz")
    done = run(command.format(urdf=URDF).split(), tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "is a device or a socket, not a file" in done.stdout + done.stderr or "not a regular file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pipe_of_a_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_bytes(URDF.read_bytes())
    os.mkfifo(tmp_path / "limits.yaml")
    os.mkfifo(tmp_path / "r.srdf")
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "zero.urdf").symlink_to("/dev/zero")
    assert run(["check", str(tmp_path)], tmp_path).returncode == 0


def test_a_pipe_has_a_largest_size_and_is_kept_only_on_request(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write(content: bytes) -> None:
        threading.Thread(target=lambda: pipe.write_bytes(content), daemon=True).start()

    write(b"x" * 11)
    with pytest.raises(OSError, match="is longer than the 10 bytes allowed"):
        read_named(pipe, 10)
    with keep_pipes():
        write(b"x" * 10)
        assert read_named(pipe, 10) == read_named(pipe, 10) == b"x" * 10
    write(b"y")
    assert read_named(pipe, 10) == b"y"
