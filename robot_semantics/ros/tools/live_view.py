# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Running robots for the viewer: descriptions from topics, joints and poses from TF."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.executors import ExternalShutdownException
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo
from robot_semantics_interfaces.msg import SnapshotInfo
from robot_semantics_interfaces.srv import GetStatus
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import frame_name
from robot_semantics.base.nanoseconds import short_seconds, stamp_ns
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.observe import JointObserver
from robot_semantics.live.samples import base_frames
from robot_semantics.model.loading import TEXT_PARAMETERS, DescriptionTexts
from robot_semantics.model.resources import PackageResolver
from robot_semantics.ros.messages.maker import matrix_from_message
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.node_names import UNKNOWN_NODE, node_name
from robot_semantics.ros.running.spinning import is_up
from robot_semantics.ros.tools.joint_sliders import JointSliders
from robot_semantics.ros.tools.own_node import EndedError, ServiceCaller, ServiceError, own_node
from robot_semantics.ros.tools.running_node import sender_row
from robot_semantics.ros.tools.snapshot_client import call_snapshot_service
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.snapshots import SnapshotStore
from robot_semantics.viewer.link_surfaces import VISUALS, Kind, link_surfaces
from robot_semantics.viewer.opening import moment_of
from robot_semantics.viewer.scene import Actor, Moment, Scene, Stance, closed_pose
from robot_semantics.viewer.scene_data import SliderState

# A running robot on TF: joint positions and the root link's pose from received transforms.


Transforms = Mapping[str, tuple[str, FloatArray]]
"""The newest T_parent_child [m] of each frame, behind the parent's name."""


class TransformFollower:
    """Moves one robot to the received transforms; joints without transforms keep their positions.

    Attributes:
        actor: the shown parts of the robot.
        variables: the position variables that TF has determined.
    """

    def __init__(self, actor: Actor, prefix: str | None = None) -> None:
        """Begin in the default positions.

        Args:
            actor: the robot.
            prefix: prefix of its frames on TF; None uses the prefix of most frames.
        """
        self.actor, self._stated_prefix = actor, prefix
        self.variables: frozenset[str] = frozenset()
        self._voted = 0, ""
        self._q = closed_pose(actor.kinematics, actor.kinematics.space.neutral())[0]
        self._neutral = LocalTransforms(actor.model).matrices(self._q)
        self._observer = JointObserver(actor.model)

    def frames(self, transforms: Transforms) -> set[str]:
        """Return the frame names of its links."""
        prefix = self._prefix(transforms)
        return {prefix + name for name in self.actor.model.link_names}

    def stance(self, transforms: Transforms) -> Stance:
        """Return its present pose and positions."""
        model, space, prefix = self.actor.model, self.actor.kinematics.space, self._prefix(transforms)
        T = np.array(self._neutral)
        received_parts: list[slice] = []
        for joint in model.joints:
            parent, found = transforms.get(prefix + joint.child_link, (None, None))
            own = joint.parent_link if joint.virtual else prefix + joint.parent_link
            if found is not None and parent == own:
                T[joint.index] = found
                if joint.position_count:
                    received_parts.append(space.positions_of(joint))
        observed = self._observer.observe(T, self._q).q
        q = np.array(self._q)
        for where in received_parts:
            q[where] = observed[where]
        self._q = q
        self.variables = frozenset(name for where in received_parts for name in space.names[where])
        T_world_root = pose_in_world(prefix + model.root_link, transforms)
        return Stance(q, T_world_root @ invert(self.actor.kinematics.T_parent_root(q)))

    def _prefix(self, transforms: Transforms) -> str:
        if self._stated_prefix is not None:
            return self._stated_prefix
        # Cache: the set of frames rarely changes.
        if self._voted[0] == len(transforms):
            return self._voted[1]
        links = set(self.actor.model.link_names[1:])
        votes = Counter(
            frame[: len(frame) - len(link)]
            for frame in transforms
            for link in ((frame,) if frame in links else [name for name in links if frame.endswith(name)])
        )
        self._voted = len(transforms), votes.most_common(1)[0][0] if votes else ""
        return self._voted[1]


def pose_in_world(frame: str, transforms: Transforms) -> FloatArray:
    """Return (4, 4) the pose [m] of a frame in the root of its tree; a cycle ends where it closes."""
    T = np.eye(4)
    passed: set[str] = set()
    while frame in transforms and frame not in passed:
        passed.add(frame)
        frame, T_parent_frame = transforms[frame]
        T = T_parent_frame @ T
    return T


TF_TOPICS = frozenset({"/tf", "/tf_static"})
"""Topics of a robot whose node publishes no transforms."""


class TfTree:
    """The newest transforms on some topics: one tree, unless nodes publish in namespaces (``-r /tf:=tf``).

    Attributes:
        topics: full names of the topics.
        transforms: the newest transform of each frame.
    """

    def __init__(self, topics: frozenset[str]) -> None:
        self.topics = topics
        self.transforms: dict[str, tuple[str, FloatArray]] = {}

    @property
    def prefix(self) -> str:
        """The name of its namespace with a slash, before names of frames; empty for /tf."""
        return "" if self.topics & TF_TOPICS else f"{min(self.topics).rpartition('/')[0].lstrip('/')}/".lstrip("/")


_NO_TREE = TfTree(frozenset())

THIS_CENTURY_NS = 978_307_200 * 1_000_000_000

PATIENCE_S = 1.0
"""How long a node may take to answer before it is asked again [s]."""

ANNOUNCED_AGAIN_S = 3.5
"""How long SRDFs and robots may come after each other: if an announcement is lost, DDS repeats it after 3 s [s]."""

NODE_PATIENCE_S = 10.0
"""How long sliders wait for a description of their node after all others, which discovery may find earlier [s]."""

URDF, SRDF = "robot_description", "robot_description_semantic"

Stated = TypeVar("Stated", bound=str | bool)

NOT_FROM_JOINT_STATES = ("multi_dof", "odometry", "tf", "fixed")
"""Sources of a virtual joint (the node's parameter) that ignore joint states."""


class SliderOptions(NamedTuple):
    """Sliders that publish joint states.

    Attributes:
        sources: topics with joint states that move the sliders.
        report: takes a sentence when a joint is left to another publisher, and when it is back.
    """

    sources: Sequence[str] = ()
    report: Callable[[str], None] = print


class PublishedRobots:
    """Follows the robots whose descriptions are published, in any namespace; use it in a ``with`` statement.

    Any publisher of descriptions and TF works: this package's node, robot_state_publisher, a simulator. With several
    robots, each has the name of its namespace, and is shown when TF has one of its frames.

    Attributes:
        robots: the robots, in the order of their namespaces.
        scene: the robots in their first poses.
    """

    def __init__(
        self,
        node: str,
        timeout_s: float,
        package_paths: Sequence[str],
        diagnostics: Diagnostics,
        kinds: Sequence[Kind] = VISUALS,
        sliders: SliderOptions | None = None,
    ) -> None:
        """Wait for a robot's description, at most `timeout_s` [s].

        Args:
            node: the node with the snapshot services.
            timeout_s: limit for the first description, and for a snapshot.
            package_paths: folders of packages with meshes.
            diagnostics: takes the problems of the descriptions.
            kinds: kinds of shown geometry, as for `link_surfaces`.
            sliders: publish joint states for the robots of `node`; None: for no robot.

        Raises:
            RobotSemanticsError: no description came.
            DescriptionError: the URDF gives no tree.
        """
        self._node_name, self._timeout_s = node, timeout_s
        self._news = threading.Condition()
        self._default_tree = TfTree(TF_TOPICS)
        self._trees = {TF_TOPICS: self._default_tree}
        self._tree_of: dict[str, TfTree] = {}
        self._number, self._stamp_ns = 0, 0
        self._link_names: frozenset[str] = frozenset()
        self._texts: dict[str, dict[str, str]] = {}
        self._described: set[str] = set()
        self._commands: dict[str, Publisher] = {}
        self._sliders: dict[str, JointSliders] = {}
        self._sliders_of_root: dict[str, dict[str, JointSliders]] = {}
        self._open = ExitStack()
        try:
            self._node, self._executor = self._open.enter_context(own_node("robot_semantics_view"))
            self._listen(self._default_tree, "/tf", static=False)
            self._listen(self._default_tree, "/tf_static", static=True)
            self._described_spaces = spaces = self._spaces(asked_needed=sliders is not None)
            self.robots = tuple(
                self._robot(space, len(spaces) == 1, PackageResolver(package_paths), diagnostics, kinds)
                for space in spaces
            )
            self._link_names = frozenset(name for robot in self.robots for name in robot.actor.model.link_names)
            self._actors = {robot.actor.name: robot.actor for robot in self.robots}
            self._space_of = {robot.actor.name: space for space, robot in zip(spaces, self.robots, strict=True)}
            self._find_trees()
            if sliders is not None:
                for space, robot in zip(spaces, self.robots, strict=True):
                    self._add_sliders(space, robot, sliders)
            self.scene = Scene(", ".join(self._actors), tuple(self._actors.values()), (self._moment(),))
        except BaseException:
            self._open.close()
            raise
        self._stopping = False
        self._thread = threading.Thread(target=self._spin, name="live_view", daemon=True)
        self._thread.start()

    def __enter__(self) -> PublishedRobots:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        self._executor.wake()
        self._thread.join(5.0)
        self._open.close()

    @property
    def is_up(self) -> bool:
        """False while the program ends."""
        return is_up(self._node.context)

    def is_described(self) -> bool:
        """Return True if a node publishes the description of a shown robot: it runs, also without joint states."""
        return any(self._node.count_publishers(f"{space}/robot_description") for space in self._described_spaces)

    def wait(self, seen: int, timeout: float) -> tuple[int, Moment] | None:
        """Wait for a moment with a number above `seen`; return the moment and its number, or None after `timeout`
        [s].
        """
        with self._news:
            if not self._news.wait_for(lambda: self._number > seen, timeout):
                return None
            return self._number, self._moment()

    def ask(self, what: str, name: str) -> list[str]:
        """Save, restore or delete a snapshot by the node's services; without a name the newest is restored.

        Raises:
            RobotSemanticsError: the node does not exist, or reports a failure.
        """
        wanted = name or ("last" if what == "restore" else "")
        answer = call_snapshot_service(self._node_name, what, self._timeout_s, name=wanted)
        if what == "restore" and self._sliders:
            self._slide_to(wanted)
        if what == "save":
            return [f"saved {answer.answer.path}", *(f"missing: {item}" for item in answer.missing)]
        if what == "delete":
            return [f"deleted {name}"]
        return [answer.message, *(f"not restored: {item}" for item in answer.not_restored)]

    def snapshots(self) -> list[tuple[str, str]]:
        """Return the node's snapshots, the newest first: name, and time with comment.

        Raises:
            RobotSemanticsError: the node is not there.
        """
        infos = call_snapshot_service(self._node_name, "list", self._timeout_s).answer.snapshots
        store = self._store()
        return [(info.name, _about(info, store)) for info in reversed(infos)]

    def snapshot(self, name: str) -> Moment:
        """Return the robots' states in a snapshot, which is read from its file.

        Raises:
            RobotSemanticsError: the node does not exist, or the file is not on this machine or cannot be read.
        """
        state, path = self._store().load(name)
        return moment_of(path, state, self._actors, Diagnostics(), set())

    def senders(self) -> list[str]:
        """Return the table of the node's senders, a line each.

        Raises:
            RobotSemanticsError: the node does not exist, or does not answer.
        """
        with ServiceCaller(PATIENCE_S) as caller:
            answer = caller.ask(GetStatus, f"{self._node_name.rstrip('/')}/get_status")
        return [sender_row(message).text() for message in answer.senders]

    def can_jog(self) -> bool:
        """Return True if a node subscribes to the commands of the joints of a robot without sliders."""
        return any(self._command_topic(name) for name in self._actors if name not in self._sliders)

    def jog(self, robot: str, positions: Mapping[str, float]) -> str:
        """Move joints of a robot to positions [rad, m], by name: by its sliders, else by a command.

        Without a subscriber, a command has no effect. Return the reason if the robot cannot take the positions.
        """
        if robot in self._sliders:
            return self._sliders[robot].slide(positions)
        self._command(robot, positions)
        return ""

    def sliders(self) -> dict[str, SliderState]:
        """Return the sliders that publish joint states, by the name of their robot."""
        return {name: sliders.state() for name, sliders in self._sliders.items()}

    def _add_sliders(self, space: str, robot: TransformFollower, options: SliderOptions) -> None:
        """Publish joint states of a robot, if its description or its namespace is the node's."""
        if not self._is_of_node(space):
            return
        nodes = self._publishers_of(f"{space}/{URDF}")
        if self._stated(space, "use_sim_time", bool):
            self._node.set_parameters([Parameter("use_sim_time", value=True)])
        kinematics = robot.actor.kinematics
        root = kinematics.model.root_joint.name
        source = self._stated(space, f"virtual_joints.{root}.source", str)
        elsewhere = {root: f"source {source}"} if source in NOT_FROM_JOINT_STATES else {}
        prefix = frame_name(self._stated(space, "frame_prefix", str) or "")
        base_frame = self._stated(space, f"virtual_joints.{root}.base_frame", str) or ""
        self._sliders[robot.actor.name] = sliders = JointSliders(
            self._node,
            space,
            kinematics,
            sources=options.sources,
            own_nodes=nodes,
            fed_elsewhere=elsewhere,
            report=options.report,
        )
        names = base_frames(kinematics.model, robot.actor.name, prefix, base_frame)
        root_link = kinematics.model.root_link
        self._sliders_of_root[robot.actor.name] = {name: sliders for name, link in names.items() if link == root_link}

    def _is_of_node(self, space: str) -> bool:
        """Return True if a description is published by the asked node, or in its namespace."""
        namespace = self._node_name.rpartition("/")[0] or "/"
        return (space or "/") == namespace or self._node_name in self._publishers_of(f"{space}/{URDF}")

    def _slide_to(self, snapshot: str) -> None:
        """Put the sliders where a snapshot has the robots; one that cannot be read here changes nothing."""
        try:
            stances = self.snapshot(snapshot).stances
        except RobotSemanticsError:
            return
        for name in self._sliders.keys() & stances.keys():
            names = self._actors[name].kinematics.space.names
            self._sliders[name].slide(dict(zip(names, stances[name].q.tolist(), strict=True)))

    def _command(self, robot: str, positions: Mapping[str, float]) -> None:
        topic = self._command_topic(robot)
        if topic is None:
            return
        if topic not in self._commands:
            self._commands[topic] = self._node.create_publisher(JointState, topic, 10)
        message = JointState(name=list(positions), position=[float(value) for value in positions.values()])
        self._commands[topic].publish(message)

    def _command_topic(self, robot: str) -> str | None:
        names = [f"{robot}/joint_command", *(["joint_command"] if len(self.robots) == 1 else [])]
        return next((name for name in names if self._node.count_subscribers(name)), None)

    def _store(self) -> SnapshotStore:
        """Return the node's snapshots on this machine."""
        with ServiceCaller(self._timeout_s) as caller:
            answer = caller.call(
                GetParameters, f"{self._node_name.rstrip('/')}/get_parameters", names=["snapshots.directory"]
            )
        folder = answer.values[0].string_value if answer.values else ""
        return SnapshotStore.of_node(self._node_name, folder)

    def _spaces(self, *, asked_needed: bool) -> list[str]:
        """Return the namespaces with robot descriptions, after the announced descriptions have arrived.

        The search ends when no new topic and no new description arrives for `ANNOUNCED_AGAIN_S`. With `asked_needed` it
        ends after `NODE_PATIENCE_S` if no description is the asked node's. An announced description that does not
        arrive is left out after the timeout.
        """
        end = time.monotonic() + self._timeout_s
        news_s, known_count = end, 0
        topics: set[str] = set()
        while True:
            topics |= self._subscribe_to_descriptions()
            self._executor.spin_once(timeout_sec=0.05)
            namespaces = sorted(space for space, texts in self._texts.items() if URDF in texts)
            now_s, news = time.monotonic(), len(topics) + sum(map(len, self._texts.values()))
            if namespaces and news > known_count:
                news_s, known_count = now_s, news
            has_asked = not asked_needed or any(map(self._is_of_node, namespaces))
            patience_s = ANNOUNCED_AGAIN_S if has_asked else NODE_PATIENCE_S
            is_complete = (has_asked and self._is_whole(namespaces)) or (
                now_s - news_s > patience_s and self._announced() <= set(namespaces)
            )
            if namespaces and (is_complete or now_s > end):
                return namespaces
            if now_s > end:
                raise RobotSemanticsError(
                    f"received no robot_description within {self._timeout_s:g} s: is a node running? see 'doctor'"
                )

    def _is_whole(self, namespaces: Sequence[str]) -> bool:
        """Return True if the only robot has no namespace, and its URDF and SRDF have arrived."""
        return namespaces == [""] and self._described == {f"/{URDF}", f"/{SRDF}"} and SRDF in self._texts[""]

    def _announced(self) -> set[str]:
        """Return the namespaces in which a URDF is published."""
        published = {topic for topic in self._described if self._node.count_publishers(topic)}
        return {topic.removesuffix(f"/{URDF}") for topic in published if topic.endswith(f"/{URDF}")}

    def _subscribe_to_descriptions(self) -> set[str]:
        """Subscribe to each topic with descriptions that is found; return the names of all topics."""
        topics = self._node.get_topic_names_and_types()
        for topic, types in topics:
            space, _, kind = topic.rpartition("/")
            if kind in (URDF, SRDF) and topic not in self._described and "std_msgs/msg/String" in types:
                self._described.add(topic)
                self._node.create_subscription(String, topic, self._taker(space, kind), qos.fresh(qos.LATCHED))
        return {topic for topic, _ in topics}

    def _taker(self, space: str, kind: str) -> Callable[[String], None]:
        return lambda message: self._texts.setdefault(space, {}).update({kind: message.data})

    def _robot(
        self, space: str, alone: bool, resolver: PackageResolver, diagnostics: Diagnostics, kinds: Sequence[Kind]
    ) -> TransformFollower:
        texts, name = self._texts[space], space.strip("/")
        _, _, *others = TEXT_PARAMETERS.items()
        values: list[Any] = [self._stated(space, parameter, kind) or kind() for parameter, kind in others]
        model = DescriptionTexts(texts[URDF], texts.get(SRDF, ""), *values).load(diagnostics=diagnostics)
        prefix = None
        if not alone and name:
            stated = self._stated(space, "frame_prefix", str)
            prefix = f"{name}/" if stated is None else frame_name(stated)
        surfaces = link_surfaces(model, resolver, None, diagnostics, kinds=kinds)
        parent = model.root_joint.parent_link or "world"
        return TransformFollower(Actor(model.name if alone or not name else name, model, surfaces, parent), prefix)

    def _stated(self, space: str, name: str, kind: type[Stated]) -> Stated | None:
        """Return a parameter of the node that publishes a description; None if it has none of this name and type."""
        end = time.monotonic() + self._timeout_s
        # A description may arrive before the name of its publisher's node.
        while UNKNOWN_NODE in (nodes := self._publishers_of(f"{space}/{URDF}")) and time.monotonic() < end:
            time.sleep(0.05)
        nodes.discard(UNKNOWN_NODE)
        robot = space.strip("/")
        with ServiceCaller(PATIENCE_S) as caller:
            for node in sorted(nodes):
                for parameter in (f"{robot}.{name}", name) if robot else (name,):
                    for value in self._parameter(caller, node, parameter):
                        stated = parameter_value_to_python(value)
                        if isinstance(stated, kind):
                            return stated
        return None

    def _publishers_of(self, topic: str) -> set[str]:
        return {node_name(info) for info in self._node.get_publishers_info_by_topic(topic)}

    def _parameter(self, caller: ServiceCaller, node: str, name: str) -> Sequence[ParameterValue]:
        """Return the values of a node's parameter; the request is repeated, because an answer may be lost or late."""
        end = time.monotonic() + self._timeout_s
        while True:
            try:
                answer = caller.call(GetParameters, f"{node}/get_parameters", names=[name])
            except ServiceError:
                if time.monotonic() > end:
                    return ()
            else:
                return list(answer.values)

    def _listen(self, tree: TfTree, topic: str, *, static: bool) -> None:
        take = partial(self._on_transforms, tree, topic, static)
        profile = qos.STATIC_LISTENER if static else qos.TF
        self._node.create_subscription(TFMessage, topic, take, qos.fresh(profile))

    def _find_trees(self) -> None:
        """Find the topics with the transforms of each robot; a node is discovered topic by topic."""
        publishers = [
            (name, info)
            for name, types in self._node.get_topic_names_and_types()
            if "tf2_msgs/msg/TFMessage" in types
            for info in self._node.get_publishers_info_by_topic(name)
        ]
        for robot, space in self._space_of.items():
            topics = self._tf_topics(space, publishers)
            names = frozenset(topics)
            # A node that ends leaves the last state.
            if names <= self._tree_of.get(robot, _NO_TREE).topics:
                continue
            # A node that publishes only on one of the two still belongs to both.
            tree = self._default_tree if names <= TF_TOPICS else self._trees.get(names)
            if tree is None:
                tree = self._trees[names] = TfTree(names)
                for topic, static in topics.items():
                    self._listen(tree, topic, static=static)
            self._tree_of[robot] = tree

    def _tf_topics(self, space: str, publishers: Sequence[tuple[str, TopicEndpointInfo]]) -> dict[str, bool]:
        """Return the topics on which the node of a description publishes transforms, each with True if it is static.

        `publishers` are those of all topics of transforms, each with its topic.
        A node that takes its description from the topic belongs to it too, if the description's node has no transforms.
        """
        topic = f"{space}/{URDF}"
        for infos in (
            self._node.get_publishers_info_by_topic(topic),
            self._node.get_subscriptions_info_by_topic(topic),
        ):
            nodes = {node_name(info) for info in infos} - {UNKNOWN_NODE}
            result = {
                name: info.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL
                for name, info in publishers
                if node_name(info) in nodes
            }
            if result:
                return result
        return {}

    def _tree(self, robot: str) -> TfTree:
        return self._tree_of.get(robot, self._default_tree)

    def _on_transforms(self, tree: TfTree, topic: str, static: bool, message: TFMessage) -> None:
        self._note_roots(tree, topic, static, message)
        with self._news:
            own_stamps_ns: list[int] = []
            for transform in message.transforms:
                T = matrix_from_message(transform.transform)
                parent, child = frame_name(transform.header.frame_id), frame_name(transform.child_frame_id)
                if np.isfinite(T).all():
                    tree.transforms[child] = (parent, T)
                if not static and child.rpartition("/")[2] in self._link_names:
                    own_stamps_ns.append(stamp_ns(transform.header.stamp))
            # The clock is that of the robots' joints: other frames, and fixed ones, may have another clock.
            self._stamp_ns = max(own_stamps_ns, default=self._stamp_ns)
            self._number += 1
            self._news.notify_all()

    def _note_roots(self, tree: TfTree, topic: str, static: bool, message: TFMessage) -> None:
        """Tell the sliders of a virtual joint about transforms of its root link."""
        sliders_of_root: dict[str, JointSliders] = {}
        for robot, by_frame in self._sliders_of_root.items():
            if self._tree(robot) is tree:
                sliders_of_root |= by_frame
        if not sliders_of_root:
            return
        for transform in message.transforms:
            sliders = sliders_of_root.get(frame_name(transform.child_frame_id))
            if sliders is not None:
                T, time_ns = matrix_from_message(transform.transform), stamp_ns(transform.header.stamp)
                sliders.note_root(frame_name(transform.header.frame_id), T, time_ns, topic, static=static)

    def _spin(self) -> None:
        look_s = 0.0
        while not self._stopping and is_up(self._node.context):
            with suppress(ExternalShutdownException):
                self._executor.spin_once(timeout_sec=0.5)
                if time.monotonic() > look_s:
                    look_s = time.monotonic() + PATIENCE_S
                    self._find_trees()

    def _moment(self) -> Moment:
        """Return all poses from the transforms received so far."""
        trees = {robot: self._tree(robot.actor.name) for robot in self.robots}
        frames = {robot: robot.frames(tree.transforms) for robot, tree in trees.items()}
        seen = [
            robot for robot, tree in trees.items() if len(self.robots) == 1 or frames[robot] & tree.transforms.keys()
        ]
        around: dict[str, FloatArray] = {}
        # Frames of another tree than the robot's are not around it.
        for tree in dict.fromkeys(trees.values()):
            links = set().union(*(frames[robot] for robot, other in trees.items() if other is tree))
            prefix = tree.prefix if len(set(trees.values())) > 1 else ""
            around |= {
                prefix + name: pose_in_world(name, tree.transforms) for name in tree.transforms if name not in links
            }
        parents: dict[str, FloatArray] = {}
        for robot in seen:
            frame = robot.actor.model.root_joint.parent_link
            parents[robot.actor.name] = pose_in_world(frame, trees[robot].transforms) if frame else np.eye(4)
        return Moment(
            _when(self._stamp_ns),
            {robot.actor.name: robot.stance(trees[robot].transforms) for robot in seen},
            self._stamp_ns,
            around,
            parents,
        )


def _when(time_ns: int) -> str:
    """Return a time as text: date and time if it is in this century, else seconds of simulated time."""
    if time_ns < THIS_CENTURY_NS:
        return short_seconds(time_ns)
    at = datetime.fromtimestamp(time_ns // 1_000_000_000).astimezone()
    return f"{at:%Y-%m-%d %H:%M:%S}.{time_ns // 1_000_000 % 1000:03d}"


def _about(info: SnapshotInfo, store: SnapshotStore) -> str:
    """Return a snapshot's time and comment as text; if its file is on this machine, also its models and size."""
    facts = [_when(stamp_ns(info.stamp)) if info.has_stamp else "no time"]
    try:
        state, path = store.load(info.name)
        facts.append(", ".join(model.name for model in state.models[:3]) + " …" * (len(state.models) > 3))
        facts.append(f"{path.stat().st_size / 1e3:.1f} kB")
    except (RobotSemanticsError, OSError):
        facts.append("its file is not on this machine")
    return " · ".join([*facts, *([info.comment] if info.comment else [])])


def joint_positions(timeout_s: float, robot: str | None = None) -> dict[str, float]:
    """Return the joint positions of a running robot from TF [rad, m], by variable, for joints with transforms.

    Args:
        timeout_s: how long to wait for its description, and then for its joints [s].
        robot: its name in the description; None if only one robot runs.

    Raises:
        RobotSemanticsError: no such robot publishes a joint within `timeout_s`, or several robots could be meant.
    """
    with PublishedRobots("", timeout_s, (), Diagnostics(), kinds=()) as live:
        named = [item for item in live.robots if item.actor.model.name == robot] or live.robots
        if len(named) > 1:
            raise RobotSemanticsError(f"several running robots match: {live.scene.title}")
        (follower,) = named
        space = follower.actor.kinematics.space
        variable_names = {name for joint in space.joints if not joint.virtual for name in joint.variable_names}
        seen, end = -1, time.monotonic() + timeout_s
        while time.monotonic() < end:
            news = live.wait(seen, 0.2)
            if not live.is_up:
                raise EndedError("the program ends")
            if news is None:
                continue
            seen, moment = news
            if follower.variables >= variable_names or (
                follower.variables and time.monotonic() > end - 0.5 * timeout_s
            ):
                q = moment.stances[follower.actor.name].q
                return {name: float(q[space.index[name]]) for name in follower.variables}
    raise RobotSemanticsError(f"received no transform of a joint within {timeout_s:g} s")
