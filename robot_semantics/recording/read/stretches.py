# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One time span of one bag, read into columns: the unit of work for this process, other processes, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_semantics.base.diagnostic import Diagnostic, SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, install_hint
from robot_semantics.base.record import record
from robot_semantics.base.yaml_reader import read_yaml
from robot_semantics.cdr.message_types import FIELDS
from robot_semantics.cdr.walk import header_stamp_ns
from robot_semantics.recording.bags.columns import IN_MEMORY_BYTES, Array, Columns, GroupKey
from robot_semantics.recording.bags.encodings import message_decoder, stamp_decoder
from robot_semantics.recording.bags.libraries import (
    HAS_ROSBAGS,
    NOT_ROS2,
    READ_ERRORS,
    definition_problem,
    open_source,
    reason_of,
    starts_with_header,
)
from robot_semantics.recording.bags.source import (
    JSON,
    PROTOBUF,
    STILL_WRITTEN,
    BagError,
    BagInfo,
    BagSource,
    Channel,
    Report,
    ending_of,
    storage_files,
)
from robot_semantics.recording.read.messages import AS_USUAL, ReadOptions, Refusals, StampReader, Text, TopicReader

if TYPE_CHECKING:
    from robot_semantics.recording.bags.salvage import SalvagedSource


Groups = dict[GroupKey, dict[str, Array]]
Advance = Callable[[int], None]

BLOCK_MESSAGES = 8192
"""How many messages are gathered before they are parsed."""

BLOCK_BYTES = 8 * 2**20
"""How many bytes are gathered before they are parsed."""


@record(frozen=True)
class Task:
    """A reading task.

    Attributes:
        path: the bag.
        topics: each topic's part: ``parse``, ``pose`` (of a robot), or ``stamps`` (only when its messages came).
        scanned: True: read record by record, because `rosbags` refused the bag.
        start_ns: log time of the first message to read; None for the first one of the bag.
        stop_ns: log time of the end, exclusive; None for the end of the bag.
        folder: folder for columns that are too large for memory; it must exist.
        in_memory_bytes: limit of this size [bytes]; with 0, another process can map every column instead of copying it.
        options: how messages are read.
    """

    path: Path
    topics: Mapping[str, str]
    scanned: bool = False
    start_ns: int | None = None
    stop_ns: int | None = None
    folder: Path | None = None
    in_memory_bytes: int = IN_MEMORY_BYTES
    options: ReadOptions = AS_USUAL


@record(frozen=True)
class Stretch:
    """Result of a reading task.

    Attributes:
        groups: columns by the key of their messages.
        counts: number of messages by topic.
        problems: problems of the bag.
    """

    groups: Groups
    texts: tuple[Text, ...]
    refusals: Refusals
    counts: Mapping[str, int]
    problems: tuple[Diagnostic, ...] = ()

    def __getstate__(self) -> dict[str, object]:
        """Send mapped arrays by the name of their file, so that the data is not copied."""
        return {**self.__dict__, "groups": _with_each(self.groups, _Mapped.of)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        opened = _with_each(state["groups"], lambda array: array.open() if isinstance(array, _Mapped) else array)
        self.__dict__.update(state, groups=opened)


def _with_each(groups: Groups, change: Callable[[Any], Any]) -> dict[GroupKey, dict[str, Any]]:
    return {key: {name: change(array) for name, array in part.items()} for key, part in groups.items()}


@record(frozen=True)
class _Mapped:
    path: str
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, array: Array) -> _Mapped | Array:
        if not isinstance(array, np.memmap) or array.filename is None:
            return array
        return cls(str(array.filename), array.dtype.str, array.shape)

    def open(self) -> Array:
        return np.memmap(self.path, self.dtype, "r", shape=self.shape)


class OpenBags:
    """Bags that stay open from their inspection to their reading; use it in a `with`.

    Reading the metadata and the index of a bag takes as long as reading the messages of a small one.
    """

    def __init__(self) -> None:
        self._sources: dict[Path, BagSource] = {}

    def source(self, path: Path) -> BagSource:
        """Return an open bag; the one that was opened first is closed if there are too many."""
        if path not in self._sources:
            if len(self._sources) == MOST_OPEN:
                self._sources.pop(next(iter(self._sources))).__exit__(None, None, None)
            self._sources[path] = open_source(path).__enter__()
        return self._sources[path]

    def __enter__(self) -> OpenBags:
        """Return the bags."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close all bags."""
        while self._sources:
            self._sources.popitem()[1].__exit__(None, None, None)


MOST_OPEN = 16
"""Limit of bags that are open at the same time."""


@contextmanager
def _opened(path: Path, bags: OpenBags | None) -> Iterator[BagSource]:
    if bags is not None:
        yield bags.source(path)
        return
    with open_source(path) as source:
        yield source


def inspect_bag(path: Path, problems: Diagnostics, bags: OpenBags | None = None) -> BagInfo:
    """Return the content of a bag; for a damaged bag the readable part, with a problem for each loss.

    Args:
        path: the bag.
        problems: takes the problems.
        bags: keeps the bag open; None: it is closed.

    Raises:
        BagError: it cannot be read at all.
        FileNotFoundError: the file or folder does not exist.
    """
    if not path.exists():
        raise FileNotFoundError(2, "no such bag", str(path))
    for file in storage_files(path):
        if ending_of(file).endswith(".zstd") and HAS_ROSBAGS:
            from robot_semantics.recording.bags.compression import check_packed_file

            check_packed_file(file)
    try:
        with _opened(path, bags) as source:
            for notice in source.notices:
                problems.warning("metadata-incomplete", notice, SourcePlace(str(path)))
            return BagInfo(path, source.channels, *source.span_ns, models=source.models, frames=source.frames)
    except READ_ERRORS as error:
        reason = reason_of(error)
    return _inspect_records(path, reason, problems)


def _inspect_records(path: Path, reason: str, problems: Diagnostics) -> BagInfo:
    """Return the content of a bag that must be read record by record; `reason`: why its index cannot be used, or ""."""
    reports: list[str] = []
    salvaged = _salvaged(path, reports.append, reason)
    fault = "" if reason == NOT_ROS2 else reason
    if not salvaged.channels:
        why = fault or next(iter(reports), "")
        raise BagError(path, f"no message can be read ({why})" if why else "the bag has no messages")
    growing = [report for report in reports if report.endswith(STILL_WRITTEN)]
    losses = [report for report in reports if not report.endswith(STILL_WRITTEN)]
    losses += _lost_files(path)
    encodings = sorted({channel.encoding for channel in salvaged.channels} & {JSON, PROTOBUF})
    place = SourcePlace(str(path))
    if growing:
        problems.note("bag-growing", "; ".join(growing), place)
    if path.is_dir() and not (path / "metadata.yaml").exists():
        problems.warning("no-metadata", "metadata.yaml is missing; the files are read one by one", place)
    elif losses:
        problems.error("bag-damaged", f"the bag is damaged{_in_brackets(fault)}; the undamaged parts are read", place)
    elif encodings:
        problems.note("bag-scanned", f"messages in {' and '.join(encodings)} are read record by record", place)
    elif not growing:
        text = f"the bag is complete, but its index cannot be used{_in_brackets(reason)}; it is read record by record"
        problems.warning("bag-scanned", text, place)
    if losses:
        _report_losses(losses, salvaged.channels, problems, place)
    damage = fault or losses[0] if losses else ""
    return BagInfo(path, salvaged.channels, *salvaged.span_ns, damaged=damage, scanned=True)


def _report_losses(
    losses: Iterable[str], channels: Collection[Channel], problems: Diagnostics, place: SourcePlace
) -> None:
    for loss in losses:
        problems.error("bag-damaged", loss, place)
    count = sum(channel.messages for channel in channels)
    problems.note("bag-salvaged", f"{count} messages on {len(channels)} topics could be read", place)


def _in_brackets(reason: str) -> str:
    return f" ({reason})" if reason else ""


def first_joint_names(info: BagInfo, topics: Collection[str]) -> dict[str, set[str]]:
    """Return the joints in the first messages of topics with joint states, by topic; nothing else is read."""
    task = Task(info.path, dict.fromkeys(topics, "parse"), info.scanned)
    names: dict[str, set[str]] = {}
    try:
        with _salvaged(info.path, lambda _: None) if info.scanned else open_source(info.path) as source:
            for batch in source.batches(tuple(topics)):
                for channel, (logs, messages) in batch.items():
                    columns = Columns()
                    reader = _reader(channel, task, columns, Refusals(), [])
                    if reader is not None and messages:
                        reader.take(logs[:1], messages[:1])
                        names.setdefault(channel.topic, set()).update(*(key.names for key in columns.finish()))
                if names.keys() >= set(topics):
                    break
    except READ_ERRORS:
        # Damage is reported where the used topics are read.
        return names
    return names


def _lost_files(path: Path) -> Iterator[str]:
    """Yield problems of files in the metadata that do not exist, minus the number of renamed files."""
    if not path.is_dir() or not (path / "metadata.yaml").exists():
        return
    try:
        stated = read_yaml(path / "metadata.yaml", foreign=True).get(
            "rosbag2_bagfile_information", "relative_file_paths"
        )
    except (DescriptionError, OSError):
        stated = None
    if stated is None:
        yield "metadata.yaml cannot be read"
        return
    names = [Path(name.text).name for name in stated.items]
    there = storage_files(path)
    if len(there) < len(names):
        gone = ", ".join(name for name in names if not (path / name).exists())
        yield f"missing files of the bag: {len(names) - len(there)} of {len(names)}: {gone}"


def read_stretch(task: Task, advance: Advance | None = None, bags: OpenBags | None = None) -> Stretch:
    """Read one time span; if the bag is damaged, read the intact messages and report the losses.

    Args:
        task: what to read.
        advance: takes numbers of messages that are read.
        bags: open bags of this process; None: the bag is opened for this task.

    Raises:
        BagError: it cannot be read at all.
    """
    if task.scanned:
        return _read(_salvaged(task.path, lambda _: None), task, "salvaged", advance)
    try:
        with _opened(task.path, bags) as source:
            return _read(source, task, "whole", advance)
    except READ_ERRORS as error:
        reason = reason_of(error)
    problems, place = Diagnostics(), SourcePlace(str(task.path))
    problems.error("bag-damaged", f"the bag is damaged{_in_brackets(reason)}; the undamaged parts are read", place)
    salvaged = _salvaged(task.path, lambda text: problems.error("bag-damaged", text, place), reason)
    stretch = _read(salvaged, task, "salvaged", advance)
    found = sum(stretch.counts.values())
    problems.note("bag-salvaged", f"{found} messages on {len(stretch.counts)} topics could be read", place)
    return replace(stretch, problems=tuple(problems))


def _salvaged(path: Path, report: Report, reason: str = "") -> SalvagedSource:
    """Return the whole messages of a damaged bag.

    Raises:
        BagError: the library that reads damaged bags is not installed.
    """
    if not HAS_ROSBAGS:
        raise BagError(path, f"the bag is damaged{_in_brackets(reason)}; to read the rest: {install_hint('bag')}")
    from robot_semantics.recording.bags.salvage import SalvagedSource

    return SalvagedSource(path, report)


def _read(source: BagSource | SalvagedSource, task: Task, name: str, advance: Advance | None) -> Stretch:
    """Read a stretch of a source; arrays that are too large for memory go to the folder `scratch`."""
    folder = None if task.folder is None else task.folder / name
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    columns = Columns(folder, task.in_memory_bytes)
    refusals, texts, counts = Refusals(), list[Text](), dict[str, int]()
    gathered: dict[Channel, tuple[list[int], list[bytes]]] = {}
    readers: dict[Channel, TopicReader | StampReader | None] = {}

    def flush() -> None:
        for channel, (logs, messages) in gathered.items():
            if channel not in readers:
                readers[channel] = _reader(channel, task, columns, refusals, texts)
            reader = readers[channel]
            if reader is not None and messages:
                reader.take(logs, messages)
            counts[channel.topic] = counts.get(channel.topic, 0) + len(messages)
            logs.clear()
            messages.clear()

    held = size = 0
    for batch in source.batches(tuple(task.topics), task.start_ns, task.stop_ns):
        for channel, (logs, messages) in batch.items():
            own = gathered.setdefault(channel, ([], []))
            own[0].extend(logs)
            own[1].extend(messages)
            held += len(messages)
            size += sum(map(len, messages))
        if held >= BLOCK_MESSAGES or size > BLOCK_BYTES:
            flush()
            if advance is not None:
                advance(held)
            held = size = 0
    flush()
    if advance is not None:
        advance(held)
    return Stretch(columns.finish(), tuple(texts), refusals, counts)


def _reader(
    channel: Channel, task: Task, columns: Columns, refusals: Refusals, texts: list[Text]
) -> TopicReader | StampReader | None:
    if task.topics[channel.topic] == "stamps":
        return StampReader(channel.topic, columns, _stamp_of(channel))
    if channel.msgtype in FIELDS:
        return TopicReader(
            channel.topic,
            channel.msgtype,
            columns,
            refusals,
            texts,
            ros1=channel.ros1,
            options=task.options,
            is_pose=task.topics[channel.topic] == "pose",
            decode=message_decoder(channel) if channel.encoding in (JSON, PROTOBUF) else None,
        )
    return None


def _stamp_of(channel: Channel) -> Callable[[bytes], int]:
    if channel.encoding in (JSON, PROTOBUF):
        return stamp_decoder(channel)
    return partial(header_stamp_ns, ros1=channel.ros1) if starts_with_header(channel) else lambda _: 0


def definition_problems(info: BagInfo, topics: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (topic, problem) for every topic whose messages may differ from their type."""
    for channel in info.channels:
        if channel.encoding in (JSON, PROTOBUF):
            continue
        if channel.encoding and channel.topic in topics:
            yield channel.topic, f"its messages are in {channel.encoding}, which is not read"
        elif topics.get(channel.topic) in ("parse", "pose"):
            problem = definition_problem(channel)
            if problem is not None:
                yield channel.topic, problem
