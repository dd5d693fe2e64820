# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Runs: the parts of a recording between resets of its clock, for example of a simulation that restarted.

Stamps of different runs cannot be compared, so each run is read alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import quoted
from robot_semantics.live.order import MOST_AHEAD, RESET_NS, TOGETHER_NS, stamp_resets
from robot_semantics.recording.bags.columns import Array, GroupKey, Part, Pieces, by_part, in_order, kept_rows
from robot_semantics.transforms.arrays import FloatArray, IntArray

JUMP_NS = 10_000_000_000
"""Stamps that run ahead by this much more than the time of recording are told."""

WALL_CLOCK_FROM_NS = 10**9 * 1_000_000_000
"""Stamps from here on, the year 2001, are of the wall clock."""

OTHER_CLOCK_TO_NS = 10**8 * 1_000_000_000
"""Stamps up to here, three years, are of a clock that was started, as a simulator's."""


class ClockStep(NamedTuple):
    """A jump of the stamps against the time of recording: a clock set back or ahead, or a message ahead of its clock.

    Attributes:
        log_ns: log time of the first message after it.
        by_ns: size of the jump [ns].
        topic: the first topic with the jump.
    """

    log_ns: int
    by_ns: int
    topic: str


def from_zero(pieces: Pieces) -> Pieces:
    """Return the messages; those with stamp 0 keep it if their clock began at 0 then.

    Any other message with stamp 0 has no stamp, so its time of recording is used.
    """
    return {key: parts if key.kind == "tf_static" else _group_from_zero(parts) for key, parts in pieces.items()}


def _group_from_zero(parts: list[Part]) -> list[Part]:
    logs, stamps, order = in_order(parts)
    without = (stamps == logs) & (logs >= WALL_CLOCK_FROM_NS)
    stamped = order[~without[order]]
    if not without.any() or not len(stamped):
        return parts
    # The next stamp decides: it is small if the clock started at 0.
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
    """Return the messages without those whose stamps are ahead of their clock, and the removed messages.

    After one such stamp, all later messages would look like a clock that was set back.
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
    """Yield (index, lead) of the stamps of one topic that are ahead while the next stamps are not."""
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
            # The last messages have no next stamp; then the time of recording decides.
            usual = int(drift[: i - 1].max(initial=0))
            if last - i < MOST_AHEAD and i > 1 and drift[i - 1] > max(JUMP_NS, 10 * usual):
                yield from ((k, int(stamps[k] - before)) for k in range(i, last + 1))
                return
        elif stamps[back] >= before - RESET_NS:
            yield from ((k, int(stamps[k] - before)) for k in range(i, back) if stamps[k] > before + RESET_NS)
            skip = back


def clocks(pieces: Pieces) -> tuple[list[str], list[str]]:
    """Return the topics with stamps of the wall clock, and the topics with stamps of a clock that began at 0."""
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
    """Return the resets of a recording on all topics, and the jumps ahead, in the order of log time."""
    streams: list[_Stream] = []
    jumps: list[ClockStep] = []
    for key, parts in _streams(pieces).items():
        logs, stamps, order = in_order(parts)
        logs, stamps = logs[order], stamps[order]
        streams.append(_Stream(key.topic, logs, stamps))
        ahead = np.diff(stamps) - np.diff(logs)
        far = np.flatnonzero(ahead > JUMP_NS).tolist()
        jumps += [ClockStep(int(logs[i + 1]), int(ahead[i]), key.topic) for i in far]
    return _all_resets(streams), sorted(jumps)


class _Stream:
    """Messages with one list of names, in order of arrival, and their next reset."""

    def __init__(self, topic: str, logs: IntArray, stamps: IntArray) -> None:
        self.topic, self.logs, self.stamps = topic, logs, stamps
        self.begin = 0
        self.next = self._next()

    def start(self, begin: int) -> None:
        """Forget the messages before `begin`."""
        if begin > self.begin:
            self.begin = begin
            self.next = self._next()

    def _next(self) -> ClockStep | None:
        found = stamp_resets(self.stamps[self.begin :])[:1]
        return ClockStep(int(self.logs[self.begin + found[0][0]]), found[0][1], self.topic) if found else None


def _all_resets(streams: Sequence[_Stream]) -> list[ClockStep]:
    """Return the resets of all streams; resets in several streams within `TOGETHER_NS` are one.

    After a reset, all streams restart, as in the running node: a slow stream does not report the reset later.
    """
    result: list[ClockStep] = []
    seen: set[int] = set()
    while coming := [(stream.next, number) for number, stream in enumerate(streams) if stream.next is not None]:
        reset, number = min(coming)
        if not result or number in seen or reset.log_ns - result[-1].log_ns > TOGETHER_NS:
            result.append(reset)
            seen = set()
            for other in streams:
                other.start(int(np.searchsorted(other.logs, reset.log_ns)))
        seen.add(number)
        streams[number].start(int(np.searchsorted(streams[number].logs, reset.log_ns)))
    return result


def _streams(pieces: Pieces) -> dict[GroupKey, list[Part]]:
    """Return the moving messages, grouped by list of names; messages with and without velocities are in one group."""
    streams: dict[GroupKey, list[Part]] = {}
    for key, parts in pieces.items():
        if key.kind != "tf_static":
            streams.setdefault(key._replace(has=()), []).extend(parts)
    return streams


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
    """Return the run (n,) of every message; runs change near the log times `borders` [ns]."""
    logs, stamps, order = in_order(parts)
    number = np.searchsorted(borders, logs, side="right")
    # Topics see a reset at slightly different times; a topic's own step back gives its time.
    for i, _ in stamp_resets(stamps[order]):
        at = logs[order[i]]
        nearest = int(np.argmin(np.abs(borders - at)))
        between = (logs >= borders[nearest]) & (logs <= at) & (np.arange(len(logs)) != order[i])
        number[np.flatnonzero(between & (stamps > stamps[order[i]] + RESET_NS))] = nearest
    return number


# Warning about values that alternate between two paths, for example of two publishers. All values are used.


FAR, NEAR, FEWEST, WINDOW = 0.01, 0.25, 5, 512
"""Least distance of paths [m, rad], most share of it for other steps, least number of returns, samples at a time."""

QUANTITIES = {"joints": "position", "tf": "pose", "odometry": "pose", "multi_dof": "pose"}


def report_alternation(pieces: Pieces, problems: Diagnostics, place: SourcePlace) -> None:
    """Warn of topics with joints or frames whose values alternate."""
    topics: dict[str, dict[str, list[tuple[IntArray, Array]]]] = {}
    for key, parts in pieces.items():
        quantity = QUANTITIES.get(key.kind, "")
        for part in (part for part in parts if quantity in part):
            for column, name in enumerate(key.names):
                values = part[quantity] if key.kind == "odometry" else part[quantity][:, column]
                topics.setdefault(key.topic, {}).setdefault(name, []).append((part["log"], values))
    for topic, samples in topics.items():
        if names := [name for name, parts in samples.items() if alternates(parts)]:
            text = f"values of {quoted(names, 3)} alternate between two paths; are there two publishers?"
            problems.warning("two-senders", f"topic '{topic}': {text}", place)


def alternates(parts: Sequence[tuple[IntArray, Array]]) -> bool:
    """Return True if the samples, log times (n,) and values (n, k), alternate; 16 stretches of them are checked."""
    ends = np.cumsum([len(logs) for logs, _ in parts])
    order = np.argsort(np.concatenate([logs for logs, _ in parts]), kind="stable")
    for start in range(0, len(order), max(WINDOW, len(order) // 16)):
        samples = order[start : start + WINDOW]
        places = np.searchsorted(ends, samples, side="right")
        values = np.empty((len(samples), parts[0][1][:1].size))
        for part in np.unique(places):
            mine = places == part
            values[mine] = parts[part][1][samples[mine] - ends[part]].reshape(-1, values.shape[1])
        if _two_paths(values[~np.isnan(values).any(axis=1)]):
            return True
    return False


def _two_paths(values: FloatArray) -> bool:
    # Angles at π and -π are equal, and so are quaternions q and -q.
    one = values.shape[1] == 1
    values = np.hstack([np.sin(values), np.cos(values)] if one else [values[:, :3], np.abs(values[:, 3:])])
    step, over = (np.abs(values[n:] - values[:-n]).max(axis=1, initial=0.0) for n in (1, 2))
    away = np.minimum(step[:-1], step[1:])
    returns = (away > FAR) & (over < NEAR * away)
    if returns.sum() < FEWEST:
        return False
    others = step[~(np.append(returns, False) | np.insert(returns, 0, False))]
    return not len(others) or bool(np.quantile(others, 0.9) < NEAR * np.median(away[returns]))
