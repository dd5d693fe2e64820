# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Equations of loop constraints and their derivatives, for any number of configurations.

Each constraint has a frame A on its parent link and a frame B on its child link. Both frames are rotated so that their
x axis is the constraint's axis. The error of a constraint has six numbers in the axes of A: the position of B [m] and a
rotation vector [rad]. Its type selects the numbers that must be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.motions import SUBSPACE, cross_matrix
from robot_semantics.model.constraints import ConstraintType, LoopConstraint
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import cross, quat_from_matrix, rotation_from_z, rotvec_from_quat
from robot_semantics.transforms.arrays import FloatArray

# Products of poses along chains of links, with few numpy calls.


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


IndexArray = npt.NDArray[np.intp]

RANK_TOLERANCE = 1e-4
"""Smallest singular value that counts, in parts of the largest; descriptions have angles such as 1.5708."""
SAMPLES = 8
"""Number of random configurations that show which equations depend on the joints."""

_ROWS = {
    ConstraintType.REVOLUTE: (0, 1, 2, 4, 5),
    ConstraintType.PRISMATIC: (1, 2, 3, 4, 5),
    ConstraintType.UNIVERSAL: (0, 1, 2, 3),
    ConstraintType.SPHERICAL: (0, 1, 2),
    ConstraintType.LINK: (0, 1, 2, 3, 4, 5),
}
"""The numbers of the error that are zero in a closed loop.

Number 3 of a universal joint is the difference of its axes' angle from a right angle.
"""


class LoopState(NamedTuple):
    """The links of the loops in one or more configurations.

    Attributes:
        poses: (..., n, 4, 4) poses of the links in the lowest link above all of them.
        T_a_b: (..., constraints, 3, 4) pose of each frame B in frame A.
        errors: (..., constraints, 6) errors of the constraints [m, rad].
    """

    poses: FloatArray
    T_a_b: FloatArray
    errors: FloatArray


class LoopEquations:
    """The equations of constraints that share joints.

    Attributes:
        variables: indices in v of the independent joint velocities that the equations depend on.
        local: the transforms of the joints that are below the lowest link above all constraints.
        parents: for this link and for the child link of each of these joints, the number of its parent link among them.
        rows: (rows, 6 constraints) combinations of errors that the joints can change, without a unit.
        length: size of the loops [m]; errors of position are divided by it where they are compared with angles.
    """

    def __init__(self, model: RobotModel, space: JointSpace, constraints: Sequence[LoopConstraint]) -> None:
        self.constraints = tuple(constraints)
        ends = [(model.link_index[c.parent_link], model.link_index[c.child_link]) for c in constraints]
        paths = [(model.to_root(parent), model.to_root(child)) for parent, child in ends]
        base = max(set.intersection(*(set(path) for pair in paths for path in pair)))
        below = sorted({link for pair in paths for path in pair for link in path if link > base})
        slot = {base: 0} | {link: k for k, link in enumerate(below, 1)}
        self.local = LocalTransforms(model, [model.joints[link].name for link in below], space=space)
        self.parents = [-1, *(slot[model.links[link].parent] for link in below)]
        self._doublings = doublings(self.parents)
        self._a = np.array([slot[parent] for parent, _ in ends])
        self._b = np.array([slot[child] for _, child in ends])
        self._prepare_rows()
        self._prepare_columns(model, space, below, slot, paths)
        translations = [*self._frames_a[:, :3, 3], *self._frames_b[:, :3, 3]]
        translations += [model.joints[link].T_parent_joint[:3, 3] for link in below]
        self.length = max(float(np.abs(translations).max()), 1e-6)
        without_unit = np.tile(np.repeat((1.0 / self.length, 1.0), 3), len(self.constraints))
        self.rows = np.diag(without_unit)[self._wanted.ravel() > 0.0]
        self._drop_dependent_rows(space)

    def _prepare_rows(self) -> None:
        """Prepare the frames of the constraints, and the numbers that must be zero."""
        frames = [_frames(constraint) for constraint in self.constraints]
        self._frames_a = np.array([a for a, _ in frames])
        self._frames_b = np.array([b for _, b in frames])
        types = [constraint.type for constraint in self.constraints]
        self._turning = _which(types, ConstraintType.REVOLUTE)
        self._crossed = _which(types, ConstraintType.UNIVERSAL)
        self._fixed = _which(types, ConstraintType.LINK, ConstraintType.PRISMATIC)
        rows = [6 * k + row for k, kind in enumerate(types) for row in _ROWS[kind]]
        self._wanted = np.zeros((len(types), 6))
        self._wanted.flat[rows] = 1.0

    def _prepare_columns(
        self,
        model: RobotModel,
        space: JointSpace,
        below: list[int],
        slot: dict[int, int],
        paths: list[tuple[list[int], list[int]]],
    ) -> None:
        """Prepare one column of the derivative for each velocity of each joint that moves A relative to B."""
        frames, origins, motions, sources, factors, signs = [], [], [], [], [], []
        for link in below:
            joint = model.joints[link]
            sign = [(link in to_child) - (link in to_parent) for to_parent, to_child in paths]
            if not joint.velocity_count or not any(sign):
                continue
            linear, angular = SUBSPACE[joint.type](joint)
            # One axis has the same direction in the child's axes; several axes are those of the joint's origin.
            single = joint.velocity_count == 1
            R = np.eye(3) if single else joint.T_parent_joint[:3, :3]
            for k, velocity in enumerate(range(*space.velocities_of(joint).indices(space.velocity_size))):
                frames.append(slot[link] if single else slot[model.links[link].parent])
                origins.append(slot[link])
                motions.append(np.stack((R @ linear[:, k], R @ angular[:, k]), axis=-1))
                sources.append(int(space.velocity_mimics.source[velocity]))
                factors.append(float(space.velocity_mimics.factor[velocity]))
                signs.append(sign)
        self.variables = np.array(sorted(set(sources)), dtype=np.intp)
        self._column_frames, self._column_origins = np.array(frames, np.intp), np.array(origins, np.intp)
        self._motions = np.array(motions).reshape(-1, 3, 2)
        self._signs = np.array(signs, dtype=np.float64).reshape(-1, len(self.constraints)).T[:, np.newaxis]
        self._by_variable = np.zeros((len(sources), len(self.variables)))
        self._by_variable[np.arange(len(sources)), np.searchsorted(self.variables, sources)] = factors

    def _drop_dependent_rows(self, space: JointSpace) -> None:
        """Keep only combinations of rows that the joints can change: of a planar loop, those in its plane.

        The others are constant; `residuals` includes them.
        """
        some = self.state(space.random(np.random.default_rng(0), (SAMPLES,)))
        J = np.moveaxis(self.derivative(some), 0, 1).reshape(len(self.rows), -1)
        U, values, _ = np.linalg.svd(J, full_matrices=False)
        self.rows = U[:, values > RANK_TOLERANCE * values.max(initial=0.0)].T @ self.rows

    def state(self, q: FloatArray) -> LoopState:
        """Return the links' poses and the errors at `q` (..., size)."""
        local = self.local.matrices(q)
        poses = np.empty((*local.shape[:-3], local.shape[-3] + 1, 4, 4))
        poses[..., 0, :, :] = np.eye(4)
        poses[..., 1:, :, :] = local
        for links, above in self._doublings:
            poses[..., links, :, :] = poses[..., above, :, :] @ poses[..., links, :, :]
        A = poses[..., self._a, :, :] @ self._frames_a
        apart = (poses[..., self._b, :, :] @ self._frames_b)[..., :3, :]
        apart[..., 3] -= A[..., :3, 3]
        T_a_b = np.swapaxes(A[..., :3, :3], -1, -2) @ apart
        errors = np.zeros((*T_a_b.shape[:-2], 6))
        errors[..., :3] = T_a_b[..., 3]
        if self._turning.size:
            errors[..., self._turning, 4:] = _axis_errors(T_a_b[..., 0][..., self._turning, :])
        if self._crossed.size:
            errors[..., self._crossed, 3] = np.arcsin(np.clip(T_a_b[..., 0, 0][..., self._crossed], -1.0, 1.0))
        if self._fixed.size:
            errors[..., self._fixed, 3:] = rotvec_from_quat(quat_from_matrix(T_a_b[..., self._fixed, :, :][..., :3]))
        return LoopState(poses, T_a_b, errors)

    def origins(self, q: FloatArray) -> FloatArray:
        """Return (..., points, 3) the origins of the links and of the frames A and B at `q` (..., size) [m]."""
        poses = self.state(q).poses
        ends = [poses[..., at, :, :] @ frames for at, frames in ((self._a, self._frames_a), (self._b, self._frames_b))]
        return np.concatenate((poses, *ends), axis=-3)[..., :3, 3]

    @property
    def ends(self) -> list[tuple[int, FloatArray, int, FloatArray]]:
        """For each constraint the number of its parent link, A in this link, the number of its child link, and B."""
        return list(zip(self._a.tolist(), self._frames_a, self._b.tolist(), self._frames_b, strict=True))

    def scaled_errors(self, state: LoopState) -> FloatArray:
        """Return (..., rows) the errors without a unit, only those that the joints can change."""
        flat = state.errors.reshape(*state.errors.shape[:-2], self.rows.shape[1])
        scaled: FloatArray = (self.rows @ flat[..., np.newaxis])[..., 0]
        return scaled

    def derivative(self, state: LoopState) -> FloatArray:
        """Return (..., rows, variables) the derivative of `scaled_errors` by the independent joint velocities.

        It is exact where the errors are zero.
        """
        poses = state.poses
        lines = poses[..., self._column_frames, :3, :3] @ self._motions
        angular = lines[..., 1]
        moment = lines[..., 0] + cross(poses[..., :3, 3][..., self._column_origins, :], angular)
        A = poses[..., self._a, :3, :3] @ self._frames_a[:, :3, :3]
        R = np.swapaxes(A, -1, -2)
        B = poses[..., self._b, :, :] @ self._frames_b
        # Velocity at the origin of B of every column, in the axes of A: R (moment - p x angular) and R angular.
        columns = np.swapaxes(np.concatenate((moment, angular), axis=-1), -1, -2)
        to_a = np.zeros((*R.shape[:-2], 6, 6))
        to_a[..., :3, :3] = to_a[..., 3:, 3:] = R
        to_a[..., :3, 3:] = -R @ cross_matrix(B[..., :3, 3])
        J = to_a @ columns[..., np.newaxis, :, :] * self._signs
        if self._crossed.size:
            b = state.T_a_b[..., 0][..., self._crossed, :, np.newaxis]
            turned = J[..., self._crossed, :, :]
            J[..., self._crossed, 3, :] = b[..., 2, :] * turned[..., 4, :] - b[..., 1, :] * turned[..., 5, :]
        scaled: FloatArray = self.rows @ J.reshape(*J.shape[:-3], self.rows.shape[1], J.shape[-1]) @ self._by_variable
        return scaled

    def residuals(self, state: LoopState) -> tuple[FloatArray, FloatArray]:
        """Return the largest distance (...) [m] and the largest angle (...) [rad] by which a constraint is open."""
        errors = state.errors * self._wanted
        norms = np.linalg.norm(errors.reshape(*errors.shape[:-1], 2, 3), axis=-1)
        largest = norms.max(axis=-2, initial=0.0)
        return largest[..., 0], largest[..., 1]


def _frames(constraint: LoopConstraint) -> tuple[FloatArray, FloatArray]:
    """Return (4, 4) the frames A and B, with the constraint's axis as their x axis."""
    other = constraint.child_axis if constraint.type is ConstraintType.UNIVERSAL else constraint.parent_axis
    frames = []
    for frame, axis in ((constraint.T_parent_frame, constraint.parent_axis), (constraint.T_child_frame, other)):
        turned = np.array(frame)
        if constraint.type not in (ConstraintType.SPHERICAL, ConstraintType.LINK):
            turned[:3, :3] = frame[:3, :3] @ rotation_from_z(axis)[:, [2, 0, 1]]
        frames.append(turned)
    return frames[0], frames[1]


def _which(types: list[ConstraintType], *wanted: ConstraintType) -> IndexArray:
    return np.array([k for k, kind in enumerate(types) if kind in wanted], dtype=np.intp)


def _axis_errors(b: FloatArray) -> FloatArray:
    """Return (..., 2) the y and z component of the rotation vector from the x axis to `b` (..., 3)."""
    sine = np.hypot(b[..., 1], b[..., 2])
    angle = np.arctan2(sine, b[..., 0])
    # Opposite axes have no direction of their own: any rotation by half a turn about y or z will do.
    safe = np.where(sine > 0.0, sine, 1.0)
    y = np.where(sine > 0.0, -b[..., 2] * (angle / safe), angle)
    return np.stack((y, b[..., 1] * (angle / safe)), axis=-1)
