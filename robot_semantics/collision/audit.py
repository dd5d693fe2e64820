# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Audit of an SRDF's collision pairs against sampled evidence, and a table of all pairs."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple

from robot_semantics.base.names import LinkPair
from robot_semantics.base.record import record
from robot_semantics.collision.matrix import CollisionMatrix, PairEvidence, PairReason
from robot_semantics.collision.statistics import never_bound
from robot_semantics.model.queries import PairCause, PairStatus, pair_status
from robot_semantics.model.robot_model import RobotModel

# The risk of a pair of links: how often it collides without a check.


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


class AuditFinding(enum.Enum):
    """Mistake of an SRDF about a pair."""

    NEVER_BUT_COLLIDES = "disabled as Never, but collides"
    NEIGHBOURS_COLLIDE = "disabled as Adjacent, but only links without geometry join them, and they collide"
    REASON_DOES_NOT_HOLD = "disabled for a reason that does not hold, and collides now and then"
    ENABLED_BUT_ALWAYS = "checked, but always collides"
    ADJACENT_BUT_ENABLED = "adjacent, but checked"
    NO_GEOMETRY = "names a link without collision geometry"

    @property
    def is_dangerous(self) -> bool:
        """Whether a planner with this SRDF overlooks a collision of the robot with itself."""
        return self is AuditFinding.NEVER_BUT_COLLIDES


@record(frozen=True, slots=True)
class AuditRow:
    """One finding. `stated` is the reason in the SRDF. `evidence` is None if the pair could not be sampled."""

    finding: AuditFinding
    pair: LinkPair
    stated: str | None
    evidence: PairEvidence | None


def audit(robot: RobotModel, matrix: CollisionMatrix) -> tuple[AuditRow, ...]:
    """Return all findings, the dangerous ones first, then by risk (the highest first), then by pair."""
    rows = [*_of_disabled(robot, matrix), *_of_checked(robot, matrix)]
    order = list(AuditFinding)

    def rank(row: AuditRow) -> tuple[int, float, LinkPair]:
        risk = NO_RISK if row.evidence is None else risk_of(pair_status(robot, *row.pair), matrix)
        return order.index(row.finding), -risk.share, row.pair

    return tuple(sorted(rows, key=rank))


_CLAIMS = {reason.value for reason in (PairReason.ADJACENT, PairReason.ALWAYS, PairReason.DEFAULT)}


def _of_disabled(robot: RobotModel, matrix: CollisionMatrix) -> Iterator[AuditRow]:
    srdf = robot.semantics.srdf
    for item in srdf.disabled_collisions if srdf is not None else ():
        pair = item.pair
        evidence = matrix.pairs.get(pair)
        if evidence is None:
            if item.link1 != item.link2:
                yield AuditRow(AuditFinding.NO_GEOMETRY, pair, item.reason, None)
        elif item.reason == PairReason.NEVER.value and evidence.first is not None:
            yield AuditRow(AuditFinding.NEVER_BUT_COLLIDES, pair, item.reason, evidence)
        elif item.reason == PairReason.ADJACENT.value and evidence.adjacency and evidence.hits:
            if matrix.reason(pair) is None:
                yield AuditRow(AuditFinding.NEIGHBOURS_COLLIDE, pair, item.reason, evidence)
        elif item.reason in _CLAIMS and matrix.reason(pair) is None:
            yield AuditRow(AuditFinding.REASON_DOES_NOT_HOLD, pair, item.reason, evidence)


def _of_checked(robot: RobotModel, matrix: CollisionMatrix) -> Iterator[AuditRow]:
    for pair, evidence in matrix.pairs.items():
        status = pair_status(robot, *pair)
        if not status.checked or status.enabled:
            continue
        reason = matrix.reason(pair)
        if reason is PairReason.ALWAYS:
            yield AuditRow(AuditFinding.ENABLED_BUT_ALWAYS, pair, None, evidence)
        elif reason is PairReason.ADJACENT:
            yield AuditRow(AuditFinding.ADJACENT_BUT_ENABLED, pair, None, evidence)


STATES = {
    PairCause.CHECKED: "checked",
    PairCause.DISABLED: "disabled",
    PairCause.DEFAULT_DISABLED: "disabled by default",
}


@record(frozen=True, slots=True)
class PairRow:
    """One pair: its status by the SRDF, its evidence, and its risk.

    Attributes:
        reason: the reason that sampling gives for not checking the pair; None if it must be checked.
    """

    status: PairStatus
    reason: PairReason | None
    evidence: PairEvidence
    risk: Risk

    @property
    def state(self) -> str:
        """Checked, disabled, or disabled by default (by its link)."""
        return STATES[self.status.cause]


def pair_table(robot: RobotModel, matrix: CollisionMatrix) -> tuple[PairRow, ...]:
    """Return a row for every pair of the matrix whose links the robot has, the highest risk first.

    Pairs that were seen to collide without a check come before pairs that have only a bound.
    """
    rows = []
    for pair, evidence in matrix.pairs.items():
        if pair.first in robot.link_index and pair.second in robot.link_index:
            status = pair_status(robot, *pair)
            rows.append(PairRow(status, matrix.reason(pair), evidence, risk_of(status, matrix)))

    def rank(row: PairRow) -> tuple[bool, float, bool, int, LinkPair]:
        evidence = row.evidence
        return not row.risk.seen, -row.risk.share, not evidence.found_by_search, -(evidence.hits or 0), evidence.pair

    return tuple(sorted(rows, key=rank))
