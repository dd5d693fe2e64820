# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What is known to be free spares questions: a piece that is d away from another may move by less than d anywhere."""

from __future__ import annotations

from itertools import product

import numpy as np

from robot_semantics.transforms.arrays import BoolArray, FloatArray

FREE = 100
"""Two pieces found apart so often make distances worth while: working one out takes as long as several questions."""

COST = 6
"""So many."""

TRIALS = 16
"""Distances that are worked out for two pieces before it is known whether they pay."""

ROUNDING = 1e-6
"""Distances are believed but for this [m]."""


def box_corners(points: FloatArray) -> FloatArray:
    """Return the corners (8, 3) of the box round points (n, 3)."""
    return np.array(list(product(*zip(points.min(axis=0), points.max(axis=0), strict=True))))


class Clearance:
    """Poses ``T_a_b`` of a piece b in which it is free of another, each with how far any of its points may move.

    Between two poses no point of b moves farther than the corner of its box that moves farthest.
    """

    def __init__(self, corners: FloatArray) -> None:
        """`corners` (8, 3) [m] are those of b's box, in its own frame."""
        self._corners = corners
        self._at = np.empty((8, 0, 3))
        self._reach = np.empty(0)
        self._free = 0
        self._spared = 0

    def wants(self, T_a_b: FloatArray) -> bool:
        """Tell whether the distance in a pose (3, 4) found to be free is worth its time, as far as is known by now."""
        self._free += 1
        pays = self._free > FREE and len(self._reach) < TRIALS + self._spared / COST
        return pays and not self._near(T_a_b[None])[0]

    def add(self, T_a_b: FloatArray, distance: float) -> None:
        """Take in a pose (3, 4) with its distance [m]."""
        self._at = np.concatenate([self._at, self._places(T_a_b[None])], axis=1)
        self._reach = np.append(self._reach, max(distance - ROUNDING, 0.0))

    def covers(self, T_a_b: FloatArray) -> BoolArray:
        """Tell which poses (n, 3, 4) are so near to a known one that they are free."""
        covered = self._near(T_a_b)
        self._spared += int(covered.sum())
        return covered

    def _near(self, T_a_b: FloatArray) -> BoolArray:
        if not len(self._reach):
            return np.zeros(len(T_a_b), dtype=np.bool_)
        at, known = self._places(T_a_b), self._at
        # |x - y|² = x² - 2 x y + y², for all corners, poses and known poses at once.
        apart = (at**2).sum(axis=2)[:, :, None] - 2.0 * at @ known.transpose(0, 2, 1)
        apart += (known**2).sum(axis=2)[:, None, :]
        near: BoolArray = (apart.max(axis=0) < self._reach**2).any(axis=1)
        return near

    def _places(self, T_a_b: FloatArray) -> FloatArray:
        """Return where the corners are in the frame of a: (8, n, 3)."""
        return np.asarray(np.einsum("nij,cj->cni", T_a_b[:, :, :3], self._corners) + T_a_b[:, :, 3])
