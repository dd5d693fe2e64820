# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The states of a series as USDF texts: of states that state the same things one is written, the rest filled in.

The states of a recording hardly ever differ in more than their numbers. The writer writes one with marks in the
places of these; where the text of the marks with numbers put in is what the writer makes of a state, it is used for all
states of that shape. This takes a tenth of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.recording.series import Series
from robot_semantics.transforms.arrays import IntArray
from robot_semantics.usdf.ages import ValueAge, with_ages
from robot_semantics.usdf.table import USDF, format_time
from robot_semantics.usdf.validity import SOURCE
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world
from robot_semantics.xml.numbers import format_row
from robot_semantics.xml.schema_writer import write_table

_MARK = 123_456_700_000_000.5
_TIME_MARK_NS = 1_234_567_890 * 10**9
_MARKS = re.compile(r"1234567(?P<number>\d{8})\.5|1234567890\.(?P<time>\d{9})")


def aged_states(series: Series, max_gap_ns: int) -> Iterator[WorldState]:
    """Yield every state, with the ages of what is older than `max_gap_ns` in it."""
    old = series.ages_ns > max_gap_ns
    for i, row in enumerate(series.rows().tolist()):
        yield _aged(series, i, row, int(series.times_ns[i]), np.flatnonzero(old[i]).tolist(), series.ages_ns[i])


def state_texts(series: Series, max_gap_ns: int) -> Iterator[str]:
    """Yield the USDF text of every one of `aged_states`.

    Raises:
        DescriptionError: a state cannot be written.
    """
    rows, old = series.rows(), series.ages_ns > max_gap_ns
    parents = np.column_stack((series.frame_parent, *(model.parent for model in series.models)))
    shapes = np.column_stack((np.isnan(rows), old, parents.astype(np.int64).view(np.bool_)))
    skeletons: dict[bytes, _Skeleton | None] = {}
    for i, (row, time_ns) in enumerate(zip(rows.tolist(), series.times_ns.tolist(), strict=True)):
        shape = shapes[i].tobytes()
        skeleton = skeletons.get(shape)
        text = skeleton and skeleton.filled(row, time_ns, series.ages_ns[i])
        if not text:
            some = np.flatnonzero(old[i]).tolist()
            text = write_world(_aged(series, i, row, time_ns, some, series.ages_ns[i]))
            # A shape that stands alone needs none.
            if shape in skeletons and skeleton is None:
                made = skeletons[shape] = _Skeleton(series, i, row, some)
                # A name that looks like a mark is not one.
                made.usable = made.filled(row, time_ns, series.ages_ns[i]) == text
            skeletons.setdefault(shape, None)
        yield text


class _Skeleton:
    """The text of all states that state the same things.

    Attributes:
        usable: whether it gives what the writer does.
    """

    def __init__(self, series: Series, index: int, row: Sequence[float], old: Sequence[int]) -> None:
        """Take the state of one time, and the numbers of those in `Series.aged` whose ages are stated."""
        marks = [value if value != value else _MARK + at for at, value in enumerate(row)]
        ages = _TIME_MARK_NS + np.arange(len(series.aged))
        state = _aged(series, index, marks, _TIME_MARK_NS + len(ages), old, ages)
        self.usable = True
        self._parts: list[str] = []
        self._numbers: list[int] = []
        self._number_places: list[int] = []
        self._times: list[tuple[int, int]] = []
        end, text = 0, write_table(state, USDF, SOURCE, Diagnostics())
        for found in _MARKS.finditer(text):
            self._parts += (text[end : found.start()], "")
            place, end = len(self._parts) - 1, found.end()
            if found["number"] is not None:
                self._numbers.append(int(found["number"]))
                self._number_places.append(place)
            else:
                self._times.append((place, int(found["time"])))
        self._parts.append(text[end:])

    def filled(self, row: Sequence[float], time_ns: int, ages_ns: IntArray) -> str:
        """Return the text with the numbers of a row, a time and ages; empty where that cannot be done."""
        if not self.usable:
            return ""
        parts = self._parts.copy()
        try:
            numbers = format_row(tuple([row[at] for at in self._numbers])).split()
        except ValueError:
            return ""
        for place, number in zip(self._number_places, numbers, strict=True):
            parts[place] = number
        for place, at in self._times:
            parts[place] = format_time(time_ns if at == len(ages_ns) else int(ages_ns[at]))
        return "".join(parts)


def _aged(
    series: Series, index: int, row: Sequence[float], time_ns: int, old: Sequence[int], ages_ns: IntArray
) -> WorldState:
    state = series.state(index, row, time_ns)
    return with_ages(state, [ValueAge(*series.aged[at], int(ages_ns[at])) for at in old]) if old else state
