# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The doctor sees typical mistakes of running robots, and nothing else where there are none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.nodes import LATCHED, Client, NodeProcess
from tf2_msgs.msg import TFMessage

from robot_semantics.examples import example
from robot_semantics.ros.tools.doctor import examine_ros

pytestmark = pytest.mark.ros
BEST_EFFORT = QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture(autouse=True)
def _in_the_domain(domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))


def found(level: str, listen: float = 2.0) -> list[str]:
    return [finding.text for finding in examine_ros(listen) if finding.level == level]


def found_at_last(count: int) -> list[str]:
    """Return the problems, at least `count`: on a busy machine it takes a while until all have found each other."""
    problems: list[str] = []
    for listen in (2.0, 4.0, 8.0, 16.0):
        if len(problems) < count:
            problems = found("problem", listen)
    return problems


def test_without_robots_there_is_no_problem() -> None:
    findings = list(examine_ros(0.5))
    assert [finding.level for finding in findings if finding.level == "problem"] == []
    assert any("a node hears another one after" in finding.text for finding in findings)


def test_what_is_heard_is_told_by_its_sender_and_what_is_not_by_its_kind(client: Client) -> None:
    publisher = client.node.create_publisher(String, "robot_description", LATCHED)
    publisher.publish(String(data='<robot name="a"><link name="base_link"/></robot>'))
    for listen in (2.0, 4.0, 8.0, 16.0):
        texts = {finding.level: finding.text for finding in examine_ros(listen) if "received in" in finding.text}
        if "ok" in texts:
            break
    assert texts["ok"].startswith(f"received in {listen:g} s: /robot_description (/")
    assert texts["note"] == f"nothing received in {listen:g} s: tf, tf_static, joint_states, robot_description_semantic"
    client.node.destroy_publisher(publisher)


@pytest.fixture
def mistaken(domain: int) -> Iterator[Client]:
    """A node whose mistakes end with the test."""
    client = Client(domain, "mistaken")
    yield client
    client.close()


def test_mistakes_are_named(mistaken: Client) -> None:
    node = mistaken.node
    for parent in ("odom", "map"):
        publisher = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        transform = TransformStamped(child_frame_id="base_link")
        transform.header.frame_id = parent
        transform.transform.rotation.w = 1.0
        publisher.publish(TFMessage(transforms=[transform]))
    texts = {
        "robot_description": '<robot name="a"><link name="base_link"/></robot>',
        "robot_description_semantic": '<robot name="b"/>',
    }
    for topic, text in texts.items():
        node.create_publisher(String, topic, LATCHED).publish(String(data=text))
    node.create_publisher(JointState, "joint_states", BEST_EFFORT)
    node.create_publisher(String, "words", BEST_EFFORT)
    node.create_subscription(String, "words", lambda _: None, LATCHED)
    problems = found_at_last(4)
    assert "TF frame 'base_link' has two parents, 'map' and 'odom': two nodes publish it" in problems
    assert "the SRDF is about 'b', the URDF about 'a'" in problems
    assert "joint_states has a publisher, but no message came: check whether it is paused" in problems
    (words,) = [text for text in problems if text.startswith("/words: ")]
    assert "best effort does not serve one who wants reliable" in words
    assert "volatile does not serve one who wants transient local" in words
    assert len(problems) == 4


def moving(parent: str, child: str) -> TFMessage:
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    transform.transform.rotation.w = 1.0
    return TFMessage(transforms=[transform])


@contextmanager
def publishing(domain: int, name: str, kind: Any, topic: str, *messages: Any, qos: Any = 10) -> Iterator[None]:
    """Have a node of its own publish messages again and again."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node(name, context=context, enable_rosout=False)
    publisher = node.create_publisher(kind, topic, qos)
    ended = threading.Event()

    def publish() -> None:
        while not ended.wait(0.05):
            for message in messages:
                publisher.publish(message)

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        node.destroy_node()
        rclpy.shutdown(context=context)


def test_two_publishers_of_one_frame_or_joint_are_named(domain: int) -> None:
    state = JointState(name=["turn"], position=[0.0])
    with ExitStack() as stack:
        for name in ("one", "two"):
            for kind, topic, message in (
                (TFMessage, "/cell/tf", moving("base", "tip")),
                (JointState, "/cell/joint_states", state),
            ):
                stack.enter_context(publishing(domain, name, kind, topic, message))
        stack.enter_context(publishing(domain, "three", TFMessage, "/cell/tf", moving("base", "lone")))
        stack.enter_context(publishing(domain, "four", TFMessage, "/cell/tf", moving("base", "fixed")))
        stack.enter_context(
            publishing(domain, "four", TFMessage, "/cell/tf_static", moving("base", "fixed"), qos=LATCHED)
        )
        problems = found_at_last(3)
    assert sorted(problems) == [
        "TF frame 'fixed' is on /cell/tf and on /cell/tf_static: it will jump",
        "two nodes publish the same TF frames, 'tip', on /cell/tf: stop one of /four, /one, /three, /two",
        "two nodes publish the same joints, 'turn', on /cell/joint_states: stop one of /one, /two",
    ]


def test_a_sound_robot_has_no_problem_and_one_that_nobody_moves_has(
    client: Client, domain: int, start: Callable[..., NodeProcess]
) -> None:
    urdf, srdf = (example(f"rover_arm.{kind}").read_text() for kind in ("urdf", "srdf"))
    node = start(
        robot_description=urdf,
        robot_description_semantic=srdf.replace('link1="palm_link"', 'link1="paw"'),
        ros_args=["-r", "__ns:=/farm", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"],
    )
    # It listens to joint states after it has printed the robot.
    descriptions = client.collect(String, "/farm/robot_description")
    client.until(lambda: descriptions, "the description")
    problems = found_at_last(2)
    assert "/farm/robot_semantics waits for /farm/joint_states, which no node publishes" in problems
    assert [
        text
        for text in problems
        if text.startswith("the SRDF has names that the URDF does not have: unknown link 'paw'")
    ]
    assert client.set_parameters("/farm/robot_semantics", robot_description_semantic=srdf)[0].successful
    # A virtual joint's variables are not joints of the URDF, but they are known.
    base = {"world_joint/x": 1.0, "world_joint/y": 0.0, "world_joint/theta": 0.0}
    state = JointState(name=[*base, "lift_joint"], position=[*base.values(), 0.1])
    with publishing(domain, "driver", JointState, "/farm/joint_states", state):
        assert any(found("problem", listen) == [] for listen in (2.0, 4.0, 8.0))
    assert node.stop() == 0
