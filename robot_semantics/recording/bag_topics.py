# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The topics of a bag that is written: each is made by its first message, and its messages are counted."""

from __future__ import annotations

from typing import Any

from robot_semantics.base.errors import MissingExtraError

try:
    from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore
except ImportError as error:
    raise MissingExtraError("rosbags", "bag", "writing recordings") from error

_LATCHED = Qos(
    QosHistory.KEEP_LAST,
    1,
    QosReliability.RELIABLE,
    QosDurability.TRANSIENT_LOCAL,
    QosTime(0, 0),
    QosTime(0, 0),
    QosLiveliness.AUTOMATIC,
    QosTime(0, 0),
    False,
)


class BagTopics:
    """The topics of one bag, with ROS 2's own messages.

    Attributes:
        types: the classes of the messages, by their names.
        counts: how many messages each topic has so far.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._store = get_typestore(Stores.ROS2_JAZZY)
        self._connections: dict[str, Connection] = {}
        self.types = self._store.types
        self.counts: dict[str, int] = {}

    def send(self, topic: str, msgtype: str, time_ns: int, message: Any, *, latched: bool = False) -> None:
        """Write a message as of a time of recording; a latched topic is offered to those that come late, too."""
        if topic not in self._connections:
            qos = [_LATCHED] if latched else []
            added = self._writer.add_connection(topic, msgtype, typestore=self._store, offered_qos_profiles=qos)
            self._connections[topic] = added
        self._writer.write(self._connections[topic], time_ns, self._store.serialize_cdr(message, msgtype))
        self.counts[topic] = self.counts.get(topic, 0) + 1
