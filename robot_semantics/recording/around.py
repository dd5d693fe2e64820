# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading of a whole recording, or only of a part for a few times: the messages around these times, and both ends.

The index of the bag has their places. The result equals the result of the whole recording. The whole recording is read
if its clock was set back, if its clock differs from the time of recording, or if a value at the ends is missing around
the times. Values that are only between the parts are not known; a note reports this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.recording.bags import storage_files
from robot_semantics.recording.columns import IN_MEMORY_BYTES, Pieces, stamps_of
from robot_semantics.recording.parallel import Workers
from robot_semantics.recording.recording import Recording, Span, read_recording, tasks_of_spans, whole_tasks
from robot_semantics.recording.recording_plan import RecordingPlan
from robot_semantics.recording.robots import RequestError
from robot_semantics.recording.stretches import Stretch, read_stretch
from robot_semantics.recording.times import TimeRequest, time_of
from robot_semantics.transforms.arrays import IntArray

LARGE_BYTES = 64 * 2**20
"""Smaller recordings are read as a whole."""

ENDS_NS = 1_000_000_000
"""How much is read at the start and at the end."""

MARGINS_NS = (2 * 10**9, 20 * 10**9)
"""How much around the times is tried, one after the other."""

MOST_SHARE = 0.25
"""If more than this share would be read, all is."""

CLOCKS_TOLERANCE_NS = 500_000_000
"""How much the clock of the stamps may drift from the time of recording from start to end."""


def read_around(plan: RecordingPlan, times: TimeRequest, problems: Diagnostics) -> Recording | None:
    """Return the recording around some times; None if the whole recording must be read.

    Args:
        plan: what to read.
        times: the times that are wanted.
        problems: takes the problems of the read part, and the note about it.

    Raises:
        RequestError: a text is not a time. BagError: a bag cannot be read at all.
    """
    wanted = _texts(times)
    if not wanted or not _is_worth_it(plan):
        return None

    def read(spans: Sequence[Span], problems: Diagnostics) -> Recording:
        return read_recording(plan, map(read_stretch, tasks_of_spans(plan, spans)), problems, whole=False)

    first, last = min(bag.start_ns for bag in plan.bags), max(bag.end_ns for bag in plan.bags)
    ends = [(first, first + ENDS_NS), (last - ENDS_NS, last + 1)]
    try:
        found = read(ends, Diagnostics())
    except RequestError:
        return None
    late, late_at_end = (_lateness(found.pieces, span) for span in ends)
    if found.runs > 1 or late is None or late_at_end is None or abs(late - late_at_end) > CLOCKS_TOLERANCE_NS:
        return None
    asked = [time_of(text, found.start_ns, found.end_ns) for text in wanted]
    low, high, offset = min(asked), max(asked), int(late)
    for margin in MARGINS_NS:
        spans = _merged([*ends, (low + offset - margin, high + offset + margin)], first, last + 1)
        if sum(stop - start for start, stop in spans) > MOST_SHARE * (last - first):
            return None
        said = Diagnostics()
        found = read(spans, said)
        if found.runs > 1:
            return None
        if all(_covered(stamps, low, high, margin, found.end_ns) for stamps in _things(found.pieces)):
            problems.extend(tuple(said))
            parts = " and ".join(f"{seconds_text(start)} s to {seconds_text(stop)} s" for start, stop in spans)
            text = f"only messages from {parts} are read; messages in between are not used"
            problems.note("read-in-part", text, plan.place)
            return found
    return None


def read_whole(
    plan: RecordingPlan,
    workers: Workers,
    folder: Path,
    problems: Diagnostics,
    advance: Callable[[int], None],
    *,
    run: int | None = None,
) -> Recording:
    """Return the whole recording, read by `workers`.

    Args:
        plan: what to read.
        workers: the processes that read.
        folder: for columns of other processes on this machine.
        problems: takes all problems of the bags and their messages.
        advance: takes the number of messages that are read since its last call.
        run: number of the run, from 1; None: the last.
    """
    alone = workers.count == 1 and workers.share_files
    columns = folder if workers.share_files else None
    # Arrays for other processes go directly to files: they are mapped, not copied.
    in_memory_bytes = IN_MEMORY_BYTES if alone or columns is None else 0
    tasks = whole_tasks(plan, 1 if alone else workers.count, columns, in_memory_bytes)

    def stretches() -> Iterator[Stretch]:
        for stretch in workers.map(partial(read_stretch, advance=advance) if alone else read_stretch, tasks):
            if not alone:
                advance(sum(stretch.counts.values()))
            yield stretch

    return read_recording(plan, stretches(), problems, run=run)


def _is_worth_it(plan: RecordingPlan) -> bool:
    """Return True if the bags are large and intact: then a part can be found, and is faster to read than all."""
    size = sum(file.stat().st_size for bag in plan.bags for file in storage_files(bag.path))
    return size >= LARGE_BYTES and not any(bag.scanned or bag.damaged for bag in plan.bags)


def _texts(times: TimeRequest) -> Sequence[str]:
    """Return the first and the last of the times, as they were written; none if the request is for all times."""
    if times.every is None and times.at_topic is None:
        return times.at or ("end",)
    return () if times.start is None else (times.start, times.stop or "end")


def _merged(spans: Sequence[Span], first: int, last: int) -> list[Span]:
    result: list[Span] = []
    for start, stop in sorted((max(start, first), min(stop, last)) for start, stop in spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((start, stop))
    return result


def _moving(pieces: Pieces) -> Iterator[tuple[tuple[str, ...], IntArray, IntArray]]:
    """Yield the joints and frames of the messages that have moving values, with log times and stamps (n,)."""
    for key, parts in pieces.items():
        if key.kind in ("joints", "tf", "odometry", "multi_dof"):
            for part in parts:
                yield tuple(f"{key.kind} {name}" for name in key.names), np.asarray(part["log"]), stamps_of(part)


def _lateness(pieces: Pieces, span: Span) -> float | None:
    """Return the delay between stamp and recording of a stretch's messages [ns]; None without messages."""
    late = [(log - stamp)[(log >= span[0]) & (log < span[1])] for _, log, stamp in _moving(pieces)]
    every = np.concatenate(late) if late else np.zeros(0, np.int64)
    return float(np.median(every)) if len(every) else None


def _things(pieces: Pieces) -> list[IntArray]:
    """Return the stamps of every moving joint and frame."""
    found: dict[str, list[IntArray]] = {}
    for names, _, stamps in _moving(pieces):
        for name in names:
            found.setdefault(name, []).append(stamps)
    return [np.concatenate(some) for some in found.values()]


def _covered(stamps: IntArray, low: int, high: int, margin: int, end_ns: int) -> bool:
    """Return True if one joint or frame has a value before and a value after the times in the read part."""
    before = bool(((stamps <= low) & (stamps >= low - margin // 2)).any())
    after = bool(((stamps >= high) & (stamps <= high + margin // 2)).any())
    return before and (after or high + margin >= end_ns)
