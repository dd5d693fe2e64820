# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Health of a robot: silent joints and positions outside the limits are reported once, until they are over."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_semantics.base.throttle import PERIOD_S
from robot_semantics.live.health import Health, RefusalLog, Traffic, state_of
from robot_semantics.live.joint_state import Reason, Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.senders import PublisherWatch, Senders
from robot_semantics.live.settings import RobotSettings, SenderKind
from robot_semantics.model.loading import robot_from_text

S = 1_000_000_000
URDF = """<robot name="r"><link name="base"/><link name="one"/><link name="two"/>
<joint name="left" type="revolute"><parent link="base"/><child link="one"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="right" type="revolute"><parent link="base"/><child link="two"/>
<limit lower="0.5" upper="1" effort="1" velocity="1"/></joint></robot>"""
SRDF = '<robot name="r"><virtual_joint name="w" type="floating" parent_frame="odom" child_link="base"/></robot>'
W, LEFT, RIGHT = 0, 1, 2


class Checked:
    """A robot, and what its health says, at times since the robot was made [s]."""

    def __init__(self, timeout_s: int = 100, remedies: tuple[str | None, str | None] = (" (joint)", " (root)")) -> None:
        self.robot = RunningRobot("r", robot_from_text(URDF, SRDF), RobotSettings(stale_timeout_ns=timeout_s * S))
        self.said: list[str] = []
        self.remedies = remedies
        self.health = Health(
            lambda text: self.said.append(f"problem: {text}"),
            lambda text: self.said.append(f"info: {text}"),
            lambda is_root: self.remedies[is_root],
        )

    def received(self, at: float, *joints: int) -> None:
        """Let values of joints have arrived."""
        for joint in joints:
            name = self.robot.moving.names[joint]
            position = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] if joint == W else [0.75])
            received_ns = self.robot.made_ns + round(at * S)
            self.robot.values.put_joint(name, position, None, None, 1, received_ns)

    def at(self, seconds: float, *, root_is_elsewhere: bool = False) -> list[str]:
        """Check the robot; return the sentences."""
        self.said.clear()
        self.health.update(self.robot, self.robot.made_ns + round(seconds * S), root_is_elsewhere=root_is_elsewhere)
        return list(self.said)


def test_silent_joints_are_reported_once_until_values_come_again() -> None:
    one = Checked()
    assert one.at(99.0) == []
    assert one.health.stale == {}
    one.received(50.0, LEFT)
    assert one.at(101.0) == [
        "problem: no values have come yet in 100 s for 'right' (joint)",
        "problem: no values have come yet in 100 s for 'w' (root)",
    ]
    assert one.health.stale == {"w": 101.0, "right": 101.0}
    assert one.at(150.0) == []
    assert one.health.stale == {"w": 150.0, "right": 150.0}
    assert one.at(151.0) == ["problem: no new values in 100 s for 'left'"]
    one.received(151.0, LEFT, RIGHT)
    assert one.at(152.0) == ["info: values come again for 'left', 'right'"]
    assert one.health.stale == {"w": 152.0}
    assert one.at(260.0) == ["problem: no new values in 100 s for 'left', 'right'"]
    # The root's pose comes from elsewhere: it is neither silent nor heard again.
    assert one.at(261.0, root_is_elsewhere=True) == []
    assert one.health.stale == {"left": 110.0, "right": 110.0}
    one.received(261.0, W, LEFT, RIGHT)
    assert one.at(262.0) == ["info: values come again for 'left', 'right'"]
    assert one.at(361.0) == []


def test_a_sentence_waits_until_its_remedy_is_known() -> None:
    one = Checked(remedies=(None, " (root)"))
    assert one.at(101.0) == ["problem: no values have come yet in 100 s for 'w' (root)"]
    assert one.health.stale.keys() == {"w", "left", "right"}
    one.remedies = ("", "")
    assert one.at(102.0) == ["problem: no values have come yet in 100 s for 'left', 'right'"]
    assert one.at(103.0) == []


def test_without_a_timeout_no_joint_is_silent() -> None:
    one = Checked(timeout_s=0)
    assert one.at(10_000.0) == []
    assert one.health.stale == {}


def test_the_age_of_values_is_unknown_before_the_first() -> None:
    one = Checked()
    one.received(2.0, LEFT)
    ages = one.health.ages(one.robot, one.robot.made_ns + 5 * S)
    assert ages["left"] == 3.0
    assert [name for name, age in ages.items() if math.isnan(age)] == ["w", "right"]


@pytest.mark.parametrize("beyond", [1.5, -1.5])
def test_a_position_outside_the_limits_is_reported_once_until_it_is_back(beyond: float) -> None:
    one = Checked(timeout_s=0)

    def move(position: float) -> list[str]:
        one.robot.values.put_joint("left", np.array([position]), None, None, 1)
        return one.at(0.0)

    # The other joint is at 0 because no value has come: only measured positions are checked.
    assert one.at(0.0) == []
    problem = f"problem: 'left' is at {beyond:g}, outside its limits -1 to 1"
    assert move(beyond) == [problem]
    assert one.health.beyond == {"left": beyond}
    assert move(1.2 * beyond) == []
    assert one.health.beyond == {"left": 1.2 * beyond}
    assert move(math.copysign(1.0 + 5e-7, beyond)) == []
    assert one.health.beyond == {}
    # The largest allowed difference itself is allowed.
    assert move(math.copysign(1.0 + 1e-6, beyond)) == []
    assert one.health.beyond == {}
    assert move(beyond) == [problem]
    one.robot.values.put_joint("right", np.array([0.25]), None, None, 1)
    assert one.at(0.0) == ["problem: 'right' is at 0.25, outside its limits 0.5 to 1"]
    assert one.health.beyond == {"left": beyond, "right": 0.25}


def test_a_sender_without_a_message_is_silent_as_late_as_one_with_a_single_message() -> None:
    sender, _ = Senders().find(SenderKind.JOINT_STATES, "topic", ("a",))
    assert sender.silent_after_ns(S // 10) == S // 10 + S


@pytest.mark.parametrize("shared", [False, True])
def test_several_publishers_of_a_sender_or_of_its_joints_are_its_state(shared: bool) -> None:
    sender, _ = Senders().find(SenderKind.JOINT_STATES, "topic", ("a",))
    sender.arrive(0)
    sender.shared = PublisherWatch()
    for sequence in (1, 2, 1, 2, 1, 2, 1):
        (sender.shared if shared else sender.watch).note_sequence(sequence)
    found = state_of(sender, is_reference=False, offset_ns=0, now_ns=1, complete_after_ns=S // 10)
    assert found == "several publishers"


def test_a_sender_that_was_reset_waits_until_its_next_message() -> None:
    sender, _ = Senders().find(SenderKind.JOINT_STATES, "topic", ("a",))
    sender.arrive(0)
    sender.may_be_held = False
    found = state_of(sender, is_reference=True, offset_ns=0, now_ns=1, complete_after_ns=S // 10)
    assert found == "waiting after a reset"


def test_refused_messages_are_counted_and_said_once_in_a_period() -> None:
    said: list[str] = []
    traffic, now_s = Traffic(), 100.0
    publishers = {"/a": ["/two", "/one", "/two"], "/b": []}
    log = RefusalLog(traffic, said.append, publishers.__getitem__, lambda: now_s)
    late = Refusal(Reason.TIME_BACKWARDS, "its stamp is 1 s before the last stamp")
    for topic, refusal in (
        ("/a", late),
        ("/a", late),
        ("/a", Refusal(Reason.EMPTY, "it names no joint")),
        ("/b", late),
    ):
        log.add(topic, refusal)
    assert said == [
        "refused a message on /a from /one or /two: its stamp is 1 s before the last stamp",
        "refused a message on /a from /one or /two: it names no joint",
        "refused a message on /b from a publisher that has gone: its stamp is 1 s before the last stamp",
    ]
    assert traffic.refused == {Reason.TIME_BACKWARDS: 3, Reason.EMPTY: 1}
    now_s += PERIOD_S
    log.add("/a", late)
    assert said[3:] == [f"{said[0]} (1 more of this kind since the last such report)"]
    assert traffic.refused.total() == 5


def test_joint_states_that_are_not_refused_are_used() -> None:
    traffic = Traffic()
    assert (traffic.received, traffic.refused_joint_states, traffic.transforms, traffic.used) == (0, 0, 0, 0)
    traffic.received, traffic.refused_joint_states = 7, 2
    assert traffic.used == 5
    traffic.last_errors.extend(map(str, range(12)))
    assert list(traffic.last_errors) == [str(number) for number in range(2, 12)]
