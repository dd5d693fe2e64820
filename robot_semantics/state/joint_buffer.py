# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The newest known values of one robot's joints, with the time of each; before the first one the default positions."""

from __future__ import annotations

import time
from collections.abc import Collection

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.cdr import JointStateData, JointStateRepeater
from robot_semantics.state.joint_input import InputPlan, MovingJoints, Reason, Refusal
from robot_semantics.state.schedule import NEVER_NS
from robot_semantics.transforms.arrays import FloatArray, IntArray


def default_positions(model: RobotModel, space: JointSpace, choice: str) -> FloatArray | None:
    """Return (n,) positions, or None for the choice `none`, which leaves such joints unpublished.

    `zero` is zero or the middle of bounds that exclude it, `mid` the middle of the bounds where both exist,
    ``GROUP/STATE`` a named state over zero.

    Raises:
        UnknownNameError: the SRDF has no such group or state.

    """
    if choice == "none":
        return None
    positions = np.array(space.neutral(), np.float64)
    if choice == "mid":
        bounded = np.isfinite(space.lower) & np.isfinite(space.upper)
        for joint in model.joints:
            if joint.position_count > 1:
                bounded[space.joint_positions[joint.name]] = False
        positions[bounded] = (space.lower[bounded] + space.upper[bounded]) / 2.0
    elif choice != "zero":
        for name, values in model.semantics.state_called(choice).joints.items():
            positions[space.joint_positions[name]] = values
    return np.asarray(space.with_mimics(positions), np.float64)


_SMALLEST_QUATERNION = 1e-6


class JointBuffer:
    """Positions, velocities and efforts in the order of `JointSpace`; unknown velocities and efforts are NaN.

    A message whose transforms are made from its bytes is not read before somebody asks for what it says.

    Attributes:
        unread: the last message, if nobody has read it, for want of a need: its plan, its reader, its bytes, its stamp,
            and when it came. To replace one of another plan, `catch_up` first.
        known: (m,) bool, moving joints all of whose position variables have a value, a measured or a default one.
    """

    def __init__(self, model: RobotModel, space: JointSpace, moving: MovingJoints, defaults: FloatArray | None) -> None:
        self.model, self.space, self.moving = model, space, moving
        self._positions = np.array(space.neutral() if defaults is None else defaults, np.float64)
        self._velocities = np.full(space.velocity_size, np.nan)
        self._efforts = np.full(space.velocity_size, np.nan)
        self._variable_known = np.full(space.size, defaults is not None)
        self.known = np.full(len(moving), defaults is not None)
        self.all_known = bool(self.known.all())
        self._stamps_ns = np.full(len(moving), NEVER_NS, np.int64)
        self._received_ns = np.full(len(moving), NEVER_NS, np.int64)
        self.unread: tuple[InputPlan, JointStateRepeater, bytes, int, int] | None = None

    @property
    def positions(self) -> FloatArray:
        """(n,) [rad, m, quaternion x y z w]."""
        self.catch_up()
        return self._positions

    @property
    def velocities(self) -> FloatArray:
        """(nv,) [rad/s, m/s]."""
        self.catch_up()
        return self._velocities

    @property
    def efforts(self) -> FloatArray:
        """(nv,) [N m, N]."""
        self.catch_up()
        return self._efforts

    @property
    def stamps_ns(self) -> IntArray:
        """(m,) time of each moving joint's newest values; `NEVER_NS` if there were none."""
        self.catch_up()
        return self._stamps_ns

    @property
    def received_ns(self) -> IntArray:
        """(m,) when each moving joint's newest values came, on the monotonic clock; `NEVER_NS` if none did."""
        self.catch_up()
        return self._received_ns

    def put_joint_state(self, plan: InputPlan, data: JointStateData, stamp_ns: int) -> Refusal | None:
        """Take over a message's values; its lengths are already checked. Nothing changes when it is refused."""
        values = data.position
        if not np.isfinite(values).all():
            bad = [name for name, value in zip(plan.names, values, strict=True) if not np.isfinite(value)]
            return Refusal(Reason.NOT_FINITE, f"the position of '{bad[0]}' is {values[plan.names.index(bad[0])]}")
        self.catch_up()
        if plan.floating:
            refusal = self._put_floating(plan, values)
            if refusal is not None:
                return refusal
        self._take(plan, data, stamp_ns, time.monotonic_ns())
        return None

    def _put_positions(self, plan: InputPlan, values: FloatArray) -> None:
        if plan.straight is not None and not plan.floating:
            self._positions[plan.straight] = values
        elif not plan.floating:
            self._positions[plan.target] = values[plan.source]
        if len(plan.mimic_target):
            self._positions[plan.mimic_target] = plan.multiplier * self._positions[plan.mimic_source] + plan.offset

    def _put_floating(self, plan: InputPlan, values: FloatArray) -> Refusal | None:
        trial = self._positions.copy()
        trial[plan.target] = values[plan.source]
        for part in plan.floating:
            length = float(np.linalg.norm(trial[part]))
            if length < _SMALLEST_QUATERNION:
                joint = self.moving.names[self.moving.of_variable[part.start]]
                return Refusal(Reason.BAD_QUATERNION, f"the quaternion of '{joint}' is zero")
            trial[part] /= length
        self._positions[:] = trial
        return None

    def catch_up(self) -> None:
        """Take over the message that nobody has read, if there is one."""
        unread, self.unread = self.unread, None
        if unread is not None:
            plan, reader, message, stamp_ns, received_ns = unread
            self._take(plan, reader.read(message, stamp_ns), stamp_ns, received_ns)

    def _take(self, plan: InputPlan, data: JointStateData, stamp_ns: int, received_ns: int) -> None:
        self._put_positions(plan, data.position)
        self._stamps_ns[plan.joints] = stamp_ns
        self._received_ns[plan.joints] = received_ns
        count = len(plan.names)
        for values, kept in ((data.velocity, self._velocities), (data.effort, self._efforts)):
            kept[plan.velocity_target] = values[plan.velocity_source] if len(values) == count else np.nan
        if len(plan.mimic_target):
            self._follow(plan)

    def _follow(self, plan: InputPlan) -> None:
        space, moving = self.space, self.moving
        for target, source, multiplier in zip(plan.mimic_target, plan.mimic_source, plan.multiplier, strict=True):
            follower = space.joint_velocities[moving.names[moving.of_variable[target]]].start
            leader = space.joint_velocities[moving.names[moving.of_variable[source]]].start
            self._velocities[follower] = multiplier * self._velocities[leader]

    def mark_known(self, plan: InputPlan) -> None:
        """Note that the variables of `plan` have values now."""
        self._variable_known[plan.target] = True
        self._variable_known[plan.mimic_target] = True
        self._refresh_known()

    def put_joint(
        self,
        joint: str,
        positions: FloatArray,
        velocities: FloatArray | None,
        efforts: FloatArray | None,
        stamp_ns: int,
    ) -> None:
        """Take over all variables of one joint; velocities and efforts that are None become unknown."""
        self.catch_up()
        at = self.space.joint_positions[joint]
        self._positions[at] = positions
        self._variable_known[at] = True
        at_velocity = self.space.joint_velocities[joint]
        self._velocities[at_velocity] = np.nan if velocities is None else velocities
        self._efforts[at_velocity] = np.nan if efforts is None else efforts
        number = self.moving.number[joint]
        self._stamps_ns[number] = stamp_ns
        self._received_ns[number] = time.monotonic_ns()
        self._refresh_known()

    def restore(
        self,
        positions: FloatArray,
        velocities: FloatArray,
        positions_of: Collection[str],
        velocities_of: Collection[str],
        stamp_ns: int,
    ) -> None:
        """Take over (n,) positions and (nv,) velocities of those joints that are named; the others stay as they are.

        Velocities and efforts that go with a position that is replaced become unknown.
        """
        self.catch_up()
        for number, name in enumerate(self.moving.names):
            if name not in positions_of and name not in velocities_of:
                continue
            at, rates = self.space.joint_positions[name], self.space.joint_velocities[name]
            if name in positions_of:
                self._positions[at] = positions[at]
                self._variable_known[at] = True
            self._velocities[rates] = velocities[rates] if name in velocities_of else np.nan
            self._efforts[rates] = np.nan
            self._stamps_ns[number] = stamp_ns
            self._received_ns[number] = time.monotonic_ns()
        self._refresh_known()

    def _refresh_known(self) -> None:
        if not self.all_known:
            self.known[:] = True
            np.logical_and.at(self.known, self.moving.of_variable, self._variable_known)
            self.all_known = bool(self.known.all())
