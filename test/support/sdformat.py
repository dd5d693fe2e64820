# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""libsdformat reads SDFormat files: the library of Gazebo, from the package libsdformat-dev of Debian and Ubuntu."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_name("sdformat_reader.cpp")


@lru_cache(maxsize=1)
def _program() -> Path | str:
    """Return the program, built once, or the reason why it cannot be built."""
    compiler, config = shutil.which("c++"), shutil.which("pkg-config")
    if compiler is None or config is None:
        return "there is no C++ compiler, or no pkg-config"
    found = subprocess.run([config, "--cflags", "--libs", "sdformat12"], check=False, capture_output=True, text=True)
    if found.returncode:
        return "libsdformat 12 is not installed: apt install libsdformat-dev"
    program = Path(tempfile.mkdtemp()) / "sdformat_reader"
    command = [compiler, "-std=c++17", "-O0", str(_SOURCE), *found.stdout.split(), "-o", str(program)]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return program


def has_libsdformat() -> bool:
    """Return whether libsdformat is installed."""
    return isinstance(_program(), Path)


def models_by_libsdformat(path: Path) -> dict[str, tuple[int, int]]:
    """Return the numbers of links and joints of each model in a world file; fail if libsdformat reports an error.

    Without libsdformat, the test is skipped.
    """
    program = _program()
    if isinstance(program, str):
        pytest.skip(program)
    run = subprocess.run([program, path], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Error" not in run.stdout + run.stderr, run.stdout + run.stderr
    rows = (line.split("\t") for line in run.stdout.splitlines())
    return {name: (int(links), int(joints)) for name, links, joints in rows}
