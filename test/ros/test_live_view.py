# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The viewer follows a running node: the robot of its topics stands where TF and forward kinematics say."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.nodes import LATCHED, RUNNING, Client, NodeProcess, joint_state, text
from tf2_msgs.msg import TFMessage

from robot_semantics import Diagnostics, RobotSemanticsError
from robot_semantics.examples import example
from robot_semantics.ros.tools.live_view import ANNOUNCED_AGAIN_S, PublishedRobots, joint_positions
from robot_semantics.viewer.scene import link_poses

pytestmark = pytest.mark.ros

PARAMETERS: dict[str, Any] = {
    "robot_description": example("rover_arm.urdf").read_text(),
    "robot_description_semantic": example("rover_arm.srdf").read_text(),
    "frame_prefix": "r1/",
}


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory) -> NodeProcess:
    PARAMETERS["snapshots.directory"] = str(tmp_path_factory.mktemp("snapshots"))
    return start(**PARAMETERS)


@pytest.fixture(scope="module")
def robot(node: NodeProcess, domain: int) -> Iterator[PublishedRobots]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        with PublishedRobots("/robot_semantics", 20.0, (), Diagnostics()) as found:
            yield found


def test_it_stands_where_the_joints_say(client: Client, robot: PublishedRobots) -> None:
    publisher = client.publisher(JointState, "joint_states")
    (actor,) = robot.scene.actors
    positions = {name: 0.1 for name in actor.model.joint_names if not actor.model.joint(name).virtual}
    positions = {name: value for name, value in positions.items() if actor.model.joint(name).is_active}
    positions |= {"elbow_joint": 0.7, "left_finger_joint": 0.03}
    expected = actor.kinematics.space.pack(positions)
    seen, end = -1, time.monotonic() + 60.0
    while time.monotonic() < end:
        publisher.publish(joint_state(positions, time.time_ns()))
        found = robot.wait(seen, 0.2)
        if found is not None:
            seen, moment = found
            stance = moment.stances[actor.name]
            if np.allclose(stance.q, expected, atol=1e-9):
                break
    np.testing.assert_allclose(stance.q, expected, atol=1e-9)
    assert "wheels" in actor.model.semantics.groups
    np.testing.assert_allclose(
        np.linalg.inv(link_poses(actor, stance)[0]) @ link_poses(actor, stance),
        actor.kinematics.link_poses(expected),
        atol=1e-9,
    )


def test_the_clock_is_that_of_the_joints_beside_frames_of_another_clock(client: Client, robot: PublishedRobots) -> None:
    joints, foreign = client.publisher(JointState, "joint_states"), client.publisher(TFMessage, "/tf")
    (actor,) = robot.scene.actors
    names = [name for name in actor.model.joint_names if actor.model.joint(name).is_active]
    positions = {name: 0.02 for name in names if not actor.model.joint(name).virtual}
    later = TransformStamped()
    later.header.frame_id, later.child_frame_id = "world", "box_of_another_program"
    later.header.stamp.sec = 2**31 - 1
    later.transform.rotation.w = 1.0
    began, end, seen = time.time_ns(), time.monotonic() + 60.0, -1
    clock, moment = 0, robot.scene.moments[0]
    while time.monotonic() < end and not (clock >= began and "box_of_another_program" in moment.frames):
        foreign.publish(TFMessage(transforms=[later]))
        joints.publish(joint_state(positions, time.time_ns()))
        found = robot.wait(seen, 0.2)
        if found is not None:
            seen, moment = found
            clock = moment.time_ns or 0
    assert began <= clock <= time.time_ns()


def test_positions_are_those_that_transforms_tell(
    client: Client, node: NodeProcess, domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    publisher = client.publisher(JointState, "joint_states")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(joint_positions, 20.0)
        while not found.done():
            publisher.publish(joint_state({"elbow_joint": 0.25, "left_finger_joint": 0.01}, time.time_ns()))
            time.sleep(0.05)
    positions = found.result()
    assert positions["elbow_joint"] == pytest.approx(0.25, abs=1e-9)
    assert positions["right_finger_joint"] == pytest.approx(0.01, abs=1e-9)  # a mimic joint


def test_snapshots_are_asked_of_the_node(robot: PublishedRobots) -> None:
    with pytest.raises(RobotSemanticsError, match="nothing_like_it"):
        robot.ask("restore", "nothing_like_it")


def see_elbow_at(value: float, client: Client, robot: PublishedRobots) -> None:
    """Publish joint states until the robot is seen in them."""
    publisher = client.publisher(JointState, "joint_states")
    (actor,) = robot.scene.actors
    elbow = actor.kinematics.space.index["elbow_joint"]
    seen, at, end = -1, float("nan"), time.monotonic() + 40.0
    while not abs(at - value) < 1e-9:
        assert time.monotonic() < end, at
        publisher.publish(joint_state({"elbow_joint": value}, time.time_ns()))
        found = robot.wait(seen, 0.2)
        if found is not None:
            seen, at = found[0], found[1].stances[actor.name].q[elbow]


def test_a_saved_snapshot_is_listed_read_and_deleted(client: Client, robot: PublishedRobots) -> None:
    see_elbow_at(-0.5, client, robot)
    robot.ask("save", "bent")
    (about,) = [about for name, about in robot.snapshots() if name == "bent"]
    assert "rover_arm" in about
    assert "kB" in about
    (actor,) = robot.scene.actors
    stance = robot.snapshot("bent").stances[actor.name]
    assert stance.q[actor.kinematics.space.index["elbow_joint"]] == pytest.approx(-0.5, abs=1e-9)
    robot.ask("delete", "bent")
    assert "bent" not in [name for name, _ in robot.snapshots()]
    with pytest.raises(RobotSemanticsError, match="bent"):
        robot.snapshot("bent")


def test_joints_are_commanded_where_somebody_listens(client: Client, robot: PublishedRobots) -> None:
    assert not robot.can_jog()
    heard = client.collect(JointState, "joint_command", 10)

    def commanded() -> list[Any]:
        robot.jog("rover_arm", {"elbow_joint": 0.75})
        return heard

    client.until(commanded, "a command")
    assert (list(heard[0].name), list(heard[0].position)) == (["elbow_joint"], [0.75])


def test_it_follows_on_when_the_node_starts_again(
    client: Client, robot: PublishedRobots, node: NodeProcess, start: Callable[..., NodeProcess]
) -> None:
    node.stop()
    start(**PARAMETERS)
    see_elbow_at(0.875, client, robot)


def test_several_robots_each_stand_where_their_own_joints_say(
    client: Client, node: NodeProcess, start: Callable[..., NodeProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    for process in RUNNING[:]:
        process.stop()
    described = {key: PARAMETERS[key] for key in ("robot_description", "robot_description_semantic")}
    # A prefix that the robot's name does not tell, and one that two robots of a kind would both be given by a vote.
    parameters = {"left__frame_prefix": "l_", "right__frame_prefix": "right/"}
    parameters |= {f"{name}__{key}": text for name in ("left", "right") for key, text in described.items()}
    start(models=["left", "right"], **parameters)
    with PublishedRobots("/robot_semantics", 20.0, (), Diagnostics()) as live:
        assert [actor.name for actor in live.scene.actors] == ["left", "right"]
        wanted = {"left": 0.25, "right": -0.5}
        publishers = {name: client.publisher(JointState, f"{name}/joint_states") for name in wanted}
        elbow = live.scene.actors[0].kinematics.space.index["elbow_joint"]
        seen, at, end = -1, dict.fromkeys(wanted, 0.0), time.monotonic() + 40.0
        while at != pytest.approx(wanted, abs=1e-9):
            assert time.monotonic() < end, at
            for name, value in wanted.items():
                publishers[name].publish(joint_state({"elbow_joint": value}, time.time_ns()))
            seen, moment = live.wait(seen, 0.2) or (seen, live.scene.moments[0])
            at = {name: float(stance.q[elbow]) for name, stance in moment.stances.items()}
        assert not {"l_forearm_link", "right/forearm_link"} & moment.frames.keys()
        heard = client.collect(JointState, "right/joint_command", 10)

        def commanded() -> list[Any]:
            live.jog("left", {"elbow_joint": 0.1})
            live.jog("right", {"elbow_joint": 0.75})
            return heard

        client.until(commanded, "a command")
        assert list(heard[0].position) == [0.75]
    with pytest.raises(RobotSemanticsError, match="several running robots match: left, right"):
        joint_positions(20.0, "rover_arm")


# Remaps of /tf and /tf_static in the nodes of two robots with the same frames; and the name of a box beside robot one.
REMAPS = {
    "each in its namespace": ({"one": ("/one/tf", "tf_static"), "two": ("tf", "tf_static")}, "one/box"),
    "one on /tf": ({"one": ("/tf", "/tf_static"), "two": ("tf", "tf_static")}, "box"),
    "only the moving ones": ({"one": ("/tf_of_one", "/tf_static"), "two": ("/tf", "/tf_static")}, "box"),
}


@pytest.mark.parametrize("case", REMAPS)
def test_robots_with_the_same_frames_on_topics_of_their_own_each_stand_where_their_own_joints_say(
    case: str, client: Client, node: NodeProcess, start: Callable[..., NodeProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    for process in RUNNING[:]:
        process.stop()
    remaps, box = REMAPS[case]
    for name in remaps:
        gone = partial(client.node.count_publishers, f"/{name}/robot_description")
        client.until(lambda gone=gone: not gone(), "the former robots to go")  # type: ignore[misc]  # bound at once
    for name, (moving, static) in remaps.items():
        remapped = ["-r", f"__ns:=/{name}", "-r", f"/tf:={moving}", "-r", f"/tf_static:={static}"]
        start(**PARAMETERS | {"frame_prefix": ""}, ros_args=remapped)
    for name in remaps:
        client.until(partial(client.node.count_publishers, f"/{name}/robot_description"), name)
    foreign = TransformStamped()
    foreign.header.frame_id, foreign.child_frame_id = "odom", "box"
    foreign.transform.translation.x = foreign.transform.rotation.w = 1.0
    with PublishedRobots("/one/robot_semantics", 20.0, (), Diagnostics()) as live:
        assert [actor.name for actor in live.scene.actors] == ["one", "two"]
        wanted = {"one": 0.25, "two": -0.5}
        publishers = {name: client.publisher(JointState, f"{name}/joint_states") for name in wanted}
        beside = client.node.create_publisher(TFMessage, remaps["one"][0], 100)
        space = live.scene.actors[0].kinematics.space
        seen, at, end, moment = -1, dict.fromkeys(wanted, 0.0), time.monotonic() + 60.0, live.scene.moments[0]
        while at != pytest.approx(wanted, abs=1e-9) or moment.frames.keys() != {box}:
            assert time.monotonic() < end, (at, moment.frames.keys())
            beside.publish(TFMessage(transforms=[foreign]))
            for name, value in wanted.items():
                positions = {"elbow_joint": value, "world_joint/x": 4 * value, "world_joint/theta": 0.0}
                publishers[name].publish(joint_state({**positions, "world_joint/y": 0.0}, time.time_ns()))
            seen, moment = live.wait(seen, 0.2) or (seen, moment)
            at = {name: float(stance.q[space.index["elbow_joint"]]) for name, stance in moment.stances.items()}
        client.node.destroy_publisher(beside)
        x = {name: float(stance.q[space.index["world_joint/x"]]) for name, stance in moment.stances.items()}
        assert x == pytest.approx({name: 4 * value for name, value in wanted.items()}, abs=1e-9)


def test_a_robot_that_is_announced_is_waited_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    for process in RUNNING[:]:
        process.stop()
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(PublishedRobots, "/robot_semantics", 60.0, (), Diagnostics())
        early, late = (client.publisher(String, f"{name}/robot_description", LATCHED) for name in ("early", "late"))
        early.publish(text(PARAMETERS["robot_description"]))
        client.spin_for(2 * ANNOUNCED_AGAIN_S)
        assert not found.done()
        late.publish(text(PARAMETERS["robot_description"]))
        while not found.done():
            client.spin_for(0.1)
    with found.result() as live:
        assert [actor.name for actor in live.scene.actors] == ["early", "late"]


def test_without_a_node_it_says_so(node: NodeProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "231")
    with pytest.raises(RobotSemanticsError, match=r"received no robot_description within 0.3 s: is a node running"):
        PublishedRobots("/robot_semantics", 0.3, (), Diagnostics())
