# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulator of URDF and SRDF robots in MuJoCo. Its state is a USDF world state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.transforms.arrays import FloatArray

try:
    import mujoco
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("mujoco", "mujoco", "simulating with MuJoCo") from error

from robot_semantics.simulation.magnitudes import LARGEST
from robot_semantics.simulation.mujoco_builder import BuiltWorld, build_world
from robot_semantics.simulation.mujoco_engine import contradiction, engine_state, why_not_exact
from robot_semantics.simulation.mujoco_layout import ModelLayout
from robot_semantics.simulation.mujoco_state import (
    body_motion,
    capture_model,
    move_planes,
    mujoco_positions,
    write_state,
)
from robot_semantics.simulation.restoring import RestorePlan
from robot_semantics.simulation.simulator import ControlMode, DivergedError, SimulationError, Simulator
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.world_state import EngineState, ModelState, WorldState

INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION

_STEPS_PER_CHECK = 100
"""Time steps between two checks for an interruption and for divergence."""
_DIVERGED = [int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{kind}")) for kind in ("QPOS", "QVEL", "QACC")]
"""Warnings of MuJoCo after which it has reset the world."""


class MujocoSimulator(Simulator):
    """A MuJoCo world of robots.

    Attributes:
        built: the compiled world and the layout of each robot's state in it.
        model: the MjModel of this simulator; only its actuator gains differ from the compiled one.
        data: the MjData. Other code may step it. `capture` never changes it.
        modes: (nu,) control mode of each actuator.

    """

    ENGINE, TITLE = "mujoco", "MuJoCo"

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0.

        Raises:
            WorldSpecError: the world cannot be built.

        """
        super().__init__(spec)
        self.built: BuiltWorld = build_world(spec)
        self.model: mujoco.MjModel = copy.copy(self.built.model)
        self.data: mujoco.MjData = mujoco.MjData(self.model)
        self._scratch: mujoco.MjData = mujoco.MjData(self.model)
        self._trial: mujoco.MjData = mujoco.MjData(self.model)
        self.modes = self._trial_modes = self.built.servos.default_modes.copy()
        self._motors = {
            layout.name: {
                variable: int(actuator)
                for indices in layout.joint_indices
                if len(indices.actuators)
                for variable, actuator in zip(indices.joint.variable_names, indices.actuators, strict=True)
            }
            for layout in self.built.layouts.values()
        }
        self._size = mujoco.mj_stateSize(self.model, INTEGRATION)
        self.reset()

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """Changes and omissions that the engine made necessary."""
        return self.built.notes

    @property
    def time(self) -> float:
        """Simulation time [s]."""
        return float(self.data.time)

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""
        mujoco.mj_resetData(self.model, self.data)
        self._set_modes(self.built.servos.default_modes)
        self._frames = {}
        for layout in self.built.layouts.values():
            robot = self._robots[layout.name]
            neutral, space = robot.neutral, robot.kinematics.space
            for indices in layout.joints:
                positions = neutral[space.joint_positions[indices.joint.name]]
                self.data.qpos[indices.qpos] = mujoco_positions(positions, indices)
            self._hold(self.data, self.modes, layout)

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            DivergedError: numbers are not finite or huge. The world is then in its neutral state (`reset`).
            SimulationError: MuJoCo refuses for another reason.

        """
        data, warnings = self.data, self.data.warning.number
        while count > 0:
            # In parts: a call of MuJoCo cannot be interrupted, and a count may be any integer.
            part, before = min(count, _STEPS_PER_CHECK), self.time
            warnings[_DIVERGED] = 0
            try:
                mujoco.mj_step(self.model, data, part)
            except mujoco.FatalError as error:
                raise SimulationError(f"MuJoCo cannot continue after {before:g} s: {error}") from error
            # MuJoCo checks only at the start of the next step.
            values = np.concatenate((data.qpos, data.qvel))
            if warnings[_DIVERGED].any() or not (np.abs(values) <= LARGEST).all():
                self.reset()
                raise DivergedError(
                    f"the simulation diverged soon after {before:g} s: positions, velocities or "
                    "accelerations are huge or not finite; a time step shorter than "
                    f"{self.model.opt.timestep:g} s may help"
                )
            count -= part

    def _command(self, model: str, mode: ControlMode, targets: Mapping[int, float]) -> None:
        del model
        actuators = list(targets)
        if (self.modes[actuators] != mode).any():
            modes = self.modes.copy()
            modes[actuators] = mode
            self._set_modes(modes)
        self.data.ctrl[actuators] = list(targets.values())

    # --- state

    def integration_state(self) -> FloatArray:
        """Return MuJoCo's complete integration state (n,)."""
        state = np.empty(self._size)
        mujoco.mj_getState(self.model, self.data, state, INTEGRATION)
        return state

    def _states(self, names: Iterable[str], placed: ResolvedWorld, *, links: bool) -> Iterator[ModelState]:
        # On a copy: a forward pass would change the solver's warm start.
        mujoco.mj_setState(self.model, self._scratch, self.integration_state(), INTEGRATION)
        mujoco.mj_forward(self.model, self._scratch)
        motion = body_motion(self.model, self._scratch, forces=links)
        for name in names:
            layout = self.built.layouts[name]
            T_world_parent = placed.pose(layout.spec.parent_frame)
            yield capture_model(layout, self._scratch, motion, T_world_parent, self._digests[name], links=links)

    def _engine_states(self) -> tuple[EngineState, ...]:
        return (engine_state(self.built, self.model, self.integration_state(), self.modes),)

    def _roots(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        model, data = self.model, self._scratch
        mujoco.mj_setState(model, data, self.integration_state(), INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        motion = body_motion(model, data, forces=False)
        return {name: motion.select(layout.bodies[:1]).root() for name, layout in self.built.layouts.items()}

    # --- parts of a restore

    def _compute_trial(self, plan: RestorePlan, now: ResolvedWorld, time: float) -> None:
        trial, layouts = self._trial, self.built.layouts
        mujoco.mj_setState(self.model, trial, self.integration_state(), INTEGRATION)
        trial.time, self._trial_modes = time, self.modes.copy()
        move_planes(layouts.values(), plan, now, trial)
        for name, applied in plan.applied.items():
            write_state(layouts[name], applied, now.pose(self._robots[name].base.frame), trial)
            self._hold(trial, self.modes, layouts[name])
        # Positions and velocities do not determine the warm start, so reset it.
        trial.qacc_warmstart[:] = 0.0

    def _set_trial_command(self, model: str, motor: int, mode: ControlMode, target: float) -> str | None:
        del model
        self._trial_modes[motor], self._trial.ctrl[motor] = mode, target
        return None

    def _continue_exactly(self, state: WorldState, names: tuple[str, ...] | None) -> str | None:
        engine = self._matching_engine_state(state, names, mujoco.__version__)
        if isinstance(engine, str):
            return engine
        reason = why_not_exact(engine, self.built, self.model, self._size)
        if reason is None:
            integration = np.array(engine.arrays["integration"])
            reason = contradiction(state, self.model, self._scratch, integration, self._trial)
        if reason is None:
            mujoco.mj_setState(self.model, self._trial, integration, INTEGRATION)
            self._trial_modes = np.array(engine.arrays["control_mode"], dtype=np.int64)
        return reason

    def _accept_trial(self) -> None:
        final = np.empty(self._size)
        mujoco.mj_getState(self.model, self._trial, final, INTEGRATION)
        mujoco.mj_setState(self.model, self.data, final, INTEGRATION)
        self._set_modes(self._trial_modes)

    # --- actuators

    def _set_modes(self, modes: npt.NDArray[np.int64]) -> None:
        self.modes = modes.copy()
        self.built.servos.apply(self.model, self.modes)

    def _hold(self, data: mujoco.MjData, modes: npt.NDArray[np.int64], layout: ModelLayout) -> None:
        """Set the servos of a robot to hold its present positions."""
        for indices in layout.joint_indices:
            if not len(indices.actuators):
                continue
            held = modes[indices.actuators] == ControlMode.POSITION
            data.ctrl[indices.actuators] = np.where(held, data.qpos[indices.qpos], 0.0)


def start(spec: WorldSpec, warn: Callable[[str], None]) -> MujocoSimulator:
    """Return a world in MuJoCo. `warn` receives MuJoCo's warnings of the whole process.

    Raises:
        WorldSpecError: the world cannot be built.

    """
    # By default, MuJoCo writes warnings to a file in the current folder.
    mujoco.set_mju_user_warning(lambda text: warn(f"MuJoCo: {text}"))
    return MujocoSimulator(spec)
