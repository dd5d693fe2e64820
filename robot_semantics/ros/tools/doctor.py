# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Search for problems of this machine's ROS 2 and of the running robots; changes nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_msgs.msg import String

from robot_semantics.ros.running.node_names import node_name
from robot_semantics.ros.tools.own_node import own_node
from robot_semantics.ros.tools.topic_checks import LATCHED, Finding, TopicListener

DISCOVERY_SECONDS = 8.0
LOOK_SECONDS = 0.2


def examine(listen: float) -> Iterator[Finding]:
    """Yield the findings about ROS 2; running robots are observed for `listen` [s]."""
    yield Finding("ok", f"rclpy, middleware {rclpy.get_rmw_implementation_identifier()}, {_settings()}")
    yield _discovery()
    yield from _running(listen)


def _settings() -> str:
    names = ("ROS_DISTRO", "ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY")
    return ", ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ) or "default settings"


def _discovery() -> Finding:
    """Check that two independent participants of this process discover each other and exchange a message."""
    topic, texts = f"rs_doctor_{os.getpid()}", list[String]()
    with own_node(f"{topic}_0") as (speaker, _), own_node(f"{topic}_1") as (listener, executor):
        publisher = speaker.create_publisher(String, topic, LATCHED)
        listener.create_subscription(String, topic, texts.append, LATCHED)
        publisher.publish(String(data="hello"))
        start = time.monotonic()
        while not texts and time.monotonic() - start < DISCOVERY_SECONDS:
            executor.spin_once(timeout_sec=0.1)
        took = time.monotonic() - start
    if texts:
        return Finding("ok", f"discovery: a node hears another one after {took:.2f} s")
    return Finding(
        "problem",
        f"discovery: a node did not hear another one within {DISCOVERY_SECONDS:g} s: "
        "a firewall, no multicast on the network interface, or ROS_AUTOMATIC_DISCOVERY_RANGE=OFF",
    )


def _running(listen: float) -> Iterator[Finding]:
    with own_node(f"rs_doctor_{os.getpid()}") as (node, executor):
        listener = TopicListener(node)
        end = time.monotonic() + listen
        look = 0.0
        while time.monotonic() < end:
            if time.monotonic() > look:
                look = time.monotonic() + LOOK_SECONDS
                listener.listen_to_new_topics()
            executor.spin_once(timeout_sec=0.05)
        # A name that begins with an underscore belongs to a tool, such as the ros2 daemon.
        others = sorted({name for name in node.get_node_names() if not name.startswith(("rs_doctor", "_"))})
        if not others:
            yield Finding("note", f"no node found in {listen:g} s, so no robot can be checked")
            return
        yield Finding("ok", f"running nodes: {', '.join(others)}")
        yield from listener.received_topics(listen)
        yield from _mistakes(node, listener, others)


def _mistakes(node: Node, listener: TopicListener, others: list[str]) -> Iterator[Finding]:
    if "robot_state_publisher" in others and any("robot_semantics" in name for name in others):
        yield Finding(
            "problem", "robot_state_publisher runs beside robot_semantics and publishes the same frames: stop one"
        )
    yield from listener.findings()
    for topic, _ in node.get_topic_names_and_types():
        yield from _qos(node, topic)


def _qos(node: Node, topic: str) -> Iterator[Finding]:
    for publisher in node.get_publishers_info_by_topic(topic):
        for subscriber in node.get_subscriptions_info_by_topic(topic):
            if "rs_doctor" in f"{publisher.node_name}{subscriber.node_name}":
                continue
            given, wanted = publisher.qos_profile, subscriber.qos_profile
            why = []
            if given.reliability == ReliabilityPolicy.BEST_EFFORT and wanted.reliability == ReliabilityPolicy.RELIABLE:
                why.append("best effort does not serve one who wants reliable")
            if given.durability == DurabilityPolicy.VOLATILE and wanted.durability == DurabilityPolicy.TRANSIENT_LOCAL:
                why.append("volatile does not serve one who wants transient local")
            if why:
                yield Finding(
                    "problem",
                    f"{topic}: {node_name(publisher)} -> {node_name(subscriber)} do not connect: {'; '.join(why)}",
                )
