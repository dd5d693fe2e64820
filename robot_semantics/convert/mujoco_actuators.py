# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The controls of a MuJoCo keyframe as commands to joints, if possible, and unchanged for the way back.

MuJoCo's actuators are anything from motors to muscles. An actuator on a hinge or slide, without activation, is a
command if its force is ``kp (ctrl - length)``, ``kv (ctrl - velocity)`` or ``gain ctrl``: of the joint's position,
velocity or effort.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.base.errors import ArrayError
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.commands import JointCommand, commands_of, commands_state
from robot_semantics.usdf.world_state import EngineState, WorldState

if TYPE_CHECKING:
    import mujoco

KEYFRAME = "mujoco-keyframe"
"""The engine whose part of a state has a keyframe's controls and activations as they are."""

_JOINT, _JOINT_IN_PARENT = 0, 1
_FIXED_GAIN, _NO_BIAS, _AFFINE_BIAS = 0, 0, 1


def engines_of(
    model: mujoco.MjModel, models: dict[str, str], ctrl: FloatArray, act: FloatArray
) -> tuple[EngineState, ...]:
    """Return the engine states for controls (nu,) and activations (na,); empty arrays give none.

    `models` are the names of the state's models by MuJoCo's joints.

    Raises:
        ArrayError: their number differs from the model's.
    """
    for word, values, count in (("ctrl", ctrl, model.nu), ("act", act, model.na)):
        if len(values) not in (0, count):
            raise ArrayError(word, f"{len(values)} numbers; the model has {count}")
    if not len(ctrl) and not len(act):
        return ()
    arrays = {word: tuple(values.tolist()) for word, values in (("ctrl", ctrl), ("act", act)) if len(values)}
    exact = EngineState(KEYFRAME, "1", arrays, {"actuators": _signature(model)})
    commands = {}
    for index in range(model.nu if len(ctrl) else 0):
        meaning = _meaning(model, index)
        if meaning is not None and meaning[0] in models:
            joint, mode, factor = meaning
            name = models[joint]
            commands[JointCommand(name, joint.removeprefix(f"{name}/"), mode)] = float(ctrl[index] * factor)
    return (exact, commands_state(commands)) if commands else (exact,)


def controls_of(state: WorldState, model: mujoco.MjModel) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return (nu,) controls and (na,) activations of a world state for a model, and the lost data.

    Each is empty if not stated. Controls of a keyframe return unchanged. Commands of joints become controls of the
    actuators with the same joint and mode.
    """
    commands, lost_items = _from_commands(state, model)
    for engine in state.engines:
        if engine.name != KEYFRAME:
            continue
        arrays = {word: np.array(engine.arrays.get(word, ())) for word in ("ctrl", "act")}
        fits = engine.attributes.get("actuators") == _signature(model)
        if fits and len(arrays["ctrl"]) in (0, model.nu) and len(arrays["act"]) in (0, model.na):
            return arrays["ctrl"], arrays["act"], []
        lost_items.append("the controls and activations of a keyframe, which is of a model with other actuators")
    return commands, np.zeros(0), lost_items


def _from_commands(state: WorldState, model: mujoco.MjModel) -> tuple[FloatArray, list[str]]:
    commands, others = commands_of(state)
    lost_items = [f"the command '{name}', which is unknown" for name in others]
    ctrl = np.zeros(model.nu)
    commands_left = dict(commands)
    for index in range(model.nu):
        joint, mode, factor = _meaning(model, index) or ("", "", 1.0)
        for command, value in commands.items():
            if command.mode == mode and joint in (command.variable, f"{command.model}/{command.variable}"):
                ctrl[index] = value / factor
                commands_left.pop(command, None)
    for command in commands_left:
        what = f"the {command.mode} command to '{command.model}/{command.variable}'"
        lost_items.append(f"{what}, for which the MuJoCo model has no actuator")
    return (ctrl if len(commands_left) < len(commands) else np.zeros(0)), lost_items


def _meaning(model: mujoco.MjModel, index: int) -> tuple[str, str, float] | None:
    """Return the joint, the mode and the factor from control to command of an actuator; None if it is not a command."""
    if int(model.actuator_trntype[index]) not in (_JOINT, _JOINT_IN_PARENT) or model.actuator_dyntype[index] != 0:
        return None
    joint = int(model.actuator_trnid[index, 0])
    gear = float(model.actuator_gear[index, 0])
    gain, bias = float(model.actuator_gainprm[index, 0]), model.actuator_biasprm[index, :3].tolist()
    if int(model.jnt_type[joint]) not in (2, 3) or gear == 0.0 or gain == 0.0:
        return None
    name, kind = str(model.joint(joint).name), int(model.actuator_biastype[index])
    if not name or int(model.actuator_gaintype[index]) != _FIXED_GAIN:
        return None
    if kind == _NO_BIAS or (kind == _AFFINE_BIAS and not any(bias)):
        return name, "effort", gain * gear
    if kind == _AFFINE_BIAS and bias[0] == 0.0 and bias[1] == -gain:
        return name, "position", 1.0 / gear
    if kind == _AFFINE_BIAS and bias[:2] == [0.0, 0.0] and bias[2] == -gain:
        return name, "velocity", 1.0 / gear
    return None


def _signature(model: mujoco.MjModel) -> str:
    """Return a digest of the actuators' names and numbers of states."""
    lines = [f"{model.actuator(index).name} {int(model.actuator_actnum[index])}" for index in range(model.nu)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
