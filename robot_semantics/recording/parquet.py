# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Series as Parquet: one row a time, a column for every number, named and with its unit; and back, also single rows.

What a column cannot say (which joint has which columns, limits, descriptions) stands in the file's metadata as JSON.
A null is what is not stated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.recording.series import Series, SeriesError
from robot_semantics.recording.series_check import ages_ns, check_series, series_errors
from robot_semantics.state.model_states import ModelSeries, variable_columns

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise MissingExtraError("pyarrow", "parquet", "Parquet files") from error

Array = npt.NDArray[Any]

KEY = b"robot_semantics"
FORMAT = "robot_semantics series 1"
POSE = (("x", "m"), ("y", "m"), ("z", "m"), ("qx", ""), ("qy", ""), ("qz", ""), ("qw", ""))
TWIST = (("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"), ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"))


class _Column(NamedTuple):
    """One column: its name, its unit, and its values (n,)."""

    name: str
    unit: str
    values: Array


class ParquetSeries:
    """A Parquet file of a series, read row group by row group.

    Attributes:
        times_ns: (n,) all times [ns].
        texts: the descriptions in it, by the names that models have for them.
        max_gap_ns: from which age on a value counts as old.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            SeriesError: it is damaged, or holds something else.
            OSError: it cannot be read.
        """
        with series_errors(path, pa.ArrowException):
            self._file = pq.ParquetFile(path)
            about = json.loads((self._file.schema_arrow.metadata or {})[KEY])
            self._about: dict[str, Any] = about
            if about["format"] != FORMAT:
                raise ValueError(f"the format is {about['format']!r}, not {FORMAT!r}")
            self.texts: dict[str, str] = about["texts"]
            self.max_gap_ns = int(about["max_gap_ns"])
            self.times_ns = np.asarray(self._file.read(columns=["time_ns"])["time_ns"].to_numpy())
        self.path = path

    def series(self) -> Series:
        """Return all of it; raises `SeriesError` where it does not fit together."""
        with series_errors(self.path, pa.ArrowException):
            return self._series(self._file.read())

    def row(self, index: int) -> Series:
        """Return the state at one row, of which only the row group is read."""
        first = 0
        for group in range(self._file.num_row_groups):
            count = self._file.metadata.row_group(group).num_rows
            if index < first + count:
                with series_errors(self.path, pa.ArrowException):
                    return self._series(self._file.read_row_group(group).slice(index - first, 1))
            first += count
        raise SeriesError(self.path, f"there is no row {index}, it has {first}")

    def _series(self, table: Any) -> Series:
        about, names = self._about, self._about["names"]
        number = {name: i for i, name in enumerate(names)}

        def floats(columns: list[str]) -> Array:
            values = [
                np.asarray(table[name].to_numpy(zero_copy_only=False), np.float64)
                if name in table.column_names
                else np.full(table.num_rows, np.nan)
                for name in columns
            ]
            return np.stack(values, axis=1) if values else np.zeros((table.num_rows, 0))

        def parents(column: str) -> Array:
            return np.array([number.get(name, -1) for name in table[column].to_pylist()], dtype=np.int64)

        def ages(columns: list[str]) -> Array:
            return ages_ns(floats(columns))

        models = []
        for entry in about["models"]:
            at, links = f"{entry['name']}/", entry["links"]
            joints, widths, speeds = (tuple(entry[key]) for key in ("joints", "widths", "speeds"))
            variables, rates = variable_columns(joints, widths), variable_columns(joints, speeds)
            shape = (table.num_rows, len(links))
            poses = floats([f"{at}{link}/{axis}" for link in links for axis, _ in POSE])
            twists = floats([f"{at}{link}/{axis}" for link in links for axis, _ in TWIST])
            models.append(
                ModelSeries(
                    entry["name"],
                    joints,
                    widths,
                    speeds,
                    floats([f"{at}{name}/position" for name in variables]),
                    floats([f"{at}{name}/velocity" for name in rates]),
                    floats([f"{at}{name}/effort" for name in rates]),
                    ages([f"{at}{name}/age" for name in joints]),
                    parents(f"{at}parent"),
                    floats([f"{at}{axis}" for axis, _ in POSE]),
                    floats([f"{at}{axis}" for axis, _ in TWIST]),
                    ages([f"{at}age"])[:, 0],
                    np.array(entry["lower"], dtype=np.float64),
                    np.array(entry["upper"], dtype=np.float64),
                    tuple(links),
                    poses.reshape(*shape, 7) if links else None,
                    twists.reshape(*shape, 6) if links else None,
                    entry["description"],
                    entry["semantic"],
                    entry["urdf_sha256"],
                )
            )
        frames = tuple(about["frames"])
        shape = (table.num_rows, len(frames))
        frame_parents = [parents(f"{frame}/parent") for frame in frames]
        series = Series(
            np.asarray(table["time_ns"].to_numpy()),
            tuple(names),
            tuple(models),
            frames,
            np.stack(frame_parents, axis=1) if frames else np.zeros(shape, np.int64),
            floats([f"{frame}/{axis}" for frame in frames for axis, _ in POSE]).reshape(*shape, 7),
            np.full((*shape, 6), np.nan),
            ages([f"{frame}/age" for frame in frames]),
        )
        check_series(series)
        return series


class ParquetWriter:
    """Writes a series block by block, each a row group."""

    def __init__(
        self, path: Path, texts: Mapping[str, str], max_gap_ns: int, units: Mapping[tuple[str, str], str]
    ) -> None:
        self._path, self._texts, self._max_gap_ns, self._units = path, texts, max_gap_ns, units
        self._writer: Any = None

    def add(self, series: Series) -> None:
        """Write a block of states."""
        columns = list(_columns(series, self._units))
        if self._writer is None:
            fields = [
                pa.field(column.name, _type(column), metadata={"unit": column.unit} if column.unit else None)
                for column in columns
            ]
            about = json.dumps(_about(series, self._texts, self._max_gap_ns), ensure_ascii=False)
            self._writer = pq.ParquetWriter(self._path, pa.schema(fields, metadata={KEY: about.encode()}))
        schema = self._writer.schema
        arrays = [
            pa.array(column.values, type=field.type, from_pandas=True)
            for column, field in zip(columns, schema, strict=True)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=max(len(series), 1))

    def finish(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


def series_table(series: Series) -> Any:
    """Return a series as a `pyarrow.Table`, a column for every number."""
    columns = list(_columns(series, {}))
    arrays = [pa.array(column.values, type=_type(column), from_pandas=True) for column in columns]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def _type(column: _Column) -> Any:
    if column.values.dtype == object:
        return pa.string()
    return pa.from_numpy_dtype(column.values.dtype)


def _columns(series: Series, units: Mapping[tuple[str, str], str]) -> Iterator[_Column]:
    """Yield the columns of a series: the time, then each model's and each frame's."""
    yield _Column("time_ns", "ns", series.times_ns)
    names = np.array([*series.names, None], dtype=object)

    def seconds(age_ns: Array) -> Array:
        return np.where(age_ns < 0, np.nan, age_ns / 1e9)

    for model in series.models:
        at = f"{model.name}/"
        yield _Column(f"{at}parent", "", names[model.parent])
        for i, (axis, unit) in enumerate(POSE):
            yield _Column(f"{at}{axis}", unit, model.pose[:, i])
        for i, (axis, unit) in enumerate(TWIST):
            yield _Column(f"{at}{axis}", unit, model.twist[:, i])
        yield _Column(f"{at}age", "s", seconds(model.base_age_ns))
        own = {name: units.get((model.name, name), "rad or m") for name in model.joints}
        for i, name in enumerate(model.variables):
            yield _Column(f"{at}{name}/position", own[name.partition("[")[0]], model.positions[:, i])
        for i, name in enumerate(model.velocity_variables):
            unit = own[name.partition("[")[0]]
            force = {"rad": "N m", "m": "N"}.get(unit, "N or N m")
            rate = "/s or ".join(unit.split(" or ")) + "/s"
            yield _Column(f"{at}{name}/velocity", rate, model.velocities[:, i])
            yield _Column(f"{at}{name}/effort", force, model.efforts[:, i])
        for i, name in enumerate(model.joints):
            yield _Column(f"{at}{name}/age", "s", seconds(model.joint_age_ns[:, i]))
        for i, link in enumerate(model.links):
            if model.link_poses is not None and model.link_twists is not None:
                for j, (axis, unit) in enumerate(POSE):
                    yield _Column(f"{at}{link}/{axis}", unit, model.link_poses[:, i, j])
                for j, (axis, unit) in enumerate(TWIST):
                    yield _Column(f"{at}{link}/{axis}", unit, model.link_twists[:, i, j])
    for i, frame in enumerate(series.frames):
        yield _Column(f"{frame}/parent", "", names[series.frame_parent[:, i]])
        for j, (axis, unit) in enumerate(POSE):
            yield _Column(f"{frame}/{axis}", unit, series.frame_pose[:, i, j])
        yield _Column(f"{frame}/age", "s", seconds(series.frame_age_ns[:, i]))


def _about(series: Series, texts: Mapping[str, str], max_gap_ns: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "names": series.names,
        "frames": series.frames,
        "max_gap_ns": max_gap_ns,
        "texts": dict(texts),
        "models": [
            {
                "name": model.name,
                "joints": model.joints,
                "widths": model.widths,
                "speeds": model.speeds,
                "lower": model.lower.tolist(),
                "upper": model.upper.tolist(),
                "links": model.links,
                "description": model.description,
                "semantic": model.semantic,
                "urdf_sha256": model.urdf_sha256,
            }
            for model in series.models
        ],
    }
