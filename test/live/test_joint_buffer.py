# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The newest values of a robot's joints: what messages, one joint's values and a restore change."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import JointSpace
from robot_semantics.live.buffer import JointBuffer, default_positions
from robot_semantics.live.joint_state import (
    InputPlan,
    MovingJoints,
    Reason,
    Refusal,
    make_plan,
    take_joint_state,
    take_quaternions,
)
from robot_semantics.live.senders import NEVER_NS
from robot_semantics.live.settings import Invalid
from robot_semantics.model.loading import robot_from_text

FloatArray = npt.NDArray[np.float64]

LIMIT = '<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
URDF = f"""<robot name="r"><link name="base"/><link name="l1"/><link name="l2"/><link name="l3"/>
<joint name="a" type="revolute"><parent link="base"/><child link="l1"/>{LIMIT}</joint>
<joint name="b" type="prismatic"><parent link="l1"/><child link="l2"/>{LIMIT}</joint>
<joint name="m" type="revolute"><parent link="l1"/><child link="l3"/>{LIMIT}
 <mimic joint="a" multiplier="-2" offset="0.5"/></joint></robot>"""
SRDF = '<robot name="r"><virtual_joint name="w" type="floating" parent_frame="odom" child_link="base"/></robot>'
QUAT = [f"w/rot_{axis}" for axis in "xyzw"]
WHOLE = [*(f"w/trans_{axis}" for axis in "xyz"), *QUAT, "a", "b"]
# The moving joints are w, a, b, m; positions w 0..6, a 7, b 8, m 9; velocities w 0..5, a 6, b 7, m 8.
A, B, M = 1, 2, 3
nan = float("nan")


def empty(defaults: FloatArray | None = None) -> JointBuffer:
    model = robot_from_text(URDF, SRDF)
    space = JointSpace.of(model)
    return JointBuffer(model, space, MovingJoints(space), defaults)


def plan_of(buffer: JointBuffer, names: list[str]) -> InputPlan:
    plan = make_plan(names, buffer.model, buffer.space, buffer.moving, frozenset())
    assert isinstance(plan, InputPlan)
    return plan


def put(buffer: JointBuffer, names: list[str], *values: list[float], stamp_ns: int = 10) -> Refusal | None:
    """Store a message as `RunningRobot` does, with `refuse`; return why it is refused."""
    plan, rows = plan_of(buffer, names), [np.array(row, np.float64) for row in (*values, [], [])[:3]]
    taken = take_joint_state(names, *rows, invalid=Invalid.REFUSE)
    if taken.values:
        taken = take_quaternions(plan, taken.values[0], invalid=Invalid.REFUSE)
    if not taken.values:
        return taken.refused[0].refusal
    buffer.put_joint_state(plan, taken.values[0], stamp_ns)
    return None


def equal(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("names", [["a", "b"], ["b", "a"], ["b", "stranger", "a"]])
def test_values_go_to_their_joints_in_whatever_order_and_followers_follow(names: list[str]) -> None:
    by_name = {"a": (1.0, 3.0, 5.0), "b": (2.0, 4.0, 6.0), "stranger": (7.0, 7.0, 7.0)}
    buffer = empty()
    assert put(buffer, names, *([by_name[name][row] for name in names] for row in range(3))) is None
    equal(buffer.positions[7:], [1.0, 2.0, -2.0 * 1.0 + 0.5])
    equal(buffer.velocities, [*[nan] * 6, 3.0, 4.0, -2.0 * 3.0])
    equal(buffer.efforts, [*[nan] * 6, 5.0, 6.0, nan])
    equal(buffer.stamps_ns, [NEVER_NS, 10, 10, 10])
    assert (buffer.received_ns == NEVER_NS).tolist() == [True, False, False, False]
    assert buffer.measured.tolist() == [False, True, True, True]


@pytest.mark.parametrize("velocity", [[], [9.0], [9.0, 9.0, 9.0]])
def test_velocities_that_are_not_as_many_as_the_names_are_not_known(velocity: list[float]) -> None:
    buffer = empty()
    put(buffer, ["a", "b"], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
    put(buffer, ["a", "b"], [1.0, 2.0], velocity, velocity)
    equal(buffer.velocities[6:], [nan, nan, nan])
    equal(buffer.efforts[6:], [nan, nan, nan])


def test_a_measured_follower_is_kept() -> None:
    buffer = empty()
    put(buffer, ["a", "m"], [1.0, 0.25], [3.0, 0.5])
    equal(buffer.positions[7:], [1.0, 0.0, 0.25])
    equal(buffer.velocities[6:], [3.0, nan, 0.5])


def test_a_quaternion_is_made_one_of_length_one() -> None:
    buffer = empty()
    assert put(buffer, WHOLE, [1.0, 2.0, 3.0, 0.0, 0.0, 6.0, 8.0, 0.5, 0.25]) is None
    equal(buffer.positions, [1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8, 0.5, 0.25, -0.5])
    assert buffer.measured.all()
    assert buffer.measured.all()


@pytest.mark.parametrize("length", [0.0, 9e-7])
def test_a_quaternion_of_nothing_is_refused_and_changes_nothing(length: float) -> None:
    buffer = empty()
    put(buffer, ["a"], [0.125])
    refusal = put(buffer, WHOLE, [1.0, 2.0, 3.0, length, 0.0, 0.0, 0.0, 0.5, 0.25], stamp_ns=99)
    assert refusal == Refusal(Reason.BAD_QUATERNION, "the quaternion of 'w' is zero")
    equal(buffer.positions[:9], [0, 0, 0, 0, 0, 0, 1, 0.125, 0])
    equal(buffer.stamps_ns, [NEVER_NS, 10, NEVER_NS, 10])
    assert put(buffer, WHOLE, [1.0, 2.0, 3.0, 1.1e-6, 0.0, 0.0, 0.0, 0.5, 0.25]) is None


@pytest.mark.parametrize("value", [nan, float("inf")])
def test_a_position_that_is_no_number_is_named_and_nothing_changes(value: float) -> None:
    buffer = empty()
    refusal = put(buffer, ["a", "b"], [1.0, value])
    assert refusal == Refusal(Reason.NOT_FINITE, f"the position of 'b' is {value}")
    equal(buffer.positions[7:9], [0.0, 0.0])
    assert not buffer.measured.any()


def test_a_joint_is_known_when_all_its_variables_are() -> None:
    buffer = empty()
    put(buffer, QUAT, [0.0, 0.0, 0.0, 1.0])
    assert buffer.measured.tolist() == [False, False, False, False]
    put(buffer, WHOLE[:3], [1.0, 2.0, 3.0])
    assert buffer.measured.tolist() == [True, False, False, False]
    assert not buffer.measured.all()


def test_a_default_position_is_known_for_tf_but_not_measured() -> None:
    buffer = empty(np.arange(10.0))
    assert buffer.is_known.all()
    assert not buffer.measured.any()
    put(buffer, ["a", "w/trans_x"], [1.0, 2.0])
    # The followers of a measured leader are measured; of the virtual joint one variable of seven is.
    assert buffer.measured.tolist() == [False, True, False, True]
    assert buffer.is_known.all()


def test_another_buffer_takes_what_was_measured_and_keeps_its_own_defaults() -> None:
    before, after = empty(np.arange(10.0)), empty(np.full(10, 0.25))
    put(before, ["w/trans_x", "a"], [5.0, 1.0], [0.5, 0.75], [2.0, 3.0])
    after.copy_measured(before, after.moving.names)
    equal(after.positions, [5.0, *[0.25] * 6, 1.0, 0.25, -2.0 * 1.0 + 0.5])
    equal(after.velocities, [0.5, *[nan] * 5, 0.75, nan, -1.5])
    equal(after.efforts, [2.0, *[nan] * 5, 3.0, nan, nan])
    assert after.measured.tolist() == [False, True, False, True]
    equal(after.stamps_ns, before.stamps_ns)
    equal(after.received_ns, before.received_ns)
    other = empty()
    other.copy_measured(before, ["w", "b", "m"])
    assert other.measured.tolist() == [False, False, False, True]


OTHER_ORDER = f"""<robot name="r"><link name="base"/><link name="l1"/><link name="l2"/><link name="l3"/>
<link name="l4"/><joint name="new" type="floating"><parent link="base"/><child link="l4"/></joint>
<joint name="a" type="revolute"><parent link="base"/><child link="l1"/>{LIMIT}</joint>
<joint name="m" type="revolute"><parent link="l1"/><child link="l3"/>{LIMIT}
 <mimic joint="a" multiplier="RULE" offset="0.5"/></joint>
<joint name="b" type="prismatic"><parent link="l3"/><child link="l2"/>{LIMIT}</joint></robot>"""
"""The model has the joints in the order of the tree: a, m, b, new; b and m are in the other order in `URDF`."""


def in_other_order(rule: str) -> JointBuffer:
    model = robot_from_text(OTHER_ORDER.replace("RULE", rule))
    space = JointSpace.of(model)
    return JointBuffer(model, space, MovingJoints(space), None)


def test_values_are_copied_by_the_names_of_joints_with_their_times() -> None:
    before, after = empty(), in_other_order("-2")
    put(before, ["b"], [2.0], [4.0], [6.0], stamp_ns=20)
    put(before, ["a", "m"], [1.0, 0.25], [0.75, 0.5], [3.0, 7.0], stamp_ns=10)
    after.copy_measured(before, ["a", "b", "m"])
    # The mimic joint was measured, and its rule is the same.
    equal(after.positions, [1.0, 0.25, 2.0, *[0.0] * 6, 1.0])
    equal(after.velocities, [0.75, 0.5, 4.0, *[nan] * 6])
    equal(after.efforts, [3.0, 7.0, 6.0, *[nan] * 6])
    equal(after.stamps_ns, [10, 10, 20, NEVER_NS])
    equal(after.received_ns[:3], before.received_ns[[A, M, B]])
    assert after.received_ns[3] == NEVER_NS
    assert after.measured.tolist() == [True, True, True, False]
    assert after.is_known.tolist() == [True, True, True, False]


def test_a_copied_mimic_joint_with_another_rule_follows_a_measured_leader() -> None:
    before, after = empty(), in_other_order("3")
    put(before, ["a", "m"], [1.0, 0.25], [0.75, 0.5], [3.0, 7.0], stamp_ns=10)
    after.copy_measured(before, ["a", "m"])
    equal(after.positions[:3], [1.0, 3.0 * 1.0 + 0.5, 0.0])
    equal(after.velocities[:3], [0.75, 3.0 * 0.75, nan])
    equal(after.efforts[:3], [3.0, nan, nan])
    equal(after.stamps_ns, [10, 10, NEVER_NS, NEVER_NS])
    without_leader = in_other_order("3")
    without_leader.copy_measured(before, ["m"])
    equal(without_leader.positions[:3], [0.0, 0.25, 0.0])
    equal(without_leader.velocities[:3], [nan, 0.5, nan])
    equal(without_leader.stamps_ns, [NEVER_NS, 10, NEVER_NS, NEVER_NS])


def test_a_joint_that_begins_to_mimic_another_follows_it() -> None:
    after = in_other_order("3")
    free = robot_from_text(OTHER_ORDER.replace('<mimic joint="a" multiplier="RULE" offset="0.5"/>', ""))
    before = JointBuffer(free, JointSpace.of(free), MovingJoints(JointSpace.of(free)), None)
    put(before, ["a", "m"], [1.0, 0.25], stamp_ns=10)
    after.copy_measured(before, ["a", "m"])
    equal(after.positions[:3], [1.0, 3.5, 0.0])


def test_one_joint_takes_its_values_and_the_others_stay() -> None:
    buffer = empty()
    put(buffer, ["a", "b"], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
    before_ns = time.monotonic_ns()
    buffer.put_joint("b", np.array([7.0]), np.array([8.0]), np.array([9.0]), 20)
    equal(buffer.positions[7:], [1.0, 7.0, -1.5])
    equal(buffer.velocities[6:], [3.0, 8.0, -6.0])
    equal(buffer.efforts[6:], [5.0, 9.0, nan])
    equal(buffer.stamps_ns[A:], [10, 20, 10])
    assert buffer.received_ns[B] >= before_ns > buffer.received_ns[A]
    buffer.put_joint("b", np.array([7.0]), None, None, 30)
    equal(buffer.velocities[6:], [3.0, nan, -6.0])
    equal(buffer.efforts[6:], [5.0, nan, nan])
    buffer.put_joint("w", np.array([1.0, 2, 3, 0, 0, 0, 1]), np.arange(6.0), None, 40)
    equal(buffer.velocities[:6], np.arange(6.0))
    assert buffer.measured.all()


def test_a_restore_takes_what_is_named_and_keeps_velocities_that_it_does_not_name() -> None:
    buffer = empty()
    put(buffer, ["a", "b"], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
    before_ns = time.monotonic_ns()
    positions, velocities = np.arange(10.0) + 100.0, np.arange(9.0) + 200.0
    buffer.restore(positions, velocities, {"a"}, {"m"}, 50)
    equal(buffer.positions[7:], [107.0, 2.0, -1.5])
    equal(buffer.velocities[6:], [3.0, 4.0, 208.0])
    equal(buffer.efforts[6:], [nan, 6.0, nan])
    equal(buffer.stamps_ns, [NEVER_NS, 50, 10, 10])
    assert buffer.received_ns[A] >= before_ns > buffer.received_ns[B]
    assert buffer.measured.tolist() == [False, True, True, True]
    buffer.restore(positions, velocities, {"w"}, {"w"}, 60)
    equal(buffer.positions[:7], positions[:7])
    equal(buffer.velocities[:6], velocities[:6])
    assert buffer.measured.all()


def test_default_positions_are_the_middle_of_the_limits() -> None:
    model = robot_from_text(URDF.replace('lower="-9" upper="9"', 'lower="-1" upper="4"'), SRDF)
    positions = default_positions(model, JointSpace.of(model), "mid")
    # The third joint mimics the first one.
    equal(positions, [0, 0, 0, 0, 0, 0, 1, 1.5, 1.5, -2.0 * 1.5 + 0.5])
