# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Mimic joints: each is resolved through its chain to a joint that moves independently; cycles are found."""

from __future__ import annotations

import math
from collections.abc import Mapping

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.joint_types import MOTION, JointType
from robot_semantics.model.robot_model import MimicSource
from robot_semantics.urdf.tree import Joint, Mimic, UrdfRobot


def resolve_mimics(
    robot: UrdfRobot, joints: Mapping[str, Joint], types: Mapping[str, JointType], diagnostics: Diagnostics
) -> dict[str, MimicSource]:
    """Return the final leader of each mimic joint; a joint with an invalid mimic is an ordinary joint.

    Along a chain factors multiply and offsets compose (`MimicSource.through`).
    """
    followed = {
        joint.name: joint.mimic
        for joint in joints.values()
        if joint.mimic is not None and _has_meaning(joint, joint.mimic, robot, joints, types, diagnostics)
    }
    for cycle in _cycles(followed):
        path = " → ".join([*cycle, cycle[0]])
        place = robot.places.place(followed[cycle[0]].at, "joint")
        diagnostics.error("mimic-cycle", f"mimic joints follow each other in a circle: {path}", place)
        for name in cycle:
            del followed[name]
    sources: dict[str, MimicSource] = {}
    for name in followed:
        _follow(name, followed, sources)
    for name, source in list(sources.items()):
        if not (math.isfinite(source.multiplier) and math.isfinite(source.offset)):
            message = (
                f"joint '{name}' follows '{source.joint}' with multipliers or offsets that are too large for a 64-bit "
                "float"
            )
            diagnostics.error("mimic-too-large", message, robot.places.place(followed[name].at))
            del sources[name]
    return sources


def _has_meaning(
    joint: Joint,
    mimic: Mimic,
    robot: UrdfRobot,
    joints: Mapping[str, Joint],
    types: Mapping[str, JointType],
    diagnostics: Diagnostics,
) -> bool:
    if mimic.joint not in joints:
        message = f"joint '{joint.name}' mimics an unknown joint, '{mimic.joint}'"
        place = robot.places.place(mimic.at, "joint")
        diagnostics.error("unknown-mimic", message, place, name=mimic.joint, valid=joints)
        return False
    if joint.name not in types or mimic.joint not in types:
        return False
    follower, leader = (len(MOTION[types[name]].variables) for name in (joint.name, mimic.joint))
    if follower and follower == leader:
        return True
    if follower == 0:
        message = f"joint '{joint.name}' is fixed, so its <mimic> does nothing"
        diagnostics.warning("mimic-of-fixed", message, robot.places.place(mimic.at, "joint"))
        return False
    message = (
        f"joint '{joint.name}' ({joint.type}) cannot mimic '{mimic.joint}' ({joints[mimic.joint].type}): "
        "their numbers of variables differ"
    )
    diagnostics.error("mimic-mismatch", message, robot.places.place(mimic.at, "joint"))
    return False


def _cycles(followed: Mapping[str, Mimic]) -> list[list[str]]:
    """Return the cycles, each beginning with its first joint in document order."""
    rank = {name: index for index, name in enumerate(followed)}
    done: set[str] = set()
    cycles = []
    for start in followed:
        path: dict[str, None] = {}
        name = start
        while name in followed and name not in done and name not in path:
            path[name] = None
            name = followed[name].joint
        if name in path:
            members = list(path)
            cycle = members[members.index(name) :]
            first = cycle.index(min(cycle, key=rank.__getitem__))
            cycles.append(cycle[first:] + cycle[:first])
        done.update(path)
    return cycles


def _follow(name: str, followed: Mapping[str, Mimic], sources: dict[str, MimicSource]) -> None:
    chain = []
    while name in followed and name not in sources:
        chain.append(name)
        name = followed[name].joint
    source = sources.get(name, MimicSource(name))
    for link in reversed(chain):
        source = sources[link] = MimicSource.of(followed[link]).through(source)
