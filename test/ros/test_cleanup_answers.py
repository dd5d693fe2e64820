# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A cleanup of the lifecycle node answers the pending requests of every service, and the node lives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.action import ActionClient
from robot_semantics_interfaces.action import GenerateCollisionMatrix
from robot_semantics_interfaces.msg import WorldState
from robot_semantics_interfaces.srv import (
    GetStatus,
    GetWorldState,
    ListSnapshots,
    RestoreSnapshot,
    SaveSnapshot,
)
from support.nodes import Client, NodeProcess

from robot_semantics.examples import example

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"
SMALL = "<world_state><frame name='f'><pose>0 0 0 0 0 0</pose></frame></world_state>"
LONG = "<world_state>" + "".join(f"<model_state name='a::b{number}'/>" for number in range(8000)) + "</world_state>"

REQUESTS = {
    "list_snapshots": (ListSnapshots, ListSnapshots.Request()),
    "restore_snapshot": (RestoreSnapshot, RestoreSnapshot.Request(text=LONG)),
    # The simulator does not run: the node waits for it.
    "save_snapshot": (SaveSnapshot, SaveSnapshot.Request(name="one")),
    "get_world_state": (GetWorldState, GetWorldState.Request()),
}


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    folder: Path = tmp_path_factory.mktemp("snapshots")
    for number in range(3000):
        (folder / f"s{number:04}.usdf").write_text(SMALL)
    process = start(
        program="robot_semantics_lifecycle_node",
        robot_description=example("rover_arm.urdf").read_text(),
        robot_description_semantic=example("rover_arm.srdf").read_text(),
        snapshots__directory=str(folder),
        snapshots__autosave_period=0.2,
        simulators=["/no_simulator"],
    )
    yield process
    assert process.stop() == 0
    assert "Traceback" not in process.output
    assert "InvalidHandle" not in process.output


def change(client: Client, *transitions: str) -> None:
    for transition in transitions:
        request = ChangeState.Request()
        request.transition.id = getattr(Transition, f"TRANSITION_{transition.upper()}")
        assert client.call(ChangeState, f"{NODE}/change_state", request).success, transition


def state(client: Client) -> str:
    return str(client.call(GetState, f"{NODE}/get_state").current_state.label)


@pytest.mark.parametrize("delay_s", [0.02, 0.3])
@pytest.mark.parametrize("name", REQUESTS)
def test_a_pending_request_is_answered_before_its_service_goes(
    client: Client, node: NodeProcess, name: str, delay_s: float
) -> None:
    change(client, "configure", "activate")
    kind, request = REQUESTS[name]
    service = client.node.create_client(kind, f"{NODE}/{name}")
    client.until(service.service_is_ready, "the service")
    client.call(GetStatus, f"{NODE}/get_status")
    answers = [service.call_async(request) for _ in range(3)]
    client.spin_for(delay_s)
    pending = [answer for answer in answers if not answer.done()]
    assert pending
    change(client, "deactivate", "cleanup")
    client.until(lambda: all(answer.done() for answer in pending), "the answers")
    results = [answer.result() for answer in pending]
    assert not any(result.success for result in results)
    assert {result.message for result in results} == {"the node is being cleaned up"}
    client.node.destroy_client(service)

    # The node is as if nothing had been asked: its services come back, each once.
    assert state(client) == "unconfigured"
    change(client, "configure")
    client.until(lambda: node_services(client).count(f"{NODE}/{name}") == 1, "one service of this name")
    assert client.call(GetStatus, f"{NODE}/get_status").state == "inactive"
    change(client, "cleanup")
    client.until(lambda: f"{NODE}/{name}" not in node_services(client), "the service to go")


def node_services(client: Client) -> list[str]:
    return [name for name, _ in client.node.get_service_names_and_types_by_node("robot_semantics", "/")]


def test_a_running_goal_ends_with_a_result(client: Client, node: NodeProcess) -> None:
    change(client, "configure", "activate")
    action = ActionClient(client.node, GenerateCollisionMatrix, f"{NODE}/generate_collision_matrix")
    client.until(action.server_is_ready, "the action")
    accepted = action.send_goal_async(GenerateCollisionMatrix.Goal(samples=5_000_000))
    client.until(accepted.done, "the goal's acceptance")
    result = accepted.result().get_result_async()
    client.spin_for(1.0)
    assert not result.done()
    change(client, "deactivate", "cleanup")
    client.until(result.done, "the result")
    assert result.result().status in (GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED)
    assert not result.result().result.success
    assert result.result().result.message == "the node is being cleaned up"
    action.destroy()
    assert state(client) == "unconfigured"


def test_the_world_state_topic_and_autosave_end_with_the_cleanup(client: Client, node: NodeProcess) -> None:
    messages = client.collect(WorldState, f"{NODE}/world_state")
    for _ in range(3):
        change(client, "configure", "activate")
        client.spin_for(1.5)
        change(client, "deactivate", "cleanup")
    messages.clear()
    client.spin_for(1.0)
    assert not messages
    assert "world state: " not in node.output
