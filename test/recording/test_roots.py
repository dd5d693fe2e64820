# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Sources of a robot's pose in a recording, and the messages if there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import WorldState, read_world
from robot_semantics.usdf.world_state import Frame, ModelState

BOX = '<robot name="{name}"><link name="base"/>{more}</robot>'
CART = (
    '<link name="cart"/><joint name="slide" type="planar"><parent link="base"/><child link="cart"/><axis xyz="0 1 0"/>'
    '</joint><link name="ball"/><joint name="free" type="floating"><parent link="base"/><child link="ball"/></joint>'
)
VIRTUAL = '<robot name="{name}"><virtual_joint name="wj" type="{type}" parent_frame="odom" child_link="base"/></robot>'


def described(tape: Any, namespace: str, name: str, joint: str | None = "planar", more: str = "") -> None:
    tape.text(f"{namespace}/robot_description", BOX.format(name=name, more=more))
    if joint is not None:
        tape.text(f"{namespace}/robot_description_semantic", VIRTUAL.format(name=name, type=joint))


def exported(tools: Any, tape: Any, *arguments: object) -> tuple[WorldState, str]:
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, *arguments, "--force", "-o", tools.folder / "state.usdf")
    assert code == 0, stderr
    return read_world(tools.folder / "state.usdf"), stderr


def place(model: ModelState | Frame) -> Any:
    assert model.pose is not None
    return model.pose.xyz_rpy[:3]


def test_virtual_joints_of_one_name_move_each_their_own_robot(tools: Any) -> None:
    tape = tools.Tape()
    for number, name in enumerate(("a", "b"), start=1):
        described(tape, f"/{name}", name, more=CART)
        turn = tools.turned(0.1 * number)
        # About y by -0.3 * number, moved along the joint frame's x and -z, which that axis carries x and y to.
        slide = (number, 0.0, -2.0 * number, *Rotation.from_euler("y", 0.3 * number).as_quat())
        rows = [
            ("wj", (float(number), 0, 0, *turn), (0.5 * number, 0, 0, 0, 0, 0.1)),
            ("slide", slide, (0.0,) * 6),
            ("free", (0, 0, float(number), *turn), (0, 0, 0.2 * number, 0, 0, 0)),
        ]
        tape.multi_dof(tools.START, "odom", rows, topic=f"/{name}/multi_dof_joint_states")
    state, stderr = exported(tools, tape)
    assert "ignored:" not in stderr
    for number, name in enumerate(("a", "b"), start=1):
        model = state.model(name)
        assert place(model) == (number, 0, 0)
        assert list(model.twist or ()) == [0.5 * number, 0, 0, 0, 0, 0.1]
        positions = model.joint("free").positions
        assert positions is not None
        assert positions[2] == number
        sliding = model.joint("slide").positions
        assert sliding is not None
        x, y, theta = sliding
        # The smallest rotation that takes +Z to +Y: x stays, y goes to -z.
        np.testing.assert_allclose((x, y, theta), (number, 2.0 * number, 0.3 * number), atol=1e-12)


def test_odometry_is_asked_before_the_root_link_is_taken_for_the_world(tools: Any) -> None:
    tape = tools.Tape()
    described(tape, "", "husky", joint=None)
    tape.tf([(tools.START, "base", "laser", (0.3, 0, 0, 0, 0, 0, 1))], topic="/tf_static")
    for i in range(3):
        tape.odometry(tools.START + i * tools.S, "odom", "base", (2.0 * i, 1, 0, 0, 0, 0, 1), (2, 0, 0, 0, 0, 0))
    state, stderr = exported(tools, tape, "--at", "1.5")
    assert stderr == ""
    assert (state.model("husky").parent, place(state.model("husky"))) == ("odom", (3.0, 1.0, 0.0))
    assert state.frame("laser").parent == "husky"


def test_of_two_that_say_where_a_free_frame_is_the_second_is_passed_over_and_named(tools: Any) -> None:
    tape = tools.Tape()
    described(tape, "", "box", joint="fixed")
    tape.joints(tools.START, ["x"], [0.0])
    for x, topic in ((1.0, "/a_odom"), (5.0, "/b_odom")):
        tape.odometry(tools.START, "odom", "cart", (x, 0, 0, 0, 0, 0, 1), np.zeros(6), topic=topic)
    state, stderr = exported(tools, tape)
    assert (state.frame("cart").parent, place(state.frame("cart"))) == ("odom", (1.0, 0.0, 0.0))
    assert "frame 'cart' is taken from topic '/a_odom'; ignored: '/b_odom'" in stderr


@pytest.mark.parametrize(("joint", "parent"), [(None, "world"), ("planar", "odom")])
def test_where_nobody_says_where_a_robot_is_its_pose_is_not_stated_and_that_is_said(
    tools: Any, joint: str | None, parent: str
) -> None:
    tape = tools.Tape()
    described(tape, "", "box", joint=joint)
    tape.tf([(tools.START, "base", "laser", (0.3, 0, 0, 0, 0, 0, 1))], topic="/tf_static")
    state, stderr = exported(tools, tape)
    assert (state.model("box").parent, state.model("box").pose) == (parent, None)
    assert "the pose of 'box' is unknown: no source states it" in stderr


def test_odometry_of_what_is_no_link_of_the_robot_is_named(tools: Any) -> None:
    tape = tools.Tape()
    described(tape, "", "box")
    tape.odometry(tools.START, "odom", "bass", (1, 2, 0, 0, 0, 0, 1), [0.0] * 6)
    state, stderr = exported(tools, tape)
    assert state.model("box").pose is None
    assert "no source states it; '/odom' has 'bass', which is not fixed to its root link 'base'" in stderr
    assert state.frame("bass").parent == "odom"


def test_a_fixed_virtual_joint_puts_the_robot_at_its_parent_frame(tools: Any) -> None:
    tape = tools.Tape()
    described(tape, "", "box", joint="fixed")
    tape.joints(tools.START, ["x"], [0.0])
    state, stderr = exported(tools, tape)
    assert "is unknown: no source" not in stderr
    assert (state.model("box").parent, place(state.model("box"))) == ("odom", (0.0, 0.0, 0.0))


def test_the_virtual_joints_own_values_among_the_joint_states_place_the_robot(tools: Any) -> None:
    tape = tools.Tape()
    described(tape, "", "box")
    tape.tf([(tools.START, "odom", "base", (9.0, 9.0, 0, 0, 0, 0, 1))])
    for i in range(3):
        names = ["wj/x", "wj/y", "wj/theta"]
        tape.joints(tools.START + i * tools.S, names, [1.0 * i, 2.0, 0.1 * i], [1.0, 0.0, 0.1])
    state, _ = exported(tools, tape, "--at", "1.5")
    model = state.model("box")
    assert model.pose is not None
    np.testing.assert_allclose((*place(model), model.pose.xyz_rpy[5]), (1.5, 2.0, 0.0, 0.15), atol=1e-12)
    assert model.twist == (1.0, 0.0, 0.0, 0.0, 0.0, 0.1)


def test_of_two_odometries_one_is_taken_whole_and_the_other_is_named(tools: Any) -> None:
    tape = tools.Tape()
    described(tape, "", "box", joint=None)
    for i in range(20):
        stamp = tools.START + i * tools.S // 10
        tape.odometry(stamp, "odom", "base", (0.1 * i, 0, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 0), topic="/ekf/odom")
        late = stamp + tools.S // 20
        tape.odometry(late, "odom", "base", (5 + 0.1 * i, 0, 0, 0, 0, 0, 1), (2, 0, 0, 0, 0, 0), topic="/wheel/odom")
    out = tools.folder / "all.jsonl"
    bag = tape.write(tools.folder / "both")
    for chosen, start in (((), 0.0), (("--odometry", "/wheel/odom"), 5.0)):
        code, _, stderr = tools.run("export", bag, "--every", "0.1", "--start", "0.1", *chosen, "-o", out)
        assert code == 0
        other = "/ekf/odom" if chosen else "/wheel/odom"
        assert bool(chosen) or f"ignored: '{other}'" in stderr
        import json

        found = [json.loads(line)["models"][0] for line in out.read_text().splitlines()]
        xs = [model["pose"]["xyz_rpy"][0] for model in found]
        expected = start + 0.1 * np.arange(1, len(xs) + 1) - (0.05 if chosen else 0.0)
        np.testing.assert_allclose(xs[:17], expected[:17], atol=1e-9)


def test_odometry_of_a_link_that_is_fixed_to_the_root_places_the_root(tools: Any) -> None:
    tape = tools.Tape()
    more = (
        '<link name="imu"/><joint name="mount" type="fixed"><origin xyz="0.5 0.2 0.1" rpy="0.1 0.2 0.3"/>'
        '<parent link="base"/><child link="imu"/></joint>'
    )
    described(tape, "", "box", joint=None, more=more)
    T_base_imu = np.eye(4)
    T_base_imu[:3, :3], T_base_imu[:3, 3] = Rotation.from_euler("xyz", (0.1, 0.2, 0.3)).as_matrix(), (0.5, 0.2, 0.1)
    T_odom_base = np.eye(4)
    T_odom_base[:3, :3], T_odom_base[:3, 3] = Rotation.from_euler("xyz", (0, 0, 1.0)).as_matrix(), (3.0, 4.0, 0.0)
    T_odom_imu = T_odom_base @ T_base_imu
    spin = np.array([0.0, 0.0, 0.7])
    v_base = np.array([1.0, 0.5, 0.0])
    v_imu = v_base + np.cross(spin, T_odom_imu[:3, 3] - T_odom_base[:3, 3])
    own = T_odom_imu[:3, :3].T
    twist = (*(own @ v_imu), *(own @ spin))
    pose = (*T_odom_imu[:3, 3], *Rotation.from_matrix(T_odom_imu[:3, :3]).as_quat())
    tape.odometry(tools.START, "odom", "imu", pose, twist)
    state, _ = exported(tools, tape)
    model = state.model("box")
    assert model.pose is not None
    np.testing.assert_allclose(model.pose.xyz_rpy, (3.0, 4.0, 0, 0, 0, 1.0), atol=1e-12)
    assert model.twist is not None
    np.testing.assert_allclose(model.twist, (*v_base, *spin), atol=1e-12)


def test_a_parent_that_appears_later_than_its_child_is_a_gap_and_every_format_reads_back(tools: Any) -> None:
    tape = tools.Tape()
    described(tape, "", "box", joint=None)
    for i in range(20):
        stamp = tools.START + i * tools.S // 10
        tape.tf([(stamp, "odom", "base", (0.1 * i, 0, 0, 0, 0, 0, 1))])
        if i >= 10:
            tape.tf([(stamp, "map", "odom", (5, 0, 0, 0, 0, 0, 1))], log=stamp)
    bag = tape.write(tools.folder / "drive")
    for name in ("states", "states.jsonl", "states.npz"):
        code, _, stderr = tools.run("export", bag, "--every", "0.1", "-o", tools.folder / name)
        assert code == 0, stderr
        assert "frame 'odom' is not known in 10 of 20 states" in stderr
        code, _, stderr = tools.run("bag", tools.folder / name, "-o", tools.folder / f"bag of {name}")
        assert code == 0, stderr
    first = read_world(tools.folder / "states" / "state_000003.usdf")
    assert first.model("box").parent == "odom"
    assert first.frame("odom").pose is None
    assert read_world(Path(tools.folder / "states" / "state_000015.usdf")).frame("odom").parent == "map"


@pytest.mark.parametrize("hertz", [10, 2])
def test_between_two_messages_the_measured_link_is_interpolated_and_the_root_link_follows(
    tools: Any, hertz: int
) -> None:
    offset, turn = np.array([0.5, 0.25, 0.125]), 0.3
    imu = f"""<link name="imu"/><joint name="mount" type="fixed"><parent link="base"/><child link="imu"/>
      <origin xyz="0.5 0.25 0.125" rpy="0 0 {turn}"/></joint>"""
    tape = tools.Tape()
    described(tape, "", "box", more=imu)
    velocity, rate = np.array([1.0, -0.5, 0.25]), 2.0

    def yawed(angle: float) -> Any:
        return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])

    for i in range(hertz + 1):
        seconds = i / hertz
        pose = (*(velocity * seconds), *tools.turned(rate * seconds))
        twist = (*(yawed(-rate * seconds) @ velocity), 0, 0, rate)
        tape.odometry(tools.START + i * tools.S // hertz, "odom", "imu", pose, twist)
    bag = tape.write(tools.folder / "bag")
    for seconds in (0.0, 0.05, 0.13, 0.77):
        out = tools.folder / f"{seconds}.usdf"
        code, _, stderr = tools.run("export", bag, "--at", seconds, "-o", out)
        assert (code, stderr) == (0, "")
        root = read_world(out).model("box").pose
        assert root is not None
        # The imu moves straight and turns evenly, so it is where a straight line and slerp have it.
        expected = velocity * seconds - yawed(rate * seconds - turn) @ offset
        np.testing.assert_allclose(root.xyz_rpy, (*expected, 0, 0, rate * seconds - turn), atol=1e-12)
