# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The set-up does nothing twice, and reports missing tools. Run `make setup` if the first test fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".venv"
SCRIPT = ROOT / "tools" / "setup.py"

pytestmark = pytest.mark.skipif(
    not (VENV / "setup" / "test").exists(), reason="not in an environment that `make setup` made"
)


def base_python() -> str:
    """The interpreter that the environment was made with."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


def set_up(path: str = os.environ.get("PATH", os.defpath), **variables: str) -> subprocess.CompletedProcess[str]:
    """Ask the set-up what there is to do; these tests never change the environment that they run in."""
    command = [base_python(), str(SCRIPT), "--only-say"]
    return subprocess.run(command, env={"PATH": path, **variables}, capture_output=True, text=True, check=False)


def test_after_a_set_up_there_is_nothing_to_do() -> None:
    result = set_up()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_missing_tools_are_named_with_what_to_install(tmp_path: Path) -> None:
    result = set_up(path=str(tmp_path))
    assert result.returncode == 1
    assert result.stdout == ""
    assert [line.split(": ", 1)[1] for line in result.stderr.splitlines()] == [
        "a C compiler is missing: apt install build-essential, or dnf install gcc-c++ make",
        "a C++ compiler is missing: apt install build-essential, or dnf install gcc-c++ make",
        "make is missing: apt install make, or dnf install make",
    ]


def test_a_compiler_that_was_chosen_and_is_not_there_is_missing() -> None:
    result = set_up(CC="no-such-compiler -O2")
    assert result.returncode == 1
    assert result.stderr.startswith("set-up: a C compiler is missing")


def test_nothing_but_an_environment_is_ever_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("data")
    command = [base_python(), str(SCRIPT), "--venv", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "is no Python environment: move it away" in result.stderr
    assert (tmp_path / "precious").read_text() == "data"
