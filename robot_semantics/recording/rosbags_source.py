# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bags as streams of raw messages, read by `rosbags`: rosbag2 (sqlite3, mcap, compressed, split) and ROS 1."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.base.files import open_bounded, read_bounded
from robot_semantics.base.unpack_limit import longest_part
from robot_semantics.recording.bag_metadata import ROS1_ENDINGS, OwnMetadata
from robot_semantics.recording.bags import is_cut_off, write_ahead_log
from robot_semantics.recording.channels import Batch, Channel, DefinitionFormat, MessageDefinition, in_batches
from robot_semantics.recording.message_types import ROS1_NAMES
from robot_semantics.xml.reader import MAX_BYTES

try:
    from rosbags.interfaces import Connection
    from rosbags.rosbag1 import Reader as Reader1
    from rosbags.rosbag1.reader import decompressors as ros1_chunks
    from rosbags.rosbag2 import Reader as Reader2
    from rosbags.rosbag2 import ReaderError as ReaderError2
    from rosbags.rosbag2.storage_mcap import DECOMPRESSORS as MCAP_CHUNKS

    from robot_semantics.recording.compression import unpack
    from robot_semantics.recording.mcap_chunks import chunk_batches, indexed_mcap
except ImportError as error:
    raise MissingExtraError("rosbags", "bag", "reading recordings") from error


def _unpacks(kind: str) -> Callable[[bytes, int], bytes]:
    return lambda packed, _size: unpack(kind, packed)


# The limit also holds for data that rosbags unpacks: ROS 1, and MCAP without an index.
ros1_chunks.update({kind: partial(unpack, kind) for kind in ros1_chunks})
MCAP_CHUNKS.update({kind: _unpacks(kind) for kind in MCAP_CHUNKS})


class _BoundedPath(type(Path())):  # type: ignore[misc]  # the class of this system's paths
    """A path whose file is read within bounds, because rosbags reads the stated size of a record without a check."""

    def open(self, mode: str = "r", *_: object, **__: object) -> IO[Any]:
        """Open the file to be read."""
        file = open_bounded(self, longest_part())
        return file if "b" in mode else io.TextIOWrapper(file, encoding="utf-8")

    def read_text(self, *_: object, **__: object) -> str:
        """Return the text of the file, of a bag's metadata."""
        return read_bounded(self, MAX_BYTES).decode()


class RosbagsSource(OwnMetadata):
    """A bag that `rosbags` reads; use it in a `with`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ros1 = path.is_file() and path.name.endswith(ROS1_ENDINGS)
        self._reader: Reader1 | Reader2 = Reader1(_BoundedPath(path)) if self._ros1 else Reader2(_BoundedPath(path))

    def __enter__(self) -> RosbagsSource:
        for file in sorted(self.path.glob("*.db3")) if self.path.is_dir() else (self.path,):
            # rosbags would ignore it, and so the last messages of a killed recorder.
            if write_ahead_log(file) is not None:
                raise ReaderError2(f"'{file.name}' has a write-ahead log")
            if file.suffix == ".db3" and is_cut_off(file):
                raise ReaderError2(f"'{file.name}' is cut off in its last pages")
        self._reader.open()
        self._packed = False
        if isinstance(self._reader, Reader2) and self._reader.compression_mode == "message":
            self._packed = True
            # rosbags would unpack each message without a limit.
            folder = self._reader.storage
            folder.metadata = folder.metadata._replace(compression_mode=None)
        self._by_channel = [(self._channel(connection), connection) for connection in self._reader.connections]
        return self

    def __exit__(self, *error: object) -> None:
        self._reader.close()

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels of the bag."""
        return tuple(channel for channel, _ in self._by_channel)

    @property
    def _custom_data(self) -> Mapping[str, str] | None:
        return self._reader.storage.metadata.custom if isinstance(self._reader, Reader2) else None

    @property
    def span_ns(self) -> tuple[int, int]:
        """Log time of the first and of the last message [ns]."""
        return self._reader.start_time, self._reader.end_time - 1

    def batches(self, topics: Collection[str], start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """Yield messages of some topics, logged from `start` to before `stop` [ns], a few thousand at a time.

        They come in the order of their log time. Exception: MCAP, whose chunks come one after the other.
        """
        wanted = [(channel, connection) for channel, connection in self._by_channel if channel.topic in topics]
        if not wanted:
            return
        storages = [] if self._packed else indexed_mcap(self._reader)
        if storages:
            by_name = {(channel.topic, channel.msgtype): channel for channel, _ in wanted}
            for storage in storages:
                names = ((c.id, (c.topic, ROS1_NAMES.get(c.msgtype, c.msgtype))) for c in storage.connections)
                channels = {key: by_name[name] for key, name in names if name in by_name}
                yield from chunk_batches(storage, channels, start, stop)
            return
        by_connection = {connection.id: channel for channel, connection in wanted}
        messages = self._reader.messages([connection for _, connection in wanted], start, stop)
        yield from in_batches(
            (by_connection[connection.id], log_ns, unpack("zstd", data) if self._packed else data)
            for connection, log_ns, data in messages
        )

    def _channel(self, connection: Connection) -> Channel:
        encoding = getattr(connection.ext, "serialization_format", "cdr")
        return Channel(
            connection.topic,
            ROS1_NAMES.get(connection.msgtype, connection.msgtype),
            MessageDefinition(DefinitionFormat[connection.msgdef.format.name], connection.msgdef.data),
            self._ros1,
            connection.msgcount,
            "" if encoding == "cdr" else encoding,
        )
