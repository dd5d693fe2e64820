# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Facts that follow from a robot, as text for a hover: of a joint, a link, a group or an end effector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from robot_semantics.base.foreign_text import quoted, shown
from robot_semantics.model.queries import groups_with_joint, groups_with_link
from robot_semantics.model.robot_model import RobotModel

_MOST_NAMES = 12


def facts(robot: RobotModel, kind: str, name: str) -> str:
    """Return lines about a thing of the robot; empty if the robot does not have it."""
    return "\n".join(_FACTS[kind](robot, name)) if kind in _FACTS else ""


def _joint(robot: RobotModel, name: str) -> Iterator[str]:
    if name not in robot.joint_index:
        return
    joint = robot.joint(name)
    yield f"{joint.type.value} joint '{shown(name)}': {shown(joint.parent_link)} → {shown(joint.child_link)}"
    if joint.motion.limited:
        lower, upper = joint.limits.bounds
        yield f"bounds {lower:g} to {upper:g}, velocity {joint.limits.velocity:g}, effort {joint.limits.effort:g}"
    if joint.mimic is not None:
        yield f"= {joint.mimic.multiplier:g} * {shown(joint.mimic.joint)} {joint.mimic.offset:+g}"
    if joint.passive:
        yield "passive"
    if joint.position_count > 1:
        yield f"variables: {quoted(joint.variable_names)}"
    yield f"groups: {quoted(groups_with_joint(robot, name), _MOST_NAMES) or 'none'}"


def _link(robot: RobotModel, name: str) -> Iterator[str]:
    if name not in robot.link_index:
        return
    link = robot.link(name)
    children = [joint.name for joint in robot.joints if joint.parent_link == name]
    yield f"link '{shown(name)}': parent joint '{shown(robot.joints[link.index].name)}'"
    yield f"child joints: {quoted(children, _MOST_NAMES) or 'none'}"
    if link.urdf.inertial is not None:
        yield f"mass {link.urdf.inertial.mass:g} kg"
    yield f"{len(link.urdf.visuals)} visual and {len(link.urdf.collisions)} collision shapes"
    yield f"groups: {quoted(groups_with_link(robot, name), _MOST_NAMES) or 'none'}"


def _group(robot: RobotModel, name: str) -> Iterator[str]:
    group = robot.semantics.groups.get(name)
    if group is None:
        return
    yield f"group '{shown(name)}'"
    for field, value in group.as_dict().items():
        if field != "name" and value:
            words = quoted(value, _MOST_NAMES) if isinstance(value, tuple) else shown(str(value))
            yield f"{field.replace('_', ' ')}: {words}"


def _end_effector(robot: RobotModel, name: str) -> Iterator[str]:
    found = robot.semantics.end_effectors.get(name)
    if found is not None:
        yield f"end effector '{shown(name)}': group '{shown(found.group)}' on link '{shown(found.parent_link)}'"
        yield f"parent group: '{shown(found.parent_group)}'" if found.parent_group else "no parent group"


_FACTS: Mapping[str, Callable[[RobotModel, str], Iterator[str]]] = {
    "joint": _joint,
    "link": _link,
    "group": _group,
    "end_effector": _end_effector,
}
