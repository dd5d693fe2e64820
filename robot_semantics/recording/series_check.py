# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether arrays that came from a file make a series: their shapes agree, their names are names, their numbers lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robot_semantics.base.foreign_text import shown
from robot_semantics.recording.columns import NONSENSE
from robot_semantics.recording.series import Series, SeriesError
from robot_semantics.state.model_states import ABSENT, ModelSeries
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.usdf.world_state import WORLD

OLDEST_S = 9.0e9
"""The greatest age that its nanoseconds can be counted for in 64 bits [s]."""

_MOST_NUMBERS = 7
"""Position variables of the joint that has the most, a floating one."""


@contextmanager
def series_errors(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Raise what nonsense in a file makes the reading raise, `more` among it, as a `SeriesError`."""
    try:
        yield
    except NONSENSE + more as error:
        raise SeriesError(path, f"it is no series ({error})") from None


def model_shapes(
    joints: Sequence[str], widths: Sequence[int], speeds: Sequence[int], links: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return of each array of a model, by its name in files, the shape of a row."""
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
    """Return of each array of the frames, by its name in files, the shape of a row."""
    count = len(frames)
    return {"frame_parent": (count,), "frame_pose": (count, 7), "frame_twist": (count, 6), "frame_age": (count,)}


def field_of(key: str) -> str:
    """Return which field of a series an array of files is: ages are nanoseconds there."""
    return f"{key}_ns" if key.endswith("age") else key


def parts_of(series: Series) -> Iterator[tuple[str, Series | ModelSeries, dict[str, tuple[int, ...]]]]:
    """Yield what the arrays of a series belong to: the start of their names, whose fields they are, and their rows."""
    yield "", series, frame_shapes(series.frames)
    for model in series.models:
        yield f"{model.name}/", model, model_shapes(model.joints, model.widths, model.speeds, model.links)


def check_series(series: Series) -> None:
    """Look whether every part of a series has the shape, the kind and the range that `Series` states.

    Raises:
        ValueError: one has not; the message names it.
    """
    _array("time_ns", series.times_ns, (len(series),), "i")
    if (np.diff(series.times_ns, prepend=0) < 0).any():
        raise ValueError("the times go back, or begin below zero")
    _names("names", series.names)
    if series.names != (WORLD, *series.frames, *(model.name for model in series.models)):
        raise ValueError(f"the names are not '{WORLD}', the frames and the models")
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
                raise ValueError(f"'{shown(name)}' has a number that is none of a name")


def ages_ns(seconds: FloatArray) -> IntArray:
    """Return ages [ns] as files state them [s]; where a file states none, NaN, -1.

    Raises:
        ValueError: an age is below zero, or more than 64 bits hold.
    """
    if seconds.dtype.kind != "f":
        raise ValueError(f"ages are of the kind {seconds.dtype}")
    known = ~np.isnan(seconds)
    stated = np.where(known, seconds, 0.0)
    if not ((stated >= 0.0) & (stated <= OLDEST_S)).all():
        raise ValueError("an age is below zero or beyond all time")
    return np.where(known, np.round(stated * 1e9), -1).astype(np.int64)


def _check_head(model: ModelSeries) -> None:
    """Look at what holds for a model at all times."""
    _names(f"{model.name}/joints", model.joints)
    _names(f"{model.name}/links", model.links)
    for key, widths in (("widths", model.widths), ("speeds", model.speeds)):
        fits = all(type(width) is int and 0 <= width <= _MOST_NUMBERS for width in widths)
        if len(widths) != len(model.joints) or not fits:
            raise ValueError(f"'{shown(model.name)}/{key}' are not the counts of {len(model.joints)} joints' numbers")
    for key, limits in (("lower", model.lower), ("upper", model.upper)):
        _array(f"{model.name}/{key}", limits, (sum(model.widths),), "f")


def _names(what: str, names: tuple[Any, ...]) -> None:
    if not all(isinstance(name, str) and name.strip() for name in names) or len(set(names)) < len(names):
        raise ValueError(f"'{shown(what)}' are not names of which each stands once")


def _array(what: str, array: Any, shape: tuple[int, ...], kinds: str) -> None:
    if array.dtype.kind not in kinds:
        raise ValueError(f"'{shown(what)}' has elements of the kind {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"'{shown(what)}' has the shape {array.shape}, not {shape}")
