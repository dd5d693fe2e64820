# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MuJoCo's own state in a world state: what it takes to continue bit for bit, and when that can be used."""

from __future__ import annotations

import hashlib
import platform
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.simulation.mujoco_builder import BuiltWorld
from robot_semantics.simulation.restoring import OTHER_TIME
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.commands import commands_of
from robot_semantics.usdf.world_state import EngineState, WorldState

ENGINE = "mujoco"

CONTRADICTION = 1e-9
"""How far [m, rad and their rates] stated values may lie from the engine's: rounding of poses, not an edit."""

_OPTIONS = tuple(name for name in dir(mujoco.MjOption) if not name.startswith("_"))
"""Names of the options, which can be changed while a world is simulated."""


def engine_state(built: BuiltWorld, model: Any, integration: FloatArray, modes: npt.NDArray[np.int64]) -> EngineState:
    """Return the engine's part of a world state.

    Measured: mjSTATE_INTEGRATION as shortest decimal text continues bit for bit with every solver and integrator; the
    smaller state sets drift for want of the solver's warm start.

    Args:
        built: the compiled world.
        model: the MjModel that is stepped.
        integration: mjSTATE_INTEGRATION.
        modes: (nu,) what each actuator's command means; they live in the model and so in none of MuJoCo's state sets.

    """
    return EngineState(
        ENGINE,
        mujoco.__version__,
        {"integration": tuple(integration.tolist()), "control_mode": tuple(modes.astype(float).tolist())},
        {"model": digest(built, model), "machine": platform.machine()},
    )


def digest(built: BuiltWorld, model: Any) -> str:
    """Return the SHA-256 of the world that `model` steps: of the compiled one, and of the options changed since."""
    options = [(name, getattr(model.opt, name), getattr(built.model.opt, name)) for name in _OPTIONS]
    changed = [(name, np.asarray(now)) for name, now, then in options if not np.array_equal(now, then)]
    if not changed:
        return built.digest
    found = hashlib.sha256(built.digest.encode())
    for name, value in changed:
        found.update(name.encode() + value.tobytes())
    return found.hexdigest()


def why_not_exact(engine: EngineState, built: BuiltWorld, model: Any, size: int) -> str | None:
    """Return why the engine's state cannot be used, or None where it can.

    Args:
        engine: the engine's state, of this machine and version.
        built: the compiled world.
        model: the MjModel that is stepped.
        size: the number of values that this world's integration state has.

    """
    if model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP):
        return "the simulator's option 'sleep' (mjENBL_SLEEP) is on, with which no restart is exact"
    if engine.attributes.get("model") != digest(built, model):
        return "the state's compiled world differs from this one (another description, time step, option or mesh)"
    expected = {"integration": size, "control_mode": built.model.nu}
    found = {name: len(values) for name, values in engine.arrays.items()}
    if found != expected:
        return f"the engine state's arrays have the sizes {found}, not {expected}"
    if any(mode not in (0.0, 1.0, 2.0) for mode in engine.arrays["control_mode"]):
        return "the engine state has a control mode that does not exist"
    return None


def contradiction(state: WorldState, model: Any, scratch: Any, integration: FloatArray, trial: Any) -> str | None:
    """Return why an engine's state is not that of what is stated beside it, or None.

    Args:
        state: the state.
        model: the MjModel.
        scratch: an MjData of no further use.
        integration: the engine's state.
        trial: the MjData that has what is stated.

    """
    mujoco.mj_setState(model, scratch, integration, mujoco.mjtState.mjSTATE_INTEGRATION)
    places = []
    for data in (scratch, trial):
        mujoco.mj_kinematics(model, data)
        places.append(np.concatenate((data.xpos.ravel(), data.xmat.ravel())))
    apart = {"positions": places[0] - places[1], "velocities": scratch.qvel - trial.qvel}
    for kind, values in apart.items():
        if np.abs(values).max(initial=0.0) > CONTRADICTION:
            return f"the {kind} it states are not those of the engine's state beside them"
    if commands_of(state)[0]:
        return "it states commands beside the engine's state"
    return OTHER_TIME if state.time_ns not in (None, round(float(scratch.time) * 1e9)) else None
