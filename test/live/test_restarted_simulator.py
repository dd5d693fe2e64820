# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A simulator that is paused, steps, is killed, starts anew at 0 and is set to an earlier state.

It publishes the joints and the base on two topics. A middleware still counts its dead publishers for some seconds, may
tell no sequence numbers, and delivers both topics and ``/clock`` in any order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from robot_semantics.cdr.joint_states import JointStateData
from robot_semantics.live.frames import TransformRows
from robot_semantics.live.joint_state import Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings, SenderKind
from robot_semantics.model.loading import robot_from_text

S, MS = 1_000_000_000, 1_000_000
URDF = """<robot name="r"><link name="base"/><link name="one"/>
<joint name="left" type="prismatic"><parent link="base"/><child link="one"/><axis xyz="1 0 0"/>
<limit lower="-99" upper="99" effort="1" velocity="9"/></joint></robot>"""
SRDF = '<robot name="r"><virtual_joint name="w" type="planar" parent_frame="odom" child_link="base"/></robot>'
MODEL = robot_from_text(URDF, SRDF)
FIRST, SECOND = 100.0, 200.0
"""Positions at time 0 of the two simulators; they grow by 1 m in a second."""


class Sent(NamedTuple):
    """A transform of the robot: its frame, its stamp [s] and its position [m]."""

    frame: str
    stamp_s: float
    x: float


class Robot:
    """A robot without ROS, whose steady time is set by hand."""

    def __init__(self, *, tells_sequence: bool) -> None:
        self.robot = RunningRobot("r", MODEL, RobotSettings(raw=False))
        self.publishers = 1
        self.robot.publishers = lambda _sender: self.publishers
        self.now_ns = 1000 * S
        self.tells_sequence, self.number = tells_sequence, 0

    def _sequence(self) -> int | None:
        return self.number if self.tells_sequence else None

    def joints(self, stamp_s: float, x: float) -> Iterator[Sent]:
        nothing = np.zeros(0)
        data = JointStateData(round(stamp_s * S), ("left",), np.array([x]), nothing, nothing)
        yield from _sent(self.robot.joint_state(data, lambda: 0, self._sequence(), self.now_ns))

    def base(self, stamp_s: float, x: float) -> Iterator[Sent]:
        motions = [("w", np.array([x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))]
        sender = SenderKind.MULTI_DOF, "multi_dof_joint_states", ("w",)
        for outcome in self.robot.motions(motions, round(stamp_s * S), sender, self._sequence(), self.now_ns):
            yield from _sent(outcome)


def _sent(outcome: Sequence[object] | Refusal) -> Iterator[Sent]:
    if isinstance(outcome, Refusal):
        return
    for message in outcome:
        assert isinstance(message, TransformRows)
        for (_, child), row in zip(message.frames, message.values, strict=True):
            yield Sent(child, message.stamp_ns / S, float(row[0]))


@pytest.mark.parametrize("seed", range(120))
def test_after_a_restart_no_transform_mixes_the_values_and_stamps_of_two_runs(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    robot = Robot(tells_sequence=draw.random() < 0.7)
    monkeypatch.setattr("robot_semantics.live.robot.time.monotonic_ns", lambda: robot.now_ns)
    sent: list[Sent] = []

    def publish(stamp_s: float, first: float, period_ms: int) -> None:
        robot.number += 1
        for topic in draw.sample((robot.joints, robot.base), 2):
            sent.extend(topic(stamp_s, first + stamp_s))
            robot.now_ns += draw.choice((1, 3)) * MS
        robot.now_ns += period_ms * MS

    for step in range(53):
        publish(step / 50, FIRST, 15)
    # Paused, with a message in 0.2 s; then it steps for a second, and is killed.
    for _ in range(draw.randrange(3)):
        publish(1.06, FIRST, 200)
    for _ in range(draw.randrange(1, 4)):
        publish(2.06, FIRST, 200)
    robot.now_ns += round(draw.choice((0.1, 1.0, 5.0, 20.0)) * S)
    assert all(item.x == pytest.approx(FIRST + item.stamp_s) or _is_held(item, FIRST) for item in sent)

    robot.publishers, robot.number = draw.choice((1, 2)), 1
    sent.clear()
    has_clock = draw.random() < 0.7
    topics = draw.sample((robot.joints, robot.base), 2)
    place = draw.randrange(3)
    for number in range(3):
        if has_clock and number == place:
            robot.robot.reset_clock(round(2.06 * S), stood=True)
            # What this run has not said is unknown. With one publisher, its first message is late.
            known = number if robot.publishers == 2 and place else 0
            assert int(robot.robot.values.measured.sum()) <= known
        if topics:
            sent.extend(topics.pop()(0.0, SECOND))
        robot.now_ns += draw.choice((1, 3, 30)) * MS
    robot.now_ns += 200 * MS
    for _ in range(draw.randrange(30)):
        publish(0.0, SECOND, 200)
    # It is set to the state at 1.06 s.
    for _ in range(3):
        publish(1.06, SECOND, 200)
    for item in sent:
        assert item.x >= SECOND, "a value of the first run"
        assert item.stamp_s <= 1.06, "a stamp of the first run, or of the future"
        assert item.x == pytest.approx(SECOND + item.stamp_s) or _is_held(item, SECOND)
    assert robot.robot.values.positions.tolist() == [SECOND + 1.06, 0.0, 0.0, SECOND + 1.06]


def _is_held(item: Sent, first: float) -> bool:
    """Return True if the value stood still until the stamp of a transform."""
    return first <= item.x <= first + item.stamp_s
