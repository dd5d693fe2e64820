# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A matrix for people and for programs: rows of a table, and JSON."""

from __future__ import annotations

import math
from typing import Any

from robot_semantics.collision.matrix import CollisionMatrix, PairEvidence, Reason, Witness
from robot_semantics.collision.statistics import rounded_up
from robot_semantics.kinematics.joint_space import JointSpace


def matrix_json(matrix: CollisionMatrix, space: JointSpace) -> dict[str, Any]:
    """Return the matrix as JSON-ready values; rare pairs are named first, rarest first."""
    return {
        "samples": matrix.samples,
        "seed": matrix.seed,
        "sampler": matrix.sampler,
        "always_fraction": matrix.always_fraction,
        "counts": reason_counts(matrix),
        "contradicted": [
            {"link1": pair.first, "link2": pair.second, "reason": reason.value if reason else None}
            for pair, reason in matrix.contradicted().items()
        ],
        "rare": [list(pair) for pair in matrix.rare()],
        "pairs": [pair_json(matrix, evidence, space) for evidence in matrix.pairs.values()],
    }


def reason_counts(matrix: CollisionMatrix) -> dict[str, int]:
    """Return how many pairs each reason disables, and how many stay checked."""
    reasons = [matrix.reason(pair) for pair in matrix.pairs]
    counts = {reason.value: reasons.count(reason) for reason in Reason if reason is not Reason.USER}
    return {**counts, "checked": reasons.count(None)}


def pair_json(matrix: CollisionMatrix, evidence: PairEvidence, space: JointSpace) -> dict[str, Any]:
    """Return the evidence on one pair as JSON-ready values."""
    reason = matrix.reason(evidence.pair)
    return {
        "link1": evidence.pair.first,
        "link2": evidence.pair.second,
        "reason": reason.value if reason else None,
        "hits": evidence.hits,
        "samples": evidence.samples,
        "fraction": evidence.hits / evidence.samples if evidence.hits is not None and evidence.samples else None,
        "hull_hits": evidence.hull_hits,
        "default_hit": evidence.default_hit,
        "default_depth": evidence.default_depth,
        "adjacency": list(evidence.adjacency),
        "rigid": evidence.rigid,
        "found": evidence.found,
        "never_bound": evidence.never_bound,
        "first": witness_json(evidence.first, space),
        "deepest": witness_json(evidence.deepest, space),
    }


def witness_json(witness: Witness | None, space: JointSpace) -> dict[str, Any] | None:
    """Return a witness with its positions by variable name, mimic joints as their leaders put them."""
    if witness is None:
        return None
    q = space.with_mimics(witness.q)
    return {
        "sample": witness.sample,
        "depth": witness.depth,
        "positions": {name: float(value) for name, value in zip(space.names, q, strict=True)},
    }


def evidence_words(matrix: CollisionMatrix, evidence: PairEvidence) -> str:
    """Return in words what is known of a pair: ``12 of 10,000``, ``0 of 10,000, probability below 0.0003``."""
    if evidence.hits is None:
        return "adjacent: " + " - ".join(evidence.adjacency)
    if evidence.rigid:
        return "rigid: collides" if evidence.hits else "rigid: does not collide"
    words = f"{evidence.hits:,} of {evidence.samples:,}"
    if evidence.found:
        words += ", but a search found a collision"
    bound = evidence.never_bound
    if bound is not None:
        bound = rounded_up(bound)
        digits = max(0, 1 - math.floor(math.log10(bound)))
        words += f", probability below {bound:.{digits}f}"
    if evidence.default_depth is not None:
        words += f", and in the default pose, by {1000.0 * evidence.default_depth:.3g} mm"
    return words
