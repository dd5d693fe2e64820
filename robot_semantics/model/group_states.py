# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Named states of groups: which values count, and what is wrong with the others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from robot_semantics.base.foreign_text import quoted
from robot_semantics.model.joint_checks import LIMITED
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel
from robot_semantics.model.semantic_scope import Scope, declared_groups
from robot_semantics.model.semantics import Group, NamedState
from robot_semantics.srdf import tree

QUATERNION_TOLERANCE = 1e-3
"""How far a quaternion's length may be from 1 before a warning; states are written with a handful of digits."""


def resolve_states(scope: Scope, groups: Mapping[str, Group]) -> dict[tuple[str, str], NamedState]:
    """Return the states by (group, state) name in document order; report all that is wrong.

    A joint outside the group, or with a value that does not fit, is left out; so is a state without any value. Of two
    states with one name the last that has a value is kept, as MoveIt keeps it.
    """
    declared = declared_groups(scope.semantic)
    states: dict[tuple[str, str], NamedState] = {}
    for item in scope.semantic.states:
        user = f"state '{item.name}'"
        group = groups.get(item.group)
        if group is None and item.group in declared:
            scope.warning("group-left-out", f"{user} is left out because group '{item.group}' is", item.at, "group")
        if group is None:
            for joint in item.joints:
                scope.known_joint(joint.name, joint.at, "name", user)
            continue
        values = _values(scope, item, group)
        if values:
            states[item.group, item.name] = NamedState(item.name, item.group, MappingProxyType(values))
    return states


def _values(scope: Scope, state: tree.GroupState, group: Group) -> dict[str, tuple[float, ...]]:
    """Return the state's usable values, in the order of the group's joints."""
    members, user = frozenset(group.joints), f"state '{state.name}'"
    stated: dict[str, list[tree.JointValue]] = {}
    for item in state.joints:
        stated.setdefault(item.name, []).append(item)
    values: dict[str, tuple[float, ...]] = {}
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
            _check_limits(scope, item, joint, user)
            values[name] = item.values
    missing = [name for name in group.active_joints if name not in stated]
    if missing:
        scope.warning(
            "incomplete-state", f"{user} says nothing of {quoted(missing)} of group '{group.name}'", state.at, "name"
        )
    return {name: values[name] for name in group.joints if name in values}


def _count_fits(scope: Scope, item: tree.JointValue, joint: JointModel, user: str) -> bool:
    given = len(item.values or ())
    if given == joint.position_count:
        return True
    takes = {0: "is fixed and takes no value", 1: "takes 1 value"}.get(
        joint.position_count, f"takes {joint.position_count} values ({' '.join(joint.variable_names)})"
    )
    scope.error("wrong-count", f"joint '{joint.name}' {takes}, but {user} gives {given}", item.at, "value")
    return False


def _check_limits(scope: Scope, item: tree.JointValue, joint: JointModel, user: str) -> None:
    values = item.values or ()
    if joint.type in LIMITED:
        broken = joint.limits.broken_by(values[0])
        if broken is not None:
            scope.warning(
                broken.code,
                f"{values[0]:g} is outside the {broken.what} of joint '{joint.name}', {broken.lower:g} to"
                f" {broken.upper:g}, in {user}",
                item.at,
                "value",
            )
    elif joint.type is JointType.FLOATING:
        length = math.hypot(*values[3:])
        if abs(length - 1.0) > QUATERNION_TOLERANCE:
            scope.warning(
                "not-a-unit-quaternion",
                f"the quaternion of joint '{joint.name}' in {user} has length {length:g}, not 1",
                item.at,
                "value",
            )


def states_of_groups(states: Mapping[tuple[str, str], NamedState]) -> dict[str, tuple[str, ...]]:
    """Return the names of the states of each group that has one, in document order."""
    names: dict[str, list[str]] = {}
    for group, name in states:
        names.setdefault(group, []).append(name)
    return {group: tuple(found) for group, found in names.items()}
