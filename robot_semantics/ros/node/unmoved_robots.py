# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots that no message has moved yet: shown at their default or restored positions until one does."""

from __future__ import annotations

from typing import Any

from robot_semantics.ros.node.outputs import Outputs
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.served_robot import ServedRobot

PERIOD_S = 0.1
"""Time between two looks; a joint's transform is still sent at most at its robot's `publish_frequency`."""


class UnmovedRobots:
    """Sends what is known of such robots again and again, because nobody who comes later would see one message.

    By the node's clock: where simulated time stands still, there is no later time to send anything for.
    """

    def __init__(self, robots: Robots, outputs: Outputs) -> None:
        self._robots, self._outputs = robots, outputs
        self._sent_ns: dict[str, int] = {}
        self._timer: Any = robots.node.create_timer(PERIOD_S, self.send, what="robots without messages")
        self._timer.cancel()

    def start(self) -> None:
        """Begin to send; it ends by itself when every robot has been heard of."""
        self._sent_ns.clear()
        self.send()
        if any(self._waits(served) for served in self._robots.served):
            self._timer.reset()

    def stop(self) -> None:
        """Send nothing more until the next start."""
        self._timer.cancel()

    def destroy(self) -> None:
        """Take the timer away."""
        self._robots.node.destroy_timer(self._timer)

    def send(self) -> None:
        """Send the transforms of the robots whose turn it is."""
        robots = self._robots
        with robots.lock:
            waiting = [served for served in robots.served if self._waits(served)]
            if not waiting or not robots.active:
                self._timer.cancel()
            now_ns = robots.now_ns()
            for served in waiting:
                robot = served.robot
                assert robot is not None
                since_ns = now_ns - self._sent_ns.get(served.prefix, now_ns - robot.settings.publish_interval_ns)
                # Less than nothing: the clock was set back.
                if since_ns < 0 or since_ns >= robot.settings.publish_interval_ns:
                    self._sent_ns[served.prefix] = now_ns
                    self._outputs.send(served, robot.unmoved(now_ns))

    @staticmethod
    def _waits(served: ServedRobot) -> bool:
        robot = served.robot
        return robot is not None and not robot.heard and bool((robot.buffer.known & robot.publishable).any())
