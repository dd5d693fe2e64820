# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A series as arrays by name, for `.npz` files, and as named columns with units, for tables.

Arrays from a file are checked: shapes, names, and indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_semantics.base.names import shown
from robot_semantics.live.model_series import ABSENT, ModelSeries
from robot_semantics.recording.bags.columns import NONSENSE, Array
from robot_semantics.recording.series.series import Series, SeriesError
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.usdf.world_state import WORLD

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
"""Properties of a model that do not change, and the types of their elements in arrays."""

OLDEST_S = 9.0e9
"""The greatest age that its nanoseconds can be counted for in 64 bits [s]."""

_MOST_NUMBERS = 7
"""Position variables of the joint that has the most, a floating one."""


class Column(NamedTuple):
    """One number at each time, or the name of a parent.

    Attributes:
        array: its array among the `series_arrays`.
        place: its index in a row of this array.
    """

    name: str
    unit: str
    array: str
    place: tuple[int, ...] = ()

    @property
    def is_parent(self) -> bool:
        """True if its array has indices of names."""
        return self.array.endswith("parent")

    def of(self, arrays: Mapping[str, Array]) -> Array:
        """Return its part (n,) of the arrays, as a writable view."""
        where: tuple[slice | int, ...] = (slice(None), *self.place)
        return np.asarray(arrays[self.array][where])


def series_head(series: Series) -> dict[str, Any]:
    """Return the constant facts of a series, as values for JSON."""
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
    """Return the result of `series_head` as arrays by name."""
    found = {key: np.array(head[key], dtype=np.str_) for key in ("names", "frames")}
    found["models"] = np.array([entry["name"] for entry in head["models"]], dtype=np.str_)
    for entry in head["models"]:
        found |= {f"{entry['name']}/{key}": np.array(entry[key], dtype=kind) for key, kind in _LISTS.items()}
        found |= {f"{entry['name']}/{key}": np.array(entry[key]) for key in _TEXTS if entry[key] is not None}
    return found


def head_of_arrays(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return the head from the arrays of `head_arrays`; raise `KeyError` if one is missing."""
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


def series_arrays(series: Series, ages: type[np.float32] | type[np.float64] = np.float32) -> dict[str, Array]:
    """Return the arrays with one row for each time; ages are in seconds, in single precision, NaN before the first
    message.
    """
    arrays: dict[str, Array] = {"time_ns": series.times_ns}
    for at, owner, shapes in parts_of(series):
        for key in shapes:
            array = getattr(owner, field_of(key))
            if key.endswith("age"):
                array = _seconds(array, ages)
            arrays[f"{at}{key}"] = array.astype(np.int16) if key.endswith("parent") else array
    return arrays


def series_from(head: Mapping[str, Any], arrays: Mapping[str, Array]) -> Series:
    """Return the series of a head and arrays; numbers without an array are not stated.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: they are not a series.
    """
    count = len(arrays["time_ns"])

    def given(prefix: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        result = {}
        for key, shape in shapes.items():
            array = arrays.get(f"{prefix}{key}")
            if array is None:
                if key.endswith("parent"):
                    raise KeyError(f"{prefix}{key}")
                array = np.full((count, *shape), np.nan)
            result[field_of(key)] = ages_ns(array) if key.endswith("age") else array
        return result

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


def rows_of(series: Series, rows: slice) -> Series:
    """Return the states of some rows of a series."""
    arrays = {name: array[rows] for name, array in series_arrays(series, np.float64).items()}
    return series_from(series_head(series), arrays)


def columns(series: Series, units: Mapping[tuple[str, str], str]) -> Iterator[Column]:
    """Yield the columns of a series: the time, then each model's and each frame's.

    Args:
        series: the series; only its head is used.
        units: of the joints' positions, by model and joint.
    """
    yield Column("time_ns", "ns", "time_ns")
    for model in series.models:
        prefix = f"{model.name}/"
        yield Column(f"{prefix}parent", "", f"{prefix}parent")
        yield from _axes(prefix, POSE, f"{prefix}pose")
        yield from _axes(prefix, TWIST, f"{prefix}twist")
        yield Column(f"{prefix}age", "s", f"{prefix}base_age")
        unit_of = {name: units.get((model.name, name), "rad or m") for name in model.joints}
        for i, name in enumerate(model.variables):
            yield Column(f"{prefix}{name}/position", unit_of[name.partition("[")[0]], f"{prefix}positions", (i,))
        for i, name in enumerate(model.velocity_variables):
            rate = "/s or ".join(unit_of[name.partition("[")[0]].split(" or ")) + "/s"
            yield Column(f"{prefix}{name}/velocity", rate, f"{prefix}velocities", (i,))
        for i, name in enumerate(model.velocity_variables):
            force = {"rad": "N m", "m": "N"}.get(unit_of[name.partition("[")[0]], "N or N m")
            yield Column(f"{prefix}{name}/effort", force, f"{prefix}efforts", (i,))
        for i, name in enumerate(model.joints):
            yield Column(f"{prefix}{name}/age", "s", f"{prefix}joint_age", (i,))
        for i, link in enumerate(model.links):
            yield from _axes(f"{prefix}{link}/", POSE, f"{prefix}link_poses", i)
            yield from _axes(f"{prefix}{link}/", TWIST, f"{prefix}link_twists", i)
    for i, frame in enumerate(series.frames):
        yield Column(f"{frame}/parent", "", "frame_parent", (i,))
        yield from _axes(f"{frame}/", POSE, "frame_pose", i)
        yield Column(f"{frame}/age", "s", "frame_age", (i,))


def columns_with_values(series: Series, units: Mapping[tuple[str, str], str]) -> Iterator[tuple[Column, Array]]:
    """Yield the `columns` of a series with their values (n,); the values of a parent are texts, None if unknown."""
    arrays, names = series_arrays(series, np.float64), np.array([*series.names, None], dtype=object)
    for column in columns(series, units):
        yield column, names[column.of(arrays)] if column.is_parent else column.of(arrays)


def _axes(name: str, axes: tuple[tuple[str, str], ...], array: str, *at: int) -> Iterator[Column]:
    for i, (axis, unit) in enumerate(axes):
        yield Column(f"{name}{axis}", unit, array, (*at, i))


def _seconds(age_ns: Array, kind: type[np.float32] | type[np.float64]) -> Array:
    """Return ages in seconds; NaN for -1 (no message yet)."""
    return np.where(age_ns < 0, np.nan, age_ns / 1e9).astype(kind)


@contextmanager
def series_errors(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Convert the exceptions of invalid content, and those of `more`, to a `SeriesError`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise
        # pyarrow reports damage as an OSError without a number.
        raise _refusal(path, error) from None
    except NONSENSE + more as error:
        raise _refusal(path, error) from None


def _refusal(path: Path, error: Exception) -> SeriesError:
    return SeriesError(path, f"it is not a series ({shown(' '.join(str(error).split()))})")


def model_shapes(
    joints: Sequence[str], widths: Sequence[int], speeds: Sequence[int], links: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return the shape of a row for each array of a model, by its name in files."""
    shapes = {
        "positions": (sum(widths),),
        "velocities": (sum(speeds),),
        "efforts": (sum(speeds),),
        "joint_age": (len(joints),),
        "parent": (),
        "pose": (7,),
        "twist": (6,),
        "base_age": (),
    }
    return shapes | ({"link_poses": (len(links), 7), "link_twists": (len(links), 6)} if links else {})


def frame_shapes(frames: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the shape of a row for each array of the frames, by its name in files."""
    count = len(frames)
    return {"frame_parent": (count,), "frame_pose": (count, 7), "frame_twist": (count, 6), "frame_age": (count,)}


def field_of(key: str) -> str:
    """Return the field of a series for an array in files; ages are nanoseconds in the field."""
    return f"{key}_ns" if key.endswith("age") else key


def parts_of(series: Series) -> Iterator[tuple[str, Series | ModelSeries, dict[str, tuple[int, ...]]]]:
    """Yield the parts of a series with arrays: the prefix of the names, the owner of the fields, and the rows."""
    yield "", series, frame_shapes(series.frames)
    for model in series.models:
        yield f"{model.name}/", model, model_shapes(model.joints, model.widths, model.speeds, model.links)


def check_series(series: Series) -> None:
    """Check that each part of a series has the shape, type and range that `Series` states.

    Raises:
        ValueError: a part is invalid; the message names it.
    """
    _array("time_ns", series.times_ns, (len(series),), "i")
    if (np.diff(series.times_ns, prepend=0) < 0).any():
        raise ValueError("the times go back, or begin below zero")
    _names("names", series.names)
    plain = (WORLD, *series.frames, *(model.name for model in series.models))
    links = series.parents[len(plain) :]
    if series.names[: len(plain)] != plain or any(link is None for _, link in links):
        raise ValueError(f"the names are not '{WORLD}', the frames, the models and links of models")
    for model in series.models:
        _check_head(model)
    for at, owner, shapes in parts_of(series):
        for key, shape in shapes.items():
            name, array = f"{at}{key}", getattr(owner, field_of(key))
            kind = "i" if key.endswith(("age", "parent")) else "f"
            _array(name, array, (len(series), *shape), kind)
            if kind == "f" and np.isinf(array).any():
                raise ValueError(f"'{shown(name)}' is infinite somewhere")
            if key.endswith("parent") and array.size and not ABSENT <= array.min() <= array.max() < len(series.names):
                raise ValueError(f"'{shown(name)}' has an index without a name")


def ages_ns(seconds: FloatArray) -> IntArray:
    """Return the ages of a file [s] as [ns]; -1 for NaN.

    Raises:
        ValueError: an age is negative, or larger than 64 bits.
    """
    if seconds.dtype.kind != "f":
        raise ValueError(f"ages are of the kind {seconds.dtype}")
    known = ~np.isnan(seconds)
    stated = np.where(known, seconds, 0.0)
    if not ((stated >= 0.0) & (stated <= OLDEST_S)).all():
        raise ValueError("an age is negative or too large")
    return np.where(known, np.round(stated * 1e9), -1).astype(np.int64)


def _check_head(model: ModelSeries) -> None:
    """Check the constant facts of a model."""
    _names(f"{model.name}/joints", model.joints)
    _names(f"{model.name}/links", model.links)
    for key, widths in (("widths", model.widths), ("speeds", model.speeds)):
        fits = all(type(width) is int and 0 <= width <= _MOST_NUMBERS for width in widths)
        if len(widths) != len(model.joints) or not fits:
            raise ValueError(f"'{shown(model.name)}/{key}' are not the counts of {len(model.joints)} joints' numbers")
    for key, limits in (("lower", model.lower), ("upper", model.upper)):
        _array(f"{model.name}/{key}", limits, (sum(model.widths),), "f")


def _names(what: str, names: tuple[object, ...]) -> None:
    if not all(isinstance(name, str) and name.strip() for name in names) or len(set(names)) < len(names):
        raise ValueError(f"'{shown(what)}' are not names, each given once")


def _array(what: str, array: Any, shape: tuple[int, ...], kinds: str) -> None:
    if array.dtype.kind not in kinds:
        raise ValueError(f"'{shown(what)}' has elements of the kind {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"'{shown(what)}' has the shape {array.shape}, not {shape}")
