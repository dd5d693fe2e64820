# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Unusual recordings: almost empty, odd names, values that the node itself refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

from robot_semantics import WorldState, read_world, save_world
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.world_state import JointState, LinkState, ModelState


@pytest.mark.parametrize("storage", list(StoragePlugin))
def test_a_bag_without_messages_is_refused(tools: Any, storage: StoragePlugin) -> None:
    with Writer(tools.folder / "bag", version=9, storage_plugin=storage) as writer:
        writer.add_connection("/tf", tools.TF, typestore=tools.STORE2)
    code, stdout, stderr = tools.run("export", tools.folder / "bag", "-o", tools.folder / "state.usdf")
    assert (code, stdout) == (1, "")
    assert "error: " in stderr


def test_static_transforms_alone_make_a_world(tools: Any) -> None:
    tape = tools.Tape()
    tape.tf([(tools.START, "map", "table", (1, 2, 3, 0, 0, 0, 1))], topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    code, _, _ = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    state = read_world(tools.folder / "state.usdf")
    assert state.time_ns == tools.START
    pose = state.frame("table").pose
    assert pose is not None
    assert pose.xyz_rpy == (1.0, 2.0, 3.0, 0.0, 0.0, 0.0)


def test_a_recording_of_other_things_is_refused(tools: Any) -> None:
    tape = tools.Tape()
    tape.text("/chatter", "hello")
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert (code, "error: the recording has no joint states, transforms or odometry" in stderr) == (1, True)


def test_names_that_xml_must_escape_come_back(tools: Any) -> None:
    names = ['a "quoted" <joint> & more', "gelenk_ä", "in  between", "/slash/joint"]
    tape = tools.Tape()
    tape.joints(tools.START, names, [1.0, 2.0, 3.0, 4.0])
    tape.tf([(tools.START, "/map", "/cup <1>", (1, 0, 0, 0, 0, 0, 1))])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0, stderr
    state = read_world(tools.folder / "state.usdf")
    assert {joint.name: joint.positions for joint in state.models[0].joints} == dict(
        zip(names, [(1.0,), (2.0,), (3.0,), (4.0,)], strict=True)
    )
    assert state.frame("cup <1>").parent == "map"


def test_a_name_that_no_document_can_hold_is_an_error_and_leaves_nothing(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(tools.START, ["bell\x07"], [1.0])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "has a character that XML does not allow" in stderr
    assert [path.name for path in tools.folder.iterdir()] == ["bag"]
    assert tools.run("export", bag, "-o", tools.folder / "state.npz")[0] == 0


def test_a_message_that_names_a_joint_twice_is_refused_as_by_the_running_node(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(tools.START, ["a", "b"], [0.5, 0.25])
    tape.joints(tools.START + tools.S, ["a", "a"], [1.0, 2.0])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "1 message refused, the first at log time 1700000001.000 s: malformed, it names 'a' more than once" in stderr
    assert read_world(tools.folder / "state.usdf").models[0].joint("a").positions == (0.5,)


def test_velocities_that_are_not_known_stay_unknown(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(3):
        tape.joints(tools.START + i, ["a", "b"], [1.0, 2.0], [float("nan"), 0.5])
    bag = tape.write(tools.folder / "bag")
    assert tools.run("export", bag, "-o", tools.folder / "state.usdf")[0] == 0
    model = read_world(tools.folder / "state.usdf").models[0]
    assert (model.joint("a").velocities, model.joint("b").velocities) == (None, (0.5,))


def test_odometry_without_an_orientation_is_refused(tools: Any) -> None:
    tape = tools.Tape()
    tape.describe()
    for i in range(4):
        turn = (0, 0, 0, 0) if i == 2 else (0, 0, 0, 1)
        tape.odometry(tools.START + i * tools.S, "odom", "base_footprint", (float(i), 0, 0, *turn), np.zeros(6))
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--at", "2", "-o", tools.folder / "state.usdf")
    assert code == 0
    assert (
        "topic '/odom': 1 message refused, the first at log time 1700000002.000 s: 'base_footprint': a pose" in stderr
    )
    pose = read_world(tools.folder / "state.usdf").models[0].pose
    assert pose is not None
    assert pose.xyz_rpy[0] == 2.0  # halfway between 1 and 3


def test_a_folder_that_cannot_be_written_is_one_error(tools: Any, drive: Any) -> None:
    (tools.folder / "file").write_text("x")
    code, _, stderr = tools.run("export", drive, "-o", tools.folder / "file" / "state.usdf")
    assert code == 1
    assert "error: " in stderr
    assert len(stderr.splitlines()) == 1


def test_a_bag_with_fewer_messages_than_it_says_is_an_error(tools: Any) -> None:
    bag = tools.rover(1.0).write(tools.folder / "bag", "sqlite3")
    metadata = bag / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("message_count: 50", "message_count: 57"))
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert f"{bag}: error: topic '/joint_states': the index has 57 messages, but only 50 could be read" in stderr
    assert (tools.folder / "state.usdf").exists()


def test_a_frame_that_is_both_static_and_moving_is_said_and_moves(tools: Any) -> None:
    tape = tools.rover(1.0)
    tape.tf([(tools.START, "map", "odom", (9, 9, 9, 0, 0, 0, 1))], topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert f"{bag}: warning: frame 'odom' is both static and moving; it is read as moving" in stderr
    pose = read_world(tools.folder / "state.usdf").frame("odom").pose
    assert pose is not None
    assert pose.xyz_rpy[0] == 1.0


def test_repeated_and_late_transforms_are_said(tools: Any) -> None:
    tape = tools.Tape()
    for i, stamp in enumerate((0, 10, 20, 20, 15, 30)):
        tape.tf([(tools.START + stamp, "map", "cup", (i, 0, 0, 0, 0, 0, 1))], log=tools.START + i)
    bag = tape.write(tools.folder / "bag")
    _, _, stderr = tools.run("export", bag, "--at", "0.00000002", "-o", tools.folder / "state.usdf")
    assert "tf: 1 transforms repeat an earlier stamp; the last transform of each stamp is used, as in tf2" in stderr
    assert "tf: 1 transforms came after one with a later stamp; they were sorted" in stderr
    pose = read_world(tools.folder / "state.usdf").frame("cup").pose
    assert pose is not None
    assert pose.xyz_rpy[0] == 3.0


def test_torques_of_floating_joints_and_wrenches_cannot_be_recorded_and_it_is_said(tools: Any) -> None:
    place = Pose((0.0,) * 6, (0.0, 0.0, 0.0, 1.0))
    free = JointState("free", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.0,) * 6, (1.0,) * 6)
    model = ModelState("box", pose=place, links=(LinkState("lid", wrench=(1.0,) * 6),), joints=(free,))
    save_world(WorldState(models=(model,), time_ns=5), tools.folder / "state.usdf")
    code, _, stderr = tools.run("bag", tools.folder / "state.usdf", "-o", tools.folder / "bag")
    assert code == 0
    assert "bag: warning: torques of the floating joint 'free' cannot be stored in a recording" in stderr
    assert "bag: warning: the wrenches on the links of 'box' cannot be stored in a recording" in stderr


def test_the_motion_of_a_floating_joint_without_a_pose_is_not_taken_for_a_planar_joints(tools: Any) -> None:
    free = JointState("free", velocities=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    model = ModelState("box", pose=Pose((0.0,) * 6), joints=(free, JointState("plane", velocities=(1.0, 2.0, 3.0))))
    save_world(WorldState(models=(model,), time_ns=5), tools.folder / "state.usdf")
    code, _, stderr = tools.run("bag", tools.folder / "state.usdf", "-o", tools.folder / "bag")
    assert code == 0
    assert "bag: warning: the motion of 'free' without a position cannot be stored in a recording" in stderr
    with Reader(tools.folder / "bag") as reader:
        sent = [
            tools.STORE2.deserialize_cdr(data, connection.msgtype).name
            for connection, _, data in reader.messages()
            if connection.topic == "/joint_states"
        ]
    assert "bag: warning: the motion of 'plane' without a position cannot be stored in a recording" in stderr
    assert sent == []


@pytest.mark.parametrize("topic", ["/tf", "/joint_states", "/left/robot_description"])
def test_a_topic_of_ros_with_messages_of_another_type_is_named(tools: Any, topic: str) -> None:
    tape = tools.Tape()
    tape.joints(tools.START, ["a"], [1.0], topic="/states")
    tape.add(topic, "std_msgs/msg/Float32", tools.START, lambda store: store.types["std_msgs/msg/Float32"](1.5))
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--joint-states", "/states", "-o", tools.folder / "x.usdf")
    assert code == 0
    assert f"topic '{topic}' is not read: its messages are std_msgs/msg/Float32, not " in stderr
