# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints recovered from links alone, for every type of joint."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from robot_semantics import ForwardKinematics, RobotModel, WorldState
from robot_semantics.examples import example
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.transforms import quat_angle
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.recover import (
    Sighting,
    UnobservableError,
    leader_position,
    recover_joints,
    to_joint_positions,
)
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.world_state import JointState, LinkState, ModelState

LIMIT = '<limit lower="-3" upper="3" effort="1" velocity="1"/>'
TYPES = {
    "turn": f'type="revolute"><axis xyz="1 2 3"/>{LIMIT}',
    "spin": 'type="continuous"><axis xyz="0 1 0"/>',
    "slide": f'type="prismatic"><axis xyz="1 0 1"/>{LIMIT}',
    "plane": 'type="planar"><axis xyz="0 1 1"/>',
    "free": 'type="floating">',
    "stiff": 'type="fixed">',
    "copy": f'type="revolute"><axis xyz="0 0 1"/>{LIMIT}<mimic joint="turn" multiplier="-0.5" offset="0.2"/>',
}


def chain() -> RobotModel:
    links = "".join(f'<link name="{name}_link"/>' for name in ("base", *TYPES))
    parents = ["base", *TYPES]
    joints = "".join(
        f'<joint name="{name}" {text}<parent link="{parent}_link"/><child link="{name}_link"/>'
        '<origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/></joint>'
        for (name, text), parent in zip(TYPES.items(), parents, strict=False)
    )
    return robot_from_text(f'<robot name="chain">{links}{joints}</robot>')


@pytest.fixture(scope="module")
def robot() -> RobotModel:
    return chain()


def same(robot: RobotModel, first: np.ndarray, second: np.ndarray) -> bool:
    """Tell whether two positions are the same, q and -q being one rotation."""
    for joint in ForwardKinematics(robot).space.joints:
        where = ForwardKinematics(robot).space.joint_positions[joint.name]
        a, b = first[where], second[where]
        if joint.type is JointType.FLOATING:
            if quat_angle(a[3:], b[3:]) > 1e-9:
                return False
            a, b = a[:3], b[:3]
        if np.abs(a - b).max() > 1e-9:
            return False
    return True


@pytest.mark.parametrize("seed", range(20))
def test_every_type_of_joint_is_recovered_from_link_poses_alone(robot: RobotModel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinematics = ForwardKinematics(robot)
    q, v = kinematics.space.random(rng), rng.normal(size=kinematics.space.velocity_size)
    full = from_joint_positions(kinematics.model, q, v)
    bare = replace(full, joints=())
    assert same(robot, to_joint_positions(bare, robot), q)
    recovered, reasons = recover_joints(bare, robot)
    assert reasons == {}
    for joint in full.joints:
        found = recovered.joint(joint.name)
        np.testing.assert_allclose(np.array(found.velocities), np.array(joint.velocities), atol=1e-9)
    # Without the root link too, whose pose is the model's own, and without links that are fixed to others.
    fewer = replace(bare, links=tuple(link for link in full.links if link.name not in ("base_link", "stiff_link")))
    assert same(robot, to_joint_positions(fewer, robot), q)


def test_a_virtual_joint_is_recovered_from_the_models_pose() -> None:
    rover = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
    kinematics = ForwardKinematics(rover)
    q = kinematics.space.random(np.random.default_rng(0))
    state = replace(from_joint_positions(kinematics.model, q), joints=())
    assert same(rover, to_joint_positions(state, rover), q)
    with pytest.raises(UnobservableError, match="has no pose of the model"):
        to_joint_positions(replace(state, pose=None), rover)


def test_what_is_stated_wins_and_places_links_that_are_not(robot: RobotModel) -> None:
    kinematics = ForwardKinematics(robot)
    q = kinematics.space.random(np.random.default_rng(1))
    full = from_joint_positions(kinematics.model, q)
    # `turn_link` is known by the stated joint alone, and so `spin` is observable.
    state = replace(
        full,
        links=tuple(link for link in full.links if link.name != "turn_link"),
        joints=(full.joint("turn"),),
    )
    assert same(robot, to_joint_positions(state, robot), q)


def test_a_leader_is_recovered_from_the_joint_that_mimics_it(robot: RobotModel) -> None:
    q = ForwardKinematics(robot).space.random(np.random.default_rng(2))
    full = from_joint_positions(robot, q)
    state = replace(
        full,
        links=tuple(link for link in full.links if link.name not in ("turn_link", "base_link")),
        joints=tuple(joint for joint in full.joints if joint.name in ("slide", "plane", "free")),
    )
    recovered, reasons = recover_joints(state, robot)
    assert reasons == {}
    assert recovered.joint("turn").positions == pytest.approx(full.joint("turn").positions)
    assert recovered.joint("spin").positions == pytest.approx(full.joint("spin").positions)


def test_a_leader_follows_from_several_joints_with_rules_of_their_own() -> None:
    sightings = [
        Sighting(name, factor * 0.2 + offset, factor, offset, repeats=False, lower=-3.0, upper=3.0)
        for name, factor, offset in (("one", 2.0, 0.1), ("two", -1.0, 0.3), ("still", 0.0, 0.7))
    ]
    found = leader_position(sightings, 1e-9)
    assert found.value == pytest.approx(0.2)
    assert found.residual == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("offset", [-1000.0, 0.0, 1000.0])
def test_an_angle_of_a_leader_is_the_nearest_to_zero_however_far_its_follower_is_off(offset: float) -> None:
    follower = Sighting("one", 0.5, 1.0, offset, repeats=True, lower=-math.inf, upper=math.inf)
    found = leader_position([follower], 1e-9)
    assert found.value == pytest.approx(math.remainder(0.5 - offset, 2.0 * math.pi), abs=1e-9)


def test_joints_that_cannot_be_observed_are_all_named(robot: RobotModel) -> None:
    full = from_joint_positions(robot, ForwardKinematics(robot).space.random(np.random.default_rng(3)))
    hidden = replace(full, joints=(), links=tuple(link for link in full.links if link.name != "slide_link"))
    with pytest.raises(UnobservableError) as caught:
        to_joint_positions(hidden, robot)
    assert set(caught.value.reasons) == {"slide", "plane"}
    assert "'slide' is neither stated nor between two links whose poses are known" in str(caught.value)
    recovered, reasons = recover_joints(hidden, robot)
    assert set(reasons) == {"slide", "plane"}
    assert {joint.name for joint in recovered.joints} == {"turn", "spin", "free", "copy"}
    with pytest.raises(UnobservableError):
        to_joint_positions(ModelState("chain"), robot)


def test_poses_that_no_position_makes_are_refused_with_the_distance(robot: RobotModel) -> None:
    full = from_joint_positions(robot, ForwardKinematics(robot).space.neutral())
    links = []
    for link in full.links:
        assert link.pose is not None
        x, *rest = link.pose.xyz_rpy
        links.append(replace(link, pose=Pose((x + 0.25, *rest))) if link.name == "spin_link" else link)  # type: ignore[arg-type]
    with pytest.raises(UnobservableError, match=r"'spin' comes no nearer to the poses of its links than 0\.25 m"):
        to_joint_positions(replace(full, links=tuple(links), joints=()), robot)


def test_joint_states_the_robot_does_not_have_are_kept(robot: RobotModel) -> None:
    full = from_joint_positions(robot, ForwardKinematics(robot).space.neutral())
    strange = JointState("strange", (1.0,))
    assert recover_joints(replace(full, joints=(strange,)), robot)[0].joints[-1] == strange


RACK = """<robot name="drive"><link name="base"/><link name="pinion"/><link name="rack"/><link name="gear"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="pinion"/><axis xyz="0 0 1"/></joint>
<joint name="push" type="prismatic"><parent link="base"/><child link="rack"/><axis xyz="1 0 0"/>
 <limit lower="-9" upper="9" effort="1" velocity="1"/><mimic joint="turn" multiplier="0.1"/></joint>
<joint name="slow" type="continuous"><parent link="base"/><child link="gear"/><axis xyz="0 0 1"/>
 <mimic joint="turn" multiplier="-0.2" offset="0.5"/></joint></robot>"""
ANGLE = 13.066
"""Of the pinion: two turns and a half radian."""


def drive(links: dict[str, float]) -> ModelState:
    """Return a state of link poses alone, by link: an angle, of the rack the distance."""
    poses = {
        link: Pose((value, 0.0, 0.0, 0.0, 0.0, 0.0) if link == "rack" else (0.0, 0.0, 0.0, 0.0, 0.0, value))
        for link, value in links.items()
    }
    return ModelState("drive", "world", Pose((0.0,) * 6), links=tuple(LinkState(*item) for item in poses.items()))


SEEN = {"pinion": ANGLE - 4.0 * np.pi, "rack": 0.1 * ANGLE, "gear": -0.2 * ANGLE + 0.5}


@pytest.mark.parametrize(
    "seen", [("pinion", "rack"), ("rack",), ("pinion", "gear"), ("gear",), ("rack", "gear"), ("pinion", "rack", "gear")]
)
def test_the_turns_of_a_leader_follow_from_the_joints_that_mimic_it(seen: tuple[str, ...]) -> None:
    robot = robot_from_text(RACK)
    recovered, reasons = recover_joints(drive({link: SEEN[link] for link in seen}), robot)
    assert reasons == {}
    found = {joint.name: joint.positions for joint in recovered.joints}
    for name, expected in (("turn", ANGLE), ("push", 0.1 * ANGLE), ("slow", -0.2 * ANGLE + 0.5)):
        assert found[name] == pytest.approx((expected,), abs=1e-9), name


def test_turns_that_no_follower_tells_are_the_nearest_to_zero() -> None:
    recovered, _ = recover_joints(drive({"pinion": SEEN["pinion"]}), robot_from_text(RACK))
    assert recovered.joint("turn").positions == pytest.approx((ANGLE - 4.0 * np.pi,), abs=1e-12)


def test_links_that_disagree_about_a_leader_are_refused_with_the_distance() -> None:
    robot = robot_from_text(RACK)
    recovered, reasons = recover_joints(drive({"pinion": SEEN["pinion"], "rack": 0.1 * ANGLE + 0.02}), robot)
    assert {joint.name for joint in recovered.joints} == set()
    assert reasons["push"] == reasons["turn"]
    assert "'push' is 0.02 away from where its leader takes it" in reasons["turn"]


def test_a_link_that_contradicts_the_pose_of_its_virtual_leader_is_refused_with_the_distance() -> None:
    urdf = (
        '<robot name="m"><link name="base"/><link name="f"/><joint name="fol" type="planar"><parent link="base"/>'
        '<child link="f"/><axis xyz="0 0 1"/><mimic joint="v" multiplier="2"/></joint></robot>'
    )
    srdf = '<robot name="m"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="base"/></robot>'
    robot = robot_from_text(urdf, srdf, strict=False)
    state = ModelState("m", "odom", Pose((1.0, 2.0, 0.0, 0.0, 0.0, 0.5)))
    there = replace(state, links=(LinkState("f", Pose((2.0, 4.0, 0.0, 0.0, 0.0, 1.0))),))
    assert to_joint_positions(there, robot) == pytest.approx([1.0, 2.0, 0.5, 2.0, 4.0, 1.0])
    elsewhere = replace(state, links=(LinkState("f", Pose((9.0, 4.0, 0.0, 0.0, 0.0, 1.0))),))
    with pytest.raises(UnobservableError, match="'fol' is 7 away from where its leader takes it"):
        to_joint_positions(elsewhere, robot)


@pytest.mark.parametrize("is_stated", [False, True])
def test_a_follower_with_multiplier_0_does_not_determine_its_leader(is_stated: bool) -> None:
    robot = robot_from_text(RACK.replace('multiplier="0.1"', 'multiplier="0" offset="0.3"'))
    state = replace(drive({}), joints=(JointState("push", (0.3,)),)) if is_stated else drive({"rack": 0.3})
    recovered, reasons = recover_joints(state, robot)
    assert {joint.name: joint.positions for joint in recovered.joints} == {"push": pytest.approx((0.3,))}
    assert set(reasons) == {"turn", "slow"}


def test_disagreeing_followers_are_refused_beside_a_leader_without_a_determined_position() -> None:
    # The first leader, by the names of its followers, has a follower with multiplier 0.
    idle = (
        '<link name="one"/><link name="idle"/>'
        '<joint name="one" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/></joint>'
        '<joint name="idle" type="continuous"><parent link="base"/><child link="idle"/><axis xyz="0 0 1"/>'
        '<mimic joint="one" multiplier="0" offset="0.3"/></joint>'
    )
    robot = robot_from_text(RACK.replace('<joint name="turn"', idle + '<joint name="turn"'))
    assert [joint.name for joint in robot.joints][1:4] == ["idle", "one", "push"]
    disagreeing = drive({"idle": 0.3, "gear": SEEN["gear"], "rack": SEEN["rack"] + 0.02})
    recovered, reasons = recover_joints(disagreeing, robot)
    assert {joint.name for joint in recovered.joints} == {"idle"}
    assert set(reasons) == {"one", "push", "slow", "turn"}
    assert "away from where its leader takes it" in reasons["push"]


@pytest.mark.parametrize("engine", ["mujoco", "drake"])
def test_every_engine_starts_with_the_same_turns(engine: str) -> None:
    pytest.importorskip({"drake": "pydrake"}.get(engine, engine))
    from support.worlds import model_from_text

    from robot_semantics.simulation.loading import start_simulator
    from robot_semantics.simulation.world_spec import WorldSpec

    world = start_simulator(engine, WorldSpec((model_from_text("drive", RACK),), ground=False), lambda text: None)
    assert world.restore(WorldState(models=(drive(SEEN),))).complete
    (model,) = world.capture().models
    found = {joint.name: joint.positions for joint in model.joints}
    for name, expected in (("turn", ANGLE), ("push", 0.1 * ANGLE), ("slow", -0.2 * ANGLE + 0.5)):
        assert found[name] == pytest.approx((expected,), abs=1e-9), name
    assert world.restore(WorldState(models=(drive({"pinion": 0.5, "rack": 0.2}),))).not_restored


def test_the_angle_of_a_leader_fits_all_followers_even_if_another_one_is_nearer_to_zero() -> None:
    # Each follower shows its angle without whole turns. The first alone fits 2.5 - pi as well, which is nearer to zero.
    followers = [
        Sighting(name, math.remainder(factor * 2.5, 2.0 * math.pi), factor, 0.0, True, -math.inf, math.inf)
        for name, factor in (("one", 2.0), ("two", 3.0))
    ]
    found = leader_position(followers, 1e-9)
    assert found.value == pytest.approx(2.5, abs=1e-9)
    assert found.residual == pytest.approx(0.0, abs=1e-9)
