# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The table of the formats of series: writer, reader and mark of each."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from robot_semantics.base.files import UnknownEndingError, format_of
from robot_semantics.base.record import record
from robot_semantics.base.unpack_limit import check_unpacked
from robot_semantics.convert.json_form import world_from_json
from robot_semantics.recording.bags.columns import NONSENSE, Array
from robot_semantics.recording.series.arrays import head_of_arrays, rows_of, series_errors, series_from
from robot_semantics.recording.series.outputs import INDEX, INDEX_FORMAT, Csv, Job, JsonLines, Npz, Output, UsdfFolder
from robot_semantics.recording.series.series import DEFAULT_GAP_NS, Series, SeriesError
from robot_semantics.transforms.arrays import IntArray
from robot_semantics.usdf.reader import read_world
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.reader import MAX_BYTES, read_text, utf8_of

# Readers of series: USDF documents and JSON lines one state after the other, `.npz` as arrays.


GapNames = tuple[tuple[str, str], ...]
"""(kind, name) of the old and unknown values of a state."""


class ArraySeries(Protocol):
    """A file with a series as arrays.

    Attributes:
        times_ns: (n,) all times [ns].
        texts: the descriptions in the file, by their names in the models.
        max_gap_ns: values with a larger age are old.
    """

    times_ns: IntArray
    texts: dict[str, str]
    max_gap_ns: int

    def series(self) -> Series:
        """Return the whole series; raise `SeriesError` if its parts do not agree."""

    def row(self, index: int) -> Series:
        """Return the state at one row."""


class NpzSeries:
    """An `.npz` file of a series; an `ArraySeries`."""

    def __init__(self, path: Path) -> None:
        """Read a file.

        Raises:
            SeriesError: it is damaged, or has other content.
            OSError: it cannot be read.
        """
        with series_errors(path, zipfile.BadZipFile):
            with zipfile.ZipFile(path) as packed:
                check_unpacked(path, sum(item.file_size for item in packed.infolist()))
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: _checked_texts(name, archive[name]) for name in archive.files}
            self._series = series_from(head_of_arrays(arrays), arrays)
            self.max_gap_ns = int(arrays.get("max_gap_ns", DEFAULT_GAP_NS))
        self.times_ns = self._series.times_ns
        self.texts = {
            name.removeprefix("text/"): str(array) for name, array in arrays.items() if name.startswith("text/")
        }

    def series(self) -> Series:
        """Return the whole series."""
        return self._series

    def row(self, index: int) -> Series:
        """Return the state at one row."""
        return rows_of(self._series, slice(index, index + 1))


def _checked_texts(name: str, array: Array) -> Array:
    """Return an array; numpy makes a text of any four bytes, and Python fails at one that is not a character.

    Raises:
        ValueError: a text has a number that is not a character.
    """
    if array.dtype.kind == "U" and array.size:
        codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if int(codes.max()) > sys.maxunicode:
            raise ValueError(f"array '{name}' has a text with the number {int(codes.max())}, which is not a character")
    return array


def usdf_states(path: Path) -> Iterator[tuple[WorldState, GapNames]]:
    """Yield the states of a USDF file, or of a folder of them."""
    if path.is_dir():
        yield from _folder(path)
    else:
        yield read_world(path), ()


def json_lines_states(path: Path) -> Iterator[tuple[WorldState, GapNames]]:
    """Yield the states of a file with one JSON object in each line."""
    with path.open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, MAX_BYTES + 1), b""), start=1):
            if len(line) > MAX_BYTES:
                raise SeriesError(path, f"line {number} is longer than {MAX_BYTES // 2**20} MB")
            if line.strip():
                yield _json_line(path, number, line)


def _folder(path: Path) -> Iterator[tuple[WorldState, GapNames]]:
    index = path / INDEX
    if not index.exists():
        files = sorted(path.glob("*.usdf"))
        if not files:
            hint = "; it is a recording: 'export' makes a series of it" if (path / "metadata.yaml").exists() else ""
            raise SeriesError(path, f"the folder has neither {INDEX} nor .usdf files{hint}")
        for file in files:
            yield read_world(file), ()
        return
    try:
        content = json.loads(utf8_of(read_text(index), str(index)))
        if content.get("format") != INDEX_FORMAT:
            raise SeriesError(index, f"the format is {content.get('format')!r}, not {INDEX_FORMAT!r}")
        entries = [(str(entry["file"]), _gap_names(entry)) for entry in content["states"]]
    except NONSENSE as error:
        raise SeriesError(index, f"it is not the index of a series ({error})") from None
    for name, gaps in entries:
        if Path(name).name != name:
            raise SeriesError(index, f"'{name}' is not a file of this folder")
        yield read_world(path / name), gaps


def _json_line(path: Path, number: int, line: bytes) -> tuple[WorldState, GapNames]:
    try:
        values = json.loads(line)
        gaps = _gap_names(values)
        values.pop("gaps", None)
    except NONSENSE as error:
        raise SeriesError(path, f"line {number} is not a state ({error})") from None
    return world_from_json(values, f"{path}:{number}"), gaps


def _gap_names(values: Mapping[str, Any]) -> GapNames:
    return tuple((str(gap["kind"]), str(gap["name"])) for gap in values.get("gaps", ()))


def _parquet_output(job: Job) -> Output:
    from robot_semantics.recording.series.parquet import Parquet

    return Parquet(job)


def _parquet_series(path: Path) -> ArraySeries:
    from robot_semantics.recording.series.parquet import ParquetSeries

    return ParquetSeries(path)


_LONGEST_HEADER = 1 << 24
"""Longest header of a table that is read [bytes]."""


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


def _is_csv(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.readline(_LONGEST_HEADER).rstrip()
    return header.startswith(b"time,") and header.endswith(b",gaps")


def _is_parquet(path: Path) -> bool:
    """Return True if the metadata at the end of a file have the key that the writer gives them."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != b"PAR1" or not length <= min(size - 8, _LONGEST_HEADER):
            return False
        file.seek(size - 8 - length)
        return b"robot_semantics" in file.read(length)


@record(frozen=True)
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
    "csv": Format((".csv",), Csv, 256, _is_csv, "none"),
    "parquet": Format((".parquet",), _parquet_output, 4096, _is_parquet, "inside", arrays=_parquet_series),
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


def is_series(path: Path) -> bool:
    """Return True for a file with the ending of a series, and for a folder with such files."""
    files = path.iterdir() if path.is_dir() else [path]
    return any(file.suffix.lower() in SUFFIXES for file in files)


def looks_written_here(path: Path) -> bool:
    """Return True if a file looks like an earlier export in the format of its ending, so that a new one may replace
    it.
    """
    name = SUFFIXES.get(path.suffix.lower())
    return name is not None and FORMATS[name].is_mark(path)
