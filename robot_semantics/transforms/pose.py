# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One pose as a value (position, roll pitch yaw, the exact quaternion if stated), and the ways to and from it.

The ways are from and to matrices (..., 4, 4), rows x y z qx qy qz qw (n, 7), and rows with both orientations (n, 10).
A twist or a wrench of one body is a `Vec6`; the rules for levers and axes are in `robot_semantics.transforms.rows`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_semantics.base.record import record
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.rotations import (
    matrix_from_quat,
    matrix_from_rpy,
    quat_from_rpy,
    quat_normalize,
    rpy_from_matrix,
    rpy_from_quat,
)
from robot_semantics.transforms.rows import IDENTITY_POSE, UNIT_TOLERANCE, xyz_quat_from_matrix

Vec6 = tuple[float, float, float, float, float, float]
Quaternion = tuple[float, float, float, float]


@record(frozen=True)
class Pose:
    """A pose: position, and rpy about fixed axes X, Y, Z; `quat_xyzw`, if stated, is exact and has priority."""

    xyz_rpy: Vec6
    quat_xyzw: Quaternion | None = None


STILL: Vec6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
IDENTITY = Pose(STILL)


def pose_matrix(pose: Pose | None) -> FloatArray:
    """Return the (4, 4) transform of a pose [m]; a missing pose is the identity."""
    T: FloatArray = pose_matrices([pose])[0]
    return T


def pose_matrices(poses: Sequence[Pose | None]) -> FloatArray:
    """Return (n, 4, 4) transforms of poses [m]; a missing pose is the identity; a stated quaternion has priority over
    rpy.
    """
    T = np.zeros((len(poses), 4, 4))
    if not poses:
        return T
    numbers = np.array([(IDENTITY if pose is None else pose).xyz_rpy for pose in poses], dtype=np.float64)
    T[:, :3, :3] = matrix_from_rpy(numbers[:, 3:])
    T[:, :3, 3] = numbers[:, :3]
    T[:, 3, 3] = 1.0
    exact = [(at, pose.quat_xyzw) for at, pose in enumerate(poses) if pose is not None and pose.quat_xyzw is not None]
    if exact:
        T[[at for at, _ in exact], :3, :3] = matrix_from_quat(np.array([quat for _, quat in exact]))
    return T


def pose_quaternions(poses: Sequence[Pose]) -> FloatArray:
    """Return (n, 4) unit quaternions x y z w of poses; a stated quaternion is returned unchanged."""
    if not poses:
        return np.zeros((0, 4))
    quats = quat_from_rpy(np.array([pose.xyz_rpy[3:] for pose in poses], dtype=np.float64))
    for at, pose in enumerate(poses):
        if pose.quat_xyzw is not None:
            quats[at] = pose.quat_xyzw
    return quats


def poses_from_matrices(T: npt.ArrayLike) -> list[Pose]:
    """Return the poses of (n, 4, 4) transforms, each with its exact quaternion."""
    matrices = np.asarray(T, dtype=np.float64).reshape(-1, 4, 4)
    if not len(matrices):
        return []
    with_quats = xyz_quat_from_matrix(matrices)
    six = np.concatenate((matrices[:, :3, 3], rpy_from_matrix(matrices[:, :3, :3]) + 0.0), axis=1)
    return [Pose(_six(row), _quaternion(quat)) for row, quat in zip(six, with_quats[:, 3:], strict=True)]


def pose_from_matrix(T: npt.ArrayLike, quat_xyzw: FloatArray | None = None) -> Pose:
    """Return the pose of a (4, 4) transform, with its exact quaternion: `quat_xyzw` (4,), if the caller has it."""
    pose = poses_from_matrices(np.asarray(T)[np.newaxis])[0]
    return pose if quat_xyzw is None else Pose(pose.xyz_rpy, _quaternion(quat_xyzw))


def pose_from_quaternion(xyz: Sequence[float], quat_xyzw: Sequence[float]) -> Pose:
    """Return the pose of a position [m] and a quaternion, which keeps every bit if its length is 1 within 1e-12.

    Raises:
        ArrayError: a number is not finite, or the quaternion is all zeros.
    """
    given = np.array(quat_xyzw, dtype=np.float64)
    quat = quat_normalize(given)
    if np.abs(quat - given).max() <= 1e-12:
        quat = given
    # Adding zero changes -0.0 to 0.0.
    rpy = rpy_from_matrix(matrix_from_quat(quat)) + 0.0
    return Pose(_six(np.concatenate((np.array(xyz, dtype=np.float64), rpy))), _quaternion(quat))


def pose_rows(xyz_quat: FloatArray) -> FloatArray:
    """Return the numbers of poses (n, 7) as they are written (n, 10): x y z, roll pitch yaw, x y z w.

    All are NaN where one of the seven is not finite.
    """
    is_known = np.asarray(np.isfinite(xyz_quat).all(axis=1))
    safe = np.where(is_known[:, None], xyz_quat, IDENTITY_POSE)
    length = np.sqrt((safe[:, 3:] ** 2).sum(axis=1, keepdims=True))
    # A unit quaternion keeps every bit.
    safe[:, 3:] = np.where(np.abs(length - 1.0) < UNIT_TOLERANCE, safe[:, 3:], safe[:, 3:] / length)
    rpy = rpy_from_quat(safe[:, 3:]) + 0.0  # changes -0.0 to 0.0
    rows = np.concatenate((safe[:, :3], rpy, safe[:, 3:]), axis=1)
    rows[~is_known] = np.nan
    return rows


def pose_from_row(row: Sequence[float]) -> Pose | None:
    """Return the pose of one row of `pose_rows`, with its exact quaternion; None if not stated."""
    if row[0] != row[0]:
        return None
    x, y, z, roll, pitch, yaw, qx, qy, qz, qw = row
    return Pose((x, y, z, roll, pitch, yaw), (qx, qy, qz, qw))


def xyz_quat_of(pose: Pose | None) -> tuple[float, ...]:
    """Return x y z [m] and quaternion x y z w of a pose; NaN without a pose."""
    if pose is None:
        return (np.nan,) * 7
    return (*pose.xyz_rpy[:3], *(pose.quat_xyzw or quat_from_rpy(pose.xyz_rpy[3:]).tolist()))


def six(values: npt.ArrayLike) -> Vec6:
    """Return six numbers as a tuple of Python floats."""
    return _six(np.asarray(values, dtype=np.float64))


def _six(row: FloatArray) -> Vec6:
    a, b, c, d, e, f = row.tolist()
    return (a, b, c, d, e, f)


def _quaternion(row: FloatArray) -> Quaternion:
    x, y, z, w = row.tolist()
    return (x, y, z, w)


def six_or_none(values: Sequence[float]) -> Vec6 | None:
    """Return six numbers; None if one of them is NaN."""
    if any(value != value for value in values):
        return None
    a, b, c, d, e, f = values
    return (a, b, c, d, e, f)
