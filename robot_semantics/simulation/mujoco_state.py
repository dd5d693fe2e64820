# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Read robots from MuJoCo's arrays as a world state, with MuJoCo's kinematics, and write them back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import mujoco
import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.simulation.mujoco_engine import CONTRADICTION
from robot_semantics.simulation.mujoco_layout import JointIndices, ModelLayout
from robot_semantics.simulation.restoring import RestorePlan
from robot_semantics.simulation.robot_motion import LinkMotion
from robot_semantics.state.apply import AppliedState
from robot_semantics.transforms import (
    invert,
    matrix_from_pose,
    matrix_from_quat,
    matrix_from_rotation,
    quat_conjugate,
    quat_from_matrix,
    quat_multiply,
    rotation_about,
    rotation_from_z,
    xyz_quat_from_matrix,
)
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_matrix, six
from robot_semantics.transforms.rows import into_axes, twist_at, wrench_about
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.world_state import WORLD, JointState, ModelState


def body_motion(model: mujoco.MjModel, data: mujoco.MjData, *, forces: bool = True) -> LinkMotion:
    """Return the motion of all bodies of a forward-computed MjData. Without `forces`, there are no wrenches."""
    # MuJoCo stores velocities at the centre of mass of each kinematic tree, angular velocities first.
    twist = twist_at(np.roll(data.cvel, 3, axis=1), data.xpos - data.subtree_com[model.body_rootid])
    T = matrix_from_rotation(data.xmat.reshape(-1, 3, 3), data.xpos)
    return LinkMotion(T, twist, _wrenches(model, data) if forces else None)


def _wrenches(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    """Return (nbody, 6) contact and applied wrenches at the body origins, in world axes."""
    wrench = wrench_about(data.xfrc_applied, data.xpos - data.xipos)
    if data.ncon:
        local = np.zeros((data.ncon, 6))
        for index in range(data.ncon):
            mujoco.mj_contactForce(model, data, index, local[index])
        frames = data.contact.frame.reshape(-1, 3, 3)  # rows: axes of the contact in the world
        at_contact = into_axes(frames, local)
        bodies = model.geom_bodyid[data.contact.geom]
        # The force acts on both geometries, with opposite signs.
        for side, sign in ((0, -1.0), (1, 1.0)):
            body = bodies[:, side]
            np.add.at(wrench, body, sign * wrench_about(at_contact, data.xpos[body] - data.contact.pos))
    return wrench


def capture_model(
    layout: ModelLayout,
    data: mujoco.MjData,
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
        links=motion.select(layout.bodies).states(layout.spec.robot.link_names) if links else (),
        joints=tuple(_joint(indices, data) for indices in layout.joints),
        description=layout.spec.description,
        semantic=layout.spec.semantic,
        urdf_sha256=digest,
    )


def planar_transform(axis: FloatArray, xytheta: FloatArray) -> FloatArray:
    """Return the (4, 4) motion of a planar joint about `axis` (3,) for x, y [m] and theta [rad]."""
    across = rotation_from_z(axis)[:, :2] @ xytheta[:2]
    return matrix_from_rotation(rotation_about(axis, xytheta[2]), across)


def _root_state(
    layout: ModelLayout, data: mujoco.MjData, motion: LinkMotion, T_world_parent: FloatArray
) -> tuple[Pose, Vec6]:
    T_world_root, _ = motion.select(layout.bodies[:1]).root()
    R_parent_world = T_world_parent[:3, :3].T
    if layout.spec.has_floating_base:
        assert layout.root is not None
        qpos, qvel = data.qpos[layout.root.qpos], data.qvel[layout.root.qvel]
        quat = quat_multiply(quat_conjugate(quat_from_matrix(T_world_parent[:3, :3])), qpos[[4, 5, 6, 3]])
        if np.array_equal(T_world_parent, np.eye(4)):
            quat = np.array(qpos[[4, 5, 6, 3]])  # exact, to the last bit
        xyz = R_parent_world @ (qpos[:3] - T_world_parent[:3, 3])
        # A free joint's linear velocity is in the world's axes, its angular velocity in the body's.
        twist = np.concatenate((R_parent_world @ qvel[:3], R_parent_world @ (T_world_root[:3, :3] @ qvel[3:])))
        T = matrix_from_rotation(R_parent_world @ T_world_root[:3, :3], xyz)
        return pose_from_matrix(T, quat), six(twist)
    if layout.spec.has_planar_base:
        assert layout.root is not None
        axis = layout.root.joint.axis
        T = planar_transform(axis, data.qpos[layout.root.qpos])
        qvel = data.qvel[layout.root.qvel]
        twist = np.concatenate((rotation_from_z(axis)[:, :2] @ qvel[:2], axis * qvel[2]))
        return pose_from_matrix(T), six(twist)
    return pose_from_matrix(invert(T_world_parent) @ T_world_root), (0.0,) * 6


def _joint(indices: JointIndices, data: mujoco.MjData) -> JointState:
    positions, velocities = data.qpos[indices.qpos], data.qvel[indices.qvel]
    torques = data.qfrc_actuator[indices.qvel] + data.qfrc_applied[indices.qvel]
    if indices.joint.motion.has_quaternion:
        positions = positions[[0, 1, 2, 4, 5, 6, 3]]
        # The velocity of MuJoCo's ball is in the child's axes, that of a floating joint in the axes of the joint frame.
        R = matrix_from_quat(positions[3:])
        velocities = np.concatenate((velocities[:3], R @ velocities[3:]))
        torques = np.concatenate((torques[:3], R @ torques[3:]))
    return JointState(
        indices.joint.name, tuple(positions.tolist()), tuple(velocities.tolist()), tuple(torques.tolist())
    )


def write_state(layout: ModelLayout, applied: AppliedState, T_world_base: FloatArray, data: mujoco.MjData) -> None:
    """Write a robot's state into an MjData.

    Args:
        layout: layout of the robot's state.
        applied: the state; its root link is in the frame of `restoring.simulated_robot`.
        T_world_base: (4, 4) pose of that frame in the world, the identity for the world.
        data: the MjData.

    """
    if applied.base_xyz_quat is not None:
        with _keeping_angular_velocity(layout.root, data):
            _place_root(layout, applied, T_world_base, data)
    if applied.base_twist is not None:
        _move_root(layout, applied, data)
    space = JointSpace.of(layout.spec.robot)
    for indices in layout.joints:
        name = indices.joint.name
        if name in applied.positions_of:
            with _keeping_angular_velocity(indices, data):
                data.qpos[indices.qpos] = mujoco_positions(applied.positions[space.joint_positions[name]], indices)
        if name in applied.velocities_of:
            data.qvel[indices.qvel] = _qvel(applied.velocities[space.joint_velocities[name]], indices, data)


@contextmanager
def _keeping_angular_velocity(indices: JointIndices | None, data: mujoco.MjData) -> Iterator[None]:
    """Keep the angular velocity of a floating joint in its parent's axes. MuJoCo has it in the child's axes."""
    if indices is None or not indices.joint.motion.has_quaternion:
        yield
        return
    angular = _rotation(indices, data) @ data.qvel[indices.qvel[3:]]
    yield
    data.qvel[indices.qvel[3:]] = _rotation(indices, data).T @ angular


def _rotation(indices: JointIndices, data: mujoco.MjData) -> FloatArray:
    w, x, y, z = data.qpos[indices.qpos[3:]]
    return matrix_from_quat([x, y, z, w])


def set_frame_pose(layout: ModelLayout, xyz_quat: FloatArray, data: mujoco.MjData) -> None:
    """Set the pose (7,) in the world of the mocap body of a root's parent frame."""
    data.mocap_pos[layout.mocap] = xyz_quat[:3]
    data.mocap_quat[layout.mocap] = xyz_quat[[6, 3, 4, 5]]


def move_planes(layouts: Iterable[ModelLayout], plan: RestorePlan, now: ResolvedWorld, data: mujoco.MjData) -> None:
    """Move the planes of planar bases to the poses of their frames, together with the robots."""
    for layout in layouts:
        if not layout.spec.has_planar_base:
            continue
        target = now.pose(layout.spec.parent_frame)
        w, x, y, z = data.mocap_quat[layout.mocap]
        present = matrix_from_pose([*data.mocap_pos[layout.mocap], x, y, z, w])
        if np.abs(target - present).max() > CONTRADICTION:
            set_frame_pose(layout, xyz_quat_from_matrix(target), data)
            applied = plan.applied.get(layout.name)
            if applied is None or applied.base_xyz_quat is None:
                plan.log.note(f"model '{layout.name}' is carried along by its frame '{layout.spec.parent_frame}'")


def _place_root(layout: ModelLayout, applied: AppliedState, T_world_base: FloatArray, data: mujoco.MjData) -> None:
    xyz_quat = applied.base_xyz_quat
    assert xyz_quat is not None
    if layout.spec.has_floating_base:
        assert layout.root is not None
        data.qpos[layout.root.qpos] = xyz_quat[[0, 1, 2, 6, 3, 4, 5]]
    elif layout.spec.has_planar_base:
        assert layout.root is not None
        data.qpos[layout.root.qpos] = applied.base_positions
    elif layout.spec.parent_frame == WORLD:
        set_frame_pose(layout, xyz_quat, data)
    else:
        set_frame_pose(layout, xyz_quat_from_matrix(T_world_base @ matrix_from_pose(xyz_quat)), data)


def _move_root(layout: ModelLayout, applied: AppliedState, data: mujoco.MjData) -> None:
    if layout.root is None:
        return
    if layout.spec.has_planar_base:
        data.qvel[layout.root.qvel] = applied.base_velocities
        return
    assert applied.base_twist is not None
    # A free joint's linear velocity is in the world's axes, its angular velocity in the body's.
    R_world_root = _rotation(layout.root, data)
    data.qvel[layout.root.qvel] = [*applied.base_twist[:3], *(R_world_root.T @ applied.base_twist[3:])]


def mujoco_positions(positions: FloatArray, indices: JointIndices) -> FloatArray:
    """Return the positions of a joint in MuJoCo's order: a quaternion is w x y z."""
    return positions if not indices.joint.motion.has_quaternion else positions[[0, 1, 2, 6, 3, 4, 5]]


def _qvel(velocities: FloatArray, indices: JointIndices, data: mujoco.MjData) -> FloatArray:
    if not indices.joint.motion.has_quaternion:
        return velocities
    # The velocity of MuJoCo's ball is in the child's axes, that of a floating joint in the axes of the joint frame.
    return np.concatenate((velocities[:3], _rotation(indices, data).T @ velocities[3:]))
