# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A workspace with both packages: plain colcon commands build them, and `colcon test` runs their tests.

The interfaces are only configured here: a complete build takes as long as in the set-up, which has done it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (make setup, or a ROS 2 environment)")

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
INTERFACES = "robot_semantics_interfaces"
UNCLEAN = shutil.ignore_patterns(".*", "build", "install", "log", "*.egg-info", "__pycache__")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

if not (BIN / "colcon").exists() or not (Path(sys.prefix) / "share" / "ament_cmake").exists():
    pytest.skip("colcon and ament_cmake are not in this environment (make setup)", allow_module_level=True)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the package, and beside it a link to its interfaces, as the README says."""
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(ROOT, folder / "src" / "robot_semantics", ignore=UNCLEAN, symlinks=True)
    (folder / "src" / INTERFACES).symlink_to("robot_semantics/interfaces")
    return folder


def colcon(workspace: Path, *words: str) -> str:
    """Run colcon with this environment for the installation below; return its output."""
    environment = {
        **os.environ,
        "AMENT_PREFIX_PATH": sys.prefix,
        "CMAKE_PREFIX_PATH": sys.prefix,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    }
    # The options of this pytest run must not be passed to the packages' own runs.
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [str(BIN / "colcon"), *words],
        cwd=workspace,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def test_colcon_sees_the_package_and_its_interfaces(workspace: Path) -> None:
    assert colcon(workspace, "list", "--names-only").split() == ["robot_semantics", INTERFACES]


def test_the_package_is_built_installed_and_tested(workspace: Path) -> None:
    colcon(workspace, "build", "--packages-ignore", INTERFACES)
    installed = workspace / "install" / "robot_semantics"
    programs = {path.name for path in (installed / "lib" / "robot_semantics").iterdir()}
    assert programs >= {"robot_semantics", "robot_semantics_node", "robot_semantics_lifecycle_node", "mujoco_world"}
    share = installed / "share" / "robot_semantics"
    launch_files = {path.name for path in (ROOT / "launch").glob("*.py")}
    assert {path.name for path in (share / "launch").iterdir()} == launch_files
    assert (share / "config" / "robot_semantics.yaml").is_file()
    assert (installed / "share/ament_index/resource_index/packages/robot_semantics").is_file()
    colcon(workspace, "test", "--packages-ignore", INTERFACES, "--pytest-args", "test/base/test_advice.py")
    said = colcon(workspace, "test-result", "--test-result-base", "build/robot_semantics")
    assert ": 2 tests, 0 errors, 0 failures, 0 skipped" in said


def test_the_package_is_built_with_links_to_its_sources(workspace: Path) -> None:
    bases = ("--build-base", "linked/build", "--install-base", "linked/install")
    colcon(workspace, "build", "--symlink-install", "--packages-ignore", INTERFACES, *bases)
    launch_file = workspace / "linked/install/robot_semantics/share/robot_semantics/launch/robot_semantics.launch.py"
    assert launch_file.resolve() == workspace / "src/robot_semantics/launch/robot_semantics.launch.py"


def test_the_interfaces_are_configured_and_tested(workspace: Path) -> None:
    target = f"ament_cmake_python_copy_{INTERFACES}"
    options = ("-DPYTHON_ONLY=ON", f"-DPython3_EXECUTABLE={sys.executable}")
    colcon(workspace, "build", "--packages-select", INTERFACES, "--cmake-target", target, "--cmake-args", *options)
    colcon(workspace, "test", "--packages-select", INTERFACES)
    said = colcon(workspace, "test-result", "--test-result-base", f"build/{INTERFACES}")
    assert ", 0 errors, 0 failures, 0 skipped" in said
    assert not said.startswith("Summary: 0 tests")
