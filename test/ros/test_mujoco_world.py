# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The simulator node: clock, states, commands, world state services; pausing, stepping, resetting."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install '.[mujoco]')")

from robot_semantics_interfaces.srv import GetWorldState, SetWorldState, Step
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_srvs.srv import SetBool, Trigger
from support.nodes import Client, NodeProcess, said

from robot_semantics import WorldState, read_world, write_world
from robot_semantics.examples import example
from robot_semantics.ros.messages.world_messages import world_from_message
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import ModelState

pytestmark = pytest.mark.ros

NODE = "/mujoco_world"
PROGRAM = "mujoco_world"
WORLD = str(example("rover_arm.usdf"))


@pytest.fixture(scope="module")
def world(start: Callable[..., NodeProcess]) -> NodeProcess:
    return start(program=PROGRAM, world=WORLD, start_paused=True)


@pytest.fixture(autouse=True)
def _paused_at_the_start(client: Client, world: NodeProcess) -> None:
    client.call(SetBool, f"{NODE}/pause", SetBool.Request(data=True))
    assert client.call(Trigger, f"{NODE}/reset").success


def state(client: Client, *models: str) -> Any:
    answer = client.call(
        GetWorldState, f"{NODE}/get_world_state", GetWorldState.Request(models=list(models), with_text=True)
    )
    assert answer.success, answer.message
    return answer


def step(client: Client, count: int) -> int:
    answer = client.call(Step, f"{NODE}/step", Step.Request(steps=count))
    assert answer.success, answer.message
    return int(answer.time.sec * 1_000_000_000 + answer.time.nanosec)


def test_states_are_published_under_the_models_names(client: Client) -> None:
    joints = client.collect(JointState, "joint_states", 10)
    base = client.collect(MultiDOFJointState, "multi_dof_joint_states", 10)
    block = client.collect(MultiDOFJointState, "block_1/multi_dof_joint_states", 10)
    clock = client.collect(Clock, "/clock", 10)
    client.until(lambda: joints and base and block and clock, "all topics of a paused world")
    positions = dict(zip(joints[-1].name, joints[-1].position, strict=True))
    velocities = dict(zip(joints[-1].name, joints[-1].velocity, strict=True))
    assert positions["elbow_joint"] == 0.8
    assert positions["right_finger_joint"] == 0.02
    assert velocities["shoulder_pan_joint"] == -0.5
    assert base[-1].header.frame_id == "odom"
    assert base[-1].joint_names == ["world_joint"]
    assert base[-1].twist[0].linear.x == pytest.approx(0.4)
    assert base[-1].twist[0].angular.z == pytest.approx(0.2)
    assert block[-1].header.frame_id == "world"
    assert block[-1].transforms[0].translation.z == 0.3
    assert clock[-1].clock.sec == clock[-1].clock.nanosec == 0


def test_a_paused_world_goes_on_by_steps_and_only_then(client: Client) -> None:
    assert step(client, 50) == 100_000_000
    assert step(client, 0) == 100_000_000
    client.call(SetBool, f"{NODE}/pause", SetBool.Request(data=False))
    answer = client.call(Step, f"{NODE}/step", Step.Request(steps=1))
    assert not answer.success
    assert answer.message == "the simulation is running: pause it first"


def test_a_running_world_follows_the_wall_clock(client: Client) -> None:
    clock = client.collect(Clock, "/clock", 10)
    client.call(SetBool, f"{NODE}/pause", SetBool.Request(data=False))
    client.until(lambda: clock and clock[-1].clock.sec >= 1, "the first second")
    client.call(SetBool, f"{NODE}/pause", SetBool.Request(data=True))
    stamps = [message.clock.sec + 1e-9 * message.clock.nanosec for message in clock]
    assert stamps == sorted(stamps)


def test_commands_move_joints_by_position_velocity_and_effort(client: Client) -> None:
    commands = client.publisher(JointState, "joint_command", 10)

    def obeyed() -> bool:
        # A reader that has not discovered this writer yet misses single messages.
        commands.publish(JointState(name=["lift_joint"], position=[0.02]))
        commands.publish(JointState(name=["world_joint/theta"], velocity=[0.5]))
        commands.publish(JointState(name=["wrist_joint"], effort=[5.0]))
        # The first motion swings for half a second; only after it, a turning base has been told to turn.
        step(client, 1000)
        model = next(m for m in parse_world(state(client).text).models if m.name == "rover_arm")
        joints = {joint.name: joint for joint in model.joints}
        assert model.twist is not None
        lifted = abs((joints["lift_joint"].positions or (1.0,))[0] - 0.02) < 0.02
        # Held wheels drag on the floor, so the base turns at 0.018 rad/s; without the command, below 1e-4.
        turning = 0.01 < model.twist[5] < 0.5
        return lifted and turning and (joints["wrist_joint"].torques or (0.0,))[0] == 5.0

    client.until(obeyed, "the joints to obey")


def test_a_bad_command_is_logged_and_changes_nothing(client: Client, world: NodeProcess) -> None:
    commands = client.publisher(JointState, "joint_command", 10)
    before = state(client).text
    commands.publish(JointState(name=["elbw_joint"], position=[0.0]))
    world.wait_for_output("did you mean 'elbow_joint'")
    assert state(client).text == before


def test_a_world_state_set_as_text_continues_bit_for_bit(client: Client) -> None:
    step(client, 300)
    saved = state(client).text
    step(client, 200)
    later = state(client).text
    request = SetWorldState.Request(text=saved)
    answer = client.call(SetWorldState, f"{NODE}/set_world_state", request)
    assert answer.success, answer.message
    assert answer.exact
    assert not answer.not_set
    assert "model 'rover_arm': joint 'elbow_joint': position and velocity set" in said(answer.set)
    assert state(client).text == saved
    step(client, 200)
    assert state(client).text == later


def test_a_world_state_set_as_a_message_says_what_it_lacks(client: Client) -> None:
    step(client, 100)
    answer = state(client)
    text, message = parse_world(answer.text), world_from_message(answer.state)
    assert message.models[0].joints == text.models[0].joints
    client.call(Trigger, f"{NODE}/reset")
    done = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request(state=answer.state))
    assert done.success, done.message
    assert not done.exact
    assert any("not bit for bit" in note.reason for note in done.notes)
    again = parse_world(state(client).text)
    before, after = (
        np.array([value for joint in found.models[0].joints for value in joint.positions or ()])
        for found in (text, again)
    )
    np.testing.assert_allclose(after, before, atol=1e-12)


def test_all_or_nothing_and_per_item(client: Client) -> None:
    text = state(client).text.replace('joint_state name="elbow_joint"', 'joint_state name="elbw_joint"')
    before = state(client).text
    refused = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request(text=text))
    assert not refused.success
    assert said(refused.not_set) == [
        "model 'rover_arm': joint 'elbw_joint': the robot does not have this joint; did you mean 'elbow_joint'?"
    ]
    assert state(client).text == before
    part = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request(text=text, partial=True))
    assert part.success
    assert part.not_set == refused.not_set


def test_a_dry_run_changes_nothing(client: Client) -> None:
    saved = state(client).text
    step(client, 20)
    before = state(client).text
    answer = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request(text=saved, dry_run=True))
    assert answer.success
    assert answer.exact
    assert state(client).text == before


def test_a_text_that_is_no_usdf_is_refused_with_its_place(client: Client) -> None:
    request = SetWorldState.Request(text="<world_state><pose/></world_state>")
    answer = client.call(SetWorldState, f"{NODE}/set_world_state", request)
    assert not answer.success
    assert answer.message.startswith("<text>:1:14: error: ")


def test_what_of_a_text_is_not_known_and_not_used_is_a_note(client: Client) -> None:
    text = """<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="block_1">
      <parent rs:parent_link="gripper">world</parent><pose>0 0 3 0 0 0</pose></model_state></world_state>"""
    request = SetWorldState.Request(text=text, dry_run=True)
    answer = client.call(SetWorldState, f"{NODE}/set_world_state", request)
    assert answer.success, answer.message
    assert any("attribute 'rs:parent_link' is not known in <parent>" in note.reason for note in answer.notes)


def test_a_time_that_the_clock_cannot_say_is_refused(client: Client) -> None:
    request = SetWorldState.Request(text=write_world(WorldState(time_ns=9_999_999_999_000_000_000)))
    answer = client.call(SetWorldState, f"{NODE}/set_world_state", request)
    assert not answer.success
    assert "32 bits of seconds" in answer.message
    assert step(client, 1) == 2_000_000


def test_a_part_of_the_world_may_be_asked_for(client: Client) -> None:
    answer = state(client, "block_2")
    assert [model.name for model in answer.state.model_states] == ["block_2"]
    missing = client.call(GetWorldState, f"{NODE}/get_world_state", GetWorldState.Request(models=["blok_2"]))
    assert not missing.success
    assert missing.nearest[0] == "block_2"


def test_a_reset_brings_the_first_state_back(client: Client) -> None:
    first = state(client).text
    step(client, 77)
    assert client.call(Trigger, f"{NODE}/reset").success
    assert state(client).text == first
    stated = {joint.name: joint for joint in read_world(WORLD).models[0].joints}
    now = {joint.name: joint for joint in parse_world(first).models[0].joints}
    assert now["wrist_joint"].positions == stated["wrist_joint"].positions


def test_a_simulation_that_diverges_pauses_and_says_so(client: Client, world: NodeProcess) -> None:
    moving = WorldState(models=(ModelState("block_1", twist=(9e9, 0.0, 0.0, 0.0, 0.0, 0.0)),))
    request = SetWorldState.Request(text=write_world(moving))
    assert client.call(SetWorldState, f"{NODE}/set_world_state", request).success
    answer = client.call(Step, f"{NODE}/step", Step.Request(steps=1000))
    assert not answer.success
    assert "the simulation diverged" in answer.message
    assert client.call(SetWorldState, f"{NODE}/set_world_state", request).success
    client.call(SetBool, f"{NODE}/pause", SetBool.Request(data=False))
    none = Step.Request(steps=0)
    client.until(lambda: client.call(Step, f"{NODE}/step", none).success, "the pause")
    world.wait_for_output("paused: call ~/reset to reset the world")
    assert client.call(Trigger, f"{NODE}/reset").success
    assert step(client, 5) == 10_000_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_for_steps_without_end_does_not_keep_it_from_ending(
    start: Callable[..., NodeProcess], client: Client, number: int
) -> None:
    process = start(program=PROGRAM, world=WORLD, start_paused=True, ros_args=("-r", f"__ns:=/long_{number}"))
    process.wait_for_output("simulating rover_arm")
    service = f"/long_{number}{NODE}/step"
    caller = client.node.create_client(Step, service)
    client.until(caller.service_is_ready, service)
    caller.call_async(Step.Request(steps=2**32 - 1))
    time.sleep(0.5)
    assert process.stop(number) == 0
    assert "Traceback" not in process.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_without_a_traceback(start: Callable[..., NodeProcess], number: int) -> None:
    process = start(program=PROGRAM, world=WORLD, ros_args=("-r", "__ns:=/other"))
    process.wait_for_output("simulating rover_arm")
    assert process.stop(number) == 0
    assert "Traceback" not in process.output


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"world": "nowhere.usdf"}, "nowhere.usdf"),
        ({"world": WORLD, "timestep": -1.0}, "parameter 'timestep' must be greater than 0"),
        ({"world": WORLD, "main_model": "rover"}, "unknown model 'rover'"),
        ({"models": ["x=nowhere.urdf"]}, "'nowhere.urdf' is not found"),
    ],
)
def test_a_world_that_cannot_be_simulated_is_one_error(
    start: Callable[..., NodeProcess], parameters: dict[str, Any], words: str
) -> None:
    process = start(program=PROGRAM, ros_args=("-r", "__ns:=/broken"), **parameters)
    assert process.wait() == 1
    assert words in process.output
    assert "Traceback" not in process.output


def test_a_broken_world_is_named_with_line_and_column(start: Callable[..., NodeProcess], tmp_path: Path) -> None:
    (tmp_path / "w.usdf").write_text("<world_state>\n  <pose/></world_state>")
    process = start(program=PROGRAM, world=str(tmp_path / "w.usdf"))
    assert process.wait() == 1
    assert "w.usdf:2:3: error: " in process.output


def test_numbers_that_no_simulator_can_take_are_refused_and_it_goes_on(client: Client) -> None:
    text = """<world_state><model_state name="rover_arm"><pose>0 0 {} 0 0 0</pose>
      <joint_state name="elbow_joint"><positions>{}</positions></joint_state></model_state></world_state>"""
    before = state(client).text
    for numbers, where in (((1e300, 0.0), "/pose"), ((0.0, -1e300), "/positions")):
        request = SetWorldState.Request(text=text.format(*numbers), partial=True)
        answer = client.call(SetWorldState, f"{NODE}/set_world_state", request)
        assert not answer.success
        assert where in answer.message
        assert "1e+300" in answer.message
    for number in (math.nan, math.inf, 1e300):
        message = state(client).state
        message.model_states[0].pose.position.z = number
        answer = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request(state=message))
        assert not answer.success
        assert "/pose" in answer.message
        message = state(client).state
        message.model_states[0].joint_states[0].positions = [number]
        answer = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request(state=message))
        assert not answer.success
        assert answer.message
    twice = state(client).state
    twice.model_states = [twice.model_states[0]] * 2
    answer = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request(state=twice))
    assert "rover_arm" in answer.message
    empty = client.call(SetWorldState, f"{NODE}/set_world_state", SetWorldState.Request())
    assert empty.success or empty.message
    publisher = client.publisher(JointState, "joint_command")
    publisher.publish(JointState(name=["elbow_joint"], position=[1e300]))
    publisher.publish(JointState(name=["nobody"], position=[1.0]))
    assert step(client, 10) > 0
    assert client.call(Trigger, f"{NODE}/reset").success
    assert state(client).text == before


def test_another_engine_simulates_the_same_world_under_the_same_services(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    pytest.importorskip("pydrake", reason="Drake is not installed (pip install '.[drake]')")
    named = ["-r", "__node:=drake_world", "-r", "joint_command:=drake_command"]
    start(program=PROGRAM, world=WORLD, start_paused=True, engine="drake", ros_args=named)

    def text() -> str:
        request = GetWorldState.Request(with_text=True)
        return str(client.call(GetWorldState, "/drake_world/get_world_state", request).text)

    def stepped(count: int) -> bool:
        return bool(client.call(Step, "/drake_world/step", Step.Request(steps=count)).success)

    half = text()
    assert parse_world(half).engines[0].name == "drake"
    assert stepped(50)
    whole = text()
    answer = client.call(SetWorldState, "/drake_world/set_world_state", SetWorldState.Request(text=half))
    assert answer.exact, answer.message
    assert stepped(50)
    assert text() == whole
    # Commands are positions here.
    publisher = client.publisher(JointState, "drake_command")
    wanted = JointState(name=["wrist_joint"], position=[0.1])

    def reached() -> bool:
        publisher.publish(wanted)
        stepped(200)
        there = parse_world(text()).model("rover_arm").joint("wrist_joint").positions
        return there == pytest.approx((0.1,), abs=1e-3)

    client.until(reached, "the wrist where it was commanded")
