# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bags as streams of raw messages, read by `rosbags`: rosbag2 (sqlite3, mcap, compressed, split) and ROS 1."""

from __future__ import annotations

import errno
import io
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

from robot_semantics.base.errors import DescriptionError, MissingExtraError
from robot_semantics.base.pattern import pattern

try:
    from rosbags.interfaces import Connection
    from rosbags.rosbag1 import Reader as Reader1
    from rosbags.rosbag1.reader import decompressors as ros1_chunks
    from rosbags.rosbag2 import Reader as Reader2
    from rosbags.rosbag2 import ReaderError as ReaderError2
    from rosbags.rosbag2.storage_mcap import DECOMPRESSORS as MCAP_CHUNKS

    from robot_semantics.recording.bags.compression import unpack
except ImportError as error:
    raise MissingExtraError("rosbags", "bag", "reading recordings") from error

import rosbags.rosbag2.reader
import rosbags.rosbag2.storage_mcap
from rosbags.interfaces import (
    Connection,
    Nodetype,
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2
from rosbags.rosbag2 import ReaderError, StoragePlugin, Writer
from rosbags.rosbag2.storage_mcap import McapReader
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

from robot_semantics.base.files import open_bounded, read_bounded
from robot_semantics.base.unpack_limit import longest_part
from robot_semantics.base.yaml_reader import MAX_BYTES, check_limits
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.message_types import DEFINITIONS, FIELDS, Flat
from robot_semantics.recording.bags.compression import COMPRESSIONS, unpack
from robot_semantics.recording.bags.encodings import difference, flat_fields
from robot_semantics.recording.bags.source import (
    ROS1_ENDINGS,
    Batch,
    Channel,
    DefinitionFormat,
    MessageDefinition,
    OwnMetadata,
    declared_channel,
    in_batches,
    is_cut_off,
    storage_files,
    unlisted_notices,
    write_ahead_log,
)

TypeTable = Mapping[str, Any]
"""Message types as `rosbags` parses them, by name."""


def _unpacks(kind: str) -> Callable[[bytes, int], bytes]:
    return lambda packed, _size: unpack(kind, packed)


# The limit also holds for data that rosbags unpacks: ROS 1, and MCAP without an index.
ros1_chunks.update({kind: partial(unpack, kind) for kind in ros1_chunks})
MCAP_CHUNKS.update({kind: _unpacks(kind) for kind in MCAP_CHUNKS})


def _parsed_once(parse: Callable[[Any], list[Qos]]) -> Callable[[Any], list[Qos]]:
    parse_text = lru_cache(64)(parse)
    return lambda profiles: list(parse_text(profiles)) if isinstance(profiles, str) else parse(profiles)


# rosbags parses the quality of service of each topic as YAML, twice: 3 ms. Most topics of a bag have the same text.
for _module in (rosbags.rosbag2.reader, rosbags.rosbag2.storage_mcap):
    if hasattr(_module, "parse_qos"):
        vars(_module)["parse_qos"] = _parsed_once(_module.parse_qos)


class _BoundedPath(type(Path())):  # type: ignore[misc]  # the class of this system's paths
    """A path whose file is read within bounds, because rosbags reads the stated size of a record without a check."""

    @property
    def suffix(self) -> str:
        """The ending in small letters, by which rosbags chooses its reader."""
        return str(super().suffix).lower()

    def open(self, mode: str = "r", *_: object, **__: object) -> IO[Any]:
        """Open the file to be read."""
        file = open_bounded(self, longest_part())
        return file if "b" in mode else io.TextIOWrapper(file, encoding="utf-8")

    def read_text(self, *_: object, **__: object) -> str:
        """Return the text of the file, of a bag's metadata."""
        text = read_bounded(self, MAX_BYTES)
        try:
            check_limits(text, str(self))
        except DescriptionError as error:
            raise OSError(errno.EFBIG, "is too large", str(self)) from error
        return text.decode()


class RosbagsSource(OwnMetadata):
    """A bag that `rosbags` reads; use it in a `with`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ros1 = path.is_file() and path.name.lower().endswith(ROS1_ENDINGS)
        self._reader: Reader1 | Reader2 = Reader1(_BoundedPath(path)) if self._ros1 else Reader2(_BoundedPath(path))

    def __enter__(self) -> RosbagsSource:
        for database in storage_files(self.path) if self.path.is_dir() else (self.path,):
            # rosbags would ignore it, and so the last messages of a killed recorder.
            if write_ahead_log(database) is not None:
                raise ReaderError2(f"'{database.name}' has a write-ahead log")
            if database.suffix.lower() == ".db3" and is_cut_off(database):
                raise ReaderError2(f"'{database.name}' is cut off in its last pages")
        self._reader.open()
        self._packed = False
        if isinstance(self._reader, Reader2) and self._reader.compression_mode == "message":
            self._packed = True
            # rosbags would unpack each message without a limit.
            folder = self._reader.storage
            folder.metadata = folder.metadata._replace(compression_mode=None)
        self.notices: tuple[str, ...] = ()
        if isinstance(self._reader, Reader2):
            storage = self._reader.storage
            files = getattr(storage, "storages", [storage])
            for file in files:
                if isinstance(file, McapReader) and (problem := index_problem(file)):
                    raise ReaderError2(f"'{Path(str(file.path)).name}': {problem}")
            if self.path.is_dir():
                self.notices = self._add_unlisted(storage.connections, files)
        self._by_channel = [(self._channel(connection), connection) for connection in self._reader.connections]
        return self

    def __exit__(self, *error: object) -> None:
        self._reader.close()

    def _add_unlisted(
        self, connections: list[Connection], files: Sequence[McapReader | Sqlite3Reader]
    ) -> tuple[str, ...]:
        """Add the topics that the files have and metadata.yaml lacks; return the notices about them."""
        listed = {(connection.topic, connection.msgtype) for connection in connections}
        unlisted: dict[tuple[str, str], Connection] = {}
        for connection in (connection for file in files for connection in file.connections):
            key = (connection.topic, connection.msgtype)
            if key not in listed and connection.msgcount:
                count = connection.msgcount + (unlisted[key].msgcount if key in unlisted else 0)
                unlisted[key] = connection._replace(msgcount=count)
        first = max((connection.id for connection in connections), default=0) + 1
        connections += [item._replace(id=first + number) for number, item in enumerate(unlisted.values())]
        known = {Path(str(file.path)).name for file in files}
        names = [file.name for file in storage_files(self.path) if not {file.name, file.stem} & known]
        return unlisted_notices([topic for topic, _ in unlisted], names)

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
        chosen_channels = [(channel, connection) for channel, connection in self._by_channel if channel.topic in topics]
        if not chosen_channels:
            return
        storages = [] if self._packed else indexed_mcap(self._reader)
        if storages:
            by_name = {(channel.topic, channel.msgtype): channel for channel, _ in chosen_channels}
            for storage in storages:
                declared = ((c.id, self._channel(c)) for c in storage.connections)
                names = ((key, (channel.topic, channel.msgtype)) for key, channel in declared)
                channels = {key: by_name[name] for key, name in names if name in by_name}
                yield from chunk_batches(storage, channels, start, stop)
            return
        by_connection = {connection.id: channel for channel, connection in chosen_channels}
        messages = self._reader.messages([connection for _, connection in chosen_channels], start, stop)
        yield from in_batches(
            (by_connection[connection.id], log_ns, unpack("zstd", data) if self._packed else data)
            for connection, log_ns, data in messages
        )

    def _channel(self, connection: Connection) -> Channel:
        encoding = getattr(connection.ext, "serialization_format", "cdr")
        return declared_channel(
            connection.topic,
            connection.msgtype,
            MessageDefinition(DefinitionFormat[connection.msgdef.format.name], connection.msgdef.data),
            ros1=self._ros1,
            messages=connection.msgcount,
            encoding=encoding,
        )


# A new rosbag2 in mcap, written by the library `rosbags`.


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


# Message definitions in bags, compared with the definitions that the messages are read by.


def definition_problem(channel: Channel) -> str | None:
    """Return the difference between a bag's definition and the real one; None if equal, or without a definition."""
    if channel.definition.format is DefinitionFormat.NONE or channel.msgtype not in FIELDS:
        return None
    expected = DEFINITIONS[channel.msgtype]
    if channel.definition.format is DefinitionFormat.MSG and _has_fields(channel, expected):
        # The grammar of rosbags takes some milliseconds for each topic.
        return None
    types = _types(channel)
    if isinstance(types, str):
        return f"its definition of {channel.msgtype} cannot be read ({types})"
    try:
        # The last definition may have an older name of the type.
        found = tuple(_flat(types, channel.msgtype if channel.msgtype in types else _main(types)))
    except LookupError as error:
        return f"its definition of {channel.msgtype} leaves out {error}"
    return difference(channel.msgtype, found, expected)


_USUAL_LINE = pattern(r"\s*(#.*)?|={80}|MSG: [\w/]+|\w+ +\w+ *=.*|[\w/]+(\[\d*\])? +\w+ *(#.*)?")


def _has_fields(channel: Channel, expected: Flat) -> bool:
    """Return True if a definition has only usual lines, and exactly these fields."""
    if not all(map(_USUAL_LINE.fullmatch, channel.definition.data.split("\n"))):
        return False
    try:
        return flat_fields(channel.definition.data, channel.msgtype) == expected
    except LookupError:
        return False


def starts_with_header(channel: Channel) -> bool:
    """Return True if a channel's messages start with a std_msgs header, by the definition in the bag or the usual
    one.
    """
    types = _types(channel)
    if isinstance(types, str) or channel.msgtype not in types:
        types = get_typestore(Stores.ROS2_JAZZY).fielddefs
    fields: Any = types[channel.msgtype][1] if channel.msgtype in types else ()
    return bool(fields) and fields[0][1] == (Nodetype.NAME, "std_msgs/msg/Header")


def _types(channel: Channel) -> TypeTable | str:
    """Return the types in a channel's definition, or the reason why it is invalid."""
    text = channel.definition.data
    try:
        if channel.definition.format is DefinitionFormat.IDL:
            types: dict[str, Any] = {}
            separator = "=" * 80 + "\n"
            for part in text.split(separator)[1:] if text.startswith(f"{separator}IDL: ") else [f"\n{text}"]:
                types.update(get_types_from_idl(part.split("\n", 1)[1]))
            return _without_dds_names(types)
        # ROS 1's word `time` is a primitive there and a message type here. The types of a release take 0.1 s to import.
        time = get_types_from_msg("int32 sec\nuint32 nanosec", "builtin_interfaces/msg/Time")
        return {**time, **get_types_from_msg(text, channel.msgtype)}
    except Exception as error:  # noqa: BLE001 - the errors of the grammar have no other common root
        return " ".join(str(error).split())[:100] or type(error).__name__


def _without_dds_names(types: TypeTable) -> TypeTable:
    """Return types with the names of ROS 2, where DDS writes ``std_msgs/msg/dds_/String_`` with the field ``data_``."""
    if not any("/dds_/" in name for name in types):
        return types

    def plain(name: str) -> str:
        return name.replace("/dds_/", "/").removesuffix("_") if "/dds_/" in name else name

    def node(item: Any) -> Any:
        kind, detail = item
        if kind == Nodetype.NAME:
            return kind, plain(detail)
        return (kind, (node(detail[0]), detail[1])) if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE) else item

    return {
        plain(name): (constants, [(field.removesuffix("_"), node(item)) for field, item in fields])
        for name, (constants, fields) in types.items()
    }


def _main(types: TypeTable) -> str:
    """Return the only type that no other type contains."""
    used = {name for _, fields in types.values() for name in _names(fields)}
    return next((name for name in types if name not in used and not name.startswith("builtin_interfaces/")), "it all")


def _names(fields: Any) -> Iterator[str]:
    for _, (node, detail) in fields:
        item = detail[0] if node in (Nodetype.ARRAY, Nodetype.SEQUENCE) else (node, detail)
        if item[0] == Nodetype.NAME:
            yield item[1]


def _flat(types: TypeTable, msgtype: str, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield every primitive field as (path, type), without ROS 1's sequence number."""
    if depth > 20:
        raise LookupError(f"an end to {prefix}")
    for name, (node, detail) in types[msgtype][1]:
        path = f"{prefix}{name}"
        if path.endswith("header.seq"):
            continue
        item, size = detail if node in (Nodetype.ARRAY, Nodetype.SEQUENCE) else ((node, detail), None)
        suffix = "" if size is None else f"[{size or ''}]"
        if item[0] == Nodetype.NAME:
            yield from _flat(types, item[1], f"{path}{suffix}.", depth + 1)
        else:
            yield path, f"{item[1][0]}{suffix}"


# The messages of an indexed MCAP file chunk by chunk, unsorted: columns need no order, and sorting is slow.


_MESSAGE = 5
_RECORD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<BQHIQ")


def indexed_mcap(reader: Reader1 | Reader2) -> list[McapReader]:
    """Return the files of an open bag if all are MCAP with an index; else none."""
    if not isinstance(reader, Reader2):
        return []
    storages = getattr(reader.storage, "storages", [reader.storage])
    return storages if all(isinstance(storage, McapReader) and storage.chunks for storage in storages) else []


def index_problem(storage: McapReader) -> str:
    """Return why the index of an open MCAP file cannot be used; "" if it can.

    Message indexes, statistics, and the channels and schemas of the summary are optional in MCAP.
    """
    if any(connection.msgtype == "__schemaless__" for connection in storage.connections):
        return "its summary does not have the schemas of all channels"
    counts: Counter[int] = Counter()
    for chunk in storage.chunks:
        counts.update(chunk.channel_count)
        if chunk.message_end_time and not chunk.channel_count:
            return "a chunk has no message index"
    stated = {} if storage.statistics is None else storage.statistics.channel_message_counts
    stated = {key: count for key, count in stated.items() if count}
    if storage.chunks and dict(counts) != stated:
        return "its message indexes and its statistics do not have the same messages"
    if not counts.keys() | stated.keys() <= {connection.id for connection in storage.connections}:
        return "its summary does not have all channels"
    return ""


def chunk_batches(
    storage: McapReader, channels: Mapping[int, Channel], start: int | None, stop: int | None
) -> Iterator[Batch]:
    """Yield the messages of `channels` (by id) of each chunk that were logged from `start` to before `stop` [ns].

    Raises:
        ReaderError: a chunk cannot be unpacked or fails its checksum.
    """
    low, high = 0 if start is None else start, 2**64 if stop is None else stop
    file = storage.bio
    for chunk in storage.chunks:
        outside = chunk.message_end_time < low or chunk.message_start_time >= high
        if file is None or outside or not any(chunk.channel_count.get(key, 0) for key in channels):
            continue
        file.seek(chunk.chunk_start_offset + 9 + 24)
        (crc,) = struct.unpack("<I", file.read(4))
        file.seek(chunk.chunk_start_offset + 9 + 40 + len(chunk.compression))
        packed = file.read(chunk.compressed_size)
        if chunk.compression not in COMPRESSIONS or len(packed) != chunk.compressed_size:
            raise ReaderError(f"The chunk at byte {chunk.chunk_start_offset} cannot be unpacked.")
        data = unpack(chunk.compression, packed)
        if len(data) != chunk.uncompressed_size or (crc and zlib.crc32(data) != crc):
            raise ReaderError("Chunk checksum mismatch.")
        yield {channel: lists for channel, lists in _messages(data, channels, low, high).items() if lists[0]}


def _messages(data: bytes, channels: Mapping[int, Channel], low: int, high: int) -> Batch:
    batch: Batch = {}
    # Two channels of one topic and type are one here.
    lists = {key: batch.setdefault(channel, ([], [])) for key, channel in channels.items()}
    offset, size = 0, len(data)
    # This loop runs for every message of the bag.
    while offset < size:
        if data[offset] == _MESSAGE:
            _, length, key, _, log_ns = _MESSAGE_HEAD.unpack_from(data, offset)
            own = lists.get(key)
            if own is not None and low <= log_ns < high:
                own[0].append(log_ns)
                own[1].append(data[offset + 31 : offset + 9 + length])
        else:
            _, length = _RECORD.unpack_from(data, offset)
        offset += 9 + length
    if offset != size:
        raise ReaderError("A record goes beyond its chunk.")
    return batch
