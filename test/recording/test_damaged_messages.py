# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Damaged messages in JSON and protobuf: each mapped schema with each kind of damage, and damaged MCAP around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcap.writer import Writer as McapWriter

from robot_semantics.recording.bags import encodings

START = 1_700_000_000
STAMP = {"sec": START, "nanosec": 0}
HEADER = {"stamp": STAMP, "frame_id": "map"}
VECTOR = {"x": 1.0, "y": 0.0, "z": 0.0}
TURN = {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}
TRANSFORM = {"translation": VECTOR, "rotation": TURN}
POSE = {"position": VECTOR, "orientation": TURN}
TIME = {"sec": START, "nsec": 0}
FRAME_TRANSFORM = {"timestamp": TIME, "parent_frame_id": "map", "child_frame_id": "c", **TRANSFORM}
STAMPED = {"header": HEADER, "child_frame_id": "c", "transform": TRANSFORM}
TWIST = {"twist": {"linear": VECTOR, "angular": VECTOR}}

MESSAGES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "foxglove/FrameTransform": (FRAME_TRANSFORM, ()),
    "foxglove/FrameTransforms": ({"transforms": [FRAME_TRANSFORM]}, ()),
    "foxglove/JointStates": ({"timestamp": TIME, "joints": [{"name": "j", "position": 1.0}]}, ("--joint-states",)),
    "foxglove/Odometry": ({"timestamp": TIME, "frame_id": "map", "body_frame_id": "b", "pose": POSE}, ()),
    "foxglove/PoseInFrame": ({"timestamp": TIME, "frame_id": "map", "pose": POSE}, ("--pose-topic",)),
    "geometry_msgs/PoseStamped": ({"header": HEADER, "pose": POSE}, ("--pose-topic",)),
    "geometry_msgs/PoseWithCovarianceStamped": ({"header": HEADER, "pose": {"pose": POSE}}, ("--pose-topic",)),
    "geometry_msgs/TransformStamped": (STAMPED, ("--tf-topic",)),
    "nav_msgs/Odometry": ({"header": HEADER, "child_frame_id": "b", "pose": {"pose": POSE}, "twist": TWIST}, ()),
    "sensor_msgs/JointState": ({"header": HEADER, "name": ["j"], "position": [1.0]}, ("--joint-states",)),
    "sensor_msgs/MultiDOFJointState": (
        {"header": HEADER, "joint_names": ["b"], "transforms": [TRANSFORM], "twist": [TWIST["twist"]]},
        (),
    ),
    "std_msgs/String": ({"data": "text"}, ()),
    "tf/tfMessage": ({"transforms": [STAMPED]}, ("--tf-topic",)),
    "tf2_msgs/TFMessage": ({"transforms": [STAMPED]}, ("--tf-topic",)),
}
"""A good message of each schema, and the option that reads its topic."""

RAW = [b"", b" ", b'{"header": {"sta', bytes(range(256)), b'{"a":"\xff"}', b"[" * 100_000, b"NaN", b"[1,2]", b"3"]
RAW += [b"null", b'"x"', b"true", b'{"data": "\\ud800"}', b"9" * 5_000]
VALUES: list[Any] = [[1, 2], [[1]], [None], [{}], "text", "\ud800", 3, 1.5, -5, 10**30, 10**400, True, {"a": 1}]
NOT_PLAIN = re.compile(
    r"Error|Exception|object has|codec|NoneType|literal|DESCRIPTOR|Traceback|\bdict\b|\bstr\b|\d{41}"
)


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from nodes(inner, (*path, key))


def put(message: Any, path: tuple[Any, ...], new: Any) -> Any:
    copy = json.loads(json.dumps(message))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return copy


def without(message: Any, path: tuple[Any, ...]) -> Any:
    copy = json.loads(json.dumps(message))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return copy


def damaged(message: dict[str, Any]) -> Iterator[bytes]:
    yield from RAW
    for path in nodes(message):
        if path:
            yield json.dumps(without(message, path)).encode()
            for value in (*VALUES, None):
                yield json.dumps(put(message, path, value)).encode()


def write(path: Path, schema: str, messages: list[bytes], encoding: str = "json", definition: bytes = b"{}") -> Path:
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="", library="test")
        for topic, name, form in (("/good", "sensor_msgs/JointState", "json"), ("/x", schema, encoding)):
            number = writer.register_schema(name, "jsonschema" if form == "json" else form, definition)
            channel = writer.register_channel(topic, form, number)
            good = {"header": {"stamp": STAMP, "frame_id": ""}, "name": ["q"], "position": [0.5]}
            for index, data in enumerate([json.dumps(good).encode()] if topic == "/good" else messages):
                writer.add_message(channel, START * 10**9 + index, data, START * 10**9)
        writer.finish()
    return path


def refused(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if "refused" in line and "'/x'" in line]


def check_lines(stderr: str) -> None:
    for line in stderr.splitlines():
        assert not NOT_PLAIN.search(line.partition("mcap: ")[2]), line
        assert len(line.partition("mcap: ")[2]) < 250, line


def test_the_table_has_a_message_of_each_schema() -> None:
    assert set(MESSAGES) == set(encodings._SCHEMAS)


@pytest.mark.parametrize("schema", MESSAGES)
def test_each_damage_of_json_is_refused_in_one_plain_sentence(tools: Any, schema: str) -> None:
    message, options = MESSAGES[schema]
    words = [word for option in options for word in (option, "/x")]
    words += ["--joint-states", "/good"]
    out = tools.folder / "x.npz"
    assert not refused(tools.run("export", write(tools.folder / "a.mcap", schema, []), *words, "-o", out)[2])
    bag = write(tools.folder / "a.mcap", schema, list(damaged(message)))
    code, _, stderr = tools.run("export", bag, *words, "-o", out, "--force")
    assert code == 0, stderr
    lines = refused(stderr)
    # A text is read only where it is a description.
    assert len(lines) > 8 or schema == "std_msgs/String", stderr
    check_lines(stderr)


@pytest.mark.parametrize("schema", MESSAGES)
def test_each_damage_of_protobuf_is_refused_in_one_plain_sentence(tools: Any, schema: str) -> None:
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    file = descriptor_pb2.FileDescriptorProto(name="a.proto", package=schema.split("/")[0], syntax="proto3")
    kind = file.message_type.add(name=schema.split("/")[1])
    # Every field of the schema is a text, or a list of texts.
    for number, key in enumerate(MESSAGES[schema][0], 1):
        kind.field.add(name=key, number=number, label=3 if number % 2 else 1, type=9)
    definition = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    data = [b"\xff\xff", b"", b"\x0a\x01a", b"\x0a\x01a\x12\x01b", b"\x0a\xff\xff\xff\xff\x0f", b"\x08\x01"]
    options = MESSAGES[schema][1]
    words = [word for option in options for word in (option, "/x")]
    words += ["--joint-states", "/good"]
    name = schema.replace("/", ".")
    for number, form in enumerate((definition, b"", b"\xff nonsense", definition[: len(definition) // 2])):
        bag = write(tools.folder / f"{number}.mcap", name, data, "protobuf", form)
        code, _, stderr = tools.run("export", bag, *words, "-o", tools.folder / "x.npz", "--force")
        assert code == 0, stderr
        assert refused(stderr) or schema == "std_msgs/String", stderr
        check_lines(stderr)


CUTS = (0, 4, 8, 20, 60, 200, 0.3, 0.5, 0.9, -30, -9, -1)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("change", ["cut", "flip", "zeros"])
def test_a_damaged_mcap_of_json_is_told_in_plain_sentences(tools: Any, cut: float, change: str) -> None:
    message = {"header": HEADER, "name": ["j"], "position": [1.0]}
    bag = write(tools.folder / "a.mcap", "sensor_msgs/JointState", [json.dumps(message).encode()] * 20)
    data = bytearray(bag.read_bytes())
    place = int(cut * len(data)) if 0 < cut < 1 else int(cut) % len(data)
    if change == "cut":
        del data[place:]
    elif change == "flip":
        data[place] ^= 0x55
    else:
        data[place : place + 40] = bytes(len(data[place : place + 40]))
    (tools.folder / "b.mcap").write_bytes(data)
    _, _, stderr = tools.run("export", tools.folder / "b.mcap", "-o", tools.folder / "x.npz", "--joint-states", "/x")
    check_lines(stderr)
    assert "()" not in stderr
    assert "rofile" not in stderr


@pytest.mark.parametrize(
    ("encoding", "schema", "text"),
    [
        ("json", "", "'/tf' is not read: its messages are without a schema, not tf2_msgs/msg/TFMessage"),
        ("cdr", "", "'/tf' is not read: its messages are without a schema, not tf2_msgs/msg/TFMessage"),
        ("json", "mine/Foo", "'/tf' is not read: its messages are mine/Foo, not tf2_msgs/msg/TFMessage"),
        ("cbor", "mine/Foo", "'/tf' is not read: its messages are in the encoding 'cbor', not tf2_msgs/msg/TFMessage"),
    ],
)
def test_a_topic_without_a_known_form_is_named(tools: Any, encoding: str, schema: str, text: str) -> None:
    path = tools.folder / "a.mcap"
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="ros2" if encoding == "cdr" else "", library="test")
        number = writer.register_schema(schema, "ros2msg" if encoding == "cdr" else "", b"")
        channel = writer.register_channel("/tf", encoding, number)
        writer.add_message(channel, START * 10**9, b"{}", START * 10**9)
        writer.finish()
    code, _, stderr = tools.run("export", path, "-o", tools.folder / "x.npz")
    assert code == 1
    assert text in stderr
    assert "Error" not in stderr
    empty = tools.folder / "b.mcap"
    with empty.open("wb") as stream:
        nothing: Any = McapWriter(stream)
        nothing.start(profile="", library="test")
        nothing.finish()
    assert "the bag has no messages" in tools.run("export", empty, "-o", tools.folder / "x.npz")[2]
