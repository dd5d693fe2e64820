# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A text that is open in an editor or stands in the workspace, and the names in it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostic
from robot_semantics.base.errors import DescriptionError
from robot_semantics.bringup.checking import YamlSections, is_yaml, read_sections
from robot_semantics.lsp.positions import TextPositions
from robot_semantics.lsp.yaml_names import yaml_names
from robot_semantics.model.renaming import URDF_REFERENCES
from robot_semantics.srdf.table import SRDF, SRDF_REFERENCES
from robot_semantics.urdf.table import URDF
from robot_semantics.usdf.table import USDF, USDF_REFERENCES
from robot_semantics.xml.document_kind import DocumentKind, document_kind
from robot_semantics.xml.edit import XmlText
from robot_semantics.xml.mentions import mentions
from robot_semantics.xml.schema import Reference

TABLES = {DocumentKind.URDF: URDF, DocumentKind.SRDF: SRDF, DocumentKind.USDF: USDF}
REFERENCES = {
    DocumentKind.URDF: URDF_REFERENCES,
    DocumentKind.SRDF: SRDF_REFERENCES,
    DocumentKind.USDF: USDF_REFERENCES,
}
_DECLARATIONS: dict[DocumentKind, set[Reference]] = {
    DocumentKind.URDF: {("robot", "link", "name"), ("robot", "joint", "name"), ("link", "joint", "name")},
    DocumentKind.SRDF: {("robot", tag, "name") for tag in ("virtual_joint", "group", "end_effector")},
    DocumentKind.USDF: set(),
}


_WORDS_OF_SECTIONS = re.compile(
    "joint_limits|cartesian_limits|initial_positions|controller_|sensors|kinematics_solver|planner_configs|"
    "ros__parameters"
)


class NameOccurrence(NamedTuple):
    """One occurrence of a name in a text.

    Attributes:
        kinds: kinds of things that it may name.
        start, end: the first and one-past-last character of the name.
        declares: True if the thing is declared here.
        at: number of the element in the document.
    """

    kinds: tuple[str, ...]
    name: str
    start: int
    end: int
    declares: bool
    at: int


class Document:
    """A text under a name; it never changes: an edit makes another document.

    Attributes:
        path: name of its file; the whole URI if it has none.
        version: number that the editor gave to the text; None for a file that is not open.
    """

    def __init__(
        self, path: str, text: str, encoding: str, version: int | None = None, before: Document | None = None
    ) -> None:
        """`before` is the document that an edit replaces; its last well-formed text is kept."""
        self.path = path
        self.text = text
        self.version = version
        self._before = None if before is None else before.readable
        self.positions = TextPositions(text, encoding, is_yaml=self.is_yaml)

    @cached_property
    def data(self) -> bytes:
        """The text for the readers; the mark says UTF-8, whatever encoding the XML declaration states."""
        return codecs.BOM_UTF8 + self.text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")

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
    def likely_kind(self) -> DocumentKind:
        """The kind; of an unknown kind, the one of the ending."""
        by_ending = {f".{kind.value.lower()}": kind for kind in DocumentKind}
        endings = (by_ending.get(suffix) for suffix in Path(self.path).suffixes)
        return next(filter(None, (self.kind, *endings)), DocumentKind.URDF)

    @property
    def is_yaml(self) -> bool:
        """True for a file of configuration."""
        return is_yaml(self.path)

    @cached_property
    def sections(self) -> YamlSections:
        """The known sections of a YAML text; a text without their words is not read, because that takes long."""
        if not _WORDS_OF_SECTIONS.search(self.text):
            return YamlSections((), ())
        return read_sections(self.text.removeprefix("\ufeff"), self.path)

    @property
    def is_xacro(self) -> bool:
        """True if only the expansion of the text is a robot."""
        return Path(self.path).suffix == ".xacro"

    @cached_property
    def robot_name(self) -> str:
        """The name of the root element of the readable text."""
        xml = self.readable.xml
        return (xml.root.get("name") or "").strip() if xml is not None else ""

    @cached_property
    def uses(self) -> tuple[NameOccurrence, ...]:
        """Every name at a known place of the text, in document order."""
        xml, kind = self.xml, self.kind
        if self.is_yaml:
            return tuple(self._yaml_uses())
        if xml is None or kind is None:
            return ()
        kinds: dict[Reference, tuple[str, ...]] = {}
        for word, references in REFERENCES[kind].items():
            for reference in references:
                kinds[reference] = (*kinds.get(reference, ()), word)
        found = []
        for mention in mentions(xml.document, kinds):
            span = xml.places.value_span(mention.at, mention.attribute)
            if span is None:
                continue
            start, end = self.positions.characters(*span)
            written = self.text[start:end]
            start += len(written) - len(written.lstrip())
            end -= len(written) - len(written.rstrip())
            declares = mention.reference in _DECLARATIONS[kind]
            found.append(NameOccurrence(kinds[mention.reference], mention.name, start, end, declares, mention.at))
        return tuple(found)

    def _yaml_uses(self) -> Iterator[NameOccurrence]:
        for kind, (name, place), declares in chain.from_iterable(map(yaml_names, self.sections.sections)):
            start = self.positions.place_offset(place)
            start += self.text[start : start + 1] in ("'", '"')
            if self.text.startswith(name, start):
                yield NameOccurrence((kind,), name, start, start + len(name), declares, -1)

    def use_at(self, offset: int) -> NameOccurrence | None:
        """Return the name at a character, or directly before it."""
        return next((use for use in self.uses if use.start <= offset <= use.end), None)
