"""What can still be read of a damaged bag: its records, one after the other, without index or footer.

Every part that has to be left out is named with its place. Messages come in the order in which they lie in the file.
"""

from __future__ import annotations

import io
import re
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import apsw
from rosbags.interfaces import MessageDefinition, MessageDefinitionFormat
from rosbags.typesys.msg import normalize_msgtype

from robot_semantics.recording.bags import READ_ERRORS, BagError, Batch, Channel, describe, in_batches
from robot_semantics.recording.mcap_chunks import DECOMPRESS
from robot_semantics.recording.message_types import ROS1_NAMES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Message = tuple[Channel, int, bytes]
Report = Callable[[str], None]

MCAP_MAGIC = b"\x89MCAP0\r\n"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 3, 4, 5, 6, 15

_DEFINITION_FORMATS = {
    "ros2msg": MessageDefinitionFormat.MSG,
    "ros2idl": MessageDefinitionFormat.IDL,
    "omgidl": MessageDefinitionFormat.IDL,
}


def storage_files(path: Path) -> tuple[Path, ...]:
    """Return the files with messages of a bag, in the order of their names.

    Raises:
        BagError: there is none.
    """
    if not path.is_dir():
        return (path,)
    found = (file for pattern in _SCANNERS for file in path.glob(f"*{pattern}"))
    # Splits are numbered without leading zeros: bag_2 comes before bag_10.
    files = tuple(
        sorted(found, key=lambda file: [int(part) if part.isdigit() else 0 for part in re.split(r"(\d+)", file.name)])
    )
    if not files:
        raise BagError(path, "no bag: the folder holds neither .mcap nor .db3 files")
    return files


def scan(path: Path, report: Report) -> Iterator[Message]:
    """Yield every whole message of a damaged bag; `report` is told what had to be left out."""
    for file in storage_files(path):
        suffixes = "".join(file.suffixes[-2:])
        scanner = next((scanner for ending, scanner in _SCANNERS.items() if suffixes.endswith(ending)), None)
        if scanner is None:
            raise BagError(file, f"a bag ends in .mcap, .db3 or .bag, not in '{file.suffix}'")

        def here(text: str, file: Path = file) -> None:
            report(text if file == path else f"{file.name}: {text}")

        try:
            yield from scanner(file, here)
        except READ_ERRORS as error:
            here(f"reading ends early: {describe(error)}")


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

    def scan(self, file: BinaryIO) -> Iterator[Message]:
        size = file.seek(0, 2)
        file.seek(0)
        if file.read(8) != MCAP_MAGIC:
            self.report("byte 0: this is not the start of an MCAP file")
            file.seek(0)
        while True:
            at = file.tell()
            head = file.read(9)
            if len(head) < 9:
                if head not in (b"", MCAP_MAGIC):
                    self.report(f"byte {at}: the file ends in the middle of a record")
                break
            opcode, length = head[0], int.from_bytes(head[1:], "little")
            if not 1 <= opcode <= 0x0F or length > size - at - 9:
                whole = 1 <= opcode <= 0x0F
                self.report(
                    f"byte {at}: " + ("the file ends in the middle of a record" if whole else "no record starts here")
                )
                following = self.next_chunk(file, at + 1, size)
                if following is None:
                    break
                self.report(f"byte {following}: reading goes on, {following - at} bytes were left out")
                file.seek(following)
                continue
            if opcode == _DATA_END:
                break
            if opcode == _CHUNK:
                yield from self.chunk(at, file.read(length))
            elif opcode in (_SCHEMA, _CHANNEL, _MESSAGE):
                yield from self.record(opcode, file.read(length))
            else:
                file.seek(length, 1)
        if self.orphans:
            self.report(f"{self.orphans} messages belong to topics whose declaration is lost")

    @staticmethod
    def next_chunk(file: BinaryIO, start: int, size: int) -> int | None:
        """Return where the next thing that looks like a whole chunk starts."""
        file.seek(start)
        data = file.read(64 * 2**20)
        found = data.find(_CHUNK)
        while found >= 0:
            head = data[found : found + 57]
            if len(head) == 57:
                length, first, last, _, _, name = struct.unpack_from("<QQQQII", head, 1)
                plausible = 40 <= length <= size - start - found - 9 and first <= last and name in (0, 3, 4)
                if plausible and head[41 : 41 + name] in (b"", b"lz4", b"zstd"):
                    return start + found
            found = data.find(_CHUNK, found + 1)
        return None

    def chunk(self, at: int, body: bytes) -> Iterator[Message]:
        try:
            size, crc, name = struct.unpack_from("<QII", body, 16)
            compression = body[32 : 32 + name].decode()
            packed = body[40 + name :]
            data = DECOMPRESS[compression](packed)
        except READ_ERRORS as error:
            self.report(
                f"byte {at}: a chunk of {len(body)} bytes cannot be unpacked and is left out ({describe(error)})"
            )
            return
        if len(data) != size or (crc and zlib.crc32(data) != crc):
            self.report(f"byte {at}: a chunk of {len(body)} bytes fails its checksum and is left out")
            return
        position = 0
        while position + 9 <= len(data):
            opcode, length = data[position], int.from_bytes(data[position + 1 : position + 9], "little")
            if length > len(data) - position - 9:
                self.report(f"byte {at}: a record in this chunk is cut off at {position} of {len(data)} bytes")
                return
            yield from self.record(opcode, data[position + 9 : position + 9 + length])
            position += 9 + length

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
            name, encoding, text = _strings(body, 2, 3)
            form = _DEFINITION_FORMATS.get(encoding, MessageDefinitionFormat.NONE)
            self.schemas[key] = _Schema(name, MessageDefinition(form, text))
        elif opcode == _CHANNEL:
            key, schema_id = struct.unpack_from("<HH", body)
            (topic,) = _strings(body, 4, 1)
            schema = self.schemas.get(schema_id, _Schema("", MessageDefinition(MessageDefinitionFormat.NONE, "")))
            self.channels[key] = Channel(topic, schema.name, schema.definition, False, -1)


def _strings(body: bytes, at: int, count: int) -> list[str]:
    result = []
    for _ in range(count):
        (size,) = struct.unpack_from("<I", body, at)
        result.append(body[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return result


def _scan_mcap(path: Path, report: Report) -> Iterator[Message]:
    with path.open("rb") as file:
        for channel, log_ns, data in _Mcap(report).scan(file):
            yield channel, log_ns, _unpacked(data)


def _scan_sqlite(path: Path, report: Report) -> Iterator[Message]:
    """Read by row number, stepping over rows whose pages are damaged."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    database = apsw.Connection(f"file:{path}?immutable=1", flags=flags)
    try:
        none = MessageDefinition(MessageDefinitionFormat.NONE, "")
        rows = database.execute("SELECT id, name, type FROM topics")
        channels = {key: Channel(str(topic), str(msgtype), none, False, -1) for key, topic, msgtype in rows}
        last, step = -1, 0
        query = "SELECT id, topic_id, timestamp, data FROM messages WHERE id > ? ORDER BY id"
        while step < 2**40:
            try:
                for row, topic_id, log_ns, data in database.execute(query, (last + step,)):
                    if step:
                        report(f"rows {last + 1} to {row - 1} of the messages cannot be read")
                    last, step = int(row), 0
                    if topic_id in channels and isinstance(log_ns, int) and isinstance(data, bytes):
                        yield channels[topic_id], log_ns, _unpacked(data)
            except apsw.Error as error:
                if not step:
                    report(f"after row {last} of the messages: {describe(error)}")
                step = step * 2 or 1
            else:
                return
    finally:
        database.close()


def _scan_ros1(path: Path, report: Report) -> Iterator[Message]:
    with path.open("rb") as file:
        if not file.readline(64).startswith(b"#ROSBAG V2.0"):
            report("byte 0: this is not the start of a ROS 1 bag of version 2.0")
        yield from _Ros1(report).records(file, 0)


class _Ros1:
    """The records of a ROS 1 bag."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.channels: dict[int, Channel] = {}

    def records(self, file: BinaryIO, base: int) -> Iterator[Message]:
        while True:
            at = file.tell()
            header, data = self.part(file), self.part(file)
            if header is None or data is None:
                if file.tell() != at:
                    self.report(f"byte {base + at}: the file ends in the middle of a record")
                return
            try:
                yield from self.record(base + at, dict(_ros1_fields(header)), data)
            except READ_ERRORS as error:
                self.report(f"byte {base + at}: a record of {len(data)} bytes is left out ({describe(error)})")

    @staticmethod
    def part(file: BinaryIO) -> bytes | None:
        head = file.read(4)
        if len(head) < 4:
            return None
        size = int.from_bytes(head, "little")
        here = file.tell()
        left = file.seek(0, 2) - here
        file.seek(here)
        data = file.read(min(size, left))
        return data if len(data) == size else None

    def record(self, at: int, header: dict[bytes, bytes], data: bytes) -> Iterator[Message]:
        opcode = header[b"op"][0]
        if opcode == 5:
            unpacked = DECOMPRESS[header[b"compression"].decode()](data)
            yield from self.records(io.BytesIO(unpacked), at)
        elif opcode == 7:
            facts = dict(_ros1_fields(data))
            msgtype = normalize_msgtype(facts[b"type"].decode())
            definition = MessageDefinition(MessageDefinitionFormat.MSG, facts[b"message_definition"].decode())
            key = int.from_bytes(header[b"conn"], "little")
            topic = header[b"topic"].decode()
            self.channels[key] = Channel(topic, ROS1_NAMES.get(msgtype, msgtype), definition, True, -1)
        elif opcode == 2:
            channel = self.channels.get(int.from_bytes(header[b"conn"], "little"))
            seconds, nanoseconds = struct.unpack("<II", header[b"time"])
            if channel is not None:
                yield channel, seconds * 1_000_000_000 + nanoseconds, data


def _ros1_fields(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        name, _, value = data[at + 4 : at + 4 + size].partition(b"=")
        yield name, value
        at += 4 + size


def _unpacked(data: bytes) -> bytes:
    """Undo compression by message, which only the lost metadata would tell; CDR never starts with these bytes."""
    return zstd.decompress(data) if data.startswith(ZSTD_MAGIC) else data


def _scan_compressed(path: Path, report: Report) -> Iterator[Message]:
    """Unpack a compressed file into a temporary one, as far as it goes."""
    inner = "".join(path.suffixes[-2:-1])
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / path.stem
        with path.open("rb") as packed, whole.open("wb") as out:
            try:
                with zstd.open(packed, "rb") as stream:
                    while block := stream.read(2**20):
                        out.write(block)
            except READ_ERRORS as error:
                report(f"only the first {out.tell()} bytes can be unpacked ({describe(error)})")
        yield from _SCANNERS[inner](whole, report)


_SCANNERS: dict[str, Callable[[Path, Report], Iterator[Message]]] = {
    ".mcap.zstd": _scan_compressed,
    ".db3.zstd": _scan_compressed,
    ".mcap": _scan_mcap,
    ".db3": _scan_sqlite,
    ".bag": _scan_ros1,
}


class SalvagedSource:
    """A damaged bag as a source; finding out what it holds takes one reading of it.

    Attributes:
        channels: every topic of which a message is left, with the number of them.
        span_ns: log time of the first and of the last message [ns].
    """

    def __init__(self, path: Path, report: Report) -> None:
        self.path = path
        counts: dict[str, int] = {}
        first: dict[str, Channel] = {}
        low, high = 2**63 - 1, -1
        for channel, log_ns, _ in scan(path, report):
            counts[channel.topic] = counts.get(channel.topic, 0) + 1
            first.setdefault(channel.topic, channel)
            low, high = min(low, log_ns), max(high, log_ns)
        self.channels = tuple(channel._replace(messages=counts[topic]) for topic, channel in first.items())
        self.span_ns = (low, high)

    def batches(self, topics: Collection[str], start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """Yield messages in the order of the file; what is left out was reported before."""
        yield from in_batches(
            message
            for message in scan(self.path, lambda _: None)
            if message[0].topic in topics
            and (start is None or message[1] >= start)
            and (stop is None or message[1] < stop)
        )
