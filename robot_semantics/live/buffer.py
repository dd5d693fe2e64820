# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The newest values of one robot's joints, with their times; a joint without a value has its default position."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.kinematics.loops import ClosedLoops, LoopTracker
from robot_semantics.kinematics.named_states import with_state
from robot_semantics.live.joint_state import IndexArray, InputPlan, MessageJointValues, MovingJoints
from robot_semantics.live.order import NEVER_NS
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import wrapped_angles
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

_LATEST_NS = int(np.iinfo(np.int64).max)


def default_positions(model: RobotModel, space: JointSpace, choice: str) -> FloatArray | None:
    """Return (n,) positions, or None for the choice `none`, which leaves such joints unpublished.

    `zero` is zero or the middle of bounds that exclude it, `mid` the middle of the usable range of joints with limits,
    ``GROUP/STATE`` a named state over zero.

    Raises:
        UnknownNameError: the SRDF does not have the group or the state.

    """
    if choice == "none":
        return None
    positions = np.array(space.neutral(), np.float64)
    if choice == "mid":
        for joint in model.joints:
            if joint.motion.limited:
                positions[space.positions_of(joint)] = sum(model.usable_range(joint)) / 2.0
    elif choice != "zero":
        state = model.semantics.state_from_path(choice)
        return with_state(space, state.group, state.name)
    return np.asarray(space.with_mimics(positions), np.float64)


class FollowedJoints(NamedTuple):
    """Indices of the joints that follow from others in closed loops.

    Attributes:
        joints: numbers of the moving joints that follow.
        variables: indices of their positions.
        velocities: indices of their velocities.
        driven: numbers of the moving joints that they follow.
        driven_variables: indices of the positions of these.
    """

    joints: IndexArray
    variables: IndexArray
    velocities: IndexArray
    driven: IndexArray
    driven_variables: IndexArray


class JointBuffer:
    """Positions, velocities and efforts in the order of `JointSpace`; unknown velocities and efforts are NaN.

    Attributes:
        positions: (n,) [rad, m, quaternion x y z w]; defaults where a joint is not `measured`.
        velocities: (nv,) [rad/s, m/s].
        efforts: (nv,) [N m, N].
        received_ns: (m,) when each moving joint's newest values arrived, on the monotonic clock; `NEVER_NS` if never.
        measured: (m,) bool, moving joints whose position variables all came from a message, a restore or a parameter.
        known: (m,) bool, moving joints that can be published: the measured ones, those measured before a reset of the
            clock, and all with default positions.
        newest_ns: no message with this stamp or a later one is late for any joint.
    """

    def __init__(
        self,
        model: RobotModel,
        space: JointSpace,
        moving: MovingJoints,
        defaults: FloatArray | None,
        *,
        ordered: bool = True,
    ) -> None:
        """Without `ordered` no value is late."""
        self.model, self.space, self.moving = model, space, moving
        self.positions = np.array(space.neutral() if defaults is None else defaults, np.float64)
        self.velocities = np.full(space.velocity_size, np.nan)
        self.efforts = np.full(space.velocity_size, np.nan)
        self.received_ns = np.full(len(moving), NEVER_NS, np.int64)
        self.measured = np.zeros(len(moving), np.bool_)
        self.known = np.full(len(moving), defaults is not None)
        self.newest_ns = NEVER_NS
        self._ordered = ordered
        self._stamps_ns = np.full(space.size, NEVER_NS, np.int64)
        self._late_before_ns = np.full(space.size, NEVER_NS, np.int64)

    @property
    def stamps_ns(self) -> IntArray:
        """(m,) time of the oldest value of each moving joint; `NEVER_NS` if the joint is not `measured`."""
        stamps = np.full(len(self.moving), np.iinfo(np.int64).max)
        np.minimum.at(stamps, self.moving.of_variable, self._stamps_ns)
        return stamps

    @property
    def newest_stamp_ns(self) -> int:
        """Newest time of any value; `NEVER_NS` if there is none."""
        return int(self._stamps_ns.max(initial=NEVER_NS))

    def put_joint_state(self, plan: InputPlan, values: MessageJointValues, stamp_ns: int) -> BoolArray | None:
        """Store the values of one message.

        Returns:
            (m,) the moving joints with new values; a joint that has a newer value is not among them. None if all got
            new values.

        """
        target, followers, joints = plan.target, plan.followers, plan.joints
        source, rates, rate_source = plan.source, plan.velocity_target, plan.velocity_source
        following = plan.velocity_followers
        if self._ordered and stamp_ns < self.newest_ns:
            fresh = self._late_before_ns <= stamp_ns
            if not (fresh[target].any() or fresh[followers.target].any()):
                return None
            entries = np.zeros(len(plan.names), np.bool_)
            entries[source] = fresh[target]
            rates, rate_source = rates[entries[rate_source]], rate_source[entries[rate_source]]
            target, source = target[fresh[target]], source[fresh[target]]
            followers = followers.chosen(fresh[followers.target])
            joints = np.zeros(len(self.moving), np.bool_)
            joints[self.moving.of_variable[np.concatenate([target, followers.target])]] = True
            following = following.chosen(joints[self.moving.of_velocity[following.target]])
            plan = plan._replace(straight=None)
        row, q = values.position[0], self.positions
        q[target if plan.straight is None else plan.straight] = row[source] if plan.straight is None else row
        if len(followers.target):
            # The leader's value of this message, which is the newest one unless the message is late for the leader.
            q[followers.target] = followers.factor * q[followers.source] + followers.offset
        for part, kept_values in ((values.velocity, self.velocities), (values.effort, self.efforts)):
            kept_values[rates] = part[0][rate_source] if part.shape[1] else np.nan
        if len(following.target):
            self.velocities[following.target] = following.factor * self.velocities[following.source]
            self.efforts[following.target] = np.nan
        for variables in (target, followers.target):
            self._stamps_ns[variables] = self._late_before_ns[variables] = stamp_ns
        self.newest_ns = max(self.newest_ns, stamp_ns)
        self.received_ns[joints] = time.monotonic_ns()
        self._refresh_measured()
        return joints

    def put_joint(
        self,
        joint: str,
        positions: FloatArray,
        velocities: FloatArray | None,
        efforts: FloatArray | None,
        stamp_ns: int,
    ) -> None:
        """Store all variables of one joint; velocities and efforts that are None become unknown."""
        at = self.space.joint_positions[joint]
        self.positions[at] = positions
        at_velocity = self.space.joint_velocities[joint]
        self.velocities[at_velocity] = np.nan if velocities is None else velocities
        self.efforts[at_velocity] = np.nan if efforts is None else efforts
        self._stamps_ns[at] = self._late_before_ns[at] = stamp_ns
        self.newest_ns = max(self.newest_ns, stamp_ns)
        self.received_ns[self.moving.number[joint]] = time.monotonic_ns()
        self._refresh_measured()

    def copy_measured(self, other: JointBuffer, joints: Collection[str]) -> None:
        """Copy the measured values of `joints`, which both robots have, and the times of these values.

        A mimic joint with another rule than in the other robot follows its leader, if the leader has a value.
        """
        self.newest_ns = max(self.newest_ns, other.newest_ns)
        for name in joints:
            at, other_at = self.space.joint_positions[name], other.space.joint_positions[name]
            chosen = other._stamps_ns[other_at] != NEVER_NS
            for own, others in (
                (self.positions, other.positions),
                (self._stamps_ns, other._stamps_ns),
                (self._late_before_ns, other._late_before_ns),
            ):
                own[at][chosen] = others[other_at][chosen]
            rates, other_rates = self.space.joint_velocities[name], other.space.joint_velocities[name]
            self.velocities[rates], self.efforts[rates] = other.velocities[other_rates], other.efforts[other_rates]
            # A change of settings or of the description is not a message.
            self.received_ns[self.moving.number[name]] = other.received_ns[other.moving.number[name]]
        self._refresh_measured()
        rules = {joint.name: joint.mimic for joint in other.moving.followers}
        stamps_ns = self.stamps_ns
        for follower in self.moving.followers:
            rule = follower.mimic
            leader_ns = NEVER_NS if rule is None else stamps_ns[self.moving.number[rule.joint]]
            if leader_ns != NEVER_NS and rule != rules.get(follower.name):
                self.put_follower(follower, int(leader_ns))

    def put_follower(self, joint: JointModel, stamp_ns: int) -> None:
        """Set a mimic joint from its leader; its velocity is unknown if the leader's is."""
        positions, velocities = self.space.mimics.followed(self.positions), self.velocities
        velocities = self.space.velocity_mimics.followed(velocities)
        where, rates = self.space.positions_of(joint), self.space.velocities_of(joint)
        self.put_joint(joint.name, positions[where], velocities[rates], None, stamp_ns)

    def follow_driven(self, followed: FollowedJoints) -> None:
        """Give the joints that follow from others in closed loops the times of the oldest of these."""
        self._stamps_ns[followed.variables] = self._stamps_ns[followed.driven_variables].min(initial=_LATEST_NS)
        self.received_ns[followed.joints] = self.received_ns[followed.driven].min(initial=_LATEST_NS)
        self.efforts[followed.velocities] = np.nan
        self._refresh_measured()

    def restore(
        self,
        positions: FloatArray,
        velocities: FloatArray,
        positions_of: Collection[str],
        velocities_of: Collection[str],
        stamp_ns: int,
    ) -> None:
        """Store (n,) positions and (nv,) velocities of the named joints; the others do not change.

        A joint without a new velocity keeps its velocity. The effort of a joint with a new position becomes unknown.
        """
        for number, name in enumerate(self.moving.names):
            if name not in positions_of and name not in velocities_of:
                continue
            at, rates = self.space.joint_positions[name], self.space.joint_velocities[name]
            if name in positions_of:
                self.positions[at] = positions[at]
                self._stamps_ns[at] = stamp_ns
            if name in velocities_of:
                self.velocities[rates] = velocities[rates]
            self.efforts[rates] = np.nan
            self.received_ns[number] = time.monotonic_ns()
        self._refresh_measured()

    def accept_any_stamp(self) -> None:
        """Accept any next stamp of any joint; the values stay measured."""
        self._late_before_ns[:] = NEVER_NS
        self.newest_ns = NEVER_NS

    def forget_measured(self) -> None:
        """Make all values unknown, after a reset of the clock; on TF the joints stay where they are."""
        self.accept_any_stamp()
        self._stamps_ns[:] = NEVER_NS
        self.velocities[:], self.efforts[:] = np.nan, np.nan
        self.measured[:] = False

    def _refresh_measured(self) -> None:
        if not self.measured.all():
            self.measured[:] = self.stamps_ns != NEVER_NS
            self.known |= self.measured


# Closed loops of a robot at run time: the joints without a motor follow from the others after every message.


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
