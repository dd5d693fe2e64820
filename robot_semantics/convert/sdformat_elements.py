# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Values of the elements of an SDFormat `<state>`: poses, velocities, times; each fault with its place."""

from __future__ import annotations

import math

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.convert.sdformat_state import AXES
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_quaternion, six
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.numbers import numbers
from robot_semantics.xml.schema import BadValueError

MODEL, LINK, JOINT = ("model_state", "model"), ("link_state", "link"), ("joint_state", "joint")
_READ = {
    "state": {"sim_time", *MODEL},
    "model": {"pose", "frame", *MODEL, *LINK, *JOINT},
    "link": {"pose", "linear_velocity", "angular_velocity", "velocity", "force", "torque", "wrench"},
    "joint": {*AXES, "angle"},
    "axis": {"position", "velocity", "effort"},
}
_WORTHLESS = {"iterations": "0", "wall_time": "0 0", "real_time": "0 0", "scale": "1 1 1"}
"""Elements that are not carried, and the text in which they say nothing."""


class ElementReader:
    """Reads values of elements.

    Attributes:
        document: the document.
        found: the problems.
        lost: takes the lost data.
    """

    def __init__(self, document: XmlDocument, found: Diagnostics) -> None:
        """Start without problems."""
        self.document = document
        self.found = found
        self.lost: list[str] = []

    def halves(self, element: etree._Element, linear: str, angular: str, both: str) -> Vec6 | None:
        """Return a twist or wrench from its two elements, or from the single element of older versions."""
        parts = [element.find(linear), element.find(angular)]
        if parts == [None, None]:
            old = element.find(both)
            row = None if old is None else self.numbers_of(old, 6)
            return None if row is None else six(row)
        if None in parts:
            missing = linear if parts[0] is None else angular
            self.lost.append(f"link '{element.get('name')}': a velocity or force without {missing}")
            return None
        rows = [self.numbers_of(part, 3) for part in parts if part is not None]
        if parts[1] is not None and rows[1] is not None and _in_degrees(parts[1]):
            rows[1] = tuple(map(math.radians, rows[1]))
        return None if rows[0] is None or rows[1] is None else six((*rows[0], *rows[1]))

    def pose_of(self, element: etree._Element) -> tuple[Pose | None, str]:
        """Return an element's pose and its reference frame."""
        pose = element.find("pose")
        if pose is None:
            return None, ""
        relative_to = pose.get("relative_to", "")
        quaternion = pose.get("rotation_format", "euler_rpy") == "quat_xyzw"
        row = self.numbers_of(pose, 7 if quaternion else 6)
        if row is None:
            return None, relative_to
        if quaternion:
            if not any(row[3:]):
                self.error("zero-quaternion", "the quaternion is all zeros", pose)
                return None, relative_to
            return pose_from_quaternion(row[:3], row[3:]), relative_to
        if _in_degrees(pose):
            row = (*row[:3], *map(math.radians, row[3:]))
        return Pose(six(row)), relative_to

    def numbers_of(self, element: etree._Element, count: int) -> tuple[float, ...] | None:
        """Return the numbers of an element's text; None if they are invalid."""
        try:
            return numbers(element.text or "", count)
        except BadValueError as error:
            self.error(error.code, f"<{element.tag}> {error}", element)
            return None

    def number_of(self, element: etree._Element) -> float | None:
        """Return the number of an element's text, in radians if it is given in degrees."""
        row = self.numbers_of(element, 1)
        return None if row is None else math.radians(row[0]) if _in_degrees(element) else row[0]

    def time_of(self, element: etree._Element) -> int | None:
        """Return the nanoseconds of `seconds nanoseconds`."""
        words = (element.text or "").split()
        if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
            self.error("bad-value", f"<{element.tag}> must be whole seconds and nanoseconds", element)
            return None
        return int(words[0]) * 1_000_000_000 + int(words[1])

    def name_of(self, element: etree._Element) -> str:
        """Return an element's name."""
        name = element.get("name", "")
        if not name:
            self.error("missing-attribute", f"<{element.tag}> has no name", element)
        return name

    def not_read(self, element: etree._Element, kind: str, owner: str) -> None:
        """List the child elements that are lost, without empty ones."""
        for child in element:
            tag: object = child.tag
            if isinstance(tag, str) and tag not in _READ[kind]:
                said = " ".join((child.text or "").split())
                if _WORTHLESS.get(tag) != said:
                    self.lost.append(f"{owner}: <{tag}>")

    def error(self, code: str, message: str, element: etree._Element) -> None:
        """Add an error at the place of an element."""
        self.found.error(code, message, self.document.place(element))


def _in_degrees(element: etree._Element) -> bool:
    return element.get("degrees", "false").strip().lower() in ("true", "1")
