# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Parsing of URDF text to a plain tree, by the table of URDF; every problem has its place."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.urdf.older_forms import ChildOrigin, UrdfReader, to_current_form
from robot_semantics.urdf.table import URDF, VERSIONS
from robot_semantics.urdf.tree import Origin, UrdfRobot
from robot_semantics.xml.document import XmlDocument, report_oddities
from robot_semantics.xml.reader import parse_xml, read_text


def parse_urdf(
    text: str | bytes, source: str = "<robot_description>", diagnostics: Diagnostics | None = None
) -> UrdfRobot:
    """Parse a URDF text; every message calls it `source`.

    A joint in one of the two older forms is converted to the current form, with a warning. Problems are added to
    `diagnostics`; invalid parts are left out of the tree.

    Raises:
        DescriptionError: the text is not XML or not a robot; or, without `diagnostics`, there is an error.
    """
    return read_urdf_robot(parse_xml(text, source, forgiving=True, streamed=True), diagnostics)


def urdf_from_file(path: str | Path, diagnostics: Diagnostics | None = None) -> UrdfRobot:
    """Read a URDF file.

    Raises:
        DescriptionError: as `parse_urdf`, or the file cannot be read.
    """
    return parse_urdf(read_text(path), str(path), diagnostics)


def read_urdf_robot(document: XmlDocument, diagnostics: Diagnostics | None = None) -> UrdfRobot:
    """Read the robot of a parsed document, as `parse_urdf` does.

    Raises:
        DescriptionError: as `parse_urdf`.
    """
    own = Diagnostics() if diagnostics is None else diagnostics
    robot = _read(document.in_no_namespace(), own)
    if diagnostics is None:
        own.raise_if_failed()
    return robot


def _read(document: XmlDocument, diagnostics: Diagnostics) -> UrdfRobot:
    version = document.head.get("version")
    version = version if version in VERSIONS else VERSIONS[0]
    own_diagnostics = Diagnostics()
    reader = UrdfReader(document, URDF, own_diagnostics, version)
    robot = reader.read_root()
    child_origins: dict[str, Origin] = {}
    if reader.has_older_form:
        document, own_diagnostics = document.copied(), Diagnostics()
        reader = UrdfReader(document, URDF, own_diagnostics, version)
        taken_out = to_current_form(reader)
        child_origins = _child_origins(reader, taken_out) if taken_out else {}
        robot = reader.read_root()
    diagnostics.extend(own_diagnostics)
    report_oddities(document, diagnostics)
    if not child_origins or not robot.complete:
        return robot
    # Import here: few robots need numpy for it.
    from robot_semantics.urdf.dialects import move_link_frames

    return move_link_frames(robot, child_origins, diagnostics)


def _child_origins(reader: UrdfReader, taken_out: list[ChildOrigin]) -> dict[str, Origin]:
    """Return by child link the pose of the joint frame in this link, for joints in an older form."""
    _, joint = reader.plan().children["joint"]
    _, plan = joint.children["origin"]
    origins: dict[str, Origin] = {}
    for link, element in taken_out:
        origin = reader.read_whole(element, plan)
        if isinstance(origin, Origin):
            origins[link] = origin
        else:
            reader.faulty.add("joint")
    return origins
