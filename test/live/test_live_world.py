# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots and TF as one world state: sources of root poses, objects on links, and unknown poses."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import JointSpace
from robot_semantics.live.samples import RobotSample, RootCandidate, RootSource, RootStatement, WorldSample
from robot_semantics.live.senders import NEVER_NS
from robot_semantics.live.settings import Source
from robot_semantics.live.world import (
    LeftOutFrame,
    LiveWorld,
    ReceivedTransform,
    StaleStateError,
    live_world,
    transform_fault,
)
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.transforms.rows import LARGEST
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.world_state import WORLD
from robot_semantics.usdf.writer import write_world

URDF = """<robot name="{name}"><link name="base_link"/><link name="arm"/>
  <joint name="turn" type="continuous"><parent link="base_link"/><child link="arm"/>
    <origin xyz="0.5 0 0.2"/><axis xyz="0 0 1"/></joint></robot>"""
SRDF = '<robot name="{name}"><virtual_joint name="v" type="{type}" parent_frame="odom" child_link="base_link"/></robot>'
NOW_NS = 5_000_000_000


def sample(
    name: str = "rover",
    joint: str = "",
    *,
    turn: tuple[float, float] | None = (0.0, 0.0),
    prefix: str = "",
    parent: str = "odom",
    **fields: Any,
) -> RobotSample:
    model = robot_from_text(URDF.format(name=name), SRDF.format(name=name, type=joint) if joint else None)
    space = JointSpace.of(model)
    q, v = space.neutral(), np.full(space.velocity_size, np.nan)
    if turn is not None:
        q[space.joint_positions["turn"]], v[space.joint_velocities["turn"]] = turn
    known = np.array([one.name == "turn" and turn is not None for one in space.joints], np.bool_)
    stamps = np.where(known, NOW_NS, NEVER_NS)
    efforts = np.full(space.velocity_size, np.nan)
    return RobotSample(name, model, space, q, v, efforts, known, stamps, parent if joint else "", prefix, **fields)


def heard(xyz: tuple[float, float, float], yaw: float = 0.0, stamp_ns: int | None = NOW_NS) -> ReceivedTransform:
    """Return a transform that arrived at the time of its stamp."""
    return ReceivedTransform(np.array([*xyz, *Rotation.from_euler("z", yaw).as_quat()]), stamp_ns, stamp_ns)


def taken(*robots: RobotSample, **frames: dict[str, ReceivedTransform]) -> LiveWorld:
    return live_world(WorldSample(NOW_NS, NOW_NS, robots), frames)


def codes(world: LiveWorld) -> set[tuple[str, str, str, str]]:
    return {(item.kind, item.model, item.name, item.code) for item in world.missing}


def matrix(xyz: tuple[float, float, float], yaw: float) -> Any:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_euler("z", yaw).as_matrix(), xyz
    return T


@pytest.mark.parametrize("joint", ["", "planar", "floating"])
def test_a_root_link_that_others_place_on_tf_is_the_model_and_no_frame(joint: str) -> None:
    world = taken(
        sample(joint=joint), base_link={"odom": heard((1.0, 2.0, 0.0), 0.5)}, odom={"map": heard((5.0, 0.0, 0.0), 1.0)}
    )
    (model,) = world.state.models
    assert model.parent == "odom"
    np.testing.assert_allclose(pose_matrix(model.pose), matrix((1.0, 2.0, 0.0), 0.5), atol=1e-12)
    assert {frame.name: frame.parent for frame in world.state.frames} == {"odom": "map", "map": WORLD}
    expected = matrix((5.0, 0.0, 0.0), 1.0) @ matrix((1.0, 2.0, 0.0), 0.5)
    np.testing.assert_allclose(resolve_frames(world.state).pose("rover"), expected, atol=1e-12)
    assert model.twist is None
    assert not world.missing


@pytest.mark.parametrize(("joint", "parent"), [("", WORLD), ("planar", "odom"), ("floating", "odom")])
def test_where_nobody_says_anything_the_pose_is_not_stated_and_that_is_said(joint: str, parent: str) -> None:
    world = taken(sample(joint=joint))
    assert (world.state.models[0].parent, world.state.models[0].pose) == (parent, None)
    assert ("pose", "rover", "", "not_stated") in codes(world)


def test_the_own_values_of_a_virtual_joint_go_before_tf_and_that_before_odometry() -> None:
    own = RootStatement(
        RootCandidate(RootSource.VIRTUAL_JOINT, "v", "odom"), np.array([1.0, 0, 0, 0, 0, 0, 1]), np.arange(6.0), NOW_NS
    )
    odometry = RootStatement(RootCandidate(RootSource.ODOMETRY, "odom", "odom"), np.array([3.0, 0, 0, 0, 0, 0, 1]))
    on_tf = {"base_link": {"odom": heard((2.0, 0.0, 0.0))}}
    for said, frames, x in (
        ((own, odometry), on_tf, 1.0),
        ((odometry,), on_tf, 2.0),
        ((odometry,), {}, 3.0),
    ):
        (model,) = taken(sample(joint="planar", statements=said), **frames).state.models
        assert model.pose is not None
        assert model.pose.xyz_rpy[0] == x
    (model,) = taken(sample(joint="planar", statements=(own,))).state.models
    assert model.twist == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)


def test_a_source_that_is_named_is_the_only_one() -> None:
    frames = {"base_link": {"odom": heard((2.0, 0.0, 0.0))}}
    assert taken(sample(joint="planar", source=Source.JOINT_STATES), **frames).state.models[0].pose is None
    assert taken(sample(joint="planar", source=Source.TF), **frames).state.models[0].pose is not None


def test_of_two_that_place_a_root_link_on_tf_the_first_by_name_is_believed_and_the_other_named() -> None:
    world = taken(sample(), base_link={"odom": heard((1.0, 0.0, 0.0)), "map": heard((9.0, 0.0, 0.0))})
    assert world.state.models[0].parent == "map"
    (item,) = [item for item in world.missing if item.kind == "pose"]
    assert item.code == "rivals"
    assert "odom" in item.detail


def test_a_robot_on_another_robot_s_link_stands_on_that_model_and_moves_with_the_link() -> None:
    carrier = sample("carrier", turn=(0.3, 2.0), prefix="a/")
    said = RootStatement(
        RootCandidate(RootSource.VIRTUAL_JOINT, "v", "a/arm"),
        np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        np.zeros(6),
        NOW_NS,
    )
    rider = sample("rider", "floating", prefix="b/", statements=(said,), parent="a/arm")
    world = taken(carrier, rider)
    model = world.state.model("rider")
    assert (model.parent, model.parent_link, model.twist) == ("carrier", "arm", (0.0,) * 6)
    expected = matrix((0.5, 0.0, 0.2), 0.3) @ matrix((0.1, 0.0, 0.0), 0.0)
    resolved = resolve_frames(world.state)
    np.testing.assert_allclose(resolved.pose("rider", "carrier"), expected, atol=1e-12)
    # It goes round the joint, 0.1 m away from it, at 2 rad/s.
    np.testing.assert_allclose(
        resolved.relative_twists(("rider",), "carrier")[0],
        [-0.2 * np.sin(0.3), 0.2 * np.cos(0.3), 0.0, 0.0, 0.0, 2.0],
        rtol=0,
        atol=1e-12,
    )
    assert not world.state.frames
    unknown = taken(sample("carrier", turn=None, prefix="a/"), rider)
    assert unknown.state.model("rider").pose is None
    assert ("pose", "rider", "", "not_stated") in codes(unknown)


def test_a_frame_on_a_link_hangs_on_that_link() -> None:
    world = taken(sample(turn=(0.3, 0.0)), camera={"arm": heard((0.0, 0.0, 0.4), stamp_ns=None)})
    (camera,) = world.state.frames
    assert (camera.parent, camera.parent_link) == ("rover", "arm")
    np.testing.assert_allclose(
        resolve_frames(world.state).pose("camera", "rover"), matrix((0.5, 0.0, 0.6), 0.3), atol=1e-12
    )


def test_frames_above_the_frame_world_are_placed_by_inversion() -> None:
    world = taken(
        sample(),
        world={"map": heard((1.0, 2.0, 0.0), 0.5, NOW_NS - 7)},
        map={"earth": heard((0.0, 0.0, 3.0), 1.0, NOW_NS - 9)},
        base_link={"map": heard((4.0, 0.0, 0.0))},
    )
    resolved = resolve_frames(world.state)
    T_map_world, T_earth_map = matrix((1.0, 2.0, 0.0), 0.5), matrix((0.0, 0.0, 3.0), 1.0)
    np.testing.assert_allclose(resolved.pose("map"), np.linalg.inv(T_map_world), atol=1e-12)
    np.testing.assert_allclose(resolved.pose("earth"), np.linalg.inv(T_earth_map @ T_map_world), atol=1e-12)
    expected = np.linalg.inv(T_map_world) @ matrix((4.0, 0.0, 0.0), 0.0)
    np.testing.assert_allclose(resolved.pose("rover"), expected, atol=1e-12)
    assert {age.name: age.age_ns for age in world.ages if age.name in ("map", "earth")} == {"map": 7, "earth": 9}
    assert not world.missing


def test_a_robot_that_carries_the_frame_world_is_placed_by_inversion() -> None:
    world = taken(sample(turn=(0.3, 0.0)), camera={"arm": heard((0.0, 0.0, 1.0))}, world={"camera": heard((2.0, 0, 0))})
    expected = np.linalg.inv(matrix((0.5, 0.0, 1.2), 0.3) @ matrix((2.0, 0.0, 0.0), 0.0))
    np.testing.assert_allclose(resolve_frames(world.state).pose("rover"), expected, atol=1e-12)
    assert not world.missing


@pytest.mark.parametrize("joint", ["", "fixed", "planar"])
def test_a_root_link_called_world_is_a_link_and_not_the_world(joint: str) -> None:
    urdf = URDF.format(name="ur").replace("base_link", "world")
    srdf = SRDF.format(name="ur", type=joint).replace("base_link", "world").replace("odom", "world")
    model = robot_from_text(urdf, srdf if joint else None)
    space = JointSpace.of(model)
    q, v = space.neutral(), np.zeros(space.velocity_size)
    q[space.joint_positions["turn"]] = 0.3
    at = np.array([1.0, 2.0, 0, 0, 0, 0, 1]) if joint == "planar" else np.array([0.0, 0, 0, 0, 0, 0, 1])
    own = RootStatement(RootCandidate(RootSource.VIRTUAL_JOINT, "v", WORLD), at)
    known, stamps = np.ones(len(space.joints), np.bool_), np.full(len(space.joints), NOW_NS)
    parent, said = (WORLD, (own,)) if joint else ("", ())
    robot = RobotSample("ur", model, space, q, v, v, known, stamps, parent, "", statements=said)
    world = taken(robot, camera={"world": heard((3.0, 0.0, 0.0))}, cup={"arm": heard((0.0, 0.0, 1.0))})
    resolved = resolve_frames(world.state)
    np.testing.assert_allclose(resolved.pose("ur"), matrix((at[0], at[1], 0.0), 0.0), atol=1e-12)
    np.testing.assert_allclose(resolved.pose("camera", "ur"), matrix((3.0, 0.0, 0.0), 0.0), atol=1e-12)
    np.testing.assert_allclose(resolved.pose("cup", "ur"), matrix((0.5, 0.0, 1.2), 0.3), atol=1e-12)
    assert world.parents == {"ur": WORLD}
    assert not world.missing


def test_of_several_trees_nobody_knows_how_they_stand_to_each_other() -> None:
    world = taken(sample(), table={"map": heard((1.0, 0.0, 0.0))}, cup={"lab": heard((2.0, 0.0, 0.0))})
    assert {frame.name: frame.pose for frame in world.state.frames if frame.name in ("map", "lab")} == {
        "map": None,
        "lab": None,
    }
    assert {("frame", "", "map", "not_stated"), ("frame", "", "lab", "not_stated")} <= codes(world)


def test_transforms_in_a_circle_are_said_and_leave_a_state_that_resolves() -> None:
    world = taken(sample(), one={"two": heard((1.0, 0.0, 0.0))}, two={"one": heard((1.0, 0.0, 0.0))})
    resolve_frames(world.state)
    assert any(code == "cycle" for *_, code in codes(world))
    around = taken(sample(), base_link={"arm": heard((1.0, 0.0, 0.0))})
    resolve_frames(around.state)
    assert around.state.models[0].pose is None
    assert any(code == "cycle" for *_, code in codes(around))


def test_link_twists_do_not_need_the_velocity_of_the_root() -> None:
    (model,) = taken(sample(joint="floating", turn=(0.3, 2.0))).state.models
    assert model.twist is None
    arm = next(link for link in model.links if link.name == "arm")
    assert arm.twist == (0.0, 0.0, 0.0, 0.0, 0.0, 2.0)


def test_joints_that_have_not_reported_are_named_one_by_one() -> None:
    world = taken(sample(turn=None))
    assert ("joint", "rover", "turn", "not_stated") in codes(world)
    assert not world.state.models[0].joints


def test_old_values_are_refused_by_name() -> None:
    old = {"table": {"map": heard((1.0, 0.0, 0.0), stamp_ns=NOW_NS - 2_000_000_000)}}
    with pytest.raises(StaleStateError, match=r"frame 'table' is 2\.000 s older"):
        live_world(WorldSample(NOW_NS, NOW_NS, (sample(),)), old, max_age_ns=1_000_000_000)


def test_the_age_of_a_frame_that_has_a_models_name_is_not_the_models() -> None:
    placed = {"odom": heard((1.0, 0.0, 0.0))}
    world = taken(
        sample(joint="planar"), base_link=placed, rover={"odom": heard((2.0, 0.0, 0.0), stamp_ns=NOW_NS - 70)}
    )
    assert ("frame", "", "rover", "ambiguous") in codes(world)
    assert [(age.name, age.age_ns) for age in world.ages if age.model is None] == [("rover", 0)]


@pytest.mark.parametrize(
    "frames", [{"rover::arm": "map"}, {"cup": "rover::arm"}, {"lid::top": "map", "tea": "lid::top"}]
)
def test_a_frame_with_the_name_of_a_model_s_link_is_left_out_and_named(frames: dict[str, str]) -> None:
    received = {child: {parent: heard((1.0, 0.0, 0.0))} for child, parent in {**frames, "good": "map"}.items()}
    world = live_world(
        WorldSample(NOW_NS, NOW_NS, (sample(),)), received, link_names={"lid::top"}, publishers=lambda: "/driver"
    )
    left_out = {item.name: item.detail for item in world.missing if item.code == "left_out"}
    assert set(left_out) == set(frames)
    assert all("(published by /driver)" in reason for reason in left_out.values())
    assert {frame.name for frame in world.state.frames} == {"good", "map"}
    write_world(world.state)
    resolve_frames(world.state)


def test_odometry_in_a_link_of_a_model_places_nothing() -> None:
    candidate = RootCandidate(RootSource.ODOMETRY, "/odom", "rover::arm")
    said = (RootStatement(candidate, np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])),)
    world = taken(sample(statements=said))
    assert world.state.models[0].pose is None
    assert ("pose", "rover", "", "left_out") in codes(world)
    resolve_frames(world.state)


def test_the_age_of_a_frame_above_the_world_is_not_that_of_a_joint_or_of_another_frame() -> None:
    robot = replace(sample(), received_ns=np.array([NOW_NS - 3]))
    world = taken(
        robot,
        world={"turn": heard((1.0, 0.0, 0.0), stamp_ns=NOW_NS - 7)},
        turn={"earth": heard((0.0, 1.0, 0.0), stamp_ns=NOW_NS - 9)},
        earth={"sun": heard((0.0, 0.0, 1.0), stamp_ns=None)},
        base_link={"turn": heard((4.0, 0.0, 0.0), stamp_ns=NOW_NS - 11)},
        table={"turn": heard((5.0, 0.0, 0.0), stamp_ns=NOW_NS - 13)},
    )
    ages = sorted((age.model or "", age.name, age.age_ns) for age in world.ages)
    # The pose of each frame above the world comes from the transform of the frame below it; a static one has no age.
    assert ages == [("", "earth", 9), ("", "rover", 11), ("", "table", 13), ("", "turn", 7), ("rover", "turn", 3)]


@pytest.mark.parametrize("named", [Source.AUTO, Source.TF])
def test_a_root_link_is_placed_by_the_link_that_is_fixed_to_it(named: Source) -> None:
    urdf = URDF.format(name="rover").replace(
        "</robot>",
        '<link name="foot"/><joint name="f" type="fixed"><parent link="base_link"/><child link="foot"/>'
        '<origin xyz="0 0 -0.5" rpy="0 0 0.7"/></joint><link name="ankle"/><joint name="k" type="fixed">'
        '<parent link="base_link"/><child link="ankle"/></joint></robot>',
    )
    model = robot_from_text(urdf)
    space = JointSpace.of(model)
    unknown = np.full(space.velocity_size, np.nan)
    robot = RobotSample(
        "rover",
        model,
        space,
        space.neutral(),
        unknown,
        unknown,
        np.zeros(1, np.bool_),
        np.array([NEVER_NS]),
        "",
        "p/",
        source=named,
        base_frames={"p/foot": "foot", "p/ankle": "ankle", "robot": "base_link", "p/base_link": "base_link"},
    )
    T_map_foot = heard((1.0, 2.0, 0.0), 0.5)
    expected = matrix((1.0, 2.0, 0.0), 0.5) @ np.linalg.inv(matrix((0.0, 0.0, -0.5), 0.7))
    by_foot = taken(robot, **{"p/foot": {"map": T_map_foot}})
    np.testing.assert_allclose(resolve_frames(by_foot.state).pose("rover", "map"), expected, atol=1e-12)
    assert by_foot.roots["rover"].on_tf
    # The root link's own transform has priority.
    both = taken(robot, **{"p/foot": {"map": T_map_foot}, "p/base_link": {"map": heard((7.0, 0.0, 0.0))}})
    np.testing.assert_allclose(
        resolve_frames(both.state).pose("rover", "map"), matrix((7.0, 0.0, 0.0), 0.0), atol=1e-12
    )
    # Then that of another name of the root link.
    links = {"p/foot": 5.0, "p/ankle": 6.0, "robot": 8.0}
    named_root = taken(robot, **{name: {"map": heard((x, 0.0, 0.0))} for name, x in links.items()})
    np.testing.assert_allclose(
        resolve_frames(named_root.state).pose("rover", "map"), matrix((8.0, 0.0, 0.0), 0.0), atol=1e-12
    )
    # A frame in it is in the robot.
    camera = taken(robot, camera={"robot": heard((0.0, 0.0, 1.0))})
    assert [(frame.name, frame.parent) for frame in camera.state.frames] == [("camera", "rover")]
    # The robot's own transforms do not place it.
    for link in ("p/base_link", "p/arm"):
        own = taken(robot, **{"p/foot": {link: T_map_foot}})
        assert own.state.models[0].pose is None
        assert not own.roots["rover"].on_tf
    mixed = taken(robot, **{"p/foot": {"p/base_link": T_map_foot, "map": T_map_foot}})
    assert mixed.state.models[0].pose is None


def test_a_single_frame_without_a_pose_is_the_world_unless_other_sources_have_frames() -> None:
    table = {"map": heard((1.0, 0.0, 0.0))}
    robots = WorldSample(NOW_NS, NOW_NS, (sample(),))

    def poses(world: LiveWorld) -> dict[str, Any]:
        return {frame.name: frame.pose and frame.pose.xyz_rpy for frame in world.state.frames}

    alone = live_world(robots, {"table": table})
    # The robot has no pose: it is in no frame.
    assert poses(alone) == {"map": (0.0,) * 6, "table": (1.0, *[0.0] * 5)}
    assert codes(alone) == {("pose", "rover", "", "not_stated")}
    for elsewhere in ("lab", "map"):
        other = live_world(robots, {"table": table}, elsewhere={elsewhere})
        expected: dict[str, Any] = {"table": (1.0, *[0.0] * 5)}
        assert poses(other) == (expected | {"map": None} if elsewhere == "lab" else expected)
        assert (("frame", "", "map", "not_stated") in codes(other)) == (elsewhere == "lab")
    said = (RootStatement(RootCandidate(RootSource.CHOSEN, "a parameter", WORLD), np.array([1.0, 0, 0, 0, 0, 0, 1])),)
    beside = live_world(WorldSample(NOW_NS, NOW_NS, (sample(statements=said),)), {"table": table})
    # The robot is in the world, so the pose of the other root is unknown.
    assert poses(beside)["map"] is None
    assert codes(beside) == {("frame", "", "map", "not_stated")}


@pytest.mark.parametrize("parent", ["odom", "zone"])
def test_the_frame_of_a_robot_without_a_pose_is_in_the_state(parent: str) -> None:
    world = taken(sample(joint="planar", parent=parent))
    assert [(frame.name, frame.parent) for frame in world.state.frames] == [(parent, WORLD)]


@pytest.mark.parametrize(
    ("parent", "child", "pose", "fault"),
    [
        ("map", "cup", [1, 2, 3, 0, 0, 0, 1], None),
        ("map", "cup", [1e9, -1e9, 0, 0.5, 0.5, 0.5, -0.5], None),
        ("map", "", [0, 0, 0, 0, 0, 0, 1], "its name is empty"),
        ("map", "cup ", [0, 0, 0, 0, 0, 0, 1], "its name, 'cup ', begins or ends with white space"),
        (" ", "cup", [0, 0, 0, 0, 0, 0, 1], "the name of its parent is blank"),
        ("a\x1b[b", "cup", [0, 0, 0, 0, 0, 0, 1],
         r"the name of its parent, 'a\x1b[b', has a control character"),
        ("map", "cup", [0, math.nan, 0, 0, 0, 0, 1], "its pose (0, nan, 0, 0, 0, 0, 1) is not finite"),
        ("map", "cup", [0, 0, 0, 0, 0, 0, -math.inf], "its pose (0, 0, 0, 0, 0, 0, -inf) is not finite"),
        ("map", "cup", [1e200, 0, 0, 0, 0, 0, 1],
         f"its position (1e+200, 0, 0, 0, 0, 0, 1) is farther away than {LARGEST:g} m"),
        ("map", "cup", [0, 1e200, 0, 1, 0, 0, 0],
         f"its position (0, 1e+200, 0, 1, 0, 0, 0) is farther away than {LARGEST:g} m"),
        ("map", "cup", [1e200, 0, 0, 0, 0, 0, 2],
         "its quaternion (1e+200, 0, 0, 0, 0, 0, 2) is not a rotation: the square of its length must be 0.99 to 1.01"),
    ],
)  # fmt: skip
def test_the_fault_of_a_transform_is_named(parent: str, child: str, pose: list[float], fault: str | None) -> None:
    assert transform_fault(parent, child, np.array(pose, np.float64)) == fault


def test_a_frame_that_was_left_out_before_is_named_with_its_reason() -> None:
    left_out = [LeftOutFrame("cup", "its pose is not finite")]
    world = live_world(WorldSample(NOW_NS, NOW_NS, (sample(),)), {}, left_out=left_out)
    (item,) = (item for item in world.missing if item.code == "left_out")
    assert (item.kind, item.model, item.name, item.detail) == ("frame", "", "cup", "its pose is not finite")


def test_the_number_of_links_without_a_twist_is_said() -> None:
    world = taken(sample(turn=(0.3, np.nan)))
    (item,) = (item for item in world.missing if item.kind == "links")
    assert (item.model, item.code) == ("rover", "not_stated")
    assert item.detail == "not all velocities are known, so 1 links have no twists"
    assert not [item for item in taken(sample(turn=(0.3, 1.0))).missing if item.kind == "links"]


def test_of_two_parents_of_a_frame_the_newest_is_used_and_the_others_are_named() -> None:
    parents = {
        "map": heard((1.0, 0.0, 0.0), stamp_ns=NOW_NS - 5),
        "lab": heard((2.0, 0.0, 0.0), stamp_ns=NOW_NS - 3),
        "hall": heard((3.0, 0.0, 0.0), stamp_ns=None),
    }
    world = taken(sample(), cup=parents)
    (cup,) = (frame for frame in world.state.frames if frame.name == "cup")
    assert cup.pose is not None
    assert (cup.parent, cup.pose.xyz_rpy[0]) == ("lab", 2.0)
    (item,) = (item for item in world.missing if item.name == "cup")
    assert (item.code, item.detail) == (
        "rivals", "the newest transform has it in 'lab'; others have it in 'hall', 'map'"
    )  # fmt: skip
    assert [(age.name, age.age_ns) for age in world.ages if age.model is None] == [("cup", 3)]


def test_a_frame_in_a_frame_with_a_model_s_name_is_ambiguous() -> None:
    world = taken(sample(), cup={"rover": heard((1.0, 0.0, 0.0))}, jug={"map": heard((2.0, 0.0, 0.0))})
    (item,) = (item for item in world.missing if item.name == "cup")
    assert (item.code, item.detail) == ("ambiguous", "a model has the name of its parent frame 'rover'")
    places = {frame.name: (frame.parent, frame.pose is None) for frame in world.state.frames}
    assert places == {"cup": (WORLD, True), "jug": ("map", False), "map": (WORLD, False)}


def test_a_robot_with_the_frame_world_on_a_link_is_placed_if_the_pose_of_this_link_is_known() -> None:
    on_arm = {"arm": heard((2.0, 0.0, 0.0), stamp_ns=NOW_NS - 4)}
    world = taken(sample(turn=(0.3, 0.0)), world=on_arm)
    expected = np.linalg.inv(matrix((0.5, 0.0, 0.2), 0.3) @ matrix((2.0, 0.0, 0.0), 0.0))
    np.testing.assert_allclose(resolve_frames(world.state).pose("rover"), expected, atol=1e-12)
    assert [(age.name, age.age_ns) for age in world.ages if age.model is None] == [("rover", 4)]
    assert not world.missing
    unknown = taken(sample(turn=None), world=on_arm)
    assert unknown.state.models[0].pose is None
    assert ("pose", "rover", "", "not_stated") in codes(unknown)
    # The order of the names of links makes no difference.
    model = robot_from_text(URDF.format(name="rover").replace("base_link", "a_root"))
    renamed = taken(replace(sample(turn=(0.3, 0.0)), model=model, space=JointSpace.of(model)), world=on_arm)
    np.testing.assert_allclose(resolve_frames(renamed.state).pose("rover"), expected, atol=1e-12)


def test_a_link_of_a_robot_is_no_frame() -> None:
    world = taken(sample(), arm={"map": heard((1.0, 0.0, 0.0))}, base_link={"map": heard((2.0, 0.0, 0.0))})
    assert [frame.name for frame in world.state.frames] == ["map"]


def test_only_the_frames_that_a_robot_stands_in_are_kept() -> None:
    received = {
        "base_link": {"odom": heard((1.0, 2.0, 0.0), 0.5, NOW_NS - 1)},
        "odom": {"map": heard((5.0, 0.0, 0.0), 1.0, NOW_NS - 2)},
        "cup": {"odom": heard((1.0, 0.0, 0.0), 0.0, NOW_NS - 3), "map": heard((1.0, 0.0, 0.0), 0.0, NOW_NS - 9)},
        "camera": {"arm": heard((0.0, 0.0, 1.0), 0.0, NOW_NS - 4)},
    }
    robots = WorldSample(NOW_NS, NOW_NS, (sample(turn=None),))
    whole, needed = (live_world(robots, received, all_frames=every) for every in (True, False))
    assert {frame.name for frame in whole.state.frames} == {"odom", "map", "cup", "camera"}
    assert {frame.name for frame in needed.state.frames} == {"odom", "map"}
    # What is missing and the ages are those of the bodies that are left.
    assert codes(whole) - codes(needed) == {("frame", "", "cup", "rivals"), ("frame", "", "camera", "not_stated")}
    assert codes(needed) == {("joint", "rover", "turn", "not_stated")}
    ages = {(age.model, age.name): age.age_ns for age in needed.ages}
    assert ages == {(None, "rover"): 1, (None, "odom"): 2}
    np.testing.assert_allclose(resolve_frames(needed.state).pose("rover"), resolve_frames(whole.state).pose("rover"))


def test_a_robot_in_a_circle_of_frames_has_a_place_in_a_frame_without_a_pose() -> None:
    circle = {"one": {"two": heard((1.0, 0.0, 0.0))}, "two": {"one": heard((1.0, 0.0, 0.0))}}
    world = taken(sample(), base_link={"one": heard((3.0, 0.0, 0.0))}, **circle)
    resolved = resolve_frames(world.state)
    np.testing.assert_allclose(resolved.pose("rover", "one"), matrix((3.0, 0.0, 0.0), 0.0), atol=1e-12)
    assert [item for item in codes(world) if item[-1] == "cycle"] == [("frame", "", "one", "cycle")]
    (item,) = (item for item in world.missing if item.code == "cycle")
    assert "TF goes round in a circle: 'one' in 'two' in 'one'" in str(item)


@pytest.mark.parametrize("root", ["b_link", "m_link", "z_link"])
def test_a_frame_is_on_the_model_itself_only_if_it_is_on_the_root_link(root: str) -> None:
    urdf = URDF.format(name="rover").replace("base_link", root).replace('"arm"', '"lift"')
    model = robot_from_text(urdf)
    space = JointSpace.of(model)
    q, v, known = space.neutral(), np.zeros(space.velocity_size), np.ones(len(space.joints), np.bool_)
    robot = RobotSample("rover", model, space, q, v, v, known, np.full(len(space.joints), NOW_NS), "", "")
    frames = taken(robot, one={root: heard((1.0, 0.0, 0.0))}, two={"lift": heard((2.0, 0.0, 0.0))}).state.frames
    assert {frame.name: (frame.parent, frame.parent_link) for frame in frames} == {
        "one": ("rover", None),
        "two": ("rover", "lift"),
    }
