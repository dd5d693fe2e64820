# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints of SRDF groups from chains, joints, links and subgroups, exactly as in MoveIt."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantic_names import tangles
from robot_semantics.model.semantic_scope import ResolutionScope, declared_groups
from robot_semantics.srdf import tree


def resolve_members(scope: ResolutionScope) -> dict[str, tuple[int, ...]]:
    """Return the ascending joint indices of every valid group; report all problems.

    A group waits until all its subgroups are resolved, so forward references work. If several groups have one name, the
    first valid one is used. A group without a joint is dropped, and so is every group that names a dropped one.
    """
    declared = declared_groups(scope.semantic)
    groups = scope.semantic.groups
    made: dict[str, tuple[int, ...]] = {}
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
        members = _direct_members(scope, group).union(*(made[subgroup.name] for subgroup in group.subgroups))
        if not members:
            scope.warning("empty-group", f"group '{group.name}' has no joint and is left out", group.at, "name")
        elif group.name not in made:
            made[group.name] = tuple(sorted(members))
            for user in users.get(group.name, ()):
                missing[user].discard(group.name)
                if not missing[user]:
                    heapq.heappush(ready, (turn + (user < number), user))
    for number in sorted(left_out):
        _direct_members(scope, groups[number])
    _report_left_out(scope, [groups[number] for number in sorted(left_out)], declared, made)
    return made


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
            scope.known_link(chain.base_link, chain.at, "base_link", f"a chain of {user}"),
            scope.known_link(chain.tip_link, chain.at, "tip_link", f"a chain of {user}"),
        ]
        if all(known):
            members |= chain_members(model, chain.base_link, chain.tip_link)
            if chain.base_link == chain.tip_link:
                scope.warning(
                    "chain-without-joints",
                    f"a chain of {user} has the same base and tip link, so it has no joint",
                    chain.at,
                )
    for joint in group.joints:
        if scope.known_joint(joint.name, joint.at, "name", user) and joint.name in model.joint_index:
            members.add(model.joint_index[joint.name])
    for link in group.links:
        if scope.known_link(link.name, link.at, "name", user):
            members.add(model.link_index[link.name])
    return members


def _report_left_out(
    scope: ResolutionScope,
    waiting: list[tree.SrdfGroup],
    declared: Mapping[str, tree.SrdfGroup],
    made: Mapping[str, tuple[int, ...]],
) -> None:
    """Report each group that is left out because of another group, and name it; report cycles as cycles."""
    tangle_of = tangles(declared)
    for group in waiting:
        for subgroup in group.subgroups:
            in_a_cycle = tangle_of[group.name] == tangle_of.get(subgroup.name)
            if subgroup.name in declared and subgroup.name not in made and not in_a_cycle:
                scope.warning(
                    "group-left-out",
                    f"group '{group.name}' is left out because its sub-group '{subgroup.name}' is left out",
                    subgroup.at,
                    "name",
                )
