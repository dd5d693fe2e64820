# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of an SRDF's names without a robot: repetitions, unknown groups, cycles, wrong pairs.

Also the names that a description declares, for checks of other documents when it gives no robot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import field
from operator import attrgetter
from typing import NamedTuple, TypeVar

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair, frame_name
from robot_semantics.base.record import record
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf import tree
from robot_semantics.srdf.table import SRDF_REFERENCES
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.schema_reader import mentions
from robot_semantics.xml.source_map import SourceMap

# Shared input of all steps that resolve an SRDF: the tree, the robot, and reports with places.


_Item = TypeVar("_Item")


@record(frozen=True)
class SrdfReporter:
    """One SRDF, and reports of its problems with their places."""

    semantic: tree.SrdfDocument
    diagnostics: Diagnostics

    def error(self, code: str, message: str, ordinal: int, attribute: str | None = None) -> None:
        """Report an error at element number `ordinal`, or at its attribute."""
        self.diagnostics.error(code, message, self.semantic.places.place(ordinal, attribute))

    def warning(self, code: str, message: str, ordinal: int, attribute: str | None = None) -> None:
        """Report a warning at element number `ordinal`, or at its attribute."""
        self.diagnostics.warning(code, message, self.semantic.places.place(ordinal, attribute))

    def line(self, ordinal: int) -> int:
        """Return the line of element number `ordinal`."""
        return self.semantic.places.place(ordinal).line

    def known(self, kind: str, name: str, valid: Collection[str], ordinal: int, attribute: str, user: str) -> bool:
        """Return True if `name` is in `valid`; else report it. `user` is the thing that names it."""
        if name in valid:
            return True
        place = self.semantic.places.place_finder(ordinal, attribute)
        self.diagnostics.error(f"unknown-{kind}", f"unknown {kind} '{name}' in {user}", place, name=name, valid=valid)
        return False

    def repeated(
        self, items: Iterable[_Item], key: Callable[[_Item], Hashable], element_of: Callable[[_Item], int]
    ) -> list[tuple[_Item, int]]:
        """Return every item that has the key of an earlier item, with the line of the first item with this key."""
        first: dict[Hashable, int] = {}
        found: list[tuple[_Item, int]] = []
        for item in items:
            if key(item) in first:
                found.append((item, self.line(first[key(item)])))
            first.setdefault(key(item), element_of(item))
        return found


@record(frozen=True)
class ResolutionScope(SrdfReporter):
    """One SRDF that is resolved against one robot.

    Attributes:
        model: the robot with its root joint.
        joint_names: every joint that the SRDF may name: the robot's joints and the virtual joints.

    """

    model: RobotModel = field(kw_only=True)
    joint_names: frozenset[str] = field(default=frozenset(), kw_only=True)

    def known_link(self, name: str, ordinal: int, attribute: str, user: str) -> bool:
        """Return True if the robot has the link; else report it. `user` is the thing that names it."""
        return self.known("link", name, self.model.link_index, ordinal, attribute, user)

    def known_joint(self, name: str, ordinal: int, attribute: str, user: str) -> bool:
        """Return True if the robot or the SRDF has the joint; else report it."""
        return self.known("joint", name, self.joint_names, ordinal, attribute, user)


def declared_groups(semantic: tree.SrdfDocument) -> Mapping[str, tree.SrdfGroup]:
    """Return the first group of each name."""
    groups: dict[str, tree.SrdfGroup] = {}
    for group in semantic.groups:
        groups.setdefault(group.name, group)
    return groups


_ordinal = attrgetter("ordinal")
_name = attrgetter("name")


def check_semantic_names(reports: SrdfReporter) -> None:
    """Report every problem inside the text."""
    _check_repetitions(reports)
    _check_group_references(reports)
    _check_pairs(reports)
    _check_slashes(reports)


def check_empty_groups(reports: SrdfReporter) -> None:
    """Report every group without members."""
    for group in reports.semantic.groups:
        if not (group.joints or group.links or group.chains or group.subgroups):
            reports.warning("empty-group", f"group '{group.name}' is empty", group.ordinal, "name")


def _check_slashes(reports: SrdfReporter) -> None:
    for joint in reports.semantic.virtual_joints:
        frame = frame_name(joint.parent_frame)
        if frame != joint.parent_frame:
            message = (
                f"virtual joint '{joint.name}' has the parent frame '{joint.parent_frame}'; tf2 drops the slash, "
                f"so it is '{frame}'"
            )
            reports.warning("leading-slash", message, joint.ordinal, "parent_frame")


def subgroup_cycles(declared: Mapping[str, tree.SrdfGroup]) -> dict[int, tuple[str, ...]]:
    """Return cycles of subgroups, by the number of the element that closes each cycle.

    Every group in a cycle is in one of them, unless the search would take too long.
    """
    cycles: dict[int, tuple[str, ...]] = {}
    covered: set[str] = set()
    steps_left = STEPS_PER_REFERENCE * sum(len(group.subgroups) for group in declared.values())
    tangle_of = tangles(declared)
    for group in declared.values():
        for subgroup in group.subgroups:
            if subgroup.name == group.name:
                cycles[subgroup.ordinal] = (group.name,)
            elif group.name not in covered and steps_left > 0 and _tangled(group.name, subgroup.name, tangle_of):
                # Another cycle through a covered group has a group of its own, and is found from there.
                cycle, steps = _cycle_through(group.name, subgroup.name, declared, tangle_of)
                steps_left -= steps
                covered.update(cycle)
                if cycle:
                    cycles[subgroup.ordinal] = cycle
    return cycles


STEPS_PER_REFERENCE = 50
"""Limit of the cycle search: average number of times that a reference to a subgroup is followed."""


def tangles(declared: Mapping[str, tree.SrdfGroup]) -> dict[str, int]:
    """Return a number for each group, equal for groups that contain each other directly or indirectly (Tarjan)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    tangle_of: dict[str, int] = {}
    trail: list[str] = []
    for start in declared:
        open_groups = [] if start in order else [(start, iter(declared[start].subgroups))]
        while open_groups:
            name, subgroups = open_groups[-1]
            if name not in order:
                order[name] = lowest[name] = len(order)
                trail.append(name)
            for subgroup in subgroups:
                if subgroup.name in declared and subgroup.name not in order:
                    open_groups.append((subgroup.name, iter(declared[subgroup.name].subgroups)))
                    break
                if subgroup.name in order and subgroup.name not in tangle_of:
                    lowest[name] = min(lowest[name], order[subgroup.name])
            else:
                open_groups.pop()
                if open_groups:
                    above = open_groups[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == order[name]:
                    while name not in tangle_of:
                        tangle_of[trail.pop()] = order[name]
    return tangle_of


def _tangled(name: str, other: str, tangle_of: Mapping[str, int]) -> bool:
    return other in tangle_of and tangle_of[name] == tangle_of[other]


def _cycle_through(
    name: str, start: str, declared: Mapping[str, tree.SrdfGroup], tangle_of: Mapping[str, int]
) -> tuple[tuple[str, ...], int]:
    """Return the groups on the shortest cycle from `name` over its subgroup `start`, and the number of steps."""
    came_from: dict[str, str] = {start: name}
    queue = [start]
    steps = 0
    for reached in queue:
        if reached == name:
            path = [came_from[reached]]
            while path[-1] != name:
                path.append(came_from[path[-1]])
            return tuple(reversed(path)), steps
        for subgroup in declared[reached].subgroups:
            steps += 1
            if subgroup.name not in came_from and _tangled(name, subgroup.name, tangle_of):
                came_from[subgroup.name] = reached
                queue.append(subgroup.name)
    return (), steps


def _check_repetitions(reports: SrdfReporter) -> None:
    semantic = reports.semantic
    named: dict[str, tuple[tree.SrdfVirtualJoint | tree.SrdfGroup | tree.SrdfEndEffector, ...]] = {
        "virtual joint": semantic.virtual_joints,
        "group": semantic.groups,
        "end effector": semantic.end_effectors,
    }
    for kind, items in named.items():
        for item, line in reports.repeated(items, _name, _ordinal):
            reports.error(
                "duplicate-name", f"{kind} '{item.name}' is already stated in line {line}", item.ordinal, "name"
            )
    for state, line in reports.repeated(semantic.states, attrgetter("group", "name"), _ordinal):
        reports.error(
            "duplicate-name",
            f"state '{state.name}' of group '{state.group}' is already stated in line {line}",
            state.ordinal,
            "name",
        )
    for state in semantic.states:
        for joint, _ in reports.repeated(state.joints, _name, _ordinal):
            reports.error(
                "duplicate-name",
                f"joint '{joint.name}' has several values in state '{state.name}' and is left out",
                joint.ordinal,
                "name",
            )
    for spheres, line in reports.repeated(semantic.link_spheres, attrgetter("link"), _ordinal):
        message = f"the spheres of link '{spheres.link}' are already stated in line {line}"
        reports.error("duplicate-name", message, spheres.ordinal, "link")
    properties = reports.repeated(semantic.joint_properties, attrgetter("joint_name", "property_name"), _ordinal)
    for stated, line in properties:
        reports.error(
            "duplicate-name",
            f"property '{stated.property_name}' of joint '{stated.joint_name}' is already stated in line {line}",
            stated.ordinal,
            "property_name",
        )
    for passive, line in reports.repeated(semantic.passive_joints, _name, _ordinal):
        message = f"joint '{passive.name}' is already stated to be passive in line {line}"
        reports.warning("listed-twice", message, passive.ordinal, "name")
    for link, line in reports.repeated(semantic.default_disabled_links, _name, _ordinal):
        message = f"collisions of link '{link.name}' are already disabled in line {line}"
        reports.warning("listed-twice", message, link.ordinal, "link")


def _check_group_references(reports: SrdfReporter) -> None:
    declared = declared_groups(reports.semantic)
    for group in reports.semantic.groups:
        for subgroup in group.subgroups:
            reports.known("group", subgroup.name, declared, subgroup.ordinal, "name", f"group '{group.name}'")
    for ordinal, cycle in subgroup_cycles(declared).items():
        path = " -> ".join((*cycle, cycle[0]))
        reports.error("subgroup-cycle", f"the sub-groups form a cycle: {path}", ordinal, "name")
    for state in reports.semantic.states:
        reports.known("group", state.group, declared, state.ordinal, "group", f"state '{state.name}'")
    by_group: dict[str, str] = {}
    for effector in reports.semantic.end_effectors:
        user = f"end effector '{effector.name}'"
        reports.known("group", effector.group, declared, effector.ordinal, "group", user)
        if effector.parent_group:
            reports.known("group", effector.parent_group, declared, effector.ordinal, "parent_group", user)
            if effector.parent_group == effector.group:
                message = f"end effector '{effector.name}' names its own group as its parent group"
                reports.error("own-parent", message, effector.ordinal, "parent_group")
        earlier = by_group.get(effector.group, effector.name)
        if earlier != effector.name:
            reports.warning(
                "end-effector-overruled",
                f"group '{effector.group}' is already used by end effector '{earlier}'; the later one is used",
                effector.ordinal,
                "group",
            )
        by_group[effector.group] = effector.name


def _check_pairs(reports: SrdfReporter) -> None:
    semantic = reports.semantic
    tags = {"disable_collisions": semantic.disabled_collisions, "enable_collisions": semantic.enabled_collisions}
    for tag, items in tags.items():
        for item, line in reports.repeated(items, _pair, _ordinal):
            message = f"<{tag}> of '{item.link1}' and '{item.link2}' is already stated in line {line}"
            reports.warning("duplicate-pair", message, item.ordinal)
        for item in items:
            if item.link1 == item.link2:
                reports.error(
                    "pair-with-itself", f"<{tag}> pairs link '{item.link1}' with itself", item.ordinal, "link2"
                )
    disabled = {_pair(item) for item in semantic.disabled_collisions}
    for item in semantic.enabled_collisions:
        if _pair(item) in disabled:
            reports.warning(
                "enabled-and-disabled",
                f"the pair '{item.link1}' and '{item.link2}' is both enabled and disabled; it stays disabled",
                item.ordinal,
            )


def _pair(item: tree.CollisionPair) -> LinkPair:
    return item.pair


class DeclaredNames(NamedTuple):
    """Names of links, joints and groups."""

    links: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


def declared_names(urdf: UrdfRobot, *, implicit_links: bool = False) -> DeclaredNames:
    """Return the names in a URDF, also those of links and joints that could not be read.

    With `implicit_links`, joints declare the links that they name.
    """
    root = _document(urdf.places).in_no_namespace().root
    links = [*root.iterchildren("link")]
    joints = [*root.iterchildren("joint"), *(joint for link in links for joint in link.iterchildren("joint"))]
    ends = [end for joint in joints for end in joint.iterchildren("parent", "child")] if implicit_links else []
    named = [*(item.get("name") for item in links), *(end.get("link") or end.get("name") for end in ends)]
    return DeclaredNames(_names(named), _names(joint.get("name") for joint in joints))


def check_names_of(semantic: SrdfDocument, names: DeclaredNames, diagnostics: Diagnostics) -> None:
    """Report the links and joints in an SRDF that a URDF does not declare."""
    reports, document = SrdfReporter(semantic, diagnostics), _document(semantic.places)
    virtual = {joint.name for joint in semantic.virtual_joints}
    for kind, valid in (("link", names.links), ("joint", names.joints | virtual)):
        for mention in mentions(document, SRDF_REFERENCES[kind]):
            reports.known(kind, mention.name, valid, mention.ordinal, mention.attribute, f"<{mention.reference[1]}>")


def _document(places: SourceMap) -> XmlDocument:
    return parse_xml(places.text or b"<robot/>", places.source, forgiving=True)


def _names(values: Iterable[str | None]) -> frozenset[str]:
    return frozenset(name.strip() for name in values if name and name.strip())
