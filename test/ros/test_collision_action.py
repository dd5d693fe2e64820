# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The action that makes a collision matrix: the library's answer, with feedback, and it can be cancelled."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from robot_semantics_interfaces.action import GenerateCollisionMatrix
from support.nodes import Client, NodeProcess

from robot_semantics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.matrix import Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.srdf.table import parse_srdf

pytestmark = pytest.mark.ros


PARAMETERS: dict[str, Any] = {
    "robot_description": example("rover_arm.urdf").read_text(),
    "robot_description_semantic": example("rover_arm.srdf").read_text(),
}


@pytest.fixture
def action(client: Client, node: NodeProcess) -> Iterator[ActionClient]:
    made = ActionClient(client.node, GenerateCollisionMatrix, "/robot_semantics/generate_collision_matrix")
    client.until(made.server_is_ready, "the action")
    yield made
    made.destroy()


def send(client: Client, action: ActionClient, **goal: Any) -> tuple[Any, list[Any]]:
    feedback: list[Any] = []
    future = action.send_goal_async(
        GenerateCollisionMatrix.Goal(**goal), feedback_callback=lambda message: feedback.append(message.feedback)
    )
    client.until(future.done, "the goal's acceptance")
    return future.result(), feedback


def test_the_result_is_the_librarys(client: Client, action: ActionClient) -> None:
    handle, feedback = send(client, action, samples=2000, seed=5)
    result = handle.get_result_async()
    client.until(result.done, "the result")
    assert result.result().status == GoalStatus.STATUS_SUCCEEDED
    answer = result.result().result
    assert answer.success
    robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    expected = generate_matrix(robot, pieces, Settings(samples=2000, seed=5)).disabled()
    assert {LinkPair(pair.link1, pair.link2): pair.reason for pair in answer.pairs} == {
        pair: reason.value for pair, reason in expected.items()
    }
    written = parse_srdf(answer.text).disabled_collisions
    assert {LinkPair.of(item.link1, item.link2) for item in written} >= set(expected)
    assert answer.samples == 2000
    assert [message.samples_done for message in feedback] == sorted(message.samples_done for message in feedback)
    assert feedback[-1].samples_total == 2000


def test_a_long_run_can_be_cancelled_and_another_one_is_rejected_with_the_reason_logged(
    client: Client, node: NodeProcess, action: ActionClient
) -> None:
    handle, feedback = send(client, action, samples=10_000_000)
    client.until(lambda: feedback, "feedback")
    second, _ = send(client, action, samples=100)
    assert not second.accepted
    node.wait_for_output("a goal is rejected: another collision matrix is being generated")
    result = handle.get_result_async()
    cancelled = handle.cancel_goal_async()
    client.until(cancelled.done, "the cancellation")
    client.until(result.done, "the result")
    assert result.result().status == GoalStatus.STATUS_CANCELED
    assert not result.result().result.success


def test_a_goal_that_makes_no_sense_is_aborted_with_the_reason(client: Client, action: ActionClient) -> None:
    handle, _ = send(client, action, samples=100, always_threshold=2.0)
    result = handle.get_result_async()
    client.until(result.done, "the result")
    assert result.result().status == GoalStatus.STATUS_ABORTED
    assert result.result().result.message == "always_threshold must be from 0 to 1, not 2"


def test_the_end_of_the_node_in_the_middle_of_a_goal_is_clean(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(
        robot_description=example("rover_arm.urdf").read_text(), ros_args=["-r", "__ns:=/ending", "-r", "__node:=short"]
    )
    action = ActionClient(client.node, GenerateCollisionMatrix, "/ending/short/generate_collision_matrix")
    client.until(action.server_is_ready, "the action")
    _, feedback = send(client, action, samples=10_000_000)
    client.until(lambda: feedback, "the first feedback")
    assert node.stop(signal.SIGINT) == 0
    action.destroy()
    assert "Traceback" not in node.output
    assert "rror" not in node.output
