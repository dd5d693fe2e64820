"""The TF frames outside the robots: who publishes what else, as the `<frame>`s of a world state."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from geometry_msgs.msg import TransformStamped
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from tf2_msgs.msg import TFMessage

from robot_semantics.ros.messages.raw import deserialized
from robot_semantics.ros.node import qos
from robot_semantics.ros.node.guarded_node import GuardedNode
from robot_semantics.ros.node.looks import Looks
from robot_semantics.ros.node.message_loop import MessageLoop, SetAside
from robot_semantics.ros.node.root_from_tf import first_child_frame
from robot_semantics.state.cdr import stamp_ns
from robot_semantics.transforms import compose, matrix_from_pose
from robot_semantics.usdf.poses import pose_from_matrix, pose_from_quaternion
from robot_semantics.usdf.world_state import WORLD, Frame, Pose

_PACE_S = 0.05

FloatArray = npt.NDArray[np.float64]
Standing = Mapping[str, tuple[str, FloatArray]]
"""TF name of a robot's link → the model that it belongs to, and its (4, 4) pose in the model's frame."""


class _Heard(NamedTuple):
    parent: str
    pose: Pose
    stamp_ns: int | None


class WorldFrames:
    """Listens to /tf and /tf_static, all but the node's own messages, and keeps the newest transform of each frame."""

    def __init__(self, node: GuardedNode, own_frames: Callable[[], frozenset[str]], looks: Looks) -> None:
        """`own_frames` gives the child frames that the node itself publishes."""
        self._node = node
        self._moving_topic = node.resolve_topic_name("/tf")
        self._own_frames = own_frames
        self._lock = threading.Lock()
        self._heard: dict[str, _Heard] = {}
        self._group = SetAside()
        self._loop = MessageLoop(node.context, _PACE_S)
        self._subscriptions = [self._listen("/tf_static", qos.STATIC_LISTENER, static=True)]
        self._loop.start(self._subscriptions)
        # Our own messages come back on /tf, a thousand a second perhaps: we listen there only if others speak.
        self._looks, self._alone = looks, True
        looks.add(self._look_for_others)

    def destroy(self) -> None:
        """Stop listening."""
        if self._alone:
            self._looks.remove(self._look_for_others)
        self._loop.stop()
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _listen(self, topic: str, profile: QoSProfile, *, static: bool) -> Subscription:
        take = partial(self._take, static)
        return self._node.create_subscription(
            TFMessage, topic, take, qos.fresh(profile), callback_group=self._group, raw=True
        )

    def _look_for_others(self) -> None:
        if self._node.count_publishers(self._moving_topic) <= 1:
            return
        self._looks.remove(self._look_for_others)
        self._alone = False
        self._loop.stop()
        self._subscriptions.append(self._listen("/tf", qos.TF, static=False))
        self._loop.start(self._subscriptions)

    def forget(self) -> None:
        """Forget all frames, as after a jump of the clock."""
        with self._lock:
            self._heard.clear()

    def frames(self, standing: Standing) -> tuple[tuple[Frame, ...], dict[str, int]]:
        """Return the frames outside the robots by name, and the stamps [ns] of those that are not static.

        A frame on a robot's link hangs on the model, posed as the link is now. A frame that nobody places, the root of
        the TF tree, stands in the world.
        """
        with self._lock:
            heard = dict(self._heard)
        own = self._own_frames()
        found: dict[str, Frame] = {}
        stamps: dict[str, int] = {}
        for name, item in heard.items():
            if name in own or name == WORLD:
                continue
            if item.stamp_ns is not None:
                stamps[name] = item.stamp_ns
            on_link = standing.get(item.parent)
            if on_link is None:
                found[name] = Frame(name, item.parent, item.pose)
            else:
                model, T_model_link = on_link
                T_link_frame = matrix_from_pose(
                    [*item.pose.xyz_rpy[:3], *(item.pose.quat_xyzw or (0.0, 0.0, 0.0, 1.0))]
                )
                found[name] = Frame(name, model, pose_from_matrix(compose(T_model_link, T_link_frame)))
        models = {model for model, _ in standing.values()}
        for frame in list(found.values()):
            if frame.parent not in found and frame.parent not in models and frame.parent != WORLD:
                found[frame.parent] = Frame(frame.parent, WORLD, pose_from_quaternion((0.0,) * 3, (0.0, 0.0, 0.0, 1.0)))
        return tuple(sorted(found.values(), key=lambda frame: frame.name)), stamps

    def _take(self, static: bool, data: bytes) -> None:
        # What the node publishes comes back to it, often; reading it would cost more than sending it did.
        if first_child_frame(data) in self._own_frames():
            return
        transforms = deserialized(data, TFMessage).transforms
        with self._lock:
            for transform in transforms:
                item = _read(transform, static)
                if item is not None:
                    self._heard[transform.child_frame_id.removeprefix("/")] = item


def _read(transform: TransformStamped, static: bool) -> _Heard | None:
    at, turn = transform.transform.translation, transform.transform.rotation
    values = np.array([at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w])
    if not np.isfinite(values).all() or not values[3:].any():
        return None
    pose = pose_from_quaternion(values[:3].tolist(), values[3:].tolist())
    return _Heard(
        transform.header.frame_id.removeprefix("/"), pose, None if static else stamp_ns(transform.header.stamp)
    )
