# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What every simulator offers: capture a world state, restore one, and say what could not be restored.

An engine has only to say where its robots are, to try out where a state puts them, and to step.
"""

from __future__ import annotations

import enum
import platform
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from robot_semantics.base.errors import ArrayError, RobotSemanticsError, UnknownNameError
from robot_semantics.convert.mujoco_actuators import KEYFRAME
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.simulation.restoring import (
    RestorePlan,
    all_frames,
    not_on_links,
    placed_names,
    plan_restore,
    standing,
    standing_of,
)
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.state.apply import resolve_with
from robot_semantics.state.report import RestoreItem, RestoreLog, RestoreReport
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.commands import COMMANDS, commands_of
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.world_state import EngineState, Frame, ModelState, WorldState


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


class SimulationError(RobotSemanticsError):
    """A simulator cannot go on; the message says why."""


class DivergedError(SimulationError):
    """A simulation has left the finite numbers."""


class Simulator(ABC):
    """A simulator whose state can be taken and set, and which can be stepped.

    Attributes:
        spec: what is simulated.

    """

    ENGINE: ClassVar[str]
    """Name of the engine, as in `ENGINES`."""
    TITLE: ClassVar[str]
    """Its name in messages."""

    _motors: Mapping[str, Mapping[str, int]]
    """By model, its motors' numbers by the variables that they drive."""

    def __init__(self, spec: WorldSpec) -> None:
        """Prepare for a world; an engine then builds it, and resets it."""
        self.spec = spec
        self._models = {model.name: model for model in spec.models}
        self._robots = {model.name: standing_of(model) for model in spec.models}
        self._digests = {model.name: model_digest(model.robot) for model in spec.models}
        self._frames: dict[str, Frame] = {}

    # --- what an engine does

    @property
    @abstractmethod
    def notes(self) -> Sequence[BuildNote]:
        """What of the robots could not be taken as it is."""

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
            SimulationError: it cannot go on; the message says when.
        """

    @abstractmethod
    def _command(self, model: str, mode: ControlMode, targets: Mapping[int, float]) -> None:
        """Set the targets of motors, by their numbers; an `ArrayError` where they take none of this mode."""

    @abstractmethod
    def _roots(self) -> Mapping[str, Sequence[FloatArray]]:
        """Return where the robots' root links are, as `standing` takes it."""

    @abstractmethod
    def _states(self, names: Iterable[str], placed: ResolvedWorld, *, links: bool) -> Iterable[ModelState]:
        """Return the states of models in frames that are `placed`, with or without their links."""

    @abstractmethod
    def _engine_states(self) -> tuple[EngineState, ...]:
        """Return what of the engine's own, and of commands, the state of a whole world carries."""

    @abstractmethod
    def _try(self, plan: RestorePlan, now: ResolvedWorld, time: float) -> None:
        """Work out where everything would be after a restore, in frames as they are `now`; servos hold that."""

    @abstractmethod
    def _try_command(self, model: str, motor: int, mode: ControlMode, target: float) -> str | None:
        """Give a motor its target in what is tried out; return why it cannot take it, None where it does."""

    @abstractmethod
    def _continued(self, state: WorldState, names: tuple[str, ...] | None) -> str | None:
        """Try out the engine's own state instead, with which it continues bit for bit; or return why it does not."""

    @abstractmethod
    def _accept(self) -> None:
        """Put everything where it was tried out to be."""

    # --- what follows from it

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""
        return tuple(self._models)

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""
        return round(self.time * 1e9)

    def command(self, model: str, mode: ControlMode, targets: Mapping[str, float]) -> None:
        """Set the targets of a model's motors, and what they mean [rad, m, their rates, N m, N].

        Args:
            model: the model.
            mode: what the targets are.
            targets: by variable: a joint's own name, or ``J/x``, ``J/y`` and ``J/theta`` of a planar joint, the root's
                planar joint included.

        Raises:
            UnknownNameError: unknown model or variable.
            ArrayError: a target that is not finite, or that no motor of this engine takes; the error says why.

        """
        self._check_model(model)
        motors = self._motors[model]
        check_targets(self._models[model].robot, model, targets, motors)
        self._command(model, mode, {motors[variable]: target for variable, target in targets.items()})

    def capture(self, models: Collection[str] | None = None, *, motion_only: bool = False) -> WorldState:
        """Return the present state, of the named models only where `models` is given.

        A whole world carries the engine's own state; a part of it does not. With `motion_only` nobody asks for what
        takes time: links, and the engine's own state.

        Raises:
            UnknownNameError: a model that the world does not have.

        """
        names = self.model_names if models is None else tuple(models)
        for name in names:
            self._check_model(name)
        every = all_frames(self._frames, self._robots)
        placed = resolve_with(WorldState(frames=tuple(not_on_links(every).values())), self._standing())
        frames = tuple(every[name] for name in placed_names(every, names))
        # A link that carries a frame is stated, so that the state says where the frame is.
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
        """Put the world into `state`; what it does not state stays as it is.

        With the engine's own state of the same world and version in it, the simulation continues bit for bit. Without,
        positions and velocities are set, the servos hold the restored positions, and the report says so.

        Args:
            state: the state.
            models: restore only these; None for all that the state has.
            partial: restore what can be restored; without it, everything or nothing.
            dry_run: change nothing, only report what a restore would do.

        """
        names = None if models is None else tuple(models)
        plan = plan_restore(state, self._robots, self._standing(), self._frames, names)
        log, time = plan.log, self.time
        if plan.now is None:
            return log.report()
        if names is None and state.time_ns is not None:
            time = state.time_ns * 1e-9
            log.done("time", "", "set")
        self._try(plan, plan.now, time)
        self._try_commands(state, names, log)
        reason = self._continued(state, names) if log.complete else "not everything could be restored"
        exact = reason is None
        if not exact:
            log.note(f"not bit for bit: {reason}; positions and velocities are set")
            if plan.applied:
                log.note("servos hold the restored positions")
            log.extend((), plan.notes)
        if dry_run or not (log.complete or partial):
            return log.report(exact=exact)
        self._frames = plan.frames
        self._accept()
        return log.report(exact=exact, applied=True)

    # --- parts

    def _check_model(self, name: str) -> None:
        if name not in self._models:
            raise UnknownNameError("model", name, self._models)

    def _standing(self) -> tuple[Frame, ...]:
        """Return what is there whatever a state says: the frames, and each model as a frame, where it is now."""
        return standing(self._frames, self._robots, self._roots())

    def _try_commands(self, state: WorldState, names: tuple[str, ...] | None, log: RestoreLog) -> None:
        """Give motors the commands that a state has beside its models, and log what became of each."""
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
            log.failed("engine", COMMANDS, f"'{name}' is no command that is known")
        for (model, variable, mode), target in commands.items():
            if names is not None and model not in names:
                continue
            why: str | None = NO_MOTOR
            motor = self._motors.get(model, {}).get(variable)
            if motor is not None:
                why = self._try_command(model, motor, ControlMode[mode.upper()], target)
            elif model in self._models:
                why = why_not_driven(self._models[model].robot, variable) or NO_MOTOR
            detail = why or f"{mode} {target:.6g}"
            log.extend([RestoreItem("command", model, variable, why is None, detail)])

    def _own_state(self, state: WorldState, names: tuple[str, ...] | None, version: str) -> EngineState | str:
        """Return this engine's own part of a state, or why it is of no use here whatever is in it."""
        engines = [engine for engine in state.engines if engine.name == self.ENGINE]
        if len(engines) != 1:
            return f"the state has {'two engine states' if engines else 'no engine state'} of {self.TITLE}"
        (engine,) = engines
        machine, own = engine.attributes.get("machine"), platform.machine()
        if names is not None:
            return "only some models were chosen"
        if missing := sorted(self._models.keys() - {model.name for model in state.models}):
            return f"the state lacks the model '{missing[0]}' of the simulated world"
        if engine.version != version:
            return f"the state is of {self.TITLE} {engine.version}, and this is {version}"
        if machine != own:
            return f"the state is of a {machine} machine, and this is {own}, which rounds differently"
        return engine
