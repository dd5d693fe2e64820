# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bags for tests, written by `rosbags` and `mcap` themselves, never by our own writer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from ruamel.yaml import YAML

from robot_semantics.cli.main import main
from robot_semantics.examples import example

S = 1_000_000_000
START = 1_700_000_000 * S
JOINT_STATE, TF = "sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage"
STORE2 = get_typestore(Stores.ROS2_JAZZY)
STORE1 = get_typestore(Stores.ROS1_NOETIC)
STORE1.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TF))

ARM = (
    "left_wheel_joint",
    "right_wheel_joint",
    "lift_joint",
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_joint",
    "left_finger_joint",
    "caster_swivel_joint",
    "caster_wheel_joint",
)
"""The joints of the example robot that move themselves."""

Make = Callable[[Any], Any]


class Tape:
    """Messages in memory that any kind of bag can be written from."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, int, Make | bytes]] = []
        self.latched: set[str] = set()

    def add(self, topic: str, msgtype: str, log_ns: int, make: Make | bytes) -> None:
        self.events.append((topic, msgtype, log_ns, make))

    def joints(
        self,
        stamp: int,
        names: Sequence[str],
        position: Sequence[float] = (),
        velocity: Sequence[float] = (),
        effort: Sequence[float] = (),
        *,
        topic: str = "/joint_states",
        log: int | None = None,
        frame: str = "",
    ) -> None:
        arrays = [np.array(values, dtype=np.float64) for values in (position, velocity, effort)]
        self.add(
            topic,
            JOINT_STATE,
            stamp if log is None else log,
            lambda store: store.types[JOINT_STATE](header(store, stamp, frame), list(names), *arrays),
        )

    def tf(
        self,
        transforms: Iterable[tuple[int, str, str, Sequence[float]]],
        *,
        topic: str = "/tf",
        log: int | None = None,
    ) -> None:
        rows = list(transforms)
        self.add(
            topic,
            TF,
            rows[0][0] if log is None else log,
            lambda store: store.types[TF]([stamped(store, *row) for row in rows]),
        )

    def text(self, topic: str, text: str, log: int = START) -> None:
        self.add(topic, "std_msgs/msg/String", log, lambda store: store.types["std_msgs/msg/String"](text))

    def describe(self, namespace: str = "", log: int = START) -> None:
        """Publish the example robot's descriptions."""
        for topic, name in (("robot_description", "rover_arm.urdf"), ("robot_description_semantic", "rover_arm.srdf")):
            self.text(f"{namespace}/{topic}", example(name).read_text(encoding="utf-8"), log)

    def odometry(
        self,
        stamp: int,
        frame: str,
        child: str,
        pose: Sequence[float],
        twist: Sequence[float],
        topic: str = "/odom",
        log: int | None = None,
    ) -> None:
        def make(store: Any) -> Any:
            geometry = {name: store.types[f"geometry_msgs/msg/{name}"] for name in ("Pose", "Point", "Quaternion")}
            place = geometry["Pose"](geometry["Point"](*pose[:3]), geometry["Quaternion"](*pose[3:]))
            with_covariance = store.types["geometry_msgs/msg/PoseWithCovariance"](place, np.zeros(36))
            moving = store.types["geometry_msgs/msg/TwistWithCovariance"](twist_of(store, twist), np.zeros(36))
            return store.types["nav_msgs/msg/Odometry"](header(store, stamp, frame), child, with_covariance, moving)

        self.add(topic, "nav_msgs/msg/Odometry", stamp if log is None else log, make)

    def multi_dof(
        self,
        stamp: int,
        frame: str,
        rows: Sequence[tuple[str, Sequence[float], Sequence[float] | None]],
        topic: str = "/multi_dof_joint_states",
    ) -> None:
        def make(store: Any) -> Any:
            return store.types["sensor_msgs/msg/MultiDOFJointState"](
                header(store, stamp, frame),
                [row[0] for row in rows],
                [transform_of(store, row[1]) for row in rows],
                [twist_of(store, row[2]) for row in rows if row[2] is not None],
                [],
            )

        self.add(topic, "sensor_msgs/msg/MultiDOFJointState", stamp, make)

    def write(self, path: Path, kind: str = "mcap") -> Path:
        """Write a bag; `kind` is a key of `KINDS`."""
        events = sorted(self.events, key=lambda event: event[2])
        return KINDS[kind](path, events)


def header(store: Any, stamp: int, frame: str) -> Any:
    seconds, nanoseconds = divmod(stamp, S)
    time = store.types["builtin_interfaces/msg/Time"](seconds, nanoseconds)
    kind = store.types["std_msgs/msg/Header"]
    return kind(7, time, frame) if store is STORE1 else kind(time, frame)


def transform_of(store: Any, pose: Sequence[float]) -> Any:
    vector, quaternion = store.types["geometry_msgs/msg/Vector3"], store.types["geometry_msgs/msg/Quaternion"]
    values = [float(value) for value in pose]
    return store.types["geometry_msgs/msg/Transform"](vector(*values[:3]), quaternion(*values[3:]))


def twist_of(store: Any, twist: Sequence[float]) -> Any:
    vector = store.types["geometry_msgs/msg/Vector3"]
    values = [float(value) for value in twist]
    return store.types["geometry_msgs/msg/Twist"](vector(*values[:3]), vector(*values[3:]))


def stamped(store: Any, stamp: int, parent: str, child: str, pose: Sequence[float]) -> Any:
    kind = store.types["geometry_msgs/msg/TransformStamped"]
    return kind(header(store, stamp, parent), child, transform_of(store, pose))


Events = list[tuple[str, str, int, "Make | bytes"]]


def cdr(event: tuple[str, str, int, Make | bytes]) -> bytes:
    """Return a message in ROS 2's serialisation, by `rosbags`."""
    make = event[3]
    return make if isinstance(make, bytes) else bytes(STORE2.serialize_cdr(make(STORE2), event[1]))


def _rosbag2(plugin: StoragePlugin, mode: CompressionMode | None = None) -> Callable[[Path, Events], Path]:
    def write(path: Path, events: Events) -> Path:
        writer = Writer2(path, version=9, storage_plugin=plugin)
        if mode is not None:
            writer.set_compression(mode, CompressionFormat.ZSTD)
        with writer:
            connections: dict[str, Any] = {}
            for event in events:
                if event[0] not in connections:
                    connections[event[0]] = writer.add_connection(event[0], event[1], typestore=STORE2)
                writer.write(connections[event[0]], event[2], cdr(event))
        return path

    return write


def _split(plugin: StoragePlugin) -> Callable[[Path, Events], Path]:
    """Write a bag of three files, as `ros2 bag record` splits one; /tf_static is only in the last."""

    def write(path: Path, events: Events) -> Path:
        path.mkdir(parents=True)
        ending = "mcap" if plugin is StoragePlugin.MCAP else "db3"
        moving = [event for event in events if event[0] != "/tf_static"]
        static = [event for event in events if event[0] == "/tf_static"]
        cuts = [0, len(moving) // 3, 2 * len(moving) // 3, len(moving)]
        merged: dict[str, Any] = {}
        names = []
        for number in range(3):
            some = moving[cuts[number] : cuts[number + 1]] + (static if number == 2 else [])
            piece = _rosbag2(plugin)(path.parent / f"piece_{path.name}_{number}", sorted(some, key=lambda e: e[2]))
            info = YAML(typ="safe").load((piece / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
            names.append(f"{path.name}_{number}.{ending}")
            shutil.move(next(piece.glob(f"*.{ending}")), path / names[-1])
            shutil.rmtree(piece)
            if not merged:
                merged = info
            else:
                merged["message_count"] += info["message_count"]
                first = merged["starting_time"]["nanoseconds_since_epoch"]
                end = info["starting_time"]["nanoseconds_since_epoch"] + info["duration"]["nanoseconds"]
                merged["duration"]["nanoseconds"] = end - first
                known = {t["topic_metadata"]["name"]: t for t in merged["topics_with_message_count"]}
                for topic in info["topics_with_message_count"]:
                    name = topic["topic_metadata"]["name"]
                    if name in known:
                        known[name]["message_count"] += topic["message_count"]
                    else:
                        merged["topics_with_message_count"].append(topic)
        merged["relative_file_paths"] = names
        merged["files"] = []
        with (path / "metadata.yaml").open("w") as file:
            YAML().dump({"rosbag2_bagfile_information": merged}, file)
        return path

    return write


def _bare_mcap(compression: CompressionType, **options: Any) -> Callable[[Path, Events], Path]:
    """Write one .mcap file with the `mcap` library, in chunks of a few kilobytes."""

    def write(path: Path, events: Events) -> Path:
        file = path.with_suffix(".mcap")
        with file.open("wb") as stream:
            writer: Any = McapWriter(stream, chunk_size=4096, compression=compression, **options)
            writer.start(profile="ros2", library="test")
            channels: dict[str, int] = {}
            for event in events:
                if event[0] not in channels:
                    definition, _ = STORE2.generate_msgdef(event[1], ros_version=2)
                    schema = writer.register_schema(event[1], "ros2msg", definition.encode())
                    channels[event[0]] = writer.register_channel(event[0], "cdr", schema)
                writer.add_message(channels[event[0]], event[2], cdr(event), event[2])
            writer.finish()
        return file

    return write


def _ros1(compression: Writer1.CompressionFormat | None) -> Callable[[Path, Events], Path]:
    def write(path: Path, events: Events) -> Path:
        file = path.with_suffix(".bag")
        writer = Writer1(file)
        if compression is not None:
            writer.set_compression(compression)
        with writer:
            connections: dict[str, Any] = {}
            for topic, msgtype, log_ns, make in events:
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, msgtype, typestore=STORE1)
                data = make if isinstance(make, bytes) else bytes(STORE1.serialize_ros1(make(STORE1), msgtype))
                writer.write(connections[topic], log_ns, data)
        return file

    return write


KINDS: dict[str, Callable[[Path, Events], Path]] = {
    "mcap": _rosbag2(StoragePlugin.MCAP),
    "sqlite3": _rosbag2(StoragePlugin.SQLITE3),
    "mcap zstd by storage": _rosbag2(StoragePlugin.MCAP, CompressionMode.STORAGE),
    "mcap zstd by message": _rosbag2(StoragePlugin.MCAP, CompressionMode.MESSAGE),
    "sqlite3 zstd by message": _rosbag2(StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    "sqlite3 zstd by file": _rosbag2(StoragePlugin.SQLITE3, CompressionMode.FILE),
    "mcap split": _split(StoragePlugin.MCAP),
    "sqlite3 split": _split(StoragePlugin.SQLITE3),
    "bare mcap": _bare_mcap(CompressionType.NONE),
    "bare mcap lz4": _bare_mcap(CompressionType.LZ4),
    "bare mcap zstd": _bare_mcap(CompressionType.ZSTD),
    "bare mcap unindexed": _bare_mcap(CompressionType.NONE, use_chunking=False),
    "ros1": _ros1(None),
    "ros1 lz4": _ros1(Writer1.CompressionFormat.LZ4),
    "ros1 bz2": _ros1(Writer1.CompressionFormat.BZ2),
}


def turned(angle: float) -> tuple[float, float, float, float]:
    """Return the quaternion of a turn about z."""
    return (0.0, 0.0, float(np.sin(angle / 2)), float(np.cos(angle / 2)))


def make_rover(seconds: float = 4.0, *, describe: bool = True) -> Tape:
    """Return a drive of the example robot: 50 Hz joints, 20 Hz tf map → odom → base, a static camera on the wrist."""
    tape = Tape()
    if describe:
        tape.describe()
    tape.tf([(START, "wrist_link", "camera", (0.0, 0.0, 0.1, *turned(0.5)))], topic="/tf_static")
    for i in range(int(seconds * 50)):
        time = i / 50
        phase = time + np.arange(len(ARM))
        tape.joints(START + i * S // 50, ARM, 0.03 * np.sin(phase), 0.03 * np.cos(phase), 0.5 * np.sin(phase))
    for i in range(int(seconds * 20)):
        time, stamp = i / 20, START + i * S // 20
        tape.tf(
            [
                (stamp, "map", "odom", (1.0, 2.0, 0.0, *turned(0.1 * time))),
                (stamp, "odom", "base_footprint", (0.5 * time, 0.02 * time**2, 0.0, *turned(0.3 * time))),
            ]
        )
    return tape


class Tools:
    """Shared objects of the tests in this folder, as one fixture."""

    S, START, ARM, KINDS, STORE1, STORE2 = S, START, ARM, KINDS, STORE1, STORE2
    JOINT_STATE, TF = JOINT_STATE, TF
    Tape = Tape
    rover = staticmethod(make_rover)
    turned = staticmethod(turned)
    cdr = staticmethod(cdr)

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys

    def run(self, *arguments: object) -> tuple[int, str, str]:
        """Run the command line; return exit code, stdout and stderr."""
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        found = self._capsys.readouterr()
        assert "Traceback" not in found.err
        return code, found.out, found.err

    def json(self, *arguments: object) -> Any:
        """Run the command line with ``--json`` and return its output."""
        _, out, err = self.run(*arguments, "--json")
        assert out, err
        return json.loads(out)
