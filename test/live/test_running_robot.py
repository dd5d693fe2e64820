# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot at run time without ROS: a root that a parameter places, and clocks that are reset."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_semantics import Diagnostics
from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.cdr.joint_states import JointStateReader
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings, Source, VirtualJointSettings, one_line_a_kind
from robot_semantics.model.loading import robot_from_text

SECOND_NS = 1_000_000_000
URDF = """<robot name="r"><link name="base"/><link name="one"/><link name="two"/>
<joint name="left" type="continuous"><parent link="base"/><child link="one"/></joint>
<joint name="right" type="continuous"><parent link="base"/><child link="two"/></joint></robot>"""


@pytest.mark.parametrize(
    ("kind", "positions"),
    [("planar", [1.0, 2.0, 0.5]), ("floating", [1.0, 2.0, 0.0, 0.0, 0.0, math.sin(0.25), math.cos(0.25)])],
)
def test_a_parameter_gives_a_fixed_root_its_position_and_its_yaw(kind: str, positions: list[float]) -> None:
    joint = f'<virtual_joint name="w" type="{kind}" parent_frame="odom" child_link="base"/>'
    settings = VirtualJointSettings(source=Source.FIXED, pose=(1.0, 2.0, 0.0, 0.0, 0.0, 0.5))
    model = robot_from_text(URDF, f'<robot name="r">{joint}</robot>')
    robot = RunningRobot("r", model, RobotSettings(virtual_joints=MappingProxyType({"w": settings})))
    np.testing.assert_allclose(robot.values.positions[: len(positions)], positions, atol=1e-15)
    assert robot.values.known[0]


def test_a_reset_that_a_second_publisher_shows_later_keeps_the_values_of_the_first() -> None:
    robot, reader = RunningRobot("r", robot_from_text(URDF), RobotSettings()), JointStateReader()

    def give(joint: str, seconds: int) -> None:
        message = JointState(name=[joint], position=[float(seconds)])
        message.header.stamp.sec = seconds
        robot.joint_state(reader.read(serialize_message(message)), lambda: SECOND_NS)

    for second in (100, 101):
        give("left", second)
        give("right", second)
    assert robot.values.measured.all()
    # The second stamp in order shows that the clock was reset: older values are from another time.
    give("left", 5)
    give("left", 6)
    assert robot.values.measured.tolist() == [True, False]
    # A late message of the old clock; then the other publisher shows the same reset.
    for second in (102, 6, 7):
        give("right", second)
    assert robot.values.measured.tolist() == [True, True]
    assert robot.values.positions.tolist() == [6.0, 7.0]
    (notice,) = robot.notices
    assert "the clock was reset, and earlier values are not used any more" in notice


@pytest.mark.parametrize("count", [1, 2, 5])
def test_problems_of_a_kind_are_one_line_with_the_number_of_the_others(count: int) -> None:
    found = Diagnostics()
    for number in range(count):
        found.warning("unknown-link", f"link {number}", SourcePlace("a.srdf"))
    found.error("unknown-link", "another severity", SourcePlace("a.srdf"))
    first, second = one_line_a_kind(found)
    assert first.partition(" (and ")[2] == ("" if count == 1 else f"{count - 1} more of this kind)")
    assert "link 0" in first
    assert "another severity" in second
    assert "more of this kind" not in second
