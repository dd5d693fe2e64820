# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A simple node for comparison: rclpy, typed messages, one joint after the other."""

from __future__ import annotations

import math
import os
import signal
import xml.etree.ElementTree as ET

import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

Quaternion = tuple[float, float, float, float]


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def turn(axis: list[float], angle: float) -> Quaternion:
    s = math.sin(angle / 2.0)
    return axis[0] * s, axis[1] * s, axis[2] * s, math.cos(angle / 2.0)


class NaiveNode(Node):  # type: ignore[misc]  # rclpy is typed in part
    """Node for revolute joints; every message must name all joints."""

    def __init__(self) -> None:
        super().__init__("naive")
        self.joints = {}
        for joint in ET.fromstring(self.declare_parameter("robot_description", "").value).iter("joint"):
            if joint.get("type") != "revolute":
                continue
            origin, axis, parent, child = (joint.find(tag) for tag in ("origin", "axis", "parent", "child"))
            assert origin is not None
            assert axis is not None
            assert parent is not None
            assert child is not None
            xyz = [float(word) for word in origin.get("xyz", "").split()]
            roll, pitch, yaw = (float(word) for word in origin.get("rpy", "").split())
            rotation = multiply(multiply(turn([0, 0, 1], yaw), turn([0, 1, 0], pitch)), turn([1, 0, 0], roll))
            direction = [float(word) for word in axis.get("xyz", "").split()]
            self.joints[joint.get("name")] = (parent.get("link"), child.get("link"), xyz, rotation, direction)
        self.publisher = self.create_publisher(TFMessage, "/tf", 100)
        self.create_subscription(JointState, "joint_states", self.on_joint_state, qos_profile_sensor_data)

    def on_joint_state(self, message: JointState) -> None:
        """Publish the transforms of a joint state."""
        transforms = []
        for name, position in zip(message.name, message.position, strict=True):
            parent, child, xyz, rotation, axis = self.joints[name]
            item = TransformStamped()
            item.header.stamp = message.header.stamp
            item.header.frame_id, item.child_frame_id = parent, child
            where, q = item.transform.translation, item.transform.rotation
            where.x, where.y, where.z = xyz
            q.x, q.y, q.z, q.w = multiply(rotation, turn(axis, position))
            transforms.append(item)
        self.publisher.publish(TFMessage(transforms=transforms))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    rclpy.spin(NaiveNode())
