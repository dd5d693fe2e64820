# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One linkage over time: one configuration after another, with little work for each."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from robot_semantics.kinematics.loop_branches import STRIDE, follow
from robot_semantics.kinematics.loop_equations import LoopEquations, LoopState
from robot_semantics.kinematics.loop_newton import FAR, FLOOR, Linkage
from robot_semantics.model.constraints import ConstraintType
from robot_semantics.transforms.arrays import FloatArray

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


class LinkageTracker:
    """One linkage over time. For joints that turn or slide, the constants of one configuration are prepared.

    The general functions take 0.6 ms of CPU time for a four-bar linkage, this class 0.15 ms.
    """

    def __init__(self, linkage: Linkage) -> None:
        """Prepare for a linkage; no configuration is known yet."""
        self._linkage = linkage
        self._chain = _Chain.of(linkage.equations) if linkage.dependent.size else None
        # The last motion of the driven joints, and what the last prediction by slopes missed: it grows with the square.
        self._slopes = np.zeros((0, 0))
        self._way = np.zeros(linkage.driven.size)
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
        given = q[linkage.driven_places]
        if self._missed is not None and self._chain is not None and np.array_equal(given, self._missed[0]):
            # A robot at rest out of reach: the search takes 10 ms.
            q[linkage.positions] = start[linkage.positions]
            return self._missed[1]._replace(q=q)
        found = self._found(start, q)
        self._missed = None if found.closed else (given, found)
        return found

    def _found(self, start: FloatArray, q: FloatArray) -> TrackedLoops:
        linkage = self._linkage
        if self._chain is not None:
            way = q[linkage.driven_places] - start[linkage.driven_places]
            longest = float(np.abs(way).max(initial=0.0))
            if longest > STRIDE:
                way = linkage.driven_motion(start[np.newaxis], q[np.newaxis])[0]
                longest = float(np.abs(way).max())
            if longest <= STRIDE:
                found = self._predicted(self._chain, start, q, way)
                if found is not None:
                    return found
        self.restart()
        general = follow(linkage, start[np.newaxis], q[np.newaxis])
        return TrackedLoops(
            general.q[0],
            bool(general.closed[0]),
            float(general.position_error[0]),
            float(general.rotation_error[0]),
            general.iterations,
        )

    def _predicted(self, chain: _Chain, start: FloatArray, q: FloatArray, way: FloatArray) -> TrackedLoops | None:
        """Return the closed configuration after a short `way` of the driven joints; None if that is not certain."""
        if not self._slopes.size:
            self._slopes = self._linkage.slopes(start[np.newaxis])[0]
            self._way[:] = self._bend[:] = 0.0
        before = float(self._way @ self._way)
        share = float(way @ self._way) / before if before else 0.0
        bend = share * share * self._bend if abs(share) <= _LONGER else 0.0 * self._bend
        at = self._linkage.places
        q[at] = start[at] + self._slopes @ way + bend
        predicted = q[at]
        found = self._newton(chain, q)
        if found is not None:
            self._bend, self._way = q[at] - predicted + bend, way
        return found

    def _newton(self, chain: _Chain, q: FloatArray) -> TrackedLoops | None:
        """Close the loops near the predicted `q` (size,), in place; return None if that is not certain."""
        at, before = self._linkage.places, np.inf
        inverse = None
        for done in range(_MOST_STEPS):
            error = chain.errors(q)
            size = math.sqrt(error @ error)
            if size <= FLOOR:
                return TrackedLoops(q, True, size * self._linkage.equations.length, size, done)
            if not size < before:
                return None
            if inverse is None or before > _EXACT:
                own, others = self._linkage.split(chain.derivative())
                try:
                    inverse = np.linalg.inv(own) if own.shape[0] == own.shape[1] else np.linalg.pinv(own)
                except np.linalg.LinAlgError:
                    return None
                self._slopes = np.asarray(-(inverse @ others), np.float64)
            before = size
            step = np.asarray(inverse @ error, np.float64)
            if not np.abs(step).max() <= FAR:
                return None
            q[at] -= step
        return None


class _Chain:
    """The links of a linkage whose joints only turn or slide, for one configuration."""

    def __init__(self, equations: LoopEquations) -> None:
        self._equations = equations
        local = equations.local
        self._turning, self._sliding = local.turning, local.sliding
        count = len(local.joints)
        self._poses = np.tile(np.eye(4), (count + 1, 1, 1))
        self._local = np.array([joint.T_parent_joint for joint in local.joints]).reshape(-1, 4, 4)
        self._flat = self._local.reshape(-1, 16)
        parents = equations.parents
        self._products = [
            (self._poses[above], self._local[k], self._poses[k + 1]) for k, above in enumerate(parents[1:])
        ]
        self._T_a_b = np.zeros((len(equations.constraints), 3, 4))
        ends = np.tile(np.eye(4), (len(equations.constraints), 2, 1, 1))
        self._ends = [
            (
                (self._poses[a], frame_a, A, A[:3, :3].T, A[:3, 3]),
                (self._poses[b], frame_b, B, B[:3], B[:3, 3]),
                result,
            )
            for (a, frame_a, b, frame_b), (A, B), result in zip(equations.ends, ends, self._T_a_b, strict=True)
        ]
        self._rows = equations.rows @ _linear_errors(equations)

    @classmethod
    def of(cls, equations: LoopEquations) -> _Chain | None:
        """Return the chain; None if a joint is planar or floating."""
        single = all(joint.velocity_count <= 1 for joint in equations.local.joints)
        return cls(equations) if single else None

    def errors(self, q: FloatArray) -> FloatArray:
        """Return (rows,) the errors at `q` (size,): as `LoopEquations.scaled_errors`, angles by their sines."""
        turning, sliding = self._turning, self._sliding
        if turning is not None:
            angle = turning.angle(q)[:, np.newaxis]
            turned = np.sin(angle) * turning.sine
            turned += (1.0 - np.cos(angle)) * turning.versine
            turned += turning.constant
            self._flat[turning.rows] = turned
        if sliding is not None:
            self._local[sliding.rows, :3, 3] = sliding.constant + sliding.distance(q)[:, np.newaxis] * sliding.direction
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
        return self._equations.derivative(LoopState(self._poses, self._T_a_b, self._T_a_b))


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
