# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rewriting of the older forms of a joint in a document's tree to the current form.

In the older forms a joint has two origins, which give the same joint frame J seen from the two links: ``T_P_J`` in the
parent, ``T_C_J`` in the child. The first becomes the joint's origin. The second is removed from the tree; then
`robot_semantics.urdf.dialects` moves the child's frame onto J.
"""

from __future__ import annotations

from typing import NamedTuple

from lxml import etree

from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.schema import ElementPlan
from robot_semantics.xml.schema_reader import TableReader

_OLD = {
    *(("link", "joint"), ("link", "parent"), ("parent", "origin"), ("child", "origin"), ("visual", "texture")),
    ("joint", "joint_properties"),
}
"""Children that an element has only in an older form."""
_OLDER = (
    "this joint has the form of the {} proposal, which other programs misread; "
    "'robot_semantics upgrade' writes the current form"
)


class UrdfReader(TableReader[UrdfRobot]):
    """A reader that knows if the document uses an older dialect.

    Attributes:
        older: True if a warning says so.
        has_older_form: True if there may be content that `to_current_form` must change before.
    """

    older = False
    has_older_form = False

    def unknown_child(
        self, child: etree._Element, at: int, plan: ElementPlan, kept: list[object], position: int
    ) -> bool:
        """Keep an unknown element if possible; return True if it is allowed here."""
        self.has_older_form = self.has_older_form or (plan.tag, child.tag) in _OLD
        return super().unknown_child(child, at, plan, kept, position)

    def in_older_dialect(self, message: str, at: int) -> None:
        """Warn about content in an older dialect, which is written in the current form."""
        self.older = True
        self.warning("older-dialect", message, at)


class ChildOrigin(NamedTuple):
    """The frame of a joint in its child link: the link, and its XML element."""

    link: str
    origin: etree._Element


def to_current_form(reader: UrdfReader) -> list[ChildOrigin]:
    """Change the reader's tree, a copy, to the current form; return the removed child origins."""
    root = reader.document.root
    child_origins: list[ChildOrigin] = []
    for joint in root.findall("joint"):
        _joint_properties(reader, joint)
        _two_origins(reader, joint, child_origins)
    for link in root.findall("link"):
        for visual in link.findall("visual"):
            _texture(reader, visual)
        _joints_of(reader, link, child_origins)
    return child_origins


def _joint_properties(reader: UrdfReader, joint: etree._Element) -> None:
    """Convert the ``<joint_properties>`` of the original proposal in a joint of the current form."""
    for properties in joint.findall("joint_properties"):
        message = "<joint_properties> is an older form of <dynamics>"
        reader.in_older_dialect(message, reader.document.ordinal(properties))
        properties.tag = "dynamics"


def _two_origins(reader: UrdfReader, joint: etree._Element, child_origins: list[ChildOrigin]) -> None:
    parent, child = joint.find("parent"), joint.find("child")
    if parent is None or child is None:
        return
    T_P_J, T_C_J = parent.find("origin"), child.find("origin")
    if T_P_J is None and T_C_J is None:
        return
    number = reader.document.ordinal(joint)
    for origin in (T_P_J, T_C_J):
        if origin is not None:
            _take_out(origin)
    if joint.find("origin") is not None:
        message = "a joint must have either one <origin> or, in the two-origin form, one in <parent> and one in <child>"
        reader.error("mixed-dialects", message, number)
        reader.faulty.add("joint")
        return
    reader.in_older_dialect(_OLDER.format("two-origin"), number)
    _place(joint, T_P_J, T_C_J, child, child_origins)


def _joints_of(reader: UrdfReader, link: etree._Element, child_origins: list[ChildOrigin]) -> None:
    """Move the joints inside a link to robot level, behind the link, with the link's parent and frame if it states
    them.
    """
    joints = link.findall("joint")
    parent, origin = link.find("parent"), link.find("origin")
    alone = [joint for joint in joints if joint.find("parent") is None]
    if parent is not None and not alone:
        why = "its <joint> has its own <parent>" if joints else "the link has no <joint>"
        message = f"<parent> in <link> has no effect: {why}; it is kept but not used"
        reader.warning("unused-parent", message, reader.document.ordinal(parent))
        reader.silenced.add(parent)
    if not joints:
        return
    if origin is not None:
        _take_out(origin)
    if parent is not None and alone:
        _take_out(parent)
    before = link
    for joint in joints:
        at = reader.document.ordinal(joint)
        reader.in_older_dialect(_OLDER.format("original"), at)
        _take_out(joint)
        name = link.get("name")
        if name is None:
            reader.faulty.add("joint")
            continue
        before.addnext(joint)
        before = joint
        if joint in alone and parent is not None:
            joint.insert(0, reader.document.clone(parent))
        _nested(reader, joint, name, origin, child_origins)


def _nested(
    reader: UrdfReader,
    joint: etree._Element,
    link: str,
    link_origin: etree._Element | None,
    child_origins: list[ChildOrigin],
) -> None:
    joint_origin, *others = [*joint.findall("origin"), None]
    for origin in (joint_origin, *others):
        if origin is not None:
            _take_out(origin)
            if origin is not joint_origin:
                message = "<joint> has more than one <origin>; the first is used"
                reader.warning("duplicate-element", message, reader.document.ordinal(origin))
    for dynamics in joint.findall("joint_properties"):
        dynamics.tag = "dynamics"
    parent = joint.find("parent")
    child = etree.Element("child", link=link)
    reader.document.ordinals[child] = reader.document.ordinal(joint)
    T_P_J = None
    if parent is None:
        joint.append(child)
    else:
        _name_link(reader, parent)
        child.tail, parent.tail = parent.tail, None
        parent.addnext(child)
        T_P_J = parent.find("origin")
        if T_P_J is not None:
            _take_out(T_P_J)
    if link_origin is not None and T_P_J is not None:
        message = "the joint frame in the parent link is stated twice: by this <origin> and by the one in <parent>"
        reader.error("mixed-dialects", message, reader.document.ordinal(link_origin))
        reader.faulty.add("joint")
    elif link_origin is not None and parent is not None:
        T_P_J = reader.document.clone(link_origin)
    _place(joint, T_P_J, joint_origin, child, child_origins)


def _name_link(reader: UrdfReader, end: etree._Element) -> None:
    """Convert a parent in the original form, ``<parent name>``, to the current attribute."""
    name = end.get("name")
    if name is None:
        return
    if end.get("link"):
        message = f"<{end.tag}> has both 'link' and 'name'; the link is '{end.get('link')}'"
        reader.warning("duplicate-element", message, reader.document.ordinal(end), "name")
    else:
        end.set("link", name)
    del end.attrib["name"]


def _place(
    joint: etree._Element,
    T_P_J: etree._Element | None,
    T_C_J: etree._Element | None,
    child: etree._Element,
    child_origins: list[ChildOrigin],
) -> None:
    """Give a joint its only origin of the current form."""
    if T_P_J is not None:
        joint.insert(0, T_P_J)
    if T_C_J is not None:
        for node in list(T_C_J):
            child.append(node)
        child_origins.append(ChildOrigin(child.get("link", ""), T_C_J))


def _texture(reader: UrdfReader, visual: etree._Element) -> None:
    """Convert the ``<texture>`` of the original proposal to a material."""
    texture = visual.find("texture")
    if texture is None or visual.find("material") is not None:
        return
    name, filename = texture.get("name"), texture.get("filename")
    if not (name or filename):
        return
    number = reader.document.ordinal(texture)
    message = "<texture> in <visual> is an older form of <material>"
    reader.in_older_dialect(message, number)
    if filename is not None:
        del texture.attrib["filename"]
    texture.tag = "material"
    texture.set("name", str(name or filename))
    if filename:
        inner = etree.SubElement(texture, "texture", filename=filename)
        reader.document.ordinals[inner] = number


def _take_out(node: etree._Element) -> None:
    """Remove a node from its parent; keep the text behind it."""
    parent, before = node.getparent(), node.getprevious()
    if parent is None:
        return
    if node.tail and node.tail.strip():
        if before is not None:
            before.tail = (before.tail or "") + node.tail
        else:
            parent.text = (parent.text or "") + node.tail
    node.tail = None
    parent.remove(node)
