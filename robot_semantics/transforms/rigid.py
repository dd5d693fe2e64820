# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rigid transforms as (..., 4, 4) matrices and as (..., 7) poses x y z qx qy qz qw.

``T_a_b`` is the pose of frame b in frame a: it maps coordinates in b to coordinates in a; ``T_a_c = T_a_b @ T_b_c``.
Lengths are in metres. NaN, infinities and wrong shapes raise `ArrayError` in every function.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_semantics.transforms.arrays import FloatArray, checked_array
from robot_semantics.transforms.rotations import (
    matrix_from_quat,
    matrix_from_rpy,
    quat_angle,
    quat_from_matrix,
    rpy_from_matrix,
)
from robot_semantics.transforms.rows import into_axes, out_of_axes, twist_at


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
