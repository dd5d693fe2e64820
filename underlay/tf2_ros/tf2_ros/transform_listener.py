# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Fills a buffer from /tf and /tf_static."""

from __future__ import annotations

import contextlib
from threading import Thread

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from tf2_ros.buffer import Buffer


class TransformListener:
    """Subscribes to the transforms of other nodes for as long as it lives."""

    def __init__(
        self,
        buffer: Buffer,
        node: Node,
        *,
        spin_thread: bool = False,
        qos: QoSProfile | int | None = None,
        static_qos: QoSProfile | int | None = None,
    ) -> None:
        """With spin_thread the node is spun by a thread of the listener's own."""
        if qos is None:
            qos = QoSProfile(depth=100, durability=DurabilityPolicy.VOLATILE, history=HistoryPolicy.KEEP_LAST)
        if static_qos is None:
            static_qos = QoSProfile(
                depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, history=HistoryPolicy.KEEP_LAST
            )
        self.buffer = buffer
        self.node = node
        # Reentrant, so that a callback of the node may wait for a transform.
        self.group = ReentrantCallbackGroup()
        self.tf_sub = node.create_subscription(TFMessage, "/tf", self.callback, qos, callback_group=self.group)
        self.tf_static_sub = node.create_subscription(
            TFMessage, "/tf_static", self.static_callback, static_qos, callback_group=self.group
        )
        if spin_thread:
            self.executor = SingleThreadedExecutor(context=node.context)
            self.executor.add_node(node)
            self.dedicated_listener_thread = Thread(target=self._spin, daemon=True)
            self.dedicated_listener_thread.start()

    def __del__(self) -> None:
        # The context or the interpreter may be going down already; then there is nothing left to take back.
        with contextlib.suppress(Exception):
            if hasattr(self, "dedicated_listener_thread"):
                self.executor.shutdown()
                self.dedicated_listener_thread.join()
            self.unregister()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self.executor.spin()

    def unregister(self) -> None:
        """End the subscriptions."""
        self.node.destroy_subscription(self.tf_sub)
        self.node.destroy_subscription(self.tf_static_sub)

    def callback(self, data: TFMessage) -> None:
        """Take in moving transforms."""
        for transform in data.transforms:
            self.buffer.set_transform(transform, "default_authority")

    def static_callback(self, data: TFMessage) -> None:
        """Take in static transforms."""
        for transform in data.transforms:
            self.buffer.set_transform_static(transform, "default_authority")
