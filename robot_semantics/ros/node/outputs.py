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

from collections.abc import Iterable

import numpy as np
from rclpy.serialization import serialize_message
from rclpy.timer import Timer
from tf2_msgs.msg import TFMessage

from robot_semantics.ros.messages.tf_messages import rows_message
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.served_robot import ServedRobot
from robot_semantics.ros.node.tf_authority import TfAuthority
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.guarded_node import GuardedNode
from robot_semantics.state.robot import Messages, RunningRobot
from robot_semantics.state.robot_frames import TransformRows

UNMOVED_PERIOD_S = 0.1
"""Time between two looks for robots that nothing has moved; `publish_frequency` also limits their transforms."""


class Outputs:
    """The publishers of /tf and /tf_static.

    Attributes:
        active: nothing is sent while this is False.
        frames: the child frames of all sent transforms.
        authority: records the sent frames while it listens for other publishers.

    """

    def __init__(self, node: GuardedNode) -> None:
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
        self.authority = TfAuthority(node, lambda: self.frames, lambda text: self._node.get_logger().warning(text))

    def send(self, served: ServedRobot, messages: Messages) -> None:
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


class UnmovedRobots:
    """Repeats the transforms of robots without a message, because a late listener would miss a single message.

    The period is counted by the node's clock, so nothing is sent while simulated time stands still.
    """

    def __init__(self, robots: Robots, outputs: Outputs) -> None:
        self._robots, self._outputs = robots, outputs
        self._sent_ns: dict[str, int] = {}
        self._timer: Timer = robots.node.create_timer(UNMOVED_PERIOD_S, self.send, what="robots without messages")
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
                since_ns = now_ns - self._sent_ns.get(served.prefix, now_ns - robot.settings.publish_interval_ns)
                # A negative time means that the clock was set back.
                if since_ns < 0 or since_ns >= robot.settings.publish_interval_ns:
                    self._sent_ns[served.prefix] = now_ns
                    self._outputs.send(served, robot.unmoved(now_ns))

    @staticmethod
    def _waits(served: ServedRobot) -> bool:
        robot = served.robot
        return robot is not None and not robot.has_moved and bool((robot.values.known & robot.publishable).any())
