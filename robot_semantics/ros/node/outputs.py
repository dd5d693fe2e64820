# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Publishers of TF: moving transforms one by one, the fixed ones of all robots in one latched message.

Before the first message of a robot, its default or restored positions are published.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.serialization import serialize_message
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from tf2_msgs.msg import TFMessage

from robot_semantics.base.names import frame_name
from robot_semantics.cdr.walk import transform_children
from robot_semantics.live.frames import TransformRows
from robot_semantics.live.robot import Messages, RunningRobot
from robot_semantics.ros.messages.tf_messages import rows_message
from robot_semantics.ros.node.robots import RobotRegistry
from robot_semantics.ros.node.served_robot import RobotInterface
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.guarded_node import GuardedNode
from robot_semantics.ros.running.node_names import NamePatience, other_publishers

# Detects another node that publishes our frames: two authorities make a frame jump.


_WATCH_S = 3.0
_FIRST_PAUSE_S = 5.0
_LONGEST_PAUSE_S = 60.0
_TOPICS = (("/tf", qos.TF), ("/tf_static", qos.STATIC_LISTENER))


class TfAuthority:
    """Listens to TF for a few seconds whenever other nodes publish there, and again after growing pauses.

    A node may begin to send long after it has made its publisher, so the first pauses are short.

    A message does not name its publisher. A message that differs from our own newest ones is from another publisher.
    A second node of our own name, for example of a launch file that was started twice, sends the same bytes. So each
    own message is expected once.

    Attributes:
        watching: True while own messages must be noted with `note`.
        conflicts: child frame → its other publishers.

    """

    def __init__(
        self,
        node: GuardedNode,
        own_frames: Callable[[], frozenset[str]],
        report: Callable[[str], None],
        remedy: Callable[[Collection[str]], str] = lambda _frames: "",
    ) -> None:
        """`own_frames` gives the frames that are sent, `remedy` the end of a sentence about contested frames."""
        self._node, self._own_frames, self._report, self._remedy = node, own_frames, report, remedy
        self._resolved = {topic: node.resolve_topic_name(topic) for topic, _ in _TOPICS}
        self._subscriptions: list[Subscription] = []
        self._other_nodes: dict[str, frozenset[str]] = {}
        self._until_s = 0.0
        self._next_s = 0.0
        self._pause_s = _FIRST_PAUSE_S
        self._sent_messages: deque[bytes] = deque(maxlen=512)
        self._own_static = b""
        self._names = NamePatience()
        self.watching = False
        self.conflicts: dict[str, str] = {}

    def note(self, message: bytes) -> None:
        """Remember a message of our own, before it is sent."""
        self._sent_messages.append(message)

    def is_idle(self) -> bool:
        """Return True if no other node publishes on TF and none did: then `tick` has nothing to do."""
        return not (self.watching or self._subscriptions or any(self._other_nodes.values())) and all(
            self._node.count_publishers(topic) <= 1 for topic in self._resolved.values()
        )

    def tick(self, own_static: bytes) -> None:
        """Start or stop listening when it is time; called about once a second, except while `is_idle`."""
        if self._subscriptions and own_static != self._own_static:
            self._sent_messages.append(own_static)
        self._own_static = own_static
        now_s = time.monotonic()
        other_nodes = {topic: other_publishers(self._node, topic) for topic, _ in _TOPICS}
        are_named = self._names.is_over("others", frozenset().union(*other_nodes.values()))
        if self._subscriptions:
            if now_s > self._until_s:
                self.close()
        elif self.watching:
            self._until_s, self._next_s = now_s + _WATCH_S, now_s + self._pause_s
            self._pause_s = min(2.0 * self._pause_s, _LONGEST_PAUSE_S)
            self._sent_messages.append(own_static)
            self._subscriptions = [
                self._node.create_subscription(TFMessage, topic, self._listener(topic), qos.fresh(profile), raw=True)
                for topic, profile in _TOPICS
            ]
        elif not are_named:
            pass
        elif any(other_nodes.values()) and (other_nodes != self._other_nodes or now_s > self._next_s):
            if other_nodes != self._other_nodes:
                self._pause_s = _FIRST_PAUSE_S
            self._other_nodes = other_nodes
            self._sent_messages.clear()
            # Subscribe at the next check: until then, messages of other threads are noted, so they are recognised.
            self.watching = True
        elif not any(other_nodes.values()):
            self._other_nodes = other_nodes

    def close(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = []
        self.watching = False
        self._sent_messages.clear()

    def _listener(self, topic: str) -> Callable[[bytes], None]:
        def handle(data: bytes) -> None:
            if data in self._sent_messages:
                self._sent_messages.remove(data)
                return
            ours = self._own_frames() - set(self.conflicts)
            contested = [frame for frame in dict.fromkeys(map(frame_name, transform_children(data))) if frame in ours]
            if not contested:
                return
            own_name = self._node.get_fully_qualified_name()
            names = self._other_nodes.get(topic, frozenset())
            called = (f"a second node called {name}" if name == own_name else name for name in sorted(names))
            publisher_names = " or ".join(called) or "another node"
            self.conflicts.update(dict.fromkeys(contested, publisher_names))
            more = f" and {len(contested) - 1} more frames" if contested[1:] else ""
            verb, end = ("are", "their transforms") if more else ("is", "its transform")
            self._report(
                f"'{contested[0]}'{more} {verb} published on {topic} by {publisher_names} too: {end} will jump"
                + self._remedy(contested)
            )

        return handle


UNMOVED_PERIOD_S = 0.1
"""Time between two looks for robots that nothing has moved; `publish_frequency` also limits their transforms."""


class Outputs:
    """The publishers of /tf and /tf_static.

    Attributes:
        active: nothing is sent while this is False.
        frames: the child frames of all transforms that are sent, now or when their joints are known.
        authority: records the sent frames while it listens for other publishers.

    """

    def __init__(
        self,
        node: GuardedNode,
        sent_frames: Callable[[], frozenset[str]],
        remedy: Callable[[Collection[str]], str],
    ) -> None:
        """`sent_frames` gives the frames whose transforms are sent by now, `remedy` what to do about a conflict."""
        self._node = node
        options = qos.overridable()
        self._moving = node.create_publisher(TFMessage, "/tf", qos.fresh(qos.TF), qos_overriding_options=options)
        self._fixed = node.create_publisher(
            TFMessage, "/tf_static", qos.fresh(qos.LATCHED), qos_overriding_options=options
        )
        self._send_raw = self._moving.handle.publish_raw
        self.active = False
        self.frames: frozenset[str] = frozenset()
        self.static_message = b""
        self._twins: set[tuple[str, str]] = set()
        self.authority = TfAuthority(node, sent_frames, lambda text: self._node.get_logger().warning(text), remedy)

    def send(self, served: RobotInterface, messages: Messages) -> None:
        """Publish transforms of a robot."""
        if not messages or not self.active:
            return
        for item in messages:
            message = item if isinstance(item, bytes) else rows_message(item)
            if self.authority.watching:
                self.authority.note(item if isinstance(item, bytes) else serialize_message(message))
            # rclpy accepts bytes instead of a message.
            self._moving.publish(message)
        served.traffic.transforms += served.robot.sent if served.robot is not None else 0

    def send_now(self, message: bytes | bytearray) -> None:
        """Publish the bytes of one message; call only while the node is active."""
        if self.authority.watching:
            self.authority.note(bytes(message))
        try:
            self._send_raw(message)
        except TypeError:
            # This rclpy accepts only bytes.
            self._send_raw(bytes(message))

    def send_static(self, robots: Iterable[RunningRobot], stamp_ns: int) -> None:
        """Publish all robots' fixed transforms as one message: a later one would replace it for late joiners."""
        if not self.active:
            return
        present = list(robots)
        self._report_shared_frames(present)
        self.frames = frozenset().union(*(robot.child_frames for robot in present))
        static = [item for robot in present for item in robot.static_transforms()]
        frames = [(item.frame_id, item.child_frame_id) for item in static]
        values = np.array([item.xyz_quat for item in static]).reshape(-1, 7)
        # As bytes, so that our own message is recognised when we receive it.
        self.static_message = serialize_message(rows_message(TransformRows(frames, values, stamp_ns)))
        if self.authority.watching:
            self.authority.note(self.static_message)
        self._fixed.publish(self.static_message)

    def _report_shared_frames(self, robots: list[RunningRobot]) -> None:
        """Report once the robots of this node that publish the same frame."""
        owner: dict[str, str] = {}
        for robot in robots:
            for frame in sorted(robot.child_frames):
                other = owner.setdefault(frame, robot.name)
                if other != robot.name and (other, robot.name) not in self._twins:
                    self._twins.add((other, robot.name))
                    self._node.get_logger().error(
                        f"the models '{other}' and '{robot.name}' both have the frame '{frame}':"
                        " give each a frame_prefix"
                    )


class TransformRepeater:
    """Repeats the transforms of robots without a message, because a late listener would miss a single message.

    The timer runs on the steady clock. Nothing is sent again with the same stamp, while simulated time stands still.
    """

    def __init__(self, robots: RobotRegistry, outputs: Outputs) -> None:
        self._robots, self._outputs = robots, outputs
        self._sent_ns: dict[str, int] = {}
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer: Timer = robots.node.create_timer(
            UNMOVED_PERIOD_S, self.send, clock=steady, what="robots without messages"
        )
        self._timer.cancel()

    def start(self) -> None:
        """Start sending; it stops after every robot has received a message."""
        self._sent_ns.clear()
        self.send()
        if any(self._waits(served) for served in self._robots.served):
            self._timer.reset()

    def stop(self) -> None:
        """Stop sending until the next start."""
        self._timer.cancel()

    def send(self) -> None:
        """Send the transforms of the robots that are due."""
        robots = self._robots
        with robots.lock:
            waiting = [served for served in robots.served if self._waits(served)]
            if not waiting or not robots.active:
                self._timer.cancel()
            now_ns = robots.now_ns()
            for served in waiting:
                robot = served.robot
                assert robot is not None
                last_ns = self._sent_ns.get(served.prefix)
                # An earlier time means that the clock was set back.
                if (
                    last_ns is None
                    or now_ns < last_ns
                    or (now_ns > last_ns and now_ns - last_ns >= robot.settings.publish_interval_ns)
                ):
                    self._sent_ns[served.prefix] = now_ns
                    self._outputs.send(served, robot.unmoved(now_ns))

    @staticmethod
    def _waits(served: RobotInterface) -> bool:
        robot = served.robot
        return robot is not None and not robot.has_moved and bool((robot.values.is_known & robot.publishable).any())
