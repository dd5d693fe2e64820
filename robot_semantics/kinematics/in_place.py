"""Joint transforms of one configuration at a time, each over the last: for loops that run a thousand times a second.

`LocalTransforms` is the general form; this one takes no batches, checks nothing, makes no new array, and leaves mimic
joints where `q` has them, which for a measured configuration is where they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.motions import TURNING, plane_axes
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import (
    quat_multiply,
    xyz_quat_from_matrix,
)
from robot_semantics.transforms.arrays import FloatArray


class InPlaceTransforms:
    """``T_parent_child`` of chosen joints as x y z [m] and quaternion x y z w.

    Attributes:
        values: the array written to by each `update`; by default (n * 7,), the joints one after the other.
    """

    def __init__(
        self,
        model: RobotModel,
        joints: Sequence[int],
        values: FloatArray | None = None,
        places: npt.NDArray[np.intp] | None = None,
    ) -> None:
        """Prepare for the joints with these indices in the model.

        A flat array `values` is written to instead of an own one; `places` (n, 7) says where each joint's numbers go.
        """
        space = JointSpace.of(model)
        chosen = [model.joints[index] for index in joints]
        count = len(chosen)
        origins = np.array([joint.T_parent_joint for joint in chosen], np.float64).reshape(-1, 4, 4)
        poses = np.array(xyz_quat_from_matrix(origins), np.float64).reshape(-1, 7)
        self.values: FloatArray = np.zeros(7 * count) if values is None else values
        at = np.arange(7 * count).reshape(-1, 7) if places is None else places
        # What does not move is written once, here.
        self.values[at] = poses

        turning = [row for row, joint in enumerate(chosen) if joint.type in TURNING]
        self._turning_from = np.array([space.joint_positions[chosen[row].name].stop - 1 for row in turning], np.intp)
        self._turning_to = at[turning, 3:]
        # With h half the angle, the quaternion is cos(h) Q0 + sin(h) Q0 (axis, 0): two constants a joint.
        self._cosine = poses[turning, 3:].copy()
        axes = np.array([[*chosen[row].axis, 0.0] for row in turning]).reshape(-1, 4)
        self._sine = np.array(quat_multiply(self._cosine, axes)).reshape(-1, 4)
        self._half = np.zeros(len(turning))
        self._factor = np.zeros((len(turning), 1))
        self._turned, self._term = np.zeros((len(turning), 4)), np.zeros((len(turning), 4))

        sliding = [row for row, joint in enumerate(chosen) if joint.type is JointType.PRISMATIC]
        self._sliding_from = np.array([space.joint_positions[chosen[row].name].start for row in sliding], np.intp)
        self._sliding_to = at[sliding, :3]
        self._zero = poses[sliding, :3].copy()
        self._direction = np.array([origins[row, :3, :3] @ chosen[row].axis for row in sliding]).reshape(-1, 3)

        # The rest are single joints, each with a matrix for its translation; floating ones have one for rotation too.
        self._planar = [
            (at[row, :3], space.joint_positions[joint.name].start, poses[row, :3], origins[row, :3, :3] @ plane)
            for row, joint in enumerate(chosen)
            if joint.type is JointType.PLANAR
            for plane in [plane_axes(joint)]
        ]
        self._floating = [
            (
                at[row],
                space.joint_positions[joint.name].start,
                poses[row, :3],
                origins[row, :3, :3],
                np.array(quat_multiply(poses[row, 3:], np.eye(4))).T,
            )
            for row, joint in enumerate(chosen)
            if joint.type is JointType.FLOATING
        ]

    def update(self, q: FloatArray) -> FloatArray:
        """Compute all transforms for `q` (size,), quaternions of length 1, and return `values`."""
        values = self.values
        half, factor, turned = self._half, self._factor, self._turned
        if len(half):
            q.take(self._turning_from, out=half, mode="clip")
            np.multiply(half, 0.5, out=half)
            np.cos(half, out=factor[:, 0])
            np.multiply(factor, self._cosine, out=turned)
            np.sin(half, out=factor[:, 0])
            np.multiply(factor, self._sine, out=self._term)
            np.add(turned, self._term, out=turned)
            values[self._turning_to] = turned
        if len(self._zero):
            values[self._sliding_to] = self._zero + q[self._sliding_from, np.newaxis] * self._direction
        for to, at, zero, axes in self._planar:
            values[to] = zero + axes @ q[at : at + 2]
        for to, at, zero, rotation, quat_product in self._floating:
            values[to[:3]] = zero + rotation @ q[at : at + 3]
            values[to[3:]] = quat_product @ q[at + 3 : at + 7]
        return values
