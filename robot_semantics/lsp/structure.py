# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The outline of a document: symbols and foldable ranges."""

from __future__ import annotations

import re
from typing import NamedTuple

from lsprotocol import types
from lxml import etree

from robot_semantics.base.foreign_text import shown
from robot_semantics.lsp.document import Document
from robot_semantics.lsp.yaml_names import KEY
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
MOST_LEVELS = 50
"""Keys that are deeper in a YAML text are not in its outline."""

_LINE = re.compile(r"[^\r\n]+")
_TEXT_BLOCK = re.compile(r"[|>][-+0-9]*( +#.*)?$")


def symbols(document: Document) -> list[types.DocumentSymbol]:
    """Return the named elements, or the keys of a YAML text, as a tree."""
    if document.is_yaml:
        return _keys(document)
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
    """Return the ranges of elements, comments and YAML blocks on several lines."""
    if document.is_yaml:
        blocks = (document.positions.range(block.start, block.end) for block in _blocks(document.text))
        lines = dict.fromkeys((block.start.line, block.end.line) for block in blocks)
        return [types.FoldingRange(start, end) for start, end in lines if end > start]
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


class _Block(NamedTuple):
    """A key of a YAML text with what is below it, in characters; the level is the column of the key."""

    key: str
    level: int
    start: int
    end: int


def _blocks(text: str) -> list[_Block]:
    """Return the blocks of keys in order; a text that is being written need not be YAML."""
    found: list[_Block] = []
    open_: list[int] = []
    literal: int | None = None
    for line in _LINE.finditer(text):
        words = line.group().strip()
        indent = len(line.group()) - len(line.group().lstrip(" "))
        if not words or words.startswith("#") or (literal is not None and indent > literal):
            # The lines of a text block are no keys.
            for at in open_ if words and literal is not None else ():
                found[at] = found[at]._replace(end=line.end())
            continue
        key = KEY.match(line.group())
        is_item = words.startswith("- ") or words == "-"
        # The items of a list may have the column of its key.
        open_ = [at for at in open_ if found[at].level < indent + is_item]
        for at in open_:
            found[at] = found[at]._replace(end=line.start() + len(line.group().rstrip()))
        literal = None
        if key:
            start = line.start() + key.start("key")
            found.append(_Block(key["key"], key.start("key"), start, line.start() + len(line.group().rstrip())))
            open_.append(len(found) - 1)
            literal = indent if _TEXT_BLOCK.match(key["rest"] or "") else None
    return found


def _keys(document: Document) -> list[types.DocumentSymbol]:
    """Return the keys of a YAML text as a tree, with the kinds of things that they name."""
    names = {use.start: use.kinds[0] for use in document.uses}
    top: list[types.DocumentSymbol] = []
    above: list[tuple[_Block, list[types.DocumentSymbol]]] = []
    for block in _blocks(document.text):
        word = names.get(block.start, "")
        short = document.positions.range(block.start, block.start + len(block.key))
        whole = document.positions.range(block.start, block.end)
        kind = _KINDS.get(word, types.SymbolKind.Property)
        children: list[types.DocumentSymbol] = []
        made = types.DocumentSymbol(shown(block.key), kind, whole, short, detail=word, children=children)
        above = [(outer, inner) for outer, inner in above if outer.end >= block.end]
        if len(above) == MOST_LEVELS:
            continue
        (above[-1][1] if above else top).append(made)
        above.append((block, children))
    return top
