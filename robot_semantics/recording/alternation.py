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
from robot_semantics.base.foreign_text import quoted
from robot_semantics.recording.columns import Array, Pieces
from robot_semantics.transforms.arrays import FloatArray, IntArray

FAR, NEAR, FEWEST, WINDOW = 0.01, 0.25, 5, 512
"""Least distance of paths [m, rad], most share of it for other steps, least number of returns, samples at a time."""


def alternates(parts: Sequence[tuple[IntArray, Array]]) -> bool:
    """Return True if the samples, log times (n,) and values (n, k), alternate; 16 stretches of them are checked."""
    order = np.argsort(np.concatenate([np.asarray(logs) for logs, _ in parts]), kind="stable")
    for start in range(0, len(order), max(WINDOW, len(order) // 16)):
        some, values, begin = order[start : start + WINDOW], [], 0
        for _, part in parts:
            rows = np.sort(some[(some >= begin) & (some < begin + len(part))]) - begin
            values.append(np.asarray(part[rows], np.float64).reshape(len(rows), int(np.prod(part.shape[1:]))))
            begin += len(part)
        came = np.argsort(np.argsort(some))
        if _two_paths(np.concatenate(values)[came]):
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


def report_alternation(pieces: Pieces, problems: Diagnostics, place: SourcePlace) -> None:
    """Warn of joint states, odometry and multi-DOF joint states whose values alternate."""
    things: dict[str, dict[str, list[tuple[IntArray, Array]]]] = {}
    for key, parts in pieces.items():
        quantity = {"joints": "position", "odometry": "pose", "multi_dof": "pose"}.get(key.kind, "")
        for part in (part for part in parts if quantity in part):
            for column, name in enumerate(key.names):
                values = part[quantity] if key.kind == "odometry" else part[quantity][:, column]
                things.setdefault(key.topic, {}).setdefault(name, []).append((part["log"], values))
    for topic, samples in things.items():
        names = [name for name, parts in samples.items() if alternates(parts)]
        if names:
            text = (
                f"topic '{topic}': values of {quoted(names, 3)} alternate between two paths; are there two publishers?"
            )
            problems.warning("two-senders", text, place)
