# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Subscriptions of the node for its robots: joint states, base states, odometry, TF; all on the message loop."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.callback_groups import CallbackGroup
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState, MultiDOFJointState

from robot_semantics.base.names import frame_name, quoted, shown
from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.base.nanoseconds import stamp_ns as stamp_of
from robot_semantics.cdr.fill import unpack_stamp
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.joint_states import JointStateData, JointStateReader
from robot_semantics.cdr.layout import CdrError
from robot_semantics.cdr.walk import BIG_ENDIAN, BODY, odometry_frames
from robot_semantics.kinematics.motions import pose_from_positions, twist_of
from robot_semantics.live.joint_state import Reason, Refusal
from robot_semantics.live.robot import Messages, RunningRobot
from robot_semantics.live.samples import RootCandidate, RootSource, RootStatement, motion_of_root, possible_robots
from robot_semantics.live.senders import NEVER_NS, Arrival, Senders
from robot_semantics.live.settings import SenderKind, Source
from robot_semantics.live.world import ReceivedTransform, transform_fault
from robot_semantics.model.queries import links_fixed_to_root
from robot_semantics.ros.messages.maker import deserialized, row_of_pose, row_of_twist, rows_of_odometry
from robot_semantics.ros.node.message_loop import MessageInfo, MessageLoop, SetAside, received_ns, sequence_of
from robot_semantics.ros.node.outputs import Outputs
from robot_semantics.ros.node.robots import RobotRegistry
from robot_semantics.ros.node.served_robot import RobotInterface
from robot_semantics.ros.node.world_frames import WorldFrames

# Base states and odometry: the other topics that move joints, and the pose of a root link by each source.


Outcome = Messages | Refusal
Read = Callable[[RunningRobot, RosMessage, MessageInfo], list[Outcome]]
Deliver = Callable[[RobotInterface, str, Read, RosMessage, MessageInfo], None]

_FED_BY_MULTI_DOF, _FED_BY_ODOMETRY = (Source.AUTO, Source.MULTI_DOF), (Source.AUTO, Source.ODOMETRY)


class MotionTopics:
    """Makes the subscriptions of one robot; `deliver` publishes the result of each message, or logs why it is
    refused.
    """

    def __init__(self, robots: RobotRegistry, served: RobotInterface, group: CallbackGroup, deliver: Deliver) -> None:
        self._robots, self._served, self._group, self._deliver = robots, served, group, deliver
        self._now_ns = robots.now_ns

    def base_states(self) -> Subscription:
        """Return the subscription that any robot has."""
        return self._listen(MultiDOFJointState, self._served.topic("multi_dof_joint_states"), self._multi_dof)

    def odometry(self) -> list[Subscription]:
        """Return the odometry that moves the present robot, if its source is odometry."""
        robot = self._served.robot
        if robot is None or robot.root_source is not Source.ODOMETRY:
            return []
        topic = robot.settings.virtual_joint(robot.model.root_joint.name).topic

        def read(current: RunningRobot, message: Odometry, info: MessageInfo) -> list[Outcome]:
            # Another robot may have replaced this one a moment ago, before this subscription is removed.
            settings = current.settings.virtual_joint(current.model.root_joint.name)
            is_source = current.root_source is Source.ODOMETRY and settings.topic == topic
            return self._odometry(current, message, info) if is_source else []

        return [self._listen(Odometry, topic, read)]

    def _listen(self, message_type: type, topic: str, read: Read) -> Subscription:
        def handle(message: RosMessage, info: MessageInfo) -> None:
            self._deliver(self._served, topic, read, message, info)

        return self._served.listen(message_type, topic, handle, self._group, raw=False)

    def _multi_dof(self, robot: RunningRobot, message: MultiDOFJointState, info: MessageInfo) -> list[Outcome]:
        names, count = message.joint_names, len(message.transforms)
        if not names:
            return [Refusal(Reason.EMPTY, "it names no joint")]
        if count != len(names):
            return [Refusal(Reason.WRONG_LENGTH, f"it has {len(names)} names but {count} transforms")]
        twists = message.twist if len(message.twist) == count else [None] * count
        time_ns = stamp_ns(message.header.stamp) or self._now_ns()
        outcomes: list[Outcome] = []
        motions = []
        for name, transform, twist in zip(names, message.transforms, twists, strict=True):
            number = robot.moving.number.get(name)
            if number is None or robot.space.joints[number].position_count == 1:
                robot.report_once(f"multi_dof_joint_states: the robot has no planar or floating joint '{shown(name)}'")
                continue
            is_root = robot.space.joints[number].index == 0
            if is_root and robot.root_source not in _FED_BY_MULTI_DOF:
                continue
            if is_root and frame_name(message.header.frame_id) not in _names_of_parent(robot):
                outcomes.append(_wrong_frame("frame_id", message.header.frame_id, robot.parent_frame))
                continue
            pose = row_of_pose(transform.translation, transform.rotation)
            rates = None if twist is None else np.array(row_of_twist(twist))
            motions.append((name, pose, rates))
        sent_by = (SenderKind.MULTI_DOF, "multi_dof_joint_states", names)
        if motions:
            outcomes += robot.motions(motions, time_ns, sent_by, sequence_of(info), received_ns(info))
        return outcomes

    def _odometry(self, robot: RunningRobot, message: Odometry, info: MessageInfo) -> list[Outcome]:
        root = robot.model.root_joint
        if not root.position_count:
            robot.report_once(f"odometry: the virtual joint '{root.name}' is fixed; its odometry is not used")
            return []
        child = frame_name(message.child_frame_id)
        frame = frame_name(message.header.frame_id)
        link = _moved_link(self._robots, robot, frame, child)
        if not isinstance(link, str):
            return [] if link is None else [link]
        if frame not in _names_of_parent(robot):
            return [_wrong_frame("frame_id", message.header.frame_id, robot.parent_frame)]
        time_ns = stamp_ns(message.header.stamp) or self._now_ns()
        frames = frame, child
        motion = root.name, *motion_of_root(robot.model, link, *rows_of_odometry(message))
        sent_by = (SenderKind.ODOMETRY, robot.root_settings.topic, frames)
        return robot.motions([motion], time_ns, sent_by, sequence_of(info), received_ns(info))


def _base_link(robot: RunningRobot, child: str) -> str | None:
    """Return the link that the child frame of odometry names: the root link, or a link that is fixed to it.

    Drivers leave out the name of the base, or its prefix.
    """
    return robot.model.root_link if child in ("", robot.model.root_link) else robot.base_frames.get(child)


def _moved_link(robots: RobotRegistry, robot: RunningRobot, frame: str, child: str) -> str | Refusal | None:
    """Return the link of a robot that odometry of its topic moves; None if the odometry is of another robot.

    It is a refusal if the child frame is of no robot, or may be of several ones: then it moves none of them.
    """
    link = _base_link(robot, child)
    if link is None:
        if any(_base_link(other, child) is not None for other in robots.present):
            return None
        return _wrong_frame("child_frame_id", child, robot.frame(robot.model.root_link))
    readers = _readers(robots, robot, child)
    possible = [readers[number] for number in possible_robots(frame, [reader.parent_frame for reader in readers])]
    if robot not in possible:
        return None
    if len(possible) == 1:
        return link
    names = quoted(reader.name for reader in possible)
    return Refusal(
        Reason.WRONG_FRAME, f"its child_frame_id '{shown(child)}' may be of {names}; give each robot a topic"
    )


def _readers(robots: RobotRegistry, robot: RunningRobot, child: str) -> list[RunningRobot]:
    """Return the robots that read the same odometry topic and may be meant by its child frame, this one among them.

    Drivers leave out the child frame or its prefix; such a name is of a robot only if no other one has this very frame.
    """
    is_exact = child in robot.base_frames
    knowing = [
        other
        for other in robots.present
        if other is robot or (other.root_source in _FED_BY_ODOMETRY and (child in other.base_frames or not is_exact))
    ]
    if len(knowing) == 1:
        return knowing
    topic_of = robots.node.resolve_topic_name
    topic = topic_of(robot.root_settings.topic)
    sharing = [other for other in knowing if other is robot or topic_of(other.root_settings.topic) == topic]
    exact = [other for other in sharing if child in other.base_frames]
    return exact or [other for other in sharing if _base_link(other, child) is not None]


def _names_of_parent(robot: RunningRobot) -> tuple[str, ...]:
    return robot.parent_frame, robot.model.root_joint.parent_link, ""


def _wrong_frame(field: str, given: str, expected: str) -> Refusal:
    return Refusal(Reason.WRONG_FRAME, f"its {field} is '{shown(given)}', not '{expected}'")


_MOST = 100


def own_statement(robot: RunningRobot) -> RootStatement | None:
    """Return the pose of a robot's root link by its virtual joint; None before the first value."""
    root, frame, source = robot.model.root_joint, robot.parent_frame, robot.root_source
    if robot.root_is_fixed:
        kind = RootSource.FIXED if source is Source.AUTO else RootSource.CHOSEN
        return RootStatement(RootCandidate(kind, f"the fixed joint '{root.name}'", frame), robot.fixed_root_pose())
    buffer = robot.values
    if not root.position_count or not buffer.measured[0] or source is Source.TF:
        return None
    kind = RootSource.VIRTUAL_JOINT if source is Source.AUTO else RootSource.CHOSEN
    rates = buffer.velocities[robot.space.joint_velocities[root.name]]
    arrived_ns = int(buffer.received_ns[0])
    return RootStatement(
        RootCandidate(kind, f"the virtual joint '{root.name}'", frame),
        pose_from_positions(root, buffer.positions[robot.space.joint_positions[root.name]]),
        twist_of(root, rates) if np.isfinite(rates).all() else None,
        None if arrived_ns == NEVER_NS else arrived_ns,
    )


class ReceivedOdometry:
    """Keeps the last odometry of each pair of frames on one topic; it is parsed on demand.

    Attributes:
        senders: the senders of the topic.
    """

    def __init__(
        self, robots: RobotRegistry, served: RobotInterface, group: CallbackGroup, reset_clock: Callable[[int], None]
    ) -> None:
        """`reset_clock` is called with a clock that was reset, as the odometry shows."""
        self._robots, self._served, self._group, self._topic = robots, served, group, ""
        self._reset_clock = reset_clock
        self._last: dict[tuple[str, str], tuple[bytes, int]] = {}
        self.senders = Senders(_MOST)

    def subscriptions(self) -> list[Subscription]:
        """Return the topics of the present robot: none if its pose has another source."""
        robot = self._served.robot
        self._last.clear()
        self.senders = Senders(_MOST)
        if robot is None or robot.root_source is not Source.AUTO or robot.root_is_fixed:
            return []
        self._topic = robot.settings.virtual_joint(robot.model.root_joint.name).topic
        return [self._served.listen(Odometry, self._topic, self._take, self._group, raw=True)]

    def _take(self, data: bytes, info: MessageInfo) -> None:
        pair, arrived_ns = odometry_frames(data), received_ns(info)
        if pair not in self._last and len(self._last) >= _MOST:
            return
        seconds, nanoseconds = unpack_stamp(data, BODY)
        sender, _ = self.senders.find(SenderKind.ODOMETRY, self._topic, pair)
        stamp_ns = seconds * 1_000_000_000 + nanoseconds
        topic, served = self._topic, self._served
        arrival = self.senders.take(
            sender, stamp_ns, arrived_ns, sequence_of(info), lambda: served.publisher_count(topic)
        )
        if arrival not in (Arrival.LATE, Arrival.STRAY) or not stamp_ns:
            self._last[pair] = data, arrived_ns
        if arrival is Arrival.RESET:
            self._reset_clock(self.senders.clock_before_ns)

    def forget(self, clock_ns: int, *, stood: bool) -> None:
        """Forget the odometry of a clock that stood at this time and was reset."""
        for sender in self.senders.reset(clock_ns, time.monotonic_ns(), stood=stood):
            parent, child = sender.names
            self._last.pop((parent, child), None)

    def statement(self, robot: RunningRobot) -> RootStatement | None:
        """Return the pose of a robot's root link from odometry of the root link or of a link that is fixed to it."""
        # Of one link, the message that arrived last counts.
        received = sorted(self._last.items(), key=lambda item: item[1][1])
        links_moved = [(_moved_link(self._robots, robot, *pair), last) for pair, last in received]
        by_link = {link: last for link, last in links_moved if isinstance(link, str)}
        for name in links_fixed_to_root(robot.model):
            last = by_link.get(name)
            if last is not None:
                return self._read(robot, name, *last)
        for refusal, _ in links_moved:
            if isinstance(refusal, Refusal):
                robot.report_once(
                    f"the odometry on {self._topic} is not used: {refusal.message};"
                    " see the parameters virtual_joints.NAME.topic and virtual_joints.NAME.base_frame"
                )
        return None

    def _read(self, robot: RunningRobot, link: str, data: bytes, arrived_ns: int) -> RootStatement | None:
        message = deserialized(data, Odometry)
        xyz_quat, twist = rows_of_odometry(message)
        frame = frame_name(message.header.frame_id)
        fault = transform_fault(frame, robot.frame(robot.model.root_link), xyz_quat)
        if fault is None and stamp_ns(message.header.stamp) < 0:
            fault = "its stamp is negative"
        if fault is not None:
            robot.report_once(f"the odometry on {self._topic} is not used: {fault}")
            return None
        xyz_quat, twist = motion_of_root(robot.model, link, xyz_quat, twist)
        candidate = RootCandidate(RootSource.ODOMETRY, self._topic, frame)
        known = twist if np.isfinite(twist).all() else None
        return RootStatement(candidate, xyz_quat, known, arrived_ns)


NO_ROBOT = Refusal(Reason.NO_MODEL, "there is no robot description yet")


class Inputs:
    """The subscriptions of all robots, made and removed together."""

    def __init__(self, robots: RobotRegistry, outputs: Outputs, frames: WorldFrames, *, raw: bool) -> None:
        """With `raw` joint states are taken as bytes."""
        self._robots, self._outputs, self._frames, self._raw = robots, outputs, frames, raw
        self._node = robots.node
        self._loops: list[tuple[MessageLoop, list[Subscription]]] = []
        self._set_aside = SetAside()
        self._root_loop = MessageLoop(self._node.context)
        self._root_subscriptions: list[Subscription] = []
        self._followed_sources: list[tuple[str, Source, str, bool]] = []
        self._motions = {
            served.prefix: MotionTopics(robots, served, self._set_aside, self._deliver) for served in robots.served
        }
        self._odometry = {
            served.prefix: ReceivedOdometry(robots, served, self._set_aside, self.reset_clock)
            for served in robots.served
        }
        self._looked_up: dict[str, tuple[int, int, int | None]] = {}

    def start(self) -> None:
        """Subscribe to the sources of the present robots."""
        # Waiting for a single subscription is the cheapest.
        groups = [[self._joint_states(served)] for served in self._robots.served]
        groups.append([motion.base_states() for motion in self._motions.values()])
        for number, subscriptions in enumerate(groups):
            loop = MessageLoop(self._node.context)
            for served in self._robots.served[number : number + 1]:
                served.loops[SenderKind.JOINT_STATES] = loop
            if number == len(self._robots.served):
                for served in self._robots.served:
                    served.loops |= {SenderKind.MULTI_DOF: loop, SenderKind.ODOMETRY: self._root_loop}
            loop.start(subscriptions)
            self._loops.append((loop, subscriptions))
        self._follow_roots()

    def stop(self) -> None:
        """Remove all subscriptions."""
        self._leave_roots()
        for loop, subscriptions in self._loops:
            loop.stop()
            for subscription in subscriptions:
                self._node.destroy_subscription(subscription)
        self._loops = []

    def robots_changed(self) -> None:
        """Subscribe to other odometry if a virtual joint has another source now.

        The other subscriptions stay: a message between two subscriptions would be lost.
        """
        if self._root_sources() != self._followed_sources:
            self._leave_roots()
            self._follow_roots()

    def _follow_roots(self) -> None:
        """Subscribe to the odometry of the root links, and to TF if a root link follows it."""
        for served in self._robots.served:
            self._root_subscriptions += self._motions[served.prefix].odometry()
            self._root_subscriptions += self._odometry[served.prefix].subscriptions()
            if served.robot is not None and served.robot.root_source is Source.TF:
                self._frames.listen_to_all(chains=True)
        self._followed_sources = self._root_sources()
        self._root_loop.start(self._root_subscriptions)

    def _leave_roots(self) -> None:
        self._root_loop.stop()
        for subscription in self._root_subscriptions:
            self._node.destroy_subscription(subscription)
        self._root_subscriptions = []

    def root_statements(self, served: RobotInterface) -> tuple[RootStatement, ...]:
        """Return the poses of a robot's root link by the virtual joint's source and by odometry."""
        robot, odometry = served.robot, self._odometry.get(served.prefix)
        if robot is None:
            return ()
        said = (own_statement(robot), None if odometry is None else odometry.statement(robot))
        if robot.notices:
            self._log_notices(served, robot)
        return tuple(statement for statement in said if statement is not None)

    def follows_tf(self) -> bool:
        """Return True if `refresh` has a root link to look up."""
        return any(robot.root_source is Source.TF for robot in self._robots.present)

    def refresh(self) -> None:
        """Look up the root links of those robots that follow TF."""
        for served in self._robots.served:
            robot = served.robot
            if robot is None or robot.root_source is not Source.TF or not robot.model.root_joint.position_count:
                continue
            root_frame = robot.frame(robot.model.root_link)
            # A root link `world` moves in the frame `world`: TF has only the link under this name.
            same = robot.parent_frame == root_frame
            transform, link = (None, "") if same else self._pose_of_base(robot)
            if transform is None:
                continue
            stamp_ns = self._robots.now_ns() if transform.stamp_ns is None else transform.stamp_ns
            if self._looked_up.get(served.prefix) == (id(robot), stamp_ns, transform.received_ns):
                continue
            self._looked_up[served.prefix] = id(robot), stamp_ns, transform.received_ns
            with self._robots.lock:
                pose, _ = motion_of_root(robot.model, link, transform.xyz_quat, np.full(6, np.nan))
                motion = robot.model.root_joint.name, pose, None
                sent_by = (SenderKind.TF, "/tf", (robot.parent_frame, root_frame))
                robot.motions([motion], stamp_ns, sent_by, received_ns=transform.received_ns)

    def _pose_of_base(self, robot: RunningRobot) -> tuple[ReceivedTransform | None, str]:
        """Return the pose on TF of the root link, or of a link that is fixed to it, and this link."""
        root_first = sorted(robot.base_frames.items(), key=lambda item: item[1] != robot.model.root_link)
        for name, link in root_first:
            pose = self._frames.pose(robot.parent_frame, name)
            if pose is not None:
                return pose, link
        return None, ""

    def odometry_of(self, served: RobotInterface) -> Senders | None:
        """Return the senders of a robot's odometry that moves no joint."""
        odometry = self._odometry.get(served.prefix)
        return None if odometry is None else odometry.senders

    def reset_clock(self, clock_ns: int, but: RunningRobot | None = None, *, stood: bool = False) -> None:
        """Make all values unknown whose clock stood at this time and was reset, except those of one robot.

        `stood`: the clock may have stood still since their messages, as ``/clock`` does in a pause.
        """
        with self._robots.lock:
            for robot in self._robots.present:
                if robot is not but:
                    robot.reset_clock(clock_ns, stood=stood)
            for odometry in self._odometry.values():
                odometry.forget(clock_ns, stood=stood)
        self._frames.forget(clock_ns, stood=stood)

    def _root_sources(self) -> list[tuple[str, Source, str, bool]]:
        return [
            (
                served.prefix,
                robot.root_source,
                robot.settings.virtual_joint(robot.model.root_joint.name).topic,
                robot.root_is_fixed,
            )
            for served in self._robots.served
            if (robot := served.robot) is not None
        ]

    def _joint_states(self, served: RobotInterface) -> Subscription:
        reader = JointStateReader()
        topic = served.topic("joint_states")
        traffic, lock, now_ns, outputs = served.traffic, self._robots.lock, self._robots.now_ns, self._outputs

        def handle(message: bytes | JointState, info: MessageInfo) -> None:
            # Hot path: avoid calls before publishing, see `InPlaceTransforms`.
            with lock:
                traffic.received += 1
                robot, sequence, arrived_ns = served.robot, info["publication_sequence_number"], received_ns(info)
                if robot is not None and isinstance(message, bytes):
                    for layout in robot.fast_path.layouts:
                        transforms = layout.take(message, now_ns, sequence, arrived_ns)
                        if transforms is not None:
                            if transforms:
                                outputs.send_now(transforms)
                                traffic.transforms += layout.count
                            if layout.sender.arrived_ns >= robot.check_ns:
                                outputs.send(served, robot.held(layout.sender))
                            return
                result: Messages | Refusal = NO_ROBOT
                if robot is not None:
                    data = _read(reader, message)
                    result = (
                        data if isinstance(data, Refusal) else robot.joint_state(data, now_ns, sequence, arrived_ns)
                    )
                if isinstance(result, Refusal):
                    traffic.refused_joint_states += 1
                    served.refusals.add(topic, result)
                elif result:
                    outputs.send(served, result)
                if robot is not None and robot.notices:
                    self._log_notices(served, robot)

        return served.listen(JointState, topic, handle, self._set_aside, raw=self._raw)

    def _deliver(self, served: RobotInterface, topic: str, read: Read, message: RosMessage, info: MessageInfo) -> None:
        """Read a message from another topic than joint_states; publish the result, or log why it is refused."""
        with self._robots.lock:
            robot = served.robot
            if robot is None:
                return
            for outcome in read(robot, message, info):
                if isinstance(outcome, Refusal):
                    served.refusals.add(topic, outcome)
                else:
                    self._outputs.send(served, outcome)
            if robot.notices:
                self._log_notices(served, robot)

    def _log_notices(self, served: RobotInterface, robot: RunningRobot) -> None:
        served.report_notices(robot.notices)
        robot.notices.clear()
        for clock_ns in robot.clock_resets:
            self.reset_clock(clock_ns, but=robot)
        robot.clock_resets.clear()


def _read(reader: JointStateReader, message: bytes | JointState) -> JointStateData | Refusal:
    if isinstance(message, bytes):
        try:
            if not message.startswith(BIG_ENDIAN):
                return reader.read(message)
            # Rare: leave big-endian messages to rclpy.
            message = deserialized(message, JointState)
        except CdrError as error:
            return Refusal(Reason.MALFORMED, f"its bytes are not a joint state: {error}")
    return JointStateData(
        stamp_of(message.header.stamp),
        tuple(message.name),
        np.asarray(message.position, np.float64),
        np.asarray(message.velocity, np.float64),
        np.asarray(message.effort, np.float64),
    )
