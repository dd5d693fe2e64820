# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The transforms of other nodes: frames outside of the robots, and root links that other nodes move."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from tf2_msgs.msg import TFMessage

from robot_semantics.base.names import frame_name, shown
from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.base.throttle import Throttle
from robot_semantics.cdr.walk import transform_children
from robot_semantics.live.senders import Arrival, Sender, Senders
from robot_semantics.live.settings import SenderKind
from robot_semantics.live.world import LeftOutFrame, ReceivedFrames, ReceivedTransform, newest_of, transform_fault
from robot_semantics.ros.messages.maker import deserialized, row_of_pose
from robot_semantics.ros.node.message_loop import MessageInfo, MessageLoop, SetAside, received_ns, sequence_of
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.guarded_node import GuardedNode
from robot_semantics.ros.running.node_names import node_name, other_publishers
from robot_semantics.transforms import matrix_from_pose, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.rows import blend_poses
from robot_semantics.usdf.world_state import SEPARATOR

_TOPICS = ("/tf", "/tf_static")
_MOST_LEFT_OUT = 100
"""Number of left-out frames that are named; all are counted."""

_PACE_S = 0.05
_KEPT_NS = 10_000_000_000
"""How much earlier than another parent's a moving transform may have arrived [ns]: as long as tf2 keeps any."""
_MOST_SENDERS = 10_000
_PAST = 200
"""So many transforms of each frame are kept for chains."""


class WorldFrames:
    """Listens to /tf and /tf_static, except the node's own messages, and keeps the newest transform of each frame.

    A transform that cannot be in a world state is left out, counted and logged with the nodes that publish it.

    Attributes:
        news: grows with every stored message.
        left_out_count: number of left-out transforms since the start.

    """

    def __init__(
        self,
        node: GuardedNode,
        own_frames: Callable[[], frozenset[str]],
        link_names: Callable[[], frozenset[str]],
        reset_clock: Callable[[int], None] = lambda clock_ns: None,
    ) -> None:
        """Listen to /tf_static.

        Args:
            node: the node.
            own_frames: gives the child frames that the node itself publishes.
            link_names: gives the names ``model::link`` of its robots' links.
            reset_clock: called with a clock that was reset, as a frame shows.
        """
        self.news = 0
        self._reset_clock = reset_clock
        self._senders = Senders(_MOST_SENDERS)
        # The newest transforms of each frame, for chains; only while a robot follows TF.
        self._past: dict[tuple[str, str], deque[ReceivedTransform]] = {}
        self._keeps_past = False
        self.left_out_count = 0
        self._node = node
        self._moving_topic = node.resolve_topic_name("/tf")
        self._own_frames, self._link_names = own_frames, link_names
        self._lock = threading.Lock()
        self._received: dict[str, dict[str, ReceivedTransform]] = {}
        self._left_out: dict[str, LeftOutFrame] = {}
        self._throttle = Throttle()
        self._group = SetAside()
        self._loop = MessageLoop(node.context, _PACE_S)
        self._subscriptions = [self._listen("/tf_static", qos.STATIC_LISTENER, static=True)]
        self._loop.start(self._subscriptions)
        # We also receive our own messages on /tf, up to a thousand a second: listen only if other nodes publish there.
        self._alone = True

    def stop(self) -> None:
        """Stop listening."""
        self._loop.stop()

    def _listen(self, topic: str, profile: QoSProfile, *, static: bool) -> Subscription:
        take = partial(self._take, static)
        return self._node.create_subscription(
            TFMessage, topic, take, qos.fresh(profile), callback_group=self._group, raw=True
        )

    def has_unheard_others(self) -> bool:
        """Return True if another node publishes on /tf, and this node does not listen there yet."""
        return self._alone and self._node.count_publishers(self._moving_topic) > 1

    def look_for_others(self) -> None:
        """Listen to /tf as soon as another node publishes there; called about once a second."""
        if self.has_unheard_others():
            self.listen_to_all()

    def listen_to_all(self, *, chains: bool = False) -> None:
        """Listen to /tf from now on, even if no other node publishes there yet; with `chains` for `pose`."""
        self._keeps_past |= chains
        if not self._alone:
            return
        self._alone = False
        self._loop.stop()
        self._subscriptions.append(self._listen("/tf", qos.TF_LISTENER, static=False))
        self._loop.start(self._subscriptions)

    def forget(self, clock_ns: int | None = None, *, stood: bool = False) -> None:
        """Forget the moving frames of a clock that stood at this time and was reset; by default all."""
        with self._lock:
            if clock_ns is None:
                self._senders.accept_any_stamp()
                gone = list(self._senders)
            else:
                gone = self._senders.reset(clock_ns, time.monotonic_ns(), stood=stood)
            for parent, child in (sender.names for sender in gone):
                self._past.pop((parent, child), None)
                item = self._received.get(child, {}).get(parent)
                if item is not None and item.stamp_ns is not None:
                    del self._received[child][parent]

    def publishers_of(self, topic: str) -> tuple[str, ...]:
        """Return the nodes that publish on a topic, without this node."""
        own = self._node.get_fully_qualified_name()
        found = self._node.get_publishers_info_by_topic(self._node.resolve_topic_name(topic))
        return tuple(sorted({node_name(info) for info in found} - {own}))

    def clocks(self, now_ns: int) -> list[tuple[Sender, int]]:
        """Return the senders on /tf, with their clocks at a time of the steady clock."""
        with self._lock:
            return self._senders.clocks(now_ns)

    def received(self) -> ReceivedFrames:
        """Return the newest transforms of all frames that this node does not publish itself."""
        own = self._own_frames()
        with self._lock:
            received = {
                child: dict(parents) for child, parents in self._received.items() if child not in own and parents
            }
        return {child: _current(parents) for child, parents in received.items()}

    def has(self, frame: str) -> bool:
        """Return True if another node publishes a transform of this frame."""
        with self._lock:
            return bool(self._received.get(frame))

    def left_out(self) -> list[LeftOutFrame]:
        """Return the frames whose newest transform is left out."""
        with self._lock:
            return list(self._left_out.values())

    def publishers(self, topics: Sequence[str] = _TOPICS) -> str:
        """Return the names of the other nodes that publish on TF, for a sentence."""
        names = sorted(set().union(*(other_publishers(self._node, topic) for topic in topics)))
        return " or ".join(names) or "a node that has gone"

    def pose(self, parent_frame: str, frame: str) -> ReceivedTransform | None:
        """Return the pose of `frame` in `parent_frame` at the newest time that all transforms between them have.

        This is the answer of tf2 to a look-up at time 0. None if the frames are not connected.
        """
        received = self.received()
        chain: list[tuple[str, str, ReceivedTransform]] = []
        while frame != parent_frame:
            if any(frame == child for _, child, _ in chain) or frame not in received:
                return None
            parent, item = newest_of(received[frame])
            chain.append((parent, frame, item))
            frame = parent
        moving = [item for _, _, item in chain if item.stamp_ns is not None]
        stamp_ns = min((item.stamp_ns for item in moving if item.stamp_ns is not None), default=None)
        arrived_ns = min((item.received_ns for item in moving if item.received_ns is not None), default=None)
        T = np.eye(4)
        for parent, child, item in chain:
            T = matrix_from_pose(self._pose_at(parent, child, item, stamp_ns)) @ T
        return ReceivedTransform(xyz_quat_from_matrix(T), stamp_ns, arrived_ns)

    def _pose_at(self, parent: str, child: str, item: ReceivedTransform, stamp_ns: int | None) -> FloatArray:
        """Return the pose (7,) of one transform at a time; the nearest one outside of the kept times."""
        if item.stamp_ns is None or stamp_ns is None or item.stamp_ns <= stamp_ns:
            return item.xyz_quat
        with self._lock:
            past = [(one.stamp_ns or 0, one.xyz_quat) for one in self._past.get((parent, child), ())]
        after = next((number for number, (stamp, _) in enumerate(past) if stamp >= stamp_ns), len(past))
        if not past or after == len(past):
            return item.xyz_quat
        (high_ns, high), (low_ns, low) = past[after], past[max(0, after - 1)]
        if high_ns == low_ns:
            return high
        share = np.array([(stamp_ns - low_ns) / (high_ns - low_ns)])
        return np.asarray(blend_poses(low[np.newaxis], high[np.newaxis], share[:, np.newaxis])[0])

    def _take(self, static: bool, data: bytes, info: MessageInfo) -> None:
        # Skip the node's own messages: parsing them would cost more than sending them.
        if frame_name(next(transform_children(data), "")) in self._own_frames():
            return
        arrived_ns = received_ns(info)
        for transform in deserialized(data, TFMessage).transforms:
            child = frame_name(transform.child_frame_id)
            parent = frame_name(transform.header.frame_id)
            values = row_of_pose(transform.transform.translation, transform.transform.rotation)
            fault = transform_fault(parent, child, values)
            if fault is not None:
                self._leave_out(static, parent, child, fault)
                continue
            if SEPARATOR in child + parent and {child, parent} & self._link_names():
                # It is kept: another robot may come that has no such link.
                self.left_out_count += 1
            if static:
                item, arrival = ReceivedTransform(values, None), None
            else:
                item = ReceivedTransform(values, stamp_ns(transform.header.stamp), arrived_ns)
                arrival = self._order(parent, child, item, sequence_of(info))
            if arrival in (Arrival.LATE, Arrival.STRAY):
                continue
            with self._lock:
                self.news += 1
                self._left_out.pop(child, None)
                parents = self._received.setdefault(child, {})
                if static:
                    # The last message decides the parent of a static frame.
                    parents.clear()
                parents[parent] = item

    def _order(self, parent: str, child: str, item: ReceivedTransform, sequence: int | None) -> Arrival:
        """Return how the stamp of a moving transform fits to the earlier ones of its frames."""
        assert item.stamp_ns is not None
        assert item.received_ns is not None
        with self._lock:
            sender, _ = self._senders.find(SenderKind.TF, "/tf", (parent, child), ordered=True)
            arrival = self._senders.take(sender, item.stamp_ns, item.received_ns, sequence, self._count_publishers)
            clock_ns = self._senders.clock_before_ns
            if self._keeps_past:
                past = self._past.setdefault((parent, child), deque(maxlen=_PAST))
                if arrival in (Arrival.RESET, Arrival.RETURN):
                    past.clear()
                if arrival is not Arrival.LATE and arrival is not Arrival.STRAY:
                    past.append(item)
        if arrival is Arrival.RESET:
            self._reset_clock(clock_ns)
        return arrival

    def _count_publishers(self) -> int:
        return int(self._node.count_publishers(self._moving_topic))

    def _leave_out(self, static: bool, parent: str, child: str, fault: str) -> None:
        """Count a transform that cannot be in a world state, and log it with the nodes that may have sent it."""
        self.left_out_count += 1
        topic = _TOPICS[static]
        with self._lock:
            if child in self._left_out or len(self._left_out) >= _MOST_LEFT_OUT:
                return
            by = self.publishers([topic])
            reason = f"{fault}; a transform in '{shown(parent)}' on {topic}, published by {by}"
            self._left_out[child] = LeftOutFrame(child, reason)
        line = self._throttle.admit_sentence(topic, f"frame '{shown(child)}' on TF is left out: {reason}")
        if line is not None:
            self._node.get_logger().warning(line)


def _current(parents: dict[str, ReceivedTransform]) -> dict[str, ReceivedTransform]:
    """Return the valid transforms, by their parents' names."""
    newest = max((item.received_ns for item in parents.values() if item.received_ns is not None), default=0)
    return {
        parent: parents[parent]
        for parent in sorted(parents)
        if (received := parents[parent].received_ns) is None or received >= newest - _KEPT_NS
    }
