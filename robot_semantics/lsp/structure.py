# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The outline of a document: symbols and foldable ranges."""

from __future__ import annotations

from lsprotocol import types
from lxml import etree

from robot_semantics.base.foreign_text import shown
from robot_semantics.lsp.document import Document
from robot_semantics.xml.source_map import SKIPPED

_KINDS = {
    "link": types.SymbolKind.Object,
    "joint": types.SymbolKind.Function,
    "virtual_joint": types.SymbolKind.Function,
    "group": types.SymbolKind.Module,
    "group_state": types.SymbolKind.Constant,
    "end_effector": types.SymbolKind.Interface,
    "model_state": types.SymbolKind.Class,
}


def symbols(document: Document) -> list[types.DocumentSymbol]:
    """Return the named elements as a tree."""
    if document.xml is None:
        return []
    top: list[types.DocumentSymbol] = []
    children: dict[etree._Element, list[types.DocumentSymbol]] = {}
    positions, places = document.positions, document.xml.places
    for at, element in enumerate(document.xml.document.elements):
        above = element.getparent()
        name = (element.get("name") or "").strip()
        span = places.value_span(at, "name")
        if above is None or not name or span is None:
            continue
        tag = etree.QName(element).localname
        kind = _KINDS.get(tag, types.SymbolKind.Property)
        whole, short = (positions.range(*positions.characters(*each)) for each in (places.span(at), span))
        children[element] = []
        made = types.DocumentSymbol(shown(name), kind, whole, short, detail=tag, children=children[element])
        while above is not None and above not in children:
            above = above.getparent()
        (top if above is None else children[above]).append(made)
    return top


def folds(document: Document) -> list[types.FoldingRange]:
    """Return the ranges of elements and comments on several lines."""
    if document.xml is None:
        return []
    positions, places = document.positions, document.xml.places
    elements = [(places.span(at), None) for at in range(len(document.xml.document.elements))]
    comments = [(found.span(), types.FoldingRangeKind.Comment) for found in SKIPPED.finditer(document.xml.utf8)]
    found = []
    for span, kind in (*elements, *comments):
        covered = positions.range(*positions.characters(*span))
        if covered.end.line > covered.start.line:
            found.append(types.FoldingRange(covered.start.line, covered.end.line, kind=kind))
    return found
