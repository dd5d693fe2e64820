# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Detects another node that publishes our frames: two authorities make a frame jump."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from rclpy.subscription import Subscription
from tf2_msgs.msg import TFMessage

from robot_semantics.cdr.walk import transform_children
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.guarded_node import GuardedNode
from robot_semantics.ros.running.node_names import UNKNOWN_NODE, node_name

_WATCH_S = 3.0
_FIRST_PAUSE_S = 5.0
_LONGEST_PAUSE_S = 60.0
_PATIENCE_LOOKS = 5
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
        self, node: GuardedNode, own_frames: Callable[[], frozenset[str]], report: Callable[[str], None]
    ) -> None:
        self._node, self._own_frames, self._report = node, own_frames, report
        self._resolved = {topic: node.resolve_topic_name(topic) for topic, _ in _TOPICS}
        self._subscriptions: list[Subscription] = []
        self._others: dict[str, frozenset[str]] = {}
        self._until_s = 0.0
        self._next_s = 0.0
        self._pause_s = _FIRST_PAUSE_S
        self._own: deque[bytes] = deque(maxlen=512)
        self._own_static = b""
        self._nameless = 0
        self.watching = False
        self.conflicts: dict[str, str] = {}

    def note(self, message: bytes) -> None:
        """Remember a message of our own, before it is sent."""
        self._own.append(message)

    def is_idle(self) -> bool:
        """Return True if no other node publishes on TF and none did: then `tick` has nothing to do."""
        return not (self.watching or self._subscriptions or any(self._others.values())) and all(
            self._node.count_publishers(topic) <= 1 for topic in self._resolved.values()
        )

    def tick(self, own_static: bytes) -> None:
        """Start or stop listening when it is time; called about once a second, except while `is_idle`."""
        if self._subscriptions and own_static != self._own_static:
            self._own.append(own_static)
        self._own_static = own_static
        now_s = time.monotonic()
        others = {topic: self._other_publishers(topic) for topic, _ in _TOPICS}
        self._nameless = self._nameless + 1 if any(UNKNOWN_NODE in names for names in others.values()) else 0
        if self._subscriptions:
            if now_s > self._until_s:
                self.close()
        elif self.watching:
            self._until_s, self._next_s = now_s + _WATCH_S, now_s + self._pause_s
            self._pause_s = min(2.0 * self._pause_s, _LONGEST_PAUSE_S)
            self._own.append(own_static)
            self._subscriptions = [
                self._node.create_subscription(TFMessage, topic, self._listener(topic), qos.fresh(profile), raw=True)
                for topic, profile in _TOPICS
            ]
        elif 0 < self._nameless < _PATIENCE_LOOKS:
            # Discovery reports a new publisher before the name of its node.
            pass
        elif any(others.values()) and (others != self._others or now_s > self._next_s):
            if others != self._others:
                self._pause_s = _FIRST_PAUSE_S
            self._others = others
            self._own.clear()
            # Subscribe at the next check: until then, messages of other threads are noted, so they are recognised.
            self.watching = True
        elif not any(others.values()):
            self._others = others

    def close(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = []
        self.watching = False
        self._own.clear()

    def _other_publishers(self, topic: str) -> frozenset[str]:
        """Return the names of the other nodes that publish on a topic; also our own name, if a second node has it."""
        if self._node.count_publishers(self._resolved[topic]) <= 1:
            return frozenset()
        own = self._node.get_fully_qualified_name()
        names = [node_name(info) for info in self._node.get_publishers_info_by_topic(self._resolved[topic])]
        own_publishers = sum(publisher.topic_name == self._resolved[topic] for publisher in self._node.publishers)
        has_twin = names.count(own) > own_publishers
        return frozenset(name for name in names if name != own or has_twin)

    def _listener(self, topic: str) -> Callable[[bytes], None]:
        def handle(data: bytes) -> None:
            if data in self._own:
                self._own.remove(data)
                return
            ours = self._own_frames() - set(self.conflicts)
            contested = [frame for frame in dict.fromkeys(transform_children(data)) if frame in ours]
            if not contested:
                return
            own_name = self._node.get_fully_qualified_name()
            names = self._others.get(topic, frozenset())
            called = (f"a second node called {name}" if name == own_name else name for name in sorted(names))
            others = " or ".join(called) or "another node"
            self.conflicts.update(dict.fromkeys(contested, others))
            more = f" and {len(contested) - 1} more frames" if contested[1:] else ""
            verb, end = ("are", "their transforms") if more else ("is", "its transform")
            self._report(f"'{contested[0]}'{more} {verb} published on {topic} by {others} too: {end} will jump")

        return handle
