# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The names that a description declares, for checks of other documents when it gives no robot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.semantic_names import SrdfReporter
from robot_semantics.srdf.table import SRDF_REFERENCES
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.mentions import mentions
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.source_map import SourceMap


class DeclaredNames(NamedTuple):
    """Names of links, joints and groups."""

    links: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


def declared_names(urdf: UrdfRobot, *, implicit_links: bool = False) -> DeclaredNames:
    """Return the names in a URDF, also those of links and joints that could not be read.

    With `implicit_links`, joints declare the links that they name.
    """
    root = _document(urdf.places).in_no_namespace().root
    links = [*root.iterchildren("link")]
    joints = [*root.iterchildren("joint"), *(joint for link in links for joint in link.iterchildren("joint"))]
    ends = [end for joint in joints for end in joint.iterchildren("parent", "child")] if implicit_links else []
    named = [*(item.get("name") for item in links), *(end.get("link") or end.get("name") for end in ends)]
    return DeclaredNames(_names(named), _names(joint.get("name") for joint in joints))


def check_names_of(semantic: SrdfDocument, names: DeclaredNames, diagnostics: Diagnostics) -> None:
    """Report the links and joints in an SRDF that a URDF does not declare."""
    reports, document = SrdfReporter(semantic, diagnostics), _document(semantic.places)
    virtual = {joint.name for joint in semantic.virtual_joints}
    for kind, valid in (("link", names.links), ("joint", names.joints | virtual)):
        for mention in mentions(document, SRDF_REFERENCES[kind]):
            reports.known(kind, mention.name, valid, mention.at, mention.attribute, f"<{mention.reference[1]}>")


def _document(places: SourceMap) -> XmlDocument:
    return parse_xml(places.text or b"<robot/>", places.source, forgiving=True)


def _names(values: Iterable[str | None]) -> frozenset[str]:
    return frozenset(name.strip() for name in values if name and name.strip())
