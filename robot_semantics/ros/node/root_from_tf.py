"""The pose of a robot's root link as another node publishes it on TF (virtual joint source `tf`)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rclpy.callback_groups import CallbackGroup
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.time import Time
from tf2_msgs.msg import TFMessage
from tf2_ros import Buffer, TransformException

from robot_semantics.ros.messages.raw import deserialized
from robot_semantics.ros.node import qos
from robot_semantics.ros.node.guarded_node import GuardedNode
from robot_semantics.state.cdr import stamp_ns

FloatArray = npt.NDArray[np.float64]


class StampedPose(NamedTuple):
    """A pose (7,), x y z [m] and quaternion x y z w, and when it was true."""

    xyz_quat: FloatArray
    stamp_ns: int


class RootFromTf:
    """Listens to TF, all but the node's own messages, and looks one pose up when it is asked for."""

    def __init__(self, node: GuardedNode, group: CallbackGroup, own_frames: Callable[[], frozenset[str]]) -> None:
        """`own_frames` gives the child frames that the node itself publishes; their messages are passed over unread."""
        self._node, self._group, self._own_frames = node, group, own_frames
        self._buffer = Buffer()

    def subscriptions(self) -> list[Subscription]:
        """Return what to listen to."""
        return [self._listen("/tf", qos.TF, False), self._listen("/tf_static", qos.STATIC_LISTENER, True)]

    def pose(self, parent_frame: str, frame: str) -> StampedPose | str:
        """Return the newest pose of `frame` in `parent_frame`, or why there is none."""
        try:
            found = self._buffer.lookup_transform(parent_frame, frame, Time())
        except TransformException as error:
            return str(error)
        translation, rotation = found.transform.translation, found.transform.rotation
        values = [translation.x, translation.y, translation.z, rotation.x, rotation.y, rotation.z, rotation.w]
        return StampedPose(np.array(values, np.float64), stamp_ns(found.header.stamp))

    def _listen(self, topic: str, profile: QoSProfile, static: bool) -> Subscription:
        put = self._buffer.set_transform_static if static else self._buffer.set_transform

        def handle(data: bytes) -> None:
            # What the node publishes comes back to it, often; reading it would cost more than sending it did.
            if first_child_frame(data) in self._own_frames():
                return
            for transform in deserialized(data, TFMessage).transforms:
                put(transform, "tf")

        return self._node.create_subscription(
            TFMessage, topic, handle, qos.fresh(profile), callback_group=self._group, raw=True
        )


def first_child_frame(data: bytes) -> str:
    """Return the child frame of the first transform of a TFMessage in CDR bytes, empty if there is none."""
    try:
        count, _, _, length = struct.unpack_from("<IiII", data, 4)
        if not count:
            return ""
        at = 20 + (length + 3) // 4 * 4
        (length,) = struct.unpack_from("<I", data, at)
        return data[at + 4 : at + 3 + length].decode()
    except (struct.error, UnicodeDecodeError):
        return ""
