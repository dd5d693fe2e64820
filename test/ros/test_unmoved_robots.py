# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots without a joint state so far, and the effect of changed settings on robots with one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robot_semantics_interfaces.msg import WorldState
from robot_semantics_interfaces.srv import (
    GetCurrentState,
    GetGroupState,
    GetWorldState,
    RestoreSnapshot,
    SaveGroupState,
    SaveSnapshot,
)
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.nodes import Client, NodeProcess, joint_state, stamp_of

from robot_semantics import Diagnostics, read_world, save_world
from robot_semantics.cdr.joint_states import JointStateData
from robot_semantics.examples import example
from robot_semantics.live.frames import TransformRows
from robot_semantics.live.joint_state import Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings, Source, VirtualJointSettings
from robot_semantics.model.loading import robot_from_text
from robot_semantics.ros.tools.live_view import PublishedRobots
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf import world_state as usdf
from robot_semantics.usdf.reader import parse_world

pytestmark = pytest.mark.ros

URDF, SRDF = (example(f"rover_arm.{kind}").read_text() for kind in ("urdf", "srdf"))
ROBOT = robot_from_text(URDF, SRDF)
REACH = {name: float(values[0]) for name, values in ROBOT.semantics.state("arm", "reach").joints.items()}
PAST_NS = 1_500_000_000_000_000_000
EMPTY = np.empty(0)


def test_default_positions_are_published_before_any_joint_state(
    client: Client, start: Callable[..., NodeProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    node = start(robot_description=URDF, robot_description_semantic=SRDF, default_positions="arm/reach")
    moving = {joint.child_link for joint in ROBOT.joints if joint.position_count}
    client.until(lambda: client.newest().keys() >= moving, "the transforms of all moving joints")
    # Stamped before now, so that no joint state comes too late for the listeners.
    assert all(stamp_of(item) <= time.time_ns() - 100_000_000 for item in client.newest().values())
    client.transforms.clear()
    client.until(lambda: client.newest().keys() >= moving, "all of them again, as a late listener needs them")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    with PublishedRobots("/robot_semantics", 20.0, (), Diagnostics()) as live:
        (actor,) = live.scene.actors
        expected = actor.kinematics.space.pack(REACH)
        at = [actor.kinematics.space.index[name] for name in REACH]
        seen, end = -1, time.monotonic() + 60.0
        q = np.full(len(expected), np.nan)
        while time.monotonic() < end and not np.allclose(q[at], expected[at], atol=1e-9):
            seen, moment = live.wait(seen, 1.0) or (seen, live.scene.moments[0])
            q = moment.stances[actor.name].q
        np.testing.assert_allclose(q[at], expected[at], atol=1e-9)

    # The first joint state is published immediately; later only joint states trigger messages.
    publisher = client.publisher(JointState, "joint_states")
    stamps: list[int] = []

    def next_state() -> JointState:
        stamps.append(time.time_ns())
        return joint_state({"lift_joint": 0.3}, stamps[-1])

    client.publish_until(
        publisher, next_state, lambda: any("lift_link" in client.at(stamp) for stamp in stamps), "the transform"
    )
    client.spin_for(0.5)
    client.transforms.clear()
    client.spin_for(0.5)
    assert not client.transforms
    assert node.stop() == 0


def test_default_positions_are_on_tf_and_stated_nowhere(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    node = start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        default_positions="arm/reach",
        world_state_frequency=20.0,
        snapshots__directory=str(tmp_path),
        ros_args=["-r", "__ns:=/tf_only", "-r", "/tf:=tf"],
    )
    name, own = "/tf_only/robot_semantics", [joint for joint in ROBOT.joints if joint.position_count]
    joints = [joint.name for joint in own if not joint.virtual]
    frames = client.collect_tf("/tf_only/tf")
    worlds = client.collect(WorldState, f"{name}/world_state")

    def stated() -> tuple[WorldState, usdf.ModelState]:
        """Return the agreeing contents of the service and of a snapshot for the robot, and the missing values."""
        answer = client.call(GetWorldState, f"{name}/get_world_state", GetWorldState.Request(with_text=True))
        saved = client.call(SaveSnapshot, f"{name}/save_snapshot", SaveSnapshot.Request(name="now", overwrite=True))
        assert answer.success, answer.message
        assert saved.success, saved.message
        assert list(answer.state.missing) == list(saved.missing)
        (model,) = parse_world(answer.text).models
        (file_model,) = read_world(saved.path).models
        assert (model.joints, model.links) == (file_model.joints, file_model.links)
        return answer.state, model

    def not_known(state: WorldState) -> list[str]:
        return [item.name for item in state.missing if item.kind == "joint"]

    client.until(lambda: {joint.child_link for joint in own} == {item.child_frame_id for item in frames}, "TF")
    state, model = stated()
    assert (model.pose, model.twist, model.joints) == (None, None, ())
    assert not_known(state) == joints
    assert [item.kind for item in state.missing if item.kind == "pose"] == ["pose"]
    # The root link is where it is; everything behind a joint is not known.
    assert {link.name for link in model.links} <= {ROBOT.root_link, *_fixed_below(ROBOT.root_link)}
    assert not worlds
    group = GetCurrentState.Request(group="arm")
    answer = client.call(GetCurrentState, f"{name}/get_current_state", group)
    assert not answer.success
    assert all(joint in answer.message for joint in REACH)
    assert not client.call(GetGroupState, f"{name}/get_group_state", GetGroupState.Request(group="arm")).success
    save = SaveGroupState.Request(group="arm", state="here")
    assert not client.call(SaveGroupState, f"{name}/save_group_state", save).success

    publisher = client.publisher(JointState, "/tf_only/joint_states")
    client.publish_until(
        publisher, lambda: joint_state({"lift_joint": 0.3, "world_joint/x": 4.0}), lambda: worlds, "it"
    )
    state, model = stated()
    assert [(joint.name, joint.positions) for joint in model.joints] == [("lift_joint", (0.3,))]
    assert model.pose is None
    assert not_known(state) == [joint for joint in joints if joint != "lift_joint"]
    assert not_known(worlds[-1]) == not_known(state)

    # A change of the defaults, or of any other parameter, makes nothing known.
    assert client.set_parameters(name, default_positions="zero", frame_prefix="new/")[0].successful
    again, model = stated()
    assert [(joint.name, joint.positions) for joint in model.joints] == [("lift_joint", (0.3,))]
    assert model.pose is None
    assert not_known(again) == not_known(state)

    # Joints in a restored state are known; all others stay unknown.
    given = replace(
        model,
        links=(),
        joints=(usdf.JointState("elbow_joint", (0.7,)),),
        pose=Pose((1.0, 2.0, 0.0, 0.0, 0.0, 0.5)),
    )
    save_world(replace(read_world(tmp_path / "now.usdf"), models=(given,)), tmp_path / "given.usdf")
    request = RestoreSnapshot.Request(name="given", partial=True)
    restored = client.call(RestoreSnapshot, f"{name}/restore_snapshot", request)
    assert restored.success, restored
    state, model = stated()
    assert {joint.name: joint.positions for joint in model.joints} == {"lift_joint": (0.3,), "elbow_joint": (0.7,)}
    assert model.pose is not None
    assert model.pose.xyz_rpy[:2] == (1.0, 2.0)
    assert not_known(state) == [joint for joint in joints if joint not in ("lift_joint", "elbow_joint")]
    assert node.stop() == 0


def _fixed_below(link: str) -> list[str]:
    return [
        name
        for joint in ROBOT.joints
        if joint.parent_link == link and not joint.position_count
        for name in (joint.child_link, *_fixed_below(joint.child_link))
    ]


def test_without_default_positions_nothing_is_published_before_any_joint_state(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(
        robot_description=URDF, robot_description_semantic=SRDF, ros_args=["-r", "__ns:=/none", "-r", "/tf:=tf"]
    )
    frames = client.collect_tf("/none/tf")
    client.until(lambda: client.node.count_publishers("/none/tf"), "the node")
    client.spin_for(1.0)
    assert not frames
    assert node.stop() == 0


def test_default_positions_follow_simulated_time(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(
        robot_description=URDF,
        default_positions="zero",
        use_sim_time=True,
        ros_args=["-r", "__ns:=/sim", "-r", "/tf:=tf", "-r", "/clock:=clock"],
    )
    frames = client.collect_tf("/sim/tf")
    clock = client.publisher(Clock, "/sim/clock")
    client.spin_for(0.5)
    assert not frames
    now_ns = [50_000_000_000]

    def tick() -> Clock:
        now_ns[0] += 150_000_000
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(now_ns[0], 1_000_000_000)
        return message

    client.publish_until(clock, tick, lambda: len({stamp_of(item) for item in frames}) > 2, "the transforms")
    assert {stamp_of(item) % 50_000_000 for item in frames} == {0}
    assert node.stop() == 0


def test_after_a_change_of_settings_the_stamps_of_a_recording_are_as_good_as_before(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(robot_description=URDF, ros_args=["-r", "__ns:=/past", "-r", "/tf:=tf"])
    frames = client.collect_tf("/past/tf")
    publisher = client.publisher(JointState, "/past/joint_states")
    count = [0]

    def next_state() -> JointState:
        count[0] += 1
        return joint_state({"lift_joint": 0.1}, PAST_NS + count[0] * 200_000_000)

    client.publish_until(publisher, next_state, lambda: frames, "a transform")
    assert client.set_parameters("/past/robot_semantics", frame_prefix="new/")[0].successful
    client.until(lambda: frames[-1].child_frame_id == "new/lift_link", "the transform by its new name")
    newest_ns = stamp_of(frames[-1])
    assert newest_ns <= PAST_NS + count[0] * 200_000_000
    client.publish_until(publisher, next_state, lambda: stamp_of(frames[-1]) > newest_ns, "the next transform")
    assert node.stop() == 0


def made(**settings: Any) -> RunningRobot:
    return RunningRobot("rover_arm", ROBOT, RobotSettings(**settings))


def named_nose(stamp_ns: int) -> JointStateData:
    return JointStateData(stamp_ns, ("lift_joint", "nose"), np.array([0.1, 0.0]), EMPTY, EMPTY)


def test_a_change_of_settings_is_no_news_of_any_joint() -> None:
    before = made()
    before.joint_state(named_nose(PAST_NS), time.time_ns)
    assert [text for text in before.notices if "'nose'" in text]
    after = made(frame_prefix="new/")
    after.adopt(before)
    assert after.has_moved
    assert after.made_ns == before.made_ns
    np.testing.assert_array_equal(after.values.received_ns, before.values.received_ns)
    after.joint_state(named_nose(PAST_NS + 1), time.time_ns)
    assert not after.notices


def test_a_new_pose_of_a_fixed_virtual_joint_wins_over_the_old_one() -> None:
    name = ROBOT.root_joint.name
    before, after = (
        made(virtual_joints={name: VirtualJointSettings(source=Source.FIXED, pose=(x, 0.0, 0.0, 0.0, 0.0, 0.0))})
        for x in (1.0, 2.0)
    )
    after.adopt(before)
    assert after.values.positions[after.space.joint_positions[name]].tolist() == [2.0, 0.0, 0.0]


def test_no_transform_is_stamped_before_the_beginning_of_time() -> None:
    robot = made(default_positions="zero", raw=False)
    data = JointStateData(20_000_000, ("lift_joint",), np.zeros(1), EMPTY, EMPTY)
    messages = robot.joint_state(data, time.time_ns)
    assert not isinstance(messages, Refusal)
    stamps = {message.stamp_ns for message in messages if isinstance(message, TransformRows)}
    assert stamps == {0, 20_000_000}


def test_one_value_for_a_joint_of_several_is_reported() -> None:
    robot = made()
    robot.joint_state(JointStateData(1, ("world_joint", "lift_joint"), np.zeros(2), EMPTY, EMPTY), time.time_ns)
    (notice,) = robot.notices
    assert "'world_joint' has several values (world_joint/x world_joint/y world_joint/theta)" in notice
