# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Long documents are read child by child of their root: a whole tree takes 18 times the memory of its text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import cast

from lxml import etree

from robot_semantics.xml.decoding import utf8_of
from robot_semantics.xml.reader import XmlDocument, parse_xml
from robot_semantics.xml.source_map import SourceMap, SourceText
from robot_semantics.xml.well_formed import OPTIONS, is_faultless, name_of_root, not_well_formed, starts_with_doctype

_PIECE = 1 << 16
_SMALL = 1 << 20
"""Texts up to this many bytes get a tree: reading is 20 % faster, and the tree takes at most 20 MB."""


def parse_streamed(text: str | bytes, source: str) -> XmlDocument:
    """Parse a text as the forgiving `parse_xml` does; if it is long and has no fault, without a tree.

    Raises:
        DescriptionError: as `parse_xml`.
    """
    read = SourceText(utf8_of(text, source), source)
    if len(read.utf8) > _SMALL and not starts_with_doctype(read.utf8) and is_faultless(read):
        # Only a parser with a tree has the limits of depth and of the length of a text.
        with suppress(etree.XMLSyntaxError):
            return StreamedDocument(read)
    return parse_xml(text, source, forgiving=True)


class StreamedDocument(XmlDocument):
    """A document whose tree is made only if it is used; the first `children` need none."""

    def __init__(self, text: SourceText) -> None:
        """Begin to parse a text without faults.

        Raises:
            etree.XMLSyntaxError: the beginning is beyond a limit of the parser.
        """
        utf8 = text.utf8
        super().__init__(None, SourceMap(text.source, utf8))
        self._parser = etree.XMLPullParser(("start",), tag=f"{{*}}{name_of_root(utf8)}", **OPTIONS)
        self._pieces = (utf8[at : at + _PIECE] for at in range(0, len(utf8), _PIECE))
        self._is_read = False
        self._head: etree._Element | None = None
        # The text before the first child may be in several pieces.
        while self._head is None or not len(self._head):
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._parser.feed(piece)
            events = cast("Iterator[tuple[str, etree._Element]]", self._parser.read_events())
            if self._head is None:
                self._head = next((element for _, element in events), None)

    @property
    def head(self) -> etree._Element:
        """The root, without the children that are read already."""
        return self.root if self._head is None else self._head

    def children(self) -> Iterator[etree._Element]:
        """Yield each child of the root and remove it afterwards; later calls yield those of the tree.

        Raises:
            DescriptionError: elements are nested too deep, or a text is too long.
        """
        if self._head is None or self._is_read:
            yield from self.root
            return
        self._is_read = True
        try:
            for piece in self._pieces:
                # The last child may be incomplete, or text may follow it.
                yield from self._head[:-1]  # type: ignore[index]  # lxml slices, which its stubs do not know
                del self._head[:-1]
                self._parser.feed(piece)
            self._parser.close()
        except etree.XMLSyntaxError as error:
            text = SourceText(self.places.text, self.places.source)
            raise not_well_formed(str(error.msg), text, *error.position) from None
        yield from self._head
