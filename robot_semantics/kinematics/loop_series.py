# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A linkage along a series of positions: blocks are closed together, on the branch of closing row after row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from robot_semantics.kinematics.loop_branches import STRIDE, follow
from robot_semantics.kinematics.loop_equations import IndexArray
from robot_semantics.kinematics.loop_newton import Linkage, LoopSolution
from robot_semantics.kinematics.loop_tracker import LinkageTracker
from robot_semantics.transforms.arrays import BoolArray, FloatArray

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
    series, last = _Series(linkage, before, q), 0
    while last < len(q):
        last = series.close(last)
    return series.result.rows(np.arange(1, len(q) + 1))


class _Series:
    """Rows in order of time; row 0 is the closed configuration before them.

    Anchors are rows a short way apart. They are closed one after another, the rows between them together.
    """

    def __init__(self, linkage: Linkage, before: FloatArray, q: FloatArray) -> None:
        self._linkage, self._tracker = linkage, LinkageTracker(linkage)
        self._q = np.concatenate((before, q))
        self.result = LoopSolution.start(self._q)
        self._motion = linkage.driven_motion(self._q[:-1], self._q[1:])
        self._way = np.concatenate(([0.0], np.cumsum(np.abs(self._motion).max(axis=-1, initial=0.0))))

    def close(self, last: int) -> int:
        """Close a block of rows after the closed row `last`; return the last of them that is closed for certain."""
        anchors = self._anchors(last)
        self._tracker.restart()
        spans = [(a, b) for a, b in pairwise(anchors) if self._close_anchor(a, b) and b > a + 1]
        if not spans:
            return anchors[-1]
        rows = np.concatenate([np.arange(a + 1, b) for a, b in spans])
        guess, way = self._q[rows], self._way
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
            reached = int(np.searchsorted(self._way, self._way[anchors[-1]] + STRIDE, "right")) - 1
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
            self.result.put([row], follow(self._linkage, self.result.q[[row - 1]], self._q[[row]]))
        self._tracker.restart()

    def _uncertain(self, rows: IndexArray) -> BoolArray:
        """Return for all rows whether a row of `rows` may be on another branch than the row before."""
        result = np.zeros(len(self._q), np.bool_)
        here, found = self.result.q[rows - 1], self.result.q[rows]
        predicted = self._linkage.predicted(here, self._q[rows], self._motion[rows - 1])
        near = self._linkage.is_near(found, here, predicted, _NEAR)
        result[rows] = ~(self.result.closed[rows] & near)
        return result
