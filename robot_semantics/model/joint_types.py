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
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from robot_semantics.base.record import record
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.tree import Joint, Origin, Vec3

if TYPE_CHECKING:
    from robot_semantics.transforms.arrays import FloatArray


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


@record(frozen=True)
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


# Limits of the positions and motions of a joint.


LIMIT_TOLERANCE = 1e-9
"""How far outside its limits a position is still within them: the rounding of a text or of a sum [rad, m]."""

LONGEST_SLIDE, LARGEST_TURN = 1e3, 1e4
"""Largest range of a prismatic [m] and of a revolute joint [rad] that limits it."""


class LimitRange(NamedTuple):
    """A violated range: the ``limits`` or, inside these, the ``soft limits`` [rad or m].

    `code` is the diagnostic's code.
    """

    code: str
    what: str
    lower: float
    upper: float


# One object: each `-math.inf` makes a new number, of which a large robot would keep one for each joint.
_NO_LOWER = -math.inf


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


@record(frozen=True, slots=True)
class JointLimits:
    """A joint's limits [rad or m, s]; infinite if the description has none.

    `lower` and `upper` are the hard stops; `soft_lower` and `soft_upper` are the limits of the safety controller. Code
    that chooses positions (sampling, defaults) uses `bounds`; code that takes measured or recorded positions refuses
    only positions outside `lower` and `upper`.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    acceleration: float = math.inf
    deceleration: float = math.inf
    jerk: float = math.inf
    soft_lower: float = -math.inf
    soft_upper: float = math.inf

    @classmethod
    def of(cls, kind: JointType, joint: urdf_tree.Joint) -> JointLimits:
        """Return a joint's limits; a type without limits has unlimited positions.

        Limits in the wrong order are an error but stay unchanged, as in MoveIt: no position is within them. If only one
        of lower and upper is given, the other is 0, as in the format. A missing soft limit is unlimited. A missing
        deceleration equals the acceleration.
        """
        limit, safety = joint.limit, joint.safety_controller
        if limit is None:
            return UNLIMITED
        limited = MOTION[kind].limited
        soft = safety if limited else None
        acceleration = _given(limit.acceleration, math.inf)
        return cls(
            (limit.lower or 0.0) if limited else _NO_LOWER,
            (limit.upper or 0.0) if limited else math.inf,
            _given(limit.velocity, math.inf),
            _given(limit.effort, math.inf),
            acceleration,
            _given(limit.deceleration, acceleration),
            _given(limit.jerk, math.inf),
            _NO_LOWER if soft is None else _given(soft.soft_lower_limit, _NO_LOWER),
            math.inf if soft is None else _given(soft.soft_upper_limit, math.inf),
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """The intersection of limits and soft limits; MoveIt calls it the joint's bounds."""
        return max(self.lower, self.soft_lower), min(self.upper, self.soft_upper)

    @property
    def default(self) -> float:
        """The default position by the bounds alone, as in MoveIt; of a robot, see `RobotModel.default_position`."""
        return default_within(*self.bounds)

    def broken_by(self, position: float, tolerance: float = 0.0) -> LimitRange | None:
        """Return the range that `position` violates by more than `tolerance`; None if it is within bounds."""
        for found in (
            LimitRange("outside-limits", "limits", self.lower, self.upper),
            LimitRange("outside-soft-limits", "soft limits", *self.bounds),
        ):
            if not found.lower - tolerance <= position <= found.upper + tolerance:
                return found
        return None


def default_within(low: float, high: float) -> float:
    """Return 0, or the middle of a range that excludes 0; a single bound that excludes 0 is the default itself."""
    if low <= 0.0 <= high:
        return 0.0
    if math.isinf(low):
        return high
    return low if math.isinf(high) else 0.5 * (low + high)


def is_unlimited(kind: JointType, low: float, high: float) -> bool:
    """Return True if a range is so large that it means "not limited": placeholders such as ±1e16 or the largest float.

    Only for types that need limits; `low` to `high` is in rad or m.
    """
    if not MOTION[kind].limited:
        return False
    return not high - low <= (LONGEST_SLIDE if MOTION[kind].slides else LARGEST_TURN)


def usable_range(kind: JointType, low: float, high: float, extent: float) -> tuple[float, float]:
    """Return the part of a range that sampling, default positions and sliders use.

    It is the range itself, if this limits the joint. Otherwise it is the part within ± `extent` [m], or ± one turn, of
    0 or of the bound nearest to 0.
    """
    if not is_unlimited(kind, low, high):
        return low, high
    reach = extent if MOTION[kind].slides else math.tau
    nearest = min(max(low, 0.0), high)
    return max(low, nearest - reach), min(high, nearest + reach)


UNLIMITED = JointLimits()
"""Limits of a joint whose description has none."""


# Poses and axes of the joints of a robot, as arrays.


X_AXIS: Vec3 = (1.0, 0.0, 0.0)
Z_AXIS: Vec3 = (0.0, 0.0, 1.0)


class JointFrames:
    """Poses and axes of n joints, by index.

    The arrays are computed at their first use, for all joints together. A check of a small robot needs no array, and
    the import of numpy takes 0.2 s, more than the rest of the check.
    """

    def __init__(self, origins: Sequence[Origin | None], axes: Sequence[Vec3]) -> None:
        self._origins = tuple(origins)
        self._axes = tuple(axes)

    @cached_property
    def T_parent_joint(self) -> FloatArray:
        """(n, 4, 4) pose of each joint in its parent link [m]; the identity without an origin; read-only."""
        import numpy as np

        from robot_semantics.transforms import matrix_from_rpy, matrix_from_xyz_quat

        frames = np.zeros((len(self._origins), 4, 4))
        frames[:, 3, 3] = 1.0
        none = (0.0, 0.0, 0.0)
        frames[:, :3, 3] = [none if origin is None else origin.xyz for origin in self._origins]
        rpy = np.array([(origin and origin.rpy) or none for origin in self._origins])
        frames[:, :3, :3] = matrix_from_rpy(rpy)
        for index, origin in enumerate(self._origins):
            if origin is not None and origin.quat_xyzw is not None:
                frames[index] = matrix_from_xyz_quat(origin.xyz, origin.quat_xyzw)
        frames.setflags(write=False)
        return frames

    @cached_property
    def axes(self) -> FloatArray:
        """(n, 3) unit axis of each joint in its frame; read-only."""
        import numpy as np

        axes = np.array(self._axes)
        axes.setflags(write=False)
        return axes


def default_axis(kind: JointType | None) -> Vec3:
    """Return the axis of a joint without ``<axis>``; None is an unknown type."""
    return Z_AXIS if kind is JointType.PLANAR else X_AXIS


def unit_axis(joint: Joint, kind: JointType) -> Vec3:
    """Return the joint's axis with length 1; the default of its type if the axis is missing or zero."""
    default = default_axis(kind)
    axis = joint.axis or default
    largest = max(map(abs, axis))
    if largest == 0.0:
        return default
    x, y, z = axis[0] / largest, axis[1] / largest, axis[2] / largest
    length = math.sqrt(x * x + y * y + z * z)
    if length == largest == 1.0:
        return axis
    return (x / length, y / length, z / length)


def frames_of_root(axis: Vec3) -> JointFrames:
    """Return the frames of a root joint alone: the identity, and its unit axis."""
    return JointFrames((None,), (axis,))
