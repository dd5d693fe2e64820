# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Limits of the positions and motions of a joint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from robot_semantics.model.joint_types import MOTION, JointType
from robot_semantics.urdf import tree as urdf_tree

LIMIT_TOLERANCE = 1e-9
"""How far outside its limits a position is still within them: the rounding of a text or of a sum [rad, m]."""


class LimitRange(NamedTuple):
    """A violated range: the ``limits`` or, inside these, the ``soft limits`` [rad or m].

    `code` is the diagnostic's code.
    """

    code: str
    what: str
    lower: float
    upper: float


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


@dataclass(frozen=True, slots=True)
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
            (limit.lower or 0.0) if limited else -math.inf,
            (limit.upper or 0.0) if limited else math.inf,
            _given(limit.velocity, math.inf),
            _given(limit.effort, math.inf),
            acceleration,
            _given(limit.deceleration, acceleration),
            _given(limit.jerk, math.inf),
            -math.inf if soft is None else _given(soft.soft_lower_limit, -math.inf),
            math.inf if soft is None else _given(soft.soft_upper_limit, math.inf),
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """The intersection of limits and soft limits; MoveIt calls it the joint's bounds."""
        return max(self.lower, self.soft_lower), min(self.upper, self.soft_upper)

    @property
    def default(self) -> float:
        """The default position, as in MoveIt: 0, or the middle of bounds that exclude 0."""
        low, high = self.bounds
        if low <= 0.0 <= high:
            return 0.0
        if math.isinf(low):
            return high
        return low if math.isinf(high) else 0.5 * (low + high)

    def broken_by(self, position: float, tolerance: float = 0.0) -> LimitRange | None:
        """Return the range that `position` violates by more than `tolerance`; None if it is within bounds."""
        for found in (
            LimitRange("outside-limits", "limits", self.lower, self.upper),
            LimitRange("outside-soft-limits", "soft limits", *self.bounds),
        ):
            if not found.lower - tolerance <= position <= found.upper + tolerance:
                return found
        return None


UNLIMITED = JointLimits()
"""Limits of a joint whose description has none."""
