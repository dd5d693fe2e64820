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

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.nanoseconds import parse_seconds, seconds_text
from robot_semantics.recording.read.plan import RequestError
from robot_semantics.transforms.arrays import IntArray

if TYPE_CHECKING:
    from robot_semantics.recording.read.recording import Recording


ABSOLUTE_FROM = 100_000_000
"""A number of seconds from here on is a time since 1970, a smaller one counts from the start; `@` forces the former."""

MOST_TIMES = 50_000_000
"""More states than this are taken for a mistake."""


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
        step = None if self.every is None else _nanoseconds(self.every)
        if step is not None and step <= 0:
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
        times = [time_of(text, *span) for text in request.at or ("end",)]
        for text, time in zip(request.at or ("end",), times, strict=True):
            if not recording.start_ns <= time <= recording.end_ns:
                first, last = map(seconds_text, span)
                raise RequestError(f"time '{text}' is outside the recording, which goes from {first} s to {last} s")
        return np.unique(np.array(times, dtype=np.int64))
    step = request.step_ns()
    if step is not None:
        if (stop - start) // step >= MOST_TIMES:
            raise RequestError(
                f"{(stop - start) // step + 1} times from {seconds_text(start)} s to {seconds_text(stop)} s "
                "are too many; if a stamp is wrong, choose the range with --from and --to"
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
    again = len(stamps) - len(each)
    if again:
        text = f"topic '{request.at_topic}': {again} messages repeat an earlier stamp; each stamp is used once"
        problems.warning("duplicate-stamps", text, recording.plan.place)
    return inside


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
    """Return a time of a span [ns]: ``end``, ``@1700000000.5``, or seconds since its start or since 1970.

    Raises:
        RequestError: it is none of these.
    """
    if text == "end":
        return end_ns
    if text.startswith("@"):
        return _nanoseconds(text[1:])
    value = _nanoseconds(text)
    return value if value >= ABSOLUTE_FROM * 1_000_000_000 else start_ns + value


def blocks(times_ns: IntArray, size: int) -> Sequence[IntArray]:
    """Return the times cut into blocks of at most `size`."""
    return [times_ns[at : at + size] for at in range(0, len(times_ns), size)]


def _nanoseconds(text: str) -> int:
    try:
        return parse_seconds(text)
    except ValueError:
        raise RequestError(f"'{text}' is not a time: give seconds, @seconds since 1970, or 'end'") from None
