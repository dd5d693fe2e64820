"""The newest known values of one robot's joints, with the time of each."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.cdr import JointStateData
from robot_semantics.ros.joint_input import InputPlan, MovingJoints, Reason, Refusal
from robot_semantics.ros.time_order import NEVER_NS

FloatArray = npt.NDArray[np.float64]

_SMALLEST_QUATERNION = 1e-6
_EVERY = slice(None)


class JointBuffer:
    """Positions, velocities and efforts in the order of `JointSpace`; unknown velocities and efforts are NaN.

    Attributes:
        positions: (n,) [rad, m, quaternion x y z w].
        velocities: (nv,) [rad/s, m/s].
        efforts: (nv,) [N m, N].
        known: (m,) bool, moving joints all of whose position variables have a value, a measured or a default one.
        received_ns: (m,) when each moving joint's newest values came, on the monotonic clock; `NEVER_NS` if none did.
        stamps_ns: (m,) time of each moving joint's newest values; `NEVER_NS` if there were none.

    """

    def __init__(self, model: RobotModel, space: JointSpace, moving: MovingJoints, defaults: FloatArray | None) -> None:
        self.model, self.space, self.moving = model, space, moving
        self.positions = np.array(space.neutral() if defaults is None else defaults, np.float64)
        self.velocities = np.full(space.velocity_size, np.nan)
        self.efforts = np.full(space.velocity_size, np.nan)
        self._variable_known = np.full(space.size, defaults is not None)
        self.known = np.full(len(moving), defaults is not None)
        self.stamps_ns = np.full(len(moving), NEVER_NS, np.int64)
        self.received_ns = np.full(len(moving), NEVER_NS, np.int64)
        self.all_known = bool(self.known.all())
        self._lowest, self._highest = self.positions.copy(), self.positions.copy()

    def put_joint_state(self, plan: InputPlan, data: JointStateData, stamp_ns: int) -> Refusal | None:
        """Take over a message's values; its lengths are already checked. Nothing changes when it is refused."""
        values = data.position
        # NaN and infinities survive a product with zero, finite numbers do not.
        if values @ plan.zeros != 0.0:
            bad = [name for name, value in zip(plan.names, values, strict=True) if not np.isfinite(value)]
            return Refusal(Reason.NOT_FINITE, f"the position of '{bad[0]}' is {values[plan.names.index(bad[0])]}")
        positions = self.positions
        if plan.floating:
            trial = positions.copy()
            trial[plan.target] = values[plan.source]
            for part in plan.floating:
                length = float(np.linalg.norm(trial[part]))
                if length < _SMALLEST_QUATERNION:
                    joint = self.moving.joints[self.moving.of_variable[part.start]].name
                    return Refusal(Reason.BAD_QUATERNION, f"the quaternion of '{joint}' is zero")
                trial[part] /= length
            positions[:] = trial
        else:
            positions[plan.target] = values[plan.source]
        count = len(plan.names)
        if len(data.velocity) == count:
            self.velocities[plan.velocity_target] = data.velocity[plan.velocity_source]
        else:
            self.velocities[plan.velocity_target] = np.nan
        if len(data.effort) == count:
            self.efforts[plan.velocity_target] = data.effort[plan.velocity_source]
        else:
            self.efforts[plan.velocity_target] = np.nan
        if len(plan.mimic_target):
            self._follow(plan)
        np.minimum(self._lowest, positions, out=self._lowest)
        np.maximum(self._highest, positions, out=self._highest)
        joints = _EVERY if plan.complete else plan.joints
        self.stamps_ns[joints] = stamp_ns
        self.received_ns[joints] = time.monotonic_ns()
        return None

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
        at = self.space.joint_positions[joint]
        self.positions[at] = positions
        self._variable_known[at] = True
        at_velocity = self.space.joint_velocities[joint]
        self.velocities[at_velocity] = np.nan if velocities is None else velocities
        self.efforts[at_velocity] = np.nan if efforts is None else efforts
        number = self.moving.number[joint]
        self.stamps_ns[number] = stamp_ns
        self.received_ns[number] = time.monotonic_ns()
        self._refresh_known()

    def put_all(self, positions: FloatArray, velocities: FloatArray, stamp_ns: int) -> None:
        """Replace everything: (n,) positions and (nv,) velocities, NaN where unknown; efforts become unknown."""
        self.positions[:] = positions
        self.velocities[:] = velocities
        self.efforts[:] = np.nan
        self._variable_known[:] = True
        self.stamps_ns[:] = stamp_ns
        self.received_ns[:] = time.monotonic_ns()
        self._refresh_known()

    def take_extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return (n,) the lowest and the highest positions since the last call."""
        extremes = self._lowest, self._highest
        self._lowest, self._highest = self.positions.copy(), self.positions.copy()
        return extremes

    def _refresh_known(self) -> None:
        self.known[:] = True
        np.logical_and.at(self.known, self.moving.of_variable, self._variable_known)
        self.all_known = bool(self.known.all())

    def _follow(self, plan: InputPlan) -> None:
        self.positions[plan.mimic_target] = plan.multiplier * self.positions[plan.mimic_source] + plan.offset
        space, moving = self.space, self.moving
        for target, source, multiplier in zip(plan.mimic_target, plan.mimic_source, plan.multiplier, strict=True):
            follower = space.joint_velocities[moving.names[moving.of_variable[target]]].start
            leader = space.joint_velocities[moving.names[moving.of_variable[source]]].start
            self.velocities[follower] = multiplier * self.velocities[leader]
