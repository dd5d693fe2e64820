# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf` as a person or a program calls it."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robot_semantics import WorldState, read_world, save_world
from robot_semantics.examples import example
from robot_semantics.usdf.world_state import JointState, ModelState

FILES = ("rover_arm.usdf", "rover_arm.urdf", "rover_arm.srdf", "block.urdf", "block.srdf")


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Return a copy of the example world, beside its robots."""
    for name in FILES:
        shutil.copy(example(name), tmp_path / name)
    return tmp_path / "rover_arm.usdf"


@pytest.fixture
def usdf(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *words: run(*([] if words[:1] in (("check",), ("diff",)) else ["usdf"]), *words)


def test_check_reports_problems_and_counts(usdf: Callable[..., Any], world: Path) -> None:
    result = usdf("check", world)
    assert result.code == 0
    assert "4 of 10 joints of 'rover_arm' have no position" in result.out
    assert usdf("check", "--strict", world).code == 1
    assert usdf("check", "--no-robots", world).out.endswith("1 file checked: no problems\n")
    found = json.loads(usdf("check", "--json", world).out)
    assert (found["ok"], found["errors"], found["warnings"]) == (True, 0, 1)
    assert found["diagnostics"][0]["line"] > 1
    world.write_text(world.read_text().replace('"lift_joint"', '"lift_jiont"'))
    result = usdf("check", world)
    assert result.code == 1
    assert "has no joint 'lift_jiont'; did you mean 'lift_joint'?" in result.out
    world.write_text("<world_state")
    assert usdf("check", world).code == 1
    assert usdf("check", world.parent / "nothing.usdf").code == 1


def test_check_takes_a_robot_from_the_command_line(usdf: Callable[..., Any], world: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.usdf"
    bare.write_text(
        "<world_state><model_state name='x'><pose>0 0 0 0 0 0</pose><link_state name='no'/></model_state></world_state>"
    )
    result = usdf("check", bare, "--urdf", f"{world.parent}/rover_arm.urdf,{world.parent}/rover_arm.srdf")
    assert result.code == 1
    assert "robot 'rover_arm' has no link 'no'" in result.out


def test_show_prints_what_the_file_says(usdf: Callable[..., Any], world: Path) -> None:
    out = usdf("show", world).out
    assert "world 'rover_and_blocks', at 0.000000000 s, 4 models, 1 frame" in out
    assert "shoulder_pan_joint   0.3        -0.5" in out
    state = json.loads(usdf("show", "--json", world).out)
    assert [model["name"] for model in state["models"]] == ["rover_arm", "block_1", "block_2", "block_3"]


def test_resolve_sees_from_any_frame(usdf: Callable[..., Any], world: Path) -> None:
    bodies = json.loads(usdf("resolve", world, "rover_arm", "block_2", "--relative-to", "odom", "--json").out)["bodies"]
    assert bodies[0]["xyz"] == pytest.approx([0.0, 0.0, 0.0])
    assert bodies[0]["twist"] == pytest.approx([0.4, 0.0, 0.0, 0.0, 0.0, 0.2])
    everything = usdf("resolve", world).out
    assert "rover_arm::tool_frame" in everything
    assert "rover_arm::tool_frame" not in usdf("resolve", world, "--no-robots").out
    result = usdf("resolve", world, "blok_1")
    assert (result.code, result.err) == (
        1,
        "error: unknown model, frame or link 'blok_1'; did you mean 'block_1' or 'block_3' or 'block_2'?\n",
    )


COMMANDED = """<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="r"><joint_state name="j">
<positions>0</positions></joint_state></model_state><rs:engine name="joint-commands" version="1">
<rs:array name="r/j position">0.25</rs:array></rs:engine></world_state>"""


def test_joint_commands_get_new_names_with_their_models(usdf: Callable[..., Any], tmp_path: Path) -> None:
    file, out = tmp_path / "w.usdf", tmp_path / "out.usdf"
    file.write_text(COMMANDED)
    assert usdf("edit", file, "--rename", "r", "p", "-o", out).code == 0
    assert read_world(out).engines[0].arrays == {"p/j position": (0.25,)}
    assert usdf("merge", file, file, "--prefix", "a_", "--prefix", "b_", "-o", out, "--force").code == 0
    assert read_world(out).engines[0].arrays == {"a_r/j position": (0.25,), "b_r/j position": (0.25,)}
    result = usdf("edit", file, "--joint", "r/j=1", "-o", out, "--force")
    assert (result.code, read_world(out).engines) == (0, ())


def test_edit_then_diff(usdf: Callable[..., Any], world: Path, tmp_path: Path) -> None:
    out = tmp_path / "elsewhere" / "e.usdf"
    out.parent.mkdir()
    words = (
        "--joint",
        "rover_arm/lift_joint=0.2",
        "--pose",
        "block_1=1 2 3 0 0 0",
        "--time",
        "1.5",
        "--name",
        "w",
    )
    assert usdf("edit", world, *words, "-o", out).code == 0
    edited = read_world(out)
    assert edited.time_ns == 1_500_000_000
    assert edited.model("rover_arm").description == "../rover_arm.urdf"
    result = usdf("diff", world, out)
    assert result.code == 1
    assert "rover_arm joint lift_joint" in result.out
    differences = json.loads(usdf("diff", world, out, "--json").out)["differences"]
    assert [item["kind"] for item in differences] == ["statement", "time", "joint position", "position", "orientation"]
    ignored = ("--ignore", "statement", "--ignore", "time", "--tolerance", "joint-position=0.11", "--tolerance", "10")
    assert usdf("diff", world, out, *ignored).out == "no difference\n"
    assert usdf("diff", world, world).code == 0
    assert usdf("edit", world, "--state", "rover_arm/nothing/here").code == 1
    assert usdf("edit", world, "--parent", "block_1=odom", "--twist", "odom=0 0 0 0 0 1", "--in-place").code == 0
    assert read_world(world).model("block_1").parent == "odom"


def test_a_joint_of_the_only_model_needs_no_model_before_it(usdf: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "one.usdf"
    save_world(WorldState(models=(ModelState("m", joints=(JointState("j", (0.0,)),)),)), path)
    assert usdf("edit", path, "--joint", "j=0.5", "--in-place").code == 0
    assert read_world(path).model("m").joint("j").positions == (0.5,)


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("--pose", "block_1=1 2"), "--pose block_1=...: 2 numbers are given; it must have 6 or 7", 2),
        (
            ("--pose", "block_1=1 2 x 0 0 0"),
            "--pose takes NAME=NUMBERS with finite numbers apart by blanks, not 'block_1=1 2 x 0 0 0'",
            2,
        ),
        (("--pose", "blok_1=0 0 0 0 0 0"), "unknown model or frame 'blok_1'", 1),
        (("--joint", "lift_joint"), "--joint takes NAME=NUMBERS", 2),
        (("--state", "stowed"), "--state takes [MODEL/]GROUP/NAME, not 'stowed'", 2),
        (
            ("--joint", "rover_arm/lift_jiont=0"),
            "unknown joint variable 'lift_jiont' of model 'rover_arm'; did you mean 'lift_joint'",
            1,
        ),
        (("--time", "soon"), "--time: 'soon' is not a time in seconds", 2),
    ],
)
def test_an_edit_that_cannot_be_done_says_why(
    usdf: Callable[..., Any], world: Path, words: tuple[str, ...], message: str, code: int
) -> None:
    result = usdf("edit", world, *words)
    assert result.code == code
    assert message in result.err
    assert result.out == ""


def test_an_edit_warns_of_what_it_makes_wrong(usdf: Callable[..., Any], world: Path, tmp_path: Path) -> None:
    out = tmp_path / "e.usdf"
    result = usdf("edit", world, "--joint", "rover_arm/lift_joint=7", "-o", out)
    assert result.code == 0
    assert "warning: joint 'lift_joint' is at 7, outside its limits" in result.err
    # Earlier problems are not reported as problems of the edit.
    assert usdf("edit", out, "--joint", "rover_arm/wrist_joint=0").err == ""


def test_wrong_kinds_of_difference_are_wrong_usage(usdf: Callable[..., Any], world: Path) -> None:
    for words in (("--tolerance", "positon=1"), ("--ignore", "positon")):
        result = usdf("diff", world, world, *words)
        assert result.code == 2
        assert "did you mean 'position'" in result.err


def test_merge_split_and_interpolate(usdf: Callable[..., Any], world: Path, tmp_path: Path) -> None:
    other, merged = tmp_path / "other.usdf", tmp_path / "merged.usdf"
    usdf("edit", world, "--pose", "block_1=1 2 3 0 0 0", "--time", "2", "-o", other)
    result = usdf("merge", world, other)
    assert result.code == 1
    lines = other.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if 'name="block_1"' in text)
    assert f"{other}:{line}:3: error: 'block_1' has other values in {world}" in result.err
    column = lines[1].index("rs:time") + 1
    assert f"{other}:2:{column}: error: the time is 2000000000 ns" in result.err
    assert usdf("merge", world, other, "--prefix", "a_").code == 2
    assert usdf("merge", world, other, "--prefix", "a_", "--prefix", "b_", "--any-time", "-o", merged).code == 0
    assert len(read_world(merged).models) == 8
    listed = usdf("split", world, "-o", tmp_path / "parts").out.split()
    assert [Path(path).name for path in listed] == [
        "rover_arm.usdf",
        "block_1.usdf",
        "block_2.usdf",
        "block_3.usdf",
    ]
    assert read_world(listed[0]).model("rover_arm").description == "../rover_arm.urdf"
    between = tmp_path / "between.usdf"
    assert usdf("interpolate", world, other, "--time", "0.5", "-o", between).code == 0
    pose = read_world(between).model("block_1").pose
    assert pose is not None
    assert pose.xyz_rpy[:3] == pytest.approx((0.72 + 0.07, 0.05 + 0.4875, 0.3 + 0.675))
    assert usdf("interpolate", world, other, "--time", "1e99").code == 2
    moment = tmp_path / "moment.usdf"
    assert usdf("interpolate", world, other, "--time", "0.333333333", "-o", moment).code == 0
    assert read_world(moment).time_ns == 333_333_333
    assert usdf("interpolate", world, other, "--share", "2").code == 2
    assert usdf("interpolate", world, other).code == 2


def test_convert_there_and_back(usdf: Callable[..., Any], world: Path, tmp_path: Path) -> None:
    as_json, back = tmp_path / "w.json", tmp_path / "back.usdf"
    assert usdf("convert", world, "-o", as_json).err == ""
    assert usdf("convert", as_json, "-o", back).code == 0
    assert read_world(back) == read_world(world)
    assert usdf("diff", world, as_json).code == 0
    result = usdf("convert", world, "--to", "sdformat")
    assert "<sdf version" in result.out
    assert "not carried: frame 'odom'" in result.err
    assert usdf("convert", world).code == 2
    assert "<world_state " in usdf("convert", as_json).out
    result = usdf("convert", world, "--to", "mujoco")
    assert (result.code, "--mujoco-model" in result.err) == (2, True)


def test_convert_makes_keyframes_of_mujoco_models(usdf: Callable[..., Any], world: Path, tmp_path: Path) -> None:
    model, key, back = tmp_path / "m.xml", tmp_path / "key.mjcf", tmp_path / "back.usdf"
    model.write_text(
        "<mujoco><worldbody><body name='block_2'><freejoint/><geom type='sphere' size='1'/></body></worldbody></mujoco>"
    )
    result = usdf("convert", world, "--mujoco-model", model, "--key", "k", "-o", key)
    assert result.code == 0
    assert "its pose and twist, as no free joint carries it; likewise: 'block_1', 'block_3'" in result.err
    assert usdf("convert", key, "--mujoco-model", model, "-o", back).code == 0
    found, stated = read_world(back).model("block_2"), read_world(world).model("block_2")
    assert found.pose is not None
    assert stated.pose is not None
    assert found.pose.xyz_rpy == pytest.approx(stated.pose.xyz_rpy)
    assert found.twist == pytest.approx(stated.twist)


def test_usdf_without_an_operation_is_wrong_usage(usdf: Callable[..., Any]) -> None:
    assert usdf().code == 2
    assert usdf("fly").code == 2
    assert "interpolate" in usdf("--help").out


def test_check_warns_of_angles_that_were_probably_meant_in_degrees(usdf: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "world.usdf"
    link = '<link_state name="l"><pose>0 0 0 0 {} 0</pose></link_state>'
    text = '<world_state><model_state name="m"><pose>0 0 0 0 0 {}</pose>' + link + "</model_state></world_state>"
    path.write_text(text.format(90, -45))
    found = usdf("check", "--all", path)
    assert found.code == 0
    assert "the pose of 'm' has the angle 90" in found.out
    assert "the pose of 'l' has the angle -45" in found.out
    path.write_text(text.format(6.28, -6.28))
    assert usdf("check", path).out == "1 file checked: no problems\n"


def test_an_object_on_a_link_is_placed_by_the_joints(usdf: Callable[..., Any], world: Path, tmp_path: Path) -> None:
    held = '<model_state name="block_1" rs:description="block.urdf" rs:semantic="block.srdf">'
    carried = held[:-1] + ' rs:parent_link="tool_frame"><parent>rover_arm</parent>'
    world.write_text(world.read_text().replace(held, carried))
    resolved = json.loads(usdf("resolve", world, "--json").out)
    (expected,) = [item["xyz"] for item in resolved["bodies"] if item["name"] == "block_1"]
    assert usdf("split", world, "-o", tmp_path / "parts").code == 0
    part = json.loads(usdf("resolve", tmp_path / "parts" / "block_1.usdf", "--json").out)
    assert [item["xyz"] for item in part["bodies"] if item["name"] == "block_1"] == [pytest.approx(expected, abs=1e-12)]
    names = ("rover_arm", "block_1", "block_2", "block_3")
    files = [tmp_path / "parts" / f"{name}.usdf" for name in names]
    merged = usdf("merge", *files, "-o", tmp_path / "merged.usdf")
    assert merged.code == 0, merged.err
    assert read_world(tmp_path / "merged.usdf").bodies == tuple(
        replace(body, **{key: getattr(here, key) for key in ("description", "semantic") if hasattr(here, key)})
        for body, here in zip(read_world(world).bodies, read_world(tmp_path / "merged.usdf").bodies, strict=True)
    )
    result = usdf("convert", world, "-o", tmp_path / "w.sdf")
    assert result.code == 0, result.err
    usdf("convert", tmp_path / "w.sdf", "-o", tmp_path / "back.usdf")
    pose = read_world(tmp_path / "back.usdf").model("block_1").pose
    assert pose is not None
    assert pose.xyz_rpy[:3] == pytest.approx(expected, abs=1e-12)
    result = usdf("split", world, "--no-robots", "-o", tmp_path / "unknown")
    assert (result.code, (tmp_path / "unknown").exists()) == (1, False)
    assert "pose of 'rover_arm::tool_frame'" in result.err


def test_degrees_are_for_angles_only(usdf: Callable[..., Any], world: Path) -> None:
    words = ("--joint", "elbow_joint=90", "--joint", "lift_joint=0.1", "--joint", "world_joint/theta=180")
    turned = ("--pose", "block_1=1 2 3 0 0 90", "--pose", "block_2=0 0 1 0 0 0 1", "--twist", "block_1=90 0 0 0 0 90")
    result = usdf("edit", world, "--degrees", *words, *turned, "-o", world.parent / "out.usdf")
    assert result.code == 0, result.err
    state = read_world(world.parent / "out.usdf")
    joints = {joint.name: joint.positions for joint in state.model("rover_arm").joints}
    assert joints["elbow_joint"] == pytest.approx((math.pi / 2,))
    assert joints["lift_joint"] == (0.1,)
    rover, one, two = (state.model(name) for name in ("rover_arm", "block_1", "block_2"))
    assert rover.pose is not None
    assert abs(rover.pose.xyz_rpy[5]) == pytest.approx(math.pi)
    assert one.pose is not None
    assert one.pose.xyz_rpy == pytest.approx((1, 2, 3, 0, 0, math.pi / 2))
    assert one.twist == pytest.approx((90, 0, 0, 0, 0, math.pi / 2))
    assert two.pose is not None
    assert two.pose.xyz_rpy == pytest.approx((0, 0, 1, 0, 0, 0))
    assert usdf("edit", world, "--degrees", "--name", "a").code == 2
    unknown = usdf("edit", world, "--no-robots", "--degrees", "--joint", "rover_arm/elbow_joint=90")
    assert unknown.code == 1
    assert "the unit of 'elbow_joint'" in unknown.err
