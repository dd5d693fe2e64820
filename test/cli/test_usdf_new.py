# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`usdf new` makes a world of robots that check, simulate and resolve as any other."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from robot_semantics import read_world
from robot_semantics.cli import main as command_line
from robot_semantics.usdf.frames import resolve_frames


def test_a_world_of_two_robots_of_one_file_stands_where_it_was_said(folder: Path) -> None:
    words = ["usdf", "new", "a=robot.urdf", "b=robot.urdf,robot.srdf", "--pose", "a=1 2 0 0 0 0.5"]
    assert command_line.main([*words, "--parent", "b=a", "--pose", "b=0 1 0 0 0 0", "-o", "w.usdf"]) == 0
    state = read_world(folder / "w.usdf")
    assert [(model.name, model.description, model.semantic) for model in state.models] == [
        ("a", "robot.urdf", None),
        ("b", "robot.urdf", "robot.srdf"),
    ]
    T_world_b = resolve_frames(state).pose("b", "world")
    expected = pinocchio.SE3(
        pinocchio.rpy.rpyToMatrix(0.0, 0.0, 0.5), np.array([1.0 - np.sin(0.5), 2.0 + np.cos(0.5), 0.0])
    )
    np.testing.assert_allclose(T_world_b, expected.homogeneous, atol=1e-12)


def test_its_joints_are_in_their_default_positions_or_in_the_state_that_was_named(folder: Path) -> None:
    words = ["usdf", "new", "robot.urdf,robot.srdf", "--state", "rover_arm/arm/reach", "--name", "lab"]
    assert command_line.main([*words, "--time", "1.5", "-o", "w.usdf"]) == 0
    assert command_line.main(["check", "--strict", "w.usdf"]) == 0
    state = read_world(folder / "w.usdf")
    assert (state.name, state.time_ns) == ("lab", 1_500_000_000)
    model = state.model("rover_arm")
    # As in arm/reach of the example's SRDF; all other joints are at 0.
    assert model.joint("wrist_joint").positions == (0.5,)
    assert model.joint("left_wheel_joint").positions == (0.0,)
    # Its virtual joint moves in a frame, which therefore is there.
    assert (model.parent, state.frames[0].name, state.frames[0].parent) == ("odom", "odom", "world")


def test_the_text_of_a_robot_made_by_macros_stands_beside_the_world(folder: Path) -> None:
    shutil.copy("robot.urdf", "robot.urdf.xacro")
    (folder / "out").mkdir()
    assert command_line.main(["usdf", "new", "robot.urdf.xacro", "-o", "out/w.usdf"]) == 0
    name = read_world(folder / "out/w.usdf").models[0].description
    assert name is not None
    assert (folder / "out" / name).is_file()
    assert command_line.main(["check", "--strict", "out/w.usdf"]) == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["robot.urdf", "robot.urdf"], 2, "two robots are called 'rover_arm'"),
        (["robot.urdf,"], 2, "a robot must be [NAME=]URDF[,SRDF]"),
        (["=robot.urdf"], 2, "a robot must be [NAME=]URDF[,SRDF]"),
        (["robot.srdf"], 1, "is an SRDF, not a URDF"),
        (["nosuch.urdf"], 1, "nosuch.urdf: error: cannot be read"),
        (["robot.urdf", "--pose", "rover_amr=0 0 0 0 0 0"], 1, "did you mean 'rover_arm'?"),
        (["robot.urdf", "--joint", "rover_arm/lift_jont=0.1"], 1, "did you mean 'lift_joint'"),
        (["robot.urdf", "--strict", "--joint", "rover_arm/lift_joint=9"], 1, "outside its limits 0 to 0.2"),
    ],
)
def test_what_makes_no_world_is_refused(
    words: list[str], code: int, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["usdf", "new", *words, "-o", "w.usdf"]) == code
    assert message in capsys.readouterr().err
    assert not (folder / "w.usdf").exists()
