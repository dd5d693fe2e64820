# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Cache of collision-free poses of two pieces: a piece at distance d stays free while each of its points moves less."""

from __future__ import annotations

from itertools import product

import numpy as np

from robot_semantics.transforms.arrays import BoolArray, FloatArray

FREE_POSES = 100
"""Number of free poses after which distances are computed for two pieces."""

DISTANCE_COST = 6
"""Cost of one distance, in collision tests."""

TRIAL_DISTANCES = 16
"""Number of distances that are computed for two pieces before their benefit is measured."""

ROUNDING = 1e-6
"""Rounding error of a distance [m]."""


def box_corners(points: FloatArray) -> FloatArray:
    """Return the corners (8, 3) of the box round points (n, 3)."""
    return np.array(list(product(*zip(points.min(axis=0), points.max(axis=0), strict=True))))


class Clearance:
    """Cache of poses ``T_a_b`` in which piece b is free of piece a, each with the free travel of all points of b.

    Between two poses, no point of b moves farther than the fastest corner of its box.
    """

    def __init__(self, corners: FloatArray) -> None:
        """Start empty. `corners` (8, 3) [m] are the corners of the box of b, in the frame of b."""
        self._corners = corners
        self._known_corners = np.empty((8, 0, 3))
        self._travel = np.empty(0)
        self._free_count = 0
        self._tests_saved = 0

    def needs_distance(self, T_a_b: FloatArray) -> bool:
        """Return whether to compute the distance in a free pose (3, 4). Count the pose."""
        self._free_count += 1
        pays = self._free_count > FREE_POSES and len(self._travel) < TRIAL_DISTANCES + self._tests_saved / DISTANCE_COST
        return pays and not self._is_covered(T_a_b[None])[0]

    def add(self, T_a_b: FloatArray, distance: float) -> None:
        """Add a pose (3, 4) with its distance [m]."""
        self._known_corners = np.concatenate([self._known_corners, self._corners_in_a(T_a_b[None])], axis=1)
        self._travel = np.append(self._travel, max(distance - ROUNDING, 0.0))

    def covers(self, T_a_b: FloatArray) -> BoolArray:
        """Return (n,) whether each pose (n, 3, 4) is near enough to a known pose to be free."""
        covered = self._is_covered(T_a_b)
        self._tests_saved += int(covered.sum())
        return covered

    def _is_covered(self, T_a_b: FloatArray) -> BoolArray:
        if not len(self._travel):
            return np.zeros(len(T_a_b), dtype=np.bool_)
        at, known = self._corners_in_a(T_a_b), self._known_corners
        # |x - y|² = x² - 2 x y + y², for all corners, poses and known poses together.
        apart = (at**2).sum(axis=2)[:, :, None] - 2.0 * at @ known.transpose(0, 2, 1)
        apart += (known**2).sum(axis=2)[:, None, :]
        near: BoolArray = (apart.max(axis=0) < self._travel**2).any(axis=1)
        return near

    def _corners_in_a(self, T_a_b: FloatArray) -> FloatArray:
        """Return the corners (8, n, 3) in the frame of a."""
        return np.asarray(np.einsum("nij,cj->cni", T_a_b[:, :, :3], self._corners) + T_a_b[:, :, 3])
