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
from robot_semantics.kinematics.loops import ClosedLoops, LoopTracker
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.joint_buffer import FollowedJoints, JointBuffer
from robot_semantics.state.joint_input import IndexArray
from robot_semantics.transforms import wrapped_angles
from robot_semantics.transforms.arrays import BoolArray, FloatArray


class LoopCloser:
    """Closes the loops in the buffer of one robot.

    Attributes:
        joints: (m,) bool, the moving joints of the loops, with their followers.
        is_open: True if a loop did not close after the last message; its joints keep their last closed positions.
        position_error, rotation_error: how far the loops stayed open after the last message [m], [rad].
    """

    def __init__(self, loops: ClosedLoops, buffer: JointBuffer) -> None:
        self._loops, self._buffer = loops, buffer
        self._tracker = LoopTracker(loops)
        moving, mimics, space = buffer.moving, loops.space.mimics, buffer.space
        solved = [space.joint_positions[name] for name in loops.dependent]
        held = [space.joint_positions[name] for name in loops.held]
        solved_at = np.concatenate([np.arange(where.start, where.stop) for where in (*solved, *held)])
        # The followers of the joints of a loop also move with it.
        positions = np.concatenate([linkage.positions for linkage in loops.linkages])
        self._positions = np.flatnonzero(np.isin(mimics.source, positions))
        self.joints: BoolArray = np.zeros(len(moving), np.bool_)
        dependent = np.zeros_like(self.joints)
        self.joints[moving.of_variable[self._positions]] = True
        dependent[moving.of_variable[np.isin(mimics.source, solved_at)]] = True
        driven = np.flatnonzero(self.joints & ~dependent)
        self._followed = FollowedJoints(
            np.flatnonzero(dependent),
            np.flatnonzero(dependent[moving.of_variable]),
            np.flatnonzero(dependent[moving.of_velocity]),
            driven,
            np.flatnonzero(np.isin(moving.of_variable, driven)),
        )
        # Measured passive joints with one variable are compared.
        self._compared = np.array([where.start for where in solved if where.stop - where.start == 1], np.intp)
        owners = [moving.joints[number] for number in moving.of_variable[self._compared]]
        self._compared_joints = moving.of_variable[self._compared]
        self._wraps = np.array([owner.motion.wraps for owner in owners], np.bool_)
        self._differences = np.full(len(owners), -1.0)
        self.is_open = False
        self._given = buffer.positions
        self.position_error = self.rotation_error = 0.0
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
        if not (joints & self.joints).any() or not buffer.known[self._followed.driven].all():
            return joints
        q = np.array(buffer.positions)
        if self.is_open and not anew:
            # The buffer has the last closed positions: driven joints without a new value keep the value out of reach.
            driven = self._followed.driven_variables
            old = driven[~joints[buffer.moving.of_variable[driven]]]
            q[old] = self._given[old]
        closed = self.closed(q, self.compared(joints))
        if self._tracker.q is None:
            return joints
        buffer.positions[self._positions] = closed[self._positions]
        buffer.follow_driven(self._followed)
        self._velocities_are_old = True
        return joints | self.joints

    def follow(self, joints: BoolArray) -> bool:
        """Return True if all loops follow from positions of the `joints` (m,), after a first closed configuration."""
        return self._tracker.q is not None and bool(joints[self._followed.driven].all())

    def compared(self, joints: BoolArray) -> IndexArray:
        """Return which passive joints a message with values of `joints` (m,) measures."""
        return np.flatnonzero(joints[self._compared_joints])

    def closed(self, q: FloatArray, compared: IndexArray) -> FloatArray:
        """Return positions `q` (size,) with closed loops, and store the differences of the `compared` passive joints.

        Where a loop does not close, its joints keep their last closed positions.
        """
        found = self._tracker.update(q)
        self.is_open = not found.closed
        if self.is_open:
            self._given = q
        self.position_error, self.rotation_error = found.position_error, found.rotation_error
        if compared.size and self._tracker.q is not None:
            at = self._compared[compared]
            off = q[at] - found.q[at]
            off = np.where(self._wraps[compared], wrapped_angles(off), off)
            self._differences[compared] = np.maximum(self._differences[compared], np.abs(off))
        return found.q

    def refresh_velocities(self) -> None:
        """Compute the velocities of the dependent joints, which are not needed for TF."""
        if not self._velocities_are_old:
            return
        self._velocities_are_old = False
        buffer = self._buffer
        rates, dependent = np.array(buffer.velocities), self._followed.velocities
        inputs = np.isin(buffer.moving.of_velocity, self._followed.driven)
        known = bool(np.isfinite(rates[inputs]).all())
        solved, determined = self._loops.velocities(buffer.positions, np.nan_to_num(rates))
        buffer.velocities[dependent] = np.where(determined & known, solved, np.nan)[dependent]

    def take_differences(self) -> dict[str, float]:
        """Return the largest difference of each measured passive joint from its closed position, since the last call.

        A joint that no message named is not among them.
        """
        names = [self._buffer.moving.names[number] for number in self._compared_joints]
        taken = {name: off for name, off in zip(names, self._differences.tolist(), strict=True) if off >= 0.0}
        self._differences[:] = -1.0
        return taken
