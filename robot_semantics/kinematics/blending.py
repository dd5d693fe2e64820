# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint positions between two rows of positions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robot_semantics.model.joint_types import Motion
from robot_semantics.transforms import wrapped_angles
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import slerp_rows


class PositionBlend:
    """Interpolates rows of joint positions.

    Angles without limits and rotations go the short way around. The other variables go straight.
    """

    def __init__(self, motions: Iterable[Motion]) -> None:
        """Take the motions of the joints in the order of their variables in the rows."""
        wraps: list[bool] = []
        quaternions = []
        for motion in motions:
            wraps += motion.wrapping
            if motion.has_quaternion:
                quaternions.append(np.arange(len(wraps) - 4, len(wraps)))
        self._wraps = np.array(wraps, np.bool_)
        self._quaternions = quaternions

    def of_columns(self, columns: IntArray) -> PositionBlend:
        """Return the interpolation of rows with only these columns (k,), in this order."""
        made = PositionBlend(())
        made._wraps = self._wraps[columns]
        place = {column: at for at, column in enumerate(columns.tolist())}
        kept = (where.tolist() for where in self._quaternions)
        made._quaternions = [np.array([place[at] for at in where]) for where in kept if place.keys() >= set(where)]
        return made

    def __call__(self, low: FloatArray, high: FloatArray, share: FloatArray) -> FloatArray:
        """Return the rows (n, k) between `low` and `high` (n, k) at the fractions `share` (n, 1); NaN stays NaN."""
        step = high - low
        if self._wraps.any():
            step[:, self._wraps] = wrapped_angles(step[:, self._wraps])
        result: FloatArray = low + share * step
        for where in self._quaternions:
            known = np.flatnonzero(np.isfinite(step[:, where]).all(axis=1))
            cells = np.ix_(known, where)
            result[cells] = slerp_rows(low[cells], high[cells], share[known, 0])
        return result
