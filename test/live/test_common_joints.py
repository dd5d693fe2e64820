# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Values that stay after another description has replaced a robot's: same name, quantity and frame of the root."""

from __future__ import annotations

import time

import numpy as np
import pytest

from robot_semantics.cdr.joint_states import JointStateData
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings
from robot_semantics.model.loading import robot_from_text

URDF = """<robot name="r"><link name="base"/><link name="l1"/><link name="l2"/>
<joint name="a" type="revolute"><parent link="base"/><child link="l1"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
<joint name="m" type="revolute"><parent link="l1"/><child link="l2"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/><mimic joint="a" multiplier="2"/></joint></robot>"""
SRDF = '<robot name="r"><virtual_joint name="w" type="planar" parent_frame="odom" child_link="base"/></robot>'
NAMES = ("w/x", "w/y", "w/theta", "a")
VALUES = np.array([1.0, 2.0, 0.5, 0.25])


def robot(urdf: str, srdf: str = SRDF) -> RunningRobot:
    return RunningRobot("r", robot_from_text(urdf, srdf), RobotSettings())


def measured(robot: RunningRobot) -> dict[str, list[float]]:
    values = robot.values
    return {
        name: values.positions[robot.space.joint_positions[name]].tolist()
        for name, known in zip(robot.moving.names, values.measured, strict=True)
        if known
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", {"w": [1.0, 2.0, 0.5], "a": [0.25], "m": [0.5]}),
        ('lower="-9"', 'lower="-8"', {"w": [1.0, 2.0, 0.5], "a": [0.25], "m": [0.5]}),
        ('name="a" type="revolute"', 'name="a" type="prismatic"', {"w": [1.0, 2.0, 0.5], "m": [0.5]}),
        ('multiplier="2"', 'multiplier="-3" offset="1"', {"w": [1.0, 2.0, 0.5], "a": [0.25], "m": [0.25]}),
        ('<mimic joint="a" multiplier="2"/>', "", {"w": [1.0, 2.0, 0.5], "a": [0.25], "m": [0.5]}),
        ('"a"', '"b"', {"w": [1.0, 2.0, 0.5], "m": [0.5]}),
        ('"base"', '"foot"', {"a": [0.25], "m": [0.5]}),
        ('"odom"', '"map"', {"a": [0.25], "m": [0.5]}),
        ('"planar"', '"floating"', {"a": [0.25], "m": [0.5]}),
        ('"w"', '"v"', {"a": [0.25], "m": [0.5]}),
    ],
)
def test_values_with_the_same_meaning_stay(old: str, new: str, expected: dict[str, list[float]]) -> None:
    before = robot(URDF)
    before.joint_state(JointStateData(7, NAMES, VALUES, VALUES, np.zeros(0)), time.time_ns)
    after = robot(URDF.replace(old, new), SRDF.replace(old, new))
    after.adopt(before)
    assert measured(after) == expected
    assert after.has_moved
    times = dict(zip(after.moving.names, after.values.stamps_ns.tolist(), strict=True))
    assert {times[name] for name in expected} == {7}
    if "a" in expected:
        assert after.values.velocities[after.space.joint_velocities["a"]] == 0.25


def test_a_robot_without_a_common_joint_has_heard_nothing() -> None:
    before = robot(URDF)
    before.joint_state(JointStateData(7, NAMES, VALUES, VALUES, np.zeros(0)), time.time_ns)
    after = robot(URDF.replace('"a"', '"b"').replace('"m"', '"n"'), SRDF.replace('"w"', '"v"'))
    after.adopt(before)
    assert measured(after) == {}
    assert not after.has_moved
