# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Safe parsing of text to an XML tree, with the exact place of every element and attribute.

lxml makes the tree; `source_map` computes places when the first problem is reported.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote
from xml.parsers import expat

from lxml import etree

from robot_semantics.base.diagnostics import SourcePlace
from robot_semantics.xml.decoding import MAX_BYTES, read_text, refusal, utf8_of
from robot_semantics.xml.source_map import SKIPPED, SourceMap, SourceText
from robot_semantics.xml.well_formed import (
    UNDECLARED_NAMESPACE,
    ForgivingParse,
    parse_forgiving,
    parse_strictly,
    starts_with_doctype,
)

__all__ = [
    "MAX_BYTES",
    "UNDECLARED_NAMESPACE",
    "SourceMap",
    "XmlDocument",
    "is_macro",
    "parse_xml",
    "read_text",
    "read_xml",
    "utf8_of",
]

_REFERENCE = re.compile(rb"&(?!#|amp;|lt;|gt;|quot;|apos;)[^;\s]{1,80};")
_IS_UNDECLARED = f"starts-with(namespace-uri(), '{UNDECLARED_NAMESPACE}')"
_UNDECLARED = etree.XPath(f"//*[{_IS_UNDECLARED}] | //@*[{_IS_UNDECLARED}]")


class XmlDocument:
    """A well-formed text: its lxml tree `root` (comments kept, entities refused) and its `places`.

    Attributes:
        changed: True if the tree may differ from the text; the elements keep their numbers.
        undeclared_prefixes: prefixes without a declaration, each with the number of the first element that uses it;
            only if `parse_xml` was forgiving. In the tree they have namespaces that begin with `UNDECLARED_NAMESPACE`.
        odd_declaration: place of an XML declaration that XML does not allow; only if `parse_xml` was forgiving. The
            text of `places` has spaces instead.
        odd_comments: places of comments with ``--``, which XML forbids; only if `parse_xml` was forgiving. The text of
            `places` has the same number of other characters instead.
        unused_arguments: for an expanded xacro: given arguments that no file of the robot asks for, each with the
            nearest argument that a file asks for.
    """

    def __init__(
        self,
        root: etree._Element | None,
        places: SourceMap,
        undeclared_prefixes: Mapping[str, int] | None = None,
        odd_declaration: SourcePlace | None = None,
        odd_comments: tuple[SourcePlace, ...] = (),
        unused_arguments: Mapping[str, str | None] | None = None,
    ) -> None:
        """Without `root`, the tree is made from the text when it is first used."""
        if root is not None:
            self.root = root
        self.changed = False
        self.places = places
        self.undeclared_prefixes: Mapping[str, int] = undeclared_prefixes or {}
        self.odd_declaration = odd_declaration
        self.odd_comments = odd_comments
        self.unused_arguments: Mapping[str, str | None] = unused_arguments or {}

    @cached_property
    def root(self) -> etree._Element:
        """The tree."""
        return parse_forgiving(SourceText(self.places.text, self.places.source)).root

    @property
    def head(self) -> etree._Element:
        """The root as a reader of `children` needs it: with its attributes and the text before its children."""
        return self.root

    def children(self) -> Iterable[etree._Element]:
        """Return the children of `head`, comments included, to be read once in order."""
        return self.root[:]  # type: ignore[index]  # lxml slices, which its stubs do not know

    @cached_property
    def elements(self) -> list[etree._Element]:
        """The tree's elements; the index is the number in document order."""
        return list(self.root.iter("*"))

    @cached_property
    def ordinals(self) -> dict[etree._Element, int]:
        """The tree's elements with their numbers."""
        # 0.1 us for each element; it also keeps lxml's proxies alive, which makes every later walk over the tree
        # faster.
        return {element: at for at, element in enumerate(self.elements)}

    def in_no_namespace(self) -> XmlDocument:
        """Return the document without the root's default namespace on its tags: other URDF readers ignore namespaces.

        Without a default namespace, return this document.
        """
        scopes: dict[Any, str] = {**self.head.nsmap}
        default = scopes.get(None)
        if not default or not str(self.head.tag).startswith("{") or self.head.prefix:
            return self
        made = self.copied()
        start = f"{{{default}}}"
        for element in made.elements:
            if not element.prefix and element.tag.startswith(start):
                element.tag = element.tag[len(start) :]
        return made

    def copied(self) -> XmlDocument:
        """Return the document with a copy of its tree that may be changed; `ordinals` keep the numbers of the text."""
        root = copy.deepcopy(self.root.getroottree()).getroot()
        odd = self.odd_declaration, self.odd_comments
        made = XmlDocument(root, self.places, self.undeclared_prefixes, *odd, self.unused_arguments)
        made.changed = True
        assert len(made.ordinals) == len(made.elements)
        return made

    def clone(self, element: etree._Element) -> etree._Element:
        """Return a copy of an element for another position in a changed tree; its numbers stay the same."""
        made = copy.deepcopy(element)
        made.tail = None
        for old, new in zip(element.iter("*"), made.iter("*"), strict=True):
            self.ordinals[new] = self.ordinals[old]
        return made

    def at(self, element: etree._Element) -> int:
        """Return the number of `element` in document order, as `SourceMap.place` takes it."""
        return self.ordinals[element]

    def place(self, element: etree._Element, attribute: str | None = None) -> SourcePlace:
        """Return the place of `element`, or of its `attribute`."""
        return self.places.place(self.at(element), attribute)


def is_macro(element: etree._Element) -> bool:
    """Return True for an element of xacro; the prefix decides, not the namespace behind it."""
    tag = element.tag
    if type(tag) is not str or not tag.startswith("{"):
        return False
    return element.prefix == "xacro" or (tag.startswith("{http://www.ros.org/") and "xacro" in tag)


def parse_xml(text: str | bytes, source: str, *, forgiving: bool = False) -> XmlDocument:
    """Parse `text`; every message calls it `source`.

    Entity declarations, external entities, network access and recovery from errors are off. If `forgiving`, three
    faults are allowed, as in the C++ readers:

    - prefixes without a declaration, as in ``<gazebo:x/>``
    - an XML declaration that is not first or has another version
    - comments with ``--``

    Raises:
        DescriptionError: the text is too large, nested too deep, not decodable, not well-formed, or declares entities;
            the one diagnostic has line and column.

    """
    read = SourceText(utf8_of(text, source), source)
    has_doctype = starts_with_doctype(read.utf8)
    if has_doctype and b"<!ENTITY" in read.utf8:
        _refuse_entities(read)
    found = parse_forgiving(read) if forgiving else ForgivingParse(parse_strictly(read), read.utf8)
    if has_doctype:
        _refuse_references(replace(read, utf8=found.utf8))
    odd = found.odd_declaration, found.odd_comments
    document = XmlDocument(found.root, SourceMap(source, found.utf8), odd_declaration=odd[0], odd_comments=odd[1])
    if found.prefixes:
        document.undeclared_prefixes = _first_uses(document)
    return document


def _first_uses(document: XmlDocument) -> dict[str, int]:
    """Return the prefixes without a declaration, each with the number of the first element that uses it."""
    first: dict[str, int] = {}
    for found in cast("list[Any]", _UNDECLARED(document.root)):
        is_element = isinstance(found, etree._Element)
        name, element = (found.tag, found) if is_element else (found.attrname, found.getparent())
        prefix = name.removeprefix(f"{{{UNDECLARED_NAMESPACE}").partition("}")[0]
        first.setdefault(unquote(prefix), document.at(element))
    return first


def _refuse_entities(text: SourceText) -> None:
    """Refuse a text that declares entities, before any entity is expanded."""
    parser = expat.ParserCreate("utf-8")

    def entity(*_: object) -> None:
        # expat is somewhere inside the declaration now.
        start = max(text.utf8.rfind(b"<!ENTITY", 0, parser.CurrentByteIndex + 1), 0)
        raise refusal("entity-declared", "entity declarations are not supported", text.place(start))

    parser.EntityDeclHandler = entity
    with suppress(expat.ExpatError):
        parser.Parse(text.utf8, True)


def _refuse_references(text: SourceText) -> None:
    """Refuse references to entities, which an external document type may declare."""
    # Replace comments and the like by spaces of the same length, so that places stay correct.
    found = _REFERENCE.search(SKIPPED.sub(lambda skipped: b" " * len(skipped.group()), text.utf8))
    if found:
        place = text.place(found.start())
        raise refusal(
            "entity-reference", f"the entity '{found.group().decode()}' is not declared in this document", place
        )


def read_xml(path: str | Path, *, forgiving: bool = False, foreign: bool = False) -> XmlDocument:
    """Read and parse a file; `foreign` as in `read_text`.

    Raises:
        DescriptionError: as `parse_xml`, or the file cannot be read.

    """
    return parse_xml(read_text(path, foreign=foreign), str(path), forgiving=forgiving)
