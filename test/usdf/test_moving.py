# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reasons why a command may not give a robot a pose."""

from __future__ import annotations

import pytest

from robot_semantics import RobotModel, WorldState
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.edit import pose_refusal
from robot_semantics.usdf.world_state import WORLD, JointState, ModelState

BAD_JOINT, UPWARDS = JointState("no_such_joint", (1.0,)), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""A joint and a twist that robots refuse; they do not matter for the pose."""


def robot(kind: str) -> RobotModel:
    joint = f'<virtual_joint name="w" type="{kind}" parent_frame="odom" child_link="base"/>'
    return robot_from_text('<robot name="r"><link name="base"/></robot>', f'<robot name="r">{joint}</robot>')


def world(x: float, z: float) -> WorldState:
    return WorldState(models=(ModelState("r", WORLD, Pose((x, 0.0, z, 0.0, 0.0, 0.0)), UPWARDS, joints=(BAD_JOINT,)),))


@pytest.mark.parametrize(
    ("kind", "x", "z", "before", "amount"),
    [
        ("planar", 3.0, 0.0, None, None),
        ("planar", 3.0, 0.25, None, "0.25 m"),
        ("floating", 3.0, 0.25, None, None),
        # A fixed robot may be mounted anywhere once, and then stays.
        ("fixed", 3.0, 0.0, None, None),
        ("fixed", 3.0, 0.0, 3.0, None),
        ("fixed", 3.0, 0.0, 1.0, "2 m"),
    ],
)
def test_only_a_pose_that_the_virtual_joint_cannot_have_is_refused(
    kind: str, x: float, z: float, before: float | None, amount: str | None
) -> None:
    refusal = pose_refusal(world(x, z), "r", robot(kind), None if before is None else world(before, 0.0))
    if amount is None:
        assert refusal is None
    else:
        assert refusal is not None
        assert amount in refusal
        assert "no_such_joint" not in refusal
        assert "twist" not in refusal
