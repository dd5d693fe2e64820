# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Constants for numpy of the joint types' motions: one block for all joints of a kind.

``T_parent_child(q) = T_parent_joint @ motion(q)``. With ``R0, t0`` of the joint's origin and the cross product matrix K
of its axis, rotation gives ``R = R0 + sin(θ) R0 K + (1 - cos(θ)) R0 K²``, translation ``t = t0 + R0 axis q``.

The way back for a root: a pose in space as the position of a planar or floating joint, and the part that the joint
cannot take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from robot_semantics.base.record import record
from robot_semantics.kinematics.joint_space import Affine, JointSpace
from robot_semantics.model.joint_types import JointQuantity, JointType, Motion
from robot_semantics.model.robot_model import JointModel
from robot_semantics.transforms import (
    quat_from_matrix,
    quat_from_rotvec,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    rotation_from_z,
    wrapped_angles,
)
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import LARGEST, slerp_rows

IndexArray = npt.NDArray[np.intp]
Rows = slice | IndexArray
BlockType = TypeVar("BlockType", bound="Block")


def origins_of(joints: Iterable[JointModel]) -> FloatArray:
    """Return the (n, 4, 4) poses of the joint frames of n joints in their parent links [m]."""
    # Nearly all joints share the frames of their robot, from which one call takes them.
    taken = [frames.T_parent_joint[_indices(run)] for frames, run in groupby(joints, attrgetter("frames"))]
    return np.concatenate([np.empty((0, 4, 4)), *taken])


def axes_of(joints: Iterable[JointModel]) -> FloatArray:
    """Return the (n, 3) unit axes of n joints in their joint frames."""
    taken = [frames.axes[_indices(run)] for frames, run in groupby(joints, attrgetter("frames"))]
    return np.concatenate([np.empty((0, 3)), *taken])


def _indices(joints: Iterable[JointModel]) -> list[int]:
    return [joint.index for joint in joints]


def turns(joint: JointModel, at: int) -> bool:
    """Return True if variable number `at` of a joint is an angle, which a pose determines except for whole turns."""
    return joint.motion.quantities[at] is JointQuantity.ANGLE


def plane_axes(axis: FloatArray) -> FloatArray:
    """Return (3, 2) the x and y axis of the plane of a planar joint with an `axis` (3,), in the joint frame.

    They are the joint frame's x and y axis, rotated by the smallest rotation from +Z to the joint's axis. For an axis
    of -Z many rotations are equally small; then it is the half turn about X.
    """
    return rotation_from_z(axis)[:, :2]


def cross_matrix(axis: FloatArray) -> FloatArray:
    """Return (..., 3, 3) K with ``K @ v == cross(axis, v)`` of (..., 3) axes."""
    K = np.zeros((*axis.shape, 3))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        K[..., j, i] = axis[..., k]
        K[..., i, j] = -axis[..., k]
    return K


# Products of matrices and vectors of many configurations, with few numpy calls: each number is a row over all of them.


def products(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the products of matrices (k, i, j, n) and (k, j, l, n), in the memory order (k, i, l, n).

    For many configurations, einsum takes a third of the time of stacked matrices; for one, twice the time.
    """
    if a.shape[-1] == b.shape[-1] == 1:
        return np.asarray((a[..., 0] @ b[..., 0])[..., np.newaxis])
    return np.asarray(np.einsum("kijn,kjln->kiln", a, b, order="C"))


def times_constant(a: FloatArray, constant: FloatArray) -> FloatArray:
    """Return (k, i, l, n) the products of matrices (k, i, j, n) and `constant` ones (k, j, l)."""
    return np.asarray(constant.transpose(0, 2, 1)[:, np.newaxis] @ a)


def composed(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return the products of poses (k, 3, 4, n)."""
    poses = products(above[:, :, :3], below)
    poses[:, :, 3] += above[:, :, 3]
    return poses


def crossed(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return (3, ...) the cross products of (3, ...) arrays that broadcast."""
    # With x y z x y z, two slices are the components in cyclic order.
    a, b = np.concatenate((a, a)), np.concatenate((b, b))
    product: FloatArray = a[1:4] * b[2:5]
    product -= a[2:5] * b[1:4]
    return product


# Columns: the linear (3, n) and angular (3, n) velocity in the joint frame per unit of each of the joint's velocities.
SUBSPACE: dict[JointType, Callable[[JointModel], tuple[FloatArray, FloatArray]]] = {
    JointType.FIXED: lambda joint: (np.zeros((3, 0)), np.zeros((3, 0))),
    JointType.REVOLUTE: lambda joint: (np.zeros((3, 1)), joint.axis[:, np.newaxis]),
    JointType.CONTINUOUS: lambda joint: (np.zeros((3, 1)), joint.axis[:, np.newaxis]),
    JointType.PRISMATIC: lambda joint: (joint.axis[:, np.newaxis], np.zeros((3, 1))),
    JointType.PLANAR: lambda joint: (
        np.column_stack((plane_axes(joint.axis), np.zeros(3))),
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


def elementary_motions(joint: JointModel) -> tuple[ElementaryMotion, ...]:
    """Return the slides, then the hinge or ball, that together move like the joint; empty for a fixed joint."""
    linear, angular = SUBSPACE[joint.type](joint)
    slides = [ElementaryMotion("slide", axis) for axis in linear.T if axis.any()]
    turns = [ElementaryMotion("hinge", axis) for axis in angular.T if axis.any()]
    if len(turns) == 3:
        turns = [ElementaryMotion("ball", np.array([0.0, 0.0, 1.0]))]
    return (*slides, *turns)


@record(frozen=True, eq=False)
class Block:
    """Joints that move alike, computed together; a subclass says which joints, and which of their variables it reads.

    Attributes:
        rows: their rows in the result.
        values: reads their variables from q (..., size): (..., m), or (..., m, k) of k variables a joint.
        axes: (m, 3) the joints' axes in the joint frames.
        T_parent_joint: (m, 4, 4) their origins.
    """

    rows: Rows
    values: Affine
    axes: FloatArray
    T_parent_joint: FloatArray

    _holds: ClassVar[attrgetter[bool]]
    _variables: ClassVar[int | slice]

    @classmethod
    def of(
        cls: type[BlockType], space: JointSpace, joints: Sequence[JointModel], T_parent_joint: FloatArray
    ) -> BlockType | None:
        """Return those of `joints` that move so, with (n, 4, 4) poses of all, as one block; None if none does."""
        chosen = [(row, joint) for row, joint in enumerate(joints) if cls._holds(joint.motion)]
        if not chosen:
            return None
        rows = np.array([row for row, _ in chosen], dtype=np.intp)
        positions = (space.positions_of(joint) for _, joint in chosen)
        variables = np.array([range(own.start, own.stop)[cls._variables] for own in positions], dtype=np.intp)
        # Numpy writes consecutive rows faster as a slice.
        consecutive = bool((np.diff(rows) == 1).all())
        return cls(
            slice(int(rows[0]), int(rows[-1]) + 1) if consecutive else rows,
            space.mimics[variables],
            axes_of(joint for _, joint in chosen),
            T_parent_joint[rows],
        )

    @cached_property
    def xyz_parent_joint(self) -> FloatArray:
        """The translation (m, 3) of the origins [m]."""
        return self.T_parent_joint[:, :3, 3]

    @cached_property
    def R_parent_joint(self) -> FloatArray:
        """The rotation (m, 3, 3) of the origins."""
        return self.T_parent_joint[:, :3, :3]

    @cached_property
    def quat_parent_joint(self) -> FloatArray:
        """The rotation (m, 4) of the origins as quaternions x y z w."""
        return quat_from_matrix(self.R_parent_joint)


class TurningJoints(Block):
    """Revolute and continuous joints, and the rotation of planar ones; the values are angles [rad]."""

    _holds = attrgetter("turns")
    _variables = -1

    @cached_property
    def constant(self) -> FloatArray:
        """The flattened origins (m, 16)."""
        return self.T_parent_joint.reshape(-1, 16)

    @cached_property
    def sine(self) -> FloatArray:
        """The factors (m, 16) of sin(θ) in the flattened matrices."""
        return self._flat(self.R_parent_joint @ cross_matrix(self.axes))

    @cached_property
    def versine(self) -> FloatArray:
        """The factors (m, 16) of 1 - cos(θ) in the flattened matrices."""
        K = cross_matrix(self.axes)
        return self._flat(self.R_parent_joint @ K @ K)

    @cached_property
    def factors(self) -> FloatArray:
        """The factors (m, 12, 3) of 1, sin(θ) and 1 - cos(θ) in the first three rows of the matrices."""
        return np.stack((self.constant, self.sine, self.versine), axis=-1)[:, :12]

    @cached_property
    def quat_sine(self) -> FloatArray:
        """The factors (m, 4) of sin(θ/2) in the quaternion; those of cos(θ/2) are `quat_parent_joint`."""
        return quat_multiply(self.quat_parent_joint, np.pad(self.axes, ((0, 0), (0, 1))))

    def _flat(self, rotations: FloatArray) -> FloatArray:
        matrices = np.zeros_like(self.T_parent_joint)
        matrices[:, :3, :3] = rotations
        return matrices.reshape(-1, 16)


class SlidingJoints(Block):
    """Prismatic joints; the values are distances [m]."""

    _holds = attrgetter("slides")
    _variables = 0

    @cached_property
    def direction(self) -> FloatArray:
        """The axes (m, 3) in the parent's axes."""
        return (self.R_parent_joint @ self.axes[..., np.newaxis])[..., 0]

    def translation(self, q: FloatArray) -> FloatArray:
        """Return the translations (..., m, 3) in the parents [m]."""
        return self.xyz_parent_joint + self.values(q)[..., np.newaxis] * self.direction


class PlanarJoints(Block):
    """Translation of planar joints, whose rotation is in `TurningJoints`; the values (..., m, 2) are x and y [m]."""

    _holds = attrgetter("is_planar")
    _variables = slice(2)

    @cached_property
    def plane(self) -> FloatArray:
        """The planes' axes (m, 3, 2) in the parent's axes."""
        planes: FloatArray = self.R_parent_joint @ np.array([plane_axes(axis) for axis in self.axes])
        return planes

    def translation(self, q: FloatArray) -> FloatArray:
        """Return the translations (..., m, 3) in the parents [m]."""
        return self.xyz_parent_joint + (self.plane @ self.values(q)[..., np.newaxis])[..., 0]


class FloatingJoints(Block):
    """Floating joints; the values (..., m, 7) are x y z [m] and a quaternion x y z w."""

    _holds = attrgetter("has_quaternion")
    _variables = slice(7)

    def translation(self, q: FloatArray) -> FloatArray:
        """Return the translations (..., m, 3) in the parents [m]."""
        return self.xyz_parent_joint + (self.R_parent_joint @ self.values(q)[..., :3, np.newaxis])[..., 0]

    def quats(self, q: FloatArray) -> FloatArray:
        """Return (..., m, 4) their unit quaternions x y z w in the joint frames."""
        return quat_normalize(self.values(q)[..., 3:])


@record(frozen=True, eq=False)
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


def pose_from_positions(joint: JointModel, positions: FloatArray) -> FloatArray:
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
