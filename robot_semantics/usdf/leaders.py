# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Position of a leader from its own link and its mimic joints, which determine its number of turns.

The pose of a link gives the angle of its joint without the number of whole turns. A prismatic follower, or one with a
small multiplier, moves less than a turn while its leader makes several turns. So it gives their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

TURN = 2.0 * math.pi
_WIDEST = 100
"""How many periods of the sighting that repeats least often are tried in each direction."""


class Sighting(NamedTuple):
    """Equation of one joint for a variable of its leader: ``value = factor * leader + offset``.

    Attributes:
        joint: the joint, which may be the leader itself.
        value: of the joint's own variable [rad, m].
        factor: 1 for the leader itself.
        offset: 0 for the leader itself [rad, m].
        repeats: True if the number of whole turns of `value` is unknown.
        lower: the joint's lower limit.
        upper: the joint's upper limit.
    """

    joint: str
    value: float
    factor: float
    offset: float
    repeats: bool
    lower: float
    upper: float

    def there(self, leader: float) -> float:
        """Return the joint's variable for the leader's position `leader`, with whole turns."""
        return self.factor * leader + self.offset

    def residual(self, leader: float) -> float:
        """Return the difference between the observed joint and its position for `leader`."""
        off = self.there(leader) - self.value
        return abs(math.remainder(off, TURN) if self.repeats else off)

    def allows(self, leader: float, tolerance: float) -> bool:
        """Return True if the joint is inside its limits."""
        return self.lower - tolerance <= self.there(leader) <= self.upper + tolerance


class LeaderPosition(NamedTuple):
    """A leader's variable, and the joint with the largest difference from it [rad, m]."""

    value: float
    worst: str
    residual: float


def leader_position(sightings: Sequence[Sighting], tolerance: float) -> LeaderPosition:
    """Return the position of a leader that agrees with the sightings; the leader's own sighting, if any, is the first.

    Candidates inside all limits are preferred, then the nearest to zero. If no candidate fits within `tolerance`, the
    result is the best one.
    """
    telling = [item for item in sightings if item.factor != 0.0]
    firm = [item for item in telling if not item.repeats]
    if firm:
        candidates = [(firm[0].value - firm[0].offset) / firm[0].factor]
    else:
        widest = min(telling, key=lambda item: abs(item.factor))
        start, period = (widest.value - widest.offset) / widest.factor, TURN / abs(widest.factor)
        middle = round(-start / period)
        steps = (middle + step * sign for step in range(_WIDEST) for sign in (1, -1))
        candidates = sorted({start + period * step for step in steps}, key=abs)
    own = telling[0]
    if own.repeats and own.factor == 1.0 and own.offset == 0.0:
        # The leader's own link gives the best angle, the other links give the number of turns.
        candidates = [own.value + TURN * round((found - own.value) / TURN) for found in candidates]

    def judged(found: float) -> tuple[float, str]:
        return max((item.residual(found), item.joint) for item in sightings)

    fitting = [found for found in candidates if judged(found)[0] <= tolerance]
    allowed = [found for found in fitting if all(item.allows(found, tolerance) for item in sightings)]
    best = (allowed or fitting or [min(candidates, key=judged)])[0]
    residual, worst = judged(best)
    return LeaderPosition(best, worst, residual)
