# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Publisher of joint states at a constant rate: JOINTS RATE_HZ SECONDS."""

from __future__ import annotations

import math
import os
import signal
import struct
import sys
import time

import rclpy
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from benchmark.node.robots import joint_names


def main(joints: int, rate_hz: float, seconds: float) -> None:
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("bench_publisher")
    publisher = node.create_publisher(JointState, "joint_states", 10)
    while not publisher.get_subscription_count():
        time.sleep(0.02)
    message = JointState(name=joint_names(joints))
    message.velocity = [0.0] * joints
    begin = next_s = time.perf_counter()
    number = 0
    # A few different positions, made before the start: this process must not take the other's time.
    bodies = []
    for phase in range(16):
        message.position = [math.sin(phase + joint) for joint in range(joints)]
        bodies.append(bytearray(serialize_message(message)))
    while next_s - begin < seconds:
        body = bodies[number % len(bodies)]
        struct.pack_into("<iI", body, 4, *divmod(time.time_ns(), 1_000_000_000))
        publisher.publish(bytes(body))
        number += 1
        next_s += 1.0 / rate_hz
        wait = next_s - time.perf_counter()
        if wait > 0.0:
            time.sleep(wait)
    # Before the interpreter ends: its end destroys the middleware's threads in any order, which may abort.
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    # It is usually stopped while it publishes.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
