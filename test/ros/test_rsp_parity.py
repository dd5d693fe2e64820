# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The same recorded joint states to our robot and to robot_state_publisher's rules, written out plainly below.

Equal are: which joints are published with which messages, their frames, stamps and transforms. Set apart, because we
differ on purpose: repeating silent joints (`complete_after`), and intervals that are not whole milliseconds.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip("rclpy", reason="rclpy is not installed (make setup, or a ROS 2 environment)")

from rclpy.serialization import deserialize_message, serialize_message
from support.nodes import joint_state, matrix_of, stamp_of
from tf2_msgs.msg import TFMessage

from robot_semantics.cdr.joint_states import JointStateReader
from robot_semantics.examples import example
from robot_semantics.live.frames import StaticTransform
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings
from robot_semantics.model.loading import robot_from_text

MS = 1_000_000
INTERVAL_NS = 50 * MS
BEGIN_NS = 1_700_000_000_000_000_000


@dataclass
class Segment:
    """The URDF content of one joint."""

    parent: str
    child: str
    T_origin: np.ndarray
    axis: np.ndarray
    kind: str
    mimic: tuple[str, float, float] | None

    def transform(self, q: float) -> np.ndarray:
        motion = np.eye(4)
        if self.kind in ("revolute", "continuous"):
            motion[:3, :3] = Rotation.from_rotvec(self.axis * q).as_matrix()
        elif self.kind == "prismatic":
            motion[:3, 3] = self.axis * q
        return np.asarray(self.T_origin @ motion)


def numbers(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()])


def segments(urdf: str) -> dict[str, Segment]:
    found = {}
    for joint in ET.fromstring(urdf).findall("joint"):
        origin, axis, mimic = joint.find("origin"), joint.find("axis"), joint.find("mimic")
        parent, child = joint.find("parent"), joint.find("child")
        assert parent is not None
        assert child is not None
        T = np.eye(4)
        if origin is not None:
            T[:3, 3] = numbers(origin.get("xyz", "0 0 0"))
            T[:3, :3] = Rotation.from_euler("xyz", numbers(origin.get("rpy", "0 0 0"))).as_matrix()
        direction = numbers("1 0 0" if axis is None else axis.get("xyz", "1 0 0"))
        found[joint.get("name", "")] = Segment(
            parent.get("link", ""),
            child.get("link", ""),
            T,
            direction / np.linalg.norm(direction),
            joint.get("type", ""),
            None
            if mimic is None
            else (mimic.get("joint", ""), float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))),
        )
    return found


class PlainRsp:
    """robot_state_publisher's rules for joint states."""

    def __init__(self, urdf: str) -> None:
        self.segments = segments(urdf)
        self.last_publish_ns: dict[str, int] = {}

    def joint_state(self, positions: dict[str, float], stamp_ns: int) -> dict[str, np.ndarray]:
        """Return the transforms that a message brings, by child frame."""
        if not stamp_ns > min(self.last_publish_ns.get(name, 0) for name in positions) + INTERVAL_NS:
            return {}
        values = dict(positions)
        for name, segment in self.segments.items():
            if segment.mimic is not None and segment.mimic[0] in positions:
                leader, multiplier, offset = segment.mimic
                values.setdefault(name, multiplier * positions[leader] + offset)
        for name in positions:
            self.last_publish_ns[name] = stamp_ns
        return {
            self.segments[name].child: self.segments[name].transform(value)
            for name, value in values.items()
            if name in self.segments and self.segments[name].kind != "fixed"
        }


def recording(joints: list[str], seed: int) -> Iterator[tuple[dict[str, float], int]]:
    """Two publishers with a part of the joints each, with their own rates and phases; one has an unknown joint."""
    rng = np.random.default_rng(seed)
    half = len(joints) // 2
    events = []
    for part, period in ((joints[:half], 7 * MS), ([*joints[half:], "a_joint_of_nobody"], 13 * MS)):
        stamp = BEGIN_NS + int(rng.integers(0, 5 * MS))
        for _ in range(150):
            stamp += period + int(rng.integers(-MS, MS))
            events.append((stamp, part))
    for stamp, part in sorted(events, key=lambda event: event[0]):
        yield {name: float(rng.uniform(-1.5, 1.5)) for name in part}, stamp


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("robot_name", ["rover_arm", "pr2"])
def test_what_is_published_is_what_robot_state_publisher_publishes(
    robot_name: str, seed: int, pr2: tuple[str, str]
) -> None:
    urdf = pr2[0] if robot_name == "pr2" else example("rover_arm.urdf").read_text()
    plain = PlainRsp(urdf)
    settings = RobotSettings(publish_interval_ns=INTERVAL_NS, complete_after_ns=1 << 61)
    ours = RunningRobot("robot", robot_from_text(urdf, strict=False), settings)
    reader = JointStateReader()
    leading = [name for name, item in plain.segments.items() if item.kind != "fixed" and item.mimic is None]
    published = 0
    for positions, stamp in recording(leading, seed):
        expected = plain.joint_state(positions, stamp)
        data = reader.read(serialize_message(joint_state(positions, stamp)))
        messages = ours.joint_state(data, lambda: 0)
        assert isinstance(messages, tuple)
        actual = {
            item.child_frame_id: item for raw in messages for item in deserialize_message(raw, TFMessage).transforms
        }
        assert set(actual) == set(expected)
        for child, item in actual.items():
            assert stamp_of(item) == stamp
            np.testing.assert_allclose(matrix_of(item), expected[child], atol=1e-12)
            published += 1
    assert published > 200


def test_fixed_joints_are_static_with_robot_state_publishers_frames(pr2: tuple[str, str]) -> None:
    plain = segments(pr2[0])
    ours = RunningRobot("pr2", robot_from_text(pr2[0], strict=False), RobotSettings()).static_transforms()
    fixed = {item.child: item for item in plain.values() if item.kind == "fixed"}
    assert {item.child_frame_id for item in ours} == set(fixed)
    for item in ours:
        assert item.frame_id == fixed[item.child_frame_id].parent
        np.testing.assert_allclose(_matrix(item), fixed[item.child_frame_id].T_origin, atol=1e-12)
    assert len(ours) > 40


def _matrix(item: StaticTransform) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3], T[:3, :3] = item.xyz_quat[:3], Rotation.from_quat(item.xyz_quat[3:]).as_matrix()
    return T
