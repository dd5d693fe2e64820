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
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from robot_semantics.base.names import quoted, shown
from robot_semantics.live.health import Health
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import Source
from robot_semantics.ros.node.robot_states import NodeParts
from robot_semantics.ros.node.served_robot import RobotInterface
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.node_names import NamePatience
from robot_semantics.ros.running.spinning import Pulse

_WATCH_S, _FIRST_PAUSE_S, _LONGEST_PAUSE_S = 3.0, 5.0, 60.0

PERIOD_S = 1.0
"""The longest time between two checks."""
_MOST_NAMED = 10
"""Number of left-out frames in one message of /diagnostics."""


class Monitor:
    """Checks every robot, logs changes of its health, and publishes diagnostics."""

    def __init__(self, parts: NodeParts) -> None:
        robots, inputs, outputs, frames = parts.robots, parts.inputs, parts.outputs, parts.frames
        self._robots, self._inputs, self._outputs, self._frames = robots, inputs, outputs, frames
        node = robots.node
        logger = node.get_logger()
        self._health = {
            served.prefix: Health(served.report, logger.info, served.remedy_of_silence) for served in robots.served
        }
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.fresh(qos.DIAGNOSTICS))
        self._period_s = 0.0
        self._next_s = 0.0
        self._last: dict[str, tuple[float, int, int]] = {}
        self._moved_robots: set[str] = set()
        self._names = NamePatience()
        self._rates: dict[str, tuple[float, float]] = {}
        self._watched: list[tuple[Callable[[], bool], Callable[[], None]]] = []
        self.watch(frames.has_unheard_others, frames.look_for_others)
        self.watch(lambda: robots.active and inputs.follows_tf(), inputs.refresh)
        self.watch(self._has_first_values, self._report_first_values)
        self._contested: dict[str, dict[str, tuple[str, ...]]] = {served.prefix: {} for served in robots.served}
        self._reported: dict[str, dict[str, tuple[str, ...]]] = {served.prefix: {} for served in robots.served}
        self._value_watches = {served.prefix: _ValueWatch() for served in robots.served}
        self.watch(self._has_contested_joints, self._report_contested_joints)
        self.watch(self._has_other_tf_publishers, lambda: outputs.authority.tick(outputs.static_message))
        self.watch(self._diagnostics_are_due, self._publish)
        # Sleeps on the wall clock: problems must be reported even when simulated time stands still.
        self._pulse = Pulse(node.guarded(self._check, "periodic checks"))
        self._attention = node.create_guard_condition(node.guarded(self._attend, "periodic checks"))

    def set_period(self, period_s: float) -> None:
        """Publish diagnostics at this period [s]; 0: no diagnostics, but the checks continue."""
        self._period_s, self._next_s = period_s, 0.0
        # A whole number of checks for each message.
        self._pulse.start(period_s / math.ceil(period_s / PERIOD_S) if period_s else PERIOD_S)

    def watch(self, is_due: Callable[[], bool], act: Callable[[], None]) -> None:
        """Call `act` in the executor when `is_due` returns True; `is_due` is called at each check, in its thread."""
        self._watched.append((is_due, act))

    def stop(self) -> None:
        """Stop checking."""
        self._pulse.stop()
        self._robots.node.destroy_guard_condition(self._attention)

    def ages(self, served: RobotInterface, robot: RunningRobot) -> dict[str, float]:
        """Return the time since each joint of a robot last had a new value [s]."""
        return self._health[served.prefix].ages(robot, time.monotonic_ns())

    def _check(self) -> None:
        """Check the robots, in a thread of its own; wake the executor only if there is something to do."""
        robots = self._robots
        if robots.active:
            for served in robots.served:
                with robots.lock:
                    if served.robot is not None:
                        self._health[served.prefix].update(
                            served.robot,
                            time.monotonic_ns(),
                            root_is_elsewhere=self._root_is_elsewhere(served, served.robot),
                        )
                        self._contested[served.prefix] = served.robot.contested()
                        if not served.robot.tells_sequence:
                            self._value_watches[served.prefix].update(served)
        self._rates = {served.prefix: self._rates_of(served) for served in robots.served}
        if any(is_due() for is_due, _ in self._watched):
            self._attention.trigger()

    def _root_is_elsewhere(self, served: RobotInterface, robot: RunningRobot) -> bool:
        """Return True if transforms or odometry of another node give the pose of the root link, and nothing else
        does.
        """
        if robot.root_source is not Source.AUTO or not robot.root_is_awaited:
            return False
        return self._frames.has(robot.frame(robot.model.root_link)) or bool(self._inputs.root_statements(served))

    def _diagnostics_are_due(self) -> bool:
        # Do not publish without subscribers: the message costs more than all checks.
        return bool(self._period_s and time.monotonic() >= self._next_s and self._publisher.get_subscription_count())

    def _attend(self) -> None:
        """Do the work that uses entities of the node, in the executor."""
        for is_due, act in self._watched:
            if is_due():
                act()

    def _has_contested_joints(self) -> bool:
        return self._contested != self._reported

    def _report_contested_joints(self) -> None:
        """Report the joints that several publishers state, once until it is over."""
        for served in self._robots.served:
            contested, reported = self._contested[served.prefix], self._reported[served.prefix]
            for topic in [topic for topic in contested if not self._are_named(served, topic)]:
                # Reported at a later check.
                contested = {other: joints for other, joints in contested.items() if other != topic}
            for topic, joints in contested.items():
                new = [joint for joint in joints if joint not in reported.get(topic, ())]
                if new:
                    publishers = " and ".join(self._publishers(served, topic))
                    served.report(
                        f"{quoted(new, 8)} come from several publishers on {self._topic(served, topic)}: {publishers};"
                        " their transforms will jump"
                    )
            self._reported[served.prefix] = contested

    def _are_named(self, served: RobotInterface, topic: str) -> bool:
        """Return True if the names of the publishers are known, or will hardly come."""
        return self._names.is_over((served.prefix, topic), self._publishers(served, topic))

    @staticmethod
    def _topic(served: RobotInterface, topic: str) -> str:
        """Return the topic of a sender; the robots of one node have topics of their own."""
        return served.topic(topic) if topic in ("joint_states", "multi_dof_joint_states") else topic

    def _publishers(self, served: RobotInterface, topic: str) -> list[str]:
        return sorted(set(served.publishers_of(self._topic(served, topic))))

    def _has_other_tf_publishers(self) -> bool:
        robots = self._robots
        return robots.active and robots.settings.check_tf_authority and not self._outputs.authority.is_idle()

    def _moved_first(self) -> list[RobotInterface]:
        """Return the robots that have moved but are not reported yet."""
        return [
            served
            for served in self._robots.served
            if served.robot is not None and served.robot.has_moved and served.prefix not in self._moved_robots
        ]

    def _has_first_values(self) -> bool:
        return self._robots.active and bool(self._moved_first())

    def _report_first_values(self) -> None:
        for served in self._moved_first():
            if not self._are_named(served, "joint_states"):
                continue
            self._moved_robots.add(served.prefix)
            senders = ", ".join(served.publishers_of(served.topic("joint_states"))) or "another topic"
            self._robots.node.get_logger().info(
                f"robot '{served.name}': received the first joint values, from {senders}"
            )

    def _publish(self) -> None:
        # A pulse may come a little early.
        self._next_s = time.monotonic() + 0.9 * self._period_s
        robots = self._robots
        message = DiagnosticArray(
            status=[self._status_of(served, *self._rates[served.prefix]) for served in robots.served]
        )
        message.header.stamp = robots.node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _rates_of(self, served: RobotInterface) -> tuple[float, float]:
        """Return the rates of received joint states and sent transforms [1/s] since the last check."""
        traffic, now_s = served.traffic, time.monotonic()
        before_s, received, transforms = self._last.get(served.prefix, (now_s, traffic.received, traffic.transforms))
        self._last[served.prefix] = (now_s, traffic.received, traffic.transforms)
        passed_s = now_s - before_s or math.inf
        return (traffic.received - received) / passed_s, (traffic.transforms - transforms) / passed_s

    def _status_of(self, served: RobotInterface, received_hz: float, sent_hz: float) -> DiagnosticStatus:
        health, traffic = self._health[served.prefix], served.traffic
        conflicts, contested = self._outputs.authority.conflicts, self._contested[served.prefix]
        complaints = [
            *([] if served.robot is not None else ["no robot description"]),
            *([f"{len(health.stale)} joints without new values"] if health.stale else []),
            *([f"{len(health.beyond)} positions outside the limits"] if health.beyond else []),
            *(["loops do not close and keep their last positions"] if health.loops_are_open else []),
            *([f"{len(conflicts)} frames published by others too"] if conflicts else []),
            *([f"{sum(map(len, contested.values()))} joints from several publishers"] if contested else []),
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
            "transforms of others left out": self._frames.left_out_count,
            **{f"left out: {shown(frame.name)}": frame.reason for frame in self._frames.left_out()[:_MOST_NAMED]},
            **{
                f"published on {self._topic(served, topic)} by {', '.join(self._publishers(served, topic))}": ", ".join(
                    joints
                )
                for topic, joints in contested.items()
            },
            **{f"error {number}": text for number, text in enumerate(traffic.last_errors, 1)},
        }
        return DiagnosticStatus(
            level=DiagnosticStatus.WARN if complaints else DiagnosticStatus.OK,
            # With the namespace: two robots of one kind have nodes and robots of the same names.
            name=f"{self._robots.node.get_fully_qualified_name().lstrip('/')}: {served.name or 'robot'}",
            message="; ".join(complaints) or "ok",
            hardware_id=f"{self._robots.node.get_namespace().strip('/')}/{served.name}".lstrip("/"),
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )


class _ValueWatch:
    """Lets a robot compare values for a few seconds, and again after growing pauses, while a topic has two publishers.

    It replaces publication sequence numbers, which some middleware does not tell.
    """

    def __init__(self) -> None:
        self._until_s = self._next_s = 0.0
        self._pause_s = _FIRST_PAUSE_S

    def update(self, served: RobotInterface) -> None:
        """Begin or end a comparison when it is time; called about once a second."""
        robot, now_s = served.robot, time.monotonic()
        if robot is None:
            return
        if served.publisher_count(served.topic("joint_states")) < 2:
            robot.compare_values(False)
            self._next_s, self._pause_s = 0.0, _FIRST_PAUSE_S
        elif robot.compares_values:
            robot.compare_values(now_s < self._until_s or bool(robot.contested()))
        elif now_s >= self._next_s:
            self._until_s, self._next_s = now_s + _WATCH_S, now_s + _WATCH_S + self._pause_s
            self._pause_s = min(2.0 * self._pause_s, _LONGEST_PAUSE_S)
            robot.compare_values(True)
