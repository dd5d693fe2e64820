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
from dataclasses import dataclass, replace

import numpy as np
from builtin_interfaces.msg import Duration
from controller_manager_msgs.srv import ListControllers, SwitchController
from geometry_msgs.msg import Pose as PoseMessage
from mujoco_ros2_control_msgs.msg import FreeJointState, FreeJointStateArray
from mujoco_ros2_control_msgs.srv import ResetWorld, SetFreeJointState, SetPause
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState as JointStateMessage

from robot_semantics.base.names import suggestion
from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.base.record import record
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.motions import pose_from_positions, twist_of
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.ros.messages.maker import MAKER, row_of_pose, row_of_twist
from robot_semantics.ros.messages.maker import pose_from_message as read_pose
from robot_semantics.ros.simulators.simulator_client import UNKNOWN, RemoteReport, RemoteSimulator, SimulatorError
from robot_semantics.transforms import matrix_from_quat, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_quaternion, pose_quaternions, six
from robot_semantics.usdf.apply import Base, apply_model_state, resolve_with
from robot_semantics.usdf.fields import ValueAge, with_ages
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.restore_report import RestoreLog
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, ModelState, WorldState

# The world of a mujoco_ros2_control simulation: conversion of its topics to a state, and of a state to its names.


@record(frozen=True, eq=False)
class ControlledWorld:
    """The last received state of the simulation.

    Attributes:
        simulator: its name.
        joints: hinges and slides by MuJoCo's names: position [m, rad] and velocity.
        bodies: the bodies on free joints, in the world.
        joints_ns: time of the joint values.
        bodies_ns: time of the body states.

    """

    simulator: str
    joints: Mapping[str, tuple[float, float]]
    bodies: Mapping[str, FreeJointState]
    joints_ns: int
    bodies_ns: int

    @classmethod
    def of(cls, simulator: str, joints: JointStateMessage, bodies: FreeJointStateArray | None) -> ControlledWorld:
        """Return the content of a joint message and, if bodies are published, of a body message.

        Raises:
            SimulatorError: the poses of the bodies are not relative to the world.

        """
        free_joints = [] if bodies is None else bodies.free_joints
        if any(body.pose.header.frame_id or body.twist.header.frame_id for body in free_joints):
            raise SimulatorError(
                f"simulator '{simulator}' gives body poses in a frame of unknown pose: "
                "leave the parameter 'frame_id' of its FreeJointStatePublisherPlugin empty"
            )
        values = zip(joints.position, joints.velocity, strict=True)
        return cls(
            simulator,
            dict(zip(joints.name, values, strict=True)),
            {body.name: body for body in free_joints},
            stamp_ns(joints.header.stamp),
            stamp_ns((bodies or joints).header.stamp),
        )

    # --- whose joints and bodies these are

    def names_of(self, robot: str, joint: JointModel, robots: Mapping[str, RobotModel]) -> tuple[str, ...]:
        """Return MuJoCo's names of a robot's joint, in the order of its variables; empty for an unknown joint."""
        for prefix in (f"{robot}/", ""):
            names = tuple(prefix + variable for variable in joint.variable_names)
            if names and all(name in self.joints for name in names):
                owners = [name for name, model in robots.items() if joint.name in model.joint_index]
                return names if prefix or owners == [robot] else ()
        return ()

    def body_of(self, robot: str, robots: Mapping[str, RobotModel]) -> str | None:
        """Return the robot's body on a free joint: the one with the name of its root link, unless another robot has
        it.
        """
        root = robots[robot].root_link
        alone = [model.root_link for model in robots.values()].count(root) == 1
        names = (f"{robot}/{root}", robot, *[root] * alone)
        return next((name for name in names if name in self.bodies), None)

    def of_no_robot(self, robots: Mapping[str, RobotModel]) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
        """Return the bodies without a robot by their models' names, and the joints without a robot as (model, name)."""
        robot_bodies = {
            name
            for robot, model in robots.items()
            for joint in model.joints
            for name in (*self.names_of(robot, joint, robots), self.body_of(robot, robots))
        }
        bodies: dict[str, str] = {}
        for name in self.bodies:
            if name not in robot_bodies:
                short = name.split("/")[0]
                bodies[name if short in bodies or short in robots else short] = name
        own_name = self.simulator.rpartition("/")[2]
        joints = {}
        for name in self.joints:
            if name not in robot_bodies:
                model, slash, short = name.partition("/")
                joints[name] = (model, short) if slash else (own_name, name)
        return bodies, joints

    # --- as a state

    def state(self, robots: Mapping[str, RobotModel]) -> WorldState:
        """Return the world state; the pose of a robot without a free joint is not stated."""
        models: dict[str, ModelState] = {}
        for name, robot in robots.items():
            stated = self._robot(name, robot, robots)
            if stated is not None:
                models[name] = stated
        frames = {model.parent for model in models.values()} - {WORLD}
        bodies, joints = self.of_no_robot(robots)
        for name, body in bodies.items():
            pose, twist = self._place(body)
            models[name] = ModelState(name, pose=pose, twist=twist)
        for joint, (model, short) in joints.items():
            position, velocity = self.joints[joint]
            there = models.setdefault(model, ModelState(model))
            models[model] = replace(there, joints=(*there.joints, JointState(short, (position,), (velocity,))))
        time_ns = max(self.joints_ns, self.bodies_ns)
        state = WorldState(models=tuple(models.values()), frames=tuple(map(Frame, sorted(frames))), time_ns=time_ns)
        ages = [
            *(ValueAge(None, model.name, time_ns - self.bodies_ns) for model in state.models if model.pose),
            *(
                ValueAge(model.name, joint.name, time_ns - self.joints_ns)
                for model in state.models
                for joint in model.joints
            ),
        ]
        return with_ages(state, [age for age in ages if age.age_ns])

    def _robot(self, name: str, robot: RobotModel, robots: Mapping[str, RobotModel]) -> ModelState | None:
        joints = []
        for joint in robot.joints:
            names = self.names_of(name, joint, robots)
            if names and not joint.virtual:
                positions, velocities = zip(*(self.joints[part] for part in names), strict=True)
                joints.append(JointState(joint.name, positions, velocities))
        body, root = self.body_of(name, robots), self.names_of(name, robot.root_joint, robots)
        if not joints and body is None and not root:
            return None
        model = ModelState(name, joints=tuple(joints))
        if body is not None:
            pose, twist = self._place(body)
            return replace(model, pose=pose, twist=twist)
        if root:
            values = np.array([self.joints[part] for part in root])
            xyz_quat = pose_from_positions(robot.root_joint, values[:, 0])
            pose = pose_from_quaternion(xyz_quat[:3].tolist(), xyz_quat[3:].tolist())
            parent = robot.root_joint.parent_link or WORLD
            return replace(model, parent=parent, pose=pose, twist=six(twist_of(robot.root_joint, values[:, 1])))
        return model

    def _place(self, body: str) -> tuple[Pose, Vec6]:
        """Return the pose and twist of a body in the world."""
        pose, twist = self.bodies[body].pose.pose, row_of_twist(self.bodies[body].twist.twist)
        # These are MuJoCo's numbers: the linear velocity is in the world's axes, the angular one in the body's.
        turning = _axes(pose) @ twist[3:]
        return read_pose(pose), six(np.array([*twist[:3], *turning]))


@dataclass(eq=False)
class Orders:
    """Target of the simulation: the stated joints and bodies, by MuJoCo's names."""

    joints: dict[str, tuple[float | None, float | None]]
    bodies: dict[str, FreeJointState]


def orders_of(
    state: WorldState,
    chosen: Sequence[ModelState],
    present: ControlledWorld,
    robots: Mapping[str, RobotModel],
    log: RestoreLog,
) -> Orders:
    """Return the orders of the models of a state; the result of each item goes to the log.

    Raises:
        DescriptionError: the state's frames do not lead to the world.
        NotStatedError: the pose of a carrying link is not stated.

    """
    return _Ordering(state, present, robots, log).of(chosen)


class _Ordering:
    def __init__(
        self, state: WorldState, present: ControlledWorld, robots: Mapping[str, RobotModel], log: RestoreLog
    ) -> None:
        self.present, self.robots, self.log = present, robots, log
        self.world: ResolvedWorld = resolve_with(state, (), robots)
        self.orders = Orders({}, {})
        self.bodies, joints = present.of_no_robot(robots)
        self.joints = {owner: name for name, owner in joints.items()}

    def of(self, chosen: Sequence[ModelState]) -> Orders:
        there = {model.name for model in self.present.state(self.robots).models}
        for model in chosen:
            self.log.model = model.name
            if model.name not in there:
                near = suggestion(model.name, there)
                self.log.failed("model", "", f"the simulator has no such model{near}", UNKNOWN)
            elif model.name in self.robots:
                self._robot(model, self.robots[model.name])
            else:
                self._object(model)
        self.log.model = ""
        return self.orders

    def _robot(self, model: ModelState, robot: RobotModel) -> None:
        present, name, root = self.present, model.name, robot.root_joint
        body, parent = present.body_of(name, self.robots), root.parent_link or WORLD
        if body is not None and root.type is not JointType.PLANAR:
            base = Base(replace(root, type=JointType.FLOATING), WORLD)
        elif present.names_of(name, root, self.robots) or robot.has_virtual_joint:
            base = Base.of(robot)
        else:
            base = Base(root, parent, held_by="the base is fixed in the simulator")
        applied = apply_model_state(model, self.world, robot, base=base)
        self.log.extend(applied.items, (*applied.notes, *applied.kept_motion))
        space = kinematics_of(robot).space
        for joint in robot.joints:
            stated = (joint.name in applied.positions_of, joint.name in applied.velocities_of)
            if joint.virtual:
                stated = (applied.base_positions is not None, applied.base_velocities is not None)
            names = present.names_of(name, joint, self.robots)
            if not any(stated) or (joint.virtual and not names):
                continue
            if not names:
                self._withdraw(joint.name)
                continue
            positions = applied.positions[space.joint_positions[joint.name]]
            velocities = applied.velocities[space.joint_velocities[joint.name]]
            for part, position, velocity in zip(names, positions, velocities, strict=True):
                values = (float(position) if stated[0] else None, float(velocity) if stated[1] else None)
                self.orders.joints[part] = values
        if body is not None:
            self._put(body, applied.base_xyz_quat, applied.base_twist)

    def _withdraw(self, joint: str) -> None:
        """Report a joint of the robot that the simulator does not have."""
        items = self.log.items
        reason = "the simulator has no hinge or slide of this name"
        self.log.items = [
            replace(item, done=False, detail=reason)
            if (item.model, item.kind, item.name) == (self.log.model, "joint", joint)
            else item
            for item in items
        ]

    def _object(self, model: ModelState) -> None:
        for joint in model.joints:
            name = self.joints.get((model.name, joint.name))
            sizes = {len(values) for values in (joint.positions, joint.velocities) if values is not None}
            if name is None or sizes - {1}:
                self.log.failed("joint", joint.name, "the simulator has no hinge or slide of this name")
                continue
            if joint.torques is not None:
                self.log.note("torques are results and are not set")
            if sizes:
                self.orders.joints[name] = ((joint.positions or (None,))[0], (joint.velocities or (None,))[0])
                self.log.done("joint", joint.name, "set")
        if model.links:
            self.log.note("its links follow from its pose and joints")
        if model.pose is not None or model.twist is not None:
            self._place(model, self.bodies.get(model.name))

    def _place(self, model: ModelState, body: str | None) -> None:
        """Set the target of an object's body to the stated pose of its model."""
        if body is None:
            self.log.failed("pose", "", "the simulator has no free joint for it")
            return
        xyz_quat = twist = None
        if model.pose is not None:
            xyz_quat = xyz_quat_from_matrix(self.world.pose(model.name))
            if model.parent == WORLD:
                # Keep every bit of the stated value.
                xyz_quat = np.array([*model.pose.xyz_rpy[:3], *pose_quaternions([model.pose])[0]])
            self.log.done("pose", "", "set")
            if model.twist is None:
                self.log.note(f"model '{model.name}': its twist is not stated, and is kept")
        if model.twist is not None:
            twist = self.world.relative_twists((model.name,))[0]
            if (model.pose is None and model.parent != WORLD) or not np.isfinite(twist).all():
                self.log.failed("twist", "", f"the motion of its parent '{model.parent}' is not stated")
                twist = None
            else:
                self.log.done("twist", "", "set")
        self._put(body, xyz_quat, twist)

    def _put(self, body: str, xyz_quat: FloatArray | None, twist: FloatArray | None) -> None:
        """Set the target of a body to a pose (7,) and twist (6,) in the world; None keeps the present value."""
        if xyz_quat is None and twist is None:
            return
        present = self.present.bodies[body]
        order = FreeJointState(name=body)
        order.pose.pose = present.pose.pose
        if twist is None:
            # The simulator has the angular velocity in the body's axes, which turn with the new pose.
            held = row_of_twist(present.twist.twist)
            twist = np.concatenate([held[:3], _axes(present.pose.pose) @ held[3:]])
        if xyz_quat is not None:
            order.pose.pose = MAKER.pose(xyz_quat.tolist())
        order.twist.twist = MAKER.twist([*twist[:3], *(twist[3:] @ _axes(order.pose.pose))])
        self.orders.bodies[body] = order


def _axes(pose: PoseMessage) -> FloatArray:
    """Return (3, 3) the orientation of a message."""
    return matrix_from_quat(row_of_pose(pose.position, pose.orientation)[3:])


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
        self._subscriptions = [self._listen(JointStateMessage, JOINTS_TOPIC, self._joints)]

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
        joints = [deserialize_message(data, JointStateMessage) for data in self._joints]
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
        deactivated: list[str] = []
        try:
            active = await self._commanding()
            if active and not ran:
                log.note(
                    "the simulation is paused and its controllers stay on; the controllers may move the robot back: "
                    + ", ".join(active)
                )
            elif active:
                deactivated = active
                # The control loop switches them, and it waits for the clock.
                await self._pause(False)
                answer = await self._switched(off=deactivated)
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
                await self._go_on(deactivated, log)

    async def _go_on(self, deactivated: Sequence[str], log: RestoreLog) -> None:
        """Resume the simulation and the controllers that were switched off; log each failure."""
        missing, reason = list(deactivated), ""
        try:
            if deactivated:
                reason = _message_of(await self._switched(on=deactivated))
                active = await self._commanding()
                missing = [name for name in deactivated if name not in active]
            else:
                await self._pause(False)
        except SimulatorError as error:
            reason = f": {error}"
            if deactivated:
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
