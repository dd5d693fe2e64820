# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The outline of a document: symbols and foldable ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lsprotocol import types
from lxml import etree

from robot_semantics.base.diagnostics import SourcePlace
from robot_semantics.base.foreign_text import shown
from robot_semantics.base.yaml_reader import YamlNode
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
    "controller": types.SymbolKind.Interface,
}
_END = re.compile(rb"[\r\n]|\Z")


def symbols(document: Document) -> list[types.DocumentSymbol]:
    """Return the named elements, or the keys of a YAML text, as a tree."""
    if document.is_yaml:
        names = {use.start: use.kinds[0] for use in document.uses}
        return [] if document.sections.root is None else list(_keys(document, document.sections.root, names))
    top: list[types.DocumentSymbol] = []
    inside: dict[etree._Element | None, list[types.DocumentSymbol]] = {None: top}
    for at, element in enumerate(document.xml.document.elements if document.xml is not None else ()):
        above, name = element.getparent(), (element.get("name") or "").strip()
        span = document.xml.places.value_span(at, "name") if document.xml is not None and name else None
        if document.xml is not None and span is not None and above is not None:
            inside[element], tag = [], etree.QName(element).localname
            made = _symbol(document, tag, name, document.xml.places.span(at), span, inside[element])
            inside[above].append(made)
        else:
            # An element without a symbol is left out of the tree.
            inside[element] = inside[above]
    return top


def _symbol(
    document: Document,
    tag: str,
    name: str,
    whole: tuple[int, int],
    short: tuple[int, int],
    children: Sequence[types.DocumentSymbol],
) -> types.DocumentSymbol:
    kind, ranges = _KINDS.get(tag, types.SymbolKind.Property), (document.range(*whole), document.range(*short))
    return types.DocumentSymbol(shown(name) or " ", kind, *ranges, tag, children=children)


def _keys(document: Document, node: YamlNode, names: Mapping[int, str]) -> Iterator[types.DocumentSymbol]:
    """Yield the keys below a value of YAML, with the kinds of things that they name."""
    for item in node.items:
        yield from _keys(document, item, names)
    for key, entry in node.entries.items():
        start, children = document.place_offset(entry.key_place), list(_keys(document, entry, names))
        short = (start, start + len(key.encode()))
        whole = (start, max(_end(document, entry), short[1]))
        yield _symbol(document, names.get(start, ""), key, whole, short, children)


def _end(document: Document, node: YamlNode) -> int:
    """Return the end of the last line of a value of YAML."""
    line = node.place.line + node.text.count("\n")
    found = _END.search(document.utf8, document.place_offset(SourcePlace("", line, 1)))
    below = [_end(document, each) for each in (*node.items, *node.entries.values())]
    return max([found.start() if found else 0, *below])


def folds(document: Document) -> list[types.FoldingRange]:
    """Return the ranges of elements, comments and YAML keys on several lines."""
    ranges: list[tuple[types.Range, types.FoldingRangeKind | None]]
    ranges = [(each.range, None) for each in _all(symbols(document))] if document.is_yaml else []
    if document.xml is not None:
        places, count = document.xml.places, len(document.xml.document.elements)
        ranges = [(document.range(*places.span(at)), None) for at in range(count)]
        comments = SKIPPED.finditer(document.utf8)
        ranges += [(document.range(*found.span()), types.FoldingRangeKind.Comment) for found in comments]
    lines = dict.fromkeys((each.start.line, each.end.line, kind) for each, kind in ranges)
    return [types.FoldingRange(start, end, kind=kind) for start, end, kind in lines if end > start]


def _all(found: Sequence[types.DocumentSymbol]) -> Iterator[types.DocumentSymbol]:
    for symbol in found:
        yield symbol
        yield from _all(symbol.children or ())
