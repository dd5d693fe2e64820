# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The joint states of a model as variables of its robot's joint space, and back.

A state's six-number position of a floating joint becomes the seven of joint space: x y z and a quaternion x y z w.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_semantics.base.record import record
from robot_semantics.kinematics.joint_space import JointSpace, MimicMap, followings
from robot_semantics.model.joint_types import LIMIT_TOLERANCE, LimitRange
from robot_semantics.model.robot_model import JointModel
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.world_state import JointState, ModelState

if TYPE_CHECKING:
    from robot_semantics.kinematics.loop_equations import LoopSolution
    from robot_semantics.kinematics.loops import ClosedLoops

QUATERNION_TOLERANCE = 1e-6
"""How far a floating joint's quaternion may be from length 1."""

_ROUNDING = 1e-12
"""By how much the length of a quaternion may be off 1 that is taken as it is, to the last bit."""

RPY_COUNT = 6
"""Numbers of a floating joint's position where its rotation is given as roll, pitch, yaw."""


@record(frozen=True, eq=False)
class JointValues:
    """Joint values of a model state.

    Attributes:
        q: (size,) positions; joints not in `positions_of` have neutral positions.
        v: (velocity_size,) velocities; joints not in `velocities_of` have zero.
        positions_of: joints with a known position: stated, or from a leader or follower with a known position.
        velocities_of: joints with a known velocity, likewise.
    """

    q: FloatArray
    v: FloatArray
    positions_of: frozenset[str]
    velocities_of: frozenset[str]


def position_counts(joint: JointModel) -> tuple[int, ...]:
    """Return the allowed numbers of values of a joint's `<positions>`."""
    count = joint.position_count
    return (count, RPY_COUNT) if joint.motion.has_quaternion else (count,)


def stated_positions(joint: JointModel, state: JointState) -> FloatArray | None:
    """Return a joint's position (n,) in joint space; None if it is not stated or has a wrong number of values.

    A quaternion is normalised; a zero quaternion means not stated.
    """
    if state.positions is None or len(state.positions) not in position_counts(joint):
        return None
    values = np.array(state.positions, dtype=np.float64)
    if joint.motion.has_quaternion:
        if len(values) == RPY_COUNT:
            return np.concatenate((values[:3], quat_from_rpy(values[3:])))
        length = float(np.linalg.norm(values[3:]))
        if length == 0.0:
            return None
        if abs(length - 1.0) > _ROUNDING:
            values[3:] /= length
    return values


class JointFault(NamedTuple):
    """What is wrong with the stated values of a joint; `check` reports it, and no value of it is put on a robot.

    Attributes:
        code: ``virtual-joint-state``, ``wrong-count``, ``zero-quaternion``, ``quaternion-length`` or that of `limits`.
        what: the kind of values, for a wrong count.
        stated: how many are stated.
        allowed: how many there must be.
        length: length of the quaternion.
        limits: the range that the position violates.
    """

    code: str
    what: str = ""
    stated: int = 0
    allowed: tuple[int, ...] = ()
    length: float = 1.0
    limits: LimitRange | None = None


def faults(joint: JointModel, state: JointState, tolerance: float = LIMIT_TOLERANCE) -> Iterator[JointFault]:
    """Yield what is wrong with a joint's state; `tolerance` is how far outside its limits it may be [rad, m]."""
    if joint.virtual:
        yield JointFault("virtual-joint-state")
        return
    counts = position_counts(joint)
    for what, values, allowed in (
        ("positions", state.positions, counts),
        ("velocities", state.velocities, (joint.velocity_count,)),
        ("torques", state.torques, (joint.velocity_count,)),
    ):
        if values is not None and len(values) not in allowed:
            yield JointFault("wrong-count", what, len(values), allowed)
    if state.positions is None or len(state.positions) != joint.position_count:
        return
    if joint.motion.has_quaternion:
        length = float(np.linalg.norm(state.positions[3:]))
        if length == 0.0:
            yield JointFault("zero-quaternion", length=length)
        elif not abs(length - 1.0) <= QUATERNION_TOLERANCE:
            yield JointFault("quaternion-length", length=length)
    elif joint.position_count == 1:
        limits = joint.limits.broken_by(state.positions[0], tolerance)
        if limits is not None:
            yield JointFault(limits.code, limits=limits)


def stated_velocities(joint: JointModel, state: JointState) -> FloatArray | None:
    """Return a joint's velocity (n,); None if it is not stated or has a wrong number of values."""
    if state.velocities is None or len(state.velocities) != joint.velocity_count:
        return None
    return np.array(state.velocities, dtype=np.float64)


def joint_values(state: ModelState, space: JointSpace) -> JointValues:
    """Return the joint-space variables of `state`; values that do not fit the robot are ignored.

    A stated mimic joint has its stated value. A mimic joint without a value follows its leader. A leader without a
    value follows from its mimic joints.
    """
    q, v = np.array(space.neutral()), np.zeros(space.velocity_size)
    positions_of, velocities_of = set[str](), set[str]()
    stated = {joint.name: joint for joint in state.joints}
    for joint in space.joints:
        said = stated.get(joint.name)
        if joint.virtual or said is None:
            continue
        position, velocity = stated_positions(joint, said), stated_velocities(joint, said)
        if position is not None:
            q[space.joint_positions[joint.name]] = position
            positions_of.add(joint.name)
        if velocity is not None:
            v[space.joint_velocities[joint.name]] = velocity
            velocities_of.add(joint.name)
    q = with_mimic_values(space.mimics, q, space.joint_positions, positions_of)
    v = with_mimic_values(space.velocity_mimics, v, space.joint_velocities, velocities_of)
    return JointValues(q, v, frozenset(positions_of), frozenset(velocities_of))


def with_mimic_values(
    mimics: MimicMap, values: FloatArray, slices: Mapping[str, slice], known_joints: set[str]
) -> FloatArray:
    """Return `values` with the leaders and followers of known joints (`MimicMap.completed`).

    Args:
        mimics: the mimic map of positions or of velocities.
        values: (size,) positions or velocities.
        slices: the slice of each joint's values.
        known_joints: joints with known values; leaders and followers are added.
    """
    mask = np.zeros(len(values), dtype=np.bool_)
    for name in known_joints:
        mask[slices[name]] = True
    values, mask = mimics.completed(values, mask)
    known_joints.update(name for name, at in slices.items() if mask[at].all())
    return values


def joint_states(
    space: JointSpace,
    q: FloatArray | None,
    v: FloatArray | None = None,
    efforts: FloatArray | None = None,
) -> tuple[JointState, ...]:
    """Return the joint states of (size,) positions, (velocity_size,) velocities and efforts, each None if not stated.

    The virtual root joint has no joint state: it is the model's parent and pose.
    """

    def part(values: FloatArray | None, where: Mapping[str, slice], name: str) -> tuple[float, ...] | None:
        return None if values is None else tuple(values[where[name]].tolist())

    return tuple(
        JointState(
            joint.name,
            part(q, space.joint_positions, joint.name),
            part(v, space.joint_velocities, joint.name),
            part(efforts, space.joint_velocities, joint.name),
        )
        for joint in space.joints
        if not joint.virtual
    )


# Joint values of a state in closed loops: the passive joints follow from the driven ones.


def closed_values(loops: ClosedLoops | None, values: JointValues) -> tuple[JointValues, LoopSolution | None]:
    """Return values with closed loops where all driven joints of a linkage are known, and the solution, if any.

    Known passive joints choose the branch. Loops that do not close leave the values unchanged.
    """
    names = set(_dependent_joints(loops, values))
    if loops is None or not names:
        return values, None
    chosen = any(name in values.positions_of for name in loops.dependent)
    solution = loops.near(values.q, values.positions_of) if chosen else loops.close(values.q)
    if not solution.closed:
        return values, solution
    space = loops.space
    names |= {joint.name for joint, leader, _ in followings(space.model) if leader.name in names}
    q, v = np.array(values.q), np.array(values.v)
    for name in names:
        q[space.joint_positions[name]] = solution.q[space.joint_positions[name]]
    velocities_of = set(values.velocities_of)
    solved, determined = loops.velocities(q, np.nan_to_num(v))
    moving = set(_dependent_joints(loops, JointValues(q, v, values.velocities_of, values.velocities_of)))
    for name in names:
        where = space.joint_velocities[name]
        leader = space.model.joint(name).mimic
        if (name if leader is None else leader.joint) in moving and determined[where].all():
            v[where] = solved[where]
            velocities_of.add(name)
    return JointValues(q, v, values.positions_of | names, frozenset(velocities_of)), solution


def with_stated(space: JointSpace, closed: JointValues, stated: JointValues) -> tuple[FloatArray, FloatArray]:
    """Return positions (size,) and velocities (velocity_size,): the stated ones, and those of `closed` for the rest."""
    q, v = np.array(closed.q), np.array(closed.v)
    for joint in space.joints:
        if joint.name in stated.positions_of:
            q[space.positions_of(joint)] = stated.q[space.positions_of(joint)]
        if joint.name in stated.velocities_of:
            v[space.velocities_of(joint)] = stated.v[space.velocities_of(joint)]
    return q, v


def _dependent_joints(loops: ClosedLoops | None, values: JointValues) -> Iterator[str]:
    """Yield the passive joints of the linkages whose driven joints all have known positions."""
    for freedom in () if loops is None else loops.freedoms:
        if values.positions_of.issuperset(freedom.driven):
            yield from (*freedom.dependent, *freedom.held)
