# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The kind of a document, from its root element and, for `<robot>`, from its content."""

from __future__ import annotations

import enum
from pathlib import Path

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.other_formats import other_format
from robot_semantics.xml.reader import read_xml

URDF_TAGS = {"link", "joint", "material", "transmission", "gazebo", "ros2_control"}
SRDF_TAGS = {
    "virtual_joint",
    "passive_joint",
    "group",
    "group_state",
    "end_effector",
    "disable_collisions",
    "enable_collisions",
    "disable_default_collisions",
    "link_sphere_approximation",
    "joint_property",
}


class DocumentKind(enum.Enum):
    """The kinds of documents that this package reads."""

    URDF = "URDF"
    SRDF = "SRDF"
    USDF = "USDF"


def report_unknown_root(document: XmlDocument, diagnostics: Diagnostics) -> None:
    """Report a root element of no kind."""
    what = other_format(document.places.text, document.places.source)
    forms = what or "a URDF or SRDF has <robot>, a USDF <world_state>"
    message = f"the root element is <{document.root.tag}>; {forms}"
    diagnostics.error("wrong-root", message, document.places.place(0))


def kind_and_name(document: XmlDocument, file: str, diagnostics: Diagnostics) -> tuple[DocumentKind, str] | None:
    """Return the kind of a document and the name of its root; report a root of no kind, and return None for it."""
    kind = document_kind(document.root, file)
    if kind is None:
        report_unknown_root(document, diagnostics)
        return None
    return kind, (document.root.get("name") or "").strip()


def document_kind(root: etree._Element, file: str) -> DocumentKind | None:
    """Return the kind of a parsed file; None if the root element is unknown.

    URDF and SRDF have the same root element. A child that only one of the two formats has decides. If children of both
    or of neither format exist, the file ending decides, then the first such child.
    """
    tag = etree.QName(root).localname
    if tag in ("world_state", "world"):
        return DocumentKind.USDF
    if tag != "robot":
        return None
    own = etree.QName(root).namespace
    kinds: list[DocumentKind] = []
    for child in root.iterchildren("*"):
        # Ignore a default namespace on the root: the readers also ignore it.
        name = etree.QName(child)
        word = name.localname if name.namespace == own else str(child.tag)
        if word in URDF_TAGS:
            kinds.append(DocumentKind.URDF)
        elif word in SRDF_TAGS:
            kinds.append(DocumentKind.SRDF)
    if len(set(kinds)) == 1:
        return kinds[0]
    by_ending = {".srdf": DocumentKind.SRDF, ".urdf": DocumentKind.URDF}
    endings = [by_ending[suffix] for suffix in Path(file).suffixes if suffix in by_ending]
    return next(iter((*endings, *kinds)), DocumentKind.URDF)


def refuse_wrong_kinds(urdf: str | Path | None, srdf: str | Path | None) -> None:
    """Raise an error if a file is of another kind than its argument.

    Raises:
        RobotSemanticsError: it is; the message names the file, and problems inside the file are not reported.
    """
    found = {DocumentKind.URDF: urdf and kind_of_file(urdf), DocumentKind.SRDF: srdf and kind_of_file(srdf)}
    wrong = {expected: kind for expected, kind in found.items() if kind and kind is not expected}
    if found == {DocumentKind.URDF: DocumentKind.SRDF, DocumentKind.SRDF: DocumentKind.URDF}:
        raise RobotSemanticsError(f"'{urdf}' is an SRDF and '{srdf}' a URDF: exchange the two files")
    for expected, kind in wrong.items():
        file = urdf if expected is DocumentKind.URDF else srdf
        hint = "; 'robot_semantics usdf' has the commands for it" if kind is DocumentKind.USDF else ""
        raise RobotSemanticsError(f"'{file}' is {ARTICLES[kind]}, not {ARTICLES[expected]}{hint}")


ARTICLES = {DocumentKind.URDF: "a URDF", DocumentKind.SRDF: "an SRDF", DocumentKind.USDF: "a USDF file"}


def kind_of_file(file: str | Path) -> DocumentKind | None:
    """Return the kind of a file; None if it cannot be read or is unknown."""
    try:
        root = read_xml(file, forgiving=True).root
    except (DescriptionError, OSError):
        return None
    return document_kind(root, str(file)) if len(root) else None
