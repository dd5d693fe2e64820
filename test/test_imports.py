"""The rooms of the package import in one direction only, and the core imports no ROS."""

from __future__ import annotations

import ast
from pathlib import Path

import robot_semantics

PACKAGE = Path(robot_semantics.__file__).parent

# A room may import itself and every room of an earlier line, nothing else of the package.
LAYERS = (
    ("names", "errors", "diagnostics", "transforms"),
    ("description",),
    ("model",),
    ("kinematics",),
    ("usdf", "collision"),
    ("recording",),
    ("simulation", "examples"),
    ("viewer",),
    ("ros",),
    ("cli",),
)
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}
ROS_MODULES = {"rclpy", "tf2_ros", "sensor_msgs", "geometry_msgs", "std_msgs", "robot_semantics_interfaces"}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_modules(path: Path) -> set[str]:
    """Return the dotted names of all modules that a file imports, at any depth of the code."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py" or path.parent != PACKAGE]


def test_every_room_has_a_place_in_the_order() -> None:
    assert {room_of(path) for path in modules()} <= set(RANK)


def test_imports_point_one_way() -> None:
    wrong = []
    checked = 0
    for path in modules():
        for name in imported_modules(path):
            parts = name.split(".")
            if parts[0] != "robot_semantics" or len(parts) < 2 or parts[1] not in RANK:
                continue
            checked += 1
            here, there = room_of(path), parts[1]
            if there != here and RANK[there] >= RANK[here] and RANK[here] > 0:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert not wrong
    assert checked > 50


def test_only_the_ros_room_imports_ros() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in modules()
        if room_of(path) != "ros"
        for name in imported_modules(path)
        if name.split(".")[0] in ROS_MODULES
    ]
    assert not wrong


def test_no_module_grows_beyond_what_a_reader_can_hold() -> None:
    long = {str(path.relative_to(PACKAGE)): n for path in modules() if (n := len(path.read_text().splitlines())) > 450}
    assert not long
