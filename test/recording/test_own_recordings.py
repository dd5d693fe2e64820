# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A recording that `bag` writes has topics that nodes can have, and its states come back under their own names."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

from robot_semantics import RobotSemanticsError, read_world
from robot_semantics.convert.messages import topic_namespaces
from robot_semantics.examples import FOLDER, example
from robot_semantics.usdf.frames import resolve_frames

VALID_TOPIC = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")
"""A full topic name as ROS 2 defines it."""

NAMES = ("left arm", "2b", "Ärm/x", "a-b", "a//b", "/lead", "trail/", "x" * 200)

MIMICS = """<robot name="m"><link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="p" type="planar"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="pf" type="planar"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/>
 <mimic joint="p" multiplier="2" offset="0.25"/></joint>
<joint name="f" type="floating"><parent link="base"/><child link="c"/></joint>
<joint name="ff" type="floating"><parent link="base"/><child link="d"/><mimic joint="f" multiplier="-1"/></joint>
</robot>"""
MIMIC_STATE = """<world_state xmlns:rs="urn:robot-semantics:usdf:1" rs:time="1.000000000">
<model_state name="one" rs:description="m.urdf"><pose>0 0 0 0 0 0</pose>
<joint_state name="p"><positions>0.5 -1 0.125</positions><velocities>1 2 3</velocities></joint_state>
<joint_state name="f"><positions>1 2 3 0 0 0.6 0.8</positions></joint_state></model_state></world_state>"""


@pytest.mark.parametrize("name", NAMES)
def test_a_topic_made_from_a_name_is_one_that_ros_takes(name: str) -> None:
    pytest.importorskip("rclpy")
    from rclpy.validate_full_topic_name import validate_full_topic_name

    namespace = topic_namespaces([name])[name]
    assert validate_full_topic_name(f"/{namespace}/robot_description_semantic")


def test_characters_are_replaced_and_a_digit_gets_an_underscore() -> None:
    assert topic_namespaces(["left arm", "2b", "fleet/3", "plain_1"]) == {
        "left arm": "left_arm",
        "2b": "_2b",
        "fleet/3": "fleet/_3",
        "plain_1": "plain_1",
    }


def test_two_names_of_one_topic_and_a_name_too_long_are_errors() -> None:
    with pytest.raises(RobotSemanticsError, match="'left arm' and 'left_arm' have the same topics"):
        topic_namespaces(["left arm", "left_arm"])
    with pytest.raises(RobotSemanticsError, match="too long"):
        topic_namespaces(["x" * 201])


def world(folder: Path, *names: str) -> Path:
    shutil.copy(example("block.urdf"), folder)
    path = folder / "named.usdf"
    models = "".join(
        f'<model_state name="{name}" rs:description="block.urdf"><pose>{number} 0 0 0 0 0</pose></model_state>'
        for number, name in enumerate(names)
    )
    path.write_text(
        f'<world_state xmlns:rs="urn:robot-semantics:usdf:1" rs:time="1.000000000">{models}</world_state>',
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("names", [("left arm", "2b"), ("2 left arms", "3 c", "Ärm/x"), ("left arm",), ("a", "b")])
def test_reading_restores_the_names_of_models(tools: Any, names: tuple[str, ...]) -> None:
    path = world(tools.folder, *names)
    assert tools.run("bag", path, "-o", tools.folder / "rec")[0] == 0
    with Reader(tools.folder / "rec") as reader:
        topics = {connection.topic for connection in reader.connections}
    assert all(VALID_TOPIC.fullmatch(topic) for topic in topics), topics
    code, _, stderr = tools.run("export", tools.folder / "rec", "--strict", "-o", tools.folder / "out.usdf")
    assert code == 0, stderr
    before, after = read_world(path), read_world(tools.folder / "out.usdf")
    assert {m.name: m.pose.xyz_rpy for m in after.models if m.pose} == {
        m.name: m.pose.xyz_rpy for m in before.models if m.pose
    }


@pytest.mark.parametrize("names", [("left arm", "left_arm"), ("a b", "a_b"), ("2b", "_2b")])
def test_models_whose_topics_would_clash_are_refused_and_nothing_is_written(tools: Any, names: tuple[str, str]) -> None:
    path = world(tools.folder, *names)
    code, _, stderr = tools.run("bag", path, "-o", tools.folder / "rec")
    assert code == 1
    assert f"'{names[0]}' and '{names[1]}'" in stderr or f"'{names[1]}' and '{names[0]}'" in stderr
    assert not (tools.folder / "rec").exists()


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"models": 3}', '{"models": [{"name": "world", "namespace": "", "joints": []}]}']
)
def test_metadata_that_others_wrote_change_nothing(tools: Any, text: str) -> None:
    from robot_semantics.recording.bags.source import models_of_metadata

    assert models_of_metadata({"robot_semantics": text}) == ()
    assert models_of_metadata(None) == ()


def test_our_own_example_world_comes_back_without_a_warning(tools: Any) -> None:
    for file in FOLDER.glob("*.?[rs]df"):
        shutil.copy(file, tools.folder)
    assert tools.run("bag", tools.folder / "rover_arm.usdf", "-o", tools.folder / "rec")[0] == 0
    code, _, stderr = tools.run("export", tools.folder / "rec", "--strict", "-o", tools.folder / "out.usdf")
    assert code == 0, stderr
    before, after = (read_world(tools.folder / name) for name in ("rover_arm.usdf", "out.usdf"))
    joints = {m.name: {j.name: j.positions for j in m.joints} for m in before.models}
    assert {m.name: {j.name: j.positions for j in m.joints} for m in after.models} == joints


def test_a_joint_that_was_lost_from_our_own_recording_is_still_a_warning(tools: Any) -> None:
    first, second = (tools.folder / f"{name}.usdf" for name in ("first", "second"))
    (tools.folder / "m.urdf").write_text(MIMICS)
    first.write_text(MIMIC_STATE.replace('rs:time="1', 'rs:time="9'))
    lines = [line for line in MIMIC_STATE.splitlines() if '"p"' not in line]
    second.write_text("\n".join(lines))
    assert tools.run("bag", first, second, "-o", tools.folder / "rec")[0] == 0
    code, _, stderr = tools.run("export", tools.folder / "rec", "--at", "0", "--strict", "-o", tools.folder / "o.usdf")
    assert code == 1
    assert "'one/p'" in stderr


def test_planar_and_floating_followers_follow_where_no_message_names_them(tools: Any) -> None:
    (tools.folder / "m.urdf").write_text(MIMICS)
    (tools.folder / "w.usdf").write_text(MIMIC_STATE)
    assert tools.run("bag", tools.folder / "w.usdf", "-o", tools.folder / "rec")[0] == 0
    code, _, stderr = tools.run("export", tools.folder / "rec", "--strict", "-o", tools.folder / "out.usdf")
    assert code == 0, stderr
    (model,) = read_world(tools.folder / "out.usdf").models
    joints = {joint.name: joint for joint in model.joints}
    assert model.name == "one"
    assert joints["pf"].positions == (2 * 0.5 + 0.25, 2 * -1 + 0.25, 2 * 0.125 + 0.25)
    assert joints["pf"].velocities == (2.0, 4.0, 6.0)
    assert joints["ff"].positions == (-1.0, -2.0, -3.0, 0.0, 0.0, 0.6, 0.8)


WORLD_LINK = """<robot name="ur"><link name="world"/><link name="base"/><link name="tool"/>
<joint name="mount" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 0.5"/></joint>
<joint name="turn" type="revolute"><parent link="base"/><child link="tool"/><axis xyz="0 0 1"/>
 <origin xyz="1 0 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""
VIRTUAL = '<robot name="ur"><virtual_joint name="vj" type="{}" parent_frame="world" child_link="world"/></robot>'
WORLD_LINK_STATE = """<world_state xmlns:rs="urn:robot-semantics:usdf:1" rs:time="{time}.000000000">
<model_state name="ur" rs:description="ur.urdf"{semantic}>{pose}{twist}
 <joint_state name="turn"><positions>0.25</positions></joint_state></model_state>
{others}
<frame name="tool"><pose>4 0 0 0 0 0</pose></frame>
<frame name="world_frame"><parent>tool</parent><pose>0 {time} 0 0 0 0</pose></frame>
<frame name="camera"><parent>ur</parent><pose>0 0 2 0 0 0</pose></frame>
<frame name="cup" rs:parent_link="tool"><parent>ur</parent><pose>0 0 0.125 0 0 0</pose></frame></world_state>"""
TURNED = "<pose>1 2 0 0 0 0.5</pose>"


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("joint", "pose"),
    [("", TURNED), ("fixed", "<pose>0 0 0 0 0 0</pose>"), ("planar", TURNED), ("floating", TURNED)],
)
def test_a_root_link_called_world_is_not_the_world(tools: Any, joint: str, pose: str, several: bool) -> None:
    (tools.folder / "ur.urdf").write_text(WORLD_LINK)
    (tools.folder / "ur.srdf").write_text(VIRTUAL.format(joint))
    semantic = ' rs:semantic="ur.srdf"' if joint else ""
    other = '<model_state name="other" rs:description="ur.urdf"><pose>0 9 0 0 0 0</pose></model_state>'
    twist = "<twist>1 0 0 0 0 0.5</twist>" if joint in ("planar", "floating") else ""
    files = []
    for time in (1, 2):
        files.append(tools.folder / f"{time}.usdf")
        others = other if several else ""
        about = {"semantic": semantic, "pose": pose, "twist": twist, "others": others}
        files[-1].write_text(WORLD_LINK_STATE.format(time=time, **about))
    assert tools.run("bag", *files, "-o", tools.folder / "rec")[0] == 0
    code, _, stderr = tools.run(
        "export", tools.folder / "rec", "--at", "1", "--interpolate", "previous", "-o", tools.folder / "out.usdf"
    )
    assert code == 0, stderr
    before, after = read_world(files[1]), read_world(tools.folder / "out.usdf")
    for body in before.bodies:
        found = next(item for item in after.bodies if item.name == body.name)
        assert found.pose is not None
        assert body.pose is not None
        assert (found.parent, found.parent_link) == (body.parent, body.parent_link)
        assert found.pose.xyz_rpy == pytest.approx(body.pose.xyz_rpy, abs=1e-15)
        assert body.twist is None or found.twist == body.twist
    assert {body.name for body in after.bodies} == {body.name for body in before.bodies}
    assert after.model("ur").joint("turn").positions == (0.25,)


def test_a_root_link_called_world_is_the_root_of_another_s_recording(tools: Any) -> None:
    tape = tools.Tape()
    tape.text("/robot_description", WORLD_LINK)
    tape.text("/robot_description_semantic", VIRTUAL.format("fixed"))
    tape.joints(tools.START, ["turn"], [0.25])
    unturned = (0.0, 0.0, 0.0, 1.0)
    tape.tf([(tools.START, "world", "base", (0.0, 0.0, 0.5, *unturned))], topic="/tf_static")
    tape.tf([(tools.START, "world", "camera", (1.0, 2.0, 3.0, *unturned))])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--strict", "-o", tools.folder / "out.usdf")
    assert code == 0, stderr
    world = resolve_frames(read_world(tools.folder / "out.usdf"))
    assert world.pose("ur")[:3, 3].tolist() == [0.0, 0.0, 0.0]
    assert world.pose("camera")[:3, 3].tolist() == [1.0, 2.0, 3.0]


def test_a_root_link_called_world_below_another_frame_may_be_the_world_frame(tools: Any) -> None:
    tape = tools.Tape()
    tape.text("/robot_description", WORLD_LINK)
    tape.text("/robot_description_semantic", VIRTUAL.format("fixed"))
    tape.joints(tools.START, ["turn"], [0.25])
    tape.tf([(tools.START, "map", "world", (1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0))], topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    # A half turn about z: the inverse of (1, 2) is (1, 2).
    for frame, other in (("map", "ur"), ("world", "map")):
        path = tools.folder / f"{frame}.usdf"
        code, _, stderr = tools.run("export", bag, "--world-frame", frame, "-o", path)
        assert code == 0, stderr
        assert "world_frame" not in stderr
        found = resolve_frames(read_world(path))
        assert found.pose({"map": "map", "world": "ur"}[frame]) == pytest.approx(np.eye(4))
        assert found.pose(other)[:3, 3] == pytest.approx([1.0, 2.0, 0.0])
