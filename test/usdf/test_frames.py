# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Resolved poses and motions against scipy, pinocchio and finite differences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation
from support.states import Chance

from robot_semantics import DescriptionError, Diagnostics, UnknownNameError, WorldState
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_quaternion, pose_matrix
from robot_semantics.usdf.frames import NotStatedError, resolve_frames, without_parent_links
from robot_semantics.usdf.reader import parse_document
from robot_semantics.usdf.world_state import Frame, LinkState, ModelState

H = 1e-6


def se3(pose: Any) -> pinocchio.SE3:
    rotation = Rotation.from_euler("xyz", pose.xyz_rpy[3:]).as_matrix()
    return pinocchio.SE3(rotation, np.array(pose.xyz_rpy[:3]))


def placed(state: WorldState, name: str) -> pinocchio.SE3:
    """Return the pose of a model, frame or ``model::link`` in the world, by pinocchio alone."""
    model, _, link = name.partition("::")
    bodies: dict[str, Any] = {body.name: body for body in state.bodies}
    T = se3(next(item.pose for item in bodies[model].links if item.name == link)) if link else pinocchio.SE3.Identity()
    while model != "world":
        T = se3(bodies[model].pose) * T
        model = bodies[model].parent
    return T


def advanced(state: WorldState, dt: float) -> WorldState:
    """Return the state a moment later, every pose moved by its twist: linear by v dt, turned by the vector w dt."""

    def moved(pose: Any, twist: Any, *, own_axes: bool) -> Pose:
        rotation = Rotation.from_euler("xyz", pose.xyz_rpy[3:])
        linear, turn = np.array(twist[:3]), Rotation.from_rotvec(np.array(twist[3:]) * dt)
        if own_axes:
            linear, rotation = rotation.apply(linear), rotation * turn
        else:
            rotation = turn * rotation
        xyz = np.array(pose.xyz_rpy[:3]) + linear * dt
        return Pose((*xyz, *rotation.as_euler("xyz")))

    return replace(
        state,
        models=tuple(
            replace(
                model,
                pose=moved(model.pose, model.twist, own_axes=False),
                links=tuple(replace(link, pose=moved(link.pose, link.twist, own_axes=True)) for link in model.links),
            )
            for model in state.models
        ),
        frames=tuple(replace(frame, pose=moved(frame.pose, frame.twist, own_axes=False)) for frame in state.frames),
    )


@pytest.mark.parametrize("seed", range(20))
def test_poses_agree_with_pinocchio(chance: Callable[[int], Chance], seed: int) -> None:
    state = chance(seed).tame_world()
    resolved = resolve_frames(state)
    names = resolved.names[1:]
    assert len(names) == 3 + 3 + 9
    for name in names:
        np.testing.assert_allclose(resolved.pose(name), placed(state, name).homogeneous, atol=1e-12)
        for other in names:
            expected = placed(state, other).inverse() * placed(state, name)
            np.testing.assert_allclose(resolved.pose(name, other), expected.homogeneous, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_twists_agree_with_finite_differences(chance: Callable[[int], Chance], seed: int) -> None:
    state = chance(seed).tame_world()
    resolved, before, after = resolve_frames(state), advanced(state, -H), advanced(state, H)
    names = resolved.names
    for observer in names:
        T0 = [resolved.poses(names, observer), *(resolve_frames(s).poses(names, observer) for s in (before, after))]
        linear = (T0[2][:, :3, 3] - T0[1][:, :3, 3]) / (2 * H)
        turned = T0[2][:, :3, :3] @ np.swapaxes(T0[1][:, :3, :3], -1, -2)
        angular = Rotation.from_matrix(turned).as_rotvec() / (2 * H)
        expected = np.concatenate((linear, angular), axis=1)
        found = resolved.relative_twists(names, observer)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        # The same vectors in other axes.
        R = resolved.pose(observer, names[-1])[:3, :3]
        in_other_axes = resolved.relative_twists(names, observer, names[-1])
        np.testing.assert_allclose(in_other_axes[:, :3], found[:, :3] @ R.T, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_wrenches_agree_with_pinocchio(chance: Callable[[int], Chance], seed: int) -> None:
    state = chance(seed).tame_world()
    resolved = resolve_frames(state)
    for model in state.models:
        for link in model.links:
            name = f"{model.name}::{link.name}"
            assert link.wrench is not None
            own = pinocchio.Force(np.array(link.wrench))
            np.testing.assert_allclose(resolved.wrench(name), link.wrench, atol=1e-12)
            for other in resolved.names:
                T = (pinocchio.SE3.Identity() if other == "world" else placed(state, other)).inverse()
                expected = T.act(placed(state, name).act(own))
                np.testing.assert_allclose(resolved.wrench(name, other), expected.vector, atol=1e-11)


def test_a_quaternion_of_length_one_keeps_every_bit_and_another_is_normalised() -> None:
    exact = tuple(Rotation.from_euler("xyz", (0.1, 0.2, 0.3)).as_quat().tolist())
    assert pose_from_quaternion((1.0, 2.0, 3.0), exact).quat_xyzw == exact
    longer = pose_from_quaternion((1.0, 2.0, 3.0), [3.0 * number for number in exact])
    assert longer.quat_xyzw == pytest.approx(exact, abs=1e-15)
    assert longer.xyz_rpy == pytest.approx((1.0, 2.0, 3.0, 0.1, 0.2, 0.3))


def test_the_order_of_parents_does_not_matter() -> None:
    step, count = Pose((1.0, 0.0, 0.0, 0.0, 0.0, 0.0)), 3_000
    frames = tuple(Frame(f"f{at}", f"f{at + 1}" if at < count - 1 else "world", step) for at in range(count))
    resolved = resolve_frames(WorldState(frames=frames))
    assert resolved.pose("f0")[0, 3] == count
    assert resolved.pose("f1", "f0")[0, 3] == -1.0
    assert resolve_frames(WorldState(frames=frames[::-1])).pose("f0")[0, 3] == count


def test_a_stated_quaternion_wins_over_the_rpy_beside_it() -> None:
    quat = Rotation.from_euler("xyz", (0.1, 0.2, 0.3)).as_quat()
    near = Pose((0.0, 0.0, 0.0, 0.1, 0.2, 0.3 + 5e-10), tuple(quat.tolist()))
    T = resolve_frames(WorldState(frames=(Frame("f", pose=near),))).pose("f")
    np.testing.assert_allclose(T[:3, :3], Rotation.from_quat(quat).as_matrix(), atol=1e-15)


def test_what_is_not_stated_stays_unknown() -> None:
    state = WorldState(
        models=(ModelState("m", "f", twist=(0.0,) * 6, links=(LinkState("l"), LinkState("k", Pose((0.0,) * 6)))),),
        frames=(Frame("f"), Frame("g", twist=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))),
    )
    resolved = resolve_frames(state)
    with pytest.raises(NotStatedError, match="twist of 'f'"):
        resolved.twist("m")
    with pytest.raises(NotStatedError, match="pose of 'm::l'"):
        resolved.pose("m::l")
    with pytest.raises(NotStatedError, match="wrench of 'm::k'"):
        resolved.wrench("m::k")
    with pytest.raises(NotStatedError, match="twist of 'f'"):
        resolved.twist("g", "f")
    assert resolved.twist("g") == (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert np.isnan(resolved.relative_twists(("m",))).all()


def test_a_missing_pose_is_the_identity_with_a_warning_at_its_place() -> None:
    text = "<world_state>\n <model_state name='m'><parent>f</parent></model_state>\n <frame name='f'/></world_state>"
    document = parse_document(text, "w.usdf")
    diagnostics = Diagnostics()
    resolved = resolve_frames(document.state, diagnostics=diagnostics, places=document.places)
    np.testing.assert_array_equal(resolved.pose("m"), np.eye(4))
    assert [(item.code, item.place.line, item.place.column) for item in diagnostics] == [
        ("missing-pose", 2, 2),
        ("missing-pose", 3, 2),
    ]


def test_a_graph_that_does_not_lead_to_the_world_is_refused() -> None:
    frames = (Frame("a", "b"), Frame("b", "a"), Frame("c", "odmo"), Frame("odom"))
    with pytest.raises(DescriptionError) as caught:
        resolve_frames(WorldState(frames=frames))
    assert sorted(item.code for item in caught.value.diagnostics) == ["parent-cycle", "unknown-parent"]
    far = Pose((1.7e308, 0.0, 0.0, 0.0, 0.0, 0.0))
    with pytest.raises(DescriptionError, match="too large for a 64-bit float"):
        resolve_frames(WorldState(frames=(Frame("a", "b", far), Frame("b", "world", far))))


@pytest.mark.parametrize("name", ["a", "world2", "zone"])
def test_poses_are_relative_to_a_body_of_any_name(name: str) -> None:
    frames = (
        Frame(name, pose=Pose((1.0, 0.0, 0.0, 0.0, 0.0, math.pi / 2))),
        Frame("m", pose=Pose((1.0, 2.0) + 4 * (0.0,))),
    )
    world = resolve_frames(WorldState(frames=frames))
    np.testing.assert_allclose(world.pose("m", name)[:3, 3], [2.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(world.pose("m", "world")[:3, 3], [1.0, 2.0, 0.0], atol=1e-15)


def test_unknown_names_are_answered_with_the_nearest() -> None:
    resolved = resolve_frames(WorldState(frames=(Frame("odom"),)))
    with pytest.raises(UnknownNameError, match="odom"):
        resolved.pose("odon")
    with pytest.raises(ValueError, match="read-only"):
        resolved.T_world_body[0] = 0.0


@pytest.mark.parametrize("seed", range(20))
def test_frames_above_two_things_may_move_in_any_way_without_changing_how_one_sees_the_other(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def six() -> Vec6:
        a, b, c, d, e, f = rng.uniform(-1.0, 1.0, 6).tolist()
        return (a, b, c, d, e, f)

    link = LinkState("l", Pose(six()), six())
    model = ModelState("m", "near", Pose(six()), six(), links=(link,))
    frames = (Frame("near", "far", Pose(six()), six()), Frame("other", "far", Pose(six()), six()))
    far = Pose(six())
    unknown = resolve_frames(WorldState(models=(model,), frames=(*frames, Frame("far", "world", far))))
    moving = resolve_frames(WorldState(models=(model,), frames=(*frames, Frame("far", "world", far, six()))))
    for name, observer in itertools.permutations(("m", "near", "other", "m::l", "far"), 2):
        np.testing.assert_allclose(unknown.twist(name, observer), moving.twist(name, observer), atol=1e-12)
    with pytest.raises(NotStatedError, match="twist of 'far'"):
        unknown.twist("m::l")


def test_what_a_link_carries_is_where_the_link_is_and_moves_with_it() -> None:
    quarter = math.pi / 2
    hand = LinkState("hand", Pose((1.0, 0.0, 0.0, 0.0, 0.0, quarter)), (0.0, 0.0, 0.0, 0.0, 0.0, 2.0))
    model = ModelState("m", pose=Pose((0.0, 0.0, 5.0, 0.0, 0.0, 0.0)), twist=(0.0,) * 6, links=(hand,))
    held = Frame("cup", "m", Pose((0.5, 0.0, 0.0, 0.0, 0.0, 0.0)), (0.1, 0.0, 0.0, 0.0, 0.0, 0.0), parent_link="hand")
    state = WorldState(models=(model,), frames=(held,))
    world = resolve_frames(state)
    # The hand's x axis is the world's y axis; it turns with 2 rad/s half a metre away.
    np.testing.assert_allclose(world.pose("cup")[:3, 3], [1.0, 0.5, 5.0], atol=1e-15)
    np.testing.assert_allclose(world.pose("cup"), world.pose("m::hand") @ pose_matrix(held.pose), atol=1e-15)
    np.testing.assert_allclose(world.twist("cup"), [-1.0, 0.1, 0.0, 0.0, 0.0, 2.0], atol=1e-15)
    loose = without_parent_links(state)
    assert loose.frames[0].parent_link is None
    np.testing.assert_allclose(resolve_frames(loose).pose("cup"), world.pose("cup"), atol=1e-15)
    np.testing.assert_allclose(resolve_frames(loose).twist("cup"), world.twist("cup"), atol=1e-15)


def test_what_stands_on_a_link_whose_pose_is_not_stated_is_nowhere() -> None:
    held = Frame("cup", "m", Pose((0.0,) * 6), parent_link="hand")
    with pytest.raises(NotStatedError, match="pose of 'm::hand'"):
        resolve_frames(WorldState(models=(ModelState("m", links=(LinkState("hand"),)),), frames=(held,)))


def test_a_model_that_is_called_as_a_link_of_another_is_refused() -> None:
    link = LinkState("base", Pose((0.0, 0.0, 3.0, 0.0, 0.0, 0.0)))
    state = WorldState(models=(ModelState("cart::base"), ModelState("cart", links=(link,))))
    with pytest.raises(DescriptionError, match="the name 'cart::base' already belongs to link 'base' of 'cart'"):
        resolve_frames(state)
    resolve_frames(WorldState(models=(ModelState("cart::seat"), ModelState("cart", links=(link,)))))
