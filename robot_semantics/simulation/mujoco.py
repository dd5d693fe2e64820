# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MuJoCo as a simulator of robots described by URDF and SRDF, whose state is a USDF world state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.transforms.arrays import FloatArray

try:
    import mujoco
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("mujoco", "mujoco", "simulating with MuJoCo") from error

from robot_semantics.convert.mujoco_actuators import KEYFRAME
from robot_semantics.simulation.commanding import NO_MOTOR, ControlMode, check_targets, restore_commands, why_not_driven
from robot_semantics.simulation.mujoco_builder import BuiltWorld, build_world
from robot_semantics.simulation.mujoco_capture import BodyMotion, capture_model
from robot_semantics.simulation.mujoco_engine import (
    ENGINE,
    contradiction,
    engine_arrays,
    engine_state,
    why_not_exact,
)
from robot_semantics.simulation.mujoco_layout import ModelLayout
from robot_semantics.simulation.mujoco_restore import carry_planes, write_state
from robot_semantics.simulation.mujoco_stepping import DivergedError, advance, send_warnings_to
from robot_semantics.simulation.restoring import all_frames, plan_restore, standing, standing_of
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.state.apply import resolve_with
from robot_semantics.state.report import RestoreLog, RestoreReport
from robot_semantics.usdf.commands import COMMANDS, commands_of
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.world_state import Frame, WorldState

INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION


class MujocoSimulator:
    """A MuJoCo world of robots; implements `Simulator`.

    Attributes:
        built: the compiled world and where each robot's state lies in it.
        model: this simulator's own MjModel; only the actuators' gains ever differ from the compiled one.
        data: the MjData. Stepping it by other means than `step` is fine; it is never changed by `capture`.
        modes: (nu,) what each actuator's command means.

    """

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0.

        Raises:
            WorldSpecError: the world cannot be built.

        """
        self.built: BuiltWorld = build_world(spec)
        self.spec = spec
        self.model: Any = copy.copy(self.built.model)
        self.data: Any = mujoco.MjData(self.model)
        self._scratch: Any = mujoco.MjData(self.model)
        self._trial: Any = mujoco.MjData(self.model)
        self.modes = self.built.servos.default_modes.copy()
        self._frames: dict[str, Frame] = {}
        self._digests = {model.name: model_digest(model.robot) for model in spec.models}
        self._robots = {model.name: standing_of(model) for model in spec.models}
        self._actuators = {
            layout.name: {
                variable: int(actuator)
                for place in layout.places
                if len(place.actuators)
                for variable, actuator in zip(place.joint.variable_names, place.actuators, strict=True)
            }
            for layout in self.built.layouts.values()
        }
        self._size = mujoco.mj_stateSize(self.model, INTEGRATION)
        self.reset()

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""
        return tuple(self.built.layouts)

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """What of the robots could not be taken as it is."""
        return self.built.notes

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""
        return round(float(self.data.time) * 1e9)

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""
        mujoco.mj_resetData(self.model, self.data)
        self._set_modes(self.built.servos.default_modes)
        self._frames = {}
        for layout in self.built.layouts.values():
            space = self._robots[layout.name].kinematics.space
            neutral = space.neutral()
            for place in layout.joints:
                if place.joint.position_count == 1:
                    self.data.qpos[place.qpos] = neutral[space.joint_positions[place.joint.name]]
            self._hold(self.data, self.modes, layout)

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            DivergedError: numbers are not finite or huge; the world is in its neutral state then, as `reset` puts it.
            SimulationError: MuJoCo refuses for another reason.

        """
        try:
            advance(self.model, self.data, count)
        except DivergedError:
            self.reset()
            raise

    # --- commands

    def command(self, model: str, mode: ControlMode, targets: Mapping[str, float]) -> None:
        """Set the targets of a model's actuators, and what they mean [rad, m, their rates, N m, N].

        Args:
            model: the model.
            mode: what the targets are.
            targets: by variable: a joint's own name, or ``J/x``, ``J/y`` and ``J/theta`` of a planar joint, the root's
                planar joint included.

        Raises:
            UnknownNameError: unknown model or variable.
            ArrayError: a target that is not finite, or a joint that nothing drives; the error says why.

        """
        known = self._actuators[self.built.layout(model).name]
        check_targets(self._robots[model].kinematics.model, model, targets, known)
        actuators = [known[variable] for variable in targets]
        values = np.fromiter(targets.values(), dtype=np.float64)
        if (self.modes[actuators] != mode).any():
            modes = self.modes.copy()
            modes[actuators] = mode
            self._set_modes(modes)
        self.data.ctrl[actuators] = values

    # --- state

    def integration_state(self) -> FloatArray:
        """Return MuJoCo's complete integration state (n,)."""
        state = np.empty(self._size)
        mujoco.mj_getState(self.model, self.data, state, INTEGRATION)
        return state

    def capture(self, models: Collection[str] | None = None, *, motion_only: bool = False) -> WorldState:
        """Return the present state; see `Simulator.capture`.

        A whole world carries the engine's own state, with which it continues bit for bit; a part of it does not.

        Args:
            models: capture only these; None for all.
            motion_only: leave out links and the engine's state: what a sensor of the joints and the base would see.

        Raises:
            UnknownNameError: a model that the world does not have.

        """
        chosen = [self.built.layout(name) for name in (self.model_names if models is None else models)]
        placed = resolve_with(
            WorldState(frames=tuple(all_frames(self._frames, self._robots).values())), self._standing()
        )
        motion = self._forward()
        states = tuple(
            capture_model(
                layout,
                self._scratch,
                motion,
                placed.pose(layout.spec.parent_frame),
                self._digests[layout.name],
                links=not motion_only,
            )
            for layout in chosen
        )
        whole = models is None and not motion_only
        engines = () if not whole else (engine_state(self.built, self.model, self.integration_state(), self.modes),)
        return WorldState(
            models=states,
            frames=tuple(all_frames(self._frames, self._robots).values()),
            time_ns=self.time_ns,
            engines=engines,
        )

    def restore(
        self,
        state: WorldState,
        *,
        models: Iterable[str] | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> RestoreReport:
        """Put the world into `state`; see `Simulator.restore`.

        With the engine's own state of the same world and version in it, the simulation continues bit for bit. Without,
        positions and velocities are set, the servos hold the restored positions, and the report says so.
        """
        names = None if models is None else tuple(models)
        plan = plan_restore(state, self._robots, self._standing(), self._frames, names)
        log = plan.log
        if plan.now is None:
            return log.report()
        trial = self._trial
        mujoco.mj_setState(self.model, trial, self.integration_state(), INTEGRATION)
        carry_planes(self.built.layouts.values(), plan, plan.now, trial)
        for name, applied in plan.applied.items():
            write_state(self.built.layouts[name], applied, plan.now.pose(self._robots[name].base.frame), trial)
        if names is None and state.time_ns is not None:
            trial.time = state.time_ns * 1e-9
            log.done("time", "", "set")
        modes = self.modes
        exact = False
        reason = why_not_exact(state, self.built, self.model, names, self._size)
        if reason is None and log.complete:
            arrays = engine_arrays(state)
            reason = contradiction(state, self.model, self._scratch, arrays["integration"], trial)
            if reason is None:
                exact = True
                mujoco.mj_setState(self.model, trial, arrays["integration"], INTEGRATION)
                modes = arrays["control_mode"].astype(np.int64)
        if not exact:
            self._settle(plan.applied, trial, reason, log)
            modes = self._commanded(state, names, trial, log)
            log.extend((), plan.notes)
        if dry_run or not (log.complete or partial):
            return log.report(exact=exact and log.complete)
        final = np.empty(self._size)
        mujoco.mj_getState(self.model, trial, final, INTEGRATION)
        mujoco.mj_setState(self.model, self.data, final, INTEGRATION)
        self._set_modes(modes)
        self._frames = plan.frames
        return log.report(exact=exact, applied=True)

    # --- parts of a restore

    def _settle(self, chosen: Iterable[str], trial: Any, reason: str | None, log: RestoreLog) -> None:
        """Give what positions and velocities leave open a value that goes with them."""
        trial.qacc_warmstart[:] = 0.0
        for name in chosen:
            self._hold(trial, self.modes, self.built.layouts[name])
        log.note(f"not bit for bit: {reason or 'not everything could be restored'}; positions and velocities are set")
        if chosen:
            log.note("servos hold the restored positions")

    def _commanded(
        self, state: WorldState, names: tuple[str, ...] | None, trial: Any, log: RestoreLog
    ) -> npt.NDArray[np.int64]:
        """Write the commands to joints that the state has beside its models; return the actuators' modes then."""
        modes: npt.NDArray[np.int64] = self.modes.copy()

        def give(model: str, variable: str, mode: str, value: float) -> str | None:
            actuator = self._actuators[model].get(variable)
            if actuator is None:
                return why_not_driven(self._robots[model].kinematics.model, variable) or NO_MOTOR
            modes[actuator] = ControlMode[mode.upper()]
            trial.ctrl[actuator] = value
            return None

        for engine in state.engines:
            if engine.name == KEYFRAME:
                controls, activations = (len(engine.arrays.get(word, ())) for word in ("ctrl", "act"))
                commands = len(commands_of(state)[0])
                if controls > commands or activations:
                    others = f"{controls - commands} controls and {activations} activations"
                    log.failed("engine", KEYFRAME, f"{others} are of actuators that this simulator does not have")
            elif engine.name not in (ENGINE, COMMANDS):
                log.note(f"the state of the engine '{engine.name}' is not MuJoCo's and is not used")
        restore_commands(state, names, self._robots, give, log)
        return modes

    # --- where everything is

    def _forward(self) -> BodyMotion:
        """Return the bodies' motion now, computed on a copy: a forward pass would change the solver's warm start."""
        mujoco.mj_setState(self.model, self._scratch, self.integration_state(), INTEGRATION)
        mujoco.mj_forward(self.model, self._scratch)
        return BodyMotion.read(self.model, self._scratch)

    def _standing(self) -> tuple[Frame, ...]:
        """Return what is there whatever a state says: the frames, and each model as a frame, where it is now."""
        model, data = self.model, self._scratch
        mujoco.mj_setState(model, data, self.integration_state(), INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        motion = BodyMotion.read(model, data, forces=False)
        roots = {layout.name: layout.bodies[0] for layout in self.built.layouts.values()}
        parts = (motion.xyz, motion.R, motion.linear, motion.angular)
        return standing(
            self._frames, self._robots, {name: [part[root] for part in parts] for name, root in roots.items()}
        )

    # --- actuators

    def _set_modes(self, modes: npt.NDArray[np.int64]) -> None:
        self.modes = modes.copy()
        self.built.servos.apply(self.model, self.modes)

    def _hold(self, data: Any, modes: npt.NDArray[np.int64], layout: ModelLayout) -> None:
        """Make the servos of a robot hold where it is."""
        for place in layout.places:
            if not len(place.actuators):
                continue
            held = modes[place.actuators] == ControlMode.POSITION
            data.ctrl[place.actuators] = np.where(held, data.qpos[place.qpos], 0.0)


def start(spec: WorldSpec, tell: Callable[[str], None]) -> MujocoSimulator:
    """Return a world in MuJoCo, whose warnings, in the whole process, go to `tell`.

    Raises:
        WorldSpecError: the world cannot be built.

    """
    send_warnings_to(lambda text: tell(f"MuJoCo: {text}"))
    return MujocoSimulator(spec)
