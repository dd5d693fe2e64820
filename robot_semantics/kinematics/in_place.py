# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint transforms of one configuration, overwritten by each update: for loops at 1 kHz.

`LocalTransforms` is the general form. This one has no batches, no checks and no new arrays. It takes mimic joints from
`q`, which for a measured configuration is correct.

In such a loop the processor's caches are full of other data. The cost is the amount of code and memory that a call
touches, not the computation: use few, repeated numpy functions on one-dimensional arrays, which numpy handles fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import Affine, JointSpace
from robot_semantics.kinematics.motions import plane_axes
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import quat_multiply, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray

IndexArray = npt.NDArray[np.intp]
StagingArray = Callable[[IndexArray], FloatArray]


class InPlaceTransforms:
    """``T_parent_child`` of chosen joints as x y z [m] and quaternion x y z w.

    Attributes:
        values: the array that each `update` writes; by default (n * 7,), the joints one after the other.
    """

    def __init__(
        self,
        model: RobotModel,
        joints: Sequence[int],
        values: FloatArray | None = None,
        places: IndexArray | None = None,
        staging_array: StagingArray | None = None,
        given: Affine | None = None,
    ) -> None:
        """Prepare for the joints with these indices in the model.

        Results are written to the flat array `values`, if given; `places` (n, 7) has the index of each number in it.
        With `staging_array`, rotating numbers are written to the array that it returns for their places instead; the
        caller then processes them together with others. `given` converts the input of `update` to a configuration in
        the order of `JointSpace`; by default it is one.
        """
        space = JointSpace.of(model)
        given = given or Affine.identity(space.size)
        chosen = [model.joints[index] for index in joints]
        count = len(chosen)
        origins = np.array([joint.T_parent_joint for joint in chosen], np.float64).reshape(-1, 4, 4)
        poses = np.array(xyz_quat_from_matrix(origins), np.float64).reshape(-1, 7)
        self.values: FloatArray = np.zeros(7 * count) if values is None else values
        at = np.arange(7 * count).reshape(-1, 7) if places is None else places
        # Constant numbers are written once, here.
        self.values[at] = poses
        starts = _first_positions(space, chosen)

        turning = [row for row, joint in enumerate(chosen) if joint.motion.turns]
        variables = np.array([space.joint_positions[chosen[row].name].stop - 1 for row in turning], np.intp)
        # With half angle h, the quaternion is cos(h) Q0 + sin(h) Q0 (axis, 0): two constants for each joint. Each
        # component is a sine with its own amplitude and phase, so one pass over the components is enough.
        cosine = poses[turning, 3:]
        axes = np.array([[*chosen[row].axis, 0.0] for row in turning]).reshape(-1, 4)
        sine = np.array(quat_multiply(cosine, axes)).reshape(-1, 4)
        amplitude, phase = np.hypot(cosine, sine), np.arctan2(cosine, sine)
        moves = amplitude > 0.0
        self.values[at[turning, 3:][~moves]] = 0.0
        variables = np.repeat(variables, 4).reshape(-1, 4)[moves]
        self._take_from = given.source[variables]
        self._factor = 0.5 * given.factor[variables]
        self._phase = phase[moves] + 0.5 * given.offset[variables]
        self._amplitude = amplitude[moves]
        to = at[turning, 3:][moves]
        self._scatter_to = None if staging_array is not None else to
        self._angles = np.zeros(len(to))
        self._turned = self._angles if staging_array is None else staging_array(to)

        sliding = [row for row, joint in enumerate(chosen) if joint.motion.slides]
        variables = np.array([starts[row] for row in sliding], np.intp)
        direction = np.array([origins[row, :3, :3] @ chosen[row].axis for row in sliding]).reshape(-1, 3)
        self._sliding_from = given.source[variables]
        self._sliding_to = at[sliding, :3]
        self._zero = poses[sliding, :3] + given.offset[variables, np.newaxis] * direction
        self._direction = given.factor[variables, np.newaxis] * direction

        # The other joints are handled singly, each with a matrix for translation; floating joints also have one for
        # rotation.
        self._planar = [
            (
                at[row, :3],
                given[starts[row] : starts[row] + 2],
                poses[row, :3],
                origins[row, :3, :3] @ plane_axes(joint.axis),
            )
            for row, joint in enumerate(chosen)
            if joint.motion.is_planar
        ]
        self._floating = [
            (
                at[row],
                given[starts[row] : starts[row] + 7],
                poses[row, :3],
                origins[row, :3, :3],
                np.array(quat_multiply(poses[row, 3:], np.eye(4))).T,
            )
            for row, joint in enumerate(chosen)
            if joint.motion.has_quaternion
        ]

    def update(self, q: FloatArray) -> FloatArray:
        """Compute all transforms for `q` (size,) with quaternions of length 1; return `values`."""
        values, angles = self.values, self._angles
        if len(angles):
            np.multiply(q[self._take_from], self._factor, angles)
            np.add(angles, self._phase, angles)
            np.sin(angles, angles)
            np.multiply(angles, self._amplitude, self._turned)
            if self._scatter_to is not None:
                values[self._scatter_to] = self._turned
        if len(self._zero):
            values[self._sliding_to] = self._zero + q[self._sliding_from, np.newaxis] * self._direction
        for to, variables, zero, axes in self._planar:
            values[to] = zero + axes @ variables(q)
        for to, variables, zero, rotation, quat_product in self._floating:
            pose = variables(q)
            values[to[:3]] = zero + rotation @ pose[:3]
            values[to[3:]] = quat_product @ pose[3:]
        return values


def _first_positions(space: JointSpace, joints: Sequence[JointModel]) -> list[int]:
    return [space.joint_positions[joint.name].start if joint.position_count else 0 for joint in joints]
