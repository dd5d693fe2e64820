"""What the node does, for a plain node and a lifecycle node alike: configure, activate, deactivate, clean up."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.ros.messages.tf_messages import raw_transforms_agree
from robot_semantics.ros.node import parameters
from robot_semantics.ros.node.collision_action import CollisionAction
from robot_semantics.ros.node.description import Description
from robot_semantics.ros.node.group_services import GroupServices
from robot_semantics.ros.node.guarded_node import GuardedNode
from robot_semantics.ros.node.inputs import Inputs
from robot_semantics.ros.node.live_parameters import LiveParameters
from robot_semantics.ros.node.looks import Looks
from robot_semantics.ros.node.monitor import Monitor
from robot_semantics.ros.node.outputs import Outputs
from robot_semantics.ros.node.slot import RobotSlot
from robot_semantics.ros.node.snapshots import Snapshots
from robot_semantics.ros.node.unheard_robots import UnheardRobots
from robot_semantics.ros.node.world import World
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.node.world_services import WorldServices
from robot_semantics.state.apply import AppliedState
from robot_semantics.state.robot import Robot
from robot_semantics.state.samples import RobotSample, RootStatement, WorldSample
from robot_semantics.state.time_order import NEVER_NS

Scalar = TypeVar("Scalar", bound=np.generic)


class Part(Protocol):
    """Something that `configure` made and `cleanup` takes away."""

    def destroy(self) -> None:
        """Take topics, services and timers away."""


class Core:
    """The robots of one node, their topics, services and parameters.

    Attributes:
        lock: held while a robot's state is read or changed; messages come in on a thread of their own.
        settings: the parameters of the node as a whole.
        slots: one for each robot, in the order of the `models` parameter.
        raw: whether messages are read and written as bytes.
        state: in words, as `~/get_status` and `/diagnostics` tell it.

    """

    def __init__(self, node: GuardedNode) -> None:
        self.node = node
        self.lock = threading.RLock()
        self.slots: list[RobotSlot] = []
        self.state = "unconfigured"
        self._parts: list[Part] = []

    # -- life -----------------------------------------------------------------------------------------------------

    @property
    def active(self) -> bool:
        """Whether anything is published."""
        return self.state == "active"

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
                "this middleware's messages are not laid out as CDR: raw messages are switched off"
            )
        shared = parameters.declare(node, parameters.ROBOT) if self.settings.models else None
        self.slots = []
        try:
            for prefix in self.settings.models or ("",):
                slot = RobotSlot(node, prefix, self.raw, shared, self._on_description)
                self.slots.append(slot)
                if not slot.values[slot.parameter("robot_description_topic")]:
                    description = slot.read({})
                    slot.put(description, slot.make_robot(description, {}), {})
        except Exception:
            self.cleanup()
            raise
        self.looks = Looks(node)
        self.outputs = Outputs(node)
        self.inputs = Inputs(self)
        self.frames = WorldFrames(node, self._sent_frames, self.looks)
        self.world = World(self)
        self._live = LiveParameters(self)
        self._world = WorldServices(self)
        self._monitor = Monitor(self)
        self._unheard = UnheardRobots(self)
        jump = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True)
        self._jumps = node.get_clock().create_jump_callback(
            jump, post_callback=node.guarded(self._on_clock_jump, "clock")
        )
        self._parts = [
            *(GroupServices(slot, self.lock, lambda: self.settings.state_tolerance) for slot in self.slots),
            *(CollisionAction(slot) for slot in self.slots),
            Snapshots(self),
            self._world,
            self._monitor,
            self._unheard,
            self._live,
            self.world,
            self.frames,
            self.looks,
            self.outputs,
        ]
        self.read_settings()
        self.state = "inactive"

    def activate(self) -> None:
        """Publish, and listen."""
        self.state = "active"
        self.outputs.active = True
        for slot in self.slots:
            slot.publish_description()
        self._send_static()
        self.inputs.start()
        self._unheard.start()

    def deactivate(self) -> None:
        """Publish nothing any more, and listen to nothing."""
        self.state = "inactive"
        self.inputs.stop()
        self._unheard.stop()
        self.outputs.active = False

    def cleanup(self) -> None:
        """Forget the robots and take the topics away; parameters stay declared."""
        if self.active:
            self.deactivate()
        if self._parts:
            self._jumps.unregister()
        for part in (*self._parts, *self.slots):
            part.destroy()
        self._parts, self.slots = [], []
        self.state = "unconfigured"

    def shutdown(self) -> None:
        """Stop all threads; the node can be destroyed then."""
        self.cleanup()

    # -- state, for services and snapshots --------------------------------------------------------------------------

    def now_ns(self) -> int:
        """Return the node's time."""
        return int(self.node.get_clock().now().nanoseconds)

    def coherent_state(self, names: Iterable[str] = ()) -> WorldSample:
        """Return the newest state of the named robots, by default of all, as frozen values of one moment.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        chosen = self._slots(names)
        if self.active:
            self.inputs.refresh()
        with self.lock:
            now_ns = self.now_ns()
            samples = tuple(
                _sample(slot.robot, self.inputs.root_statements(slot)) for slot in chosen if slot.robot is not None
            )
        stamps = [stamp for sample in samples for stamp in sample.stamps_ns.tolist() if stamp != NEVER_NS]
        stamps += [said.stamp_ns for sample in samples for said in sample.said if said.stamp_ns is not None]
        return WorldSample(max(stamps, default=now_ns), now_ns, samples)

    def restore(self, name: str, state: AppliedState, stamp_ns: int) -> None:
        """Take over what a state says of a robot, leave the rest as it is, and publish it.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        (slot,) = self._slots([name])
        assert slot.robot is not None
        with self.lock:
            root = slot.robot.model.root_joint.name
            positions_of = state.positions_of | ({root} if state.base_positions is not None else set())
            velocities_of = state.velocities_of | ({root} if state.base_velocities is not None else set())
            restored = slot.robot.restore(state.positions, state.velocities, positions_of, velocities_of, stamp_ns)
            self.outputs.send(slot, restored)
            self._unheard.start()

    @property
    def knows_anything(self) -> bool:
        """Whether any robot has a value, or has no joints that could have one."""
        robots = [slot.robot for slot in self.slots if slot.robot is not None]
        return any(robot.buffer.known.any() or not robot.buffer.known.size for robot in robots)

    def fingerprint(self) -> tuple[object, ...]:
        """Return what differs whenever a robot has got new values or is another one, or TF has said something new."""
        if self.active:
            self.inputs.refresh()
        with self.lock:
            robots = [
                (id(robot), robot.buffer.stamps_ns.tobytes(), robot.buffer.positions.tobytes())
                for robot in (slot.robot for slot in self.slots)
                if robot is not None
            ]
        return (self.frames.news, *robots)

    def robot(self, name: str) -> Robot:
        """Return the robot called `name`.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        robot = self._slots([name])[0].robot
        assert robot is not None
        return robot

    def _slots(self, names: Iterable[str]) -> list[RobotSlot]:
        """Return the slots of the named robots, by default all that have one."""
        present = {slot.name: slot for slot in self.slots if slot.robot is not None}
        chosen = list(names) or list(present)
        for name in chosen:
            if name not in present:
                raise UnknownNameError("model", name, present)
        return [present[name] for name in chosen]

    # -- changes ----------------------------------------------------------------------------------------------------

    def replace(self, slot: RobotSlot, description: Description, robot: Robot, changed: dict[str, Any]) -> None:
        """Put another robot into a slot and publish all that depends on it."""
        is_new = description is not slot.description
        with self.lock:
            slot.put(description, robot, changed)
            if not self.active:
                return
            if is_new:
                slot.publish_description()
            self._send_static()
            self.outputs.send(slot, robot.renewed())
            self._unheard.start()
        self.inputs.robots_changed()

    def read_settings(self) -> None:
        """Bring the parameters of the node as a whole into force."""
        values = {parameter.name: self.node.get_parameter(parameter.name).value for parameter in parameters.NODE}
        self.settings = parameters.node_settings(values)
        self._world.set_rate(self.settings.world_state_frequency_hz)
        self._monitor.set_period(self.settings.diagnostics_period_s)

    def _on_description(self, slot: RobotSlot, text: dict[str, Any]) -> None:
        self._live.describe(slot, text)

    def _on_clock_jump(self, _jump: TimeJump) -> None:
        with self.lock:
            for slot in self.slots:
                if slot.robot is not None:
                    slot.robot.forget_times()
        self.frames.forget()

    def _sent_frames(self) -> frozenset[str]:
        """Return the frames that this node publishes; not root links of which it does not know where they are yet."""
        robots = [slot.robot for slot in self.slots if slot.robot is not None]
        awaited = frozenset(robot.frame(robot.model.root_link) for robot in robots if robot.root_is_awaited)
        return self.outputs.frames - awaited if awaited else self.outputs.frames

    def _send_static(self) -> None:
        robots = [slot.robot for slot in self.slots if slot.robot is not None]
        self.outputs.send_static(robots, self.now_ns())


def _sample(robot: Robot, said: tuple[RootStatement, ...]) -> RobotSample:
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
        source=robot.root_source,
        said=said,
    )


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    copy: npt.NDArray[Scalar] = array.copy()
    copy.setflags(write=False)
    return copy
