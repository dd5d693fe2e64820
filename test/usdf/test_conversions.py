# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""JSON, SDFormat and MuJoCo keyframes: converted values are right, lost ones are listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from lxml import etree
from scipy.spatial.transform import Rotation
from support.sdformat import models_by_libsdformat
from support.states import Chance

from robot_semantics import DescriptionError, RobotModel, UnknownNameError, WorldState, write_world
from robot_semantics.base.errors import ArrayError
from robot_semantics.cli.main import main
from robot_semantics.convert.json_form import parse_json, world_from_json
from robot_semantics.convert.mujoco_key_text import Keyframe, parse_keyframe
from robot_semantics.convert.mujoco_keyframe import from_keyframe, to_keyframe
from robot_semantics.convert.sdformat_input import from_sdformat
from robot_semantics.convert.sdformat_state import to_sdformat
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.commands import JointCommand, commands_of
from robot_semantics.usdf.compare import compare
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.table import DifferenceKind
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState

ZERO = (0.0,) * 6

BAD_JSON = {
    "no json": ("{", "not JSON"),
    "no object": ("[]", "it is not an object"),
    "format": ('{"format": "x"}', "the format is 'x'"),
    "key": ('{"model": []}', "the key 'model' is not known; did you mean 'models'?"),
    "list": ('{"models": {}}', "it is not a list [/models]"),
    "name": ('{"models": [{}]}', "there is no name [/models/0]"),
    "pose": ('{"frames": [{"name": "f", "pose": {}}]}', "there is no xyz_rpy [/frames/0/pose]"),
    "count": ('{"frames": [{"name": "f", "twist": [1]}]}', "it has 1 numbers; it must have 6 [/frames/0/twist]"),
    "number": ('{"frames": [{"name": "f", "twist": [1, 2, 3, 4, 5, "6"]}]}', "not a list of finite numbers"),
    "nan": ('{"frames": [{"name": "f", "twist": [1, 2, 3, 4, 5, NaN]}]}', "not a list of finite numbers"),
    "boolean": ('{"frames": [{"name": "f", "twist": [1, 2, 3, 4, 5, true]}]}', "not a list of finite numbers"),
    "huge": (
        '{"frames": [{"name": "f", "twist": [1, 2, 3, 4, 5, 1' + "0" * 400 + "]}]}",
        "not a list of finite numbers",
    ),
    "text": ('{"name": 3}', "it is not a text [/name]"),
    "time": ('{"time": "1.5 s"}', "it is '1.5 s'; it must be seconds"),
    "foreign": ('{"foreign": "x"}', "it is not a list of texts [/foreign]"),
    "parent": ('{"frames": [{"name": "f", "parent": "g"}]}', "the parent 'g' is neither a frame nor a model"),
}


@pytest.mark.parametrize(("text", "message"), BAD_JSON.values(), ids=BAD_JSON)
def test_json_that_is_no_world_state_is_refused(text: str, message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_json(text, "w.json")
    assert message in str(caught.value)
    assert str(caught.value).startswith("w.json")


def test_plain_values_may_leave_out_everything() -> None:
    assert world_from_json({}) == WorldState()
    assert world_from_json({"models": [{"name": "m", "joints": [{"name": "j"}]}]}) == WorldState(
        models=(ModelState("m", joints=(JointState("j"),)),)
    )


@pytest.mark.parametrize("seed", range(10))
def test_sdformat_keeps_every_place_and_motion_in_the_world(chance: Callable[[int], Chance], seed: int) -> None:
    state = chance(seed).tame_world()
    root = LinkState("root", Pose(ZERO), ZERO, (1.0,) * 6)
    state = replace(
        state, name="w", time_ns=12_000_000_034, models=tuple(replace(m, links=(root, *m.links)) for m in state.models)
    )
    there = to_sdformat(state)
    assert len([what for what in there.lost if what.startswith("frame")]) == 3
    back = from_sdformat(there.value)
    assert back.lost == ()
    assert (back.value.name, back.value.time_ns) == ("w", 12_000_000_034)
    before, after = resolve_frames(state), resolve_frames(back.value)
    names = [name for name in before.names if name in after.index]
    assert len(names) == 1 + 3 + 3 * 4
    for first, second in (
        (before.poses(names), after.poses(names)),
        (before.relative_twists(names), after.relative_twists(names)),
    ):
        np.testing.assert_allclose(first, second, atol=1e-12)
    for model in state.models:
        for link in model.links:
            name = f"{model.name}::{link.name}"
            np.testing.assert_allclose(before.wrench(name), after.wrench(name), atol=1e-12)


def test_velocities_are_written_in_the_worlds_axes() -> None:
    quarter = Pose((1.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2))
    link = LinkState(
        "l", Pose((0.0, 2.0, 0.0, 0.0, 0.0, 0.0)), (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    )
    state = WorldState(models=(ModelState("m", "world", quarter, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (link,)),))
    tree = etree.fromstring(to_sdformat(state).value.encode())
    texts = {word: tree.findtext(f".//link_state/{word}") for word in ("linear_velocity", "angular_velocity", "force")}
    numbers = {word: np.array((text or "").split(), dtype=float) for word, text in texts.items()}
    # The link is 2 m along the model's y, which is the world's -x: it is carried along -y, and moves along +y itself.
    np.testing.assert_allclose(numbers["linear_velocity"], (0.0, -2.0 + 1.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(numbers["angular_velocity"], (0.0, 0.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(numbers["force"], (-1.0, 0.0, 0.0), atol=1e-12)


def test_libsdformat_reads_the_states_of_random_worlds(chance: Callable[[int], Chance], tmp_path: Path) -> None:
    for seed in range(25):
        path = tmp_path / f"{seed}.sdf"
        path.write_text(to_sdformat(chance(seed).tame_world()).value, encoding="utf-8")
        assert models_by_libsdformat(path) == {}


def test_sdformat_lists_what_it_cannot_say() -> None:
    joints = (JointState("free", (0.0,) * 7), JointState("j", (1.0,), (2.0,), (3.0,)))
    links = (LinkState("l", Pose(ZERO), ZERO), LinkState("k", None, ZERO))
    state = WorldState(
        models=(
            ModelState("m", "f", None, ZERO, joints=joints, age_ns=1),
            ModelState("n", "world", None, None, links, foreign=("<!-- x -->",)),
            ModelState("o", description="o.urdf"),
        ),
        frames=(Frame("f"),),
        time_ns=-1,
        engines=(EngineState("mujoco", "3"),),
    )
    lost = "\n".join(to_sdformat(state).lost)
    for part in ("engine state", "rs:age", "rs:description", "'n': comments", "time", "'free'", "stands in 'f'"):
        assert part in lost
    for part in ("'m': its twist", "'n::l': its twist", "'n::k': its twist", "frame 'f'"):
        assert part in lost
    assert "'j'" not in lost


OLD_SDF = """
<sdf version="1.6"><world name="w"><state world_name="w">
  <sim_time>1 500000000</sim_time><wall_time>9 9</wall_time><iterations>3</iterations>
  <model name="m">
    <pose>1 2 3 0 0 1.5</pose><scale>1 1 1</scale>
    <link name="l">
      <pose degrees="true">0 0 0 0 0 90</pose><velocity>1 0 0 0 0 0</velocity><acceleration>1 0 0 0 0 0</acceleration>
    </link>
    <joint name="j"><angle axis="1">2</angle><angle axis="0">1</angle></joint>
    <frame name="f"><pose>1 0 0 0 0 0</pose></frame>
    <model name="inner"><pose>0 0 1 0 0 0</pose></model>
  </model>
  <model_state name="n">
    <joint_state name="k">
      <axis_state><position degrees="true">180</position><velocity>2</velocity></axis_state>
    </joint_state>
  </model_state>
  <light name="sun"/>
</state></world></sdf>
"""


def test_older_and_other_spellings_of_sdformat_are_read() -> None:
    converted = from_sdformat(OLD_SDF, poses_in="model")
    state = converted.value
    assert state.time_ns == 1_500_000_000
    assert [(model.name, model.parent) for model in state.models] == [("m", "world"), ("m::inner", "m"), ("n", "world")]
    assert state.models[0].joints == (JointState("j", (1.0, 2.0)),)
    assert state.models[2].joints == (JointState("k", (np.pi,), (2.0,)),)
    assert state.frames == (Frame("m::f", "m", Pose((1.0, 0.0, 0.0, 0.0, 0.0, 0.0))),)
    pose = state.models[0].links[0].pose
    assert pose is not None
    assert pose.xyz_rpy[5] == pytest.approx(np.pi / 2)
    assert [what for what in converted.lost if "<" in what] == [
        "the world: <wall_time>",
        "the world: <iterations>",
        "the world: <light>",
        "link 'm::l': <acceleration>",
    ]
    assert any("its velocity, as no link tells" in what for what in converted.lost)


SCOPED_SDF = """
<sdf version="1.12"><world name="w"><state world_name="w">
<model_state name="in"><pose>9 9 9 0 0 0</pose></model_state>
<model_state name="a"><pose relative_to="world">1 0 0 0 0 0</pose>
 <link_state name="l"><pose relative_to="__model__">0 0 1 0 0 1.5707963267948966</pose>
  <linear_velocity>0 0 0</linear_velocity><angular_velocity>0 0 2</angular_velocity></link_state>
 <model_state name="in"><pose relative_to="__model__">0 2 0 0 0 0</pose></model_state>
 <model_state name="beside"><pose relative_to="in">0 2 0 0 0 0</pose></model_state>
 <model_state name="held"><pose relative_to="l">0 2 0 0 0 0</pose><link_state name="k"><pose>0 0 0 0 0 0</pose>
  <linear_velocity>0 -4 0</linear_velocity><angular_velocity>0 0 3</angular_velocity></link_state></model_state>
</model_state>
<model_state name="b"><pose relative_to="a::l">0 0 1 0 0 0</pose></model_state>
<model_state name="d"><pose relative_to="a::in">0 3 0 0 0 0</pose></model_state>
</state></world></sdf>
"""


def test_what_a_pose_in_sdformat_is_relative_to_is_looked_for_where_its_model_stands() -> None:
    state = from_sdformat(SCOPED_SDF).value
    expected = {
        "in": (9.0, 9.0, 9.0),
        "a": (1.0, 0.0, 0.0),
        "a::in": (1.0, 2.0, 0.0),
        "a::beside": (1.0, 4.0, 0.0),
        "a::held": (-1.0, 0.0, 1.0),
        "b": (1.0, 0.0, 2.0),
        "d": (1.0, 5.0, 0.0),
    }
    world = resolve_frames(state)
    for name, xyz in expected.items():
        np.testing.assert_allclose(world.pose(name)[:3, 3], xyz, atol=1e-12, err_msg=name)
    # The link turns at 2 rad/s and carries an object at 2 m: this motion does not belong to the object.
    assert state.model("a::held").parent_link == "l"
    assert state.model("a::held").twist == pytest.approx((0.0, 0.0, 0.0, 0.0, 0.0, 1.0), abs=1e-12)


CLASSIC_SDF = """
<sdf version="1.6"><world name="w"><state world_name="w">
  <sim_time>1 0</sim_time><real_time>1 0</real_time><wall_time>1700000000 0</wall_time><iterations>1000</iterations>
  <model name="m"><pose>1.25 0 0 0 0 1.5707963267948966</pose>
    <link name="base"><pose>1.25 0 0 0 0 1.5707963267948966</pose><velocity>0 0 0 0 0 0</velocity></link>
    <link name="tip"><pose>1.25 2 0.5 0 0 1.5707963267948966</pose><velocity>1 0 0 0 0 0</velocity></link>
    <model name="inner"><pose>4 5 6 0 0 0</pose><link name="k"><pose>4 5 7 0 0 0</pose></link></model>
  </model>
</state></world></sdf>
"""


@pytest.mark.parametrize(("poses_in", "notes"), [(None, 1), ("world", 0)])
def test_gazebo_classic_writes_poses_in_the_world(poses_in: str | None, notes: int) -> None:
    """As `gazebo::physics::LinkState` and `ModelState` do: both take `WorldPose()`."""
    converted = from_sdformat(CLASSIC_SDF, poses_in=poses_in)
    assert len(converted.notes) == notes
    world = resolve_frames(converted.value)
    expected = {
        "m": (1.25, 0.0, 0.0),
        "m::base": (1.25, 0.0, 0.0),
        "m::tip": (1.25, 2.0, 0.5),
        "m::inner": (4.0, 5.0, 6.0),
        "m::inner::k": (4.0, 5.0, 7.0),
    }
    for name, xyz in expected.items():
        np.testing.assert_allclose(world.pose(name)[:3, 3], xyz, atol=1e-12, err_msg=name)
    tip = converted.value.model("m").links[1]
    assert tip.pose is not None
    # A quarter turn: the world's y is the model's x, and the world's x is the model's -y.
    np.testing.assert_allclose(tip.pose.xyz_rpy, (2.0, 0.0, 0.5, 0.0, 0.0, 0.0), atol=1e-12)
    assert tip.twist == pytest.approx((0.0, -1.0, 0.0, 0.0, 0.0, 0.0), abs=1e-12)


def test_an_option_says_that_the_poses_of_a_state_are_in_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.sdf"
    path.write_text(CLASSIC_SDF)
    xyz = {}
    for option in ([], ["--state-poses", "world"], ["--state-poses", "model"]):
        assert main(["usdf", "convert", str(path), "--to", "usdf", *option]) == 0
        out, err = capsys.readouterr()
        assert ("note: poses of links and nested models are read as poses in the world" in err) == (not option)
        xyz[" ".join(option)] = resolve_frames(parse_world(out)).pose("m::base")[:3, 3].tolist()
    assert xyz[""] == xyz["--state-poses world"] == pytest.approx([1.25, 0.0, 0.0])
    assert xyz["--state-poses model"] == pytest.approx([1.25, 1.25, 0.0])


NO_QUATERNION = "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose>"
ELSEWHERE = "<pose relative_to='n'>0 0 0 0 0 0</pose>"
BAD_SDF = {
    "no state": ("§<sdf/>", "no-state"),
    "number": ("<sdf><state><model name='m'>§<pose>0 0 0 x 0 0</pose></model></state></sdf>", "bad-number"),
    "count": ("<sdf><state><model name='m'>§<pose>0 0 0</pose></model></state></sdf>", "wrong-count"),
    "quaternion": (f"<sdf><state><model name='m'>§{NO_QUATERNION}</model></state></sdf>", "zero-quaternion"),
    "name": ("<sdf><state>§<model/></state></sdf>", "missing-attribute"),
    "twice": ("<sdf><state><model name='m'/>§<model name='m'/></state></sdf>", "duplicate-name"),
    "carrier": (f"<sdf><state>§<model name='m'>{ELSEWHERE}</model></state></sdf>", "unknown-parent"),
    "time": ("<sdf><state>§<sim_time>1.5</sim_time></state></sdf>", "bad-value"),
    "first half": (
        ("<sdf><state><model name='m'><link name='l'>§<linear_velocity>x 0 0</linear_velocity><angular_velocity>0 0 1"
        "</angular_velocity></link></model></state></sdf>"),
        "bad-number",
    ),
}  # fmt: skip


def test_a_time_in_sdformat_may_count_from_1970() -> None:
    text = "<sdf><state><sim_time>1700000000 999999999</sim_time></state></sdf>"
    assert from_sdformat(text).value.time_ns == 1_700_000_000_999_999_999


@pytest.mark.parametrize(("text", "code"), BAD_SDF.values(), ids=BAD_SDF)
def test_a_fault_in_sdformat_has_its_place(text: str, code: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        from_sdformat(text.replace("§", ""), "s.sdf")
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.place.line, problem.place.column) == (code, 1, text.index("§") + 1)


MJCF = """
<mujoco>
  <worldbody>
    <body name="box" pos="0 0 1"><freejoint name="box_free"/><geom type="box" size=".1 .1 .1"/></body>
    <body name="arm/base" pos="1 0 0">
      <geom type="sphere" size=".1"/>
      <body name="arm/upper" pos="0 0 .1"><joint name="arm/shoulder" type="hinge"/><geom type="sphere" size=".1"/>
        <body name="arm/slider"><joint name="arm/slide" type="slide"/><geom type="sphere" size=".1"/></body>
        <body name="arm/eye"><joint name="arm/eye/trans_x" type="slide" axis="1 0 0"/>
          <joint name="arm/eye/trans_y" type="slide" axis="0 1 0"/>
          <joint name="arm/eye/trans_z" type="slide" axis="0 0 1"/>
          <joint name="arm/eye/rot" type="ball"/><geom type="sphere" size=".1"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def model() -> Any:
    return mujoco.MjModel.from_xml_string(MJCF)


def state_of(seed: int) -> WorldState:
    rng = np.random.default_rng(seed)
    quats = Rotation.random(2, rng=seed).as_quat()
    rpy = Rotation.from_quat(quats[0]).as_euler("xyz")
    box = Pose((*rng.normal(size=3).tolist(), *rpy.tolist()), tuple(quats[0].tolist()))
    slide = JointState("slide", (0.1,), (0.2,))
    eye = JointState("eye", (*rng.normal(size=3).tolist(), *quats[1].tolist()), tuple(rng.normal(size=6).tolist()))
    return WorldState(
        models=(
            ModelState("box", "world", box, tuple(rng.normal(size=6).tolist())),
            ModelState("arm", joints=(JointState("shoulder", (0.3,), (0.4,)), slide, eye)),
        )
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_keyframe_puts_mujoco_where_the_state_says(model: Any, seed: int) -> None:
    state = state_of(seed)
    key = to_keyframe(state, model).value
    data = mujoco.MjData(model)
    data.qpos, data.qvel = key.qpos, key.qvel
    mujoco.mj_forward(model, data)
    pose = state.models[0].pose
    assert pose is not None
    np.testing.assert_allclose(data.body("box").xpos, pose.xyz_rpy[:3], atol=1e-12)
    R = Rotation.from_euler("xyz", pose.xyz_rpy[3:]).as_matrix()
    np.testing.assert_allclose(data.body("box").xmat.reshape(3, 3), R, atol=1e-12)
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body("box").id, velocity, 0)
    np.testing.assert_allclose(np.roll(velocity, 3), np.array(state.models[0].twist), atol=1e-12)
    # The eye's joint frame is its parent's, whose origin and axes turn with the shoulder.
    eye = state.models[1].joint("eye")
    assert eye.positions is not None
    assert eye.velocities is not None
    upper, own = data.body("arm/upper"), data.body("arm/eye")
    R_upper = upper.xmat.reshape(3, 3)
    np.testing.assert_allclose(R_upper.T @ (own.xpos - upper.xpos), eye.positions[:3], atol=1e-12)
    expected = R_upper @ Rotation.from_quat(eye.positions[3:]).as_matrix()
    np.testing.assert_allclose(own.xmat.reshape(3, 3), expected, atol=1e-12)
    rates = {}
    for name in ("arm/upper", "arm/eye"):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body(name).id, velocity, 0)
        rates[name] = velocity[:3].copy()
    np.testing.assert_allclose(R_upper.T @ (rates["arm/eye"] - rates["arm/upper"]), eye.velocities[3:], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_keyframe_comes_back(model: Any, seed: int) -> None:
    state = replace(state_of(seed), name="k", time_ns=1_500_000_000)
    there = to_keyframe(state, model, name="k")
    again = parse_keyframe(there.value.as_mjcf(), "k")
    np.testing.assert_array_equal(again.qpos, there.value.qpos)
    np.testing.assert_array_equal(again.qvel, there.value.qvel)
    back = from_keyframe(again, model)
    assert back.lost == ()
    arm = back.value.model("arm")
    assert arm.pose is not None
    assert arm.pose.xyz_rpy[:3] == (1.0, 0.0, 0.0)
    bare = replace(
        back.value, models=tuple(replace(m, pose=None, twist=None) if m.name == "arm" else m for m in back.value.models)
    )
    assert compare(state, bare, tolerance=1e-12) == []
    compiled = mujoco.MjModel.from_xml_string(MJCF.replace("</mujoco>", there.value.as_mjcf()[8:]))
    np.testing.assert_array_equal(compiled.key("k").qpos, there.value.qpos)


def test_a_keyframe_lists_what_it_cannot_say(model: Any) -> None:
    joints = (JointState("elbow", (1.0,)), JointState("slide", (1.0,), None, (1.0,)))
    arm = ModelState("arm", "f", Pose(ZERO), links=(LinkState("l", wrench=ZERO),), joints=joints)
    state = WorldState(models=(arm,), frames=(Frame("f"),))
    lost = "\n".join(to_keyframe(state, model).lost)
    for part in ("model 'arm': its pose", "'elbow'", "'slide' of 'arm': its torques", "wrenches", "frame 'f'"):
        assert part in lost
    for part in ("free joint 'box_free'", "'arm/shoulder'", "velocity of MuJoCo's joint 'arm/slide'"):
        assert part in lost
    assert "the poses and twists" not in lost
    posed = WorldState(models=(replace(arm, links=(LinkState("l", Pose(ZERO)),)),), frames=state.frames)
    assert "model 'arm': the poses and twists of its links" in "\n".join(to_keyframe(posed, model).lost)


def test_a_keyframe_has_the_time_as_near_as_a_float_can(model: Any) -> None:
    assert to_keyframe(WorldState(time_ns=1_100_000_000), model).value.time == 1.1
    exact, date = (to_keyframe(WorldState(time_ns=ns), model) for ns in (3, 1_700_000_000_123_456_789))
    assert exact.value.time == 3e-9
    assert "time" not in "\n".join(exact.lost)
    assert "the last digits of the time" in "\n".join(date.lost)


def test_what_a_keyframe_leaves_out_is_the_models_own(model: Any) -> None:
    text = "<mujoco><keyframe><key name='k' ctrl='' act=''/></keyframe></mujoco>"
    found = from_keyframe(parse_keyframe(text), model)
    assert found.lost == ()
    box = found.value.model("box")
    assert box.pose is not None
    assert box.pose.xyz_rpy == (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    assert box.twist == ZERO


DRIVEN = """
<mujoco>
  <worldbody>
    <body name="target" mocap="true" pos="0 0 2"><geom type="sphere" size=".1"/></body>
    <body name="arm/base" pos="1 0 0">
      <geom type="sphere" size=".1"/>
      <body name="arm/upper" pos="0 0 .1"><joint name="arm/shoulder" type="hinge"/><geom type="sphere" size=".1"/>
        <body name="arm/slider"><joint name="arm/slide" type="slide"/><geom type="sphere" size=".1"/>
          <body name="arm/tip"><joint name="arm/wrist" type="hinge"/><geom type="sphere" size=".1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="p" joint="arm/shoulder" kp="50" gear="2"/>
    <velocity name="v" joint="arm/slide" kv="3"/>
    <motor name="m" joint="arm/wrist" gear="4"/>
    <general name="slow" joint="arm/wrist" dyntype="filter" dynprm="1"/>
  </actuator>
</mujoco>
"""
KEY = """<mujoco><keyframe><key time='0.1' ctrl='0.6 -0.2 0.75 0.3' act='0.125' mpos='1 2 3' mquat='0.8 0 0 0.6'
 qpos='0.1 0.2 0.3' qvel='1 2 3'/></keyframe></mujoco>"""


def test_a_root_key_has_all_sizes_of_the_model_and_says_what_nobody_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.xml").write_text(DRIVEN)
    driven = mujoco.MjModel.from_xml_string(DRIVEN)
    (tmp_path / "w.usdf").write_text(write_world(from_keyframe(parse_keyframe(KEY), driven).value))
    command = f"usdf convert {tmp_path}/w.usdf --to mujoco-key --mujoco-model {tmp_path}/m.xml".split()
    assert main(command) == 0
    text, errors = capsys.readouterr()
    assert "nothing is stated" not in errors
    root, (stated,) = etree.fromstring(text), etree.fromstring(KEY).iter("key")
    assert root.tag == "key"
    for word in ("qpos", "qvel", "ctrl", "act", "mpos", "mquat"):
        assert [float(x) for x in root.get(word, "").split()] == [float(x) for x in stated.get(word, "").split()], word
    compiled = mujoco.MjModel.from_xml_string(DRIVEN.replace("</mujoco>", f"<keyframe>{text}</keyframe></mujoco>"))
    np.testing.assert_array_equal(compiled.key_qpos[0], [0.1, 0.2, 0.3])
    assert parse_keyframe(text).time == 0.1
    (tmp_path / "w.usdf").write_text("<world_state/>")
    assert main(command) == 0
    told = capsys.readouterr()
    assert etree.fromstring(told.out).get("ctrl") == "0.0 0.0 0.0 0.0"
    joint = "<joint_state name='j'><positions>1</positions></joint_state>"
    (tmp_path / "w.usdf").write_text(f"<world_state><model_state name='m'>{joint}</model_state></world_state>")
    assert main(command) == 1
    refused = capsys.readouterr()
    assert "the MuJoCo model has no joint or body of this state, as joint 'j' of 'm'" in refused.err
    assert refused.out == ""
    assert "nothing is stated of the 4 controls: they are 0" in told.err
    assert "nothing is stated of the 1 activations: they are 0" in told.err


def test_the_controls_of_a_keyframe_its_activations_and_mocap_bodies_come_back_through_usdf_as_they_were() -> None:
    driven = mujoco.MjModel.from_xml_string(DRIVEN)
    key = parse_keyframe(KEY)
    there = from_keyframe(key, driven)
    assert there.lost == ()
    assert there.value.frame("target").pose == Pose(
        (1.0, 2.0, 3.0, 0.0, 0.0, 2 * np.arctan2(0.6, 0.8)), (0, 0, 0.6, 0.8)
    )
    text = write_world(there.value)
    back = to_keyframe(parse_world(text), driven)
    for word in ("qpos", "qvel", "ctrl", "act", "mpos", "mquat"):
        np.testing.assert_array_equal(np.ravel(getattr(back.value, word)), getattr(key, word), err_msg=word)
    assert back.value.time == key.time
    assert not [line for line in back.lost if "engine" in line or "control" in line or "frame" in line]
    again = parse_keyframe(back.value.as_mjcf())
    np.testing.assert_array_equal(again.ctrl, key.ctrl)
    for words in ("ctrl='1 2'", "act='1 2'", "mpos='1'"):
        with pytest.raises(ArrayError, match=words[:3]):
            from_keyframe(parse_keyframe(f"<mujoco><keyframe><key {words}/></keyframe></mujoco>"), driven)


def test_controls_that_command_joints_are_commands_that_other_models_and_simulators_take() -> None:
    driven = mujoco.MjModel.from_xml_string(DRIVEN)
    state = from_keyframe(parse_keyframe(KEY), driven).value
    # A position servo holds gear * q at its control; a motor's torque is gear * control.
    commands, unknown = commands_of(state)
    assert unknown == ()
    assert commands == {
        JointCommand("arm", "shoulder", "position"): 0.3,
        JointCommand("arm", "slide", "velocity"): -0.2,
        JointCommand("arm", "wrist", "effort"): 3.0,
    }
    other = DRIVEN.replace('gear="2"', 'gear="5"').replace('<velocity name="v" joint="arm/slide" kv="3"/>', "")
    found = to_keyframe(state, mujoco.MjModel.from_xml_string(other))
    np.testing.assert_allclose(found.value.ctrl, [1.5, 0.75, 0.0])
    assert "the velocity command to 'arm/slide', for which the MuJoCo model has no actuator" in found.lost
    assert any("a model with other actuators" in line for line in found.lost)


def test_a_command_goes_only_to_an_actuator_of_its_mode() -> None:
    driven = mujoco.MjModel.from_xml_string(DRIVEN)
    state = from_keyframe(parse_keyframe(KEY), driven).value
    other = DRIVEN.replace('<velocity name="v" joint="arm/slide" kv="3"/>', '<position joint="arm/slide" kp="3"/>')
    found = to_keyframe(state, mujoco.MjModel.from_xml_string(other))
    np.testing.assert_allclose(found.value.ctrl, [0.6, 0.0, 0.75, 0.0])
    assert "the velocity command to 'arm/slide', for which the MuJoCo model has no actuator" in found.lost


def test_a_keyframe_without_a_time_has_mujocos() -> None:
    text = "<key qpos='0.1 0.2 0.3'/>"
    compiled = mujoco.MjModel.from_xml_string(DRIVEN.replace("</mujoco>", f"<keyframe>{text}</keyframe></mujoco>"))
    assert parse_keyframe(f"<mujoco><keyframe>{text}</keyframe></mujoco>").time == compiled.key_time[0]


def test_a_keyframe_has_the_joints_that_follow_from_links_and_from_where_the_model_is() -> None:
    robot = robot_from_text(
        '<robot name="cart"><link name="base"/><link name="arm"/><joint name="turn" type="continuous">'
        '<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>',
        '<robot name="cart"><virtual_joint name="wj" type="planar" parent_frame="odom" child_link="base"/></robot>',
    )
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body name="cart/base">
      <joint name="cart/wj/x" type="slide" axis="1 0 0"/><joint name="cart/wj/y" type="slide" axis="0 1 0"/>
      <joint name="cart/wj/theta" type="hinge"/><geom size=".1"/>
      <body name="cart/arm"><joint name="cart/turn"/><geom size=".1"/></body></body></worldbody></mujoco>""")
    cart = ModelState(
        "cart",
        "map",
        Pose((1.0, 0.0, 0.0, 0.0, 0.0, 0.25)),
        links=(LinkState("arm", Pose((0.0, 0.0, 0.0, 0.0, 0.0, 0.5))),),
    )
    frames = (Frame("map", "odom", Pose((2.0, 3.0, 0.0, 0.0, 0.0, 0.0))), Frame("odom"))
    key = to_keyframe(WorldState(models=(cart,), frames=frames), model, robots={"cart": robot}).value
    np.testing.assert_allclose(key.qpos, [3.0, 3.0, 0.25, 0.5], atol=1e-12)


def test_sdformat_says_which_poses_it_makes_up() -> None:
    state = WorldState(models=(ModelState("m", "f"),), frames=(Frame("f", pose=Pose((1.0, *ZERO[1:]))),))
    assert "model 'm': that its pose is not stated, and is taken to be the identity" in to_sdformat(state).lost


def test_a_keyframe_moves_the_bodies_that_mocap_bodies_carry() -> None:
    carried = """<mujoco><worldbody><body name="box" mocap="true" pos="0 0 2"><geom type="sphere" size=".1"/>
      <body name="box/lid"><joint name="hinge" type="hinge"/><geom type="sphere" size=".1"/></body></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(carried)
    text = "<mujoco><keyframe><key qpos='0.5' mpos='1 2 3'/></keyframe></mujoco>"
    found = from_keyframe(parse_keyframe(text), model)
    pose = found.value.model("box").pose
    assert pose is not None
    assert pose.xyz_rpy[:3] == (1.0, 2.0, 3.0)
    assert found.value.frames == ()
    np.testing.assert_array_equal(to_keyframe(found.value, model).value.mpos, [[1.0, 2.0, 3.0]])


def test_of_several_free_joints_that_may_carry_a_model_the_one_of_its_root_link_does_or_none() -> None:
    bodies = "".join(f"<body name='car/{name}'><freejoint/><geom size='1'/></body>" for name in ("cup", "base"))
    twice = "".join(f"<body><joint name='{name}'/><geom size='1'/></body>" for name in ("turn", "car/turn"))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}{twice}</worldbody></mujoco>")
    pose = "<pose>1 2 3 0 0 0</pose><twist>4 0 0 0 0 0</twist>"
    turn = "<joint_state name='turn'><positions>0.5</positions><velocities>0</velocities></joint_state>"
    text = f"<world_state><model_state name='car'>{pose}{turn}{{}}</model_state></world_state>"
    unknown = to_keyframe(parse_world(text.format("")), model)
    np.testing.assert_array_equal(unknown.value.qpos[:14], model.qpos0[:14])
    assert "model 'car': one of several free joints may carry it, and none does" in unknown.lost
    root = "<link_state name='base'><pose>0 0 0 0 0 0</pose></link_state>"
    robot = robot_from_text("<robot name='car'><link name='base'/></robot>", strict=False)
    for found in (
        to_keyframe(parse_world(text.format(root)), model),
        to_keyframe(parse_world(text.format("")), model, robots={"car": robot}),
    ):
        np.testing.assert_array_equal(found.value.qpos[:14], [*model.qpos0[:7], 1, 2, 3, 1, 0, 0, 0])
        np.testing.assert_array_equal(found.value.qvel[:12], [*[0] * 6, 4, 0, 0, 0, 0, 0])
        assert "the bodies on the free joint of body 'car/cup' are not stated: they are as at the start" in found.lost
    # If two joints have one name, the one with the model's prefix belongs to the model.
    np.testing.assert_array_equal(unknown.value.qpos[14:], [0.0, 0.5])
    assert "nothing is stated of MuJoCo's joint 'turn': it is as at the start" in unknown.lost


def test_a_free_joint_that_two_models_may_be_on_carries_neither() -> None:
    body = "<body name='base'><freejoint/><geom size='1'/></body>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    links = (LinkState("base", Pose(ZERO)),)
    one, other = (ModelState(name, "world", Pose((1.0, *ZERO[1:])), ZERO, links=links) for name in ("cup", "mug"))
    alone = to_keyframe(WorldState(models=(one,)), model).value
    np.testing.assert_array_equal(alone.qpos, [1, 0, 0, 1, 0, 0, 0])
    both = to_keyframe(WorldState(models=(one, other)), model)
    np.testing.assert_array_equal(both.value.qpos, model.qpos0)
    for name in ("cup", "mug"):
        assert f"model '{name}': one of several free joints may carry it, and none does" in both.lost


def test_models_with_free_joints_of_their_own_are_no_rivals() -> None:
    bodies = "".join(f"<body name='{name}'><freejoint/><geom size='1'/></body>" for name in ("cup", "mug"))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    places = {"cup": 1.0, "mug": 2.0}
    models = tuple(ModelState(name, "world", Pose((x, *ZERO[1:])), ZERO) for name, x in places.items())
    found = to_keyframe(WorldState(models=models), model)
    assert found.lost == ()
    np.testing.assert_array_equal(found.value.qpos.reshape(2, 7)[:, 0], [1.0, 2.0])


def test_only_the_base_of_a_model_itself_decides_what_a_keyframe_takes_of_its_pose() -> None:
    def planar(name: str) -> RobotModel:
        joint = '<virtual_joint name="w" type="planar" parent_frame="world" child_link="base"/>'
        return robot_from_text(f'<robot name="{name}"><link name="base"/></robot>', f'<robot name="r">{joint}</robot>')

    # As `build_mujoco_world` writes a robot with a planar virtual joint.
    axes = {"x": "type='slide' axis='1 0 0'", "y": "type='slide' axis='0 1 0'", "theta": "type='hinge' axis='0 0 1'"}
    joints = "".join(f"<joint name='mug/w/{name}' {words}/>" for name, words in axes.items())
    root = f"<body name='mug/base'>{joints}<geom size='1'/></body>"
    text = f"<mujoco><worldbody><body name='mug//frame' mocap='true'>{root}</body></worldbody></mujoco>"
    above = Pose((5.0, 0.0, 0.25, 0.0, 0.0, 0.0))
    for name in ("cup", "mug", "pot"):
        state = WorldState(models=(ModelState(name, "world", above, ZERO),))
        found = to_keyframe(state, mujoco.MjModel.from_xml_string(text), robots={name: planar(name)})
        (height,) = (words for words in found.lost if "0.25 m" in words)
        assert ("outside the plane of its base" in height) == (name == "mug")


def test_keyframes_that_do_not_fit_are_refused(model: Any) -> None:
    with pytest.raises(ArrayError, match="qpos"):
        from_keyframe(Keyframe(np.zeros(3), np.zeros(3)), model)
    with pytest.raises(DescriptionError, match="no <key>"):
        parse_keyframe("<mujoco/>")
    with pytest.raises(DescriptionError, match="qpos should be numbers, but number 2 should be a number, not 'x'"):
        parse_keyframe("<mujoco><keyframe><key qpos='1 x'/></keyframe></mujoco>")
    for time in ("1e300", "1 2", ""):
        with pytest.raises(DescriptionError, match=r":1:\d+: error: time"):
            parse_keyframe(f"<mujoco><keyframe><key time='{time}'/></keyframe></mujoco>")
    with pytest.raises(ArrayError, match="time"):
        from_keyframe(Keyframe(np.zeros(0), np.zeros(0), 1e300), model)
    with pytest.raises(UnknownNameError, match="home"):
        parse_keyframe("<mujoco><keyframe><key name='home' qpos='1'/></keyframe></mujoco>", "hme")


def test_the_same_pose_is_no_difference_after_sdformat() -> None:
    state = WorldState("w", (ModelState("m", "world", Pose((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))),))
    assert (
        compare(state, from_sdformat(to_sdformat(state).value).value, tolerance=0.0, ignore=[DifferenceKind.TIME]) == []
    )
