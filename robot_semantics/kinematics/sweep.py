# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses of many configurations: one sweep down the tree, in which each number of a pose is a row over configurations.

Poses are stored number by number, ``store[link, column, row, configuration]``, so that numpy and BLAS run along the
configurations. A step down the tree is one small matrix product with the joint's constant origin. Then the joint's
motion changes some columns: for a revolute joint, two of the four. Configurations are processed in chunks that fit the
processor's caches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from robot_semantics.kinematics.array_recycling import ArrayPool, aligned, whole_lines
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.motions import JointVariables
from robot_semantics.kinematics.sweep_steps import (
    BENT,
    GROUP,
    ROOT,
    AnglesStep,
    Chunk,
    FloatStep,
    OriginStep,
    Scratch,
    SlideStep,
    SweepStep,
    TurnStep,
    UnbendStep,
    VariableReader,
    next_two,
)
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import matrix_from_quat, rotation_from_z
from robot_semantics.transforms.arrays import FloatArray

# Measured: small enough for the second-level cache, large enough to hide the cost of calls.
CHUNK = 2504


class Sweep:
    """Poses of chosen links in the root link for many configurations.

    Other links are computed only if they move and are on the way to a chosen link.
    """

    def __init__(self, model: RobotModel, links: Sequence[int], space: JointSpace) -> None:
        """Prepare for the links with these indices, in this order."""
        plan = _Plan(model, links)
        self._links = tuple(links)
        self._hidden = plan.hidden
        self._memory = ArrayPool(self._new_memory)
        self._scratch = ArrayPool(aligned)
        self._again = [(row, plan.body[link]) for row, link in enumerate(links) if link and plan.body[link] != row]
        self._steps: list[SweepStep] = []
        turns: list[tuple[int, float]] = []
        slides: list[tuple[int, float]] = []
        floats: list[list[int]] = []
        for joint, body, parent, T_parent_joint in plan.joints(len(links)):
            basis, column, sign = _basis(joint)
            # If the joint's axis is not a coordinate axis, compute its motion in a rotated frame, stored beside the
            # bodies.
            bent = not np.array_equal(basis, np.eye(4))
            moved = BENT if bent else body
            # Matrices are multiplied from the right on columns, so they are transposed.
            self._steps.append(OriginStep(moved, parent, np.ascontiguousarray((T_parent_joint @ basis).T)))
            start = space.positions_of(joint).start if joint.position_count else 0
            if joint.motion.slides:
                self._steps.append(SlideStep(moved, column, len(slides)))
                slides.append((start, sign))
            elif joint.motion.is_planar:
                self._steps += [SlideStep(moved, k, len(slides) + k) for k in range(2)]
                slides += [(start, 1.0), (start + 1, 1.0)]
            elif joint.motion.has_quaternion:
                self._steps += [SlideStep(moved, k, len(slides) + k) for k in range(3)]
                slides += [(start + k, 1.0) for k in range(3)]
                self._steps.append(FloatStep(moved, len(floats)))
                floats.append([start + k for k in range(3, 7)])
            if joint.motion.turns:
                self._steps.append(TurnStep(moved, next_two(column), len(turns) % GROUP))
                turns.append((space.positions_of(joint).stop - 1, sign))
            if bent:
                self._steps.append(UnbendStep(body, np.ascontiguousarray(basis)))
        self._insert_angles(space, turns)
        self._slides = VariableReader.of(space, slides, 1.0)
        self._quats = JointVariables.of(space, np.array(floats, dtype=np.intp).reshape(-1, 4))

    def run(self, q: FloatArray) -> FloatArray:
        """Return (n, links, 4, 4) poses at finite `q` (n, size); a view of memory in another order."""
        count = len(q)
        # Avoid rows that are a power of two apart: they would use the same few cache lines.
        padded = whole_lines(count)
        padded = whole_lines(padded + 1) if padded % 512 == 0 else padded
        store = self._memory.take((len(self._links), 4, 4, padded))[..., :count]
        chunks = max(1, -(-count // CHUNK))
        size = whole_lines(-(-count // chunks))
        block = self._scratch.take((Scratch.ROWS + 12 * self._hidden, size))
        with _unbuffered():
            for start in range(0, count, max(1, size)):
                stop = min(start + size, count)
                chunk = Chunk(q[start:stop].T, store[:, :, :3, start:stop], Scratch(block[:, : stop - start]))
                self._slide_and_float(q[start:stop], chunk)
                for step in self._steps:
                    step.run(chunk)
        for row, source in self._again:
            store[row] = store[source]
        poses: FloatArray = store.transpose(3, 0, 2, 1)
        return poses

    def _new_memory(self, shape: tuple[int, ...]) -> FloatArray:
        """Return memory (links, 4, 4, n) that already has all constant numbers."""
        store = aligned(shape)
        store[:, 3, 3] = 1.0
        for row, link in enumerate(self._links):
            if link == 0:
                store[row] = np.eye(4)[..., np.newaxis]
        return store

    def _insert_angles(self, space: JointSpace, turns: Sequence[tuple[int, float]]) -> None:
        """Insert steps that compute the angles in groups, each directly before the first joint that needs it."""
        starts = [at for at, step in enumerate(self._steps) if isinstance(step, TurnStep) and step.angle == 0]
        for number, at in reversed(list(enumerate(starts))):
            group = turns[number * GROUP : (number + 1) * GROUP]
            self._steps.insert(at, AnglesStep(VariableReader.of(space, group, 0.5)))

    def _slide_and_float(self, q: FloatArray, chunk: Chunk) -> None:
        """Write distances and rotations at `q` (m, size) into `chunk`."""
        if len(self._slides.source):
            chunk.slides.extend(self._slides(q.T))
        if self._quats.source.size:
            rotations = matrix_from_quat(self._quats(q))
            chunk.rotations.extend(np.ascontiguousarray(rotations.transpose(1, 2, 3, 0)))


class _Plan:
    """The links to compute, their storage, and their parents.

    Attributes:
        body: number of each computed link: for a chosen link its index among the chosen ones, for others a larger
            number.
        hidden: number of computed links that were not chosen.
    """

    def __init__(self, model: RobotModel, links: Sequence[int]) -> None:
        self._model = model
        self.body: dict[int, int] = {}
        for row, link in enumerate(links):
            self.body.setdefault(link, row)
        on_the_way: set[int] = set()
        for link in links:
            above = model.links[link].parent
            # The links above a visited link have been visited with it.
            while above > 0 and above not in on_the_way:
                on_the_way.add(above)
                above = model.links[above].parent
        on_the_way -= self.body.keys()
        moving = [link for link in sorted(on_the_way) if model.joints[link].position_count]
        self.body |= {link: len(links) + k for k, link in enumerate(moving)}
        self.hidden = len(moving)

    def joints(self, chosen: int) -> Iterator[tuple[JointModel, int, int, FloatArray]]:
        """Yield, parents first, each computed link's joint, body, parent body and the joint's origin in the parent
        body.
        """
        for link in sorted(self.body):
            if link == 0:
                continue
            T_parent_joint = self._model.joints[link].T_parent_joint
            parent = self._model.links[link].parent
            while parent != 0 and parent not in self.body:
                T_parent_joint = self._model.joints[parent].T_parent_joint @ T_parent_joint
                parent = self._model.links[parent].parent
            yield self._model.joints[link], self.body[link], self.body[parent] if parent else ROOT, T_parent_joint


def _basis(joint: JointModel) -> tuple[FloatArray, int, float]:
    """Return a rotated frame (4, 4) in the joint frame, the index of its axis for the joint, and the sign.

    The frame is the joint frame itself if the joint's axis is one of its axes.
    """
    largest = int(np.abs(joint.axis).argmax())
    sign = float(np.sign(joint.axis[largest]))
    aligned = np.array_equal(joint.axis, sign * np.eye(3)[largest])
    if not joint.position_count or joint.motion.has_quaternion:
        return np.eye(4), 2, 1.0
    if aligned and not joint.motion.is_planar:
        return np.eye(4), largest, sign
    basis = np.eye(4)
    basis[:3, :3] = rotation_from_z(joint.axis)
    return basis, 2, 1.0


@contextmanager
def _unbuffered() -> Iterator[None]:
    """Prevent numpy from copying short rows into its casting buffer."""
    before = np.setbufsize(16)
    try:
        yield
    finally:
        np.setbufsize(before)
