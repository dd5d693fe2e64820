# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A text that is open in an editor or stands in the workspace: its positions, and the names in it."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from lsprotocol import types
from pygls.workspace import PositionCodec

from robot_semantics.base.diagnostic import Diagnostic, SourcePlace
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.pattern import pattern
from robot_semantics.bringup.checking import YamlText, is_yaml, read_sections
from robot_semantics.bringup.configuration import Section, SectionKind
from robot_semantics.bringup.name_checks import ConfiguredName, keys_of, keys_that_name, texts_of
from robot_semantics.bringup.ros2_controllers import JOINT_KEYS, MANAGER
from robot_semantics.model.authoring import URDF_REFERENCES
from robot_semantics.srdf.table import SRDF, SRDF_REFERENCES
from robot_semantics.urdf.table import URDF
from robot_semantics.usdf.table import USDF, USDF_REFERENCES
from robot_semantics.xml.document_kind import DocumentKind, document_kind
from robot_semantics.xml.edit import XmlText
from robot_semantics.xml.schema import Reference
from robot_semantics.xml.schema_reader import mentions
from robot_semantics.xml.xacro import is_xacro

KINDS = {
    **dict.fromkeys(JOINT_KEYS, ("joint",)),
    **dict.fromkeys(("joint_limits", "initial_positions"), ("joint",)),
    "controller_names": ("controller",),
    "": ("group", "controller"),
}
"""Kinds of names below a key; empty: at the start of the text."""

_KEY = pattern(r"(?P<indent> *)(?:- +)*(?P<key>[^\s:#'\"\[{-][^:#]*?) *:(?: .*)?$")
"""A line with a key."""


class YamlName(NamedTuple):
    """A name in a YAML text, the kind of thing that it names, and whether the thing is declared there."""

    kind: str
    use: ConfiguredName
    declares: bool = False


def yaml_names(section: Section) -> Iterator[YamlName]:
    """Yield the names of joints, groups and controllers in a section."""
    what, uses = keys_that_name(section)
    yield from (YamlName(what, use) for use in uses)
    if section.kind is SectionKind.CONTROLLERS:
        yield from _of_ros2_control(section)
    elif section.kind is SectionKind.MOVEIT_CONTROLLERS:
        yield from _of_moveit(section)


def _of_ros2_control(section: Section) -> Iterator[YamlName]:
    for use in keys_of(section.node):
        parameters = section.node.get(use.name, "ros__parameters")
        if parameters is not None and use.name.endswith(MANAGER):
            listed = (key for key in keys_of(parameters) if parameters.get(key.name, "type") is not None)
            yield from (YamlName("controller", key, declares=True) for key in listed)
        elif parameters is not None:
            yield YamlName("controller", use)
            named = (joint for key in JOINT_KEYS for joint in texts_of(parameters.get(key)))
            yield from (YamlName("joint", joint) for joint in named if "/" not in joint.name)


def _of_moveit(section: Section) -> Iterator[YamlName]:
    yield from (YamlName("controller", use) for use in texts_of(section.node.get("controller_names")))
    described = [(use, section.node.entries[use.name]) for use in keys_of(section.node)]
    listed = [(use, item) for item in section.node.items for use in texts_of(item.get("name"))]
    for use, node in (*described, *listed):
        if node.get("joints") is not None:
            yield YamlName("controller", use)
            yield from (YamlName("joint", joint) for joint in texts_of(node.get("joints")))


def kinds_at(text: str) -> tuple[tuple[str, ...], str]:
    """Return the kinds of names that fit at the end of a text, and the start of the name that is already written."""
    *before, last = text.split("\n")
    word = re.split(r"[^\w./-]", last)[-1].lstrip("-")
    start = last[: len(last) - len(word)]
    key = _KEY.match(last)
    if key is None and not start.strip(" -[,"):
        indent = len(start) - len(start.lstrip(" ")) + ("-" in start)
        above = (found for line in reversed(before) if (found := _KEY.match(line)) and len(found["indent"]) < indent)
        return KINDS.get(found["key"] if (found := next(above, None)) else "", ()), word
    # A value on the line of its key.
    return KINDS.get(key["key"], ()) if key else (), word


TABLES = {DocumentKind.URDF: URDF, DocumentKind.SRDF: SRDF, DocumentKind.USDF: USDF}
REFERENCES = {
    DocumentKind.URDF: URDF_REFERENCES,
    DocumentKind.SRDF: SRDF_REFERENCES,
    DocumentKind.USDF: USDF_REFERENCES,
}
_DECLARATIONS: frozenset[Reference] = frozenset(
    [
        *(("robot", "link", "name"), ("robot", "joint", "name"), ("link", "joint", "name")),
        *(("robot", tag, "name") for tag in ("virtual_joint", "group", "end_effector")),
    ]
)
_LINE_END = pattern(rb"\r\n|\r|\n")
_YAML_LINE_END = pattern(b"\r\n|[\n\r]|\xc2\x85|\xe2\x80[\xa8\xa9]")
_MARKED = pattern(rb"""[^\s=/>"'<]+\s*=\s*(?:"[^"]*"|'[^']*')|</?[^\s/>]+|[\x80-\xff]+|\S""")
_WORD = pattern(rb"""[\w./\x80-\xff-]+|"[^"\n]*"|'[^'\n]*'|\S""")


class NameOccurrence(NamedTuple):
    """One occurrence of a name in a text.

    Attributes:
        kinds: kinds of things that it may name.
        start, end: the first and one-past-last byte of the name.
        declares: True if the thing is declared here.
        ordinal: number of the element in the document.
    """

    kinds: tuple[str, ...]
    name: str
    start: int
    end: int
    declares: bool
    ordinal: int = -1


class Document:
    """A text under a name; it never changes: an edit makes another document.

    Offsets are in bytes of the UTF-8 text without a byte-order mark.

    Attributes:
        path: name of its file; the whole URI if it has none.
        version: number that the editor gave to the text; None for a file that is not open.
    """

    def __init__(
        self, path: str, text: str, codec: PositionCodec, version: int | None = None, before: Document | None = None
    ) -> None:
        """`before` is the document that an edit replaces; its last well-formed text is kept."""
        self.path, self.version, self._codec = path, version, codec
        self.text = text.removeprefix("\ufeff")
        self.utf8 = self.text.encode("utf-8", "surrogatepass")
        self.data = codecs.BOM_UTF8 + self.utf8
        """The text for the readers; the mark says UTF-8, whatever encoding the XML declaration states."""
        self._marked = len(text) - len(self.text)
        self._before = None if before is None else before.readable
        self.is_yaml = is_yaml(path)
        self.is_xacro = is_xacro(path)

    # --- content

    @cached_property
    def parsed(self) -> XmlText | tuple[Diagnostic, ...]:
        """The text as XML, or the reason why it is not well-formed; no reason for YAML."""
        if self.is_yaml:
            return ()
        try:
            return XmlText(self.data, self.path)
        except DescriptionError as error:
            return error.diagnostics

    @property
    def xml(self) -> XmlText | None:
        """The text as XML; None if it is not well-formed."""
        return self.parsed if isinstance(self.parsed, XmlText) else None

    @property
    def readable(self) -> Document:
        """The document itself, or the last one before that was well-formed."""
        return self if self.xml is not None or self._before is None else self._before

    @cached_property
    def kind(self) -> DocumentKind | None:
        """The kind by the content of the readable text; None if it is unknown."""
        xml = self.readable.xml
        return document_kind(xml.root, self.path) if xml is not None else None

    @cached_property
    def robot_name(self) -> str:
        """The name of the root element of the readable text."""
        xml = self.readable.xml
        return (xml.root.get("name") or "").strip() if xml is not None else ""

    @cached_property
    def sections(self) -> YamlText:
        """The known sections of a YAML text; an empty one is still to be written, and no problem."""
        return read_sections(self.utf8, self.path) if self.text.strip() else YamlText()

    @cached_property
    def uses(self) -> tuple[NameOccurrence, ...]:
        """Every name at a known place of the text, in document order."""
        return tuple(self._yaml_uses() if self.is_yaml else self._xml_uses())

    def _xml_uses(self) -> Iterator[NameOccurrence]:
        xml, kinds = self.xml, dict[Reference, tuple[str, ...]]()
        if xml is None or self.kind is None:
            return
        for word, references in REFERENCES[self.kind].items():
            kinds.update({reference: (*kinds.get(reference, ()), word) for reference in references})
        for mention in mentions(xml.document, kinds):
            span = xml.places.value_span(mention.ordinal, mention.attribute)
            if span is not None:
                written = self.utf8[slice(*span)]
                start = span[1] - len(written.lstrip())
                declares = mention.reference in _DECLARATIONS
                found = (kinds[mention.reference], mention.name, start, start + len(written.strip()))
                yield NameOccurrence(*found, declares, mention.ordinal)

    def _yaml_uses(self) -> Iterator[NameOccurrence]:
        for kind, (name, place), declares in chain.from_iterable(map(yaml_names, self.sections.sections)):
            start, word = self.place_offset(place), name.encode()
            start += self.utf8[start : start + 1] in (b"'", b'"')
            if self.utf8.startswith(word, start):
                yield NameOccurrence((kind,), name, start, start + len(word), declares)

    def use_at(self, position: types.Position) -> NameOccurrence | None:
        """Return the name at a position, or directly before it."""
        offset = self.offset(position)
        return next((use for use in self.uses if use.start <= offset <= use.end), None)

    # --- positions

    @cached_property
    def _starts(self) -> list[int]:
        """Starts of the lines as an editor counts them; Python's lines, and so those of pygls, also end elsewhere."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.utf8))]

    @cached_property
    def _counted_starts(self) -> list[int]:
        """Starts of the lines as places count them."""
        ends = _YAML_LINE_END.finditer(self.utf8) if self.is_yaml else re.finditer(b"\n", self.utf8)
        return [0, *(found.end() for found in ends)]

    def position(self, offset: int) -> types.Position:
        """Return the editor's position of a byte."""
        line = bisect_right(self._starts, offset) - 1
        before = self.utf8[self._starts[line] : offset]
        count = len(before) if before.isascii() else self._codec.client_num_units(before.decode(errors="surrogatepass"))
        return types.Position(line, count + (self._marked if line == 0 else 0))

    def range(self, start: int, end: int) -> types.Range:
        """Return the editor's range of the bytes from `start` to `end`."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """Return the byte at a position; a position outside of the text is moved into it."""
        if position.line >= len(self._starts):
            return len(self.utf8)
        start, *after = self._starts[position.line : position.line + 2]
        line = self.utf8[start : after[0] if after else None].rstrip(b"\r\n").decode(errors="surrogatepass") + "\n"
        wanted = types.Position(0, max(position.character - (self._marked if position.line == 0 else 0), 0))
        character = self._codec.position_from_client_units([line], wanted).character
        return start + len(line[: min(character, len(line) - 1)].encode("utf-8", "surrogatepass"))

    def place_offset(self, place: SourcePlace) -> int:
        """Return the byte at a place."""
        starts = self._counted_starts
        start = starts[min(max(place.line, 1), len(starts)) - 1]
        before = self.utf8[start : start + 4 * place.column].decode(errors="ignore")[: max(place.column - 1, 0)]
        return min(start + len(before.encode()), len(self.utf8))

    def place_range(self, place: SourcePlace) -> types.Range:
        """Return the range of the attribute, the tag or the word at a place."""
        start = self.place_offset(place)
        found = (_WORD if self.is_yaml else _MARKED).match(self.utf8, start)
        return self.range(start, found.end() if found else start)
