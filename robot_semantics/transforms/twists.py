# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Twists and wrenches between frames.

A twist (..., 6) is vx vy vz wx wy wz: the linear velocity of a point of a body [m/s], then the body's angular velocity
vector [rad/s]. A wrench (..., 6) is fx fy fz tx ty tz: force [N], then torque about a point [N m]. Twist and wrench
belong to a frame: the point is the frame's origin, and the axes are the frame's axes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_semantics.transforms.arrays import FloatArray, checked_array


def transport_twist(T_a_b: npt.ArrayLike, twist_a: npt.ArrayLike) -> FloatArray:
    """Return the twist of a body at frame b instead of frame a; both frames are fixed to the body.

    Args:
        T_a_b: (..., 4, 4) pose of b in a.
        twist_a: (..., 6) twist at a's origin in a's axes.

    Returns:
        (..., 6) twist at b's origin in b's axes.
    """
    R_b_a, offset, twist = _frame(T_a_b, "twist_a", twist_a)
    linear = twist[..., :3] + np.cross(twist[..., 3:], offset)
    return _rotated(R_b_a, linear, twist[..., 3:])


def rotate_twist(R_a_b: npt.ArrayLike, twist_b: npt.ArrayLike) -> FloatArray:
    """Return a twist or wrench (..., 6) in a's axes instead of b's; its point does not change."""
    rotation, twist = checked_array("R_a_b", R_a_b, 3, 3), checked_array("twist_b", twist_b, 6)
    return _rotated(rotation, twist[..., :3], twist[..., 3:])


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
    carried = np.cross(outer[..., 3:], offset)
    moved = _rotated(R_a_b, inner[..., :3], inner[..., 3:])
    result: FloatArray = outer + moved
    result[..., :3] += carried
    return result


def invert_twist(T_a_b: npt.ArrayLike, twist_a_b: npt.ArrayLike) -> FloatArray:
    """Return the motion (..., 6) of a relative to b, in b's axes, from the motion of b relative to a, in a's axes."""
    R_b_a, offset, twist = _frame(T_a_b, "twist_a_b", twist_a_b)
    return _rotated(R_b_a, np.cross(twist[..., 3:], offset) - twist[..., :3], -twist[..., 3:])


def _frame(T_a_b: npt.ArrayLike, argument: str, value: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    T, vector = checked_array("T_a_b", T_a_b, 4, 4), checked_array(argument, value, 6)
    return np.swapaxes(T[..., :3, :3], -1, -2), T[..., :3, 3], vector


def _rotated(R: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    rows = np.broadcast_shapes(R.shape[:-2], first.shape[:-1], second.shape[:-1])
    result = np.empty((*rows, 6))
    result[..., :3] = (R @ first[..., np.newaxis])[..., 0]
    result[..., 3:] = (R @ second[..., np.newaxis])[..., 0]
    return result
