# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Random configurations that depend only on the seed and on their number.

Samples are numbered from 0 and come in blocks of `BLOCK`. Block b of seed s is the same in every process, so the number
of workers and their order make no difference.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.transforms.arrays import FloatArray

BlockSampler = Callable[[int], FloatArray]
"""Returns block number b: (BLOCK, size) positions inside the limits; mimic joints are not set yet."""

BLOCK = 500
"""Configurations in one block: long enough to hide the overhead, short enough to share evenly between threads."""

_MOST_DRAWS = 200
"""Most draws of a block of a robot with closed loops."""

SOBOL_BITS = 32
"""Largest value of scipy that allows skipping: 4 thousand million points."""


def block_sampler(space: JointSpace, seed: int, sampler: str = "uniform") -> BlockSampler:
    """Return the sampler called ``uniform`` or ``sobol`` (low discrepancy, scrambled by the seed).

    The virtual joint stays at its neutral position, because it does not move links against each other.

    The loops of a robot with closed loops are closed in every configuration.

    Raises:
        MissingExtraError: ``sobol`` without scipy.
        LoopError: the passive joints of the robot do not follow from its other joints.
        KeyError: unknown sampler.

    """
    own = SAMPLERS[sampler](space, seed)
    if not space.model.constraints:
        return own
    loops = ClosedLoops.of(space.model)
    return own if loops is None else partial(_closed_block, own, _uniform_block, SampleBox(space), loops, seed)


class SampleBox:
    """The range of every sampled variable, and the map from the unit cube to configurations.

    Attributes:
        low: (size,) lower end of each variable; the neutral position of a variable that is not sampled.
        high: (size,) upper end.
        moving: indices of the variables that are sampled.
    """

    def __init__(self, space: JointSpace) -> None:
        self.neutral = space.neutral()
        self.low, self.high = self.neutral.copy(), self.neutral.copy()
        self.quaternions: list[slice] = []
        moving: list[int] = []
        for joint in space.joints:
            if joint.virtual or joint.mimic is not None:
                continue
            columns = space.joint_positions[joint.name]
            self.low[columns], self.high[columns] = (end[columns] for end in space.sampling_range)
            if joint.motion.has_quaternion:
                self.quaternions.append(slice(columns.stop - 4, columns.stop))
            moving += range(columns.start, columns.stop)
        self.moving = np.array(moving, dtype=np.int64)

    @property
    def is_one_pose(self) -> bool:
        """True if there are sampled variables, but none has a range, so that all configurations are one."""
        return bool(self.moving.size and (self.low == self.high)[self.moving].all())

    def configurations(self, unit: FloatArray) -> FloatArray:
        """Return (n, size) positions for (n, dimensions) points of the unit cube."""
        q = np.tile(self.neutral, (len(unit), 1))
        low, high = self.low[self.moving], self.high[self.moving]
        q[:, self.moving] = low + unit * (high - low)
        for columns in self.quaternions:
            q[:, columns] = _uniform_quaternions((q[:, columns] + 1.0) / 2.0)
        return q


def _uniform_quaternions(unit: FloatArray) -> FloatArray:
    """Return (n, 4) quaternions, uniform on the rotations, from three of (n, 4) unit coordinates (Shoemake)."""
    a, b = np.sqrt(1.0 - unit[:, 0]), np.sqrt(unit[:, 0])
    s, t = 2.0 * np.pi * unit[:, 1], 2.0 * np.pi * unit[:, 2]
    return np.column_stack([a * np.sin(s), a * np.cos(s), b * np.sin(t), b * np.cos(t)])


def _uniform(space: JointSpace, seed: int) -> BlockSampler:
    return partial(_uniform_block, SampleBox(space), seed)


def _uniform_block(box: SampleBox, seed: int, block: int) -> FloatArray:
    # A counter-based generator: the block is its key, so blocks are independent.
    rng = np.random.Generator(np.random.Philox(key=np.array([seed, block], dtype=np.uint64)))
    return box.configurations(rng.random((BLOCK, len(box.moving))))


def _closed_block(
    block_sampler: BlockSampler,
    again: Callable[[SampleBox, int, int], FloatArray],
    box: SampleBox,
    loops: ClosedLoops,
    seed: int,
    block: int,
) -> FloatArray:
    """Return a block with closed loops; a configuration in which a loop cannot close is drawn again.

    Raises:
        RobotSemanticsError: too few random configurations close the loops.
    """
    result, open_rows = np.empty((BLOCK, loops.space.size)), np.arange(BLOCK)
    for attempt in range(_MOST_DRAWS):
        drawn = block_sampler(block) if attempt == 0 else again(box, seed, block + (attempt << 40))
        found = loops.close(drawn[: len(open_rows)], other_branches=False)
        fine = found.closed & loops.within_limits(found.q)
        result[open_rows[fine]] = found.q[fine]
        open_rows = open_rows[~fine]
        if not open_rows.size:
            return result
    raise RobotSemanticsError(
        f"the loops of '{loops.space.model.name}' close in too few random configurations: "
        f"{open_rows.size} of {BLOCK} did not close in {_MOST_DRAWS} draws"
    )


def _generator_keyword() -> str:
    """Return scipy's keyword for the random generator: ``rng`` from 1.15, ``seed`` in Ubuntu 24.04."""
    import scipy

    major, minor = scipy.__version__.split(".")[:2]
    return "rng" if (int(major), int(minor)) >= (1, 15) else "seed"


class _Sobol:
    """A scrambled Sobol sequence, read in blocks in any order. Block b starts at point b * BLOCK."""

    def __init__(self, space: JointSpace, seed: int) -> None:
        try:
            from scipy.stats import qmc
        except ImportError as error:
            raise MissingExtraError("scipy", "collision", "Sobol sampling") from error
        self._box = SampleBox(space)
        self._lock = threading.Lock()
        # Scrambling is slow, so all blocks share one sequence. It has 2^SOBOL_BITS points.
        self._sequence: qmc.Sobol | None = None
        if len(self._box.moving):
            generator: dict[str, Any] = {_generator_keyword(): np.random.default_rng(seed)}
            self._sequence = qmc.Sobol(len(self._box.moving), scramble=True, bits=SOBOL_BITS, **generator)

    def __call__(self, block: int) -> FloatArray:
        if self._sequence is None:
            return self._box.configurations(np.zeros((BLOCK, 0)))
        with self._lock, warnings.catch_warnings():
            # scipy warns about blocks whose length is not a power of two. Only the whole sequence must be balanced.
            warnings.simplefilter("ignore", UserWarning)
            done = self._sequence.num_generated
            if block * BLOCK < done:
                self._sequence.reset()  # back to the first point; the scrambling stays
                done = 0
            if block * BLOCK > done:
                self._sequence.fast_forward(block * BLOCK - done)
            unit = self._sequence.random(BLOCK)
        return self._box.configurations(unit)


SAMPLERS: dict[str, Callable[[JointSpace, int], BlockSampler]] = {"uniform": _uniform, "sobol": _Sobol}
