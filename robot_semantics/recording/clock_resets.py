# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Runs: the stretches of a recording between which its clock was set back, as a simulation that is reset does.

Stamps of different runs say nothing about each other, so one run is looked at at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_semantics.recording.columns import GroupKey, Part, Pieces, by_part, in_order, kept_rows
from robot_semantics.transforms.arrays import IntArray

RESET_NS = 1_000_000_000
"""A stamp this much before the newest one, with its successors after it, means that the clock was set back."""

JUMP_NS = 10_000_000_000
"""Stamps that run ahead by this much more than the time of recording are told."""

MOST_AHEAD = 3
"""So many messages in a row may be stamped ahead of their clock; more are taken for what the clock really said."""

WALL_CLOCK_FROM_NS = 10**9 * 1_000_000_000
"""Stamps from here on, the year 2001, are of the wall clock."""

OTHER_CLOCK_TO_NS = 10**8 * 1_000_000_000
"""Stamps up to here, three years, are of a clock that was started, as a simulator's."""

TOGETHER_NS = 2_000_000_000
"""Resets seen on several topics within this much log time are one."""


class ClockStep(NamedTuple):
    """Where stamps do not go on as the time of recording does: a clock set back or ahead, or a message before its time.

    Attributes:
        log_ns: log time of the first message after it.
        by_ns: how far [ns].
        topic: where it was seen first.
    """

    log_ns: int
    by_ns: int
    topic: str


def from_zero(pieces: Pieces) -> Pieces:
    """Return the messages, those that a clock which began at 0 stamped with 0 at that time.

    Any other message whose stamp is 0 has none, and counts when it was recorded.
    """
    return {key: parts if key.kind == "tf_static" else _group_from_zero(parts) for key, parts in pieces.items()}


def _group_from_zero(parts: list[Part]) -> list[Part]:
    logs, stamps, order = in_order(parts)
    without = (stamps == logs) & (logs >= WALL_CLOCK_FROM_NS)
    stamped = order[~without[order]]
    if not without.any() or not len(stamped):
        return parts
    # What comes next tells: a clock that began at 0 has not gone far by then.
    after = np.searchsorted(logs[stamped], logs, side="right")
    following = stamps[stamped[np.minimum(after, len(stamped) - 1)]]
    zero = without & (after < len(stamped)) & (following <= RESET_NS)
    result = []
    for part, mine in by_part(parts, zero):
        stamp = np.asarray(part["stamp"])
        column = (-1, *[1] * (stamp.ndim - 1))
        none = mine.reshape(column) & (stamp == np.asarray(part["log"]).reshape(column))
        result.append({**part, "stamp": np.where(none, 0, stamp)} if mine.any() else part)
    return result


def without_ahead(pieces: Pieces) -> tuple[Pieces, list[ClockStep]]:
    """Return the messages without those that are stamped ahead of their clock, and what these were.

    One such stamp would make all that follows look like a clock that was set back.
    """
    by_topic: dict[str, list[GroupKey]] = {}
    for key in pieces:
        if key.kind != "tf_static":
            by_topic.setdefault(key.topic, []).append(key)
    found: list[ClockStep] = []
    result = dict(pieces)
    for topic, keys in by_topic.items():
        logs, stamps, order = in_order([part for key in keys for part in pieces[key]])
        bad = [*_ahead(logs[order], stamps[order])]
        if not bad:
            continue
        found += [ClockStep(int(logs[order[i]]), by, topic) for i, by in bad]
        kept = np.ones(len(logs), dtype=bool)
        kept[order[[i for i, _ in bad]]] = False
        for key in keys:
            mine, kept = np.split(kept, [sum(len(part["log"]) for part in pieces[key])])
            result[key] = kept_rows(pieces[key], mine)
    return result, sorted(found)


def _ahead(logs: IntArray, stamps: IntArray) -> Iterator[tuple[int, int]]:
    """Yield (index, how far ahead) of the stamps of one topic that run ahead and are not followed."""
    last = len(stamps) - 1
    if last > 1 and stamps[0] > stamps[1:].max() + RESET_NS and (np.diff(stamps[1 : MOST_AHEAD + 2]) > 0).all():
        yield 0, int(stamps[0] - stamps[1])
    drift = np.abs(np.diff(stamps) - np.diff(logs))
    skip = 0
    for i in (np.flatnonzero(np.diff(stamps) > RESET_NS) + 1).tolist():
        if i < skip:
            continue
        before = stamps[i - 1]
        back = next((j for j in range(i + 1, min(i + MOST_AHEAD, last) + 1) if stamps[j] < stamps[i] - RESET_NS), None)
        if back is None:
            # The last messages of all have none after them; then the time of recording tells.
            usual = int(drift[: i - 1].max(initial=0))
            if last - i < MOST_AHEAD and i > 1 and drift[i - 1] > max(JUMP_NS, 10 * usual):
                yield from ((k, int(stamps[k] - before)) for k in range(i, last + 1))
                return
        elif stamps[back] >= before - RESET_NS:
            yield from ((k, int(stamps[k] - before)) for k in range(i, back) if stamps[k] > before + RESET_NS)
            skip = back


def clocks(pieces: Pieces) -> tuple[list[str], list[str]]:
    """Return the topics whose stamps are of the wall clock, and those whose stamps are of one that was started."""
    wall, other = set[str](), set[str]()
    for key, parts in pieces.items():
        if key.kind == "tf_static":
            continue
        middle = int(np.median(in_order(parts)[1]))
        if middle >= WALL_CLOCK_FROM_NS:
            wall.add(key.topic)
        elif middle <= OTHER_CLOCK_TO_NS:
            other.add(key.topic)
    return sorted(wall), sorted(other)


def find_resets(pieces: Pieces) -> tuple[list[ClockStep], list[ClockStep]]:
    """Return the resets of a recording, those of all topics gathered, and the jumps ahead, in order of log time."""
    resets: list[tuple[ClockStep, int]] = []
    jumps: list[ClockStep] = []
    for number, (key, parts) in enumerate(pieces.items()):
        if key.kind == "tf_static":
            continue
        logs, stamps, order = in_order(parts)
        logs, stamps = logs[order], stamps[order]
        resets += [(ClockStep(int(logs[i]), by, key.topic), number) for i, by in _resets(stamps)]
        ahead = np.diff(stamps) - np.diff(logs)
        far = np.flatnonzero(ahead > JUMP_NS).tolist()
        jumps += [ClockStep(int(logs[i + 1]), int(ahead[i]), key.topic) for i in far]
    return _gathered(resets), sorted(jumps)


def _resets(stamps: IntArray) -> Iterator[tuple[int, int]]:
    """Yield (index, how far back) of every reset; a single late message is none."""
    highest: int | None = None
    last = 0
    for i in (np.flatnonzero(np.diff(stamps) < -RESET_NS) + 1).tolist():
        before = int(stamps[last:i].max())
        highest = before if highest is None else max(highest, before)
        stays = i + 1 >= len(stamps) or stamps[i + 1] < highest - RESET_NS
        if stays:
            yield i, highest - int(stamps[i])
            highest, last = None, i
        else:
            last = i


def _gathered(resets: Sequence[tuple[ClockStep, int]]) -> list[ClockStep]:
    """Return resets that several groups of messages saw as one; what one group sees twice is two."""
    result: list[ClockStep] = []
    seen: set[int] = set()
    for reset, group in sorted(resets):
        if not result or group in seen or reset.log_ns - result[-1].log_ns > TOGETHER_NS:
            result.append(reset)
            seen = set()
        seen.add(group)
    return result


def take_run(pieces: Pieces, resets: Sequence[ClockStep], run: int) -> Pieces:
    """Return the rows of the run with index `run`, of ``len(resets) + 1``; static transforms belong to all."""
    if not resets:
        return pieces
    result: Pieces = {}
    borders = np.array([reset.log_ns for reset in resets])
    for key, parts in pieces.items():
        if key.kind == "tf_static":
            result[key] = parts
        elif kept := [part for part in kept_rows(parts, _runs(parts, borders) == run) if len(part["log"])]:
            result[key] = kept
    return result


def _runs(parts: Sequence[Part], borders: IntArray) -> IntArray:
    """Return of every message (n,) the index of its run; these change about the log times `borders` [ns]."""
    logs, stamps, order = in_order(parts)
    number = np.searchsorted(borders, logs, side="right")
    # A topic learns of a reset a little later than another; its own step back tells when.
    for i, _ in _resets(stamps[order]):
        at = logs[order[i]]
        nearest = int(np.argmin(np.abs(borders - at)))
        between = (logs >= borders[nearest]) & (logs <= at) & (np.arange(len(logs)) != order[i])
        number[np.flatnonzero(between & (stamps > stamps[order[i]] + RESET_NS))] = nearest
    return number
