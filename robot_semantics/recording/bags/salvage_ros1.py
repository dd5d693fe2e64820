# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The whole messages of a damaged ROS 1 bag, record by record."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rosbags.typesys.msg import normalize_msgtype

from robot_semantics.base.files import open_bounded
from robot_semantics.base.unpack_limit import longest_part
from robot_semantics.recording.bags.compression import unpack, unpack_cut
from robot_semantics.recording.bags.libraries import READ_ERRORS, describe
from robot_semantics.recording.bags.source import (
    Channel,
    DefinitionFormat,
    Message,
    MessageDefinition,
    Report,
    declared_channel,
)

_MESSAGE, _CHUNK, _CONNECTION = 2, 5, 7


def scan_ros1(path: Path, report: Report) -> Iterator[Message]:
    """Yield every whole message; call `report` for omitted parts."""
    with open_bounded(path, longest_part()) as file:
        if not file.readline(64).startswith(b"#ROSBAG V2.0"):
            report("byte 0: this is not the start of a ROS 1 bag of version 2.0")
        yield from _Ros1(report).records(file, 0, os.fstat(file.fileno()).st_size)


class _Ros1:
    """The records of a ROS 1 bag."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.channels: dict[int, Channel] = {}

    def records(self, file: BinaryIO, base: int, end: int, *, in_chunk: bool = False) -> Iterator[Message]:
        """Yield the messages of the records from here to the byte `end`; byte 0 is the byte `base` of the bag."""
        while True:
            offset = file.tell()
            header = self.part(file, end)
            if header == b"":
                # After a crash, the file may have gigabytes of allocated space that was never written.
                self.report(f"byte {base + offset}: no record starts here, only empty space")
                return
            if header is not None and not in_chunk and _is_plain_chunk(header) and end - file.tell() >= 4:
                # Read its records in place: a chunk may have gigabytes.
                size = int.from_bytes(file.read(4), "little")
                stop = min(file.tell() + size, end)
                if stop < file.tell() + size:
                    self.report(f"byte {offset}: the file ends in the middle of a record")
                    self._report_cut_chunk(offset, stop - file.tell())
                yield from self.records(file, base, stop, in_chunk=True)
                file.seek(stop)
                continue
            data = self.part(file, end)
            if header is None or data is None:
                if file.tell() != offset:
                    self.report(f"byte {base + offset}: the file ends in the middle of a record")
                if header is not None and not in_chunk:
                    yield from self.cut_chunk(file, offset, header)
                return
            try:
                yield from self.record(base + offset, dict(_ros1_fields(header)), data)
            except READ_ERRORS as error:
                self.report(f"byte {base + offset}: a record of {len(data)} bytes is left out ({describe(error)})")

    def cut_chunk(self, file: BinaryIO, offset: int, header: bytes) -> Iterator[Message]:
        """Read the whole records of a packed chunk whose end is missing."""
        try:
            fields = dict(_ros1_fields(header))
            if fields[b"op"][0] != _CHUNK:
                return
            file.seek(offset + 4 + len(header) + 4)
            data = unpack_cut(fields[b"compression"].decode(), file.read(longest_part()))
        except READ_ERRORS:
            return
        self._report_cut_chunk(offset, len(data))
        yield from self.records(io.BytesIO(data), offset, len(data), in_chunk=True)

    def _report_cut_chunk(self, at: int, size: int) -> None:
        self.report(f"byte {at}: of this chunk the first {size} bytes can be read, as far as its records go")

    @staticmethod
    def part(file: BinaryIO, end: int) -> bytes | None:
        """Return the next part of a record; None if it does not end before the byte `end`."""
        if end - file.tell() < 4:
            return None
        size = int.from_bytes(file.read(4), "little")
        return file.read(size) if size <= end - file.tell() else None

    def record(self, at: int, header: dict[bytes, bytes], data: bytes) -> Iterator[Message]:
        opcode = header[b"op"][0]
        if opcode == _CHUNK:
            unpacked = unpack(header[b"compression"].decode(), data)
            yield from self.records(io.BytesIO(unpacked), at, len(unpacked), in_chunk=True)
        elif opcode == _CONNECTION:
            facts = dict(_ros1_fields(data))
            msgtype = normalize_msgtype(facts[b"type"].decode())
            definition = MessageDefinition(DefinitionFormat.MSG, facts[b"message_definition"].decode())
            key = int.from_bytes(header[b"conn"], "little")
            topic = header[b"topic"].decode()
            self.channels[key] = declared_channel(topic, msgtype, definition, ros1=True, messages=-1)
        elif opcode == _MESSAGE:
            channel = self.channels.get(int.from_bytes(header[b"conn"], "little"))
            seconds, nanoseconds = struct.unpack("<II", header[b"time"])
            if channel is not None:
                yield channel, seconds * 1_000_000_000 + nanoseconds, data


def _is_plain_chunk(header: bytes) -> bool:
    """Return True if the record with this header is a chunk that is not packed."""
    try:
        fields = dict(_ros1_fields(header))
        return fields[b"op"][0] == _CHUNK and fields[b"compression"] == b"none"
    except READ_ERRORS:
        return False


def _ros1_fields(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        name, _, value = data[at + 4 : at + 4 + size].partition(b"=")
        yield name, value
        at += 4 + size
