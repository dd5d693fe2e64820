# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Description texts to a robot model, as the node reads them: lenient by default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics, Severity
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import RobotModel


class Description(NamedTuple):
    """The texts of a robot and its model.

    Attributes:
        implicit_links: whether joints may name links that no ``<link>`` declares.
        problems: errors, whose parts were left out of the model, and warnings.

    """

    urdf: str
    srdf: str
    loops: str
    implicit_links: bool
    model: RobotModel
    problems: tuple[Diagnostic, ...]


class RefusedDescriptionError(DescriptionError):
    """A description gives no robot; the text of the error has the errors alone, without the warnings."""

    def __str__(self) -> str:
        errors = [problem for problem in self.diagnostics if problem.severity is Severity.ERROR]
        return "\n".join(str(problem) for problem in errors or self.diagnostics)


def one_line_a_kind(problems: Iterable[Diagnostic]) -> list[str]:
    """Return one sentence for each kind of problem: the first problem, and the number of the others."""
    kinds: dict[tuple[Severity, str], list[Diagnostic]] = {}
    for problem in problems:
        kinds.setdefault((problem.severity, problem.code), []).append(problem)
    return [str(same[0]) + (f" (and {len(same) - 1} more of this kind)" if same[1:] else "") for same in kinds.values()]


def read_description(
    urdf: str, srdf: str, loops: str = "", *, strict: bool, implicit_links: bool = False, prefix: str = ""
) -> Description:
    """Return the description of the texts; an empty SRDF means no SRDF, and empty `loops` no ``robot.yaml``.

    `prefix` is the prefix of the parameters with the texts; it is part of the problems' places.

    Raises:
        RobotSemanticsError: the URDF gives no tree, a text is not XML, or with `strict` there is any error.

    """
    before = f"{prefix}." if prefix else ""
    if not urdf.strip():
        raise RobotSemanticsError(f"parameter '{before}robot_description' is empty: it must hold the robot's URDF")
    diagnostics = Diagnostics()
    try:
        model = robot_from_text(
            urdf,
            srdf if srdf.strip() else None,
            loops if loops.strip() else None,
            strict=strict,
            implicit_links=implicit_links,
            urdf_source=f"<{before}robot_description>",
            srdf_source=f"<{before}robot_description_semantic>",
            loops_source=f"<{before}robot_description_loops>",
            diagnostics=diagnostics,
        )
    except DescriptionError as error:
        raise RefusedDescriptionError(error.diagnostics) from None
    return Description(urdf, srdf, loops, implicit_links, model, tuple(problem for problem in diagnostics))
