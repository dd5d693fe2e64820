# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Readers of series: USDF documents and JSON lines one state after the other, `.npz` as arrays."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from robot_semantics.base.unpack_limit import check_unpacked
from robot_semantics.convert.json_form import world_from_json
from robot_semantics.recording.columns import NONSENSE
from robot_semantics.recording.outputs import INDEX, INDEX_FORMAT
from robot_semantics.recording.series import DEFAULT_GAP_NS, Series, SeriesError
from robot_semantics.recording.series_arrays import head_of_arrays, rows_of, series_errors, series_from
from robot_semantics.transforms.arrays import IntArray
from robot_semantics.usdf.reader import read_world
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.reader import MAX_BYTES, read_text, utf8_of

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
                arrays = {name: archive[name] for name in archive.files}
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
