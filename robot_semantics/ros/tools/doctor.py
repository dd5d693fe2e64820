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
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import rclpy
from lxml import etree
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import frame_name, quoted
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.live.senders import PublisherWatch
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.running.node_names import node_name
from robot_semantics.ros.tools.own_node import own_node

# Search for mistakes in the topics of the running robots, in every namespace, for a limited time.


LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
ANY = QoSProfile(depth=100, durability=DurabilityPolicy.VOLATILE, reliability=ReliabilityPolicy.BEST_EFFORT)
URDF, SRDF = "robot_description", "robot_description_semantic"
_KINDS = {"tf": TFMessage, "tf_static": TFMessage, "joint_states": JointState, URDF: String, SRDF: String}


class Finding(NamedTuple):
    """Result of one check: ``ok``, ``note`` or ``problem``, and the advice."""

    level: str
    text: str


def _watch(topic: str) -> PublisherWatch:
    """Return a detector of several publishers: a latched topic sends only the last message of each, once."""
    return PublisherWatch(1 if _base(topic) == "tf_static" else 2)


class TopicListener:
    """Listens to TF, joint states and descriptions in all namespaces."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topics: dict[str, Subscription] = {}
        self._received: set[str] = set()
        self._parents: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._on: dict[tuple[str, str], dict[str, PublisherWatch]] = defaultdict(dict)
        self._joints: dict[str, dict[str, PublisherWatch]] = defaultdict(dict)
        # The topics of these have had several publishers at any time.
        self._several: set[PublisherWatch] = set()
        self._texts: dict[str, dict[str, str]] = defaultdict(dict)

    def listen_to_new_topics(self) -> None:
        """Listen to the topics that were discovered since the last call."""
        for topic, types in self._node.get_topic_names_and_types():
            kind = _KINDS.get(_base(topic))
            if kind is None or topic in self._topics or f"{_package(kind)}/msg/{kind.__name__}" not in types:
                continue
            profile = ANY if kind is JointState or _base(topic) == "tf" else LATCHED
            take: Callable[..., None] = {TFMessage: self._transforms, JointState: self._states, String: self._text}[
                kind
            ]

            def hear(
                message: Any, info: Mapping[str, int], topic: str = topic, take: Callable[..., None] = take
            ) -> None:
                self._received.add(topic)
                take(topic, message, info["publication_sequence_number"])

            self._topics[topic] = self._node.create_subscription(kind, topic, hear, profile)

    def received_topics(self, seconds: float) -> Iterator[Finding]:
        """Yield a robot's topics with a message and their publishers, and the kinds without a message in `seconds`."""
        heard = [f"{topic} ({', '.join(self._publishers(topic)) or 'gone'})" for topic in sorted(self._received)]
        if heard:
            yield Finding("ok", f"received in {seconds:g} s: {'; '.join(heard)}")
        silent = [kind for kind in _KINDS if all(_base(topic) != kind for topic in self._received)]
        if silent:
            yield Finding("note", f"nothing received in {seconds:g} s: {', '.join(silent)}")

    def findings(self) -> Iterator[Finding]:
        """Yield the mistakes."""
        yield from self._frames()
        models = {space: list(self._descriptions(space)) for space in sorted(self._texts)}
        for findings in models.values():
            yield from (item for item in findings if isinstance(item, Finding))
        listened = [topic for topic in self._topics if _base(topic) == "joint_states"]
        if not any(self._publishers(topic) for topic in listened):
            yield Finding("note", "no node publishes joint_states: start the robot's driver, or joint_state_publisher")
        for topic in sorted(listened):
            (model,) = [item for item in models.get(_space(topic), ()) if isinstance(item, RobotModel)] or (None,)
            yield from self._joint_states(topic, model)

    # -- received messages --

    def _transforms(self, topic: str, message: TFMessage, number: int | None) -> None:
        for transform in message.transforms:
            key = _space(topic), frame_name(transform.child_frame_id)
            self._parents[key].add(frame_name(transform.header.frame_id))
            self._note(self._on[key].setdefault(topic, _watch(topic)), number)

    def _states(self, topic: str, message: JointState, number: int | None) -> None:
        for name in set(message.name):
            self._note(self._joints[topic].setdefault(name, _watch(topic)), number)

    def _note(self, watch: PublisherWatch, number: int | None) -> None:
        """Note a message by its publication sequence number, which some middleware does not tell."""
        if number:
            watch.note_sequence(number)
            if watch.several:
                self._several.add(watch)

    def _text(self, topic: str, message: String, _number: int | None) -> None:
        self._texts[_space(topic)][_base(topic)] = message.data

    # -- findings --

    def _frames(self) -> Iterator[Finding]:
        contested: dict[str, list[str]] = defaultdict(list)
        for (space, child), parents in sorted(self._parents.items()):
            topics = self._on[space, child]
            if len(parents) > 1:
                names = " and ".join(f"'{name}'" for name in sorted(parents))
                yield Finding("problem", f"TF frame '{child}' has two parents, {names}: two nodes publish it")
            elif len(topics) > 1:
                yield Finding("problem", f"TF frame '{child}' is on {' and on '.join(sorted(topics))}: it will jump")
            for topic, watch in topics.items():
                if watch in self._several and len(parents) == 1:
                    contested[topic].append(child)
        for topic, frames in sorted(contested.items()):
            yield Finding(
                "problem",
                f"two nodes publish the same TF frames, {quoted(frames, 5)}, on {topic}:"
                f" stop one of {', '.join(self._publishers(topic))}",
            )

    def _joint_states(self, topic: str, model: RobotModel | None) -> Iterator[Finding]:
        publishers, joints = self._publishers(topic), self._joints[topic]
        if not publishers:
            waiting = self._node.get_subscriptions_info_by_topic(topic)
            names = sorted({node_name(info) for info in waiting if "rs_doctor" not in info.node_name})
            if names and model is not None and JointSpace.of(model).size:
                yield Finding("problem", f"{', '.join(names)} waits for {topic}, which no node publishes")
            return
        if not joints:
            yield Finding(
                "problem", f"{topic.lstrip('/')} has a publisher, but no message came: check whether it is paused"
            )
        several = sorted(name for name, watch in joints.items() if watch in self._several)
        if several:
            who = ", ".join(publishers)
            yield Finding(
                "problem", f"two nodes publish the same joints, {quoted(several, 5)}, on {topic}: stop one of {who}"
            )
        if model is not None:
            known = {*model.joint_index, *JointSpace.of(model).index}
            strange = sorted(name for name in joints if name not in known)
            if strange:
                yield Finding(
                    "problem", f"{topic.lstrip('/')} names joints that the robot does not have: {quoted(strange, 5)}"
                )

    def _descriptions(self, space: str) -> Iterator[Finding | RobotModel]:
        texts = self._texts[space]
        roots = {name: _root(text) for name, text in texts.items()}
        for name, root in roots.items():
            if root is None:
                yield Finding("problem", f"the text on {f'{space}/{name}'.lstrip('/')} is not the XML of a robot")
        urdf, srdf = roots.get(URDF), roots.get(SRDF)
        if urdf is None:
            return
        if srdf is not None and urdf.get("name") != srdf.get("name"):
            yield Finding("problem", f"the SRDF is about '{srdf.get('name')}', the URDF about '{urdf.get('name')}'")
        diagnostics = Diagnostics()
        try:
            yield robot_from_text(
                texts[URDF], texts[SRDF] if srdf is not None else None, strict=False, diagnostics=diagnostics
            )
        except RobotSemanticsError as error:
            yield Finding("problem", f"the URDF on {f'{space}/{URDF}'.lstrip('/')} gives no robot: {error}")
        foreign = [
            problem.message
            for problem in diagnostics
            if problem.severity is Severity.ERROR and problem.code in ("unknown-link", "unknown-joint")
        ]
        if foreign:
            more = f", and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            yield Finding("problem", f"the SRDF has names that the URDF does not have: {foreign[0]}{more}")

    def _publishers(self, topic: str) -> list[str]:
        return sorted({node_name(info) for info in self._node.get_publishers_info_by_topic(topic)})


def _base(topic: str) -> str:
    return topic.rpartition("/")[2]


def _space(topic: str) -> str:
    return topic.rpartition("/")[0]


def _package(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]


def _root(text: str) -> etree._Element | None:
    try:
        root = etree.fromstring(text.encode(), etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
    return root if root.tag == "robot" else None


DISCOVERY_SECONDS = 8.0
LOOK_SECONDS = 0.2


def examine_ros(listen: float) -> Iterator[Finding]:
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
        other_nodes = sorted({name for name in node.get_node_names() if not name.startswith(("rs_doctor", "_"))})
        if not other_nodes:
            yield Finding("note", f"no node found in {listen:g} s, so no robot can be checked")
            return
        yield Finding("ok", f"running nodes: {', '.join(other_nodes)}")
        yield from listener.received_topics(listen)
        yield from _mistakes(node, listener, other_nodes)


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
