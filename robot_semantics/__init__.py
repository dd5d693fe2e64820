# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robot descriptions (URDF), what their parts mean (SRDF) and where they are (USDF), checked and exact.

The names below can be imported from here; each is loaded when it is first asked for, so importing the package is cheap.
"""

from __future__ import annotations

# Programs handle Ctrl-C after this import, so it imports nothing that is slow, not even `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from robot_semantics.api.robot import Robot, load_robot, robot_from_text
    from robot_semantics.api.world import convert_world, plot, resolve, with_joints, with_pose
    from robot_semantics.base.diagnostic import Diagnostic, Severity, SourcePlace
    from robot_semantics.base.diagnostics import Diagnostics
    from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
    from robot_semantics.base.version import __version__ as __version__
    from robot_semantics.kinematics.forward import ForwardKinematics
    from robot_semantics.kinematics.joint_space import JointSpace
    from robot_semantics.model.robot_model import RobotModel
    from robot_semantics.recording.notebook import read_recording
    from robot_semantics.usdf.reader import read_world
    from robot_semantics.usdf.world_state import WorldState
    from robot_semantics.usdf.writer import save_world, write_world

__all__ = [
    "DescriptionError",
    "Diagnostic",
    "Diagnostics",
    "ForwardKinematics",
    "JointSpace",
    "Robot",
    "RobotModel",
    "RobotSemanticsError",
    "Severity",
    "SourcePlace",
    "UnknownNameError",
    "WorldState",
    "convert_world",
    "load_robot",
    "plot",
    "read_recording",
    "read_world",
    "resolve",
    "robot_from_text",
    "save_world",
    "with_joints",
    "with_pose",
    "write_world",
]

_HOMES = {
    "DescriptionError": "base.errors",
    "Diagnostic": "base.diagnostics",
    "Diagnostics": "base.diagnostics",
    "ForwardKinematics": "kinematics.forward",
    "JointSpace": "kinematics.joint_space",
    "SourcePlace": "base.diagnostics",
    "Robot": "api.robot",
    "RobotModel": "model.robot_model",
    "RobotSemanticsError": "base.errors",
    "Severity": "base.diagnostics",
    "UnknownNameError": "base.errors",
    "WorldState": "usdf.world_state",
    "__version__": "base.version",
    "convert_world": "api.world",
    "load_robot": "api.robot",
    "plot": "api.world",
    "read_recording": "recording.notebook",
    "read_world": "usdf.reader",
    "resolve": "api.world",
    "robot_from_text": "api.robot",
    "save_world": "usdf.writer",
    "with_joints": "api.world",
    "with_pose": "api.world",
    "write_world": "usdf.writer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from robot_semantics.base.names import nearest_names

        near = "".join(f"; did you mean '{other}'?" for other in nearest_names(name, __all__, 1))
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'{near}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
