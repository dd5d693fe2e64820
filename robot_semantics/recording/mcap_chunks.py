# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The messages of an indexed MCAP file chunk by chunk, unsorted: columns need no order, and sorting is slow.

`rosbags` opens the file, reads the index and makes the checks; this module only walks through a chunk's records.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping

from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2
from rosbags.rosbag2 import ReaderError
from rosbags.rosbag2.storage_mcap import McapReader

from robot_semantics.recording.channels import Batch, Channel
from robot_semantics.recording.compression import COMPRESSIONS, unpack

_MESSAGE = 5
_RECORD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<BQHIQ")


def indexed_mcap(reader: Reader1 | Reader2) -> list[McapReader]:
    """Return the files of an open bag if all are MCAP with an index; else none."""
    if not isinstance(reader, Reader2):
        return []
    storages = getattr(reader.storage, "storages", [reader.storage])
    return storages if all(isinstance(storage, McapReader) and storage.chunks for storage in storages) else []


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
    found: Batch = {}
    # Two channels of one topic and type are one here.
    lists = {key: found.setdefault(channel, ([], [])) for key, channel in channels.items()}
    at, size = 0, len(data)
    # This loop runs for every message of the bag.
    while at < size:
        if data[at] == _MESSAGE:
            _, length, key, _, log_ns = _MESSAGE_HEAD.unpack_from(data, at)
            own = lists.get(key)
            if own is not None and low <= log_ns < high:
                own[0].append(log_ns)
                own[1].append(data[at + 31 : at + 9 + length])
        else:
            _, length = _RECORD.unpack_from(data, at)
        at += 9 + length
    if at != size:
        raise ReaderError("A record goes beyond its chunk.")
    return found
