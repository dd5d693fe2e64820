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
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from robot_semantics.convert.json_form import world_to_json
from robot_semantics.recording.series import Gap, Series
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
    return list(_FORMATS[block.format](block))


def _usdf(block: Block) -> Iterator[Rendered]:
    times = block.series.times_ns.tolist()
    for time_ns, text, gaps in zip(times, state_texts(block.series, block.max_gap_ns), _gaps(block), strict=True):
        yield Rendered(time_ns, text, gaps)


def _jsonl(block: Block) -> Iterator[Rendered]:
    for state, gaps in zip(aged_states(block.series, block.max_gap_ns), _gaps(block), strict=True):
        values = world_to_json(state)
        if gaps:
            values["gaps"] = [gap._asdict() for gap in gaps]
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        yield Rendered(state.time_ns or 0, text + "\n", gaps)


def _csv(block: Block) -> Iterator[Rendered]:
    series = block.series
    names = [*series.names, ""]
    parents = [np.array(names, dtype=object)[model.parent] for model in series.models]
    frame_parents = np.array(names, dtype=object)[series.frame_parent]
    for i, (time_ns, gaps) in enumerate(zip(series.times_ns.tolist(), _gaps(block), strict=True)):
        row: list[Any] = [format_time(time_ns)]
        for model, parent in zip(series.models, parents, strict=True):
            row.append(parent[i])
            for values in (model.pose, model.twist, model.positions, model.velocities, model.efforts):
                row += _cells(values[i])
        for column in range(len(series.frames)):
            row.append(frame_parents[i, column])
            row += _cells(series.frame_pose[i, column])
        row.append("; ".join(f"{gap.kind} {gap.name}" for gap in gaps))
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        yield Rendered(time_ns, line.getvalue(), gaps)


def csv_header(series: Series) -> str:
    """Return the head of a CSV table: ``time``, per model its base and joints, per frame its pose, and ``gaps``."""
    pose, twist = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("vx", "vy", "vz", "wx", "wy", "wz")
    row = ["time"]
    for model in series.models:
        row += [f"{model.name}/parent", *(f"{model.name}/{name}" for name in (*pose, *twist))]
        row += [f"{model.name}/{name}/position" for name in model.variables]
        row += [f"{model.name}/{name}/velocity" for name in model.velocity_variables]
        row += [f"{model.name}/{name}/effort" for name in model.velocity_variables]
    for frame in series.frames:
        row += [f"{frame}/parent", *(f"{frame}/{name}" for name in pose)]
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([*row, "gaps"])
    return line.getvalue()


def _cells(values: Any) -> list[str]:
    return ["" if value != value else repr(value) for value in values.tolist()]


def _gaps(block: Block) -> Iterator[tuple[Gap, ...]]:
    """Yield what is unknown or old in every state."""
    with_gap = block.series.has_gap(block.max_gap_ns).tolist()
    for i, some in enumerate(with_gap):
        yield tuple(block.series.gaps(i, block.max_gap_ns)) if some else ()


_FORMATS: dict[str, Callable[[Block], Iterator[Rendered]]] = {"usdf": _usdf, "jsonl": _jsonl, "csv": _csv}
