# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The node in setups of other people: their base controllers, their mistakes at the start, their changes."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from rcl_interfaces.srv import ListParameters
from robot_semantics_interfaces.srv import (
    GetStatus,
    GetWorldState,
    ListGroups,
    ReplaceDescription,
    RestoreSnapshot,
    SaveSnapshot,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.nodes import Client, NodeProcess, joint_state, stamp_of
from tf2_msgs.msg import TFMessage

from robot_semantics.examples import example

pytestmark = pytest.mark.ros
URDF, SRDF = example("rover_arm.urdf").read_text(), example("rover_arm.srdf").read_text()
ARM = ["left_wheel_joint", "right_wheel_joint", "caster_swivel_joint", "caster_wheel_joint", "lift_joint"]


def named(name: str) -> dict[str, Any]:
    """Return the options of a node of its own name, so that the nodes of a module do not answer for each other."""
    return {"ros_args": ["-r", f"__node:={name}"]}


def diagnostics(client: Client, name: str) -> Callable[[], Any]:
    """Return a function that waits for the next status whose name begins so."""
    messages = client.collect(DiagnosticArray, "/diagnostics", 50)

    def newest() -> Any:
        messages.clear()
        client.until(lambda: any(s.name.startswith(name) for m in messages for s in m.status), f"diagnostics of {name}")
        return next(s for m in messages for s in m.status if s.name.startswith(name))

    return newest


def values(status: Any) -> dict[str, str]:
    return {item.key: item.value for item in status.values}


# --- the usual mobile robot


def odometry_frame(x: float) -> TransformStamped:
    item = TransformStamped(child_frame_id="base_footprint")
    item.header.frame_id = "odom"
    item.transform.translation.x, item.transform.rotation.w = x, 1.0
    return item


def test_a_base_controller_that_owns_the_base_frame_is_no_rival(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(
        robot_description=URDF, robot_description_semantic=SRDF, diagnostics_period=0.2, stale_timeout=4.0,
        **named("mobile"),
    )  # fmt: skip
    newest = diagnostics(client, "mobile")
    tf = client.node.create_publisher(TFMessage, "/tf", 10)
    joints = client.publisher(JointState, "joint_states")
    all_joints = [*ARM, "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "left_finger_joint", "wrist_joint"]
    tf.publish(TFMessage(transforms=[odometry_frame(0.0)]))
    for number in range(1, 120):
        item = odometry_frame(0.01 * number)
        stamped = joint_state(dict.fromkeys(all_joints, 0.0))
        item.header.stamp = stamped.header.stamp
        tf.publish(TFMessage(transforms=[item]))
        joints.publish(stamped)
        client.spin_for(0.05)
    sent = [item.transform.translation.x for item in client.transforms if item.child_frame_id == "base_footprint"]
    assert len(set(sent)) == len(sent)  # the controller's alone
    assert "base_footprint" not in "".join(line for line in node.output.splitlines() if "WARN" in line), node.output
    status = newest()
    assert "published by others" not in status.message
    assert not any("base_footprint" in value for value in values(status).values())
    assert "world_joint" not in str(values(status)), "another node moves the base"

    # As soon as the node sends this frame too, the rival is named, with the remedy.
    for number in range(800):
        joints.publish(joint_state({"world_joint/x": 1.0, "world_joint/y": 0.0, "world_joint/theta": 0.0}))
        tf.publish(TFMessage(transforms=[odometry_frame(0.01 * number)]))
        client.spin_for(0.05)
        if "will jump" in node.output:
            break
    assert "'base_footprint' is published on /tf by /test_client too" in node.output
    assert "virtual_joints.world_joint.source" in node.output
    assert node.stop() == 0


# --- mistakes at the start


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"qos_overrides./joint_states.subscription.reliability": "foo"}, "best_effort"),
        ({"qos_overrides./tf.publisher.history": "keep_some"}, "keep_last"),
        ({"qos_overrides./joint_states.subscription.depth": -1}, "-1"),
        ({"qos_overrides./joint_states.subscription.depth": "x"}, "'x'"),
        ({"qos_overrides./tf.publisher.depth": 2.5}, "2.5"),
        ({"qos_overrides./tf_static.publisher.reliability": 1}, "reliable"),
        ({"qos_overrides./robot_description.publisher.reliability": ""}, "reliable"),
    ],
)
def test_a_wrong_quality_of_service_is_one_error(
    start: Callable[..., NodeProcess], given: dict[str, Any], expected: str
) -> None:
    node = start(robot_description=URDF, **given)
    assert node.wait() == 1
    (line,) = [line for line in node.output.splitlines() if "FATAL" in line]
    (name,) = given
    assert f"parameter '{name}'" in line
    assert expected in line
    assert "Traceback" not in node.output
    assert len([line for line in node.output.splitlines() if line.strip()]) <= 2, node.output


@pytest.mark.parametrize("text", ["robot.urdf", "/opt/robot.urdf.xacro", "package://x/robot.urdf", "~/robot.xml"])
def test_a_file_name_as_description_says_what_to_do(start: Callable[..., NodeProcess], text: str) -> None:
    node = start(robot_description=text)
    assert node.wait() == 1
    assert node.output.count("[FATAL]") == 1
    assert f"'{text}'" in node.output
    assert "ros2 launch robot_semantics robot_semantics.launch.py model:=" in node.output


def test_a_file_name_as_semantic_description_says_what_to_do(start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=URDF, robot_description_semantic="config/robot.srdf")
    assert node.wait() == 1
    assert node.output.count("[FATAL]") == 1
    assert "semantic_model:=" in node.output


def test_an_argument_says_what_to_do(start: Callable[..., NodeProcess], tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(URDF)
    node = start(robot_description=URDF, ros_args=["--", str(file)])
    assert node.wait() != 0
    assert str(file) in node.output
    assert f"model:={file}" in node.output
    assert "Traceback" not in node.output


# --- negative stamps


def test_negative_stamps_are_refused(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=URDF, robot_description_semantic=SRDF, ignore_timestamp=True, **named("negative"))
    joints = client.publisher(JointState, "joint_states")
    client.forget_transforms()
    negative = joint_state({"lift_joint": 0.2})
    negative.header.stamp.sec = -5

    def refused() -> bool:
        return bool(client.call(GetStatus, "/negative/get_status").joint_states_refused)

    client.publish_until(joints, lambda: negative, refused, "a refusal")
    answer = client.call(GetWorldState, "/negative/get_world_state")
    assert answer.state.header.stamp.sec >= 0
    assert "stamp is negative" in node.output
    # In the fast path too.
    for number in range(20):
        joints.publish(joint_state({"lift_joint": 0.01 * number}))
        client.spin_for(0.02)
    before = client.call(GetStatus, "/negative/get_status").joint_states_refused
    client.publish_until(
        joints,
        lambda: negative,
        lambda: client.call(GetStatus, "/negative/get_status").joint_states_refused > before,
        "a refusal in the fast path",
    )
    assert all(stamp_of(item) >= 0 for item in client.transforms)
    assert node.stop() == 0


# --- names and sentences


def test_diagnostics_carry_the_namespace(client: Client, start: Callable[..., NodeProcess]) -> None:
    nodes = [
        start(robot_description=URDF, diagnostics_period=0.2, ros_args=["-r", f"__ns:={space}"])
        for space in ("/red", "/blue/two")
    ]
    messages = client.collect(DiagnosticArray, "/diagnostics", 50)
    wanted = {"red/robot_semantics: rover_arm", "blue/two/robot_semantics: rover_arm"}
    client.until(lambda: {s.name for m in messages for s in m.status} >= wanted, "both names")
    hardware = {s.name: s.hardware_id for m in messages for s in m.status}
    assert hardware["red/robot_semantics: rover_arm"] != hardware["blue/two/robot_semantics: rover_arm"]
    assert all(node.stop() == 0 for node in nodes)


def test_silence_from_the_start_names_topic_publishers_and_remedy(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(robot_description=URDF, stale_timeout=0.5, ros_args=["-r", "__ns:=/silent"])
    node.wait_for_output("no values have come yet")
    (line,) = [line for line in node.output.splitlines() if "no values have come yet" in line]
    assert "/silent/joint_states" in line
    assert "has no publisher" in line
    assert "joint_state" in line.partition("has no publisher")[2]  # the remedy names what publishes them
    assert node.stop() == 0

    publisher = client.node.create_publisher(JointState, "/partly/joint_states", 10)
    node = start(robot_description=URDF, stale_timeout=4.0, ros_args=["-r", "__ns:=/partly"])
    client.until(publisher.get_subscription_count, "the subscriber")
    # It waits until the name of the publisher's node is known.
    client.publish_until(
        publisher,
        lambda: joint_state({"lift_joint": 0.1}),
        lambda: "no values have come yet" in node.output,
        "the sentence",
    )
    (line,) = [line for line in node.output.splitlines() if "no values have come yet" in line]
    assert "/partly/joint_states" in line
    assert "/test_client" in line
    assert "'lift_joint'" not in line
    assert node.stop() == 0


# --- another description


class Swapped:
    def __init__(self, client: Client, start: Callable[..., NodeProcess]) -> None:
        self.client = client
        self.process = start(
            robot_description=URDF,
            robot_description_semantic=SRDF,
            default_positions="arm/stowed",
            **named("swapped"),
        )

    def replace(self, **fields: Any) -> Any:
        request = ReplaceDescription.Request(**fields)
        return self.client.call(ReplaceDescription, "/swapped/replace_description", request)

    def parameters(self) -> list[str]:
        return list(self.client.call(ListParameters, "/swapped/list_parameters").result.names)


STATES = [
    line.split('name="')[1].split('"')[0] + "|" + line.split('group="')[1].split('"')[0]
    for line in SRDF.splitlines()
    if "<group_state" in line
]


@pytest.fixture(scope="module")
def swapped(client: Client, start: Callable[..., NodeProcess]) -> Swapped:
    return Swapped(client, start)


def semantic(virtual_joint: str) -> str:
    return (
        f'<robot name="rover_arm"><virtual_joint name="{virtual_joint}" type="planar" parent_frame="odom"'
        ' child_link="base_footprint"/></robot>'
    )


def test_default_positions_that_the_new_robot_lacks_are_a_warning(swapped: Swapped) -> None:
    answer = swapped.replace(urdf=URDF, srdf=semantic("other"), dry_run=True)
    assert answer.success, answer.message
    assert any("default_positions" in problem for problem in answer.problems)
    answer = swapped.replace(urdf=URDF, srdf=semantic("other"))
    assert answer.success, answer.message
    assert any("default_positions" in problem and "arm/stowed" in problem for problem in answer.problems)
    assert "default_positions" in swapped.process.output
    # The parameter itself may still not be set to what this robot lacks.
    (result,) = swapped.client.set_parameters("/swapped", default_positions="arm/nothing")
    assert not result.successful
    # Other parameters can be changed meanwhile.
    (result,) = swapped.client.set_parameters("/swapped", publish_frequency=30.0)
    assert result.successful, result.reason
    # And it holds again as soon as a robot has it.
    answer = swapped.replace(urdf=URDF, srdf=SRDF)
    assert answer.success
    assert not any("default_positions" in problem for problem in answer.problems)


def test_parameters_of_virtual_joints_that_are_gone_are_undeclared(swapped: Swapped) -> None:
    for number in range(5):
        assert swapped.replace(urdf=URDF, srdf=semantic(f"joint_{number}")).success
    swapped.replace(urdf=URDF, srdf=semantic("tried"), dry_run=True)
    assert not swapped.replace(urdf=URDF.replace("base_footprint", "x", 1), srdf=semantic("refused")).success
    below = [name.split(".")[1] for name in swapped.parameters() if name.startswith("virtual_joints.")]
    assert set(below) == {"joint_4"}
    (result,) = swapped.client.set_parameters("/swapped", virtual_joints__joint_1__source="tf")
    assert not result.successful
    assert "joint_4" in result.reason
    # A joint that comes back has the defaults.
    (result,) = swapped.client.set_parameters("/swapped", virtual_joints__joint_4__source="tf")
    assert result.successful
    assert swapped.replace(urdf=URDF, srdf=semantic("joint_5")).success
    assert swapped.replace(urdf=URDF, srdf=semantic("joint_4")).success
    value = swapped.client.get_parameter("/swapped", "virtual_joints.joint_4.source")
    assert value.string_value == "auto"


@pytest.mark.parametrize("by", ["service", "parameter"])
def test_a_robot_without_semantics_leaves_none_on_the_topic(swapped: Swapped, by: str) -> None:
    assert swapped.replace(urdf=URDF, srdf=SRDF).success
    if by == "service":
        assert swapped.replace(urdf=URDF).success
    else:
        assert swapped.client.set_parameters("/swapped", robot_description_semantic="")[0].successful
    late = Client(swapped.client.domain, "late")
    try:
        texts = late.collect(String, "robot_description_semantic")
        descriptions = late.collect(String, "robot_description")
        late.until(lambda: texts and descriptions, "both texts")
        late.spin_for(0.3)
        assert [message.data for message in texts] == [""]
        assert "rover_arm" in descriptions[-1].data
    finally:
        late.close()
    assert not swapped.client.call(ListGroups, "/swapped/list_groups").groups


def test_a_node_that_never_had_semantics_sends_none(client: Client, start: Callable[..., NodeProcess]) -> None:
    """Another node, as move_group, may publish the SRDF: an empty text beside it would take it away."""
    texts = client.collect(String, "/plain/robot_description_semantic")
    descriptions = client.collect(String, "/plain/robot_description")
    node = start(robot_description=URDF, ros_args=["-r", "__ns:=/plain"])
    client.until(lambda: descriptions, "the description")
    client.spin_for(0.5)
    assert not texts
    assert node.stop() == 0


# --- names of automatic snapshots


def test_the_prefix_of_automatic_snapshots_is_refused(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    node = start(
        robot_description=URDF, snapshots__directory=str(tmp_path), snapshots__allow_paths=True,
        snapshots__autosave_period=0.3, snapshots__autosave_keep=2, **named("saver"),
    )  # fmt: skip

    def save(name: str) -> Any:
        return client.call(SaveSnapshot, "/saver/save_snapshot", SaveSnapshot.Request(name=name, overwrite=True))

    for name in ("auto-saver-000001", "auto-saver-000500", "auto-other-000001", "auto-000001", "auto-x.usdf",
                 str(tmp_path / "auto-saver-000007.usdf"), f"{tmp_path}/./auto-saver-000008"):  # fmt: skip
        answer = save(name)
        assert not answer.success, name
        assert "auto-" in answer.message
        assert "choose another name" in answer.message
    assert save("automatic").success
    assert save("my-auto-1").success
    client.until(lambda: len(list(tmp_path.glob("auto-saver-*"))) == 2, "automatic snapshots")
    newest = max(tmp_path.glob("auto-saver-*")).stem
    request = RestoreSnapshot.Request(name=newest, partial=True, dry_run=True)
    answer = client.call(RestoreSnapshot, "/saver/restore_snapshot", request)
    assert "choose another" not in answer.message
    assert node.stop() == 0
    assert {path.stem for path in tmp_path.glob("*.usdf")} >= {"automatic", "my-auto-1"}


# --- many robots


@pytest.mark.slow
def test_a_node_with_a_hundred_robots_starts_and_ends_in_seconds(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    """On a quiet machine 8 s and 1.2 s, and a second with one robot; before, the end took 8 s, 54 s on a busy one."""

    def started(fleet: str, names: list[str], *, fresh: bool = False) -> tuple[NodeProcess, Any, float]:
        """Return a node, a client of its status, and how long the node needs until it answers [s]."""
        texts = {f"{name}__{key}": text for name in names for key, text in (("robot_description", URDF),
                 ("robot_description_semantic", SRDF), ("frame_prefix", f"{name}/"))}  # fmt: skip
        begin = time.monotonic()
        node = start(models=names, fresh=fresh, **texts, **named(fleet))
        status = client.node.create_client(GetStatus, f"/{fleet}/get_status")
        client.until(status.service_is_ready, "the status")
        return node, status, time.monotonic() - begin

    one, _, seconds = started("one", ["r"], fresh=True)
    assert one.stop() == 0
    slowness = max(1.0, seconds)
    node, status, seconds = started("fleet", [f"r{number:02}" for number in range(100)])
    answers = []
    for _ in range(3):
        asked = time.monotonic()
        answer = status.call_async(GetStatus.Request())
        client.until(answer.done, "the status")
        answers.append(time.monotonic() - asked)
    assert len(answer.result().models) == 100
    assert seconds + sum(answers) < 15.0 * slowness
    assert min(answers) < 0.2 * slowness
    begin = time.monotonic()
    node.process.send_signal(signal.SIGINT)
    while node.process.poll() is None:
        client.spin_for(0.02)
    assert time.monotonic() - begin < 3.0 * slowness
    assert node.process.returncode == 0
    # Nothing stays in the graph.
    client.until(lambda: "fleet" not in client.node.get_node_names(), "the node to go", 10.0 * slowness)
    client.until(lambda: not client.node.count_publishers("/r00/robot_description"), "its topics to go", 10.0)
