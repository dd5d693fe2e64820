# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names across the documents of a robot: declarations, references, renaming, and facts about the named thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lsprotocol import types

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.foreign_text import quoted, shown
from robot_semantics.lsp.document import Document, NameOccurrence
from robot_semantics.lsp.workspace import Workspace
from robot_semantics.model.queries import groups_with_joint
from robot_semantics.model.renaming import rename_in_urdf
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import checked_name
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.document_kind import DocumentKind
from robot_semantics.xml.edit import escape
from robot_semantics.xml.oddities import makes_names

_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z_][\w./-]*", re.IGNORECASE | re.ASCII)
"""Names that YAML reads as a text, with quotes and without."""

_MOST_NAMES = 12


class Named(NamedTuple):
    """The thing that a position names, and all documents of its robot."""

    kind: str
    use: NameOccurrence
    family: list[Document]


def named_at(workspace: Workspace, document: Document, position: types.Position) -> Named | None:
    """Return the thing that is named at a position."""
    use = document.use_at(position)
    if use is None:
        return None
    family = workspace.family(document, _model_of(document, use))
    declared = declared_names(family)
    kind = next((kind for kind in use.kinds if use.name in declared.get(kind, ())), use.kinds[0])
    return Named(kind, use, family)


def uses_of(workspace: Workspace, named: Named) -> Iterator[tuple[Document, NameOccurrence]]:
    """Yield every occurrence of the thing in the documents of its robot."""
    for document in named.family:
        for use in document.uses:
            if use.name == named.use.name and named.kind in use.kinds:
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


def declared_names(family: list[Document]) -> dict[str, set[str]]:
    """Return the names that the documents declare, by kind of thing."""
    found: dict[str, set[str]] = {}
    for use in (use for document in family for use in document.uses if use.declares):
        for kind in use.kinds:
            found.setdefault(kind, set()).add(use.name)
    return found


def rename(
    workspace: Workspace, named: Named, new: str, notes: Diagnostics
) -> Iterator[tuple[Document, types.TextEdit]]:
    """Yield the changes of a new name; a place where the old name stays, because it may mean something else, is added
    to `notes`.

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
            rename_in_urdf(document.xml, named.kind, named.use.name, new, notes)
    text = escape(new).replace("'", "&apos;")
    for document, use in found:
        yield document, types.TextEdit(document.range(use.start, use.end), new if document.is_yaml else text)


def facts(robot: RobotModel, kind: str, name: str) -> Iterator[str]:
    """Yield lines about a joint or a group of a robot; none about other things."""
    found: Mapping[str, object] = {}
    if kind == "joint" and name in robot.joint_index:
        joint = robot.joint(name)
        yield f"{joint.type.value} joint '{shown(name)}': {shown(joint.parent_link)} → {shown(joint.child_link)}"
        lower, upper = joint.limits.bounds
        if joint.motion.limited:
            yield f"bounds {lower:g} to {upper:g}, velocity {joint.limits.velocity:g}, effort {joint.limits.effort:g}"
        if joint.mimic is not None:
            yield f"= {joint.mimic.multiplier:g} * {shown(joint.mimic.joint)} {joint.mimic.offset:+g}"
        found = {"groups": groups_with_joint(robot, name)}
    elif kind == "group" and name in robot.semantics.groups:
        yield f"group '{shown(name)}'"
        found = robot.semantics.groups[name].as_dict()
    for field, value in found.items():
        if field != "name" and value:
            words = quoted(value, _MOST_NAMES) if isinstance(value, tuple) else shown(str(value))
            yield f"{field.replace('_', ' ')}: {words}"
