# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulators with simulation_interfaces: a small server of the same services records the calls and their order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy

pytest.importorskip("simulation_interfaces", reason="simulation_interfaces is not built (make setup)")

from geometry_msgs.msg import Pose, Twist
from rclpy.executors import SingleThreadedExecutor
from robot_semantics_interfaces.srv import RestoreSnapshot, SaveSnapshot
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import EntityState, Result
from simulation_interfaces.srv import (
    GetEntitiesStates,
    GetSimulationState,
    GetSimulatorFeatures,
    SetEntityState,
    SetSimulationState,
)
from support.nodes import Client, NodeProcess, joint_state, said

from robot_semantics import read_world
from robot_semantics.examples import example

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"
EARLIER = Path(sys.prefix, "simulation_interfaces_1")


def entity(xyz: tuple[float, float, float], spin: float = 0.0) -> EntityState:
    state = EntityState(pose=Pose(), twist=Twist())
    state.pose.position.x, state.pose.position.y, state.pose.position.z = xyz
    state.pose.orientation.w = 1.0
    state.twist.angular.z = spin
    return state


class Server:
    """A simulator of two entities that records its calls."""

    def __init__(self, domain: int) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("small_simulator", context=self.context)
        self.reset()
        for kind, name, answer in (
            (GetSimulatorFeatures, "get_simulator_features", self._features),
            (GetEntitiesStates, "get_entities_states", self._states),
            (SetEntityState, "set_entity_state", self._set),
            (GetSimulationState, "get_simulation_state", self._simulation),
            (SetSimulationState, "set_simulation_state", self._change),
        ):
            self.node.create_service(kind, f"/gz/{name}", answer)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def reset(self) -> None:
        self.features = [10, 11, 24, 25, 26]
        self.entities = {"rover_arm": entity((1.0, 2.0, 0.0), 0.5), "ball": entity((0.0, 0.0, 3.0))}
        self.playing = True
        self.refused = ""
        self.calls: list[str] = []

    def close(self) -> None:
        rclpy.shutdown(context=self.context)
        self._thread.join(5.0)

    def _spin(self) -> None:
        while self.context.ok():
            try:
                self._executor.spin_once(timeout_sec=0.1)
            except rclpy.executors.ExternalShutdownException:
                return

    def _called(self, what: str) -> None:
        # Idempotent requests are repeated if an answer is late.
        if self.calls[-1:] != [what]:
            self.calls.append(what)

    def _features(self, _request: Any, response: Any) -> Any:
        response.features.features = self.features
        return response

    def _states(self, _request: Any, response: Any) -> Any:
        self._called("get")
        response.result.result = Result.RESULT_OK
        response.entities, response.states = list(self.entities), list(self.entities.values())
        return response

    def _set(self, request: Any, response: Any) -> Any:
        self.calls.append(f"set {request.entity}")
        if request.entity == self.refused:
            response.result.result = Result.RESULT_OPERATION_FAILED
            response.result.error_message = "it is nailed down"
            return response
        state = self.entities[request.entity]
        # As the interface requires: values without their flag stay, and without flags all are set.
        if getattr(request, "set_pose", True):
            state.pose = request.state.pose
        if getattr(request, "set_twist", True):
            state.twist = request.state.twist
        response.result.result = Result.RESULT_OK
        return response

    def _simulation(self, _request: Any, response: Any) -> Any:
        response.state.state = 1 if self.playing else 2
        response.result.result = Result.RESULT_OK
        return response

    def _change(self, request: Any, response: Any) -> Any:
        self.playing = request.state.state == 1
        self._called("play" if self.playing else "pause")
        response.result.result = Result.RESULT_OK
        return response


@pytest.fixture(scope="module")
def served(domain: int) -> Iterator[Server]:
    server = Server(domain)
    yield server
    server.close()


@pytest.fixture
def server(served: Server) -> Server:
    served.reset()
    return served


@pytest.fixture(scope="module")
def folder(start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("snapshots")
    start(
        robot_description=example("rover_arm.urdf").read_text(),
        robot_description_semantic=example("rover_arm.srdf").read_text(),
        simulators=["simulation_interfaces:/gz"],
        snapshots__directory=str(folder),
    )
    return folder


def save(client: Client) -> Any:
    return client.call(SaveSnapshot, f"{NODE}/save_snapshot", SaveSnapshot.Request(name="s", overwrite=True))


def restore(client: Client, **fields: Any) -> Any:
    return client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(name="s", **fields))


def moved(server: Server) -> None:
    server.entities = {"rover_arm": entity((9.0, 9.0, 0.0)), "ball": entity((9.0, 9.0, 9.0))}
    server.calls = []


def test_poses_come_from_the_simulator_and_joints_from_the_node(client: Client, server: Server, folder: Path) -> None:
    publisher = client.publisher(JointState, "joint_states")

    def whole() -> Any:
        publisher.publish(joint_state({"elbow_joint": 0.5}))
        answer = save(client)
        assert answer.success, answer.message
        models = {model.name: model for model in read_world(answer.path).models}
        return models if models["rover_arm"].joints else None

    models = client.until(whole, "a snapshot with joints")
    assert models["rover_arm"].pose.xyz_rpy[:2] == (1.0, 2.0)
    assert models["rover_arm"].twist == (0.0, 0.0, 0.0, 0.0, 0.0, 0.5)
    assert [joint.name for joint in models["rover_arm"].joints] == ["elbow_joint"]
    assert models["ball"].pose.xyz_rpy[2] == 3.0
    assert server.calls[-3:] == ["pause", "get", "play"]


def test_restoring_pauses_sets_and_resumes_and_says_what_has_no_place(
    client: Client, server: Server, folder: Path
) -> None:
    test_poses_come_from_the_simulator_and_joints_from_the_node(client, server, folder)
    moved(server)
    refused = restore(client)
    assert not refused.success
    words = (
        "simulator '/gz': model 'rover_arm': joints: "
        "1 joint state is left out: simulation_interfaces has no joint states"
    )
    assert words in said(refused.not_restored)
    assert server.entities["ball"].pose.position.z == 9.0
    assert not [call for call in server.calls if call != "get"]
    answer = restore(client, partial=True)
    assert answer.success, answer.message
    assert words in said(answer.not_restored)
    assert {"simulator '/gz': model 'ball': pose: set", "simulator '/gz': model 'ball': twist: set"} <= set(
        said(answer.restored)
    )
    changes = [call for call in server.calls if call != "get"]
    assert changes == ["pause", "set rover_arm", "set ball", "play"]
    assert server.entities["rover_arm"].twist.angular.z == 0.5
    assert np.isclose(server.entities["ball"].pose.position.z, 3.0)


def test_a_simulator_that_does_not_play_is_not_started(client: Client, server: Server, folder: Path) -> None:
    server.playing = False
    assert save(client).success
    assert server.calls == ["get"]


def test_what_was_set_is_put_back_where_not_all_could_be(client: Client, server: Server, folder: Path) -> None:
    text = """<world_state><model_state name="rover_arm"><pose>5 5 0 0 0 0</pose></model_state>
      <model_state name="ball"><pose>5 5 5 0 0 0</pose></model_state></world_state>"""
    server.refused = "ball"
    request = RestoreSnapshot.Request(text=text)
    answer = client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", request)
    assert not answer.success
    assert any("it is nailed down" in item for item in said(answer.not_restored))
    assert server.entities["rover_arm"].pose.position.x == 1.0
    assert server.calls[-1] == "play"


def test_a_pose_without_twist_leaves_the_twist(client: Client, server: Server, folder: Path) -> None:
    text = '<world_state><model_state name="rover_arm"><pose>5 5 0 0 0 0</pose></model_state></world_state>'
    answer = client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(text=text))
    assert answer.success, answer.message
    assert server.entities["rover_arm"].pose.position.x == 5.0
    assert server.entities["rover_arm"].twist.angular.z == 0.5


def test_an_unknown_entity_has_its_nearest_name(client: Client, server: Server, folder: Path) -> None:
    text = '<world_state><model_state name="bal"><pose>5 5 0 0 0 0</pose></model_state></world_state>'
    answer = client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(text=text))
    assert not answer.success
    assert any("the simulator has no such entity; did you mean 'ball'?" in item for item in said(answer.not_restored))


def test_a_simulator_without_the_feature_is_not_asked(client: Client, server: Server, folder: Path) -> None:
    server.features = [10]
    text = '<world_state><model_state name="ball"><pose>5 5 0 0 0 0</pose></model_state></world_state>'
    answer = client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(text=text))
    assert not answer.success
    assert any("cannot set states of entities (feature 11)" in item for item in said(answer.not_restored))
    assert not server.calls


def test_a_twist_without_pose_leaves_the_pose(client: Client, server: Server, folder: Path) -> None:
    text = '<world_state><model_state name="rover_arm"><twist>8 0 0 0 0 9</twist></model_state></world_state>'
    answer = client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(text=text))
    assert answer.success, answer.message
    rover = server.entities["rover_arm"]
    assert (rover.twist.linear.x, rover.twist.angular.z) == (8.0, 9.0)
    assert (rover.pose.position.x, rover.pose.position.y) == (1.0, 2.0)


@pytest.mark.skipif(not EARLIER.is_dir(), reason="version 1 is not built beside version 2 (make setup)")
def test_all_this_holds_with_version_1_of_the_interfaces() -> None:
    site = EARLIER / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    # The options of the outer run, such as a report's name, are not for the inner one.
    own = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    first = {"AMENT_PREFIX_PATH": EARLIER, "LD_LIBRARY_PATH": EARLIER / "lib", "PYTHONPATH": site}
    environ = {name: os.pathsep.join([str(path), os.environ.get(name, "")]) for name, path in first.items()}
    fields = "SetEntityState.Request.get_fields_and_field_types()"
    code = f"from simulation_interfaces.srv import SetEntityState; print(*{fields})"
    version = [sys.executable, "-c", code]
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not version_1", __file__]
    outputs = [
        subprocess.run(command, env={**own, **environ}, capture_output=True, text=True, check=False).stdout
        for command in (version, tests)
    ]
    assert outputs[0] == "entity state\n"
    assert re.search(r"^[1-9]\d* passed, 1 deselected in ", outputs[1], re.MULTILINE), outputs[1]


@pytest.mark.parametrize("ahead_s", [-86400, -3, 0, 3, 86400])
def test_the_clock_of_a_simulator_makes_no_age(client: Client, server: Server, folder: Path, ahead_s: int) -> None:
    publisher = client.publisher(JointState, "joint_states")
    # The publisher has found the node; the node may need a moment longer to find the publisher.
    for _ in range(5):
        publisher.publish(joint_state({"elbow_joint": 0.5}))
        client.spin_for(0.2)
    client.spin_for(1.5)
    now = time.time_ns()
    publisher.publish(joint_state({"lift_joint": 0.1}, now))
    for state in server.entities.values():
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(now + ahead_s * 1_000_000_000, 1_000_000_000)
    client.spin_for(0.2)
    answer = save(client)
    assert answer.success, answer.message
    world = read_world(answer.path)
    assert world.time_ns == now + ahead_s * 1_000_000_000
    ages = {joint.name: (joint.age_ns or 0) / 1e9 for joint in world.model("rover_arm").joints}
    passed_s = (time.time_ns() - now) / 1e9
    assert 0.0 <= ages["lift_joint"] <= passed_s
    assert 1.5 <= ages["elbow_joint"] <= passed_s + 2.5
