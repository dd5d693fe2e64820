# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared input of all steps that resolve an SRDF: the tree, the robot, and reports with places."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf import tree

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class SrdfReporter:
    """One SRDF, and reports of its problems with their places."""

    semantic: tree.SrdfDocument
    diagnostics: Diagnostics
    _suggestions: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def error(self, code: str, message: str, at: int, attribute: str | None = None) -> None:
        """Report an error at element number `at`, or at its attribute."""
        self.diagnostics.error(code, message, self.semantic.places.place(at, attribute))

    def warning(self, code: str, message: str, at: int, attribute: str | None = None) -> None:
        """Report a warning at element number `at`, or at its attribute."""
        self.diagnostics.warning(code, message, self.semantic.places.place(at, attribute))

    def line(self, at: int) -> int:
        """Return the line of element number `at`."""
        return self.semantic.places.place(at).line

    def known(self, kind: str, name: str, valid: Collection[str], at: int, attribute: str, user: str) -> bool:
        """Return True if `name` is in `valid`; else report it. `user` is the thing that names it."""
        if name in valid:
            return True
        # The same wrong name is often in thousands of collision pairs, and the search for similar names is slow.
        key = (kind, name)
        if key not in self._suggestions:
            self._suggestions[key] = self.diagnostics.suggest(name, valid)
        suggestion = self._suggestions[key]
        self.diagnostics.error(
            f"unknown-{kind}",
            f"unknown {kind} '{name}' in {user}",
            self.semantic.places.place(at, attribute),
            name=suggestion,
            valid=() if suggestion is None else (suggestion,),
        )
        return False

    def repeated(
        self, items: Iterable[_Item], key: Callable[[_Item], Hashable], at: Callable[[_Item], int]
    ) -> list[tuple[_Item, int]]:
        """Return every item that has the key of an earlier item, with the line of the first item with this key."""
        first: dict[Hashable, int] = {}
        found: list[tuple[_Item, int]] = []
        for item in items:
            if key(item) in first:
                found.append((item, self.line(first[key(item)])))
            first.setdefault(key(item), at(item))
        return found


@dataclass(frozen=True)
class ResolutionScope(SrdfReporter):
    """One SRDF that is resolved against one robot.

    Attributes:
        model: the robot with its root joint.
        joint_names: every joint that the SRDF may name: the robot's joints and the virtual joints.

    """

    model: RobotModel = field(kw_only=True)
    joint_names: frozenset[str] = field(default=frozenset(), kw_only=True)

    def known_link(self, name: str, at: int, attribute: str, user: str) -> bool:
        """Return True if the robot has the link; else report it. `user` is the thing that names it."""
        return self.known("link", name, self.model.link_index, at, attribute, user)

    def known_joint(self, name: str, at: int, attribute: str, user: str) -> bool:
        """Return True if the robot or the SRDF has the joint; else report it."""
        return self.known("joint", name, self.joint_names, at, attribute, user)


def declared_groups(semantic: tree.SrdfDocument) -> Mapping[str, tree.SrdfGroup]:
    """Return the first group of each name."""
    groups: dict[str, tree.SrdfGroup] = {}
    for group in semantic.groups:
        groups.setdefault(group.name, group)
    return groups
