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
from typing import NamedTuple

from lsprotocol import types

from robot_semantics.lsp.document import REFERENCES, TABLES, Document
from robot_semantics.lsp.yaml_names import kinds_at
from robot_semantics.model.joint_types import JointType
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES
from robot_semantics.xml.schema import Element

_TAG = re.compile(r"""<(?P<end>/?)(?P<name>[^\s/<>"']+)(?P<rest>(?:"[^"<]*"|'[^'<]*'|[^<>"'])*)>""")
_WHOLE = re.compile(r"""[^\s=<>"'/]+\s*=\s*(?:"[^"<]*"|'[^'<]*')""")
_VALUE = re.compile(r"""(?P<name>[^\s=<>"'/]+)\s*=\s*["'](?P<start>[^"'<]*)\Z""")
_ATTRIBUTE = re.compile(r"""<(?P<tag>[^\s/<>"']+)\s(?:.*\s)?(?P<start>[^\s=<>"'/]*)\Z""", re.DOTALL)
_ELEMENT = re.compile(r"<(?P<start>[^\s/<>\"'!?]*)\Z")
_CHOICES: Mapping[tuple[str, str], Collection[str]] = {
    ("joint", "type"): [kind.value for kind in JointType],
    ("virtual_joint", "type"): VIRTUAL_JOINT_TYPES,
}
_LONGEST_TAG = 4_000
"""Longest start tag that is completed [characters]."""


class Completion(NamedTuple):
    """Possible words at a position, and the number of characters that are already written."""

    words: Collection[str]
    written: int
    kind: types.CompletionItemKind


def completion(document: Document, offset: int, names: Mapping[str, Collection[str]]) -> Completion | None:
    """Return the possible words; `names` has the known names by kind of thing."""
    if document.is_yaml:
        fitting, written = kinds_at(document.text[:offset])
        return Completion(_names_of(fitting, names), written, types.CompletionItemKind.Reference)
    words: Collection[str]
    text = _without_comments(document.text[:offset])
    opened = text.rfind("<")
    if opened < len(text) - _LONGEST_TAG or opened < 0:
        return None
    path = _open_elements(text[:opened])
    kind = document.likely_kind
    rest = _WHOLE.sub(lambda found: " " * len(found.group()), text[opened:])
    above = _element(TABLES[kind].root, path)
    if found := _ELEMENT.match(rest):
        words = (TABLES[kind].root.tag,) if not path else tuple(above.children) if above else ()
        return Completion(words, len(found["start"]), types.CompletionItemKind.Class)
    tag = _TAG_NAME.match(rest)
    if tag is None or ">" in rest:
        return None
    if found := _VALUE.search(rest):
        here = (path[-1] if path else "", tag[1], found["name"])
        kinds = [each for each, references in REFERENCES[kind].items() if here in references]
        words = _CHOICES.get(here[1:]) or _names_of(kinds, names)
        return Completion(words, len(found["start"]), types.CompletionItemKind.Reference)
    if found := _ATTRIBUTE.match(rest):
        element = _element(TABLES[kind].root, [*path, tag[1]])
        given = {each.group().partition("=")[0].strip() for each in _WHOLE.finditer(text[opened:])}
        words = [name for name in (element.attributes if element else ()) if name not in given]
        return Completion(words, len(found["start"]), types.CompletionItemKind.Property)
    return None


def _names_of(kinds: Iterable[str], names: Mapping[str, Collection[str]]) -> list[str]:
    return sorted({name for kind in kinds for name in names.get(kind, ())})


_TAG_NAME = re.compile(r"<([^\s/<>\"']+)")


def _without_comments(text: str) -> str:
    """Return a text with spaces instead of its comments; empty if a comment is open."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0:
        parts.append(text[at:start])
        end = text.find("-->", start)
        if end < 0:
            return ""
        parts.append(" " * (end + 3 - start))
        at = end + 3
    return "".join([*parts, text[at:]])


def _open_elements(text: str) -> list[str]:
    """Return the tags of the elements that are open at the end of a text, the outermost first."""
    path: list[str] = []
    for found in _TAG.finditer(text):
        if found["end"]:
            if found["name"] in path:
                del path[len(path) - 1 - path[::-1].index(found["name"]) :]
        elif not found["rest"].endswith("/") and found["name"][0] not in "!?":
            path.append(found["name"])
    return path


def _element(root: Element, path: list[str]) -> Element | None:
    """Return the element of a format at a path of tags; None if the format has none there."""
    found: Element | None = root if path[:1] == [root.tag] else None
    for tag in path[1:]:
        child = found.children.get(tag) if found is not None else None
        found = child.element if child is not None else None
    return found
