# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The risk of a pair of links: how often it collides without a check."""

from __future__ import annotations

from typing import NamedTuple

from robot_semantics.collision.matrix import CollisionMatrix, PairReason
from robot_semantics.collision.statistics import never_bound
from robot_semantics.model.queries import PairStatus


class Risk(NamedTuple):
    """Risk of a pair of links. A high risk is dangerous: a planner overlooks the collision.

    Attributes:
        share: share of samples in which the pair collides and is not checked. It is 0 for a pair that is checked, is
            adjacent or always collides. If no sample collided, it is the bound at 95 % confidence.
        seen: whether a sample or the search shows a collision that is not checked.
    """

    share: float
    seen: bool


NO_RISK = Risk(0.0, False)


def risk_of(status: PairStatus, matrix: CollisionMatrix) -> Risk:
    """Return the risk of a pair of the matrix."""
    evidence = matrix.pairs[status.pair]
    if status.checked or evidence.hits is None or matrix.reason(status.pair) is PairReason.ALWAYS:
        return NO_RISK
    if evidence.rigid or evidence.hits:
        return Risk(evidence.hits / evidence.samples, evidence.hits > 0)
    return Risk(never_bound(evidence.samples), evidence.found_by_search)
