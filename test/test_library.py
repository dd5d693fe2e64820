# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The front door: a newcomer's tasks in a few lines, with one rule for shapes and errors that name the remedy."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from rosbags.typesys import Stores, get_typestore

import robot_semantics as rs
from robot_semantics.examples import example

TWO_LEGS = """<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/>
  <joint name="j" type="revolute"><parent link="base"/><child link="a"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="s" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
    <limit lower="1" upper="3" effort="1" velocity="1"/></joint>
</robot>"""
GROUPS = """<robot name="r"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="base"/>
  <group name="g"><joint name="s"/><joint name="j"/></group>
  <group_state name="out" group="g"><joint name="j" value="0.5"/><joint name="s" value="2"/></group_state></robot>"""


@pytest.fixture
def robot() -> rs.Robot:
    return rs.robot_from_text(TWO_LEGS, GROUPS)


def test_positions_come_from_defaults_states_and_names_in_this_order(robot: rs.Robot) -> None:
    assert robot.names == ("v/x", "v/y", "v/theta", "j", "s")
    np.testing.assert_array_equal(robot.q(), [0, 0, 0, 0, 2])
    np.testing.assert_array_equal(robot.q("g/out", j=0.25), [0, 0, 0, 0.25, 2])
    np.testing.assert_array_equal(robot.q({"v": (1, 2, 3), "s": 1.5}, "g/out"), [1, 2, 3, 0.5, 2])
    np.testing.assert_array_equal(robot.q({"v/y": 7.0})[:3], [0, 7, 0])
    assert robot.q(v=np.zeros((6, 3))).shape == (6, 5)


def test_random_positions_are_inside_the_limits_and_repeat_with_a_seed(robot: rs.Robot) -> None:
    q = robot.random_q((3, 50), seed=4)
    assert q.shape == (3, 50, 5)
    assert (np.abs(q[..., 3]) <= 2).all()
    assert ((q[..., 4] >= 1) & (q[..., 4] <= 3)).all()
    np.testing.assert_array_equal(q, robot.random_q((3, 50), seed=4))
    assert robot.random_q(7).shape == (7, 5)
    assert robot.random_q().shape == (5,)


def test_forward_kinematics_are_those_of_the_closed_form(robot: rs.Robot) -> None:
    q = robot.random_q(20, seed=1)
    T = robot.fk(q, "b")
    np.testing.assert_allclose(T[:, 0, 3], 1 + q[:, 4] * np.cos(q[:, 3]), atol=1e-12)
    np.testing.assert_allclose(T[:, 1, 3], q[:, 4] * np.sin(q[:, 3]), atol=1e-12)
    np.testing.assert_allclose(robot.fk(q, "b", relative_to="a")[:, :3, 3], q[:, 4:] * [[1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(robot.fk(q[0], "base"), np.eye(4))


def test_forward_kinematics_are_those_of_mujoco(tmp_path: Path) -> None:
    robot = rs.load_robot(example("rover_arm.urdf"))
    model = mujoco.MjModel.from_xml_path(str(example("rover_arm.urdf")))
    data = mujoco.MjData(model)
    q = robot.random_q(seed=2)
    for joint in range(model.njnt):
        data.qpos[model.jnt_qposadr[joint]] = q[robot.names.index(model.joint(joint).name)]
    mujoco.mj_kinematics(model, data)
    # MuJoCo merges links that no joint moves: the wrist is one that stays.
    np.testing.assert_allclose(robot.fk(q, "wrist_link")[:3, 3], data.body("wrist_link").xpos, atol=1e-9)


def test_group_positions_go_out_and_come_in(robot: rs.Robot) -> None:
    q = robot.random_q(4, seed=3)
    assert robot.semantics.group("g").variable_names == ("j", "s")
    np.testing.assert_array_equal(robot.group_q(q, "g"), q[:, 3:])
    np.testing.assert_array_equal(robot.with_group_q(robot.q(), "g", q[:, 3:])[:, 3:], q[:, 3:])
    with pytest.raises(rs.UnknownNameError, match="did you mean 'g'"):
        robot.group_q(q, "gg")


def test_errors_name_the_remedy(robot: rs.Robot) -> None:
    with pytest.raises(rs.RobotSemanticsError, match=r"use robot.q\(...\)"):
        robot.kinematics.link_poses({"j": 1.0})  # type: ignore[arg-type]
    with pytest.raises(rs.UnknownNameError, match="unknown joint variable 'jj'; did you mean 'j'"):
        robot.q(jj=1.0)
    with pytest.raises(rs.UnknownNameError, match="unknown state 'ou' of group 'g'; did you mean 'out'"):
        robot.q("g/ou")
    with pytest.raises(rs.UnknownNameError, match="unknown link 'c'"):
        robot.fk(robot.q(), "c")
    with pytest.raises(rs.UnknownNameError, match="unknown state 'out'; did you mean 'g/out'"):
        robot.q("out")
    for array in ([0.5, 2.0], robot.q()):
        with pytest.raises(rs.RobotSemanticsError, match=r"robot.with_group_q\(...\) for a group"):
            robot.q(array)  # type: ignore[arg-type]
    with pytest.raises(rs.RobotSemanticsError, match=r"time: 0\.5 is not a whole number of nanoseconds"):
        robot.tf_message(robot.q(), 0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not 'w.usdf': use read_world\(...\)"):
        rs.with_joints("w.usdf", "r", j=0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a world state is needed, not 'w.usdf'"):
        rs.save_world("w.usdf", "r")  # type: ignore[arg-type]
    with pytest.raises(rs.RobotSemanticsError, match=r"got \(2,\); robot.q\(...\) makes all positions"):
        robot.fk([0.5, 2.0], "a")
    with pytest.raises(rs.RobotSemanticsError, match="the name of a link is needed"):
        robot.fk("a", robot.q())  # type: ignore[arg-type]
    with pytest.raises(rs.RobotSemanticsError, match=r"is an SRDF and .* a URDF: exchange the two files"):
        rs.load_robot(example("rover_arm.srdf"), example("rover_arm.urdf"))
    with pytest.raises(rs.RobotSemanticsError, match=r"is not the text of a document: load_robot\(...\) reads files"):
        rs.robot_from_text("rover_arm.urdf")


def test_a_world_is_edited_with_numbers_and_resolved_by_short_names(tmp_path: Path) -> None:
    robot = rs.load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
    world = rs.read_world(example("rover_arm.usdf"))
    moved = rs.with_joints(world, "rover_arm", {"elbow_joint": 0.5}, lift_joint=0.1, robot=robot)
    assert moved.model("rover_arm").joint("elbow_joint").positions == (0.5,)
    assert moved.model("rover_arm").joint("lift_joint").positions == (0.1,)
    T = np.eye(4)
    T[:3, 3] = 1, 2, 3
    block = rs.with_pose(moved, "block_1", T, parent="world").model("block_1")
    assert block.pose is not None
    assert list(block.pose.xyz_rpy) == [1, 2, 3, 0, 0, 0]
    resolved = rs.resolve(moved, {"rover_arm": robot})
    np.testing.assert_array_equal(resolved.pose("tool_frame"), resolved.pose("rover_arm::tool_frame"))
    np.testing.assert_allclose(
        rs.resolve(example("rover_arm.usdf")).pose("tool_frame", "rover_arm"),
        robot.fk(robot.q({j.name: j.positions or 0.0 for j in world.model("rover_arm").joints}), "tool_frame"),
        atol=1e-9,
    )


def test_a_short_name_of_two_links_is_refused() -> None:
    text = "".join(
        f"<model_state name='{name}'><pose>0 0 0 0 0 0</pose><link_state name='l'><pose>0 0 0 0 0 0</pose></link_state>"
        "</model_state>"
        for name in "ab"
    )
    from robot_semantics.usdf.reader import parse_world

    resolved = rs.resolve(parse_world(f"<world_state>{text}</world_state>"))
    with pytest.raises(rs.RobotSemanticsError, match="'l' is a link of several models: name one of a::l, b::l"):
        resolved.pose("l")


def test_a_conversion_says_what_it_lost(tmp_path: Path) -> None:
    sdf = rs.convert_world(example("rover_arm.usdf"), "sdformat")
    assert sdf.value.lstrip().startswith("<")
    assert any("twist" in sentence for sentence in sdf.lost)
    world = rs.read_world(example("rover_arm.usdf"))
    again = rs.convert_world(world, "json")
    (tmp_path / "w.json").write_text(again.value)
    assert rs.convert_world(tmp_path / "w.json", "usdf").value == rs.write_world(world)
    with pytest.raises(rs.UnknownNameError, match="unknown format 'sdformt'; did you mean 'sdformat'"):
        rs.convert_world(world, "sdformt")


def test_a_tf_message_is_of_one_configuration(robot: rs.Robot) -> None:
    with pytest.raises(rs.RobotSemanticsError, match=r"q: expected shape \(5,\), got \(3, 5\)"):
        robot.tf_message(robot.random_q(3), 0)


@pytest.mark.parametrize("prefix", ["", "left_"])
def test_tf_messages_are_of_rosbags_or_of_rclpy(robot: rs.Robot, prefix: str) -> None:
    q = robot.q("g/out", v=(1.0, 2.0, np.pi / 2))
    store = get_typestore(Stores.ROS2_JAZZY)
    of_rosbags = robot.tf_message(q, 5_000_000_007, store.types, frame_prefix=prefix)
    of_rclpy = robot.tf_message(q, 5_000_000_007, frame_prefix=prefix)
    for message in (of_rosbags, of_rclpy):
        first, second, third = message.transforms
        assert (first.header.frame_id, first.child_frame_id) == ("odom", f"{prefix}base")
        assert (second.header.frame_id, second.child_frame_id) == (f"{prefix}base", f"{prefix}a")
        assert (first.header.stamp.sec, first.header.stamp.nanosec) == (5, 7)
        assert (first.transform.translation.x, first.transform.translation.y) == (1.0, 2.0)
        assert first.transform.rotation.z == pytest.approx(np.sqrt(0.5))
        assert third.transform.translation.x == 2.0
    assert len(store.serialize_cdr(of_rosbags, "tf2_msgs/msg/TFMessage")) > 100


def test_collisions_are_generated_and_audited() -> None:
    robot = rs.load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
    matrix = robot.generate_collisions(samples=200, seed=1)
    assert matrix.samples == 200
    assert matrix.disabled()
    assert isinstance(robot.audit_collisions(matrix), tuple)
