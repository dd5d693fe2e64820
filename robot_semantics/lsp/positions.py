# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Offsets in a text and positions in the units of an editor."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

import numpy as np
from lsprotocol import types

from robot_semantics.base.diagnostics import SourcePlace

_LINE_END = re.compile(r"\r\n|\r|\n")
_MARKED = re.compile(r"""[^\s=/>"'<]+\s*=\s*(?:"[^"]*"|'[^']*')|</?[^\s/>]+|\S""")
_WORD = re.compile(r"""[\w./-]+|"[^"\n]*"|'[^'\n]*'|\S""")
_XML_LINE_END = re.compile("\n")
_YAML_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_ENCODERS = {types.PositionEncodingKind.Utf8: ("utf-8", 1), types.PositionEncodingKind.Utf16: ("utf-16-le", 2)}
"""Python's encoding and the bytes of one unit; in UTF-32, a unit is a character."""


class TextPositions:
    """Positions of one text; those of pygls are in lines of Python, which end at more characters than an editor's."""

    def __init__(self, text: str, encoding: types.PositionEncodingKind | str, *, is_yaml: bool = False) -> None:
        self._text = text
        self._counted = _YAML_LINE_END if is_yaml else _XML_LINE_END
        self._encoding = encoding
        self._mark = text.startswith("\ufeff")
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def position(self, offset: int) -> types.Position:
        """Return the editor's position of a character."""
        line = bisect_right(self._starts, offset) - 1
        return types.Position(line, self._units(self._text[self._starts[line] : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the editor's range of the characters from `start` to `end`."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """Return the character at a position; a position outside of the text is moved into it."""
        if position.line >= len(self._starts):
            return len(self._text)
        start = self._starts[position.line]
        after = self._starts[position.line + 1] if position.line + 1 < len(self._starts) else len(self._text)
        line = self._text[start:after].rstrip("\r\n")
        if line.isascii() or self._encoding not in _ENCODERS:
            return start + min(position.character, len(line))
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return start + index
            units += self._units(character)
        return start + len(line)

    def _units(self, text: str) -> int:
        if text.isascii() or self._encoding not in _ENCODERS:
            return len(text)
        encoding, size = _ENCODERS[types.PositionEncodingKind(self._encoding)]
        return len(text.encode(encoding, "surrogatepass")) // size

    def place_range(self, place: SourcePlace) -> types.Range:
        """Return the range of the attribute or the tag at a place; of the first line if the place has none."""
        start = self.place_offset(place)
        found = (_WORD if self._counted is _YAML_LINE_END else _MARKED).match(self._text, start)
        return self.range(start, found.end() if found else start)

    def place_offset(self, place: SourcePlace) -> int:
        """Return the character at a place."""
        starts = self._counted_starts
        line = min(max(place.line, 1), len(starts))
        return min(starts[line - 1] + max(place.column - 1, 0) + (self._mark and line == 1), len(self._text))

    @cached_property
    def _counted_starts(self) -> list[int]:
        """Starts of the lines as places count them."""
        return [0, *(found.end() for found in self._counted.finditer(self._text))]

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in characters of two bytes of the UTF-8 text without a byte-order mark."""
        before, until = np.searchsorted(self._continued, (start, end))
        return start - int(before) + self._mark, end - int(until) + self._mark

    @cached_property
    def _continued(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """The bytes of the UTF-8 text that continue a character."""
        utf8 = np.frombuffer(self._text[self._mark :].encode("utf-8", "surrogatepass"), np.uint8)
        return np.flatnonzero(utf8 & 0xC0 == 0x80)
