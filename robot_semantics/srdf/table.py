# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The table of SRDF: every element and attribute, its field, and the kind of thing it names; and its reader.

Names are not resolved here; `robot_semantics.model.apply_semantics` does that. An element without a required attribute
is reported and left out of the tree, as in srdfdom. Foreign elements stay in the text, where the editor of
`robot_semantics.srdf.edit` keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.srdf import tree
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.xml.document import XmlDocument, report_oddities
from robot_semantics.xml.numbers import finite_text, finite_texts, not_negative, numbers
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.schema import TEXT, Attribute, BadValueError, Child, Element, FormatTable, Reference, ValueKind
from robot_semantics.xml.schema_reader import read_table
from robot_semantics.xml.xacro import FindPackage, XacroOptions, read_expanded

VIRTUAL_JOINT_TYPES = ("fixed", "planar", "floating")
"""Allowed types of a virtual joint."""

_SPACE = " \t\r\n"


def _word(text: str) -> str:
    # Other readers also trim the text.
    return text.strip(_SPACE)


def _name(text: str) -> str:
    name = text.strip(_SPACE)
    if not name:
        raise BadValueError("empty-name", "is empty", "")
    return name


def _joint_type(text: str) -> str:
    kind = text.strip(_SPACE).lower()
    if kind not in VIRTUAL_JOINT_TYPES:
        reason = f"is '{text.strip(_SPACE)}', not a type of virtual joint; known are {', '.join(VIRTUAL_JOINT_TYPES)}"
        raise BadValueError("unknown-joint-type", reason, kind, kind, VIRTUAL_JOINT_TYPES)
    return kind


def _joint_values(text: str) -> tuple[float, ...]:
    try:
        values = numbers(text)
    except BadValueError as error:
        raise BadValueError(error.code, str(error), None) from None
    if not values:
        raise BadValueError("bad-number", "should be one or several numbers, not ''", None)
    return values


def _center(text: str) -> tuple[float, ...]:
    return numbers(text, 3)


WORD = ValueKind("word", "<text/>", _word, TEXT.write)
NAME = ValueKind("name", "<text/>", _name, TEXT.write)
_DOUBLE = '<data type="double"/>'
JOINT_TYPE = ValueKind("joint-type", "<text/>", _joint_type, TEXT.write)
JOINT_VALUES = ValueKind("joint-values", f"<list><oneOrMore>{_DOUBLE}</oneOrMore></list>", _joint_values, finite_texts)
CENTER = ValueKind("center", f"<list>{_DOUBLE * 3}</list>", _center, finite_texts)
RADIUS = ValueKind("radius", _DOUBLE, not_negative, finite_text)


def _named(tag: str, names: str, attribute: str = "name") -> Element:
    """Return an element that names one thing of the kind `names`."""
    kind = NAME if attribute == "name" else WORD
    return Element(tag, tree.NameReference, {attribute: Attribute("name", kind, True, names=names)}, numbered=True)


def _pair(tag: str) -> Element:
    links = {word: Attribute(word, WORD, True, names="link") for word in ("link1", "link2")}
    return Element(tag, tree.CollisionPair, {**links, "reason": Attribute("reason")}, numbered=True)


_CHAIN = Element(
    "chain",
    tree.SrdfChain,
    {word: Attribute(word, WORD, True, names="link") for word in ("base_link", "tip_link")},
    numbered=True,
)
_VIRTUAL_JOINT = Element(
    "virtual_joint",
    tree.SrdfVirtualJoint,
    {
        "name": Attribute("name", NAME, True, names="joint"),
        "type": Attribute("type", JOINT_TYPE, True),
        "parent_frame": Attribute("parent_frame", WORD, True, names="frame"),
        "child_link": Attribute("child_link", WORD, True, names="link"),
    },
    numbered=True,
)
_GROUP = Element(
    "group",
    tree.SrdfGroup,
    {"name": Attribute("name", NAME, True, names="group")},
    {
        "joint": Child("joints", _named("joint", "joint"), many=True),
        "link": Child("links", _named("link", "link"), many=True),
        "chain": Child("chains", _CHAIN, many=True),
        "group": Child("subgroups", _named("group", "group"), many=True),
    },
    numbered=True,
)
_STATE_JOINT = Element(
    "joint",
    tree.JointValue,
    {"name": Attribute("name", NAME, True, names="joint"), "value": Attribute("values", JOINT_VALUES, True)},
    numbered=True,
)
_STATE = Element(
    "group_state",
    tree.GroupState,
    {"name": Attribute("name", NAME, True), "group": Attribute("group", WORD, True, names="group")},
    {"joint": Child("joints", _STATE_JOINT, many=True)},
    numbered=True,
)
_END_EFFECTOR = Element(
    "end_effector",
    tree.SrdfEndEffector,
    {
        "name": Attribute("name", NAME, True, names="end_effector"),
        "group": Attribute("group", WORD, True, names="group"),
        "parent_link": Attribute("parent_link", WORD, True, names="link"),
        "parent_group": Attribute("parent_group", WORD, names="group"),
    },
    numbered=True,
)
_SPHERE = Element(
    "sphere",
    tree.SrdfSphere,
    {"center": Attribute("center", CENTER, True), "radius": Attribute("radius", RADIUS, True)},
    numbered=True,
    whole=True,
)
_SPHERES = Element(
    "link_sphere_approximation",
    tree.LinkSpheres,
    {"link": Attribute("link", WORD, True, names="link")},
    {"sphere": Child("spheres", _SPHERE, many=True)},
    numbered=True,
)
_PROPERTY = Element(
    "joint_property",
    tree.JointProperty,
    {
        "joint_name": Attribute("joint_name", NAME, True, names="joint"),
        "property_name": Attribute("property_name", NAME, True),
        "value": Attribute("value", required=True),
    },
    numbered=True,
)
SRDF: FormatTable[tree.SrdfDocument] = FormatTable(
    Element(
        "robot",
        tree.SrdfDocument,
        {"name": Attribute("name", NAME, True, default=""), "version": Attribute("version")},
        {
            "virtual_joint": Child("virtual_joints", _VIRTUAL_JOINT, many=True),
            "passive_joint": Child("passive_joints", _named("passive_joint", "joint"), many=True),
            "group": Child("groups", _GROUP, many=True),
            "group_state": Child("states", _STATE, many=True),
            "end_effector": Child("end_effectors", _END_EFFECTOR, many=True),
            "disable_collisions": Child("disabled_collisions", _pair("disable_collisions"), many=True),
            "enable_collisions": Child("enabled_collisions", _pair("enable_collisions"), many=True),
            "disable_default_collisions": Child(
                "default_disabled_links", _named("disable_default_collisions", "link", "link"), many=True
            ),
            "link_sphere_approximation": Child("link_spheres", _SPHERES, many=True),
            "joint_property": Child("joint_properties", _PROPERTY, many=True),
        },
        numbered=True,
    ),
    # A misplaced element has no effect in any reader: a passive joint inside a group is not passive.
    misplaced=True,
)


SRDF_REFERENCES: Mapping[str, tuple[Reference, ...]] = SRDF.references()
"""Kind of thing → its references in an SRDF."""


def parse_srdf(
    text: str | bytes, source: str = "<robot_description_semantic>", diagnostics: Diagnostics | None = None
) -> SrdfDocument:
    """Parse the text of an SRDF; every message calls it `source`.

    Problems are added to `diagnostics`; without it, they are raised together.

    Raises:
        DescriptionError: the text is not well-formed XML or its root is not ``<robot>``; without `diagnostics`, also
            for any other error.
    """
    return read_semantic(parse_xml(text, source, forgiving=True), diagnostics)


def srdf_from_file(
    path: str | Path,
    diagnostics: Diagnostics | None = None,
    *,
    xacro: XacroOptions | bool | None = None,
    xacro_arguments: Mapping[str, str] | None = None,
    find_package: FindPackage | None = None,
) -> SrdfDocument:
    """Read an SRDF file, plain or xacro, as `load_robot` does; `find_package` answers ``$(find name)`` of xacro.

    Raises:
        DescriptionError: as `parse_srdf`, or the file cannot be read.
    """
    return read_semantic(read_expanded(path, XacroOptions.of(xacro, xacro_arguments), find_package), diagnostics)


def read_semantic(document: XmlDocument, diagnostics: Diagnostics | None = None) -> SrdfDocument:
    """Read the SRDF of a parsed document, as `parse_srdf` does.

    Raises:
        DescriptionError: as `parse_srdf`.
    """
    problems = Diagnostics()
    document = document.in_no_namespace()
    report_oddities(document, problems)
    semantic = replace(read_table(document, SRDF, problems), places=document.places)
    if diagnostics is None:
        problems.raise_if_failed()
    else:
        diagnostics.extend(problems)
    return semantic
