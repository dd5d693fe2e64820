# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bags as streams of raw messages, read by `rosbag2_py` of a ROS 2 installation: rosbag2 with any storage plugin."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import rosbag2_py
from rosbag2_py._storage import QoS

from robot_semantics.base.errors import install_hint
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.walk import cdr_bytes
from robot_semantics.recording.bags.mcap_check import mcap_damage
from robot_semantics.recording.bags.source import (
    ROS1_ENDINGS,
    BagError,
    Batch,
    Channel,
    DefinitionFormat,
    Message,
    MessageDefinition,
    OwnMetadata,
    declared_channel,
    in_batches,
    is_cut_off,
    unlisted_notices,
)

_FORMATS = {"ros2msg": DefinitionFormat.MSG, "ros2idl": DefinitionFormat.IDL}


class Rosbag2Source(OwnMetadata):
    """A bag that `rosbag2_py` reads; use it in a ``with`` statement."""

    def __init__(self, path: Path) -> None:
        """Prepare to read.

        Raises:
            BagError: the bag is one of ROS 1.
        """
        if path.name.lower().endswith(ROS1_ENDINGS):
            raise BagError(path, f"rosbag2 does not read bags of ROS 1: {install_hint('bag')}")
        self.path = path

    def __enter__(self) -> Rosbag2Source:
        for file in sorted(self.path.iterdir()) if self.path.is_dir() else (self.path,):
            if file.suffix.lower() == ".db3" and is_cut_off(file):
                raise RuntimeError(f"'{file.name}' is cut off in its last pages")
            if file.suffix.lower() == ".mcap" and (damage := mcap_damage(file)):
                raise RuntimeError(f"'{file.name}': {damage}")
        reader = self._open()
        self._metadata: rosbag2_py.BagMetadata = reader.get_metadata()
        counts = {item.topic_metadata.name: item.message_count for item in self._metadata.topics_with_message_count}
        definitions = {item.topic_type: item for item in reader.get_all_message_definitions()}
        topics = reader.get_all_topics_and_types()
        self._channels = {
            topic.name: declared_channel(
                topic.name,
                topic.type,
                _definition(definitions.get(topic.type)),
                ros1=False,
                messages=counts.get(topic.name, -1),
                encoding=topic.serialization_format,
            )
            for topic in topics
        }
        has_metadata = self.path.is_dir() and rosbag2_py.MetadataIo().metadata_file_exists(str(self.path))
        unlisted = [topic.name for topic in topics if has_metadata and topic.name not in counts]
        self.notices = unlisted_notices(unlisted, ())
        return self

    def __exit__(self, *error: object) -> None:
        """Readers of rosbag2 close when they are deleted."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels of the bag."""
        return tuple(self._channels.values())

    @property
    def span_ns(self) -> tuple[int, int]:
        """Log time of the first and of the last message [ns]."""
        start = int(self._metadata.starting_time.nanoseconds)
        return start, start + int(self._metadata.duration.nanoseconds)

    def batches(self, topics: Collection[str], start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """Yield the messages of some topics with log times from `start` to before `stop` [ns]."""
        wanted = [name for name, channel in self._channels.items() if channel.topic in topics]
        if not wanted:
            return
        reader = self._open()
        reader.set_filter(rosbag2_py.StorageFilter(topics=wanted))
        if start is not None:
            reader.seek(start)
        yield from in_batches(self._messages(reader, start, stop))

    def _messages(self, reader: rosbag2_py.SequentialReader, start: int | None, stop: int | None) -> Iterator[Message]:
        while reader.has_next():
            topic, data, log_ns = reader.read_next()
            if stop is not None and log_ns >= stop:
                return
            if start is None or log_ns >= start:
                yield self._channels[topic], log_ns, data

    def _open(self) -> rosbag2_py.SequentialReader:
        path, metadata_io = str(self.path), rosbag2_py.MetadataIo()
        has_metadata = self.path.is_dir() and metadata_io.metadata_file_exists(path)
        is_packed = has_metadata and bool(metadata_io.read_metadata(path).compression_mode)
        reader = rosbag2_py.SequentialCompressionReader() if is_packed else rosbag2_py.SequentialReader()
        reader.open_uri(path)
        return reader

    @property
    def _custom_data(self) -> Mapping[str, str]:
        return dict(self._metadata.custom_data)


def _definition(found: rosbag2_py.MessageDefinition) -> MessageDefinition:
    if found is None:
        return MessageDefinition()
    return MessageDefinition(_FORMATS.get(found.encoding, DefinitionFormat.NONE), found.encoded_message_definition)


# A new rosbag2 in mcap, written by `rosbag2_py` of a ROS 2 installation.


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
