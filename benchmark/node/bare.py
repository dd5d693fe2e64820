# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A minimal node that answers a joint state with an empty message, to measure rclpy's own start."""

from __future__ import annotations

import os
import signal

import rclpy
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("bare")
    publisher = node.create_publisher(TFMessage, "/tf", 100)
    node.create_subscription(
        JointState, "joint_states", lambda _message: publisher.publish(TFMessage()), qos_profile_sensor_data
    )
    rclpy.spin(node)
