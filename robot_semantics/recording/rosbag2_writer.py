# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A new rosbag2 in mcap, written by `rosbag2_py` of a ROS 2 installation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import rosbag2_py
from rosbag2_py._storage import QoS

from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.serialize import cdr_bytes


class _AnyType(dict[str, type]):
    """A message class for every name: it has the fields of its keywords, in their order."""

    def __missing__(self, name: str) -> type:
        return SimpleNamespace


class Rosbag2Writer:
    """Writes messages to a new bag.

    Attributes:
        types: message classes by name.
    """

    def __init__(self, folder: Path) -> None:
        """Create the bag; the folder must not exist."""
        self.types: Mapping[str, type] = _AnyType()
        self._folder = str(folder)
        self._topics: set[str] = set()
        self._writer = rosbag2_py.SequentialWriter()
        self._writer.open(
            rosbag2_py.StorageOptions(uri=self._folder, storage_id="mcap"), rosbag2_py.ConverterOptions("cdr", "cdr")
        )

    def write(self, topic: str, msgtype: str, time_ns: int, message: RosMessage, *, latched: bool) -> None:
        """Write a message with its log time [ns]."""
        if topic not in self._topics:
            profiles = [QoS(1).reliable().transient_local()] if latched else []
            added = rosbag2_py.TopicMetadata(
                id=len(self._topics),
                name=topic,
                type=msgtype,
                serialization_format="cdr",
                offered_qos_profiles=profiles,
            )
            self._writer.create_topic(added)
            self._topics.add(topic)
        self._writer.write(topic, cdr_bytes(message), time_ns)

    def close(self, custom_data: Mapping[str, str]) -> None:
        """Close the bag and add the custom data to its metadata."""
        self._writer.close()
        metadata = rosbag2_py.MetadataIo().read_metadata(self._folder)
        metadata.custom_data = dict(custom_data)
        rosbag2_py.MetadataIo().write_metadata(self._folder, metadata)
