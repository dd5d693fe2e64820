# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops of a robot at run time: the joints without a motor follow from the others after every message."""

from __future__ import annotations

import numpy as np

from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.kinematics.loop_tracker import LoopTracker
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.joint_buffer import JointBuffer
from robot_semantics.transforms.arrays import BoolArray, FloatArray


class LoopCloser:
    """Closes the loops in the buffer of one robot.

    Attributes:
        is_open: True if a loop did not close after the last message; its joints keep their last closed positions.
        position_error, rotation_error: how far the loops stayed open after the last message [m], [rad].
        differences: largest difference of each measured passive joint from its closed position [rad or m], since the
            last call of `take_differences`.
    """

    def __init__(self, loops: ClosedLoops, buffer: JointBuffer) -> None:
        self._loops, self._buffer = loops, buffer
        self._tracker = LoopTracker(loops)
        moving, mimics = buffer.moving, loops.space.mimics
        solved = {name: buffer.space.joint_positions[name] for name in loops.dependent}
        self._solved = {moving.number[name]: where for name, where in solved.items()}
        # The followers of the joints of a loop also move with it.
        positions = np.concatenate([linkage.positions for linkage in loops.linkages])
        self._positions = np.flatnonzero(np.isin(mimics.source, positions))
        self._dependent = np.zeros(len(moving), np.bool_)
        solved_at = np.concatenate([np.arange(where.start, where.stop) for where in solved.values()])
        self._dependent[moving.of_variable[np.isin(mimics.source, solved_at)]] = True
        self._joints = np.zeros(len(moving), np.bool_)
        self._joints[moving.of_variable[self._positions]] = True
        self._driven = np.flatnonzero(self._joints & ~self._dependent)
        self.is_open = False
        self.position_error = self.rotation_error = 0.0
        self.differences: dict[str, float] = {}
        self._velocities_are_old = False

    @classmethod
    def of(cls, model: RobotModel, buffer: JointBuffer, notices: list[str]) -> LoopCloser | None:
        """Return the closer of a robot; None without loops, or with a notice if its passive joints do not fit."""
        if not model.constraints:
            return None
        try:
            loops = ClosedLoops.of(model)
        except LoopError as error:
            notices.append(f"loops stay open: {error}")
            return None
        return None if loops is None else cls(loops, buffer)

    def update(self, joints: BoolArray, *, anew: bool = False) -> BoolArray:
        """Close the loops after new values of some `joints` (m,); return the joints with new positions.

        With `anew`, as after a restore, the positions of the dependent joints choose the branch.
        """
        buffer = self._buffer
        if anew:
            self._tracker.q = None
        if not (joints & self._joints).any() or not buffer.known[self._driven].all():
            return joints
        measured = np.array(buffer.positions)
        found = self._tracker.update(measured)
        self.is_open = not found.closed
        self.position_error, self.rotation_error = found.position_error, found.rotation_error
        if self._tracker.q is None:
            return joints
        at = self._positions
        buffer.positions[at] = found.q[at]
        for number, where in self._solved.items():
            if joints[number]:
                self._note_difference(number, measured[where], found.q[where])
        buffer.follow_driven(np.flatnonzero(self._dependent), self._driven)
        self._velocities_are_old = True
        return joints | self._joints

    def refresh_velocities(self) -> None:
        """Compute the velocities of the dependent joints, which are not needed for TF."""
        if not self._velocities_are_old:
            return
        self._velocities_are_old = False
        buffer = self._buffer
        rates = np.array(buffer.velocities)
        dependent = self._dependent[buffer.moving.of_velocity]
        inputs = self._joints[buffer.moving.of_velocity] & ~dependent
        known = bool(np.isfinite(rates[inputs]).all())
        solved, determined = self._loops.velocities(buffer.positions, np.nan_to_num(rates))
        buffer.velocities[dependent] = np.where(determined & known, solved, np.nan)[dependent]

    def take_differences(self) -> dict[str, float]:
        """Return `differences` and start again."""
        taken, self.differences = self.differences, {}
        return taken

    def _note_difference(self, number: int, measured: FloatArray, closed: FloatArray) -> None:
        joint = self._buffer.moving.joints[number]
        difference = joint.motion.difference(measured.tolist(), closed.tolist())
        self.differences[joint.name] = max(difference, self.differences.get(joint.name, 0.0))
