# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Two senders that alternate on one topic, told apart by their values: no bag says who sent a message.

Whatever is recorded moves in steps that are small beside the distance between two senders that disagree. Where the
values go back and forth between two such paths, one of the two is taken (doc/bags.md, "Two senders").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.foreign_text import quoted
from robot_semantics.recording.columns import Array, GroupKey, Pieces, kept_rows
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

FAR = 0.01
"""Two senders disagree by more than this [m, rad]; encoders and noise go back and forth by less."""

FEWEST = 5
"""So many times at least the values must have gone to the other path and back."""

NEAR = 0.25
"""The steps of one sender are smaller than this share of the distance between the two."""

APART = 1.5
"""For each message of the rarer sender the values change paths so many times; two if none of them follow each other."""

ABOUT_AS_MANY = 0.9
"""Of two senders with at least this ratio of numbers neither has more."""

LOOK_ROWS, LOOK_EVERY, MOST_LIKELY = 256, 2048, 16
"""Only so many samples of each so many are looked at first, and of those that look like two senders so many closely."""


class Found(NamedTuple):
    """Two senders of one thing.

    Attributes:
        second: for each place that samples lie in which of them (rows,) are the second sender's, which is left out.
        apart: how far the two are apart in the median.
    """

    second: list[BoolArray]
    apart: float

    def __str__(self) -> str:
        count, left = sum(len(part) for part in self.second), sum(int(part.sum()) for part in self.second)
        return f"two senders alternate, {self.apart:.3g} apart; that of {count - left} of {count} messages is taken"


def second_sender(logs: Sequence[IntArray], take: Callable[[int, IntArray], FloatArray]) -> Found | None:
    """Return which samples of one thing are a second sender's; None if there is one sender.

    Of two that have about as many samples the second is the one that came later, else the one with fewer.

    Args:
        logs: for each place that samples lie in the log times (rows,) [ns].
        take: gives the values (n, k) of rows (n,) of a place; distances between them are the greatest of the k.
    """
    sizes = [len(part) for part in logs]
    came = np.concatenate([np.asarray(part) for part in logs]) if logs else np.zeros(0, np.int64)
    place, row = np.repeat(np.arange(len(sizes)), sizes), np.concatenate([np.arange(size) for size in sizes] or [came])
    order = np.argsort(came, kind="stable")

    def values(samples: IntArray) -> FloatArray:
        first = take(0, np.zeros(0, np.int64))
        result = np.empty((len(samples), first.shape[1]))
        for index in np.unique(place[samples]).tolist():
            here = np.flatnonzero(place[samples] == index)
            result[here] = take(index, row[samples[here]])
        return result

    if len(order) < 3 * FEWEST:
        return None
    if len(order) > LOOK_EVERY:
        looked = (order[at : at + LOOK_ROWS] for at in range(0, len(order), LOOK_EVERY))
        likely = (some for some in looked if int(_returns(values(some)).sum()) >= FEWEST)
        if not any(_two_paths(values(some), came[some]) for some in islice(likely, MOST_LIKELY)):
            return None
    sorted_values = values(order)
    paths = _two_paths(sorted_values, came[order])
    if paths is None:
        return None
    labels, apart = paths
    few, many = sorted((int(labels.sum()), int((~labels).sum())))
    # The labels start with the sender of the first sample, which is not the second.
    second = labels if few >= ABOUT_AS_MANY * many or labels.sum() < (~labels).sum() else ~labels
    result = np.empty(len(order), dtype=bool)
    result[order] = second
    return Found(np.split(result, np.cumsum(sizes)[:-1]), apart)


def _two_paths(values: FloatArray, times_ns: IntArray) -> tuple[BoolArray, float] | None:
    """Return which samples (n,) are of another path than the first, and how far it is apart; None if there is one."""
    back = np.flatnonzero(_returns(values))
    if len(back) < FEWEST:
        return None
    labels = _followed(values, times_ns, int(back[0]))
    apart = _distance_of_paths(values, labels)
    return None if apart is None else (labels, apart)


def _returns(values: FloatArray) -> BoolArray:
    """Return after which samples (n - 2,) the values go away far and at once come back."""
    step = np.abs(np.diff(values, axis=0)).max(axis=1)
    over = np.abs(values[2:] - values[:-2]).max(axis=1)
    away = np.minimum(step[:-1], step[1:])
    result: BoolArray = (away > FAR) & (over < NEAR * away)
    return result


class _Path:
    """One sender's values, followed from sample to sample; where they will be next is where they were going."""

    def __init__(self, at: list[float], time: int, sample: int) -> None:
        self.at, self.rate, self.time, self.sample = at, [0.0] * len(at), time, sample

    def distance(self, values: list[float], time: int) -> float:
        apart = time - self.time
        return max(abs(v - a - r * apart) for v, a, r in zip(values, self.at, self.rate, strict=True))

    def take(self, values: list[float], time: int, sample: int) -> None:
        apart = time - self.time
        if apart:
            self.rate = [(v - a) / apart for v, a in zip(values, self.at, strict=True)]
        self.at, self.time, self.sample = values, time, sample


def _followed(values: FloatArray, times_ns: IntArray, start: int) -> BoolArray:
    """Return which samples (n,) are of another path than the first one: each belongs to the path it is nearer to."""
    # The three numbers in which the two differ most tell them apart as well as all of them.
    columns = np.argsort(-np.abs(values[start + 1] - values[start]))[:3]
    rows, times = values[:, columns].tolist(), times_ns.tolist()
    labels = np.zeros(len(rows), dtype=bool)
    labels[start + 1] = True
    for numbers in (range(start + 2, len(rows)), range(start - 1, -1, -1)):
        first, second = (_Path(rows[i], times[i], i) for i in (start, start + 1))
        for i in numbers:
            to_first, to_second = first.distance(rows[i], times[i]), second.distance(rows[i], times[i])
            # Where paths cross it is the turn of the one that has waited longer.
            waited = abs(i - second.sample) > abs(i - first.sample)
            labels[i] = waited if abs(to_first - to_second) < FAR else to_second < to_first
            (second if labels[i] else first).take(rows[i], times[i], i)
    return ~labels if labels[0] else labels


def _distance_of_paths(values: FloatArray, labels: BoolArray) -> float | None:
    """Return how far two paths are apart in the median; None if they are no two paths."""
    few = min(int(labels.sum()), int((~labels).sum()))
    changes = np.flatnonzero(np.diff(labels))
    if few < FEWEST or len(changes) < APART * few:
        return None
    apart = float(np.median(np.abs(values[changes + 1] - values[changes]).max(axis=1)))
    for mine in (labels, ~labels):
        steps = np.abs(np.diff(values[mine], axis=0)).max(axis=1)
        if np.median(steps) > NEAR * apart or np.quantile(steps, 0.9) > apart:
            return None
    return apart if apart > FAR else None


def pose_features(poses: Array) -> FloatArray:
    """Return what tells poses (n, 7) apart, of which q and -q are one rotation."""
    result = np.array(poses, dtype=np.float64)
    result[:, 3:] = np.abs(result[:, 3:])
    return result


def one_sender_each(pieces: Pieces, problems: Diagnostics, place: Place) -> Pieces:
    """Return the joint states, odometry and multi-DOF joint states of one sender a topic; others are named."""
    result = dict(pieces)
    for key, parts in pieces.items():
        quantity = {"joints": "position", "odometry": "pose", "multi_dof": "pose"}.get(key.kind)
        if quantity is None or not parts or quantity not in parts[0]:
            continue
        found = second_sender([part["log"] for part in parts], partial(_rows_of, [part[quantity] for part in parts]))
        if found is not None:
            _report(key.topic, key.names, found, problems, place)
            result[key] = kept_rows(parts, ~np.concatenate(found.second))
    for topic in dict.fromkeys(key.topic for key in result if key.kind == "joints"):
        _other_groups(topic, result, problems, place)
    return result


def _rows_of(places: Sequence[Array], index: int, rows: IntArray) -> FloatArray:
    return _features(places[index], rows)


def _features(values: Array, rows: IntArray) -> FloatArray:
    """Return what tells rows of poses (rows, 7) or (rows, joints, 7), or of joint positions (rows, joints), apart."""
    some = np.asarray(values[rows], dtype=np.float64)
    if values.ndim == 3:
        return np.concatenate([pose_features(some[:, i]) for i in range(some.shape[1])], axis=1)
    # Angles at π and -π are one.
    return np.concatenate([np.sin(some), np.cos(some)], axis=1)


def _other_groups(topic: str, pieces: Pieces, problems: Diagnostics, place: Place) -> None:
    """Take joints that messages with other joints contradict out of those of which there are fewer."""
    groups = {key: parts for key, parts in pieces.items() if key.kind == "joints" and key.topic == topic}
    having: dict[str, list[GroupKey]] = {}
    for key, parts in groups.items():
        if parts and "position" in parts[0]:
            for name in dict.fromkeys(key.names):
                having.setdefault(name, []).append(key)
    lost: dict[GroupKey, list[str]] = {}
    said: dict[tuple[GroupKey, ...], tuple[Found, list[str]]] = {}
    for name, keys in having.items():
        if len(keys) < 2:
            continue
        places = [(key, part) for key in keys for part in groups[key]]
        columns = [part["position"][:, [key.names.index(name)]] for key, part in places]
        found = second_sender([part["log"] for _, part in places], partial(_rows_of, columns))
        if found is None:
            continue
        said.setdefault(tuple(keys), (found, []))[1].append(name)
        for key in keys:
            mine = [second for (other, _), second in zip(places, found.second, strict=True) if other is key]
            if np.concatenate(mine).mean() > 0.5:
                lost.setdefault(key, []).append(name)
    for found, names in said.values():
        _report(topic, names, found, problems, place)
    for key, names in lost.items():
        kept = [i for i, name in enumerate(key.names) if name not in names]
        parts = pieces.pop(key)
        if kept:
            less = key._replace(names=tuple(key.names[i] for i in kept))
            pieces.setdefault(less, []).extend(
                {name: array if array.ndim == 1 else array[:, kept] for name, array in part.items()} for part in parts
            )


def _report(topic: str, names: Sequence[str], found: Found, problems: Diagnostics, place: Place) -> None:
    listed = quoted(names, 3)
    problems.warning("two-senders", f"topic '{topic}', {listed}: {found}", place)
