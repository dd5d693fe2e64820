# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What every simulator adapter offers: capture a world state, restore one, and say what could not be restored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.simulation.commanding import ControlMode
from robot_semantics.simulation.world_spec import WorldSpec
from robot_semantics.state.report import RestoreReport
from robot_semantics.usdf.world_state import WorldState


class SimulationError(RobotSemanticsError):
    """A simulator cannot go on; the message says why."""


class Simulator(Protocol):
    """A simulator whose state can be taken and set, and which can be stepped."""

    @property
    def spec(self) -> WorldSpec:
        """What is simulated."""

    @property
    def notes(self) -> Sequence[object]:
        """What of the robots could not be taken as it is; each says it as text."""

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""

    def command(self, model: str, mode: ControlMode, targets: Mapping[str, float]) -> None:
        """Set the targets of a model's motors, and what they mean [rad, m, their rates, N m, N].

        Args:
            model: the model.
            mode: what the targets are.
            targets: by variable: a joint's own name, or ``J/x``, ``J/y`` and ``J/theta`` of a planar joint.

        Raises:
            UnknownNameError: unknown model or variable.
            ArrayError: a target that is not finite, or that no motor of this engine takes; the error says why.

        """

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            SimulationError: it cannot go on.

        """

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""

    def capture(self, models: Collection[str] | None = None, *, motion_only: bool = False) -> WorldState:
        """Return the present state, of the named models only where `models` is given.

        With `motion_only` nobody asks for what takes time: links, and the engine's own state.

        Raises:
            UnknownNameError: a model that the world does not have.

        """

    def restore(
        self,
        state: WorldState,
        *,
        models: Iterable[str] | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> RestoreReport:
        """Put the world into `state`; what it does not state stays as it is.

        Args:
            state: the state.
            models: restore only these; None for all that the state has.
            partial: restore what can be restored; without it, everything or nothing.
            dry_run: change nothing, only report what a restore would do.

        """
