# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A series as arrays by name, as `.npz` holds them, and as named columns with units, as tables have them; and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from robot_semantics.recording.columns import Array
from robot_semantics.recording.series import Series
from robot_semantics.recording.series_check import ages_ns, check_series, field_of, frame_shapes, model_shapes, parts_of
from robot_semantics.state.model_states import ModelSeries

POSE = (("x", "m"), ("y", "m"), ("z", "m"), ("qx", ""), ("qy", ""), ("qz", ""), ("qw", ""))
TWIST = (("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"), ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"))

_TEXTS = ("description", "semantic", "urdf_sha256")
_LISTS = {
    "joints": np.str_,
    "widths": np.int16,
    "speeds": np.int16,
    "lower": np.float64,
    "upper": np.float64,
    "links": np.str_,
}
"""What holds for a model at all times, and the kind of its elements in an array."""


class Column(NamedTuple):
    """One number at each time, or the name of a parent.

    Attributes:
        array: which of the `series_arrays` it is in.
        at: where in a row of that.
    """

    name: str
    unit: str
    array: str
    at: tuple[int, ...] = ()

    @property
    def is_parent(self) -> bool:
        """Whether its array has the numbers of names."""
        return self.array.endswith("parent")

    def of(self, arrays: Mapping[str, Array]) -> Array:
        """Return its part (n,) of the arrays, which may be written into."""
        where: tuple[Any, ...] = (slice(None), *self.at)
        return np.asarray(arrays[self.array][where])


def series_head(series: Series) -> dict[str, Any]:
    """Return what holds for a series at all times, as JSON can say it."""
    return {
        "names": series.names,
        "frames": series.frames,
        "models": [
            {
                "name": model.name,
                **{key: np.asarray(getattr(model, key)).tolist() for key in _LISTS},
                **{key: getattr(model, key) for key in _TEXTS},
            }
            for model in series.models
        ],
    }


def head_arrays(head: Mapping[str, Any]) -> dict[str, Array]:
    """Return what `series_head` gives as arrays by name."""
    found = {key: np.array(head[key], dtype=np.str_) for key in ("names", "frames")}
    found["models"] = np.array([entry["name"] for entry in head["models"]], dtype=np.str_)
    for entry in head["models"]:
        found |= {f"{entry['name']}/{key}": np.array(entry[key], dtype=kind) for key, kind in _LISTS.items()}
        found |= {f"{entry['name']}/{key}": np.array(entry[key]) for key in _TEXTS if entry[key] is not None}
    return found


def head_of_arrays(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return the head that `head_arrays` made arrays of; raises `KeyError` where one is missing."""
    return {
        "names": arrays["names"].tolist(),
        "frames": arrays["frames"].tolist(),
        "models": [
            {
                "name": name,
                **{key: arrays[f"{name}/{key}"].tolist() for key in _LISTS},
                **{key: str(arrays[f"{name}/{key}"]) if f"{name}/{key}" in arrays else None for key in _TEXTS},
            }
            for name in arrays["models"].tolist()
        ],
    }


def series_arrays(series: Series, ages: type[np.floating[Any]] = np.float32) -> dict[str, Array]:
    """Return the arrays with a row a time; ages are in seconds, NaN for never seen, and single precision is plenty."""
    found: dict[str, Array] = {"time_ns": series.times_ns}
    for at, owner, shapes in parts_of(series):
        for key in shapes:
            array = getattr(owner, field_of(key))
            if key.endswith("age"):
                array = _seconds(array, ages)
            found[f"{at}{key}"] = array.astype(np.int16) if key.endswith("parent") else array
    return found


def series_from(head: Mapping[str, Any], arrays: Mapping[str, Array]) -> Series:
    """Return the series of a head and arrays; numbers of which there is no array are not stated.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: they make none.
    """
    count = len(arrays["time_ns"])

    def given(at: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        found = {}
        for key, shape in shapes.items():
            array = arrays.get(f"{at}{key}")
            if array is None:
                if key.endswith("parent"):
                    raise KeyError(f"{at}{key}")
                array = np.full((count, *shape), np.nan)
            found[field_of(key)] = ages_ns(array) if key.endswith("age") else array
        return found

    models = []
    for entry in head["models"]:
        joints, widths, speeds, links = (tuple(entry[key]) for key in ("joints", "widths", "speeds", "links"))
        values = given(f"{entry['name']}/", model_shapes(joints, widths, speeds, links))
        values |= {key: np.asarray(entry[key]) for key in ("lower", "upper")}
        values |= {key: entry[key] for key in _TEXTS}
        models.append(ModelSeries(entry["name"], joints, widths, speeds, links=links, **values))
    frames = tuple(head["frames"])
    values = given("", frame_shapes(frames))
    series = Series(arrays["time_ns"], tuple(head["names"]), tuple(models), frames, **values)
    check_series(series)
    return series


def columns(series: Series, units: Mapping[tuple[str, str], str]) -> Iterator[Column]:
    """Yield the columns of a series: the time, then each model's and each frame's.

    Args:
        series: of which only the head counts.
        units: of the joints' positions, by model and joint.
    """
    yield Column("time_ns", "ns", "time_ns")
    for model in series.models:
        at = f"{model.name}/"
        yield Column(f"{at}parent", "", f"{at}parent")
        yield from _axes(at, POSE, f"{at}pose")
        yield from _axes(at, TWIST, f"{at}twist")
        yield Column(f"{at}age", "s", f"{at}base_age")
        own = {name: units.get((model.name, name), "rad or m") for name in model.joints}
        for i, name in enumerate(model.variables):
            yield Column(f"{at}{name}/position", own[name.partition("[")[0]], f"{at}positions", (i,))
        for i, name in enumerate(model.velocity_variables):
            rate = "/s or ".join(own[name.partition("[")[0]].split(" or ")) + "/s"
            yield Column(f"{at}{name}/velocity", rate, f"{at}velocities", (i,))
        for i, name in enumerate(model.velocity_variables):
            force = {"rad": "N m", "m": "N"}.get(own[name.partition("[")[0]], "N or N m")
            yield Column(f"{at}{name}/effort", force, f"{at}efforts", (i,))
        for i, name in enumerate(model.joints):
            yield Column(f"{at}{name}/age", "s", f"{at}joint_age", (i,))
        for i, link in enumerate(model.links):
            yield from _axes(f"{at}{link}/", POSE, f"{at}link_poses", i)
            yield from _axes(f"{at}{link}/", TWIST, f"{at}link_twists", i)
    for i, frame in enumerate(series.frames):
        yield Column(f"{frame}/parent", "", "frame_parent", (i,))
        yield from _axes(f"{frame}/", POSE, "frame_pose", i)
        yield Column(f"{frame}/age", "s", "frame_age", (i,))


def table(series: Series, units: Mapping[tuple[str, str], str]) -> Iterator[tuple[Column, Array]]:
    """Yield the `columns` of a series with their values (n,); a parent's are texts, None where it is not known."""
    arrays, names = series_arrays(series, np.float64), np.array([*series.names, None], dtype=object)
    for column in columns(series, units):
        yield column, names[column.of(arrays)] if column.is_parent else column.of(arrays)


def _axes(name: str, axes: tuple[tuple[str, str], ...], array: str, *at: int) -> Iterator[Column]:
    for i, (axis, unit) in enumerate(axes):
        yield Column(f"{name}{axis}", unit, array, (*at, i))


def _seconds(age_ns: Array, kind: type[np.floating[Any]]) -> Array:
    """Return ages in seconds, NaN for -1 (never seen)."""
    return np.where(age_ns < 0, np.nan, age_ns / 1e9).astype(kind)
