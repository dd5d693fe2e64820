# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The formats of sphere approximations by the endings of their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.endings import format_of
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.planner_robot import PlannerRobot
from robot_semantics.convert.planner_srdf import from_srdf, to_srdf
from robot_semantics.convert.planner_text import to_curobo, to_xrdf
from robot_semantics.convert.planner_yaml import from_curobo, from_xrdf
from robot_semantics.convert.sphere_urdf import from_sphere_urdf, to_sphere_urdf
from robot_semantics.model.robot_model import RobotModel

SRDF = "srdf"
ENDINGS: Mapping[str, str] = {".srdf": SRDF, ".yml": "curobo", ".yaml": "curobo", ".xrdf": "xrdf", ".urdf": "urdf"}
"""Format by the ending of a file."""

READERS: Mapping[str, Callable[[str | Path, RobotModel, Diagnostics], Converted[PlannerRobot]]] = {
    "curobo": from_curobo,
    "xrdf": from_xrdf,
    "urdf": from_sphere_urdf,
}
"""Reader of each format but SRDF, which belongs to the robot model."""


def read_planner(
    path: str, robot: RobotModel, diagnostics: Diagnostics, group: str | None = None, state: str | None = None
) -> Converted[PlannerRobot]:
    """Return the planner's facts in a file, by its ending; an SRDF must already be part of the robot.

    Raises:
        UnknownEndingError: the ending is unknown.
        DescriptionError: the file has errors.
        RobotSemanticsError: as `from_srdf`.
        OSError: the file cannot be read.
    """
    kind = format_of(path, ENDINGS)
    return from_srdf(robot, group, state) if kind == SRDF else READERS[kind](path, robot, diagnostics)


def write_planner(
    planner: PlannerRobot, path: str, robot: RobotModel, urdf: str, group: str | None = None, state: str | None = None
) -> Converted[str]:
    """Return the text of a file, by its ending. An SRDF gets the given names, or ``planner`` and ``default``.

    Raises:
        UnknownEndingError: the ending is unknown.
    """
    writers: dict[str, Callable[[], Converted[str]]] = {
        SRDF: lambda: to_srdf(planner, robot, group or "planner", state or "default"),
        "curobo": lambda: to_curobo(planner, robot, urdf),
        "xrdf": lambda: to_xrdf(planner),
        "urdf": lambda: to_sphere_urdf(planner, robot),
    }
    return writers[format_of(path, ENDINGS)]()
