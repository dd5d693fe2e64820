# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A tf2 buffer that listens over DDS, and transforms for it."""

from __future__ import annotations

import threading

import rclpy
import tf2_ros
from geometry_msgs.msg import Quaternion, Transform, TransformStamped
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from tf2_msgs.msg import TFMessage

S = 1_000_000_000


def transform(parent: str, child: str, stamp_ns: int, x: float) -> TransformStamped:
    item = TransformStamped(child_frame_id=child)
    item.header.frame_id = parent
    item.header.stamp.sec, item.header.stamp.nanosec = divmod(stamp_ns, S)
    item.transform.translation.x = x
    item.transform.rotation.w = 1.0
    return item


class Listener:
    """A tf2 buffer; the messages are taken as bytes in a thread of their own, and put into it at the end."""

    def __init__(self, domain: int) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self._node = rclpy.create_node("listener", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._messages: list[bytes] = []
        self._node.create_subscription(TFMessage, "/tf", self._messages.append, 5000, raw=True)
        self.buffer = tf2_ros.Buffer(cache_time=Duration(seconds=100))
        self.stamps: dict[str, list[int]] = {}
        self.transforms: dict[tuple[str, int], Transform] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stopped.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    @property
    def count(self) -> int:
        """How many messages were heard."""
        return len(self._messages)

    def has_heard_of(self, child: str) -> bool:
        return any(child.encode() in data for data in list(self._messages))

    def close(self, *, but: tuple[str, ...] = ()) -> None:
        """Stop listening, and put everything into the buffer but the frames whose names begin so."""
        self._stopped.set()
        self._thread.join()
        for data in self._messages:
            for item in deserialize_message(data, TFMessage).transforms:
                if not item.child_frame_id.startswith(but or "\0"):
                    self.buffer.set_transform(item, "node")
                stamp = item.header.stamp.sec * S + item.header.stamp.nanosec
                self.stamps.setdefault(item.child_frame_id, []).append(stamp)
                self.transforms[item.child_frame_id, stamp] = item.transform
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def x(self, parent: str, child: str, stamp_ns: int) -> float:
        return float(self._transform(parent, child, stamp_ns).translation.x)

    def rotation(self, parent: str, child: str, stamp_ns: int) -> Quaternion:
        return self._transform(parent, child, stamp_ns).rotation

    def _transform(self, parent: str, child: str, stamp_ns: int) -> Transform:
        return self.buffer.lookup_transform(parent, child, Time(nanoseconds=stamp_ns)).transform
