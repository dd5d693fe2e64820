# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rigid motions of single frames in plain floats: for one transform at a time that is faster than arrays are."""

from __future__ import annotations

import math
from typing import NamedTuple

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x y z w


class Motion(NamedTuple):
    """`T_parent_child`: maps coordinates in the child to coordinates in the parent."""

    translation: Vector
    quat_xyzw: Quaternion


IDENTITY = Motion((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def rotated(quat_xyzw: Quaternion, vector: Vector) -> Vector:
    """Apply the rotation of a unit quaternion to a vector."""
    x, y, z, w = quat_xyzw
    vx, vy, vz = vector
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """The quaternion of rotation b followed by rotation a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def composed(T_a_b: Motion, T_b_c: Motion) -> Motion:
    """`T_a_c = T_a_b @ T_b_c`."""
    x, y, z = rotated(T_a_b.quat_xyzw, T_b_c.translation)
    ax, ay, az = T_a_b.translation
    return Motion((x + ax, y + ay, z + az), product(T_a_b.quat_xyzw, T_b_c.quat_xyzw))


def inverted(T_a_b: Motion) -> Motion:
    """`T_b_a`."""
    x, y, z, w = T_a_b.quat_xyzw
    back = (-x, -y, -z, w)
    tx, ty, tz = rotated(back, T_a_b.translation)
    return Motion((-tx, -ty, -tz), back)


def interpolated(one: Motion, two: Motion, ratio: float) -> Motion:
    """The motion between two: positions on the straight line, rotations on the shorter arc at constant speed."""
    rest = 1.0 - ratio
    x, y, z = (rest * a + ratio * b for a, b in zip(one.translation, two.translation, strict=True))
    p, q = one.quat_xyzw, two.quat_xyzw
    dot = sum(a * b for a, b in zip(p, q, strict=True))
    scale = math.sqrt(sum(a * a for a in p) * sum(b * b for b in q))
    angle = math.acos(min(1.0, abs(dot) / scale))
    if angle == 0.0:
        return Motion((x, y, z), p)
    of_one = math.sin(rest * angle) / math.sin(angle)
    of_two = math.copysign(math.sin(ratio * angle) / math.sin(angle), dot)
    px, py, pz, pw = p
    qx, qy, qz, qw = q
    quat_xyzw = (
        of_one * px + of_two * qx,
        of_one * py + of_two * qy,
        of_one * pz + of_two * qz,
        of_one * pw + of_two * qw,
    )
    return Motion((x, y, z), quat_xyzw)


def canonical(motion: Motion) -> Motion:
    """The same motion with a unit quaternion, of its two the one that a rotation matrix converts to.

    That is the one whose w is positive where w dominates the rotation, and else the one whose largest component is.
    """
    x, y, z, w = motion.quat_xyzw
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    lead = w if 4.0 * w * w > norm * norm else max((x, y, z), key=abs)
    norm = math.copysign(norm, lead)
    return Motion(motion.translation, (x / norm, y / norm, z / norm, w / norm))
