"""What is old or unknown in a series, counted over all of its states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_semantics.recording.series import Series
from robot_semantics.recording.timeline import IntArray


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
    ages: list[tuple[str, str, IntArray]] = []
    for model in series.models:
        ages += [("joint", f"{model.name}/{name}", model.joint_age_ns[:, i]) for i, name in enumerate(model.joints)]
        ages.append(("base", model.name, model.base_age_ns))
    ages += [("frame", name, series.frame_age_ns[:, i]) for i, name in enumerate(series.frames)]
    for kind, name, age in ages:
        bad = (age < 0) | (age > max_gap_ns)
        if not bad.any():
            continue
        rows = np.flatnonzero(bad)
        summary = gaps.setdefault((kind, name), GapSummary(first_ns=int(series.times_ns[rows[0]])))
        summary.states += len(rows)
        summary.never += int((age < 0).sum())
        summary.worst_s = max(summary.worst_s, float(age.max()) / 1e9)
        summary.last_ns = int(series.times_ns[rows[-1]])
