"""What is wrong with the ROS 2 of this machine and with the robots that run: found by looking, nothing is changed."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import rclpy
from lxml import etree
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
ANY = QoSProfile(depth=100, durability=DurabilityPolicy.VOLATILE, reliability=ReliabilityPolicy.BEST_EFFORT)
DISCOVERY_SECONDS = 8.0


class Finding(NamedTuple):
    """One thing that was looked at: ``ok``, ``note`` or ``problem``, and what to do about it."""

    level: str
    text: str


def examine(listen: float) -> Iterator[Finding]:
    """Yield what there is to say about ROS 2 here; `listen` is how long to look at the running robots [s]."""
    yield Finding("ok", f"rclpy, middleware {rclpy.get_rmw_implementation_identifier()}, {_settings()}")
    yield _discovery()
    yield from _running(listen)


def _settings() -> str:
    names = ("ROS_DISTRO", "ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY")
    return ", ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ) or "default settings"


def _discovery() -> Finding:
    """Let two participants of this process, which share nothing, find and hear each other."""
    contexts = (Context(), Context())
    for context in contexts:
        rclpy.init(context=context, args=[])
    nodes = [Node(f"rs_doctor_{os.getpid()}_{i}", context=c, enable_rosout=False) for i, c in enumerate(contexts)]
    executor = SingleThreadedExecutor(context=contexts[1])
    heard: list[Any] = []
    try:
        topic = f"rs_doctor_{os.getpid()}"
        publisher = nodes[0].create_publisher(String, topic, LATCHED)
        nodes[1].create_subscription(String, topic, heard.append, LATCHED)
        executor.add_node(nodes[1])
        publisher.publish(String(data="heard"))
        start = time.monotonic()
        while not heard and time.monotonic() - start < DISCOVERY_SECONDS:
            executor.spin_once(timeout_sec=0.1)
        took = time.monotonic() - start
    finally:
        executor.shutdown()
        for node, context in zip(nodes, contexts, strict=True):
            node.destroy_node()
            rclpy.shutdown(context=context)
    if heard:
        return Finding("ok", f"discovery: a node hears another one after {took:.2f} s")
    return Finding(
        "problem",
        f"discovery: a node did not hear another one within {DISCOVERY_SECONDS:g} s: "
        "a firewall, no multicast on the network interface, or ROS_AUTOMATIC_DISCOVERY_RANGE=OFF",
    )


class _Seen:
    """What was heard on the topics of the running robots."""

    def __init__(self, node: Node) -> None:
        self.parents: dict[str, set[str]] = defaultdict(set)
        self.joints: set[str] = set()
        self.joint_messages = 0
        self.texts: dict[str, str] = {}
        for topic, profile in (("tf", ANY), ("tf_static", LATCHED)):
            node.create_subscription(TFMessage, topic, self._transforms, profile)
        node.create_subscription(JointState, "joint_states", self._joints, ANY)
        for topic in ("robot_description", "robot_description_semantic"):
            node.create_subscription(String, topic, self._taker(topic), LATCHED)

    def _transforms(self, message: Any) -> None:
        for transform in message.transforms:
            self.parents[transform.child_frame_id].add(transform.header.frame_id)

    def _joints(self, message: Any) -> None:
        self.joint_messages += 1
        self.joints.update(message.name)

    def _taker(self, topic: str) -> Any:
        return lambda message: self.texts.update({topic: message.data})


def _running(listen: float) -> Iterator[Finding]:
    context = Context()
    rclpy.init(context=context, args=[])
    node = Node(f"rs_doctor_{os.getpid()}", context=context, enable_rosout=False)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        seen = _Seen(node)
        end = time.monotonic() + listen
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.05)
        others = sorted({name for name in node.get_node_names() if not name.startswith("rs_doctor")})
        if not others:
            yield Finding("note", "no node is running, so there are no robots to look at")
            return
        yield Finding("ok", f"running nodes: {', '.join(others)}")
        yield from _mistakes(node, seen, others)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def _mistakes(node: Node, seen: _Seen, others: list[str]) -> Iterator[Finding]:
    if "robot_state_publisher" in others and any("robot_semantics" in name for name in others):
        yield Finding(
            "problem", "robot_state_publisher runs beside robot_semantics and publishes the same frames: stop one"
        )
    for child, parents in sorted(seen.parents.items()):
        if len(parents) > 1:
            names = " and ".join(f"'{name}'" for name in sorted(parents))
            yield Finding("problem", f"TF frame '{child}' has two parents, {names}: two nodes publish it")
    if not node.get_publishers_info_by_topic("/joint_states"):
        yield Finding("note", "nobody publishes joint_states: start the robot's driver, or joint_state_publisher")
    elif not seen.joint_messages:
        yield Finding("problem", "joint_states has a publisher, but no message came: see whether it is paused")
    yield from _descriptions(seen)
    for topic, _ in node.get_topic_names_and_types():
        yield from _qos(node, topic)


def _descriptions(seen: _Seen) -> Iterator[Finding]:
    roots = {topic: _root(text) for topic, text in seen.texts.items()}
    for topic, root in roots.items():
        if root is None:
            yield Finding("problem", f"the text on {topic} is no XML of a robot")
    urdf, srdf = roots.get("robot_description"), roots.get("robot_description_semantic")
    if urdf is not None and srdf is not None and urdf.get("name") != srdf.get("name"):
        yield Finding("problem", f"the SRDF is about '{srdf.get('name')}', the URDF about '{urdf.get('name')}'")
    if urdf is not None:
        known = {joint.get("name") for joint in urdf.findall("joint")}
        strange = sorted(name for name in seen.joints if name not in known)
        if strange:
            names = ", ".join(strange[:5]) + (" ..." if len(strange) > 5 else "")
            yield Finding("problem", f"joint_states names joints that the robot does not have: {names}")


def _root(text: str) -> Any:
    try:
        root = etree.fromstring(text.encode(), etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
    return root if root.tag == "robot" else None


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
                    f"{topic}: {publisher.node_name} -> {subscriber.node_name} do not connect: {'; '.join(why)}",
                )
