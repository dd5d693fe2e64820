# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Edits of an XML text in place: the rest keeps every byte, with comments, order and indentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lxml import etree

from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.xml.reader import forgiving_utf8, parse_xml
from robot_semantics.xml.source_map import start_tag_end

_TAG_NAME = pattern(rb"""<[^\s/>]+""")
_ATTRIBUTE = pattern(rb"""\s([^\s=/>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_DECLARED_ENCODING = pattern(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_COMMENTS_TO_LINE_END = pattern(rb"[ \t]*(?:<!--(?:(?!-->)[^\n])*-->[ \t]*)+(?=\r?\n)")
DEFAULT_INDENT = "  "
"""Indentation of one level if the text has none."""


class Edit(NamedTuple):
    """One replacement: bytes `start` to `end` of the UTF-8 text become `text`."""

    start: int
    end: int
    text: bytes


@record(frozen=True, slots=True)
class NewElement:
    """A new element to write: tag, attributes in order, children."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[NewElement, ...] = ()

    def lines(self, indent: str, unit: str) -> Iterator[str]:
        """Yield the element's lines; the first line has no indentation."""
        start = "".join((self.tag, *(f' {name}="{escape(value)}"' for name, value in self.attributes)))
        if not self.children:
            yield f"<{start}/>"
            return
        yield f"<{start}>"
        for child in self.children:
            first, *others = child.lines(indent + unit, unit)
            yield indent + unit + first
            yield from others
        yield f"{indent}</{self.tag}>"


class XmlText:
    """A well-formed XML text as a value; each edit returns a new, checked text.

    An element is named by its number in document order, as in `robot_semantics.xml.reader.SourceMap`.
    """

    def __init__(self, text: str | bytes, source: str) -> None:
        """Keep the text unchanged.

        Raises:
            DescriptionError: the text is not well-formed XML.
        """
        self.source = source
        self.document = parse_xml(text, source, forgiving=True)
        self.places = self.document.places
        # The parser may change forgiven parts, with the same number of bytes; edits need the original text.
        self.utf8, odd_bytes = forgiving_utf8(text, source)
        self.original = _encoded(self.utf8, self.utf8) if odd_bytes or isinstance(text, str) else text

    @property
    def root(self) -> etree._Element:
        """The root element, read-only."""
        return self.document.root

    @property
    def newline(self) -> str:
        """The line end of the text."""
        return "\r\n" if b"\r\n" in self.utf8 else "\n"

    @property
    def unit(self) -> str:
        """The indentation of one level, taken from the root's first child."""
        first = next(iter(self.root.iterchildren("*")), None)
        indent = self._indent_of(self.document.ordinal(first)) if first is not None else None
        return indent or DEFAULT_INDENT

    def edited(self, edits: Iterable[Edit]) -> XmlText:
        """Return the text with all `edits`; edits must not overlap.

        Raises:
            DescriptionError: the result is not well-formed.
        """
        parts: list[bytes] = []
        last = 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if edit.start < last:
                raise ValueError("edits overlap")
            parts += (self.utf8[last : edit.start], edit.text)
            last = edit.end
        if not parts:
            return self
        return XmlText(_encoded(b"".join((*parts, self.utf8[last:])), self.original), self.source)

    def attribute(self, ordinal: int, name: str, value: str) -> Edit:
        """Return the edit that sets an attribute of an element: in its old quotes, or new at the end of the tag."""
        start, _ = self.places.span(ordinal)
        tag = self._start_tag(ordinal)
        name_end = len(_TAG_NAME.match(tag).group())  # type: ignore[union-attr]  # a start tag has a name
        last = name_end
        for found in _ATTRIBUTE.finditer(tag, name_end):
            last = found.end()
            if found.group(1) == name.encode():
                quote = found.group(2)[:1].decode()
                return Edit(start + found.start(2), start + last, f"{quote}{escape(value, quote)}{quote}".encode())
        return Edit(start + last, start + last, f' {name}="{escape(value)}"'.encode())

    def attribute_removal(self, number: int, name: str) -> Edit:
        """Return the edit that removes an attribute of element `number` with the white space before it.

        An element without the attribute gives an edit that changes nothing.
        """
        start, _ = self.places.span(number)
        tag = self._start_tag(number)
        name_end = len(_TAG_NAME.match(tag).group())  # type: ignore[union-attr]  # a start tag has a name
        last = name_end
        for found in _ATTRIBUTE.finditer(tag, name_end):
            if found.group(1) == name.encode():
                return Edit(start + last, start + found.end(), b"")
            last = found.end()
        return Edit(start + last, start + last, b"")

    def removal(self, ordinal: int) -> Edit:
        """Return the edit that removes element `ordinal`, and its line if the line has nothing else."""
        start, end = self.places.span(ordinal)
        before, after = self._blank_before(start), self._blank_after(end)
        alone_before = before == 0 or self.utf8[before - 1 : before] == b"\n"
        line_end = re.compile(rb"\r?\n").match(self.utf8, after)
        if alone_before and line_end:
            return Edit(before, line_end.end(), b"")
        return Edit(start if alone_before else before, after if alone_before else end, b"")

    def insertion(self, elements: Sequence[NewElement], parent: int, after: int | None) -> Edit:
        """Return the edit that writes `elements` into `parent`: after child `after`, or before the end tag if it is
        None.
        """
        if after is not None:
            return self._insertion_after(elements, after)
        start, end = self.places.span(parent)
        outer = self._indent_of(parent) or ""
        lines = self._lines(elements, outer + self.unit)
        inner_start, inner_end = self.places.inner_span(parent)
        tag = self._start_tag(parent)
        if tag.endswith(b"/>"):
            name = _TAG_NAME.match(tag).group()[1:].decode()  # type: ignore[union-attr]  # a start tag has a name
            open_end = len(tag[:-2].rstrip())
            return Edit(start + open_end, end, f">{lines}{self.newline}{outer}</{name}>".encode())
        before = self._blank_before(inner_end)
        if before > inner_start and self.utf8[before - 1 : before] == b"\n":
            tail = before - 2 if self.utf8[before - 2 : before] == b"\r\n" else before - 1
            return Edit(tail, tail, lines.encode())
        return Edit(inner_end, inner_end, f"{lines}{self.newline}{outer}".encode())

    def insertion_at_start(self, elements: Sequence[NewElement], parent: int) -> Edit:
        """Return the edit that writes `elements` as the first children of `parent`, which must have children."""
        inner_start, _ = self.places.inner_span(parent)
        lines = self._lines(elements, (self._indent_of(parent) or "") + self.unit)
        return Edit(inner_start, inner_start, lines.encode())

    def _insertion_after(self, elements: Sequence[NewElement], sibling: int) -> Edit:
        _, end = self.places.span(sibling)
        indent = self._indent_of(sibling)
        if indent is None:
            inline = "".join("".join(element.lines("", "")) for element in elements)
            return Edit(end, end, inline.encode())
        remark = _COMMENTS_TO_LINE_END.match(self.utf8, end)
        end = remark.end() if remark else end
        return Edit(end, end, self._lines(elements, indent).encode())

    def _lines(self, elements: Sequence[NewElement], indent: str) -> str:
        """Return the elements as lines; each line begins with a line end."""
        parts: list[str] = []
        for element in elements:
            first, *others = element.lines(indent, self.unit)
            parts += (indent + first, *others)
        return "".join(self.newline + part for part in parts)

    def _indent_of(self, ordinal: int) -> str | None:
        """Return the white space before element `ordinal` if the element begins its line, else None."""
        start, _ = self.places.span(ordinal)
        before = self._blank_before(start)
        if before and self.utf8[before - 1 : before] != b"\n":
            return None
        return self.utf8[before:start].decode()

    def _blank_before(self, offset: int) -> int:
        while offset and self.utf8[offset - 1 : offset] in (b" ", b"\t"):
            offset -= 1
        return offset

    def _blank_after(self, offset: int) -> int:
        while self.utf8[offset : offset + 1] in (b" ", b"\t"):
            offset += 1
        return offset

    def _start_tag(self, ordinal: int) -> bytes:
        start, _ = self.places.span(ordinal)
        return self.utf8[start : start_tag_end(self.utf8, start)]


_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def _encoded(utf8: bytes, like: bytes) -> bytes:
    """Return a UTF-8 text in the encoding of another text, with the same byte-order mark."""
    text = utf8.decode()
    for mark, encoding in _MARKS:
        if like.startswith(mark):
            return mark + text.encode(encoding)
    declared = _DECLARED_ENCODING.match(like)
    try:
        return text.encode(declared.group(1).decode() if declared else "utf-8", "xmlcharrefreplace")
    except LookupError:
        return utf8


def escape(value: str, quote: str = '"') -> str:
    """Return `value` escaped for an attribute in `quote` signs."""
    value = value.replace("&", "&amp;").replace("<", "&lt;")
    value = re.sub(r"[\t\n\r]", lambda found: f"&#{ord(found.group())};", value)
    return value.replace(quote, "&quot;" if quote == '"' else "&apos;")
