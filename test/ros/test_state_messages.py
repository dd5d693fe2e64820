# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as JointState, MultiDOFJointState and TFMessage, against scipy and the state itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import ForwardKinematics, RobotModel, WorldState
from robot_semantics.base.errors import ArrayError
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.transforms.pose import Pose, pose_from_matrix
from robot_semantics.usdf.compare import compare
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.table import DifferenceKind
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState

pytest.importorskip("rclpy")

from robot_semantics.ros.messages.tf_messages import from_transforms, to_transforms
from robot_semantics.ros.messages.world_messages import (
    from_joint_state,
    from_multi_dof_joint_state,
    to_joint_state,
    to_multi_dof_joint_state,
    world_from_message,
    world_to_message,
)

ZERO = (0.0,) * 6


@pytest.fixture(scope="module")
def rover() -> RobotModel:
    return load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))


@pytest.fixture(scope="module")
def carrier() -> RobotModel:
    text = (
        "<robot name='carrier'><link name='a'/><link name='b'/><link name='c'/>"
        "<joint name='plane' type='planar'><parent link='a'/><child link='b'/><origin xyz='1 2 3' rpy='0.1 0.2 0.3'/>"
        "<axis xyz='0 1 0'/></joint><joint name='free' type='floating'><parent link='b'/><child link='c'/>"
        "<origin xyz='0 0 1' rpy='0.3 0 0'/></joint></robot>"
    )
    return robot_from_text(text)


def test_a_joint_state_comes_back_with_what_is_not_stated() -> None:
    joints = (JointState("a", (1.0,), (2.0,), None), JointState("b", (3.0,), None, None), JointState("c"))
    state = ModelState("m", pose=Pose(ZERO), joints=(*joints, JointState("f", (0.0,) * 7)))
    there = to_joint_state(state, 1_500_000_000)
    message = there.value
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 500_000_000)
    assert list(message.name) == ["a", "b", "c"]
    assert list(message.position)[:2] == [1.0, 3.0]
    assert math.isnan(message.velocity[1])
    assert list(message.effort) == []
    assert there.lost == ("where the model is, and how it moves", "joint 'f', which has 7 values")
    assert from_joint_state(message, "m").value == ModelState("m", joints=joints)


def test_a_joint_state_that_makes_no_sense_is_refused() -> None:
    message = to_joint_state(ModelState("m", joints=(JointState("a", (1.0,)), JointState("b", (1.0,))))).value
    message.velocity = [1.0]
    with pytest.raises(ArrayError, match="velocity: there are 1 values for 2 joints"):
        from_joint_state(message, "m")
    message.velocity = [1.0, math.inf]
    with pytest.raises(ArrayError, match="infinite"):
        from_joint_state(message, "m")
    message.velocity, message.name = [], ["a", "a"]
    with pytest.raises(ArrayError, match="named twice"):
        from_joint_state(message, "m")


@pytest.mark.parametrize("seed", range(10))
def test_planar_and_floating_joints_go_through_a_multi_dof_joint_state(carrier: RobotModel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    quat = Rotation.random(rng=seed).as_quat()
    theta = float(rng.uniform(-3, 3))
    plane = JointState("plane", (*rng.normal(size=2), theta), tuple(rng.normal(size=3)), tuple(rng.normal(size=3)))
    free = JointState("free", (*rng.normal(size=3), *quat), tuple(rng.normal(size=6)), tuple(rng.normal(size=6)))
    state = WorldState(models=(ModelState("carrier", joints=(plane, free)),))
    there = to_multi_dof_joint_state(state.models[0], carrier)
    assert there.lost == ()
    message = there.value
    assert list(message.joint_names) == ["plane", "free"]
    xyz, turn = message.transforms[1].translation, message.transforms[1].rotation
    assert free.positions is not None
    np.testing.assert_allclose((xyz.x, xyz.y, xyz.z), free.positions[:3], atol=1e-12)
    assert abs(abs(np.dot((turn.x, turn.y, turn.z, turn.w), quat)) - 1.0) < 1e-12
    # The planar joint turns about its axis, +Y of its frame.
    turn = message.transforms[0].rotation
    expected = Rotation.from_rotvec([0.0, theta, 0.0]).as_quat()
    assert abs(abs(np.dot((turn.x, turn.y, turn.z, turn.w), expected)) - 1.0) < 1e-12
    assert message.twist[0].angular.y == pytest.approx(plane.velocities[2] if plane.velocities else None)
    back = from_multi_dof_joint_state(message, carrier)
    assert back.lost == ()
    assert compare(state, WorldState(models=(back.value,)), tolerance=1e-9) == []


def test_a_virtual_joint_is_the_models_pose(rover: RobotModel) -> None:
    kinematics = ForwardKinematics(rover)
    rng = np.random.default_rng(0)
    q, v = kinematics.space.random(rng), rng.normal(size=kinematics.space.velocity_size)
    state = from_joint_positions(kinematics.model, q, v)
    message = to_multi_dof_joint_state(state, rover).value
    assert list(message.joint_names) == [rover.root_joint.name]
    assert message.header.frame_id == "odom"
    back = from_multi_dof_joint_state(message, rover, "rover_arm").value
    bare = replace(state, links=(), joints=())
    assert compare(WorldState(models=(bare,)), WorldState(models=(back,)), tolerance=1e-12) == []


def test_messages_that_do_not_fit_the_robot_are_refused_or_listed(carrier: RobotModel) -> None:
    message = to_multi_dof_joint_state(ModelState("m", joints=(JointState("plane", (0.0, 0.0, 0.0)),)), carrier).value
    message.transforms[0].translation.y += 0.5
    with pytest.raises(ArrayError, match="planar joint 'plane' cannot have this transform"):
        from_multi_dof_joint_state(message, carrier)
    message.joint_names = ["other"]
    assert from_multi_dof_joint_state(message, carrier).lost == (
        "joint 'other', which the robot does not have as a planar or floating one",
    )
    message.joint_names = ["plane", "free"]
    with pytest.raises(ArrayError, match="transforms: there are 1 for 2 joints"):
        from_multi_dof_joint_state(message, carrier)


@pytest.mark.parametrize("with_robot", [True, False])
def test_transforms_put_every_link_where_the_state_has_it(rover: RobotModel, with_robot: bool) -> None:
    kinematics = ForwardKinematics(rover)
    q = kinematics.space.random(np.random.default_rng(1))
    odom = Frame("odom", "map", Pose((1.0, 2.0, 3.0, 0.1, 0.2, 0.3)))
    state = WorldState(
        models=(
            from_joint_positions(kinematics.model, q),
            ModelState("box", "odom", Pose((4.0, 0.0, 0.0, 0.0, 0.0, 1.0))),
        ),
        frames=(odom, Frame("map", pose=Pose((5.0, 0.0, 0.0, 0.0, 0.0, 0.0)))),
        time_ns=2_000_000_001,
    )
    robots = {"rover_arm": rover} if with_robot else None
    there = to_transforms(state, robots=robots)
    assert there.lost == ()
    transforms: Any = there.value.transforms
    assert all(message.header.stamp.nanosec == 1 for message in transforms)
    children = [message.child_frame_id for message in transforms]
    assert len(set(children)) == len(children)
    # Compose the transforms as a listener would, with scipy.
    by_child = {message.child_frame_id: message for message in transforms}
    resolved = resolve_frames(state)
    for link in rover.link_names:
        T, here = np.eye(4), link
        while here != "world":
            message = by_child[here]
            step, turn, xyz = np.eye(4), message.transform.rotation, message.transform.translation
            step[:3, :3] = Rotation.from_quat((turn.x, turn.y, turn.z, turn.w)).as_matrix()
            step[:3, 3] = (xyz.x, xyz.y, xyz.z)
            T, here = step @ T, message.header.frame_id
        np.testing.assert_allclose(T, resolved.pose(f"rover_arm::{link}"), atol=1e-12)
    if with_robot:
        back = from_transforms(transforms, robots={"rover_arm": rover})
        assert back.lost == ()
        # A model without a robot is a frame to others.
        found = compare(state, back.value, tolerance=1e-12, ignore=[DifferenceKind.JOINT_POSITION])
        assert {item.path for item in found if "joint" not in item.path} == {"box"}


def test_what_transforms_cannot_say_is_listed(rover: RobotModel) -> None:
    state = WorldState(
        models=(ModelState("m", "f", Pose(ZERO), ZERO, (LinkState("l", Pose(ZERO), ZERO),)),), frames=(Frame("f"),)
    )
    lost = "\n".join(to_transforms(state).lost)
    for part in ("'f', as its pose in 'world' is not stated", "the twist of 'm'", "twists and wrenches of the links"):
        assert part in lost
    twins = WorldState(models=(ModelState("m", pose=Pose(ZERO), links=(LinkState("m", Pose(ZERO)),)),))
    with pytest.raises(ArrayError, match="more than one transform has the child frame m"):
        to_transforms(twins)
    assert len(to_transforms(twins, prefixes={"m": "m/"}).value.transforms) == 2


def test_frames_on_links_stand_on_these_links(rover: RobotModel) -> None:
    q = ForwardKinematics(rover).space.random(np.random.default_rng(2))
    model = from_joint_positions(rover, q)
    transforms: Any = to_transforms(
        WorldState(models=(model,), frames=(Frame("odom"),)), robots={"rover_arm": rover}
    ).value
    camera = Pose((0.1, 0.2, 0.3, 0.0, 0.0, 0.5))
    extra: Any = to_transforms(
        WorldState(models=(ModelState("tool_frame"),), frames=(Frame("camera", "tool_frame", camera),))
    )
    back = from_transforms([*transforms.transforms, *extra.value.transforms], robots={"rover_arm": rover})
    assert back.lost == ()
    frame = back.value.frame("camera")
    assert (frame.parent, frame.parent_link) == ("rover_arm", "tool_frame")
    pose = pose_from_matrix(resolve_frames(back.value).pose("camera", "rover_arm"))
    expected = resolve_frames(WorldState(models=(replace(model, parent="world"),))).pose(
        "rover_arm::tool_frame", "rover_arm"
    )
    step = np.eye(4)
    step[:3, :3] = Rotation.from_euler("z", 0.5).as_matrix()
    step[:3, 3] = (0.1, 0.2, 0.3)
    assert pose is not None
    np.testing.assert_allclose(pose.xyz_rpy[:3], (expected @ step)[:3, 3], atol=1e-12)
    assert back.value.frame("odom").pose is None


def test_transforms_in_a_circle_are_refused() -> None:
    state = WorldState(frames=(Frame("a", pose=Pose(ZERO)), Frame("b", "a", Pose(ZERO))))
    transforms: Any = to_transforms(state).value.transforms
    transforms[0].header.frame_id = "b"
    with pytest.raises(ArrayError, match="'a' is its own ancestor: a → b → a"):
        from_transforms(transforms)


def test_the_typed_message_keeps_every_number_and_what_is_not_stated() -> None:
    quat = tuple(Rotation.from_euler("xyz", (0.1, 0.2, 0.3)).as_quat().tolist())
    state = WorldState(
        "w",
        (
            ModelState(
                "m",
                "f",
                Pose((1.0, -0.0, 5e-324, 0.1, 0.2, 0.3), quat),
                None,
                (LinkState("l", None, (1e308,) * 6), LinkState("k", Pose(ZERO), None, (0.5,) * 6)),
                (JointState("j", (), None, (1.0, 2.0)),),
                "a.urdf",
            ),
        ),
        (Frame("f", twist=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),),
        1_700_000_000_123_456_789,
    )
    message = world_to_message(state)
    assert (message.has_time, message.header.frame_id) == (True, "world")
    back = world_from_message(message)
    assert compare(state, back, tolerance=1e-15) == []
    pose = back.models[0].pose
    assert pose is not None
    assert pose.quat_xyzw == quat
    assert repr(pose.xyz_rpy[:3]) == "(1.0, -0.0, 5e-324)"
