# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MuJoCo's engine state in a world state: its content, and the conditions for a restart bit for bit."""

from __future__ import annotations

import hashlib
import platform

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.base.nanoseconds import whole_nanoseconds
from robot_semantics.simulation.mujoco_builder import BuiltWorld
from robot_semantics.simulation.restoring import TIME_DIFFERS
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.commands import commands_of
from robot_semantics.usdf.world_state import EngineState, WorldState

ENGINE = "mujoco"

CONTRADICTION = 1e-9
"""Largest rounding difference [m, rad and their rates] between stated values and the engine's. More is an edit."""

_OPTIONS = tuple(name for name in dir(mujoco.MjOption) if not name.startswith("_"))
"""Names of the options. They can change during a simulation."""


def engine_state(
    built: BuiltWorld, model: mujoco.MjModel, integration: FloatArray, modes: npt.NDArray[np.int64]
) -> EngineState:
    """Return the engine's part of a world state.

    Measured: mjSTATE_INTEGRATION as shortest decimal text continues bit for bit with every solver and integrator. The
    smaller state sets drift, because they lack the solver's warm start.

    Args:
        built: the compiled world.
        model: the MjModel that is stepped.
        integration: mjSTATE_INTEGRATION.
        modes: (nu,) control mode of each actuator. No state set of MuJoCo has them, because they are in the model.

    """
    return EngineState(
        ENGINE,
        mujoco.__version__,
        {"integration": tuple(integration.tolist()), "control_mode": tuple(modes.astype(float).tolist())},
        {"model": digest(built, model), "machine": platform.machine()},
    )


def digest(built: BuiltWorld, model: mujoco.MjModel) -> str:
    """Return the SHA-256 of the world of `model`: of the compiled model and of the options changed since."""
    options = [(name, getattr(model.opt, name), getattr(built.model.opt, name)) for name in _OPTIONS]
    changed = [(name, np.asarray(now)) for name, now, then in options if not np.array_equal(now, then)]
    if not changed:
        return built.digest
    hashed = hashlib.sha256(built.digest.encode())
    for name, value in changed:
        hashed.update(name.encode() + value.tobytes())
    return hashed.hexdigest()


def why_not_exact(engine: EngineState, built: BuiltWorld, model: mujoco.MjModel, size: int) -> str | None:
    """Return why the engine's state cannot be used, or None if it can.

    Args:
        engine: the engine's state, of this machine and version.
        built: the compiled world.
        model: the MjModel that is stepped.
        size: the number of values that this world's integration state has.

    """
    if model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP):
        return "the simulator's option 'sleep' (mjENBL_SLEEP) is on: with it, no restart is exact"
    if engine.attributes.get("model") != digest(built, model):
        return "the state's compiled world differs from this one (another description, time step, option or mesh)"
    expected = {"integration": size, "control_mode": built.model.nu}
    sizes = {name: len(values) for name, values in engine.arrays.items()}
    if sizes != expected:
        return f"the engine state's arrays have the sizes {sizes}, not {expected}"
    if any(mode not in (0.0, 1.0, 2.0) for mode in engine.arrays["control_mode"]):
        return "the engine state has a control mode that does not exist"
    return None


def contradiction(
    state: WorldState, model: mujoco.MjModel, scratch: mujoco.MjData, integration: FloatArray, trial: mujoco.MjData
) -> str | None:
    """Return how the engine's state contradicts the other values of the world state, or None.

    Args:
        state: the world state.
        model: the MjModel.
        scratch: an MjData that may be overwritten.
        integration: the engine's state.
        trial: the MjData with the other values.

    """
    mujoco.mj_setState(model, scratch, integration, mujoco.mjtState.mjSTATE_INTEGRATION)
    poses = []
    for data in (scratch, trial):
        mujoco.mj_kinematics(model, data)
        poses.append(np.concatenate((data.xpos.ravel(), data.xmat.ravel())))
    apart = {"positions": poses[0] - poses[1], "velocities": scratch.qvel - trial.qvel}
    for kind, values in apart.items():
        if np.abs(values).max(initial=0.0) > CONTRADICTION:
            return f"its {kind} differ from the engine's state in the same file"
    if commands_of(state)[0]:
        return "it has commands as well as the engine's state"
    return TIME_DIFFERS if state.time_ns not in (None, whole_nanoseconds(float(scratch.time))) else None
