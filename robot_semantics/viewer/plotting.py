# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pictures of a series: every joint's position and velocity over time with its limits and gaps, and the base's path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, MissingExtraError, UnknownNameError
from robot_semantics.base.names import shown
from robot_semantics.base.record import record
from robot_semantics.live.model_series import ModelSeries
from robot_semantics.model.loading import robot_from_text
from robot_semantics.recording.bags.source import RequestError
from robot_semantics.recording.series.formats import readable_format
from robot_semantics.recording.series.input import limits_of, load_arrays, load_states, series_from_states
from robot_semantics.recording.series.series import Series
from robot_semantics.transforms.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure


Limits = Mapping[str, tuple[float, float]]

PATH_HEIGHT, JOINT_HEIGHT = 3.4, 1.15
"""How high a row of the picture is [inches]."""
WIDTH, PANEL_WIDTH = 11.0, 8.0
"""Width of the picture of one robot, and of each column of several robots [inches]."""
MOST_ROWS = 200
"""A picture with more rows takes minutes to lay out and is unreadable."""

LONGEST_TITLE = 500
LEAST_RANGE = 1e-3
"""Smallest range of an axis [m, rad, m/s, rad/s]."""
LARGEST = 1e100
"""Larger values have no axis: matplotlib computes their square."""

COLOR, LIMIT_COLOR, GAP_COLOR = "#1f5fa8", "#b3261e", "#d9d9d9"


@record(frozen=True)
class PlotData:
    """Content of a picture.

    Attributes:
        old: by (kind, name): (n,) bool, the times with an old or unknown value.
        limits: limits of the joints, by model.
    """

    series: Series
    old: Mapping[tuple[str, str], BoolArray]
    limits: Mapping[str, Limits]


def load_plot_data(paths: Sequence[Path], problems: Diagnostics) -> PlotData:
    """Return the series of files or folders with their limits and gaps.

    Raises:
        SeriesError: a file is not a series.
        DescriptionError: a document in it has errors.
        RequestError: the series is empty.
        OSError: a file cannot be read.
    """
    if len(paths) == 1 and readable_format(paths[0]).arrays is not None:
        file = load_arrays(paths[0])
        return plot_data(file.series(), file.max_gap_ns)
    loaded = load_states(paths, problems)
    series = _thin(series_from_states(loaded.states))
    old = _old(series)
    for i, gaps in enumerate(loaded.gaps):
        for key in gaps:
            old.setdefault(key, np.zeros(len(series), dtype=bool))[i] = True
    limits = {name: dict(given) for name, given in loaded.limits.items()}
    for name, text in loaded.urdf.items():
        if name not in limits and text:
            limits[name] = _urdf_limits(text)
    return PlotData(series, old, limits)


def plot_data(series: Series, max_gap_ns: int = 2**63 - 1) -> PlotData:
    """Return the curves of a series; values older than `max_gap_ns` are shaded.

    Raises:
        RequestError: the series is empty.
    """
    return PlotData(_thin(series), _old(series, max_gap_ns), {model.name: limits_of(model) for model in series.models})


def draw(data: PlotData, out: Path, *, joints: Sequence[str] = (), model: str | None = None, title: str = "") -> int:
    """Draw a series into a PNG, SVG or PDF file; return the number of joints in it.

    Args:
        data: what to draw.
        out: the file; its ending gives the kind.
        joints: which joints; none: all.
        model: which model; None: all.
        title: a line above the picture.

    Raises:
        MissingExtraError: matplotlib is not installed.
        UnknownNameError: a joint or model is not in the series.
        RequestError: the ending is unknown, or there is nothing to draw.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "plotting") from None
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise RequestError(f"the name of a picture must end in .png, .svg or .pdf, not in '{out.suffix}'")
    models, rows = _chosen(data.series, joints, model)
    paths = [entry for entry in models if np.isfinite(entry.pose).all(axis=1).any()]
    count = len(rows) + len(paths)
    if count > MOST_ROWS:
        raise RequestError(f"{count} rows are too many for a picture: choose some with --joint or --model")
    if not count:
        raise RequestError("the series has no joints and no base to draw")
    for entry in models:
        _refuse_large(entry)
    panels = [(entry, [row for row in rows if row[0] is entry]) for entry in models]
    panels = [panel for panel in panels if panel[1] or panel[0] in paths]
    # Robots below each other would need a strip that is longer than any page.
    columns = math.ceil(math.sqrt(len(panels)))
    lines = [panels[at : at + columns] for at in range(0, len(panels), columns)]
    heights = [max(_height(entry in paths, len(own_rows)) for entry, own_rows in line) for line in lines]
    width = WIDTH if columns == 1 else PANEL_WIDTH * columns
    # Text stays text in an SVG, also with dollar signs; the same series gives the same file.
    with rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "robot_semantics", "font.size": 8, "text.parse_math": False}
    ):
        figure = Figure(figsize=(width, sum(heights) + 0.8), layout="constrained")
        cells = figure.subfigures(len(lines), columns, squeeze=False, height_ratios=heights)
        for cell, (entry, own_rows) in zip(cells.ravel(), panels, strict=False):
            _draw_panel(cell, data, entry if entry in paths else None, own_rows, several=len(panels) > 1)
        figure.suptitle(shown(title, LONGEST_TITLE))
        metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(out.suffix, {})
        figure.savefig(out, format=out.suffix[1:], dpi=110, metadata=metadata)
    return len(rows)


def _chosen(
    series: Series, joints: Sequence[str], model: str | None
) -> tuple[list[ModelSeries], list[tuple[ModelSeries, str]]]:
    """Return the models to draw, and the joint variables, each with its model.

    Raises:
        UnknownNameError: a joint or model is not in the series.
    """
    names = [entry.name for entry in series.models]
    if model is not None and model not in names:
        raise UnknownNameError("model", model, names)
    models = [entry for entry in series.models if model in (None, entry.name)]
    readings = [_reading(name, models) for name in joints]
    rows = [
        (entry, name)
        for entry in models
        for name in entry.variables
        if not joints or (entry.name, _joint_of(name)) in readings
    ]
    return models, rows


def _reading(name: str, models: Sequence[ModelSeries]) -> tuple[str, str]:
    """Return the model and the joint of a name: a joint, one of its variables, or ``MODEL/`` and one of these.

    Raises:
        UnknownNameError: there is none.
        RequestError: there are two.
    """
    readings = {
        (entry.name, _joint_of(variable)): None
        for entry in models
        for variable in entry.variables
        for word in {variable, _joint_of(variable), variable.replace("[", "/").rstrip("]")}
        if name in (word, f"{entry.name}/{word}")
    }
    if len(readings) > 1:
        first, second = (f"joint '{joint}' of model '{model}'" for model, joint in [*readings][:2])
        raise RequestError(f"--joint '{name}' can be {first} or {second}: write MODEL/NAME, or choose with --model")
    if not readings:
        raise UnknownNameError("joint", name, {_joint_of(known) for entry in models for known in entry.variables})
    return next(iter(readings))


def _refuse_large(model: ModelSeries) -> None:
    """Refuse numbers that are too large for a picture.

    Raises:
        RequestError: a number is larger than `LARGEST`.
    """
    for what, numbers in (("the base", model.pose), ("a position", model.positions), ("a velocity", model.velocities)):
        if np.nanmax(np.abs(numbers), initial=0.0) > LARGEST:
            raise RequestError(f"{what} of '{model.name}' is beyond {LARGEST:g}, more than can be drawn")


def _height(path: bool, rows: int) -> float:
    return PATH_HEIGHT * path + JOINT_HEIGHT * rows


def _draw_panel(
    part: SubFigure, data: PlotData, path: ModelSeries | None, rows: Sequence[tuple[ModelSeries, str]], *, several: bool
) -> None:
    top = below = part
    if path is not None and rows:
        ratios = (PATH_HEIGHT, JOINT_HEIGHT * len(rows))
        (top,), (below,) = part.subfigures(2, 1, squeeze=False, height_ratios=ratios)
    if path is not None:
        _draw_path(top, data, path)
    if rows:
        _draw_joints(below, data, rows, several=several)


def _draw_path(part: SubFigure, data: PlotData, model: ModelSeries) -> None:
    plane, over_time = part.subplots(1, 2)
    seconds, name = _seconds(data.series), shown(model.name)
    old = data.old.get(("base", model.name), np.zeros(len(data.series), dtype=bool))
    plane.plot(_broken(model.pose[:, 0], old), _broken(model.pose[:, 1], old), color=COLOR, gid=f"path {name}")
    known = np.flatnonzero(np.isfinite(model.pose[:, 0]))
    plane.plot(*model.pose[known[0], :2], "o", color=COLOR, label="start")
    plane.plot(*model.pose[known[-1], :2], "s", color=COLOR, label="end")
    plane.set(xlabel="x [m]", ylabel="y [m]", title=f"{name}: path of the base in {_parents(data, model)}")
    plane.set_aspect("equal", adjustable="datalim")
    plane.legend(loc="best")
    for column, (axis, style) in enumerate((("x", "-"), ("y", "--"), ("z", ":"))):
        over_time.plot(seconds, _broken(model.pose[:, column], old), style, color=COLOR, label=axis)
    _shade(over_time, seconds, old)
    over_time.set(xlabel="time [s]", ylabel="position [m]", title=f"{name}: base")
    over_time.legend(loc="best")
    _widen(plane, horizontal=True)
    _widen(over_time)


def _draw_joints(part: SubFigure, data: PlotData, rows: Sequence[tuple[ModelSeries, str]], *, several: bool) -> None:
    axes = part.subplots(len(rows), 2, squeeze=False)
    seconds = _seconds(data.series)
    for (left, right), (model, name) in zip(axes, rows, strict=True):
        joint = _joint_of(name)
        old = data.old.get(("joint", f"{model.name}/{joint}"), np.zeros(len(data.series), dtype=bool))
        label, full = shown(name), f"{shown(model.name)}/{shown(name)}"
        position = model.positions[:, model.variables.index(name)]
        left.plot(seconds, _broken(position, old), color=COLOR, linewidth=1.0, gid=f"position {full}")
        for limit in data.limits.get(model.name, {}).get(name, ()):
            if abs(limit) <= LARGEST:
                left.axhline(limit, color=LIMIT_COLOR, linewidth=0.8, linestyle="--", gid=f"limit {full}")
        if name in model.velocity_variables:
            velocity = model.velocities[:, model.velocity_variables.index(name)]
            right.plot(seconds, _broken(velocity, old), color=COLOR, linewidth=1.0, gid=f"velocity {full}")
        for axis in (left, right):
            _shade(axis, seconds, old)
            axis.grid(visible=True, linewidth=0.3)
            _widen(axis)
        left.set_ylabel(full if several else label, rotation=0, ha="right", va="center")
    _share_times(axes)
    axes[0][0].set_title("position [rad, m]; dashed: limits, grey: gaps")
    axes[0][1].set_title("velocity [rad/s, m/s]")
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")


def _share_times(axes: npt.NDArray[np.object_]) -> None:
    """Give all (n, 2) axes the same range of times, and only the last row its numbers.

    Axes that matplotlib shares would each update all others: the time would be quadratic in the number of joints.
    """
    low, high = min(axis.dataLim.x0 for axis in axes.flat), max(axis.dataLim.x1 for axis in axes.flat)
    if low <= high:
        for axis in axes.flat:
            axis.dataLim.intervalx = (low, high)
            axis.autoscale_view(scaley=False)
    for axis in axes[:-1].flat:
        axis.tick_params(axis="x", labelbottom=False)
        axis.xaxis.get_offset_text().set_visible(False)


def _widen(axis: Axes, *, horizontal: bool = False) -> None:
    """Widen the range of an axis to `LEAST_RANGE`: what rounding leaves of 0 would look like a vibration."""
    low, high = axis.get_ylim()
    if high - low < LEAST_RANGE:
        axis.set_ylim(0.5 * (low + high - LEAST_RANGE), 0.5 * (low + high + LEAST_RANGE))
    if horizontal:
        low, high = axis.get_xlim()
        if high - low < LEAST_RANGE:
            axis.set_xlim(0.5 * (low + high - LEAST_RANGE), 0.5 * (low + high + LEAST_RANGE))


def _shade(axis: Axes, seconds: FloatArray, old: BoolArray) -> None:
    """Shade the times with old or unknown values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], old, [False]]).astype(int)))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        low = seconds[max(start - 1, 0)]
        axis.axvspan(low, seconds[min(stop, len(seconds) - 1)], color=GAP_COLOR, zorder=0, linewidth=0, gid="gap")


def _broken(values: FloatArray, old: BoolArray) -> FloatArray:
    """Return the values with NaN where they are old, because a line across a gap would show unknown values."""
    return np.where(old, np.nan, values)


def _seconds(series: Series) -> FloatArray:
    seconds: FloatArray = (series.times_ns - series.times_ns[0]) / 1e9
    return seconds


def _parents(data: PlotData, model: ModelSeries) -> str:
    return ", ".join(shown(data.series.names[i]) for i in dict.fromkeys(model.parent.tolist()) if i >= 0) or "?"


def _joint_of(variable: str) -> str:
    return variable.partition("[")[0]


def _thin(series: Series) -> Series:
    if not len(series):
        raise RequestError("there is no state to draw")
    return series


def _old(series: Series, max_gap_ns: int = 2**63 - 1) -> dict[tuple[str, str], BoolArray]:
    """Return for each item the times (n,) at which it is unknown or older than `max_gap_ns`."""
    return dict(zip(series.labels, ((series.ages_ns < 0) | (series.ages_ns > max_gap_ns)).T, strict=True))


def _urdf_limits(text: str) -> dict[str, tuple[float, float]]:
    try:
        model = robot_from_text(text, strict=False, implicit_links=True)
    except DescriptionError:
        return {}
    return {joint.name: (joint.limits.lower, joint.limits.upper) for joint in model.joints if joint.position_count == 1}
