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
from robot_semantics.transforms.rows import into_axes, out_of_axes, twist_at


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
