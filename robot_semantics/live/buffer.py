# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The newest values of one robot's joints, with their times; a joint without a value has its default position."""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace, with_state
from robot_semantics.kinematics.loop_equations import LoopGap
from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.kinematics.loops import ClosedLoops, LoopTracker
from robot_semantics.live.joint_state import IndexArray, InputPlan, MessageJointValues, MovingJoints
from robot_semantics.live.senders import NEVER_NS
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
        leads: for each of `joints`, the number of the joint whose stamp it has.
    """

    joints: IndexArray
    variables: IndexArray
    velocities: IndexArray
    driven: IndexArray
    driven_variables: IndexArray
    leads: IndexArray


class JointBuffer:
    """Positions, velocities and efforts in the order of `JointSpace`; unknown velocities and efforts are NaN.

    Attributes:
        positions: (n,) [rad, m, quaternion x y z w]; defaults where a joint is not `measured`.
        velocities: (nv,) [rad/s, m/s].
        efforts: (nv,) [N m, N].
        measured: (m,) bool, moving joints whose position variables all came from a message, a restore or a parameter.
        is_known: (m,) bool, moving joints that can be published: the measured ones, those measured before a reset of
            the clock, and all with default positions.
    """

    def __init__(
        self,
        model: RobotModel,
        space: JointSpace,
        moving: MovingJoints,
        defaults: FloatArray | None,
    ) -> None:
        self.model, self.space, self.moving = model, space, moving
        self.positions = np.array(space.neutral() if defaults is None else defaults, np.float64)
        self.velocities = np.full(space.velocity_size, np.nan)
        self.efforts = np.full(space.velocity_size, np.nan)
        self.measured = np.zeros(len(moving), np.bool_)
        self.is_known = np.full(len(moving), defaults is not None)
        self._stamps_ns = np.full(space.size, NEVER_NS, np.int64)
        self._received_ns = np.full(space.size, NEVER_NS, np.int64)
        self._first = np.array([space.joint_positions[name].start for name in moving.names], np.intp)

    @property
    def stamps_ns(self) -> IntArray:
        """(m,) stamp of each moving joint's value, of its first variable; `NEVER_NS` if it is not `measured`.

        Stamps of different joints may be of different clocks.
        """
        return np.where(self._measured_now(), self._stamps_ns[self._first], NEVER_NS)

    @property
    def received_ns(self) -> IntArray:
        """(m,) when the oldest value of each moving joint arrived, on the steady clock; `NEVER_NS` if one never did."""
        return self._oldest(self._received_ns)

    def _oldest(self, times_ns: IntArray) -> IntArray:
        oldest = np.full(len(self.moving), _LATEST_NS)
        np.minimum.at(oldest, self.moving.of_variable, times_ns)
        return oldest

    def _measured_now(self) -> BoolArray:
        return np.asarray(self._oldest(self._stamps_ns) != NEVER_NS)

    def put_joint_state(
        self, plan: InputPlan, values: MessageJointValues, stamp_ns: int, received_ns: int | None = None
    ) -> BoolArray:
        """Store the values of one message; return (m,) the moving joints with new values.

        `received_ns` is the time of arrival on the steady clock, by default now.
        """
        target, followers, joints = plan.target, plan.followers, plan.joints
        source, rates, rate_source = plan.source, plan.velocity_target, plan.velocity_source
        following = plan.velocity_followers
        row, q = values.position[0], self.positions
        q[target if plan.straight is None else plan.straight] = row[source] if plan.straight is None else row
        if len(followers.target):
            # The leader's value of this message, which is the newest one unless the message is late for the leader.
            q[followers.target] = followers.values(q)
        for part, kept_values in ((values.velocity, self.velocities), (values.effort, self.efforts)):
            kept_values[rates] = part[0][rate_source] if part.shape[1] else np.nan
        if len(following.target):
            self.velocities[following.target] = following.values(self.velocities)
            self.efforts[following.target] = np.nan
        received_ns = time.monotonic_ns() if received_ns is None else received_ns
        for variables in (target, followers.target):
            self._stamps_ns[variables], self._received_ns[variables] = stamp_ns, received_ns
        self._refresh_measured()
        return joints

    def put_joint(
        self,
        joint: str,
        positions: FloatArray,
        velocities: FloatArray | None,
        efforts: FloatArray | None,
        stamp_ns: int,
        received_ns: int | None = None,
    ) -> None:
        """Store all variables of one joint; velocities and efforts that are None become unknown.

        `received_ns` is the time of arrival on the steady clock, by default now.
        """
        places = self.space.joint_positions[joint]
        self.positions[places] = positions
        at_velocity = self.space.joint_velocities[joint]
        self.velocities[at_velocity] = np.nan if velocities is None else velocities
        self.efforts[at_velocity] = np.nan if efforts is None else efforts
        self._stamps_ns[places] = stamp_ns
        self._received_ns[places] = time.monotonic_ns() if received_ns is None else received_ns
        self._refresh_measured()

    def copy_measured(self, other: JointBuffer, joints: Collection[str]) -> None:
        """Copy the measured values of `joints`, which both robots have, and the times of these values.

        A mimic joint with another rule than in the other robot follows its leader, if the leader has a value.
        """
        for name in joints:
            positions, other_at = self.space.joint_positions[name], other.space.joint_positions[name]
            chosen = other._stamps_ns[other_at] != NEVER_NS
            for own_values, other_values in (
                (self.positions, other.positions),
                (self._stamps_ns, other._stamps_ns),
                # A change of settings or of the description is not a message.
                (self._received_ns, other._received_ns),
            ):
                own_values[positions][chosen] = other_values[other_at][chosen]
            rates, other_rates = self.space.joint_velocities[name], other.space.joint_velocities[name]
            self.velocities[rates], self.efforts[rates] = other.velocities[other_rates], other.efforts[other_rates]
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
        """Give the joints that follow from others in closed loops the stamp of their first input, and the oldest
        arrival.
        """
        of_variable, first = self.moving.of_variable[followed.variables], self._first
        lead = dict(zip(followed.joints.tolist(), followed.leads.tolist(), strict=True))
        self._stamps_ns[followed.variables] = self._stamps_ns[first[[lead[joint] for joint in of_variable.tolist()]]]
        self._received_ns[followed.variables] = self._received_ns[followed.driven_variables].min(initial=_LATEST_NS)
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
        for name in self.moving.names:
            if name not in positions_of and name not in velocities_of:
                continue
            places, rates = self.space.joint_positions[name], self.space.joint_velocities[name]
            if name in positions_of:
                self.positions[places] = positions[places]
                self._stamps_ns[places] = stamp_ns
            if name in velocities_of:
                self.velocities[rates] = velocities[rates]
            self.efforts[rates] = np.nan
            self._received_ns[places] = time.monotonic_ns()
        self._refresh_measured()

    def forget_measured(self, joints: BoolArray) -> None:
        """Make the values of `joints` (m,) unknown, after a reset of their clock; on TF they stay where they are."""
        variables, rates = joints[self.moving.of_variable], joints[self.moving.of_velocity]
        self._stamps_ns[variables] = NEVER_NS
        self.velocities[rates], self.efforts[rates] = np.nan, np.nan
        self.measured[joints] = False

    def _refresh_measured(self) -> None:
        if not self.measured.all():
            self.measured[:] = self._measured_now()
            self.is_known |= self.measured


# Closed loops of a robot at run time: the joints without a motor follow from the others after every message.


class LoopCloser:
    """Closes the loops in the buffer of one robot.

    Attributes:
        joints: (m,) bool, the moving joints of the loops, with their followers.
        is_open: True if a loop did not close after the last message; its joints keep their last closed positions.
        gap: how far the loops stayed open after the last message.
    """

    def __init__(self, loops: ClosedLoops, buffer: JointBuffer) -> None:
        self._loops, self._buffer = loops, buffer
        self._tracker = LoopTracker(loops)
        moving, mimics, space = buffer.moving, loops.space.mimics, buffer.space
        solved = [space.joint_positions[name] for name in loops.dependent]
        held = [space.joint_positions[name] for name in loops.held]
        solved_at = np.concatenate(
            [np.arange(joint_positions.start, joint_positions.stop) for joint_positions in (*solved, *held)]
        )
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
            self._leads_of(dependent),
        )
        # Measured passive joints with one variable are compared.
        self._compared = np.array(
            [joint_positions.start for joint_positions in solved if joint_positions.stop - joint_positions.start == 1],
            np.intp,
        )
        owners = [space.joints[number] for number in moving.of_variable[self._compared]]
        self._compared_joints = moving.of_variable[self._compared]
        self._wraps = np.array([owner.motion.wraps for owner in owners], np.bool_)
        self._differences = np.full(len(owners), np.nan)
        self.is_open = False
        self._old_positions = buffer.positions
        self.gap = LoopGap(0.0, 0.0)
        self._velocities_are_old = False

    def _leads_of(self, dependent: BoolArray) -> IndexArray:
        """Return for each `dependent` joint (m,) the first driven joint of its linkage in model order.

        A linkage without a driven joint has the stamp of its first joint.
        """
        moving, mimics, space = self._buffer.moving, self._loops.space.mimics, self._loops.space
        lead_of: dict[int, int] = {}
        for freedom in self._loops.freedoms:
            names = (*freedom.dependent, *freedom.held)
            lead = moving.number[(*freedom.driven, *names)[0]]
            for name in names:
                where = space.joint_positions[name]
                own = np.isin(mimics.source, np.arange(where.start, where.stop))
                lead_of |= dict.fromkeys(moving.of_variable[own].tolist(), lead)
        numbers = np.flatnonzero(dependent).tolist()
        return np.array([lead_of.get(number, number) for number in numbers], np.intp)

    @property
    def is_following(self) -> bool:
        """True after the first closed configuration."""
        return self._tracker.q is not None

    def stamped_joints(self, joints: BoolArray) -> BoolArray:
        """Return the moving joints (m,) that have the stamps of a sender of `joints` (m,)."""
        followed = self._followed
        stamped: BoolArray = joints.copy()
        stamped[followed.joints] = joints[followed.leads]
        return stamped

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
        if not (joints & self.joints).any() or not buffer.is_known[self._followed.driven].all():
            return joints
        q = np.array(buffer.positions)
        if self.is_open and not anew:
            # The buffer has the last closed positions: driven joints without a new value keep the value out of reach.
            driven = self._followed.driven_variables
            old = driven[~joints[buffer.moving.of_variable[driven]]]
            q[old] = self._old_positions[old]
        closed = self.closed(q, self.compared(joints))
        if self._tracker.q is None:
            return joints
        buffer.positions[self._positions] = closed[self._positions]
        buffer.follow_driven(self._followed)
        self._velocities_are_old = True
        return joints | self.joints

    def compared(self, joints: BoolArray) -> IndexArray:
        """Return which passive joints a message with values of `joints` (m,) measures."""
        return np.flatnonzero(joints[self._compared_joints])

    def closed(self, q: FloatArray, compared: IndexArray) -> FloatArray:
        """Return positions `q` (size,) with closed loops, and store the differences of the `compared` passive joints.

        Where a loop does not close, its joints keep their last closed positions.
        """
        solution = self._tracker.update(q)
        self.is_open = not solution.closed
        if self.is_open:
            self._old_positions = q
        self.gap = solution.gap
        if compared.size and self._tracker.q is not None:
            at = self._compared[compared]
            off = q[at] - solution.q[at]
            off = np.where(self._wraps[compared], wrapped_angles(off), off)
            self._differences[compared] = np.fmax(self._differences[compared], np.abs(off))
        return solution.q

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
        taken = {name: off for name, off in zip(names, self._differences.tolist(), strict=True) if not math.isnan(off)}
        self._differences[:] = np.nan
        return taken
