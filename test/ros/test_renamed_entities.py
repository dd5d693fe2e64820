# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot that its simulator calls otherwise: named where it is likely, mapped both ways where a parameter says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install '.[mujoco]')")

from robot_semantics_interfaces.srv import GetWorldState, RestoreSnapshot, SaveSnapshot
from support.nodes import Client, NodeProcess, said

from robot_semantics import WorldState, read_world
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world

pytestmark = pytest.mark.ros

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f"""<robot name="car"><link name="base">{INERTIAL}</link><link name="mast">{INERTIAL}</link>
<joint name="turn" type="revolute"><parent link="base"/><child link="mast"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" effort="10" velocity="1"/></joint></robot>"""
SRDF = """<robot name="car">
<virtual_joint name="ground" type="planar" parent_frame="odom" child_link="base"/></robot>"""
STATE = """<world_state xmlns:rs="urn:robot-semantics:usdf:1">
<model_state name="{name}"{files}><parent>odom</parent><pose>{x} 2 0 0 0 0.5</pose>
 <joint_state name="turn"><positions>{turn}</positions></joint_state></model_state>
<frame name="odom"><pose>5 0 0 0 0 0</pose></frame>
<frame name="lamp"><parent>{name}</parent><pose>0 0 1 0 0 0</pose></frame></world_state>"""
FILES = ' rs:description="car.urdf" rs:semantic="car.srdf"'


@pytest.fixture(scope="module")
def nodes(start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("world")
    # The simulator's is a little heavier, so that no hash says which robot it is.
    (folder / "car.urdf").write_text(URDF.replace('mass value="1"', 'mass value="1.5"'))
    (folder / "car.srdf").write_text(SRDF)
    (folder / "world.usdf").write_text(STATE.format(name="my_car_1", files=FILES, x=1, turn=0.25))
    simulator = start(program="mujoco_world", world=str(folder / "world.usdf"), start_paused=True)
    simulator.wait_for_output("simulating my_car_1")
    start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        simulators=["/mujoco_world"],
        snapshots__directory=str(folder / "snapshots"),
    )


def state(client: Client, node: str) -> WorldState:
    answer = client.call(GetWorldState, f"{node}/get_world_state", GetWorldState.Request(with_text=True))
    assert answer.success, answer.message
    return parse_world(answer.text)


def saved(client: Client) -> tuple[WorldState, Any]:
    request = SaveSnapshot.Request(name="saved", overwrite=True)
    answer = client.call(SaveSnapshot, "/robot_semantics/save_snapshot", request)
    assert answer.success, answer.message
    return read_world(answer.path), answer


def restored(client: Client, **fields: Any) -> Any:
    request = RestoreSnapshot.Request(**fields)
    return client.call(RestoreSnapshot, "/robot_semantics/restore_snapshot", request)


def names(world: WorldState) -> set[str]:
    return {model.name for model in world.models}


def test_an_entity_that_is_very_like_a_robot_is_named_with_the_parameter_that_says_so(
    client: Client, nodes: None
) -> None:
    client.until(lambda: "my_car_1" in names(state(client, "/robot_semantics")), "the simulator's model", 60.0)
    world, answer = saved(client)
    assert names(world) == {"my_car_1", "car"}
    (item,) = [item for item in answer.missing if item.code == "perhaps_the_same"]
    assert (item.model, item.kind) == ("my_car_1", "model")
    assert "'my_car_1:=car' to the parameter simulated_entities" in item.reason
    # Unknown names are refused with the nearest ones; only the node moves its own robot, and it reports this.
    refused = restored(client, text=STATE.format(name="my_car", files="", x=3, turn=0.5))
    assert not refused.success
    assert any("did you mean 'my_car_1'?" in line for line in said(refused.not_restored))
    own = restored(client, text=STATE.format(name="car", files="", x=3, turn=0.5))
    assert own.success, said(own.not_restored)
    assert any("model 'car': the simulated world has no such model" in line for line in said(own.notes))
    assert state(client, "/mujoco_world").model("my_car_1").joint("turn").positions == pytest.approx((0.25,))


def test_an_entity_that_is_a_robot_by_parameter_is_saved_and_restored_under_the_robots_name(
    client: Client, nodes: None
) -> None:
    (result,) = client.set_parameters("/robot_semantics", simulated_entities=["my_car_1:=car"])
    assert result.successful, result.reason
    world, answer = saved(client)
    assert names(world) == {"car"}
    assert not [item for item in answer.missing if item.code == "perhaps_the_same"]
    assert world.model("car").joint("turn").positions == pytest.approx((0.25,))
    # Frames that stand on it stand on it still: 5 + 1 and 2, the lamp 1 above.
    np.testing.assert_allclose(resolve_frames(world).pose("lamp")[:3, 3], (6.0, 2.0, 1.0), atol=1e-9)
    assert state(client, "/robot_semantics").model("car").joints == world.model("car").joints
    back = restored(client, text=STATE.format(name="car", files="", x=3, turn=0.5))
    assert back.success, said(back.not_restored)
    assert {item.model for item in back.restored if item.model} == {"car"}
    simulated = state(client, "/mujoco_world")
    assert names(simulated) == {"my_car_1"}
    assert simulated.model("my_car_1").joint("turn").positions == pytest.approx((0.5,))
    np.testing.assert_allclose(resolve_frames(simulated).pose("my_car_1")[:3, 3], (8.0, 2.0, 0.0), atol=1e-9)
    # The file of the first state, chosen by the robot's name, goes back into the entity.
    again = restored(client, name="saved", models=["car"])
    assert again.success, said(again.not_restored)
    np.testing.assert_allclose(
        resolve_frames(state(client, "/mujoco_world")).pose("my_car_1")[:3, 3], (6.0, 2.0, 0.0), atol=1e-9
    )


def test_entities_may_be_given_to_the_node_as_a_map_and_a_robot_twice_is_refused(
    client: Client, nodes: None, start: Callable[..., NodeProcess]
) -> None:
    start(
        ros_args=("-r", "__node:=by_map"),
        robot_description=URDF,
        robot_description_semantic=SRDF,
        simulators=["/mujoco_world"],
        simulators__entities={"my_car_1": "car"},
    )
    assert names(state(client, "/by_map")) == {"car"}
    (result,) = client.set_parameters("/by_map", simulated_entities=["another:=car"])
    assert not result.successful
    assert result.reason == "parameter 'simulators.entities' names the robot 'car' twice"
    assert names(state(client, "/by_map")) == {"car"}
