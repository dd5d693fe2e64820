# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A new rosbag2 in mcap, written by the library `rosbags`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from robot_semantics.cdr.generated_types import RosMessage

_LATCHED = Qos(
    QosHistory.KEEP_LAST,
    1,
    QosReliability.RELIABLE,
    QosDurability.TRANSIENT_LOCAL,
    *(QosTime(0, 0), QosTime(0, 0)),
    QosLiveliness.AUTOMATIC,
    QosTime(0, 0),
    avoid_ros_namespace_conventions=False,
)


class RosbagsWriter:
    """Writes messages to a new bag.

    Attributes:
        types: message classes by name.
    """

    def __init__(self, folder: Path) -> None:
        """Create the bag; the folder must not exist."""
        self._store = get_typestore(Stores.ROS2_JAZZY)
        self.types: Mapping[str, type] = self._store.types
        self._connections: dict[str, Connection] = {}
        # More releases of ROS 2 read version 8 of the metadata than version 9.
        self._writer = Writer(folder, version=8, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()

    def write(self, topic: str, msgtype: str, time_ns: int, message: RosMessage, *, latched: bool) -> None:
        """Write a message with its log time [ns]."""
        if topic not in self._connections:
            profiles = [_LATCHED] if latched else []
            added = self._writer.add_connection(topic, msgtype, typestore=self._store, offered_qos_profiles=profiles)
            self._connections[topic] = added
        self._writer.write(self._connections[topic], time_ns, self._store.serialize_cdr(message, msgtype))

    def close(self, custom_data: Mapping[str, str]) -> None:
        """Close the bag and add the custom data to its metadata."""
        for key, text in custom_data.items():
            self._writer.set_custom_data(key, text)
        self._writer.close()
