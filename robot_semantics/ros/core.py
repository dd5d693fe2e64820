"""What the node does, for a plain node and a lifecycle node alike: configure, activate, deactivate, clean up."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from robot_semantics.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.ros import parameters, qos
from robot_semantics.ros.cdr import CdrError, JointStateData, JointStateReader, stamp_ns
from robot_semantics.ros.description import Description
from robot_semantics.ros.feeds import Feeds, Read
from robot_semantics.ros.group_services import GroupServices
from robot_semantics.ros.joint_input import Reason, Refusal
from robot_semantics.ros.message_loop import Listener, MessageLoop, SetAside
from robot_semantics.ros.robot import Robot
from robot_semantics.ros.root_from_tf import RootFromTf, StampedPose
from robot_semantics.ros.samples import FloatArray, RobotSample, WorldSample
from robot_semantics.ros.settings import Source
from robot_semantics.ros.slot import RobotSlot
from robot_semantics.ros.time_order import NEVER_NS
from robot_semantics.ros.transform_block import raw_transforms_agree, transform_message

Scalar = TypeVar("Scalar", bound=np.generic)
Pending = tuple[RobotSlot, Description, Robot, dict[str, Any]]


class Core:
    """The robots of one node, their topics and parameters.

    Attributes:
        lock: held while a robot's state is read or changed; messages come in on a thread of their own.
        slots: one for each robot, in the order of the `models` parameter.
        active: whether anything is published.

    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.lock = threading.RLock()
        self.slots: list[RobotSlot] = []
        self.active = False
        self._changing = False
        self._pending: list[Pending] = []
        self._listeners: list[Listener] = []
        self._heard: list[tuple[Source, str]] = []
        self._root_from_tf: dict[str, RootFromTf] = {}
        self._frames: frozenset[str] = frozenset()
        self._loop = MessageLoop(node.context, self._on_fault)
        self._set_aside = SetAside()
        self._cleanups: list[Callable[[], object]] = []

    # -- life -----------------------------------------------------------------------------------------------------

    def configure(self) -> None:
        """Read the parameters and parse the descriptions.

        Raises:
            RobotSemanticsError: a parameter means nothing, or a description gives no robot.

        """
        node = self.node
        self.settings = parameters.node_settings(parameters.declare(node, parameters.NODE))
        self.raw = self.settings.raw_messages and raw_transforms_agree()
        if self.settings.raw_messages and not self.raw:
            node.get_logger().warning(
                "this middleware's messages are laid out unlike CDR: raw messages are switched off"
            )
        shared = parameters.declare(node, parameters.ROBOT) if self.settings.models else None
        self.slots = [
            RobotSlot(node, prefix, self.raw, shared, self._on_description) for prefix in self.settings.models or ("",)
        ]
        for slot in self.slots:
            if not slot.values[slot.parameter("robot_description_topic")]:
                description = slot.read({})
                slot.put(description, slot.make_robot(description, {}), {})
        self._services = [GroupServices(slot, self.lock, lambda: self.settings.state_tolerance) for slot in self.slots]
        self._tf = node.create_publisher(TFMessage, "/tf", qos.fresh(qos.TF), qos_overriding_options=qos.overridable())
        self._tf_static = node.create_publisher(
            TFMessage, "/tf_static", qos.fresh(qos.LATCHED), qos_overriding_options=qos.overridable()
        )
        node.add_on_set_parameters_callback(self._on_set_parameters)
        node.add_post_set_parameters_callback(self._on_parameters_set)
        jump = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True)
        jumps = node.get_clock().create_jump_callback(jump, post_callback=lambda _jump: self._on_clock_jump())
        self._cleanups = [
            jumps.unregister,
            lambda: node.remove_on_set_parameters_callback(self._on_set_parameters),
            lambda: node.remove_post_set_parameters_callback(self._on_parameters_set),
            lambda: node.destroy_publisher(self._tf),
            lambda: node.destroy_publisher(self._tf_static),
            *(services.destroy for services in self._services),
            *(slot.destroy for slot in self.slots),
        ]

    def activate(self) -> None:
        """Publish, and listen."""
        self.active = True
        for slot in self.slots:
            slot.publish_description()
        self.publish_static()
        self._listen()

    def deactivate(self) -> None:
        """Publish nothing any more, and listen to nothing."""
        self.active = False
        self._stop_listening()

    def cleanup(self) -> None:
        """Forget the robots and take the topics away; parameters stay declared."""
        self.deactivate()
        for undo in self._cleanups:
            undo()
        self._cleanups = []
        for slot in self.slots:
            slot.forget()
        self.slots = []

    def shutdown(self) -> None:
        """Stop the thread; the node can be destroyed then."""
        self._loop.stop()

    # -- state, for services and snapshots --------------------------------------------------------------------------

    def now_ns(self) -> int:
        """Return the node's time."""
        return int(self.node.get_clock().now().nanoseconds)

    def coherent_state(self, names: Iterable[str] = ()) -> WorldSample:
        """Return the newest state of the named robots, by default of all, as frozen values of one moment.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        wanted = self._robots(names)
        self.refresh()
        with self.lock:
            now_ns = self.now_ns()
            samples = tuple(_sample(robot) for robot in wanted)
        stamps = [stamp for sample in samples for stamp in sample.stamps_ns.tolist() if stamp != NEVER_NS]
        return WorldSample(max(stamps, default=now_ns), now_ns, samples)

    def restore(self, name: str, positions: FloatArray, velocities: FloatArray, stamp_ns: int) -> None:
        """Replace one robot's state, (n,) positions and (nv,) velocities with NaN where unknown, and publish it.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        (robot,) = self._robots([name])
        with self.lock:
            self.send(robot, robot.restore(positions, velocities, stamp_ns))

    def robot(self, name: str) -> Robot:
        """Return the robot called `name`.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        return self._robots([name])[0]

    def refresh(self) -> None:
        """Look up, for robots whose virtual joint follows TF, where their root link is now."""
        for slot in self.slots:
            robot, source = slot.robot, self._root_from_tf.get(slot.prefix)
            if robot is None or source is None or not robot.model.root_joint.position_count:
                continue
            found = source.pose(robot.parent_frame, robot.frame(robot.model.root_link))
            if isinstance(found, StampedPose):
                with self.lock:
                    robot.motion(robot.model.root_joint.name, found.xyz_quat, None, found.stamp_ns)

    def _robots(self, names: Iterable[str]) -> list[Robot]:
        present = {slot.name: slot.robot for slot in self.slots if slot.robot is not None}
        chosen = list(names) or list(present)
        for name in chosen:
            if name not in present:
                raise UnknownNameError("model", name, present)
        return [present[name] for name in chosen]

    # -- publishing -------------------------------------------------------------------------------------------------

    def send(self, robot: Robot, message: bytes | TFMessage | None) -> None:
        """Publish a robot's transforms, if there are any and the node is active."""
        if message is None or not self.active:
            return
        self._tf.publish(message)
        for slot in self.slots:
            if slot.robot is robot:
                slot.traffic.transforms += robot.sent

    def publish_static(self) -> None:
        """Send all robots' fixed transforms as one message: a later message would replace it for late joiners."""
        if not self.active:
            return
        robots = [slot.robot for slot in self.slots if slot.robot is not None]
        self._frames = frozenset().union(*(robot.child_frames for robot in robots))
        static = [item for robot in robots for item in robot.static_transforms()]
        frames = [(item.frame_id, item.child_frame_id) for item in static]
        values = np.array([item.xyz_quat for item in static]).reshape(-1, 7)
        self._tf_static.publish(transform_message(frames, values, self.now_ns()))

    # -- listening --------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        self._listeners, self._root_from_tf = [], {}
        for slot in self.slots:
            self._listeners.append(self._joint_state_listener(slot))
            self._listeners += Feeds(slot, self._set_aside, self.now_ns, self._deliver).listeners()
            if slot.robot is not None and slot.robot.root_source is Source.TF:
                source = RootFromTf(self.node, self._set_aside, self._own_frames)
                self._root_from_tf[slot.prefix] = source
                self._listeners += source.listeners()
        self._heard = self._root_sources()
        self._loop.start(self._listeners)

    def _root_sources(self) -> list[tuple[Source, str]]:
        """Return where each robot's virtual joint is fed from, which decides what is listened to."""
        return [
            (robot.root_source, robot.settings.virtual_joint(robot.model.root_joint.name).topic)
            for robot in (slot.robot for slot in self.slots)
            if robot is not None
        ]

    def _own_frames(self) -> frozenset[str]:
        return self._frames

    def _stop_listening(self) -> None:
        self._loop.stop()
        for listener in self._listeners:
            self.node.destroy_subscription(listener.subscription)
        self._listeners = []

    def _joint_state_listener(self, slot: RobotSlot) -> Listener:
        reader = JointStateReader()
        topic = slot.topic("joint_states")
        traffic, refusals = slot.traffic, slot.refusals

        def handle(message: bytes | JointState) -> None:
            with self.lock:
                traffic.received += 1
                robot = slot.robot
                if robot is None:
                    refusals.add(topic, Refusal(Reason.NO_MODEL, "there is no robot description yet"))
                    return
                result = robot.joint_state(_read(reader, message), self.now_ns)
                if robot.notices:
                    self._log_notices(robot)
                if result is None:
                    return
                if isinstance(result, Refusal):
                    traffic.refused_joint_states += 1
                    refusals.add(topic, result)
                    return
                self._tf.publish(result)
                traffic.transforms += robot.sent

        subscription = self.node.create_subscription(
            JointState,
            topic,
            handle,
            qos.fresh(qos.SENSOR),
            callback_group=self._set_aside,
            raw=self.raw,
            qos_overriding_options=qos.overridable(),
        )
        return Listener(subscription, handle)

    def _deliver(self, slot: RobotSlot, topic: str, read: Read, message: Any) -> None:
        """Have a message from another topic than joint_states read, and publish or refuse what comes of it."""
        with self.lock:
            robot = slot.robot
            if robot is None:
                return
            for outcome in read(robot, message):
                if isinstance(outcome, Refusal):
                    slot.refusals.add(topic, outcome)
                else:
                    self.send(robot, outcome)
            if robot.notices:
                self._log_notices(robot)

    def _log_notices(self, robot: Robot) -> None:
        for notice in robot.notices:
            self.node.get_logger().warning(notice)
        robot.notices.clear()

    def _on_fault(self, error: Exception) -> None:
        text = "".join(traceback.format_exception(error))
        self.node.get_logger().error(f"a message could not be handled: {text}", throttle_duration_sec=5.0)

    def _on_clock_jump(self) -> None:
        with self.lock:
            for slot in self.slots:
                if slot.robot is not None:
                    slot.robot.forget_times()

    # -- parameters at run time ---------------------------------------------------------------------------------------

    def _on_set_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Check new values, and prepare what they bring, without touching what is."""
        if self._changing:
            return SetParametersResult(successful=True)
        changed = {change.name: change.value for change in changes}
        self._pending = []
        self._changing = True
        try:
            for name, value in changed.items():
                parameters.check(name, value, self.settings.models)
            for slot in self.slots:
                own = slot.concerned(changed)
                if own:
                    description = slot.read(own)
                    self._pending.append((slot, description, slot.make_robot(description, own), own))
        except RobotSemanticsError as error:
            self.node.get_logger().error(f"parameters are not changed: {error}")
            return SetParametersResult(successful=False, reason=str(error))
        finally:
            self._changing = False
        return SetParametersResult(successful=True)

    def _on_parameters_set(self, changes: Sequence[Parameter]) -> None:
        if self._changing:
            return
        pending, self._pending = self._pending, []
        for slot, description, robot, own in pending:
            self.replace(slot, description, robot, own)
        node_values = {parameter.name: self.node.get_parameter(parameter.name).value for parameter in parameters.NODE}
        self.settings = parameters.node_settings(node_values)

    def _on_description(self, slot: RobotSlot, text: dict[str, Any]) -> None:
        """Take over a description that came on a topic; a bad one is logged and the last good one stays."""
        self._changing = True
        try:
            description = slot.read(text)
            robot = slot.make_robot(description, text)
        except RobotSemanticsError as error:
            if slot.urdf_is_missing(text):
                # The semantic description came before the robot's; it is read together with that one.
                slot.values.update(text)
                return
            self.node.get_logger().error(f"a description from a topic is not used: {error}")
            return
        finally:
            self._changing = False
        self.replace(slot, description, robot, text)

    def replace(self, slot: RobotSlot, description: Description, robot: Robot, changed: dict[str, Any]) -> None:
        """Put another robot into a slot and publish all that depends on it."""
        is_new = description is not slot.description
        with self.lock:
            slot.put(description, robot, changed)
            if self.active:
                if is_new:
                    slot.publish_description()
                self.publish_static()
                self.send(robot, robot.everything(self.now_ns()))
        if self.active and self._root_sources() != self._heard:
            # Listening anew costs messages until the publishers are found again: only where it must be.
            self._stop_listening()
            self._listen()


def _read(reader: JointStateReader, message: bytes | JointState) -> JointStateData:
    if isinstance(message, bytes):
        try:
            return reader.read(message)
        except CdrError:
            # Rare: a big-endian sender, for example. rclpy reads what the middleware reads.
            message = deserialize_message(message, JointState)
    return JointStateData(
        stamp_ns(message.header.stamp),
        message.header.frame_id,
        tuple(message.name),
        np.asarray(message.position, np.float64),
        np.asarray(message.velocity, np.float64),
        np.asarray(message.effort, np.float64),
    )


def _sample(robot: Robot) -> RobotSample:
    buffer = robot.buffer
    return RobotSample(
        name=robot.name,
        model=robot.model,
        space=robot.space,
        positions=_frozen(buffer.positions),
        velocities=_frozen(buffer.velocities),
        efforts=_frozen(buffer.efforts),
        known=_frozen(buffer.known),
        stamps_ns=_frozen(buffer.stamps_ns),
        parent_frame=robot.parent_frame,
        frame_prefix=robot.settings.frame_prefix,
    )


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    copy: npt.NDArray[Scalar] = array.copy()
    copy.setflags(write=False)
    return copy
