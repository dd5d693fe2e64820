# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One linkage over time: one configuration after another, with little work for each."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from robot_semantics.kinematics.loop_equations import (
    FAR,
    FLOOR,
    IndexArray,
    Linkage,
    LoopEquations,
    LoopGap,
    LoopSolution,
    LoopState,
)
from robot_semantics.kinematics.motions import origins_of
from robot_semantics.model.robot_model import ConstraintType
from robot_semantics.transforms.arrays import BoolArray, FloatArray

# Branches of a closed linkage: to stay on one, and to find another one.


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
_AS_NEAR = 1e-9
"""Largest difference of two distances that are equal [rad, m]."""


def continued(linkage: Linkage, start: FloatArray, q: FloatArray, stride: float) -> LoopSolution:
    """Return `q` (n, size) closed along the straight way of the driven joints from the closed `start` (n, size)."""
    driven_motion = linkage.driven_motion(start, q)
    strides = np.maximum(np.ceil(np.abs(driven_motion).max(axis=-1, initial=0.0) / stride), 1.0)
    driven_motion /= strides[:, np.newaxis]
    reached, fine = np.array(start), np.ones(len(q), np.bool_)
    for left in range(int(strides.max(initial=1.0)) - 1, 0, -1):
        rows = np.flatnonzero(fine & (strides > left))
        if not rows.size:
            continue
        there = linkage.before(q[rows], driven_motion[rows] * left)
        predicted = linkage.predicted(reached[rows], there, driven_motion[rows])
        passed = linkage.newton(predicted, _ON_THE_WAY, _PASSED)
        gap = np.maximum(passed.position_error / linkage.equations.length, passed.rotation_error)
        fine[rows] = (gap <= _PASSED) & ~linkage.is_far(passed.q, predicted)
        reached[rows] = passed.q
    # The last attempt also looks for the smallest gap of a loop that does not close.
    rows = np.flatnonzero(fine | (stride == _STRIDES[-1]))
    unknown = np.full(len(q), np.inf)
    found = LoopSolution(reached, np.zeros(len(q), np.bool_), unknown, np.array(unknown), 0)
    predicted = linkage.predicted(reached[rows], q[rows], (driven_motion * fine[:, np.newaxis])[rows])
    last = linkage.newton(predicted)
    found.put(rows, last._replace(closed=last.closed & fine[rows] & ~linkage.is_far(last.q, predicted)))
    return found._replace(iterations=last.iterations)


def follow_loops(linkage: Linkage, start: FloatArray, q: FloatArray) -> LoopSolution:
    """Return `q` (n, size) on the branch of `start`; where it does not close, its joints have the start."""
    solution = continued(linkage, start, q, _STRIDES[0])
    for stride in _STRIDES[1:]:
        missed = np.flatnonzero(~solution.closed)
        if missed.size:
            again = continued(linkage, start[missed], q[missed], stride)
            position = np.minimum(again.position_error, solution.position_error[missed])
            rotation = np.minimum(again.rotation_error, solution.rotation_error[missed])
            solution.put(missed, again._replace(position_error=position, rotation_error=rotation))
    result, at = np.where(solution.closed[:, np.newaxis], solution.q, q), np.ix_(~solution.closed, linkage.positions)
    result[at] = start[at]
    return solution._replace(q=result)


def another_branch(
    linkage: Linkage, reference: FloatArray, q: FloatArray, *, driven: bool, counted: IndexArray | None = None
) -> LoopSolution:
    """Return `q` (n, size) closed on any branch within the limits, the one nearest to `reference` (n, size).

    With `driven`, the driven positions also change. Only the positions `counted` decide what is near; by default all.
    """
    solver = linkage.without_driven if driven else linkage
    count = len(q)
    seeds = solver.with_random(np.repeat(q, _SEEDS, axis=0), np.random.default_rng(0))
    targets = np.repeat(reference, _SEEDS, axis=0)
    solution = solver.newton(seeds)
    turned = solver.in_usual_turn(solution.q, targets)
    distance = np.abs(turned - targets)[:, slice(None) if counted is None else counted].max(axis=-1)
    distance[~(solution.closed & solver.within_limits(turned))] = np.inf
    # Of solutions that are equally near, the first one counts: rounding does not decide.
    each = distance.reshape(count, _SEEDS)
    near_best = each <= each.min(axis=-1, keepdims=True) + _AS_NEAR
    best = near_best.argmax(axis=-1) + _SEEDS * np.arange(count)
    return solution.rows(best)._replace(q=turned[best], closed=np.isfinite(distance[best]))


def home_of(linkage: Linkage, q: FloatArray) -> LoopSolution:
    """Return the closed configuration nearest to the default positions `q` (1, size).

    The driven joints keep their default positions if the loops then close within the limits.
    """
    first = linkage.newton(q)
    first = first._replace(q=linkage.in_usual_turn(first.q, q))
    if first.closed[0] and linkage.within_limits(first.q)[0]:
        return first
    solution = linkage.without_driven.newton(q)
    candidates = (
        another_branch(linkage, q, q, driven=False),
        solution._replace(closed=solution.closed & linkage.without_driven.within_limits(solution.q)),
        another_branch(linkage, q, q, driven=True),
        # Outside the limits:
        first,
        solution,
    )
    return next((found for found in candidates if found.closed[0]), first._replace(q=q))


_MOST_STEPS = 6
_EXACT = 1e-4
"""Size of the error below which its derivative is exact enough for another step."""
_LONGER = 2.0
"""Longest motion, in parts of the last one, for which the last correction predicts the next."""


class TrackedLoops(NamedTuple):
    """A configuration with closed loops.

    Attributes:
        q: (size,) joint positions; the joints of a loop that does not close keep their last positions.
        closed: True if all loops close.
        position_error: largest distance by which a loop stays open [m].
        rotation_error: largest angle by which a loop stays open [rad].
        iterations: largest number of Newton steps after the last prediction.
    """

    q: FloatArray
    closed: bool
    position_error: float
    rotation_error: float
    iterations: int

    @property
    def gap(self) -> LoopGap:
        """How far the loops stay open."""
        return LoopGap(self.position_error, self.rotation_error)


class LinkageTracker:
    """One linkage over time. For joints that turn or slide, the constants of one configuration are prepared.

    The general functions take 0.6 ms of CPU time for a four-bar linkage, this class 0.15 ms.
    """

    def __init__(self, linkage: Linkage) -> None:
        """Prepare for a linkage; no configuration is known yet."""
        self._linkage = linkage
        self._chain = _PreparedLinkage.of(linkage.equations) if linkage.dependent.size else None
        # The last motion of the driven joints, and what the last prediction by slopes missed: it grows with the square.
        self._slopes = np.zeros((0, 0))
        self._last_motion = np.zeros(linkage.driven.size)
        self._bend = np.zeros(linkage.dependent.size)
        # The last driven positions, and the gap there, if the loops did not close.
        self._missed: tuple[FloatArray, TrackedLoops] | None = None

    def restart(self) -> None:
        """Forget the last motion: the next `update` has another start."""
        self._slopes = np.zeros((0, 0))
        self._missed = None

    def update(self, start: FloatArray, q: FloatArray) -> TrackedLoops:
        """Return `q` (size,), which changes, on the branch of the closed `start` (size,)."""
        linkage = self._linkage
        driven = q[linkage.driven_places]
        if self._missed is not None and self._chain is not None and np.array_equal(driven, self._missed[0]):
            # A robot at rest out of reach: the search takes 10 ms.
            q[linkage.positions] = start[linkage.positions]
            return self._missed[1]._replace(q=q)
        found = self._found(start, q)
        self._missed = None if found.closed else (driven, found)
        return found

    def _found(self, start: FloatArray, q: FloatArray) -> TrackedLoops:
        linkage = self._linkage
        if self._chain is not None:
            driven_motion = q[linkage.ordered_driven_places] - start[linkage.ordered_driven_places]
            longest = float(np.abs(driven_motion).max(initial=0.0))
            if longest > STRIDE:
                driven_motion = linkage.driven_motion(start[np.newaxis], q[np.newaxis])[0]
                longest = float(np.abs(driven_motion).max())
            if longest <= STRIDE:
                found = self._predicted(self._chain, start, q, driven_motion)
                if found is not None:
                    return found
        self.restart()
        general = follow_loops(linkage, start[np.newaxis], q[np.newaxis])
        return TrackedLoops(
            general.q[0],
            bool(general.closed[0]),
            float(general.position_error[0]),
            float(general.rotation_error[0]),
            general.iterations,
        )

    def _predicted(
        self, chain: _PreparedLinkage, start: FloatArray, q: FloatArray, driven_motion: FloatArray
    ) -> TrackedLoops | None:
        """Return the closed configuration after a short `driven_motion`; None if it is not certain."""
        if not self._slopes.size:
            self._slopes = self._linkage.slopes(start[np.newaxis])[0]
            self._last_motion[:] = self._bend[:] = 0.0
        before = float(self._last_motion @ self._last_motion)
        share = float(driven_motion @ self._last_motion) / before if before else 0.0
        bend = share * share * self._bend if abs(share) <= _LONGER else 0.0 * self._bend
        at = self._linkage.ordered_places
        q[at] = start[at] + self._slopes @ driven_motion + bend
        predicted = q[at]
        found = self._newton(chain, q)
        if found is not None:
            self._bend, self._last_motion = q[at] - predicted + bend, driven_motion
        return found

    def _newton(self, chain: _PreparedLinkage, q: FloatArray) -> TrackedLoops | None:
        """Close the loops near the predicted `q` (size,), in place; return None if that is not certain."""
        places, before = self._linkage.ordered_places, np.inf
        # The first step computes it.
        inverse: FloatArray
        for done in range(_MOST_STEPS):
            error = chain.errors(q)
            size = math.sqrt(error @ error)
            if size <= FLOOR:
                return TrackedLoops(q, True, size * self._linkage.equations.length, size, done)
            if not size < before:
                return None
            if before > _EXACT:
                own, others = self._linkage.split(chain.derivative())
                try:
                    invert = np.linalg.inv if own.shape[0] == own.shape[1] else np.linalg.pinv
                    inverse = np.asarray(invert(own), np.float64)
                except np.linalg.LinAlgError:
                    return None
                self._slopes = np.asarray(-(inverse @ others), np.float64)
            before = size
            step = np.asarray(inverse @ error, np.float64)
            if not np.abs(step).max() <= FAR:
                return None
            q[places] -= step
        return None


class _PreparedLinkage:
    """The links of a linkage whose joints only turn or slide, for one configuration."""

    def __init__(self, equations: LoopEquations) -> None:
        self._equations = equations
        local = equations.local
        self._turning, self._sliding = local.turning, local.sliding
        count = len(local.joints)
        self._poses = np.tile(np.eye(4), (count + 1, 1, 1))
        self._local = origins_of(local.joints)
        self._flat = self._local.reshape(-1, 16)
        parents = equations.parents
        self._products = [
            (self._poses[above], self._local[k], self._poses[k + 1]) for k, above in enumerate(parents[1:])
        ]
        self._T_a_b = np.zeros((len(equations.constraints), 3, 4))
        frames = np.tile(np.eye(4), (len(equations.constraints), 2, 1, 1))
        self._ends = [
            (
                (self._poses[a], frame_a, A, A[:3, :3].T, A[:3, 3]),
                (self._poses[b], frame_b, B, B[:3], B[:3, 3]),
                result,
            )
            for (a, frame_a, b, frame_b), (A, B), result in zip(equations.ends, frames, self._T_a_b, strict=True)
        ]
        self._rows = equations.rows @ _linear_errors(equations)
        # Views: `errors` changes their numbers.
        A, B = frames[:, :, :3, :, np.newaxis].transpose(1, 0, 2, 3, 4)
        T_a_b = self._T_a_b[..., np.newaxis]
        self._state = LoopState(self._poses[:, :3, :, np.newaxis], A, B, T_a_b, T_a_b)

    @classmethod
    def of(cls, equations: LoopEquations) -> _PreparedLinkage | None:
        """Return the chain; None if a joint is planar or floating."""
        single = all(joint.velocity_count <= 1 for joint in equations.local.joints)
        return cls(equations) if single else None

    def errors(self, q: FloatArray) -> FloatArray:
        """Return (rows,) the errors at `q` (size,): as `LoopEquations.scaled_errors`, angles by their sines."""
        turning, sliding = self._turning, self._sliding
        if turning is not None:
            angle = turning.values(q)[:, np.newaxis]
            turned = np.sin(angle) * turning.sine
            turned += (1.0 - np.cos(angle)) * turning.versine
            turned += turning.constant
            self._flat[turning.rows] = turned
        if sliding is not None:
            self._local[sliding.rows, :3, 3] = sliding.translation(q)
        for above, local, pose in self._products:
            np.dot(above, local, pose)
        for (link_a, frame_a, A, R_a, xyz_a), (link_b, frame_b, B, apart, xyz_b), T_a_b in self._ends:
            np.dot(link_a, frame_a, A)
            np.dot(link_b, frame_b, B)
            np.subtract(xyz_b, xyz_a, xyz_b)
            np.dot(R_a, apart, T_a_b)
        errors: FloatArray = self._rows @ self._T_a_b.ravel()
        return errors

    def derivative(self) -> FloatArray:
        """Return (rows, variables) the derivative at the positions of the last `errors`."""
        J: FloatArray = self._equations.derivative(self._state)[0]
        return J


def _linear_errors(equations: LoopEquations) -> FloatArray:
    """Return (6 constraints, 12 constraints) the errors as linear functions of the poses of B in A.

    Near zero, an angle is its sine.
    """
    result = np.zeros((6 * len(equations.constraints), 12 * len(equations.constraints)))
    for k, constraint in enumerate(equations.constraints):
        block = result[6 * k : 6 * k + 6, 12 * k : 12 * k + 12].reshape(6, 3, 4)
        block[(0, 1, 2), (0, 1, 2), 3] = 1.0
        if constraint.type is ConstraintType.REVOLUTE:
            block[4, 2, 0], block[5, 1, 0] = -1.0, 1.0
        elif constraint.type is ConstraintType.UNIVERSAL:
            block[3, 0, 0] = 1.0
        elif constraint.type is not ConstraintType.SPHERICAL:
            for row, (i, j) in enumerate(((2, 1), (0, 2), (1, 0)), 3):
                block[row, i, j], block[row, j, i] = 0.5, -0.5
    return result


# A linkage along a series of positions: blocks are closed together, on the branch of closing row after row.


_BLOCK = 1000
"""Number of rows that are closed together."""
_NEAR = 0.1
"""Largest part of a motion by which a row may miss its prediction from the row before. A larger miss may be another
branch; then the rows are closed one after another."""
_SAME = 1e-9
"""Largest distance of two solutions that are one [rad, m]."""


def close_in_order(linkage: Linkage, before: FloatArray, q: FloatArray) -> LoopSolution:
    """Return `q` (n, size) closed in order of time, from a closed configuration `before` (1, size).

    A row at which the loops do not close has the positions of the row before.
    """
    series, last = _OrderedRows(linkage, before, q), 0
    while last < len(q):
        last = series.close(last)
    return series.result.rows(np.arange(1, len(q) + 1))


class _OrderedRows:
    """Rows in order of time; row 0 is the closed configuration before them.

    Anchors are rows a short way apart. They are closed one after another, the rows between them together.
    """

    def __init__(self, linkage: Linkage, before: FloatArray, q: FloatArray) -> None:
        self._linkage, self._tracker = linkage, LinkageTracker(linkage)
        self._q = np.concatenate((before, q))
        self.result = LoopSolution.start(self._q)
        self._motion = linkage.driven_motion(self._q[:-1], self._q[1:])
        self._path_lengths = np.concatenate(([0.0], np.cumsum(np.abs(self._motion).max(axis=-1, initial=0.0))))

    def close(self, last: int) -> int:
        """Close a block of rows after the closed row `last`; return the last of them that is closed for certain."""
        anchors = self._anchors(last)
        self._tracker.restart()
        spans = [(a, b) for a, b in pairwise(anchors) if self._close_anchor(a, b) and b > a + 1]
        if not spans:
            return anchors[-1]
        rows = np.concatenate([np.arange(a + 1, b) for a, b in spans])
        guess, way = self._q[rows], self._path_lengths
        for at in self._linkage.places:
            guess[:, at] = np.interp(way[rows], way[anchors], self.result.q[anchors, at])
        self.result.put(rows, self._linkage.newton(guess))
        uncertain = self._uncertain(np.concatenate([np.arange(a + 1, b + 1) for a, b in spans]))
        for a, b in spans:
            if uncertain[a + 1 : b + 1].any():
                anchor = np.array(self.result.q[b])
                self._one_by_one(a, b)
                if np.abs(self.result.q[b] - anchor).max() > _SAME:
                    return b
        return anchors[-1]

    def _anchors(self, last: int) -> list[int]:
        """Return the rows of a block that are closed one after another, with the row `last` and the end."""
        end = min(last + _BLOCK, len(self._q) - 1)
        if self._linkage.has_quaternions:
            return list(range(last, end + 1))
        anchors = [last]
        while anchors[-1] < end:
            reached = int(np.searchsorted(self._path_lengths, self._path_lengths[anchors[-1]] + STRIDE, "right")) - 1
            anchors.append(min(max(reached, anchors[-1] + 1), end))
        return anchors

    def _close_anchor(self, a: int, b: int) -> bool:
        """Close the anchor `b` after `a`; where it does not close, all rows between them. Return True if it closes."""
        q, closed, *errors = self._tracker.update(self.result.q[a], np.array(self._q[b]))[:4]
        self.result.q[b], self.result.closed[b] = q, closed
        self.result.position_error[b], self.result.rotation_error[b] = errors
        if not closed and b > a + 1:
            self._one_by_one(a, b)
        return closed

    def _one_by_one(self, a: int, b: int) -> None:
        """Close the rows after `a`, up to `b`, one after another."""
        for row in range(a + 1, b + 1):
            self.result.put([row], follow_loops(self._linkage, self.result.q[[row - 1]], self._q[[row]]))
        self._tracker.restart()

    def _uncertain(self, rows: IndexArray) -> BoolArray:
        """Return for all rows whether a row of `rows` may be on another branch than the row before."""
        result = np.zeros(len(self._q), np.bool_)
        here, found = self.result.q[rows - 1], self.result.q[rows]
        predicted = self._linkage.predicted(here, self._q[rows], self._motion[rows - 1])
        near = self._linkage.is_near(found, here, predicted, _NEAR)
        result[rows] = ~(self.result.closed[rows] & near)
        return result
