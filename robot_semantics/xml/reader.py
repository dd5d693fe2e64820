# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Text to an XML tree, safely, with the exact place of every element and attribute.

lxml gives the tree; `source_map` finds places when the first problem has to be reported.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.parsers import expat

from lxml import etree

from robot_semantics.base.diagnostics import Place
from robot_semantics.base.errors import DescriptionError
from robot_semantics.xml.decoding import MAX_BYTES, read_text, refusal, utf8_of
from robot_semantics.xml.source_map import SKIPPED, Lines, SourceMap

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

UNDECLARED_NAMESPACE = "urn:robot-semantics:undeclared-prefix:"
"""What the tree's namespace of a prefix without declaration begins with; no text is ever written with it."""

_UNDECLARED = re.compile(r"Namespace prefix (\S+) .*is not defined")
_DECLARATION = re.compile(rb"<\?xml\s[^>]*\?>")
_BLANK = re.compile(rb"\s*")
_BEFORE_ROOT = ((b"<!--", b"-->"), (b"<?", b"?>"))
_ODD_HYPHEN = re.compile(rb"-(?=-|$)")
_REFERENCE = re.compile(rb"&(?!#|amp;|lt;|gt;|quot;|apos;)[^;\s]{1,80};")
_LIBRARY_LIMIT = re.compile("too big|too long|XML_PARSE_HUGE|[Rr]esource limit")


class XmlDocument:
    """A well-formed text: its lxml tree (comments kept, entities refused) and its `places`.

    Attributes:
        changed: whether the tree may be another than the text's; its elements keep their numbers.
        undeclared_prefixes: prefixes that the text uses without a declaration, each with the number of the first
            element that does; only where `parse_xml` was forgiving. In the tree they stand for namespaces that begin
            with `UNDECLARED_NAMESPACE`.
        odd_declaration: where the XML declaration stands, if it is not as XML has it; only where `parse_xml` was
            forgiving. The text of `places` has spaces instead.
        odd_comments: where a comment holds ``--``, which XML forbids; only where `parse_xml` was forgiving. The text
            of `places` has other characters instead, as many.
        unused_arguments: of an expanded xacro, the arguments given that neither it nor another of the same robot
            asks for, each with the nearest that it does.

    """

    def __init__(
        self,
        root: etree._Element,
        places: SourceMap,
        undeclared_prefixes: Mapping[str, int] | None = None,
        odd_declaration: Place | None = None,
        odd_comments: tuple[Place, ...] = (),
        unused_arguments: Mapping[str, str | None] | None = None,
    ) -> None:
        self.root = root
        self.changed = False
        self.places = places
        self.undeclared_prefixes: Mapping[str, int] = undeclared_prefixes or {}
        self.odd_declaration = odd_declaration
        self.odd_comments = odd_comments
        self.unused_arguments: Mapping[str, str | None] = unused_arguments or {}

    @cached_property
    def elements(self) -> list[etree._Element]:
        """The tree's elements by their number in document order."""
        return list(self.root.iter("*"))

    @cached_property
    def ordinals(self) -> dict[etree._Element, int]:
        """The tree's elements, each with its number."""
        # 0.1 us an element; it also keeps lxml's proxies alive, which makes every later walk over the tree faster.
        return {element: at for at, element in enumerate(self.elements)}

    def in_no_namespace(self) -> XmlDocument:
        """Return the document with the root's default namespace off all tags: peers' XML readers know no namespaces.

        Where there is none, that is this document itself.
        """
        scopes: dict[Any, str] = {**self.root.nsmap}
        default = scopes.get(None)
        if not default or not str(self.root.tag).startswith("{") or self.root.prefix:
            return self
        made = self.copied()
        start = f"{{{default}}}"
        for element in made.elements:
            if not element.prefix and element.tag.startswith(start):
                element.tag = element.tag[len(start) :]
        return made

    def copied(self) -> XmlDocument:
        """Return the same with a tree of its own, to be changed; `ordinals` stay those of the text."""
        root = copy.deepcopy(self.root.getroottree()).getroot()
        odd = self.odd_declaration, self.odd_comments
        made = XmlDocument(root, self.places, self.undeclared_prefixes, *odd, self.unused_arguments)
        made.changed = True
        assert len(made.ordinals) == len(made.elements)
        return made

    def clone(self, element: etree._Element) -> etree._Element:
        """Return a copy of an element, to stand elsewhere in a changed tree; its numbers are the same."""
        made = copy.deepcopy(element)
        made.tail = None
        for old, new in zip(element.iter("*"), made.iter("*"), strict=True):
            self.ordinals[new] = self.ordinals[old]
        return made

    def at(self, element: etree._Element) -> int:
        """Return the number of `element` in document order, as `SourceMap.place` takes it."""
        return self.ordinals[element]

    def place(self, element: etree._Element, attribute: str | None = None) -> Place:
        """Return the place of `element`, or of its `attribute`."""
        return self.places.place(self.at(element), attribute)


def is_macro(element: etree._Element) -> bool:
    """Tell whether an element is one of xacro's, which goes by the prefix, whatever namespace that stands for."""
    tag = element.tag
    if type(tag) is not str or not tag.startswith("{"):
        return False
    return element.prefix == "xacro" or (tag.startswith("{http://www.ros.org/") and "xacro" in tag)


def parse_xml(text: str | bytes, source: str, *, forgiving: bool = False) -> XmlDocument:
    """Parse `text`, called `source` in every message.

    Entity declarations, external entities, network access and recovery from errors are off. When `forgiving`,
    three things pass as the C++ readers let them pass: prefixes without a declaration, as in ``<gazebo:x/>``, an XML
    declaration that does not come first or has another version, and comments that hold ``--``.

    Raises:
        DescriptionError: the text is too large, nested too deep, not decodable, not well-formed, or declares entities;
            the one diagnostic has line and column.

    """
    utf8 = utf8_of(text, source)
    return _tree(utf8, source, forgiving=forgiving)


def _tree(utf8: bytes, source: str, *, forgiving: bool) -> XmlDocument:
    """Parse a text into a tree."""
    has_doctype = _has_doctype(utf8)
    if has_doctype and b"<!ENTITY" in utf8:
        _refuse_entities(utf8, source)
    odd_declaration: Place | None = None
    odd_comments: list[Place] = []
    try:
        root = _parse(utf8)
        undeclared: Mapping[str, int] = {}
    except etree.XMLSyntaxError as error:
        if not forgiving:
            raise _not_well_formed(error, source) from None
        before = utf8
        declaration = _DECLARATION.match(utf8, _skip(utf8, _BEFORE_ROOT[:1]))
        if declaration:
            spaces = re.sub(rb"[^\r\n]", b" ", declaration.group())
            at, end = declaration.span()
            if "eclaration" in str(error.msg) or "version" in str(error.msg):
                odd_declaration = Place(source, *Lines(utf8).line_column(at))
            utf8 = utf8[:at] + spaces + utf8[end:]
        utf8, odd_comments = _without_odd_comments(utf8, source)
        root, undeclared = _parse_undeclared(utf8, source, error if utf8 == before else None)
    if has_doctype:
        _refuse_references(utf8, source)
    return XmlDocument(root, SourceMap(source, utf8), undeclared, odd_declaration, tuple(odd_comments))


_OPTIONS: dict[str, Any] = {
    "encoding": "utf-8",
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
    "recover": False,
    "remove_comments": False,
    "remove_pis": False,
    "strip_cdata": False,
}
"""How lxml parses."""


def _parse(utf8: bytes) -> etree._Element:
    return etree.fromstring(utf8, etree.XMLParser(**_OPTIONS))


def _parse_undeclared(
    utf8: bytes, source: str, error: etree.XMLSyntaxError | None
) -> tuple[etree._Element, Mapping[str, int]]:
    """Parse a text that may have undeclared prefixes: they are declared on the root of a copy that only lxml sees.

    `error` is what parsing it said, if it has been parsed.
    """
    if error is None:
        try:
            return _parse(utf8), {}
        except etree.XMLSyntaxError as own:
            error = own
    if not _UNDECLARED.search(str(error.msg)):
        raise _not_well_formed(error, source) from None
    missing, root = _undeclared_prefixes(utf8, source)
    declarations = "".join(f' xmlns:{prefix}="{UNDECLARED_NAMESPACE}{prefix}"' for prefix in sorted(missing)).encode()
    name_end = re.compile(rb"<[^\s/>]+").match(utf8, root)
    cut = name_end.end() if name_end else 0
    try:
        return _parse(utf8[:cut] + declarations + utf8[cut:]), missing
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(error, source) from None


def _undeclared_prefixes(utf8: bytes, source: str) -> tuple[dict[str, int], int]:
    """Return the prefixes that are used outside of any element that declares them, with the first element's number.

    The second is where the root element begins.
    """
    missing: dict[str, int] = {}
    # The prefixes that each open element declares, and those around it; most elements declare none.
    scopes: list[frozenset[str]] = [frozenset({"xml", "xmlns"})]
    count = root = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count, root
        if not count:
            root = parser.CurrentByteIndex
        declared = [name.removeprefix("xmlns:") for name in attributes if name.startswith("xmlns:")]
        scopes.append(scopes[-1].union(declared) if declared else scopes[-1])
        for name in (tag, *attributes):
            prefix, colon, local = name.partition(":")
            if colon and local and prefix not in scopes[-1]:
                missing.setdefault(prefix, count)
        count += 1

    def end(_: str) -> None:
        scopes.pop()

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(utf8, True)
    except expat.ExpatError as error:
        place = Place(source, error.lineno, error.offset + 1)
        reason = expat.ErrorString(error.code)
        raise refusal("not-well-formed", f"not well-formed XML: {reason}", place) from None
    return missing, root


def _has_doctype(utf8: bytes) -> bool:
    """Tell whether a document type stands before the root, the only place where one may."""
    return utf8.startswith(b"<!DOCTYPE", _skip(utf8, _BEFORE_ROOT))


def _skip(utf8: bytes, marks: Iterable[tuple[bytes, bytes]]) -> int:
    """Return where white space and what stands between these marks ends, from the beginning of the text."""
    at = _BLANK.match(utf8).end()  # type: ignore[union-attr]  # it matches nothing, too
    while end := next((close for begin, close in marks if utf8.startswith(begin, at)), b""):
        found = utf8.find(end, at)
        if found < 0:
            break
        at = _BLANK.match(utf8, found + len(end)).end()  # type: ignore[union-attr]  # as above
    return at


def _without_odd_comments(utf8: bytes, source: str) -> tuple[bytes, list[Place]]:
    """Return the text with other characters for hyphens where XML forbids them in comments, and those comments."""
    # By steps from mark to mark: a pattern would look for the end of each comment that has none.
    places: list[Place] = []
    pieces: list[bytes] = []
    last = at = 0
    lines = Lines(utf8)
    while (start := utf8.find(b"<!--", at)) >= 0 and (end := utf8.find(b"-->", start + 4)) >= 0:
        comment = utf8[start + 4 : end]
        if b"--" in comment or comment.endswith(b"-"):
            places.append(Place(source, *lines.line_column(start)))
            pieces += [utf8[last : start + 4], _ODD_HYPHEN.sub(b"~", comment)]
            last = end
        at = end + 3
    return b"".join([*pieces, utf8[last:]]), places


def _refuse_entities(utf8: bytes, source: str) -> None:
    """Refuse a text that declares entities; found before anything could expand one."""
    parser = expat.ParserCreate("utf-8")

    def entity(*_: object) -> None:
        # expat stands somewhere in the declaration by now.
        start = max(utf8.rfind(b"<!ENTITY", 0, parser.CurrentByteIndex + 1), 0)
        place = Place(source, *Lines(utf8).line_column(start))
        raise refusal("entity-declared", "entity declarations are not read", place)

    parser.EntityDeclHandler = entity
    with suppress(expat.ExpatError):
        parser.Parse(utf8, True)


def _refuse_references(utf8: bytes, source: str) -> None:
    """Refuse references to entities, which a document type that is elsewhere may declare."""
    # What stands in comments and the like keeps its length: places stay as they are.
    found = _REFERENCE.search(SKIPPED.sub(lambda skipped: b" " * len(skipped.group()), utf8))
    if found:
        place = Place(source, *Lines(utf8).line_column(found.start()))
        raise refusal("entity-reference", f"the entity {found.group().decode()} is not declared here", place)


def _not_well_formed(error: etree.XMLSyntaxError, source: str) -> DescriptionError:
    line, column = (max(value or 1, 1) for value in error.position)
    message = " ".join(re.sub(r", line \d+, column \d+.*$", "", str(error.msg)).split())
    if "xcessive depth" in message:
        return refusal("nested-too-deep", "elements are nested too deep", Place(source, line, column))
    if _LIBRARY_LIMIT.search(message):
        reason = "a name, an attribute, a text or a comment is longer than the 10,000,000 bytes that are read of one"
        return refusal("too-large", reason, Place(source, line, column))
    return refusal("not-well-formed", f"not well-formed XML: {message}", Place(source, line, column))


def read_xml(path: str | Path, *, forgiving: bool = False) -> XmlDocument:
    """Read and parse a file.

    Raises:
        DescriptionError: as `parse_xml`, and when the file cannot be read.

    """
    return parse_xml(read_text(path), str(path), forgiving=forgiving)
