# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Derived properties of a group: links, variables, chain or not, roots and subgroups, as in MoveIt."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.model.semantics import Group


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
