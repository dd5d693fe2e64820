# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether arrays that came from a file make a series: their shapes agree, their names are names, their numbers lead."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robot_semantics.base.foreign_text import shown
from robot_semantics.recording.series import Series, SeriesError
from robot_semantics.state.model_states import ABSENT, ModelSeries
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.usdf.world_state import WORLD

OLDEST_S = 9.0e9
"""The greatest age that its nanoseconds can be counted for in 64 bits [s]."""

_MOST_NUMBERS = 7
"""Position variables of the joint that has the most, a floating one."""

_Shaped = tuple[FloatArray, tuple[int, ...]]

READ_ERRORS = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    EOFError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a file of arrays that holds nonsense may raise."""


@contextmanager
def series_errors(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Raise what nonsense in a file makes the reading raise, `more` among it, as a `SeriesError`."""
    try:
        yield
    except READ_ERRORS + more as error:
        raise SeriesError(path, f"it is no series ({error})") from None


def check_series(series: Series) -> None:
    """Look whether every part of a series has the shape, the kind and the range that `Series` states.

    Raises:
        ValueError: one has not; the message names it.
    """
    count, frames = len(series), len(series.frames)
    _array("time_ns", series.times_ns, (count,), "i")
    if (np.diff(series.times_ns, prepend=0) < 0).any():
        raise ValueError("the times go back, or begin below zero")
    models = tuple(model.name for model in series.models)
    _names("names", series.names)
    if series.names != (WORLD, *series.frames, *models):
        raise ValueError(f"the names are not '{WORLD}', the frames and the models")
    floats: dict[str, _Shaped] = {
        "frame_pose": (series.frame_pose, (count, frames, 7)),
        "frame_twist": (series.frame_twist, (count, frames, 6)),
    }
    _parents("frame_parent", series.frame_parent, (count, frames), len(series.names))
    _array("frame_age", series.frame_age_ns, (count, frames), "i")
    for model in series.models:
        floats |= _model_floats(model, count)
        _parents(f"{model.name}/parent", model.parent, (count,), len(series.names))
        _array(f"{model.name}/joint_age", model.joint_age_ns, (count, len(model.joints)), "i")
        _array(f"{model.name}/base_age", model.base_age_ns, (count,), "i")
    for name, (array, shape) in floats.items():
        _array(name, array, shape, "f")
        if np.isinf(array).any():
            raise ValueError(f"'{shown(name)}' is infinite somewhere")


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


def _model_floats(model: ModelSeries, count: int) -> dict[str, _Shaped]:
    """Return a model's arrays of finite numbers, each with the shape that it must have."""
    at = model.name
    _names(f"{at}/joints", model.joints)
    _names(f"{at}/links", model.links)
    for key, widths in (("widths", model.widths), ("speeds", model.speeds)):
        fits = all(type(width) is int and 0 <= width <= _MOST_NUMBERS for width in widths)
        if len(widths) != len(model.joints) or not fits:
            raise ValueError(f"'{shown(at)}/{key}' are not the counts of {len(model.joints)} joints' numbers")
    positions, speeds, links = sum(model.widths), sum(model.speeds), len(model.links)
    for key, limits in (("lower", model.lower), ("upper", model.upper)):
        _array(f"{at}/{key}", limits, (positions,), "f")
    found: dict[str, _Shaped] = {
        f"{at}/positions": (model.positions, (count, positions)),
        f"{at}/velocities": (model.velocities, (count, speeds)),
        f"{at}/efforts": (model.efforts, (count, speeds)),
        f"{at}/pose": (model.pose, (count, 7)),
        f"{at}/twist": (model.twist, (count, 6)),
    }
    if model.link_poses is not None:
        found[f"{at}/link_poses"] = (model.link_poses, (count, links, 7))
    if model.link_twists is not None:
        found[f"{at}/link_twists"] = (model.link_twists, (count, links, 6))
    return found


def _names(what: str, names: tuple[Any, ...]) -> None:
    if not all(isinstance(name, str) and name.strip() for name in names) or len(set(names)) < len(names):
        raise ValueError(f"'{shown(what)}' are not names of which each stands once")


def _array(what: str, array: Any, shape: tuple[int, ...], kinds: str) -> None:
    if array.dtype.kind not in kinds:
        raise ValueError(f"'{shown(what)}' has elements of the kind {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"'{shown(what)}' has the shape {array.shape}, not {shape}")


def _parents(what: str, array: Any, shape: tuple[int, ...], names: int) -> None:
    _array(what, array, shape, "i")
    if array.size and (array.min() < ABSENT or array.max() >= names):
        raise ValueError(f"'{shown(what)}' has a number that is none of a name")
