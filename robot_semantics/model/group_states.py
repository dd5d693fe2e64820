# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Named states of groups: the valid values, and the problems of the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from robot_semantics.base.foreign_text import quoted
from robot_semantics.model.robot_model import MIMIC_TOLERANCE, JointModel
from robot_semantics.model.semantic_scope import ResolutionScope, declared_groups
from robot_semantics.model.semantics import Group, NamedState
from robot_semantics.srdf import tree

QUATERNION_TOLERANCE = 1e-3
"""Largest distance of a quaternion's length from 1 without a warning; states are written with few digits."""


def resolve_states(scope: ResolutionScope, groups: Mapping[str, Group]) -> dict[tuple[str, str], NamedState]:
    """Return the states by (group, state) name in document order; report all problems.

    A joint outside the group, or with a wrong value, is left out; so is a state without any value. If two states have
    one name, the last with a value is used, as in MoveIt. If the state has a mimic joint without its leader, the leader
    gets the position that fits, also outside the group. Quaternions are normalised.
    """
    declared = declared_groups(scope.semantic)
    states: dict[tuple[str, str], NamedState] = {}
    for item in scope.semantic.states:
        user = f"state '{item.name}'"
        group = groups.get(item.group)
        if group is None and item.group in declared:
            scope.warning(
                "group-left-out", f"{user} is left out because group '{item.group}' is left out", item.at, "group"
            )
        if group is None:
            for joint in item.joints:
                scope.known_joint(joint.name, joint.at, "name", user)
            continue
        values, leaders = _values(scope, item, group)
        if values:
            rows = (MappingProxyType(values), MappingProxyType(leaders))
            states[item.group, item.name] = NamedState(item.name, item.group, *rows)
    return states


_Rows = dict[str, tuple[float, ...]]


def _values(scope: ResolutionScope, state: tree.GroupState, group: Group) -> tuple[_Rows, _Rows]:
    """Return the state's valid values in the order of the group's joints, and the derived values of leaders."""
    members, user = frozenset(group.joints), f"state '{state.name}'"
    stated: dict[str, list[tree.JointValue]] = {}
    for item in state.joints:
        stated.setdefault(item.name, []).append(item)
    values: _Rows = {}
    for name, items in stated.items():
        item = items[0]
        if not scope.known_joint(name, item.at, "name", user):
            continue
        if name not in members:
            scope.error(
                "joint-not-in-group", f"joint '{name}' of {user} is not in group '{group.name}'", item.at, "name"
            )
            continue
        joint = scope.model.joint(name)
        if len(items) == 1 and item.values is not None and _count_fits(scope, item, joint, user):
            row = _unit(scope, item, joint, user)
            if row is not None:
                _check_limits(scope, item, joint, row, user)
                values[name] = row
    places = {name: items[0] for name, items in stated.items()}
    leaders = _leaders(scope, places, values, user)
    missing = [name for name in group.active_joints if name not in stated and name not in leaders]
    if missing:
        scope.warning(
            "incomplete-state", f"{user} has no value for {quoted(missing)} of group '{group.name}'", state.at, "name"
        )
    return {name: values[name] for name in group.joints if name in values}, leaders


def _leaders(scope: ResolutionScope, places: Mapping[str, tree.JointValue], values: _Rows, user: str) -> _Rows:
    """Return the positions of leaders for which only mimic joints are given; report contradictions."""
    found: _Rows = {}
    for name, row in values.items():
        joint = scope.model.joint(name)
        if joint.mimic is None:
            continue
        leader = scope.model.joint(joint.mimic.joint)
        stated = values.get(leader.name, found.get(leader.name))
        if stated is None and joint.mimic.multiplier != 0.0:
            found[leader.name] = stated = joint.mimic.lead(row, joint.type)
            _check_limits(scope, places[name], leader, stated, user)
        if stated is None:
            message = (
                f"joint '{name}' follows '{leader.name}' with multiplier 0, so '{leader.name}' has no known position"
            )
            scope.error("mimic-multiplier-zero", f"{message}, in {user}", places[name].at, "value")
            continue
        expected = joint.mimic.follow(stated, joint.type)
        if not min(math.dist(row, expected), _opposite(row, expected)) <= MIMIC_TOLERANCE:
            given, lead, led = (" ".join(f"{value:.9g}" for value in each) for each in (row, stated, expected))
            message = f"joint '{name}' is at {given}, but its leader '{leader.name}' at {lead} gives {led}"
            scope.error("mimic-disagrees", f"{message}, in {user}", places[name].at, "value")
    return found


def _opposite(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the distance of floating positions with the sign of the second quaternion changed, else infinity."""
    return math.dist(one, (*other[:3], *(-value for value in other[3:]))) if len(one) == 7 else math.inf


def _unit(scope: ResolutionScope, item: tree.JointValue, joint: JointModel, user: str) -> tuple[float, ...] | None:
    """Return a joint's values with a normalised quaternion; None if the quaternion is zero."""
    values = item.values or ()
    if not joint.motion.has_quaternion:
        return values
    length = math.hypot(*values[3:])
    if length == 0.0:
        message = f"the quaternion of joint '{joint.name}' in {user} is all zeros"
        scope.error("zero-quaternion", message, item.at, "value")
        return None
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        message = f"the quaternion of joint '{joint.name}' in {user} has length {length:g}, not 1; it is normalised"
        scope.warning("not-a-unit-quaternion", message, item.at, "value")
    return (*values[:3], *(value / length for value in values[3:]))


def _count_fits(scope: ResolutionScope, item: tree.JointValue, joint: JointModel, user: str) -> bool:
    given = len(item.values or ())
    if given == joint.position_count:
        return True
    takes = {0: "is fixed and takes no value", 1: "takes 1 value"}.get(
        joint.position_count, f"takes {joint.position_count} values ({' '.join(joint.variable_names)})"
    )
    scope.error("wrong-count", f"joint '{joint.name}' {takes}, but {user} gives {given}", item.at, "value")
    return False


def _check_limits(
    scope: ResolutionScope, item: tree.JointValue, joint: JointModel, values: Sequence[float], user: str
) -> None:
    if joint.motion.limited:
        broken = joint.limits.broken_by(values[0])
        if broken is not None:
            scope.warning(
                broken.code,
                f"{values[0]:g} is outside the {broken.what} of joint '{joint.name}', {broken.lower:g} to"
                f" {broken.upper:g}, in {user}",
                item.at,
                "value",
            )


def states_of_groups(states: Mapping[tuple[str, str], NamedState]) -> dict[str, tuple[str, ...]]:
    """Return the state names of each group with states, in document order."""
    names: dict[str, list[str]] = {}
    for group, name in states:
        names.setdefault(group, []).append(name)
    return {group: tuple(found) for group, found in names.items()}
