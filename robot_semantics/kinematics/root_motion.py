# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A pose in space as the position of a planar or floating joint, and the part that the joint cannot take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_semantics.kinematics.motions import plane_axes
from robot_semantics.model.robot_model import JointModel
from robot_semantics.transforms import quat_from_rotvec, quat_rotate, wrapped_angles
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.rows import LARGEST

SMALLEST_QUATERNION = 1e-6
"""A shorter quaternion has no direction; a longer one is normalised."""


class UnusablePose(NamedTuple):
    """A pose that no joint can take: it is not finite or too far away, or else its quaternion is zero."""

    is_finite: bool
    message: str


class JointMotion(NamedTuple):
    """A multi-DOF joint's state.

    Attributes:
        positions: (3,) x y theta or (7,) x y z and quaternion x y z w.
        velocities: (3,) or (6,) in the parent's axes; None if not known.
        lost_m: distance from the joint's plane, which a planar joint cannot take [m].
        lost_rad: tilt out of this plane, which a planar joint cannot take [rad].

    """

    positions: FloatArray
    velocities: FloatArray | None
    lost_m: float = 0.0
    lost_rad: float = 0.0


def joint_motion(joint: JointModel, xyz_quat: FloatArray, twist: FloatArray | None) -> JointMotion | UnusablePose:
    """Return a joint's state for a pose (7,) and a twist (6,) of the child in the parent's axes [m/s, rad/s].

    Returns:
        The state; or why the pose is refused: it is not finite or too far away, or its quaternion is zero.

    """
    if not np.isfinite(xyz_quat).all():
        return UnusablePose(False, f"the pose of '{joint.name}' is not finite")
    if np.linalg.norm(xyz_quat[:3]) > LARGEST:
        return UnusablePose(False, f"the position of '{joint.name}' is farther away than {LARGEST:g} m")
    length = float(np.linalg.norm(xyz_quat[3:]))
    if length < SMALLEST_QUATERNION:
        return UnusablePose(True, f"the quaternion of '{joint.name}' is zero")
    pose = np.concatenate([xyz_quat[:3], xyz_quat[3:] / length])
    velocities = None if twist is None or not np.isfinite(twist).all() else twist
    if joint.motion.has_quaternion:
        return JointMotion(pose, velocities)
    return _planar(joint, pose, velocities)


def pose_of(joint: JointModel, positions: FloatArray) -> FloatArray:
    """Return the pose (..., 7), x y z [m] and quaternion x y z w, of a planar or floating joint's positions."""
    if joint.motion.has_quaternion:
        return np.array(positions)
    turns = quat_from_rotvec(joint.axis * positions[..., 2:3])
    return np.concatenate([positions[..., :2] @ plane_axes(joint.axis).T, turns], axis=-1)


def twist_in_parent(xyz_quat: FloatArray, twist: FloatArray) -> FloatArray:
    """Return a twist (6,) in the parent's axes from one in the axes of the child at pose `xyz_quat`."""
    return np.concatenate([quat_rotate(xyz_quat[3:], half) for half in (twist[:3], twist[3:])])


def _planar(joint: JointModel, pose: FloatArray, velocities: FloatArray | None) -> JointMotion:
    axes, normal = plane_axes(joint.axis), joint.axis
    # Of all rotations about the normal, this one leaves the smallest rest, the tilt.
    along, real = float(pose[3:6] @ normal), float(pose[6])
    theta = wrapped_angles(2.0 * np.arctan2(along, real))
    tilt = 2.0 * float(np.arccos(min(1.0, np.hypot(along, real))))
    rates = None if velocities is None else np.array([*(axes.T @ velocities[:3]), normal @ velocities[3:]])
    positions = np.array([*(axes.T @ pose[:3]), theta])
    return JointMotion(positions, rates, abs(float(normal @ pose[:3])), tilt)


def twist_of(joint: JointModel, rates: FloatArray) -> FloatArray:
    """Return the twist (..., 6), in the parent's axes, of a planar or floating joint's velocities."""
    if joint.motion.has_quaternion:
        return np.array(rates)
    return np.concatenate([rates[..., :2] @ plane_axes(joint.axis).T, joint.axis * rates[..., 2:3]], axis=-1)
