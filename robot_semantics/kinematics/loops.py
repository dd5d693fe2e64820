# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops: positions and velocities of the dependent joints from those of the driven joints.

Each linkage is closed by Newton's method. It starts from a closed configuration and follows the motion of the driven
joints, so that the solution stays on its branch: of the two ways to assemble a four-bar linkage, the present one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import quoted
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_equations import FAR, Linkage, LoopSolution
from robot_semantics.kinematics.loop_following import (
    LinkageTracker,
    TrackedLoops,
    another_branch,
    close_in_order,
    follow_loops,
    home_of,
)
from robot_semantics.kinematics.loop_freedom import LoopError, linkages
from robot_semantics.model.joint_types import LIMIT_TOLERANCE
from robot_semantics.model.robot_model import MIMIC_TOLERANCE, RobotModel
from robot_semantics.transforms.arrays import BoolArray, FloatArray

_BLOCK = 1000
"""Number of configurations that are closed together: the arrays of more do not fit into the processor's cache."""


class OpenLoopError(RobotSemanticsError):
    """Loops do not close at the given positions."""

    def __init__(self, loops: ClosedLoops, solution: LoopSolution, reason: str = "") -> None:
        super().__init__(reason or f"{loops.title} do not close at these positions: they stay open by {solution.gap}")


class ClosedLoops:
    """The loops of a robot.

    Attributes:
        space: the joint space of the positions.
        freedoms: what each linkage leaves free, one for each linkage.
        linkages: the sets of constraints that share joints.
        dependent: names of the joints that follow from the others.
        held: names of passive joints that no loop fixes; they keep their positions.
    """

    def __init__(self, model: RobotModel) -> None:
        """Prepare for a robot, also if the passive joints of a linkage have a `problem`."""
        self.space = JointSpace.of(model)
        found = tuple(linkages(model, self.space))
        self.linkages = tuple(linkage for linkage, _ in found)
        self.freedoms = tuple(freedom for _, freedom in found)
        self.dependent = tuple(name for freedom in self.freedoms for name in freedom.dependent)
        self.held = tuple(name for freedom in self.freedoms for name in freedom.held)

    @classmethod
    def of(cls, model: RobotModel) -> ClosedLoops | None:
        """Return the loops of a robot; None if it has no constraints.

        Raises:
            LoopError: the passive joints of a linkage do not follow from its other joints.
        """
        loops = cls(model) if model.constraints else None
        if loops is not None and loops.problem:
            raise LoopError(loops.freedoms)
        return loops

    @property
    def title(self) -> str:
        """The loops with the names of their constraints, as a message begins."""
        return f"the loops of {quoted([name for freedom in self.freedoms for name in freedom.constraints], 9)}"

    @property
    def problem(self) -> str:
        """Why passive joints do not follow from the others; empty if they do."""
        return "; ".join(freedom.problem for freedom in self.freedoms if freedom.problem)

    @cached_property
    def home(self) -> LoopSolution:
        """The closed configuration nearest to the default positions, (1, size): the start of all others."""
        return self._each(self.space.neutral()[np.newaxis], home_of)

    def close(
        self, q: npt.ArrayLike, start: npt.ArrayLike | None = None, *, other_branches: bool = True
    ) -> LoopSolution:
        """Return `q` (..., size) with dependent positions that close the loops.

        The solution is on the branch of `start`. Another branch is used if this branch does not close or leaves the
        limits, unless `other_branches` is off.

        Args:
            q: (..., size) joint positions [rad, m]; its dependent positions are ignored.
            start: (..., size) or (size,) closed configurations; by default `home`.
            other_branches: whether another branch may be used.

        Raises:
            ArrayError: an array has the wrong shape or is not finite.
        """
        targets = self.space.checked_positions(q)
        shape = targets.shape[:-1]
        begin = self.home.q[0] if start is None else self.space.checked_positions(start)
        begin = np.broadcast_to(begin, targets.shape).reshape(-1, self.space.size)

        def closed(first: FloatArray, linkage: Linkage, flat: FloatArray) -> LoopSolution:
            solution = follow_loops(linkage, first, flat)
            missed = np.flatnonzero(~solution.closed | ~linkage.within_limits(solution.q))
            if missed.size and other_branches:
                other = another_branch(linkage, first[missed], flat[missed], driven=False)
                better = np.flatnonzero(other.closed)
                solution.put(missed[better], other.rows(better))
            return solution

        whole = LoopSolution.start(targets.reshape(-1, self.space.size))
        for at in (slice(k, k + _BLOCK) for k in range(0, len(whole.q), _BLOCK)):
            part = self._each(whole.q[at], partial(closed, begin[at]))
            whole.put(at, part)
            whole = whole._replace(iterations=max(whole.iterations, part.iterations))
        return self._shaped(whole, shape)

    def near(self, q: npt.ArrayLike, stated: Collection[str] | None = None) -> LoopSolution:
        """Return `q` (..., size) closed from its own dependent positions, as from measured ones; else as `close`.

        Args:
            q: (..., size) joint positions [rad, m].
            stated: names of the joints whose positions choose the branch; by default all.

        Raises:
            ArrayError: `q` has the wrong shape or is not finite.
        """
        targets = self.space.checked_positions(q)
        without = [joint for joint in self.space.joints if stated is not None and joint.name not in stated]
        ignored = np.zeros(self.space.size, np.bool_)
        for joint in without:
            ignored[self.space.positions_of(joint)] = True

        def closed(linkage: Linkage, flat: FloatArray) -> LoopSolution:
            counted = linkage.solved[~ignored[linkage.solved]]

            def fine(solution: LoopSolution) -> BoolArray:
                near = (np.abs(solution.q - flat)[:, counted] <= FAR).all(axis=-1)
                return np.asarray(solution.closed & linkage.within_limits(solution.q) & near)

            solution = linkage.newton(flat)
            solution = solution._replace(closed=fine(solution))
            if counted.size < linkage.solved.size and counted.size and not solution.closed.all():
                # The start of the others is a default: another branch may be nearer to the stated ones.
                other = another_branch(linkage, flat, flat, driven=False, counted=counted)
                missed = np.flatnonzero(~solution.closed)
                solution.put(missed, other._replace(closed=fine(other)).rows(missed))
            return solution

        first = self._each(targets.reshape(-1, self.space.size), closed)
        missed = np.flatnonzero(~first.closed)
        if missed.size:
            first.put(missed, self.close(targets.reshape(-1, self.space.size)[missed]))
        return self._shaped(first, targets.shape[:-1])

    def within_limits(self, q: FloatArray) -> BoolArray:
        """Return (...) True where the dependent joints of `q` (..., size) are within their limits."""
        return np.asarray(np.logical_and.reduce([linkage.within_limits(q) for linkage in self.linkages]))

    def velocities(self, q: npt.ArrayLike, v: npt.ArrayLike) -> tuple[FloatArray, BoolArray]:
        """Return `v` (..., velocity_size) with the velocities of the dependent joints.

        Also return (..., velocity_size) False for velocities that do not follow from the driven ones at a singularity;
        these are 0.

        Args:
            q: (..., size) positions with closed loops [rad, m].
            v: (..., velocity_size) joint velocities [rad/s, m/s].

        Raises:
            ArrayError: an array has the wrong shape or is not finite.
        """
        positions, velocities = self.space.checked_positions(q), self.space.checked_velocities(v)
        shape = np.broadcast_shapes(positions.shape[:-1], velocities.shape[:-1])
        flat = np.broadcast_to(positions, (*shape, self.space.size)).reshape(-1, self.space.size)
        result = np.array(np.broadcast_to(velocities, (*shape, self.space.velocity_size)))
        is_known = np.ones(result.shape, np.bool_)
        for linkage in self.linkages:
            slope, regular = linkage.slopes(flat), linkage.is_regular(flat)
            own = (slope @ result[..., linkage.driven].reshape(len(flat), -1, 1))[..., 0]
            result[..., linkage.dependent] = np.where(regular[:, np.newaxis], own, 0.0).reshape(*shape, -1)
            is_known[..., linkage.dependent] = regular.reshape(*shape, 1)
        source = self.space.velocity_mimics.source
        return self.space.velocity_mimics.followed(result), is_known[..., source]

    def close_series(self, q: npt.ArrayLike, start: npt.ArrayLike | None = None) -> LoopSolution:
        """Return `close` of positions (n, size) in order of time, each on the branch of the one before.

        Args:
            q: (n, size) joint positions [rad, m]; the dependent positions are ignored.
            start: (size,) closed configuration before the first; by default `home`.

        Raises:
            ArrayError: an array has the wrong shape or is not finite.
        """
        wanted = np.atleast_2d(self.space.checked_positions(q))
        before = self.home.q[0] if start is None else self.space.checked_positions(start)
        solution = self._each(wanted, lambda linkage, flat: close_in_order(linkage, before[np.newaxis], flat))
        return solution._replace(q=self.space.mimics.followed(solution.q))

    def _shaped(self, found: LoopSolution, shape: tuple[int, ...]) -> LoopSolution:
        """Return a solution (n, ...) in another batch shape; mimic joints follow their leaders."""
        q = self.space.mimics.followed(found.q).reshape(*shape, self.space.size)
        position, rotation = found.position_error.reshape(shape), found.rotation_error.reshape(shape)
        return LoopSolution(q, found.closed.reshape(shape), position, rotation, found.iterations)

    def _each(self, q: FloatArray, solve: Callable[[Linkage, FloatArray], LoopSolution]) -> LoopSolution:
        """Return the result of all linkages for (n, size) positions."""
        whole = LoopSolution.start(q)
        for linkage in self.linkages:
            solution = solve(linkage, whole.q)
            whole = LoopSolution(
                solution.q,
                whole.closed & solution.closed,
                np.maximum(whole.position_error, solution.position_error),
                np.maximum(whole.rotation_error, solution.rotation_error),
                max(whole.iterations, solution.iterations),
            )
        return whole


class LoopTracker:
    """The newest closed configuration of a robot.

    Attributes:
        loops: the loops of the robot.
        q: (size,) the newest closed positions; None before the first `update` that closes.
    """

    def __init__(self, loops: ClosedLoops) -> None:
        """Begin without a configuration."""
        self.loops = loops
        self.q: FloatArray | None = None
        self._trackers = [LinkageTracker(linkage) for linkage in loops.linkages]
        self._follows = bool(loops.space.mimics.followers.size)

    def update(self, q: FloatArray) -> TrackedLoops:
        """Return finite positions `q` (size,) with closed loops, on the branch of the newest closed configuration.

        The first configuration is closed from its own dependent positions.
        """
        if self.q is None:
            first = self.loops.near(q)
            self.q = first.q if first.closed else None
            return TrackedLoops(
                first.q, bool(first.closed), float(first.position_error), float(first.rotation_error), first.iterations
            )
        closed, position, rotation, steps = True, 0.0, 0.0, 0
        now = np.array(q)
        for tracker in self._trackers:
            found = tracker.update(self.q, now)
            now = found.q
            closed &= found.closed
            position, rotation = max(position, found.position_error), max(rotation, found.rotation_error)
            steps = max(steps, found.iterations)
        self.q = self.loops.space.mimics.followed(now) if self._follows else now
        return TrackedLoops(self.q, closed, position, rotation, steps)


def close_loops(
    loops: ClosedLoops | None, q: FloatArray, given: Collection[str] = (), before: FloatArray | None = None
) -> FloatArray:
    """Return `q` (..., size) with closed loops; unchanged for a robot without loops.

    Args:
        loops: the loops of the robot.
        q: (..., size) joint positions [rad, m].
        given: names of variables that must keep their values, as the values of a user. Those of dependent joints choose
            the branch.
        before: (size,) positions before a change. The solution is on their branch; without them, or if they do not
            close, on any branch.

    Raises:
        OpenLoopError: the loops do not close, or a given value of a dependent joint differs by more than 1e-6.
    """
    if loops is None:
        return q
    space = loops.space
    chosen = [
        name
        for name in loops.dependent
        if any(part in given for part in (name, *space.model.joint(name).variable_names))
    ]
    if chosen:
        solution = loops.near(q, chosen)
    elif before is not None and (start := loops.near(before)).closed:
        solution = loops.close(q, start.q, other_branches=False)
    else:
        solution = loops.close(q)
    if not solution.closed.all():
        raise OpenLoopError(loops, solution)
    for joint in map(space.model.joint, loops.dependent):
        where = space.positions_of(joint)
        rows: FloatArray = solution.q[..., where].reshape(-1, joint.position_count)
        stated: FloatArray = np.broadcast_to(q[..., where], solution.q[..., where].shape).reshape(rows.shape)
        for closed, own in zip(rows.tolist(), stated.tolist(), strict=True):
            if joint.name in chosen and not joint.motion.difference(own, closed) <= MIMIC_TOLERANCE:
                values = " ".join(f"{value:.9g}" for value in closed)
                raise OpenLoopError(loops, solution, f"joint '{joint.name}' is passive: the loops need {values}")
            limits = joint.limits
            if len(closed) == 1 and not limits.lower - LIMIT_TOLERANCE <= closed[0] <= limits.upper + LIMIT_TOLERANCE:
                outside = f"outside its limits {limits.lower:g} to {limits.upper:g}"
                raise OpenLoopError(
                    loops, solution, f"the loops need joint '{joint.name}' at {closed[0]:.6g}, {outside}"
                )
    return solution.q
