"""Chunks unpacked: whole ones, and as far as it goes those that a file's end cuts off."""

from __future__ import annotations

import bz2
import sys
from collections.abc import Callable
from typing import Protocol

import lz4.frame  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "none": bytes,
    "zstd": zstd.decompress,
    "lz4": lz4.frame.decompress,
    "bz2": bz2.decompress,
}
"""By the names that MCAP and ROS 1 give the compression of a chunk."""


class _Plain:
    """What was not packed."""

    def decompress(self, data: bytes) -> bytes:
        """Return the data."""
        return data


class _Decompressor(Protocol):
    def decompress(self, data: bytes) -> bytes:
        """Return what the next part of a stream gives."""


_STREAMS: dict[str, Callable[[], _Decompressor]] = {
    "": _Plain,
    "none": _Plain,
    "zstd": zstd.ZstdDecompressor,
    "lz4": lz4.frame.LZ4FrameDecompressor,
    "bz2": bz2.BZ2Decompressor,
}


def unpack_cut(compression: str, packed: bytes) -> bytes:
    """Return what can be had of a chunk whose end is missing; nothing of one of which no block is whole."""
    return bytes(_STREAMS[compression]().decompress(packed))


def unpack_message(data: bytes) -> bytes:
    """Undo compression by message, which only the lost metadata would tell; CDR never starts with these bytes."""
    return zstd.decompress(data) if data.startswith(ZSTD_MAGIC) else data
