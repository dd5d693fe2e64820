# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The whole messages of a damaged MCAP file, record by record."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rosbags.typesys.msg import normalize_msgtype

from robot_semantics.base.files import open_bounded
from robot_semantics.base.system import is_open_for_writing
from robot_semantics.base.unpack_limit import longest_part
from robot_semantics.recording.bags.compression import unpack, unpack_cut, unpack_message
from robot_semantics.recording.bags.encodings import mapped_type
from robot_semantics.recording.bags.libraries import READ_ERRORS, describe
from robot_semantics.recording.bags.mcap_check import MCAP_MAGIC
from robot_semantics.recording.bags.source import (
    JSON,
    PROTOBUF,
    STILL_WRITTEN,
    Channel,
    DefinitionFormat,
    Message,
    MessageDefinition,
    Report,
    declared_channel,
)

_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 3, 4, 5, 6, 15

_DEFINITION_FORMATS = {
    "ros1msg": DefinitionFormat.MSG,
    "ros2msg": DefinitionFormat.MSG,
    "ros2idl": DefinitionFormat.IDL,
    "omgidl": DefinitionFormat.IDL,
    "protobuf": DefinitionFormat.PROTOBUF,
}


def scan_mcap(path: Path, report: Report) -> Iterator[Message]:
    """Yield every whole message; call `report` for omitted parts."""
    with open_bounded(path, longest_part()) as file:
        for channel, log_ns, data in _Mcap(report).scan(file):
            yield channel, log_ns, unpack_message(data)


def is_still_written(file: BinaryIO, size: int) -> bool:
    """Return True if a file is longer than `size`, or if a process has it open for writing, where the system knows."""
    return os.fstat(file.fileno()).st_size > size or is_open_for_writing(file)


class _Schema(NamedTuple):
    name: str
    definition: MessageDefinition


class _Mcap:
    """The records of an MCAP file."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.schemas: dict[int, _Schema] = {}
        self.channels: dict[int, Channel] = {}
        self.orphans = 0
        self.ended = False

    def scan(self, file: BinaryIO) -> Iterator[Message]:
        size = file.seek(0, 2)
        file.seek(0)
        if file.read(8) != MCAP_MAGIC:
            self.report("byte 0: this is not the start of an MCAP file")
            file.seek(0)
        while True:
            offset = file.tell()
            head = file.read(min(9, size - offset))
            if len(head) < 9:
                self.ended = is_still_written(file, size)
                if self.ended:
                    self.report(STILL_WRITTEN)
                elif head not in (b"", MCAP_MAGIC):
                    self.report(f"byte {offset}: the file ends in the middle of a record")
                break
            opcode, length = head[0], int.from_bytes(head[1:], "little")
            if not 1 <= opcode <= 0x0F or length > size - offset - 9:
                following = yield from self.after_fault(file, offset, opcode, size)
                if following is None:
                    break
                file.seek(following)
            elif opcode == _DATA_END:
                self.ended = True
                break
            elif opcode == _CHUNK:
                yield from self.chunk(offset, file.read(length))
            elif opcode in (_SCHEMA, _CHANNEL, _MESSAGE):
                yield from self.record(opcode, file.read(length))
            else:
                file.seek(length, 1)
        if not self.ended:
            self.report("the file was not closed: its end is missing")
        if self.orphans:
            self.report(f"{self.orphans} messages belong to topics whose declaration is lost")

    def after_fault(self, file: BinaryIO, offset: int, opcode: int, size: int) -> Generator[Message, None, int | None]:
        """Yield the messages of a record that is cut off; return the offset where reading goes on, None at the end."""
        is_record = 1 <= opcode <= 0x0F
        if is_record and is_still_written(file, size):
            self.report(STILL_WRITTEN)
            self.ended, following = True, None
        else:
            fault = "the file ends in the middle of a record" if is_record else "no record starts here"
            self.report(f"byte {offset}: {fault}")
            following = self.next_chunk(file, offset + 1, size)
        if opcode == _CHUNK:
            file.seek(offset + 9)
            rest = (size if following is None else following) - offset - 9
            yield from self.cut_chunk(offset, file.read(min(rest, longest_part())))
        if following is not None:
            self.report(f"byte {following}: reading goes on, {following - offset} bytes were left out")
        return following

    @staticmethod
    def next_chunk(file: BinaryIO, start: int, size: int) -> int | None:
        """Return the offset of the next bytes that look like a whole chunk."""
        file.seek(start)
        data = file.read(64 * 2**20)
        index = data.find(_CHUNK)
        while index >= 0:
            head = data[index : index + 57]
            if len(head) == 57:
                length, first, last, _, _, name = struct.unpack_from("<QQQQII", head, 1)
                plausible = 40 <= length <= size - start - index - 9 and first <= last and name in (0, 3, 4)
                if plausible and head[41 : 41 + name] in (b"", b"lz4", b"zstd"):
                    return start + index
            index = data.find(_CHUNK, index + 1)
        return None

    def chunk(self, offset: int, body: bytes) -> Iterator[Message]:
        try:
            size, crc, name = struct.unpack_from("<QII", body, 16)
            compression = body[32 : 32 + name].decode()
            packed = body[40 + name :]
            data = unpack(compression, packed)
        except READ_ERRORS as error:
            self.report(
                f"byte {offset}: a chunk of {len(body)} bytes cannot be unpacked and is left out ({describe(error)})"
            )
            return
        if len(data) != size or (crc and zlib.crc32(data) != crc):
            self.report(f"byte {offset}: a chunk of {len(body)} bytes fails its checksum and is left out")
            return
        position = yield from self.records(data)
        if position < len(data):
            self.report(f"byte {offset}: a record in this chunk is cut off at {position} of {len(data)} bytes")

    def cut_chunk(self, offset: int, body: bytes) -> Iterator[Message]:
        """Read the whole records of a chunk whose end is missing; its checksum cannot be checked."""
        try:
            size, _, name = struct.unpack_from("<QII", body, 16)
            data = unpack_cut(body[32 : 32 + name].decode(), body[40 + name :])
        except READ_ERRORS:
            return
        position = yield from self.records(data[:size])
        if not self.ended:
            self.report(f"byte {offset}: of this chunk the first {position} of {size} bytes can be read, unchecked")

    def records(self, data: bytes) -> Generator[Message, None, int]:
        """Yield the messages of a chunk's records; return the size of the whole records [bytes]."""
        position = 0
        while position + 9 <= len(data):
            opcode, length = data[position], int.from_bytes(data[position + 1 : position + 9], "little")
            if length > len(data) - position - 9:
                break
            yield from self.record(opcode, data[position + 9 : position + 9 + length])
            position += 9 + length
        return position

    def record(self, opcode: int, body: bytes) -> Iterator[Message]:
        if opcode == _MESSAGE and len(body) >= 22:
            channel_id, _, log_ns, _ = struct.unpack_from("<HIQQ", body)
            channel = self.channels.get(channel_id)
            if channel is None:
                self.orphans += 1
            else:
                yield channel, log_ns, body[22:]
        elif opcode == _SCHEMA:
            (key,) = struct.unpack_from("<H", body)
            name, encoding = _strings(body, 2, 2)
            at = 10 + len(name.encode()) + len(encoding.encode())
            (size,) = struct.unpack_from("<I", body, at)
            data = body[at + 4 : at + 4 + size]
            form = _DEFINITION_FORMATS.get(encoding, DefinitionFormat.NONE)
            text = data.decode("latin-1") if form is DefinitionFormat.PROTOBUF else data.decode(errors="replace")
            self.schemas[key] = _Schema(name, MessageDefinition(form, text))
        elif opcode == _CHANNEL:
            key, schema_id = struct.unpack_from("<HH", body)
            topic, encoding = _strings(body, 4, 2)
            schema = self.schemas.get(schema_id, _Schema("", MessageDefinition(DefinitionFormat.NONE, "")))
            ros1 = encoding == "ros1"
            name = normalize_msgtype(schema.name) if ros1 else schema.name
            other = "" if ros1 else encoding or "unnamed"
            channel = declared_channel(topic, name, schema.definition, ros1=ros1, messages=-1, encoding=other)
            if encoding in (JSON, PROTOBUF):
                channel = channel._replace(msgtype=mapped_type(name) or name, schema=name)
            self.channels[key] = channel


def _strings(body: bytes, at: int, count: int) -> list[str]:
    result = []
    for _ in range(count):
        (size,) = struct.unpack_from("<I", body, at)
        result.append(body[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return result
