# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Newton's method for one linkage: constraints that share joints, closed by some of these joints."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_equations import IndexArray, LoopEquations, LoopState
from robot_semantics.kinematics.motions import turns
from robot_semantics.model.joint_limits import LIMIT_TOLERANCE
from robot_semantics.transforms import quat_from_rotvec, quat_multiply, wrapped_angles
from robot_semantics.transforms.arrays import BoolArray, FloatArray

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
        positions: indices in q of all positions of both.
    """

    def __init__(self, space: JointSpace, equations: LoopEquations, dependent: Collection[int]) -> None:
        self.equations = equations
        chosen = np.isin(equations.variables, sorted(dependent))
        self.dependent: IndexArray = equations.variables[chosen]
        self.driven: IndexArray = equations.variables[~chosen]
        self._columns, self._others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        self.places, self._steps, self._quaternions = _positions(space, self.dependent)
        self.driven_places, self._driven_steps, driven_quaternions = _positions(space, self.driven)
        self._solved = np.concatenate((self.places, *(place for place, _ in self._quaternions))).astype(np.intp)
        rotations = [place for place, _ in driven_quaternions]
        given = np.concatenate((self.driven_places, *rotations)).astype(np.intp)
        self.positions: IndexArray = np.concatenate((self._solved, given))
        self._space = space
        self._driven_wraps = _wrapping(space)[self.driven_places]
        self._lower, self._upper, is_angle = _limits(space)
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
            here = state if going.size == len(q) else LoopState(*(part[going] for part in state))
            step, _ = self._step(equations.derivative(here), error[going], damping[going])
            moved = self.moved(q[going], step)
            there = equations.state(moved)
            new_error = equations.scaled_errors(there)
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
                q, error, size, state = moved, new_error, new_size, there
            else:
                at = going[better]
                q[at], error[at], size[at] = moved[better], new_error[better], new_size[better]
                for kept, new in zip(state, there, strict=True):
                    kept[at] = new[better]
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
        start[:, self._solved] = here[:, self._solved]
        return self.moved(start, (self.slopes(here) @ motion[..., np.newaxis])[..., 0])

    def is_near(self, q: FloatArray, before: FloatArray, predicted: FloatArray, share: float) -> BoolArray:
        """Return (n,) True where `q` misses `predicted` by at most a `share` of the motion from `before` (n, size)."""
        missed = np.abs((q - predicted)[:, self._solved]).max(axis=-1, initial=0.0)
        moved = np.abs((q - before)[:, self.positions]).max(axis=-1, initial=0.0)
        return np.asarray(missed <= share * moved + 1e-9)

    def is_far(self, q: FloatArray, predicted: FloatArray) -> BoolArray:
        """Return (n,) True where a dependent position is not near the predicted one."""
        return np.asarray((np.abs(q[:, self._solved] - predicted[:, self._solved]) > FAR).any(axis=-1))

    def within_limits(self, q: FloatArray) -> BoolArray:
        """Return (...) True where the dependent joints of `q` (..., size) are within their limits."""
        at = self.places
        inside = (q[..., at] >= self._lower[at] - LIMIT_TOLERANCE) & (q[..., at] <= self._upper[at] + LIMIT_TOLERANCE)
        return np.asarray(inside.all(axis=-1))

    def in_usual_turn(self, q: FloatArray, near: FloatArray) -> FloatArray:
        """Return `q` (n, size) without needless whole turns of the dependent joints.

        A joint with limits is brought within them, another one near `near` (n, size).
        """
        result, at = np.array(q), self._angles
        lower, upper = self._lower[at], self._upper[at]
        limited = np.isfinite(lower) & np.isfinite(upper)
        middle = np.where(limited, 0.5 * (np.where(limited, lower, 0.0) + np.where(limited, upper, 0.0)), near[:, at])
        outside = ~limited | (q[:, at] < lower) | (q[:, at] > upper)
        turns_off = np.round((q[:, at] - middle) / (2.0 * np.pi))
        result[:, at] -= np.where(outside, 2.0 * np.pi * turns_off, 0.0)
        return result

    def with_random(self, q: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return `q` (n, size) with random dependent positions."""
        result, at = np.array(q), self._solved
        result[:, at] = self._space.random(rng, (len(q),))[:, at]
        return result

    def split(self, J: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the columns of the dependent and of the driven velocities of `J` (..., rows, variables)."""
        return J[..., self._columns], J[..., self._others]

    def _step(self, J: FloatArray, error: FloatArray, damping: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (n, dependent) the step that removes the error, and (n, dependent, driven) the slopes."""
        own = J[..., self._columns]
        transposed = np.swapaxes(own, -1, -2)
        H = transposed @ own
        diagonal = np.einsum("...ii->...i", H)
        diagonal += ((1e-14 + damping) * np.maximum(diagonal.mean(axis=-1), 1e-12))[:, np.newaxis]
        right = np.concatenate((error[..., np.newaxis], J[..., self._others]), axis=-1)
        solved = np.asarray(np.linalg.solve(H, transposed @ -right), np.float64)
        return solved[..., 0], solved[..., 1:]


def _length(error: FloatArray) -> FloatArray:
    length: FloatArray = np.sqrt((error * error).sum(axis=-1))
    return length


def _positions(
    space: JointSpace, velocities: IndexArray
) -> tuple[IndexArray, IndexArray, list[tuple[IndexArray, IndexArray]]]:
    """Return the positions that change with `velocities`, their indices in these, and quaternions with theirs."""
    index = {int(velocity): k for k, velocity in enumerate(velocities)}
    places, steps, quaternions = [], [], []
    for joint in space.joints:
        position, velocity = space.positions_of(joint), space.velocities_of(joint)
        plain = 3 if joint.motion.has_quaternion else joint.velocity_count
        for k in range(plain):
            if velocity.start + k in index:
                places.append(position.start + k)
                steps.append(index[velocity.start + k])
        if joint.motion.has_quaternion and velocity.start in index:
            turn = [index[velocity.start + k] for k in (3, 4, 5)]
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
