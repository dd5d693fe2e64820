# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The whole rows of a damaged sqlite3 bag, from the remaining leaf pages, without the tree above them.

SQLite finds a row only through that tree, and its upper pages may be in the lost part. For the layout of pages, cells
and records, see https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, NamedTuple

import apsw

from robot_semantics.base.files import scratch_folder
from robot_semantics.recording.bags.compression import unpack_message
from robot_semantics.recording.bags.source import (
    Channel,
    Message,
    MessageDefinition,
    Report,
    declared_channel,
    write_ahead_log,
)

MAGIC = b"SQLite format 3\x00"
_FILE_HEAD, _TABLE_LEAF = 100, 13
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_TEXT, _BLOB = 13, 12


class _Row(NamedTuple):
    """A row of a table: its number, and its columns as SQLite types them."""

    number: int
    values: tuple[int | str | bytes | None, ...]


def scan_sqlite(path: Path, report: Report) -> Iterator[Message]:
    """Yield every whole message in the order of the pages; call `report` for omitted parts."""
    log = write_ahead_log(path)
    if log is None:
        yield from _scan(path, report)
        return
    with scratch_folder() as folder:
        # The bag itself does not change: the content of its log is added to a copy.
        whole = folder / path.name
        shutil.copyfile(path, whole)
        shutil.copyfile(log, whole.with_name(log.name))
        try:
            with closing(apsw.Connection(str(whole))) as database:
                list(database.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        except apsw.Error as error:
            report(f"its write-ahead log cannot be read ({error})")
        yield from _scan(whole, report)


def _scan(path: Path, report: Report) -> Iterator[Message]:
    if path.stat().st_size < _FILE_HEAD:
        report("byte 0: this is not the start of a database")
        return
    # Do not map the file: if another program cuts it off, an access would kill the process.
    with path.open("rb") as file:
        pages = _Pages(file, report)
        channels: dict[int, Channel] = {}
        for row in pages.rows():
            match row.values:
                # Rows of message definitions have the same form, but with a language instead of a type name.
                case (None, str(topic), str(msgtype), str(encoding), *_) if "/" in msgtype or "::" in msgtype:
                    channels[row.number] = declared_channel(
                        topic, msgtype, MessageDefinition(), ros1=False, messages=-1, encoding=encoding
                    )
        seen: set[int] = set()
        orphans = 0
        for row in pages.rows():
            match row.values:
                case (None, int(topic_id), int(log_ns), bytes(content)) if row.number not in seen:
                    seen.add(row.number)
                    if topic_id in channels:
                        yield channels[topic_id], log_ns, unpack_message(content)
                    else:
                        orphans += 1
        if orphans:
            report(f"{orphans} messages belong to topics whose declaration is lost")
        _report_missing(sorted(seen), report)


def _report_missing(numbers: Sequence[int], report: Report) -> None:
    """Report the missing rows between the rows that were found."""
    for before, after in zip([0, *numbers], numbers, strict=False):
        if after > before + 1:
            report(f"rows {before + 1} to {after - 1} of the messages cannot be read")


class _Pages:
    """The pages of a database file; some may be missing or damaged."""

    def __init__(self, file: BinaryIO, report: Report) -> None:
        self.file = file
        head = file.read(_FILE_HEAD)
        whole = head[:16] == MAGIC
        if not whole:
            report("byte 0: this is not the start of a database")
        size = int.from_bytes(head[16:18], "big")
        size = 65536 if size == 1 else size
        self.size = size if size >= 512 and size & (size - 1) == 0 else 4096
        self.usable = self.size - (head[20] if whole else 0)
        self.count = os.fstat(file.fileno()).st_size // self.size
        stated = int.from_bytes(head[28:32], "big")
        if whole and self.count < stated:
            report(f"the file ends after {self.count} of {stated} pages")

    def rows(self) -> Iterator[_Row]:
        """Yield the whole rows of all tables, page by page."""
        for number in range(self.count):
            page = self._page(number)
            head = _FILE_HEAD if number == 0 else 0
            if len(page) < self.size or page[head] != _TABLE_LEAF:
                continue
            cells = int.from_bytes(page[head + 3 : head + 5], "big")
            if 8 + 2 * cells > self.size:
                continue
            for cell in range(cells):
                at = head + 8 + 2 * cell
                row = self._row(page, int.from_bytes(page[at : at + 2], "big"))
                if row is not None:
                    yield row

    def _page(self, number: int) -> bytes:
        self.file.seek(number * self.size)
        return self.file.read(self.size)

    def _row(self, page: bytes, offset: int) -> _Row | None:
        """Return the row of the cell at an offset in a page; None if the row is incomplete."""
        try:
            length, at = _variable_number(page, offset)
            number, at = _variable_number(page, at)
            payload = self._payload(page, at, length)
            return None if payload is None else _Row(number, _values(payload))
        except (IndexError, ValueError, KeyError):
            return None

    def _payload(self, page: bytes, offset: int, length: int) -> bytes | None:
        """Return a cell's payload: its bytes in the page and on overflow pages."""
        most = self.usable - 35
        least = (self.usable - 12) * 32 // 255 - 23
        local_size = length
        if length > most:
            local_size = least + (length - least) % (self.usable - 4)
            local_size = local_size if local_size <= most else least
        if offset + local_size > self.size or length > self.count * self.size:
            return None
        parts, bytes_left = [page[offset : offset + local_size]], length - local_size
        following = int.from_bytes(page[offset + local_size : offset + local_size + 4], "big") if bytes_left else 0
        while bytes_left:
            if not 0 < following <= self.count:
                return None
            overflow = self._page(following - 1)
            following = int.from_bytes(overflow[:4], "big")
            parts.append(overflow[4 : 4 + min(bytes_left, self.usable - 4)])
            if not parts[-1]:
                return None
            bytes_left -= len(parts[-1])
        return b"".join(parts)


def _variable_number(data: bytes, offset: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and the offset after it."""
    value = 0
    for i in range(8):
        byte = data[offset + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, offset + i + 1
    return value << 8 | data[offset + 8], offset + 9


def _values(payload: bytes) -> tuple[int | str | bytes | None, ...]:
    """Return the columns of a record.

    Raises:
        ValueError: it is not a record. IndexError: it is cut off.
    """
    head, offset = _variable_number(payload, 0)
    kinds = []
    while offset < head:
        kind, offset = _variable_number(payload, offset)
        kinds.append(kind)
    if offset != head:
        raise ValueError("the header of a record has another length than it states")
    values: list[int | str | bytes | None] = []
    for kind in kinds:
        if kind in (0, 8, 9):
            values.append(None if kind == 0 else kind - 8)
            continue
        size = _INTEGER_BYTES[kind] if kind in _INTEGER_BYTES else 8 if kind == 7 else (kind - _BLOB) // 2
        content = payload[offset : offset + size]
        if len(content) != size:
            raise ValueError("a record is cut off")
        offset += size
        if kind in _INTEGER_BYTES:
            values.append(int.from_bytes(content, "big", signed=True))
        elif kind >= _TEXT and kind % 2:
            values.append(content.decode())
        else:
            values.append(content)
    return tuple(values)
