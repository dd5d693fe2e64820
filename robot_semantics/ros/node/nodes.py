# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The two nodes: the plain one configures and activates itself; the managed one waits for its transitions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from typing import TYPE_CHECKING

from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter_service import ParameterService

from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.senders import RESET_NS
from robot_semantics.live.settings import Description
from robot_semantics.live.world import world_link_names
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.tf_messages import raw_transforms_agree
from robot_semantics.ros.node import parameters
from robot_semantics.ros.node.inputs import Inputs
from robot_semantics.ros.node.live_parameters import LiveParameters
from robot_semantics.ros.node.monitor import Monitor
from robot_semantics.ros.node.outputs import Outputs, TransformRepeater
from robot_semantics.ros.node.robot_states import NodeParts, StateSampler
from robot_semantics.ros.node.robots import RobotRegistry
from robot_semantics.ros.node.served_robot import RobotInterface, declare_robot
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.running.guarded_node import GuardedNode, guarded
from robot_semantics.ros.running.parameter_table import Values

if TYPE_CHECKING:
    from robot_semantics.ros.node.services import Services


# Life of the node, plain or managed: configure, activate, deactivate, clean up.


INTERFACES = "robot_semantics_interfaces"


class Core:
    """The life of a node: it declares the parameters, and makes and removes the configured node."""

    def __init__(self, node: GuardedNode) -> None:
        self._node = node
        self._configured: ConfiguredNode | None = None
        self._declare_parameters()

    @property
    def active(self) -> bool:
        """True while the node publishes."""
        return self._configured is not None and self._configured.robots.active

    def configure(self) -> None:
        """Read the parameters and parse the descriptions.

        Raises:
            RobotSemanticsError: a parameter is invalid, or a description gives no robot.

        """
        self._configured = ConfiguredNode(self._node)

    def activate(self) -> None:
        """Publish and listen."""
        if self._configured is not None:
            self._configured.activate()

    def offer_status(self) -> None:
        """Offer the service that tells the state of the node, which is complete now."""
        if self._configured is not None:
            self._configured.offer_status()

    def deactivate(self) -> None:
        """Stop publishing and listening."""
        if self._configured is not None:
            self._configured.deactivate()

    def cleanup(self) -> None:
        """Forget the robots, stop all threads and remove the topics; parameters stay declared."""
        configured, self._configured = self._configured, None
        if configured is not None:
            configured.close()

    def _declare_parameters(self) -> None:
        """Declare all parameters that need no description.

        A parameter with an invalid value is not declared; `configure` reports it.
        """
        node = self._node
        values = node.declare_table(parameters.node_table(node.overrides), skip_invalid=True)
        node.declare_table(parameters.SNAPSHOTS, skip_invalid=True)
        shared = node.declare_table(parameters.ROBOT, skip_invalid=True)
        if models := [name for name in values.get("models", ()) if name]:
            node.frozen = parameters.defaults_of_models(models)
        for model in models:
            declare_robot(node, model, shared, skip_invalid=True)


class ConfiguredNode:
    """The parts of the configured node, each made with the parts that it needs."""

    def __init__(self, node: GuardedNode) -> None:
        """Make the parts.

        Raises:
            RobotSemanticsError: a parameter is invalid, or a description gives no robot.

        """
        self._node = node
        self._unknown: set[str] = set()
        self._named_models: dict[str, RobotModel] = {}
        self._names_of_links: frozenset[str] = frozenset()
        table = parameters.node_table(node.overrides)
        self.robots = RobotRegistry(node, parameters.node_settings(node.declare_table(table)))
        raw = self.robots.settings.raw_messages and raw_transforms_agree()
        if self.robots.settings.raw_messages and not raw:
            node.get_logger().warning(
                "this middleware's messages are not laid out as CDR: raw messages are switched off"
            )
        node.keep_entities()
        with ExitStack() as closing:
            closing.callback(node.destroy_entities)
            self._live = LiveParameters(self.robots, self._replace, self._read_settings)
            self._make_robots(raw)
            self._make_parts(raw, closing)
            self._read_settings()
            self._warn_of_unknown()
            self._closing = closing.pop_all()

    def offer_status(self) -> None:
        """Offer ``~/get_status``."""
        if self._services is not None:
            self._services.offer_status()

    def close(self) -> None:
        """Stop all threads and remove the topics."""
        if self.robots.active:
            self.deactivate()
        self._closing.close()

    def activate(self) -> None:
        """Publish and listen."""
        self.robots.state = "active"
        self._outputs.active = True
        for served in self.robots.served:
            served.publish_description()
        self._send_static()
        self._inputs.start()
        self._unmoved.start()

    def deactivate(self) -> None:
        """Stop publishing and listening."""
        self.robots.state = "inactive"
        self._inputs.stop()
        self._unmoved.stop()
        self._outputs.active = False

    def _make_robots(self, raw: bool) -> None:
        node, robots = self._node, self.robots
        shared = node.declare_table(parameters.ROBOT) if robots.settings.models else None
        for prefix in robots.settings.models or ("",):
            served = RobotInterface(node, prefix, raw, shared)
            robots.served.append(served)
            self._live.listen(served)
            if not served.description_topic("robot_description"):
                description = served.read({})
                served.put(description, served.make_robot(description, {}), {})
                served.undeclare_unused()
                served.log_description()
        robots.name_base_frames()

    def _make_parts(self, raw: bool, closing: ExitStack) -> None:
        node, robots = self._node, self.robots
        self._outputs = outputs = Outputs(node, self._sent_frames, self._remedy_of_conflict)
        self._frames = frames = WorldFrames(node, self._sent_frames, self._link_names, self._reset_clock)
        closing.callback(frames.stop)
        self._inputs = inputs = Inputs(robots, outputs, frames, raw=raw)
        self._unmoved = unmoved = TransformRepeater(robots, outputs)
        parts = NodeParts(robots, inputs, outputs, frames, unmoved)
        self._live.start()
        closing.callback(self._live.stop)
        self._monitor = Monitor(parts)
        closing.callback(self._monitor.stop)
        self._services = self._make_services(parts, closing)
        jump = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True)
        jumps = node.get_clock().create_jump_callback(jump, post_callback=node.guarded(self._on_clock_jump, "clock"))
        closing.callback(jumps.unregister)

    def _make_services(self, parts: NodeParts, closing: ExitStack) -> Services | None:
        """Make the services with our own interfaces; without the interface package, report this and do the rest."""
        try:
            from robot_semantics.ros.node.services import Services
        except ImportError as error:
            if (error.name or "").partition(".")[0] != INTERFACES:
                raise
            self._node.get_logger().error(
                f"the ROS package {INTERFACES} is missing or too old ({error}): TF is published, but services, actions"
                " and snapshots are off; build it in the workspace beside this package, and source it"
            )
            return None
        return Services(parts, StateSampler(parts), self._monitor, self._live, closing)

    def _replace(self, served: RobotInterface, description: Description, robot: RunningRobot, changed: Values) -> None:
        """Replace a robot and publish all that depends on it."""
        is_new = description is not served.description
        with self.robots.lock:
            # A message may arrive while the new robot is made: take over the values only now, under the lock.
            if served.robot is not None:
                robot.adopt(served.robot)
            served.put(description, robot, changed)
            self.robots.name_base_frames()
            if self.robots.active:
                if is_new:
                    served.publish_description()
                self._send_static()
                self._outputs.send(served, robot.renewed())
                self._unmoved.start()
        # Write to the log without the lock: messages wait for it.
        if is_new:
            served.undeclare_unused()
            served.log_description()
        self._warn_of_unknown()
        if self.robots.active:
            self._inputs.robots_changed()

    def _warn_of_unknown(self) -> None:
        """Report each given parameter without effect, once."""
        waiting = any(served.robot is None for served in self.robots.served)
        for name, sentence in self._node.unknown_overrides(waiting).items():
            if name not in self._unknown:
                self._unknown.add(name)
                self._node.get_logger().warning(sentence)

    def _read_settings(self) -> None:
        """Apply the parameters of the node as a whole."""
        table = parameters.node_table(self._node.overrides)
        values = {parameter.name: self._node.get_parameter(parameter.name).value for parameter in table}
        self.robots.settings = settings = parameters.node_settings(values)
        if self._services is not None:
            self._services.world.set_rate(settings.world_state_frequency_hz)
        self._monitor.set_period(settings.diagnostics_period_s)

    def _on_clock_jump(self, jump: TimeJump) -> None:
        """Make unknown what has the stamps of a clock that stepped back; a late stamp counts after any jump."""
        if jump.delta.nanoseconds <= -RESET_NS:
            self._inputs.reset_clock(self.robots.now_ns() - int(jump.delta.nanoseconds), stood=True)
            return
        with self.robots.lock:
            for robot in self.robots.present:
                robot.accept_any_stamp()
        self._frames.forget()

    def _reset_clock(self, clock_ns: int) -> None:
        self._inputs.reset_clock(clock_ns)

    def _sent_frames(self) -> frozenset[str]:
        """Return the frames that this node publishes, without those whose joints have no known positions yet."""
        awaited = frozenset().union(*(robot.awaited_frames for robot in self.robots.present))
        return self._outputs.frames - awaited if awaited else self._outputs.frames

    def _remedy_of_conflict(self, frames: Collection[str]) -> str:
        """Return what to do if another node publishes one of these frames: the end of a sentence."""
        for served in self.robots.served:
            robot = served.robot
            if robot is not None and robot.model.has_virtual_joint and robot.frame(robot.model.root_link) in frames:
                name = served.parameter(f"{parameters.VIRTUAL_JOINTS}.{robot.model.root_joint.name}.source")
                return f"; if that node moves this robot, set the parameter '{name}' to 'tf'"
        return ""

    def _link_names(self) -> frozenset[str]:
        """Return the names ``model::link`` of the present robots; made again only after a change."""
        models = {robot.name: robot.model for robot in self.robots.present}
        if models != self._named_models:
            self._names_of_links, self._named_models = world_link_names(models), models
        return self._names_of_links

    def _send_static(self) -> None:
        self._outputs.send_static(self.robots.present, self.robots.now_ns())


NAME = "robot_semantics"


class RobotSemanticsNode(GuardedNode):
    """The plain node: configured and active from its start."""

    def __init__(self, **options: object) -> None:
        """Read the parameters and begin to publish; `options` are rclpy's.

        Raises:
            RobotSemanticsError: a parameter is invalid, or a description gives no robot.

        """
        super().__init__(NAME, start_parameter_services=False, **options)
        self.core = Core(self)
        try:
            self.core.configure()
            self.core.activate()
            self.core.offer_status()
        except BaseException:
            # Destroy the node now: at the end of the interpreter, a message could crash it.
            self.destroy_node()
            raise
        # Offer the parameter services last: clients call a service as soon as they discover it.
        self._parameter_service = ParameterService(self)

    def close(self) -> None:
        """Stop all threads and forget the robots."""
        self.core.cleanup()


class RobotSemanticsLifecycleNode(GuardedNode, LifecycleNode):  # type: ignore[misc]  # rclpy is typed in part
    """Configure parses, activate publishes, deactivate stops, cleanup forgets; parameters are read at configure."""

    def __init__(self, **options: object) -> None:
        """Declare the parameters and wait to be configured; `options` are rclpy's."""
        super().__init__(NAME, **options)
        self.core = Core(self)

    def on_configure(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters and parse the descriptions; after an error, log it and stay unconfigured."""
        return self._do(self._configure)

    def on_activate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Publish and listen."""
        return self._do(self.core.activate)

    def on_deactivate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Stop publishing and listening, but keep the robots and their services."""
        return self._do(self.core.deactivate)

    def on_cleanup(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robots."""
        return self._do(self.core.cleanup)

    def on_shutdown(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Forget everything, from any state."""
        return self._do(self.core.cleanup)

    def close(self) -> None:
        """Stop all threads and forget the robots."""
        self.core.cleanup()

    def _configure(self) -> None:
        self.core.configure()
        self.core.offer_status()

    def _do(self, step: Callable[[], None]) -> TransitionCallbackReturn:
        def take() -> TransitionCallbackReturn:
            step()
            return TransitionCallbackReturn.SUCCESS

        def fail(error: Exception) -> TransitionCallbackReturn:
            self.get_logger().error(self.explain("transition", error))
            return TransitionCallbackReturn.FAILURE

        return guarded(take, fail)()
