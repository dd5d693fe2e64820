# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A small mujoco_ros2_control: MuJoCo behind its topics and services, and a controller manager with two controllers."""

from __future__ import annotations

import threading
import time
from typing import Any

import mujoco
import numpy as np
import rclpy
from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers, SwitchController
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from mujoco_ros2_control_msgs.msg import FreeJointState, FreeJointStateArray
from mujoco_ros2_control_msgs.srv import ResetWorld, SetFreeJointState, SetPause, StepSimulation
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from sensor_msgs.msg import JointState

CONTROLLER = "arm_controller"
BROADCASTER = "joint_state_broadcaster"
STEPS_A_CYCLE = 5


class ControlledMujoco:
    """A simulation in its own thread; `calls` has its calls, `told` its output at each stamp."""

    def __init__(self, domain: int, mjcf: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(mjcf)
        self.data = mujoco.MjData(self.model)
        self.lock = threading.RLock()
        self._switched = threading.Condition(self.lock)
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("mujoco_ros2_control_node", context=self.context)
        # The plugin has a namespace of its own below the node's.
        self._bodies = self.node.create_publisher(FreeJointStateArray, "/free_joints/free_joint_states", 10)
        self._joints = self.node.create_publisher(JointState, "/mujoco_actuators_states", 100)
        self.told: dict[int, tuple[Any, Any]] = {}
        self.reset()
        group = ReentrantCallbackGroup()
        own, manager = "/mujoco_ros2_control_node", "/controller_manager"
        for kind, name, answer in (
            (SetPause, f"{own}/set_pause", self._set_pause),
            (StepSimulation, f"{own}/step_simulation", self._step),
            (ResetWorld, f"{own}/reset_world", self._reset_world),
            (SetFreeJointState, f"{own}/set_free_joint_state", self._set_bodies),
            (ListControllers, f"{manager}/list_controllers", self._list),
            (SwitchController, f"{manager}/switch_controller", self._switch),
        ):
            self.node.create_service(kind, name, answer, callback_group=group)
        self._executor = MultiThreadedExecutor(3, context=self.context)
        self._executor.add_node(self.node)
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._spin, self._simulate)]
        for thread in self._threads:
            thread.start()

    def reset(self) -> None:
        """Put everything to how it is at the start, but for the time, which goes on."""
        with self.lock:
            self._as_at_the_start()
            self.began = float(self.data.time)
            self.running = True
            self.active = [CONTROLLER, BROADCASTER]
            self.setpoint = np.zeros(self.model.nu)
            self.switch: tuple[list[str], list[str]] | None = None
            self.refused = self.pause_refused = ""
            self.breaks_at_reset = self.broken = False
            self.calls: list[str] = []
            self.at_reset: tuple[Any, Any] | None = None

    def close(self) -> None:
        """End the simulation."""
        rclpy.shutdown(context=self.context)
        for thread in self._threads:
            thread.join(5.0)

    def _spin(self) -> None:
        while self.context.ok():
            try:
                self._executor.spin_once(timeout_sec=0.1)
            except ExternalShutdownException:
                return

    # --- the simulation and its control cycles

    def _simulate(self) -> None:
        while self.context.ok():
            with self.lock:
                if self.running:
                    self._cycle()
            time.sleep(0.01)

    def _cycle(self) -> None:
        if self.switch is not None:
            on, off = self.switch
            self.active = [name for name in (*self.active, *on) if name not in off]
            self.switch = None
            self._switched.notify_all()
        if CONTROLLER in self.active:
            self.data.ctrl[:] = self.setpoint
        mujoco.mj_step(self.model, self.data, STEPS_A_CYCLE)
        self._tell()

    def _tell(self) -> None:
        model, data = self.model, self.data
        joints, bodies = JointState(), FreeJointStateArray()
        stamp_ns = round(float(data.time) * 1e9)
        for header in (joints.header, bodies.header):
            header.stamp.sec, header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
        for index in range(model.njnt):
            qpos, qvel = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
            if model.jnt_type[index] != mujoco.mjtJoint.mjJNT_FREE:
                joints.name.append(model.joint(index).name)
                joints.position.append(float(data.qpos[qpos]))
                joints.velocity.append(float(data.qvel[qvel]))
                joints.effort.append(float(data.qfrc_actuator[qvel]))
                continue
            place, rates = data.qpos[qpos : qpos + 7].tolist(), data.qvel[qvel : qvel + 6].tolist()
            body = FreeJointState(name=model.body(int(model.jnt_bodyid[index])).name)
            w, x, y, z = place[3:]
            turn = Quaternion(x=x, y=y, z=z, w=w)
            body.pose.pose = Pose(position=Point(**dict(zip("xyz", place[:3], strict=True))), orientation=turn)
            linear, angular = (Vector3(**dict(zip("xyz", half, strict=True))) for half in (rates[:3], rates[3:]))
            body.twist.twist = Twist(linear=linear, angular=angular)
            bodies.free_joints.append(body)
        if not self.context.ok():
            return
        self._joints.publish(joints)
        self._bodies.publish(bodies)
        self.told[stamp_ns] = (np.array(data.qpos), np.array(data.qvel))

    # --- its services

    def _set_pause(self, request: Any, response: Any) -> Any:
        with self.lock:
            if request.paused and CONTROLLER not in self.active and self.pause_refused:
                response.message = self.pause_refused
                return response
            response.success = True
            if request.paused == (not self.running):
                response.message = f"Simulation is already {'paused' if request.paused else 'running'}."
                return response
            self.running = not request.paused
            self.calls.append("pause" if request.paused else "go on")
            response.message = f"Simulation {'paused' if request.paused else 'resumed'}."
        return response

    def _step(self, request: Any, response: Any) -> Any:
        with self.lock:
            response.success = not self.running
            if response.success:
                mujoco.mj_step(self.model, self.data, request.steps)
        return response

    def _reset_world(self, request: Any, response: Any) -> Any:
        with self.lock:
            self.calls.append("reset")
            self.broken = self.breaks_at_reset
            model, data = self.model, self.data
            joints, bodies = request.state_overrides.joint_states, request.state_overrides.free_joints
            response.success = not (self.refused or self._wrong(joints, bodies))
            response.message = self.refused or self._wrong(joints, bodies)
            if not response.success:
                return response
            self._as_at_the_start()
            for name, position, velocity in zip(joints.name, joints.position, joints.velocity, strict=True):
                joint = model.joint(name)
                data.qpos[joint.qposadr[0]], data.qvel[joint.dofadr[0]] = position, velocity
            self._put(bodies)
            mujoco.mj_forward(model, data)
            # Its hardware interface commands each position-controlled joint to where it is.
            data.ctrl[:] = [data.qpos[model.jnt_qposadr[model.actuator_trnid[at, 0]]] for at in range(model.nu)]
            self.at_reset = (np.array(data.qpos), np.array(data.qvel))
        return response

    def _as_at_the_start(self) -> None:
        at = float(self.data.time)
        mujoco.mj_resetData(self.model, self.data)
        self.data.time = at

    def _wrong(self, joints: Any, bodies: Any) -> str:
        known = [self.model.joint(index).name for index in range(self.model.njnt)]
        for index, name in enumerate(joints.name):
            if name not in known:
                return f"Entry {index} ('{name}'): Unknown joint name."
        for index, body in enumerate(bodies):
            if body.name not in [self.model.body(at).name for at in range(self.model.nbody)]:
                return f"Entry {index} ('{body.name}'): Unknown body name."
        return "Leave 'effort' empty." if joints.effort else ""

    def _put(self, bodies: Any) -> None:
        for body in bodies:
            joint = self.model.jnt_dofadr[self.model.body(body.name).jntadr[0]]
            place = self.model.jnt_qposadr[self.model.body(body.name).jntadr[0]]
            at, turn = body.pose.pose.position, body.pose.pose.orientation
            linear, angular = body.twist.twist.linear, body.twist.twist.angular
            self.data.qpos[place : place + 7] = at.x, at.y, at.z, turn.w, turn.x, turn.y, turn.z
            self.data.qvel[joint : joint + 6] = linear.x, linear.y, linear.z, angular.x, angular.y, angular.z

    def _set_bodies(self, request: Any, response: Any) -> Any:
        with self.lock:
            self.calls.append("set " + " ".join(body.name for body in request.free_joints))
            response.success, response.message = True, self._wrong(JointState(), request.free_joints)
            self._put(request.free_joints)
        return response

    # --- its controller manager

    def _list(self, _request: Any, response: Any) -> Any:
        for name in (CONTROLLER, BROADCASTER):
            active = name in self.active
            claimed = ["turn/position", "lift/position"] if active and name == CONTROLLER else []
            state = "active" if active else "inactive"
            response.controller.append(ControllerState(name=name, state=state, claimed_interfaces=claimed))
        return response

    def _switch(self, request: Any, response: Any) -> Any:
        on, off = list(request.activate_controllers), list(request.deactivate_controllers)
        with self.lock:
            self.calls.append(" ".join(["on", *on] if on else ["off", *off]))
            if on and self.broken:
                response.ok, response.message = False, "the gripper's cable is torn"
                return response
            self.switch = (on, off)
            response.ok = self._switched.wait_for(lambda: self.switch is None, request.timeout.sec or None)
        return response
