"""Text to an XML tree, safely, with the exact place of every element and attribute.

lxml gives the tree (fast) but knows only lines, and none for attributes. Places are therefore worked out by a second,
expat, pass over the text, and only when the first problem has to be reported: a clean file never pays for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from xml.parsers import expat

from lxml import etree

from robot_semantics.diagnostics import Diagnostics, Place

MAX_BYTES = 64 * 1024 * 1024
"""Longest text that is read [bytes]; the largest real robot description known is under 2 MB."""

_ATTRIBUTE = rb"""\s(%s)\s*=\s*(?:"[^"]*"|'[^']*')"""


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
        line, column, path = index.line[at], index.column[at], index.path(at)
        if attribute is not None:
            path = f"{path}/@{attribute}"
            found = re.search(_ATTRIBUTE % re.escape(attribute.encode()), index.start_tag(at))
            if found:
                line, column = index.line_column(index.offset[at] + found.start(1))
        return Place(self.source, line, column, path)

    def verbatim(self, at: int) -> str:
        """Return the text of element number `at` from its first to its last character, as it stands."""
        start, end = self.span(at)
        return self._index.utf8[start:end].decode()

    def span(self, at: int) -> tuple[int, int]:
        """Return the first and one-past-last byte of element number `at` in the UTF-8 text."""
        return self._index.offset[at], self._index.end(at)


class _ElementIndex:
    """What one expat pass over the text finds: offset, line, column, parent and name of every element."""

    def __init__(self, text: bytes) -> None:
        self.utf8 = text
        self.offset: list[int] = []
        self.line: list[int] = []
        self.column: list[int] = []
        self._label: list[str] = []
        self._parent: list[int] = []
        self._end_tag: list[int] = []
        self._lines = [0, *(found.end() for found in re.finditer(b"\n", text))]
        stack = [-1]
        # The text is always UTF-8 here, whatever its declaration says: `XmlDocument` has re-encoded it.
        parser = expat.ParserCreate("utf-8")

        def start(tag: str, attributes: dict[str, str]) -> None:
            name = attributes.get("name")
            self._label.append(tag if name is None else f"{tag}[@name='{name}']")
            self._parent.append(stack[-1])
            stack.append(len(self.offset))
            self.offset.append(parser.CurrentByteIndex)
            line, column = self.line_column(parser.CurrentByteIndex)
            self.line.append(line)
            self.column.append(column)
            self._end_tag.append(-1)

        def end(_tag: str) -> None:
            self._end_tag[stack.pop()] = parser.CurrentByteIndex

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.Parse(text, True)

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, columns in characters, of a byte of the text."""
        line = bisect_right(self._lines, offset)
        return line, len(self.utf8[self._lines[line - 1] : offset].decode()) + 1

    def start_tag(self, at: int) -> bytes:
        """Return the start tag of element `at`, angle brackets included."""
        found = re.compile(rb"""<(?:"[^"]*"|'[^']*'|[^>"'])*>""").match(self.utf8, self.offset[at])
        return found.group() if found else b""

    def end(self, at: int) -> int:
        """Return the offset one past the last byte of element `at`."""
        # For an empty-element tag expat reports the end at the tag's own start.
        last = self._end_tag[at]
        return self.utf8.index(b">", last) + 1 if last > self.offset[at] else last + len(self.start_tag(at))

    def path(self, at: int) -> str:
        """Return the path of element `at` from the root, named elements by their name."""
        labels: list[str] = []
        while at >= 0:
            labels.append(self._label[at])
            at = self._parent[at]
        return "/" + "/".join(reversed(labels))


class XmlDocument:
    """A well-formed text: its lxml tree (comments kept, entities refused) and its `places`."""

    def __init__(self, root: etree._Element, places: SourceMap) -> None:
        self.root = root
        self.places = places

    @cached_property
    def _ordinals(self) -> dict[etree._Element, int]:
        return {element: at for at, element in enumerate(self.root.iter("*"))}

    def at(self, element: etree._Element) -> int:
        """Return the number of `element` in document order, as `SourceMap.place` takes it."""
        return self._ordinals[element]

    def place(self, element: etree._Element, attribute: str | None = None) -> Place:
        """Return the place of `element`, or of its `attribute`."""
        return self.places.place(self.at(element), attribute)


def parse_xml(text: str | bytes, source: str) -> XmlDocument:
    """Parse `text`, called `source` in every message.

    Entity declarations, external entities, network access and recovery from errors are off.

    Raises:
        DescriptionError: the text is too large, nested too deep, not decodable, not well-formed, or declares entities;
            the one diagnostic has line and column.
    """
    diagnostics = Diagnostics()
    if len(text) > MAX_BYTES:
        diagnostics.error(
            "too-large", f"the text has {len(text):,} bytes; at most {MAX_BYTES:,} are read", Place(source)
        )
        diagnostics.raise_if_failed()
    utf8 = _as_utf8(text, source, diagnostics)
    if not utf8.strip():
        diagnostics.error("empty-document", "the text is empty", Place(source, 1, 1))
        diagnostics.raise_if_failed()
    parser = etree.XMLParser(
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
    try:
        root = etree.fromstring(utf8, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        message = re.sub(r", line \d+, column \d+.*$", "", str(error.msg))
        diagnostics.error("not-well-formed", f"not well-formed XML: {message}", Place(source, max(line, 1), max(column, 1)))
        diagnostics.raise_if_failed()
        raise
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        line, column = _line_column_of(utf8, b"<!ENTITY")
        diagnostics.error("entity-declared", "entity declarations are not read", Place(source, line, column))
        diagnostics.raise_if_failed()
    return XmlDocument(root, SourceMap(source, utf8))


def read_xml(path: str | Path) -> XmlDocument:
    """Read and parse a file.

    Raises:
        DescriptionError: as `parse_xml`, and when the file cannot be read.
    """
    return parse_xml(read_text(path), str(path))


def read_text(path: str | Path) -> bytes:
    """Return a file's bytes.

    Raises:
        DescriptionError: the file cannot be read, or is longer than `MAX_BYTES`.
    """
    diagnostics = Diagnostics()
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        diagnostics.error("unreadable", f"cannot be read: {error.strerror or error}", Place(str(path)))
        diagnostics.raise_if_failed()
        raise


def _as_utf8(text: str | bytes, source: str, diagnostics: Diagnostics) -> bytes:
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
        diagnostics.error("not-decodable", f"the text cannot be decoded: {error}", Place(source, 1, 1))
        diagnostics.raise_if_failed()
        raise


def _line_column_of(utf8: bytes, needle: bytes) -> tuple[int, int]:
    offset = max(utf8.find(needle), 0)
    line_start = utf8.rfind(b"\n", 0, offset) + 1
    return utf8.count(b"\n", 0, offset) + 1, len(utf8[line_start:offset].decode()) + 1
