# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What joints can be commanded to, and why some cannot."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping

import numpy as np

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.model.robot_model import RobotModel


class ControlMode(enum.IntEnum):
    """What a motor's command means."""

    POSITION = 0
    VELOCITY = 1
    EFFORT = 2


NO_MOTOR = "the simulator has no motor there"


def why_not_driven(robot: RobotModel, variable: str) -> str | None:
    """Return why a joint that the robot has takes no commands; None where it has no such joint."""
    name = variable if variable in robot.joint_index else variable.rpartition("/")[0]
    if name not in robot.joint_index:
        return None
    joint = robot.joint(name)
    if joint.virtual:
        return f"it is the virtual joint, which no motor drives: the base is {joint.type.value}"
    if joint.mimic is not None:
        return f"it mimics '{joint.mimic.joint}': command that one"
    if joint.passive:
        return "it is passive: no motor drives it"
    return f"a {joint.type.value} joint has no motor"


def check_targets(robot: RobotModel, model: str, targets: Mapping[str, float], driven: Collection[str]) -> None:
    """Look whether a model's motors, which drive these variables, can be given targets.

    Raises:
        UnknownNameError: there is no such variable.
        ArrayError: a target is not finite, or nothing drives it; the error says why.

    """
    for variable, target in targets.items():
        if variable not in driven:
            reason = why_not_driven(robot, variable)
            if reason is not None:
                raise ArrayError(variable, reason)
            raise UnknownNameError("actuated variable", variable, driven, f"model '{model}'")
        if not np.isfinite(target):
            raise ArrayError("targets", f"must be finite, not {dict(targets)}")
