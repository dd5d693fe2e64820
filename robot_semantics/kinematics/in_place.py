"""Joint transforms of one configuration at a time, each over the last: for loops that run a thousand times a second.

`LocalTransforms` is the general form; this one takes no batches, checks nothing, makes no new array, and leaves mimic
joints where `q` has them, which for a measured configuration is where they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
        values: (n, 7), overwritten by each `update`; rows in the order in which the joints were chosen.

    """

    def __init__(self, model: RobotModel, joints: Sequence[int]) -> None:
        """Prepare for the joints with these indices in the model."""
        space = JointSpace.of(model)
        chosen = [model.joints[index] for index in joints]
        origins = np.array([joint.T_parent_joint for joint in chosen], np.float64).reshape(-1, 4, 4)
        self.values: FloatArray = np.array(xyz_quat_from_matrix(origins), np.float64).reshape(-1, 7)

        turning = [row for row, joint in enumerate(chosen) if joint.type in TURNING]
        sliding = [row for row, joint in enumerate(chosen) if joint.type is JointType.PRISMATIC]
        self._turning = np.array(turning, np.intp)
        self._turning_at = np.array([space.joint_positions[chosen[row].name].stop - 1 for row in turning], np.intp)
        # With h half the angle, the quaternion is cos(h) Q0 + sin(h) Q0 (axis, 0): two constants a joint.
        self._cosine = self.values[turning, 3:].copy()
        axes = np.array([[*chosen[row].axis, 0.0] for row in turning]).reshape(-1, 4)
        self._sine = np.array(quat_multiply(self._cosine, axes)).reshape(-1, 4)
        self._only_turning = len(turning) == len(chosen)

        self._sliding = np.array(sliding, np.intp)
        self._sliding_at = np.array([space.joint_positions[chosen[row].name].start for row in sliding], np.intp)
        self._zero = self.values[sliding, :3].copy()
        directions = [origins[row, :3, :3] @ chosen[row].axis for row in sliding]
        self._direction = np.array(directions).reshape(-1, 3)

        # The rest are single joints, each with a matrix for its translation; floating ones have one for rotation too.
        self._planar = [
            (row, space.joint_positions[joint.name].start, self.values[row, :3].copy(), _rotation(origins, row) @ plane)
            for row, joint in enumerate(chosen)
            if joint.type is JointType.PLANAR
            for plane in [plane_axes(joint)]
        ]
        self._floating = [
            (
                row,
                space.joint_positions[joint.name].start,
                self.values[row, :3].copy(),
                _rotation(origins, row),
                np.array(quat_multiply(self.values[row, 3:], np.eye(4))).T,
            )
            for row, joint in enumerate(chosen)
            if joint.type is JointType.FLOATING
        ]

    def update(self, q: FloatArray) -> FloatArray:
        """Compute all transforms for `q` (size,), quaternions of length 1, and return `values`."""
        values = self.values
        if len(self._turning):
            half = 0.5 * q[self._turning_at, np.newaxis]
            turned = np.cos(half) * self._cosine
            turned += np.sin(half) * self._sine
            if self._only_turning:
                values[:, 3:] = turned
            else:
                values[self._turning, 3:] = turned
        if len(self._sliding):
            values[self._sliding, :3] = self._zero + q[self._sliding_at, np.newaxis] * self._direction
        for row, at, zero, axes in self._planar:
            values[row, :3] = zero + axes @ q[at : at + 2]
        for row, at, zero, rotation, quat_product in self._floating:
            values[row, :3] = zero + rotation @ q[at : at + 3]
            values[row, 3:] = quat_product @ q[at + 3 : at + 7]
        return values


def _rotation(origins: FloatArray, row: int) -> FloatArray:
    return origins[row, :3, :3]
