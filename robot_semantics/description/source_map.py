"""Where each element and attribute of an XML text stands, found by one pass and only when the first place is asked for.

lxml knows only lines, and none for attributes. A clean file never pays for better.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from functools import cached_property

from robot_semantics.diagnostics import Place

START_TAG = re.compile(rb"""<(?:"[^"]*"|'[^']*'|[^>"'])*>""")
_ATTRIBUTE = re.compile(rb"""\s([^\s=/>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_NAME = re.compile(rb"[^\s/>]+")
_MARKUP = re.compile(
    rb"""<(?:!--.*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>|!DOCTYPE(?:"[^"]*"|'[^']*'|\[.*?\]\s*(?=>)|[^>"'\[])*>"""
    rb"""|(?P<end>/)[^>]*>"""
    rb"""|[^\s/>!?](?:"[^"]*"|'[^']*'|[^>"'/]|/(?!>))*(?:(?P<empty>/>)|(?P<start>>)))""",
    re.DOTALL,
)


class SourceMap:
    """Where each element of one text stands; elements are numbered in document order from 0 (the root)."""

    def __init__(self, source: str, text: bytes) -> None:
        self.source = source
        self.text = text

    @cached_property
    def _index(self) -> ElementIndex:
        return ElementIndex(self.text)

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


class ElementIndex:
    """What one pass over a well-formed text finds: offset, end tag and parent of every element.

    A regular expression over the text does it in half the time of an XML parser that calls back for each tag.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self.offset: list[int] = []
        self._parent: list[int] = []
        self._end_tag: list[int] = []
        offsets, parents, end_tags = self.offset, self._parent, self._end_tag
        parent = -1
        for found in _MARKUP.finditer(text):
            kind = found.lastgroup
            if kind == "end":
                end_tags[parent] = found.start()
                parent = parents[parent]
            elif kind is not None:
                at = len(offsets)
                offsets.append(found.start())
                parents.append(parent)
                end_tags.append(-1)
                if kind == "start":
                    parent = at

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer(b"\n", self._text))]

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, columns in characters, of a byte of the text."""
        line = bisect_right(self._lines, offset)
        return line, len(self._text[self._lines[line - 1] : offset].decode()) + 1

    def attribute(self, at: int, name: bytes) -> int:
        """Return the offset of the attribute `name` in the start tag of element `at`; of the tag, if it has none."""
        tag = START_TAG.match(self._text, self.offset[at])
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
        tag = START_TAG.match(self._text, self.offset[at])
        end = tag.end() if tag else self.offset[at]
        return end, self._text[end - 2 : end] == b"/>"

    def path(self, at: int) -> str:
        """Return the path of element `at` from the root, named elements by their name, others by their number."""
        labels: list[str] = []
        while at >= 0:
            labels.append(self._label(at))
            at = self._parent[at]
        return "/" + "/".join(reversed(labels))

    def _label(self, at: int) -> str:
        tag, name = self._tag_and_name(at)
        parent = self._parent[at]
        if parent < 0:
            return tag
        if name is not None:
            return f"{tag}[@name='{name}']"
        before = [other for other in range(parent + 1, at) if self._parent[other] == parent]
        nth = 1 + sum(self._tag_and_name(other) == (tag, None) for other in before)
        return tag if nth == 1 else f"{tag}[{nth}]"

    def _tag_and_name(self, at: int) -> tuple[str, str | None]:
        start = START_TAG.match(self._text, self.offset[at])
        end = start.end() if start else self.offset[at]
        tag = _NAME.match(self._text, self.offset[at] + 1)
        for found in _ATTRIBUTE.finditer(self._text, self.offset[at], end):
            if found.group(1) == b"name":
                return tag.group().decode() if tag else "", html.unescape(found.group(2)[1:-1].decode())
        return tag.group().decode() if tag else "", None
