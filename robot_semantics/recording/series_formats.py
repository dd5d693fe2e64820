# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The table of the formats of series: writer, reader and mark of each."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from robot_semantics.base.endings import UnknownEndingError, format_of
from robot_semantics.recording.outputs import Csv, Job, JsonLines, Npz, Output, UsdfFolder
from robot_semantics.recording.series import SeriesError
from robot_semantics.recording.series_readers import ArraySeries, GapNames, NpzSeries, json_lines_states, usdf_states
from robot_semantics.usdf.world_state import WorldState


def _parquet_output(job: Job) -> Output:
    from robot_semantics.recording.parquet import Parquet

    return Parquet(job)


def _parquet_series(path: Path) -> ArraySeries:
    from robot_semantics.recording.parquet import ParquetSeries

    return ParquetSeries(path)


def _contains(mark: bytes) -> Callable[[Path], bool]:
    """Return a test whether `mark` is near the start of a file."""

    def is_one(path: Path) -> bool:
        with path.open("rb") as file:
            return mark in file.read(4096)

    return is_one


def _is_npz(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "time_ns.npy" in archive.namelist()


@dataclass(frozen=True)
class Format:
    """A format of series. A reader is one of `arrays` and `states`; a format without a reader is only written.

    Attributes:
        suffixes: the endings of its files.
        output: the class that writes it.
        block_states: number of states that are sampled (text formats: also rendered) together.
        is_mark: tests whether a file looks like one of this format.
        descriptions: place of the robots' descriptions: in the file, in files beside it, or nowhere.
        arrays: reads a file as arrays.
        states: reads a file or folder state by state.
    """

    suffixes: tuple[str, ...]
    output: Callable[[Job], Output]
    block_states: int
    is_mark: Callable[[Path], bool]
    descriptions: Literal["inside", "beside", "none"]
    arrays: Callable[[Path], ArraySeries] | None = None
    states: Callable[[Path], Iterator[tuple[WorldState, GapNames]]] | None = None

    @property
    def readable(self) -> bool:
        """True if it can be read."""
        return self.arrays is not None or self.states is not None


FORMATS: Mapping[str, Format] = {
    "usdf": Format((".usdf", ".xml"), UsdfFolder, 64, _contains(b"<world_state"), "inside", states=usdf_states),
    "jsonl": Format(
        (".jsonl",),
        JsonLines,
        256,
        _contains(b'{"format":"urn:robot-semantics:'),
        "beside",
        states=json_lines_states,
    ),
    "npz": Format((".npz",), Npz, 4096, _is_npz, "inside", arrays=NpzSeries),
    "csv": Format((".csv",), Csv, 256, _contains(b"time,"), "none"),
    "parquet": Format((".parquet",), _parquet_output, 4096, _contains(b"PAR1"), "inside", arrays=_parquet_series),
}
"""Every format of series. A folder is of the format ``usdf``."""

SUFFIXES = {suffix: name for name, entry in FORMATS.items() for suffix in entry.suffixes}

SERIES_WORDS = "a folder, " + ", ".join(
    entry.suffixes[0] for name, entry in FORMATS.items() if entry.readable and name != "usdf"
)
"""Input formats of a command that reads series, for its help."""


def readable_format(path: Path) -> Format:
    """Return the format of a file or folder, for reading.

    Raises:
        SeriesError: its ending is unknown, or its format is only written.
    """
    if path.is_dir():
        return FORMATS["usdf"]
    try:
        name = format_of(path, SUFFIXES)
    except UnknownEndingError:
        raise SeriesError(path, f"a series must be {SERIES_WORDS} or .usdf files") from None
    if not FORMATS[name].readable:
        raise SeriesError(path, f"{name} is only written, not read; a series must be {SERIES_WORDS} or .usdf files")
    return FORMATS[name]


def looks_written_here(path: Path) -> bool:
    """Return True if a file looks like an earlier export in the format of its ending, so that a new one may replace
    it.
    """
    name = SUFFIXES.get(path.suffix.lower())
    return name is not None and FORMATS[name].is_mark(path)
