"""The poses of many configurations at once: one sweep down the tree, every number of a pose a row over configurations.

Poses are kept number by number, ``store[link, column, row, configuration]``, so that numpy and BLAS run along the
configurations. A step down the tree is one small matrix product with the joint's constant origin, then its motion
on the columns it moves: for a turning joint two of the four. Configurations come in chunks that fit the processor's
caches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.memory import Recycler, aligned, whole_lines
from robot_semantics.kinematics.motions import TURNING, Variables
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import matrix_from_quat, rotation_from_z
from robot_semantics.transforms.arrays import FloatArray

# Measured: few enough configurations and angles at a time for the second-level cache, enough to make calls worth it.
CHUNK = 2504
GROUP = 8
ROOT = -1
BENT = -1


class Sweep:
    """Computes the poses of chosen links in the root link for many configurations.

    Of the links that were not chosen it computes those that move and lie on the way to a chosen one.
    """

    def __init__(self, model: RobotModel, links: Sequence[int], space: JointSpace) -> None:
        """Prepare for the links with these indices, in this order."""
        plan = _Plan(model, links)
        self._links = tuple(links)
        self._hidden = plan.hidden
        self._memory = Recycler(self._new_memory)
        self._scratch = Recycler(aligned)
        self._again = [(row, plan.body[link]) for row, link in enumerate(links) if link and plan.body[link] != row]
        self._steps: list[_Step] = []
        turns: list[tuple[int, float]] = []
        slides: list[tuple[int, float]] = []
        floats: list[list[int]] = []
        for joint, body, parent, T_parent_joint in plan.joints(len(links)):
            basis, column, sign = _basis(joint)
            # A joint that moves along or about none of its own axes does so in a turned frame, kept beside the bodies.
            bent = not np.array_equal(basis, np.eye(4))
            moved = BENT if bent else body
            # Matrices are multiplied from the right on columns, hence the transposes.
            self._steps.append(_Place(moved, parent, np.ascontiguousarray((T_parent_joint @ basis).T)))
            start = space.positions_of(joint).start if joint.position_count else 0
            if joint.type is JointType.PRISMATIC:
                self._steps.append(_Slide(moved, column, len(slides)))
                slides.append((start, sign))
            elif joint.type is JointType.PLANAR:
                self._steps += [_Slide(moved, k, len(slides) + k) for k in range(2)]
                slides += [(start, 1.0), (start + 1, 1.0)]
            elif joint.type is JointType.FLOATING:
                self._steps += [_Slide(moved, k, len(slides) + k) for k in range(3)]
                slides += [(start + k, 1.0) for k in range(3)]
                self._steps.append(_Float(moved, len(floats)))
                floats.append([start + k for k in range(3, 7)])
            if joint.type in TURNING:
                self._steps.append(_Turn(moved, _next_two(column), len(turns) % GROUP))
                turns.append((space.positions_of(joint).stop - 1, sign))
            if bent:
                self._steps.append(_Unbend(body, np.ascontiguousarray(basis)))
        self._insert_angles(space, turns)
        self._slides = _Gather.of(space, slides, 1.0)
        self._quats = Variables.of(space, np.array(floats, dtype=np.intp).reshape(-1, 4))

    def run(self, q: FloatArray) -> FloatArray:
        """Return (n, links, 4, 4) poses at `q` (n, size), finite; a view of memory in another order."""
        count = len(q)
        # Rows a power of two apart would all compete for the same few places in the caches.
        padded = whole_lines(count)
        padded = whole_lines(padded + 1) if padded % 512 == 0 else padded
        store = self._memory.take((len(self._links), 4, 4, padded))[..., :count]
        chunks = max(1, -(-count // CHUNK))
        size = whole_lines(-(-count // chunks))
        block = self._scratch.take((_Scratch.ROWS + 12 * self._hidden, size))
        with _unbuffered():
            for start in range(0, count, max(1, size)):
                stop = min(start + size, count)
                chunk = _Chunk(q[start:stop].T, store[:, :, :3, start:stop], _Scratch(block[:, : stop - start]))
                self._slide_and_float(q[start:stop], chunk)
                for step in self._steps:
                    step.run(chunk)
        for row, source in self._again:
            store[row] = store[source]
        poses: FloatArray = store.transpose(3, 0, 2, 1)
        return poses

    def _new_memory(self, shape: tuple[int, ...]) -> FloatArray:
        """Return memory (links, 4, 4, n) in which all that no step writes is in place."""
        store = aligned(shape)
        store[:, 3, 3] = 1.0
        for row, link in enumerate(self._links):
            if link == 0:
                store[row] = np.eye(4)[..., np.newaxis]
        return store

    def _insert_angles(self, space: JointSpace, turns: Sequence[tuple[int, float]]) -> None:
        """Have the angles computed a group at a time, right before the first turn that needs one of the group."""
        starts = [at for at, step in enumerate(self._steps) if isinstance(step, _Turn) and step.angle == 0]
        for number, at in reversed(list(enumerate(starts))):
            group = turns[number * GROUP : (number + 1) * GROUP]
            self._steps.insert(at, _Angles(_Gather.of(space, group, 0.5)))

    def _slide_and_float(self, q: FloatArray, chunk: _Chunk) -> None:
        """Put distances and rotations at `q` (m, size) into `chunk`."""
        if len(self._slides.source):
            chunk.slides.extend(self._slides(q.T))
        if self._quats.source.size:
            rotations = matrix_from_quat(self._quats(q))
            chunk.rotations.extend(np.ascontiguousarray(rotations.transpose(1, 2, 3, 0)))


class _Plan:
    """Which links to compute, where, and from which.

    Attributes:
        body: number of each link that is computed: below the number of chosen links its place among them, else hidden.
        hidden: how many are computed but were not chosen.
    """

    def __init__(self, model: RobotModel, links: Sequence[int]) -> None:
        self._model = model
        self.body: dict[int, int] = {}
        for row, link in enumerate(links):
            self.body.setdefault(link, row)
        on_the_way = {above for link in links for above in _ancestors(model, link)} - self.body.keys()
        moving = [link for link in sorted(on_the_way) if model.joints[link].position_count]
        self.body |= {link: len(links) + k for k, link in enumerate(moving)}
        self.hidden = len(moving)

    def joints(self, chosen: int) -> Iterator[tuple[JointModel, int, int, FloatArray]]:
        """Yield, parents first, each computed link's joint, body, parent body and the joint's origin in that parent."""
        for link in sorted(self.body):
            if link == 0:
                continue
            T_parent_joint = self._model.joints[link].T_parent_joint
            parent = self._model.links[link].parent
            while parent != 0 and parent not in self.body:
                T_parent_joint = self._model.joints[parent].T_parent_joint @ T_parent_joint
                parent = self._model.links[parent].parent
            yield self._model.joints[link], self.body[link], self.body[parent] if parent else ROOT, T_parent_joint


class _Gather:
    """Reads variables of q as rows over configurations, mimic joints from their leaders, each with its factor."""

    def __init__(self, source: np.typing.NDArray[np.intp], factor: FloatArray, offset: FloatArray) -> None:
        self.source = source
        self._factor = None if (factor == 1.0).all() else factor[:, np.newaxis]
        self._offset = None if (offset == 0.0).all() else offset[:, np.newaxis]

    @classmethod
    def of(cls, space: JointSpace, variables: Sequence[tuple[int, float]], factor: float) -> _Gather:
        """Return the reader of `variables`: (place in q, sign) each, all times `factor`."""
        at = np.array([place for place, _ in variables], dtype=np.intp)
        signs = factor * np.array([sign for _, sign in variables])
        return cls(space.mimics.source[at], signs * space.mimics.factor[at], signs * space.mimics.offset[at])

    def __call__(self, q: FloatArray) -> FloatArray:
        """Return (k, m) the variables of `q` (size, m)."""
        rows: FloatArray = q[self.source]
        if self._factor is not None:
            rows *= self._factor
        if self._offset is not None:
            rows += self._offset
        return rows


class _Scratch:
    """Memory for intermediate results of a chunk, all in one block of rows over configurations.

    Attributes:
        pair: (2, 3, m) two columns of a body.
        column: (3, m) one column of a body.
        bent: (4, 3, m) the turned frame in which an oblique joint moves.
        half: (GROUP, m) for a group of angles.
        cosines: (GROUP, m) of a group of angles.
        sines: (GROUP, 2, 1, m) of a group of angles, the sine and its negative.
        hidden: (h, 4, 3, m) bodies that are computed but were not asked for.
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


class _Chunk:
    """One chunk of configurations: bodies to write, what the joints are at, and scratch memory.

    Attributes:
        columns: (4, 3, m) of each body, and of the turned frame of the last: column, row, configuration.
        rows: (3, 4, m) of each body, and of the turned frame of the last: row, column, configuration.
        q: (size, m) joint positions.
        cosines: (m,) of each angle of the present group.
        sines: (2, 1, m) of each angle of the present group, the sine and its negative.
        slides: (m,) of each distance [m].
        rotations: (3, 3, m) of each quaternion: row, column, configuration.
    """

    def __init__(self, q: FloatArray, store: FloatArray, scratch: _Scratch) -> None:
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


class _Step(Protocol):
    def run(self, chunk: _Chunk) -> None:
        """Do the step for all configurations of `chunk`."""


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Puts a body where its joint's origin is: ``T_root_body = T_root_parent @ T_parent_joint``."""

    body: int
    parent: int
    origin: FloatArray

    def run(self, chunk: _Chunk) -> None:
        if self.parent == ROOT:
            chunk.columns[self.body][...] = self.origin[:, :3, np.newaxis]
        else:
            np.matmul(self.origin, chunk.rows[self.parent], out=chunk.rows[self.body])


@dataclass(frozen=True, slots=True, eq=False)
class _Angles:
    """Computes sines and cosines of a group of angles.

    numpy has a vectorised tangent but no vectorised sine and cosine. With t = tan(θ/2) they are 2 t / (1 + t²) and
    1 - t sin θ, to rounding also where t is huge.
    """

    half_angles: _Gather

    def run(self, chunk: _Chunk) -> None:
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
class _Turn:
    """Turns a body about the one of its axes that is not in `pair`."""

    body: int
    pair: slice
    angle: int

    def run(self, chunk: _Chunk) -> None:
        columns, crossed = chunk.columns[self.body][self.pair], chunk.scratch.pair
        np.multiply(columns[::-1], chunk.sines[self.angle], out=crossed)
        np.multiply(columns, chunk.cosines[self.angle], out=columns)
        np.add(columns, crossed, out=columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Slide:
    """Moves a body along one of its axes."""

    body: int
    column: int
    distance: int

    def run(self, chunk: _Chunk) -> None:
        columns, step = chunk.columns[self.body], chunk.scratch.column
        np.multiply(columns[self.column], chunk.slides[self.distance], out=step)
        np.add(columns[3], step, out=columns[3])


@dataclass(frozen=True, slots=True, eq=False)
class _Float:
    """Turns a body by a floating joint's quaternion."""

    body: int
    quaternion: int

    def run(self, chunk: _Chunk) -> None:
        axes, before = chunk.columns[self.body][:3], chunk.scratch.bent[:3]
        np.copyto(before, axes)
        np.einsum("krn,kjn->jrn", before, chunk.rotations[self.quaternion], out=axes)


@dataclass(frozen=True, slots=True, eq=False)
class _Unbend:
    """Makes a body from the turned frame in which its joint moved."""

    body: int
    basis: FloatArray

    def run(self, chunk: _Chunk) -> None:
        np.matmul(self.basis, chunk.rows[BENT], out=chunk.rows[self.body])


def _basis(joint: JointModel) -> tuple[FloatArray, int, float]:
    """Return a turned frame (4, 4) in the joint frame, which of its axes the joint's is, and with which sign.

    The frame is the joint's own wherever the joint's axis is one of its axes and nothing else is asked.
    """
    largest = int(np.abs(joint.axis).argmax())
    sign = float(np.sign(joint.axis[largest]))
    aligned = np.array_equal(joint.axis, sign * np.eye(3)[largest])
    if not joint.position_count or joint.type is JointType.FLOATING:
        return np.eye(4), 2, 1.0
    if aligned and joint.type is not JointType.PLANAR:
        return np.eye(4), largest, sign
    basis = np.eye(4)
    basis[:3, :3] = rotation_from_z(joint.axis)
    return basis, 2, 1.0


def _next_two(column: int) -> slice:
    """Return the two columns that follow `column` in cyclic order: 1 2, 2 0 or 0 1."""
    return (slice(1, 3), slice(2, None, -2), slice(0, 2))[column]


def _ancestors(model: RobotModel, link: int) -> Iterator[int]:
    link = model.links[link].parent
    while link > 0:
        yield link
        link = model.links[link].parent


@contextmanager
def _unbuffered() -> Iterator[None]:
    """Keep numpy from copying rows into its casting buffer, which it does whenever they are shorter than that."""
    before = np.setbufsize(16)
    try:
        yield
    finally:
        np.setbufsize(before)
