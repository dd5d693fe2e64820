# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Commands of joints as an engine state of a world state, because USDF has positions of joints but no targets.

The part is called ``joint-commands`` and any simulator can read it: an array of one number, ``MODEL/VARIABLE MODE``,
for each variable that is commanded [rad, m; rad/s, m/s; N m, N]. A variable is a joint's name, or ``J/x`` and the like.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from robot_semantics.usdf.world_state import EngineState, WorldState

COMMANDS = "joint-commands"
VERSION = "1"
MODES = ("position", "velocity", "effort")


class JointCommand(NamedTuple):
    """Command of one variable of a model's joint; the mode is one of `MODES`."""

    model: str
    variable: str
    mode: str


def commands_state(commands: Mapping[JointCommand, float]) -> EngineState:
    """Return commands as an engine state."""
    return EngineState(
        COMMANDS,
        VERSION,
        {f"{command.model}/{command.variable} {command.mode}": (value,) for command, value in commands.items()},
    )


def commands_of(state: WorldState) -> tuple[dict[JointCommand, float], tuple[str, ...]]:
    """Return the commands of a world state, and the names of arrays that are not commands."""
    commands: dict[JointCommand, float] = {}
    other_names: list[str] = []
    models = {model.name for model in state.models}
    for engine in state.engines:
        if engine.name != COMMANDS:
            continue
        for name, values in engine.arrays.items():
            command = _command(name, models)
            if engine.version == VERSION and command is not None and len(values) == 1:
                commands[command] = values[0]
            else:
                other_names.append(name)
    return commands, tuple(other_names)


def with_renamed_models(engine: EngineState, names: Mapping[str, str]) -> EngineState:
    """Return an engine state after models were renamed; commands get the new names of their models."""
    if engine.name != COMMANDS:
        return engine
    arrays = {}
    for name, values in engine.arrays.items():
        command = _command(name, names)
        if command is None:
            arrays[name] = values
        else:
            model = names.get(command.model, command.model)
            arrays[f"{model}/{command.variable} {command.mode}"] = values
    return replace(engine, arrays=arrays)


def without_models(engine: EngineState, names: Collection[str]) -> EngineState | None:
    """Return an engine state of commands without those of some models; None if no command is left."""
    left = {
        name: values
        for name, values in engine.arrays.items()
        if (command := _command(name, names)) is None or command.model not in names
    }
    return replace(engine, arrays=left) if left else None


def union(first: EngineState, second: EngineState) -> EngineState | None:
    """Return the commands of two states of one version; None if they contradict each other, or are no commands."""
    alike = [(engine.name, engine.version, engine.attributes, engine.foreign) for engine in (first, second)]
    shared = first.arrays.keys() & second.arrays.keys()
    if first.name != COMMANDS or alike[0] != alike[1] or any(first.arrays[n] != second.arrays[n] for n in shared):
        return None
    return replace(first, arrays={**first.arrays, **second.arrays})


def _command(name: str, models: Collection[str]) -> JointCommand | None:
    """Return the command of an array's name; None if it is not a command."""
    subject, _, mode = name.rpartition(" ")
    model, variable = model_and_variable(subject, models)
    return JointCommand(model, variable, mode) if variable and mode in MODES else None


def model_and_variable(subject: str, models: Collection[str]) -> tuple[str, str]:
    """Return the parts of ``MODEL/VARIABLE``; both may contain slashes, so the longest matching name of a model is
    used.
    """
    cuts = [at for at, letter in enumerate(subject) if letter == "/"]
    cut = max((at for at in cuts if subject[:at] in models), default=cuts[0] if cuts else len(subject))
    return subject[:cut], subject[cut + 1 :]
