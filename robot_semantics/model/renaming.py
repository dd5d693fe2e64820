# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Renaming of a link or joint in a URDF text, in all known references."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.srdf.edit import rename_edits
from robot_semantics.xml.document import makes_names
from robot_semantics.xml.edit import Edit, XmlText, escape
from robot_semantics.xml.schema import Reference

URDF_REFERENCES: Mapping[str, tuple[Reference, ...]] = {
    "link": (
        ("robot", "link", "name"),
        ("joint", "parent", "link"),
        ("joint", "child", "link"),
        ("robot", "gazebo", "reference"),
        ("sensor", "parent", "link"),
        ("constraint", "parent", "link"),
        ("constraint", "child", "link"),
        ("robot", "frame", "link"),
        # The two older dialects.
        ("joint", "parent", "name"),
        ("link", "parent", "name"),
    ),
    "joint": (
        ("robot", "joint", "name"),
        ("link", "joint", "name"),
        ("joint", "mimic", "joint"),
        ("transmission", "joint", "name"),
        # Transmissions of grippers and wrists, as PR2 has them.
        ("transmission", "passive_joint", "name"),
        ("transmission", "gap_joint", "name"),
        ("transmission", "flexJoint", "name"),
        ("transmission", "rollJoint", "name"),
        ("ros2_control", "joint", "name"),
        ("sensor", "parent", "joint"),
        ("robot", "gazebo", "reference"),
    ),
}
"""Kind of thing → its references in a URDF."""

_GAZEBO_TEXTS: Mapping[str, frozenset[str]] = {
    "link": frozenset(
        (
            *("bodyName", "body_name", "frameName", "frame_name", "linkName", "link_name"),
            *("robotBaseFrame", "robot_base_frame", "child_link", "parent_link"),
        )
    ),
    "joint": frozenset(("joint", "jointName", "joint_name", "mimicJoint", "mimic_joint", "actuatedJoint")),
}
"""Kind of thing → tags of elements in `<gazebo>` whose text is a name."""


def text_references(root: etree._Element, kind: str, names: Container[str]) -> Iterator[etree._Element]:
    """Yield the elements in `<gazebo>` and `<ros2_control>` whose text is one of `names`."""
    for extra in root.iterchildren("gazebo", "ros2_control"):
        for element in extra.iter("*"):
            if (element.text or "").strip() in names and not len(element):
                tags = {above.tag for above in element.iterancestors()}
                in_gazebo = "gazebo" in tags and element.tag in _GAZEBO_TEXTS[kind]
                is_leader = element.tag == "param" and element.get("name") == "mimic" and "ros2_control" in tags
                if in_gazebo or (kind == "joint" and is_leader):
                    yield element


def text_edit(xml: XmlText, element: etree._Element, text: str) -> Edit:
    """Return the edit that gives an element another text; white space around it stays."""
    start, end = xml.places.inner_span(xml.document.at(element))
    old = xml.utf8[start:end]
    start += len(old) - len(old.lstrip())
    return Edit(start, start + len(old.strip()), escape(text).encode())


def rename_in_urdf(xml: XmlText, kind: str, old: str, new: str, diagnostics: Diagnostics) -> XmlText:
    """Return the URDF with the link or joint (`kind`) `old` renamed to `new`; every other byte stays.

    If the old name stays in an unknown position (a plugin's parameter, for example), a warning says so.

    Raises:
        UnknownNameError: the URDF does not have the link or joint.
        RobotSemanticsError: the text is a xacro, or the new name is empty.
    """
    if makes_names(xml.document):
        raise RobotSemanticsError(f"{xml.source} is a xacro: its names are made by macros and must be renamed by hand")
    declared = [
        (element.get("name") or "").strip()
        for element in xml.root.iter(kind)
        if (parent := element.getparent()) is not None and parent.tag in ("robot", "link")
    ]
    if old not in declared:
        raise UnknownNameError(kind, old, declared)
    texts = [text_edit(xml, element, new) for element in text_references(xml.root, kind, (old,))]
    renamed = xml.edited([*rename_edits(xml, URDF_REFERENCES[kind], old, new), *texts])
    for element in renamed.root.iter("*"):
        mentions = [str(name) for name, value in element.attrib.items() if value.strip() == old]
        place = renamed.places.place(renamed.document.at(element), mentions[0] if mentions else None)
        declares = element.tag in ("link", "joint", "material") and mentions == ["name"]
        if (mentions and not declares) or (element.text or "").strip() == old:
            message = f"'{old}' is not renamed in this element, because it may not mean the {kind}"
            diagnostics.warning("name-kept", message, place)
    return renamed
