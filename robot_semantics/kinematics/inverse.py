# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Inverse kinematics of a group by damped least squares: joint positions that bring a link to a pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import cross, quat_from_matrix, rotvec_from_quat
from robot_semantics.transforms.arrays import FloatArray, checked_array

TOLERANCE = 1e-8
"""Distance [m] and angle [rad] at which the target is reached."""
DAMPING = 1e-9
"""Remaining damping at the target."""
STALLED = 1e-12
"""Smallest relative reduction of the error in a step; below it the search restarts."""


class Solution(NamedTuple):
    """The best positions found; if the target cannot be reached, the nearest ones.

    Attributes:
        q: (..., size) joint positions within their bounds [rad, m]; positions of other joints do not change.
        position_error: (...) distance of the link's origin from its target [m].
        rotation_error: (...) angle between the link's axes and their target [rad].
    """

    q: FloatArray
    position_error: FloatArray
    rotation_error: FloatArray


class InverseKinematics:
    """Solver for the joints of one group that move one link.

    It uses the active revolute, continuous and prismatic joints; mimic joints follow their leaders.

    Attributes:
        model: the robot.
        tip: the link that is moved to the target.
        variables: names of the position variables that are solved.
    """

    def __init__(self, model: RobotModel, group: str, tip: str | None = None) -> None:
        """Prepare for a link of a group; by default the tip of a group that is a chain.

        Raises:
            UnknownNameError: the group or link does not exist, or no link is named and the group is not a chain.
            ArrayError: no joint of the group moves the link.
        """
        chosen = model.semantics.group(group)
        self.tip = chosen.tip_link if tip is None else tip
        if not self.tip:
            raise UnknownNameError("tip link", "", chosen.links, f"group '{group}', which is not a chain")
        self.model = model
        path = model.to_root(model.link(self.tip).index)[-2::-1] or [0]
        self._kinematics = ForwardKinematics(model, [model.link_names[index] for index in path])
        self.space = space = self._kinematics.space
        driven = {space.joint_positions[name].start for name in chosen.commandable_joints}
        solved: list[int] = []
        # For each column of the Jacobian: the moving link on the path, the variable, its factor, and the kind of joint.
        self._columns: list[tuple[int, int, float, bool]] = []
        self._axes: list[FloatArray] = []
        for step, index in enumerate(path):
            joint = model.joints[index]
            if joint.position_count != 1 or joint.virtual:
                continue
            first = space.positions_of(joint).start
            source = int(space.mimics.source[first])
            if source not in driven:
                continue
            if source not in solved:
                solved.append(source)
            factor = float(space.mimics.factor[first])
            self._columns.append((step, solved.index(source), factor, joint.motion.turns))
            self._axes.append(joint.axis)
        if not solved:
            raise ArrayError(f"group '{group}'", f"none of its joints moves '{self.tip}'")
        self._solved = np.array(solved)
        self.variables = tuple(space.names[step] for step in solved)

    def solve(
        self,
        T_root_tip: npt.ArrayLike,
        q: npt.ArrayLike,
        *,
        iterations: int = 100,
        restarts: int = 0,
        rng: np.random.Generator | None = None,
    ) -> Solution:
        """Return the positions that bring the link nearest to the target, searched from `q`.

        Args:
            T_root_tip: (..., 4, 4) target pose of the link in the root link's frame [m].
            q: (..., size) or (size,) start of the search [rad, m]; it is clipped to the bounds.
            iterations: largest number of steps in a search.
            restarts: largest number of new searches from random positions if the target is not reached.
            rng: source of the random positions; by default the same ones every time.

        Raises:
            ArrayError: wrong shapes, or numbers that are not finite.
        """
        wanted = np.asarray(T_root_tip, dtype=np.float64)
        if wanted.shape[-2:] != (4, 4) or not np.isfinite(wanted).all():
            raise ArrayError("T_root_tip", "must be finite numbers of shape (..., 4, 4)")
        start = checked_array("q", q, self.space.size)
        shape = wanted.shape[:-2]
        target = wanted.reshape(-1, 4, 4)
        starts = np.broadcast_to(start, (*shape, self.space.size)).reshape(-1, self.space.size)
        best = self._search(target, starts, iterations)
        draw = np.random.default_rng(0) if rng is None else rng
        for _ in range(restarts):
            missed = np.flatnonzero(np.maximum(best.position_error, best.rotation_error) > TOLERANCE)
            if not missed.size:
                break
            seeds = starts[missed].copy()
            seeds[:, self._solved] = self.space.random(draw, (missed.size,))[:, self._solved]
            again = self._search(target[missed], seeds, iterations)
            better = _total(again) < _total(best)[missed]
            for kept, found in zip(best, again, strict=True):
                kept[missed[better]] = found[better]
        return Solution(
            best.q.reshape(*shape, -1), best.position_error.reshape(shape), best.rotation_error.reshape(shape)
        )

    def _search(self, target: FloatArray, start: FloatArray, iterations: int) -> Solution:
        """Return the best result of a search from `start`; targets (n, 4, 4), positions (n, size)."""
        lower, upper = self.space.lower[self._solved], self.space.upper[self._solved]
        q = np.array(start)
        q[:, self._solved] = np.clip(q[:, self._solved], lower, upper)
        q = np.array(self.space.with_mimics(q))
        poses = self._kinematics.link_poses(q)
        error = _error(target, poses[:, -1])
        going = np.arange(len(q))
        for _ in range(iterations):
            size = np.linalg.norm(error[going], axis=1)
            going = going[size > TOLERANCE / 10.0]
            if not going.size:
                break
            step = self._step(q[going], poses[going], error[going], lower, upper)
            moved, moved_poses, moved_error = self._shortened_step(target[going], q[going], step, lower, upper)
            before, after = (np.linalg.norm(e, axis=1) for e in (error[going], moved_error))
            better = after < before * (1.0 - STALLED)
            chosen = going[better]
            q[chosen], error[chosen] = moved[better], moved_error[better]
            poses = _replaced(poses, chosen, moved_poses[better])
            going = chosen
        return Solution(q, np.linalg.norm(error[:, :3], axis=1), np.linalg.norm(error[:, 3:], axis=1))

    def _shortened_step(
        self, target: FloatArray, q: FloatArray, step: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return positions, poses and errors after the whole step or the first part of it that reduces the error."""
        before = None
        best: tuple[FloatArray, FloatArray, FloatArray] | None = None
        for part in (1.0, 0.3, 0.05):
            next_q = q.copy()
            next_q[:, self._solved] = np.clip(q[:, self._solved] + part * step, lower, upper)
            next_q = np.array(self.space.with_mimics(next_q))
            poses = self._kinematics.link_poses(next_q)
            error = _error(target, poses[:, -1])
            size = np.linalg.norm(error, axis=1)
            if best is None or before is None:
                best, before = (next_q, np.array(poses), error), size
            else:
                better = size < before
                for kept, found in zip(best, (next_q, poses, error), strict=True):
                    kept[better] = found[better]
                before = np.minimum(before, size)
        assert best is not None
        return best

    def _step(
        self, q: FloatArray, poses: FloatArray, error: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return (n, m) changes of the variables; a joint at its bound is excluded if it would move beyond."""
        J = self._jacobian(poses)
        now = q[:, self._solved]
        damping = 0.5 * (error**2).sum(axis=1) + DAMPING
        free = np.ones(now.shape, dtype=bool)
        for _ in range(2):
            Jf = J * free[:, None, :]
            H = np.swapaxes(Jf, 1, 2) @ Jf + damping[:, None, None] * np.eye(now.shape[1])
            step: FloatArray = np.linalg.solve(H, np.swapaxes(Jf, 1, 2) @ error[..., None])[..., 0]
            stuck = ((now <= lower) & (step < 0.0)) | ((now >= upper) & (step > 0.0))
            if not (stuck & free).any():
                break
            free &= ~stuck
        return step * free

    def _jacobian(self, poses: FloatArray) -> FloatArray:
        """Return the (n, 6, m) Jacobian of the tip's velocity, linear then angular in the root's axes."""
        J = np.zeros((len(poses), 6, len(self._solved)))
        tip = poses[:, -1, :3, 3]
        for (at, column, factor, turning), axis in zip(self._columns, self._axes, strict=True):
            direction = poses[:, at, :3, :3] @ axis
            if turning:
                J[:, :3, column] += factor * cross(direction, tip - poses[:, at, :3, 3])
                J[:, 3:, column] += factor * direction
            else:
                J[:, :3, column] += factor * direction
        return J


def _error(target: FloatArray, pose: FloatArray) -> FloatArray:
    """Return (n, 6) distances [m] and rotation vectors [rad] from the pose to the target, in the root's axes."""
    R = target[:, :3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2)
    turn = rotvec_from_quat(quat_from_matrix(R))
    return np.concatenate((target[:, :3, 3] - pose[:, :3, 3], turn), axis=1)


def _replaced(poses: FloatArray, rows: npt.NDArray[np.intp], new: FloatArray) -> FloatArray:
    changed = np.array(poses)
    changed[rows] = new
    return changed


def _total(found: Solution) -> FloatArray:
    return np.hypot(found.position_error, found.rotation_error)
