# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MCAP with messages in JSON and protobuf, written by `mcap` and `mcap_protobuf`, beside the same bag in CDR."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter

descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
mcap_protobuf = pytest.importorskip("mcap_protobuf.schema")

ROBOT = """<robot name="arm"><link name="base"/><link name="tip"/>
 <joint name="hinge" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>"""
HALF = 0.5**0.5
COUNT = 20

Row = tuple[str, str, int, dict[str, Any]]
"""Topic, schema, log time and the message as of JSON."""


def xyz(x: float, y: float = 0.0, z: float = 0.0) -> dict[str, float]:
    return {"x": x, "y": y, "z": z}


def quaternion() -> dict[str, float]:
    return {"x": 0.0, "y": 0.0, "z": HALF, "w": HALF}


def stamp_of(time_ns: int, names: tuple[str, str]) -> dict[str, int]:
    return dict(zip(names, divmod(time_ns, 1_000_000_000), strict=True))


def foxglove_rows(
    start: int, names: tuple[str, str] = ("sec", "nsec"), transforms: str = "FrameTransforms"
) -> list[Row]:
    """Return the drive by the schemas of Foxglove."""
    found: list[Row] = [("/robot_description", "std_msgs/String", start, {"data": ROBOT})]
    for i in range(COUNT):
        time = start + i * 100_000_000
        stamp = stamp_of(time, names)
        joint = {"name": "hinge", "position": 0.1 * i, "velocity": 1.0}
        found.append(("/joints", "foxglove.JointStates", time, {"timestamp": stamp, "joints": [joint]}))
        transform = {"timestamp": stamp, "parent_frame_id": "map", "child_frame_id": "odom"}
        transform |= {"translation": xyz(5.0), "rotation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
        message = {"transforms": [transform]} if transforms == "FrameTransforms" else transform
        found.append(("/transforms", f"foxglove.{transforms}", time, message))
        odometry = {"timestamp": stamp, "frame_id": "odom", "body_frame_id": "base"}
        odometry |= {"pose": {"position": xyz(0.2 * i, 1.0), "orientation": quaternion()}}
        odometry |= {"linear_velocity": xyz(2.0), "angular_velocity": xyz(0.0, 0.0, 0.5)}
        found.append(("/odom", "foxglove.Odometry", time, odometry))
        found.append(("/camera", "foxglove.CompressedImage", time, {"timestamp": stamp, "data": "AAAA"}))
    return found


def ros_rows(start: int, names: tuple[str, str] = ("sec", "nanosec"), package: str = "{}/{}") -> list[Row]:
    """Return the drive by the schemas of ROS."""

    def named(text: str) -> str:
        return package.format(*text.split("/"))

    found: list[Row] = [("/robot_description", named("std_msgs/String"), start, {"data": ROBOT})]
    for i in range(COUNT):
        time = start + i * 100_000_000

        def header(frame: str, time: int = time) -> dict[str, Any]:
            return {"stamp": stamp_of(time, names), "frame_id": frame}

        joints = {"header": header(""), "name": ["hinge"], "position": [0.1 * i], "velocity": [1.0], "effort": []}
        found.append(("/joint_states", named("sensor_msgs/JointState"), time, joints))
        transform = {"translation": xyz(5.0), "rotation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
        stamped = {"header": header("map"), "child_frame_id": "odom", "transform": transform}
        found.append(("/tf", named("tf2_msgs/TFMessage"), time, {"transforms": [stamped]}))
        place = {"position": xyz(0.2 * i, 1.0), "orientation": quaternion()}
        odometry = {"header": header("odom"), "child_frame_id": "base"}
        odometry["pose"] = {"pose": place, "covariance": [0.0] * 36}
        odometry["twist"] = {"twist": {"linear": xyz(2.0), "angular": xyz(0.0, 0.0, 0.5)}, "covariance": [0.0] * 36}
        found.append(("/odom", named("nav_msgs/Odometry"), time, odometry))
    return found


def write_json(path: Path, rows: list[Row], compression: CompressionType = CompressionType.ZSTD) -> Path:
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream, chunk_size=4096, compression=compression)
        writer.start(profile="", library="test")
        channels: dict[str, int] = {}
        for topic, schema, log_ns, message in rows:
            if topic not in channels:
                number = writer.register_schema(schema, "jsonschema", b'{"type": "object"}')
                channels[topic] = writer.register_channel(topic, "json", number)
            writer.add_message(channels[topic], log_ns, json.dumps(message).encode(), log_ns)
        writer.finish()
    return path


class Protobuf:
    """Builds classes of protobuf from example messages: a field for each key of a dict, in its order."""

    def __init__(self) -> None:
        from google.protobuf import descriptor_pool, message_factory

        self._pool, self._factory = descriptor_pool.DescriptorPool(), message_factory
        self._files = 0

    def class_of(self, name: str, example: dict[str, Any]) -> Any:
        package, _, kind = name.rpartition(".")
        self._files += 1
        file = descriptor_pb2.FileDescriptorProto(name=f"{self._files}.proto", package=package, syntax="proto3")
        self._add(file.message_type.add(name=kind), f".{name}", example)
        self._pool.Add(file)
        return self._factory.GetMessageClass(self._pool.FindMessageTypeByName(name))

    def _add(self, message: Any, full: str, example: dict[str, Any]) -> None:
        kinds = {str: 9, float: 1, int: 3}
        for number, (key, value) in enumerate(example.items(), 1):
            several = isinstance(value, list)
            item = (value[0] if value else 0.0) if several else value
            field = message.field.add(name=key, number=number, label=3 if several else 1)
            if isinstance(item, dict):
                field.type, field.type_name = 11, f"{full}.{key.title()}Type"
                self._add(message.nested_type.add(name=f"{key.title()}Type"), field.type_name, item)
            else:
                field.type = kinds[type(item)]
                if key in ("position", "velocity", "effort") and not several:
                    # An optional number, as Foxglove has it.
                    field.proto3_optional = True
                    field.oneof_index = len(message.oneof_decl)
                    message.oneof_decl.add(name=f"_{key}")


def write_protobuf(path: Path, rows: list[Row]) -> Path:
    from google.protobuf import json_format

    classes, made = Protobuf(), dict[str, Any]()
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream, chunk_size=4096)
        writer.start(profile="", library="test")
        channels: dict[str, int] = {}
        for topic, schema, log_ns, message in rows:
            name = schema.replace("/", ".")
            if topic not in channels:
                made[topic] = classes.class_of(name, message)
                channels[topic] = writer.register_channel(
                    topic, "protobuf", mcap_protobuf.register_schema(writer, made[topic])
                )
            data = json_format.ParseDict(message, made[topic]()).SerializeToString()
            writer.add_message(channels[topic], log_ns, data, log_ns)
        writer.finish()
    return path


def write_cdr(tools: Any, path: Path) -> Path:
    """Return the same drive as a bag of ROS 2."""
    tape = tools.Tape()
    tape.text("/robot_description", ROBOT)
    for i in range(COUNT):
        time = tools.START + i * 100_000_000
        tape.joints(time, ["hinge"], [0.1 * i], [1.0])
        tape.tf([(time, "map", "odom", (5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))])
        pose = (0.2 * i, 1.0, 0.0, 0.0, 0.0, HALF, HALF)
        tape.odometry(time, "odom", "base", pose, (2.0, 0.0, 0.0, 0.0, 0.0, 0.5))
    written: Path = tape.write(path, "bare mcap")
    return written


def states(tools: Any, bag: Path, *words: object) -> tuple[dict[str, Any], str]:
    out = tools.folder / "states.npz"
    code, stdout, stderr = tools.run("export", bag, "--every", "0.05", "-o", out, "--force", *words)
    assert code == 0, stdout + stderr
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files if not name.startswith("text/")}, stderr


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f") for name in first
    )


@pytest.mark.parametrize("write", [write_json, write_protobuf])
@pytest.mark.parametrize("transforms", ["FrameTransform", "FrameTransforms"])
def test_foxglove_schemas_give_the_states_of_the_bag_in_cdr(tools: Any, write: Any, transforms: str) -> None:
    expected, _ = states(tools, write_cdr(tools, tools.folder / "cdr"))
    names = ("sec", "nsec") if write is write_json else ("seconds", "nanos")
    bag = write(tools.folder / "fox.mcap", foxglove_rows(tools.START, names, transforms))
    found, stderr = states(tools, bag)
    assert same(found, expected)
    assert "error" not in stderr
    # What is not read is named.
    assert "'/camera (foxglove.CompressedImage)'" in stderr


@pytest.mark.parametrize("package", ["{}/{}", "{}/msg/{}", "{}.{}", "ros.{}.{}", "{}.msg.{}"])
def test_ros_schemas_give_the_states_of_the_bag_in_cdr(tools: Any, package: str) -> None:
    expected, _ = states(tools, write_cdr(tools, tools.folder / "cdr"))
    for names in (("sec", "nanosec"), ("secs", "nsecs"), ("sec", "nsec")):
        bag = write_json(tools.folder / "ros.mcap", ros_rows(tools.START, names, package))
        assert same(states(tools, bag)[0], expected)
    if "/" not in package:
        rows = ros_rows(tools.START, ("sec", "nanosec"), package)
        for _, _, _, message in rows:
            # An empty list of an example has no type.
            message.pop("effort", None)
        assert same(states(tools, write_protobuf(tools.folder / "ros.mcap", rows))[0], expected)


def test_times_as_protobuf_writes_them_into_json(tools: Any) -> None:
    expected, _ = states(tools, write_cdr(tools, tools.folder / "cdr"))
    rows = foxglove_rows(tools.START)
    for _, _, log_ns, message in rows:
        seconds, nanoseconds = divmod(log_ns, tools.S)
        text = f"2023-11-14T22:13:{20 + seconds - 1_700_000_000:02d}.{nanoseconds:09d}Z"
        for part in (message, *message.get("transforms", ())):
            if "timestamp" in part:
                part["timestamp"] = text
    assert same(states(tools, write_json(tools.folder / "a.mcap", rows))[0], expected)
    for _, _, log_ns, message in rows:
        seconds, nanoseconds = divmod(log_ns, tools.S)
        for part in (message, *message.get("transforms", ())):
            if "timestamp" in part:
                part["timestamp"] = {"seconds": str(seconds), "nanos": nanoseconds}
    assert same(states(tools, write_json(tools.folder / "b.mcap", rows))[0], expected)


@pytest.mark.parametrize("write", [write_json, write_protobuf])
def test_a_pose_in_a_frame_is_the_base_by_option(tools: Any, write: Any) -> None:
    names = ("sec", "nsec") if write is write_json else ("seconds", "nanos")
    rows = [row for row in foxglove_rows(tools.START, names) if row[0] in ("/robot_description", "/joints")]
    for i in range(COUNT):
        time = tools.START + i * tools.S // 10
        message = {"timestamp": stamp_of(time, names), "frame_id": "map"}
        message["pose"] = {"position": xyz(3.0, 4.0, 5.0), "orientation": quaternion()}
        rows.append(("/pose", "foxglove.PoseInFrame", time, message))
    bag = write(tools.folder / "fox.mcap", sorted(rows, key=lambda row: row[2]))
    found, _ = states(tools, bag, "--pose-topic", "/pose")
    assert np.allclose(found["arm/pose"], (3.0, 4.0, 5.0, 0.0, 0.0, HALF, HALF))
    assert "arm/pose" not in states(tools, bag)[0]


def test_joints_without_a_position_and_null_are_not_known(tools: Any) -> None:
    rows = foxglove_rows(tools.START)
    for number, (topic, _, _, message) in enumerate(rows):
        if topic == "/joints" and number > COUNT:
            message["joints"][0]["position"] = None if number % 2 else math.nan
    found, stderr = states(tools, write_json(tools.folder / "a.mcap", rows))
    assert "the position of 'hinge' is nan" in stderr
    assert found["arm/positions"][-1, 0] < 1.0


def test_a_joint_state_without_a_header_has_its_time_of_recording(tools: Any) -> None:
    rows: list[Row] = [
        ("/joint_states", "sensor_msgs/JointState", tools.START + i, {"name": ["a"], "position": [float(i)]})
        for i in range(3)
    ]
    found, _ = states(tools, write_json(tools.folder / "a.mcap", rows))
    assert found["time_ns"].tolist() == [tools.START]
    assert tools.run("export", tools.folder / "a.mcap", "-o", tools.folder / "end.npz")[0] == 0
    with np.load(tools.folder / "end.npz") as arrays:
        assert (arrays["time_ns"].tolist(), arrays["robot/positions"].tolist()) == ([tools.START + 2], [[2.0]])


@pytest.mark.parametrize("write", [write_json, write_protobuf])
def test_one_state_for_each_message_of_a_topic_that_is_not_read(tools: Any, write: Any) -> None:
    names = ("sec", "nsec") if write is write_json else ("seconds", "nanos")
    rows = foxglove_rows(tools.START, names)
    # The stamps of the camera are 20 ms before their log times.
    late = [
        (topic, schema, log_ns + (20_000_000 if topic == "/camera" else 0), message)
        for topic, schema, log_ns, message in rows
    ]
    bag = write(tools.folder / "fox.mcap", sorted(late, key=lambda row: row[2]))
    out = tools.folder / "x.npz"
    assert tools.run("export", bag, "--at-topic", "/camera", "-o", out)[0] == 0
    with np.load(out) as arrays:
        assert arrays["time_ns"].tolist() == [tools.START + i * tools.S // 10 for i in range(COUNT)]


BAD: dict[str, Any] = {
    "not JSON": b"{nonsense",
    "not UTF-8": b'{"timestamp": "\xff"}',
    "a list": b"[1, 2]",
    "a number": b"3",
    "null": b"null",
    "deep": b"[" * 100_000,
    "no pose": {"timestamp": {"sec": 1, "nsec": 0}, "frame_id": "odom", "body_frame_id": "base"},
    "no z": {
        "timestamp": {"sec": 1, "nsec": 0},
        "frame_id": "odom",
        "body_frame_id": "base",
        "pose": {"position": {"x": 1.0, "y": 2.0}, "orientation": quaternion()},
    },
    "a word": {
        "timestamp": {"sec": 1, "nsec": 0},
        "frame_id": "odom",
        "body_frame_id": "base",
        "pose": {"position": {"x": "one", "y": 2.0, "z": 0.0}, "orientation": quaternion()},
    },
    "a frame of numbers": {
        "timestamp": {"sec": 1, "nsec": 0},
        "frame_id": 7,
        "body_frame_id": "base",
        "pose": {"position": xyz(1.0), "orientation": quaternion()},
    },
    "half a letter": b'{"timestamp": {"sec": 1, "nsec": 0}, "frame_id": "\\ud800", "body_frame_id": "base", "pose":'
    b' {"position": {"x": 1, "y": 1, "z": 1}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}}}',
    "a far time": {
        "timestamp": {"sec": 10**18, "nsec": 0},
        "frame_id": "odom",
        "body_frame_id": "base",
        "pose": {"position": xyz(1.0), "orientation": quaternion()},
    },
    "a time in words": {
        "timestamp": "yesterday",
        "frame_id": "odom",
        "body_frame_id": "base",
        "pose": {"position": xyz(1.0), "orientation": quaternion()},
    },
    "a real time": {
        "timestamp": {"sec": 1.5, "nsec": 0},
        "frame_id": "odom",
        "body_frame_id": "base",
        "pose": {"position": xyz(1.0), "orientation": quaternion()},
    },
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_message_is_refused_and_counted_and_the_others_are_used(tools: Any, name: str) -> None:
    rows = foxglove_rows(tools.START)
    expected, _ = states(tools, write_json(tools.folder / "good.mcap", rows))
    path = tools.folder / "bad.mcap"
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="", library="test")
        channels: dict[str, int] = {}
        for topic, schema, log_ns, message in rows:
            if topic not in channels:
                number = writer.register_schema(schema, "jsonschema", b"")
                channels[topic] = writer.register_channel(topic, "json", number)
            if topic == "/odom" and log_ns == tools.START:
                bad = BAD[name] if isinstance(BAD[name], bytes) else json.dumps(BAD[name]).encode()
                writer.add_message(channels[topic], log_ns, bad, log_ns)
            writer.add_message(channels[topic], log_ns, json.dumps(message).encode(), log_ns)
        writer.finish()
    found, stderr = states(tools, path)
    assert same(found, expected)
    assert "topic '/odom': 1 message refused" in stderr
    assert "malformed, " in stderr


def test_a_damaged_schema_and_bad_bytes_of_protobuf_are_refused(tools: Any) -> None:
    rows = foxglove_rows(tools.START, ("seconds", "nanos"))
    data = write_protobuf(tools.folder / "good.mcap", rows).read_bytes()
    assert data
    path = tools.folder / "bad.mcap"
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="", library="test")
        for topic, schema, text in (
            ("/odom", "foxglove.Odometry", b"\xff\xff\xff nonsense"),
            ("/tf", "foxglove.FrameTransform", b""),
        ):
            number = writer.register_schema(schema, "protobuf", text)
            channel = writer.register_channel(topic, "protobuf", number)
            writer.add_message(channel, tools.START, b"\xff\xff", tools.START)
        number = writer.register_schema("foxglove.JointStates", "jsonschema", b"")
        channel = writer.register_channel("/joints", "json", number)
        joints = {"timestamp": {"sec": 1_700_000_000, "nsec": 0}, "joints": [{"name": "hinge", "position": 1.0}]}
        writer.add_message(channel, tools.START, json.dumps(joints).encode(), tools.START)
        writer.finish()
    code, _, stderr = tools.run("export", path, "-o", tools.folder / "x.npz")
    assert code == 0, stderr
    assert "topic '/odom': 1 message refused" in stderr
    assert "topic '/tf': 1 message refused" in stderr


def test_other_encodings_are_named(tools: Any) -> None:
    path = tools.folder / "a.mcap"
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="", library="test")
        for topic, encoding, schema in (("/joint_states", "cbor", "x"), ("/tf", "json", "mine.Transforms")):
            number = writer.register_schema(schema, "", b"")
            writer.add_message(writer.register_channel(topic, encoding, number), tools.START, b"{}", tools.START)
        writer.finish()
    code, _, stderr = tools.run("export", path, "-o", tools.folder / "x.npz")
    assert code == 1
    assert "mine.Transforms" in stderr


def test_a_large_json_mcap_is_read_in_bounded_memory(tools: Any) -> None:
    """Four times the messages need no more memory, beyond the numbers themselves."""
    import os

    megabytes = int(os.environ.get("JSON_MCAP_MB", "24"))
    script = (
        "import resource, sys; from robot_semantics.cli.main import main;"
        "code = main(sys.argv[1:]); print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for size in (megabytes // 4, megabytes):
        path = tools.folder / f"{size}.mcap"
        padding = "x" * 20_000
        with path.open("wb") as stream:
            writer: Any = McapWriter(stream, chunk_size=2**20, compression=CompressionType.NONE)
            writer.start(profile="", library="test")
            number = writer.register_schema("foxglove.JointStates", "jsonschema", b"")
            channel = writer.register_channel("/joints", "json", number)
            for i in range(size * 50):
                time = tools.START + i * 10_000_000
                joint = {"name": "hinge", "position": 0.1}
                message = {"timestamp": stamp_of(time, ("sec", "nsec")), "joints": [joint], "note": padding}
                writer.add_message(channel, time, json.dumps(message).encode(), time)
            writer.finish()
        done = subprocess.run(
            [sys.executable, "-c", script, "export", path, "-o", tools.folder / "x.usdf", "--force"],
            capture_output=True, text=True, check=True, timeout=600,
        )  # fmt: skip
        code, peak = done.stdout.split()[-2:]
        assert code == "0", done.stderr
        peaks.append(int(peak))
        path.unlink()
    assert peaks[1] - peaks[0] < 12_000, peaks
