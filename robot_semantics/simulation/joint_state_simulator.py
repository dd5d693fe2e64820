# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Base of the simulators whose state is joint positions and velocities, and whose motors are position servos.

An engine only reads and writes the motion of its robots, and steps. `Simulator` offers the rest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from robot_semantics.base.errors import ArrayError
from robot_semantics.simulation.restoring import RestorePlan
from robot_semantics.simulation.robot_motion import (
    LinkMotion,
    RobotMotion,
    capture_model,
    driven_joints,
    neutral_motion,
    restored_motion,
)
from robot_semantics.simulation.simulator import ControlMode, SimulationError, Simulator
from robot_semantics.simulation.world_spec import WorldSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.commands import JointCommand, commands_state
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.world_state import EngineState, ModelState

Motions = Mapping[str, RobotMotion]


class JointStateSimulator(Simulator):
    """Simulator whose engine reads and writes the motion of each robot. Captured states have no forces."""

    def __init__(self, spec: WorldSpec) -> None:
        """Prepare. A subclass builds its world first.

        Raises:
            WorldSpecError: the world cannot be built.
        """
        super().__init__(spec)
        self._driven = {name: driven_joints(robot) for name, robot in self._robots.items()}
        self._motors = {name: {joint: at for at, joint in enumerate(joints)} for name, joints in self._driven.items()}
        self.reset()

    # --- methods of an engine

    @abstractmethod
    def _read(self, name: str, last: RobotMotion) -> RobotMotion:
        """Return the present motion of a robot. Its base and the targets of its servos come from `last`."""

    @abstractmethod
    def _write(self, motions: Motions) -> None:
        """Set the motion of all robots."""

    @abstractmethod
    def _hold(self, name: str, motion: RobotMotion) -> None:
        """Set the targets of a robot's servos."""

    @abstractmethod
    def _links(self, name: str) -> LinkMotion:
        """Return the motion of the links of a robot, as the engine has them."""

    @abstractmethod
    def _advance(self) -> None:
        """Advance by one time step.

        Raises:
            SimulationError: the engine cannot continue. The world is unchanged, or in its neutral state.
        """

    # --- methods of a simulator

    @property
    def time(self) -> float:
        """Simulation time [s]."""
        return self._time

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""
        self._frames, self._trial_time = {}, 0.0
        self._trial = {name: neutral_motion(spec, self._robots[name]) for name, spec in self._models.items()}
        self._accept_trial()

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            SimulationError: the engine cannot continue; the message has the time.
        """
        for _ in range(count):
            now = self._time
            try:
                self._advance()
            except SimulationError as error:
                raise type(error)(f"{error} after {now:g} s") from error
            self._time += self.spec.timestep

    def _command(self, model: str, mode: ControlMode, targets: Mapping[int, float]) -> None:
        if mode is not ControlMode.POSITION:
            raise ArrayError("targets", _positions_only(mode))
        motion = self._motions[model]
        wanted = motion.targets.copy()
        wanted[list(targets)] = list(targets.values())
        self._motions[model] = replace(motion, targets=wanted)
        self._hold(model, self._motions[model])

    def _roots(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        return {name: self._links(name).root() for name in self._models}

    def _states(self, names: Iterable[str], placed: ResolvedWorld, *, links: bool) -> Iterator[ModelState]:
        motions = self._present_motions()
        for name in names:
            spec, robot, digest = self._models[name], self._robots[name], self._digests[name]
            yield capture_model(spec, robot, motions[name], self._links(name), placed, digest, links=links)

    def _engine_states(self) -> tuple[EngineState, ...]:
        commands = {
            JointCommand(name, joint, "position"): float(target)
            for name, motion in self._motions.items()
            for joint, target in zip(self._driven[name], motion.targets, strict=True)
        }
        return (commands_state(commands),)

    def _compute_trial(self, plan: RestorePlan, now: ResolvedWorld, time: float) -> None:
        self._trial_time = time
        self._trial = {
            name: restored_motion(self._models[name], self._robots[name], motion, plan, now)
            for name, motion in self._present_motions().items()
        }

    def _set_trial_command(self, model: str, motor: int, mode: ControlMode, target: float) -> str | None:
        if mode is not ControlMode.POSITION:
            return _positions_only(mode)
        self._trial[model].targets[motor] = target
        return None

    def _accept_trial(self) -> None:
        self._write(self._trial)
        for name, motion in self._trial.items():
            self._hold(name, motion)
        self._motions, self._time = self._trial, self._trial_time

    def _present_motions(self) -> dict[str, RobotMotion]:
        return {name: self._read(name, last) for name, last in self._motions.items()}


def _positions_only(mode: ControlMode) -> str:
    return f"the motors of this engine take positions, no {mode.name.lower()}"
