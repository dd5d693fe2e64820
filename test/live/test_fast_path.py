# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The fast path from joint state to TF gives the same result as the general one, and leaves unusual input to it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from support import loops as linkages
from tf2_msgs.msg import TFMessage

from robot_semantics import JointSpace, RobotModel
from robot_semantics.cdr.joint_states import JointStateReader
from robot_semantics.examples import example
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.live.joint_state import Reason, Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import Invalid, RobotSettings, Source, VirtualJointSettings
from robot_semantics.model.loading import load_robot, robot_from_text

SECOND_NS = 1_000_000_000

MIXED = """<robot name="mixed">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/><link name="f"/>
  <joint name="turn" type="revolute"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><parent link="a"/><child link="b"/>
    <axis xyz="1 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0 1 0" rpy="0.4 0 1"/><parent link="b"/><child link="c"/>
    <axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="plane" type="planar"><origin xyz="0 0 1" rpy="0 0.5 0"/><parent link="c"/><child link="d"/>
    <axis xyz="0 0.6 0.8"/></joint>
  <joint name="half" type="revolute"><parent link="d"/><child link="e"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/><mimic joint="turn" multiplier="-0.5" offset="0.25"/></joint>
  <joint name="along" type="prismatic"><parent link="e"/><child link="f"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/><mimic joint="slide" multiplier="2" offset="0.5"/></joint>
</robot>"""


def models() -> list[RobotModel]:
    return [robot_from_text(MIXED), load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))]


class Fed:
    """A robot fed with messages as the node feeds it, which tells which way each of them went.

    Messages arrive as far apart as their stamps, one without a stamp a second later, unless the test sets the time.
    """

    steady: Steady

    def __init__(self, model: RobotModel, **settings: Any) -> None:
        self.model, self.space = model, JointSpace.of(model)
        self.robot = RunningRobot("r", model, RobotSettings(**{"publish_interval_ns": 0, **settings}))
        self.reader = JointStateReader()
        self.fast = False
        self.may_be_fast = True
        self.arrives_by_stamp, self.last_ns = True, 0
        self.padding = 0
        self.now: Callable[[], int] = lambda: SECOND_NS

    def message(self, q: Any, stamp_ns: int, names: list[str] | None = None, **arrays: Any) -> JointState:
        """Return a message with the values of `q` for these names, by default all that do not follow others."""
        names = names or self.names
        message = JointState(name=names, position=[float(q[self.space.index[name]]) for name in names])
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, SECOND_NS)
        for key, value in arrays.items():
            setattr(message, key, value)
        return message

    @property
    def names(self) -> list[str]:
        leaders = (joint for joint in self.space.joints if joint.mimic is None)
        return [name for joint in leaders for name in self.space.names[self.space.joint_positions[joint.name]]]

    def give(self, message: JointState) -> dict[str, Any] | Refusal:
        """Return the transforms that come out, by child frame."""
        data = with_padding(serialize_message(message), self.padding)
        if self.arrives_by_stamp:
            stamp = message.header.stamp
            stamp_ns = stamp.sec * SECOND_NS + stamp.nanosec or self.last_ns + SECOND_NS
            self.steady.now_ns += max(0, stamp_ns - self.last_ns)
            self.last_ns = stamp_ns
        for layout in self.robot.fast_path.layouts if self.may_be_fast else ():
            out = layout.take(data, self.now)
            if out is not None:
                self.fast = True
                messages: list[Any] = [bytes(out)] if out else []
                if layout.sender.arrived_ns >= self.robot.check_ns:
                    messages += self.robot.held(layout.sender)
                return read(messages)
        self.fast = False
        result = self.robot.joint_state(self.reader.read(data), self.now)
        return result if isinstance(result, Refusal) else read(result)


class Steady:
    """A steady clock of the test, in place of the module `time`."""

    def __init__(self) -> None:
        self.now_ns = SECOND_NS

    def monotonic_ns(self) -> int:
        return self.now_ns


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> Steady:
    clock = Steady()
    monkeypatch.setattr("robot_semantics.live.robot.time", clock)
    monkeypatch.setattr("robot_semantics.live.buffer.time", clock)
    monkeypatch.setattr("robot_semantics.live.fast_path.monotonic_ns", clock.monotonic_ns)
    monkeypatch.setattr(Fed, "steady", clock, raising=False)
    return clock


def read(messages: Iterable[Any]) -> dict[str, Any]:
    """Return the transforms in these messages by child frame."""
    items = [item for data in messages for item in deserialize_message(data, TFMessage).transforms]
    found = {item.child_frame_id: item for item in items}
    assert len(found) == len(items)
    return found


def with_padding(data: bytes, filler: int) -> bytes:
    """Return a joint state with other bytes where nothing is meant: after strings, up to the next multiple of four."""
    changed = bytearray(data)

    def past(at: int) -> int:
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        after = end + -end % 4
        changed[end:after] = bytes([filler]) * (after - end)
        return after

    at = past(12)
    count = int.from_bytes(data[at : at + 4], "little")
    at += 4
    for _ in range(count):
        at = past(at)
    if at % 8:
        # The doubles, counted from behind the encapsulation, do not follow at once.
        changed[at + 4 : at + 8] = bytes([filler]) * 4
    return bytes(changed)


def numbers(item: Any) -> list[float]:
    t, r = item.transform.translation, item.transform.rotation
    return [t.x, t.y, t.z, r.x, r.y, r.z, r.w]


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
@pytest.mark.parametrize("shuffled", [False, True], ids=["in_order", "shuffled"])
def test_transforms_are_those_of_the_general_form(model: RobotModel, shuffled: bool) -> None:
    fed, general = Fed(model), LocalTransforms(model)
    rng = np.random.default_rng(7)
    names = fed.names
    if shuffled:
        random.Random(7).shuffle(names)
    ways = []
    for number in range(1, 30):
        q = fed.space.with_mimics(fed.space.random(rng))
        stamp_ns = number * SECOND_NS + 999_999_999
        found = fed.give(fed.message(q, stamp_ns, names, velocity=[0.5] * len(names)))
        assert isinstance(found, dict)
        ways.append(fed.fast)
        expected = general.transforms(q)
        assert set(found) == {joint.child_link for joint in fed.space.joints}
        for joint in fed.space.joints:
            item = found[joint.child_link]
            actual = np.array(numbers(item))
            actual[3:] *= np.sign(actual[3:] @ expected[joint.index][3:])
            np.testing.assert_allclose(actual, expected[joint.index], atol=2e-15 + 1e-15 * np.abs(q).max())
            assert (item.header.stamp.sec, item.header.stamp.nanosec) == (number, 999_999_999)
        np.testing.assert_allclose(fed.robot.values.positions, q, atol=1e-15)
        assert (fed.robot.values.stamps_ns == stamp_ns).all()
    # The first makes the names known; after that nothing is unusual any more.
    assert ways[1:] == [True] * 28


def fed_and_known(**settings: Any) -> tuple[Fed, Any]:
    fed = Fed(models()[0], **settings)
    q = fed.space.with_mimics(np.full(fed.space.size, 0.25))
    for number in (1, 2, 3):
        fed.give(fed.message(q, number * SECOND_NS))
    assert fed.fast
    return fed, q


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("joint", ["turn", "slide", "plane/theta"])
def test_a_position_that_is_no_number_is_refused_and_changes_nothing(joint: str, value: float) -> None:
    fed, q = fed_and_known(invalid=Invalid.REFUSE)
    bad = q.copy()
    bad[fed.space.index[joint]] = value
    refusal = fed.give(fed.message(bad, 4 * SECOND_NS))
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, f"'{joint}'" in refusal.message) == (Reason.NOT_FINITE, True)
    np.testing.assert_array_equal(fed.robot.values.positions, q)
    assert (fed.robot.values.stamps_ns == 3 * SECOND_NS).all()
    assert isinstance(fed.give(fed.message(q, 4 * SECOND_NS)), dict)
    assert fed.fast


@pytest.mark.parametrize(("value", "direct"), [(2.0**1008, True), (2.0**1009, False), (-8e307, False)])
def test_a_number_however_large_is_a_position(value: float, direct: bool) -> None:
    fed, q = fed_and_known()
    q[fed.space.index["slide"]] = value
    q = fed.space.with_mimics(q)
    found = fed.give(fed.message(q, 4 * SECOND_NS))
    assert isinstance(found, dict)
    assert fed.fast is direct
    np.testing.assert_array_equal(fed.robot.values.positions, q)


def test_velocities_and_efforts_are_there_when_asked_for() -> None:
    fed, q = fed_and_known()
    count = len(fed.names)
    arrays: dict[str, Any] = {
        "velocity": [0.1 * number for number in range(count)],
        "effort": [float(number) for number in range(count)],
    }
    for number in (4, 5, 6):
        fed.give(fed.message(q, number * SECOND_NS, **arrays))
    assert fed.fast
    turn, half = (fed.space.joint_velocities[name].start for name in ("turn", "half"))
    at = fed.names.index("turn")
    assert fed.robot.values.velocities[turn] == arrays["velocity"][at]
    assert fed.robot.values.velocities[half] == -0.5 * arrays["velocity"][at]
    assert fed.robot.values.efforts[turn] == arrays["effort"][at]
    # Without them they are unknown again, whichever way the message goes.
    fed.give(fed.message(q, 7 * SECOND_NS))
    assert np.isnan(fed.robot.values.velocities).all()


def test_a_late_message_is_refused_and_one_without_stamp_gets_the_nodes_time() -> None:
    fed, q = fed_and_known()
    refusal = fed.give(fed.message(q, 2 * SECOND_NS))
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.TIME_BACKWARDS
    fed, q = fed_and_known(ignore_timestamp=True)
    found = fed.give(fed.message(q, 0))
    assert isinstance(found, dict)
    assert {item.header.stamp.sec for item in found.values()} == {1}


def test_what_is_not_due_is_kept_but_not_sent() -> None:
    fed, q = fed_and_known(publish_interval_ns=SECOND_NS)
    moved = fed.space.with_mimics(q + 0.125)
    assert fed.give(fed.message(moved, 3 * SECOND_NS + 5)) == {}
    assert fed.fast
    np.testing.assert_array_equal(fed.robot.values.positions, moved)
    assert len(fed.give(fed.message(moved, 4 * SECOND_NS))) == len(fed.space.joints)


def test_partial_messages_and_complete_ones_may_alternate() -> None:
    fed, q = fed_and_known()
    general = LocalTransforms(fed.model)
    rng = np.random.default_rng(3)
    q = q.copy()
    for number in range(4, 20):
        names = ["slide"] if number % 3 == 0 else fed.names
        fresh = fed.space.random(rng)
        for name in names:
            q[fed.space.index[name]] = fresh[fed.space.index[name]]
        q = fed.space.with_mimics(q)
        found = fed.give(fed.message(q, number * SECOND_NS, names))
        assert isinstance(found, dict)
        assert "c" in found
        expected = general.transforms(q)
        for joint in fed.space.joints:
            if joint.child_link in found:
                np.testing.assert_allclose(numbers(found[joint.child_link])[:3], expected[joint.index][:3], atol=1e-14)
        np.testing.assert_allclose(fed.robot.values.positions, q, atol=1e-15)


def test_a_message_of_another_length_or_other_names_goes_the_general_way() -> None:
    fed, q = fed_and_known()
    found = fed.give(fed.message(q, 4 * SECOND_NS, velocity=[0.0] * len(fed.names)))
    assert (isinstance(found, dict), fed.fast) == (True, False)
    longer = fed.message(q, 5 * SECOND_NS)
    longer.position.append(1.0)
    refusal = fed.give(longer)
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.WRONG_LENGTH
    other = fed.message(q, 6 * SECOND_NS)
    other.name[0] = "nobody"
    assert not isinstance(fed.give(other), Refusal)
    assert not fed.fast
    assert fed.robot.notices == ["joint_states: the robot has no joint 'nobody'; its values are not used"]


def test_the_joints_of_a_moving_base_go_the_direct_way_while_the_base_is_heard() -> None:
    model = models()[1]
    base = model.root_joint.name
    fed = Fed(model, virtual_joints={base: VirtualJointSettings(source=Source.MULTI_DOF)})
    names = [name for name in fed.names if not name.startswith(base)]
    q = np.array(fed.space.neutral())
    pose, ways = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), []
    for number in range(200):
        stamp_ns = SECOND_NS + number * 1_000_000
        if number % 20 == 0 and number < 120:
            fed.robot.motion(base, pose, None, stamp_ns)
        found = fed.give(fed.message(q, stamp_ns, names))
        ways.append(fed.fast)
        assert isinstance(found, dict)
        assert "base_footprint" not in found
    assert sum(ways) > 190


def test_two_senders_of_different_joints_both_go_the_direct_way() -> None:
    fed = Fed(models()[1], complete_after_ns=SECOND_NS)
    names = fed.names
    q = np.array(fed.space.neutral())
    for number in range(1, 400):
        sender = names[:3] if number % 2 else names[3:]
        q[:] = fed.space.with_mimics(q + 0.001)
        found = fed.give(fed.message(q, SECOND_NS + number * 1_000_000, sender))
        assert isinstance(found, dict)
        assert len(found) >= 1
        if number > 20:
            assert fed.fast
    for name in names:
        assert fed.robot.values.positions[fed.space.index[name]] == pytest.approx(q[fed.space.index[name]], abs=0.0011)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_comes_both_ways_say_the_same(seed: int, steady: Steady) -> None:
    rng = random.Random(seed)
    model = models()[1]
    settings = {
        "publish_interval_ns": rng.choice([0, SECOND_NS // 20]),
        "complete_after_ns": rng.choice([0, SECOND_NS // 10]),
        "default_positions": rng.choice(["none", "zero"]),
        "ignore_timestamp": rng.random() < 0.2,
        "virtual_joints": {"world_joint": VirtualJointSettings(source=Source.MULTI_DOF)} if seed % 2 else {},
    }
    direct, general = Fed(model, **settings), Fed(model, **settings)
    general.may_be_fast = direct.arrives_by_stamp = general.arrives_by_stamp = False
    names = direct.names
    part = rng.randrange(1, len(names) - 1)
    senders = [names, names[:part], names[part:], rng.sample(names, len(names)), [*names, "stranger"]]
    base = model.root_joint.name
    values = np.random.default_rng(seed)
    stamp_ns, ahead_ns, went = SECOND_NS, 0, 0
    for _ in range(500):
        step_ns = rng.choice([0, 1_000_000, 1_000_000, 20_000_000, 20_000_000, 400_000_000, -3_000_000])
        stamp_ns += step_ns
        # Messages may arrive late, or many together.
        steady.now_ns += rng.choice([0, 1_000_000, max(0, step_ns), max(0, step_ns), 50_000_000])
        if rng.random() < 0.01:
            stamp_ns -= 2 * SECOND_NS
        # The stamps of a few messages are far ahead.
        if (ahead_ns and rng.random() < 0.3) or rng.random() < 0.02:
            ahead_ns = 20 * SECOND_NS - ahead_ns
            stamp_ns += 2 * ahead_ns - 20 * SECOND_NS
        # Long stretches of the same, as in life, with a few changes.
        kind = rng.random()
        if kind < 0.02:
            senders.insert(0, senders.pop(rng.randrange(len(senders))))
        q = direct.space.with_mimics(direct.space.random(values))
        one: dict[str, Any] | Refusal
        other: dict[str, Any] | Refusal
        if kind > 0.99:
            speeds, joints = np.zeros(direct.space.velocity_size), direct.robot.moving.names
            one, other = (read(fed.robot.restore(q, speeds, joints, joints, stamp_ns)) for fed in (direct, general))
        elif kind > 0.9 and seed % 2:
            pose = np.array([*q[:2], 0.0, 0.0, 0.0, np.sin(q[2] / 2), np.cos(q[2] / 2)])
            moved = [fed.robot.motion(base, pose, None, stamp_ns) for fed in (direct, general)]
            one, other = (result if isinstance(result, Refusal) else read(result) for result in moved)
        else:
            extra = {} if kind < 0.8 else {"velocity": [0.5] * len(senders[rng.random() < 0.1])}
            names = senders[1 if kind < 0.2 else 0]
            message = JointState(name=names, position=[float(q[direct.space.index.get(name, 0)]) for name in names])
            message.velocity = extra.get("velocity", [])
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, SECOND_NS)
            if kind < 0.005:
                message.position[0] = np.nan
            one, other = direct.give(message), general.give(message)
            went += direct.fast
        if isinstance(one, Refusal) or isinstance(other, Refusal):
            assert one == other
            continue
        assert set(one) == set(other)
        for frame, item in one.items():
            assert item.header == other[frame].header
            assert numbers(item) == pytest.approx(numbers(other[frame]), abs=1e-14)
        for attribute in ("positions", "velocities", "efforts", "stamps_ns", "is_known", "measured"):
            np.testing.assert_array_equal(
                getattr(direct.robot.values, attribute), getattr(general.robot.values, attribute)
            )
    # With a base that is silent between its own messages almost no message takes the fast path.
    assert went or seed % 2


def test_padding_may_hold_anything() -> None:
    fed, q = fed_and_known()
    ways = []
    for number in range(4, 40):
        fed.padding = number % 11
        moved = fed.space.with_mimics(q + number)
        found = fed.give(fed.message(moved, number * SECOND_NS))
        assert isinstance(found, dict)
        assert len(found) == len(fed.space.joints)
        np.testing.assert_allclose(fed.robot.values.positions, moved, atol=1e-14)
        ways.append(fed.fast)
    # A sender with eleven buffers: when each has been seen once, all go the direct way.
    assert ways[11:] == [True] * 25


def test_after_a_restore_nothing_older_is_sent() -> None:
    fed, q = fed_and_known()
    restored = fed.space.with_mimics(q + 0.5)
    joints = fed.robot.moving.names
    fed.robot.restore(restored, np.zeros(fed.space.velocity_size), joints, joints, SECOND_NS)
    np.testing.assert_array_equal(fed.robot.values.positions, restored)
    found = fed.give(fed.message(q, 2 * SECOND_NS))
    assert isinstance(found, dict)
    assert len(found) == len(fed.space.joints)
    np.testing.assert_array_equal(fed.robot.values.positions, q)


def test_messages_without_stamp_go_the_direct_way_too() -> None:
    fed, q = fed_and_known()
    times_ns = iter(range(4 * SECOND_NS, 100 * SECOND_NS, SECOND_NS))
    fed.now = lambda: next(times_ns)
    for second in range(4, 10):
        found = fed.give(fed.message(q, 0))
        assert fed.fast
        assert isinstance(found, dict)
        assert {item.header.stamp.sec for item in found.values()} == {second}


@pytest.mark.parametrize("fault", ["late", "not_finite", "wrong_length", "duplicate", "unknown", "empty"])
def test_a_publisher_that_was_refused_goes_the_direct_way_again(fault: str) -> None:
    fed, q = fed_and_known(invalid=Invalid.REFUSE)
    for second in range(4, 60, 4):
        bad = fed.message(q, (1 if fault == "late" else second) * SECOND_NS)
        if fault == "not_finite":
            bad.position[0] = float("nan")
        elif fault == "wrong_length":
            bad.position.append(1.0)
        elif fault == "duplicate":
            bad.name[0] = bad.name[-1]
        elif fault == "unknown":
            bad.name = [f"no_{name}" for name in bad.name]
        elif fault == "empty":
            bad.name, bad.position = [], []
        assert isinstance(fed.give(bad), Refusal)
        went = []
        for more in range(1, 6):
            fed.padding = second + more % 2
            stamp_ns = second * SECOND_NS + more * SECOND_NS // 10
            assert not isinstance(fed.give(fed.message(q, stamp_ns)), Refusal)
            went.append(fed.fast)
        assert went[-1], (fault, second, went)


def test_whatever_the_names_are_padded_with_they_are_known() -> None:
    fed, q = fed_and_known()
    for number in range(200):
        fed.padding = number
        fed.give(fed.message(q, (4 + number) * SECOND_NS))
        assert fed.fast
    assert len(fed.robot.fast_path.layouts) == 1


def loop_with_an_arm() -> RobotModel:
    """Return a four-bar linkage with an arm on its rocker, and a pointer that follows the rocker."""
    follows = '<mimic joint="rocker" multiplier="-2"/>'
    more = linkages.joint("arm", "continuous", "rocker_link", "arm_link", (0, 0, 1), (0, 1, 0))
    more += linkages.joint("pointer", "continuous", "base", "pointer_link", (0, 0, 1), (0, 0, 1), follows)
    text = linkages.four_bar_text().replace(
        "</robot>", f'<link name="arm_link"/><link name="pointer_link"/>{more}</robot>'
    )
    return robot_from_text(text, linkages.srdf("coupler", "rocker"))


@pytest.mark.parametrize("names", [["arm", "crank"], ["rocker", "crank", "coupler"], ["crank"]])
def test_loops_are_closed_on_the_fast_path(names: list[str]) -> None:
    fed, general = Fed(loop_with_an_arm(), complete_after_ns=10**12), Fed(loop_with_an_arm(), complete_after_ns=10**12)
    general.may_be_fast = False
    theta = np.arange(60, dtype=np.float64) * 0.05
    closed = linkages.four_bar_positions(linkages.FOUR_BAR, theta, 1.0)
    at = [fed.space.index[name] for name in ("crank", "coupler", "rocker")]
    went = []
    for number, row in enumerate(closed, 10):
        q = np.zeros(fed.space.size)
        q[at], q[fed.space.index["arm"]] = row, 0.1 * number
        if number > 10:
            q[at[1:]] += (0.01, -0.02)
        # The first message has all joints: it chooses the branch.
        message = fed.message(q, number * SECOND_NS // 100, fed.names if number == 10 else names, velocity=[])
        found, expected = fed.give(message), general.give(message)
        went.append(fed.fast)
        assert isinstance(found, dict)
        assert isinstance(expected, dict)
        assert found.keys() == expected.keys()
        for child, item in found.items():
            assert np.abs(np.subtract(numbers(item), numbers(expected[child]))).max() < 1e-11, child
    assert all(went[4:])
    values, others = fed.robot.values, general.robot.values
    off = np.remainder(values.positions[at] - closed[-1] + np.pi, 2.0 * np.pi) - np.pi
    assert np.abs(off).max() < 1e-11
    assert values.positions[fed.space.index["pointer"]] == pytest.approx(-2.0 * values.positions[at[2]], abs=1e-12)
    assert np.array_equal(values.stamps_ns, others.stamps_ns)
    assert fed.robot.loops is not None
    measured = {"coupler": 0.01, "rocker": 0.02} if "rocker" in names else {"coupler": 0.0, "rocker": 0.0}
    assert fed.robot.loops.take_differences() == pytest.approx(measured, abs=1e-9)


def test_a_message_without_all_driven_joints_of_a_loop_takes_the_general_path() -> None:
    fed = Fed(loop_with_an_arm())
    q = np.zeros(fed.space.size)
    for second in range(1, 9):
        fed.give(fed.message(q, second * SECOND_NS, ["coupler", "rocker"] if second > 2 else fed.names))
        assert not fed.fast or second == 2


def test_beside_a_loop_other_joints_take_the_fast_path() -> None:
    fed = Fed(loop_with_an_arm())
    for second in range(1, 9):
        fed.give(fed.message(np.zeros(fed.space.size), second * SECOND_NS, ["arm"]))
    assert fed.fast


def test_a_message_with_an_old_sequence_number_takes_the_general_path() -> None:
    fed, q = fed_and_known()
    (layout,) = fed.robot.fast_path.layouts

    def take(second: int, sequence: int) -> bool:
        fed.steady.now_ns += SECOND_NS
        return layout.take(serialize_message(fed.message(q, second * SECOND_NS)), fed.now, sequence) is not None

    assert [take(4, 7), take(5, 8), take(6, 8), take(6, 7), take(6, 9)] == [True, True, False, False, True]
    assert layout.sender.watch.sequence == 9
    assert layout.sender.last_ns == 6 * SECOND_NS


def test_of_two_messages_with_the_same_joint_the_one_that_arrived_last_is_used() -> None:
    fed = Fed(robot_from_text(MIXED))
    fed.arrives_by_stamp = False
    names = [["turn", "slide"], ["slide", "plane/x", "plane/y", "plane/theta"]]
    q = np.array(fed.space.neutral())
    for second in (1, 2, 3):
        for at, sender in enumerate(names):
            fed.steady.now_ns += SECOND_NS // 2
            # The clock of the second sender is half an hour behind.
            fed.give(fed.message(q, (3600 - 1800 * at + second) * SECOND_NS, sender))
    assert fed.fast
    for at, sender in ((0, names[0]), (1, names[1])):
        q[fed.space.index["slide"]] = 0.25 + at
        fed.steady.now_ns += SECOND_NS // 2
        fed.give(fed.message(q, (3600 - 1800 * at + 4) * SECOND_NS, sender))
        assert fed.fast
    assert fed.robot.values.positions[fed.space.index["slide"]] == 1.25


def test_a_layout_is_used_again_after_a_message_on_the_general_path() -> None:
    fed, q = fed_and_known()
    layouts = fed.robot.fast_path.layouts
    velocity = [0.0] * len(fed.names)
    for second in range(4, 8):
        fed.give(fed.message(q, second * SECOND_NS, velocity=velocity if second % 2 else []))
        fed.robot.fast_path.epoch += 1
    assert len(fed.robot.fast_path.layouts) == 2
    assert set(layouts) < set(fed.robot.fast_path.layouts)
