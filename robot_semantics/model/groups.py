# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Derived properties of a group: links, variables, chain or not, roots and subgroups, as in MoveIt."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from robot_semantics.base.names import quoted
from robot_semantics.model.robot_model import MIMIC_TOLERANCE, JointModel, RobotModel
from robot_semantics.model.semantic_names import ResolutionScope, declared_groups, tangles
from robot_semantics.model.semantics import EndEffector, Group, NamedState
from robot_semantics.srdf import tree

# Joints of SRDF groups from chains, joints, links and subgroups, exactly as in MoveIt.


def resolve_members(scope: ResolutionScope) -> dict[str, tuple[int, ...]]:
    """Return the ascending joint indices of every valid group; report all problems.

    A group waits until all its subgroups are resolved, so forward references work. If several groups have one name, the
    first valid one is used. A group without a joint is dropped, and so is every group that names a dropped one.
    """
    declared = declared_groups(scope.semantic)
    groups = scope.semantic.groups
    members_of: dict[str, tuple[int, ...]] = {}
    users: dict[str, list[int]] = {}
    missing = [{subgroup.name for subgroup in group.subgroups} for group in groups]
    for number, names in enumerate(missing):
        for name in names:
            users.setdefault(name, []).append(number)
    # MoveIt repeats passes over all groups. A group is resolved in the pass, and at the position, at which its last
    # subgroup is resolved; this order decides between groups with the same name.
    ready = [(0, number) for number, names in enumerate(missing) if not names]
    left_out: set[int] = set(range(len(groups)))
    while ready:
        turn, number = heapq.heappop(ready)
        group = groups[number]
        left_out.discard(number)
        members = _direct_members(scope, group).union(*(members_of[subgroup.name] for subgroup in group.subgroups))
        if not members:
            scope.warning("empty-group", f"group '{group.name}' has no joint and is left out", group.ordinal, "name")
        elif group.name not in members_of:
            members_of[group.name] = tuple(sorted(members))
            for user in users.get(group.name, ()):
                missing[user].discard(group.name)
                if not missing[user]:
                    heapq.heappush(ready, (turn + (user < number), user))
    for number in sorted(left_out):
        _direct_members(scope, groups[number])
    _report_left_out(scope, [groups[number] for number in sorted(left_out)], declared, members_of)
    return members_of


def chain_members(model: RobotModel, base_link: str, tip_link: str) -> set[int]:
    """Return the joints of a chain between two links of the model.

    These are the joints from the tip up to the base link, without the base link's own parent joint. If the base is not
    an ancestor of the tip, as in MoveIt: the joints of both sides and the parent joint of their common link. Empty if
    base and tip are the same.
    """
    base, tip = model.link_index[base_link], model.link_index[tip_link]
    up_from_tip = model.to_root(tip)
    if base in up_from_tip:
        return set(up_from_tip[: up_from_tip.index(base)])
    up_from_base = model.to_root(base)
    meeting = next(link for link in up_from_base if link in up_from_tip)
    return {*up_from_tip[: up_from_tip.index(meeting) + 1], *up_from_base[: up_from_base.index(meeting)]}


def _direct_members(scope: ResolutionScope, group: tree.SrdfGroup) -> set[int]:
    """Return the joints of a group without its subgroups."""
    model, user = scope.model, f"group '{group.name}'"
    members: set[int] = set()
    for chain in group.chains:
        known = [
            scope.known_link(chain.base_link, chain.ordinal, "base_link", f"a chain of {user}"),
            scope.known_link(chain.tip_link, chain.ordinal, "tip_link", f"a chain of {user}"),
        ]
        if all(known):
            members |= chain_members(model, chain.base_link, chain.tip_link)
            if chain.base_link == chain.tip_link:
                scope.warning(
                    "chain-without-joints",
                    f"a chain of {user} has the same base and tip link, so it has no joint",
                    chain.ordinal,
                )
    for joint in group.joints:
        if scope.known_joint(joint.name, joint.ordinal, "name", user) and joint.name in model.joint_index:
            members.add(model.joint_index[joint.name])
    for link in group.links:
        if scope.known_link(link.name, link.ordinal, "name", user):
            members.add(model.link_index[link.name])
    return members


def _report_left_out(
    scope: ResolutionScope,
    waiting: list[tree.SrdfGroup],
    declared: Mapping[str, tree.SrdfGroup],
    members_of: Mapping[str, tuple[int, ...]],
) -> None:
    """Report each group that is left out because of another group, and name it; report cycles as cycles."""
    tangle_of = tangles(declared)
    for group in waiting:
        for subgroup in group.subgroups:
            in_a_cycle = tangle_of[group.name] == tangle_of.get(subgroup.name)
            if subgroup.name in declared and subgroup.name not in members_of and not in_a_cycle:
                scope.warning(
                    "group-left-out",
                    f"group '{group.name}' is left out because its sub-group '{subgroup.name}' is left out",
                    subgroup.ordinal,
                    "name",
                )


def derive_groups(model: RobotModel, members: Mapping[str, tuple[int, ...]]) -> dict[str, Group]:
    """Return the groups by name, in byte order, from their joint indices; end effectors and states are still empty."""
    named: dict[tuple[int, ...], list[str]] = {}
    for name in sorted(members):
        named.setdefault(members[name], []).append(name)
    sets = {indices: frozenset(indices) for indices in named}
    by_first: dict[int, list[tuple[int, ...]]] = {}
    for indices in named:
        by_first.setdefault(indices[0], []).append(indices)

    def within(indices: tuple[int, ...]) -> tuple[str, ...]:
        # The first joint of a contained group is one of this group's joints: most other groups can be skipped.
        candidates = (other for index in indices for other in by_first.get(index, ()))
        return tuple(sorted(name for other in candidates if sets[other] <= sets[indices] for name in named[other]))

    # Groups with the same joints share their derived properties: there may be thousands.
    derived = {indices: _derive(model, indices, within(indices)) for indices in named}
    return {name: replace(derived[members[name]], name=name) for name in sorted(members)}


def _derive(model: RobotModel, indices: tuple[int, ...], within: tuple[str, ...]) -> Group:
    joints = tuple(model.joints[index] for index in indices)
    roots = _joint_roots(model, joints)
    is_chain = len(roots) == 1 and _is_path(model, joints)
    base_link, tip_link = (joints[0].parent_link, joints[-1].child_link) if is_chain else ("", "")
    return Group(
        name="",
        joints=_names(joints),
        active_joints=_names(joint for joint in joints if joint.is_active),
        passive_joints=_names(joint for joint in joints if joint.passive),
        fixed_joints=_names(joint for joint in joints if not joint.position_count),
        mimic_joints=_names(joint for joint in joints if joint.position_count and joint.mimic is not None),
        continuous_joints=_names(joint for joint in joints if joint.motion.wraps),
        commandable_joints=_names(joint for joint in joints if joint.is_commandable),
        links=tuple(joint.child_link for joint in joints),
        variable_names=tuple(variable for joint in joints for variable in joint.variable_names),
        is_chain=is_chain,
        base_link=base_link,
        tip_link=tip_link,
        common_root=_common_root(model, roots),
        within=within,
        end_effectors=(),
        states=(),
    )


def _is_path(model: RobotModel, joints: tuple[JointModel, ...]) -> bool:
    """Return whether each joint is the next one below the joint before it."""
    return all(_follows(model, joint, previous) for previous, joint in itertools.pairwise(joints))


def _names(joints: Iterable[JointModel]) -> tuple[str, ...]:
    return tuple(joint.name for joint in joints)


def _joint_roots(model: RobotModel, joints: tuple[JointModel, ...]) -> tuple[JointModel, ...]:
    """Return the active joints that no active joint of the group moves, directly or through a mimic joint."""
    leaders = {joint.name for joint in joints if joint.is_active}
    return tuple(joint for joint in joints if joint.is_active and not _is_moved_by(model, joint, leaders, set()))


def _is_moved_by(model: RobotModel, joint: JointModel, leaders: set[str], seen: set[int]) -> bool:
    """Return True if one of `leaders` is above `joint`, or leads a mimic joint above it.

    `seen` stops the search if a joint mimics one of its own descendants.
    """
    above = model.links[joint.index].parent
    while above >= 0 and above not in seen:
        seen.add(above)
        ancestor = model.joints[above]
        if ancestor.is_active and ancestor.name in leaders:
            return True
        if ancestor.mimic is not None:
            leader = model.joint(ancestor.mimic.joint)
            if leader.name in leaders or _is_moved_by(model, leader, leaders, seen):
                return True
        above = model.links[above].parent
    return False


def _follows(model: RobotModel, joint: JointModel, previous: JointModel) -> bool:
    """Return True if `previous` is the next joint above `joint`, without fixed joints."""
    above = model.links[joint.index].parent
    while above >= 0:
        if above == previous.index:
            return True
        if model.joints[above].position_count:
            return False
        above = model.links[above].parent
    return False


def _common_root(model: RobotModel, roots: tuple[JointModel, ...]) -> str:
    """Return the name of the nearest joint above, or among, all `roots`; empty without a root."""
    if not roots:
        return ""
    # Indices are depth first, so an ancestor has a smaller one: replace the largest by its parent until all meet.
    meeting = roots[0].index
    for root in roots[1:]:
        other = root.index
        while meeting != other:
            if meeting > other:
                meeting = model.links[meeting].parent
            else:
                other = model.links[other].parent
    return model.joints[meeting].name


# End effectors: the group of each one and the groups to which it is attached, as MoveIt infers them.


def resolve_end_effectors(
    scope: ResolutionScope, groups: Mapping[str, Group]
) -> tuple[dict[str, EndEffector], dict[str, tuple[str, ...]]]:
    """Return the end effectors by name, and the names of those attached to each group; report all problems.

    An end effector is attached to every other group that has its parent link.
    """
    scope_groups = declared_groups(scope.semantic)
    usable = [item for item in scope.semantic.end_effectors if _is_usable(scope, item, scope_groups, groups)]
    end_effectors: dict[str, EndEffector] = {}
    attached: dict[str, list[str]] = {}
    parent_links = {item.parent_link for item in usable}
    holders: dict[str, list[Group]] = {}
    for group in groups.values():
        for link in parent_links.intersection(group.links):
            holders.setdefault(link, []).append(group)
    # MoveIt sorts by group; this decides the order in `attached`, and which of two equal names is used.
    for item in sorted(usable, key=lambda item: item.group):
        hosts = [group for group in holders.get(item.parent_link, ()) if group.name != item.group]
        for host in hosts:
            attached.setdefault(host.name, []).append(item.name)
        parent = _named_parent(scope, item, hosts, groups)
        inferred = parent is None
        if parent is None and hosts:
            parent = min(hosts, key=lambda group: (len(group.joints), group.name))
        if parent is None:
            scope.warning(
                "no-parent-group",
                f"the parent link '{item.parent_link}' of end effector '{item.name}' is in no group except its own",
                item.ordinal,
                "parent_link",
            )
        else:
            _check_shared_links(scope, item, groups[item.group], parent, inferred=inferred)
        end_effectors[item.name] = EndEffector(item.name, item.group, item.parent_link, parent.name if parent else "")
    in_document_order = {item.name: end_effectors[item.name] for item in usable}
    return in_document_order, {group: tuple(names) for group, names in attached.items()}


def _is_usable(
    scope: ResolutionScope,
    item: tree.SrdfEndEffector,
    declared: Mapping[str, tree.SrdfGroup],
    groups: Mapping[str, Group],
) -> bool:
    user = f"end effector '{item.name}'"
    link_known = scope.known_link(item.parent_link, item.ordinal, "parent_link", user)
    if item.group in declared and item.group not in groups:
        scope.warning(
            "group-left-out", f"{user} is left out because group '{item.group}' is left out", item.ordinal, "group"
        )
    return link_known and item.group in groups


def _named_parent(
    scope: ResolutionScope, item: tree.SrdfEndEffector, hosts: list[Group], groups: Mapping[str, Group]
) -> Group | None:
    """Return the parent group in the SRDF, if it is valid."""
    named = groups.get(item.parent_group or "")
    if named is None or named.name == item.group:
        return None
    if named not in hosts:
        scope.error(
            "parent-link-not-in-group",
            f"parent group '{named.name}' of end effector '{item.name}' has no link '{item.parent_link}'",
            item.ordinal,
            "parent_group",
        )
        return None
    return named


def _check_shared_links(
    scope: ResolutionScope, item: tree.SrdfEndEffector, own: Group, parent: Group, *, inferred: bool
) -> None:
    shared = [link for link in own.links if link in parent.links]
    if not shared:
        return
    shown = quoted(shared, 3)
    if inferred:
        scope.warning(
            "shares-links",
            f"end effector '{item.name}' shares links {shown} with group '{parent.name}', which is used as its parent",
            item.ordinal,
        )
    else:
        scope.error(
            "shares-links",
            f"end effector '{item.name}' shares links {shown} with its parent group '{parent.name}'",
            item.ordinal,
            "parent_group",
        )


# Named states of groups: the valid values, and the problems of the others.


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
                "group-left-out", f"{user} is left out because group '{item.group}' is left out", item.ordinal, "group"
            )
        if group is None:
            for joint in item.joints:
                scope.known_joint(joint.name, joint.ordinal, "name", user)
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
        if not scope.known_joint(name, item.ordinal, "name", user):
            continue
        if name not in members:
            scope.error(
                "joint-not-in-group", f"joint '{name}' of {user} is not in group '{group.name}'", item.ordinal, "name"
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
            "incomplete-state",
            f"{user} has no value for {quoted(missing)} of group '{group.name}'",
            state.ordinal,
            "name",
        )
    return {name: values[name] for name in group.joints if name in values}, leaders


def _leaders(scope: ResolutionScope, places: Mapping[str, tree.JointValue], values: _Rows, user: str) -> _Rows:
    """Return the positions of leaders for which only mimic joints are given; report contradictions."""
    rows: _Rows = {}
    for name, row in values.items():
        joint = scope.model.joint(name)
        if joint.mimic is None:
            continue
        leader = scope.model.joint(joint.mimic.joint)
        stated = values.get(leader.name, rows.get(leader.name))
        if stated is None and joint.mimic.multiplier != 0.0:
            rows[leader.name] = stated = joint.mimic.lead(row, joint.type)
            _check_limits(scope, places[name], leader, stated, user)
        if stated is None:
            message = (
                f"joint '{name}' follows '{leader.name}' with multiplier 0, so '{leader.name}' has no known position"
            )
            scope.error("mimic-multiplier-zero", f"{message}, in {user}", places[name].ordinal, "value")
            continue
        expected = joint.mimic.follow(stated, joint.type)
        if not min(math.dist(row, expected), _opposite(row, expected)) <= MIMIC_TOLERANCE:
            given, lead, led = (" ".join(f"{value:.9g}" for value in each) for each in (row, stated, expected))
            message = f"joint '{name}' is at {given}, but its leader '{leader.name}' at {lead} gives {led}"
            scope.error("mimic-disagrees", f"{message}, in {user}", places[name].ordinal, "value")
    return rows


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
        scope.error("zero-quaternion", message, item.ordinal, "value")
        return None
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        message = f"the quaternion of joint '{joint.name}' in {user} has length {length:g}, not 1; it is normalised"
        scope.warning("not-a-unit-quaternion", message, item.ordinal, "value")
    return (*values[:3], *(value / length for value in values[3:]))


def _count_fits(scope: ResolutionScope, item: tree.JointValue, joint: JointModel, user: str) -> bool:
    value_count = len(item.values or ())
    if value_count == joint.position_count:
        return True
    takes = {0: "is fixed and takes no value", 1: "takes 1 value"}.get(
        joint.position_count, f"takes {joint.position_count} values ({' '.join(joint.variable_names)})"
    )
    scope.error("wrong-count", f"joint '{joint.name}' {takes}, but {user} gives {value_count}", item.ordinal, "value")
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
                item.ordinal,
                "value",
            )


def states_of_groups(states: Mapping[tuple[str, str], NamedState]) -> dict[str, tuple[str, ...]]:
    """Return the state names of each group with states, in document order."""
    names: dict[str, list[str]] = {}
    for group, name in states:
        names.setdefault(group, []).append(name)
    return {group: tuple(found) for group, found in names.items()}
