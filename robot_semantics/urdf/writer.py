# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing of a URDF tree as text: reading it again gives the same tree, with every number bit for bit the same.

Numbers are the shortest decimal text that reads back to the same 64-bit float. Children have the order of the original
text; new children follow in the order of the table. Comments, processing instructions and foreign elements are
unchanged, before the same child.
"""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.files import save_text
from robot_semantics.urdf.table import URDF
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.schema_writer import write_table


def write_urdf(robot: UrdfRobot) -> str:
    """Return `robot` as URDF text.

    Raises:
        DescriptionError: a number is not finite, or a text has characters that XML cannot hold; the error has all
            problems.
    """
    found = Diagnostics()
    text = write_table(robot, URDF, robot.places.source, found, robot.namespaces)
    found.raise_if_failed()
    return "\n".join(['<?xml version="1.0"?>', *robot.prolog, text + "".join(f"{line}\n" for line in robot.epilog)])


def save_urdf(robot: UrdfRobot, path: str | Path) -> None:
    """Write `robot` to a file, atomically.

    Raises:
        DescriptionError: as `write_urdf`.
        OSError: the file cannot be written.
    """
    save_text(write_urdf(robot), path)


def current_text(robot: UrdfRobot) -> str:
    """Return the text of the tree: the original text, or a new one if the tree was rewritten.

    Raises:
        DescriptionError: as `write_urdf`.
    """
    return robot.places.text.decode() if robot.places.text and not robot.rewritten else write_urdf(robot)
