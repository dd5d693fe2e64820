# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Places of elements and attributes of an XML text, computed by one pass when the first place is needed.

lxml only has line numbers, and none for attributes. A file without problems has no cost for places.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from itertools import accumulate

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record

_TAG_MARK = pattern(rb"""[>"']""")
_ATTRIBUTE = pattern(rb"""\s([^\s=/>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_NAME = pattern(rb"[^\s/>]+")
_INTERNAL_SUBSET = rb"""\[(?:<!--.*?-->|<\?.*?\?>|"[^"]*"|'[^']*'|<(?!!--|\?)|[^\]"'<])*\]"""
SKIPPED = pattern(
    rb"""<(?:!--.*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>|!DOCTYPE(?:"[^"]*"|'[^']*'|"""
    + _INTERNAL_SUBSET
    + rb"""|[^>"'\[])*>)""",
    re.DOTALL,
)
"""Parts that look like tags and are not: comments, CDATA sections, instructions, the whole document type."""
_MARKUP = pattern(
    SKIPPED.pattern + rb"""|<(?:(/)[^>]*|[^>"'!?][^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)*)>""",
    re.DOTALL,
)
"""A skipped part, an end tag (its slash is a group), or a start tag."""
_SLASH = ord("/")
_NOT_TAGS = b"!?"
_CONTINUATION = bytes(range(0x80, 0xC0))
_BLOCK = 4096


class SourceMap:
    """Places of all elements of one text; elements are numbered in document order from 0 (the root)."""

    def __init__(self, source: str, text: bytes) -> None:
        self.source = source
        self.text = text

    @cached_property
    def _index(self) -> ElementIndex:
        return ElementIndex(self.text)

    def place(self, number: int, attribute: str | None = None) -> SourcePlace:
        """Return the place of element number `number`, or of its `attribute` if the tag has it.

        A negative `number` means an element that is in no text; its place is the whole source.
        """
        index = self._index
        if number < 0 or number >= len(index.offset):
            return SourcePlace(self.source)
        path = index.path(number)
        offset = index.offset[number]
        if attribute is not None:
            path = f"{path}/@{attribute}"
            offset = index.attribute(number, attribute.encode())
        return SourcePlace(self.source, *index.line_column(offset), path)

    def element_at(self, line: int, column: int) -> int | None:
        """Return the number of the element that begins at or before a position; None for an unknown line."""
        lines = self.text.split(b"\n")
        if not 0 < line <= len(lines) or not self.offsets:
            return None
        before = lines[line - 1].decode("utf-8", "replace")[: column - 1]
        offset = sum(len(line) + 1 for line in lines[: line - 1]) + len(before.encode())
        return max(bisect_right(self.offsets, offset) - 1, 0)

    def place_finder(self, ordinal: int, attribute: str | None = None) -> Callable[[], SourcePlace]:
        """Return a function that computes `place` when called: a problem that is never read needs no place."""
        return partial(self.place, ordinal, attribute)

    def place_of_first(self, ordinal: int, attributes: Iterable[str]) -> SourcePlace:
        """Return the place of the first of `attributes` that the tag of an element has; else the place of the tag."""
        has = self._index.has if 0 <= ordinal < len(self._index.offset) else lambda *_: False
        return self.place(ordinal, next((attribute for attribute in attributes if has(ordinal, attribute)), None))

    def first_child(self, ordinal: int, tag: str) -> int | None:
        """Return the number of the first child of an element with this tag and prefix; None without such a child."""
        return self._index.first_child(ordinal, tag) if 0 <= ordinal < len(self._index.offset) else None

    def verbatim(self, ordinal: int) -> str:
        """Return the text of element number `ordinal`, unchanged, from its first to its last character."""
        start, end = self.span(ordinal)
        return self.text[start:end].decode()

    def span(self, ordinal: int) -> tuple[int, int]:
        """Return the first and one-past-last byte of element number `ordinal` in the UTF-8 text."""
        return self._index.offset[ordinal], self._index.end(ordinal)

    def attribute_offset(self, ordinal: int, attribute: str) -> int:
        """Return the first byte of an attribute's name in the tag of element `ordinal`; of the tag if it has no such
        attribute.
        """
        return self._index.attribute(ordinal, attribute.encode())

    def value_span(self, ordinal: int, attribute: str) -> tuple[int, int] | None:
        """Return the first and one-past-last byte of an attribute's value; None if element `ordinal` has none."""
        return self._index.value(ordinal, attribute.encode())

    @property
    def offsets(self) -> list[int]:
        """The first byte of every element in the UTF-8 text, by number."""
        return self._index.offset

    def inner_span(self, ordinal: int) -> tuple[int, int]:
        """Return the first and one-past-last byte of the content between the tags of element number `ordinal`.

        For an empty-element tag, both are the end of the element.
        """
        return self._index.inner(ordinal)


class Lines:
    """Offsets of the line starts of a UTF-8 text."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._is_ascii = text.isascii()
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split(b"\n"))]

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of a byte of the text; both count from 1, columns in characters."""
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return line, offset - start - (self._continuations(offset) - self._continuations(start)) + 1

    def _continuations(self, offset: int) -> int:
        """Return the number of continuation bytes before a byte of the text."""
        if self._is_ascii:
            return 0
        block = offset // _BLOCK
        return self._blocks[block] + _continuation_count(self._text[block * _BLOCK : offset])

    @cached_property
    def _blocks(self) -> list[int]:
        """Continuation bytes before each block, computed once: a line may be long and have many problems."""
        blocks = range(0, len(self._text), _BLOCK)
        return [0, *accumulate(_continuation_count(self._text[block : block + _BLOCK]) for block in blocks)]


def _continuation_count(text: bytes) -> int:
    return len(text) - len(text.translate(None, _CONTINUATION))


@record(frozen=True)
class SourceText:
    """The UTF-8 text of a source, which messages call `source`."""

    utf8: bytes
    source: str

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.utf8)

    def place(self, offset: int) -> SourcePlace:
        """Return the place of a byte of the text."""
        return SourcePlace(self.source, *self.lines.line_column(offset))


class PartPlaces(SourceMap):
    """Places of one element of a text and of its content; number 0 is this element.

    The text of the part may come from elsewhere: then `first` is negative and every place is the whole source.
    """

    def __init__(self, whole: SourceMap, first: int, text: bytes) -> None:
        """Take element number `first` of `whole`, which has the text `text`."""
        super().__init__(whole.source, text)
        self._whole = whole
        self._first = first

    def place(self, ordinal: int, attribute: str | None = None) -> SourcePlace:
        """Return the place of element number `ordinal` of the part in the whole text."""
        return self._whole.place(self._first + ordinal if min(self._first, ordinal) >= 0 else -1, attribute)


class ElementIndex:
    """Offset, end tag and parent of every element of a well-formed text."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        # Cache: many problems may be in one tag with many attributes, or below it; each tag is searched once.
        self._labels: dict[int, str] = {}
        self._last_tag: tuple[int, dict[bytes, re.Match[bytes]]] = (-1, {})
        self._numbers: dict[int, dict[int, int]] = {}
        self.line_column = Lines(text).line_column
        self.offset: list[int] = []
        self._end_tag: list[int] = []
        self._parents: list[int] = []
        open_elements = [-1]
        for found in _MARKUP.finditer(text):
            start, end = found.span()
            if found.lastindex:
                self._end_tag[open_elements.pop()] = start
            elif text[start + 1] not in _NOT_TAGS:
                self._parents.append(open_elements[-1])
                if text[end - 2] != _SLASH:
                    open_elements.append(len(self.offset))
                self.offset.append(start)
                self._end_tag.append(-1)

    def attribute(self, ordinal: int, name: bytes) -> int:
        """Return the offset of attribute `name` in the start tag of element `ordinal`; of the tag if it has no such
        attribute.
        """
        found = self._attributes(ordinal).get(name)
        return self.offset[ordinal] if found is None else found.start(1)

    def value(self, ordinal: int, name: bytes) -> tuple[int, int] | None:
        """Return the first and one-past-last byte between the quotes of attribute `name` of an element, if any."""
        found = self._attributes(ordinal).get(name)
        return None if found is None else (found.start(2) + 1, found.end(2) - 1)

    def has(self, ordinal: int, name: str) -> bool:
        """Return True if the start tag of element `ordinal` has the attribute `name`."""
        return name.encode() in self._attributes(ordinal)

    def _attributes(self, ordinal: int) -> dict[bytes, re.Match[bytes]]:
        if self._last_tag[0] != ordinal:
            offset = self.offset[ordinal]
            found = _ATTRIBUTE.finditer(self._text, offset, start_tag_end(self._text, offset))
            self._last_tag = (ordinal, {match.group(1): match for match in found})
        return self._last_tag[1]

    def end(self, ordinal: int) -> int:
        """Return the offset one past the last byte of element `ordinal`."""
        start, closed = self._start_tag_end(ordinal)
        return start if closed else self._text.index(b">", self._end_tag[ordinal]) + 1

    def inner(self, ordinal: int) -> tuple[int, int]:
        """Return the offsets of the content between the tags of element `ordinal`."""
        start, closed = self._start_tag_end(ordinal)
        return (start, start) if closed else (start, self._end_tag[ordinal])

    def _start_tag_end(self, ordinal: int) -> tuple[int, bool]:
        """Return the end of the start tag, and True for an empty-element tag.

        expat reports the end of an element at the start of its end tag, but behind an empty-element tag.
        """
        end = start_tag_end(self._text, self.offset[ordinal])
        return end, self._text[end - 2 : end] == b"/>"

    def path(self, number: int) -> str:
        """Return the path of element `number` from the root; as an XPath, its first match is the element.

        Each step has the tag and name, and a number if earlier siblings have the same tag and name.
        """
        labels: list[str] = []
        while number >= 0:
            if number not in self._labels:
                self._labels[number] = self._label(number)
            labels.append(self._labels[number])
            number = self._parents[number]
        return "/" + "/".join(reversed(labels))

    def _label(self, number: int) -> str:
        tag, name = self._tag_and_name(number)
        parent = self._parents[number]
        if parent < 0:
            return tag
        if name is not None:
            quote = '"' if "'" in name else "'"
            tag = f"{tag}[@name={quote}{name}{quote}]"
        nth = self._numbers_below(parent)[number]
        return tag if nth == 1 else f"{tag}[{nth}]"

    def _numbers_below(self, parent: int) -> dict[int, int]:
        """Return each child's number among the siblings of its tag; with a name, among those with the same name too."""
        numbers = self._numbers.get(parent)
        if numbers is None:
            numbers = self._numbers[parent] = {}
            seen: Counter[tuple[str, str | None]] = Counter()
            for child in self._children(parent):
                tag, name = self._tag_and_name(child)
                seen[tag, None] += 1
                if name is not None:
                    seen[tag, name] += 1
                numbers[child] = seen[tag, name]
        return numbers

    def first_child(self, ordinal: int, tag: str) -> int | None:
        """Return the first child of element `ordinal` with the tag."""
        return next((child for child in self._children(ordinal) if self._tag_and_name(child)[0] == tag), None)

    def _children(self, parent: int) -> list[int]:
        return self._by_parent.get(parent, [])

    @cached_property
    def _by_parent(self) -> defaultdict[int, list[int]]:
        """The elements below each parent, in document order."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for element, parent in enumerate(self._parents):
            children[parent].append(element)
        return children

    def _tag_and_name(self, ordinal: int) -> tuple[str, str | None]:
        # Import here: only the path of a problem needs it.
        import html

        tag = _NAME.match(self._text, self.offset[ordinal] + 1)
        name = self._attributes(ordinal).get(b"name")
        return (
            tag.group().decode() if tag else "",
            None if name is None else html.unescape(name.group(2)[1:-1].decode()),
        )


def start_tag_end(text: bytes, start: int) -> int:
    """Return the offset one past the tag that begins at `start` of a well-formed text."""
    ordinal = start
    while (found := _TAG_MARK.search(text, ordinal)) is not None and found.group() != b">":
        ordinal = text.find(found.group(), found.end()) + 1
    return start if found is None else found.end()
