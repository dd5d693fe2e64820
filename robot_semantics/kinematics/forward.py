# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Forward kinematics: poses and velocities of all links from joint positions and velocities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from robot_semantics.base.record import record
from robot_semantics.kinematics.joint_space import Affine, JointSpace
from robot_semantics.kinematics.local import LocalTransforms, doublings
from robot_semantics.model.robot_model import JointModel, LinkModel, RobotModel
from robot_semantics.transforms import cross, matrix_from_quat, rotate_twist, rotation_from_z
from robot_semantics.transforms.arrays import FloatArray

if TYPE_CHECKING:
    from robot_semantics.kinematics.loops import ClosedLoops


# Steps of a sweep down the tree (`robot_semantics.kinematics.forward`), and their memory.


GROUP = 8
"""Number of angles in a group: small enough for the second-level cache, large enough to hide the cost of calls."""
ROOT = -1
BENT = -1


def _scaled(space: JointSpace, variables: Sequence[tuple[int, float]], factor: float) -> Affine:
    """Return `variables`, each (index in q, sign), all multiplied by `factor`."""
    chosen = space.mimics[np.array([place for place, _ in variables], dtype=np.intp)]
    signs = factor * np.array([sign for _, sign in variables])
    return Affine(chosen.source, signs * chosen.factor, signs * chosen.offset)


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


@record(frozen=True, slots=True, eq=False)
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


@record(frozen=True, slots=True, eq=False)
class AnglesStep:
    """Step that computes sines and cosines of a group of angles.

    numpy has a vectorised tangent but no vectorised sine and cosine. With t = tan(θ/2) they are 2 t / (1 + t²) and
    1 - t sin θ, exact to rounding even for a huge t.
    """

    half_angles: Affine

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        tangent = self.half_angles.rows(chunk.q)
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


@record(frozen=True, slots=True, eq=False)
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


@record(frozen=True, slots=True, eq=False)
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


@record(frozen=True, slots=True, eq=False)
class FloatStep:
    """Step that rotates a body by a floating joint's quaternion."""

    body: int
    quaternion: int

    def run(self, chunk: Chunk) -> None:
        """Do the step for all configurations of `chunk`."""
        axes, before = chunk.columns[self.body][:3], chunk.scratch.bent[:3]
        np.copyto(before, axes)
        np.einsum("krn,kjn->jrn", before, chunk.rotations[self.quaternion], out=axes)


@record(frozen=True, slots=True, eq=False)
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


# Poses of many configurations: one sweep down the tree, in which each number of a pose is a row over configurations.


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
        self._again = [(row, plan.body[link]) for row, link in enumerate(links) if plan.body[link] != row]
        self._steps: list[SweepStep] = []
        turns: list[tuple[int, float]] = []
        slides: list[tuple[int, float]] = []
        floats: list[list[int]] = []
        for joint, body, parent, T_parent_joint in plan.joints(len(links)):
            basis, column, sign = _basis(joint)
            # If the joint's axis is not a coordinate axis, compute its motion in a rotated frame, stored beside the
            # bodies.
            bent = not np.array_equal(basis, np.eye(4))
            moved_kinds = BENT if bent else body
            # Matrices are multiplied from the right on columns, so they are transposed.
            self._steps.append(OriginStep(moved_kinds, parent, np.ascontiguousarray((T_parent_joint @ basis).T)))
            start = space.positions_of(joint).start if joint.position_count else 0
            if joint.motion.slides:
                self._steps.append(SlideStep(moved_kinds, column, len(slides)))
                slides.append((start, sign))
            elif joint.motion.is_planar:
                self._steps += [SlideStep(moved_kinds, k, len(slides) + k) for k in range(2)]
                slides += [(start, 1.0), (start + 1, 1.0)]
            elif joint.motion.has_quaternion:
                self._steps += [SlideStep(moved_kinds, k, len(slides) + k) for k in range(3)]
                slides += [(start + k, 1.0) for k in range(3)]
                self._steps.append(FloatStep(moved_kinds, len(floats)))
                floats.append([start + k for k in range(3, 7)])
            if joint.motion.turns:
                self._steps.append(TurnStep(moved_kinds, next_two(column), len(turns) % GROUP))
                turns.append((space.positions_of(joint).stop - 1, sign))
            if bent:
                self._steps.append(UnbendStep(body, np.ascontiguousarray(basis)))
        self._insert_angles(space, turns)
        self._slides = _scaled(space, slides, 1.0)
        self._quats = space.mimics[np.array(floats, dtype=np.intp).reshape(-1, 4)]

    def run(self, q: FloatArray) -> FloatArray:
        """Return (n, links, 4, 4) poses at finite `q` (n, size); a view of memory in another order."""
        count = len(q)
        # Avoid rows that are a power of two apart: they would use the same few cache lines.
        store = self._constants(count + 8 if count % 512 == 0 else count)[..., :count]
        chunks = max(1, -(-count // CHUNK))
        size = max(1, -(-count // chunks))
        block = np.zeros((Scratch.ROWS + 12 * self._hidden, size))
        for start in range(0, count, size):
            stop = min(start + size, count)
            chunk = Chunk(q[start:stop].T, store[:, :, :3, start:stop], Scratch(block[:, : stop - start]))
            self._slide_and_float(q[start:stop], chunk)
            for step in self._steps:
                step.run(chunk)
        for row, source in self._again:
            store[row] = store[source]
        poses: FloatArray = store.transpose(3, 0, 2, 1)
        return poses

    def _constants(self, count: int) -> FloatArray:
        """Return poses (links, 4, 4, count) with all constant numbers."""
        store = np.zeros((len(self._links), 4, 4, count))
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
            self._steps.insert(at, AnglesStep(_scaled(space, group, 0.5)))

    def _slide_and_float(self, q: FloatArray, chunk: Chunk) -> None:
        """Write distances and rotations at `q` (m, size) into `chunk`."""
        if len(self._slides.source):
            chunk.slides.extend(self._slides.rows(q.T))
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


_FEW = 20


class ForwardKinematics:
    """Poses ``T_root_link`` of all links, or of chosen ones, and the velocities of all links.

    The virtual root joint has no effect on poses relative to the root link; its pose is `T_parent_root`. Mimic joints
    follow their leaders; their own values in ``q`` are ignored.

    Attributes:
        model: the robot.
        space: the joint space of ``q`` and ``v``.
        links: the chosen links, in the order of the results.
    """

    def __init__(self, model: RobotModel, links: Iterable[str] | None = None, *, follow_mimics: bool = True) -> None:
        """Prepare for the links named, in this order; by default for all links of the model, index = link index.

        Without `follow_mimics`, mimic joints use their own values in `q`.

        Raises:
            UnknownNameError: `model` does not have a link.
        """
        self.model = model
        self.space = JointSpace(model, follow_mimics=follow_mimics)
        self.links: tuple[LinkModel, ...] = model.links if links is None else tuple(model.link(name) for name in links)
        self._follows = follow_mimics
        self._local = LocalTransforms(model, space=self.space)
        self._root = LocalTransforms(model, (model.root_joint.name,), space=self.space)
        self._chosen = np.array([link.index for link in self.links], dtype=np.intp)
        self._doublings = doublings([link.parent for link in model.links])

    def link_poses(self, q: npt.ArrayLike) -> FloatArray:
        """Return (..., n_links, 4, 4) poses ``T_root_link`` of the links in the root link, read-only.

        For many configurations, the memory order is number by number, not matrix by matrix. When the result and all its
        views are deleted, the next call reuses the memory.

        Args:
            q: (..., size) joint positions [rad, m].

        Raises:
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        positions = self.space.checked_positions(q)
        shape = positions.shape[:-1]
        count = int(np.prod(shape, dtype=np.intp))
        if count < _FEW:
            return self._few(positions)
        poses = self._sweep.run(positions.reshape(count, self.space.size)).reshape(*shape, len(self.links), 4, 4)
        poses.setflags(write=False)
        return poses

    def T_parent_root(self, q: npt.ArrayLike) -> FloatArray:
        """Return (..., 4, 4) poses of the root link in the virtual joint's parent frame, read-only.

        Args:
            q: (..., size) joint positions [rad, m].

        Raises:
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        pose: FloatArray = self._root.matrices(q)[..., 0, :, :]
        return pose

    def twist_parent_root(self, q: npt.ArrayLike, v: npt.ArrayLike) -> FloatArray:
        """Return (..., 6) velocities of the root link in the virtual joint's parent frame, in the parent's axes.

        Each is vx vy vz wx wy wz [m/s, rad/s], linear for the root link's origin: the twist of a USDF model state.

        Args:
            q: (..., size) joint positions [rad, m].
            v: (..., velocity_size) joint velocities [rad/s, m/s].

        Raises:
            ArrayError: `q` or `v` has the wrong shape or is not finite, or `q` has a quaternion of zeros.
        """
        twist = rotate_twist(self.T_parent_root(q)[..., :3, :3], self._root.twists(q, v)[..., 0, :])
        twist.setflags(write=False)
        return twist

    def link_twists(self, q: npt.ArrayLike, v: npt.ArrayLike, *, with_virtual_joint: bool = False) -> FloatArray:
        """Return (..., n_links, 6) velocities of the links relative to the root link, read-only.

        Each is vx vy vz wx wy wz [m/s, rad/s]: at the link's origin, in the link's own axes.

        Args:
            q: (..., size) joint positions [rad, m].
            v: (..., velocity_size) joint velocities [rad/s, m/s].
            with_virtual_joint: relative to the virtual joint's parent frame instead, so the root link also moves.

        Raises:
            ArrayError: `q` or `v` has the wrong shape or is not finite, or `q` has a quaternion of zeros.
        """
        poses = self._whole.link_poses(q)
        twists = _number_by_number(self._local.twists(q, v))
        R, origin = poses[..., :3, :3], poses[..., :3, 3]
        # Velocities of the point at the root link's origin, in the root link's axes: there the joints' motions simply
        # add up.
        turning = _rotated(R, twists[..., 3:])
        moving = _rotated(R, twists[..., :3]) + cross(origin, turning)
        for links, above in self._doublings:
            moving[..., links, :] += moving[..., above, :]
            turning[..., links, :] += turning[..., above, :]
        moving[..., 0, :] = turning[..., 0, :] = 0.0
        if with_virtual_joint:
            moving += twists[..., :1, :3]
            turning += twists[..., :1, 3:]
        inverse = np.swapaxes(R, -1, -2)
        result = np.concatenate(
            (_rotated(inverse, moving - cross(origin, turning)), _rotated(inverse, turning)), axis=-1
        )
        if self.links is not self.model.links:
            result = result[..., self._chosen, :]
        result.setflags(write=False)
        return result

    @cached_property
    def loops(self) -> ClosedLoops | None:
        """The closed loops of the robot; None if it has no constraints.

        Raises:
            LoopError: the passive joints of the robot do not follow from its other joints.
        """
        if not self.model.constraints:
            return None
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loops import ClosedLoops

        return ClosedLoops.of(self.model)

    @cached_property
    def solvable_loops(self) -> ClosedLoops | None:
        """The closed loops of the robot; None without loops, or if the passive joints do not follow from the others."""
        from robot_semantics.kinematics.loop_freedom import LoopError

        try:
            return self.loops
        except LoopError:
            return None

    @cached_property
    def measured(self) -> ForwardKinematics:
        """The kinematics of all links with the own position of every mimic joint, for measured positions."""
        return ForwardKinematics(self.model, follow_mimics=False)

    @cached_property
    def _whole(self) -> ForwardKinematics:
        """The forward kinematics of all links."""
        if self.links is self.model.links:
            return self
        return ForwardKinematics(self.model, follow_mimics=self._follows)

    @cached_property
    def _sweep(self) -> Sweep:
        """The steps for many configurations."""
        return Sweep(self.model, self._chosen.tolist(), self.space)

    def _few(self, q: FloatArray) -> FloatArray:
        """Return (..., n_links, 4, 4) poses by doubling the length of all products: the fewest numpy calls."""
        poses = np.array(self._local.matrices(q))
        poses[..., 0, :, :] = np.eye(4)
        for links, above in self._doublings:
            poses[..., links, :, :] = poses[..., above, :, :] @ poses[..., links, :, :]
        if self.links is not self.model.links:
            poses = poses[..., self._chosen, :, :]
        poses.setflags(write=False)
        return poses


@lru_cache(maxsize=32)
def kinematics_of(model: RobotModel) -> ForwardKinematics:
    """Return the kinematics of all links of a robot: one object, so that it prepares its loops and steps only once."""
    return ForwardKinematics(model)


def _rotated(R: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return (..., 3) `vectors` rotated by (..., 3, 3) matrices."""
    result: FloatArray = R[..., 0] * vectors[..., :1]
    result += R[..., 1] * vectors[..., 1:2]
    result += R[..., 2] * vectors[..., 2:]
    return result


def _number_by_number(array: FloatArray) -> FloatArray:
    """Return `array` (..., n, k) in the memory order of large batches of poses."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, (-2, -1), (0, 1))), (0, 1), (-2, -1))
