# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Modules hold one idea whole, folders and functions are as small as a reader can hold, and every value has a type."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import robot_semantics

PACKAGE = Path(robot_semantics.__file__).parent
LONGEST_MODULE = 700
LARGEST_FOLDER = 25
"""Modules of one folder, without its `__init__`."""
MOST_MODULES, SMALLEST_MEDIAN = 360, 175
"""Of the package: an idea has one module, and half of the modules have at least so many lines."""
MOST_COMPLEX = 20
"""The last value of grade C of the program radon; grade D begins above it.

The limit of ruff (`max-complexity` in pyproject.toml) is smaller, but it counts neither boolean operators nor
comprehensions nor conditional expressions: functions that it accepts had up to 36.
"""

MOST_ANY = 150
"""Lines with `Any`: libraries without types, values whose type a table gives, and arguments that are passed on."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


class Content(NamedTuple):
    """What the tests count in a module, from one walk over it."""

    imports: list[ast.ImportFrom]
    functions: dict[str, int]
    """Complexity by line and name."""
    classes: list[str]
    any_lines: set[int]


@cache
def modules() -> dict[str, str]:
    return {str(path.relative_to(PACKAGE)): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def contents() -> dict[str, Content]:
    return {path: content(text) for path, text in modules().items()}


def content(text: str) -> Content:
    found = Content([], {}, [], set())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            found.imports.append(node)
        elif isinstance(node, FUNCTIONS):
            found.functions[f"{node.lineno} {node.name}"] = complexity(node)
        elif isinstance(node, ast.ClassDef):
            found.classes.append(node.name)
        elif isinstance(node, ast.Name) and node.id == "Any":
            found.any_lines.add(node.lineno)
    return found


def complexity(function: ast.AST) -> int:
    """Return the cyclomatic complexity of a function as radon counts it, without inner functions."""
    inner = [node for node in ast.iter_child_nodes(function) if not isinstance(node, DEFINITIONS)]
    return decisions(function) + sum(map(complexity, inner))


def decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return len(node.ifs) + 1
    if isinstance(node, ast.Try):
        return len(node.handlers) + bool(node.orelse)
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        return 1 + bool(node.orelse)
    return isinstance(node, (*FUNCTIONS, ast.If, ast.IfExp, ast.Assert, ast.match_case))


def test_no_module_grows_beyond_what_a_reader_can_hold() -> None:
    lengths = {path: len(text.splitlines()) for path, text in modules().items()}
    assert {path: length for path, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_no_folder_has_more_modules_than_a_reader_can_hold() -> None:
    sizes = Counter(str(Path(path).parent) for path in modules() if Path(path).name != "__init__.py")
    assert {folder: size for folder, size in sizes.items() if size > LARGEST_FOLDER} == {}


def test_the_package_has_few_doors() -> None:
    lengths = [len(text.splitlines()) for text in modules().values()]
    assert len(lengths) <= MOST_MODULES
    assert median(lengths) >= SMALLEST_MEDIAN


# Modules that only one module of their own folder imports, and why they are not part of it.
PROCESS = "runs in a process of its own"
LIBRARY = "needs an optional library"
START = "imported only when needed, for a fast start"
FAMILY = "one of a family, beside others that several modules import"
LONG = "together they are too long"
HALVES: dict[str, str] = {
    "xml/xacro_child.py": PROCESS,
    "recording/bags/rosbag2_py.py": LIBRARY,
    "recording/bags/rosbags.py": LIBRARY,
    "simulation/mujoco_builder.py": LONG,
    "model/constraint_checks.py": START,
    "cli/saved_robots.py": START,
    "recording/bags/salvage_mcap.py": START,
    "recording/bags/salvage_ros1.py": START,
    "recording/bags/salvage_sqlite.py": START,
    "convert/mujoco_keyframe.py": FAMILY,
    "recording/sample/root_track.py": FAMILY,
    "recording/sample/model.py": LONG,
    "ros/node/collision_action.py": FAMILY,
    "ros/node/snapshots.py": FAMILY,
    "viewer/studio_groups.py": FAMILY,
    "viewer/studio_pairs.py": FAMILY,
    "viewer/studio_robot.py": FAMILY,
    "viewer/studio_start.py": FAMILY,
    "viewer/studio_states.py": FAMILY,
    "comparison/meaning.py": LONG,
    "convert/planner_robot.py": LONG,
    "kinematics/loop_following.py": LONG,
    "live/fast_path.py": LONG,
    "model/groups.py": LONG,
    "model/mesh_checks.py": LONG,
    "ros/node/services.py": LONG,
    "ros/tools/joint_sliders.py": LONG,
}


def halves() -> dict[str, str]:
    """Return the modules that exactly one module imports, if that is in their own folder; each with its length."""
    texts = modules()
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in texts}
    importers: dict[str, set[str]] = {}
    for path, found in contents().items():
        for node in found.imports:
            module = (node.module or "").removeprefix("robot_semantics.")
            for name in (module, *(f"{module}.{alias.name}" for alias in node.names)):
                if name in names and names[name] != path:
                    importers.setdefault(names[name], set()).add(path)
    return {
        path: next(iter(others))
        for path, others in importers.items()
        if len(others) == 1
        and Path(path).name != "__init__.py"
        and {Path(path).parent} == {Path(other).parent for other in others}
    }


def test_a_module_is_no_half_of_its_neighbour_without_a_reason() -> None:
    assert len(modules()) > 300
    assert sorted(halves()) == sorted(HALVES)


def test_modules_that_are_apart_for_their_length_would_be_too_long_together() -> None:
    lengths = {path: len(text.splitlines()) for path, text in modules().items()}
    joined = {path: lengths[path] + lengths[other] for path, other in halves().items() if HALVES.get(path) == LONG}
    # A merged module has one header and one list of imports less, about 30 lines, and needs some room to grow.
    assert {path: length for path, length in joined.items() if length - 30 <= LONGEST_MODULE - 50} == {}


def test_no_function_is_more_complex_than_a_reader_can_follow() -> None:
    found = {
        f"{path}:{function}": value
        for path, content in contents().items()
        for function, value in content.functions.items()
    }
    assert {name: value for name, value in found.items() if value > MOST_COMPLEX} == {}


def test_the_complexity_of_a_function_is_that_of_radon() -> None:
    text = """
def f(a, b):
    for x in a:                       # 1 + 1
        if x and b or not x:          # 1 + 2
            continue
    else:                             # 1
        b = [y for y in a if y if b]  # 1 + 2
    try:
        g = lambda: 1 if a else 2     # 1
    except KeyError:                  # 1
        assert a                      # 1
    while a:                          # 1
        def h():
            return a and b            # of its own
"""
    (function,) = ast.parse(text).body
    assert complexity(function) == 1 + 1 + 3 + 1 + 3 + 1 + 1 + 1 + 1


def test_a_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for path, found in contents().items():
        for name in found.classes:
            homes.setdefault(name, []).append(path)
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_any_stays_rare() -> None:
    count = sum(len(found.any_lines) for found in contents().values())
    assert count <= MOST_ANY, f"{count} lines with Any: name the type, or a Protocol with what is used of it"
