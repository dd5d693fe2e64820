"""Samples in time order: which two surround a time, and how far between them it lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Bracket(NamedTuple):
    """Where times (n,) fall among m samples.

    Attributes:
        before: (n,) index of the last sample at or before the time, -1 where there is none.
        after: (n,) index of the first sample at or after the time, m where there is none; equals `before` on a sample.
        share: (n,) how far from `before` to `after` the time lies, in [0, 1); 0 on a sample and outside.
    """

    before: IntArray
    after: IntArray
    share: FloatArray

    def at(self, rows: IntArray) -> Bracket:
        """Return those of some of the times (k,), in order; of all of them it is this one."""
        if len(rows) == len(self.before):
            return self
        return Bracket(self.before[rows], self.after[rows], self.share[rows])


def bracket(stamps_ns: IntArray, times_ns: IntArray) -> Bracket:
    """Return where `times_ns` (n,) fall among `stamps_ns` (m,), which are strictly increasing [ns]."""
    before = np.searchsorted(stamps_ns, times_ns, side="right") - 1
    after = before + 1
    share = np.zeros(len(times_ns))
    if len(stamps_ns) == 0:
        return Bracket(before, after, share)
    first = np.asarray(stamps_ns[np.maximum(before, 0)])
    exact = (before >= 0) & (first == times_ns)
    after[exact] = before[exact]
    inner = (before >= 0) & (after < len(stamps_ns)) & ~exact
    low, high = first[inner], np.asarray(stamps_ns[after[inner]])
    # Integer differences first: a float cannot hold nanoseconds since 1970.
    share[inner] = (times_ns[inner] - low) / (high - low)
    return Bracket(before, after, share)


@dataclass(frozen=True)
class Timeline:
    """One quantity's samples, sorted by stamp, each stamp once: of several with one stamp the first stays, as in tf2.

    The values stay where they are, in memory or in mapped files; the timeline only knows the order.

    Attributes:
        stamps_ns: (m,) strictly increasing.
        values: one array (rows, ...) per place in which samples lie.
        place: (m,) which of `values` a sample lies in; None: all in the first.
        row: (m,) which row there; None: sample i is row i.
        duplicates: how many samples had a stamp that was already taken.
        late: how many samples came after one with a greater stamp.
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
        cls, stamps_ns: Sequence[IntArray], order: Sequence[IntArray], values: Sequence[npt.NDArray[np.generic]]
    ) -> Timeline:
        """Merge samples from several places.

        Args:
            stamps_ns: for each place the stamps (rows,) of its samples.
            order: for each place when each sample came (rows,), in any unit; of two equal stamps the earlier one stays.
            values: for each place its values (rows, ...).

        Raises:
            ArrayError: the three do not have one length.
        """
        for stamps, came, rows in zip(stamps_ns, order, values, strict=True):
            if not len(stamps) == len(came) == len(rows):
                raise ArrayError("stamps_ns", "stamps, order and values must have one length")
        if len(values) == 1 and _increasing(stamps_ns[0]):
            return cls(_frozen(stamps_ns[0]), tuple(values))
        stamps = np.concatenate([np.asarray(part) for part in stamps_ns]) if values else np.zeros(0, np.int64)
        came = np.concatenate([np.asarray(part) for part in order]) if values else np.zeros(0, np.int64)
        place = np.repeat(np.arange(len(values)), [len(part) for part in stamps_ns])
        row = np.concatenate([np.arange(len(part)) for part in stamps_ns]) if values else np.zeros(0, np.int64)
        arrival = np.lexsort((row, place, came))
        late = int((stamps[arrival] < np.maximum.accumulate(stamps[arrival])).sum()) if len(stamps) else 0
        sorting = arrival[np.argsort(stamps[arrival], kind="stable")]
        stamps, place, row = stamps[sorting], place[sorting], row[sorting]
        first = np.ones(len(stamps), dtype=bool)
        first[1:] = stamps[1:] != stamps[:-1]
        return cls(
            _frozen(stamps[first]),
            tuple(values),
            _frozen(place[first]) if len(values) > 1 else None,
            _frozen(row[first]),
            duplicates=int((~first).sum()),
            late=late,
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

    def locate(self, indices: IntArray) -> Iterator[tuple[int, IntArray | slice, IntArray]]:
        """Yield (place, which of `indices`, their rows there) for every place in which some of the samples lie."""
        row = indices if self.row is None else self.row[indices]
        if self.place is None:
            yield 0, slice(None), row
            return
        place = self.place[indices]
        for index in np.unique(place).tolist():
            here = np.flatnonzero(place == index)
            yield index, here, row[here]


def take_rows(values: npt.NDArray[np.generic], rows: IntArray) -> npt.NDArray[np.generic]:
    """Return ``values[rows]``, as one stretch where the rows follow each other: mapped files like that better."""
    if len(rows) > 1 and rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
        return np.asarray(values[int(rows[0]) : int(rows[-1]) + 1])
    return np.asarray(values[rows])


def _increasing(stamps_ns: IntArray) -> bool:
    return bool((np.diff(stamps_ns) > 0).all())


def _frozen(array: IntArray) -> IntArray:
    view: IntArray = array.view()
    view.setflags(write=False)
    return view
