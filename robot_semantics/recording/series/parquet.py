# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Series as Parquet: one row for each time, one column with name and unit for each number; also reads single rows.

The metadata of the file have, as JSON, the columns of each joint, limits and descriptions. A null means a value that is
not stated.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_semantics.base.errors import MissingExtraError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise MissingExtraError("pyarrow", "parquet", "Parquet files") from error

from robot_semantics.live.model_series import ABSENT
from robot_semantics.recording.bags.columns import Array
from robot_semantics.recording.series.arrays import (
    Column,
    columns,
    columns_with_values,
    series_arrays,
    series_errors,
    series_from,
    series_head,
)
from robot_semantics.recording.series.outputs import Job, Output, Rendered
from robot_semantics.recording.series.series import Series, SeriesError

KEY = b"robot_semantics"
FORMAT = "robot_semantics series 1"
BAGS_FORMAT = "robot_semantics bags 1"


class ParquetSeries:
    """A Parquet file of a series, read row group by row group.

    Attributes:
        times_ns: (n,) all times [ns].
        texts: the descriptions in the file, by their names in the models.
        max_gap_ns: values with a larger age are old.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            SeriesError: it is damaged, or has other content.
            OSError: it cannot be read.
        """
        with series_errors(path, pa.ArrowException):
            self._file = pq.ParquetFile(path)
            about = json.loads((self._file.schema_arrow.metadata or {})[KEY])
            self._about: dict[str, Any] = about
            if about["format"] == BAGS_FORMAT:
                raise ValueError("it has the states of several bags; select the rows of one with a table reader")
            if about["format"] != FORMAT:
                raise ValueError(f"the format is {about['format']!r}, not {FORMAT!r}")
            self.texts: dict[str, str] = about["texts"]
            self.max_gap_ns = int(about["max_gap_ns"])
            self.times_ns = np.asarray(self._file.read(columns=["time_ns"])["time_ns"].to_numpy())
        self.path = path

    def series(self) -> Series:
        """Return the whole series; raise `SeriesError` if its parts do not agree."""
        with series_errors(self.path, pa.ArrowException):
            return self._series(self._file.read())

    def row(self, index: int) -> Series:
        """Return the state at one row; only its row group is read."""
        first = 0
        with series_errors(self.path, pa.ArrowException):
            for group in range(self._file.num_row_groups):
                count = self._file.metadata.row_group(group).num_rows
                if index < first + count:
                    return self._series(self._file.read_row_group(group).slice(index - first, 1))
                first += count
        raise SeriesError(self.path, f"there is no row {index}; the file has {first} rows")

    def _series(self, rows: pa.RecordBatch) -> Series:
        names, frames = list(self._about["names"]), len(self._about["frames"])
        nothing: dict[str, Array] = {"frame_parent": np.zeros((0, frames), np.int64), "time_ns": np.zeros(0, np.int64)}
        nothing |= {f"{entry['name']}/parent": np.zeros(0, np.int64) for entry in self._about["models"]}
        empty = series_from(self._about, nothing)
        arrays = {
            key: np.full((rows.num_rows, *like.shape[1:]), np.nan if like.dtype.kind == "f" else ABSENT, like.dtype)
            for key, like in series_arrays(empty, np.float64).items()
        }
        arrays["time_ns"] = np.asarray(rows["time_ns"].to_numpy())
        number = {name: i for i, name in enumerate(names)}
        for column in columns(empty, {}):
            if column.is_parent:
                column.of(arrays)[:] = [number.get(name, ABSENT) for name in rows[column.name].to_pylist()]
            elif column.name in rows.column_names and column.array != "time_ns":
                column.of(arrays)[:] = rows[column.name].to_numpy(zero_copy_only=False)
        return series_from(self._about, arrays)


class Parquet(Output):
    """A table with one row for each time, and one row group for each block of states."""

    rendered = False

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._job = job
        self._writer: pq.ParquetWriter | None = None

    def add(self, series: Series, texts: Sequence[Rendered]) -> None:
        """Write a row group."""
        columns = list(columns_with_values(series, self._job.units))
        if self._writer is None:
            fields = [
                pa.field(column.name, _type(values), metadata={"unit": column.unit} if column.unit else None)
                for column, values in columns
            ]
            notes = {"format": FORMAT, "max_gap_ns": self._job.max_gap_ns, "texts": dict(self._job.texts)}
            about = json.dumps({**notes, **series_head(series)}, ensure_ascii=False)
            self._writer = pq.ParquetWriter(self.path, pa.schema(fields, metadata={KEY: about.encode()}))
        self._writer.write_table(_table(columns, self._writer.schema), row_group_size=max(len(series), 1))

    def finish(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


def series_table(series: Series) -> pa.Table:
    """Return a series as a `pyarrow.Table` with one column for each number."""
    found = list(columns_with_values(series, {}))
    return _table(found, pa.schema([pa.field(column.name, _type(values)) for column, values in found]))


def _table(found: Sequence[tuple[Column, Array]], schema: pa.Schema) -> pa.Table:
    arrays = [pa.array(values, field.type, from_pandas=True) for (_, values), field in zip(found, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _type(values: Array) -> pa.DataType:
    return pa.string() if values.dtype == object else pa.from_numpy_dtype(values.dtype)


def write_bags(parts: Sequence[tuple[str, Path]], path: Path) -> None:
    """Write the Parquet files of several bags as one table, row group by row group.

    The first column `bag` has the name of each row's bag. A column that a bag does not have is null in its rows.

    Args:
        parts: name and file of each bag.
        path: the file to write.
    """
    fields: dict[str, pa.Field] = {"bag": pa.field("bag", pa.string())}
    for _, part in parts:
        for field in pq.read_schema(part):
            known_field = fields.setdefault(field.name, field)
            if known_field.metadata != field.metadata:
                # Joints of one name and different units: the column has no unit.
                fields[field.name] = known_field.remove_metadata()
    about = json.dumps({"format": BAGS_FORMAT, "bags": [name for name, _ in parts]}, ensure_ascii=False)
    schema = pa.schema(list(fields.values()), metadata={KEY: about.encode()})
    with pq.ParquetWriter(path, schema) as writer:
        for name, part in parts:
            file = pq.ParquetFile(part)
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group)
                known_field = set(rows.column_names)
                arrays = [
                    rows[field.name].cast(field.type) if field.name in known_field else pa.nulls(len(rows), field.type)
                    for field in schema
                    if field.name != "bag"
                ]
                bag = pa.array([name] * len(rows), pa.string())
                writer.write_table(pa.Table.from_arrays([bag, *arrays], schema=schema))
