# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states of robots with closed loops: made, edited, checked, resolved, and put onto the robot."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from support.loops import FOUR_BAR, FloatArray, four_bar, four_bar_positions, four_bar_text, srdf

from robot_semantics import WorldState, read_world
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli.main import main
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.apply import apply_model_state, resolve_with
from robot_semantics.usdf.check import check_world
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.robot import complete_model
from robot_semantics.usdf.world_state import JointState, LinkState, ModelState

BOTH = [four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0] for side in (1.0, -1.0)]


def turned(angles: FloatArray) -> FloatArray:
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


@pytest.fixture
def robot(tmp_path: Path) -> list[str]:
    (tmp_path / "robot.urdf").write_text(four_bar_text())
    (tmp_path / "robot.srdf").write_text(srdf("coupler", "rocker"))
    return [str(tmp_path / "robot.urdf"), str(tmp_path / "robot.srdf")]


def positions(path: Path) -> FloatArray:
    (model,) = read_world(path).models
    return np.array([model.joint(name).positions for name in ("crank", "coupler", "rocker")])[:, 0]


def test_a_new_state_is_closed_and_an_edit_moves_the_passive_joints(robot: list[str], tmp_path: Path) -> None:
    new, edited = tmp_path / "new.usdf", tmp_path / "edited.usdf"
    assert main(["usdf", "new", ",".join(robot), "-o", str(new)]) == 0
    at_zero = [four_bar_positions(FOUR_BAR, np.array([0.0]), side)[0] for side in (1.0, -1.0)]
    off = [np.abs(turned(positions(new) - expected)).max() for expected in at_zero]
    assert min(off) < 1e-11
    assert main(["usdf", "edit", str(new), "--joint", "crank=0.7", "-o", str(edited)]) == 0
    # The edit stays on the branch.
    assert np.abs(turned(positions(edited) - BOTH[int(np.argmin(off))])).max() < 1e-11


def test_an_edit_of_a_passive_joint_is_refused(
    robot: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new.usdf"
    main(["usdf", "new", ",".join(robot), "-o", str(new)])
    assert main(["usdf", "edit", str(new), "--joint", "rocker=0.1", "-o", str(tmp_path / "x.usdf")]) == 1
    assert "joint 'rocker' is passive: the loops need" in capsys.readouterr().err


@pytest.mark.parametrize("side", [0, 1])
def test_stated_passive_joints_choose_the_branch_only(side: int) -> None:
    expected = BOTH[side]
    model = ModelState(
        "loop",
        joints=(JointState("crank", (0.7,), (2.0,)), JointState("rocker", (float(expected[2]) + 0.01,))),
    )
    world = WorldState(models=(model,))
    linkage = four_bar()
    applied = apply_model_state(model, resolve_with(world, robots={"loop": linkage}), linkage)
    assert np.abs(turned(applied.positions - expected)).max() < 1e-11
    assert any("'rocker' is 0.01 away" in note for note in applied.notes)
    h = 1e-6
    rates = (
        four_bar_positions(FOUR_BAR, np.array([0.7 + h]), (1.0, -1.0)[side])
        - four_bar_positions(FOUR_BAR, np.array([0.7 - h]), (1.0, -1.0)[side])
    )[0] / h
    assert np.abs(applied.velocities - rates).max() < 1e-7


def test_measured_links_are_compared_with_the_measured_passive_joints() -> None:
    crank, coupler, rocker = BOTH[0].tolist()
    coupler, rocker = coupler + 0.01, rocker + 0.02
    names = {"crank": crank, "coupler": coupler, "rocker": rocker}
    ground, arm, *_ = FOUR_BAR
    at = {"coupler_link": (arm * math.cos(crank), arm * math.sin(crank), crank + coupler)}
    at |= {"rocker_link": (ground, 0.0, rocker)}
    model = ModelState(
        "loop",
        links=tuple(LinkState(name, Pose((x, y, 0.0, 0.0, 0.0, yaw))) for name, (x, y, yaw) in at.items()),
        joints=tuple(JointState(name, (position,)) for name, position in names.items()),
    )
    linkage = four_bar()
    applied = apply_model_state(model, resolve_with(WorldState(models=(model,)), robots={"loop": linkage}), linkage)
    assert np.abs(turned(applied.positions - BOTH[0])).max() < 1e-11
    assert [entry for entry in applied.items if entry.kind == "link" and not entry.done] == []


def test_links_of_a_state_follow_through_the_loop() -> None:
    model = ModelState("loop", joints=(JointState("crank", (0.7,)),))
    links = {link.name: link for link in complete_model(model, four_bar()).links}
    pose = links["rocker_link"].pose
    assert pose is not None
    yaw = pose.xyz_rpy[5]
    assert min(abs(turned(np.array([yaw - expected[2]]))[0]) for expected in BOTH) < 1e-11


def test_a_state_that_cannot_close_is_reported(
    robot: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(robot[0]).write_text(four_bar_text((0.5, 0.3, 0.25, 0.2)))
    world = tmp_path / "world.usdf"
    joint = '<joint_state name="crank"><positions>2</positions></joint_state>'
    world.write_text(
        f'<world_state><model_state name="loop"><pose>0 0 0 0 0 0</pose>{joint}</model_state></world_state>'
    )
    assert main(["check", str(world), "--urdf", f"{robot[0]},{robot[1]}", "--json"]) == 0
    codes = [item["code"] for item in json.loads(capsys.readouterr().out)["diagnostics"]]
    assert "loop-open" in codes


def test_another_constraint_is_another_robot() -> None:
    text = four_bar_text()
    assert model_digest(four_bar()) != model_digest(four_bar(kind="spherical"))
    without = re.sub(r"<constraint.*</constraint>", "", text)
    assert without != text


@pytest.mark.parametrize("off", [(0.0, 0.0), (0.01, 0.0), (0.0, -0.02), (0.01, -0.02)])
def test_a_check_names_the_joints_at_which_the_loop_does_not_close(off: tuple[float, float]) -> None:
    values = dict(zip(("crank", "coupler", "rocker"), BOTH[0] + (0.0, *off), strict=True))
    joints = tuple(JointState(name, (value,)) for name, value in values.items())
    # All joints follow the crank, which alone is not passive.
    model = robot_from_text(four_bar_text(), srdf("coupler", "rocker"))
    found = Diagnostics()
    check_world(
        WorldState(models=(ModelState("m", pose=Pose((0.0, 0.0, 0.0, 0.0, 0.0, 0.0)), joints=joints),)),
        {"m": model},
        found,
    )
    told = [item for item in found if item.code == "loop-disagrees"]
    expected = {name: BOTH[0][at] for at, name in enumerate(("crank", "coupler", "rocker")) if at and off[at - 1]}
    assert [item.message.split("'")[1] for item in told] == list(expected)
    for item, value in zip(told, expected.values(), strict=True):
        assert abs(turned(np.array(float(item.message.split()[-1])) - value)) < 1e-8
