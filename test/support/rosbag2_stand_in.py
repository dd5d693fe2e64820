# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A stand-in for `rosbag2_py` of ROS 2 Jazzy, with the part of its documented interface that is used, over `rosbags`.

No wheel of rosbag2_py exists, so tests outside a ROS 2 installation use this module under its name; inside of one they
use the real modules.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import Reader, ReaderError, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from ruamel.yaml import YAML

STORE = get_typestore(Stores.ROS2_JAZZY)
_ENCODINGS = {"MSG": "ros2msg", "IDL": "ros2idl", "NONE": "unknown"}
_BAG = "rosbag2_bagfile_information"


class StorageOptions(SimpleNamespace):
    def __init__(self, uri: str, storage_id: str = "") -> None:
        super().__init__(uri=uri, storage_id=storage_id)


class ConverterOptions(SimpleNamespace):
    def __init__(self, input_serialization_format: str = "", output_serialization_format: str = "") -> None:
        super().__init__()


class StorageFilter(SimpleNamespace):
    def __init__(self, topics: list[str]) -> None:
        super().__init__(topics=topics)


class TopicMetadata(SimpleNamespace):
    def __init__(
        self, id: int, name: str, type: str, serialization_format: str, offered_qos_profiles: list[QoS] | None = None
    ) -> None:
        super().__init__(
            id=id,
            name=name,
            type=type,
            serialization_format=serialization_format,
            offered_qos_profiles=offered_qos_profiles or [],
        )


class QoS:
    def __init__(self, history_depth: int) -> None:
        self.depth, self.latched = history_depth, False

    def reliable(self) -> QoS:
        return self

    def transient_local(self) -> QoS:
        self.latched = True
        return self


class MetadataIo:
    def metadata_file_exists(self, uri: str) -> bool:
        return (Path(uri) / "metadata.yaml").is_file()

    def read_metadata(self, uri: str) -> Any:
        info = YAML(typ="safe").load((Path(uri) / "metadata.yaml").read_text())[_BAG]
        mode = info.get("compression_mode") or ""
        return SimpleNamespace(compression_mode=mode, custom_data=dict(info.get("custom_data") or {}))

    def write_metadata(self, uri: str, metadata: Any) -> None:
        path = Path(uri) / "metadata.yaml"
        content = YAML(typ="safe").load(path.read_text())
        content[_BAG]["custom_data"] = dict(metadata.custom_data)
        with path.open("w") as file:
            YAML().dump(content, file)


class LocalMessageDefinitionSource:
    def get_full_text(self, root_type: str) -> Any:
        text, _ = STORE.generate_msgdef(root_type, ros_version=2)
        return SimpleNamespace(topic_type=root_type, encoding="ros2msg", encoded_message_definition=text, type_hash="")


class SequentialReader:
    """Every error is a RuntimeError, as in the real one."""

    packed = False

    def open_uri(self, uri: str) -> None:
        self._reader = Reader(Path(uri))
        try:
            self._reader.open()
        except ReaderError as error:
            raise RuntimeError(str(error)) from error
        assert bool(self._reader.compression_mode in ("file", "message")) is self.packed
        self._topics: list[str] | None = None
        self._start: int | None = None
        self._left: Iterator[Any] | None = None
        self._next: Any = None

    def get_metadata(self) -> Any:
        reader = self._reader
        first, last = (reader.start_time, reader.end_time - 1) if reader.message_count else (0, 0)
        return SimpleNamespace(
            starting_time=SimpleNamespace(nanoseconds=first),
            duration=SimpleNamespace(nanoseconds=last - first),
            custom_data=dict(reader.storage.metadata.custom or {}),
            topics_with_message_count=[
                SimpleNamespace(topic_metadata=_metadata(item), message_count=item.msgcount)
                for item in reader.connections
            ],
        )

    def get_all_topics_and_types(self) -> list[TopicMetadata]:
        return [_metadata(item) for item in self._reader.connections]

    def get_all_message_definitions(self) -> list[Any]:
        return [
            SimpleNamespace(
                topic_type=item.msgtype,
                encoding=_ENCODINGS[item.msgdef.format.name],
                encoded_message_definition=item.msgdef.data,
                type_hash="",
            )
            for item in self._reader.connections
        ]

    def set_filter(self, storage_filter: StorageFilter) -> None:
        self._topics = storage_filter.topics

    def seek(self, timestamp: int) -> None:
        self._start = timestamp

    def has_next(self) -> bool:
        if self._left is None:
            wanted = [item for item in self._reader.connections if self._topics is None or item.topic in self._topics]
            self._left = iter(self._reader.messages(wanted, self._start))
        if self._next is None:
            try:
                self._next = next(self._left, None)
            except ReaderError as error:
                raise RuntimeError(str(error)) from error
        return self._next is not None

    def read_next(self) -> tuple[str, bytes, int]:
        assert self.has_next()
        (connection, log_ns, data), self._next = self._next, None
        return connection.topic, bytes(data), log_ns


class SequentialCompressionReader(SequentialReader):
    packed = True


class SequentialWriter:
    def open(self, storage_options: StorageOptions, converter_options: ConverterOptions) -> None:
        assert storage_options.storage_id == "mcap"
        self._writer = Writer(Path(storage_options.uri), version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        self._connections: dict[str, Connection] = {}

    def create_topic(self, topic: TopicMetadata) -> None:
        profiles = [_profile(item) for item in topic.offered_qos_profiles]
        self._connections[topic.name] = self._writer.add_connection(
            topic.name, topic.type, typestore=STORE, offered_qos_profiles=profiles
        )

    def write(self, topic_name: str, message: bytes, time_stamp: int) -> None:
        self._writer.write(self._connections[topic_name], time_stamp, message)

    def close(self) -> None:
        self._writer.close()


def _metadata(connection: Connection) -> TopicMetadata:
    encoding = getattr(connection.ext, "serialization_format", "cdr")
    return TopicMetadata(connection.id, connection.topic, connection.msgtype, encoding)


def _profile(profile: QoS) -> Qos:
    durability = QosDurability.TRANSIENT_LOCAL if profile.latched else QosDurability.VOLATILE
    never = QosTime(0, 0)
    return Qos(
        QosHistory.KEEP_LAST,
        profile.depth,
        QosReliability.RELIABLE,
        durability,
        never,
        never,
        QosLiveliness.AUTOMATIC,
        never,
        avoid_ros_namespace_conventions=False,
    )


def modules() -> dict[str, ModuleType]:
    """Return the modules under their names in a ROS 2 installation."""
    try:
        import rosbag2_py
        from rosbag2_py import _storage

        return {"rosbag2_py": rosbag2_py, "rosbag2_py._storage": _storage}
    except ImportError:
        pass
    storage = ModuleType("rosbag2_py._storage")
    vars(storage)["QoS"] = QoS
    return {"rosbag2_py": sys.modules[__name__], "rosbag2_py._storage": storage}
