# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulations by mujoco_ros2_control: real MuJoCo behind the same services, captured and restored bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install '.[mujoco]')")
pytest.importorskip("mujoco_ros2_control_msgs", reason="mujoco_ros2_control_msgs is not built (make setup)")

import mujoco
from mujoco_ros2_control_msgs.msg import FreeJointState, FreeJointStateArray
from mujoco_ros2_control_msgs.srv import SetPause, StepSimulation
from robot_semantics_interfaces.srv import RestoreSnapshot, SaveSnapshot
from sensor_msgs.msg import JointState
from support.controlled_mujoco import CONTROLLER, ControlledMujoco
from support.nodes import Client, NodeProcess, said

from robot_semantics import read_world
from robot_semantics.model.loading import robot_from_text
from robot_semantics.ros.simulators.controlled_simulator import ControlledWorld
from robot_semantics.transforms import matrix_from_quat

pytestmark = pytest.mark.ros
NODE, SIMULATION = "/robot_semantics", "/mujoco_ros2_control_node"

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
URDF = f"""<robot name="arm"><link name="base">{INERTIAL}</link><link name="upper">{INERTIAL}</link>
<link name="fore">{INERTIAL}</link>
<joint name="turn" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>{LIMIT}</joint>
<joint name="lift" type="revolute"><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/>{LIMIT}</joint>
</robot>"""
SRDF = """<robot name="arm">
<virtual_joint name="mount" type="fixed" parent_frame="world" child_link="base"/></robot>"""
MJCF = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
<body name="base"><body name="upper" pos="0 0 .5"><joint name="turn" axis="0 0 1"/><geom size=".05"/>
 <body name="fore" pos=".2 0 0"><joint name="lift" axis="0 1 0"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0"/></body></body></body>
<body name="cup" pos=".4 0 .15" euler="20 30 0"><freejoint/><geom type="box" size=".06 .05 .04"/></body>
<body name="ball" pos="1 1 .1"><freejoint/><geom size=".1"/></body>
<body name="chest" pos="0 2 .3"><body name="lid"><joint name="lid_hinge" axis="1 0 0" damping=".1"/>
 <geom type="box" size=".2 .2 .01" pos="0 .2 0"/></body></body>
</worldbody><actuator><position joint="turn" kp="60" kv="6"/><position joint="lift" kp="60" kv="6"/></actuator>
</mujoco>"""


@pytest.fixture(scope="module")
def served(domain: int) -> Iterator[ControlledMujoco]:
    simulation = ControlledMujoco(domain, MJCF)
    yield simulation
    simulation.close()


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory) -> NodeProcess:
    return start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        simulators=[f"mujoco_ros2_control:{SIMULATION}"],
        snapshots__directory=str(tmp_path_factory.mktemp("snapshots")),
    )


@pytest.fixture
def simulation(served: ControlledMujoco, node: NodeProcess) -> ControlledMujoco:
    served.reset()
    return served


def saved(client: Client) -> Any:
    """Save a snapshot that has everything; the simulation may have to be discovered first."""

    def whole() -> Any:
        answer = client.call(SaveSnapshot, f"{NODE}/save_snapshot", SaveSnapshot.Request(name="s", overwrite=True))
        assert answer.success, answer.message
        world = read_world(answer.path)
        return world if {model.name for model in world.models} >= {"arm", "cup"} else None

    return client.until(whole, "a snapshot with the simulator's bodies")


def restored(client: Client, **fields: Any) -> Any:
    return client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(**fields))


def test_joints_and_bodies_of_one_moment_are_captured_bit_for_bit(client: Client, simulation: ControlledMujoco) -> None:
    client.until(lambda: simulation.data.ncon > 2, "contacts")
    world = saved(client)
    assert {model.name for model in world.models} == {"arm", "cup", "ball", "mujoco_ros2_control_node"}
    qpos, qvel = simulation.told[world.time_ns]
    arm, rest = world.model("arm"), world.model("mujoco_ros2_control_node")
    stated = [*(arm.joint(name) for name in ("turn", "lift")), rest.joint("lid_hinge")]
    assert [joint.age_ns for joint in stated] == [None] * 3
    at = [int(simulation.model.joint(joint.name).qposadr[0]) for joint in stated]
    there = [int(simulation.model.joint(joint.name).dofadr[0]) for joint in stated]
    assert [joint.positions for joint in stated] == [(value,) for value in qpos[at]]
    assert [joint.velocities for joint in stated] == [(value,) for value in qvel[there]]
    # The node knows the pose of the arm's base, which is on no topic.
    assert (arm.parent, arm.pose.xyz_rpy) == ("world", (0.0,) * 6)
    cup = world.model("cup")
    place = int(simulation.model.joint(int(simulation.model.body("cup").jntadr[0])).qposadr[0])
    assert cup.pose.xyz_rpy[:3] == tuple(qpos[place : place + 3])
    assert cup.pose.quat_xyzw == tuple(np.roll(qpos[place + 3 : place + 7], -1))
    # MuJoCo's own word on how a body turns in the world's axes.
    data, six = mujoco.MjData(simulation.model), np.zeros(6)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(simulation.model, data)
    body = simulation.model.body("cup").id
    mujoco.mj_objectVelocity(simulation.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, six, 0)
    np.testing.assert_allclose(cup.twist, [*six[3:], *six[:3]], atol=1e-12)


def test_a_restore_is_bit_for_bit_with_the_controllers_off_meanwhile(
    client: Client, simulation: ControlledMujoco
) -> None:
    client.until(lambda: simulation.data.ncon > 2, "contacts")
    qpos, qvel = simulation.told[saved(client).time_ns]
    with simulation.lock:
        simulation.setpoint[:] = 1.0, -0.5
    client.until(lambda: abs(simulation.data.qpos[0] - 1.0) < 0.1, "the arm elsewhere")
    simulation.calls.clear()
    answer = restored(client, name="s")
    assert answer.success, said(answer.not_restored)
    assert {"joint turn", "joint lift", "joint lid_hinge"} <= {f"{item.kind} {item.name}" for item in answer.restored}
    off, on = f"off {CONTROLLER}", f"on {CONTROLLER}"
    assert simulation.calls[:5] == ["pause", "go on", off, "pause", "reset"]
    assert sorted(simulation.calls[5:]) == sorted([on, "go on"])
    assert simulation.active.count(CONTROLLER) == 1
    assert simulation.at_reset is not None
    np.testing.assert_array_equal(simulation.at_reset[0], qpos)
    # The file has angular velocities in the parent's axes: turned there and back they are the same to rounding.
    np.testing.assert_allclose(simulation.at_reset[1], qvel, rtol=0, atol=1e-14)
    notes = " ".join(said(answer.notes))
    assert "its clock continues" in notes
    assert "ball joints and activations" in notes


def test_a_paused_simulation_goes_on_from_a_file_alike_every_time(client: Client, simulation: ControlledMujoco) -> None:
    client.until(lambda: simulation.data.ncon > 2, "contacts")
    saved(client)
    assert client.call(SetPause, f"{SIMULATION}/set_pause", SetPause.Request(paused=True)).success
    ends = []
    for _ in range(2):
        answer = restored(client, name="s")
        assert answer.success, said(answer.not_restored)
        words = f"its controllers stay on; the controllers may move the robot back: {CONTROLLER}"
        assert any(words in note for note in said(answer.notes))
        assert not simulation.running
        assert client.call(StepSimulation, f"{SIMULATION}/step_simulation", StepSimulation.Request(steps=200)).success
        ends.append((np.array(simulation.data.qpos), np.array(simulation.data.qvel)))
    first, second = map(np.concatenate, ends)
    np.testing.assert_array_equal(first, second)


def test_what_is_not_stated_is_put_to_where_it_was(client: Client, simulation: ControlledMujoco) -> None:
    saved(client)
    client.until(lambda: simulation.data.time > simulation.began + 0.2, "time to tell what is so since the start")
    assert client.call(SetPause, f"{SIMULATION}/set_pause", SetPause.Request(paused=True)).success
    before = np.array(simulation.data.qpos), np.array(simulation.data.qvel)
    text = """<world_state><model_state name="arm">
      <joint_state name="turn"><positions>0.25</positions></joint_state></model_state></world_state>"""
    answer = restored(client, text=text)
    assert answer.success, said(answer.not_restored)
    assert simulation.at_reset is not None
    before[0][int(simulation.model.joint("turn").qposadr[0])] = 0.25
    np.testing.assert_array_equal(np.concatenate(simulation.at_reset), np.concatenate(before))


def test_bodies_alone_are_set_without_a_reset(client: Client, simulation: ControlledMujoco) -> None:
    saved(client)
    assert client.call(SetPause, f"{SIMULATION}/set_pause", SetPause.Request(paused=True)).success
    spinning = """<world_state><model_state name="ball"><pose>1 1 0.1 0 0 0.5</pose><twist>0 0 0 1 2 3</twist>
      </model_state></world_state>"""
    assert restored(client, text=spinning).success
    before, held = np.array(simulation.data.qpos), np.array(simulation.data.qvel)
    simulation.calls.clear()
    text = """<world_state xmlns:rs="urn:robot-semantics:usdf:1"><frame name="table"><pose>0 0 2 0 0 1.5</pose></frame>
      <model_state name="ball" rs:odd="1"><parent>table</parent><pose>1 0 0 0.5 0 0</pose></model_state>
      </world_state>"""
    answer = restored(client, text=text)
    assert answer.success, said(answer.not_restored)
    assert "<text>:2:32: warning: attribute 'rs:odd' is not known" in said(answer.notes)[0]
    assert simulation.calls == ["set ball"]
    place = int(simulation.model.joint(int(simulation.model.body("ball").jntadr[0])).qposadr[0])
    after = np.array(simulation.data.qpos)
    np.testing.assert_allclose(after[place : place + 3], [np.cos(1.5), np.sin(1.5), 2.0], atol=1e-15)
    R = matrix_from_quat(np.roll(after[place + 3 : place + 7], -1))
    np.testing.assert_allclose(R[:, 0], [np.cos(1.5), np.sin(1.5), 0.0], atol=1e-15)
    # The pose alone is stated: the ball turns on about the same axis of the world. MuJoCo has it in the ball's axes.
    dof = int(simulation.model.joint(int(simulation.model.body("ball").jntadr[0])).dofadr[0])
    R_before = matrix_from_quat(np.roll(before[place + 3 : place + 7], -1))
    turning = R_before @ held[dof + 3 : dof + 6]
    np.testing.assert_allclose(turning, (1.0, 2.0, 3.0), atol=1e-12)
    np.testing.assert_allclose(R @ simulation.data.qvel[dof + 3 : dof + 6], turning, atol=1e-12)
    before[place : place + 7] = after[place : place + 7] = 0.0
    np.testing.assert_array_equal(after, before)


def test_what_the_simulation_does_not_have_is_named_and_nothing_is_changed(
    client: Client, simulation: ControlledMujoco
) -> None:
    saved(client)
    simulation.calls.clear()
    text = """<world_state><model_state name="bal"><pose>0 0 1 0 0 0</pose></model_state>
      <model_state name="ball"><pose>0 0 1 0 0 0</pose><joint_state name="valve"><positions>1</positions></joint_state>
      </model_state><model_state name="arm"><pose>1 0 0 0 0 0</pose></model_state></world_state>"""
    answer = restored(client, text=text)
    assert not answer.success
    lines = "\n".join(said(answer.not_restored))
    assert "model 'bal': the simulator has no such model; did you mean 'ball'?" in lines
    assert "model 'ball': joint 'valve': the simulator has no hinge or slide of this name" in lines
    assert "model 'arm': pose: the base is fixed in 'world', 1 m and 0 rad away from there" in lines
    assert simulation.calls == []


def test_a_reset_that_is_refused_leaves_everything_and_the_controllers_on(
    client: Client, simulation: ControlledMujoco
) -> None:
    saved(client)
    simulation.refused = "the world is nailed down"
    answer = restored(client, name="s")
    assert not answer.success
    assert any("the world is nailed down" in line for line in said(answer.not_restored))
    assert simulation.at_reset is None
    assert CONTROLLER in simulation.active
    assert simulation.running


def test_controllers_that_were_switched_off_are_on_again_where_it_does_not_even_come_to_a_reset(
    client: Client, simulation: ControlledMujoco
) -> None:
    saved(client)
    simulation.calls.clear()
    simulation.pause_refused = "the window is being dragged"
    answer = restored(client, name="s")
    assert not answer.success
    assert any("joint 'turn': " in line and "the window is being dragged" in line for line in said(answer.not_restored))
    assert simulation.calls == ["pause", "go on", f"off {CONTROLLER}", f"on {CONTROLLER}"]
    assert simulation.active.count(CONTROLLER) == 1
    assert simulation.running


@pytest.mark.parametrize("refused", ["", "the world is nailed down"])
def test_controllers_that_cannot_be_switched_on_again_are_named_beside_what_became_of_the_rest(
    refused: str, client: Client, simulation: ControlledMujoco
) -> None:
    saved(client)
    simulation.breaks_at_reset, simulation.refused = True, refused
    answer = restored(client, name="s")
    assert not answer.success
    lines = said(answer.not_restored)
    torn = f"controllers: could not be switched on again: {CONTROLLER}: the gripper's cable is torn"
    assert any(torn in line for line in lines)
    assert any("joint 'turn'" in line for line in lines) == bool(refused)
    assert (simulation.at_reset is None) == bool(refused)
    assert answer.message.startswith("nothing restored" if refused else "restored in part")
    assert simulation.running


def test_a_body_called_as_the_root_link_of_two_robots_carries_neither() -> None:
    body = FreeJointState(name="base")
    body.pose.pose.position.x = 5.0
    told = ControlledWorld.of("sim", JointState(), FreeJointStateArray(free_joints=[body]))
    robots = {name: robot_from_text(f"<robot name='{name}'><link name='base'/></robot>") for name in ("one", "two")}
    (alone,) = told.state({"one": robots["one"]}).models
    assert alone.name == "one"
    assert alone.pose is not None
    assert alone.pose.xyz_rpy[0] == 5.0
    assert [model.name for model in told.state(robots).models] == ["base"]
