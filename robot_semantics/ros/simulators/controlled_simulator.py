# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulations by mujoco_ros2_control: MuJoCo under a controller manager.

Joints and bodies are received on topics. To set joints, the whole world is reset; then all stated values and the last
received values are set. Bodies alone are set without a reset. Active controllers would move the robot back: they are
off during a restore. Imported only if the interfaces are installed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from builtin_interfaces.msg import Duration
from controller_manager_msgs.srv import ListControllers, SwitchController
from mujoco_ros2_control_msgs.msg import FreeJointStateArray
from mujoco_ros2_control_msgs.srv import ResetWorld, SetFreeJointState, SetPause
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.maker import MAKER
from robot_semantics.ros.simulators.controlled_world import ControlledWorld, Orders, orders_of
from robot_semantics.ros.simulators.simulator_client import RemoteReport, RemoteSimulator, SimulatorError
from robot_semantics.state.report import RestoreLog
from robot_semantics.usdf.world_state import WorldState

JOINTS_TOPIC = "/mujoco_actuators_states"
"""Topic with every hinge and slide of the simulation; its name does not depend on the namespace."""
KEPT = 100
"""How many messages of joints are kept: bodies are told less often, and the joints of that moment belong to them."""
SWITCH_S = 5
"""How long the controllers may take to be switched [s]."""
_BODIES = "mujoco_ros2_control_msgs/msg/FreeJointStateArray"


class ControlledSimulator(RemoteSimulator):
    """One simulation; its controller manager is in its node's namespace."""

    def __init__(
        self, node: Node, name: str, group: ReentrantCallbackGroup, robots: Callable[[], Mapping[str, RobotModel]]
    ) -> None:
        """`name` is the name of the simulation node, `robots` gives the robots by their names in the simulation."""
        super().__init__(node, name, group)
        self._robots = robots
        self._set_pause = self._client(SetPause, "set_pause")
        self._reset_world = self._client(ResetWorld, "reset_world")
        self._set_bodies = self._client(SetFreeJointState, "set_free_joint_state")
        manager = f"{name.rpartition('/')[0]}/controller_manager"
        self._list = self._client(ListControllers, "list_controllers", manager)
        self._switch = self._client(SwitchController, "switch_controller", manager)
        # Hundreds of messages a second, of which few are read: keep them unparsed.
        self._joints: deque[bytes] = deque(maxlen=KEPT)
        self._bodies: deque[bytes] = deque(maxlen=1)
        self._looks = 0
        self._subscriptions = [self._listen(JointState, JOINTS_TOPIC, self._joints)]

    def _listen(self, kind: type[RosMessage], topic: str, kept: deque[bytes]) -> Subscription:
        def keep(data: bytes) -> None:
            kept.append(data)

        profile = QoSProfile(depth=KEPT)
        return self._node.create_subscription(kind, topic, keep, profile, callback_group=self._group, raw=True)

    def destroy(self) -> None:
        """Remove the clients and subscriptions."""
        super().destroy()
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    async def get(self, *, hold: bool = True) -> WorldState:
        """Return the joints and bodies as they were last told; a paused simulation is silent, so it is not held.

        Raises:
            SimulatorError: it is not there or says nothing.

        """
        return (await self._received_world()).state(self._robots())

    async def set(
        self, state: WorldState, models: Sequence[str] = (), *, partial: bool = False, dry_run: bool = False
    ) -> RemoteReport:
        """Set joints and bodies in one step; values that the state does not have return to the last received values.

        Raises:
            SimulatorError: it is not there or says nothing.
            DescriptionError: the state's frames do not lead to the world.

        """
        present = await self._received_world()
        log = RestoreLog()
        chosen = [model for model in state.models if not models or model.name in models]
        orders = orders_of(state, chosen, present, self._robots(), log)
        log.note("this simulator restores only positions and velocities, so it does not continue exactly as before")
        if state.time_ns is not None:
            log.note("its clock continues and is not set")
        if orders.joints:
            log.note("its hardware interface holds position-controlled joints where they are put, and stops the others")
            log.note("values without a topic, such as ball joints and activations, are reset to the start")
        if dry_run or not (partial or log.complete):
            return self._report(log, partial or log.complete)
        refused = await self._carry_out(orders, log)
        if refused:
            log.items = [replace(item, done=False, detail=refused) if item.done else item for item in log.items]
        return self._report(log, not refused)

    # --- what is heard

    async def _received_world(self) -> ControlledWorld:
        """Return the joints and bodies of the latest moment with messages."""
        await self._until(self._set_pause.service_is_ready, f"simulator '{self.name}' is not running")
        silent = f"simulator '{self.name}' says nothing on '{JOINTS_TOPIC}': it tells its state only while it runs"
        await self._until(self._has_values, silent)
        joints = [deserialize_message(data, JointState) for data in self._joints]
        if not self._bodies:
            return ControlledWorld.of(self.name, joints[-1], None)
        bodies = deserialize_message(self._bodies[0], FreeJointStateArray)
        then_ns = stamp_ns(bodies.header.stamp)
        nearest = min(reversed(joints), key=lambda message: abs(stamp_ns(message.header.stamp) - then_ns))
        return ControlledWorld.of(self.name, nearest, bodies)

    def _has_values(self) -> bool:
        """True if joint values were received, and bodies if a topic publishes them."""
        if len(self._subscriptions) == 1 and self._looks < KEPT:
            self._looks += 1
            for topic, kinds in self._node.get_topic_names_and_types():
                if _BODIES in kinds and self._publishes(topic):
                    self._subscriptions.append(self._listen(FreeJointStateArray, topic, self._bodies))
                    break
        found = len(self._subscriptions) == 2
        return bool(self._joints) and (bool(self._bodies) if found else self._looks > KEPT // 4)

    def _publishes(self, topic: str) -> bool:
        own = self.name.rpartition("/")[2]
        return any(found.node_name == own for found in self._node.get_publishers_info_by_topic(topic))

    # --- what is set

    async def _carry_out(self, orders: Orders, log: RestoreLog) -> str:
        """Set joints and bodies; return why they were refused, nothing where they were not."""
        if not orders.joints:
            if not orders.bodies:
                return ""
            request = SetFreeJointState.Request(free_joints=list(orders.bodies.values()))
            refused = _refusal(await self._call(self._set_bodies, request, once=True))
            if not refused:
                self._keep(await self._received_world(), orders)
            return refused
        ran = await self._pause(True)
        off: list[str] = []
        try:
            active = await self._commanding()
            if active and not ran:
                log.note(
                    "the simulation is paused and its controllers stay on; the controllers may move the robot back: "
                    + ", ".join(active)
                )
            elif active:
                off = active
                # The control loop switches them, and it waits for the clock.
                await self._pause(False)
                answer = await self._switched(off=off)
                if not answer.ok:
                    raise SimulatorError(
                        f"simulator '{self.name}' does not switch its controllers off{_message_of(answer)}"
                    )
                await self._pause(True)
            return await self._reset(orders)
        except SimulatorError as error:
            return str(error)
        finally:
            if ran:
                await self._go_on(off, log)

    async def _go_on(self, off: Sequence[str], log: RestoreLog) -> None:
        """Resume the simulation and the controllers that were switched off; log each failure."""
        missing, reason = list(off), ""
        try:
            if off:
                reason = _message_of(await self._switched(on=off))
                active = await self._commanding()
                missing = [name for name in off if name not in active]
            else:
                await self._pause(False)
        except SimulatorError as error:
            reason = f": {error}"
            if off:
                await self._go_on((), log)
            else:
                log.failed("simulator", "", f"is paused{reason}")
        if missing:
            log.failed("controllers", "", f"could not be switched on again: {', '.join(missing)}{reason}")

    async def _reset(self, orders: Orders) -> str:
        """Reset the world to the ordered values, else to the last received values; return the reason of a refusal."""
        present = await self._received_world()
        request = ResetWorld.Request()
        joints = request.state_overrides.joint_states
        for name, (position, velocity) in present.joints.items():
            wanted = orders.joints.get(name, (None, None))
            joints.name.append(name)
            joints.position.append(position if wanted[0] is None else wanted[0])
            joints.velocity.append(velocity if wanted[1] is None else wanted[1])
        request.state_overrides.free_joints = list({**present.bodies, **orders.bodies}.values())
        refused = _refusal(await self._call(self._reset_world, request, once=True))
        if not refused:
            joints.header.stamp = MAKER.time(present.joints_ns)
            self._joints.clear()
            self._joints.append(serialize_message(joints))
            self._keep(present, orders)
        return refused

    def _keep(self, present: ControlledWorld, orders: Orders) -> None:
        """Store the set states of bodies as their last received states, until new messages arrive."""
        bodies = FreeJointStateArray(free_joints=list({**present.bodies, **orders.bodies}.values()))
        bodies.header.stamp = MAKER.time(present.bodies_ns)
        if present.bodies:
            self._bodies.append(serialize_message(bodies))

    async def _switched(self, *, on: Sequence[str] = (), off: Sequence[str] = ()) -> SwitchController.Response:
        """Switch controllers; `on` may have active ones. They start in the simulation's first control cycle."""
        request = SwitchController.Request(activate_controllers=on, deactivate_controllers=off)
        request.strictness = SwitchController.Request.BEST_EFFORT if on else SwitchController.Request.STRICT
        request.timeout = Duration(sec=SWITCH_S)
        await self._until(self._switch.service_is_ready, f"service '{self._switch.srv_name}' does not exist")
        with self._sent(self._switch, request, once=True) as switched:
            if on:
                await self._pause(False)
            return await switched

    async def _pause(self, paused: bool) -> bool:
        """Pause it or let it go on; return whether it did not do so already, which only the answer's words say."""
        answer = await self._call(self._set_pause, SetPause.Request(paused=paused), once=True)
        if not answer.success:
            raise SimulatorError(f"simulator '{self.name}' does not {'pause' if paused else 'go on'}: {answer.message}")
        return "already" not in answer.message

    async def _commanding(self) -> list[str]:
        """Return the controllers that command something now."""
        answer = await self._call(self._list, ListControllers.Request())
        return [found.name for found in answer.controller if found.state == "active" and found.claimed_interfaces]


def _refusal(answer: ResetWorld.Response | SetFreeJointState.Response) -> str:
    return "" if answer.success else str(answer.message or "refused without a reason")


def _message_of(answer: SwitchController.Response) -> str:
    """Return the message in the controller manager's answer; before Jazzy, it has none."""
    return f": {answer.message}" if getattr(answer, "message", "") else ""
