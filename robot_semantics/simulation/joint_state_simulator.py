# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What simulators have in common whose state is that of joints, and that drive them by position servos.

Such an engine has only to say where its robots are, put them elsewhere, and step; see `Simulator` for what that gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.simulation.commanding import NO_MOTOR, ControlMode, check_targets, restore_commands, why_not_driven
from robot_semantics.simulation.restoring import all_frames, plan_restore, standing, standing_of
from robot_semantics.simulation.robot_motion import (
    LinkMotion,
    RobotMotion,
    as_planned,
    capture_model,
    driven_joints,
    neutral_motion,
)
from robot_semantics.simulation.simulator import SimulationError
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.state.apply import resolve_with
from robot_semantics.state.report import RestoreLog, RestoreReport
from robot_semantics.usdf.commands import COMMANDS, Command, commands_state
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.world_state import EngineState, Frame, WorldState

Motions = Mapping[str, RobotMotion]


class JointStateSimulator(ABC):
    """Implements `Simulator` for an engine that reads and writes the motion of each robot."""

    ENGINE: ClassVar[str]
    """Name of the engine, as in `ENGINES`."""
    TITLE: ClassVar[str]
    """Its name in messages."""

    def __init__(self, spec: WorldSpec) -> None:
        """Prepare; an engine builds its world first.

        Raises:
            WorldSpecError: the world cannot be built.
        """
        self.spec = spec
        self._models = {model.name: model for model in spec.models}
        self._robots = {model.name: standing_of(model) for model in spec.models}
        self._digests = {model.name: model_digest(model.robot) for model in spec.models}
        self._driven = {name: driven_joints(robot) for name, robot in self._robots.items()}
        self._frames: dict[str, Frame] = {}
        self._motions: dict[str, RobotMotion] = {}
        self._time = 0.0
        self.reset()

    # --- what an engine does

    @property
    @abstractmethod
    def notes(self) -> Sequence[BuildNote]:
        """What of the robots could not be taken as it is."""

    @abstractmethod
    def _read(self, name: str, last: RobotMotion) -> RobotMotion:
        """Return the motion of a robot now; where its base is and what its servos hold is as it was in `last`."""

    @abstractmethod
    def _write(self, motions: Motions) -> None:
        """Put all robots where they are to be."""

    @abstractmethod
    def _hold(self, name: str, motion: RobotMotion) -> None:
        """Have the servos of a robot hold their targets."""

    @abstractmethod
    def _links(self, name: str) -> LinkMotion:
        """Return where the engine has the links of a robot."""

    @abstractmethod
    def _advance(self) -> None:
        """Do one time step.

        Raises:
            SimulationError: the engine cannot go on; the world is as before, or in its neutral state.
        """

    def _engine_states(self, motions: Motions) -> tuple[EngineState, ...]:
        """Return what of the engine's own the state of a whole world carries."""
        del motions
        return ()

    @abstractmethod
    def _continued(
        self, state: WorldState, names: tuple[str, ...] | None, motions: Motions
    ) -> tuple[dict[str, RobotMotion], float] | str:
        """Return motions and time [s] from which the engine continues bit for bit, or why it does not.

        Args:
            state: the state.
            names: the models that are restored; None for all.
            motions: the robots as `state` states them.
        """

    # --- the protocol

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""
        return tuple(self._models)

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""
        return round(self._time * 1e9)

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""
        self._time, self._frames = 0.0, {}
        self._put({name: neutral_motion(spec, self._robots[name]) for name, spec in self._models.items()})

    def command(self, model: str, mode: ControlMode, targets: Mapping[str, float]) -> None:
        """Set the targets of a model's servos; see `Simulator.command`."""
        if model not in self._models:
            raise UnknownNameError("model", model, self._models)
        driven = self._driven[model]
        check_targets(self._models[model].robot, model, targets, driven)
        if mode is not ControlMode.POSITION:
            raise ArrayError("targets", _positions_only(mode.name.lower()))
        motion = self._motions[model]
        wanted = motion.targets.copy()
        wanted[[driven.index(variable) for variable in targets]] = list(targets.values())
        self._motions[model] = replace(motion, targets=wanted)
        self._hold(model, self._motions[model])

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            SimulationError: the engine cannot go on; the message says when.
        """
        for _ in range(count):
            now = self._time
            try:
                self._advance()
            except SimulationError as error:
                raise SimulationError(f"{error} after {now:g} s") from error
            self._time += self.spec.timestep

    def capture(self, models: Collection[str] | None = None, *, motion_only: bool = False) -> WorldState:
        """Return the present state; see `Simulator.capture`. Forces are not stated.

        Raises:
            UnknownNameError: a model that the world does not have.
        """
        for name in models or ():
            if name not in self._models:
                raise UnknownNameError("model", name, self._models)
        frames = tuple(all_frames(self._frames, self._robots).values())
        placed = resolve_with(WorldState(frames=frames), self._standing())
        motions = self._present()
        states = tuple(
            capture_model(
                self._models[name], self._robots[name], motions[name], self._links(name), placed, self._digests[name]
            )
            for name in (self.model_names if models is None else models)
        )
        whole = (*self._engine_states(motions), commands_state(self._commands(motions)))
        engines = whole if models is None and not motion_only else ()
        return WorldState(models=states, frames=frames, time_ns=self.time_ns, engines=engines)

    def restore(
        self,
        state: WorldState,
        *,
        models: Iterable[str] | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> RestoreReport:
        """Put the world into `state`; see `Simulator.restore`."""
        names = None if models is None else tuple(models)
        plan = plan_restore(state, self._robots, self._standing(), self._frames, names)
        log = plan.log
        if plan.now is None:
            return log.report()
        motions = {
            name: as_planned(self._models[name], self._robots[name], motion, plan, plan.now)
            for name, motion in self._present().items()
        }
        time = self._time
        if names is None and state.time_ns is not None:
            time = state.time_ns * 1e-9
            log.done("time", "", "set")
        self._restore_commands(state, names, motions, log)
        log.extend((), plan.notes)
        found = self._continued(state, names, motions) if log.complete else "not everything could be restored"
        if isinstance(found, str):
            log.note(f"not bit for bit: {found}; positions and velocities are set")
        else:
            motions, time = found
        for engine in state.engines:
            if engine.name not in (self.ENGINE, COMMANDS):
                log.note(f"the state of the engine '{engine.name}' is not {self.TITLE}'s and is not used")
        exact = not isinstance(found, str)
        if dry_run or not (log.complete or partial):
            return log.report(exact=exact)
        self._time, self._frames = time, plan.frames
        self._put(motions)
        return log.report(exact=exact, applied=True)

    # --- parts

    def _put(self, motions: dict[str, RobotMotion]) -> None:
        self._write(motions)
        for name, motion in motions.items():
            self._hold(name, motion)
        self._motions = motions

    def _present(self) -> dict[str, RobotMotion]:
        return {name: self._read(name, last) for name, last in self._motions.items()}

    def _commands(self, motions: Motions) -> dict[Command, float]:
        return {
            Command(name, joint, "position"): float(target)
            for name, motion in motions.items()
            for joint, target in zip(self._driven[name], motion.targets, strict=True)
        }

    def _standing(self) -> tuple[Frame, ...]:
        """Return what is there whatever a state says: the frames, and each model as a frame, where it is now."""
        roots = {name: [part[0] for part in self._links(name)] for name in self._models}
        return standing(self._frames, self._robots, roots)

    def _restore_commands(
        self, state: WorldState, names: tuple[str, ...] | None, motions: Motions, log: RestoreLog
    ) -> None:
        def give(name: str, variable: str, mode: str, value: float) -> str | None:
            if variable not in self._driven[name]:
                return why_not_driven(self._models[name].robot, variable) or NO_MOTOR
            if mode != "position":
                return _positions_only(mode)
            motions[name].targets[self._driven[name].index(variable)] = value
            return None

        restore_commands(state, names, self._robots, give, log)


def _positions_only(mode: str) -> str:
    return f"the motors of this engine take positions, no {mode}"
