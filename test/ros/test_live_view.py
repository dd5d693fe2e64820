"""The viewer follows a running node: the robot of its topics stands where TF and forward kinematics say."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.nodes import Client, NodeProcess, joint_state

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.examples import example
from robot_semantics.ros.tools.live_view import LiveRobot
from robot_semantics.viewer.stage import link_poses

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess]) -> NodeProcess:
    texts = [example(f"rover_arm.{kind}").read_text() for kind in ("urdf", "srdf")]
    return start(robot_description=texts[0], robot_description_semantic=texts[1], frame_prefix="r1/")


@pytest.fixture(scope="module")
def robot(node: NodeProcess, domain: int) -> Iterator[LiveRobot]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        with LiveRobot("/robot_semantics", 20.0, (), Diagnostics()) as found:
            yield found


def test_it_stands_where_the_joints_say(client: Client, robot: LiveRobot) -> None:
    publisher = client.publisher(JointState, "joint_states")
    (actor,) = robot.stage.actors
    positions = {name: 0.1 for name in actor.model.joint_names if not actor.model.joint(name).virtual}
    positions = {name: value for name, value in positions.items() if actor.model.joint(name).is_active}
    positions |= {"elbow_joint": 0.7, "left_finger_joint": 0.03}
    expected = actor.kinematics.space.pack(positions)
    seen, end = -1, time.monotonic() + 20.0
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


def test_snapshots_are_asked_of_the_node(robot: LiveRobot) -> None:
    with pytest.raises(RobotSemanticsError, match="nothing_like_it"):
        robot.ask("restore", "nothing_like_it")


def test_without_a_node_it_says_so(node: NodeProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "231")
    with pytest.raises(RobotSemanticsError, match=r"no robot_description came within 0.3 s: is a node running"):
        LiveRobot("/robot_semantics", 0.3, (), Diagnostics())
