# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What the node checks from time to time, all of it when the executor wakes anyway."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.timer import Timer

from robot_semantics.ros.node.guarded_node import GuardedNode

PERIOD_S = 1.0
"""The longest time between two checks."""


class PeriodicChecks:
    """Calls functions once a period: on one timer, because a wake of the executor costs more than all of them."""

    def __init__(self, node: GuardedNode) -> None:
        self._node = node
        self._checks: list[Callable[[], None]] = []
        # By the wall clock: what is wrong must be said above all when simulated time stands still.
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer: Timer | None = None

    def set_period(self, period_s: float) -> None:
        """Check so often from now on; before that, never."""
        self._stop()
        self._timer = self._node.create_timer(period_s, self._check_all, clock=self._clock, what="periodic checks")

    def add(self, check: Callable[[], None]) -> None:
        """Call a function at every check, from the executor's thread."""
        self._checks.append(check)

    def remove(self, check: Callable[[], None]) -> None:
        """Do not call it any more."""
        self._checks.remove(check)

    def _stop(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _check_all(self) -> None:
        for check in tuple(self._checks):
            check()
