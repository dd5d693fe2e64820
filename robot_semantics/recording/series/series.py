# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states at many times as arrays, for exports and files, with their old and unknown values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import quoted
from robot_semantics.base.nanoseconds import float_seconds, seconds_text
from robot_semantics.base.record import record
from robot_semantics.live.model_series import ABSENT, ModelSeries, model_rows, model_state
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray
from robot_semantics.transforms.pose import pose_from_row, pose_rows, six_or_none
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, Frame, WorldState

DEFAULT_GAP_NS = 1_000_000_000
"""Default age from which a value is reported as old [ns]."""


class SeriesError(RobotSemanticsError):
    """A file or a list of states is not a valid series.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"{path}: {reason}")


class Gap(NamedTuple):
    """An old or unknown value at one time.

    Attributes:
        kind: ``joint``, ``frame`` or ``base``.
        name: name of the joint (``model/joint``), frame or model.
        age_s: the age; None before the first message.
    """

    kind: str
    name: str
    age_s: float | None

    def __str__(self) -> str:
        age = "never seen" if self.age_s is None else f"{self.age_s:.3f} s old"
        return f"{self.kind} '{self.name}': {age}"


@record(frozen=True, eq=False)
class Series:
    """World states at n times.

    Attributes:
        times_ns: (n,).
        names: names of parents: ``world`` first, then frames and models, then carrying links, ``model::link``.
        frames: names of the frames; frame i is number 1 + i in `names`.
        frame_parent: (n, frames) index into `names`; `ABSENT` if the frame is unknown.
        frame_pose: (n, frames, 7) T_parent_frame [m]; NaN is not stated.
        frame_twist: (n, frames, 6); NaN is not stated.
        frame_age_ns: (n, frames) distance to the nearest transform; 0 for fixed frames, -1 without a transform.
    """

    times_ns: IntArray
    names: tuple[str, ...]
    models: tuple[ModelSeries, ...]
    frames: tuple[str, ...]
    frame_parent: IntArray
    frame_pose: FloatArray
    frame_twist: FloatArray
    frame_age_ns: IntArray
    world_name: str | None = None

    def __len__(self) -> int:
        return len(self.times_ns)

    def states(self) -> Iterator[WorldState]:
        """Yield the world state at every time."""
        for i, row in enumerate(self.rows().tolist()):
            yield self.state(i, row, int(self.times_ns[i]))

    def rows(self) -> FloatArray:
        """Return all numbers of the states (n, columns), as `state` takes them; values that are not stated are NaN."""
        count = len(self)
        frames = pose_rows(self.frame_pose.reshape(-1, 7)).reshape(count, len(self.frames), 10)
        both = np.concatenate((frames, self.frame_twist), axis=2).reshape(count, len(self.frames) * 16)
        return np.concatenate([both, *map(model_rows, self.models)], axis=1)

    def state(self, index: int, row: Sequence[float], time_ns: int) -> WorldState:
        """Return the world state of one row of `rows`, with the parents of time number `index`."""
        parents = self.frame_parent[index].tolist()
        above = [int(model.parent[index]) for model in self.models]
        # A frame without a known pose at this time is kept as the parent of others.
        needed = {*parents, *above}
        frames, column = [], 0
        for j, name in enumerate(self.frames):
            if parents[j] != ABSENT:
                pose, twist = pose_from_row(row[column : column + 10]), six_or_none(row[column + 10 : column + 16])
                parent, link = self.parents[parents[j]]
                frames.append(Frame(name, parent, pose, twist, parent_link=link))
            elif j + 1 in needed:
                frames.append(Frame(name, WORLD))
            column += 16
        models = []
        for model, parent in zip(self.models, above, strict=True):
            name, link = (WORLD, None) if parent == ABSENT else self.parents[parent]
            made = model_state(model, row[column : column + model.row_size], name)
            models.append(made if link is None else replace(made, parent_link=link))
            column += model.row_size
        return WorldState(self.world_name, tuple(models), tuple(frames), time_ns)

    def gaps(self, max_gap_ns: int) -> Iterator[tuple[Gap, ...]]:
        """Yield the values of each state that are unknown, or older than `max_gap_ns`."""
        bad: BoolArray = (self.ages_ns < 0) | (self.ages_ns > max_gap_ns)
        for old, ages in zip(bad, self.ages_ns, strict=True):
            aged = ((*self.labels[at], int(ages[at])) for at in np.flatnonzero(old).tolist())
            yield tuple(Gap(kind, name, None if age_ns < 0 else float_seconds(age_ns)) for kind, name, age_ns in aged)

    @cached_property
    def parents(self) -> tuple[tuple[str, str | None], ...]:
        """Return the parent and the carrying link, if any, of each of `names`."""
        plain = 1 + len(self.frames) + len(self.models)
        return tuple(
            (name, None) if at < plain else self._carrier(name) or (name, None) for at, name in enumerate(self.names)
        )

    def _carrier(self, name: str) -> tuple[str, str] | None:
        """Return the model and the link of ``model::link``; None without a model of that name."""
        for model in self.models:
            link = name.removeprefix(f"{model.name}{SEPARATOR}")
            if link not in ("", name):
                return model.name, link
        return None

    @cached_property
    def aged(self) -> tuple[tuple[str | None, str], ...]:
        """Items with an age: (model, joint), or (None, model or frame)."""
        found: list[tuple[str | None, str]] = []
        for model in self.models:
            found += [(model.name, name) for name in model.joints]
            found.append((None, model.name))
        return (*found, *((None, name) for name in self.frames))

    @cached_property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The items of `aged`, by the kind and name of a `Gap`."""
        return tuple(
            ("frame" if name in self.frames else "base", name) if model is None else ("joint", f"{model}/{name}")
            for model, name in self.aged
        )

    @cached_property
    def ages_ns(self) -> IntArray:
        """(n, aged) distance in time of each item of `aged` to its nearest message [ns]; -1 without a message."""
        models = [array for m in self.models for array in (m.joint_age_ns, m.base_age_ns[:, np.newaxis])]
        return np.concatenate([*models, self.frame_age_ns], axis=1)


@dataclass
class GapSummary:
    """The gaps of one joint, frame or model over all states.

    Attributes:
        states: number of states with an old or unknown value.
        never: number of these states before the first message.
        worst_s: the largest age [s].
        first_ns: time of the first of these states.
        last_ns: time of the last.
    """

    states: int = 0
    never: int = 0
    worst_s: float = 0.0
    first_ns: int = 0
    last_ns: int = 0


def count_gaps(gaps: dict[tuple[str, str], GapSummary], series: Series, max_gap_ns: int) -> None:
    """Add the gaps of a part of a series to the counted ones, by kind and name."""
    bad = (series.ages_ns < 0) | (series.ages_ns > max_gap_ns)
    for at in np.flatnonzero(bad.any(axis=0)).tolist():
        age, rows = series.ages_ns[:, at], np.flatnonzero(bad[:, at])
        summary = gaps.setdefault(series.labels[at], GapSummary(first_ns=int(series.times_ns[rows[0]])))
        summary.states += len(rows)
        summary.never += int((age < 0).sum())
        summary.worst_s = max(summary.worst_s, float_seconds(int(age.max())))
        summary.last_ns = int(series.times_ns[rows[-1]])


def report_gaps(
    gaps: Mapping[tuple[str, str], GapSummary],
    max_gap_ns: int,
    start_ns: int,
    total: int,
    problems: Diagnostics,
    place: SourcePlace,
    *,
    unstated: Collection[str] = (),
) -> None:
    """Report the gaps of a series of `total` states, by the time since `start_ns`.

    No recorded state has the joints `unstated` (``model/joint``); these get a note instead of a warning.
    """
    # Joints of one topic have the same gaps: report them in one sentence.
    alike: dict[tuple[str, tuple[float, ...], bool], list[str]] = {}
    for (kind, name), gap in gaps.items():
        alike.setdefault((kind, astuple(gap), kind == "joint" and name in unstated), []).append(name)
    for (kind, _, not_stated), names in alike.items():
        gap = gaps[kind, names[0]]
        one = len(names) == 1
        who, verb = (f"{kind} {quoted(names)}", "is") if one else (f"{len(names)} {kind}s, {quoted(names, 8)},", "are")
        span = f"from {seconds_text(gap.first_ns - start_ns)[:-6]} s to {seconds_text(gap.last_ns - start_ns)[:-6]} s"
        if gap.never == gap.states:
            text = f"{who} {verb} not known in {gap.states} of {total} states, {span}"
            report = problems.note if not_stated else problems.warning
            report("never-seen", text, place)
        else:
            unknown = f" and not known in {gap.never} more" if gap.never else ""
            text = (
                f"{who} {verb} older than {float_seconds(max_gap_ns):g} s in {gap.states - gap.never} of {total} states"
                f"{unknown}, up to {gap.worst_s:.3f} s, {span}"
            )
            problems.warning("gap", text, place)
