# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Each error that a docstring names exists, and is raised by the function or by a function that it may call.

Calls are followed by their names alone: a call of `x.read` may reach every function `read` of the package. So an error
that is named here without a fault is possible, but each fault that is found is one.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import robot_semantics

PACKAGE = Path(robot_semantics.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SECTION = re.compile(r"^Raises:\n((?:    .*\n|\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^    (\w+(?:, \w+)*):", re.MULTILINE)


class Function(NamedTuple):
    """A function: where it is, the errors of its docstring, and the names in its body."""

    place: str
    stated: tuple[str, ...]
    names: frozenset[str]


def stated_errors(docstring: str | None) -> tuple[str, ...]:
    """Return the names in the section `Raises:` of a docstring."""
    section = SECTION.search((docstring or "") + "\n")
    return tuple(name for entry in ENTRY.findall(section[1]) for name in entry.split(", ")) if section else ()


def names_in(function: ast.AST) -> Iterator[str]:
    """Return the names and the attributes that a function uses."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


class Package(NamedTuple):
    """All functions of the package by name, a class by its special methods, and the bases of each class."""

    functions: dict[str, list[Function]]
    bases: dict[str, set[str]]

    def users(self) -> dict[str, set[str]]:
        """Return the functions that use a name."""
        users: defaultdict[str, set[str]] = defaultdict(set)
        for user, named in self.functions.items():
            for name in (name for function in named for name in function.names):
                users[name].add(user)
        return users

    def kinds_of(self, error: str) -> set[str]:
        """Return an error type and the types derived from it."""
        kinds = {error}
        while derived := {name for name, bases in self.bases.items() if bases & kinds} - kinds:
            kinds |= derived
        return kinds

    def raising(self, error: str, users: dict[str, set[str]]) -> set[str]:
        """Return the names whose use may raise an error: its types, and the functions that use such a name."""
        names: set[str] = set()
        new = self.kinds_of(error)
        while new:
            names |= new
            new = {user for name in new for user in users.get(name, ())} - names
        return names


@cache
def package() -> Package:
    """Return the package, read from its text."""
    functions: defaultdict[str, list[Function]] = defaultdict(list)
    bases: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] |= {base.id for base in node.bases if isinstance(base, ast.Name)}
                # To use a class may call its special methods, and those of its bases.
                inside = [item for item in node.body if isinstance(item, FUNCTIONS) and item.name.startswith("__")]
                names = {*bases[node.name], *(name for item in inside for name in names_in(item))}
                functions[node.name].append(Function("", (), frozenset(names)))
            elif isinstance(node, FUNCTIONS):
                place = f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
                names = set(names_in(node))
                if "abstractmethod" in names:
                    # Its implementations raise.
                    names.add(node.name)
                functions[node.name].append(Function(place, stated_errors(ast.get_docstring(node)), frozenset(names)))
            elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("robot_semantics"):
                for alias in node.names:
                    bases.setdefault(alias.name, set())
    return Package(functions, bases)


def faults(code: Package) -> Iterator[str]:
    """Return the errors of docstrings that do not exist, or that nothing below raises."""
    stating: defaultdict[str, list[Function]] = defaultdict(list)
    for function in (function for named in code.functions.values() for function in named):
        for error in function.stated:
            stating[error].append(function)
    users = code.users()
    for error, functions in stating.items():
        if error in code.bases:
            raising = code.raising(error, users)
            yield from (f"{each.place}: nothing below raises {error}" for each in functions if not raising & each.names)
        elif not isinstance(getattr(builtins, error, None), type):
            yield from (f"{each.place}: there is no {error}" for each in functions)


def test_each_error_of_a_docstring_exists_and_is_raised_below() -> None:
    assert sum(len(function.stated) for named in package().functions.values() for function in named) > 300
    assert sorted(faults(package())) == []


def test_a_false_error_is_found() -> None:
    functions = {"read": [Function("a.py:1 read", ("BagError", "NoError"), frozenset({"open"}))]}
    code = Package(functions, {"BagError": {"Exception"}})
    assert list(faults(code)) == ["a.py:1 read: nothing below raises BagError", "a.py:1 read: there is no NoError"]
