# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Objects on a robot's links, by transforms and by joints, and the choice of the world frame; compared with scipy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import WorldState, read_world
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.world_state import Frame, ModelState

Array = np.ndarray[Any, np.dtype[np.float64]]

JOINT = (
    '<link name="{child}"/><joint name="{name}" type="{type}"><origin xyz="0 0 1"/><parent link="{parent}"/>'
    '<child link="{child}"/><axis xyz="{axis}"/><limit lower="-9" upper="9" effort="1" velocity="1"/>{more}</joint>'
)
ARM = (
    '<robot name="arm"><link name="base"/>'
    + JOINT.format(name="turn", type="revolute", parent="base", child="l1", axis="0 0 1", more="")
    + JOINT.format(
        name="follow", type="revolute", parent="l1", child="l2", axis="1 0 0", more='<mimic joint="turn" offset="0.5"/>'
    )
    + JOINT.format(name="slide", type="prismatic", parent="l2", child="l3", axis="0 1 0", more="")
    + JOINT.format(name="aside", type="revolute", parent="base", child="l4", axis="0 0 1", more="")
    + "</robot>"
)
CART = '<robot name="cart"><link name="{root}"/></robot>'
UNTURNED = (0.0, 0.0, 0.0, 1.0)


def matrix(pose: Sequence[float]) -> Array:
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = Rotation.from_quat(pose[3:]).as_matrix(), pose[:3]
    return found


def of(item: Frame | ModelState) -> Array:
    assert item.pose is not None
    assert item.pose.quat_xyzw is not None
    return matrix((*item.pose.xyz_rpy[:3], *item.pose.quat_xyzw))


def on_arm(state: WorldState, name: str) -> Array:
    return resolve_frames(state).pose(name, "arm")


def poses(seed: int, count: int) -> list[tuple[float, ...]]:
    rng = np.random.default_rng(seed)
    return [(*rng.normal(size=3), *Rotation.random(rng=rng).as_quat()) for _ in range(count)]


def exported(tools: Any, tape: Any, *arguments: object) -> tuple[WorldState, str]:
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, *arguments, "--force", "-o", tools.folder / "state.usdf")
    assert code == 0, stderr
    return read_world(tools.folder / "state.usdf"), stderr


def warnings(stderr: str) -> list[str]:
    """Return the messages without the codes at their ends."""
    return [re.sub(r" \([a-z0-9-]+\)$", "", line.partition("warning: ")[2]) for line in stderr.splitlines()]


def arm(tools: Any, **joints: float) -> Any:
    tape = tools.Tape()
    tape.text("/robot_description", ARM)
    if joints:
        tape.joints(tools.START, list(joints), list(joints.values()))
    return tape


def test_a_frame_on_a_link_stands_where_the_joints_above_that_link_put_it(tools: Any) -> None:
    (grip,) = poses(1, 1)
    # 'aside' is not above the link, and its pose is unknown; 'follow' is at its measured pose.
    tape = arm(tools, turn=0.3, follow=0.9, slide=0.2)
    tape.tf([(tools.START, "l3", "grip", grip)], topic="/tf_static")
    state, _ = exported(tools, tape)
    lift = matrix((0, 0, 1, *UNTURNED))
    first = lift @ matrix((0, 0, 0, *Rotation.from_rotvec([0, 0, 0.3]).as_quat()))
    second = lift @ matrix((0, 0, 0, *Rotation.from_rotvec([0.9, 0, 0]).as_quat()))
    third = lift @ matrix((0, 0.2, 0, *UNTURNED))
    frame = state.frame("grip")
    assert (frame.parent, frame.parent_link) == ("arm", "l3")
    np.testing.assert_allclose(of(frame), matrix(grip), atol=1e-12)
    np.testing.assert_allclose(on_arm(state, "grip"), first @ second @ third @ matrix(grip), atol=1e-12)


@pytest.mark.parametrize("missing", ["turn", "slide"])
def test_a_frame_on_a_link_has_no_pose_where_a_joint_above_that_link_is_not_known(tools: Any, missing: str) -> None:
    known = {name: 0.1 for name in ("turn", "slide", "aside") if name != missing}
    tape = arm(tools, **known)
    tape.tf([(tools.START, "l3", "grip", (1, 2, 3, *UNTURNED))], topic="/tf_static")
    state, _ = exported(tools, tape)
    frame = state.frame("grip")
    assert (frame.parent, frame.parent_link, frame.pose) == ("arm", None, None)
    assert state.model("arm").links == ()


def test_transforms_place_a_link_that_carries_where_its_joints_do_not(tools: Any) -> None:
    first, second, third, grip = poses(2, 4)
    tape = arm(tools, turn=0.3, follow=0.9)
    tape.tf([(tools.START, "base", "l1", first), (tools.START, "l1", "l2", second), (tools.START, "l2", "l3", third)])
    tape.tf([(tools.START, "l3", "grip", grip)], topic="/tf_static")
    state, _ = exported(tools, tape)
    expected = matrix(first) @ matrix(second) @ matrix(third) @ matrix(grip)
    np.testing.assert_allclose(on_arm(state, "grip"), expected, atol=1e-12)


@pytest.mark.parametrize("told", [True, False])
def test_a_robot_on_another_s_link_stands_on_that_link(tools: Any, told: bool) -> None:
    link, stand = poses(3, 2)
    tape = tools.Tape()
    tape.text("/a/robot_description", ARM)
    tape.text("/b/robot_description", CART.format(root="deck"))
    for i in range(3):
        stamp = tools.START + i * tools.S
        if told:
            tape.tf([(stamp, "a/base", "a/l1", link)])
        tape.tf([(stamp, "a/l1", "b/deck", (stand[0] + i, *stand[1:]))])
    state, _ = exported(tools, tape, "--model", "a:/a", "--model", "b:/b", "--at", "1")
    model = state.model("b")
    if told:
        assert (model.parent, model.parent_link) == ("a", "l1")
        assert model.twist == pytest.approx((1, 0, 0, 0, 0, 0), abs=1e-12)
        np.testing.assert_allclose(of(model), matrix((stand[0] + 1, *stand[1:])), atol=1e-12)
        expected = matrix(link) @ matrix((stand[0] + 1, *stand[1:]))
        np.testing.assert_allclose(resolve_frames(state).pose("b", "a"), expected, atol=1e-12)
    else:
        assert (model.parent, model.parent_link, model.pose, model.twist) == ("a", None, None, None)


def test_frames_above_the_world_frame_are_turned_over_one_by_one(tools: Any) -> None:
    a, b, c, d = poses(4, 4)
    tape = tools.Tape()
    tape.tf([(tools.START, "top", "a", a), (tools.START, "a", "b", b), (tools.START, "b", "c", c)])
    tape.tf([(tools.START, "a", "d", d)], topic="/tf_static")
    state, _ = exported(tools, tape, "--world-frame", "b")
    assert {frame.name: frame.parent for frame in state.frames} == {
        "a": "b",
        "b": "world",
        "c": "b",
        "d": "a",
        "top": "a",
    }
    np.testing.assert_allclose(of(state.frame("b")), np.eye(4), atol=1e-12)
    for name, pose in (("a", np.linalg.inv(matrix(b))), ("top", np.linalg.inv(matrix(a)))):
        np.testing.assert_allclose(of(state.frame(name)), pose, atol=1e-12)
    for name, pose in (("c", matrix(c)), ("d", matrix(d))):
        np.testing.assert_allclose(of(state.frame(name)), pose, atol=1e-12)


@pytest.mark.parametrize("name", ["spoon", "world"])
def test_nothing_below_a_frame_that_changes_its_parent_can_be_the_world(tools: Any, name: str) -> None:
    tape = tools.Tape()
    for i, parent in enumerate(("left", "right")):
        stamp = tools.START + i * tools.S
        tape.tf([(stamp, "room", parent, (i, 0, 0, *UNTURNED)), (stamp, parent, "cup", (0, 0, 1, *UNTURNED))])
        tape.tf([(stamp, "cup", name, (0, 0, 1, *UNTURNED))])
    bag = tape.write(tools.folder / "bag")
    out = tools.folder / "state.usdf"
    code, _, stderr = tools.run("export", bag, "--world-frame", name, "-o", out)
    assert (code, out.exists()) == (1, False)
    refusal = "error: the parent of 'cup' changes, so no frame below it can be the world"
    advice = "; leave out --world-frame to use the root"
    # A frame called `world` is the world in any case, so no other choice is advised.
    assert stderr.splitlines()[-1] == refusal + ("" if name == "world" else advice)
    for options in ((), ("--world-frame", "right")):
        code, _, stderr = tools.run("export", bag, *options, "-o", out, "--force")
        assert code == (1 if name == "world" else 0), stderr
        assert name == "world" or read_world(out).frame("cup").parent == "right"


def test_frames_above_a_frame_called_world_are_placed_by_inversion(tools: Any) -> None:
    (T_earth_world, T_world_cup) = poses(5, 2)
    tape = tools.Tape()
    tape.tf([(tools.START, "earth", "world", T_earth_world), (tools.START, "world", "cup", T_world_cup)])
    tape.tf([(tools.START, "earth", "moon", (4, 0, 0, *UNTURNED))])
    state, stderr = exported(tools, tape)
    assert warnings(stderr) == []
    world = resolve_frames(state)
    np.testing.assert_allclose(world.pose("earth"), np.linalg.inv(matrix(T_earth_world)), atol=1e-12)
    np.testing.assert_allclose(world.pose("cup"), matrix(T_world_cup), atol=1e-12)
    np.testing.assert_allclose(world.pose("moon", "earth")[:3, 3], (4, 0, 0), atol=1e-12)


def test_a_robot_that_carries_the_world_frame_is_placed_by_inversion(tools: Any) -> None:
    (T_link_camera, T_camera_world) = poses(6, 2)
    tape = arm(tools, turn=0.3)
    tape.tf([(tools.START, "l1", "camera", T_link_camera), (tools.START, "camera", "world", T_camera_world)])
    state, _ = exported(tools, tape)
    T_base_link = matrix((0, 0, 1, *Rotation.from_rotvec([0, 0, 0.3]).as_quat()))
    T_base_world = T_base_link @ matrix(T_link_camera) @ matrix(T_camera_world)
    np.testing.assert_allclose(resolve_frames(state).pose("arm"), np.linalg.inv(T_base_world), atol=1e-12)
    np.testing.assert_allclose(resolve_frames(state).pose("camera"), np.linalg.inv(matrix(T_camera_world)), atol=1e-12)


def trees(tools: Any, robot: bool) -> Any:
    """Return three trees: of two frames, of four, and of a robot with one frame above it."""
    tape = tools.Tape()
    for parent, children in (("islet", ("a",)), ("isle", ("b", "c", "d"))):
        tape.tf([(tools.START, parent, child, (1, 0, 0, *UNTURNED)) for child in children], topic="/tf_static")
    if robot:
        tape.text("/robot_description", CART.format(root="deck"))
        tape.tf([(tools.START, "quay", "deck", (2, 0, 0, *UNTURNED))])
    return tape


def test_of_trees_that_are_not_connected_the_one_with_a_robot_is_the_world(tools: Any) -> None:
    state, stderr = exported(tools, trees(tools, robot=True))
    start = "the frames are not connected; 'quay' is used as the world; not connected to it: "
    (line,) = [line for line in warnings(stderr) if line.startswith("the frames")]
    assert line.removeprefix(start) in ("'islet', 'isle'", "'isle', 'islet'")
    assert {frame.name for frame in state.frames if frame.pose is None} == {"isle", "islet"}
    np.testing.assert_array_equal(of(state.frame("quay")), np.eye(4))


def test_of_trees_without_a_robot_the_largest_is_the_world(tools: Any) -> None:
    state, stderr = exported(tools, trees(tools, robot=False))
    rule = "the frames are not connected; 'isle' is used as the world; not connected to it: 'islet'"
    assert warnings(stderr) == [rule]
    np.testing.assert_array_equal(of(state.frame("isle")), np.eye(4))
    assert state.frame("islet").pose is None


def test_a_frame_that_changes_its_tree_counts_for_the_one_where_it_was_first(tools: Any) -> None:
    tape = trees(tools, robot=False)
    for i, parent in enumerate(("islet", "isle")):
        items = [(tools.START + i * tools.S, parent, f"boat{n}", (1, 0, 0, *UNTURNED)) for n in range(3)]
        tape.tf(items)
    _, stderr = exported(tools, tape)
    rule = "the frames are not connected; 'islet' is used as the world; not connected to it: 'isle'"
    assert rule in warnings(stderr)


def test_repeated_and_late_transforms_are_counted(tools: Any) -> None:
    tape = tools.Tape()
    for k, (second, x) in enumerate(((0, 0.0), (2, 2.0), (2, 5.0), (1, 1.0), (3, 3.0))):
        stamp = tools.START + second * tools.S
        tape.tf([(stamp, "map", "a", (x, 0, 0, *UNTURNED))], log=tools.START + k)
    state, stderr = exported(tools, tape, "--at", "1.5")
    assert warnings(stderr) == [
        "tf: 1 transforms repeat an earlier stamp; the last transform of each stamp is used, as in tf2",
        "tf: 1 transforms came after one with a later stamp; they were sorted",
    ]
    assert of(state.frame("a"))[0, 3] == pytest.approx(1.5)


@pytest.mark.parametrize("above", ["map", None])
def test_a_virtual_joint_s_frame_that_the_transforms_reach_is_not_warned_of(tools: Any, above: str | None) -> None:
    tape = tools.Tape()
    tape.text("/robot_description", CART.format(root="deck"))
    virtual = '<virtual_joint name="v" type="planar" parent_frame="odom" child_link="deck"/>'
    tape.text("/robot_description_semantic", f'<robot name="cart">{virtual}</robot>')
    tape.tf([(tools.START, "map", "deck", (2, 0, 0, *UNTURNED))])
    if above is not None:
        tape.tf([(tools.START, above, "odom", (1, 0, 0, *UNTURNED))])
    _, stderr = exported(tools, tape)
    odd = "'cart' is recorded in 'map', which is not connected to 'odom', its virtual joint's parent frame"
    assert (odd in warnings(stderr)) is (above is None)


def test_only_the_robot_whose_virtual_joint_s_frame_is_not_reached_is_warned_of(tools: Any) -> None:
    tape = tools.Tape()
    for name, parent in (("a", "odom"), ("b", "map")):
        tape.text(f"/{name}/robot_description", CART.format(root="deck"))
        virtual = '<virtual_joint name="v" type="planar" parent_frame="odom" child_link="deck"/>'
        tape.text(f"/{name}/robot_description_semantic", f'<robot name="cart">{virtual}</robot>')
        tape.tf([(tools.START, parent, f"{name}/deck", (2, 0, 0, *UNTURNED))])
    _, stderr = exported(tools, tape, "--model", "a:/a", "--model", "b:/b")
    odd = "is recorded in 'map', which is not connected to 'odom', its virtual joint's parent frame"
    assert [line for line in warnings(stderr) if "virtual joint" in line] == [f"'b' {odd}"]


def test_a_world_frame_above_which_frames_go_round_ends_the_walk(tools: Any) -> None:
    tape = tools.Tape()
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a"), ("c", "cup")):
        tape.tf([(tools.START, parent, child, (1, 0, 0, *UNTURNED))])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--world-frame", "cup", "-o", tools.folder / "state.usdf")
    assert code == 0, stderr
    found = {frame.name: frame.parent for frame in read_world(tools.folder / "state.usdf").frames}
    assert found == {"cup": "world", "c": "cup", "b": "c", "a": "b"}
