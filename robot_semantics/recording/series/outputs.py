# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files of series, written block by block and atomically: USDF documents, JSON lines, CSV, `.npz`.

Texts are made in several processes. The states of a recording usually differ only in their numbers. The USDF writer
writes one state with marks in the places of its numbers. If this text with the numbers filled in equals the writer's
text of a state, it is used for all states of that shape. This takes a tenth of the time.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.convert.json_form import world_to_json
from robot_semantics.recording.bags.columns import Array, Columns, GroupKey, Stream
from robot_semantics.recording.series.arrays import Column, columns_with_values, head_arrays, series_arrays, series_head
from robot_semantics.recording.series.series import Gap, Series
from robot_semantics.transforms.arrays import IntArray
from robot_semantics.usdf.fields import ValueAge, with_ages
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import world_text, write_world
from robot_semantics.xml.numbers import format_row

_MARK = 123_456_700_000_000.5
_TIME_MARK_NS = 1_234_567_890 * 10**9
_MARKS = pattern(r"1234567(?P<number>\d{8})\.5|1234567890\.(?P<time>\d{9})")


def aged_states(series: Series, max_gap_ns: int) -> Iterator[WorldState]:
    """Yield each state, with the ages of the values that are older than `max_gap_ns`."""
    old = series.ages_ns > max_gap_ns
    for i, row in enumerate(series.rows().tolist()):
        yield _aged(series, i, row, int(series.times_ns[i]), np.flatnonzero(old[i]).tolist(), series.ages_ns[i])


def state_texts(series: Series, max_gap_ns: int) -> Iterator[str]:
    """Yield the USDF text of each state of `aged_states`.

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
            # A shape with a single state needs no skeleton.
            if shape in skeletons and skeleton is None:
                made = skeletons[shape] = _Skeleton(series, i, row, some)
                # A name that looks like a mark is not one.
                made.usable = made.filled(row, time_ns, series.ages_ns[i]) == text
            skeletons.setdefault(shape, None)
        yield text


class _Skeleton:
    """A template for the texts of all states with the same fields.

    Attributes:
        usable: True if its text equals the text of the writer.
    """

    def __init__(self, series: Series, index: int, row: Sequence[float], old: Sequence[int]) -> None:
        """Prepare from the state of one time, and the numbers of the items in `Series.aged` with a stated age."""
        marks = [value if value != value else _MARK + at for at, value in enumerate(row)]
        ages = _TIME_MARK_NS + np.arange(len(series.aged))
        state = _aged(series, index, marks, _TIME_MARK_NS + len(ages), old, ages)
        self.usable = True
        self._parts: list[str] = []
        self._numbers: list[int] = []
        self._number_places: list[int] = []
        self._times: list[tuple[int, int]] = []
        end, text = 0, world_text(state, Diagnostics())
        for match in _MARKS.finditer(text):
            self._parts += (text[end : match.start()], "")
            place, end = len(self._parts) - 1, match.end()
            if match["number"] is not None:
                self._numbers.append(int(match["number"]))
                self._number_places.append(place)
            else:
                self._times.append((place, int(match["time"])))
        self._parts.append(text[end:])

    def filled(self, row: Sequence[float], time_ns: int, ages_ns: IntArray) -> str:
        """Return the text with the numbers of a row, a time and ages; empty if this is impossible."""
        if not self.usable:
            return ""
        parts = self._parts.copy()
        try:
            numbers = format_row(tuple([row[index] for index in self._numbers])).split()
        except ValueError:
            return ""
        for place, number in zip(self._number_places, numbers, strict=True):
            parts[place] = number
        for place, index in self._times:
            parts[place] = seconds_text(time_ns if index == len(ages_ns) else int(ages_ns[index]))
        return "".join(parts)


def _aged(
    series: Series, index: int, row: Sequence[float], time_ns: int, old: Sequence[int], ages_ns: IntArray
) -> WorldState:
    state = series.state(index, row, time_ns)
    return with_ages(state, [ValueAge(*series.aged[at], int(ages_ns[at])) for at in old]) if old else state


class StatesToRender(NamedTuple):
    """States to render, one after the other.

    Attributes:
        series: the states.
        max_gap_ns: older values are listed with their state.
    """

    format: str
    series: Series
    max_gap_ns: int


class Rendered(NamedTuple):
    """One state as text.

    Attributes:
        time_ns: its time.
        text: the whole document, line or row, with its end of line.
        gaps: its unknown and old values.
    """

    time_ns: int
    text: str
    gaps: tuple[Gap, ...]


def rendered_states(states: StatesToRender) -> list[Rendered]:
    """Return every state as text.

    Raises:
        DescriptionError: a state cannot be written as USDF.
    """
    gaps = list(states.series.gaps(states.max_gap_ns))
    texts = _FORMATS[states.format](states, gaps)
    return [Rendered(*one) for one in zip(states.series.times_ns.tolist(), texts, gaps, strict=True)]


def _usdf(states: StatesToRender, _gaps: Sequence[tuple[Gap, ...]]) -> Iterator[str]:
    return state_texts(states.series, states.max_gap_ns)


def _jsonl(states: StatesToRender, gaps: Sequence[tuple[Gap, ...]]) -> Iterator[str]:
    for state, some in zip(aged_states(states.series, states.max_gap_ns), gaps, strict=True):
        values = world_to_json(state)
        if some:
            values["gaps"] = [gap._asdict() for gap in some]
        yield json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _csv(states: StatesToRender, gaps: Sequence[tuple[Gap, ...]]) -> Iterator[str]:
    cells = [
        ["" if value != value else value for value in values.tolist()] for _, values in _csv_columns(states.series)
    ]
    times = map(seconds_text, states.series.times_ns.tolist())
    notes = ("; ".join(f"{gap.kind} {gap.name}" for gap in some) for some in gaps)
    yield from map(_csv_line, zip(times, *cells, notes, strict=True))


def csv_header(series: Series) -> str:
    """Return the header of a CSV table: ``time``, pose and joints of each model, pose of each frame, and ``gaps``."""
    return _csv_line(["time", *(column.name for column, _ in _csv_columns(series)), "gaps"])


def _csv_columns(series: Series) -> Iterator[tuple[Column, Array]]:
    return (
        (column, values)
        for column, values in columns_with_values(series, {})
        if not column.array.endswith(("time_ns", "age"))
    )


def _csv_line(row: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()


_FORMATS: dict[str, Callable[[StatesToRender, Sequence[tuple[Gap, ...]]], Iterator[str]]] = {
    "usdf": _usdf,
    "jsonl": _jsonl,
    "csv": _csv,
}


INDEX = "index.json"
INDEX_FORMAT = "robot_semantics series 1"


@record(frozen=True)
class Job:
    """Inputs of an output.

    Attributes:
        path: the output file or folder.
        texts: the robots' descriptions, by their names in the states.
        about: the content of the head of an index.
        scratch: a folder for arrays that are too large for memory.
        max_gap_ns: older values are reported as old.
        units: of the joints' positions, by model and joint.
    """

    path: Path
    texts: Mapping[str, str]
    about: Mapping[str, Json]
    scratch: Path
    max_gap_ns: int
    units: Mapping[tuple[str, str], str]


class Output(ABC):
    """Writer of a series; each format has its own inputs.

    Attributes:
        rendered: True if blocks are texts.
    """

    rendered = True

    def __init__(self, job: Job) -> None:
        self.path = job.path

    @abstractmethod
    def add(self, series: Series, texts: Sequence[Rendered]) -> None:
        """Add a block of states, with their texts if the format is text."""

    def finish(self) -> None:  # noqa: B027  # a single document is whole before
        """Write the rest."""


class UsdfFile(Output):
    """One USDF document."""

    def add(self, series: Series, texts: Sequence[Rendered]) -> None:
        """Write the state."""
        for text in texts:
            self.path.write_text(text.text, encoding="utf-8", newline="\n")


class UsdfFolder(Output):
    """One USDF document for each time, the robots' descriptions, and an index with times and gaps."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        for name, text in job.texts.items():
            (self.path / name).write_text(text, encoding="utf-8", newline="\n")
        self._count = 0
        self._index: TextIO = (self.path / INDEX).open("w", encoding="utf-8", newline="\n")
        head = json.dumps({"format": INDEX_FORMAT, **job.about}, ensure_ascii=False, indent=1)
        self._index.write(head[: head.rindex("\n")] + ',\n "states": [')

    def add(self, series: Series, texts: Sequence[Rendered]) -> None:
        """Write each state into its file, and its name into the index."""
        for text in texts:
            name = f"state_{self._count:06d}.usdf"
            (self.path / name).write_text(text.text, encoding="utf-8", newline="\n")
            entry: JsonObject = {"file": name, "time": seconds_text(text.time_ns)}
            if text.gaps:
                entry["gaps"] = [gap._asdict() for gap in text.gaps]
            self._index.write((",\n  " if self._count else "\n  ") + json.dumps(entry, ensure_ascii=False))
            self._count += 1

    def finish(self) -> None:
        """Close the index."""
        self._index.write("\n ]\n}\n")
        self._index.close()


class JsonLines(Output):
    """One line with a JSON object for each state."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._file: TextIO = self.path.open("w", encoding="utf-8", newline="\n")

    def add(self, series: Series, texts: Sequence[Rendered]) -> None:
        """Write one line for each state."""
        self._file.writelines(text.text for text in texts)

    def finish(self) -> None:
        """Close the file."""
        self._file.close()


class Csv(JsonLines):
    """A header and one row for each state."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._head = False

    def add(self, series: Series, texts: Sequence[Rendered]) -> None:
        """Write one row for each state."""
        if not self._head:
            self._file.write(csv_header(series))
            self._head = True
        super().add(series, texts)


class Npz(Output):
    """Arrays by name for `numpy.load`; a value that no state has gets no array."""

    rendered = False

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._fixed: dict[str, Array] = {f"text/{name}": np.array(text) for name, text in job.texts.items()}
        self._fixed["max_gap_ns"] = np.array(job.max_gap_ns, dtype=np.int64)
        job.scratch.mkdir()
        self._columns = Columns(job.scratch, in_memory_bytes=2**24)
        self._stated: set[str] = set()
        self._count = 0

    def add(self, series: Series, texts: Sequence[Rendered]) -> None:
        """Keep the arrays of a block, in memory or in a file."""
        self._fixed.update(head_arrays(series_head(series)))
        for name, array in series_arrays(series).items():
            key = GroupKey(Stream.SERIES, name, ())
            if name not in self._stated:
                if array.dtype.kind == "f" and np.isnan(array).all():
                    continue
                self._stated.add(name)
                if self._count:
                    # No earlier state has it.
                    nothing = np.full((self._count, *array.shape[1:]), np.nan, array.dtype)
                    self._columns.add_rows(key, {"rows": nothing})
            self._columns.add_rows(key, {"rows": array})
        self._count += len(series)

    def finish(self) -> None:
        """Write the archive."""
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, array in self._fixed.items():
                _write_array(archive, name, array)
            for key, arrays in self._columns.finish().items():
                _write_array(archive, key.topic, arrays["rows"])


def _write_array(archive: zipfile.ZipFile, name: str, array: Array) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
