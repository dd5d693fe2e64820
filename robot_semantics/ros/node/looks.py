"""What the node looks at from time to time, all of it when the executor wakes anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType

from robot_semantics.ros.node.guarded_node import GuardedNode

PERIOD_S = 1.0
"""The longest time between two looks."""


class Looks:
    """Calls functions once a period: on one timer, because a wake of the executor costs more than all of them."""

    def __init__(self, node: GuardedNode) -> None:
        self._node = node
        self._looks: list[Callable[[], None]] = []
        # By the wall clock: what is wrong must be said above all when simulated time stands still.
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer: Any = None

    def set_period(self, period_s: float) -> None:
        """Look so often from now on; before that, never."""
        self._stop()
        self._timer = self._node.create_timer(period_s, self._look, clock=self._clock, what="look")

    def add(self, look: Callable[[], None]) -> None:
        """Call a function at every look, from the executor's thread."""
        self._looks.append(look)

    def remove(self, look: Callable[[], None]) -> None:
        """Do not call it any more."""
        self._looks.remove(look)

    def destroy(self) -> None:
        """Take the timer away."""
        self._stop()
        self._looks.clear()

    def _stop(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _look(self) -> None:
        for look in tuple(self._looks):
            look()
