# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The times of an export: single times, equal steps, or the times of a topic's messages.

Times are given in seconds, from the first message of the recording or since 1970, and are converted to integer
nanoseconds without floats.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.files import read_named
from robot_semantics.base.names import quoted
from robot_semantics.base.nanoseconds import parse_seconds, seconds_text, short_seconds
from robot_semantics.recording.bags.source import RequestError
from robot_semantics.transforms.arrays import IntArray

if TYPE_CHECKING:
    from robot_semantics.recording.read.recording import Recording


TIMES_BYTES = 64 * 2**20
"""Largest size of a file of times."""

MOST_TIMES = 50_000_000
"""More states than this are taken for a mistake."""


class NoTimeError(RequestError):
    """All requested times are outside the recording."""


class TimeRequest(NamedTuple):
    """Requested times; the texts are as on a command line.

    Attributes:
        at: single times: seconds, ``@`` seconds since 1970, or ``end``.
        every: distance between times [s].
        at_topic: one time for each message of this topic.
        start: the first time; None for the start of the recording.
        stop: the last time; None for its end.
    """

    at: tuple[str, ...] = ()
    every: str | None = None
    at_topic: str | None = None
    start: str | None = None
    stop: str | None = None

    def step_ns(self) -> int | None:
        """Return the distance between times [ns]; None without `every`.

        Raises:
            RequestError: `every` is not a time, or not positive.
        """
        if self.every is None:
            return None
        step = _nanoseconds(self.every)
        if step == 0 and float(self.every) > 0.0:
            raise RequestError(f"the distance between times is too small: '{self.every}' s; the smallest is 1e-9 s")
        if step <= 0:
            raise RequestError(f"the distance between times must be positive, not '{self.every}'")
        return step


def choose_times(request: TimeRequest, recording: Recording, problems: Diagnostics) -> IntArray:
    """Return the times (n,) in order, each once [ns].

    Raises:
        RequestError: a time cannot be read, a time is outside the recording, or there are too many times.
    """
    span = recording.start_ns, recording.end_ns
    start, stop = time_of(request.start or "0", *span), time_of(request.stop or "end", *span)
    if start > stop:
        raise RequestError(
            f"the range of times ends before it starts: {seconds_text(start)} s to {seconds_text(stop)} s"
        )
    if request.every is None and request.at_topic is None:
        for text in outside_times(request, recording):
            first, last = map(seconds_text, span)
            hint = "" if text.startswith("@") else "; a time since 1970 is @T" * (time_of(text, 0, 0) > span[0])
            raise RequestError(f"time '{text}' is outside the recording, which goes from {first} s to {last} s{hint}")
        return np.unique(np.array([time_of(text, *span) for text in request.at or ("end",)], dtype=np.int64))
    stop = _last_time(request, start, stop, recording, problems)
    step = request.step_ns()
    if step is not None:
        if (stop - start) // step >= MOST_TIMES:
            raise RequestError(
                f"{(stop - start) // step + 1} times from {seconds_text(start)} s to {seconds_text(stop)} s "
                "are too many; if a stamp is wrong, choose the range with --start and --stop"
            )
        return np.arange(start, stop + 1, step, dtype=np.int64)
    assert request.at_topic is not None
    stamps = recording.topic_stamps(request.at_topic)
    each = stamps if (np.diff(stamps) > 0).all() else np.unique(stamps)
    inside = each[np.searchsorted(each, start) : np.searchsorted(each, stop, side="right")]
    if len(stamps) and not len(inside):
        raise RequestError(f"topic '{request.at_topic}' has no message between the chosen times")
    if not len(stamps):
        raise RequestError(f"topic '{request.at_topic}' has no message in this run of the recording")
    outside = int(((each < recording.start_ns) | (each > recording.end_ns)).sum())
    if outside:
        what = f"{outside} messages of '{request.at_topic}' are before the first or after the last message of the"
        problems.note("past-end", f"{what} robots; they give no state", recording.plan.place)
    again = len(stamps) - len(each)
    if again:
        text = f"topic '{request.at_topic}': {again} messages repeat an earlier stamp; each stamp is used once"
        problems.warning("duplicate-stamps", text, recording.plan.place)
    return inside


def _last_time(request: TimeRequest, start: int, stop: int, recording: Recording, problems: Diagnostics) -> int:
    """Return the last time of a range: no state is made after the last message.

    Raises:
        RequestError: the range starts after the last message.
    """
    if stop <= recording.end_ns:
        return stop
    last = f"{seconds_text(recording.end_ns)} s ({short_seconds(recording.end_ns - recording.start_ns)} from the start)"
    if start > recording.end_ns:
        raise RequestError(f"the range of times starts after the last message, at {last}")
    text = f"the states end at the last message, at {last}; '{request.stop}' is after it"
    problems.warning("past-end", text, recording.plan.place)
    return recording.end_ns


def outside_times(request: TimeRequest, recording: Recording) -> tuple[str, ...]:
    """Return the single times that are outside a recording."""
    span = recording.start_ns, recording.end_ns
    return tuple(text for text in request.at if not span[0] <= time_of(text, *span) <= span[1])


def without_outside(
    request: TimeRequest, recording: Recording, problems: Diagnostics
) -> tuple[TimeRequest, tuple[str, ...]]:
    """Return the request without the single times outside a recording, and these times; each gives a warning.

    Raises:
        NoTimeError: no time is left.
    """
    skipped = outside_times(request, recording)
    if not skipped:
        return request, ()
    span = f"the recording, which goes from {seconds_text(recording.start_ns)} s to {seconds_text(recording.end_ns)} s"
    names = quoted(skipped, 9)
    if len(skipped) == len(request.at):
        raise NoTimeError(f"no requested time is inside {span}: {names}")
    problems.warning("time-outside", f"times outside {span}, are skipped: {names}", recording.plan.place)
    return request._replace(at=tuple(text for text in request.at if text not in skipped)), skipped


def read_times(path: Path) -> list[tuple[str, str]]:
    """Return the (bag, time) of each row of a CSV file; the bag is "" where the file has no such column.

    The first row names the columns, ``time`` and ``bag``. A file without it has one time in each row.

    Raises:
        RequestError: the file has no times, or a row is invalid; with file and line.
        OSError: it cannot be read.
    """
    try:
        text = read_named(path, TIMES_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError(f"{path}: this is not a text in UTF-8") from None
    reader = csv.reader(text.splitlines(), skipinitialspace=True)
    columns: list[str] | None = None
    rows: list[tuple[str, str]] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if columns is None:
                columns = ["time"] if len(cells) == 1 and _is_time(cells[0]) else cells
                if "time" not in columns:
                    raise RequestError("there is no column 'time'")
                if columns == cells and not _is_time(cells[0]):
                    continue
            if len(cells) != len(columns):
                raise RequestError(f"{len(cells)} cells, but {len(columns)} columns")
            values = dict(zip(columns, cells, strict=True))
            if values["time"] != "end":
                _nanoseconds(values["time"].removeprefix("@"))
            rows.append((values.get("bag", ""), values["time"]))
    except (RequestError, csv.Error) as error:
        raise RequestError(f"{path}:{reader.line_num}: {error}") from None
    if not rows:
        raise RequestError(f"{path}: there are no times")
    return rows


def _is_time(text: str) -> bool:
    try:
        return text == "end" or _nanoseconds(text.removeprefix("@")) is not None
    except RequestError:
        return False


def check_words(request: TimeRequest) -> None:
    """Refuse invalid texts before the recording is read, which may take minutes.

    Raises:
        RequestError: a text is not a time, or the distance between times is not positive.
    """
    for text in (*request.at, request.start, request.stop):
        if text not in (None, "end"):
            _nanoseconds(text.removeprefix("@"))
    request.step_ns()


def time_of(text: str, start_ns: int, end_ns: int) -> int:
    """Return a time of a span [ns]: ``end``, ``@1700000000.5`` since 1970, or seconds since its start.

    Raises:
        RequestError: it is none of these.
    """
    if text == "end":
        return end_ns
    if text.startswith("@"):
        return _nanoseconds(text[1:])
    return start_ns + _nanoseconds(text)


def blocks(times_ns: IntArray, size: int) -> Sequence[IntArray]:
    """Return the times cut into blocks of at most `size`."""
    return [times_ns[at : at + size] for at in range(0, len(times_ns), size)]


def _nanoseconds(text: str) -> int:
    try:
        return parse_seconds(text)
    except ValueError:
        raise RequestError(
            f"'{text}' is not a time: give seconds from the start, @seconds since 1970, or end"
        ) from None
