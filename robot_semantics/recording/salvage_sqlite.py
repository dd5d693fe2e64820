"""The readable rows of a damaged sqlite3 bag."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import apsw
from rosbags.interfaces import MessageDefinition, MessageDefinitionFormat

from robot_semantics.recording.bags import describe
from robot_semantics.recording.channels import Channel, Message, Report
from robot_semantics.recording.compression import unpack_message

_SQLITE_HEAD = 100


class _CutFile(apsw.VFSFile):
    """A database whose end is missing, without the part of a page at its end: SQLite would take the rest for zeros."""

    def xFileSize(self) -> int:
        """Return the size of the whole pages."""
        size = super().xFileSize()
        return size - size % _page_size(self.xRead(_SQLITE_HEAD, 0))


class _CutFiles(apsw.VFS):
    """SQLite's way to files, with `_CutFile` for databases."""

    NAME = "robot_semantics_cut"

    def __init__(self) -> None:
        super().__init__(self.NAME, "")

    def xOpen(self, name: Any, flags: list[int]) -> _CutFile:
        """Open a file."""
        return _CutFile("", name, flags)


def _page_size(head: bytes) -> int:
    size = int.from_bytes(head[16:18], "big")
    return 65536 if size == 1 else max(size, 1)


@cache
def _cut_files() -> _CutFiles:
    """Register the way to cut databases, once and for good."""
    return _CutFiles()


def _open_sqlite(path: Path) -> apsw.Connection:
    with path.open("rb") as file:
        page_size = _page_size(file.read(_SQLITE_HEAD))
    cut = path.stat().st_size % page_size
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    database = apsw.Connection(f"file:{path}?immutable=1", flags=flags, vfs=_cut_files().NAME if cut else None)
    # Otherwise SQLite refuses a file that is shorter than its head says, and all of its rows.
    database.execute("PRAGMA writable_schema = ON")
    return database


def scan_sqlite(path: Path, report: Report) -> Iterator[Message]:
    """Read by row number, stepping over rows whose pages are damaged."""
    database = _open_sqlite(path)
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
                        yield channels[topic_id], log_ns, unpack_message(data)
            except apsw.Error as error:
                if not step:
                    where = f"after row {last} of the messages" if last >= 0 else "the first message"
                    report(f"{where}: {describe(error)}")
                step = step * 2 or 1
            else:
                return
    finally:
        database.close()
