# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Warning about values that alternate between two paths, for example of two publishers. All values are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.names import quoted
from robot_semantics.recording.bags.columns import Array, Pieces
from robot_semantics.transforms.arrays import FloatArray, IntArray

FAR, NEAR, FEWEST, SAMPLES = 0.01, 0.25, 5, 512
"""Least distance of paths [m, rad], most share of it for other steps, least number of returns, samples at a time."""

QUANTITIES = {"joints": "position", "tf": "pose", "odometry": "pose", "multi_dof": "pose"}


def report_alternation(pieces: Pieces, problems: Diagnostics, place: SourcePlace) -> None:
    """Warn of topics with joints or frames whose values alternate."""
    topics: dict[str, dict[str, list[tuple[IntArray, Array]]]] = {}
    for key, parts in pieces.items():
        quantity = QUANTITIES.get(key.kind, "")
        for part in (part for part in parts if quantity in part):
            for column, name in enumerate(key.names):
                values = part[quantity] if key.kind == "odometry" else part[quantity][:, column]
                topics.setdefault(key.topic, {}).setdefault(name, []).append((part["log"], values))
    for topic, samples in topics.items():
        if names := [name for name, parts in samples.items() if alternates(parts)]:
            text = f"values of {quoted(names, 3)} alternate between two paths; are there two publishers?"
            problems.warning("two-senders", f"topic '{topic}': {text}", place)


def alternates(parts: Sequence[tuple[IntArray, Array]]) -> bool:
    """Return True if the samples, log times (n,) and values (n, k), alternate; 16 stretches of them are checked."""
    ends = np.cumsum([len(logs) for logs, _ in parts])
    order = np.argsort(np.concatenate([logs for logs, _ in parts]), kind="stable")
    for start in range(0, len(order), max(SAMPLES, len(order) // 16)):
        samples = order[start : start + SAMPLES]
        places = np.searchsorted(ends, samples, side="right")
        values = np.empty((len(samples), parts[0][1][:1].size))
        for part in np.unique(places):
            mine = places == part
            values[mine] = parts[part][1][samples[mine] - ends[part]].reshape(-1, values.shape[1])
        if _two_paths(values[~np.isnan(values).any(axis=1)]):
            return True
    return False


def _two_paths(values: FloatArray) -> bool:
    # Angles at π and -π are equal, and so are quaternions q and -q.
    one = values.shape[1] == 1
    values = np.hstack([np.sin(values), np.cos(values)] if one else [values[:, :3], np.abs(values[:, 3:])])
    step, over = (np.abs(values[n:] - values[:-n]).max(axis=1, initial=0.0) for n in (1, 2))
    away = np.minimum(step[:-1], step[1:])
    returns = (away > FAR) & (over < NEAR * away)
    if returns.sum() < FEWEST:
        return False
    others = step[~(np.append(returns, False) | np.insert(returns, 0, False))]
    return not len(others) or bool(np.quantile(others, 0.9) < NEAR * np.median(away[returns]))
