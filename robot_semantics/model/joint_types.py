# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The joint types of URDF and SRDF, and the variables of each, in one table."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


class JointType(enum.Enum):
    """The joint types; values are the words of the `type` attribute in URDF and SRDF."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    FLOATING = "floating"
    PLANAR = "planar"

    # Members are singletons. The hash of `Enum` is a Python function, and every look-up in a table calls it.
    __hash__ = object.__hash__


class JointQuantity(enum.Enum):
    """Physical quantity of a position variable; values are the units."""

    DISTANCE = "m"
    ANGLE = "rad"
    QUATERNION = "1"
    """A component of a unit quaternion x y z w."""


@dataclass(frozen=True)
class Motion:
    """The state variables of a joint type; most of the package needs only this about a type.

    Attributes:
        variables: suffixes of the position variables, as MoveIt names them; ``""`` is the joint's own name.
        velocities: number of velocity (and effort) components, which is the number of degrees of freedom.
        mimicked: number of leading positions (and velocities) that a mimic scales and shifts; it copies the others, a
            floating joint's rotation.
        quantities: physical quantity of each position variable.
        limited: True if the description must limit the position.
    """

    variables: tuple[str, ...]
    velocities: int
    mimicked: int
    quantities: tuple[JointQuantity, ...]
    limited: bool = False

    @cached_property
    def wrapping(self) -> tuple[bool, ...]:
        """For each position variable, True for an angle without limits: whole turns do not change the pose."""
        return tuple(quantity is JointQuantity.ANGLE and not self.limited for quantity in self.quantities)

    @cached_property
    def wraps(self) -> bool:
        """True if the position is one angle without limits."""
        return self.wrapping == (True,)

    @cached_property
    def turns(self) -> bool:
        """True if a position variable is an angle."""
        return JointQuantity.ANGLE in self.quantities

    @cached_property
    def slides(self) -> bool:
        """True if the position is one distance."""
        return self.quantities == (JointQuantity.DISTANCE,)

    @cached_property
    def is_planar(self) -> bool:
        """True if the position is a point and an angle in a plane."""
        return self.turns and JointQuantity.DISTANCE in self.quantities

    @cached_property
    def has_quaternion(self) -> bool:
        """True if the last four position variables are a quaternion x y z w."""
        return JointQuantity.QUATERNION in self.quantities

    @cached_property
    def neutral(self) -> tuple[float, ...]:
        """The zero position: zeros, and for a quaternion the identity."""
        zeros = (0.0,) * len(self.quantities)
        return (*zeros[:-1], 1.0) if self.has_quaternion else zeros

    @cached_property
    def reach(self) -> tuple[float, ...]:
        """Half the sampling range of each variable without limits: half a turn, 1 m, 1."""
        return tuple(math.pi if quantity is JointQuantity.ANGLE else 1.0 for quantity in self.quantities)

    @cached_property
    def units(self) -> str:
        """The units of the position variables, as ``m or rad``."""
        return " or ".join(dict.fromkeys(quantity.value for quantity in self.quantities))

    def difference(self, a: Sequence[float], b: Sequence[float]) -> float:
        """Return the distance [m] or angle [rad] between two positions, the larger one; NaN if one is not finite.

        Whole turns of an angle without limits, and a quaternion's sign and length, make no difference.
        """
        if not all(map(math.isfinite, (*a, *b))):
            return math.nan
        pairs = [
            [pair for pair, quantity in zip(zip(a, b, strict=True), self.quantities, strict=True) if quantity is kind]
            for kind in JointQuantity
        ]
        distances, angles, quaternion = pairs
        found = math.hypot(*(x - y for x, y in distances))
        for x, y in angles:
            found = max(found, abs(x - y) if self.limited else abs(math.remainder(x - y, math.tau)))
        return max(found, _angle_between(*zip(*quaternion, strict=True))) if quaternion else found


def _angle_between(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the angle between two quaternions of any length; infinity if one is zero."""
    norm_a, norm_b = math.hypot(*a), math.hypot(*b)
    if not norm_a or not norm_b:
        return math.inf
    # Use the chord between the unit quaternions: an arc cosine loses half the digits near zero.
    unit_a, unit_b = [x / norm_a for x in a], [x / norm_b for x in b]
    chord = min(math.dist(unit_a, unit_b), math.dist(unit_a, [-x for x in unit_b]))
    return 4.0 * math.asin(chord / 2.0)


MOTION: dict[JointType, Motion] = {
    JointType.REVOLUTE: Motion(("",), 1, 1, (JointQuantity.ANGLE,), limited=True),
    JointType.CONTINUOUS: Motion(("",), 1, 1, (JointQuantity.ANGLE,)),
    JointType.PRISMATIC: Motion(("",), 1, 1, (JointQuantity.DISTANCE,), limited=True),
    JointType.FIXED: Motion((), 0, 0, ()),
    JointType.PLANAR: Motion(
        ("x", "y", "theta"), 3, 3, (JointQuantity.DISTANCE, JointQuantity.DISTANCE, JointQuantity.ANGLE)
    ),
    JointType.FLOATING: Motion(
        ("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "rot_w"),
        6,
        3,
        (JointQuantity.DISTANCE,) * 3 + (JointQuantity.QUATERNION,) * 4,
    ),
}


def variable_names(joint: str, joint_type: JointType) -> tuple[str, ...]:
    """Return the names of a joint's position variables: ``elbow``, ``base/x``, ``base/rot_w`` (MoveIt's naming)."""
    return tuple(f"{joint}/{suffix}" if suffix else joint for suffix in MOTION[joint_type].variables)
