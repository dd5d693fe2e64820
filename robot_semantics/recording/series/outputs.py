# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files of series, written block by block and atomically: USDF documents, JSON lines, CSV, `.npz`."""

from __future__ import annotations

import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.recording.bags.columns import Array, Columns, GroupKey
from robot_semantics.recording.series.arrays import head_arrays, series_arrays, series_head
from robot_semantics.recording.series.series import Series
from robot_semantics.recording.series.texts import Rendered, csv_header

INDEX = "index.json"
INDEX_FORMAT = "robot_semantics series 1"


@dataclass(frozen=True)
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
            key = GroupKey("series", name, ())
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
