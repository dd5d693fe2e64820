"""What every part of resolving an SRDF needs: the robot, the tree, and reports with their places."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from robot_semantics.description import srdf_tree as tree
from robot_semantics.diagnostics import Diagnostics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.names import did_you_mean

_Item = TypeVar("_Item", tree.Group, tree.VirtualJoint)


@dataclass(frozen=True)
class Scope:
    """One SRDF being resolved against one robot.

    Attributes:
        model: the robot, with its root joint in place.
        joint_names: every joint that the SRDF may name: the robot's and the virtual joints.
    """

    model: RobotModel
    semantic: tree.Semantic
    diagnostics: Diagnostics
    joint_names: frozenset[str] = frozenset()
    _suggestions: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def error(self, code: str, message: str, at: int, attribute: str | None = None) -> None:
        """Report an error at element number `at`, or at its attribute."""
        self.diagnostics.error(code, message, self.semantic.places.place(at, attribute))

    def warning(self, code: str, message: str, at: int, attribute: str | None = None) -> None:
        """Report a warning at element number `at`, or at its attribute."""
        self.diagnostics.warning(code, message, self.semantic.places.place(at, attribute))

    def known_link(self, name: str, at: int, attribute: str, user: str) -> bool:
        """Tell whether the robot has the link; report it if not. `user` says what names it."""
        return self._known("link", name, self.model.link_index, at, attribute, user)

    def known_joint(self, name: str, at: int, attribute: str, user: str) -> bool:
        """Tell whether the robot or the SRDF has the joint; report it if not."""
        return self._known("joint", name, self.joint_names, at, attribute, user)

    def known_group(self, name: str, declared: Collection[str], at: int, attribute: str, user: str) -> bool:
        """Tell whether the SRDF declares the group; report it if not."""
        return self._known("group", name, declared, at, attribute, user)

    def _known(self, kind: str, name: str, valid: Collection[str], at: int, attribute: str, user: str) -> bool:
        if name in valid:
            return True
        # The same wrong name often stands in thousands of collision pairs; looking for its neighbours is slow.
        key = (kind, name)
        if key not in self._suggestions:
            self._suggestions[key] = did_you_mean(name, valid)
        suggestion = self._suggestions[key]
        self.diagnostics.error(
            f"unknown-{kind}",
            f"unknown {kind} '{name}' in {user}",
            self.semantic.places.place(at, attribute),
            name=name if suggestion is None else suggestion,
            valid=() if suggestion is None else (suggestion,),
        )
        return False

    def report_duplicates(self, kind: str, items: Iterable[_Item]) -> None:
        """Report every item whose name an earlier one has."""
        first: dict[str, int] = {}
        for item in items:
            if item.name in first:
                line = self.semantic.places.place(first[item.name]).line
                self.error("duplicate-name", f"{kind} '{item.name}' is already stated in line {line}", item.at, "name")
            first.setdefault(item.name, item.at)


def quoted(names: Iterable[str]) -> str:
    """Return names for a message: ``'a', 'b'``."""
    return ", ".join(f"'{name}'" for name in names)


def declared_groups(semantic: tree.Semantic) -> Mapping[str, tree.Group]:
    """Return the first group of each name."""
    groups: dict[str, tree.Group] = {}
    for group in semantic.groups:
        groups.setdefault(group.name, group)
    return groups
