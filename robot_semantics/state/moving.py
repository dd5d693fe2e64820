# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Changes of poses in a world state that need its robots: a new parent at the same place, and a checked pose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_semantics.base.errors import ArrayError
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.apply import apply_model_state, resolve_with
from robot_semantics.state.report import TOLERANCE
from robot_semantics.transforms import transform_distance
from robot_semantics.transforms.pose import pose_from_matrix, six
from robot_semantics.usdf.edit import set_pose
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.world_state import WorldState, carrier_of


def reparented(state: WorldState, name: str, parent: str, robots: Mapping[str, RobotModel]) -> WorldState:
    """Return `state` with another parent of a model or frame, at the same place: pose and twist are re-expressed.

    Args:
        state: the state.
        name: the model or frame.
        parent: a model or frame, or a link that carries it: ``model::link``.
        robots: robots by their models' names; their joints give the poses of carrying links.

    Raises:
        UnknownNameError: the model, the frame or the parent does not exist.
        ArrayError: its pose is not stated, or it carries the new parent.
        NotStatedError: the pose of the link that carries it is not stated and cannot be computed.
    """
    moved = set_pose(state, name, parent=parent)
    (body,) = (item for item in moved.bodies if item.name == name)
    if body.pose is None:
        raise ArrayError(name, "its pose is not stated, so its place cannot be kept")
    world = resolve(with_carriers(state, robots, also=(body.parent,)))
    above = carrier_of(body)
    if name in world.path(above):
        raise ArrayError(name, f"'{above}' is on it")
    twist = None if body.twist is None else world.relative_twists((name,), above)[0]
    if twist is not None and np.isnan(twist).any():
        raise ArrayError(name, f"how '{above}' moves is not stated, so its twist there is unknown")
    pose = pose_from_matrix(world.pose(name, above))
    return set_pose(moved, name, pose, twist=None if twist is None else six(twist))


def pose_refusal(state: WorldState, name: str, robot: RobotModel, before: WorldState | None = None) -> str | None:
    """Return why a command may not give a model the pose that it has in `state`, with the amount; None if it may.

    A planar virtual joint takes poses in its plane. A fixed one takes the pose of its parent frame, and the place where
    the robot is mounted: the pose that the model had `before`, or any pose in a new world. A robot without a virtual
    joint can stand anywhere.
    """
    if not robot.has_virtual_joint:
        return None
    world = resolve_with(state, robots={name: robot})
    applied = apply_model_state(state.model(name), world, robot)
    refusal = next((str(item) for item in applied.refused if item.kind == "pose"), None)
    if refusal is None or robot.root_joint.type is not JointType.FIXED:
        return refusal
    if before is None:
        return None
    frame = robot.root_joint.parent_link
    mounts = [
        found.pose(name, found.frame_or_world(frame)) for found in (world, resolve_with(before, robots={name: robot}))
    ]
    off, turned = (float(amount) for amount in transform_distance(*mounts))
    if max(off, turned) <= TOLERANCE:
        return None
    return f"{refusal}, and {off:.6g} m and {turned:.6g} rad away from where it is mounted"
