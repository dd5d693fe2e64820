# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A generated matrix and what a person wrote, in one SRDF: the person decides.

The text remembers what was generated last, in an element that other readers pass over::

    <rs:generated_collisions xmlns:rs="urn:robot-semantics:srdf:1" pairs="0a1b2c3d ..."/>

A pair that is in there and no longer disabled was removed by hand, and stays so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from robot_semantics.base.names import LinkPair
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.xml.edit import NewElement

NAMESPACE = "urn:robot-semantics:srdf:1"
MEMORY = "generated_collisions"
_ELEMENT = f"{{{NAMESPACE}}}{MEMORY}"
KEEP = ("user", "all", "none")
"""What may stay of the pairs that a text disables: those a person wrote, all, none."""


@dataclass(frozen=True, slots=True)
class Merged:
    """An SRDF with a matrix in it, and the pairs that the matrix would disable and a person does not.

    Attributes:
        enabled: those that the text enables.
        removed: those that were generated before and have been removed by hand.
    """

    text: SrdfText
    enabled: tuple[LinkPair, ...]
    removed: tuple[LinkPair, ...]


def merge(text: SrdfText, disabled: Mapping[LinkPair, str], keep: str = "user") -> Merged:
    """Return the text with the pairs `disabled` (pair → reason) as far as it leaves them to be generated.

    Pairs that the text enables stay enabled; those of links that it disables by default need no line of their own.
    `keep` is one of `KEEP`; with ``none``, what was removed by hand comes back.
    """
    semantic = text.semantic
    stated = {item.pair for item in semantic.disabled_collisions}
    enabled = {item.pair for item in semantic.enabled_collisions}
    off = {item.name for item in semantic.default_disabled_links}
    forgotten = set() if keep == "none" else _remembered(text) - {_mark(pair) for pair in stated}
    removed = [pair for pair in disabled if pair not in stated and _mark(pair) in forgotten]
    pairs = {
        pair: reason
        for pair, reason in disabled.items()
        if pair not in enabled and pair not in removed and off.isdisjoint(pair)
    }
    if keep == "user":
        merged = text.replace_disabled(pairs)
    else:
        kept = text if keep == "all" else text.remove_pairs("disable_collisions", stated)
        known = stated if keep == "all" else set[LinkPair]()
        merged = kept.disable_collisions({pair: pairs[pair] for pair in pairs if pair not in known})
    marks = {_mark(pair) for pair in pairs} | forgotten
    return Merged(_remembering(merged, marks), tuple(pair for pair in disabled if pair in enabled), tuple(removed))


def _mark(pair: LinkPair) -> str:
    return hashlib.sha256("\n".join(pair).encode()).hexdigest()[:8]


def _remembered(text: SrdfText) -> set[str]:
    found = text.xml.root.find(_ELEMENT)
    return set() if found is None else set(found.get("pairs", "").split())


def _remembering(text: SrdfText, marks: set[str]) -> SrdfText:
    pairs = " ".join(sorted(marks))
    found = text.xml.root.find(_ELEMENT)
    if found is not None:
        return text.edited([text.xml.attribute(text.xml.document.at(found), "pairs", pairs)])
    if not marks:
        return text
    return text.add([NewElement(f"rs:{MEMORY}", (("xmlns:rs", NAMESPACE), ("pairs", pairs)))])
