# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Merging, splitting, interpolating and editing states."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from robot_semantics import (
    DescriptionError,
    Diagnostics,
    ForwardKinematics,
    RobotModel,
    RobotSemanticsError,
    UnknownNameError,
    WorldState,
)
from robot_semantics.base.errors import ArrayError
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.combine import merge_states, prefixed, renamed, split_state
from robot_semantics.usdf.commands import COMMANDS, JointCommand, commands_of
from robot_semantics.usdf.compare import compare
from robot_semantics.usdf.edit import removed, set_joints, set_named_state, set_pose, without_engines
from robot_semantics.usdf.frames import NotStatedError, resolve_frames
from robot_semantics.usdf.interpolate import interpolate_states, share_at
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState

ZERO = (0.0,) * 6
ODOM = Frame("odom", pose=Pose((1.0, 2.0, 0.0, 0.0, 0.0, 0.5)))


@pytest.fixture(scope="module")
def rover() -> RobotModel:
    return load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))


def codes(error: pytest.ExceptionInfo[DescriptionError]) -> list[str]:
    return [item.code for item in error.value.diagnostics]


def test_merged_worlds_have_everything_once() -> None:
    a = WorldState("w", (ModelState("a", "odom"),), (ODOM,), 5, foreign=("<!-- a -->",))
    b = WorldState(None, (ModelState("b", "odom"),), (replace(ODOM, ordinal=9),), None, (EngineState("e", "1"),))
    both = WorldState("w", (*a.models, *b.models), (ODOM,), 5, b.engines, a.foreign)
    assert merge_states([a, b]) == both
    assert merge_states([both, both]) == both


def test_different_states_of_one_engine_are_left_out() -> None:
    a = WorldState(models=(ModelState("a"),), engines=(EngineState("e", "1"), EngineState("f", "1")))
    b = WorldState(models=(ModelState("b"),), engines=(EngineState("e", "2"),))
    diagnostics = Diagnostics()
    merged = merge_states([a, b, a], diagnostics=diagnostics)
    assert merged.engines == (EngineState("f", "1"),)
    assert [item.severity.value for item in diagnostics] == ["warning"]


def test_conflicts_are_reported_all_together() -> None:
    a = WorldState("v", (ModelState("a"), ModelState("c")), (ODOM,), 5)
    b = WorldState("w", (ModelState("a", twist=ZERO),), (replace(ODOM, twist=ZERO), Frame("c")), 6)
    diagnostics = Diagnostics()
    with pytest.raises(DescriptionError) as caught:
        merge_states([a, b], sources=["a.usdf", "b.usdf"], diagnostics=diagnostics)
    errors = [item for item in caught.value.diagnostics if item.severity.value == "error"]
    assert sorted(item.code for item in errors) == ["name-conflict", "name-conflict", "name-conflict", "time-conflict"]
    assert {item.place.source for item in errors} == {"b.usdf"}
    assert "'a' has other values in a.usdf" in str(caught.value)
    assert "'c' is a model in one state and a frame in another" in str(caught.value)
    parts = [prefixed(a, "a_"), prefixed(b, "b_")]
    merged = merge_states(parts, sources=["a.usdf", "b.usdf"], any_time=True, diagnostics=diagnostics)
    assert [body.name for body in merged.bodies] == ["a_a", "a_c", "b_a", "a_odom", "b_odom", "b_c"]
    # The name that is kept is in the first file.
    assert [(item.severity.value, item.code, item.place.source) for item in diagnostics] == [
        ("note", "world-name", "a.usdf"),
        ("warning", "time-conflict", "b.usdf"),
    ]


def test_renaming_takes_parents_along() -> None:
    state = renamed(WorldState(models=(ModelState("m", "odom"),), frames=(ODOM,)), {"odom": "map"})
    assert (state.models[0].parent, state.frames[0].name) == ("map", "map")
    with pytest.raises(UnknownNameError, match="map"):
        renamed(state, {"mop": "x"})
    two = WorldState(models=(ModelState("a"), ModelState("b")))
    assert [model.name for model in renamed(two, {"a": "b", "b": "a"}).models] == ["b", "a"]
    with pytest.raises(RobotSemanticsError, match="'a' and 'b' would both be called 'b'"):
        renamed(two, {"a": "b"})


def test_split_parts_stand_where_they_stood_and_merge_back() -> None:
    carrier = ModelState("truck", "odom", Pose((0.0, 0.0, 1.0, 0.1, 0.2, 0.3)), ZERO)
    load = ModelState("box", "truck", Pose((0.5, 0.0, 0.0, 0.0, 0.0, 1.0)), ZERO)
    free = ModelState("ball", pose=Pose((9.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    moving = replace(ODOM, twist=(0.1, 0.0, 0.0, 0.0, 0.0, 1.0))
    state = WorldState("w", (carrier, load, free), (moving, Frame("unused")), 7, (EngineState("e", "1"),))
    diagnostics = Diagnostics()
    parts = split_state(state, diagnostics)
    assert [(name, [frame.name for frame in part.frames]) for name, part in parts.items()] == [
        ("truck", ["odom"]),
        ("box", ["odom", "truck"]),
        ("ball", []),
    ]
    assert [item.code for item in diagnostics] == ["left-out", "left-out"]
    whole = resolve_frames(state)
    for name, part in parts.items():
        alone = resolve_frames(part)
        np.testing.assert_allclose(alone.pose(name), whole.pose(name), atol=1e-14)
        np.testing.assert_allclose(alone.relative_twists((name,)), whole.relative_twists((name,)), atol=1e-14)
    assert merge_states([parts["truck"], parts["ball"]]) == WorldState("w", (carrier, free), (moving,), 7)
    assert merge_states(list(parts.values())) == WorldState("w", (carrier, load, free), (moving,), 7)
    moved = replace(parts["truck"], models=(replace(carrier, pose=Pose(ZERO)),))
    with pytest.raises(DescriptionError) as error:
        merge_states([moved, parts["box"]])
    assert codes(error) == ["name-conflict"]


def test_split_places_an_object_on_a_link_by_the_joints_and_merge_undoes_it(rover: RobotModel) -> None:
    q = ForwardKinematics(rover).space.random(np.random.default_rng(3))
    whole = from_joint_positions(rover, q, name="arm", parent="odom")
    arm = replace(whole, links=(), pose=Pose((0.5, 0.0, 0.0, 0.0, 0.0, 1.0)), twist=ZERO)
    cup = ModelState("cup", "arm", Pose((0.0, 0.0, 0.1, 0.0, 0.0, 0.5)), parent_link="tool_frame")
    camera = Frame("camera", "arm", Pose((0.0, 0.2, 0.0, 0.0, 0.0, 0.0)), parent_link="tool_frame")
    lid = ModelState("lid", "camera", Pose((0.0, 0.0, 0.3, 0.0, 0.0, 0.0)))
    state = WorldState("w", (arm, cup, lid), (ODOM, camera), 7)
    with pytest.raises(NotStatedError, match="pose of 'arm::tool_frame'"):
        split_state(state)
    parts = split_state(state, robots={"arm": rover})
    T_arm_tool = resolve_frames(WorldState(models=(replace(whole, parent="world"),))).pose("arm::tool_frame", "arm")
    T_odom_arm = resolve_frames(WorldState(models=(arm,), frames=(ODOM,))).pose("arm")
    step = np.eye(4)
    step[:3, :3], step[2, 3] = Rotation.from_euler("z", 0.5).as_matrix(), 0.1
    np.testing.assert_allclose(resolve_frames(parts["cup"]).pose("cup"), T_odom_arm @ T_arm_tool @ step, atol=1e-12)
    expected = T_odom_arm @ T_arm_tool @ np.array([0.0, 0.2, 0.3, 1.0])
    np.testing.assert_allclose(resolve_frames(parts["lid"]).pose("lid")[:, 3], expected, atol=1e-12)
    assert merge_states(list(parts.values()), robots={"arm": rover}) == replace(state, frames=(ODOM, camera))
    bent = replace(arm, joints=tuple(replace(j, positions=(0.0,) * len(j.positions or ())) for j in arm.joints))
    with pytest.raises(DescriptionError) as error:
        merge_states([replace(parts["arm"], models=(bent,)), parts["cup"]], robots={"arm": rover})
    assert "name-conflict" in codes(error)


def test_the_state_between_two_is_on_the_line_and_on_the_shortest_turn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows: Any = rng.normal(size=(6, 6)) * 2
        a, b = (
            WorldState(
                models=(
                    ModelState("m", pose=Pose(tuple(p)), twist=tuple(t), links=(LinkState("l", wrench=tuple(w)),)),
                ),
                time_ns=time,
            )
            for p, t, w, time in ((*rows[:3].tolist(), 10), (*rows[3:].tolist(), 30))
        )
        share = float(rng.uniform())
        (model,) = interpolate_states(a, b, share).models
        middle = (1 - share) * rows[:3] + share * rows[3:]
        assert model.pose is not None
        np.testing.assert_allclose(model.pose.xyz_rpy[:3], middle[0, :3], atol=1e-12)
        np.testing.assert_allclose(np.array(model.twist), middle[1], atol=1e-12)
        np.testing.assert_allclose(np.array(model.links[0].wrench), middle[2], atol=1e-12)
        turns = Rotation.from_euler("xyz", rows[[0, 3], 3:])
        expected = Slerp([0.0, 1.0], turns)([share])[0].as_matrix()
        found = Rotation.from_quat(np.array(model.pose.quat_xyzw)).as_matrix()
        np.testing.assert_allclose(np.array(found), np.array(expected), atol=1e-12)
        assert compare(interpolate_states(a, b, 0.0), a, tolerance=0.0) == []
        assert compare(interpolate_states(a, b, 1.0), b, tolerance=0.0) == []
        assert interpolate_states(a, a, share) == a


def test_times_of_dates_are_interpolated_to_the_nanosecond() -> None:
    start = 1_700_000_000_000_000_001
    a, b = WorldState(time_ns=start), WorldState(time_ns=start + 1000)
    assert interpolate_states(a, b, 0.5).time_ns == start + 500
    assert share_at(a, b, start + 250) == 0.25
    for wrong in (start - 1, start + 1001):
        with pytest.raises(ArrayError, match="is not between"):
            share_at(a, b, wrong)
    with pytest.raises(ArrayError, match="no time"):
        share_at(a, WorldState(), 0)
    with pytest.raises(ArrayError, match="the same time"):
        share_at(a, a, start)
    with pytest.raises(ArrayError, match="not within 0 to 1"):
        interpolate_states(a, b, 1.5)


def test_at_its_ends_the_line_has_the_two_states_to_the_last_digit() -> None:
    # On the way back from 3 to -3 a plane's angle goes over a half turn, and a 64-bit float has no digit for the last
    # nanosecond of a date.
    def end(sign: float, time_ns: int) -> WorldState:
        joint = JointState("planar", (0.1, 0.2, sign * 3.0))
        pose = Pose((0.1, sign * 0.3, 0.7, sign * 3.0, 0.1, sign * 2.9))
        return WorldState(models=(ModelState("m", pose=pose, joints=(joint,)),), time_ns=time_ns)

    a, b = end(1.0, 0), end(-1.0, 1_700_000_000_123_456_789)
    assert share_at(a, b, 0) == share_at(b, a, 0) - 1.0 == 0.0
    assert share_at(a, b, 1_700_000_000_123_456_789) == 1.0
    assert interpolate_states(a, b, 0.0) == a
    assert interpolate_states(a, b, 1.0) == b
    assert interpolate_states(b, a, 1.0) == a


@pytest.mark.parametrize("length", [3, 7, 1_000_000_000, 3_000_000_000, 86_400_000_000_007])
def test_the_time_at_a_share_is_the_time_the_share_was_taken_at(length: int) -> None:
    a, b = WorldState(time_ns=5), WorldState(time_ns=5 + length)
    for part in range(1, 8):
        time_ns = 5 + length * part // 9
        assert interpolate_states(a, b, share_at(a, b, time_ns)).time_ns == time_ns


def test_joints_take_the_short_way_round_and_links_follow() -> None:
    text = (
        "<robot name='m'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/>"
        "<child link='b'/><origin xyz='1 0 0'/><axis xyz='0 0 1'/></joint></robot>"
    )
    robot = robot_from_text(text)
    first, second = (from_joint_positions(robot, {"j": angle}, name="m") for angle in (3.0, -3.0))
    a, b = WorldState(models=(first,)), WorldState(models=(second,))
    turned = interpolate_states(a, b, 0.5, robots={"m": robot}).models[0]
    assert turned.joint("j").positions == pytest.approx((math.pi,))
    pose = turned.link("b").pose
    assert pose is not None
    np.testing.assert_allclose(np.abs(pose.quat_xyzw or ()), (0.0, 0.0, 1.0, 0.0), atol=1e-12)
    unknown = interpolate_states(a, b, 0.5).models[0]
    assert unknown.joint("j").positions == (0.0,)


def test_floating_and_planar_joints_are_interpolated_as_rotations() -> None:
    half = math.sqrt(0.5)
    rows = {
        "f": ((0.0, 0, 0, 0, 0, 0, 1), (2.0, 0, 0, 0, 0, 1, 0), (1.0, 0, 0, 0, 0, half, half)),
        "r": ((0.0, 0, 0, 0, 0, 0), (2.0, 0, 0, 0, 0, 1), (1.0, 0, 0, 0, 0, 0.5)),
        "p": ((0.0, 0, 3), (1.0, 1, -3), (0.5, 0.5, math.pi)),
    }
    a, b = (
        WorldState(models=(ModelState("m", joints=tuple(JointState(name, row[at]) for name, row in rows.items())),))
        for at in (0, 1)
    )
    (model,) = interpolate_states(a, b, 0.5).models
    for name, row in rows.items():
        assert model.joint(name).positions == pytest.approx(row[2])


def test_what_cannot_be_interpolated_is_named() -> None:
    a = WorldState(
        models=(ModelState("m", "world", Pose(ZERO), joints=(JointState("j", (1.0,)),)), ModelState("only")),
        engines=(EngineState("e", "1"),),
    )
    b = WorldState(models=(ModelState("m", "world", joints=(JointState("j", (1.0,), (2.0,)),)),))
    diagnostics = Diagnostics()
    assert interpolate_states(a, b, 0.5, diagnostics=diagnostics).models[0].pose is None
    assert len(diagnostics) == 4
    c = WorldState(models=(ModelState("m", "odom", joints=(JointState("j", (1.0, 2.0)),)),), frames=(ODOM,))
    with pytest.raises(DescriptionError) as caught:
        interpolate_states(a, c, 0.5)
    assert {"parents-differ", "counts-differ"} <= set(codes(caught))


def test_a_joint_that_is_set_takes_its_links_along(rover: RobotModel) -> None:
    kinematics = ForwardKinematics(rover)
    q = np.array(kinematics.space.neutral())
    state = WorldState(models=(from_joint_positions(kinematics.model, q),), frames=(ODOM,))
    edited = set_joints(state, rover.name, {"lift_joint": (0.2,), "left_finger_joint": (0.01,)}, rover)
    q[kinematics.space.index["lift_joint"]] = 0.2
    q[kinematics.space.index["left_finger_joint"]] = 0.01
    expected = WorldState(
        models=(from_joint_positions(kinematics.model, kinematics.space.with_mimics(q)),), frames=(ODOM,)
    )
    assert compare(edited, expected) == []
    assert compare(edited, state) != []


def test_a_named_state_is_taken_from_the_srdf(rover: RobotModel) -> None:
    (group, name), named = next(iter(rover.semantics.states.items()))
    kinematics = ForwardKinematics(rover)
    state = WorldState(models=(from_joint_positions(kinematics.model, kinematics.space.neutral()),), frames=(ODOM,))
    edited = set_named_state(state, rover.name, group, name, rover).models[0]
    for joint, row in named.joints.items():
        assert edited.joint(joint).positions == pytest.approx(row)
    with pytest.raises(UnknownNameError, match=group):
        set_named_state(state, rover.name, group + "x", name, rover)
    with pytest.raises(UnknownNameError, match=name):
        set_named_state(state, rover.name, group, name + "x", rover)


def test_poses_parents_and_twists_are_set(rover: RobotModel) -> None:
    state = WorldState(models=(ModelState("m"),), frames=(ODOM,), engines=(EngineState("e", "1"),))
    pose = Pose((1.0, 2.0, 3.0, 0.0, 0.0, 0.0))
    edited = set_pose(set_pose(state, "m", pose, parent="odom"), "odom", twist=ZERO)
    assert edited.models[0] == ModelState("m", "odom", pose)
    assert edited.frames[0] == replace(ODOM, twist=ZERO)
    diagnostics = Diagnostics()
    assert without_engines(edited, diagnostics).engines == ()
    assert [item.code for item in diagnostics] == ["left-out"]
    with pytest.raises(UnknownNameError, match="odom"):
        set_pose(state, "odon", pose)
    with pytest.raises(UnknownNameError, match="odom"):
        set_pose(state, "m", pose, parent="odon")


def test_what_carries_others_is_not_removed() -> None:
    state = WorldState(
        models=(ModelState("box", "table"), ModelState("cup", "world")), frames=(Frame("table"), Frame("zone", "table"))
    )
    with pytest.raises(ArrayError, match="it carries 'box', 'zone': remove these first"):
        removed(state, "table")
    for name in ("box", "cup", "zone"):
        left = removed(state, name)
        assert {item.name for item in left.bodies} == {"box", "cup", "table", "zone"} - {name}
    with pytest.raises(UnknownNameError, match="table"):
        removed(state, "tabel")


def test_a_pose_that_is_the_same_at_both_ends_keeps_every_bit_between_them() -> None:
    # The quaternion is not computed from the angles: its last digits are its own.
    quat = tuple(Rotation.from_euler("xyz", (0.1, 0.2, 0.3)).as_quat().tolist())
    one, same = (WorldState(frames=(Frame("f", pose=Pose((0.1, 0.7, 0.3, 0.1, 0.2, 0.3), quat)),)) for _ in range(2))
    assert interpolate_states(one, same, 0.3).frames[0].pose == one.frames[0].pose


def test_commands_go_where_their_models_go() -> None:
    arrays = {"arm/lift position": (0.5,), "site/arm/cart/x velocity": (1.0,), "other/lift position": (2.0,)}
    engine = EngineState(COMMANDS, "1", arrays | {"no command": (3.0,)})
    state = WorldState(models=(ModelState("arm"), ModelState("site/arm")), engines=(engine, EngineState("e", "1")))
    expected = {
        JointCommand("L_arm", "lift", "position"): 0.5,
        JointCommand("L_site/arm", "cart/x", "velocity"): 1.0,
        JointCommand("other", "lift", "position"): 2.0,
    }
    assert commands_of(prefixed(state, "L_")) == (expected, ("no command",))
    # The arrays of a simulator are its own, whatever their names.
    for simulator in ("a", "joint", "mujoco", "z"):
        engine = EngineState(simulator, "1", arrays)
        assert prefixed(replace(state, engines=(engine,)), "L_").engines == (engine,)


def test_merged_states_have_the_commands_of_all_models() -> None:
    left, right = (
        WorldState(
            models=(ModelState(name),), engines=(EngineState(COMMANDS, "1", {f"{name}/lift position": (value,)}),)
        )
        for name, value in (("a", 0.5), ("b", 2.0))
    )
    expected = {JointCommand("a", "lift", "position"): 0.5, JointCommand("b", "lift", "position"): 2.0}
    assert commands_of(merge_states([left, right])) == (expected, ())
    other = replace(left, engines=(EngineState(COMMANDS, "1", {"a/lift position": (0.25,)}),))
    found = Diagnostics()
    assert merge_states([left, other], diagnostics=found).engines == ()
    assert [item.code for item in found] == ["left-out"]


def test_an_edit_keeps_the_commands_of_models_whose_joints_it_leaves() -> None:
    engine = EngineState(COMMANDS, "1", {"a/lift position": (0.5,), "b/lift position": (2.0,)})
    state = WorldState(models=(ModelState("a"), ModelState("b")), engines=(engine, EngineState("e", "1")))
    for commanded, expected, warnings in (({"a", "b"}, {"a", "b"}, 1), ({"b"}, {"b"}, 2), (set[str](), set[str](), 2)):
        found = Diagnostics()
        left = without_engines(state, found, commanded=commanded)
        assert {command.model for command in commands_of(left)[0]} == expected
        assert [item.code for item in found] == ["left-out"] * warnings


def test_a_parent_is_a_body_or_the_link_that_carries() -> None:
    cup = ModelState("cup", parent="left", parent_link="hand")
    state = WorldState(models=(ModelState("left"), ModelState("right"), cup), frames=(ODOM,))
    for word, expected in (
        ("right", ("right", None)),
        ("odom", ("odom", None)),
        ("world", ("world", None)),
        ("right::hand", ("right", "hand")),
    ):
        moved = set_pose(state, "cup", parent=word).model("cup")
        assert (moved.parent, moved.parent_link) == expected
    assert set_pose(state, "cup", Pose(ZERO)).model("cup").parent_link == "hand"
    for word in ("rigth::hand", "odom::hand", "right::"):
        with pytest.raises(UnknownNameError, match="unknown parent"):
            set_pose(state, "cup", parent=word)


def test_a_joint_that_cannot_be_set_is_refused_with_the_reason(rover: RobotModel) -> None:
    joints = (JointState("j", (1.0,)),)
    posed = WorldState(models=(ModelState("m", links=(LinkState("l", Pose(ZERO)),), joints=joints),))
    with pytest.raises(ArrayError, match="give the robot"):
        set_joints(posed, "m", {"j": (2.0,)})
    bare = WorldState(models=(ModelState("m", joints=joints),))
    assert set_joints(bare, "m", {"j": (2.0,)}).models[0].joint("j").positions == (2.0,)
    with pytest.raises(ArrayError, match="it has 1 positions, not 2"):
        set_joints(bare, "m", {"j": (1.0, 2.0)})
    with pytest.raises(UnknownNameError, match="j"):
        set_joints(bare, "m", {"jj": (1.0,)})
    with pytest.raises(ArrayError, match="not finite"):
        set_joints(bare, "m", {"j": (math.nan,)})
    state = WorldState(models=(ModelState(rover.name),))
    mimic = next(joint.name for joint in rover.joints if joint.mimic is not None)
    leader = rover.joint(mimic).mimic
    assert leader is not None
    with pytest.raises(ArrayError, match=r"is given as 0.5, but its leader '.*' at 0 gives"):
        set_joints(state, rover.name, {mimic: (0.5,), leader.joint: (0.0,)}, rover)
    with pytest.raises(ArrayError, match="has 1 positions, not 2"):
        set_joints(state, rover.name, {"lift_joint": (0.0, 1.0)}, rover)
    with pytest.raises(UnknownNameError, match="lift_joint"):
        set_joints(state, rover.name, {"lift_jiont": (0.0,)}, rover)


CRANE = """<robot name="crane"><link name="base"/><link name="mast"/><link name="boom"/><link name="lamp"/>
<joint name="slew" type="revolute"><parent link="base"/><child link="mast"/><axis xyz="0 0 1"/>
 <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="reach" type="prismatic"><parent link="mast"/><child link="boom"/><axis xyz="1 0 0"/>
 <limit lower="0" upper="5" effort="1" velocity="1"/></joint>
<joint name="nod" type="revolute"><parent link="base"/><child link="lamp"/><axis xyz="0 1 0"/>
 <limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>"""


def crane(slew: float, reach: float) -> WorldState:
    """Return a state of links alone."""
    x, y = reach * math.cos(slew), reach * math.sin(slew)
    links = (
        LinkState("mast", Pose((0.0, 0.0, 0.0, 0.0, 0.0, slew))),
        LinkState("boom", Pose((x, y, 0.0, 0.0, 0.0, slew))),
        LinkState("lamp", twist=(0.0, 0.0, 0.0, 0.0, 0.5, 0.0)),
    )
    return WorldState(models=(ModelState("crane", pose=Pose(ZERO), links=links),))


def test_between_states_of_links_alone_links_go_where_their_joints_take_them() -> None:
    robot = robot_from_text(CRANE)
    between = interpolate_states(crane(0.0, 1.0), crane(1.0, 2.0), 0.5, robots={"crane": robot}).model("crane")
    boom = between.link("boom").pose
    assert boom is not None
    # On an arc: straight lines would be 1.39 long, not 1.5.
    assert boom.xyz_rpy == pytest.approx((1.5 * math.cos(0.5), 1.5 * math.sin(0.5), 0.0, 0.0, 0.0, 0.5))
    assert between.joints == ()


def test_an_edited_joint_takes_the_links_behind_it_along_and_leaves_the_others_alone() -> None:
    robot, state = robot_from_text(CRANE), crane(0.0, 1.0)
    found = Diagnostics()
    edited = set_joints(state, "crane", {"slew": (1.0,)}, robot, diagnostics=found).model("crane")
    boom = edited.link("boom").pose
    assert boom is not None
    # The reach of the boom is stated only by the links.
    assert boom.xyz_rpy[:2] == pytest.approx((math.cos(1.0), math.sin(1.0)))
    assert edited.link("lamp") == state.model("crane").link("lamp")
    assert [joint.name for joint in edited.joints] == ["slew"]
    assert not list(found)
    set_joints(state, "crane", {"nod": (1.0,)}, robot, diagnostics=found)
    (problem,) = found
    assert problem.message == "known joints no longer give the twist of link 'lamp' of 'crane'; it is left out"


def test_what_is_set_is_of_the_states_time_and_the_rest_keeps_its_age(rover: RobotModel) -> None:
    aged = tuple(JointState(name, (0.1,), age_ns=2_000_000) for name in ("lift_joint", "shoulder_joint"))
    state = WorldState(models=(ModelState("rover_arm", joints=aged, age_ns=1_000_000),), time_ns=5)
    changed = set_joints(state, "rover_arm", {"lift_joint": (0.2,)}, rover).model("rover_arm")
    assert [joint.age_ns for joint in changed.joints] == [None, 2_000_000]
    assert changed.age_ns == 1_000_000
    assert set_pose(state, "rover_arm", Pose((1.0, 0.0, 0.0, 0.0, 0.0, 0.0))).model("rover_arm").age_ns is None
    assert set_pose(state, "rover_arm", twist=ZERO).model("rover_arm").age_ns == 1_000_000


def test_the_name_of_the_first_world_with_a_name_is_kept_and_the_others_are_named() -> None:
    found = Diagnostics()
    worlds = [WorldState(name) for name in (None, "m", "z", "a", "m")]
    assert merge_states(worlds, diagnostics=found).name == "m"
    assert [(item.code, item.message) for item in found] == [
        ("world-name", "the worlds have different names; 'm' is kept, not 'z', 'a'")
    ]


@pytest.mark.parametrize("name", ["a", "zebra"])
def test_an_edit_leaves_out_other_engine_states_even_if_their_arrays_look_like_commands(name: str) -> None:
    state = WorldState(
        models=(ModelState("a"),),
        engines=(
            EngineState(name, "1", {"a/lift position": (0.5,)}),
            EngineState(COMMANDS, "1", {"a/lift position": (0.5,)}),
        ),
    )
    left = without_engines(state, commanded={"a"})
    assert [engine.name for engine in left.engines] == [COMMANDS]


def test_a_name_with_a_slash_is_a_model_of_that_name_or_a_frame_without_the_slash() -> None:
    state = WorldState(models=(ModelState("arm"), ModelState("/odd")), frames=(Frame("table"),))
    for written, expected in (("/table", "table"), ("table", "table"), ("/odd", "/odd"), ("arm", "arm"), ("/x", "x")):
        assert state.body_name(written) == expected


def test_one_leading_slash_of_a_frame_and_of_a_parent_is_left_out() -> None:
    state = WorldState(models=(ModelState("m", "table"),), frames=(Frame("/table"),))
    assert [frame.name for frame in state.frames] == ["table"]
    state = WorldState(models=(ModelState("m", "/table"),), frames=(Frame("table", "/world"),))
    assert (state.models[0].parent, state.frames[0].parent) == ("table", "world")
    state = WorldState(models=(ModelState("/m"), ModelState("n", "/m")), frames=(Frame("f", "/m"),))
    assert [body.parent for body in state.bodies] == ["world", "/m", "/m"]
