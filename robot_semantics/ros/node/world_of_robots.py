"""The robots of the node at one moment as a USDF world state."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.state.root_motion import pose_of, twist_of
from robot_semantics.state.samples import FloatArray, RobotSample, WorldSample
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.poses import pose_from_quaternion, six
from robot_semantics.usdf.robot import complete
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, ModelState, Vec6, WorldState


def world_state(sample: WorldSample, name: str | None = None) -> WorldState:
    """Return the world state of a sample; each frame that a robot stands in is stated, its pose is not known."""
    models = tuple(model_state(robot) for robot in sample.robots)
    parents = sorted({model.parent for model in models} - {WORLD} - {model.name for model in models})
    return WorldState(
        name=name, models=models, frames=tuple(Frame(parent) for parent in parents), time_ns=sample.stamp_ns
    )


def model_state(sample: RobotSample) -> ModelState:
    """Return one robot's state: its known joints, and its links as far as they follow from these."""
    model, space = sample.model, sample.space
    known = {joint.name for joint, is_known in zip(space.joints, sample.known, strict=True) if is_known}
    joints = tuple(
        JointState(
            joint.name,
            positions=tuple(sample.positions[space.joint_positions[joint.name]].tolist()),
            velocities=_stated(sample.velocities[space.joint_velocities[joint.name]]),
            torques=_stated(sample.efforts[space.joint_velocities[joint.name]]),
        )
        for joint in space.joints
        if joint.name in known and not joint.virtual
    )
    pose, twist = root_pose(sample), root_twist(sample)
    state = ModelState(
        name=sample.name,
        parent=sample.parent_frame or WORLD,
        pose=None if pose is None else pose_from_quaternion(pose[:3].tolist(), pose[3:].tolist()),
        twist=twist,
        joints=joints,
        urdf_sha256=_digest(model),
    )
    return complete(state, _kinematics(model))


def root_pose(sample: RobotSample) -> FloatArray | None:
    """Return (7,) the pose of the root link in its parent frame, None where it is not known."""
    root = sample.model.root_joint
    if not root.position_count:
        return sample.fixed_root_pose if sample.parent_frame else None
    if not sample.known[0]:
        return None
    return pose_of(root, sample.positions[sample.space.joint_positions[root.name]])


def root_twist(sample: RobotSample) -> Vec6 | None:
    """Return the velocity of the root link relative to its parent frame, in that frame's axes, None where not known."""
    root: JointModel = sample.model.root_joint
    if not root.position_count or not sample.known[0]:
        return None
    rates = sample.velocities[sample.space.joint_velocities[root.name]]
    return six(twist_of(root, rates)) if np.isfinite(rates).all() else None


def _stated(values: FloatArray) -> tuple[float, ...] | None:
    return tuple(values.tolist()) if np.isfinite(values).all() else None


@lru_cache(maxsize=32)
def _kinematics(model: RobotModel) -> ForwardKinematics:
    return ForwardKinematics(model)


@lru_cache(maxsize=32)
def _digest(model: RobotModel) -> str | None:
    return model_digest(model)
