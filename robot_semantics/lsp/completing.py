# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Completion of names, attributes and elements at a position of a text that need not be well-formed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from lsprotocol import types

from robot_semantics.lsp.document import REFERENCES, TABLES, Document
from robot_semantics.lsp.yaml_names import kinds_at
from robot_semantics.model.joint_types import JointType
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES
from robot_semantics.xml.document_kind import DocumentKind
from robot_semantics.xml.schema import Child, Element

_NAME = r"""[^\s=<>"'/]"""
_WHOLE = rf"""({_NAME}+)\s*=\s*(?:"[^"<]*"|'[^'<]*')"""
_TAG = re.compile(
    rf"""<(?P<tag>{_NAME}*)(?P<given>(?:\s+{_WHOLE})*)"""
    rf"""(?:\s+(?:(?P<name>{_NAME}+)\s*=\s*["'](?P<value>[^"'<]*)|(?P<attribute>{_NAME}*)))?\Z"""
)
"""A start tag that ends in its name, in the value of an attribute, or in the name of an attribute."""

_CHOICES: Mapping[tuple[str, str], Collection[str]] = {
    ("joint", "type"): [kind.value for kind in JointType],
    ("virtual_joint", "type"): VIRTUAL_JOINT_TYPES,
}
_LONGEST_TAG = 4_000
"""Longest start tag that is completed [characters]."""


class Completion(NamedTuple):
    """Possible words at a position, and the start of the word that is already written."""

    words: Iterable[str]
    written: str
    kind: types.CompletionItemKind


def completion(document: Document, text: str, names: Mapping[str, Collection[str]]) -> Completion | None:
    """Return the possible words behind `text`, the start of the document; `names` has the names by kind of thing."""

    def names_of(kinds: Iterable[str]) -> list[str]:
        return sorted({name for kind in kinds for name in names.get(kind, ())})

    if document.is_yaml:
        kinds, written = kinds_at(text)
        return Completion(names_of(kinds), written, types.CompletionItemKind.Reference)
    opened = text.rfind("<")
    tag = _TAG.match(text, opened) if 0 <= opened >= len(text) - _LONGEST_TAG else None
    path = None if tag is None or text.rfind("<!--") > text.rfind("-->") else _open_elements(text[:opened])
    if tag is None or path is None:
        return None
    kind = _likely_kind(document)
    above, element = (_element(TABLES[kind].root, each) for each in (path, [*path, tag["tag"]]))
    if tag["name"]:
        here = (path[-1] if path else "", tag["tag"], tag["name"])
        words = _CHOICES.get(here[1:]) or names_of(each for each, known in REFERENCES[kind].items() if here in known)
        return Completion(words, tag["value"], types.CompletionItemKind.Reference)
    if tag["attribute"] is not None:
        given = {found[1] for found in re.finditer(_WHOLE, tag["given"])}
        words = [name for name in element.attributes if name not in given]
        return Completion(words, tag["attribute"], types.CompletionItemKind.Property)
    return Completion(() if tag["given"] else above.children, tag["tag"], types.CompletionItemKind.Class)


def _likely_kind(document: Document) -> DocumentKind:
    """Return the kind of a document; of an unknown kind, the one of the ending."""
    by_ending = {f".{kind.value.lower()}": kind for kind in DocumentKind}
    endings = (by_ending.get(suffix) for suffix in Path(document.path).suffixes)
    return next(filter(None, (document.kind, *endings)), DocumentKind.URDF)


def _open_elements(text: str) -> list[str] | None:
    """Return the tags of the elements that are open at the end of a text; None if the text is not well-formed."""
    path: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda tag, _: path.append(tag)
    parser.EndElementHandler = lambda _: path.pop()
    try:
        parser.Parse(text.encode(errors="replace"), False)
    except expat.ExpatError:
        return None
    return path


def _element(root: Element, path: list[str]) -> Element:
    """Return the element of a format at a path of tags; an empty one if the format has none there."""
    found = Element("", children={root.tag: Child("", root)})
    for tag in path:
        found = found.children[tag].element if tag in found.children else Element("")
    return found
