# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every pair of a robot in one table: what the SRDF does with it, what sampling showed, and what is at risk."""

from __future__ import annotations

from dataclasses import dataclass

from robot_semantics.base.names import LinkPair
from robot_semantics.collision.matrix import CollisionMatrix, PairEvidence, Reason
from robot_semantics.collision.statistics import never_bound
from robot_semantics.model.queries import PairCause, collision_pair
from robot_semantics.model.robot_model import RobotModel

STATES = {
    PairCause.CHECKED: "checked",
    PairCause.DISABLED: "disabled",
    PairCause.DEFAULT_DISABLED: "disabled by default",
}


@dataclass(frozen=True, slots=True)
class PairRow:
    """One pair.

    Attributes:
        state: checked, disabled, or disabled by default (by its link).
        stated: the SRDF's reason, None where it gives none.
        found: the reason that sampling gives for not checking it, None for a pair to be checked.
        risk: the largest share of configurations in which it may collide unseen: 0 for a pair that is checked, is
            adjacent or always collides; where no sample collided, the bound at 95 % confidence.
    """

    pair: LinkPair
    state: str
    stated: str | None
    found: Reason | None
    evidence: PairEvidence
    risk: float


def pair_table(robot: RobotModel, matrix: CollisionMatrix) -> tuple[PairRow, ...]:
    """Return a row for every pair of links with collision geometry, the largest risk first.

    Of equals come first those that a search found to collide, then those with more hits.
    """
    rows = []
    for pair, evidence in matrix.pairs.items():
        status = collision_pair(robot, *pair)
        found = matrix.reason(pair)
        risk = 0.0 if status.checked else _unseen(evidence, found)
        rows.append(PairRow(pair, STATES[status.cause], status.reason or None, found, evidence, risk))
    return tuple(sorted(rows, key=lambda row: (-row.risk, not row.evidence.found, -(row.evidence.hits or 0), row.pair)))


def _unseen(evidence: PairEvidence, found: Reason | None) -> float:
    if evidence.hits is None or found is Reason.ALWAYS:
        return 0.0
    if evidence.rigid or evidence.hits:
        return evidence.hits / evidence.samples
    return never_bound(evidence.samples)
