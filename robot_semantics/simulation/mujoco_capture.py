# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MuJoCo's arrays to a world state, through MuJoCo's own kinematics."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.mujoco_layout import JointPlace, ModelLayout
from robot_semantics.simulation.robot_motion import LinkMotion, pose_of
from robot_semantics.transforms import (
    invert,
    matrix_from_quat,
    matrix_from_rotation,
    quat_conjugate,
    quat_from_matrix,
    quat_multiply,
    rotation_about,
    rotation_from_z,
)
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.poses import six
from robot_semantics.usdf.world_state import JointState, ModelState, Pose, Vec6


def body_motion(model: Any, data: Any, *, forces: bool = True) -> LinkMotion:
    """Return all bodies of a forward-computed MjData; without `forces`, only where they are and how they move."""
    xyz, angular = np.array(data.xpos), np.array(data.cvel[:, :3])
    # MuJoCo keeps velocities at the centre of mass of each kinematic tree.
    linear = data.cvel[:, 3:] + np.cross(angular, xyz - data.subtree_com[model.body_rootid])
    R = np.array(data.xmat).reshape(-1, 3, 3)
    return LinkMotion(xyz, R, linear, angular, _wrenches(model, data) if forces else None)


def _wrenches(model: Any, data: Any) -> FloatArray:
    """Return (nbody, 6) contact and applied wrenches at the body origins, in world axes."""
    applied = data.xfrc_applied
    wrench: FloatArray = np.array(applied)
    wrench[:, 3:] += np.cross(data.xipos - data.xpos, applied[:, :3])
    if data.ncon:
        local = np.zeros((data.ncon, 6))
        for index in range(data.ncon):
            mujoco.mj_contactForce(model, data, index, local[index])
        frames = data.contact.frame.reshape(-1, 3, 3)  # rows are the contact's axes in the world
        force = np.einsum("nij,ni->nj", frames, local[:, :3])
        torque = np.einsum("nij,ni->nj", frames, local[:, 3:])
        bodies = model.geom_bodyid[data.contact.geom]
        # The force acts from the first geometry on the second, and back.
        for side, sign in ((0, -1.0), (1, 1.0)):
            body = bodies[:, side]
            about = torque + np.cross(data.contact.pos - data.xpos[body], force)
            np.add.at(wrench, body, sign * np.concatenate((force, about), axis=1))
    return wrench


def capture_model(
    layout: ModelLayout,
    data: Any,
    motion: LinkMotion,
    T_world_parent: FloatArray,
    digest: str | None,
    *,
    links: bool = True,
) -> ModelState:
    """Return one robot's state from a forward-computed MjData, with or without its links."""
    pose, twist = _root_state(layout, data, motion, T_world_parent)
    return ModelState(
        name=layout.name,
        parent=layout.spec.parent_frame,
        pose=pose,
        twist=twist,
        links=motion.of(layout.bodies).states(layout.spec.robot.link_names) if links else (),
        joints=tuple(_joint(place, data) for place in layout.joints),
        description=layout.spec.description,
        semantic=layout.spec.semantic,
        urdf_sha256=digest,
    )


def planar_transform(axis: FloatArray, xytheta: FloatArray) -> FloatArray:
    """Return the (4, 4) motion of a planar joint about `axis` (3,) for x, y [m] and theta [rad]."""
    across = rotation_from_z(axis)[:, :2] @ xytheta[:2]
    return matrix_from_rotation(rotation_about(axis, xytheta[2]), across)


def _root_state(layout: ModelLayout, data: Any, motion: LinkMotion, T_world_parent: FloatArray) -> tuple[Pose, Vec6]:
    root = layout.bodies[0]
    R_parent_world = T_world_parent[:3, :3].T
    if layout.spec.root_type is JointType.FLOATING:
        assert layout.root is not None
        qpos, qvel = data.qpos[layout.root.qpos], data.qvel[layout.root.qvel]
        quat = quat_multiply(quat_conjugate(quat_from_matrix(T_world_parent[:3, :3])), qpos[[4, 5, 6, 3]])
        if np.array_equal(T_world_parent, np.eye(4)):
            quat = np.array(qpos[[4, 5, 6, 3]])  # as it is, to the last bit
        xyz = R_parent_world @ (qpos[:3] - T_world_parent[:3, 3])
        # A free joint's linear velocity is in the world's axes, its angular velocity in the body's.
        twist = np.concatenate((R_parent_world @ qvel[:3], R_parent_world @ (motion.R[root] @ qvel[3:])))
        T = matrix_from_rotation(R_parent_world @ motion.R[root], xyz)
        return pose_of(T, quat), six(twist)
    if layout.spec.root_type is JointType.PLANAR:
        assert layout.root is not None
        axis = layout.root.joint.axis
        T = planar_transform(axis, data.qpos[layout.root.qpos])
        qvel = data.qvel[layout.root.qvel]
        twist = np.concatenate((rotation_from_z(axis)[:, :2] @ qvel[:2], axis * qvel[2]))
        return pose_of(T), six(twist)
    T_world_root = matrix_from_rotation(motion.R[root], motion.xyz[root])
    return pose_of(invert(T_world_parent) @ T_world_root), (0.0,) * 6


def _joint(place: JointPlace, data: Any) -> JointState:
    positions, velocities = data.qpos[place.qpos], data.qvel[place.qvel]
    torques = data.qfrc_actuator[place.qvel] + data.qfrc_applied[place.qvel]
    if place.joint.type is JointType.FLOATING:
        positions = positions[[0, 1, 2, 4, 5, 6, 3]]
        # MuJoCo's ball turns in the child's axes, a floating joint in the joint frame's.
        R = matrix_from_quat(positions[3:])
        velocities = np.concatenate((velocities[:3], R @ velocities[3:]))
        torques = np.concatenate((torques[:3], R @ torques[3:]))
    return JointState(place.joint.name, tuple(positions.tolist()), tuple(velocities.tolist()), tuple(torques.tolist()))
