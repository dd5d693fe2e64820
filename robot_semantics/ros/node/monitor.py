# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Health of the node: the periodic check of all robots, and /diagnostics."""

from __future__ import annotations

import math
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.timer import Timer

from robot_semantics.ros.node.inputs import Inputs
from robot_semantics.ros.node.outputs import Outputs
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.served_robot import ServedRobot
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.running import qos
from robot_semantics.state.health import Health
from robot_semantics.state.robot import RunningRobot

PERIOD_S = 1.0
"""The longest time between two looks."""


class Monitor:
    """Checks every robot, logs changes of its health, and publishes diagnostics."""

    def __init__(self, robots: Robots, inputs: Inputs, outputs: Outputs, frames: WorldFrames) -> None:
        self._robots, self._inputs, self._outputs, self._frames = robots, inputs, outputs, frames
        node = robots.node
        logger = node.get_logger()
        self._health = {served.prefix: Health(served.report, logger.info) for served in robots.served}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.fresh(qos.DIAGNOSTICS))
        # Use the wall clock: problems must be reported even when simulated time stands still.
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._period_s = 0.0
        self._looks: Timer | None = None
        self._timer: Timer | None = None
        self._last: dict[str, tuple[float, int, int]] = {}
        self._heard: set[str] = set()
        self._rates: dict[str, tuple[float, float]] = {}

    def set_period(self, period_s: float) -> None:
        """Publish diagnostics at this period [s]; 0: no diagnostics, but the checks continue."""
        self._stop_publishing()
        self._period_s = period_s
        node = self._robots.node
        if self._looks is not None:
            node.destroy_timer(self._looks)
        period_s = min(period_s or PERIOD_S, PERIOD_S)
        # One timer for all checks, because a wake of the executor costs more than the checks.
        self._looks = node.create_timer(period_s, self._check, clock=self._clock, what="periodic checks")

    def ages(self, served: ServedRobot, robot: RunningRobot) -> dict[str, float]:
        """Return the time since each joint of a robot last had a new value [s]."""
        return self._health[served.prefix].ages(robot, time.monotonic_ns())

    def _check(self) -> None:
        robots = self._robots
        self._frames.look_for_others()
        if robots.active:
            self._inputs.refresh()
            for served in robots.served:
                if served.robot is not None:
                    self._report_first(served, served.robot)
                    with robots.lock:
                        self._health[served.prefix].update(served.robot, time.monotonic_ns())
            if robots.settings.check_tf_authority:
                self._outputs.authority.tick(self._outputs.static_message)
        self._rates = {served.prefix: self._rates_of(served) for served in robots.served}
        # Do not publish without subscribers: the message costs more than all checks.
        if not self._period_s or not self._publisher.get_subscription_count():
            self._stop_publishing()
        elif self._timer is None:
            self._publish()
            self._timer = robots.node.create_timer(self._period_s, self._publish, clock=self._clock, what="diagnostics")

    def _report_first(self, served: ServedRobot, robot: RunningRobot) -> None:
        if robot.has_moved and served.prefix not in self._heard:
            self._heard.add(served.prefix)
            senders = ", ".join(served.publishers_of(served.topic("joint_states"))) or "another topic"
            self._robots.node.get_logger().info(
                f"robot '{robot.name}': received the first joint values, from {senders}"
            )

    def _stop_publishing(self) -> None:
        if self._timer is not None:
            self._robots.node.destroy_timer(self._timer)
            self._timer = None

    def _publish(self) -> None:
        robots = self._robots
        message = DiagnosticArray(
            status=[self._status_of(served, *self._rates[served.prefix]) for served in robots.served]
        )
        message.header.stamp = robots.node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _rates_of(self, served: ServedRobot) -> tuple[float, float]:
        """Return the rates of received joint states and sent transforms [1/s] since the last check."""
        traffic, now_s = served.traffic, time.monotonic()
        before_s, received, transforms = self._last.get(served.prefix, (now_s, traffic.received, traffic.transforms))
        self._last[served.prefix] = (now_s, traffic.received, traffic.transforms)
        passed_s = now_s - before_s or math.inf
        return (traffic.received - received) / passed_s, (traffic.transforms - transforms) / passed_s

    def _status_of(self, served: ServedRobot, received_hz: float, sent_hz: float) -> DiagnosticStatus:
        health, traffic = self._health[served.prefix], served.traffic
        conflicts = self._outputs.authority.conflicts
        complaints = [
            *([] if served.robot is not None else ["no robot description"]),
            *([f"{len(health.stale)} joints without new values"] if health.stale else []),
            *([f"{len(health.beyond)} positions outside the limits"] if health.beyond else []),
            *(["loops do not close and keep their last positions"] if health.loops_are_open else []),
            *([f"{len(conflicts)} frames published by others too"] if conflicts else []),
        ]
        values: dict[str, object] = {
            "state": self._robots.state,
            "joint states received": traffic.received,
            "joint states used": traffic.used,
            "joint states per second": f"{received_hz:.1f}",
            "transforms sent": traffic.transforms,
            "transforms per second": f"{sent_hz:.1f}",
            **{f"refused: {reason.value}": count for reason, count in sorted(traffic.refused.items(), key=str)},
            **{f"age of {name} [s]": f"{age:.1f}" for name, age in health.stale.items()},
            **{f"outside the limits: {name}": f"{value:.6g}" for name, value in health.beyond.items()},
            **health.loops,
            **{f"also published by {other}": frame for frame, other in conflicts.items()},
            **{f"error {number}": text for number, text in enumerate(traffic.last_errors, 1)},
        }
        return DiagnosticStatus(
            level=DiagnosticStatus.WARN if complaints else DiagnosticStatus.OK,
            name=f"{self._robots.node.get_name()}: {served.name or 'robot'}",
            message="; ".join(complaints) or "ok",
            hardware_id=served.name,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
