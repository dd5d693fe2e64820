# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Samples in the order of time: the neighbours of a time, its position between them, and the interpolated value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError
from robot_semantics.base.record import record
from robot_semantics.recording.bags.columns import take_rows
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

MODES = ("linear", "previous", "nearest")
"""How a value between two samples follows from them."""


class Bracket(NamedTuple):
    """Positions among m samples of the requested times with an answer.

    Attributes:
        rows: (k,) indices of the times.
        before: (k,) index of the sample at or before the time.
        after: (k,) index of the sample at or after it; equal to `before` if one sample is enough.
        share: (k,) position of the time between `before` and `after`, in [0, 1).
        age_ns: (k,) distance to the nearer of the two samples.
    """

    rows: IntArray
    before: IntArray
    after: IntArray
    share: FloatArray
    age_ns: IntArray

    def at_all_times(self, count: int, values: npt.NDArray[Any], missing: float) -> npt.NDArray[Any]:
        """Return the values (k, ...) at all `count` times (count, ...), with `missing` for times without an answer."""
        if len(self.rows) == count:
            return values
        result = np.full((count, *values.shape[1:]), missing, dtype=values.dtype)
        result[self.rows] = values
        return result


def bracket(stamps_ns: IntArray, times_ns: IntArray, mode: str = "linear", *, hold: bool = True) -> Bracket:
    """Return the positions of `times_ns` (n,) among `stamps_ns` (m,), which never decrease [ns].

    Of several samples with one stamp, the first is valid until then and the last from then on, as in tf2.

    Args:
        stamps_ns: the samples' times.
        times_ns: the requested times.
        mode: one of `MODES`.
        hold: use the last sample after its time (and with ``nearest`` the first sample before its time), instead of no
            result.
    """
    last = len(stamps_ns) - 1
    if last < 0:
        none = np.zeros(0, np.int64)
        return Bracket(none, none, none, np.zeros(0), none)
    before = np.searchsorted(stamps_ns, times_ns, side="right") - 1
    if last and stamps_ns[0] == stamps_ns[1] and stamps_ns[0] != stamps_ns[last]:
        # For the time of the oldest samples, tf2 returns the first of them.
        before[times_ns == stamps_ns[0]] = 0
    after = before + 1
    exact = (before >= 0) & (stamps_ns[np.maximum(before, 0)] == times_ns)
    after[exact] = before[exact]
    inside = (before >= 0) & (after <= last)
    usable = (np.ones(len(times_ns), bool) if mode == "nearest" else before >= 0) if hold else inside
    share = np.zeros(len(times_ns))
    inner = np.flatnonzero(inside & ~exact)
    low, high = stamps_ns[before[inner]], stamps_ns[after[inner]]
    # Integer differences first: a float cannot hold nanoseconds since 1970.
    share[inner] = (times_ns[inner] - low) / (high - low)
    before, after = np.clip(before, 0, last), np.clip(after, 0, last)
    if mode == "nearest":
        before = np.where(share > 0.5, after, before)
    if mode != "linear":
        after, share = before, np.zeros(len(times_ns))
    age = np.minimum(np.abs(times_ns - stamps_ns[before]), np.abs(times_ns - stamps_ns[after]))
    rows = np.flatnonzero(usable)
    if len(rows) == len(times_ns):
        return Bracket(rows, before, after, share, age)
    return Bracket(rows, before[rows], after[rows], share[rows], age[rows])


def interpolate_bracket(
    bracket: Bracket,
    take: Callable[[IntArray], npt.NDArray[np.generic]],
    blend: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
    is_separate: BoolArray | None = None,
) -> FloatArray:
    """Return the values (k, ...) at a bracket's times; all values of a recording are interpolated here.

    Args:
        bracket: the bracket.
        take: returns the values of samples by their indices.
        blend: interpolates values (j, ...) before and after by their shares (j, 1); not called for a time on a sample.
        is_separate: (k,) True if the two samples must not be interpolated, so that the first is used.
    """
    first = np.asarray(take(bracket.before), dtype=np.float64)
    between = bracket.share > 0.0 if is_separate is None else (bracket.share > 0.0) & ~is_separate
    if not between.any():
        return first
    if between.all():
        second = np.asarray(take(bracket.after), dtype=np.float64)
        return np.asarray(blend(first, second, bracket.share[:, np.newaxis]))
    rows = np.flatnonzero(between)
    # The array may be that of the recording: do not write into it.
    result: FloatArray = first.copy()
    second = np.asarray(take(bracket.after[rows]), dtype=np.float64)
    result[rows] = blend(first[rows], second, bracket.share[rows, np.newaxis])
    return result


def blend_straight(low: FloatArray, high: FloatArray, share: FloatArray) -> FloatArray:
    """Interpolate linearly between two values."""
    return low + share * (high - low)


@record(frozen=True)
class Timeline:
    """Samples of one quantity, sorted by stamp, then by arrival.

    The values stay in memory or in mapped files; the timeline has only their order.

    Attributes:
        stamps_ns: (m,) never decreasing; strictly increasing without `keep_equal`.
        values: one array (rows, ...) for each part with samples.
        place: (m,) index in `values` for each sample; None: all in the first.
        row: (m,) row in this array; None: sample i is row i.
        duplicates: number of samples with the stamp of an earlier sample.
        late: number of samples after one with a greater stamp.
    """

    stamps_ns: IntArray
    values: tuple[npt.NDArray[np.generic], ...]
    place: IntArray | None = None
    row: IntArray | None = None
    duplicates: int = 0
    late: int = 0

    def __len__(self) -> int:
        return len(self.stamps_ns)

    @classmethod
    def merge(
        cls,
        stamps_ns: Sequence[IntArray],
        order: Sequence[IntArray],
        values: Sequence[npt.NDArray[np.generic]],
        *,
        keep_equal: Sequence[int] | None = None,
    ) -> Timeline:
        """Merge samples of several parts.

        Args:
            stamps_ns: for each part, the stamps (rows,) of its samples.
            order: for each part, the time of arrival of each sample (rows,), in any unit.
            values: for each part, its values (rows, ...).
            keep_equal: for each part, a number; then all samples with one stamp stay, as in tf2, unless value and
                number are repeated. None: of samples with one stamp, only the last one to arrive stays; late samples
                are ignored.

        Raises:
            ArrayError: stamps, order and values differ in length.
        """
        for stamps, arrival_order, rows in zip(stamps_ns, order, values, strict=True):
            if not len(stamps) == len(arrival_order) == len(rows):
                raise ArrayError("stamps_ns", "stamps, order and values must have the same length")
        if len(values) == 1 and _increasing(stamps_ns[0]):
            return cls(_frozen(stamps_ns[0]), tuple(values))
        stamps = np.concatenate([np.asarray(part) for part in stamps_ns]) if values else np.zeros(0, np.int64)
        arrival_order = np.concatenate([np.asarray(part) for part in order]) if values else np.zeros(0, np.int64)
        place = np.repeat(np.arange(len(values)), [len(part) for part in stamps_ns])
        row = np.concatenate([np.arange(len(part)) for part in stamps_ns]) if values else np.zeros(0, np.int64)
        arrival = np.lexsort((row, place, arrival_order))
        late = stamps[arrival] < np.maximum.accumulate(stamps[arrival]) if len(stamps) else np.zeros(0, np.bool_)
        # A late sample does not replace one that came in order, except for tf2.
        first = late if keep_equal is None else np.zeros(len(late), np.bool_)
        sorting = arrival[np.lexsort((~first, stamps[arrival]))]
        stamps, place, row = stamps[sorting], place[sorting], row[sorting]
        replaced = np.zeros(len(stamps), dtype=bool)
        replaced[:-1] = stamps[1:] == stamps[:-1]
        kept_rows = ~replaced
        if keep_equal is not None and replaced.any():
            kept_rows = _new(stamps, place, row, values, keep_equal)
        return cls(
            _frozen(stamps[kept_rows]),
            tuple(values),
            _frozen(place[kept_rows]) if len(values) > 1 else None,
            _frozen(row[kept_rows]),
            duplicates=int(replaced.sum()),
            late=int(late.sum()),
        )

    def take(self, indices: IntArray) -> npt.NDArray[np.generic]:
        """Return the values of the samples `indices` (n,); (n, ...)."""
        row = indices if self.row is None else self.row[indices]
        if self.place is None:
            return take_rows(self.values[0], row)
        result = np.empty((len(indices), *self.values[0].shape[1:]), dtype=self.values[0].dtype)
        for place, here, rows in self.locate(indices):
            result[here] = take_rows(self.values[place], rows)
        return result

    def sample(
        self,
        times_ns: IntArray,
        mode: str,
        blend: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
        *,
        hold: bool = True,
    ) -> tuple[FloatArray, IntArray]:
        """Return the values (n, ...) at `times_ns` (n,) and their ages (n,) [ns]; NaN and -1 without an answer.

        Arguments as for `bracket` and `interpolate_bracket`.
        """
        where, count = bracket(self.stamps_ns, times_ns, mode, hold=hold), len(times_ns)
        values = where.at_all_times(count, interpolate_bracket(where, self.take, blend), np.nan)
        return values, where.at_all_times(count, where.age_ns, -1)

    def locate(self, indices: IntArray) -> Iterator[tuple[int, IntArray | slice, IntArray]]:
        """Yield (part, positions in `indices`, rows in the part) for every part with some of the samples."""
        row = indices if self.row is None else self.row[indices]
        if self.place is None:
            yield 0, slice(None), row
            return
        place = self.place[indices]
        for index in np.unique(place).tolist():
            here = np.flatnonzero(place == index)
            yield index, here, row[here]


def _new(
    stamps: IntArray,
    place: IntArray,
    row: IntArray,
    values: Sequence[npt.NDArray[np.generic]],
    numbers: Sequence[int],
) -> BoolArray:
    """Return the samples (m,), sorted by stamp and arrival, that differ from all earlier samples with the same
    stamp.
    """
    shared = np.zeros(len(stamps), dtype=bool)
    shared[1:] = stamps[1:] == stamps[:-1]
    shared[:-1] |= shared[1:]
    those = np.flatnonzero(shared)
    contents = np.empty((len(those), 2 + int(np.prod(values[0].shape[1:]))))
    contents[:, 0] = np.searchsorted(np.unique(stamps[those]), stamps[those])
    contents[:, 1] = np.asarray(numbers)[place[those]]
    for index in np.unique(place[those]).tolist():
        here = place[those] == index
        # Adding zero makes -0.0 equal to 0.0, as in tf2.
        contents[here, 2:] = np.asarray(values[index][row[those[here]]]).reshape(int(here.sum()), -1) + 0.0
    as_bytes = np.ascontiguousarray(contents).view(np.dtype((np.void, contents.shape[1] * 8))).ravel()
    _, first = np.unique(as_bytes, return_index=True)
    kept = ~shared
    kept[those[first]] = True
    return kept


def _increasing(stamps_ns: IntArray) -> bool:
    return bool((np.diff(stamps_ns) > 0).all())


def _frozen(array: IntArray) -> IntArray:
    view: IntArray = array.view()
    view.setflags(write=False)
    return view
