# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses of robots and frames: tf, odometry and multi-DOF states, compared with independent computations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation, Slerp

from robot_semantics import read_world
from robot_semantics.convert.json_form import world_from_json
from robot_semantics.examples import example
from robot_semantics.transforms.pose import Pose, Vec6
from robot_semantics.usdf.frames import resolve_frames


def _matrix(pose: Any) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3] = Rotation.from_quat(pose[3:]).as_matrix()
    result[:3, 3] = pose[:3]
    return result


def _seven(pose: Pose | None) -> np.ndarray:
    assert pose is not None
    assert pose.quat_xyzw is not None
    np.testing.assert_allclose(
        Rotation.from_euler("xyz", pose.xyz_rpy[3:]).as_matrix(),
        Rotation.from_quat(pose.quat_xyzw).as_matrix(),
        atol=1e-9,
    )
    return np.array([*pose.xyz_rpy[:3], *pose.quat_xyzw])


def _six(twist: Vec6 | None) -> np.ndarray:
    assert twist is not None
    return np.array(twist)


@pytest.mark.parametrize("kind", ["mcap", "sqlite3 split", "ros1"])
def test_a_thousand_times_on_a_bag_with_jumps_and_static_frames_agree_with_scipy(tools: Any, kind: str) -> None:
    rng = np.random.default_rng(11)
    count = 250
    tape = tools.Tape()
    stamps = tools.START + np.cumsum(rng.integers(1_000_000, 40_000_000, count))
    place = np.cumsum(rng.normal(scale=0.05, size=(count, 3)), axis=0)
    place[100:] += (4.0, -2.0, 1.0)
    turn = Rotation.random(count, rng=rng)
    for i in rng.permutation(count).tolist():
        tape.tf([(int(stamps[i]), "map", "base", (*place[i], *turn[i].as_quat()))], log=int(stamps[i]))
    camera = (0.1, -0.2, 0.3, *Rotation.from_euler("xyz", (0.1, 1.0, -2.0)).as_quat())
    tape.tf([(int(stamps[0]), "base", "camera", camera)], topic="/tf_static")
    bag = tape.write(tools.folder / "bag", kind)
    times = np.unique(rng.integers(stamps[0], stamps[-1], 1000))
    arguments = [word for time in times.tolist() for word in ("--at", f"@{time // tools.S}.{time % tools.S:09}")]
    out = tools.folder / "out.npz"
    code, _, _ = tools.run("export", bag, *arguments, "-o", out)
    assert code == 0
    found = np.load(out)
    np.testing.assert_array_equal(found["time_ns"], times)
    frames = found["frames"].tolist()
    base, tip = found["frame_pose"][:, frames.index("base")], found["frame_pose"][:, frames.index("camera")]
    turned = Slerp(stamps - stamps[0], turn)(times - stamps[0])
    moved = np.stack([np.interp(times - stamps[0], stamps - stamps[0], place[:, k]) for k in range(3)], axis=1)
    np.testing.assert_allclose(base[:, :3], moved, atol=1e-9)
    assert (Rotation.from_quat(base[:, 3:]) * turned.inv()).magnitude().max() < 1e-9
    np.testing.assert_allclose(tip, np.tile(camera, (len(times), 1)), atol=1e-12)
    assert len(times) > 990


def test_tf_bases_have_twists_by_differences(tools: Any) -> None:
    tape = tools.Tape()
    tape.describe()
    speed, rate = np.array([0.3, -0.2, 0.1]), np.array([0.2, -0.4, 0.6])
    first = Rotation.from_euler("xyz", (0.3, 0.2, 0.1))
    for i in range(50):
        time, stamp = i * 0.02, tools.START + i * tools.S // 50
        turn = Rotation.from_rotvec(rate * time) * first
        tape.tf([(stamp, "odom", "base_footprint", (*(speed * time), *turn.as_quat()))])
    bag = tape.write(tools.folder / "bag")
    for at in ("0.5", "0.507"):
        tools.run("export", bag, "--at", at, "-o", tools.folder / "state.usdf")
        twist = read_world(tools.folder / "state.usdf").models[0].twist
        # The rate is constant in the parent's axes, so differences are exact.
        np.testing.assert_allclose(_six(twist), [*speed, *rate], atol=1e-9)
    tools.run("export", bag, "--at", "0", "--max-gap", "0.001", "-o", tools.folder / "state.usdf")
    assert read_world(tools.folder / "state.usdf").models[0].twist is None


def test_odometry_gives_the_twist_turned_into_the_parents_axes(tools: Any) -> None:
    tape = tools.rover(2.0)
    for i in range(40):
        stamp = tools.START + i * tools.S // 20
        tape.odometry(stamp, "odom", "base_footprint", (9.0, 9.0, 9.0, 0, 0, 0, 1), (0.5, 0.1, 0, 0, 0, 0.3 + 0.01 * i))
    bag = tape.write(tools.folder / "bag", "sqlite3")
    tools.run("export", bag, "--at", "1.025", "-o", tools.folder / "state.usdf")
    model = read_world(tools.folder / "state.usdf").models[0]
    assert model.parent == "odom"
    pose = _seven(model.pose)
    assert pose[0] == pytest.approx(0.5 * 1.025)  # tf has the place, odometry only the twist
    expected = Rotation.from_quat(pose[3:]).apply((0.5, 0.1, 0.0))
    np.testing.assert_allclose(_six(model.twist), [*expected, 0.0, 0.0, 0.3 + 0.01 * 20.5], atol=1e-12)


def test_odometry_alone_places_the_base(tools: Any) -> None:
    tape = tools.Tape()
    tape.describe()
    for i in range(10):
        stamp = tools.START + i * tools.S // 10
        tape.odometry(
            stamp, "odom", "base_footprint", (0.1 * i, 0.0, 0.0, *tools.turned(0.1 * i)), (1.0, 0, 0, 0, 0, 1.0)
        )
    bag = tape.write(tools.folder / "bag", "ros1")
    tools.run("export", bag, "--at", "0.45", "-o", tools.folder / "state.usdf")
    state = read_world(tools.folder / "state.usdf")
    model = state.models[0]
    assert model.parent == "odom"
    np.testing.assert_allclose(_seven(model.pose), [0.45, 0, 0, *tools.turned(0.45)], atol=1e-12)
    np.testing.assert_allclose(_six(model.twist), [np.cos(0.45), np.sin(0.45), 0, 0, 0, 1.0], atol=1e-12)
    assert [frame.name for frame in state.frames] == ["odom"]


def test_multi_dof_states_of_the_virtual_joint_place_the_base_with_twists_in_the_parents_axes(tools: Any) -> None:
    tape = tools.Tape()
    tape.describe()
    pose, twist = (1.0, 2.0, 0.0, *tools.turned(1.0)), (0.1, 0.2, 0.0, 0.0, 0.0, 0.3)
    tape.multi_dof(tools.START, "odom", [("world_joint", pose, twist)])
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "-o", tools.folder / "state.usdf")
    model = read_world(tools.folder / "state.usdf").models[0]
    assert (model.parent, model.twist) == ("odom", twist)
    np.testing.assert_array_equal(_seven(model.pose), pose)


def test_links_equal_pinocchios_forward_kinematics(tools: Any, drive: Path) -> None:
    tools.run("export", drive, "--at", "1.23", "--links", "-o", tools.folder / "state.usdf")
    model = read_world(tools.folder / "state.usdf").models[0]
    oracle = pinocchio.buildModelFromXML(example("rover_arm.urdf").read_text(encoding="utf-8"), mimic=False)
    data = oracle.createData()
    q, v = pinocchio.neutral(oracle), np.zeros(oracle.nv)
    for joint in model.joints:
        entry = oracle.joints[oracle.getJointId(joint.name)]
        assert joint.positions is not None
        assert joint.velocities is not None
        angle = joint.positions[0]
        q[entry.idx_q : entry.idx_q + entry.nq] = (angle,) if entry.nq == 1 else (np.cos(angle), np.sin(angle))
        v[entry.idx_v] = joint.velocities[0]
    pinocchio.forwardKinematics(oracle, data, q, v)
    pinocchio.updateFramePlacements(oracle, data)
    checked = 0
    for link in model.links:
        frame = oracle.getFrameId(link.name, pinocchio.FrameType.BODY)
        np.testing.assert_allclose(_matrix(_seven(link.pose)), data.oMf[frame].homogeneous, atol=1e-12)
        local = pinocchio.getFrameVelocity(oracle, data, frame, pinocchio.ReferenceFrame.LOCAL).vector
        np.testing.assert_allclose(_six(link.twist), local, atol=1e-12)
        checked += 1
    assert checked == 15


def test_a_frame_on_a_link_stands_on_that_link(tools: Any, drive: Path) -> None:
    tools.run("export", drive, "--at", "1.23", "--links", "-o", tools.folder / "state.usdf")
    state = read_world(tools.folder / "state.usdf")
    camera = state.frame("camera")
    assert (camera.parent, camera.parent_link) == ("rover_arm", "wrist_link")
    np.testing.assert_allclose(_matrix(_seven(camera.pose)), _matrix((0.0, 0.0, 0.1, *tools.turned(0.5))), atol=1e-12)


def test_links_that_hang_on_an_unknown_joint_are_not_stated(tools: Any) -> None:
    tape = tools.Tape()
    tape.describe()
    tape.joints(tools.START, ["lift_joint", "shoulder_pan_joint"], [0.1, 0.2])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--links", "-o", tools.folder / "state.usdf")
    assert code == 0
    model = read_world(tools.folder / "state.usdf").models[0]
    links = {link.name for link in model.links}
    assert {"base_footprint", "base_link", "lift_link", "shoulder_link"} <= links
    assert not {"upper_arm_link", "wrist_link", "tool_frame", "left_wheel"} & links
    unknown = [f"'rover_arm/{name}'" for name in ("elbow_joint", "left_finger_joint", "left_wheel_joint")]
    (told,) = (line for line in stderr.splitlines() if " joints, " in line)
    assert all(name in told for name in unknown)
    assert "are not known in 1 of 1 states, from 0.000 s to 0.000 s" in told
    assert "base 'rover_arm' is not known in 1 of 1 states" in stderr
    assert model.pose is None


def test_the_world_frame_may_be_any_free_frame(tools: Any, drive: Path) -> None:
    for name, frame in (("usual", "map"), ("other", "odom"), ("robot", "base_footprint")):
        code, _, stderr = tools.run(
            "export", drive, "--at", "2", "--world-frame", frame, "-o", tools.folder / f"{name}.usdf"
        )
        assert code == 0, stderr

    usual, other, robot = (
        resolve_frames(read_world(tools.folder / f"{name}.usdf")) for name in ("usual", "other", "robot")
    )
    T_map_odom, T_map_base = usual.pose("odom"), usual.pose("rover_arm")
    np.testing.assert_allclose(other.pose("map"), np.linalg.inv(T_map_odom), atol=1e-12)
    np.testing.assert_allclose(other.pose("rover_arm"), np.linalg.inv(T_map_odom) @ T_map_base, atol=1e-12)
    np.testing.assert_array_equal(robot.pose("rover_arm"), np.eye(4))
    np.testing.assert_allclose(robot.pose("map"), np.linalg.inv(T_map_base), atol=1e-12)
    np.testing.assert_allclose(robot.pose("odom"), np.linalg.inv(T_map_base) @ T_map_odom, atol=1e-12)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ("mapp", "error: unknown frame 'mapp'; did you mean 'map'?"),
        ("wrist_link", "error: 'wrist_link' is a link of a robot; the world frame must be a free frame or a root link"),
    ],
)
def test_a_world_frame_that_cannot_be_is_refused(tools: Any, drive: Path, frame: str, message: str) -> None:
    code, _, stderr = tools.run("export", drive, "--world-frame", frame, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert message in stderr
    assert not (tools.folder / "state.usdf").exists()


def test_frames_that_are_not_connected_are_said_and_have_no_pose(tools: Any) -> None:
    tape = tools.rover(1.0)
    tape.tf([(tools.START, "island", "rock", (1, 0, 0, 0, 0, 0, 1))], topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "the frames are not connected; 'map' is used as the world; not connected to it: 'island'" in stderr
    state = read_world(tools.folder / "state.usdf")
    assert state.frame("island").pose is None
    assert state.frame("rock").parent == "island"


def test_a_frame_that_is_called_world_is_the_world(tools: Any) -> None:
    tape = tools.rover(1.0)
    tape.tf([(tools.START, "world", "map", (5, 0, 0, 0, 0, 0, 1))], topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "-o", tools.folder / "state.usdf")
    state = read_world(tools.folder / "state.usdf")
    assert state.frame("map").parent == "world"
    assert state.frame("map").pose is not None
    assert sorted(frame.name for frame in state.frames) == ["camera", "map", "odom"]
    code, _, stderr = tools.run("export", bag, "--world-frame", "odom", "-o", tools.folder / "other.usdf")
    assert code == 1
    assert "error: the recording has a frame 'world', so no other frame can be the world" in stderr.splitlines()


def planar_matrix(x: float, y: float, theta: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("z", theta).as_matrix()
    T[:2, 3] = x, y
    return T


@pytest.mark.parametrize("moving", [False, True])
def test_frames_above_the_world_frame_are_placed_by_inversion(tools: Any, moving: bool) -> None:
    tape, turn, straight = tools.Tape(), Rotation.from_euler("z", 0.5).as_quat(), (0.0, 0.0, 0.0, 1.0)
    tape.describe()
    for number in range(3):
        stamp = tools.START + number * tools.S // 2
        tape.joints(stamp, tools.ARM, [0.01] * 10)
        tape.tf([(stamp, "world", "base_footprint", (3.0, 0.0, 0.0, *straight))])
        if moving or number == 0:
            topic = "/tf" if moving else "/tf_static"
            tape.tf([(stamp, "map", "world", (1.0 + number, 2.0, 0.0, *turn))], topic=topic)
    above = [(tools.START, "earth", "map", (0.0, 4.0, 0.0, *turn)), (tools.START, "map", "table", (5, 0, 0, *straight))]
    tape.tf(above, topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    T_map_world = planar_matrix(2.0 if moving else 1.0, 2.0, 0.5)
    expected = {
        "map": np.linalg.inv(T_map_world),
        "earth": np.linalg.inv(planar_matrix(0.0, 4.0, 0.5) @ T_map_world),
        "table": np.linalg.inv(T_map_world) @ planar_matrix(5.0, 0.0, 0.0),
        "rover_arm": planar_matrix(3.0, 0.0, 0.0),
    }
    for options in ((), ("--world-frame", "world")):
        path = tools.folder / f"state{len(options)}.usdf"
        code, _, stderr = tools.run("export", bag, "--at", "0.5", *options, "-o", path)
        assert code == 0, stderr
        found = resolve_frames(read_world(path))
        for name, T in expected.items():
            np.testing.assert_allclose(found.pose(name), T, atol=1e-12)


def test_two_robots_in_namespaces_have_their_own_joints_frames_and_descriptions(tools: Any) -> None:
    tape = tools.Tape()
    for number, name in enumerate(("left", "right")):
        tape.describe(f"/{name}")
        tape.joints(tools.START, tools.ARM, [0.01 * (number + 1)] * 10, topic=f"/{name}/joint_states")
        tape.tf([(tools.START, "map", f"{name}/base_footprint", (number, 0, 0, 0, 0, 0, 1))])
    tape.tf([(tools.START, "right/wrist_link", "tool", (0, 0, 1, 0, 0, 0, 1))], topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    models = ("--model", "left:left", "--model", "second:/right")
    code, _, stderr = tools.run("export", bag, *models, "-o", tools.folder / "state.usdf")
    assert code == 0
    odd = "'{}' is recorded in 'map', which is not connected to '{}/odom', its virtual joint's parent frame"
    expected = [odd.format("left", "left"), odd.format("second", "right")]
    assert [line.partition("warning: ")[2] for line in stderr.splitlines()] == [
        f"{text} (root-not-reached)" for text in expected
    ]
    state = read_world(tools.folder / "state.usdf")
    assert [model.name for model in state.models] == ["left", "second"]
    assert [model.joint("elbow_joint").positions for model in state.models] == [(0.01,), (0.02,)]
    assert [_seven(model.pose)[0] for model in state.models] == [0.0, 1.0]
    assert state.frame("tool").parent == "second"
    assert [frame.name for frame in state.frames] == ["map", "tool"]


def test_a_namespace_without_joint_states_is_said(tools: Any, drive: Path) -> None:
    code, _, stderr = tools.run("export", drive, "--model", "arm:/armm", "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "warning: topic '/armm/joint_states' does not exist; did you mean '/joint_states'?" in stderr


def test_a_robot_that_is_called_like_a_frame_is_refused(tools: Any, drive: Path) -> None:
    code, _, stderr = tools.run("export", drive, "--model", "odom", "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "error: 'odom' is both a robot and a frame; give the robot another name with --model" in stderr


def test_a_document_says_how_old_a_value_is_that_is_older_than_the_greatest_gap(tools: Any) -> None:
    tape = tools.Tape()
    tape.describe()
    tape.joints(tools.START + 1_500_000_000, ["lift_joint"], [0.125])
    tape.joints(tools.START + 3_500_000_000, ["elbow_joint"], [0.5])
    bag = tape.write(tools.folder / "bag")
    for ending in ("usdf", "jsonl"):
        out = tools.folder / f"state.{ending}"
        assert tools.run("export", bag, "--at", "end", "--max-gap", "1", "-o", out)[0] == 0
        values = {} if ending == "usdf" else json.loads(out.read_text())
        values.pop("gaps", None)
        model = (world_from_json(values) if values else read_world(out)).models[0]
        assert model.joint("lift_joint").positions == (0.125,)
        assert (model.joint("lift_joint").age_ns, model.joint("elbow_joint").age_ns) == (2_000_000_000, None)
