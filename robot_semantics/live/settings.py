# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Parameters of one robot as checked values."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.record import record
from robot_semantics.model.loading import DescriptionTexts
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.pose import Vec6

# Description texts to a robot model, as the node reads them: lenient by default.


class Description(NamedTuple):
    """The texts of a robot and its model.

    Attributes:
        texts: the texts, and how they were read.
        problems: errors, whose parts were left out of the model, and warnings.

    """

    texts: DescriptionTexts
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


def read_description(texts: DescriptionTexts, *, strict: bool, prefix: str = "") -> Description:
    """Return the description of the texts.

    `prefix` is the prefix of the parameters with the texts; it is part of the problems' places.

    Raises:
        RobotSemanticsError: the URDF gives no tree, a text is not XML, or with `strict` there is any error.

    """
    before = f"{prefix}." if prefix else ""
    if not texts.urdf.strip():
        raise RobotSemanticsError(f"parameter '{before}robot_description' is empty: it must hold the robot's URDF")
    diagnostics = Diagnostics()
    try:
        model = texts.load(strict=strict, diagnostics=diagnostics, prefix=before)
    except DescriptionError as error:
        raise RefusedDescriptionError(error.diagnostics) from None
    return Description(texts, model, tuple(problem for problem in diagnostics))


class SenderKind(str, enum.Enum):
    """What the messages of a sender say; a text where it is printed."""

    JOINT_STATES = "joint_states"
    MULTI_DOF = "multi_dof"
    ODOMETRY = "odometry"
    TF = "tf"

    __str__ = str.__str__


JOINT_KINDS = (SenderKind.JOINT_STATES, SenderKind.MULTI_DOF)
"""Kinds whose names are joints; the names of the other kinds are frames."""


class Source(enum.Enum):
    """Source of a virtual joint's motion; the values are the words of `virtual_joints.<name>.source`."""

    AUTO = "auto"
    JOINT_STATES = "joint_states"
    MULTI_DOF = "multi_dof"
    ODOMETRY = "odometry"
    TF = "tf"
    FIXED = "fixed"


class Invalid(enum.Enum):
    """Treatment of a joint state with a position that is not finite."""

    SKIP = "skip"
    REFUSE = "refuse"


@record(frozen=True, slots=True)
class VirtualJointSettings:
    """The parameters below `virtual_joints.<name>`.

    Attributes:
        topic: of the odometry.
        pose: x y z [m] roll pitch yaw [rad] of the root link in the parent frame, with source `fixed`.
        parent_frame: replaces the SRDF's parent frame on TF; empty: the SRDF's frame.
        base_frame: another name of the root link, in odometry and on TF; empty: none.

    """

    source: Source = Source.AUTO
    topic: str = "odom"
    pose: Vec6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    parent_frame: str = ""
    base_frame: str = ""


@record(frozen=True, slots=True)
class RobotSettings:
    """The parameters of one robot.

    Attributes:
        publish_interval_ns: least time between two transforms of one joint.
        default_positions: positions of joints without a value: none (unpublished), zero, mid, or GROUP/STATE of the
            SRDF.
        complete_after_ns: a joint whose values are older than this is repeated with other joints' messages.
        stale_timeout_ns: a joint without new values for this long is reported; 0: never.

    """

    frame_prefix: str = ""
    publish_interval_ns: int = 50_000_000
    ignore_timestamp: bool = False
    default_positions: str = "none"
    complete_after_ns: int = 100_000_000
    stale_timeout_ns: int = 5_000_000_000
    invalid: Invalid = Invalid.SKIP
    strict: bool = False
    raw: bool = True
    virtual_joints: Mapping[str, VirtualJointSettings] = field(default_factory=lambda: MappingProxyType({}))

    def virtual_joint(self, name: str) -> VirtualJointSettings:
        """Return the settings of the virtual joint called `name`; defaults if there are none."""
        return self.virtual_joints.get(name, VirtualJointSettings())
