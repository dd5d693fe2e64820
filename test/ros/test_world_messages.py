# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as messages keep the stated values, and the missing ones stay missing."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

pytest.importorskip("robot_semantics_interfaces", reason="the interface package is not built (make setup)")

from robot_semantics import WorldState
from robot_semantics.base.errors import ArrayError
from robot_semantics.model.loading import robot_from_text
from robot_semantics.ros.messages.world_messages import world_from_message, world_to_message
from robot_semantics.transforms.pose import Pose, pose_from_quaternion
from robot_semantics.usdf.frames import NotStatedError
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState

POSE = pose_from_quaternion((1.0, 2.0, 3.0), (0.0, 0.6, 0.0, 0.8))
SIX = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
FULL = WorldState(
    "w",
    (
        ModelState(
            "m",
            "odom",
            POSE,
            SIX,
            (LinkState("a", POSE, SIX, SIX), LinkState("b")),
            (JointState("j", (1.0,), (2.0,), (3.0,)), JointState("k", (1.0, 2.0, 3.0)), JointState("l")),
            "package://p/r.urdf",
            "package://p/r.srdf",
            "ab",
        ),
        ModelState("n"),
    ),
    (Frame("odom", "world", POSE, SIX), Frame("bare")),
    12_345_678_901,
)


def test_everything_stated_comes_back_and_nothing_else() -> None:
    assert world_from_message(world_to_message(FULL)) == FULL


def test_a_state_without_time_or_name_stays_without() -> None:
    assert world_from_message(world_to_message(WorldState())) == WorldState()


@pytest.mark.parametrize("time_ns", [-(2**31) * 10**9, -1, 0, 2**31 * 10**9 - 1])
def test_every_time_that_a_message_can_say_comes_back(time_ns: int) -> None:
    assert world_from_message(world_to_message(WorldState(time_ns=time_ns))).time_ns == time_ns


@pytest.mark.parametrize("time_ns", [-(2**31) * 10**9 - 1, 2**31 * 10**9, 10**19 - 1])
def test_a_time_beyond_what_a_message_can_say_is_refused(time_ns: int) -> None:
    with pytest.raises(ArrayError, match="32 bits of seconds"):
        world_to_message(WorldState(time_ns=time_ns))


def test_an_engines_state_has_no_place_in_the_message() -> None:
    assert world_from_message(world_to_message(replace(FULL, engines=(EngineState("e", "1"),)))) == FULL


def test_roll_pitch_yaw_alone_become_a_quaternion() -> None:
    state = WorldState(models=(ModelState("m", pose=Pose((0.0, 0.0, 0.0, 0.0, 0.0, 1.0))),))
    pose = world_from_message(world_to_message(state)).models[0].pose
    assert pose is not None
    assert pose.quat_xyzw == pytest.approx((0.0, 0.0, 0.479425538604203, 0.8775825618903728))
    assert pose.xyz_rpy[5] == pytest.approx(1.0)


def test_a_message_places_an_object_on_a_link_by_the_joints() -> None:
    robot = robot_from_text(
        '<robot name="r"><link name="base"/><link name="hand"/><joint name="turn" type="continuous">'
        '<parent link="base"/><child link="hand"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint></robot>'
    )
    arm = ModelState("r", pose=Pose((0.0,) * 6), joints=(JointState("turn", (math.pi / 2,)),))
    cup = ModelState("cup", "r", Pose((2.0, 0.0, 0.0, 0.0, 0.0, 0.0)), parent_link="hand")
    state = WorldState(models=(arm, cup))
    with pytest.raises(NotStatedError, match="r::hand"):
        world_to_message(state)
    back = world_from_message(world_to_message(state, robots={"r": robot}))
    assert back.model("r").links == ()
    assert back.model("cup").parent == "r"
    pose = back.model("cup").pose
    assert pose is not None
    assert pose.xyz_rpy == pytest.approx((0.0, 2.0, 1.0, 0.0, 0.0, math.pi / 2), abs=1e-12)
