# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Raw messages are what rclpy makes of the typed ones, whatever their names; broken ones are errors, never nonsense."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (make setup, or a ROS 2 environment)")

from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from robot_semantics.cdr.fill import TransformMessage
from robot_semantics.cdr.joint_states import JointStateReader
from robot_semantics.cdr.layout import CdrError
from robot_semantics.cdr.walk import transform_children
from robot_semantics.ros.messages.tf_messages import raw_transforms_agree


def random_name(rng: random.Random) -> str:
    return "".join(rng.choice("abcß_/1") for _ in range(rng.randrange(0, 12)))


def random_state(rng: random.Random) -> JointState:
    count = rng.randrange(0, 6)
    message = JointState(name=[random_name(rng) for _ in range(count)])
    message.header.frame_id = random_name(rng)
    message.header.stamp.sec, message.header.stamp.nanosec = rng.randrange(-(2**31), 2**31), rng.randrange(0, 10**9)
    for field in ("position", "velocity", "effort"):
        setattr(message, field, [rng.uniform(-9, 9) for _ in range(rng.choice([0, count, rng.randrange(0, 6)]))])
    return message


def test_joint_states_are_read_as_rclpy_wrote_them() -> None:
    rng, reader = random.Random(1), JointStateReader()
    checked = 0
    for _ in range(500):
        message = random_state(rng)
        data = reader.read(serialize_message(message))
        assert data.names == tuple(message.name)
        assert data.stamp_ns == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        assert list(data.position) == list(message.position)
        assert [list(part) for part in (data.velocity, data.effort)] == [list(message.velocity), list(message.effort)]
        checked += 1
    assert checked == 500


def test_the_same_names_are_the_same_object_and_other_names_are_not() -> None:
    reader = JointStateReader()
    one = serialize_message(JointState(name=["a", "b"], position=[1.0, 2.0]))
    longer = serialize_message(JointState(name=["a", "b", "c"], position=[1.0, 2.0, 3.0]))
    first = reader.read(one)
    assert reader.read(one).names is first.names
    assert reader.read(longer).names == ("a", "b", "c")
    assert reader.read(one).names is first.names


def test_broken_joint_states_are_errors_and_never_crash() -> None:
    rng = random.Random(2)
    refused = read = 0
    for _ in range(20_000):
        data = bytearray(serialize_message(random_state(rng)))
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.5:
            del data[rng.randrange(len(data) // 2, len(data) + 1) :]
        try:
            JointStateReader().read(bytes(data))
            read += 1
        except CdrError:
            refused += 1
    assert refused > 2000
    assert read > 2000


def test_a_count_that_no_message_can_hold_is_refused_before_anything_is_made_of_it() -> None:
    data = b"\0\1\0\0" + bytes(8) + b"\1\0\0\0\0\0\0\0" + b"\xff\xff\xff\x7f" + b"\1\0\0\0\0\0\0\0"
    with pytest.raises(CdrError, match=r"^byte 20: a count of 2147483647 does not fit into the 8 bytes left$"):
        JointStateReader().read(data)


def test_a_big_endian_message_is_left_to_rclpy() -> None:
    data = serialize_message(JointState(name=["a"]))
    with pytest.raises(CdrError, match="encapsulation 0000 is not little-endian CDR"):
        JointStateReader().read(b"\x00\x00" + data[2:])


def random_frames(rng: random.Random) -> list[tuple[str, str]]:
    return [(random_name(rng), random_name(rng)) for _ in range(rng.randrange(0, 9))]


def test_transforms_are_written_as_rclpy_reads_them() -> None:
    rng, values_rng = random.Random(3), np.random.default_rng(3)
    checked = 0
    for _ in range(200):
        frames = random_frames(rng)
        values = values_rng.normal(size=(len(frames), 7))
        raw = TransformMessage(frames).write(1_234_567_890_987_654_321, values)
        items = deserialize_message(raw, TFMessage).transforms
        assert [(item.header.frame_id, item.child_frame_id) for item in items] == frames
        for item, row in zip(items, values, strict=True):
            assert (item.header.stamp.sec, item.header.stamp.nanosec) == (1_234_567_890, 987_654_321)
            where, q = item.transform.translation, item.transform.rotation
            assert [where.x, where.y, where.z, q.x, q.y, q.z, q.w] == row.tolist()
        assert list(transform_children(raw)) == [child for _, child in frames]
        checked += len(frames)
    assert checked > 500


def test_child_frames_of_broken_messages_are_those_before_the_fault() -> None:
    message = TFMessage(transforms=[TransformStamped(child_frame_id=name) for name in ("a", "b", "c")])
    data = serialize_message(message)
    assert list(transform_children(data[:100])) == ["a"]
    assert list(transform_children(b"")) == []
    assert list(transform_children(b"\x00\x01\x00\x00" + struct.pack("<I", 7))) == []


def test_the_start_up_check_agrees_with_this_middleware() -> None:
    assert raw_transforms_agree()
