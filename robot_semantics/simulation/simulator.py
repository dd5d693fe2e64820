# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Base of every simulator: capture a world state, restore one, and report the items that were not restored.

An engine only reports its robots, tries out a state, and steps.
"""

from __future__ import annotations

import enum
import platform
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from robot_semantics.base.errors import ArrayError, RobotSemanticsError, UnknownNameError
from robot_semantics.base.nanoseconds import float_seconds, whole_nanoseconds
from robot_semantics.convert.mujoco_actuators import KEYFRAME
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.simulation.restoring import (
    RestorePlan,
    all_frames,
    names_placed_on,
    plan_restore,
    present_frames,
    simulated_robot,
    without_carried_frames,
)
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.apply import resolve_with
from robot_semantics.usdf.commands import COMMANDS, commands_of
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.restore_report import RestoreItem, RestoreLog, RestoreReport
from robot_semantics.usdf.world_state import EngineState, Frame, ModelState, WorldState


class ControlMode(enum.IntEnum):
    """Meaning of a motor's command."""

    POSITION = 0
    VELOCITY = 1
    EFFORT = 2


NO_MOTOR = "the simulator has no motor there"


def why_not_driven(robot: RobotModel, variable: str) -> str | None:
    """Return why a joint of the robot takes no commands; None if the robot has no such joint."""
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
    """Check targets for a model's motors. `driven` are the variables with motors.

    Raises:
        UnknownNameError: the variable does not exist.
        ArrayError: a target is not finite, or the variable has no motor; the error gives the reason.

    """
    for variable, target in targets.items():
        if variable not in driven:
            reason = why_not_driven(robot, variable)
            if reason is not None:
                raise ArrayError(variable, reason)
            raise UnknownNameError("actuated variable", variable, driven, f"model '{model}'")
        if not np.isfinite(target):
            raise ArrayError("targets", f"must be finite, not {dict(targets)}")


class SimulationError(RobotSemanticsError):
    """A simulator cannot continue; the message gives the reason."""


class DivergedError(SimulationError):
    """A simulation has numbers that are huge or not finite."""


class Simulator(ABC):
    """A simulator with capture, restore and step.

    Attributes:
        spec: the simulated world.

    """

    ENGINE: ClassVar[str]
    """Name of the engine, as in `ENGINES`."""
    TITLE: ClassVar[str]
    """Its name in messages."""

    _motors: Mapping[str, Mapping[str, int]]
    """Motor numbers by model and by driven variable."""

    def __init__(self, spec: WorldSpec) -> None:
        """Prepare for a world. A subclass then builds it and resets it."""
        self.spec = spec
        self._models = {model.name: model for model in spec.models}
        self._robots = {model.name: simulated_robot(model) for model in spec.models}
        self._digests = {model.name: model_digest(model.robot) for model in spec.models}
        self._frames: dict[str, Frame] = {}

    # --- methods of an engine

    @property
    @abstractmethod
    def notes(self) -> Sequence[BuildNote]:
        """Changes and omissions that the engine made necessary."""

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulation time [s]."""

    @abstractmethod
    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""

    @abstractmethod
    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            SimulationError: the engine cannot continue; the message has the time.
        """

    @abstractmethod
    def _command(self, model: str, mode: ControlMode, targets: Mapping[int, float]) -> None:
        """Set the targets of motors by number. Raise an `ArrayError` if they do not have this mode."""

    @abstractmethod
    def _roots(self) -> Mapping[str, tuple[FloatArray, FloatArray]]:
        """Return the poses (4, 4) and twists (6,) of the root links in the world."""

    @abstractmethod
    def _states(self, names: Iterable[str], placed: ResolvedWorld, *, links: bool) -> Iterable[ModelState]:
        """Return the states of models, with or without their links; `placed` has the frames."""

    @abstractmethod
    def _engine_states(self) -> tuple[EngineState, ...]:
        """Return the engine states and the commands for the state of a whole world."""

    @abstractmethod
    def _compute_trial(self, plan: RestorePlan, now: ResolvedWorld, time: float) -> None:
        """Compute the world after a restore, with the frames `now`. Servos hold the new positions."""

    @abstractmethod
    def _set_trial_command(self, model: str, motor: int, mode: ControlMode, target: float) -> str | None:
        """Set a motor's target in the tried state. Return why that is impossible, or None."""

    @abstractmethod
    def _continue_exactly(self, state: WorldState, names: tuple[str, ...] | None) -> str | None:
        """Try out the engine state instead, for a restart bit for bit. Return why that is impossible, or None."""

    @abstractmethod
    def _accept_trial(self) -> None:
        """Make the tried state the present state."""

    # --- public methods

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""
        return tuple(self._models)

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""
        return whole_nanoseconds(self.time)

    def command(self, model: str, mode: ControlMode, targets: Mapping[str, float]) -> None:
        """Set the targets and the mode of a model's motors.

        Args:
            model: name of the model.
            mode: meaning of the targets.
            targets: by variable [rad, m, their rates, N m, N]. The variable is a joint's name, or ``J/x``, ``J/y`` and
                ``J/theta`` of a planar joint, also of a planar root joint.

        Raises:
            UnknownNameError: unknown model or variable.
            ArrayError: a target is not finite, or no motor of this engine takes it; the error gives the reason.

        """
        self._check_model(model)
        motors = self._motors[model]
        check_targets(self._models[model].robot, model, targets, motors)
        self._command(model, mode, {motors[variable]: target for variable, target in targets.items()})

    def capture(self, models: Collection[str] | None = None, *, motion_only: bool = False) -> WorldState:
        """Return the present state of the world, or of the named models.

        Only the state of the whole world has the engine state. `motion_only` saves time: it leaves out the links and
        the engine state.

        Raises:
            UnknownNameError: the world has no such model.

        """
        names = self.model_names if models is None else tuple(models)
        for name in names:
            self._check_model(name)
        every = all_frames(self._frames, self._robots)
        placed = resolve_with(WorldState(frames=tuple(without_carried_frames(every).values())), self._present_frames())
        frames = tuple(every[name] for name in names_placed_on(every, names))
        # If a link carries a frame, the state needs the links for the pose of the frame.
        links = not motion_only or any(frame.parent_link for frame in frames)
        states = tuple(self._states(names, placed, links=links))
        engines = self._engine_states() if models is None and not motion_only else ()
        return WorldState(models=states, frames=frames, time_ns=self.time_ns, engines=engines)

    def restore(
        self,
        state: WorldState,
        *,
        models: Iterable[str] | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> RestoreReport:
        """Put the world into `state`. Values that the state does not have stay unchanged.

        With an engine state of the same world and version, the simulation continues bit for bit. Otherwise positions
        and velocities are set, the servos hold the restored positions, and the report says so.

        Args:
            state: the state.
            models: restore only these models; None means all models of the state.
            partial: restore the items that can be restored. Otherwise, restore all or nothing.
            dry_run: change nothing, only report.

        """
        names = None if models is None else tuple(models)
        # The constraints of an engine are soft: first try the state as it is. Positions with exactly closed loops
        # differ from the engine's own state.
        plan, reason = self._tried(state, names, close_loops=False)
        if reason is not None and any(model.robot.constraints for model in self.spec.models):
            plan, reason = self._tried(state, names, close_loops=True)
        log, exact = plan.log, reason is None
        if plan.now is None:
            return log.report()
        if not exact:
            log.note(f"not bit for bit: {reason}; positions and velocities are set")
            if plan.applied:
                log.note("servos hold the restored positions")
            log.extend((), plan.notes)
        if dry_run or not (log.complete or partial):
            return log.report(exact=exact)
        self._frames = plan.frames
        self._accept_trial()
        return log.report(exact=exact, applied=True)

    # --- parts

    def _tried(
        self, state: WorldState, names: tuple[str, ...] | None, *, close_loops: bool
    ) -> tuple[RestorePlan, str | None]:
        """Try out a restore; return its plan, and why the engine does not continue bit for bit, or None."""
        frames = self._present_frames(), self._frames
        plan = plan_restore(state, self._robots, *frames, names, close_loops=close_loops)
        if plan.now is None:
            return plan, "a frame has no known parent"
        log, time = plan.log, self.time
        if names is None and state.time_ns is not None:
            time = float_seconds(state.time_ns)
            log.done("time", "", "set")
        self._compute_trial(plan, plan.now, time)
        self._set_trial_commands(state, names, log)
        return plan, self._continue_exactly(state, names) if log.complete else "not everything could be restored"

    def _check_model(self, name: str) -> None:
        if name not in self._models:
            raise UnknownNameError("model", name, self._models)

    def _present_frames(self) -> tuple[Frame, ...]:
        """Return the present frames, and each model as a frame at its present pose."""
        return present_frames(self._frames, self._robots, self._roots())

    def _set_trial_commands(self, state: WorldState, names: tuple[str, ...] | None, log: RestoreLog) -> None:
        """Set the commands of a state, and log the result of each."""
        commands, unknown = commands_of(state)
        for engine in state.engines:
            if engine.name == KEYFRAME:
                controls, activations = (len(engine.arrays.get(word, ())) for word in ("ctrl", "act"))
                if controls > len(commands) or activations:
                    others = f"{controls - len(commands)} controls and {activations} activations"
                    log.failed("engine", KEYFRAME, f"{others} are of actuators that this simulator does not have")
            elif engine.name not in (self.ENGINE, COMMANDS):
                log.note(f"the state of the engine '{engine.name}' is not {self.TITLE}'s and is not used")
        for name in unknown:
            log.failed("engine", COMMANDS, f"unknown command '{name}'")
        for (model, variable, mode), target in commands.items():
            if names is not None and model not in names:
                continue
            why: str | None = NO_MOTOR
            motor = self._motors.get(model, {}).get(variable)
            if motor is not None:
                why = self._set_trial_command(model, motor, ControlMode[mode.upper()], target)
            elif model in self._models:
                why = why_not_driven(self._models[model].robot, variable) or NO_MOTOR
            detail = why or f"{mode} {target:.6g}"
            log.extend([RestoreItem("command", model, variable, why is None, detail)])

    def _matching_engine_state(
        self, state: WorldState, names: tuple[str, ...] | None, version: str
    ) -> EngineState | str:
        """Return the engine state of this engine, or the reason why it cannot be used."""
        engines = [engine for engine in state.engines if engine.name == self.ENGINE]
        if len(engines) != 1:
            return f"the state has {'two engine states' if engines else 'no engine state'} of {self.TITLE}"
        (engine,) = engines
        machine, own_machine = engine.attributes.get("machine"), platform.machine()
        if names is not None:
            return "only some models were chosen"
        if missing := sorted(self._models.keys() - {model.name for model in state.models}):
            return f"the state lacks the model '{missing[0]}' of the simulated world"
        if engine.version != version:
            return f"the state is of {self.TITLE} {engine.version}, and this is {version}"
        if machine != own_machine:
            return f"the state is of a {machine} machine, and this is {own_machine}, which rounds differently"
        return engine
