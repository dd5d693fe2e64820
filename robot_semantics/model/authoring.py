# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Changes of a robot's documents: checks of SRDF changes before they are written, and a new name in all references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping

from lxml import etree

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.model.apply_semantics import apply_semantics, check_alone
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import SrdfText, rename_edits
from robot_semantics.srdf.table import parse_srdf
from robot_semantics.xml.document import makes_names
from robot_semantics.xml.edit import Edit, XmlText, escape
from robot_semantics.xml.schema import Reference


def problems_of(text: SrdfText, robot: RobotModel | None) -> Diagnostics:
    """Return every problem of an SRDF; without a robot, only the problems that need no robot."""
    diagnostics = Diagnostics()
    semantic = parse_srdf(str(text), text.xml.source, diagnostics)
    if robot is None:
        check_alone(semantic, diagnostics)
    else:
        apply_semantics(robot, semantic, diagnostics)
    return diagnostics


def check_change(
    before: SrdfText | None,
    after: SrdfText,
    robot: RobotModel | None,
    robot_before: RobotModel | None = None,
    renamed: tuple[str, str] | None = None,
) -> Diagnostics:
    """Return the problems of the text after a change; the change must not add an error.

    Args:
        before: the text before the change; None for a new text.
        after: the text after it.
        robot: the robot without semantics, after the change.
        robot_before: the robot before the change, if it was changed.
        renamed: the old and the new name, if the change is a renaming.

    Raises:
        DescriptionError: with the errors that the change adds.
    """
    problems = problems_of(after, robot)
    old_counts = Counter[tuple[str, str]]()
    if before is not None:
        old_counts.update(_identity(error, renamed) for error in problems_of(before, robot_before or robot).errors)
    new_problems: list[Diagnostic] = []
    for error in problems.errors:
        identity = _identity(error)
        if old_counts[identity] > 0:
            old_counts[identity] -= 1
        else:
            new_problems.append(error)
    if new_problems:
        raise DescriptionError(new_problems)
    return problems


def _identity(problem: Diagnostic, renamed: tuple[str, str] | None = None) -> tuple[str, str]:
    """Return the part of a problem that does not depend on line numbers, to compare two versions of a text."""
    message = re.sub(r"\bline \d+", "line", problem.message)
    if renamed is not None:
        message = message.replace(f"'{renamed[0]}'", f"'{renamed[1]}'")
    return problem.code, message


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
    start, end = xml.places.inner_span(xml.document.ordinal(element))
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
        place = renamed.places.place(renamed.document.ordinal(element), mentions[0] if mentions else None)
        declares = element.tag in ("link", "joint", "material") and mentions == ["name"]
        if (mentions and not declares) or (element.text or "").strip() == old:
            message = f"'{old}' is not renamed in this element, because it may not mean the {kind}"
            diagnostics.warning("name-kept", message, place)
    return renamed
