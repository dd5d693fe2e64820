# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Transforms of all joints together: the pose of each child link in its parent link, without products along chains.

A revolute joint's entries are ``C + sin(θ) S + (1 - cos(θ)) V`` with constant C, S, V. Its quaternion is
``cos(θ/2) Q0 + sin(θ/2) Q1``. A prismatic joint's entries are linear in q. A few numpy calls compute all joints of one
kind, for any number of joints. `InPlaceTransforms` are for one configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import Affine, JointSpace
from robot_semantics.kinematics.motions import (
    FloatingJoints,
    PlanarJoints,
    SingleVelocityJoints,
    SlidingJoints,
    TurningJoints,
    origins_of,
    plane_axes,
    several_velocities,
)
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import matrix_from_quat, quat_multiply, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray


def doublings(parents: list[int]) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Return steps (links, above): each step multiplies the poses of the links from the left by those of the links
    above.

    After step k every product spans 2^k joints. The root link is the identity and is left out.
    """
    above = np.array(parents)
    steps = []
    while (links := np.flatnonzero(above > 0)).size:
        steps.append((links, above[links]))
        above = np.where(above > 0, above[above], 0)
    return steps


class LocalTransforms:
    """``T_parent_child`` of all joints, or of chosen ones, from joint positions.

    Mimic joints follow their leaders, and their values in `q` are ignored, unless `follow_mimics` is off.

    Attributes:
        space: the joint space of `q`.
        joints: the chosen joints, in the order of the results.
        turning: the joints that turn; None if there are none.
        sliding: the prismatic joints; None if there are none.
    """

    def __init__(
        self,
        model: RobotModel,
        joints: Iterable[str] | None = None,
        *,
        follow_mimics: bool = True,
        space: JointSpace | None = None,
    ) -> None:
        """Prepare for the joints named, in this order; by default for all joints of the model, index = joint index.

        A caller that has the joint space of `model` gives it as `space`, with its own `follow_mimics`.

        Raises:
            UnknownNameError: `model` does not have a joint.
        """
        self.space = JointSpace(model, follow_mimics=follow_mimics) if space is None else space
        self.joints: tuple[JointModel, ...] = (
            model.joints if joints is None else tuple(model.joint(name) for name in joints)
        )
        origins = origins_of(self.joints)
        self._origins = origins
        self._flat = origins.reshape(-1, 16)
        self.turning = TurningJoints.of(self.space, self.joints, origins)
        self.sliding = SlidingJoints.of(self.space, self.joints, origins)
        self._planar = PlanarJoints.of(self.space, self.joints, origins)
        self._floating = FloatingJoints.of(self.space, self.joints, origins)

    def matrices(self, q: npt.ArrayLike) -> FloatArray:
        """Return (..., n, 4, 4) poses of the child links in their parent links, read-only.

        Index 0, the root joint, is the pose of the root link in the virtual joint's parent frame.

        Args:
            q: (..., size) joint positions [rad, m].

        Raises:
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        positions = self.space.checked_positions(q)
        out = np.empty((*positions.shape[:-1], *self._flat.shape))
        out[...] = self._flat
        if self.turning is not None:
            rows, angle = self.turning.rows, self.turning.values(positions)[..., np.newaxis]
            turned = np.sin(angle) * self.turning.sine
            turned += (1.0 - np.cos(angle)) * self.turning.versine
            turned += self.turning.constant
            out[..., rows, :] = turned
        result = out.reshape(*out.shape[:-1], 4, 4)
        self._write_others(positions, result)
        result.setflags(write=False)
        return result

    def numbers(self, q: FloatArray) -> FloatArray:
        """Return (n, 3, 4, m) the first three rows of `matrices` for finite `q` (m, size).

        Each number is a row over all configurations: for a thousand of them this takes a third of the time.
        """
        out = np.empty((len(self.joints), 3, 4, len(q)))
        out[...] = self._origins[:, :3, :, np.newaxis]
        if self.turning is not None:
            angles = self.turning.values(q).T
            terms = np.stack((np.ones(angles.shape), np.sin(angles), 1.0 - np.cos(angles)), axis=1)
            out[self.turning.rows] = (self.turning.factors @ terms).reshape(len(terms), 3, 4, len(q))
        self._write_others(q, out.transpose(3, 0, 1, 2))
        return out

    def _write_others(self, positions: FloatArray, matrices: FloatArray) -> None:
        """Write what is not the rotation of a turning joint into `matrices` (..., n, 3 or 4, 4)."""
        self._translate(positions, matrices[..., :3, 3])
        if self._floating is not None:
            rotations = self._floating.R_parent_joint @ matrix_from_quat(self._floating.quats(positions))
            matrices[..., self._floating.rows, :3, :3] = rotations

    def transforms(self, q: npt.ArrayLike) -> FloatArray:
        """Return (..., n, 7) poses of the child links in their parent links as x y z qx qy qz qw, read-only.

        Quaternions have length 1 and the sign that makes them continuous in q.

        Args:
            q: (..., size) joint positions [rad, m].

        Raises:
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        positions = self.space.checked_positions(q)
        out = np.empty((*positions.shape[:-1], *self._poses.shape))
        out[...] = self._poses
        if self.turning is not None:
            half = 0.5 * self.turning.values(positions)[..., np.newaxis]
            turned = np.cos(half) * self.turning.quat_parent_joint
            turned += np.sin(half) * self.turning.quat_sine
            out[..., self.turning.rows, 3:] = turned
        self._translate(positions, out[..., :3])
        if self._floating is not None:
            quats = quat_multiply(self._floating.quat_parent_joint, self._floating.quats(positions))
            out[..., self._floating.rows, 3:] = quats
        out.setflags(write=False)
        return out

    def twists(self, q: npt.ArrayLike, v: npt.ArrayLike) -> FloatArray:
        """Return (..., n, 6) velocities of the child links relative to their parent links, read-only.

        Each is vx vy vz wx wy wz [m/s, rad/s]: at the child link's origin, in the child link's axes. Index 0, the root
        joint, is the velocity of the root link relative to the virtual joint's parent frame.

        Args:
            q: (..., size) joint positions [rad, m].
            v: (..., velocity_size) joint velocities [rad/s, m/s]; mimic joints follow their leaders.

        Raises:
            ArrayError: `q` or `v` has the wrong shape or is not finite, or `q` has a quaternion of zeros.
        """
        positions = self.space.checked_positions(q)
        velocities = self.space.velocity_mimics.followed(self.space.checked_velocities(v))
        shape = np.broadcast_shapes(positions.shape[:-1], velocities.shape[:-1])
        out = np.zeros((*shape, len(self.joints), 6))
        single = self._single
        # The joint's axis has the same components in the child's axes: motion about or along it does not change them.
        out[..., single.rows, :] = velocities[..., single.velocity, np.newaxis] * single.twist
        if self._several:
            rows = [row for row, _, _ in self._several]
            R_child_parent = np.swapaxes(self.matrices(positions)[..., rows, :3, :3], -1, -2)
            R_child_joint = R_child_parent @ self._origins[rows, :3, :3]
            for k, (row, at, subspace) in enumerate(self._several):
                twist = (subspace @ velocities[..., at, np.newaxis])[..., 0]
                for half in (slice(0, 3), slice(3, 6)):
                    out[..., row, half] = (R_child_joint[..., k, :, :] @ twist[..., half, np.newaxis])[..., 0]
        out.setflags(write=False)
        return out

    @cached_property
    def _poses(self) -> FloatArray:
        """The joints' origins as (n, 7) poses."""
        return xyz_quat_from_matrix(self._origins)

    @cached_property
    def _single(self) -> SingleVelocityJoints:
        """The joints with one degree of freedom."""
        return SingleVelocityJoints.of(self.space, self.joints)

    @cached_property
    def _several(self) -> list[tuple[int, slice, FloatArray]]:
        """The joints with several degrees of freedom."""
        return several_velocities(self.space, self.joints)

    def _translate(self, positions: FloatArray, xyz: FloatArray) -> None:
        """Write the translations of the moving joints into `xyz` (..., n, 3)."""
        if self.sliding is not None:
            xyz[..., self.sliding.rows, :] = self.sliding.translation(positions)
        if self._planar is not None:
            xyz[..., self._planar.rows, :] = self._planar.translation(positions)
        if self._floating is not None:
            xyz[..., self._floating.rows, :] = self._floating.translation(positions)


IndexArray = npt.NDArray[np.intp]
StagingArray = Callable[[IndexArray], FloatArray]


class InPlaceTransforms:
    """``T_parent_child`` of chosen joints as x y z [m] and quaternion x y z w, overwritten by each update.

    For loops at 1 kHz; `LocalTransforms` is the general form. This one has no batches, no checks and no new arrays. It
    takes mimic joints from `q`, which for a measured configuration is correct.

    In such a loop the processor's caches are full of other data. The cost is the amount of code and memory that a call
    touches, not the computation: use few, repeated numpy functions on one-dimensional arrays, which numpy handles
    fastest.

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
        input_map: Affine | None = None,
    ) -> None:
        """Prepare for the joints with these indices in the model.

        Results are written to the flat array `values`, if given; `places` (n, 7) has the index of each number in it.
        With `staging_array`, rotating numbers are written to the array that it returns for their places instead; the
        caller then processes them together with others. `input_map` converts the input of `update` to a configuration
        in the order of `JointSpace`; by default it is one.
        """
        space = JointSpace.of(model)
        input_map = input_map or Affine.identity(space.size)
        chosen = [model.joints[index] for index in joints]
        count = len(chosen)
        origins = origins_of(chosen)
        poses = np.array(xyz_quat_from_matrix(origins), np.float64).reshape(-1, 7)
        self.values: FloatArray = np.zeros(7 * count) if values is None else values
        entries = np.arange(7 * count).reshape(-1, 7) if places is None else places
        # Constant numbers are written once, here.
        self.values[entries] = poses
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
        self.values[entries[turning, 3:][~moves]] = 0.0
        variables = np.repeat(variables, 4).reshape(-1, 4)[moves]
        self._take_from = input_map.source[variables]
        self._factor = 0.5 * input_map.factor[variables]
        self._phase = phase[moves] + 0.5 * input_map.offset[variables]
        self._amplitude = amplitude[moves]
        to = entries[turning, 3:][moves]
        self._scatter_to = None if staging_array is not None else to
        self._angles = np.zeros(len(to))
        self._turned = self._angles if staging_array is None else staging_array(to)

        sliding = [row for row, joint in enumerate(chosen) if joint.motion.slides]
        variables = np.array([starts[row] for row in sliding], np.intp)
        direction = np.array([origins[row, :3, :3] @ chosen[row].axis for row in sliding]).reshape(-1, 3)
        self._sliding_from = input_map.source[variables]
        self._sliding_to = entries[sliding, :3]
        self._zero = poses[sliding, :3] + input_map.offset[variables, np.newaxis] * direction
        self._direction = input_map.factor[variables, np.newaxis] * direction

        # The other joints are handled singly, each with a matrix for translation; floating joints also have one for
        # rotation.
        self._planar = [
            (
                entries[row, :3],
                input_map[starts[row] : starts[row] + 2],
                poses[row, :3],
                origins[row, :3, :3] @ plane_axes(joint.axis),
            )
            for row, joint in enumerate(chosen)
            if joint.motion.is_planar
        ]
        self._floating = [
            (
                entries[row],
                input_map[starts[row] : starts[row] + 7],
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
