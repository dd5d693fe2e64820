# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All checks of a robot description: the URDF, its elements for other programs, its SRDFs and its closed loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.bringup.control_checks import check_control
from robot_semantics.model.apply_semantics import apply_semantics, check_alone
from robot_semantics.model.foreign_checks import check_foreign
from robot_semantics.model.resources import PackageResolver, check_files
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.control_tree import ControlBlock


class CheckedDescription(NamedTuple):
    """A checked robot.

    Attributes:
        robot: the robot with the semantics of the last SRDF; None without a valid tree.
        blocks: its ``<ros2_control>`` blocks.
    """

    robot: RobotModel | None
    blocks: tuple[ControlBlock, ...] = ()


def check_description(
    robot: RobotModel | None,
    semantics: Sequence[SrdfDocument],
    diagnostics: Diagnostics,
    semantic_diagnostics: Diagnostics | None = None,
    *,
    resolver: PackageResolver | None = None,
    file: str | None = None,
) -> CheckedDescription:
    """Report the problems of a URDF and of its SRDFs that their readers do not report.

    Args:
        robot: the URDF's robot; None if it has no valid tree or is unknown. Names in the SRDFs are then not checked.
        semantics: the SRDFs; each is checked with the URDF alone. The loops are checked with the last one.
        diagnostics: gets the problems of the URDF.
        semantic_diagnostics: gets the problems of the SRDFs (default: `diagnostics`).
        resolver: finds the files that the URDF names; without it, they are not checked.
        file: the URDF's own file.
    """
    of_srdf = diagnostics if semantic_diagnostics is None else semantic_diagnostics
    if robot is None:
        for semantic in semantics:
            check_alone(semantic, of_srdf)
        return CheckedDescription(None)
    if resolver is not None:
        check_files(robot.urdf, resolver, diagnostics, file)
    check_foreign(robot, diagnostics)
    blocks = check_control(robot, diagnostics)
    complete = robot
    for semantic in semantics:
        complete = apply_semantics(robot, semantic, of_srdf)
    if complete.constraints:
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loop_freedom import check_loops

        check_loops(complete, diagnostics)
    return CheckedDescription(complete, blocks)
