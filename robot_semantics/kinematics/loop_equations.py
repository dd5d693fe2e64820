# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Equations of loop constraints and their derivatives, for any number of configurations.

Each constraint has a frame A on its parent link and a frame B on its child link. Both frames are rotated so that their
x axis is the constraint's axis. The error of a constraint has six numbers in the axes of A: the position of B [m] and a
rotation vector [rad]. Its type selects the numbers that must be zero.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms, doublings
from robot_semantics.kinematics.motions import SUBSPACE, composed, crossed, products, times_constant, turns
from robot_semantics.model.joint_types import LIMIT_TOLERANCE
from robot_semantics.model.robot_model import ConstraintType, LoopConstraint, RobotModel
from robot_semantics.transforms import (
    quat_from_matrix,
    quat_from_rotvec,
    quat_multiply,
    rotation_from_z,
    rotvec_from_quat,
    wrapped_angles,
)
from robot_semantics.transforms.arrays import BoolArray, FloatArray

IndexArray = npt.NDArray[np.intp]

RANK_TOLERANCE = 1e-4
"""Smallest singular value that counts, in parts of the largest; descriptions have angles such as 1.5708."""
SAMPLES = 8
"""Number of random configurations that show which equations depend on the joints."""

_ROWS = {
    ConstraintType.REVOLUTE: (0, 1, 2, 4, 5),
    ConstraintType.PRISMATIC: (1, 2, 3, 4, 5),
    ConstraintType.UNIVERSAL: (0, 1, 2, 3),
    ConstraintType.SPHERICAL: (0, 1, 2),
    ConstraintType.LINK: (0, 1, 2, 3, 4, 5),
}
"""The numbers of the error that are zero in a closed loop.

Number 3 of a universal joint is the difference of its axes' angle from a right angle.
"""


def shape_keys(model: RobotModel) -> tuple[list[bytes], list[bytes]]:
    """Return two keys of each link that do not depend on names and order: of the way from the root link, and of both
    the way and what the link carries.

    Decisions between branches of a loop use them, so that names and the order of elements never decide.
    """
    joints, links = model.joints, model.links
    # Adding 0.0 makes -0.0 and 0.0 equal.
    own_keys = [
        _digest(
            joint.type.value.encode(),
            (joint.T_parent_joint + 0.0).tobytes(),
            (joint.axis + 0.0).tobytes(),
            repr((joint.limits.bounds, joint.passive)).encode(),
        )
        for joint in joints
    ]
    ends: dict[str, list[bytes]] = {}
    for constraint in model.constraints:
        for name, frame in zip(
            (constraint.parent_link, constraint.child_link), constraint_frames(constraint), strict=True
        ):
            ends.setdefault(name, []).append(_digest(constraint.type.value.encode(), (frame + 0.0).tobytes()))
    above, below = [b""] * len(links), [b""] * len(links)
    for link in links:
        above[link.index] = _digest(above[link.parent] if link.parent >= 0 else b"", own_keys[link.index])
    for link in reversed(links):
        carried = sorted((*(below[child] for child in link.children), *ends.get(link.name, ())))
        below[link.index] = _digest(own_keys[link.index], *carried)
    return above, [up + down for up, down in zip(above, below, strict=True)]


class _Cut(NamedTuple):
    """A constraint whose ends are in the order of the robot's shape, not as they are written."""

    key: tuple[tuple[bytes, bytes], tuple[bytes, bytes]]
    constraint: LoopConstraint
    ends: tuple[int, int]
    frames: tuple[FloatArray, FloatArray]
    is_turned: bool

    @classmethod
    def of(cls, model: RobotModel, constraint: LoopConstraint, above: Sequence[bytes]) -> _Cut:
        """Return a constraint; `above` has the key of the way to each link."""
        links = model.link_index[constraint.parent_link], model.link_index[constraint.child_link]
        frames = constraint_frames(constraint)
        keys = [(above[link], (frame + 0.0).tobytes()) for link, frame in zip(links, frames, strict=True)]
        if keys[0] <= keys[1]:
            return cls((keys[0], keys[1]), constraint, links, frames, False)
        return cls((keys[1], keys[0]), constraint, links[::-1], frames[::-1], True)


def _numbers(where: slice) -> range:
    return range(where.start, where.stop)


def _digest(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"".join(parts), digest_size=16).digest()


class LoopState(NamedTuple):
    """The links of the loops in n configurations: each number is a row over all configurations.

    Attributes:
        poses: (links, 3, 4, n) poses of the links in the lowest link above all of them.
        A: (constraints, 3, 4, n) poses of the frames A there.
        B: (constraints, 3, 4, n) poses of the frames B there, with their distance from A instead of their position.
        T_a_b: (constraints, 3, 4, n) pose of each frame B in frame A.
        errors: (constraints, 6, n) errors of the constraints [m, rad].
    """

    poses: FloatArray
    A: FloatArray
    B: FloatArray
    T_a_b: FloatArray
    errors: FloatArray


class LoopEquations:
    """The equations of constraints that share joints.

    Attributes:
        variables: indices in v of the independent joint velocities that the equations depend on, in the order of the
            robot's shape.
        local: the transforms of the joints that are below the lowest link above all constraints.
        key_of: sort key of each velocity, by the shape of the robot (`shape_keys`).
        parents: for this link and for the child link of each of these joints, the number of its parent link among them.
        rows: (rows, 6 constraints) combinations of errors that the joints can change, without a unit.
        length: size of the loops [m]; errors of position are divided by it where they are compared with angles.
    """

    def __init__(self, model: RobotModel, space: JointSpace, constraints: Sequence[LoopConstraint]) -> None:
        # Constraints, their ends, links and variables are in the order of the robot's shape. So names and the order of
        # elements change no number, not even by rounding.
        above, keys = shape_keys(model)
        ordered = sorted((_Cut.of(model, constraint, above) for constraint in constraints), key=lambda cut: cut.key)
        self.constraints = tuple(cut.constraint for cut in ordered)
        ends = [cut.ends for cut in ordered]
        self._frames_a, self._frames_b = (np.array([cut.frames[k] for cut in ordered]) for k in (0, 1))
        paths = [(model.to_root(parent), model.to_root(child)) for parent, child in ends]
        base = max(set.intersection(*(set(path) for pair in paths for path in pair)))
        below = sorted(
            {link for pair in paths for path in pair for link in path if link > base},
            key=lambda link: (len(model.to_root(link)), keys[link], link),
        )
        slot = {base: 0} | {link: k for k, link in enumerate(below, 1)}
        self.local = LocalTransforms(model, [model.joints[link].name for link in below], space=space)
        self.parents = [-1, *(slot[model.links[link].parent] for link in below)]
        self._doublings = doublings(self.parents)
        self._a = np.array([slot[parent] for parent, _ in ends])
        self._b = np.array([slot[child] for _, child in ends])
        self._prepare_rows(np.array([cut.is_turned for cut in ordered]))
        self._prepare_columns(model, space, below, slot, paths, keys)
        translations = [*self._frames_a[:, :3, 3], *self._frames_b[:, :3, 3]]
        translations += [model.joints[link].T_parent_joint[:3, 3] for link in below]
        self.length = max(float(np.abs(translations).max()), 1e-6)
        without_unit = np.tile(np.repeat((1.0 / self.length, 1.0), 3), len(self.constraints))
        self.rows = np.diag(without_unit)[self._selection.ravel() > 0.0]
        self._drop_dependent_rows(space)

    def _prepare_rows(self, is_turned: BoolArray) -> None:
        """Prepare the numbers that must be zero; `is_turned` (constraints) tells where B is the written A."""
        types = [constraint.type for constraint in self.constraints]
        slides = _which(types, ConstraintType.PRISMATIC)
        self._turned_slides = slides[is_turned[slides]]
        self._turning = _which(types, ConstraintType.REVOLUTE)
        self._crossed = _which(types, ConstraintType.UNIVERSAL)
        self._fixed = _which(types, ConstraintType.LINK, ConstraintType.PRISMATIC)
        rows = [6 * k + row for k, kind in enumerate(types) for row in _ROWS[kind]]
        self._selection = np.zeros((len(types), 6, 1))
        self._selection.flat[rows] = 1.0

    def _prepare_columns(
        self,
        model: RobotModel,
        space: JointSpace,
        below: list[int],
        slot: dict[int, int],
        paths: list[tuple[list[int], list[int]]],
        keys: list[bytes],
    ) -> None:
        """Prepare one column of the derivative for each velocity of each joint that moves A relative to B."""
        frames, origins, motions, sources, factors, signs = [], [], [], [], [], []
        for link in below:
            joint = model.joints[link]
            sign = [(link in to_child) - (link in to_parent) for to_parent, to_child in paths]
            if not joint.velocity_count or not any(sign):
                continue
            linear, angular = SUBSPACE[joint.type](joint)
            # One axis has the same direction in the child's axes; several axes are those of the joint's origin.
            single = joint.velocity_count == 1
            R = np.eye(3) if single else joint.T_parent_joint[:3, :3]
            for k, velocity in enumerate(range(*space.velocities_of(joint).indices(space.velocity_size))):
                frames.append(slot[link] if single else slot[model.links[link].parent])
                origins.append(slot[link])
                motions.append(np.stack((R @ linear[:, k], R @ angular[:, k]), axis=-1))
                sources.append(int(space.velocity_mimics.source[velocity]))
                factors.append(float(space.velocity_mimics.factor[velocity]))
                signs.append(sign)
        owners = {component: joint for joint in space.joints for component in _numbers(space.velocities_of(joint))}
        self.key_of = {component: (keys[owners[component].index], component) for component in owners}
        self.variables = np.array(sorted(set(sources), key=self.key_of.__getitem__), dtype=np.intp)
        self._drawn = [
            component
            for source in self.variables.tolist()
            for component in _numbers(space.positions_of(owners[source]))
        ]
        self._column_frames, self._column_origins = np.array(frames, np.intp), np.array(origins, np.intp)
        self._motions = np.array(motions).reshape(-1, 3, 2)
        by_constraint = np.array(signs, dtype=np.float64).reshape(-1, len(self.constraints)).T
        self._signs = by_constraint[:, np.newaxis, :, np.newaxis]
        self._by_variable = np.zeros((len(sources), len(self.variables)))
        column = {component: k for k, component in enumerate(self.variables.tolist())}
        self._by_variable[np.arange(len(sources)), [column[source] for source in sources]] = factors

    def _drop_dependent_rows(self, space: JointSpace) -> None:
        """Keep only combinations of rows that the joints can change: of a planar loop, those in its plane.

        The others are constant; `residuals` includes them.
        """
        q, at = np.tile(space.neutral(), (SAMPLES, 1)), np.array(list(dict.fromkeys(self._drawn)), np.intp)
        q[:, at] = space.random_some(np.random.default_rng(0), at, SAMPLES)
        some = self.state(space.mimics.followed(q))
        J = np.moveaxis(self.derivative(some), 0, 1).reshape(len(self.rows), -1)
        U, values, _ = np.linalg.svd(J, full_matrices=False)
        self.rows = U[:, values > RANK_TOLERANCE * values.max(initial=0.0)].T @ self.rows

    def state(self, q: FloatArray) -> LoopState:
        """Return the links' poses and the errors at `q` (n, size)."""
        poses = np.empty((len(self.parents), 3, 4, len(q)))
        poses[0] = np.eye(3, 4)[..., np.newaxis]
        poses[1:] = self.local.numbers(q)
        for links, above in self._doublings:
            poses[links] = composed(poses[above], poses[links])
        A, B = self._pins(poses)
        B[:, :, 3] -= A[:, :, 3]
        T_a_b = products(A[:, :, :3].transpose(0, 2, 1, 3), B)
        errors = np.zeros((len(T_a_b), 6, len(q)))
        errors[:, :3] = T_a_b[:, :, 3]
        if self._turning.size:
            errors[self._turning, 4:] = _axis_errors(T_a_b[self._turning, :, 0])
        if self._crossed.size:
            errors[self._crossed, 3] = np.arcsin(np.clip(T_a_b[self._crossed, 0, 0], -1.0, 1.0))
        if self._fixed.size:
            R = np.moveaxis(T_a_b[self._fixed, :, :3], -1, 0)
            errors[self._fixed, 3:] = np.moveaxis(rotvec_from_quat(quat_from_matrix(R)), 0, -1)
        return LoopState(poses, A, B, T_a_b, errors)

    def _pins(self, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (constraints, 3, 4, n) the frames A and B for (links, 3, 4, n) poses."""
        return times_constant(poses[self._a], self._frames_a), times_constant(poses[self._b], self._frames_b)

    def origins(self, q: FloatArray) -> FloatArray:
        """Return (n, points, 3) the origins of the links and of the frames A and B at `q` (n, size) [m]."""
        poses = self.state(q).poses
        return np.moveaxis(np.concatenate((poses, *self._pins(poses)))[:, :, 3], -1, 0)

    @property
    def ends(self) -> list[tuple[int, FloatArray, int, FloatArray]]:
        """For each constraint the number of its parent link, A in this link, the number of its child link, and B."""
        return list(zip(self._a.tolist(), self._frames_a, self._b.tolist(), self._frames_b, strict=True))

    def scaled_errors(self, state: LoopState) -> FloatArray:
        """Return (n, rows) the errors without a unit, only those that the joints can change."""
        scaled: FloatArray = (self.rows @ state.errors.reshape(self.rows.shape[1], -1)).T
        return scaled

    def derivative(self, state: LoopState) -> FloatArray:
        """Return (n, rows, variables) the derivative of `scaled_errors` by the independent joint velocities.

        It is exact where the errors are zero.
        """
        # (3, 1, columns, n) velocities in the axes of the lowest link, where the joint is.
        lines = times_constant(state.poses[self._column_frames, :, :3], self._motions)
        linear, angular = lines.transpose(2, 1, 0, 3)[:, :, np.newaxis]
        origins = state.poses[self._column_origins, :, 3].transpose(1, 0, 2)[:, np.newaxis]
        xyz_b = (state.A[:, :, 3] + state.B[:, :, 3]).transpose(1, 0, 2)[:, :, np.newaxis]
        # (3, constraints, columns, n) at the origin of B.
        at_b = linear + crossed(origins - xyz_b, angular)
        # The same in the axes of A, below each other.
        R = state.A[:, :, :3].transpose(0, 2, 1, 3)
        J = np.concatenate([products(R, part.transpose(1, 0, 2, 3)) for part in (at_b, angular)], axis=1)
        J *= self._signs
        if self._crossed.size:
            b = state.T_a_b[self._crossed, :, 0, np.newaxis]
            turned = J[self._crossed]
            J[self._crossed, 3] = b[:, 2] * turned[:, 4] - b[:, 1] * turned[:, 5]
        scaled = self.rows @ J.reshape(self.rows.shape[1], -1)
        by_variable: FloatArray = (self._by_variable.T @ scaled.reshape(len(scaled), *J.shape[2:])).transpose(2, 0, 1)
        return by_variable

    def residuals(self, state: LoopState) -> tuple[FloatArray, FloatArray]:
        """Return the largest distance (n,) [m] and the largest angle (n,) [rad] by which a constraint is open."""
        errors = state.errors * self._selection
        if self._turned_slides.size:
            # The line of a slide is the axis in the frame A as it is written, which is B here.
            T = state.T_a_b[self._turned_slides]
            # Only the lengths of its parts are used, so the sign has no meaning.
            offset = products(np.swapaxes(T[:, :, :3], 1, 2), T[:, :, 3:])
            errors[self._turned_slides, :3] = offset[:, :, 0] * self._selection[self._turned_slides, :3]
        norms = np.linalg.norm(errors.reshape(len(errors), 2, 3, -1), axis=2)
        position, rotation = norms.max(axis=0, initial=0.0)
        return position, rotation


def constraint_frames(constraint: LoopConstraint) -> tuple[FloatArray, FloatArray]:
    """Return (4, 4) the frames A and B, with the constraint's axis as their x axis."""
    other = constraint.child_axis if constraint.type is ConstraintType.UNIVERSAL else constraint.parent_axis
    frames = []
    for frame, axis in ((constraint.T_parent_frame, constraint.parent_axis), (constraint.T_child_frame, other)):
        turned = np.array(frame)
        if constraint.type not in (ConstraintType.SPHERICAL, ConstraintType.LINK):
            turned[:3, :3] = frame[:3, :3] @ rotation_from_z(axis)[:, [2, 0, 1]]
        frames.append(turned)
    return frames[0], frames[1]


def _which(types: list[ConstraintType], *wanted: ConstraintType) -> IndexArray:
    return np.array([k for k, kind in enumerate(types) if kind in wanted], dtype=np.intp)


def _axis_errors(b: FloatArray) -> FloatArray:
    """Return (k, 2, n) the y and z component of the rotation vectors from the x axis to `b` (k, 3, n)."""
    sine = np.hypot(b[:, 1], b[:, 2])
    angle = np.arctan2(sine, b[:, 0])
    # Opposite axes have no direction of their own: any rotation by half a turn about y or z will do.
    safe = np.where(sine > 0.0, sine, 1.0)
    y = np.where(sine > 0.0, -b[:, 2] * (angle / safe), angle)
    return np.stack((y, b[:, 1] * (angle / safe)), axis=1)


# Newton's method for one linkage: constraints that share joints, closed by some of these joints.


CLOSED = 1e-4
"""Largest residual of a closed loop [m, rad]: numbers in descriptions are rounded. Newton itself reaches 1e-13."""
ITERATIONS = 60
FAR = 0.5
"""Largest correction of a predicted position [rad, m]; a larger one may lead to another branch."""
FLOOR = 1e-13
_SMALL_STEP = 1e-12
_STALLED = 0.999
"""Part of the error that remains after a damped step that hardly helps."""
_SINGULAR = 1e-8
_STEEP = 1e4
"""Largest dependent velocity per driven velocity that helps a prediction."""


class LoopGap(NamedTuple):
    """Largest distance [m] and largest angle [rad] by which loops stay open, as all reports show them."""

    position: float
    rotation: float

    def __str__(self) -> str:
        return f"{self.position:.3g} m and {self.rotation:.3g} rad"


class LoopSolution(NamedTuple):
    """Configurations with closed loops.

    Attributes:
        q: (..., size) joint positions; the joints of a loop that does not close have the positions of the start.
        closed: (...) True if all loops close.
        position_error: (...) largest distance by which a loop stays open at the best positions found [m].
        rotation_error: (...) largest angle by which a loop stays open [rad].
        iterations: largest number of Newton steps after the last prediction.
    """

    q: FloatArray
    closed: BoolArray
    position_error: FloatArray
    rotation_error: FloatArray
    iterations: int

    @classmethod
    def start(cls, q: FloatArray) -> LoopSolution:
        """Return (n, size) positions without any loop yet."""
        return cls(np.array(q), np.ones(len(q), np.bool_), np.zeros(len(q)), np.zeros(len(q)), 0)

    @property
    def gap(self) -> LoopGap:
        """How far the loops of all configurations stay open at most; 0 for no configuration."""
        return LoopGap(float(np.max(self.position_error, initial=0.0)), float(np.max(self.rotation_error, initial=0.0)))

    def rows(self, at: IndexArray) -> LoopSolution:
        """Return the solutions of some of n configurations."""
        return LoopSolution(
            self.q[at], self.closed[at], self.position_error[at], self.rotation_error[at], self.iterations
        )

    def put(self, at: IndexArray | list[int] | slice, found: LoopSolution) -> None:
        """Overwrite the solutions of some of n configurations."""
        for mine, new in zip(self[:4], found[:4], strict=True):
            mine[at] = new


class Linkage:
    """Constraints that share joints, and the joints that close them.

    Attributes:
        equations: the equations of its constraints.
        dependent: indices in v of the velocities that follow from the others.
        driven: indices in v of the other velocities in its equations.
        places, driven_places: indices in q of the positions of both, without quaternions.
        ordered_places, ordered_driven_places: the same in the order of `dependent` and `driven`.
        solved: indices in q of all positions of the dependent joints.
        positions: indices in q of all positions of both.
    """

    def __init__(self, space: JointSpace, equations: LoopEquations, dependent: Collection[int]) -> None:
        self.equations = equations
        chosen = np.isin(equations.variables, sorted(dependent))
        self.dependent: IndexArray = equations.variables[chosen]
        self.driven: IndexArray = equations.variables[~chosen]
        self._columns, self._driven_columns = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        self.ordered_places, steps, self._quaternions = _positions(space, self.dependent)
        self.ordered_driven_places, driven_steps, driven_quaternions = _positions(space, self.driven)
        order, driven_order = np.argsort(self.ordered_places), np.argsort(self.ordered_driven_places)
        self.places, self._steps = self.ordered_places[order], steps[order]
        self.driven_places, self._driven_steps = self.ordered_driven_places[driven_order], driven_steps[driven_order]
        rotations = [place for place, _ in self._quaternions]
        self.solved = np.concatenate((self.ordered_places, *rotations)).astype(np.intp)
        rotations = [place for place, _ in driven_quaternions]
        given = np.concatenate((self.driven_places, *rotations)).astype(np.intp)
        self.positions: IndexArray = np.concatenate((self.solved, given))
        self._space = space
        self._driven_wraps = _wrapping(space)[self.driven_places]
        self._lower, self._upper, is_angle = _limits(space)
        low, high = space.sampling_range
        self._usable = (
            np.where(np.isfinite(self._lower), low, self._lower),
            np.where(np.isfinite(self._upper), high, self._upper),
        )
        self._angles = self.places[is_angle[self.places]]

    def newton(self, q: FloatArray, most: int = ITERATIONS, enough: float = FLOOR) -> LoopSolution:
        """Close the loops from (n, size) start positions; steps that do not help are damped.

        `most` is the number of steps, `enough` the error without a unit at which a row is closed.
        """
        q, equations = np.array(q), self.equations
        state = equations.state(q)
        error = equations.scaled_errors(state)
        size = _length(error)
        closed = size <= enough
        done = 0
        going = np.flatnonzero(~closed) if self.dependent.size else np.zeros(0, np.intp)
        damping = np.zeros(len(q))
        while going.size and done < most:
            done += 1
            here = state if going.size == len(q) else LoopState(*(part[..., going] for part in state))
            step, _ = self._step(equations.derivative(here), error[going], damping[going])
            next_q = self.moved(q[going], step)
            next_state = equations.state(next_q)
            new_error = equations.scaled_errors(next_state)
            new_size = _length(new_error)
            better = new_size < size[going]
            closed[going] = (new_size <= enough) | (
                (np.abs(step).max(axis=-1) <= _SMALL_STEP) & (damping[going] == 0.0)
            )
            stalled = better & (damping[going] > 0.0) & (new_size > _STALLED * size[going])
            damping[going] = np.where(
                better, 0.1 * damping[going] * (damping[going] > 1e-5), np.maximum(10.0 * damping[going], 1e-4)
            )
            if going.size == len(q) and better.all():
                q, error, size, state = next_q, new_error, new_size, next_state
            else:
                at = going[better]
                q[at], error[at], size[at] = next_q[better], new_error[better], new_size[better]
                for kept, new in zip(state, next_state, strict=True):
                    kept[..., at] = new[..., better]
            going = going[~(closed[going] | stalled) & (damping[going] < 1e6)]
        position, rotation = equations.residuals(state)
        converged = closed if self.dependent.size else np.ones(len(q), np.bool_)
        fits = converged & (position <= CLOSED) & (rotation <= CLOSED)
        return LoopSolution(q, fits, position, rotation, done)

    def slopes(self, q: FloatArray) -> FloatArray:
        """Return (n, dependent, driven) the dependent velocities per driven velocity at closed (n, size) positions.

        They are 0 at a singularity.
        """
        J = self.equations.derivative(self.equations.state(q))
        slopes = self._step(J, np.zeros(J.shape[:-1]), np.zeros(len(q)))[1]
        slopes[np.abs(slopes).max(axis=(-1, -2), initial=0.0) > _STEEP] = 0.0
        return slopes

    def is_regular(self, q: FloatArray) -> BoolArray:
        """Return (n,) True where the driven velocities determine the dependent ones; False at a singularity."""
        own = self.equations.derivative(self.equations.state(q))[..., self._columns]
        values = np.linalg.svd(own, compute_uv=False)
        if values.shape[-1] < self.dependent.size:
            return np.zeros(len(q), np.bool_)
        regular: BoolArray = values[..., -1:].min(axis=-1, initial=np.inf) > _SINGULAR * values[..., :1].max(
            axis=-1, initial=0.0
        )
        return regular

    @property
    def has_quaternions(self) -> bool:
        """Return True if a dependent joint is a floating one."""
        return bool(self._quaternions)

    @cached_property
    def without_driven(self) -> Linkage:
        """The same constraints with all joints dependent."""
        return Linkage(self._space, self.equations, self.equations.variables.tolist())

    def moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """Return (n, size) positions after a step (n, dependent) of the dependent joints."""
        moved = np.array(q)
        moved[..., self.places] += step[..., self._steps]
        for place, turn in self._quaternions:
            moved[..., place] = quat_multiply(quat_from_rotvec(step[..., turn]), q[..., place])
        return moved

    def driven_motion(self, start: FloatArray, q: FloatArray) -> FloatArray:
        """Return (n, driven) the motion of the driven joints from `start` to `q` (n, size), the short way around.

        The rotation of a floating joint has the motion 0.
        """
        motion = np.zeros((len(q), self.driven.size))
        difference = (q - start)[:, self.driven_places]
        around = self._driven_wraps
        difference[:, around] = wrapped_angles(difference[:, around])
        motion[:, self._driven_steps] = difference
        return motion

    def before(self, q: FloatArray, motion: FloatArray) -> FloatArray:
        """Return `q` (n, size) before a motion (n, driven) of the driven joints."""
        earlier = np.array(q)
        earlier[:, self.driven_places] -= motion[:, self._driven_steps]
        return earlier

    def predicted(self, here: FloatArray, there: FloatArray, motion: FloatArray) -> FloatArray:
        """Return `there` (n, size) with dependent positions that continue from `here` along a driven `motion`."""
        start = np.array(there)
        start[:, self.solved] = here[:, self.solved]
        return self.moved(start, (self.slopes(here) @ motion[..., np.newaxis])[..., 0])

    def is_near(self, q: FloatArray, before: FloatArray, predicted: FloatArray, share: float) -> BoolArray:
        """Return (n,) True where `q` misses `predicted` by at most a `share` of the motion from `before` (n, size)."""
        missed = np.abs((q - predicted)[:, self.solved]).max(axis=-1, initial=0.0)
        moved = np.abs((q - before)[:, self.positions]).max(axis=-1, initial=0.0)
        return np.asarray(missed <= share * moved + 1e-9)

    def is_far(self, q: FloatArray, predicted: FloatArray) -> BoolArray:
        """Return (n,) True where a dependent position is not near the predicted one."""
        return np.asarray((np.abs(q[:, self.solved] - predicted[:, self.solved]) > FAR).any(axis=-1))

    def within_limits(self, q: FloatArray) -> BoolArray:
        """Return (...) True where the dependent joints of `q` (..., size) are within their limits."""
        at = self.places
        inside = (q[..., at] >= self._lower[at] - LIMIT_TOLERANCE) & (q[..., at] <= self._upper[at] + LIMIT_TOLERANCE)
        return np.asarray(inside.all(axis=-1))

    def in_usual_turn(self, q: FloatArray, reference: FloatArray) -> FloatArray:
        """Return `q` (n, size) without needless whole turns of the dependent joints.

        A joint with limits is brought within them, another one near `reference` (n, size).
        """
        result, angles = np.array(q), self._angles
        lower, upper = self._usable[0][angles], self._usable[1][angles]
        limited = np.isfinite(lower) & np.isfinite(upper)
        middle = np.where(
            limited, 0.5 * (np.where(limited, lower, 0.0) + np.where(limited, upper, 0.0)), reference[:, angles]
        )
        outside = ~limited | (q[:, angles] < lower) | (q[:, angles] > upper)
        turns_off = np.round((q[:, angles] - middle) / (2.0 * np.pi))
        result[:, angles] -= np.where(outside, 2.0 * np.pi * turns_off, 0.0)
        return result

    def with_random(self, q: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return `q` (n, size) with random dependent positions, which do not depend on the joints' names and order."""
        result, at = np.array(q), self.solved
        result[:, at] = self._space.random_some(rng, at, len(q))
        return result

    def split(self, J: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the columns of the dependent and of the driven velocities of `J` (..., rows, variables)."""
        return J[..., self._columns], J[..., self._driven_columns]

    def _step(self, J: FloatArray, error: FloatArray, damping: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (n, dependent) the step that removes the error, and (n, dependent, driven) the slopes."""
        own, others = self.split(J)
        right = np.concatenate((error[..., np.newaxis], others), axis=-1)
        own, right = own.transpose(1, 2, 0), -right.transpose(1, 2, 0)
        # With more joints than equations, the shortest step is a definite one.
        is_wide = own.shape[1] > own.shape[0]
        H = np.einsum("idn,jdn->ijn" if is_wide else "din,djn->ijn", own, own, order="C")
        diagonal = np.einsum("iin->in", H)
        diagonal += (1e-14 + damping) * np.maximum(diagonal.sum(axis=0) / len(H), 1e-12)
        if is_wide:
            solved = np.einsum("idn,ikn->dkn", own, _solved(H, right), order="C")
        else:
            solved = _solved(H, np.einsum("din,dkn->ikn", own, right, order="C"))
        solved = solved.transpose(2, 0, 1)
        return solved[..., 0], solved[..., 1:]


_FEW = 64
"""Number of configurations up to which LAPACK solves their equations faster than `_solved`."""


def _solved(H: FloatArray, right: FloatArray) -> FloatArray:
    """Return (d, k, n) the solutions of positive definite equations `H` (d, d, n) with right sides (d, k, n)."""
    if H.shape[-1] < _FEW:
        return np.asarray(np.linalg.solve(H.transpose(2, 0, 1), right.transpose(2, 0, 1)).transpose(1, 2, 0))
    # Eliminate in all configurations together; definite equations need no pivots.
    size = len(H)
    left = np.concatenate((H, right), axis=1)
    for k in range(size):
        left[k, k + 1 :] /= left[k, k]
        left[k + 1 :, k + 1 :] -= left[k + 1 :, k, np.newaxis] * left[k, k + 1 :]
    solved = left[:, size:]
    for k in range(size - 1, 0, -1):
        solved[:k] -= left[:k, k, np.newaxis] * solved[k]
    return solved


def _length(error: FloatArray) -> FloatArray:
    length: FloatArray = np.sqrt((error * error).sum(axis=-1))
    return length


def _positions(
    space: JointSpace, velocities: IndexArray
) -> tuple[IndexArray, IndexArray, list[tuple[IndexArray, IndexArray]]]:
    """Return the positions that change with `velocities`, their indices in these, and quaternions with theirs."""
    owners = {
        space.velocities_of(joint).start + k: joint for joint in space.joints for k in range(joint.velocity_count)
    }
    index = {int(velocity): k for k, velocity in enumerate(velocities)}
    places, steps, quaternions = [], [], []
    for variable, step in index.items():
        joint = owners[variable]
        position, part = space.positions_of(joint), variable - space.velocities_of(joint).start
        if not joint.motion.has_quaternion or part < 3:
            places.append(position.start + part)
            steps.append(step)
        if joint.motion.has_quaternion and part == 0:
            turn = [index[variable + k] for k in (3, 4, 5)]
            quaternions.append((np.arange(position.stop - 4, position.stop), np.array(turn)))
    return np.array(places, np.intp), np.array(steps, np.intp), quaternions


def _wrapping(space: JointSpace) -> BoolArray:
    """Return (size,) True for angles of which whole turns do not change the pose."""
    wraps = np.zeros(space.size, np.bool_)
    for joint in space.joints:
        wraps[space.positions_of(joint)] = joint.motion.wrapping
    return wraps


def _limits(space: JointSpace) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return (size,) hard limits, and True for angles."""
    lower, upper = np.full(space.size, -np.inf), np.full(space.size, np.inf)
    is_angle = np.zeros(space.size, np.bool_)
    for joint in space.joints:
        at = space.positions_of(joint)
        is_angle[at] = [turns(joint, k) for k in range(joint.position_count)]
        if joint.position_count == 1:
            lower[at], upper[at] = joint.limits.lower, joint.limits.upper
    return lower, upper, is_angle
