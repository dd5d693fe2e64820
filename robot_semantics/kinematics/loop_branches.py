# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Branches of a closed linkage: to stay on one, and to find another one."""

from __future__ import annotations

import numpy as np

from robot_semantics.kinematics.loop_newton import Linkage, LoopSolution
from robot_semantics.transforms.arrays import FloatArray

_ON_THE_WAY = 3
"""Number of Newton steps for a configuration that is only passed."""
_PASSED = 1e-3
"""Largest gap of such a configuration [loop lengths, rad]."""
STRIDE = 0.25
"""Largest motion of a driven joint between two closed configurations [rad, m]."""
_STRIDES = (0.5, 0.1, 0.02)
"""The same [rad, m] for the first, second and third attempt: near a singularity only short ones succeed."""
_SEEDS = 24
"""Number of random starts for another branch."""


def continued(linkage: Linkage, start: FloatArray, q: FloatArray, stride: float) -> LoopSolution:
    """Return `q` (n, size) closed along the straight way of the driven joints from the closed `start` (n, size)."""
    way = linkage.driven_motion(start, q)
    strides = np.maximum(np.ceil(np.abs(way).max(axis=-1, initial=0.0) / stride), 1.0)
    way /= strides[:, np.newaxis]
    here, fine = np.array(start), np.ones(len(q), np.bool_)
    for left in range(int(strides.max(initial=1.0)) - 1, 0, -1):
        at = np.flatnonzero(fine & (strides > left))
        if not at.size:
            continue
        there = linkage.before(q[at], way[at] * left)
        predicted = linkage.predicted(here[at], there, way[at])
        passed = linkage.newton(predicted, _ON_THE_WAY, _PASSED)
        gap = np.maximum(passed.position_error / linkage.equations.length, passed.rotation_error)
        fine[at] = (gap <= _PASSED) & ~linkage.is_far(passed.q, predicted)
        here[at] = passed.q
    # The last attempt also looks for the smallest gap of a loop that does not close.
    at = np.flatnonzero(fine | (stride == _STRIDES[-1]))
    unknown = np.full(len(q), np.inf)
    found = LoopSolution(here, np.zeros(len(q), np.bool_), unknown, np.array(unknown), 0)
    predicted = linkage.predicted(here[at], q[at], (way * fine[:, np.newaxis])[at])
    last = linkage.newton(predicted)
    found.put(at, last._replace(closed=last.closed & fine[at] & ~linkage.is_far(last.q, predicted)))
    return found._replace(iterations=last.iterations)


def follow(linkage: Linkage, start: FloatArray, q: FloatArray) -> LoopSolution:
    """Return `q` (n, size) on the branch of `start`; where it does not close, its joints have the start."""
    found = continued(linkage, start, q, _STRIDES[0])
    for stride in _STRIDES[1:]:
        missed = np.flatnonzero(~found.closed)
        if missed.size:
            again = continued(linkage, start[missed], q[missed], stride)
            position = np.minimum(again.position_error, found.position_error[missed])
            rotation = np.minimum(again.rotation_error, found.rotation_error[missed])
            found.put(missed, again._replace(position_error=position, rotation_error=rotation))
    result, at = np.where(found.closed[:, np.newaxis], found.q, q), np.ix_(~found.closed, linkage.positions)
    result[at] = start[at]
    return found._replace(q=result)


def another_branch(linkage: Linkage, near: FloatArray, q: FloatArray, *, driven: bool = False) -> LoopSolution:
    """Return `q` (n, size) closed on any branch within the limits, the one nearest to `near` (n, size).

    With `driven`, the driven positions also change.
    """
    solver = linkage.without_driven if driven else linkage
    count = len(q)
    seeds = solver.with_random(np.repeat(q, _SEEDS, axis=0), np.random.default_rng(0))
    targets = np.repeat(near, _SEEDS, axis=0)
    found = solver.newton(seeds)
    turned = solver.in_usual_turn(found.q, targets)
    distance = np.abs(turned - targets).max(axis=-1)
    distance[~(found.closed & solver.within_limits(turned))] = np.inf
    best = distance.reshape(count, _SEEDS).argmin(axis=-1) + _SEEDS * np.arange(count)
    return found.rows(best)._replace(q=turned[best], closed=np.isfinite(distance[best]))


def home_of(linkage: Linkage, q: FloatArray) -> LoopSolution:
    """Return the closed configuration nearest to the default positions `q` (1, size).

    The driven joints keep their default positions if the loops then close within the limits.
    """
    first = linkage.newton(q)
    first = first._replace(q=linkage.in_usual_turn(first.q, q))
    if first.closed[0] and linkage.within_limits(first.q)[0]:
        return first
    moved = linkage.without_driven.newton(q)
    candidates = (
        another_branch(linkage, q, q),
        moved._replace(closed=moved.closed & linkage.without_driven.within_limits(moved.q)),
        another_branch(linkage, q, q, driven=True),
        # Outside the limits:
        first,
        moved,
    )
    return next((found for found in candidates if found.closed[0]), first._replace(q=q))
