# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Parsing of many messages together, compared with `rosbags`' own decoding of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_semantics.cdr.layout import LayoutError, as_rows
from robot_semantics.cdr.match import LayoutTable
from robot_semantics.cdr.message_types import FIELDS, JOINT_STATE, MULTI_DOF, ODOMETRY, TF_MESSAGE
from robot_semantics.cdr.walk import message_layout


def _serialise(tools: Any, msgtype: str, message: Any, serialisation: str) -> bytes:
    if serialisation == "ros1":
        return bytes(tools.STORE1.serialize_ros1(message, msgtype))
    return bytes(tools.STORE2.serialize_cdr(message, msgtype, little_endian=serialisation == "little"))


def _decode(tools: Any, msgtype: str, data: bytes, serialisation: str) -> Any:
    if serialisation == "ros1":
        return tools.STORE1.deserialize_ros1(data, msgtype)
    return tools.STORE2.deserialize_cdr(data, msgtype)


def _random_tape(tools: Any, rng: np.random.Generator, count: int) -> Any:
    tape = tools.Tape()
    for _ in range(count):
        stamp = int(rng.integers(1, 2**31)) * tools.S + int(rng.integers(tools.S))
        names = ["".join(rng.choice(list("abcé_/"), rng.integers(0, 9))) for _ in range(rng.integers(0, 6))]
        sizes = [rng.choice([0, len(names)]) for _ in range(3)]
        tape.joints(stamp, names, *(rng.normal(size=size) for size in sizes), frame="f" * int(rng.integers(0, 5)))
        rows = [(stamp, f"parent{k}", "c" * k, rng.normal(size=7)) for k in range(rng.integers(1, 5))]
        tape.tf(rows)
        tape.odometry(stamp, "odom", "base", rng.normal(size=7), rng.normal(size=6))
        with_twist = bool(rng.integers(2))
        bodies = [
            (f"j{k}", rng.normal(size=7), rng.normal(size=6) if with_twist else None) for k in range(rng.integers(0, 4))
        ]
        tape.multi_dof(stamp, "world", bodies)
    return tape


def _stamp(message: Any) -> int:
    return int(message.sec) * 1_000_000_000 + int(message.nanosec)


def _vector(value: Any) -> list[float]:
    names = ("x", "y", "z", "w") if hasattr(value, "w") else ("x", "y", "z")
    return [getattr(value, name) for name in names]


@pytest.mark.parametrize("serialisation", ["little", "big", "ros1"])
def test_every_number_and_text_is_what_rosbags_decodes(tools: Any, serialisation: str) -> None:
    rng = np.random.default_rng(3)
    tape = _random_tape(tools, rng, 60)
    store = tools.STORE1 if serialisation == "ros1" else tools.STORE2
    checked = 0
    for msgtype in (JOINT_STATE, TF_MESSAGE, ODOMETRY, MULTI_DOF):
        messages = [_serialise(tools, msgtype, e[3](store), serialisation) for e in tape.events if e[1] == msgtype]
        refused: list[tuple[int, LayoutError]] = []
        seen = set()
        for match in LayoutTable(FIELDS[msgtype], ros1=serialisation == "ros1").sort(messages, refused):
            stamps = match.layout.stamps_ns(match.rows)
            texts = match.layout.texts
            for row, index in enumerate(match.indices.tolist()):
                message = _decode(tools, msgtype, messages[index], serialisation)
                seen.add(index)
                if msgtype == TF_MESSAGE:
                    poses = match.layout.doubles(match.rows, "pose")[row]
                    assert texts["child_frame_id"] == [item.child_frame_id for item in message.transforms]
                    assert texts["frame_id"] == [item.header.frame_id for item in message.transforms]
                    assert stamps[row].tolist() == [_stamp(item.header.stamp) for item in message.transforms]
                    expected = [
                        _vector(t.transform.translation) + _vector(t.transform.rotation) for t in message.transforms
                    ]
                    assert poses.tolist() == expected
                else:
                    assert stamps[row, 0] == _stamp(message.header.stamp)
                    assert texts["frame_id"] == [message.header.frame_id]
                if msgtype == JOINT_STATE:
                    assert texts["name"] == message.name
                    for name in ("position", "velocity", "effort"):
                        assert (
                            match.layout.doubles(match.rows, name)[row, 0].tolist() == getattr(message, name).tolist()
                        )
                if msgtype == ODOMETRY:
                    pose, twist = message.pose.pose, message.twist.twist
                    values = match.layout.doubles(match.rows, "pose")[row, 0].tolist()
                    assert values == _vector(pose.position) + _vector(pose.orientation)
                    values = match.layout.doubles(match.rows, "twist")[row, 0].tolist()
                    assert values == _vector(twist.linear) + _vector(twist.angular)
                if msgtype == MULTI_DOF:
                    assert texts["joint_names"] == message.joint_names
                    values = match.layout.doubles(match.rows, "pose")[row].tolist()
                    assert values == [_vector(t.translation) + _vector(t.rotation) for t in message.transforms]
                    values = match.layout.doubles(match.rows, "twist")[row].tolist()
                    assert values == [_vector(t.linear) + _vector(t.angular) for t in message.twist]
                checked += 1
        assert not refused
        assert len(seen) == len(messages)
    assert checked == 240


def test_messages_of_one_shape_come_out_as_one_block(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(500):
        tape.joints(i + 1, ["a", "b"], [i, -i])
    messages = [tools.cdr(event) for event in tape.events]
    matches = list(LayoutTable(FIELDS[JOINT_STATE], ros1=False).sort(messages, []))
    assert len(matches) == 1
    np.testing.assert_array_equal(matches[0].layout.doubles(matches[0].rows, "position")[:, 0, 0], np.arange(500))


def test_a_text_that_differs_in_one_letter_is_another_shape(tools: Any) -> None:
    tape = tools.Tape()
    for i, name in enumerate(["wrist", "wrisp", "wrist", "Wrist"]):
        tape.joints(i + 1, [name], [i])
    messages = [tools.cdr(event) for event in tape.events]
    found = {}
    for match in LayoutTable(FIELDS[JOINT_STATE], ros1=False).sort(messages, []):
        found[match.layout.texts["name"][0]] = match.layout.doubles(match.rows, "position")[:, 0, 0].tolist()
    assert found == {"wrist": [0.0, 2.0], "wrisp": [1.0], "Wrist": [3.0]}


def test_thousands_of_messages_that_all_differ_are_each_read_once(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(2000):
        tape.joints(i + 1, [f"joint_{i:04}"], [i])
    messages = [tools.cdr(event) for event in tape.events]
    indices = [i for m in LayoutTable(FIELDS[JOINT_STATE], ros1=False).sort(messages, []) for i in m.indices.tolist()]
    assert sorted(indices) == list(range(2000))


def test_padding_bytes_do_not_matter(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(1, ["abc", "de"], [1.0, 2.0])
    clean = tools.cdr(tape.events[0])
    layout = message_layout(clean, FIELDS[JOINT_STATE], ros1=False)
    # After the empty frame id ("" and its zero byte) three bytes fill up to the next count.
    at = 4 + 8 + 4 + 1
    assert (at, at + 3) in layout.free
    dirty = clean[:at] + b"\xaa\xbb\xcc" + clean[at + 3 :]
    assert layout.matches(as_rows([clean, dirty])).all()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda m: b"", "byte 0: not plain CDR: the message starts with nothing"),
        (lambda m: b"\x00\x07" + m[2:], "byte 0: not plain CDR: the message starts with 00070000"),
        (lambda m: m[:40], r"byte \d+: a count of 1 does not fit|byte \d+: 8 bytes are needed"),
        (lambda m: m + b"12345678", "byte 60: 8 bytes are left over"),
        (lambda m: m[:12] + b"\xff\xff\xff\x7f" + m[16:], "byte 12: a count of 2147483647 does not fit into the"),
        (lambda m: m.replace(b"elbow", b"elb\xffw"), "byte 28: name is not UTF-8"),
    ],
)
def test_a_message_that_is_not_whole_is_refused_with_the_byte(tools: Any, damage: Any, reason: str) -> None:
    tape = tools.Tape()
    tape.joints(1, ["elbow"], [1.0])
    message = tools.cdr(tape.events[0])
    refused: list[tuple[int, LayoutError]] = []
    matches = list(LayoutTable(FIELDS[JOINT_STATE], ros1=False).sort([message, damage(message)], refused))
    assert [m.indices.tolist() for m in matches] == [[0]]
    assert [index for index, _ in refused] == [1]
    with pytest.raises(LayoutError, match=reason):
        raise refused[0][1]


def test_ten_thousand_flipped_bytes_raise_nothing_else(tools: Any) -> None:
    rng = np.random.default_rng(5)
    tape = _random_tape(tools, rng, 10)
    refusals = 0
    for event in tape.events:
        clean = tools.cdr(event)
        broken = []
        for _ in range(250):
            data = bytearray(clean)
            for _ in range(rng.integers(1, 4)):
                data[rng.integers(len(data))] = rng.integers(256)
            broken.append(bytes(data[: rng.integers(len(data) // 2, len(data) + 1)]))
        refused: list[tuple[int, LayoutError]] = []
        read = 0
        for match in LayoutTable(FIELDS[event[1]], ros1=False).sort(broken, refused):
            match.layout.stamps_ns(match.rows)
            read += len(match.indices)
        assert read + len(refused) == 250
        refusals += len(refused)
    assert len(tape.events) * 250 == 10_000
    assert refusals > 5_000
