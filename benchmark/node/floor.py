# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The minimum for a Python node: wait for one subscription, take bytes, publish the same number of constant bytes."""

from __future__ import annotations

import os
import signal

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings
from robot_semantics.model.loading import robot_from_text


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("floor")
    urdf = node.declare_parameter("robot_description", "").value
    robot = RunningRobot("floor", robot_from_text(urdf), RobotSettings(default_positions="zero"))
    (data,) = robot.everything(0)
    assert isinstance(data, bytes)
    publisher = node.create_publisher(TFMessage, "/tf", 100)
    subscription = node.create_subscription(
        JointState, "joint_states", lambda _data: None, qos_profile_sensor_data, raw=True
    )
    handle = subscription.handle
    wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
    while rclpy.ok():
        wait_set.clear_entities()
        wait_set.add_subscription(handle)
        wait_set.wait(100_000_000)
        while (taken := handle.take_message(JointState, True)) is not None:
            # Copy the stamp, eight bytes in the first transform, so that the latency can be measured.
            publisher.publish(data[:8] + taken[0][4:12] + data[16:])


if __name__ == "__main__":
    main()
