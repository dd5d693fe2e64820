# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Unpacking of chunks: whole ones, and the readable part of a chunk that the end of the file cuts off."""

from __future__ import annotations

import bz2
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import lz4.frame

from robot_semantics.base.unpack_limit import UnpackedTooLargeError, limit_for

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


_STREAMS: dict[str, Callable[[], Any]] = {
    "zstd": zstd.ZstdDecompressor,
    "lz4": lz4.frame.LZ4FrameDecompressor,
    "bz2": bz2.BZ2Decompressor,
}
_PLAIN = ("", "none")

COMPRESSIONS = frozenset((*_STREAMS, *_PLAIN))
"""The names that MCAP and ROS 1 give the compression of a chunk."""


def unpack(compression: str, packed: bytes) -> bytes:
    """Return the unpacked bytes of a chunk.

    Raises:
        UnpackedTooLargeError: more than is allowed. EOFError: its end is missing. KeyError: unknown compression.
    """
    if compression in _PLAIN:
        return packed
    limit = limit_for(len(packed))
    parts: list[bytes] = []
    room, rest = limit + 1, packed
    while rest or not parts:
        stream = _STREAMS[compression]()
        parts.append(stream.decompress(rest, room))
        room -= len(parts[-1])
        if room <= 0:
            raise UnpackedTooLargeError("a chunk", limit)
        if not stream.eof:
            raise EOFError("the end of a packed chunk is missing")
        # Packed data may have several frames, one after the other.
        rest = stream.unused_data or b""
    return b"".join(parts) if len(parts) > 1 else parts[0]


def unpack_cut(compression: str, packed: bytes) -> bytes:
    """Return the readable part of a chunk whose end is missing; it is empty if no block is whole."""
    if compression in _PLAIN:
        return packed
    return bytes(_STREAMS[compression]().decompress(packed, limit_for(len(packed))))


def unpack_message(data: bytes) -> bytes:
    """Undo compression by message. Only the lost metadata would state it, but CDR never starts with these bytes."""
    return unpack("zstd", data) if data.startswith(ZSTD_MAGIC) else data


def check_packed_file(path: Path) -> None:
    """Check that a file that is packed as a whole may be unpacked; it is read to the end, and nothing is kept.

    Raises:
        UnpackedTooLargeError: its unpacked size is larger than allowed.
    """
    limit, size = limit_for(path.stat().st_size), 0
    with path.open("rb") as packed, suppress(EOFError, zstd.ZstdError), zstd.open(packed, "rb") as stream:
        while block := stream.read(2**20):
            size += len(block)
            if size > limit:
                raise UnpackedTooLargeError(str(path), limit)
