# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One robot from two: a part mounted on a link of a base. Comments stay, and names of the part get a prefix."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import relative_path, resolved
from robot_semantics.base.pattern import pattern
from robot_semantics.model.authoring import URDF_REFERENCES, text_edit, text_references
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.table import SRDF_REFERENCES
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.table import VERSIONS
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.document import has_macros
from robot_semantics.xml.edit import Edit, NewElement, XmlText
from robot_semantics.xml.schema_reader import mentions

References = Sequence[tuple[str, str, str]]

_OWN_NAMES: References = (
    ("robot", "material", "name"),
    ("visual", "material", "name"),
    ("robot", "transmission", "name"),
    ("transmission", "actuator", "name"),
    ("transmission", "leftActuator", "name"),
    ("transmission", "rightActuator", "name"),
    ("robot", "frame", "name"),
    ("robot", "ros2_control", "name"),
    ("ros2_control", "sensor", "name"),
    ("ros2_control", "gpio", "name"),
    ("robot", "constraint", "name"),
    ("robot", "sensor", "name"),
)
"""Further names in a URDF, not of links and joints: parent's tag, element's tag, attribute."""


class ComposedText(NamedTuple):
    """A composed text, and for each of its elements the text and the number of the element that it comes from.

    The last elements, the joint between base and part, come from neither.
    """

    xml: XmlText
    origins: tuple[tuple[XmlText, int], ...]

    def place(self, place: SourcePlace) -> SourcePlace:
        """Return the place in base or part of a place in this text."""
        at = self.xml.places.element_at(place.line, place.column)
        if at is None or at >= len(self.origins):
            return SourcePlace(place.source, path=place.path)
        text, number = self.origins[at]
        attribute = place.path.rpartition("/@")[2] if "/@" in place.path else None
        return text.places.place(number, attribute)


_COMMENT = pattern(rb"<!--.*?-->", re.DOTALL)
_SCHEME = pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|/|\$")


def compose_urdf(
    base: XmlText,
    part: XmlText,
    parent_link: str,
    prefix: str,
    origin: tuple[str, str],
    folder: Path,
    diagnostics: Diagnostics | None = None,
) -> ComposedText:
    """Return one URDF of a base and a part, in a version of URDF under which both mean what they meant before.

    Args:
        base: URDF of the base; its text stays.
        part: URDF of the part; its links, joints and all references get the prefix.
        parent_link: link of the base that carries the root link of the part, with a fixed joint.
        prefix: prefix of the names of the part; may be empty.
        origin: xyz [m] and rpy [rad] of the root link of the part in the frame of `parent_link`.
        folder: folder of the result; relative names of meshes are made relative to it.
        diagnostics: gets a warning for each name of the part that stays in an extension of unknown meaning.

    Raises:
        UnknownNameError: the base does not have the link.
        RobotSemanticsError: a text is a xacro, a name is in both robots, the part does not have one root link, or there
            is no such version.
    """
    for text in (base, part):
        if has_macros(text.document):
            raise RobotSemanticsError(f"{text.source} is a xacro: expand it first with 'robot_semantics expand'")
    links = _declared(base.root, "link")
    if parent_link not in links:
        raise UnknownNameError("link", parent_link, links)
    root, texts = _root_link(part), (base, part)
    base = _with_version(base, part)
    names = {kind: _declared(part.root, kind) for kind in ("link", "joint")}
    part = _with_prefix(part, (*URDF_REFERENCES["link"], *URDF_REFERENCES["joint"], *_OWN_NAMES), prefix, names)
    if prefix and diagnostics is not None:
        _warn_of_kept(part, {*names["link"], *names["joint"]}, texts[1], diagnostics)
    mount = f"{parent_link}_to_{prefix}{root}"
    for kind in ("link", "joint", "material", "transmission", "ros2_control", "constraint"):
        known = set(_declared(base.root, kind))
        for name in [*_declared(part.root, kind), *[mount] * (kind == "joint")]:
            if name and name in known:
                raise RobotSemanticsError(f"{kind} '{name}' is in both robots: give the part another --prefix")
    joint = NewElement(
        "joint",
        (("name", mount), ("type", "fixed")),
        (
            NewElement("parent", (("link", parent_link),)),
            NewElement("child", (("link", prefix + root),)),
            NewElement("origin", (("xyz", origin[0]), ("rpy", origin[1]))),
        ),
    )
    joined = _joined(_with_meshes(base, folder), _with_meshes(part, folder))
    origins = _origins(texts[0], texts[1], range(len(part.document.elements)))
    return ComposedText(joined.edited([joined.insertion([joint], 0, None)]), origins)


def compose_srdf(base: SrdfText, part: SrdfText | None, prefix: str) -> ComposedText:
    """Return one SRDF of a base and a part; without a part, that of the base.

    Groups, end effectors, links and joints of the part get the prefix. Its virtual joints are left out, also from
    groups and states: the fixed joint of the URDF takes their place.

    Raises:
        RobotSemanticsError: both have a group or end effector of the same name.
    """
    if part is None:
        return ComposedText(base.xml, _origins(base.xml, base.xml, ()))
    virtual = {joint.name for joint in part.semantic.virtual_joints}
    removed = [joint.ordinal for joint in part.semantic.virtual_joints]
    for element in part.xml.root.iter("joint", "passive_joint"):
        if (element.get("name") or "").strip() in virtual:
            removed.append(part.xml.document.ordinal(element))
    gone = {element for at in removed for element in part.xml.document.elements[at].iter("*")}
    kept_numbers = [at for at, element in enumerate(part.xml.document.elements) if element not in gone]
    xml = part.xml.edited([part.xml.removal(at) for at in removed])
    kinds = ("link", "joint", "group", "end_effector")
    xml = _with_prefix(xml, [reference for kind in kinds for reference in SRDF_REFERENCES[kind]], prefix)
    renamed = SrdfText.of(xml)
    for kind, first, second in (
        ("group", base.semantic.groups, renamed.semantic.groups),
        ("end effector", base.semantic.end_effectors, renamed.semantic.end_effectors),
    ):
        names = {item.name for item in first}
        for item in second:
            if item.name in names:
                raise RobotSemanticsError(f"{kind} '{item.name}' is in both SRDFs: give the part another --prefix")
    return ComposedText(_joined(base.xml, xml), _origins(base.xml, part.xml, kept_numbers))


def _origins(base: XmlText, part: XmlText, kept: Sequence[int]) -> tuple[tuple[XmlText, int], ...]:
    """Return the text and number of each element of a composed text; `kept` are the elements of the part."""
    own = [(base, at) for at in range(len(base.document.elements))]
    return (*own, *((part, at) for at in kept[1:]))


def _with_version(base: XmlText, part: XmlText) -> XmlText:
    """Return the base in a version under which base and part mean what they meant before.

    Raises:
        RobotSemanticsError: there is no such version.
    """
    stated = [text.root.get("version") for text in (base, part)]
    meant = [_meaning(text, version) for text, version in zip((base, part), stated, strict=True)]
    for version in dict.fromkeys((*stated, *VERSIONS)):
        if all(_meaning(text, version) == meaning for text, meaning in zip((base, part), meant, strict=True)):
            return base if version == stated[0] else base.edited([base.attribute(0, "version", version or VERSIONS[0])])
    versions = [version or VERSIONS[0] for version in stated]
    raise RobotSemanticsError(
        f"{base.source} has version {versions[0]} of URDF, {part.source} version {versions[1]}: no version gives both "
        "the meaning that they have now; bring both to one version first"
    )


def _meaning(text: XmlText, version: str | None) -> UrdfRobot:
    """Return the content of a URDF, read by the rules of a version."""
    if version != text.root.get("version"):
        text = text.edited([text.attribute(0, "version", version or VERSIONS[0])])
    return replace(parse_urdf(text.utf8, text.source, Diagnostics()), version=None)


def _declared(root: etree._Element, kind: str) -> list[str]:
    return [(element.get("name") or "").strip() for element in root.iterchildren(kind)]


def _root_link(part: XmlText) -> str:
    children = {(child.get("link") or "").strip() for child in part.root.iterfind("joint/child")}
    roots = [name for name in _declared(part.root, "link") if name not in children]
    if len(roots) != 1:
        raise RobotSemanticsError(f"{part.source}: one root link is needed, and there are {len(roots)}")
    return roots[0]


def _warn_of_kept(part: XmlText, names: Container[str], original: XmlText, diagnostics: Diagnostics) -> None:
    """Report names of the part that have no prefix, in extensions; the name of a sensor is its own."""
    for extra in [child for child in part.root.iterchildren("*") if child.tag not in ("link", "joint", "material")]:
        for element in extra.iter("*"):
            found = [
                (key, value.strip())
                for key, value in element.attrib.items()
                if (element.tag, key) != ("sensor", "name")
            ]
            said = [(str(key), value) for key, value in found if value in names]
            text = (element.text or "").strip()
            if said or text in names:
                attribute, name = (said[0][0], str(said[0][1])) if said else (None, text)
                place = original.places.place(part.document.ordinal(element), attribute)
                message = f"'{name}' gets no prefix in this element, because it may not mean the part of this name"
                diagnostics.warning("name-kept", message, place)


def _with_prefix(
    xml: XmlText, references: References, prefix: str, names: Mapping[str, Container[str]] = MappingProxyType({})
) -> XmlText:
    """Return the text with a prefix on the value of every reference; empty values stay.

    `names` are the links and joints whose names get the prefix in the texts of elements, by kind.
    """
    if not prefix:
        return xml
    edits = [
        xml.attribute(mention.ordinal, mention.attribute, prefix + mention.name)
        for mention in mentions(xml.document, references)
    ]
    for kind, known in names.items():
        for element in text_references(xml.root, kind, known):
            edits.append(text_edit(xml, element, prefix + (element.text or "").strip()))
    return xml.edited(edits)


def _with_meshes(xml: XmlText, folder: Path) -> XmlText:
    """Return the text with relative names of files made relative to `folder`."""
    edits = []
    for element in xml.root.iter("mesh", "texture"):
        name = (element.get("filename") or "").strip()
        if name and not _SCHEME.match(name):
            path = relative_path(resolved(xml.source).parent / name, folder)
            edits.append(xml.attribute(xml.document.ordinal(element), "filename", path))
    return xml.edited(edits)


def _joined(base: XmlText, part: XmlText) -> XmlText:
    """Return the base with the content of the part's root element, and the comments before it, at its end."""
    used = {name.partition("}")[0][1:] for element in part.root.iter("*") for name in (element.tag, *element.attrib)}
    declared = {name: uri for name, uri in part.root.nsmap.items() if uri in used}
    namespaces = {name: uri for name, uri in declared.items() if base.root.nsmap.get(name) != uri}
    for name in namespaces:
        if name in base.root.nsmap:
            raise RobotSemanticsError(f"namespace prefix '{name}' means two things in {base.source} and {part.source}")
    edits = [base.attribute(0, f"xmlns:{name}" if name else "xmlns", uri) for name, uri in namespaces.items()]
    start, end = part.places.inner_span(0)
    before = part.utf8[: part.places.span(0)[0]]
    content = b"\n  ".join((*_COMMENT.findall(before), part.utf8[start:end].strip(b" \t\r\n")))
    widened = base.edited(edits)
    start, close = widened.places.inner_span(0)
    content = b"\n  " + content + b"\n"
    if close < (end := widened.places.span(0)[1]):
        return widened.edited([Edit(close, close, content)])
    # The root has one tag, ``<robot/>``.
    tag = re.match(rb"<([^\s/>]+)", widened.utf8[widened.places.span(0)[0] :])
    assert tag is not None
    return widened.edited([Edit(end - len(b"/>"), end, b">%b</%b>" % (content, tag.group(1)))])
