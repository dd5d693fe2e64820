# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collisions in single poses, of robots whose answers follow from their construction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="mujoco is not installed (pip install '.[collision]')")

from robot_semantics import Diagnostics, RobotModel
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.poses import PoseCollisions
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver

BALL = '<collision><origin xyz="{} 0 0"/><geometry><sphere radius="{}"/></geometry></collision>'


def turning(name: str, parent: str = "base", at: float = 0.0) -> str:
    """Return a joint about z, from -2 to 2 rad, named like its link with j in front."""
    return (
        f'<joint name="j{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
        f'<origin xyz="{at} 0 0"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
    )


def poses_of(folder: Path, *parts: str) -> tuple[RobotModel, PoseCollisions]:
    (folder / "r.urdf").write_text(f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>')
    robot = load_robot(folder / "r.urdf")
    return robot, PoseCollisions(robot, pieces_of(robot, PackageResolver(()), Diagnostics()))


def test_only_joints_that_move_a_pair_against_each_other_count(tmp_path: Path) -> None:
    # Two arms of 1 m, which meet in the middle between their joints, and an arm with a hand: the hand is beyond them.
    arms = (f'<link name="{name}">{BALL.format(reach, 0.2)}</link>' for name, reach in (("a", 1.0), ("b", -1.0)))
    hand = f'<link name="c">{BALL.format(0.0, 0.2)}</link>'
    _, poses = poses_of(tmp_path, *arms, hand, turning("a", at=-1.0), turning("b", at=1.0), turning("c", "a", 1.1))
    pairs = [LinkPair("a", "b"), LinkPair("b", "c")]
    assert poses.unusual(np.zeros(3)) == pairs
    for joints in (["ja"], ["jb"], ["ja", "jb"], ["ja", "jb", "jc"]):
        assert poses.unusual(np.zeros(3), joints) == pairs, joints
    # The joint of the hand moves only the hand.
    assert poses.unusual(np.zeros(3), ["jc"]) == pairs[1:]
    assert poses.unusual(np.zeros(3), []) == []
    assert poses.unusual(np.array([1.5, 0.0, 0.0])) == []


def test_a_free_pose_is_sampled_if_the_way_to_the_middle_collides(tmp_path: Path) -> None:
    # Balls on the circle of an arm's ball: without a gap from -1.5 to 1.5 rad.
    turns = np.arange(-1.5, 1.51, 0.2)
    wall = "".join(
        BALL.format(x, 0.15).replace(" 0 0", f" {y} 0") for x, y in zip(np.cos(turns), np.sin(turns), strict=True)
    )
    arm = f'<link name="arm">{BALL.format(1.0, 0.01)}</link>'
    fixed = '<joint name="f" type="fixed"><parent link="base"/><child link="wall"/></joint>'
    robot, poses = poses_of(tmp_path, f'<link name="wall">{wall}</link>', arm, fixed, turning("arm"))
    free = [abs(value) for value in np.linspace(-2.0, 2.0, 401) if not poses.unusual(np.array([value]))]
    assert 1.5 < min(free) < 1.8
    for start in (0.5, -1.4):
        pose = poses.free_pose(np.array([start]), ["jarm"])
        assert pose is not None
        assert abs(pose[0]) >= min(free) - 0.01
        assert poses.colliding(robot, pose) == []
