# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A block of world states as text: USDF documents, JSON lines or CSV rows. This is what runs on many cores."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from robot_semantics.convert.json_form import world_to_json
from robot_semantics.recording.columns import Array
from robot_semantics.recording.series import Gap, Series
from robot_semantics.recording.series_arrays import Column, table
from robot_semantics.recording.state_texts import aged_states, state_texts
from robot_semantics.usdf.table import format_time


class Block(NamedTuple):
    """A block to render.

    Attributes:
        series: the states.
        max_gap_ns: what is older is listed with its state.
    """

    format: str
    series: Series
    max_gap_ns: int


class Rendered(NamedTuple):
    """One state as text.

    Attributes:
        time_ns: its time.
        text: the whole document, line or row, with its end of line.
        gaps: what is unknown or old in it.
    """

    time_ns: int
    text: str
    gaps: tuple[Gap, ...]


def render(block: Block) -> list[Rendered]:
    """Return every state of a block as text.

    Raises:
        DescriptionError: a state cannot be written as USDF.
    """
    gaps = list(block.series.gaps(block.max_gap_ns))
    texts = _FORMATS[block.format](block, gaps)
    return [Rendered(*one) for one in zip(block.series.times_ns.tolist(), texts, gaps, strict=True)]


def _usdf(block: Block, _gaps: Sequence[tuple[Gap, ...]]) -> Iterator[str]:
    return state_texts(block.series, block.max_gap_ns)


def _jsonl(block: Block, gaps: Sequence[tuple[Gap, ...]]) -> Iterator[str]:
    for state, some in zip(aged_states(block.series, block.max_gap_ns), gaps, strict=True):
        values = world_to_json(state)
        if some:
            values["gaps"] = [gap._asdict() for gap in some]
        yield json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _csv(block: Block, gaps: Sequence[tuple[Gap, ...]]) -> Iterator[str]:
    cells = [["" if value != value else value for value in values.tolist()] for _, values in _csv_columns(block.series)]
    times = map(format_time, block.series.times_ns.tolist())
    notes = ("; ".join(f"{gap.kind} {gap.name}" for gap in some) for some in gaps)
    yield from map(_csv_line, zip(times, *cells, notes, strict=True))


def csv_header(series: Series) -> str:
    """Return the head of a CSV table: ``time``, per model its base and joints, per frame its pose, and ``gaps``."""
    return _csv_line(["time", *(column.name for column, _ in _csv_columns(series)), "gaps"])


def _csv_columns(series: Series) -> Iterator[tuple[Column, Array]]:
    return ((column, values) for column, values in table(series, {}) if not column.array.endswith(("time_ns", "age")))


def _csv_line(row: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()


_FORMATS: dict[str, Callable[[Block, Sequence[tuple[Gap, ...]]], Iterator[str]]] = {
    "usdf": _usdf,
    "jsonl": _jsonl,
    "csv": _csv,
}
