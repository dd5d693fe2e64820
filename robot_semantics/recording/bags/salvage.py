# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading of damaged bags: records one by one, without index or footer.

Every omitted part is reported with its place. Messages come in the order of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path

from robot_semantics.base.files import scratch_folder
from robot_semantics.recording.bags.libraries import READ_ERRORS, describe
from robot_semantics.recording.bags.salvage_mcap import scan_mcap
from robot_semantics.recording.bags.salvage_ros1 import scan_ros1
from robot_semantics.recording.bags.salvage_sqlite import scan_sqlite
from robot_semantics.recording.bags.source import (
    Batch,
    Channel,
    Message,
    Report,
    ending_of,
    in_batches,
    storage_files,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def scan(path: Path, report: Report) -> Iterator[Message]:
    """Yield every whole message of a damaged bag; call `report` for omitted parts."""
    for file in storage_files(path):

        def here(text: str, file: Path = file) -> None:
            report(text if file == path else f"{file.name}: {text}")

        try:
            yield from _SCANNERS[ending_of(file)](file, here)
        except READ_ERRORS as error:
            here(f"reading ends early: {describe(error)}")


def _scan_compressed(path: Path, report: Report) -> Iterator[Message]:
    """Unpack the readable part of a compressed file into a temporary file."""
    inner = "".join(path.suffixes[-2:-1]).lower()
    with scratch_folder() as folder:
        whole = folder / path.stem
        with path.open("rb") as packed, whole.open("wb") as out:
            try:
                with zstd.open(packed, "rb") as stream:
                    while block := stream.read(2**20):
                        out.write(block)
            except READ_ERRORS as error:
                report(f"only the first {out.tell()} bytes can be unpacked ({describe(error)})")
        yield from _SCANNERS[inner](whole, report)


Scanner = Callable[[Path, Report], Iterator[Message]]
"""Yields every whole message of a file; the report is told what had to be left out."""

_SCANNERS: dict[str, Scanner] = {
    ".mcap.zstd": _scan_compressed,
    ".db3.zstd": _scan_compressed,
    ".mcap": scan_mcap,
    ".db3": scan_sqlite,
    ".bag": scan_ros1,
    ".bag.active": scan_ros1,
}


class SalvagedSource:
    """Damaged bag as a source; listing its content reads it once."""

    def __init__(self, path: Path, report: Report) -> None:
        self.path, self._report = path, report

    def __enter__(self) -> SalvagedSource:
        """Begin to read."""
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing stays open."""

    @cached_property
    def _content(self) -> tuple[tuple[Channel, ...], tuple[int, int]]:
        counts: dict[str, int] = {}
        first: dict[str, Channel] = {}
        low, high = 2**63 - 1, -1
        for channel, log_ns, _ in scan(self.path, self._report):
            counts[channel.topic] = counts.get(channel.topic, 0) + 1
            first.setdefault(channel.topic, channel)
            low, high = min(low, log_ns), max(high, log_ns)
        return tuple(channel._replace(messages=counts[topic]) for topic, channel in first.items()), (low, high)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Every topic with readable messages, and their number."""
        return self._content[0]

    @property
    def span_ns(self) -> tuple[int, int]:
        """Log time of the first and of the last message [ns]."""
        return self._content[1]

    def batches(self, topics: Collection[str], start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """Yield messages in the order of the file; omitted parts are reported."""
        yield from in_batches(
            message
            for message in scan(self.path, self._report)
            if message[0].topic in topics
            and (start is None or message[1] >= start)
            and (stop is None or message[1] < stop)
        )
