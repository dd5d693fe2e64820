"""Recorded joint states, looked up at thousands of times at once.

Messages may be partial and come from several publishers: every joint has its own history, merged of all messages that
name it. Joints that always come in the same messages share one time line, so the usual robot needs one search in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.recording.columns import Array
from robot_semantics.recording.runs import Pieces
from robot_semantics.recording.timeline import Bracket, FloatArray, IntArray, Timeline, bracket, take_rows

QUANTITIES = ("position", "velocity", "effort")


class JointSamples(NamedTuple):
    """Joint values at n times; NaN where nothing is known.

    Attributes:
        position: (n, joints) [rad, m].
        velocity: (n, joints) [rad/s, m/s].
        effort: (n, joints) [N m, N].
        age_ns: (n, joints) distance in time to the nearest message that gave the position; -1 where none did.
    """

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray
    age_ns: IntArray


class _Place(NamedTuple):
    names: tuple[str, ...]
    arrays: dict[str, Array]


@dataclass(frozen=True)
class _Family:
    """Joints whose values of one quantity always come together.

    Attributes:
        places: indices of the places in which they lie, in the time line's order.
        columns: for each of those places which columns are the joints'.
    """

    joints: tuple[str, ...]
    places: tuple[int, ...]
    columns: tuple[IntArray, ...]
    timeline: Timeline


class _Asked(NamedTuple):
    """What is asked of a family: one quantity of some of its joints (by number), and which of these are angles."""

    family: _Family
    quantity: str
    mine: IntArray
    angles: npt.NDArray[np.bool_]


class JointHistory:
    """All recorded joint states of one run and one set of topics.

    Attributes:
        names: every joint that was seen, in the order of its first message.
        duplicates: messages whose stamp was already taken.
        late: messages that came after one with a later stamp.
    """

    def __init__(self, pieces: Pieces, topics: Sequence[str]) -> None:
        self._places = [
            _Place(key.names, part)
            for key, parts in pieces.items()
            if key.kind == "joints" and key.topic in topics
            for part in parts
        ]
        self._timelines: dict[tuple[int, ...], Timeline] = {}
        self._families = {quantity: list(self._grouped(quantity)) for quantity in QUANTITIES}
        self.names = tuple(dict.fromkeys(name for place in self._places for name in place.names))
        self.duplicates = max((timeline.duplicates for timeline in self._timelines.values()), default=0)
        self.late = max((timeline.late for timeline in self._timelines.values()), default=0)

    def _grouped(self, quantity: str) -> Iterator[_Family]:
        where: dict[str, list[int]] = {}
        for number, place in enumerate(self._places):
            if quantity in place.arrays:
                # Of a name that is in a message twice the first is taken.
                for name in dict.fromkeys(place.names):
                    where.setdefault(name, []).append(number)
        families: dict[tuple[int, ...], list[str]] = {}
        for name, places in where.items():
            families.setdefault(tuple(places), []).append(name)
        for numbers, joints in families.items():
            columns = tuple(
                np.array([self._places[number].names.index(joint) for joint in joints], dtype=np.int64)
                for number in numbers
            )
            yield _Family(tuple(joints), numbers, columns, self._timeline(numbers))

    def _timeline(self, numbers: tuple[int, ...]) -> Timeline:
        if numbers not in self._timelines:
            arrays = [self._places[number].arrays for number in numbers]
            stamps = [part["stamp"] for part in arrays]
            self._timelines[numbers] = Timeline.merge(stamps, [part["log"] for part in arrays], stamps)
        return self._timelines[numbers]

    def stamps_ns(self) -> IntArray:
        """Return every stamp of these messages once, sorted [ns]."""
        stamps = [np.asarray(place.arrays["stamp"]) for place in self._places]
        return np.unique(np.concatenate(stamps)) if stamps else np.zeros(0, np.int64)

    def sample(
        self,
        joints: Sequence[str],
        times_ns: IntArray,
        mode: str = "linear",
        turns: npt.NDArray[np.bool_] | None = None,
    ) -> JointSamples:
        """Return the values of `joints` at `times_ns` (n,).

        Args:
            joints: names; those never seen get NaN.
            times_ns: the times.
            mode: ``linear``, ``previous`` or ``nearest``. After its last message a joint keeps its value; before its
                first it has one only with ``nearest``.
            turns: (joints,) which of them turn without end, and so go from π to -π the short way.
        """
        index = {name: i for i, name in enumerate(joints)}
        turning = np.zeros(len(joints), bool) if turns is None else turns
        results: dict[str, FloatArray] = {}
        age: IntArray | None = None
        brackets: dict[tuple[int, ...], Bracket] = {}
        for quantity in QUANTITIES:
            for family in self._families[quantity]:
                asked = [(column, index[name]) for column, name in enumerate(family.joints) if name in index]
                if not asked:
                    continue
                mine, out = (np.array(part, dtype=np.int64) for part in zip(*asked, strict=True))
                if family.places not in brackets:
                    brackets[family.places] = bracket(family.timeline.stamps_ns, times_ns)
                where = brackets[family.places]
                angles = turning[out] if quantity == "position" else np.zeros(len(out), bool)
                values, ages = _MODES[mode](self, _Asked(family, quantity, mine, angles), where, times_ns)
                everything = len(out) == len(joints)
                if everything and (out == np.arange(len(out))).all():
                    results[quantity] = values
                else:
                    results.setdefault(quantity, _unknown(len(times_ns), len(joints)))[:, out] = values
                if quantity == "position":
                    if everything:
                        # One age for all of them, seen as one for each.
                        age = np.broadcast_to(ages[:, np.newaxis], (len(times_ns), len(joints)))
                    else:
                        age = np.full((len(times_ns), len(joints)), -1, dtype=np.int64) if age is None else age
                        age[:, out] = ages[:, np.newaxis]
        if age is None:
            age = np.full((len(times_ns), len(joints)), -1, dtype=np.int64)
        found = [results.get(quantity) for quantity in QUANTITIES]
        position, velocity, effort = (_unknown(len(times_ns), len(joints)) if v is None else v for v in found)
        return JointSamples(position, velocity, effort, age)

    def gather(self, asked: _Asked, samples: IntArray) -> FloatArray:
        """Return the values (n, asked) of some of a family's joints at some of its samples."""
        family, quantity, mine, _ = asked
        result: FloatArray | None = None
        for place, here, rows in family.timeline.locate(samples):
            values = np.asarray(take_rows(self._places[family.places[place]].arrays[quantity], rows), dtype=np.float64)
            columns = family.columns[place][mine]
            some = values if _whole(columns, values.shape[1]) else values[:, columns]
            if isinstance(here, slice):
                return some
            result = np.empty((len(samples), len(mine))) if result is None else result
            result[here] = some
        return np.empty((len(samples), len(mine))) if result is None else result


def _linear(history: JointHistory, asked: _Asked, where: Bracket, times_ns: IntArray) -> tuple[FloatArray, IntArray]:
    timeline = asked.family.timeline
    last = len(timeline) - 1
    known = np.flatnonzero(where.before >= 0)
    everywhere = len(known) == len(times_ns)
    before, after, shares = where.at(known)
    after = np.minimum(after, last)
    first = history.gather(asked, before)
    between = np.flatnonzero(shares > 0.0)
    if len(between):
        share = shares[between, np.newaxis]
        low, high = first[between], history.gather(asked, after[between])
        step = high - low
        if asked.angles.any():
            turns = step[:, asked.angles] / (2.0 * np.pi)
            step[:, asked.angles] -= 2.0 * np.pi * np.round(turns)
        # What was gathered may be the recording itself, so it is not written into.
        first = first.copy()
        first[between] = low + share * step
    stamps = timeline.stamps_ns
    now = times_ns[known]
    age = np.minimum(np.abs(now - stamps[before]), np.abs(now - stamps[after]))
    if everywhere:
        return first, age
    values, ages = _unknown(len(times_ns), len(asked.mine)), np.full(len(times_ns), -1, dtype=np.int64)
    values[known], ages[known] = first, age
    return values, ages


def _previous(history: JointHistory, asked: _Asked, where: Bracket, times_ns: IntArray) -> tuple[FloatArray, IntArray]:
    return _stepped(history, asked, where.before, times_ns)


def _nearest(history: JointHistory, asked: _Asked, where: Bracket, times_ns: IntArray) -> tuple[FloatArray, IntArray]:
    chosen = np.where(where.share > 0.5, where.after, where.before)
    return _stepped(history, asked, np.clip(chosen, 0, len(asked.family.timeline) - 1), times_ns)


def _stepped(history: JointHistory, asked: _Asked, chosen: IntArray, times_ns: IntArray) -> tuple[FloatArray, IntArray]:
    values, ages = _unknown(len(times_ns), len(asked.mine)), np.full(len(times_ns), -1, dtype=np.int64)
    known = np.flatnonzero(chosen >= 0)
    values[known] = history.gather(asked, chosen[known])
    ages[known] = np.abs(times_ns[known] - asked.family.timeline.stamps_ns[chosen[known]])
    return values, ages


_Mode = Callable[[JointHistory, _Asked, Bracket, IntArray], tuple[FloatArray, IntArray]]

_MODES: dict[str, _Mode] = {"linear": _linear, "previous": _previous, "nearest": _nearest}


def _unknown(times: int, joints: int) -> FloatArray:
    return np.full((times, joints), np.nan)


def _whole(columns: IntArray, width: int) -> bool:
    return len(columns) == width and bool((columns == np.arange(width)).all())
