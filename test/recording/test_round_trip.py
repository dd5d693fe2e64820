# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""bag → USDF → bag → USDF is the identity on states, and the bag in between is one that ROS tools understand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.interfaces import ConnectionExtRosbag2
from scipy.spatial.transform import Rotation

from robot_semantics import ForwardKinematics, WorldState, read_world, save_world
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.world_state import Frame, JointState, ModelState


def _states(folder: Path) -> list[WorldState]:
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return [read_world(folder / entry["file"]) for entry in index["states"]]


def _there_and_back(
    tools: Any, bag: Path, *arguments: str, models: tuple[str, ...] = ()
) -> tuple[list[Any], list[Any]]:
    first, back, second = (tools.folder / name for name in ("first", "back", "second"))
    code, _, stderr = tools.run("export", bag, *arguments, *models, "-o", first)
    assert code == 0, stderr
    code, _, stderr = tools.run("bag", first, "-o", back)
    assert code == 0, stderr
    code, _, stderr = tools.run("export", back, "--at-topic", "/clock", *models, *_links(arguments), "-o", second)
    assert code == 0, stderr
    return _states(first), _states(second)


def _links(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return ("--links",) if "--links" in arguments else ()


@pytest.mark.parametrize(
    "arguments", [("--every", "0.25"), ("--at-topic", "/joint_states"), ("--every", "0.37", "--links")]
)
@pytest.mark.parametrize("kind", ["mcap", "ros1"])
def test_states_come_back_to_the_last_bit(tools: Any, kind: str, arguments: tuple[str, ...]) -> None:
    bag = tools.rover().write(tools.folder / "drive", kind)
    first, second = _there_and_back(tools, bag, *arguments)
    assert len(first) == len(second) > 8
    for a, b in zip(first, second, strict=True):
        assert a == b
    assert first[3].models[0].twist is not None
    assert len(first[3].models[0].joints) == 11


def test_two_robots_come_back_to_the_last_bit(tools: Any) -> None:
    tape = tools.Tape()
    for number, name in enumerate(("left", "right")):
        tape.describe(f"/{name}")
        for i in range(20):
            stamp = tools.START + i * tools.S // 10
            tape.joints(stamp, tools.ARM, np.sin(0.1 * i + np.arange(10)), topic=f"/{name}/joint_states")
            tape.tf([(stamp, "map", f"{name}/base_footprint", (number, 0.1 * i, 0, *tools.turned(0.1 * i)))])
    bag = tape.write(tools.folder / "bag")
    first, second = _there_and_back(
        tools, bag, "--every", "0.1", models=("--model", "left:left", "--model", "right:right")
    )
    assert first == second
    assert [model.name for model in first[5].models] == ["left", "right"]


def _world(time_ns: int, rng: np.random.Generator) -> WorldState:
    """Return a state with every kind of joint, an object, and a frame on a robot."""

    def pose() -> Pose:
        turn = Rotation.random(rng=rng)
        row = (*rng.normal(size=3).tolist(), *turn.as_euler("xyz").tolist())
        return Pose(row, tuple(turn.as_quat().tolist()))

    def row(count: int) -> tuple[float, ...]:
        return tuple(rng.normal(size=count).tolist())

    free = pose()
    assert free.quat_xyzw is not None
    joints = (
        JointState("slide", row(3), row(3), row(3)),
        JointState("free", (*free.xyz_rpy[:3], *free.quat_xyzw), row(6)),
        JointState("hinge", row(1), row(1)),
        JointState("tail", row(1)),
    )
    crane = ModelState("crane", "map", pose(), row(6), (), joints)  # type: ignore[arg-type]
    box = ModelState("box", "crane", pose(), row(6))  # type: ignore[arg-type]
    frames = (Frame("grasp", "box", pose()), Frame("map", pose=pose()), Frame("odom", "map", pose()))
    return WorldState(None, (crane, box), frames, time_ns)


URDF = """<robot name="crane">
  <link name="base"/><link name="cart"/><link name="hook"/><link name="arm"/><link name="end"/>
  <joint name="slide" type="planar"><parent link="base"/><child link="cart"/><axis xyz="0 0 1"/></joint>
  <joint name="free" type="floating"><parent link="base"/><child link="hook"/></joint>
  <joint name="hinge" type="continuous"><parent link="cart"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <joint name="tail" type="continuous"><parent link="arm"/><child link="end"/><axis xyz="1 0 0"/></joint></robot>"""


def test_usdf_files_come_back_from_a_bag_to_the_last_bit(tools: Any) -> None:
    rng = np.random.default_rng(4)
    states = [_world(tools.START + i * 123_456_789, rng) for i in range(12)]
    for i, state in enumerate(states):
        save_world(state, tools.folder / f"state{i}.usdf")
    (tools.folder / "crane.urdf").write_text(URDF)
    files, urdf = sorted(tools.folder.glob("*.usdf")), f"crane={tools.folder / 'crane.urdf'}"
    code, stdout, stderr = tools.run("bag", *files, "-o", tools.folder / "bag", "--urdf", urdf)
    assert code == 0, stderr
    assert "/crane/joint_states  " in stdout
    code, _, stderr = tools.run(
        "export", tools.folder / "bag", "--at-topic", "/clock", "--model", "crane:crane", "--model", "box:box",
        "-o", tools.folder / "out",
    )  # fmt: skip
    assert code == 0, stderr
    found = _states(tools.folder / "out")
    assert len(found) == 12
    for a, b in zip(states, found, strict=True):
        assert b.time_ns == a.time_ns
        assert [(f.name, f.parent, f.pose and f.pose.quat_xyzw) for f in b.frames] == [
            (f.name, f.parent, f.pose and f.pose.quat_xyzw) for f in a.frames
        ]
        for before, after in zip(a.models, b.models, strict=True):
            assert (after.name, after.parent, after.twist) == (before.name, before.parent, before.twist)
            assert before.pose is not None
            assert after.pose is not None
            assert after.pose.quat_xyzw == before.pose.quat_xyzw
            assert after.pose.xyz_rpy[:3] == before.pose.xyz_rpy[:3]
            np.testing.assert_allclose(after.pose.xyz_rpy[3:], before.pose.xyz_rpy[3:], atol=1e-12)
            told = {j.name: (j.positions, j.velocities) for j in after.joints}
            assert told == {j.name: (j.positions, j.velocities) for j in before.joints}
            assert after.joints == () or after.joint("slide").torques == before.joint("slide").torques


def test_the_bag_is_what_a_running_robot_would_have_published(tools: Any, drive: Path) -> None:
    tools.run("export", drive, "--every", "0.5", "-o", tools.folder / "first")
    code, _, _ = tools.run("bag", tools.folder / "first", "-o", tools.folder / "back")
    assert code == 0
    states = _states(tools.folder / "first")
    robot = load_robot(example("rover_arm.urdf"))
    fk = ForwardKinematics(robot)
    with AnyReader([tools.folder / "back"]) as reader:
        assert {c.topic: c.msgtype for c in reader.connections} == {
            "/clock": "rosgraph_msgs/msg/Clock",
            "/joint_states": "sensor_msgs/msg/JointState",
            "/multi_dof_joint_states": "sensor_msgs/msg/MultiDOFJointState",
            "/robot_description": "std_msgs/msg/String",
            "/robot_description_semantic": "std_msgs/msg/String",
            "/tf": "tf2_msgs/msg/TFMessage",
            "/tf_static": "tf2_msgs/msg/TFMessage",
        }
        messages: dict[str, list[Any]] = {}
        for connection, log, raw in reader.messages():
            messages.setdefault(connection.topic, []).append((log, reader.deserialize(raw, connection.msgtype)))
        latched = {
            c.topic: c.ext.offered_qos_profiles for c in reader.connections if isinstance(c.ext, ConnectionExtRosbag2)
        }
    for topic in ("/tf_static", "/robot_description"):
        assert [qos.durability.name for qos in latched[topic]] == ["TRANSIENT_LOCAL"]
    assert [log for log, _ in messages["/clock"]] == [state.time_ns for state in states]
    # With the static ones every link has its transform, and together they are the robot's forward kinematics.
    transforms: dict[str, tuple[str, np.ndarray]] = {}
    for topic, number in (("/tf_static", 0), ("/tf", 3)):
        for item in messages[topic][number][1].transforms:
            t, r = item.transform.translation, item.transform.rotation
            matrix = np.eye(4)
            matrix[:3, :3] = Rotation.from_quat((r.x, r.y, r.z, r.w)).as_matrix()
            matrix[:3, 3] = (t.x, t.y, t.z)
            transforms[item.child_frame_id] = (item.header.frame_id, matrix)
    # Of the frames all but the base's move not at all in this drive... and odom turns.
    assert set(transforms) == {*robot.link_names, "camera", "map", "odom"}
    q = fk.space.pack({joint.name: joint.positions[0] for joint in states[3].models[0].joints if joint.positions})
    expected = fk.link_poses(q)
    for link in robot.links[1:]:
        pose, frame = np.eye(4), link.name
        while frame != "base_footprint":
            parent, matrix = transforms[frame]
            pose, frame = matrix @ pose, parent
        np.testing.assert_allclose(pose, expected[link.index], atol=1e-12)


def test_what_a_recording_cannot_carry_is_said(tools: Any) -> None:
    pose = Pose((0.0,) * 6)
    state = WorldState(
        None,
        (ModelState("box", twist=(1.0,) * 6),),
        (Frame("map", pose=pose, twist=(1.0,) * 6),),
        5,
        foreign=('<x:y xmlns:x="urn:x"/>',),
    )
    save_world(state, tools.folder / "state.usdf")
    code, _, stderr = tools.run("bag", tools.folder / "state.usdf", "-o", tools.folder / "bag")
    assert code == 0
    assert "warning: the twist of frame 'map' cannot be stored in a recording" in stderr
    assert "warning: the twist of 'box' without a pose cannot be stored in a recording" in stderr
    assert "warning: engine states and foreign elements cannot be stored in a recording" in stderr
    assert tools.run("bag", tools.folder / "state.usdf", "-o", tools.folder / "bag", "--strict", "--force")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nothing.usdf", "-o", "bag"), 1, "No such file"),
        (("odd.txt", "-o", "bag"), 1, "odd.txt: a series must be a folder, .jsonl, .npz, .parquet or .usdf files"),
        (("odd.jsonl", "-o", "bag"), 1, "odd.jsonl: line 2 is not a state"),
        (("odd.npz", "-o", "bag"), 1, "odd.npz: it is not a series"),
        (("empty", "-o", "bag"), 1, "the folder has neither index.json nor .usdf files"),
        (
            ("timeless.usdf", "timeless.usdf", "-o", "bag"),
            1,
            "a state without a time cannot be sorted with other states",
        ),
        (("state.usdf", "state.usdf", "-o", "bag"), 1, "error: every state needs a time of its own"),
        (("state.usdf", "-o", "full"), 1, "'full' exists and is not empty; --force replaces it"),
        (
            ("two.usdf", "-o", "bag", "--urdf", "x.urdf"),
            2,
            "--urdf 'x.urdf': name the robot as in NAME=..., one of a, b",
        ),
    ],
)
def test_what_cannot_become_a_bag_is_refused_and_leaves_nothing(
    tools: Any, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, message: str
) -> None:
    monkeypatch.chdir(tools.folder)
    Path("odd.txt").write_text("x")
    Path("odd.jsonl").write_text('{"models": [], "time": "1.000000000"}\n{"models": \n')
    Path("odd.npz").write_bytes(b"PK\x03\x04 no archive")
    Path("empty").mkdir()
    Path("full").mkdir()
    Path("full/kept").write_text("x")
    save_world(WorldState(), "timeless.usdf")
    save_world(WorldState(time_ns=1), "state.usdf")
    save_world(WorldState(models=(ModelState("a"), ModelState("b")), time_ns=1), "two.usdf")
    before = sorted(tools.folder.rglob("*"))
    found, _, stderr = tools.run("bag", *arguments)
    assert found == code
    assert message in stderr
    assert sorted(tools.folder.rglob("*")) == before


@pytest.mark.parametrize("ending", ["npz", "jsonl"])
def test_a_bag_made_of_arrays_or_lines_has_the_same_states(tools: Any, drive: Path, ending: str) -> None:
    tools.run("export", drive, "--every", "0.25", "-o", tools.folder / "folder")
    tools.run("export", drive, "--every", "0.25", "-o", tools.folder / f"series.{ending}")
    arguments = () if ending == "npz" else ("--urdf", f"{example('rover_arm.urdf')},{example('rover_arm.srdf')}")
    code, _, stderr = tools.run("bag", tools.folder / f"series.{ending}", "-o", tools.folder / "back", *arguments)
    assert code == 0, stderr
    tools.run("export", tools.folder / "back", "--at-topic", "/clock", "-o", tools.folder / "again")
    assert _states(tools.folder / "again") == _states(tools.folder / "folder")


@pytest.mark.parametrize("time_ns", [-1, -5_000_000_000, 2**31 * 1_000_000_000, 9_999_999_999_000_000_000])
def test_a_time_that_no_recording_can_have_is_refused(tools: Any, time_ns: int) -> None:
    save_world(WorldState(frames=(Frame("f", pose=Pose((0.0,) * 6)),), time_ns=time_ns), tools.folder / "w.usdf")
    code, _, stderr = tools.run("bag", tools.folder / "w.usdf", "-o", tools.folder / "bag")
    assert (code, "error: a recording has times from 0 to 2147483647.999999999 s" in stderr) == (1, True)
    assert [path.name for path in tools.folder.iterdir()] == ["w.usdf"]


def test_a_state_without_a_time_is_stamped_zero_and_that_is_said(tools: Any) -> None:
    save_world(WorldState(frames=(Frame("f", pose=Pose((0.0,) * 6)),)), tools.folder / "w.usdf")
    code, _, stderr = tools.run("bag", tools.folder / "w.usdf", "-o", tools.folder / "bag")
    assert (code, "warning: the state has no time, so its messages have the stamp 0" in stderr) == (0, True)
