# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Series read back: files and folders of every readable format, also several together, as states or as arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.files import open_bounded, save_all
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.base.record import record
from robot_semantics.live.model_series import ABSENT, ModelSeries
from robot_semantics.recording.bags.source import RequestError
from robot_semantics.recording.read.times import time_of
from robot_semantics.recording.series.formats import ArraySeries, readable_format
from robot_semantics.recording.series.series import Series, SeriesError
from robot_semantics.transforms.arrays import IntArray
from robot_semantics.transforms.pose import xyz_quat_of
from robot_semantics.usdf.saved_descriptions import Texts, described_beside
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState, carrier_of
from robot_semantics.usdf.writer import write_world
from robot_semantics.xml.reader import forgiving_utf8, read_text


@record(frozen=True)
class LoadedSeries:
    """A series as states.

    Attributes:
        states: in order of time.
        gaps: (kind, name) of the old and unknown values of each state, if the series has them.
        urdf: each model's URDF, if the series has it or names its file; states do not name a URDF inside the series.
        srdf: each model's SRDF, likewise.
        limits: each model's joint limits (lower, upper) by variable, if the series has them.
    """

    states: tuple[WorldState, ...]
    gaps: tuple[tuple[tuple[str, str], ...], ...]
    urdf: Mapping[str, str] = field(default_factory=dict)
    srdf: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)


def load_states(paths: Sequence[Path], problems: Diagnostics) -> LoadedSeries:
    """Return the states of files and folders, in the order of their times.

    Raises:
        SeriesError: a file is of an unknown kind or damaged, or one of several states has no time.
        DescriptionError: a USDF or JSON document has errors.
        OSError: a file cannot be read.
    """
    loaded_states: list[tuple[Path, WorldState, tuple[tuple[str, str], ...]]] = []
    urdf: dict[str, str] = {}
    srdf: dict[str, str] = {}
    limits: dict[str, dict[str, tuple[float, float]]] = {}
    for path in paths:
        entry = readable_format(path)
        if entry.states is not None:
            loaded_states += [(path, state, gaps) for state, gaps in entry.states(path)]
        else:
            file = load_arrays(path)
            series = file.series()
            urdf |= {
                model.name: file.texts[model.description] for model in series.models if model.description in file.texts
            }
            srdf |= {model.name: file.texts[model.semantic] for model in series.models if model.semantic in file.texts}
            limits |= {model.name: limits_of(model) for model in series.models}
            for state, gaps in zip(series.states(), series.gaps(file.max_gap_ns), strict=True):
                loaded_states.append(
                    (path, without_texts(state, file.texts), tuple((gap.kind, gap.name) for gap in gaps))
                )
    if len(loaded_states) > 1:
        for path, state, _ in loaded_states:
            if state.time_ns is None:
                raise SeriesError(path, "a state without a time cannot be sorted with other states")
    loaded_states.sort(key=lambda item: item[1].time_ns or 0)
    for path, state, _ in loaded_states:
        folder = path if path.is_dir() else path.parent
        for item in state.models:
            _read_texts(item, folder, urdf, srdf, problems)
    return LoadedSeries(
        tuple(state for _, state, _ in loaded_states), tuple(gaps for _, _, gaps in loaded_states), urdf, srdf, limits
    )


def _read_texts(
    model: ModelState, folder: Path, urdf: dict[str, str], srdf: dict[str, str], problems: Diagnostics
) -> None:
    for uri, texts in ((model.description, urdf), (model.semantic, srdf)):
        if uri is None or model.name in texts or "://" in uri:
            continue
        try:
            texts[model.name] = forgiving_utf8(read_text(folder / uri, foreign=True), uri)[0].decode()
        except DescriptionError as error:
            texts[model.name] = ""
            problems.warning(
                "no-description", f"model '{model.name}': '{uri}' cannot be read ({error})", SourcePlace(str(folder))
            )


def load_arrays(path: Path) -> ArraySeries:
    """Open a file with a series as arrays.

    Raises:
        SeriesError: the file is damaged or has other content.
        MissingExtraError: it is Parquet, and pyarrow is not installed.
        OSError: it cannot be read.
    """
    entry = readable_format(path)
    if entry.arrays is None:
        raise SeriesError(path, "it holds states, not arrays")
    # The libraries that read arrays would wait for a pipe, or read a device without end.
    with open_bounded(path, 0):
        pass
    return entry.arrays(path)


def without_texts(state: WorldState, texts: Collection[str]) -> WorldState:
    """Return a state whose models do not name the descriptions `texts`, because these are not files."""
    return replace(
        state,
        models=tuple(
            replace(
                model,
                description=None if model.description in texts else model.description,
                semantic=None if model.semantic in texts else model.semantic,
            )
            for model in state.models
        ),
    )


def limits_of(model: ModelSeries) -> dict[str, tuple[float, float]]:
    """Return a model's joint limits (lower, upper) by variable."""
    return dict(zip(model.variables, zip(model.lower.tolist(), model.upper.tolist(), strict=True), strict=True))


def series_from_states(states: Sequence[WorldState]) -> Series:
    """Return states as arrays; values that a state does not have are NaN."""
    names: dict[str, int] = {WORLD: 0}
    for state in states:
        for frame in state.frames:
            names.setdefault(frame.name, len(names))
    frames = tuple(names)[1:]
    model_names = tuple(dict.fromkeys(model.name for state in states for model in state.models))
    for name in model_names:
        names.setdefault(name, len(names))
    for state in states:
        for body in state.bodies:
            if body.parent_link is not None:
                names.setdefault(carrier_of(body), len(names))
    count = len(states)
    times = np.array([state.time_ns or 0 for state in states], dtype=np.int64)
    parent = np.full((count, len(frames)), ABSENT, dtype=np.int64)
    pose, twist = np.full((count, len(frames), 7), np.nan), np.full((count, len(frames), 6), np.nan)
    for i, state in enumerate(states):
        for frame in state.frames:
            j = names[frame.name] - 1
            parent[i, j] = names.get(carrier_of(frame), ABSENT)
            pose[i, j] = xyz_quat_of(frame.pose)
            if frame.twist is not None:
                twist[i, j] = frame.twist
    models = tuple(_model_of(name, states, names) for name in model_names)
    return Series(times, tuple(names), models, frames, parent, pose, twist, np.where(parent == ABSENT, -1, 0))


def _model_of(name: str, states: Sequence[WorldState], names: Mapping[str, int]) -> ModelSeries:
    mine = [next((model for model in state.models if model.name == name), None) for state in states]
    widths = _widths(mine)
    numbers, rates_of = zip(*widths.values(), strict=True) if widths else ((), ())
    series = ModelSeries.unknown(name, tuple(widths), numbers, rates_of, len(states))
    places = {joint: (i, where.start, rates.start) for i, (joint, where, rates) in enumerate(series.spans)}
    for i, model in enumerate(mine):
        if model is None:
            continue
        series.parent[i], series.pose[i] = names.get(carrier_of(model), ABSENT), xyz_quat_of(model.pose)
        if model.twist is not None:
            series.twist[i] = model.twist
        for joint in model.joints:
            number, at, rate_at = places[joint.name]
            for array, values, start in (
                (series.positions, joint.positions, at),
                (series.velocities, joint.velocities, rate_at),
                (series.efforts, joint.torques, rate_at),
            ):
                if values is not None:
                    array[i, start : start + len(values)] = values
            if joint.positions is not None:
                series.joint_age_ns[i, number] = 0
    series.base_age_ns[~np.isnan(series.pose[:, 0])] = 0
    return series


def _widths(models: Iterable[ModelState | None]) -> dict[str, tuple[int, int]]:
    """Return the number of positions and velocities of each joint of a model, over all its states."""
    widths: dict[str, tuple[int, int]] = {}
    for model in models:
        for joint in model.joints if model is not None else ():
            speed = next((len(v) for v in (joint.velocities, joint.torques) if v is not None), 0)
            before = widths.get(joint.name, (0, 0))
            widths[joint.name] = (max(before[0], len(joint.positions or ())), max(before[1], speed))
    # Without velocities, their number is the number of positions, minus one for a quaternion.
    return {joint: (width, speed or min(width, 6)) for joint, (width, speed) in widths.items()}


# One state of a series with the descriptions of its robots, for example to restart a simulation.


def state_at(path: Path, time: str, problems: Diagnostics) -> tuple[WorldState, dict[str, Texts]]:
    """Return the state of a series at a time, and its robots' descriptions by model.

    Args:
        path: the series: a folder, ``.npz``, ``.parquet`` or ``.jsonl``.
        time: ``end``, seconds since the first state, or ``@`` seconds since 1970; the series must have a state at this
            time.
        problems: takes the problems of descriptions.

    Raises:
        RequestError: the series has no state at that time; the message has the nearest times.
        SeriesError: the file is not a series.
        OSError: it cannot be read.
    """
    if readable_format(path).arrays is not None:
        file = load_arrays(path)
        # Read only the row group with that time from a Parquet file.
        state = next(file.row(_index(file.times_ns, time)).states())
        texts = {
            model.name: Texts(file.texts[model.description], file.texts.get(model.semantic or "", ""))
            for model in state.models
            if model.description in file.texts
        }
    else:
        loaded = load_states([path], problems)
        state = loaded.states[_index(np.array([state.time_ns or 0 for state in loaded.states], dtype=np.int64), time)]
        texts = {name: Texts(text, loaded.srdf.get(name, "")) for name, text in loaded.urdf.items() if text}
    # Descriptions in the series get new names in the folder of the state.
    bare = (replace(m, description=None, semantic=None) if m.name in texts else m for m in state.models)
    return replace(state, models=tuple(bare)), {m.name: texts[m.name] for m in state.models if m.name in texts}


def save_with_descriptions(state: WorldState, texts: Mapping[str, Texts], path: Path) -> None:
    """Write a state, and beside it its robots' descriptions in files named by their digests.

    Raises:
        DescriptionError: the state cannot be written.
        OSError: a file cannot be written.
    """
    named, files = described_beside(state, texts)
    beside = {path.parent / name: content for name, content in files.items()}
    save_all({**beside, path: write_world(named).encode()})


def _index(times_ns: IntArray, at: str) -> int:
    if not len(times_ns):
        raise RequestError("the series has no state")
    time_ns = time_of(at, int(times_ns[0]), int(times_ns[-1]))
    index = int(np.searchsorted(times_ns, time_ns))
    if index < len(times_ns) and times_ns[index] == time_ns:
        return index
    nearest = [seconds_text(int(times_ns[i])) for i in (index - 1, index) if 0 <= i < len(times_ns)]
    raise RequestError(f"the series has no state at {seconds_text(time_ns)} s; nearest: {', '.join(nearest)} s")
