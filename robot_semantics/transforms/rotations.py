# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rotations: matrices, quaternions x y z w, roll-pitch-yaw about the fixed axes X, Y, Z, and rotation vectors.

Every function takes leading batch axes ``...`` that broadcast. Angles are in radians. NaN and infinities raise
`ArrayError`. Quaternion arguments are normalised. Where stated, returned quaternions have w >= 0, so that q and -q,
which are the same rotation, give the same result.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_semantics.transforms.arrays import FloatArray, checked_array, normalized

IDENTITY_QUAT: FloatArray = np.array([0.0, 0.0, 0.0, 1.0])
IDENTITY_QUAT.setflags(write=False)


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return (..., 3) cross products of arrays that broadcast; for few rows three times as fast as numpy's.

    For two arrays of one shape, the result has b's memory order.
    """
    product = np.empty_like(b) if a.shape == b.shape else np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        np.multiply(a[..., i], b[..., j], out=product[..., k])
        product[..., k] -= a[..., j] * b[..., i]
    return product


def quat_normalize(quat_xyzw: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) unit quaternions with the same directions and signs.

    Raises:
        ArrayError: wrong shape, not finite, or a quaternion of zeros.
    """
    return normalized("quat_xyzw", checked_array("quat_xyzw", quat_xyzw, 4))


def quat_canonical(quat_xyzw: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) unit quaternions of the same rotations; the last component that is not zero is positive."""
    quat = quat_normalize(quat_xyzw)
    negative = np.sign(quat) @ np.array([1.0, 2.0, 4.0, 8.0]) < 0.0
    canonical: FloatArray = np.where(negative[..., np.newaxis], -quat, quat) + 0.0  # + 0.0 turns -0.0 into 0.0
    return canonical


def matrix_from_quat(quat_xyzw: npt.ArrayLike) -> FloatArray:
    """Return (..., 3, 3) rotation matrices of (..., 4) quaternions."""
    quat = quat_normalize(quat_xyzw)
    x, y, z, w = quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]
    matrix = np.empty((*quat.shape[:-1], 3, 3))
    matrix[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    matrix[..., 0, 1] = 2.0 * (x * y - z * w)
    matrix[..., 0, 2] = 2.0 * (x * z + y * w)
    matrix[..., 1, 0] = 2.0 * (x * y + z * w)
    matrix[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    matrix[..., 1, 2] = 2.0 * (y * z - x * w)
    matrix[..., 2, 0] = 2.0 * (x * z - y * w)
    matrix[..., 2, 1] = 2.0 * (y * z + x * w)
    matrix[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return matrix


def quat_from_matrix(R: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) unit quaternions x y z w, w >= 0, of (..., 3, 3) rotation matrices.

    It uses the best conditioned of the four rows of ``4 q qᵀ``, so half turns are as exact as small ones. For a matrix
    that is not exactly a rotation, the result is a rotation nearby.
    """
    m = checked_array("R", R, 3, 3)
    outer = np.empty((*m.shape[:-2], 4, 4))
    outer[..., 0, 0] = 1.0 + m[..., 0, 0] - m[..., 1, 1] - m[..., 2, 2]
    outer[..., 1, 1] = 1.0 - m[..., 0, 0] + m[..., 1, 1] - m[..., 2, 2]
    outer[..., 2, 2] = 1.0 - m[..., 0, 0] - m[..., 1, 1] + m[..., 2, 2]
    outer[..., 3, 3] = 1.0 + m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    outer[..., 0, 1] = outer[..., 1, 0] = m[..., 0, 1] + m[..., 1, 0]
    outer[..., 0, 2] = outer[..., 2, 0] = m[..., 0, 2] + m[..., 2, 0]
    outer[..., 1, 2] = outer[..., 2, 1] = m[..., 1, 2] + m[..., 2, 1]
    outer[..., 0, 3] = outer[..., 3, 0] = m[..., 2, 1] - m[..., 1, 2]
    outer[..., 1, 3] = outer[..., 3, 1] = m[..., 0, 2] - m[..., 2, 0]
    outer[..., 2, 3] = outer[..., 3, 2] = m[..., 1, 0] - m[..., 0, 1]
    best = np.diagonal(outer, axis1=-2, axis2=-1).argmax(axis=-1)
    row = np.take_along_axis(outer, best[..., np.newaxis, np.newaxis], axis=-2)[..., 0, :]
    return quat_canonical(row)


def quat_from_rpy(rpy: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) unit quaternions of roll, pitch, yaw [rad]: ``R = Rz(yaw) @ Ry(pitch) @ Rx(roll)``.

    The sign comes from the product of the half angles and is not canonical, so the result is continuous in the angles.
    """
    half = 0.5 * checked_array("rpy", rpy, 3)
    sine, cosine = np.sin(half), np.cos(half)
    sr, sp, sy = sine[..., 0], sine[..., 1], sine[..., 2]
    cr, cp, cy = cosine[..., 0], cosine[..., 1], cosine[..., 2]
    return np.stack(
        (
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ),
        axis=-1,
    )


def matrix_from_rpy(rpy: npt.ArrayLike) -> FloatArray:
    """Return (..., 3, 3) ``Rz(yaw) @ Ry(pitch) @ Rx(roll)`` of (..., 3) roll, pitch, yaw [rad]."""
    angles = checked_array("rpy", rpy, 3)
    sine, cosine = np.sin(angles), np.cos(angles)
    sr, sp, sy = sine[..., 0], sine[..., 1], sine[..., 2]
    cr, cp, cy = cosine[..., 0], cosine[..., 1], cosine[..., 2]
    matrix = np.empty((*angles.shape[:-1], 3, 3))
    matrix[..., 0, 0] = cy * cp
    matrix[..., 0, 1] = cy * sp * sr - sy * cr
    matrix[..., 0, 2] = cy * sp * cr + sy * sr
    matrix[..., 1, 0] = sy * cp
    matrix[..., 1, 1] = sy * sp * sr + cy * cr
    matrix[..., 1, 2] = sy * sp * cr - cy * sr
    matrix[..., 2, 0] = -sp
    matrix[..., 2, 1] = cp * sr
    matrix[..., 2, 2] = cp * cr
    return matrix


def rpy_from_matrix(R: npt.ArrayLike) -> FloatArray:
    """Return (..., 3) roll, pitch, yaw [rad] of (..., 3, 3) rotation matrices; pitch lies within ±π/2.

    Roll is computed after yaw is removed, so the three angles give the matrix back to rounding, for every pitch. At
    exactly ±π/2, where the matrix does not determine yaw, yaw is 0.
    """
    m = checked_array("R", R, 3, 3)
    yaw = np.arctan2(m[..., 1, 0], m[..., 0, 0])
    sine, cosine = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-m[..., 2, 0], cosine * m[..., 0, 0] + sine * m[..., 1, 0])
    roll = np.arctan2(sine * m[..., 0, 2] - cosine * m[..., 1, 2], cosine * m[..., 1, 1] - sine * m[..., 0, 1])
    return np.stack((roll, pitch, yaw), axis=-1)


def rpy_from_quat(quat_xyzw: npt.ArrayLike) -> FloatArray:
    """Return (..., 3) roll, pitch, yaw [rad] of (..., 4) quaternions; see `rpy_from_matrix`."""
    return rpy_from_matrix(matrix_from_quat(quat_xyzw))


def rotation_about(axis: npt.ArrayLike, angle: npt.ArrayLike) -> FloatArray:
    """Return (..., 3, 3) rotations by `angle` (...) [rad] about `axis` (..., 3), which is normalised.

    Raises:
        ArrayError: wrong shape, not finite, or an axis of zeros.
    """
    direction = normalized("axis", checked_array("axis", axis, 3))
    turn = checked_array("angle", angle)
    sine, versine = np.sin(turn), 2.0 * np.sin(0.5 * turn) ** 2
    x, y, z = direction[..., 0], direction[..., 1], direction[..., 2]
    matrix = np.empty((*np.broadcast_shapes(direction.shape[:-1], turn.shape), 3, 3))
    matrix[..., 0, 0] = 1.0 - versine * (y * y + z * z)
    matrix[..., 0, 1] = versine * x * y - sine * z
    matrix[..., 0, 2] = versine * x * z + sine * y
    matrix[..., 1, 0] = versine * x * y + sine * z
    matrix[..., 1, 1] = 1.0 - versine * (x * x + z * z)
    matrix[..., 1, 2] = versine * y * z - sine * x
    matrix[..., 2, 0] = versine * x * z - sine * y
    matrix[..., 2, 1] = versine * y * z + sine * x
    matrix[..., 2, 2] = 1.0 - versine * (x * x + y * y)
    return matrix


def rotation_from_z(axis: npt.ArrayLike) -> FloatArray:
    """Return (..., 3, 3) smallest rotations from +Z to `axis` (..., 3), which is normalised.

    For -Z every half turn about a horizontal axis is equally small; the result is the half turn about X.
    """
    x, y, z = np.moveaxis(normalized("axis", checked_array("axis", axis, 3)), -1, 0)
    matrix = np.empty((*x.shape, 3, 3))
    down = z < 0.0
    # 1 / (1 + z) by the formula that does not cancel: from 1 + z, or from x² + y² = (1 + z)(1 - z).
    across = x * x + y * y
    open_axis = across > 0.0
    scale = np.where(down, (1.0 - z) / np.where(open_axis, across, 1.0), 1.0 / np.where(down, 1.0, 1.0 + z))
    matrix[..., 0, 0] = 1.0 - scale * x * x
    matrix[..., 0, 1] = matrix[..., 1, 0] = -scale * x * y
    matrix[..., 1, 1] = 1.0 - scale * y * y
    matrix[..., 0, 2], matrix[..., 1, 2], matrix[..., 2, 2] = x, y, z
    matrix[..., 2, 0], matrix[..., 2, 1] = -x, -y
    half_turn = np.diag((1.0, -1.0, -1.0))
    rotation: FloatArray = np.where((down & ~open_axis)[..., np.newaxis, np.newaxis], half_turn, matrix) + 0.0
    return rotation


def quat_multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) quaternions of the rotations ``R_a @ R_b``."""
    left, right = quat_normalize(a), quat_normalize(b)
    ax, ay, az, aw = left[..., 0], left[..., 1], left[..., 2], left[..., 3]
    bx, by, bz, bw = right[..., 0], right[..., 1], right[..., 2], right[..., 3]
    return np.stack(
        (
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ),
        axis=-1,
    )


def quat_conjugate(quat_xyzw: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) unit quaternions of the inverse rotations."""
    conjugate: FloatArray = quat_normalize(quat_xyzw) * np.array([-1.0, -1.0, -1.0, 1.0])
    return conjugate


def quat_rotate(quat_xyzw: npt.ArrayLike, vectors: npt.ArrayLike) -> FloatArray:
    """Return (..., 3) `vectors` (..., 3) rotated by (..., 4) quaternions."""
    quat, vector = quat_normalize(quat_xyzw), checked_array("vectors", vectors, 3)
    twice = 2.0 * cross(quat[..., :3], vector)
    rotated: FloatArray = vector + quat[..., 3:] * twice + cross(quat[..., :3], twice)
    return rotated


def quat_angle(q0: npt.ArrayLike, q1: npt.ArrayLike) -> FloatArray:
    """Return (...) angles [rad], 0 to π, of the rotations between quaternions; q and -q are the same rotation."""
    a, b = quat_normalize(q0), quat_normalize(q1)
    apart = np.sqrt(((a - b) ** 2).sum(axis=-1))
    across = np.sqrt(((a + b) ** 2).sum(axis=-1))
    angle: FloatArray = 4.0 * np.arctan2(np.minimum(apart, across), np.maximum(apart, across))
    return angle


def wrapped_angles(angles: npt.ArrayLike) -> FloatArray:
    """Return angles (...) without whole turns, -π to π [rad]."""
    values = np.asarray(angles, np.float64)
    without: FloatArray = values - 2.0 * np.pi * np.round(values / (2.0 * np.pi))
    return without


def quat_slerp(q0: npt.ArrayLike, q1: npt.ArrayLike, t: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) quaternions at the fraction `t` (...) from `q0` to `q1`, at constant speed, the short way.

    t = 0 gives `q0`, t = 1 gives `q1` or -`q1`; a `t` outside 0 to 1 extrapolates.
    """
    a, b, share = quat_normalize(q0), quat_normalize(q1), checked_array("t", t)[..., np.newaxis]
    b = np.where((a * b).sum(axis=-1, keepdims=True) < 0.0, -b, b)
    apart = np.sqrt(((a - b) ** 2).sum(axis=-1, keepdims=True))
    across = np.sqrt(((a + b) ** 2).sum(axis=-1, keepdims=True))
    theta = 2.0 * np.arctan2(apart, across)
    sine = np.sin(theta)
    close = sine < 1e-8
    safe = np.where(close, 1.0, sine)
    weight_a = np.where(close, 1.0 - share, np.sin((1.0 - share) * theta) / safe)
    weight_b = np.where(close, share, np.sin(share * theta) / safe)
    return normalized("t", weight_a * a + weight_b * b)


def quat_from_rotvec(rotvec: npt.ArrayLike) -> FloatArray:
    """Return (..., 4) unit quaternions of rotation vectors (..., 3): axis times angle [rad]."""
    vector = checked_array("rotvec", rotvec, 3)
    angle = np.sqrt((vector * vector).sum(axis=-1, keepdims=True))
    # np.sinc is sin(πx)/(πx), exact at 0.
    return np.concatenate((0.5 * np.sinc(angle / (2.0 * np.pi)) * vector, np.cos(0.5 * angle)), axis=-1)


def rotvec_from_quat(quat_xyzw: npt.ArrayLike) -> FloatArray:
    """Return (..., 3) rotation vectors, axis times angle [rad], angle at most π, of (..., 4) quaternions."""
    quat = quat_canonical(quat_xyzw)
    sine = np.sqrt((quat[..., :3] ** 2).sum(axis=-1, keepdims=True))
    half = np.arctan2(sine, quat[..., 3:])
    factor = np.where(sine > 0.0, 2.0 * half / np.where(sine > 0.0, sine, 1.0), 2.0)
    vector: FloatArray = factor * quat[..., :3]
    return vector
