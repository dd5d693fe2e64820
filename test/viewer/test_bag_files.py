# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A recording made by another library is shown like the series it holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_semantics import Diagnostics
from robot_semantics.examples import example
from robot_semantics.viewer.opening import MOST_MOMENTS, FileKind, Opening, open_files, viewed_kind

rosbags = pytest.importorskip("rosbags.rosbag2", reason="rosbags is not installed (pip install '.[bag]')")

SECONDS, RATE = 10, 100


def record(path: Path, heights: dict[str, float]) -> Path:
    """Write a rosbag2 with rovers by their namespaces, descriptions included; their lifts go up evenly from 0 [m]."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    stamp_type = types["builtin_interfaces/msg/Time"]
    with rosbags.Writer(path, version=9) as writer:
        for space, height in heights.items():
            texts = {"robot_description": "urdf", "robot_description_semantic": "srdf"}
            for topic, ending in texts.items():
                connection = writer.add_connection(f"{space}/{topic}", "std_msgs/msg/String", typestore=store)
                message = types["std_msgs/msg/String"](data=example(f"rover_arm.{ending}").read_text())
                writer.write(connection, 1_000_000_000, store.serialize_cdr(message, message.__msgtype__))
            connection = writer.add_connection(f"{space}/joint_states", "sensor_msgs/msg/JointState", typestore=store)
            for tick in range(SECONDS * RATE + 1):
                time_ns = 1_000_000_000 + tick * (10**9 // RATE)
                header = types["std_msgs/msg/Header"](stamp=stamp_type(*divmod(time_ns, 10**9)), frame_id="")
                lift = np.array([height * tick / (SECONDS * RATE)])
                message = types["sensor_msgs/msg/JointState"](header, ["lift_joint"], lift, np.zeros(0), np.zeros(0))
                writer.write(connection, time_ns, store.serialize_cdr(message, message.__msgtype__))
    return path


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    return record(tmp_path / "drive", {"": 0.2})


def test_all_robots_of_a_recording_are_shown_without_being_named(tmp_path: Path) -> None:
    path = record(tmp_path / "three", {"/left": 0.1, "/middle": 0.15, "/right": 0.2})
    scene = open_files([path], Opening(), Diagnostics())
    assert {actor.name for actor in scene.actors} == {"left", "middle", "right"}
    last = scene.moments[-1]
    for actor in scene.actors:
        q = last.stances[actor.name].q
        height = {"left": 0.1, "middle": 0.15, "right": 0.2}[actor.name]
        assert q[actor.kinematics.space.index["lift_joint"]] == pytest.approx(height, abs=1e-3)


def test_every_kind_of_recording_that_can_be_read_is_known_by_its_ending() -> None:
    from robot_semantics.recording.bags.source import ENDINGS

    assert all(viewed_kind(Path(f"drive{ending}")) is FileKind.BAG for ending in ENDINGS)


def test_a_recording_is_a_series_of_moments(bag: Path) -> None:
    assert viewed_kind(bag) is FileKind.BAG
    diagnostics = Diagnostics()
    scene = open_files([bag], Opening(), diagnostics)
    assert not diagnostics.errors
    (actor,) = scene.actors
    assert actor.name == "rover_arm"
    assert MOST_MOMENTS - 5 <= len(scene.moments) <= MOST_MOMENTS + 1
    lift = actor.kinematics.space.index["lift_joint"]
    start = scene.moments[0].time_ns
    assert start is not None
    for moment in scene.moments[:: len(scene.moments) // 7]:
        assert moment.time_ns is not None
        expected = 0.2 * (moment.time_ns - 1_000_000_000) / (SECONDS * 1e9)
        assert moment.stances["rover_arm"].q[lift] == pytest.approx(expected, abs=1e-6)


def test_a_recording_without_a_description_takes_the_given_one(bag: Path) -> None:
    scene = open_files([bag, example("rover_arm.urdf")], Opening(), Diagnostics())
    assert [actor.name for actor in scene.actors] == ["rover_arm"]
