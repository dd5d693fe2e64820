# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`pip install .` into an empty environment, with no ROS anywhere, gives the library and the command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements" / "demo.lock"
SCRIPTS = {
    "bag_to_usdf",
    "mujoco_world",
    "robot_semantics",
    "robot_semantics_lifecycle_node",
    "robot_semantics_node",
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def outside(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a command with no trace of this environment or of ROS in its variables."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ROS", "_ROS", "AMENT", "PYTHON", "LD_"))
    }
    kept["PATH"] = os.defpath
    return subprocess.run(command, env=kept, cwd="/", capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment with the package installed from a clean copy of its sources."""
    folder = tmp_path_factory.mktemp("pip")
    source, prefix = folder / "source", folder / "venv"
    unclean = shutil.ignore_patterns(".git", ".venv*", "build", "*.egg-info", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, source, ignore=unclean, symlinks=True)
    assert outside([sys.executable, "-m", "venv", prefix]).returncode == 0
    # The package's own folder has no hash, and with hashes pip wants one for everything.
    versions = folder / "versions.txt"
    entries = [line.rstrip(" \\") for line in LOCK.read_text().splitlines() if "==" in line and line[0] != " "]
    versions.write_text("\n".join(entries))
    result = outside([prefix / "bin" / "pip", "install", "--constraint", versions, source])
    assert result.returncode == 0, result.stdout + result.stderr
    return prefix / "bin"


def test_all_executables_are_on_the_path(installed: Path) -> None:
    assert {path.name for path in installed.iterdir()} >= SCRIPTS


def test_only_the_light_requirements_came_along(installed: Path) -> None:
    names = outside([installed / "pip", "list", "--format=freeze"]).stdout.split()
    heavy = ("ros-", "mujoco", "rosbags", "viser", "trimesh", "scipy", "matplotlib", "dask")
    assert not [name for name in names if name.startswith(heavy)]


def test_the_command_line_works_without_ros(installed: Path) -> None:
    where = outside([installed / "python", "-c", "import robot_semantics.examples as e; print(e.__path__[0])"])
    example = Path(where.stdout.strip(), "rover_arm.urdf")
    assert example.is_relative_to(installed.parent)
    result = outside([installed / "robot_semantics", "check", example])
    assert result.returncode == 0, result.stdout + result.stderr
    (version,) = re.findall("<version>(.*)</version>", (ROOT / "package.xml").read_text())
    assert outside([installed / "robot_semantics", "--version"]).stdout == f"robot_semantics {version}\n"


def test_types_and_data_are_part_of_the_package(installed: Path) -> None:
    (package,) = installed.parent.glob("lib/python*/site-packages/robot_semantics")
    assert (package / "py.typed").is_file()
    share = installed.parent / "share"
    assert (share / "ament_index/resource_index/packages/robot_semantics").is_file()
    assert (share / "robot_semantics" / "package.xml").is_file()
