"""Text to an XML tree, safely, with the exact place of every element and attribute.

lxml gives the tree (fast) but knows only lines, and none for attributes. Places are therefore worked out by a second,
expat, pass over the text, and only when the first problem has to be reported: a clean file never pays for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.parsers import expat

from lxml import etree

from robot_semantics.diagnostics import Diagnostics, Place
from robot_semantics.errors import DescriptionError

MAX_BYTES = 64 * 1024 * 1024
"""Longest text that is read [bytes]; the largest real robot description known is under 2 MB."""

UNDECLARED_NAMESPACE = "urn:robot-semantics:undeclared-prefix:"
"""What the tree's namespace of a prefix without declaration begins with; no text is ever written with it."""

_START_TAG = re.compile(rb"""<(?:"[^"]*"|'[^']*'|[^>"'])*>""")
_ATTRIBUTE = re.compile(rb"""\s([^\s=/>"']+)\s*=\s*(?:"[^"]*"|'[^']*')""")
_UNDECLARED = re.compile(r"Namespace prefix (\S+) .*is not defined")
_REFERENCE = re.compile(rb"&(?!#|amp;|lt;|gt;|quot;|apos;)[^;\s]{1,80};")


class SourceMap:
    """Where each element of one text stands; elements are numbered in document order from 0 (the root)."""

    def __init__(self, source: str, text: bytes) -> None:
        self.source = source
        self.text = text

    @cached_property
    def _index(self) -> _ElementIndex:
        return _ElementIndex(self.text)

    def place(self, at: int, attribute: str | None = None) -> Place:
        """Return the place of element number `at`, or of its `attribute` where the tag has it.

        A negative `at` is an element that no text has; its place is the source as a whole.
        """
        index = self._index
        if at < 0 or at >= len(index.offset):
            return Place(self.source)
        path = index.path(at)
        offset = index.offset[at]
        if attribute is not None:
            path = f"{path}/@{attribute}"
            offset = index.attribute(at, attribute.encode())
        return Place(self.source, *index.line_column(offset), path)

    def verbatim(self, at: int) -> str:
        """Return the text of element number `at` from its first to its last character, as it stands."""
        start, end = self.span(at)
        return self.text[start:end].decode()

    def span(self, at: int) -> tuple[int, int]:
        """Return the first and one-past-last byte of element number `at` in the UTF-8 text."""
        return self._index.offset[at], self._index.end(at)

    @property
    def offsets(self) -> list[int]:
        """The first byte of every element in the UTF-8 text, by number."""
        return self._index.offset

    def inner_span(self, at: int) -> tuple[int, int]:
        """Return the first and one-past-last byte of what stands between the tags of element number `at`.

        For an empty-element tag both are the element's end.
        """
        return self._index.inner(at)


class _ElementIndex:
    """What one expat pass over the text finds: offset, end tag, parent and name of every element."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self.offset: list[int] = []
        self._tag: list[str] = []
        self._name: list[str | None] = []
        self._parent: list[int] = []
        self._end_tag: list[int] = []
        stack = [-1]
        # The text is always UTF-8 here, whatever its declaration says: `parse_xml` has re-encoded it.
        parser = expat.ParserCreate("utf-8")

        def start(tag: str, attributes: dict[str, str]) -> None:
            self._tag.append(tag)
            self._name.append(attributes.get("name"))
            self._parent.append(stack[-1])
            stack.append(len(self.offset))
            self.offset.append(parser.CurrentByteIndex)
            self._end_tag.append(-1)

        def end(_tag: str) -> None:
            self._end_tag[stack.pop()] = parser.CurrentByteIndex

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.Parse(text, True)

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer(b"\n", self._text))]

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, columns in characters, of a byte of the text."""
        line = bisect_right(self._lines, offset)
        return line, len(self._text[self._lines[line - 1] : offset].decode()) + 1

    def attribute(self, at: int, name: bytes) -> int:
        """Return the offset of the attribute `name` in the start tag of element `at`; of the tag, if it has none."""
        tag = _START_TAG.match(self._text, self.offset[at])
        if tag:
            for found in _ATTRIBUTE.finditer(self._text, self.offset[at], tag.end()):
                if found.group(1) == name:
                    return found.start(1)
        return self.offset[at]

    def end(self, at: int) -> int:
        """Return the offset one past the last byte of element `at`."""
        start, closed = self._start_tag_end(at)
        return start if closed else self._text.index(b">", self._end_tag[at]) + 1

    def inner(self, at: int) -> tuple[int, int]:
        """Return the offsets between the tags of element `at`."""
        start, closed = self._start_tag_end(at)
        return (start, start) if closed else (start, self._end_tag[at])

    def _start_tag_end(self, at: int) -> tuple[int, bool]:
        """Return the end of the start tag and whether it is an empty-element tag.

        Where expat says that an element ends depends on this: at the end tag's start, but past an empty-element tag.
        """
        tag = _START_TAG.match(self._text, self.offset[at])
        end = tag.end() if tag else self.offset[at]
        return end, self._text[end - 2 : end] == b"/>"

    @cached_property
    def _labels(self) -> list[str]:
        labels: list[str] = []
        count: Counter[tuple[int, str]] = Counter()
        for parent, tag, name in zip(self._parent, self._tag, self._name, strict=True):
            if parent < 0:
                labels.append(tag)
            elif name is not None:
                labels.append(f"{tag}[@name='{name}']")
            else:
                count[parent, tag] += 1
                nth = count[parent, tag]
                labels.append(tag if nth == 1 else f"{tag}[{nth}]")
        return labels

    def path(self, at: int) -> str:
        """Return the path of element `at` from the root, named elements by their name, others by their number."""
        labels: list[str] = []
        while at >= 0:
            labels.append(self._labels[at])
            at = self._parent[at]
        return "/" + "/".join(reversed(labels))


class XmlDocument:
    """A well-formed text: its lxml tree (comments kept, entities refused) and its `places`.

    Attributes:
        undeclared_prefixes: prefixes that the text uses without a declaration; only where `parse_xml` was asked to
            let them pass. In the tree they stand for namespaces that begin with `UNDECLARED_NAMESPACE`.
    """

    def __init__(self, root: etree._Element, places: SourceMap, undeclared_prefixes: tuple[str, ...] = ()) -> None:
        self.root = root
        self.places = places
        self.undeclared_prefixes = undeclared_prefixes

    @cached_property
    def _ordinals(self) -> dict[etree._Element, int]:
        # 0.1 us an element; it also keeps lxml's proxies alive, which makes every later walk over the tree faster.
        return {element: at for at, element in enumerate(self.root.iter("*"))}

    def at(self, element: etree._Element) -> int:
        """Return the number of `element` in document order, as `SourceMap.place` takes it."""
        return self._ordinals[element]

    def place(self, element: etree._Element, attribute: str | None = None) -> Place:
        """Return the place of `element`, or of its `attribute`."""
        return self.places.place(self.at(element), attribute)


def parse_xml(text: str | bytes, source: str, *, allow_undeclared_prefixes: bool = False) -> XmlDocument:
    """Parse `text`, called `source` in every message.

    Entity declarations, external entities, network access and recovery from errors are off. With
    `allow_undeclared_prefixes`, ``<gazebo:x/>`` without a declaration of its prefix is let pass, as the C++ readers do.

    Raises:
        DescriptionError: the text is too large, nested too deep, not decodable, not well-formed, or declares entities;
            the one diagnostic has line and column.
    """
    if len(text) > MAX_BYTES:
        raise _refusal(
            "too-large", f"the text is longer than {MAX_BYTES:,} bytes, the most that is read", Place(source)
        )
    utf8 = _as_utf8(text, source)
    if not utf8.strip():
        raise _refusal("empty-document", "the text is empty", Place(source, 1, 1))
    try:
        root = etree.fromstring(utf8, _parser())
        undeclared: tuple[str, ...] = ()
    except etree.XMLSyntaxError as error:
        if not (allow_undeclared_prefixes and _UNDECLARED.search(str(error.msg))):
            raise _not_well_formed(error, utf8, source) from None
        root, undeclared = _parse_undeclared(utf8, source)
    # A text without a document type has neither entities nor references to them: libxml2 has refused those.
    if b"<!DOCTYPE" in utf8:
        _refuse_entities(root, utf8, source)
    return XmlDocument(root, SourceMap(source, utf8), undeclared)


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        remove_comments=False,
        remove_pis=False,
        strip_cdata=False,
    )


def _parse_undeclared(utf8: bytes, source: str) -> tuple[etree._Element, tuple[str, ...]]:
    """Parse a text with undeclared prefixes: they are declared on the root of a copy that only lxml sees."""
    prefixes: set[str] = set()

    def start(tag: str, attributes: dict[str, str]) -> None:
        for name in (tag, *attributes):
            prefix, colon, local = name.partition(":")
            if colon and local and prefix not in ("xml", "xmlns"):
                prefixes.add(prefix)

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    try:
        parser.Parse(utf8, True)
    except expat.ExpatError as error:
        line, column = error.lineno, error.offset + 1
        reason = expat.ErrorString(error.code)
        raise _refusal("not-well-formed", f"not well-formed XML: {reason}", Place(source, line, column)) from None
    index = _ElementIndex(utf8)
    tag = _START_TAG.match(utf8, index.offset[0])
    head = tag.group() if tag else b""
    missing = tuple(sorted(prefix for prefix in prefixes if f"xmlns:{prefix}".encode() not in head))
    declarations = "".join(f' xmlns:{prefix}="{UNDECLARED_NAMESPACE}{prefix}"' for prefix in missing).encode()
    name_end = re.compile(rb"<[^\s/>]+").match(utf8, index.offset[0])
    cut = name_end.end() if name_end else 0
    try:
        return etree.fromstring(utf8[:cut] + declarations + utf8[cut:], _parser()), missing
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(error, utf8, source) from None


def _refuse_entities(root: etree._Element, utf8: bytes, source: str) -> None:
    dtd: Any = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        place = Place(source, *_line_column_of(utf8, b"<!ENTITY"))
        raise _refusal("entity-declared", "entity declarations are not read", place)
    found = _REFERENCE.search(utf8)
    if found:
        place = Place(source, *_line_column_of(utf8, found.group()))
        raise _refusal("entity-reference", f"the entity {found.group().decode()} is not declared here", place)


def _not_well_formed(error: etree.XMLSyntaxError, utf8: bytes, source: str) -> DescriptionError:
    line, column = (max(value or 1, 1) for value in error.position)
    lines = utf8.split(b"\n", line)
    if len(lines) >= line:
        # libxml2 counts bytes, people count characters.
        column = len(lines[line - 1][: column - 1].decode(errors="ignore")) + 1
    message = re.sub(r", line \d+, column \d+.*$", "", str(error.msg))
    if "xcessive depth" in message:
        return _refusal("nested-too-deep", "elements are nested too deep", Place(source, line, column))
    return _refusal("not-well-formed", f"not well-formed XML: {message}", Place(source, line, column))


def read_xml(path: str | Path, *, allow_undeclared_prefixes: bool = False) -> XmlDocument:
    """Read and parse a file.

    Raises:
        DescriptionError: as `parse_xml`, and when the file cannot be read.
    """
    return parse_xml(read_text(path), str(path), allow_undeclared_prefixes=allow_undeclared_prefixes)


def read_text(path: str | Path) -> bytes:
    """Return a file's bytes.

    Raises:
        DescriptionError: the file cannot be read, or is longer than `MAX_BYTES`.
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _refusal("unreadable", f"cannot be read: {reason}", Place(str(path))) from None


def _as_utf8(text: str | bytes, source: str) -> bytes:
    """Return the text as UTF-8 without a byte-order mark, whatever encoding it came in."""
    try:
        if isinstance(text, str):
            return text.removeprefix("\ufeff").encode()
        if text.startswith((b"\xff\xfe", b"\xfe\xff")):
            return text.decode("utf-16").encode()
        declared = re.match(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""", text)
        encoding = declared.group(1).decode() if declared else "utf-8"
        return text.decode(encoding).removeprefix("\ufeff").encode()
    except (UnicodeError, LookupError) as error:
        message = f"the text cannot be decoded: {error}"
        raise _refusal("not-decodable", message, Place(source, 1, 1)) from None


def _refusal(code: str, message: str, place: Place) -> DescriptionError:
    diagnostics = Diagnostics()
    diagnostics.error(code, message, place)
    return DescriptionError(diagnostics)


def _line_column_of(utf8: bytes, needle: bytes) -> tuple[int, int]:
    offset = max(utf8.find(needle), 0)
    line_start = utf8.rfind(b"\n", 0, offset) + 1
    return utf8.count(b"\n", 0, offset) + 1, len(utf8[line_start:offset].decode()) + 1
