# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses x y z qx qy qz qw, twists and wrenches as rows of numbers; an unknown value is NaN and makes the result NaN.

These functions check no arguments. A twist is vx vy vz wx wy wz, a wrench is fx fy fz tx ty tz, as in
`robot_semantics.transforms.rigid`.
"""

from __future__ import annotations

import numpy as np

from robot_semantics.transforms.arrays import BoolArray, FloatArray
from robot_semantics.transforms.rotations import cross, quat_conjugate, quat_multiply, quat_rotate, quat_slerp

IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

UNIT_TOLERANCE = 1e-9
"""How far from 1 a quaternion's length, or its square, may be to count as 1."""

TF2_TOLERANCE = 0.01
"""How far from 1 the square of a quaternion's length may be in a transform; tf2 ignores the transform otherwise."""

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
