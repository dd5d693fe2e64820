# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Merge of a generated matrix with pairs written by hand, in one SRDF. Pairs written by hand win.

The SRDF keeps the pairs of the last run in an element that other readers ignore::

    <rs:generated_collisions xmlns:rs="urn:robot-semantics:srdf:1" pairs="0a1b2c3d ..."/>

If a pair of this element is no longer disabled, a person has removed it. It stays removed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from robot_semantics.base.names import LinkPair
from robot_semantics.base.record import record
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.xml.edit import NewElement

NAMESPACE = "urn:robot-semantics:srdf:1"
ELEMENT_NAME = "generated_collisions"
_ELEMENT = f"{{{NAMESPACE}}}{ELEMENT_NAME}"
KEEP = ("user", "all", "none")
"""Disabled pairs of the SRDF that stay: pairs written by hand, all pairs, no pairs."""


@record(frozen=True, slots=True)
class MergedMatrix:
    """An SRDF with a matrix, and the pairs of the matrix that stay enabled.

    Attributes:
        enabled: pairs that the text enables.
        removed: pairs that an earlier run generated and a person removed.
    """

    text: SrdfText
    enabled: tuple[LinkPair, ...]
    removed: tuple[LinkPair, ...]


def merge_matrix(text: SrdfText, disabled: Mapping[LinkPair, str], keep: str = "user") -> MergedMatrix:
    """Return the text with the pairs `disabled` (pair → reason), except the pairs that a person decided on.

    Pairs that the text enables stay enabled. Pairs of links that the text disables by default get no line.
    `keep` is one of `KEEP`. With ``none``, pairs that were removed by hand come back.
    """
    stated = {item.pair for item in text.semantic.disabled_collisions}
    removed_hashes = set() if keep == "none" else _generated_hashes(text) - {_pair_hash(pair) for pair in stated}
    removed = [pair for pair in disabled if pair not in stated and _pair_hash(pair) in removed_hashes]
    pairs = {pair: reason for pair, reason in undecided(text, disabled).items() if pair not in removed}
    if keep == "user":
        merged = text.replace_disabled(pairs)
    else:
        kept = text if keep == "all" else text.remove_pairs("disable_collisions", stated)
        known = stated if keep == "all" else set[LinkPair]()
        merged = kept.disable_collisions({pair: reason for pair, reason in pairs.items() if pair not in known})
    hashes = {_pair_hash(pair) for pair in pairs} | removed_hashes
    enabled = {item.pair for item in text.semantic.enabled_collisions}
    return MergedMatrix(
        _with_hashes(merged, hashes), tuple(pair for pair in disabled if pair in enabled), tuple(removed)
    )


def undecided(text: SrdfText, disabled: Mapping[LinkPair, str]) -> dict[LinkPair, str]:
    """Return the pairs of a matrix that the text neither enables nor disables with a link of them by default."""
    by_default = {item.name for item in text.semantic.default_disabled_links}
    enabled = {item.pair for item in text.semantic.enabled_collisions}
    return {pair: reason for pair, reason in disabled.items() if pair not in enabled and by_default.isdisjoint(pair)}


def _pair_hash(pair: LinkPair) -> str:
    return hashlib.sha256("\n".join(pair).encode()).hexdigest()[:8]


def _generated_hashes(text: SrdfText) -> set[str]:
    element = text.xml.root.find(_ELEMENT)
    return set() if element is None else set(element.get("pairs", "").split())


def _with_hashes(text: SrdfText, hashes: set[str]) -> SrdfText:
    pairs = " ".join(sorted(hashes))
    element = text.xml.root.find(_ELEMENT)
    if element is not None:
        return text.edited([text.xml.attribute(text.xml.document.ordinal(element), "pairs", pairs)])
    if not hashes:
        return text
    return text.add([NewElement(f"rs:{ELEMENT_NAME}", (("xmlns:rs", NAMESPACE), ("pairs", pairs)))])
