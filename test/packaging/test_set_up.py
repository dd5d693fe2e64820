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


def pretended(machine: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the set-up as on a machine of another platform."""
    code = (
        f"import runpy, sys, sysconfig; sysconfig.get_platform = lambda: {machine!r}; "
        f"sys.argv = {[str(SCRIPT), *words]!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    return subprocess.run([base_python(), "-c", code], capture_output=True, text=True, check=False)


def test_where_ros_has_no_wheels_the_rest_is_set_up_and_one_line_says_so(tmp_path: Path) -> None:
    steps = {}
    for machine in ("linux-x86_64", "linux-aarch64"):
        result = pretended(machine, "--only-say", "--venv", str(tmp_path / machine))
        assert result.returncode == 0
        said, steps[machine] = (
            [line for line in result.stdout.splitlines() if line.startswith("set-up: needs") == needed]
            for needed in (False, True)
        )
        assert bool(said) == (machine == "linux-aarch64")
    (line,) = said
    assert "has no wheels for linux-aarch64" in line
    assert "colcon" in line
    assert set(steps["linux-aarch64"]) < set(steps["linux-x86_64"])
    assert not [step for step in steps["linux-aarch64"] if "interfaces" in step or "tf2" in step]


def test_without_ros_make_runs_the_tests_that_need_no_node() -> None:
    recipes = {
        offline: subprocess.run(
            ["make", "-n", "test", f"OFFLINE={offline}"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for offline in ("", "1")
    }
    assert "--ignore test/ros" in recipes["1"]
    assert "--ignore test/ros" not in recipes[""]
    for recipe in recipes.values():
        assert "mypy --platform win32" in recipe
        assert "mypy --platform darwin" in recipe
