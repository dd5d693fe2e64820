"""The doctor sees typical mistakes of running robots, and nothing else where there are none."""

from __future__ import annotations

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from robot_semantics.ros.doctor import examine

from .conftest import LATCHED, Client

pytestmark = pytest.mark.ros
BEST_EFFORT = QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture(autouse=True)
def _in_the_domain(domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))


def found(level: str, listen: float = 2.0) -> list[str]:
    return [finding.text for finding in examine(listen) if finding.level == level]


def test_without_robots_there_is_no_problem() -> None:
    findings = list(examine(0.5))
    assert [finding.level for finding in findings if finding.level == "problem"] == []
    assert any("a node hears another one after" in finding.text for finding in findings)


def test_mistakes_are_named(client: Client) -> None:
    node = client.node
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
    problems = found("problem")
    assert "TF frame 'base_link' has two parents, 'map' and 'odom': two nodes publish it" in problems
    assert "the SRDF is about 'b', the URDF about 'a'" in problems
    assert "joint_states has a publisher, but no message came: see whether it is paused" in problems
    (words,) = [text for text in problems if text.startswith("/words: ")]
    assert "best effort does not serve one who wants reliable" in words
    assert "volatile does not serve one who wants transient local" in words
    assert len(problems) == 4
