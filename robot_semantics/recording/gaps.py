# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What is old or unknown in a series, counted over all of its states, and told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.foreign_text import quoted
from robot_semantics.recording.series import Series
from robot_semantics.usdf.table import format_time


@dataclass
class GapSummary:
    """One thing's gaps over all states.

    Attributes:
        states: in how many states it is old or unknown.
        never: in how many of these it was not seen up to then.
        worst_s: the greatest age [s].
        first_ns: time of the first of these states.
        last_ns: time of the last.
    """

    states: int = 0
    never: int = 0
    worst_s: float = 0.0
    first_ns: int = 0
    last_ns: int = 0


def count_gaps(gaps: dict[tuple[str, str], GapSummary], series: Series, max_gap_ns: int) -> None:
    """Add the gaps of a stretch of a series to those that were counted before, by kind and name."""
    bad = (series.ages_ns < 0) | (series.ages_ns > max_gap_ns)
    for at in np.flatnonzero(bad.any(axis=0)).tolist():
        age, rows = series.ages_ns[:, at], np.flatnonzero(bad[:, at])
        summary = gaps.setdefault(series.labels[at], GapSummary(first_ns=int(series.times_ns[rows[0]])))
        summary.states += len(rows)
        summary.never += int((age < 0).sum())
        summary.worst_s = max(summary.worst_s, float(age.max()) / 1e9)
        summary.last_ns = int(series.times_ns[rows[-1]])


def report_gaps(
    gaps: Mapping[tuple[str, str], GapSummary],
    max_gap_ns: int,
    start_ns: int,
    total: int,
    problems: Diagnostics,
    place: Place,
) -> None:
    """Tell of the gaps of a series of `total` states, by the time since `start_ns`."""
    # The joints of one topic are old together: one sentence for what has the same gaps.
    alike: dict[tuple[str, tuple[float, ...]], list[str]] = {}
    for (kind, name), gap in gaps.items():
        alike.setdefault((kind, astuple(gap)), []).append(name)
    for (kind, _), names in alike.items():
        gap = gaps[kind, names[0]]
        one = len(names) == 1
        who, verb = (f"{kind} {quoted(names)}", "is") if one else (f"{len(names)} {kind}s, {quoted(names, 8)},", "are")
        span = f"from {format_time(gap.first_ns - start_ns)[:-6]} s to {format_time(gap.last_ns - start_ns)[:-6]} s"
        if gap.never == gap.states:
            text = f"{who} {verb} not known in {gap.states} of {total} states, {span}"
            problems.warning("never-seen", text, place)
        else:
            unknown = f" and not known in {gap.never} more" if gap.never else ""
            text = (
                f"{who} {verb} older than {max_gap_ns / 1e9:g} s in {gap.states - gap.never} of {total} states"
                f"{unknown}, up to {gap.worst_s:.3f} s, {span}"
            )
            problems.warning("gap", text, place)
