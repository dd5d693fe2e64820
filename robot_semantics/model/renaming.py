# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Renaming of a link or joint in a URDF text, in all known references."""

from __future__ import annotations

import re
from collections.abc import Mapping

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.srdf.edit import rename_edits
from robot_semantics.xml.edit import XmlText
from robot_semantics.xml.schema import Reference

XACRO = re.compile(rb"xmlns:xacro\s*=|\$[{(]")
"""Sign that macros make names, which a rename cannot follow."""

URDF_REFERENCES: Mapping[str, tuple[Reference, ...]] = {
    "link": (
        ("robot", "link", "name"),
        ("joint", "parent", "link"),
        ("joint", "child", "link"),
        ("robot", "gazebo", "reference"),
        ("sensor", "parent", "link"),
        ("constraint", "parent", "link"),
        ("constraint", "child", "link"),
        # The two older dialects.
        ("joint", "parent", "name"),
        ("link", "parent", "name"),
    ),
    "joint": (
        ("robot", "joint", "name"),
        ("link", "joint", "name"),
        ("joint", "mimic", "joint"),
        ("transmission", "joint", "name"),
        ("ros2_control", "joint", "name"),
        ("robot", "gazebo", "reference"),
    ),
}
"""Kind of thing → its references in a URDF."""


def rename_in_urdf(xml: XmlText, kind: str, old: str, new: str, diagnostics: Diagnostics) -> XmlText:
    """Return the URDF with the link or joint (`kind`) `old` renamed to `new`; every other byte stays.

    If the old name stays in an unknown position (a plugin's parameter, for example), a warning says so.

    Raises:
        UnknownNameError: the URDF does not have the link or joint.
        RobotSemanticsError: the text is a xacro, or the new name is empty.
    """
    if XACRO.search(xml.utf8):
        raise RobotSemanticsError(f"{xml.source} is a xacro: its names are made by macros and must be renamed by hand")
    declared = [
        (element.get("name") or "").strip()
        for element in xml.root.iter(kind)
        if (parent := element.getparent()) is not None and parent.tag in ("robot", "link")
    ]
    if old not in declared:
        raise UnknownNameError(kind, old, declared)
    renamed = xml.edited(rename_edits(xml, URDF_REFERENCES[kind], old, new))
    for element in renamed.root.iter("*"):
        mentions = [str(name) for name, value in element.attrib.items() if value.strip() == old]
        place = renamed.places.place(renamed.document.at(element), mentions[0] if mentions else None)
        declares = element.tag in ("link", "joint", "material") and mentions == ["name"]
        if (mentions and not declares) or (element.text or "").strip() == old:
            message = f"'{old}' is not renamed in this element, because it may not mean the {kind}"
            diagnostics.warning("name-kept", message, place)
    return renamed
