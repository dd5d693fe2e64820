# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bad transforms of other nodes: each is left out and named, and none stops a save, a world state or a restore.

tf2 (tf2/src/buffer_core.cpp, 0.36) ignores a transform with an empty name, with a NaN, or with |q·q - 1| > 0.01.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from robot_semantics_interfaces.srv import GetWorldState, RestoreSnapshot, SaveSnapshot
from sensor_msgs.msg import JointState
from support.nodes import LATCHED, Client, NodeProcess, joint_state
from tf2_msgs.msg import TFMessage

from robot_semantics.examples import example
from robot_semantics.usdf.reader import parse_world, read_world

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"
URDF, SRDF = example("rover_arm.urdf").read_text(), example("rover_arm.srdf").read_text()
NAN, INF = math.nan, math.inf
UNIT = (0.0, 0.0, 0.0, 1.0)


def scaled(length: float) -> tuple[float, float, float, float]:
    """Return a quaternion of this length: 60 degrees about x."""
    return (0.5 * length, 0.0, 0.0, math.sqrt(0.75) * length)


BAD = {
    "unset": ("", "", (0.0, 0.0, 0.0), UNIT),
    "empty child": ("map", "", (1.0, 0.0, 0.0), UNIT),
    "empty parent": ("", "no_parent", (1.0, 0.0, 0.0), UNIT),
    "slash as child": ("map", "/", (1.0, 0.0, 0.0), UNIT),
    "slash as parent": ("/", "below_slash", (1.0, 0.0, 0.0), UNIT),
    "blank child": ("map", " ", (1.0, 0.0, 0.0), UNIT),
    "blank parent": ("  ", "below_blank", (1.0, 0.0, 0.0), UNIT),
    "blank at the end": ("map", "camera ", (1.0, 0.0, 0.0), UNIT),
    "tab in the child": ("map", "a\tb", (1.0, 0.0, 0.0), UNIT),
    "line end in the child": ("map", "a\nb", (1.0, 0.0, 0.0), UNIT),
    "control character in the child": ("map", "a\x01b", (1.0, 0.0, 0.0), UNIT),
    "control character in the parent": ("a\x1bb", "below_control", (1.0, 0.0, 0.0), UNIT),
    "delete in the child": ("map", "a\x7fb", (1.0, 0.0, 0.0), UNIT),
    "noncharacter in the child": ("map", "a\uffffb", (1.0, 0.0, 0.0), UNIT),
    "name of a link": ("map", "rover_arm::lift_link", (1.0, 0.0, 0.0), UNIT),
    "parent is the name of a link": ("rover_arm::wrist_link", "cup", (1.0, 0.0, 0.0), UNIT),
    "quaternion of zeros": ("map", "q_zero", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
    "tiny quaternion": ("map", "q_tiny", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1e-200)),
    "short quaternion": ("map", "q_short", (1.0, 0.0, 0.0), scaled(0.99)),
    "long quaternion": ("map", "q_long", (1.0, 0.0, 0.0), scaled(1.01)),
    "huge quaternion": ("map", "q_huge", (1.0, 0.0, 0.0), scaled(1e200)),
    "NaN in the quaternion": ("map", "q_nan", (1.0, 0.0, 0.0), (NAN, 0.0, 0.0, 1.0)),
    "infinite quaternion": ("map", "q_inf", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, INF)),
    "NaN in the translation": ("map", "t_nan", (NAN, 0.0, 0.0), UNIT),
    "infinite translation": ("map", "t_inf", (0.0, -INF, 0.0), UNIT),
    "too far": ("map", "t_far", (1e30, 0.0, 0.0), UNIT),
    "a little too far": ("map", "t_edge", (0.8e10, 0.8e10, 0.0), UNIT),
    "largest number": ("map", "t_max", (0.0, 0.0, 1.7e308), UNIT),
}
GOOD = {
    "a little short": ("map", "ok_short", (1.0, 2.0, 3.0), scaled(0.996)),
    "a little long": ("map", "ok_long", (1.0, 2.0, 3.0), scaled(1.004)),
    "far away": ("map", "ok_far", (1e10, 0.0, 0.0), UNIT),
    "name of no link": ("map", "rover_arm::no_link", (1.0, 2.0, 3.0), UNIT),
    "leading slash": ("/map", "/ok_slash", (1.0, 2.0, 3.0), UNIT),
    "letters of the world": ("map", "рука 手 🤖", (1.0, 2.0, 3.0), UNIT),
    "markup": ("map", '<a href="b">&amp;\'', (1.0, 2.0, 3.0), UNIT),
}


def stamped(parent: str, child: str, xyz: tuple[float, ...], quat: tuple[float, ...], stamp_ns: int) -> Any:
    item = TransformStamped(child_frame_id=child)
    item.header.frame_id = parent
    item.header.stamp.sec, item.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
    at, turn = item.transform.translation, item.transform.rotation
    at.x, at.y, at.z = xyz
    turn.x, turn.y, turn.z, turn.w = quat
    return item


class Ros:
    """A node with one robot, and a driver that publishes transforms."""

    def __init__(self, client: Client, start: Callable[..., NodeProcess], folder: str) -> None:
        self.client = client
        self.process = start(
            robot_description=URDF,
            robot_description_semantic=SRDF,
            snapshots__directory=folder,
            diagnostics_period=0.2,
        )
        self.diagnostics = client.collect(DiagnosticArray, "/diagnostics", 10)
        self.driver = client.node.create_publisher(TFMessage, "/tf", 100)
        self.latched = client.node.create_publisher(TFMessage, "/tf_static", LATCHED)
        joints = client.publisher(JointState, "joint_states")
        self._count = 0
        self.until_saved("first")
        client.publish_until(joints, lambda: joint_state({"lift_joint": 0.1}), self.lift_is_there, "the joint state")

    def lift_is_there(self) -> bool:
        return any(joint.positions for model in self.state().models for joint in model.joints)

    def until_saved(self, name: str) -> None:
        """Publish a good transform until it is in the world state: what was sent before it has come too."""
        self._count += 1
        mark = f"mark_{name}_{self._count}"
        good = TFMessage(transforms=[stamped("map", mark, (1.0, 0.0, 0.0), UNIT, 1)])
        self.client.publish_until(
            self.driver, lambda: good, lambda: mark in {frame.name for frame in self.state().frames}, mark
        )

    def state(self) -> Any:
        answer = self.client.call(GetWorldState, f"{NODE}/get_world_state", GetWorldState.Request(with_text=True))
        assert answer.success, answer.message
        self.missing = answer.state.missing
        return parse_world(answer.text)

    def left_out(self) -> int:
        """Return the number of left-out transforms in the newest diagnostics."""
        self.diagnostics.clear()
        self.client.until(lambda: self.diagnostics, "diagnostics")
        values = {item.key: item.value for item in self.diagnostics[-1].status[0].values}
        return int(values["transforms of others left out"])


@pytest.fixture(scope="module")
def ros(client: Client, start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory) -> Ros:
    return Ros(client, start, str(tmp_path_factory.mktemp("snapshots")))


@pytest.mark.parametrize("topic", ["driver", "latched"])
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_transform_is_left_out_and_named_with_its_publisher(ros: Ros, kind: str, topic: str) -> None:
    parent, child, xyz, quat = BAD[kind]
    before = ros.left_out()
    ros.until_saved("before")
    stamp_ns = 2_000_000_000
    for _ in range(2):
        getattr(ros, topic).publish(TFMessage(transforms=[stamped(parent, child, xyz, quat, stamp_ns)]))
    ros.until_saved("after")

    # The world state names the frame with its publisher; `shown` escapes control characters in reasons only.
    state = ros.state()
    assert child.removeprefix("/") not in {frame.name for frame in state.frames}
    named = [item for item in ros.missing if item.kind == "frame" and item.name == child.removeprefix("/")]
    assert len(named) == 1, ros.missing
    assert "/test_client" in named[0].reason
    assert named[0].reason.isprintable()

    # A save and a restore work, and `missing` of the save says the same.
    client = ros.client
    name = f"bad_{list(BAD).index(kind)}_{topic}"
    answer = client.call(SaveSnapshot, f"{NODE}/save_snapshot", SaveSnapshot.Request(name=name, overwrite=True))
    assert answer.success, answer.message
    assert [item.reason for item in answer.missing if (item.kind, item.name) == ("frame", named[0].name)] == [
        named[0].reason
    ]
    assert {frame.name for frame in read_world(answer.path).frames} == {frame.name for frame in state.frames}
    restored = client.call(
        RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(name=name, partial=True)
    )
    assert restored.success, restored.message
    assert ros.left_out() >= before + 1


@pytest.mark.parametrize("kind", GOOD)
def test_a_transform_that_tf2_takes_is_saved_and_restored(ros: Ros, kind: str) -> None:
    parent, child, xyz, quat = GOOD[kind]
    ros.driver.publish(TFMessage(transforms=[stamped(parent, child, xyz, quat, 2_000_000_000)]))
    ros.until_saved("after")
    frames = {frame.name: frame for frame in ros.state().frames}
    frame = frames[child.removeprefix("/")]
    assert frame.parent == parent.removeprefix("/")
    length = math.hypot(*quat)
    assert frame.pose.xyz_rpy[:3] == xyz
    assert frame.pose.quat_xyzw == pytest.approx([value / length for value in quat], abs=1e-15)
    assert child.removeprefix("/") not in {item.name for item in ros.missing if item.kind == "frame"}


def test_a_frame_with_a_good_transform_again_is_not_missing_any_more(ros: Ros) -> None:
    bad, good = (stamped("map", "flicker", (x, 0.0, 0.0), UNIT, 3_000_000_000) for x in (NAN, 4.0))
    ros.driver.publish(TFMessage(transforms=[bad]))
    ros.until_saved("bad")
    ros.state()
    assert "flicker" in {item.name for item in ros.missing}
    ros.driver.publish(TFMessage(transforms=[good]))
    ros.until_saved("good")
    assert "flicker" in {frame.name for frame in ros.state().frames}
    assert "flicker" not in {item.name for item in ros.missing}


@pytest.mark.parametrize(
    ("frame_id", "xyz", "quat"),
    [
        ("odom", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1e-200)),
        ("odom", (1.0, 0.0, 0.0), scaled(0.9)),
        ("odom", (1e30, 0.0, 0.0), UNIT),
        ("od\x01om", (1.0, 0.0, 0.0), UNIT),
        (" ", (1.0, 0.0, 0.0), UNIT),
        ("rover_arm::wrist_link", (1.0, 0.0, 0.0), UNIT),
    ],
)
def test_bad_odometry_stops_no_save(ros: Ros, frame_id: str, xyz: Any, quat: Any) -> None:
    client = ros.client
    odometry = client.publisher(Odometry, "odom")

    def message(frame_id: str, xyz: Any, quat: Any) -> Odometry:
        made = Odometry(child_frame_id="base_footprint")
        made.header.frame_id = frame_id
        at, turn = made.pose.pose.position, made.pose.pose.orientation
        at.x, at.y, at.z = xyz
        turn.x, turn.y, turn.z, turn.w = quat
        return made

    def pose() -> Any:
        return ros.state().models[0].pose

    client.publish_until(odometry, lambda: message("odom", (3.0, 0.0, 0.0), UNIT), pose, "a pose by odometry")
    client.publish_until(odometry, lambda: message(frame_id, xyz, quat), lambda: pose() is None, "the bad odometry")
    assert any(item.kind == "pose" for item in ros.missing)
    answer = client.call(SaveSnapshot, f"{NODE}/save_snapshot", SaveSnapshot.Request(name="odometry", overwrite=True))
    assert answer.success, answer.message
    client.node.destroy_publisher(odometry)


def test_the_log_names_each_kind_and_the_node_lives(ros: Ros) -> None:
    assert "/test_client" in ros.process.output
    assert "Traceback" not in ros.process.output
