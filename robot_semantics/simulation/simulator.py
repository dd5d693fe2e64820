# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What every simulator adapter offers: capture a world state, restore one, and say what could not be restored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.state.report import RestoreReport
from robot_semantics.usdf.world_state import WorldState


class SimulationError(RobotSemanticsError):
    """A simulator cannot go on; the message says why."""


class Simulator(Protocol):
    """A simulator whose state can be taken and set, and which can be stepped."""

    @property
    def notes(self) -> Sequence[object]:
        """What of the robots could not be taken as it is; each says it as text."""

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            SimulationError: it cannot go on.

        """

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""

    def capture(self, models: Collection[str] | None = None) -> WorldState:
        """Return the present state, of the named models only where `models` is given.

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
