# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Steps of a sweep down the tree (`robot_semantics.kinematics.sweep`), and their memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.transforms.arrays import FloatArray

GROUP = 8
"""Number of angles in a group: small enough for the second-level cache, large enough to hide the cost of calls."""
ROOT = -1
BENT = -1


class VariableReader:
    """Reader of variables of q as rows over configurations; mimic joints use their leaders and factors."""

    def __init__(self, source: np.typing.NDArray[np.intp], factor: FloatArray, offset: FloatArray) -> None:
        self.source = source
        self._factor = None if (factor == 1.0).all() else factor[:, np.newaxis]
        self._offset = None if (offset == 0.0).all() else offset[:, np.newaxis]

    @classmethod
    def of(cls, space: JointSpace, variables: Sequence[tuple[int, float]], factor: float) -> VariableReader:
        """Return the reader of `variables`, each (index in q, sign), all multiplied by `factor`."""
        at = np.array([place for place, _ in variables], dtype=np.intp)
        signs = factor * np.array([sign for _, sign in variables])
        return cls(space.mimics.source[at], signs * space.mimics.factor[at], signs * space.mimics.offset[at])

    def __call__(self, q: FloatArray) -> FloatArray:
        """Return the variables (k, m) of `q` (size, m)."""
        rows: FloatArray = q[self.source]
        if self._factor is not None:
            rows *= self._factor
        if self._offset is not None:
            rows += self._offset
        return rows


class Scratch:
    """Memory for intermediate results of a chunk, in one block of rows over configurations.

    Attributes:
        pair: (2, 3, m) two columns of a body.
        column: (3, m) one column of a body.
        bent: (4, 3, m) the rotated frame in which an oblique joint moves.
        half: (GROUP, m) for a group of angles.
        cosines: (GROUP, m) of a group of angles.
        sines: (GROUP, 2, 1, m) of a group of angles, the sine and its negative.
        hidden: (h, 4, 3, m) computed bodies that were not requested.
    """

    ROWS = 6 + 3 + 12 + 4 * GROUP

    def __init__(self, block: FloatArray) -> None:
        size = block.shape[-1]
        self.pair = block[:6].reshape(2, 3, size)
        self.column = block[6:9]
        self.bent = block[9:21].reshape(4, 3, size)
        angles = block[21 : self.ROWS].reshape(4, GROUP, size)
        self.half, self.cosines = angles[:2]
        self.sines = angles[2:].reshape(GROUP, 2, 1, size)
        self.hidden = block[self.ROWS :].reshape(-1, 4, 3, size)


class Chunk:
    """One chunk of configurations: bodies to write, joint variables, and scratch memory.

    Attributes:
        columns: (4, 3, m) of each body, and last of the rotated frame: column, row, configuration.
        rows: (3, 4, m) of each body, and last of the rotated frame: row, column, configuration.
        q: (size, m) joint positions.
        cosines: (m,) of each angle of the current group.
        sines: (2, 1, m) of each angle of the current group, the sine and its negative.
        slides: (m,) of each distance [m].
        rotations: (3, 3, m) of each quaternion: row, column, configuration.
    """

    def __init__(self, q: FloatArray, store: FloatArray, scratch: Scratch) -> None:
        self.q = q
        self.columns = [*store, *scratch.hidden, scratch.bent]
        self.rows = [
            *store.transpose(0, 2, 1, 3),
            *scratch.hidden.transpose(0, 2, 1, 3),
            scratch.bent.transpose(1, 0, 2),
        ]
        self.scratch = scratch
        self.cosines = [*scratch.cosines]
        self.sines = [*scratch.sines]
        self.slides: list[FloatArray] = []
        self.rotations: list[FloatArray] = []


class SweepStep(Protocol):
    """One step down the tree."""

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""


@dataclass(frozen=True, slots=True, eq=False)
class OriginStep:
    """Step that moves a body to its joint's origin: ``T_root_body = T_root_parent @ T_parent_joint``."""

    body: int
    parent: int
    origin: FloatArray

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        if self.parent == ROOT:
            chunk.columns[self.body][...] = self.origin[:, :3, np.newaxis]
        else:
            np.matmul(self.origin, chunk.rows[self.parent], out=chunk.rows[self.body])


@dataclass(frozen=True, slots=True, eq=False)
class AnglesStep:
    """Step that computes sines and cosines of a group of angles.

    numpy has a vectorised tangent but no vectorised sine and cosine. With t = tan(θ/2) they are 2 t / (1 + t²) and
    1 - t sin θ, exact to rounding even for a huge t.
    """

    half_angles: VariableReader

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        tangent = self.half_angles(chunk.q)
        count, scratch = len(tangent), chunk.scratch
        half, cosines, sines = scratch.half[:count], scratch.cosines[:count], scratch.sines[:count, :, 0]
        np.tan(tangent, out=tangent)
        np.multiply(tangent, tangent, out=half)
        np.add(half, 1.0, out=half)
        np.divide(tangent, half, out=half)
        np.multiply(half, 2.0, out=sines[:, 0])
        np.multiply(half, -2.0, out=sines[:, 1])
        np.multiply(tangent, sines[:, 1], out=cosines)
        np.add(cosines, 1.0, out=cosines)


@dataclass(frozen=True, slots=True, eq=False)
class TurnStep:
    """Step that rotates a body about its axis that is not in `pair`."""

    body: int
    pair: slice
    angle: int

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        columns, crossed = chunk.columns[self.body][self.pair], chunk.scratch.pair
        np.multiply(columns[::-1], chunk.sines[self.angle], out=crossed)
        np.multiply(columns, chunk.cosines[self.angle], out=columns)
        np.add(columns, crossed, out=columns)


@dataclass(frozen=True, slots=True, eq=False)
class SlideStep:
    """Step that moves a body along one of its axes."""

    body: int
    column: int
    distance: int

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        columns, step = chunk.columns[self.body], chunk.scratch.column
        np.multiply(columns[self.column], chunk.slides[self.distance], out=step)
        np.add(columns[3], step, out=columns[3])


@dataclass(frozen=True, slots=True, eq=False)
class FloatStep:
    """Step that rotates a body by a floating joint's quaternion."""

    body: int
    quaternion: int

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        axes, before = chunk.columns[self.body][:3], chunk.scratch.bent[:3]
        np.copyto(before, axes)
        np.einsum("krn,kjn->jrn", before, chunk.rotations[self.quaternion], out=axes)


@dataclass(frozen=True, slots=True, eq=False)
class UnbendStep:
    """Step that computes a body from the rotated frame of its joint."""

    body: int
    basis: FloatArray

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        np.matmul(self.basis, chunk.rows[BENT], out=chunk.rows[self.body])


def next_two(column: int) -> slice:
    """Return the two columns that follow `column` in cyclic order: 1 2, 2 0 or 0 1."""
    return (slice(1, 3), slice(2, None, -2), slice(0, 2))[column]
