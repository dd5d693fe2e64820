# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bytes that are not a message: each is counted as malformed, the log is rate limited, and valid messages continue."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest
from rclpy.serialization import serialize_message
from robot_semantics_interfaces.srv import GetStatus
from sensor_msgs.msg import JointState
from support.nodes import Client, NodeProcess, joint_state
from tf2_msgs.msg import TFMessage

from robot_semantics.examples import example

pytestmark = pytest.mark.ros

NODE = "/robot_semantics"


def garbage() -> list[bytes]:
    rng = random.Random(5)
    sound = serialize_message(joint_state({"elbow_joint": 0.5}, velocity=[1.0], effort=[2.0]))
    head = b"\x00\x01\x00\x00" + struct.pack("<iI", 1, 2)
    big = b"\x00\x00\x00\x00" + struct.pack(">iI", 1, 2)
    return [
        # On the way a message is filled up to a multiple of four bytes.
        *(sound[:end] for end in range(4, len(sound) - 4, 3)),
        *(rng.randbytes(rng.randrange(1, 200)) for _ in range(20)),
        head + b"\xff" * 40,
        head + struct.pack("<I", 1) + b"\0\0\0\0" + struct.pack("<I", 0x7FFFFFFF) * 20,
        big + struct.pack(">I", 1) + b"\0\0\0\0" + struct.pack(">I", 0x7FFFFFFF) * 20,
        b"hello, this is no CDR at all",
    ]


def test_every_broken_message_is_counted_and_none_is_used(client: Client, start: Callable[..., NodeProcess]) -> None:
    reliable = {"qos_overrides./joint_states.subscription.reliability": "reliable"}
    deep = {"qos_overrides./joint_states.subscription.depth": 1000}
    node = start(robot_description=example("rover_arm.urdf").read_text(), publish_frequency=1000.0, **reliable, **deep)
    publisher = client.publisher(JointState, "joint_states", 1000)
    sent = 0

    def sound() -> JointState:
        nonlocal sent
        sent += 1
        return joint_state({"elbow_joint": 0.5})

    client.publish_until(publisher, sound, lambda: client.transforms, "transforms of a sound message")

    def status() -> GetStatus.Response:
        return client.call(GetStatus, f"{NODE}/get_status")

    broken = garbage()
    for data in broken:
        publisher.publish(data)
    tf = client.publisher(TFMessage, "/tf", 1000)
    for data in broken:
        tf.publish(data)
    client.until(lambda: status().joint_states_received == sent + len(broken), "all of them")
    after = status()
    counts = {item.reason: item.count for item in after.refusals}
    assert counts["malformed"] == len(broken)
    assert after.joint_states_used == sent
    client.transforms.clear()
    client.publish_until(publisher, sound, lambda: client.transforms, "transforms afterwards")
    assert "Traceback" not in node.output
    assert node.output.count("its bytes are not a joint state") < 5
    assert len(node.output) < 20_000
