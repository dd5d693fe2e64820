# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Senders: order of stamps within one sender, silence by arrival, clocks, resets, and several publishers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from support import loops as linkages
from tf2_msgs.msg import TFMessage

from robot_semantics.cdr.joint_states import JointStateReader
from robot_semantics.live.health import SenderRow, state_of
from robot_semantics.live.joint_state import Reason, Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.senders import (
    NEVER_NS,
    RARE,
    RESET_NS,
    WINDOW,
    Arrival,
    ClockedSender,
    PublisherWatch,
    Reference,
    Sender,
    Senders,
    StampOrder,
    reference_of,
)
from robot_semantics.live.settings import RobotSettings, SenderKind
from robot_semantics.model.loading import robot_from_text
from robot_semantics.recording.read.clocks import scan_stamps

S, MS = 1_000_000_000, 1_000_000
TENTH = S // 10

# Stamps in tenths of a second, one message each tenth of a second.
CASES = [
    ([50, 50, 51], ". . ."),
    # A single late one, however far back; the next ones are in order.
    ([50, 49, 51], ". late ."),
    ([50, 10, 51], ". late ."),
    # Two in order, the same stamp twice too: as where a clock stands still.
    ([50, 10, 11, 12], ". late reset ."),
    ([50, 10, 10, 12], ". late reset ."),
    ([50, 40, 40], ". late reset"),
    # Less than a second back is not a reset, even for a long time.
    ([50, 41, 42, 43, 49, 50], ". late late late late ."),
    # Two that are not in order among themselves, and two with one in order between them.
    ([50, 20, 10, 10], ". late late reset"),
    ([50, 20, 51, 30], ". late . late"),
    ([50, 20, 45, 21], ". late late late"),
    # Up to three stamps ahead: the clock was not reset if they return to the old values.
    ([50, 90, 51, 52, 53], ". . late return ."),
    ([50, 90, 91, 92, 51, 52, 53], ". . . . late return ."),
    ([50, 90, 91, 92, 93, 51, 52, 53], ". . . . . late reset ."),
    ([50, 90, 49, 49], ". . late reset"),
    ([50, 10, 11, 2, 3, 1, 1], ". late reset late late late reset"),
    # More than ten seconds ahead: the next message decides.
    ([50, 900, 51, 52], ". stray . ."),
    ([50, 900, 901, 902], ". stray . ."),
    ([50, 900, 3000, 51], ". stray stray ."),
    ([50, 51, 900, 901, 902, 53, 54], ". . stray . . late return"),
]


def arrivals(stamps: list[int], **how: Any) -> list[str]:
    order, words = StampOrder(), {"in order": "."}
    found = []
    for count, stamp in enumerate(stamps, 1):
        last, now = order.last_ns, count * TENTH
        clock = last + TENTH if last != NEVER_NS else NEVER_NS
        found.append(order.take(stamp * TENTH, now, clock, count=count, **how).value)
    return [words.get(word, word) for word in found]


@pytest.mark.parametrize(("stamps", "expected"), CASES)
def test_how_a_stamp_fits_to_those_before(stamps: list[int], expected: str) -> None:
    assert " ".join(arrivals(stamps)) == expected


@pytest.mark.parametrize(("stamps", "expected"), CASES)
def test_a_recording_has_its_resets_where_the_new_clock_begins(stamps: list[int], expected: str) -> None:
    # Messages before the first case: a few first messages ahead of all others are no run of their own.
    before = [46, 47, 48, 49]
    scan = scan_stamps(np.array(before + stamps) * TENTH, np.arange(len(before) + len(stamps)) * TENTH)
    first = [i + 3 for i, word in enumerate(expected.split()) if word == "reset"]
    if "late late reset" not in expected:
        assert [index for index, _ in scan.resets] == first
    assert len(scan.resets) == len(first)
    # A stray that the next message does not confirm is left out, and so are up to three stamps ahead.
    words = expected.split()
    following = [*stamps[1:], 0]
    strays = [i for i, word in enumerate(words) if word == "stray" and abs(following[i] - stamps[i]) > 100]
    if "return" in words:
        strays = [i for i, stamp in enumerate(stamps) if stamp >= 90]
    assert [index - len(before) for index, _ in scan.strays] == strays


def test_of_several_publishers_no_message_is_late_and_a_reset_takes_two_seconds_and_twenty_messages() -> None:
    # Two publishers, five seconds apart.
    assert set(arrivals([100, 50, 101, 51, 52, 102, 53], mixed=True)) == {"."}
    stamps = [100, *range(10, 60)]
    words = arrivals(stamps, mixed=True)
    # After 20 messages and 2 s, no stamp has come within a second of the newest.
    assert [i for i, word in enumerate(words) if word == "reset"] == [21]


def test_several_publishers_show_by_three_returns_in_twenty_messages() -> None:
    watch = PublisherWatch()
    for sequence in (1, 2, 3, 1, 4, 5, 6):
        watch.note_sequence(sequence)
    # A publisher that restarts returns once.
    assert (watch.several, watch.is_undecided) == (False, True)
    for sequence in (2, 7, 3):
        watch.note_sequence(sequence)
    assert watch.several
    for sequence in range(8, 8 + 99):
        watch.note_sequence(sequence)
    assert watch.several
    watch.note_sequence(200)
    assert not watch.several


@pytest.mark.parametrize("every", [5, 50, 500])
def test_a_publisher_that_rarely_sends_is_seen_beside_a_quick_one_until_it_stops(every: int) -> None:
    watch, was_several = PublisherWatch(), []
    for number in range(12 * every):
        watch.note_sequence(1000 + number)
        if number % every == 0:
            watch.note_sequence(60 + number // every)
        was_several.append(watch.several)
    assert was_several.index(True) <= 3 * every + 1
    assert all(was_several[3 * every + 1 :])
    for number in range(12 * every, 15 * every + 120):
        watch.note_sequence(1000 + number)
    assert not watch.several


@pytest.mark.parametrize("lost", [(), (3,), (20, 21), (44, 45, 46), range(40, 300, 7)])
def test_publishers_that_restart_are_one_whatever_is_lost(lost: Sequence[int]) -> None:
    watch = PublisherWatch()
    for _ in range(2):
        for sequence in range(1, 300):
            if sequence not in lost:
                watch.note_sequence(sequence)
                assert not watch.several


def heard(senders: Senders, name: str, stamps: list[float], arrivals_s: list[float]) -> Sender:
    sender, _ = senders.find(SenderKind.JOINT_STATES, "joint_states", (name,))
    for stamp, arrival in zip(stamps, arrivals_s, strict=True):
        senders.take(sender, round(stamp * S), round(arrival * S))
    return sender


def test_a_clock_goes_on_as_the_stamps_of_another_sender() -> None:
    senders = Senders()
    slow = heard(senders, "slow", [100.0], [0.0])
    assert senders.clock_ns(slow, 2 * S) == 102 * S
    # A simulation at a third of the speed, on another clock; the slow sender was heard again after it began.
    heard(senders, "fast", [7.0, 7.1], [2.0, 2.3])
    heard(senders, "slow", [101.0], [2.3])
    heard(senders, "fast", [7.2, 7.3, 7.4], [2.6, 2.9, 3.2])
    assert senders.clock_ns(slow, round(3.2 * S)) == pytest.approx(101.3 * S, abs=10)
    # Since the newest message of the other, steady time counts.
    assert senders.clock_ns(slow, round(3.4 * S)) == pytest.approx(101.5 * S, abs=10)


def test_a_step_counts_ten_seconds_at_most_and_a_step_back_counts_nothing() -> None:
    senders = Senders()
    slow = heard(senders, "slow", [100.0], [0.0])
    other = heard(senders, "fast", [7.0, 7.1], [0.1, 0.2])
    slow = heard(senders, "slow", [100.2], [0.2])
    senders.take(other, 500 * S, round(0.3 * S))
    senders.take(other, 500 * S + TENTH, round(0.4 * S))
    assert senders.clock_ns(slow, round(0.4 * S)) == pytest.approx(110.2 * S, abs=10)


def test_silence_is_by_arrival_and_by_the_usual_interval() -> None:
    senders = Senders()
    once = heard(senders, "once", [1.0], [0.0])
    assert once.silent_after_ns(TENTH) == TENTH + S
    slow = heard(senders, "slow", [1.0 + 0.25 * i for i in range(30)], [0.25 * i for i in range(30)])
    assert slow.silent_after_ns(TENTH) == 625 * MS
    fast = heard(senders, "fast", [0.02 * i for i in range(30)], [0.02 * i for i in range(30)])
    assert fast.silent_after_ns(TENTH) == TENTH
    last_ns = slow.arrived_ns
    assert not slow.is_silent(last_ns + 625 * MS, TENTH)
    assert slow.is_silent(last_ns + 626 * MS, TENTH)
    # A late message is an arrival.
    senders.take(slow, 2 * S, last_ns + S)
    assert not slow.is_silent(last_ns + S, TENTH)


def test_a_reset_concerns_the_senders_whose_clock_stood_within_a_second() -> None:
    senders = Senders()
    first = heard(senders, "first", [100.0, 100.1], [0.0, 0.1])
    near = heard(senders, "near", [100.9, 101.0], [0.0, 0.1])
    far = heard(senders, "far", [98.0, 98.1], [0.0, 0.1])
    for stamp in (5.0, 5.1):
        arrival = senders.take(first, round(stamp * S), round(0.2 * S))
    assert arrival is Arrival.RESET
    assert senders.reset(senders.clock_before_ns, round(0.2 * S), but=first) == [near]
    assert (near.is_free, near.may_be_held) == (True, False)
    assert (far.is_free, far.may_be_held) == (False, True)


def test_while_two_publishers_are_in_the_graph_a_restart_is_no_reset_before_twenty_messages() -> None:
    senders = Senders()
    sender, _ = senders.find(SenderKind.JOINT_STATES, "joint_states", ("a",))
    for number in range(30):
        senders.take(sender, 100 * S + number * TENTH, number * TENTH, 1 + number, lambda: 2)
    # Another publisher begins two seconds behind: its sequence numbers begin at 1.
    found = []
    for number in range(30, 50):
        found.append(senders.take(sender, 98 * S + number * TENTH, number * TENTH, number - 29, lambda: 2))
        found.append(senders.take(sender, 98 * S + number * TENTH, number * TENTH, number - 29, lambda: 2))
    assert Arrival.RESET not in found[:30]
    assert Arrival.LATE not in found


def test_the_reference_is_a_topic_of_the_clock_that_most_share() -> None:
    def place(*senders: tuple[str, str, float, int]) -> list[int]:
        return reference_of(
            [ClockedSender(SenderKind(kind), topic, round(clock * S), count) for kind, topic, clock, count in senders]
        )

    assert place() == []
    joints, odometry, tf = "joint_states", "odometry", "tf"
    assert place((tf, "/tf", 0, 9), (odometry, "/odom", 0, 5)) == [1]
    assert place((joints, "/a", 0, 9), (joints, "/b", 0, 10)) == [1]
    # The clock of the odometry decides, although the other topic has more messages.
    assert place((joints, "/a", 0, 9), (joints, "/b", 70, 1000), (odometry, "/odom", 3, 5)) == [0]
    assert place((joints, "/a", 0, 9), (joints, "/a", -3, 5), (joints, "/a", 70, 5)) == [0, 1]


def test_the_reference_is_that_of_the_definition_for_random_senders() -> None:
    def by_definition(senders: list[ClockedSender]) -> list[int]:
        for kinds in (("joint_states", "multi_dof"), ("odometry",), ("tf",)):
            best: tuple[int, int] = (0, 0)
            own: list[int] = []
            for one in senders:
                if one.kind in kinds:
                    near = [i for i, two in enumerate(senders) if abs(two.clock_ns - one.clock_ns) <= 10 * S]
                    same = [i for i in near if (senders[i].kind, senders[i].topic) == (one.kind, one.topic)]
                    score = len(near), sum(senders[i].messages for i in same)
                    if score > best:
                        best, own = score, same
            if own:
                return own
        return []

    draw = random.Random(3)
    kinds = (*SenderKind, SenderKind.TF)
    for _ in range(2000):
        senders = [
            ClockedSender(
                SenderKind(draw.choice(kinds)), draw.choice("ab"), draw.randrange(0, 40, 5) * S, draw.randrange(4)
            )
            for _ in range(draw.randrange(12))
        ]
        assert reference_of(senders) == by_definition(senders), senders


def test_of_too_many_senders_the_one_heard_longest_ago_is_forgotten() -> None:
    draw, senders, heard = random.Random(4), Senders(5), dict[str, int]()
    for now_ns in range(3000):
        name = str(draw.randrange(8))
        if name not in heard and len(heard) == 5:
            del heard[min(heard, key=heard.__getitem__)]
        sender, is_new = senders.find(SenderKind.TF, "/tf", (name,))
        assert is_new == (name not in heard)
        sender.arrive(now_ns)
        heard[name] = now_ns
        assert {one.names[0] for one in senders} == set(heard)


def test_many_senders_cost_little_more_than_their_number() -> None:
    # 40,000 names, each once; before, the table, the clocks and the reference cost the square of the number.
    begin_s, senders = time.process_time(), Senders(2000)
    for number in range(40_000):
        sender, _ = senders.find(SenderKind.TF, "/tf", (str(number),))
        sender.arrive(number)
        sender.last_ns = number
    assert len(senders.clocks(50_000)) == 2000
    assert len(reference_of([ClockedSender(SenderKind.TF, "/tf", number, 1) for number in range(10_000)])) == 10_000
    assert time.process_time() - begin_s < 5.0


def clocks_of(senders: Senders, now_ns: int, space: str = "") -> list[tuple[str, Sender, int]]:
    return [(f"{space}/{sender.topic}", sender, clock_ns) for sender, clock_ns in senders.clocks(now_ns)]


def test_the_reference_is_the_topic_of_one_robot() -> None:
    robots, reference, stamps = (Senders(), Senders()), Reference(), list(range(100, 110))
    ahead = heard(robots[0], "a", [stamp + 3.0 for stamp in stamps[5:]], [float(at) for at in range(5, 10)])
    busy = heard(robots[1], "a", [float(stamp) for stamp in stamps], [float(at) for at in range(10)])
    clocks = [*clocks_of(robots[0], 9 * S, "/one"), *clocks_of(robots[1], 9 * S, "/two")]
    assert reference.newest(clocks, 9 * S) is busy
    assert ahead not in reference.members


def test_the_reference_stays_while_it_speaks() -> None:
    reference, senders = Reference(), Senders()
    first = heard(senders, "first", [100.0, 100.1], [0.0, 0.1])
    assert reference.newest(clocks_of(senders, S // 2), S // 2) is first
    odometry, _ = senders.find(SenderKind.ODOMETRY, "/odom", ("odom", "base"))
    for number in range(100):
        senders.take(odometry, 7 * S + number * TENTH, number * TENTH)
    senders.take(first, 101 * S, 9 * S)
    assert reference.newest(clocks_of(senders, 10 * S), 10 * S) is first
    # The joint states are silent, the odometry speaks.
    senders.take(odometry, 19 * S, 30 * S)
    senders.take(odometry, 19 * S, 30 * S)
    assert reference.newest(clocks_of(senders, 30 * S), 30 * S) is odometry


# A robot: what goes out, with which stamps.

URDF = """<robot name="r"><link name="base"/><link name="one"/><link name="two"/><link name="pad"/>
<joint name="left" type="continuous"><parent link="base"/><child link="one"/></joint>
<joint name="right" type="continuous"><parent link="base"/><child link="two"/></joint>
<joint name="cart" type="planar"><parent link="base"/><child link="pad"/><axis xyz="0 0 1"/></joint></robot>"""


def values_of(joint: str, value: float) -> dict[str, Any]:
    return {joint: value}


class Fed:
    """A robot with a steady clock of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, urdf: str = URDF, srdf: str | None = None, **how: Any) -> None:
        self.now_ns = S
        monkeypatch.setattr("robot_semantics.live.robot.time", self)
        monkeypatch.setattr("robot_semantics.live.buffer.time", self)
        monkeypatch.setattr("robot_semantics.live.fast_path.monotonic_ns", self.monotonic_ns)
        settings = RobotSettings(**{"publish_interval_ns": 0, "complete_after_ns": TENTH, **how})
        self.robot = RunningRobot("r", robot_from_text(urdf, srdf), settings)
        self.reader, self.sequence = JointStateReader(), 0

    def monotonic_ns(self) -> int:
        return self.now_ns

    def give(self, at: float, stamp: float, sequence: int | None = 0, **positions: Any) -> Any:
        """Give a message that arrives at a time [s]; return the stamps [s] of the transforms by child frame."""
        self.now_ns = S + round(at * S)
        names = [name.replace("__", "/") for name in positions]
        message = JointState(name=names, position=list(positions.values()))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(stamp * S), S)
        self.sequence += 1
        data, number = serialize_message(message), self.sequence if sequence == 0 else sequence
        result: Any = None
        for layout in self.robot.fast_path.layouts:
            out = layout.take(data, lambda: 0, number)
            if out is not None:
                result = (bytes(out),) if out else ()
                if layout.sender.arrived_ns >= self.robot.check_ns:
                    result += self.robot.held(layout.sender)
                break
        else:
            result = self.robot.joint_state(self.reader.read(data), lambda: 0, number)
        if isinstance(result, Refusal):
            return result
        items = [item for one in result for item in deserialize_message(one, TFMessage).transforms]
        return {item.child_frame_id: item.header.stamp.sec + item.header.stamp.nanosec / 1e9 for item in items}


@pytest.fixture
def fed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Fed]:
    return lambda *arguments, **how: Fed(monkeypatch, *arguments, **how)


@pytest.mark.parametrize("offset", [-3600.0, -0.3, 0.3, 2.0, 1000.0])
def test_a_sender_that_keeps_its_interval_gets_no_held_value(fed: Callable[..., Fed], offset: float) -> None:
    robot = fed()
    for number in range(200):
        at = 0.02 * number
        assert robot.give(at, 5000.0 + at + offset, right=at) == {"two": pytest.approx(5000.0 + at + offset)}
        if number % 12 == 0:
            # Four a second.
            assert robot.give(at, 5000.0 + at, left=at) == {"one": pytest.approx(5000.0 + at)}


def test_a_silent_sender_is_held_in_its_own_clock(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(10):
        robot.give(0.02 * number, 100.0 + 0.02 * number, left=1.0)
        robot.give(0.02 * number, 900.0 + 0.02 * number, right=0.0)
    held = {}
    for number in range(10, 40):
        at = 0.02 * number
        found = robot.give(at, 900.0 + at, right=0.0)
        assert isinstance(found, dict)
        if "one" in found:
            held[at] = found["one"]
    # Silent after 0.1 s; a held value is stamped 0.1 s before the sender's clock.
    assert min(held) == pytest.approx(0.18 + 0.12)
    assert list(held.values()) == [pytest.approx(100.0 + at - 0.1) for at in held]
    # It speaks again, with an earlier stamp than the held one.
    assert robot.give(0.8, 100.5, left=1.0) == {"one": pytest.approx(100.5)}


def test_held_values_follow_the_speed_of_simulated_time(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(5):
        robot.give(0.1 * number, 50.0 + 0.03 * number, left=1.0)
        robot.give(0.1 * number, 50.0 + 0.03 * number, right=1.0)
    for number in range(5, 1000):
        found = robot.give(0.1 * number, 50.0 + 0.03 * number, right=1.0)
        assert isinstance(found, dict)
        # As long as the clock now - 0.1 s is not beyond the last stamp, nothing is held.
        if 50.0 + 0.03 * number - 0.1 > 50.12 and number > 10:
            assert 50.0 + 0.03 * (number - 4) - 0.1 <= found["one"] <= 50.0 + 0.03 * number - 0.1 + 1e-6


def test_a_message_of_one_sender_far_ahead_concerns_no_other(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(20):
        at = 0.02 * number
        assert robot.give(at, 100.0 + at, left=at) == {"one": pytest.approx(100.0 + at)}
        if number == 10:
            refusal = robot.give(at, 1100.0, right=at)
            assert isinstance(refusal, Refusal)
            assert refusal.reason is Reason.TIME_AHEAD
        else:
            assert robot.give(at, 100.0 + at, right=at) == {"two": pytest.approx(100.0 + at)}
    # The next message confirms it.
    assert isinstance(robot.give(0.5, 1100.0, right=1.0), Refusal)
    found = robot.give(0.52, 1100.02, right=1.0)
    assert isinstance(found, dict)
    assert found["two"] == pytest.approx(1100.02)


def test_an_on_change_sender_under_a_fast_player_is_no_stray(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(300):
        at = 0.01 * number
        robot.give(at, 100.0 + 10.0 * at, right=at)
        if number % 150 == 100:
            # 15 s of recorded time after its last message, in 1.5 s.
            assert robot.give(at, 100.0 + 10.0 * at, left=at) == {"one": pytest.approx(100.0 + 10.0 * at)}


def test_a_reset_to_zero_makes_the_values_of_this_clock_unknown(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(5):
        robot.give(0.1 * number, 100.0 + 0.1 * number, left=1.0)
        robot.give(0.1 * number, 97.0 + 0.1 * number, right=2.0)
        robot.give(0.1 * number, 100.1 + 0.1 * number, cart__x=1.0, cart__y=2.0, cart__theta=0.5)
    for at, stamp in ((0.5, 0.0), (0.6, 0.1)):
        robot.give(at, stamp, left=3.0)
    # In the model's order: cart, left, right.
    assert robot.robot.values.measured.tolist() == [False, True, True]
    # It is not held until it speaks.
    for number in range(20):
        found = robot.give(0.7 + 0.1 * number, 0.2 + 0.1 * number, left=3.0)
        assert isinstance(found, dict)
        assert "pad" not in found
    assert robot.robot.clock_resets == [pytest.approx(100.4 * S, abs=0.2 * S)]


def test_changing_subsets_of_one_publisher_are_no_conflict(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(40):
        at = 0.02 * number
        names: dict[str, Any] = [{"left": at}, {"left": at, "right": -at}, {"right": -at, "cart__x": at}][number % 3]
        assert not isinstance(robot.give(at, 100.0 + at, **names), Refusal)
    assert robot.robot.contested() == {}
    assert robot.robot.values.positions[-2:].tolist() == [pytest.approx(0.78), pytest.approx(-0.76)]


@pytest.mark.parametrize("tells_sequence", [True, False])
def test_two_publishers_of_one_joint_are_a_conflict(fed: Callable[..., Fed], tells_sequence: bool) -> None:
    robot = fed()
    robot.robot.publishers = lambda sender: 2
    robot.robot.compare_values(not tells_sequence)
    for number in range(60):
        at = 0.05 * number
        sequence = 100 + number if tells_sequence else None
        assert not isinstance(robot.give(at, 100.0 + at, sequence, left=1.0, right=1.0), Refusal)
        if number % 2:
            # The other one is half a second behind, and has another set of joints.
            sequence = 1 + number if tells_sequence else None
            assert not isinstance(robot.give(at, 99.5 + at, sequence, left=0.0), Refusal)
    assert robot.robot.contested() == {"joint_states": ("left",)}


def test_two_publishers_two_seconds_apart_are_neither_late_nor_a_reset(fed: Callable[..., Fed]) -> None:
    robot = fed()
    robot.robot.publishers = lambda sender: 2
    moved = []
    for number in range(80):
        at = 0.05 * number
        moved.append(robot.give(at, 100.0 + at, 1000 + number, left=0.0))
        if number % 2:
            moved.append(robot.give(at, 98.0 + at, 1 + number, left=1.0))
    assert not any(isinstance(one, Refusal) for one in moved)
    assert robot.robot.notices == []
    assert robot.robot.contested() == {"joint_states": ("left",)}


def test_a_planar_joint_in_parts_has_the_clock_of_its_first_part(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(10):
        at = 0.02 * number
        assert robot.give(at, 300.0 + at, cart__y=at, cart__theta=0.0) == {}
        found = robot.give(at, 100.0 + at, cart__x=at)
        assert found == {"pad": pytest.approx(100.0 + at)}
    # While the first part is silent, its held values carry the joint.
    for number in range(10, 30):
        at = 0.02 * number
        last = robot.give(at, 300.0 + at, cart__y=1.0, cart__theta=0.0)
    assert isinstance(last, dict)
    assert last == {"pad": pytest.approx(100.0 + 0.58 - 0.1)}


def test_a_closed_loop_has_the_clock_of_its_first_input(fed: Callable[..., Fed]) -> None:
    follows = linkages.joint("arm", "continuous", "rocker_link", "arm_link", (0, 0, 1), (0, 1, 0))
    text = linkages.four_bar_text().replace("</robot>", f'<link name="arm_link"/>{follows}</robot>')
    robot = fed(text, linkages.srdf("coupler", "rocker"))
    theta = np.arange(60, dtype=np.float64) * 0.02
    closed = linkages.four_bar_positions(linkages.FOUR_BAR, theta, 1.0)
    first = dict(zip(("crank", "coupler", "rocker"), closed[0].tolist(), strict=True))
    robot.give(0.0, 50.0, **first)
    robot.give(0.0, 900.0, arm=0.0)
    for number in range(1, 30):
        at = 0.02 * number
        found = robot.give(at, 50.0 + at, crank=float(closed[number][0]))
        assert isinstance(found, dict)
        assert len(found) == 3
        assert list(found.values()) == [pytest.approx(50.0 + at)] * 3
        assert robot.give(at, 900.0 + at, arm=at) == {"arm_link": pytest.approx(900.0 + at)}
    # The first input is sent on change and falls silent: all its frames are held together, in its clock.
    for number in range(30, 60):
        at = 0.02 * number
        found = robot.give(at, 900.0 + at, arm=at)
        assert isinstance(found, dict)
    assert found.pop("arm_link") == pytest.approx(900.0 + at)
    assert len(found) == 3
    assert list(found.values()) == [pytest.approx(50.0 + at - 0.1)] * 3


def test_restored_and_renewed_values_have_the_clock_of_their_sender(fed: Callable[..., Fed]) -> None:
    robot = fed(default_positions="zero")
    for number in range(5):
        robot.give(0.02 * number, 100.0 + 0.02 * number, left=1.0)
        robot.give(0.02 * number + 0.001, 900.0 + 0.02 * number, right=1.0)
    robot.now_ns += S // 100
    renewed = [item for one in robot.robot.renewed() for item in deserialize_message(one, TFMessage).transforms]
    stamps = {item.child_frame_id: item.header.stamp.sec + item.header.stamp.nanosec / 1e9 for item in renewed}
    # A joint without a sender has the stamp of the newest message - complete_after.
    expected = {"one": 100.08, "two": 900.08, "pad": 900.08 - 0.1}
    assert stamps == {frame: pytest.approx(stamp) for frame, stamp in expected.items()}


def test_default_positions_go_out_with_one_sender(fed: Callable[..., Fed]) -> None:
    robot = fed(default_positions="zero")
    pads = []
    for number in range(20):
        at = 0.02 * number
        for stamp, joint in ((100.0 + at, "left"), (900.0 + at, "right")):
            found = robot.give(at, stamp, **values_of(joint, at))
            assert isinstance(found, dict)
            pads += [found["pad"]] if "pad" in found else []
    assert pads == sorted(pads)
    assert pads[-1] == pytest.approx(100.38 - 0.1)


def test_a_reset_that_a_second_sender_shows_later_is_reported_once(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for second in (100, 101):
        robot.give(0.1 * (second - 100), second, left=1.0)
        robot.give(0.1 * (second - 100), second, right=1.0)
    for number, stamp in enumerate((5, 6)):
        robot.give(0.2 + 0.1 * number, stamp, left=float(stamp))
    # A late message of the old clock; then the other sender shows the same reset.
    for number, stamp in enumerate((102, 6, 7)):
        robot.give(0.4 + 0.1 * number, stamp, right=float(stamp))
    assert robot.robot.values.positions[-2:].tolist() == [6.0, 7.0]
    (notice,) = robot.robot.notices
    assert "the clock was reset, and earlier values are not used any more" in notice


def test_the_number_of_senders_and_of_their_names_is_bounded() -> None:
    senders = Senders(most=10)
    for number in range(100):
        sender, is_new = senders.find(SenderKind.JOINT_STATES, "joint_states", (f"{number}", "x" * 100_000))
        assert is_new
        senders.take(sender, number * S, number * S)
        assert sum(map(len, sender.names)) < 1000
    assert len(senders) == 10
    assert len(senders.advances) <= 11
    assert RESET_NS == S


def test_messages_are_counted_whatever_path_they_take(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(20):
        robot.give(0.02 * number, 100.0 + 0.02 * number, left=1.0)
        robot.give(0.02 * number, 100.0 + 0.02 * number, right=1.0)
    assert [sender.total for sender in robot.robot.senders] == [20, 20]


@pytest.mark.parametrize(
    ("kind", "offset_s", "state"),
    [
        *(("joint_states", sign * seconds, "clock or latency") for sign in (1, -1) for seconds in (0.11, 1.0, 3600.0)),
        *(("odometry", sign * 0.11, "clock or latency") for sign in (1, -1)),
        *(("tf", sign * 2.1, "clock or latency") for sign in (1, -1)),
        *(("joint_states", sign * 0.09, "in step") for sign in (1, -1)),
        *(("tf", sign * 1.9, "in step") for sign in (1, -1)),
    ],
)
def test_a_clock_beside_the_reference_is_told_beyond_its_limit(kind: str, offset_s: float, state: str) -> None:
    senders = Senders()
    sender, _ = senders.find(SenderKind(kind), "topic", ("a", "b"))
    for number in range(5):
        senders.take(sender, number * TENTH, number * TENTH)
    found = state_of(sender, is_reference=False, offset_ns=round(offset_s * S), now_ns=S // 2, complete_after_ns=TENTH)
    assert found == state
    late = state_of(sender, is_reference=False, offset_ns=0, now_ns=3 * S, complete_after_ns=TENTH)
    assert late == "silent"
    if state == "in step":
        assert state_of(sender, is_reference=True, offset_ns=0, now_ns=S // 2, complete_after_ns=TENTH) == "reference"


@pytest.mark.parametrize(
    ("kind", "names"),
    [("joint_states", "'a', 'b'"), ("multi_dof", "'a', 'b'"), ("odometry", "a → b"), ("tf", "a → b")],
)
def test_a_line_of_the_table_names_joints_or_frames(kind: str, names: str) -> None:
    row = SenderRow("r", kind, "/topic", ("a", "b"), ("/one", "/two"), 7, 12.5, -0.25, 0.0, 0.4, "in step")
    assert row.text() == f"/topic (/one, /two)  {names}  12.5 Hz  -0.250 s  heard 0.4 s ago  in step"


def test_a_robot_with_other_settings_continues_the_clocks_of_its_senders(fed: Callable[..., Fed]) -> None:
    robot = fed()
    for number in range(10):
        robot.give(0.02 * number, 100.0 + 0.02 * number, left=1.0, right=1.0, cart__x=1.0, cart__y=0.0, cart__theta=0.0)
    before = robot.robot
    after = RunningRobot("r", before.model, RobotSettings(publish_interval_ns=0, complete_after_ns=TENTH))
    after.adopt(before)
    robot.robot = after
    # The next message is in order; one of before is late.
    assert robot.give(0.2, 100.2, left=2.0, right=2.0, cart__x=2.0, cart__y=0.0, cart__theta=0.0)
    robot.give(0.22, 100.1, left=9.0, right=9.0, cart__x=9.0, cart__y=0.0, cart__theta=0.0)
    assert after.values.positions.tolist().count(2.0) == 3


@pytest.mark.parametrize("kind", ["multi_dof", "odometry"])
def test_a_robot_continues_the_clock_of_its_base(fed: Callable[..., Fed], kind: str) -> None:
    srdf = '<robot name="r"><virtual_joint name="w" type="planar" parent_frame="odom" child_link="base"/></robot>'
    robot = fed(srdf=srdf)
    names = ("w",) if kind == "multi_dof" else ("odom", "base")
    pose = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def move(one: RunningRobot, stamp: float, x: float) -> Any:
        place = pose + np.array([x, 0, 0, 0, 0, 0, 0])
        return one.motions([("w", place, None)], round(stamp * S), (SenderKind(kind), "odom", names))

    for number in range(5):
        move(robot.robot, 100.0 + 0.1 * number, 1.0)
    after = RunningRobot("r", robot.robot.model, RobotSettings(publish_interval_ns=0, complete_after_ns=TENTH))
    after.adopt(robot.robot)
    (sender,) = after.senders
    assert (sender.kind, sender.names) == (kind, names)
    move(after, 100.5, 4.0)
    outcomes = move(after, 100.3, 8.0)
    assert [item.reason for item in outcomes if isinstance(item, Refusal)] == [Reason.TIME_BACKWARDS]
    assert after.values.positions[0] == 5.0


def test_the_reference_stays_although_another_topic_of_its_kind_has_more_messages() -> None:
    reference, senders = Reference(), Senders()
    first, _ = senders.find(SenderKind.JOINT_STATES, "/first", ("a",))
    for second in range(3):
        senders.take(first, (100 + second) * S, second * S)
    assert reference.newest(clocks_of(senders, 2 * S), 2 * S) is first
    busy, _ = senders.find(SenderKind.JOINT_STATES, "/busy", ("b",))
    for number in range(30, 100):
        senders.take(busy, 100 * S + number * TENTH, number * TENTH)
        if number % 10 == 0:
            senders.take(first, 100 * S + number * TENTH, number * TENTH)
    assert reference.newest(clocks_of(senders, 10 * S), 10 * S) is first
    # A choice without a reference before is the topic of most messages.
    assert Reference().newest(clocks_of(senders, 10 * S), 10 * S) is busy


def test_the_clock_of_a_sender_goes_on_by_the_stamps_of_another() -> None:
    senders = Senders()
    own, other = (senders.find(SenderKind.JOINT_STATES, f"/{name}", (name,))[0] for name in "ab")
    assert senders.clock_ns(own, 5 * S) == NEVER_NS
    # The other clock goes on by 1 s in 2 s, of which 1 s before the own message; or it jumps by 4 s, half before it.
    for step_s, clock_s in ((1, 10), (4, 12)):
        senders = Senders()
        own, other = (senders.find(SenderKind.JOINT_STATES, f"/{name}", (name,))[0] for name in "ab")
        senders.take(other, 100 * S, 0)
        senders.take(own, 10 * S, S)
        senders.take(other, (100 + step_s) * S, 2 * S)
        assert senders.clock_ns(own, 2 * S) == clock_s * S
        assert senders.clock_ns(own, 2 * S + 5) == clock_s * S + 5
        # No clock goes back before its newest message.
        assert senders.clock_ns(own, 2 * S - 7) == clock_s * S
        assert senders.clock_ns(other, 2 * S - 7) == (100 + step_s) * S


def test_a_stamp_after_a_jump_of_the_clock_is_no_advance() -> None:
    senders = Senders()
    own, other = (senders.find(SenderKind.JOINT_STATES, f"/{name}", (name,))[0] for name in "ab")
    senders.take(other, 100 * S, 0)
    senders.take(own, 10 * S, 0)
    senders.accept_any_stamp()
    senders.take(other, 100 * S + 50, 1)
    assert senders.clock_ns(own, 1) == 10 * S


def test_without_a_sender_there_is_no_reference() -> None:
    reference = Reference()
    assert reference.newest([], S) is None
    assert reference.members == []


def test_returns_that_are_far_apart_are_not_of_several_publishers() -> None:
    watch = PublisherWatch(needed=3)
    sequence = 0
    for gap in (5, 5, RARE + 1, 5):
        # A number is late, and the next one goes on above the highest: such a return is rare.
        sequence += 3
        for number in (sequence - 1, sequence - 2, *range(sequence + 1, sequence + gap)):
            watch.note_sequence(number)
        sequence += gap
    assert not watch.several


@pytest.mark.parametrize(("gap", "several"), [(WINDOW // 2, False), (WINDOW // 2 - 1, True), (3, True)])
def test_several_publishers_return_often(gap: int, several: bool) -> None:
    watch = PublisherWatch(needed=3)
    for _ in range(100 * gap):
        watch.note(False)
    for number in range(2 * gap + 1):
        watch.note(number % gap == 0)
    assert watch.several == several


@pytest.mark.parametrize(("spacing_ns", "messages"), [(S, WINDOW), (S // 20, 41)])
def test_a_reset_of_several_publishers_needs_two_seconds_and_twenty_messages(spacing_ns: int, messages: int) -> None:
    # The first message of the other clock is the last one that was near the old time.
    order = StampOrder()
    arrivals = [
        order.take(stamp_ns, number * spacing_ns, stamp_ns, mixed=True, count=number + 1)
        for number, stamp_ns in enumerate([100 * S, *range(50 * S, 50 * S + 60)])
    ]
    assert [number for number, arrival in enumerate(arrivals) if arrival is Arrival.RESET] == [messages]
    assert set(arrivals) == {Arrival.IN_ORDER, Arrival.RESET}


def test_a_clock_goes_on_by_the_steady_time_if_no_other_sender_came_later() -> None:
    senders = Senders()
    own, other = (senders.find(SenderKind.JOINT_STATES, f"/{name}", (name,))[0] for name in "ab")
    senders.take(other, 100 * S, 0)
    senders.take(other, 101 * S, S)
    senders.take(own, 10 * S, 2 * S)
    assert senders.clocks(3 * S) == [(own, 11 * S), (other, 103 * S)]


def test_a_publisher_that_repeats_messages_now_and_then_is_alone() -> None:
    watch = PublisherWatch(needed=3)
    for start in range(0, 480, 48):
        for number in range(start + 1, start + 51):
            watch.note_sequence(number)
    assert not watch.several


@pytest.mark.parametrize("reason", ["is_free", "ahead", "is_mixed", "several", "is_undecided", ""])
def test_each_reason_alone_lets_a_sender_need_care(reason: str) -> None:
    sender, _ = Senders().find(SenderKind.JOINT_STATES, "joint_states", ("j",))
    sender.is_free = sender.is_mixed = False
    sender.ahead = 0
    watch = SimpleNamespace(several=False, is_undecided=False)
    sender.watch = cast("Any", watch)
    assert not sender.needs_care
    if reason:
        setattr(sender if hasattr(sender, reason) else watch, reason, True)
        assert sender.needs_care
