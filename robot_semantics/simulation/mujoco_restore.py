# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots as a state has them (`state.apply`) into MuJoCo's arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.mujoco_engine import CONTRADICTION
from robot_semantics.simulation.mujoco_layout import JointPlace, ModelLayout
from robot_semantics.simulation.restoring import RestorePlan
from robot_semantics.state.apply import AppliedState
from robot_semantics.transforms import matrix_from_pose, matrix_from_quat, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.world_state import WORLD


def write_state(layout: ModelLayout, applied: AppliedState, T_world_base: FloatArray, data: Any) -> None:
    """Write a robot's state into an MjData.

    Args:
        layout: where the robot's state lies.
        applied: the state, its root link in the frame of `restoring.standing_of`.
        T_world_base: (4, 4) pose of that frame in the world, (4, 4) identity for the world itself.
        data: the MjData.

    """
    if applied.base_xyz_quat is not None:
        _place_root(layout, applied, T_world_base, data)
    if applied.base_twist is not None:
        _move_root(layout, applied, data)
    space = JointSpace.of(layout.spec.robot)
    for place in layout.joints:
        name = place.joint.name
        if name in applied.positions_of:
            data.qpos[place.qpos] = _qpos(applied.positions[space.joint_positions[name]], place)
        if name in applied.velocities_of:
            data.qvel[place.qvel] = _qvel(applied.velocities[space.joint_velocities[name]], place, data)


def put_frame(layout: ModelLayout, xyz_quat: FloatArray, data: Any) -> None:
    """Put the mocap body that a robot stands in to a pose (7,) in the world."""
    data.mocap_pos[layout.mocap] = xyz_quat[:3]
    data.mocap_quat[layout.mocap] = xyz_quat[[6, 3, 4, 5]]


def carry_planes(layouts: Iterable[ModelLayout], plan: RestorePlan, now: ResolvedWorld, data: Any) -> None:
    """Put the planes that robots move in to where their frames are, and the robots with them."""
    for layout in layouts:
        if layout.spec.root_type is not JointType.PLANAR:
            continue
        there = now.pose(layout.spec.parent_frame)
        w, x, y, z = data.mocap_quat[layout.mocap]
        here = matrix_from_pose([*data.mocap_pos[layout.mocap], x, y, z, w])
        if np.abs(there - here).max() > CONTRADICTION:
            put_frame(layout, xyz_quat_from_matrix(there), data)
            applied = plan.applied.get(layout.name)
            if applied is None or applied.base_xyz_quat is None:
                plan.log.note(f"model '{layout.name}' is carried along by its frame '{layout.spec.parent_frame}'")


def _place_root(layout: ModelLayout, applied: AppliedState, T_world_base: FloatArray, data: Any) -> None:
    xyz_quat = applied.base_xyz_quat
    assert xyz_quat is not None
    if layout.spec.root_type is JointType.FLOATING:
        assert layout.root is not None
        data.qpos[layout.root.qpos] = xyz_quat[[0, 1, 2, 6, 3, 4, 5]]
    elif layout.spec.root_type is JointType.PLANAR:
        assert layout.root is not None
        data.qpos[layout.root.qpos] = applied.base_positions
    elif layout.spec.parent_frame == WORLD:
        put_frame(layout, xyz_quat, data)
    else:
        put_frame(layout, xyz_quat_from_matrix(T_world_base @ matrix_from_pose(xyz_quat)), data)


def _move_root(layout: ModelLayout, applied: AppliedState, data: Any) -> None:
    if layout.root is None:
        return
    if layout.spec.root_type is JointType.PLANAR:
        data.qvel[layout.root.qvel] = applied.base_velocities
        return
    assert applied.base_twist is not None
    # A free joint's linear velocity is in the world's axes, its angular velocity in the body's.
    w, x, y, z = data.qpos[layout.root.qpos[3:]]
    R_world_root = matrix_from_quat([x, y, z, w])
    data.qvel[layout.root.qvel] = [*applied.base_twist[:3], *(R_world_root.T @ applied.base_twist[3:])]


def _qpos(positions: FloatArray, place: JointPlace) -> FloatArray:
    return positions if place.joint.type is not JointType.FLOATING else positions[[0, 1, 2, 6, 3, 4, 5]]


def _qvel(velocities: FloatArray, place: JointPlace, data: Any) -> FloatArray:
    if place.joint.type is not JointType.FLOATING:
        return velocities
    # MuJoCo's ball turns in its own axes, a floating joint's velocity is in the joint frame's.
    w, x, y, z = data.qpos[place.qpos[3:]]
    return np.concatenate((velocities[:3], matrix_from_quat([x, y, z, w]).T @ velocities[3:]))
