# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The rooms of the package import in one direction only: whatever the tables here do not allow is an error."""

from __future__ import annotations

import ast
import builtins
import re
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import robot_semantics
from tools.rooms import WINGS, imports

PACKAGE = Path(robot_semantics.__file__).parent

# Each room, and every room that it may import besides itself; in the order of the house, the ground floor first.
ROOMS: dict[str, set[str]] = {
    "base": set(),
    "transforms": {"base"},
    "cdr": {"base", "transforms"},
    "xml": {"base"},
    "urdf": {"base", "transforms", "xml"},
    "srdf": {"base", "urdf", "xml"},
    "model": {"base", "transforms", "xml", "urdf", "srdf"},
    "kinematics": {"base", "transforms", "model"},
    "usdf": {"base", "transforms", "xml", "urdf", "model", "kinematics"},
    "live": {"base", "cdr", "transforms", "xml", "model", "kinematics", "usdf"},
    "convert": {"base", "cdr", "transforms", "xml", "urdf", "srdf", "model", "kinematics", "usdf"},
    "examples": {"base"},
    "collision": {"base", "transforms", "xml", "urdf", "srdf", "model", "kinematics"},
    "comparison": {"base", "transforms", "urdf", "model", "kinematics"},
    "bringup": {"base", "xml", "urdf", "srdf", "model", "kinematics"},
    "recording": {"base", "cdr", "transforms", "xml", "srdf", "model", "kinematics", "usdf", "live", "convert"},
    "simulation": {"base", "transforms", "xml", "urdf", "model", "kinematics", "usdf", "live", "convert", "collision"},
    "viewer": {
        *("base", "transforms", "xml", "urdf", "srdf", "model", "kinematics", "usdf", "live", "recording"),
        "collision",
    },
    "ros": {
        *("base", "cdr", "transforms", "srdf", "model", "kinematics", "usdf", "live", "convert"),
        *("collision", "simulation", "viewer"),
    },
    "api": {
        *("base", "transforms", "xml", "model", "kinematics", "usdf", "convert", "collision", "recording", "viewer"),
        "ros",
    },
    "lsp": {"base", "xml", "urdf", "srdf", "model", "kinematics", "usdf", "bringup"},
    "cli": {
        *("base", "transforms", "xml", "urdf", "srdf", "model", "kinematics", "usdf", "live", "convert", "lsp"),
        *("examples", "collision", "comparison", "bringup", "recording", "simulation", "viewer", "ros"),
    },
    "robot_semantics": {"base", "model", "kinematics", "usdf", "recording", "api"},
    "__main__": {"cli"},
}

# The folders inside a room, the ground floor first: each may import those before it. The empty name is the room's own
# modules; without it they are the ground floor.
FOLDERS: dict[str, tuple[str, ...]] = {
    "recording": ("bags", "tracks", "read", "series", "sample", ""),
    "ros": ("messages", "running", "simulators", "node", "tools", ""),
    "cli": ("frame", "usdf", "", "collisions"),
}

# The libraries that each room may import, at any depth.
LIBRARIES: dict[str, set[str]] = {
    "base": {"filelock", "psutil", "yaml"},
    "transforms": {"numpy"},
    "cdr": {"numpy"},
    "xml": {"lxml", "msgspec", "xacro"},
    "urdf": {"lxml", "numpy"},
    "srdf": {"lxml"},
    "model": {"PIL", "collada", "lxml", "numpy", "trimesh"},
    "kinematics": {"numpy"},
    "usdf": {"lxml", "numpy"},
    "live": {"numpy"},
    "convert": {"lxml", "mujoco", "numpy", "ruamel"},
    "examples": set(),
    "collision": {"coacd", "fcl", "matplotlib", "morphit_rs", "mujoco", "numpy", "scipy", "trimesh"},
    "comparison": {"numpy", "scipy"},
    "bringup": set(),
    "recording": {
        *("apsw", "backports", "compression", "distributed", "google", "lz4", "mcap", "mcap_protobuf"),
        *("numpy", "pyarrow", "rosbags", "rosbag2_py"),
    },
    "simulation": {"lxml", "mujoco", "numpy", "pydrake"},
    "viewer": {"PIL", "fastapi", "matplotlib", "nicegui", "numpy", "uvicorn"},
    "ros": {"lxml", "numpy"},
    "api": {"numpy"},
    "lsp": {"lsprotocol", "lxml", "numpy", "pygls"},
    "cli": {"argcomplete", "lxml", "numpy", "rich"},
    "robot_semantics": set(),
    "__main__": set(),
}

# Everything in the standard library that starts processes, opens sockets, or evaluates code, and the rooms that may
# use it. The longest name that fits decides; a star is any ending. Names without a module are those of `builtins`.
GUARDED: dict[str, set[str]] = {
    # Processes.
    "subprocess": {"xml", "ros"},
    "multiprocessing": {"recording"},
    "concurrent": {"collision", "recording"},
    "_posixsubprocess": set(),
    "pty": set(),
    **{f"os.{call}*": set() for call in ("system", "popen", "exec", "spawn", "posix_spawn", "fork", "startfile")},
    **{f"posix.{call}*": set() for call in ("system", "popen", "exec", "spawn", "posix_spawn", "fork")},
    # Sockets.
    "asyncio": {"lsp", "recording", "viewer"},
    "socket": {"viewer"},
    "webbrowser": {"viewer"},
    **{name: set() for name in ("_socket", "select", "selectors", "socketserver", "ssl", "http", "xmlrpc", "wsgiref")},
    **{name: set() for name in ("ftplib", "imaplib", "nntplib", "poplib", "smtplib", "telnetlib")},
    "urllib.request": set(),
    # Code.
    "importlib": {"simulation", "ros", "cli", "robot_semantics"},
    "importlib.metadata": {"base", "simulation", "cli"},
    "importlib.util": {"viewer", "cli", "model"},
    "ctypes": {"base", "ros", "simulation"},
    **{name: set() for name in ("eval", "compile", "__import__", "__builtins__", "breakpoint")},
    "exec": {"base"},  # `base/record.py` compiles `__init__` from the names of fields, as `dataclass` does
    **{name: set() for name in ("builtins", "sys.modules", "sys.meta_path", "sys.path_hooks")},
    **{name: set() for name in ("imp", "pkgutil", "runpy", "zipimport", "code", "codeop", "bdb", "pdb", "trace")},
    **{name: set() for name in ("pickle", "_pickle", "marshal", "shelve", "dbm", "copyreg", "cffi")},
    **{name: set() for name in ("timeit", "profile", "cProfile", "doctest", "ensurepip", "venv", "pip", "setuptools")},
}

# Everything that comes with ROS 2: only the room `ros` may import any of it.
ROS_NAMES = (
    *(
        "rclpy",
        "rpyutils",
        "rosidl_generator_py",
        "rosidl_runtime_py",
        "rosidl_parser",
        "ros2cli",
        "ros2pkg",
        "ros2run",
    ),
    *("launch", "launch_ros", "launch_testing", "ament_index_python", "tf2_ros", "tf2_py", "tf_transformations"),
    *("rcl_interfaces", "builtin_interfaces", "service_msgs", "simulation_interfaces", "robot_semantics_interfaces"),
    *("std_srvs", "unique_identifier_msgs", "message_filters", "cv_bridge", "controller_manager_msgs"),
)


def is_ros(module: str) -> bool:
    top = module.split(".")[0]
    return top in ROS_NAMES or top.endswith(("_msgs", "_srvs", "_interfaces"))


class Names(NamedTuple):
    """Foreign names that a module's code uses.

    Attributes:
        imported: names in its import statements, in full: a module, or a module and a name in it.
        used: these, the attributes of imported modules (``os.system``), and names of `builtins`.
        dynamic: its imports by `importlib`: the arguments, and modules of the package named in its texts.
        relative: True if one of its imports is relative.
    """

    imported: tuple[str, ...]
    used: tuple[str, ...]
    dynamic: tuple[str, ...]
    relative: bool


BUILTINS = {*dir(builtins), "__builtins__"}


@cache
def names_in(text: str) -> Names:
    """Return the names that a module's code uses, at any depth, also under `TYPE_CHECKING`."""
    nodes = list(ast.walk(ast.parse(text)))
    imported, used, dynamic, relative = [], [], [], False
    bound: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                imported.append(alias.name)
                top = alias.name.partition(".")[0]
                bound |= {alias.asname: alias.name} if alias.asname else {top: top}
        elif isinstance(node, ast.ImportFrom):
            relative |= node.level > 0
            for alias in node.names:
                imported.append(f"{node.module}.{alias.name}")
                bound[alias.asname or alias.name] = imported[-1]
    for node in nodes:
        if (
            isinstance(node, ast.Name)
            and node.id not in bound
            and (hasattr(builtins, node.id) or node.id == "__builtins__")
        ):
            used.append(node.id)
        elif isinstance(node, ast.Attribute):
            used.append(full_name(node, bound))
        elif isinstance(node, ast.Call) and full_name(node.func, bound).split(".")[-1] in ("import_module", "getattr"):
            used.extend(f"{full_name(node.args[0], bound)}.{text}" for text in texts(node.args[1:2]))
            if full_name(node.func, bound).endswith("import_module"):
                dynamic.extend(texts(node.args[:1]))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            dynamic.extend(re.findall(r"^robot_semantics(?:\.\w+)+(?=[.:]|$)", node.value))
    if not any(name.partition(".")[0] == "importlib" for name in imported):
        dynamic = []
    return Names(tuple(imported), (*imported, *filter(None, used)), tuple(dynamic), relative)


def full_name(node: ast.expr, bound: dict[str, str]) -> str:
    """Return the name of an imported module's attribute, ``os.path.join``; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        inner = full_name(node.value, bound)
        return inner and f"{inner}.{node.attr}"
    return bound.get(node.id, node.id if node.id == "getattr" else "") if isinstance(node, ast.Name) else ""


def texts(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def modules(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def name_of(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name: str) -> str:
    """Return the room of a module of the package; the front door is a room of its own."""
    return name.split(".")[min(1, name.count("."))]


@cache
def guard_of(name: str) -> str | None:
    """Return the longest line of the table of guarded names that fits."""
    fitting = (
        line
        for line in GUARDED
        if name == line or name.startswith(f"{line}.") or (line[-1] == "*" and name.startswith(line[:-1]))
    )
    return max(fitting, key=len, default=None)


def import_fault(here: str, module: str) -> str | None:
    """Return the fault of an import in a room, by the tables of rooms, of libraries and of ROS."""
    top = module.split(".")[0]
    if top == "robot_semantics":
        there = room_of(module)
        return None if there == here or there in ROOMS[here] else f"'{here}' may not import '{there}'"
    if is_ros(module):
        return None if here == "ros" else "only the room 'ros' may import ROS"
    if top in sys.stdlib_module_names or top in LIBRARIES[here]:
        return None
    return f"'{here}' may not import this library"


def folder_fault(name: str, module: str, folders: set[str]) -> str | None:
    """Return the fault of an import inside one room, by the order of its folders."""
    here, there = (".".join(each.split(".")[:3]) for each in (name, module))
    if here == there or room_of(name) != room_of(module) or not {here, there} & folders:
        return None
    order = FOLDERS.get(room_of(name), ())
    own_floor = order.index("") if "" in order else -1
    floors = [order.index(each.split(".")[-1]) if each in folders else own_floor for each in (here, there)]
    return None if floors[0] > floors[1] else f"'{here}' may not import '{there}'"


def faults(package: Path) -> list[str]:
    """Return every use of a name that the tables do not allow, and every cycle of modules, also of types only."""
    known = {name_of(package, path): path for path in modules(package)}
    folders = {name for name, path in known.items() if path.name == "__init__.py" and name.count(".") > 1}
    found = []
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        here = room_of(name)
        if here not in ROOMS:
            found.append(f"{name}: the room '{here}' has no line in the table")
            continue
        names = names_in(path.read_text())
        if names.relative:
            found.append(f"{name}: relative import")
        if name in folders and name.split(".")[2] not in FOLDERS.get(here, ()):
            found.append(f"{name}: the folder has no line in the table")
        imported = [module if module in known else module.rpartition(".")[0] or module for module in names.imported]
        for module in (*imported, *names.dynamic):
            fault = import_fault(here, module) or folder_fault(name, module, folders)
            if fault:
                found.append(f"{name} imports {module}: {fault}")
        for used in names.used:
            guard = guard_of(used)
            if guard is not None and here not in GUARDED[guard]:
                found.append(f"{name} uses {used}: '{here}' may not use '{guard}'")
        graph[name] = {module for module in imported if module in known and module != name}
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


def test_a_wing_imports_only_wings_below_it() -> None:
    wings = list(WINGS)
    assert sorted(room for rooms in WINGS.values() for room in rooms) == sorted(
        set(ROOMS) - {"robot_semantics", "__main__"}
    )
    assert [
        (wing, other)
        for wing, others in imports().items()
        for other in others
        if wings.index(other) > wings.index(wing)
    ] == []


PLANTED = [
    ("viewer/plotting.py", "from nav_msgs.msg import Odometry", "only the room 'ros' may import ROS"),
    ("base/names.py", "from robot_semantics.transforms import rigid", "'base' may not import 'transforms'"),
    ("usdf/fields.py", "import robot_semantics.cli.main", "'usdf' may not import 'cli'"),
    ("urdf/tree.py", "def f():\n    from robot_semantics.urdf.reader import read_urdf", " → "),
    ("base/names.py", "if TYPE_CHECKING:\n    from robot_semantics.base.errors import ArrayError", " → "),
    ("base/names.py", "from .errors import ArrayError", "relative import"),
    ("attic/box.py", "import numpy", "has no line in the table"),
    ("model/robot_model.py", "import mujoco", "'model' may not import this library"),
    ("live/robot.py", "def f():\n    from pyarrow import parquet", "'live' may not import this library"),
    # The front door, and from where it may be used.
    ("__init__.py", "import numpy", "'robot_semantics' may not import this library"),
    ("__init__.py", "import rclpy", "only the room 'ros' may import ROS"),
    ("__init__.py", "from robot_semantics.cli import main", "'robot_semantics' may not import 'cli'"),
    ("convert/json_form.py", "from robot_semantics import load_robot", "'convert' may not import 'robot_semantics'"),
    ("cli/fk.py", "import robot_semantics", "'cli' may not import 'robot_semantics'"),
    # Folders inside a room.
    ("ros/messages/maker.py", "from robot_semantics.ros.node import nodes", "'robot_semantics.ros.messages' may not"),
    ("ros/simulators/world_node.py", "import robot_semantics.ros.tools.doctor", "'robot_semantics.ros.simulators' may"),
    (
        "ros/running/qos.py",
        "from robot_semantics.ros.simulators import world_node",
        "'robot_semantics.ros.running' may",
    ),
    ("ros/attic/__init__.py", "", "the folder has no line in the table"),
    ("usdf/attic/__init__.py", "", "the folder has no line in the table"),
    # Imports without an import statement.
    ("usdf/fields.py", "import importlib\nimportlib.import_module('robot_semantics.cli.main')", "may not import 'cli'"),
    ("usdf/fields.py", "import importlib\nimportlib.import_module(name)", "'usdf' may not use 'importlib'"),
    ("usdf/fields.py", "from importlib import import_module as load\nload('mujoco')", "may not use 'importlib'"),
    ("usdf/fields.py", "import importlib.metadata as m", "'usdf' may not use 'importlib.metadata'"),
    ("simulation/loading.py", "importlib.import_module('rclpy')", "only the room 'ros' may import ROS"),
    ("simulation/loading.py", "importlib.import_module('nicegui')", "'simulation' may not import this library"),
    ("simulation/loading.py", "A = {'a': 'robot_semantics.viewer.page'}", "'simulation' may not import 'viewer'"),
    ("cli/running.py", "importlib.import_module(f'robot_semantics.api.{name}')", "'cli' may not import 'api'"),
    ("usdf/fields.py", "__import__('mujoco')", "'usdf' may not use '__import__'"),
    ("cli/fk.py", "import builtins", "'cli' may not use 'builtins'"),
    ("cli/fk.py", "__builtins__['__import__']('rclpy')", "'cli' may not use '__builtins__'"),
    ("cli/fk.py", "import sys\nsys.modules['rclpy']", "'cli' may not use 'sys.modules'"),
    # Processes, sockets and code.
    ("usdf/fields.py", "import subprocess", "'usdf' may not use 'subprocess'"),
    ("usdf/fields.py", "def f():\n    from subprocess import run", "'usdf' may not use 'subprocess'"),
    ("xml/reader.py", "import os as o\no.system('ls')", "'xml' may not use 'os.system*'"),
    ("xml/reader.py", "from os import execvp", "'xml' may not use 'os.exec*'"),
    ("xml/reader.py", "import os\ngetattr(os, 'popen')('ls')", "'xml' may not use 'os.popen*'"),
    ("collision/counting.py", "import multiprocessing.pool", "'collision' may not use 'multiprocessing'"),
    ("ros/node/nodes.py", "import socket", "'ros' may not use 'socket'"),
    ("recording/bags/source.py", "from urllib.request import urlopen", "'recording' may not use 'urllib.request'"),
    ("recording/bags/source.py", "import http.server", "'recording' may not use 'http'"),
    ("cli/fk.py", "import webbrowser", "'cli' may not use 'webbrowser'"),
    ("cli/fk.py", "eval('1')", "'cli' may not use 'eval'"),
    ("cli/fk.py", "compiled = map(compile, ['1'])", "'cli' may not use 'compile'"),
    ("usdf/snapshots.py", "import pickle", "'usdf' may not use 'pickle'"),
    ("model/loading.py", "import ctypes", "'model' may not use 'ctypes'"),
    ("recording/export.py", "import runpy", "'recording' may not use 'runpy'"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    package = tmp_path_factory.mktemp("planted") / "robot_semantics"
    shutil.copytree(PACKAGE, package, ignore=lambda folder, names: {name for name in names if is_data(folder, name)})
    return package


def is_data(folder: str, name: str) -> bool:
    return not name.endswith(".py") and not (Path(folder) / name).is_dir()


@pytest.mark.parametrize(("file", "line", "complaint"), PLANTED)
def test_a_planted_fault_is_found(copy: Path, file: str, line: str, complaint: str) -> None:
    planted = copy / file
    before = planted.read_text() if planted.exists() else None
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f"{before or ''}\n{line}\n")
    try:
        assert [fault for fault in faults(copy) if complaint in fault]
    finally:
        if before is None:
            planted.unlink()
            planted.parent.rmdir()
        else:
            planted.write_text(before)


def test_the_table_of_guarded_names_lists_no_room_that_does_not_need_it() -> None:
    used = {
        (guard_of(name), room_of(name_of(PACKAGE, path)))
        for path in modules(PACKAGE)
        for name in names_in(path.read_text()).used
    }
    assert [(guard, room) for guard, rooms in GUARDED.items() for room in rooms if (guard, room) not in used] == []
