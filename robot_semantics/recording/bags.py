# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Facts about bags, and the protocol of the sources that read their messages."""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.recording.bag_metadata import ENDINGS, RecordedModel
from robot_semantics.recording.channels import Batch, Channel
from robot_semantics.recording.columns import NONSENSE

try:
    import apsw
    from rosbags.rosbag1 import ReaderError as ReaderError1
    from rosbags.rosbag2 import ReaderError as ReaderError2

    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdError
    else:
        from backports.zstd import ZstdError

    _NAMED_ERRORS: tuple[type[Exception], ...] = (ReaderError1, ReaderError2, apsw.Error)
    _LIBRARY_ERRORS: tuple[type[Exception], ...] = (*_NAMED_ERRORS, ZstdError)
except ImportError:
    # rosbag2_py raises this type for everything.
    _NAMED_ERRORS = _LIBRARY_ERRORS = (RuntimeError,)

READ_ERRORS: tuple[type[Exception], ...] = (*_LIBRARY_ERRORS, struct.error, OSError, *NONSENSE)
"""Errors that a damaged bag can cause."""


class BagError(RobotSemanticsError):
    """A bag that cannot be read at all.

    Attributes:
        path: the bag.
        reason: why it cannot be read.
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class BagSource(Protocol):
    """A bag that a library reads; use it in a ``with`` statement."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels of the bag."""

    @property
    def models(self) -> tuple[RecordedModel, ...]:
        """The models in the metadata, if this package wrote the bag."""

    @property
    def frames(self) -> dict[str, str]:
        """The names of frames by their TF names, if they differ and this package wrote the bag."""

    @property
    def span_ns(self) -> tuple[int, int]:
        """Log time of the first and of the last message [ns]."""

    def batches(self, topics: Collection[str], start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """Yield the messages of some topics with log times from `start` to before `stop` [ns]."""

    def __enter__(self) -> BagSource:
        """Open the bag."""

    def __exit__(self, *error: object) -> None:
        """Close the bag."""


class BagWriter(Protocol):
    """Writes messages to a new bag.

    Attributes:
        types: message classes by name.
    """

    types: Mapping[str, type]

    def write(self, topic: str, msgtype: str, time_ns: int, message: RosMessage, *, latched: bool) -> None:
        """Write a message with its log time [ns]."""

    def close(self, custom_data: Mapping[str, str]) -> None:
        """Close the bag and add the custom data to its metadata."""


@dataclass(frozen=True)
class BagInfo:
    """Facts about a bag.

    Attributes:
        start_ns: log time of the first message.
        end_ns: log time of the last message; before `start_ns` if there is none.
        damaged: the damage; "" for a sound bag.
        scanned: True if it must be read record by record, because it is damaged or `rosbags` refuses it.
        models: the models in its metadata, if this package wrote it.
        frames: the names of frames by their TF names, if they differ and this package wrote it.
    """

    path: Path
    channels: tuple[Channel, ...]
    start_ns: int
    end_ns: int
    damaged: str = ""
    scanned: bool = False
    models: tuple[RecordedModel, ...] = ()
    frames: Mapping[str, str] = field(default_factory=dict)

    @property
    def topics(self) -> dict[str, str]:
        """The message type of each topic."""
        return {channel.topic: channel.msgtype for channel in self.channels}

    def counts(self) -> dict[str, int]:
        """Return the number of messages of each topic, as the bag states it."""
        result: dict[str, int] = {}
        for channel in self.channels:
            result[channel.topic] = result.get(channel.topic, 0) + max(channel.messages, 0)
        return result


def write_ahead_log(path: Path) -> Path | None:
    """Return the write-ahead log of a database; None if it does not exist or is empty."""
    log = path.with_name(f"{path.name}-wal")
    return log if path.suffix == ".db3" and log.is_file() and log.stat().st_size else None


def is_cut_off(path: Path) -> bool:
    """Return whether a database is shorter than its header says. SQLite reads missing bytes as zeros."""
    with path.open("rb") as file:
        head = file.read(100)
    if len(head) < 100 or head[24:28] != head[92:96]:
        # The last writer did not update the number of pages.
        return False
    size = int.from_bytes(head[16:18], "big")
    return path.stat().st_size < (65536 if size == 1 else size) * int.from_bytes(head[28:32], "big")


def describe(error: BaseException) -> str:
    """Return an error's text on one line, with its type if the text alone is not clear."""
    text = " ".join(str(error).split())
    return text if isinstance(error, _NAMED_ERRORS) and text else f"{type(error).__name__}: {text}"


def storage_files(path: Path) -> tuple[Path, ...]:
    """Return the files with messages of a bag, in the order of their names.

    Raises:
        BagError: there is none.
    """
    if not path.is_dir():
        return (path,)
    found = (file for pattern in ENDINGS for file in path.glob(f"*{pattern}"))
    # Splits are numbered without leading zeros: bag_2 comes before bag_10.
    files = tuple(
        sorted(found, key=lambda file: [int(part) if part.isdigit() else 0 for part in re.split(r"(\d+)", file.name)])
    )
    if not files:
        raise BagError(path, "no bag: the folder holds neither .mcap nor .db3 files")
    return files


def ending_of(file: Path) -> str:
    """Return the ending of a file with messages, of `ENDINGS`.

    Raises:
        BagError: the file has another ending.
    """
    suffixes = "".join(file.suffixes[-2:])
    for ending in ENDINGS:
        if suffixes.endswith(ending):
            return ending
    raise BagError(file, f"a bag ends in .mcap, .db3 or .bag, not in '{file.suffix}'")
