# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rigid transforms as (..., 4, 4) matrices and as (..., 7) poses x y z qx qy qz qw; twists and wrenches as rows.

``T_a_b`` is the pose of frame b in frame a: it maps coordinates in b to coordinates in a; ``T_a_c = T_a_b @ T_b_c``.
Lengths are in metres. A twist is vx vy vz wx wy wz, a wrench is fx fy fz tx ty tz.

The functions of matrices and poses raise `ArrayError` for NaN, infinities and wrong shapes. Those of rows check no
arguments: an unknown value is NaN and makes the result NaN.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_semantics.transforms.arrays import BoolArray, FloatArray, checked_array
from robot_semantics.transforms.rotations import (
    cross,
    matrix_from_quat,
    matrix_from_rpy,
    quat_angle,
    quat_conjugate,
    quat_from_matrix,
    quat_multiply,
    quat_rotate,
    quat_slerp,
    rpy_from_matrix,
)


def matrix_from_rotation(R: npt.ArrayLike, xyz: npt.ArrayLike = (0.0, 0.0, 0.0)) -> FloatArray:
    """Return (..., 4, 4) transforms of rotations (..., 3, 3) and translations (..., 3) [m]."""
    rotation, translation = checked_array("R", R, 3, 3), checked_array("xyz", xyz, 3)
    T = np.zeros((*np.broadcast_shapes(rotation.shape[:-2], translation.shape[:-1]), 4, 4))
    T[..., :3, :3] = rotation
    T[..., :3, 3] = translation
    T[..., 3, 3] = 1.0
    return T


def matrix_from_xyz_rpy(xyz: npt.ArrayLike, rpy: npt.ArrayLike) -> FloatArray:
    """Return (..., 4, 4) transforms of translations (..., 3) [m] and roll, pitch, yaw (..., 3) [rad], fixed axes."""
    return matrix_from_rotation(matrix_from_rpy(rpy), xyz)


def matrix_from_xyz_quat(xyz: npt.ArrayLike, quat_xyzw: npt.ArrayLike) -> FloatArray:
    """Return (..., 4, 4) transforms of translations (..., 3) [m] and quaternions (..., 4), which are normalised."""
    return matrix_from_rotation(matrix_from_quat(quat_xyzw), xyz)


def matrix_from_pose(xyz_quat: npt.ArrayLike) -> FloatArray:
    """Return (..., 4, 4) transforms of poses (..., 7) x y z qx qy qz qw; the inverse of `xyz_quat_from_matrix`."""
    pose = checked_array("xyz_quat", xyz_quat, 7)
    return matrix_from_xyz_quat(pose[..., :3], pose[..., 3:])


def xyz_quat_from_matrix(T: npt.ArrayLike) -> FloatArray:
    """Return (..., 7) poses x y z qx qy qz qw, qw >= 0, of (..., 4, 4) transforms."""
    matrix = checked_array("T", T, 4, 4)
    return np.concatenate((matrix[..., :3, 3], quat_from_matrix(matrix[..., :3, :3])), axis=-1)


def xyz_rpy_from_matrix(T: npt.ArrayLike) -> FloatArray:
    """Return (..., 6) x y z roll pitch yaw [m, rad] of (..., 4, 4) transforms; see `rpy_from_matrix`."""
    matrix = checked_array("T", T, 4, 4)
    return np.concatenate((matrix[..., :3, 3], rpy_from_matrix(matrix[..., :3, :3])), axis=-1)


def invert(T: npt.ArrayLike) -> FloatArray:
    """Return (..., 4, 4) inverses of transforms: ``T_b_a`` of ``T_a_b``."""
    matrix = checked_array("T", T, 4, 4)
    rotation = np.swapaxes(matrix[..., :3, :3], -1, -2)
    inverse = np.zeros(matrix.shape)
    inverse[..., :3, :3] = rotation
    inverse[..., :3, 3] = -(rotation @ matrix[..., :3, 3, np.newaxis])[..., 0]
    inverse[..., 3, 3] = 1.0
    return inverse


def compose(A: npt.ArrayLike, B: npt.ArrayLike) -> FloatArray:
    """Return (..., 4, 4) products ``A @ B``: ``T_a_c`` of ``T_a_b`` and ``T_b_c``."""
    product: FloatArray = checked_array("A", A, 4, 4) @ checked_array("B", B, 4, 4)
    return product


def transform_distance(A: npt.ArrayLike, B: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the distance (...) [m] and the rotation angle (...) [rad] between two transforms (..., 4, 4).

    The distance is infinite if it is too large for a float.
    """
    one, other = np.asarray(A, np.float64), np.asarray(B, np.float64)
    off = np.asarray(np.linalg.norm(one[..., :3, 3] - other[..., :3, 3], axis=-1))
    return off, quat_angle(quat_from_matrix(one[..., :3, :3]), quat_from_matrix(other[..., :3, :3]))


def transform_points(T: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Return (..., 3) coordinates in frame a of `points` (..., 3) given in frame b, with ``T = T_a_b`` (..., 4, 4)."""
    matrix, point = checked_array("T", T, 4, 4), checked_array("points", points, 3)
    return (matrix[..., :3, :3] @ point[..., np.newaxis])[..., 0] + matrix[..., :3, 3]


# Twists and wrenches between frames.


def transport_twist(T_a_b: npt.ArrayLike, twist_a: npt.ArrayLike) -> FloatArray:
    """Return the twist of a body at frame b instead of frame a; both frames are fixed to the body.

    Args:
        T_a_b: (..., 4, 4) pose of b in a.
        twist_a: (..., 6) twist at a's origin in a's axes.

    Returns:
        (..., 6) twist at b's origin in b's axes.
    """
    T, twist = checked_array("T_a_b", T_a_b, 4, 4), checked_array("twist_a", twist_a, 6)
    return into_axes(T[..., :3, :3], twist_at(twist, T[..., :3, 3]))


def rotate_twist(R_a_b: npt.ArrayLike, twist_b: npt.ArrayLike) -> FloatArray:
    """Return a twist or wrench (..., 6) in a's axes instead of b's; its point does not change."""
    return out_of_axes(checked_array("R_a_b", R_a_b, 3, 3), checked_array("twist_b", twist_b, 6))


def compose_twists(
    T_a_b: npt.ArrayLike, twist_a_b: npt.ArrayLike, T_b_c: npt.ArrayLike, twist_b_c: npt.ArrayLike
) -> FloatArray:
    """Return the motion of c relative to a from the motions of b relative to a and of c relative to b.

    ``twist_a_b`` is the velocity of b's origin relative to a, and b's angular velocity relative to a, in a's axes.

    Args:
        T_a_b: (..., 4, 4) pose of b in a.
        twist_a_b: (..., 6) motion of b relative to a, in a's axes.
        T_b_c: (..., 4, 4) pose of c in b.
        twist_b_c: (..., 6) motion of c relative to b, in b's axes.

    Returns:
        (..., 6) motion of c relative to a, in a's axes.
    """
    T1, T2 = checked_array("T_a_b", T_a_b, 4, 4), checked_array("T_b_c", T_b_c, 4, 4)
    outer, inner = checked_array("twist_a_b", twist_a_b, 6), checked_array("twist_b_c", twist_b_c, 6)
    R_a_b = T1[..., :3, :3]
    offset = (R_a_b @ T2[..., :3, 3, np.newaxis])[..., 0]
    return twist_at(outer, offset) + out_of_axes(R_a_b, inner)


def invert_twist(T_a_b: npt.ArrayLike, twist_a_b: npt.ArrayLike) -> FloatArray:
    """Return the motion (..., 6) of a relative to b, in b's axes, from the motion of b relative to a, in a's axes."""
    T, twist = checked_array("T_a_b", T_a_b, 4, 4), checked_array("twist_a_b", twist_a_b, 6)
    return -into_axes(T[..., :3, :3], twist_at(twist, -T[..., :3, 3]))


IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

UNIT_TOLERANCE = 1e-9
"""How far from 1 a quaternion's length, or its square, may be to count as 1."""

TF2_TOLERANCE = 0.01
"""How far from 1 the square of a quaternion's length may be in a transform: the limit in the source of tf2.

tf2 normalises the quaternion of a message before it applies the limit. So it uses any quaternion except zero."""

LARGEST = 1e10
"""Largest number of a world state [m, rad, their rates, N, N m]. MuJoCo treats a larger one as a divergence
(mjMAXVAL)."""

SMALL_ANGLE = 1e-7
"""Below this angle [rad] the chord is the arc, to the last bit."""


def usable_poses(xyz_quat: FloatArray) -> BoolArray:
    """Return (...) whether poses (..., 7) x y z qx qy qz qw are finite, near enough, and not ignored by tf2."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.square(xyz_quat)
        is_near = squares[..., :3].sum(axis=-1) <= LARGEST**2
        usable: BoolArray = is_near & (np.abs(squares[..., 3:].sum(axis=-1) - 1.0) <= TF2_TOLERANCE)
    return usable


def compose_poses(T_a_b: FloatArray, T_b_c: FloatArray) -> FloatArray:
    """Return T_a_c (n, 7) of T_a_b and T_b_c (n, 7), each x y z qx qy qz qw; NaN where either has NaN."""
    known = ~(np.isnan(T_a_b).any(axis=1) | np.isnan(T_b_c).any(axis=1))
    result = np.full(T_a_b.shape, np.nan)
    outer, inner = (T_a_b, T_b_c) if known.all() else (T_a_b[known], T_b_c[known])
    result[known, :3] = outer[:, :3] + quat_rotate(outer[:, 3:], inner[:, :3])
    result[known, 3:] = quat_multiply(outer[:, 3:], inner[:, 3:])
    return result


def invert_poses(T_a_b: FloatArray) -> FloatArray:
    """Return T_b_a (n, 7) of T_a_b (n, 7), each x y z qx qy qz qw; NaN where that has NaN."""
    known = ~np.isnan(T_a_b).any(axis=1)
    result = np.full(T_a_b.shape, np.nan)
    back = quat_conjugate(T_a_b[known, 3:])
    result[known, 3:] = back
    result[known, :3] = -quat_rotate(back, T_a_b[known, :3])
    return result


def blend_poses(first: FloatArray, second: FloatArray, share: FloatArray) -> FloatArray:
    """Return what lies between poses (n, 7) by shares (n, 1): straight in place, the short way round in turn."""
    result = np.empty_like(first)
    result[:, :3] = first[:, :3] * (1.0 - share) + second[:, :3] * share
    result[:, 3:] = slerp_rows(first[:, 3:], second[:, 3:], share[:, 0])
    return result


def slerp_rows(a: FloatArray, b: FloatArray, share: FloatArray) -> FloatArray:
    """Interpolate unit quaternions (n, 4): what `quat_slerp` does, less its checks, which take most of its time."""
    dot = np.einsum("ni,ni->n", a, b)
    lengths = np.einsum("ni,ni->n", a, a), np.einsum("ni,ni->n", b, b)
    if any((np.abs(length - 1.0) > UNIT_TOLERANCE).any() for length in lengths):
        return quat_slerp(a, b, share)
    theta = np.arccos(np.minimum(np.abs(dot), 1.0))
    sine = np.sin(theta)
    close = sine < SMALL_ANGLE
    sine[close] = 1.0
    first, second = np.sin((1.0 - share) * theta) / sine, np.sin(share * theta) / sine
    first[close], second[close] = 1.0 - share[close], share[close]
    # The short way: q and -q are the same rotation.
    second = np.copysign(second, dot)
    result: FloatArray = first[:, np.newaxis] * a + second[:, np.newaxis] * b
    return result


def twist_at(twist: FloatArray, offset: FloatArray) -> FloatArray:
    """Return twists (..., 6) of bodies at other points; each is `offset` (..., 3) from the twist's own point.

    The axes do not change.
    """
    result = _broadcast(twist, offset)
    result[..., :3] += cross(result[..., 3:], offset)
    return result


def wrench_about(wrench: FloatArray, offset: FloatArray) -> FloatArray:
    """Return wrenches (..., 6) about other points; each is `offset` (..., 3) from the wrench's own point.

    The axes do not change.
    """
    result = _broadcast(wrench, offset)
    result[..., 3:] += cross(result[..., :3], offset)
    return result


def into_axes(R_world_axes: FloatArray, rows: FloatArray) -> FloatArray:
    """Return twists or wrenches (..., 6) in the axes of rotations (..., 3, 3) instead of the world's axes."""
    turned: FloatArray = rows.reshape(*rows.shape[:-1], 2, 3) @ R_world_axes
    return turned.reshape(*turned.shape[:-2], 6)


def out_of_axes(R_world_axes: FloatArray, rows: FloatArray) -> FloatArray:
    """Return twists or wrenches (..., 6) in the world's axes instead of the axes of rotations (..., 3, 3)."""
    return into_axes(np.swapaxes(R_world_axes, -1, -2), rows)


def _broadcast(rows: FloatArray, offset: FloatArray) -> FloatArray:
    return np.array(np.broadcast_to(rows, (*np.broadcast_shapes(rows.shape[:-1], offset.shape[:-1]), 6)))
