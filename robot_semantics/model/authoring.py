# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of SRDF changes before they are written."""

from __future__ import annotations

import re
from collections import Counter

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.model.apply_semantics import apply_semantics, check_alone
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.table import parse_srdf


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
    found = problems_of(after, robot)
    known = Counter[tuple[str, str]]()
    if before is not None:
        known.update(_identity(error, renamed) for error in problems_of(before, robot_before or robot).errors)
    made: list[Diagnostic] = []
    for error in found.errors:
        identity = _identity(error)
        if known[identity] > 0:
            known[identity] -= 1
        else:
            made.append(error)
    if made:
        raise DescriptionError(made)
    return found


def _identity(problem: Diagnostic, renamed: tuple[str, str] | None = None) -> tuple[str, str]:
    """Return the part of a problem that does not depend on line numbers, to compare two versions of a text."""
    message = re.sub(r"\bline \d+", "line", problem.message)
    if renamed is not None:
        message = message.replace(f"'{renamed[0]}'", f"'{renamed[1]}'")
    return problem.code, message
