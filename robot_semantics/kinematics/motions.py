# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Constants for numpy of the joint types' motions: one block for all joints of a kind.

``T_parent_child(q) = T_parent_joint @ motion(q)``. With ``R0, t0`` of the joint's origin and the cross product matrix K
of its axis, rotation gives ``R = R0 + sin(θ) R0 K + (1 - cos(θ)) R0 K²``, translation ``t = t0 + R0 axis q``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.joint_types import JointQuantity, JointType, Motion
from robot_semantics.model.robot_model import JointModel
from robot_semantics.transforms import quat_from_matrix, quat_multiply, quat_normalize, rotation_from_z, wrapped_angles
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import slerp_rows

IndexArray = npt.NDArray[np.intp]
Rows = slice | IndexArray


def turns(joint: JointModel, at: int) -> bool:
    """Return True if variable number `at` of a joint is an angle, which a pose determines except for whole turns."""
    return joint.motion.quantities[at] is JointQuantity.ANGLE


def plane_axes(joint: JointModel) -> FloatArray:
    """Return (3, 2) the x and y axis of a planar joint's plane in the joint frame.

    They are the joint frame's x and y axis, rotated by the smallest rotation from +Z to the joint's axis. For an axis
    of -Z many rotations are equally small; then it is the half turn about X.
    """
    return rotation_from_z(joint.axis)[:, :2]


def cross_matrix(axis: FloatArray) -> FloatArray:
    """Return (..., 3, 3) K with ``K @ v == cross(axis, v)`` of (..., 3) axes."""
    K = np.zeros((*axis.shape, 3))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        K[..., j, i] = axis[..., k]
        K[..., i, j] = -axis[..., k]
    return K


# Columns: the linear (3, n) and angular (3, n) velocity in the joint frame per unit of each of the joint's velocities.
SUBSPACE: dict[JointType, Callable[[JointModel], tuple[FloatArray, FloatArray]]] = {
    JointType.FIXED: lambda joint: (np.zeros((3, 0)), np.zeros((3, 0))),
    JointType.REVOLUTE: lambda joint: (np.zeros((3, 1)), joint.axis[:, np.newaxis]),
    JointType.CONTINUOUS: lambda joint: (np.zeros((3, 1)), joint.axis[:, np.newaxis]),
    JointType.PRISMATIC: lambda joint: (joint.axis[:, np.newaxis], np.zeros((3, 1))),
    JointType.PLANAR: lambda joint: (
        np.column_stack((plane_axes(joint), np.zeros(3))),
        np.column_stack((np.zeros((3, 2)), joint.axis)),
    ),
    JointType.FLOATING: lambda joint: (np.eye(3, 6), np.eye(3, 6, 3)),
}


class ElementaryMotion(NamedTuple):
    """A motion for which every simulator has a joint type.

    Attributes:
        kind: ``slide``, ``hinge`` or ``ball``.
        axis: (3,) unit axis in the joint frame; +Z for a ball, which has no axis.
    """

    kind: str
    axis: FloatArray

    @property
    def positions(self) -> int:
        """Number of position variables: 1, or 4 for a ball's quaternion."""
        return 4 if self.kind == "ball" else 1


def elementary_motions(joint: JointModel) -> tuple[ElementaryMotion, ...]:
    """Return the slides, then the hinge or ball, that together move like the joint; empty for a fixed joint."""
    linear, angular = SUBSPACE[joint.type](joint)
    slides = [ElementaryMotion("slide", axis) for axis in linear.T if axis.any()]
    turns = [ElementaryMotion("hinge", axis) for axis in angular.T if axis.any()]
    if len(turns) == 3:
        turns = [ElementaryMotion("ball", np.array([0.0, 0.0, 1.0]))]
    return (*slides, *turns)


@dataclass(frozen=True, eq=False)
class JointVariables:
    """Reader of a block's variables in q; mimic joints use their leaders: ``factor * q[..., source] + offset``."""

    source: IndexArray
    factor: FloatArray
    offset: FloatArray
    plain: bool

    @classmethod
    def of(cls, space: JointSpace, variables: npt.ArrayLike) -> JointVariables:
        """Return the reader of `variables`, which are indices in q; results have the same shape."""
        at = np.asarray(variables, dtype=np.intp)
        factor, offset = space.mimics.factor[at], space.mimics.offset[at]
        return cls(space.mimics.source[at], factor, offset, bool((factor == 1.0).all() and (offset == 0.0).all()))

    def __call__(self, q: FloatArray) -> FloatArray:
        """Return the block's variables (..., *shape) from `q` (..., size)."""
        values = q.take(self.source, axis=-1)
        return values if self.plain else self.factor * values + self.offset


@dataclass(frozen=True, eq=False)
class TurningJoints:
    """Revolute and continuous joints, and the rotation of planar ones.

    Attributes:
        rows: their rows in the result.
        angle: reads (..., m) their angles [rad].
        axes: (m, 3) their axes in the joint frames.
        constant: (m, 16) the flattened ``T_parent_joint``.
        sine: (m, 16) the factors of sin(θ).
        versine: (m, 16) the factors of 1 - cos(θ).
    """

    rows: Rows
    angle: JointVariables
    axes: FloatArray
    constant: FloatArray
    sine: FloatArray
    versine: FloatArray

    @classmethod
    def of(cls, space: JointSpace, joints: Sequence[JointModel], T_parent_joint: FloatArray) -> TurningJoints | None:
        """Return the rotating joints of `joints` as one block, with (n, 4, 4) poses; None if none rotates."""
        chosen = [(row, joint) for row, joint in enumerate(joints) if joint.motion.turns]
        if not chosen:
            return None
        rows = _rows(chosen)
        origins = T_parent_joint[rows]
        axes = np.array([joint.axis for _, joint in chosen])
        K = cross_matrix(axes)
        sine, versine = np.zeros_like(origins), np.zeros_like(origins)
        sine[:, :3, :3] = origins[:, :3, :3] @ K
        versine[:, :3, :3] = origins[:, :3, :3] @ K @ K
        return cls(
            rows,
            JointVariables.of(space, [space.positions_of(joint).stop - 1 for _, joint in chosen]),
            axes,
            origins.reshape(-1, 16),
            sine.reshape(-1, 16),
            versine.reshape(-1, 16),
        )

    @cached_property
    def quat_cosine(self) -> FloatArray:
        """The factors (m, 4) of cos(θ/2) in the quaternion."""
        return quat_from_matrix(self.constant.reshape(-1, 4, 4)[:, :3, :3])

    @cached_property
    def quat_sine(self) -> FloatArray:
        """The factors (m, 4) of sin(θ/2) in the quaternion."""
        return quat_multiply(self.quat_cosine, np.pad(self.axes, ((0, 0), (0, 1))))


@dataclass(frozen=True, eq=False)
class SlidingJoints:
    """Prismatic joints.

    Attributes:
        rows: their rows in the result.
        distance: reads (..., m) their distances [m].
        constant: (m, 3) their origins' translation [m].
        direction: (m, 3) their axes in the parent's axes.
    """

    rows: Rows
    distance: JointVariables
    constant: FloatArray
    direction: FloatArray

    @classmethod
    def of(cls, space: JointSpace, joints: Sequence[JointModel], T_parent_joint: FloatArray) -> SlidingJoints | None:
        """Return the sliding joints of `joints` as one block; None if none slides."""
        chosen = [(row, joint) for row, joint in enumerate(joints) if joint.motion.slides]
        if not chosen:
            return None
        rows = _rows(chosen)
        origins = T_parent_joint[rows]
        return cls(
            rows,
            JointVariables.of(space, [space.positions_of(joint).start for _, joint in chosen]),
            origins[:, :3, 3],
            (origins[:, :3, :3] @ np.array([joint.axis for _, joint in chosen])[..., np.newaxis])[..., 0],
        )


@dataclass(frozen=True, eq=False)
class PlanarJoints:
    """Translation of planar joints; their rotation is in `TurningJoints`.

    Attributes:
        rows: their rows in the result.
        xy: reads (..., m, 2) the positions in their planes [m].
        constant: (m, 3) their origins' translation [m].
        axes: (m, 3, 2) the planes' axes in the parent's axes.
    """

    rows: Rows
    xy: JointVariables
    constant: FloatArray
    axes: FloatArray

    @classmethod
    def of(cls, space: JointSpace, joints: Sequence[JointModel], T_parent_joint: FloatArray) -> PlanarJoints | None:
        """Return the planar joints of `joints` as one block; None if none is planar."""
        chosen = [(row, joint) for row, joint in enumerate(joints) if joint.motion.is_planar]
        if not chosen:
            return None
        rows = _rows(chosen)
        origins = T_parent_joint[rows]
        starts = np.array([space.positions_of(joint).start for _, joint in chosen])
        return cls(
            rows,
            JointVariables.of(space, starts[:, np.newaxis] + np.arange(2)),
            origins[:, :3, 3],
            origins[:, :3, :3] @ np.array([plane_axes(joint) for _, joint in chosen]),
        )


@dataclass(frozen=True, eq=False)
class FloatingJoints:
    """Floating joints.

    Attributes:
        rows: their rows in the result.
        variables: reads (..., m, 7) their positions.
        constant: (m, 3) their origins' translation [m].
        R_parent_joint: (m, 3, 3) their origins' rotation.
        quat_parent_joint: (m, 4) the same as quaternions x y z w.
    """

    rows: Rows
    variables: JointVariables
    constant: FloatArray
    R_parent_joint: FloatArray
    quat_parent_joint: FloatArray

    @classmethod
    def of(cls, space: JointSpace, joints: Sequence[JointModel], T_parent_joint: FloatArray) -> FloatingJoints | None:
        """Return the floating joints of `joints` as one block; None if none is floating."""
        chosen = [(row, joint) for row, joint in enumerate(joints) if joint.motion.has_quaternion]
        if not chosen:
            return None
        rows = _rows(chosen)
        origins = T_parent_joint[rows]
        starts = np.array([space.positions_of(joint).start for _, joint in chosen])
        return cls(
            rows,
            JointVariables.of(space, starts[:, np.newaxis] + np.arange(7)),
            origins[:, :3, 3],
            origins[:, :3, :3],
            quat_from_matrix(origins[:, :3, :3]),
        )

    def xyz(self, q: FloatArray) -> FloatArray:
        """Return (..., m, 3) their translations in their joint frames [m]."""
        return self.variables(q)[..., :3]

    def quats(self, q: FloatArray) -> FloatArray:
        """Return (..., m, 4) their unit quaternions x y z w."""
        return quat_normalize(self.variables(q)[..., 3:])


@dataclass(frozen=True, eq=False)
class SingleVelocityJoints:
    """Joints with one degree of freedom.

    Attributes:
        rows: their rows in the result.
        velocity: (m,) indices of their velocities in v.
        twist: (m, 6) their twists in their joint frames at velocity 1.
    """

    rows: IndexArray
    velocity: IndexArray
    twist: FloatArray

    @classmethod
    def of(cls, space: JointSpace, joints: Sequence[JointModel]) -> SingleVelocityJoints:
        """Return the joints of `joints` with one degree of freedom as one block."""
        chosen = [(row, joint) for row, joint in enumerate(joints) if joint.velocity_count == 1]
        return cls(
            np.array([row for row, _ in chosen], dtype=np.intp),
            np.array([space.velocities_of(joint).start for _, joint in chosen], dtype=np.intp),
            np.array([np.concatenate(SUBSPACE[joint.type](joint))[:, 0] for _, joint in chosen]).reshape(-1, 6),
        )


def several_velocities(space: JointSpace, joints: Sequence[JointModel]) -> list[tuple[int, slice, FloatArray]]:
    """Return the row, the slice in v and the (6, n) twists of every joint with n > 1 degrees of freedom."""
    chosen = [(row, joint) for row, joint in enumerate(joints) if joint.velocity_count > 1]
    return [(row, space.velocities_of(joint), np.concatenate(SUBSPACE[joint.type](joint))) for row, joint in chosen]


def _rows(chosen: Sequence[tuple[int, JointModel]]) -> Rows:
    """Return the rows as a slice if they are consecutive, which numpy writes faster."""
    rows = np.array([row for row, _ in chosen], dtype=np.intp)
    if (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


# Joint positions between two rows of positions.


class PositionBlend:
    """Interpolates rows of joint positions.

    Angles without limits and rotations go the short way around. The other variables go straight.
    """

    def __init__(self, motions: Iterable[Motion]) -> None:
        """Take the motions of the joints in the order of their variables in the rows."""
        wraps: list[bool] = []
        quaternions = []
        for motion in motions:
            wraps += motion.wrapping
            if motion.has_quaternion:
                quaternions.append(np.arange(len(wraps) - 4, len(wraps)))
        self._wraps = np.array(wraps, np.bool_)
        self._quaternions = quaternions

    def with_counted_turns(self, counts_turns: Callable[[int], bool]) -> PositionBlend:
        """Return the interpolation in which those angles go straight that count whole turns, by their variables."""
        made = PositionBlend(())
        made._wraps, made._quaternions = self._wraps.copy(), self._quaternions
        for variable in np.flatnonzero(self._wraps).tolist():
            made._wraps[variable] = not counts_turns(variable)
        return made

    def of_columns(self, columns: IntArray) -> PositionBlend:
        """Return the interpolation of rows with only these columns (k,), in this order."""
        made = PositionBlend(())
        made._wraps = self._wraps[columns]
        place = {column: at for at, column in enumerate(columns.tolist())}
        kept = (where.tolist() for where in self._quaternions)
        made._quaternions = [np.array([place[at] for at in where]) for where in kept if place.keys() >= set(where)]
        return made

    def __call__(self, low: FloatArray, high: FloatArray, share: FloatArray) -> FloatArray:
        """Return the rows (n, k) between `low` and `high` (n, k) at the fractions `share` (n, 1); NaN stays NaN."""
        step = high - low
        if self._wraps.any():
            step[:, self._wraps] = wrapped_angles(step[:, self._wraps])
        result: FloatArray = low + share * step
        for where in self._quaternions:
            known = np.flatnonzero(np.isfinite(step[:, where]).all(axis=1))
            cells = np.ix_(known, where)
            result[cells] = slerp_rows(low[cells], high[cells], share[known, 0])
        return result
