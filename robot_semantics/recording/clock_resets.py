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

from robot_semantics.recording.columns import Array, GroupKey
from robot_semantics.recording.timeline import take_rows
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

Pieces = dict[GroupKey, list[dict[str, Array]]]


class Reset(NamedTuple):
    """A clock that was set back.

    Attributes:
        log_ns: log time of the first message after it.
        by_ns: how far back.
        topic: where it was seen first.
    """

    log_ns: int
    by_ns: int
    topic: str


class Ahead(NamedTuple):
    """A message whose stamp runs ahead of its own clock, which those after it do not follow.

    Attributes:
        log_ns: its log time.
        by_ns: how far ahead it is of the one before it.
    """

    log_ns: int
    by_ns: int
    topic: str


class Jump(NamedTuple):
    """A clock that ran ahead of the time of recording.

    Attributes:
        log_ns: log time of the first message after it.
        by_ns: how far.
    """

    log_ns: int
    by_ns: int
    topic: str


def stamps_of(arrays: dict[str, Array]) -> IntArray:
    """Return one stamp a message (n,), the first where a message has several."""
    stamps = arrays["stamp"]
    return np.asarray(stamps[:, 0] if stamps.ndim == 2 else stamps)


def from_zero(pieces: Pieces) -> Pieces:
    """Return the messages, those that a clock which began at 0 stamped with 0 at that time.

    Any other message whose stamp is 0 has none, and counts when it was recorded.
    """
    return {
        key: parts if key.kind == "tf_static" or not parts else _group_from_zero(parts) for key, parts in pieces.items()
    }


def _group_from_zero(parts: list[dict[str, Array]]) -> list[dict[str, Array]]:
    logs = np.concatenate([np.asarray(part["log"]) for part in parts])
    stamps = np.concatenate([stamps_of(part) for part in parts])
    without = (stamps == logs) & (logs >= WALL_CLOCK_FROM_NS)
    order = np.argsort(logs, kind="stable")
    stamped = order[~without[order]]
    if not without.any() or not len(stamped):
        return parts
    # What comes next tells: a clock that began at 0 has not gone far by then.
    after = np.searchsorted(logs[stamped], logs, side="right")
    following = stamps[stamped[np.minimum(after, len(stamped) - 1)]]
    zero = without & (after < len(stamped)) & (following <= RESET_NS)
    result, at = [], 0
    for part in parts:
        mine = zero[at : at + len(part["log"])]
        at += len(mine)
        stamp = np.asarray(part["stamp"])
        column = (-1, *[1] * (stamp.ndim - 1))
        none = mine.reshape(column) & (stamp == np.asarray(part["log"]).reshape(column))
        result.append({**part, "stamp": np.where(none, 0, stamp)} if mine.any() else part)
    return result


def without_ahead(pieces: Pieces) -> tuple[Pieces, list[Ahead]]:
    """Return the messages without those that are stamped ahead of their clock, and what these were.

    One such stamp would make all that follows look like a clock that was set back.
    """
    by_topic: dict[str, list[GroupKey]] = {}
    for key, parts in pieces.items():
        if key.kind != "tf_static" and parts:
            by_topic.setdefault(key.topic, []).append(key)
    found: list[Ahead] = []
    result = dict(pieces)
    for topic, keys in by_topic.items():
        every = [part for key in keys for part in pieces[key]]
        logs = np.concatenate([np.asarray(part["log"]) for part in every])
        stamps = np.concatenate([stamps_of(part) for part in every])
        order = np.argsort(logs, kind="stable")
        bad = [*_ahead(logs[order], stamps[order])]
        if not bad:
            continue
        found += [Ahead(int(logs[order[i]]), by, topic) for i, by in bad]
        kept = np.ones(len(logs), dtype=bool)
        kept[order[[i for i, _ in bad]]] = False
        at = 0
        for key in keys:
            some = []
            for part in pieces[key]:
                mine = kept[at : at + len(part["log"])]
                at += len(mine)
                some.append(part if mine.all() else {name: array[mine] for name, array in part.items()})
            result[key] = some
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
        if key.kind == "tf_static" or not parts:
            continue
        middle = int(np.median(np.concatenate([stamps_of(part) for part in parts])))
        if middle >= WALL_CLOCK_FROM_NS:
            wall.add(key.topic)
        elif middle <= OTHER_CLOCK_TO_NS:
            other.add(key.topic)
    return sorted(wall), sorted(other)


def find_resets(pieces: Pieces) -> tuple[list[Reset], list[Jump]]:
    """Return the resets of a recording, those of all topics gathered, and the jumps ahead, in order of log time."""
    resets: list[tuple[Reset, int]] = []
    jumps: list[Jump] = []
    for number, (key, parts) in enumerate(pieces.items()):
        if key.kind == "tf_static" or not parts:
            continue
        logs = np.concatenate([np.asarray(part["log"]) for part in parts])
        stamps = np.concatenate([stamps_of(part) for part in parts])
        order = np.argsort(logs, kind="stable")
        logs, stamps = logs[order], stamps[order]
        resets += [(Reset(int(logs[i]), by, key.topic), number) for i, by in _resets(stamps)]
        ahead = np.diff(stamps) - np.diff(logs)
        jumps += [Jump(int(logs[i + 1]), int(ahead[i]), key.topic) for i in np.flatnonzero(ahead > JUMP_NS).tolist()]
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


def _gathered(resets: Sequence[tuple[Reset, int]]) -> list[Reset]:
    """Return resets that several groups of messages saw as one; what one group sees twice is two."""
    result: list[Reset] = []
    seen: set[int] = set()
    for reset, group in sorted(resets):
        if not result or group in seen or reset.log_ns - result[-1].log_ns > TOGETHER_NS:
            result.append(reset)
            seen = set()
        seen.add(group)
    return result


def take_run(pieces: Pieces, resets: Sequence[Reset], run: int) -> Pieces:
    """Return the rows of the run with index `run`, of ``len(resets) + 1``; static transforms belong to all."""
    if not resets:
        return pieces
    result: Pieces = {}
    for key, parts in pieces.items():
        if key.kind == "tf_static":
            result[key] = parts
            continue
        chosen = ((part, rows) for part, rows in _rows(parts, resets, run) if len(rows))
        kept = [{name: take_rows(array, rows) for name, array in part.items()} for part, rows in chosen]
        if kept:
            result[key] = kept
    return result


def _rows(
    parts: list[dict[str, Array]], resets: Sequence[Reset], run: int
) -> Iterator[tuple[dict[str, Array], IntArray]]:
    logs = np.concatenate([np.asarray(part["log"]) for part in parts])
    stamps = np.concatenate([stamps_of(part) for part in parts])
    order = np.argsort(logs, kind="stable")
    borders = np.array([reset.log_ns for reset in resets])
    number = np.searchsorted(borders, logs, side="right")
    # A topic learns of a reset a little later than another; its own step back tells when.
    for i, _ in _resets(stamps[order]):
        at = logs[order[i]]
        nearest = int(np.argmin(np.abs(borders - at)))
        between = (logs >= borders[nearest]) & (logs <= at) & (np.arange(len(logs)) != order[i])
        old = np.flatnonzero(between & (stamps > stamps[order[i]] + RESET_NS))
        number[old] = nearest
    offset = 0
    for part in parts:
        count = len(part["log"])
        yield part, np.flatnonzero(number[offset : offset + count] == run)
        offset += count
