# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names across the documents of a robot: declarations, references and renaming."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.foreign_text import shown
from robot_semantics.lsp.document import Document, NameOccurrence
from robot_semantics.lsp.workspace import Workspace
from robot_semantics.model.renaming import rename_in_urdf
from robot_semantics.srdf.edit import checked_name
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.document_kind import DocumentKind
from robot_semantics.xml.edit import escape
from robot_semantics.xml.oddities import makes_names

_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z_][\w./-]*", re.IGNORECASE | re.ASCII)
"""Names that YAML reads as a text, with quotes and without."""


class Named(NamedTuple):
    """The thing that a position names, and all documents of its robot."""

    kind: str
    name: str
    use: NameOccurrence
    family: list[Document]


def named_at(workspace: Workspace, document: Document, offset: int) -> Named | None:
    """Return the thing that is named at a character."""
    use = document.use_at(offset)
    if use is None:
        return None
    family = workspace.family(document, _model_of(document, use))
    every = (each for other in family for each in other.uses if each.declares and each.name == use.name)
    declared = {kind for each in every for kind in each.kinds}
    kind = next((kind for kind in use.kinds if kind in declared), use.kinds[0])
    return Named(kind, use.name, use, family)


def uses_of(workspace: Workspace, named: Named) -> Iterator[tuple[Document, NameOccurrence]]:
    """Yield every occurrence of the thing in the documents of its robot."""
    for document in named.family:
        for use in document.uses:
            if use.name == named.name and named.kind in use.kinds:
                model = _model_of(document, use)
                if model is None or workspace.robot_of(document, model).urdf in named.family:
                    yield document, use


def _model_of(document: Document, use: NameOccurrence) -> str | None:
    """Return the model of a world state to which an occurrence belongs; None in other documents."""
    if document.kind is not DocumentKind.USDF or document.xml is None:
        return None
    element = document.xml.document.elements[use.at]
    if element.get(USDF.key("rs:parent_link")) is not None:
        return (element.findtext("parent") or "").strip()
    above = element.getparent()
    return "" if above is None else (above.get("name") or "").strip()


def declared_names(family: list[Document]) -> Mapping[str, set[str]]:
    """Return the names that the documents declare, by kind of thing."""
    found: dict[str, set[str]] = {}
    for document in family:
        for use in document.uses:
            for kind in use.kinds if use.declares else ():
                found.setdefault(kind, set()).add(use.name)
    return found


class NameReplacement(NamedTuple):
    """A new text for the characters of an occurrence."""

    document: Document
    use: NameOccurrence
    text: str


def rename(workspace: Workspace, named: Named, new: str, notes: Diagnostics) -> list[NameReplacement]:
    """Return the replacements of a new name; a place where the old name stays, because it may mean something else, is
    added to `notes`.

    Raises:
        RobotSemanticsError: the new name is empty or used, or a document that has the name is a xacro.
    """
    new = checked_name(new)
    if new in declared_names(named.family).get(named.kind, ()):
        raise RobotSemanticsError(f"{named.kind} '{shown(new)}' already exists")
    found = list(uses_of(workspace, named))
    for document in dict.fromkeys(document for document, _ in found):
        if document.xml is not None and (document.is_xacro or makes_names(document.xml.document)):
            raise RobotSemanticsError(f"'{shown(document.path)}' is a xacro: macros make its names; rename by hand")
        if document.is_yaml and not _PLAIN.fullmatch(new):
            raise RobotSemanticsError(f"'{shown(new)}' cannot be written in '{shown(document.path)}' without quotes")
        if document.xml is not None and document.kind is DocumentKind.URDF:
            rename_in_urdf(document.xml, named.kind, named.name, new, notes)
    text = escape(new).replace("'", "&apos;")
    return [NameReplacement(document, use, new if document.is_yaml else text) for document, use in found]
