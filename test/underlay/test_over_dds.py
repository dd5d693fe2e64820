# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Broadcasters and listener of whichever tf2_ros is installed find each other over DDS, late joiners included."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import rclpy
import tf2_ros
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.time import Time
from support.tf_messages import numbers, stamped

pytestmark = pytest.mark.ros
MakeNode = Callable[[str], Node]


@pytest.fixture
def make_node(ros_domain: int) -> Iterator[MakeNode]:
    """Makes nodes that end with the test."""
    rclpy.init(domain_id=ros_domain)
    nodes: list[Node] = []

    def make(name: str) -> Node:
        nodes.append(rclpy.create_node(name))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


def test_a_late_listener_gets_all_static_and_all_further_moving_transforms(make_node: MakeNode) -> None:
    sender, receiver = make_node("sender"), make_node("receiver")
    static = tf2_ros.StaticTransformBroadcaster(sender)
    static.sendTransform(stamped("world", "a", 0, (1.0, 0, 0, 0, 0, 0, 1.0)))
    static.sendTransform([stamped("a", "b", 0, (2.0, 0, 0, 0, 0, 0, 1.0))])
    moving = tf2_ros.TransformBroadcaster(sender)
    buffer = tf2_ros.Buffer(node=receiver)
    listener = tf2_ros.TransformListener(buffer, receiver, spin_thread=True)
    for _ in range(200):
        moving.sendTransform(stamped("b", "c", 5, (4.0, 0, 0, 0, 0, 0, 1.0)))
        if buffer.can_transform("world", "c", Time(), timeout=Duration(seconds=0.1)):
            break
    assert numbers(buffer.lookup_transform("world", "c", Time()))[0] == 7.0
    listener.unregister()


def test_topics_have_the_qos_that_all_tf_nodes_expect(make_node: MakeNode) -> None:
    node = make_node("node")
    tf2_ros.TransformBroadcaster(node)
    tf2_ros.StaticTransformBroadcaster(node)
    keep = tf2_ros.TransformListener(tf2_ros.Buffer(), node)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    for _ in range(100):
        executor.spin_once(timeout_sec=0.1)
        if len(node.get_subscriptions_info_by_topic("/tf_static")) == 1:
            break
    for topic, durability in (("/tf", DurabilityPolicy.VOLATILE), ("/tf_static", DurabilityPolicy.TRANSIENT_LOCAL)):
        infos = node.get_publishers_info_by_topic(topic) + node.get_subscriptions_info_by_topic(topic)
        assert len(infos) == 2
        assert {info.qos_profile.durability for info in infos} == {durability}
        assert {info.qos_profile.reliability for info in infos} == {ReliabilityPolicy.RELIABLE}
    keep.unregister()
    executor.shutdown()


def test_a_buffer_shows_its_frames_as_a_service(make_node: MakeNode) -> None:
    from tf2_msgs.srv import FrameGraph

    node = make_node("node")
    buffer = tf2_ros.Buffer(node=node)
    buffer.set_transform_static(stamped("world", "a"), "test")
    client = node.create_client(FrameGraph, "tf2_frames")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    assert client.wait_for_service(timeout_sec=20)
    future = client.call_async(FrameGraph.Request())
    executor.spin_until_future_complete(future, timeout_sec=20)
    assert "parent: 'world'" in future.result().frame_yaml
    executor.shutdown()
