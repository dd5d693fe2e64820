# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Named states over real DDS: as joint states that can be published, and made of where the robot is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_semantics_interfaces.srv import GetGroupState, SaveGroupState
from sensor_msgs.msg import JointState
from support.nodes import Client, NodeProcess, joint_state
from support.patience import PATIENCE_S

from robot_semantics.examples import example
from robot_semantics.model.loading import robot_from_text
from robot_semantics.ros.running.guarded_node import GuardedNode

pytestmark = pytest.mark.ros

NODE = "/robot_semantics"
URDF, SRDF = example("rover_arm.urdf").read_text(), example("rover_arm.srdf").read_text()
ARM = robot_from_text(URDF, SRDF).semantics.group("arm")
POSE = {name: 0.1 * (number + 1) for number, name in enumerate(ARM.variable_names)}


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess], client: Client) -> NodeProcess:
    process = start(robot_description=URDF, robot_description_semantic=SRDF, snapshots__allow_paths=True)
    publisher = client.publisher(JointState, "/joint_states")
    client.publish_until(publisher, lambda: joint_state(POSE, 7_000_000_000), lambda: get(client).success, "the arm")
    return process


def get(client: Client, state: str = "", group: str = "arm") -> Any:
    return client.call(GetGroupState, f"{NODE}/get_group_state", GetGroupState.Request(group=group, state=state))


def save(client: Client, state: str, **fields: Any) -> Any:
    request = SaveGroupState.Request(group="arm", state=state, **fields)
    return client.call(SaveGroupState, f"{NODE}/save_group_state", request)


def test_a_named_state_is_a_joint_state_that_moves_the_robot_there(client: Client, node: NodeProcess) -> None:
    answer = get(client, "stowed")
    assert answer.success, answer.message
    named = robot_from_text(URDF, SRDF).semantics.state("arm", "stowed").joints
    assert dict(zip(answer.joint_state.name, answer.joint_state.position, strict=True)) == {
        joint: value for joint, (value,) in named.items()
    }
    assert answer.joint_state.header.stamp.sec > 1_000_000_000
    assert get(client, "stowd").nearest[0] == "stowed"


def test_where_a_group_is_comes_with_the_time_of_its_oldest_value(client: Client, node: NodeProcess) -> None:
    answer = get(client)
    assert dict(zip(answer.joint_state.name, answer.joint_state.position, strict=True)) == POSE
    assert answer.joint_state.header.stamp.sec == 7


def test_of_a_burst_of_requests_every_one_is_answered(client: Client, node: NodeProcess) -> None:
    get(client, "stowed")  # the node has been found, and finds clients
    many = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
    asking = client.node.create_client(GetGroupState, f"{NODE}/get_group_state", qos_profile=many)
    client.until(asking.service_is_ready, "the service")
    request = GetGroupState.Request(group="arm", state="stowed")
    client.until(asking.call_async(request).done, "a first answer")
    futures = [asking.call_async(request) for _ in range(300)]
    client.until(lambda: all(future.done() for future in futures), "all answers")
    client.node.destroy_client(asking)


def test_an_answer_stays_while_the_service_answers_others(client: Client, node: NodeProcess) -> None:
    # Each client of a service receives all answers; this one takes nothing while others are answered.
    get(client, "stowed")
    asker, executor = GuardedNode("asker", context=client.context), SingleThreadedExecutor(context=client.context)
    executor.add_node(asker)
    try:
        service = asker.create_client(GetGroupState, f"{NODE}/get_group_state")
        client.until(service.service_is_ready, "the service")
        request = GetGroupState.Request(group="arm", state="stowed")
        found = service.call_async(request)
        executor.spin_until_future_complete(found, timeout_sec=PATIENCE_S)
        answer = service.call_async(request)
        for _ in range(20):
            get(client, "stowed")
        executor.spin_until_future_complete(answer, timeout_sec=PATIENCE_S)
        assert answer.done()
    finally:
        executor.shutdown()
        asker.destroy_node()


def test_the_pose_becomes_a_state_in_a_text(client: Client, node: NodeProcess) -> None:
    answer = save(client, "here")
    assert answer.success, answer.message
    state = robot_from_text(URDF, answer.text).semantics.state("arm", "here")
    assert state.joints == {joint: (POSE[joint],) for joint in ARM.active_joints}
    # Everything else stays as it was, to the letter.
    assert len(answer.text.splitlines()) > len(SRDF.splitlines())
    assert [line for line in SRDF.splitlines() if line not in answer.text.splitlines()] == []


def test_the_pose_becomes_a_state_in_a_file_that_is_there(client: Client, node: NodeProcess, tmp_path: Path) -> None:
    file = tmp_path / "robot.srdf"
    file.write_text(SRDF)
    assert save(client, "here", path=str(file)).success
    assert "here" in robot_from_text(URDF, file.read_text()).semantics.group("arm").states
    again = save(client, "here", path=str(file))
    assert not again.success
    assert again.message == "group 'arm' has a state 'here' already"
    assert save(client, "here", path=str(file), overwrite=True).success
    assert file.read_text().count('"here"') == 1


@pytest.mark.parametrize("name", ["missing.srdf", "robot.urdf", "."])
def test_only_an_srdf_file_that_is_there_is_written(
    client: Client, node: NodeProcess, tmp_path: Path, name: str
) -> None:
    (tmp_path / "robot.urdf").write_text(URDF)
    answer = save(client, "here", path=str(tmp_path / name))
    assert not answer.success
    assert "the file must exist and its name must end in .srdf" in answer.message
    assert (tmp_path / "robot.urdf").read_text() == URDF


def test_paths_are_refused_unless_they_are_allowed(client: Client, start: Callable[..., NodeProcess]) -> None:
    start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        ros_args=("-r", "__ns:=/shy"),
    )
    request = SaveGroupState.Request(group="arm", state="here", path="/tmp/robot.srdf")
    answer = client.call(SaveGroupState, "/shy/robot_semantics/save_group_state", request)
    assert not answer.success
    assert "a path needs the parameter snapshots.allow_paths" in answer.message
