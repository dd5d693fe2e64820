# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Facts of planners on spheres from an SRDF, and an SRDF from them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LinkPair
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.planner_robot import PlannerRobot, independent_joints
from robot_semantics.model.queries import PairCause, pair_status
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import Group, NamedState
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText


def from_srdf(robot: RobotModel, group: str | None = None, state: str | None = None) -> Converted[PlannerRobot]:
    """Return the planner's facts of a robot with an SRDF.

    Args:
        robot: the robot.
        group: the group that the planner moves; needed if there are several. Without any group, all joints are moved.
        state: the group's state with the default positions; needed if there are several.

    Raises:
        RobotSemanticsError: the group or the state does not exist, or several exist and none is named.
    """
    semantics = robot.semantics
    moved = _group(robot, group)
    named, lost = _state(robot, moved, state)
    possible = independent_joints(robot)
    active = possible if moved is None else moved.active_joints
    positions = named.positions if named is not None else {}
    limits = {name: robot.joint(name).limits for name in active if name in possible}
    solid = {link: spheres for link, spheres in semantics.link_spheres.items() if spheres[0].radius > 0.0}
    planner = PlannerRobot(
        spheres=solid,
        ignored=tuple(_unchecked(robot)),
        joints=tuple(limits),
        positions={name: values[0] for name, values in positions.items() if len(values) == 1},
        tool_frames=_tool_frames(robot, moved),
        acceleration={name: each.acceleration for name, each in limits.items() if math.isfinite(each.acceleration)},
        jerk={name: each.jerk for name, each in limits.items() if math.isfinite(each.jerk)},
    )
    lost += [f"joint '{name}' of the group has several degrees of freedom" for name in active if name not in possible]
    return Converted(planner, (*lost, *_left(robot, moved, named, planner)))


def to_srdf(planner: PlannerRobot, robot: RobotModel, group: str, state: str) -> Converted[str]:
    """Return an SRDF text with a group `group` of the joints, and a state `state` of their default positions."""
    text = SrdfText.empty(robot.name)
    text = text.add([new.link_spheres(link, [(*one.center, one.radius) for one in spheres])
                     for link, spheres in planner.for_moveit(robot).items()])  # fmt: skip
    text = text.disable_collisions(dict.fromkeys(planner.ignored))
    lost = list(planner.beyond_spheres())
    if planner.base_link:
        lost.append(f"base link '{planner.base_link}'")
    if not planner.joints:
        lost += [f"tool frame '{frame}'" for frame in planner.tool_frames]
        return Converted(str(text), tuple(lost))
    chains = _chains(robot, planner)
    members = new.group_members(chains=chains, joints=() if chains else planner.joints)
    text = text.add([new.group(group, members)])
    if not chains:
        lost += [f"tool frame '{frame}': no chain to it has exactly the joints" for frame in planner.tool_frames]
    if list(planner.joints) != sorted(planner.joints, key=robot.joint_index.__getitem__):
        lost.append("order of the joints: those of a group are in the order of the robot")
    own = {name: (planner.positions[name],) for name in planner.joints if name in planner.positions}
    if own:
        text = text.add([new.group_state(state, group, own)])
    lost += [f"default position of '{name}', which is not in the group" for name in planner.positions.keys() - own]
    return Converted(str(text), tuple(lost))


def _group(robot: RobotModel, name: str | None) -> Group | None:
    groups = robot.semantics.groups
    if name is not None:
        return robot.semantics.group(name)
    if len(groups) > 1:
        raise RobotSemanticsError(f"the SRDF has {len(groups)} groups: choose one with --group: {', '.join(groups)}")
    return next(iter(groups.values()), None)


def _state(robot: RobotModel, group: Group | None, name: str | None) -> tuple[NamedState | None, list[str]]:
    if name is not None:
        if group is None:
            raise RobotSemanticsError(f"the SRDF has no group, and so no state '{name}'")
        return robot.semantics.state(group.name, name), []
    states = group.states if group is not None else ()
    if group is None or len(states) != 1:
        names = ", ".join(states)
        return None, [f"default positions: --state chooses one of {len(states)}: {names}"] if states else []
    return robot.semantics.state(group.name, states[0]), []


def _unchecked(robot: RobotModel) -> Iterator[LinkPair]:
    """Yield the pairs that an SRDF disables: by name in document order, then by a link that is disabled by default."""
    yield from robot.semantics.disabled_collisions
    if robot.semantics.default_disabled_links:
        for one, other in combinations(robot.link_names, 2):
            status = pair_status(robot, one, other)
            if status.cause is PairCause.DEFAULT_DISABLED:
                yield status.pair


def _tool_frames(robot: RobotModel, group: Group | None) -> tuple[str, ...]:
    """Return the tips of the group's chains, and the parent links of its end effectors."""
    if group is None or robot.semantics.srdf is None:
        return ()
    tips = [chain.tip_link for item in robot.semantics.srdf.groups if item.name == group.name for chain in item.chains]
    held = robot.semantics.end_effectors.values()
    return tuple(dict.fromkeys([*tips, *(each.parent_link for each in held if each.parent_group == group.name)]))


def _chains(robot: RobotModel, planner: PlannerRobot) -> list[tuple[str, str]]:
    """Return the chains (base, tip) to the tool frames; empty if together they do not have exactly the joints."""
    chains, seen = [], set[str]()
    for frame in planner.tool_frames:
        path = [robot.joints[at] for at in robot.to_root(robot.link_index[frame])]
        moved = [joint for joint in path if joint.name in planner.joints]
        if not moved:
            return []
        between = path[: path.index(moved[-1]) + 1]
        if [joint for joint in between if joint.is_active] != moved:
            return []
        seen |= {joint.name for joint in moved}
        chains.append((moved[-1].parent_link, frame))
    return chains if seen == set(planner.joints) else []


def _left(robot: RobotModel, group: Group | None, state: NamedState | None, planner: PlannerRobot) -> Iterator[str]:
    """Yield what planners on spheres cannot hold of an SRDF."""
    semantics = robot.semantics
    for link in robot.links:
        if link.urdf.collisions and link.name not in semantics.link_spheres:
            yield f"the enclosing sphere of link '{link.name}': the SRDF has no spheres for it, the planner ignores it"
    yield from (f"group '{name}'" for name in semantics.groups if group is None or name != group.name)
    yield from (
        f"state '{own}/{name}'"
        for own, name in semantics.states
        if state is None or (own, name) != (state.group, state.name)
    )
    for name, effector in semantics.end_effectors.items():
        kept = effector.parent_link in planner.tool_frames
        yield f"end effector '{name}'" + (f", except its link '{effector.parent_link}'" if kept else "")
    yield from (f"virtual joint '{joint.name}'" for joint in semantics.virtual_joints)
    yield from (f"passive joint '{name}'" for name in semantics.passive_joints)
    for joint, properties in semantics.joint_properties.items():
        yield from (f"property '{name}' of joint '{joint}'" for name in properties)
    if reasons := sum(reason not in ("", "User") for reason in semantics.disabled_collisions.values()):
        yield f"the reasons of {reasons} disabled pairs"
    if semantics.srdf is not None and b"<!--" in semantics.srdf.places.text:
        yield "comments"
