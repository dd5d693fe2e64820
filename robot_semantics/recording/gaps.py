# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What is old or unknown in a series, counted over all of its states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_semantics.recording.series import Series


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
