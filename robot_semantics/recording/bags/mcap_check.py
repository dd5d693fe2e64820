# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether an MCAP file is whole. rosbag2 reads what it finds in a damaged one, and compares no checksum."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import BinaryIO

MCAP_MAGIC = b"\x89MCAP0\r\n"
_CHUNK = 6
_CHUNK_HEAD = struct.Struct("<QQQII")
_BLOCK_BYTES = 2**20


def mcap_damage(path: Path) -> str:
    """Return the first damage of an MCAP file with its place; "" if there is none.

    The records must follow each other without a gap up to the mark at the end. The checksum of a chunk is that of its
    unpacked records, so it is compared only for a chunk that is not compressed.
    """
    with path.open("rb") as file:
        end = file.seek(0, 2) - len(MCAP_MAGIC)
        file.seek(max(end, 0))
        if end < len(MCAP_MAGIC) or file.read() != MCAP_MAGIC:
            return "the file was not closed: its end is missing"
        offset = len(MCAP_MAGIC)
        while offset < end:
            file.seek(offset)
            opcode, length = struct.unpack("<BQ", file.read(9).ljust(9, b"\0"))
            if opcode == 0 or length > end - offset - 9:
                return f"byte {offset}: no record starts here"
            if opcode == _CHUNK and not _is_sound(file, length):
                return f"byte {offset}: a chunk of {length} bytes fails its checksum"
            offset += 9 + length
    return "" if offset == end else f"byte {offset}: the last record goes beyond the end"


def _is_sound(file: BinaryIO, length: int) -> bool:
    """Compare the checksum of a chunk, whose content starts here, if that can be done."""
    head = file.read(_CHUNK_HEAD.size)
    if len(head) < _CHUNK_HEAD.size:
        return False
    _, _, _, expected, name = _CHUNK_HEAD.unpack(head)
    if name or not expected:
        return True
    left, crc = length - _CHUNK_HEAD.size - 8, 0
    file.seek(8, 1)
    while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
        crc, left = zlib.crc32(block, crc), left - len(block)
    return bool(crc == expected)
