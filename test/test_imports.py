# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The rooms of the package import in one direction only: whatever the tables here do not allow is an error."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import robot_semantics

PACKAGE = Path(robot_semantics.__file__).parent

# Each room, and every room that it may import besides itself; in the order of the house, the ground floor first.
ROOMS: dict[str, set[str]] = {
    "base": set(),
    "transforms": {"base"},
    "xml": {"base"},
    "urdf": {"base", "transforms", "xml"},
    "srdf": {"base", "urdf", "xml"},
    "model": {"base", "transforms", "xml", "urdf", "srdf"},
    "kinematics": {"base", "transforms", "model"},
    "usdf": {"base", "transforms", "xml", "urdf", "model", "kinematics"},
    "state": {"base", "transforms", "xml", "model", "kinematics", "usdf"},
    "convert": {"base", "transforms", "xml", "model", "kinematics", "usdf", "state"},
    "examples": {"base"},
    "collision": {"base", "transforms", "xml", "urdf", "srdf", "model", "kinematics"},
    "recording": {"base", "transforms", "xml", "srdf", "model", "kinematics", "usdf", "state", "convert"},
    "simulation": {"base", "transforms", "xml", "urdf", "model", "kinematics", "usdf", "state", "convert", "collision"},
    "viewer": {
        *("base", "transforms", "xml", "urdf", "srdf", "model", "kinematics", "usdf", "state", "recording"),
        "collision",
    },
    "ros": {
        *("base", "transforms", "srdf", "model", "kinematics", "usdf", "state", "convert"),
        *("collision", "simulation", "viewer"),
    },
    "api": {
        *("base", "transforms", "xml", "model", "kinematics", "usdf", "convert", "collision", "recording", "ros"),
    },
    "cli": {
        *("base", "transforms", "xml", "urdf", "srdf", "model", "kinematics", "usdf", "state", "convert"),
        *("examples", "collision", "recording", "simulation", "viewer", "ros"),
    },
}

# The libraries that each room may import, at any depth.
LIBRARIES: dict[str, set[str]] = {
    "base": set(),
    "transforms": {"numpy"},
    "xml": {"lxml", "msgspec", "numpy", "xacro"},
    "urdf": {"lxml", "numpy"},
    "srdf": {"lxml"},
    "model": {"lxml", "numpy", "trimesh"},
    "kinematics": {"numpy"},
    "usdf": {"lxml", "numpy"},
    "state": {"numpy"},
    "convert": {"lxml", "mujoco", "numpy"},
    "examples": set(),
    "collision": {"coacd", "fcl", "matplotlib", "mujoco", "numpy", "scipy", "trimesh"},
    "recording": {
        *("apsw", "backports", "compression", "distributed", "lz4", "matplotlib", "numpy", "pyarrow", "rosbags"),
        "ruamel",
    },
    "simulation": {"lxml", "mujoco", "numpy", "pybullet", "pydrake"},
    "viewer": {"PIL", "fastapi", "nicegui", "numpy", "uvicorn"},
    "ros": {"lxml", "numpy"},
    "api": {"numpy"},
    "cli": {"argcomplete", "lxml", "numpy", "rich"},
}

# Everything that comes with ROS 2: only the room `ros` may import any of it.
ROS_NAMES = (
    *("rclpy", "rpyutils", "rosidl_runtime_py", "rosidl_parser", "rosbag2_py", "ros2cli", "ros2pkg", "ros2run"),
    *("launch", "launch_ros", "launch_testing", "ament_index_python", "tf2_ros", "tf2_py", "tf_transformations"),
    *("rcl_interfaces", "builtin_interfaces", "service_msgs", "simulation_interfaces", "robot_semantics_interfaces"),
    *("std_srvs", "unique_identifier_msgs", "message_filters", "cv_bridge", "controller_manager_msgs"),
)


def is_ros(module: str) -> bool:
    top = module.split(".")[0]
    return top in ROS_NAMES or top.endswith(("_msgs", "_srvs", "_interfaces"))


def is_library_of(room: str, module: str) -> bool:
    """Tell whether a room may import a module that is none of the package's and none of ROS's."""
    top = module.split(".")[0]
    return top == "robot_semantics" or top in sys.stdlib_module_names or top in LIBRARIES[room]


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def modules(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def name_of(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name: str) -> str | None:
    """Return the room of a module of the package; None for the front door itself."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else None


def imported(tree: ast.AST, path: Path, known: set[str]) -> Iterator[str]:
    """Yield the modules that a file's code imports, at any depth, also under `TYPE_CHECKING`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def faults(package: Path) -> list[str]:
    """Return every import that the tables do not allow, and every cycle of modules, also under `TYPE_CHECKING`."""
    names = {name_of(package, path): path for path in modules(package)}
    found = []
    graph: dict[str, set[str]] = {}
    for name, path in names.items():
        here = room_of(name)
        if here is not None and here not in ROOMS:
            found.append(f"{name}: the room '{here}' has no line in the table")
            continue
        tree = parsed(path.read_text())
        for module in imported(tree, path, set(names)):
            there = room_of(module) if module.split(".")[0] == "robot_semantics" else None
            if is_ros(module) and here != "ros":
                found.append(f"{name} imports {module}: only the room 'ros' may import ROS")
            elif not is_ros(module) and here is not None and not is_library_of(here, module):
                found.append(f"{name} imports {module}: '{here}' may not import this library")
            elif there is not None and here is not None and there != here and there not in ROOMS[here]:
                found.append(f"{name} imports {module}: '{here}' may not import '{there}'")
        graph[name] = {module for module in imported(tree, path, set(names)) if module in names and module != name}
    return found + [" → ".join(cycle) for cycle in cycles(graph)]


def cycles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield one cycle for each module from which the search runs into itself."""
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> Iterator[list[str]]:
        if name in trail:
            yield [*trail[trail.index(name) :], name]
        elif name not in done:
            for other in sorted(graph.get(name, ())):
                yield from visit(other, [*trail, name])
            done.add(name)

    for name in sorted(graph):
        yield from visit(name, [])


def test_every_import_is_allowed_by_the_tables() -> None:
    assert len(modules(PACKAGE)) > 200
    assert faults(PACKAGE) == []


def test_the_table_itself_points_one_way() -> None:
    order = list(ROOMS)
    assert [
        (room, other) for room, others in ROOMS.items() for other in others if order.index(other) >= order.index(room)
    ] == []
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} <= set(ROOMS)
    assert list(LIBRARIES) == order


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("recording/plotting.py", "from nav_msgs.msg import Odometry", "only the room 'ros' may import ROS"),
        ("base/names.py", "from robot_semantics.transforms import rigid", "'base' may not import 'transforms'"),
        ("usdf/poses.py", "import robot_semantics.cli.main", "'usdf' may not import 'cli'"),
        ("urdf/tree.py", "def f():\n    from robot_semantics.urdf.reader import read_urdf", " → "),
        ("base/names.py", "if TYPE_CHECKING:\n    from robot_semantics.base.errors import ArrayError", " → "),
        ("attic/box.py", "import numpy", "has no line in the table"),
        ("model/robot_model.py", "import mujoco", "'model' may not import this library"),
        ("state/robot.py", "def f():\n    from pyarrow import parquet", "'state' may not import this library"),
    ],
)
def test_a_planted_import_is_found(tmp_path: Path, file: str, line: str, complaint: str) -> None:
    package = tmp_path / "robot_semantics"
    for path in modules(PACKAGE):
        copy = package / path.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text())
    planted = package / file
    planted.parent.mkdir(exist_ok=True)
    planted.write_text((planted.read_text() if planted.exists() else "") + f"\n{line}\n")
    found = [fault for fault in faults(package) if complaint in fault]
    assert found


def test_no_module_grows_beyond_what_a_reader_can_hold() -> None:
    long = {
        str(path.relative_to(PACKAGE)): n
        for path in modules(PACKAGE)
        if (n := len(path.read_text().partition("\n\n")[2].splitlines())) > 350
    }
    assert not long
