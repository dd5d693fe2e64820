# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Motion of a robot in joint space, independent of the engine, and its conversion to a world state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robot_semantics.base.record import record
from robot_semantics.simulation.restoring import RestorePlan, SimulatedRobot
from robot_semantics.simulation.world_spec import ModelSpec
from robot_semantics.transforms import (
    invert,
    matrix_from_pose,
    matrix_from_rotation,
)
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.pose import pose_from_matrix, poses_from_matrices, six
from robot_semantics.transforms.rows import into_axes, twist_at
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.world_state import JointState, LinkState, ModelState


class LinkMotion(NamedTuple):
    """Motion of links in the world: all links of a robot, root link first, or all bodies of an engine.

    Attributes:
        T: (n, 4, 4) poses [m].
        twist: (n, 6) velocities of the origins [m/s] and angular velocities [rad/s].
        wrench: (n, 6) forces [N] and torques about the origins [N m], or None.

    """

    T: FloatArray
    twist: FloatArray
    wrench: FloatArray | None = None

    def select(self, rows: IntArray) -> LinkMotion:
        """Return the links of some rows."""
        wrench = None if self.wrench is None else self.wrench[rows]
        return LinkMotion(self.T[rows], self.twist[rows], wrench)

    def root(self) -> tuple[FloatArray, FloatArray]:
        """Return pose (4, 4) and twist (6,) of the first link."""
        return self.T[0], self.twist[0]

    def states(self, names: Sequence[str]) -> tuple[LinkState, ...]:
        """Return the links, with these names, as states relative to the root link."""
        R, offset = self.T[:, :3, :3], self.T[:, :3, 3] - self.T[0, :3, 3]
        poses = poses_from_matrices(matrix_from_rotation(R[0].T @ R, offset @ R[0]))
        twists = into_axes(R, self.twist - twist_at(self.twist[0], offset))
        wrenches = None if self.wrench is None else into_axes(R, self.wrench)
        return tuple(
            LinkState(name, poses[at], six(twists[at]), None if wrenches is None else six(wrenches[at]))
            for at, name in enumerate(names)
        )


@record(frozen=True, eq=False)
class MechanismState:
    """One robot in an engine.

    Attributes:
        base: (4, 4) pose of the root link's parent frame in the world; the identity if the root link floats.
        root_positions: (0,), (3,) or (7,) of a fixed, planar or floating root joint: ``x y theta``, or xyz [m] and
            quaternion x y z w, whose length may be off by rounding.
        root_velocities: (0,), (3,) or (6,) their rates, in the axes of `base`.
        positions: (size,) in the robot's joint space; values of a virtual joint are not used.
        velocities: (velocity_size,) in the same way.
        targets: (driven,) targets of its position servos.
    """

    base: FloatArray
    root_positions: FloatArray
    root_velocities: FloatArray
    positions: FloatArray
    velocities: FloatArray
    targets: FloatArray


def neutral_motion(spec: ModelSpec, robot: SimulatedRobot) -> MechanismState:
    """Return a robot at rest at its default positions, its base at the world's origin."""
    root = spec.root_joint.motion
    moving = np.zeros(root.velocities), robot.neutral.copy(), np.zeros(robot.kinematics.space.velocity_size)
    motion = MechanismState(np.eye(4), np.array(root.neutral), *moving, np.zeros(0))
    return replace(motion, targets=hold_targets(robot, motion))


def driven_joints(robot: SimulatedRobot) -> tuple[str, ...]:
    """Return the joints with motors: commandable joints with one variable."""
    return tuple(
        joint.name for joint in robot.kinematics.model.joints[1:] if joint.position_count == 1 and joint.is_commandable
    )


def hold_targets(robot: SimulatedRobot, motion: MechanismState) -> FloatArray:
    """Return the targets (driven,) that hold a robot at its present positions."""
    space = robot.kinematics.space
    return motion.positions[[space.joint_positions[name].start for name in driven_joints(robot)]]


def with_unit_quaternions(robot: SimulatedRobot, motion: MechanismState) -> MechanismState:
    """Return a motion with quaternions of length 1. In engines, their length changes a little with every step."""
    positions, root = motion.positions.copy(), motion.root_positions.copy()
    quats = [positions[where] for where in robot.kinematics.space.quaternions]
    for quat in (*quats, root[3:7]) if len(root) == 7 else quats:
        quat[:] = quat / (np.linalg.norm(quat) or 1.0)
    return replace(motion, positions=positions, root_positions=root)


def restored_motion(
    spec: ModelSpec, robot: SimulatedRobot, motion: MechanismState, plan: RestorePlan, now: ResolvedWorld
) -> MechanismState:
    """Return the motion of a robot after a restore. Its servos hold the new positions."""
    applied, base = plan.applied.get(spec.name), motion.base
    if spec.has_planar_base:
        base = now.pose(spec.parent_frame)
    if applied is None:
        return replace(motion, base=base, targets=motion.targets.copy())
    root, rates = motion.root_positions, motion.root_velocities
    if not spec.has_fixed_base:
        root = root if applied.base_positions is None else applied.base_positions
        rates = rates if applied.base_velocities is None else applied.base_velocities
    elif applied.base_xyz_quat is not None:
        base = now.pose(spec.parent_frame) @ matrix_from_pose(applied.base_xyz_quat)
    space, positions, velocities = robot.kinematics.space, motion.positions.copy(), motion.velocities.copy()
    for joint in robot.kinematics.model.joints[1:]:
        if joint.name in applied.positions_of:
            positions[space.positions_of(joint)] = applied.positions[space.positions_of(joint)]
        if joint.name in applied.velocities_of:
            velocities[space.velocities_of(joint)] = applied.velocities[space.velocities_of(joint)]
    placed = MechanismState(base, root, rates, positions, velocities, motion.targets)
    return replace(placed, targets=hold_targets(robot, placed))


def capture_without_forces(
    spec: ModelSpec,
    robot: SimulatedRobot,
    motion: MechanismState,
    link_motion: LinkMotion,
    resolved: ResolvedWorld,
    digest: str | None,
    *,
    links: bool,
) -> ModelState:
    """Return the state of one robot, with or without its links, without forces."""
    T_world_parent = resolved.pose(spec.parent_frame)
    motion, space = with_unit_quaternions(robot, motion), robot.kinematics.space
    exact = None
    if spec.has_floating_base and np.array_equal(T_world_parent, np.eye(4)):
        exact = np.array(motion.root_positions[3:])  # exact, to the last bit
    joints = (
        JointState(
            joint.name,
            tuple(motion.positions[space.positions_of(joint)].tolist()),
            tuple(motion.velocities[space.velocities_of(joint)].tolist()),
        )
        for joint in spec.robot.joints[1:]
        if joint.position_count
    )
    T_world_root, twist = link_motion.root()
    return ModelState(
        name=spec.name,
        parent=spec.parent_frame,
        pose=pose_from_matrix(invert(T_world_parent) @ T_world_root, exact),
        twist=six(into_axes(T_world_parent[:3, :3], twist)),
        links=link_motion.states(spec.robot.link_names) if links else (),
        joints=tuple(joints),
        description=spec.description,
        semantic=spec.semantic,
        urdf_sha256=digest,
    )
