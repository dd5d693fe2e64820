# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The state of one engine is restored in every other: links have the same poses, and losses are reported."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.worlds import block, model_from_files, model_from_text, pose_at, rover

from robot_semantics import UnknownNameError, WorldState, write_world
from robot_semantics.base.errors import ArrayError
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.loading import ENGINES, start_simulator
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.simulator import ControlMode, Simulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.transforms.pose import Pose, pose_matrix
from robot_semantics.usdf.commands import JointCommand, commands_of, commands_state
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.robot import complete_model
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, ModelState

pytest.importorskip("pydrake", reason="Drake is not installed (pip install '.[drake]')")

PENDULUM = """<robot name="pendulum">
<link name="base"/>
<link name="arm"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tip"><inertial><mass value="0.1"/>
<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="follow" type="continuous"><parent link="arm"/><child link="tip"/><origin xyz="0 0 -1"/>
<axis xyz="0 1 0"/><mimic joint="swing" multiplier="-2" offset="0.1"/></joint></robot>"""

INERTIAL = """<inertial><origin xyz="0.02 0.01 -0.03" rpy="0.1 0.2 0.3"/><mass value="1"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0.002" iyz="0"/></inertial>
<collision><origin xyz="0.1 0 0"/><geometry><box size="0.1 0.2 0.1"/></geometry></collision>
<collision><origin xyz="-0.1 0 0"/><geometry><sphere radius="0.05"/></geometry></collision>"""
TABLE = f"""<robot name="table"><link name="base">{INERTIAL}</link><link name="mast">{INERTIAL}</link>
<link name="plate">{INERTIAL}</link><link name="edge">{INERTIAL}</link><link name="cup">{INERTIAL}</link>
<joint name="rise" type="prismatic"><parent link="base"/><child link="mast"/><origin xyz="0 0 1" rpy="0.2 0.1 0"/>
<axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="50" velocity="1"/>
<dynamics damping="2" friction="1"/></joint>
<joint name="slide" type="planar"><parent link="mast"/><child link="plate"/><origin xyz="0.3 0 0" rpy="0 0.4 0"/>
<axis xyz="0.6 0 0.8"/></joint>
<joint name="rim" type="fixed"><parent link="plate"/><child link="edge"/><origin xyz="0 0.2 0" rpy="1 0 0"/></joint>
<joint name="loose" type="floating"><parent link="edge"/><child link="cup"/><origin xyz="0 0 0.5" rpy="0 0 1"/></joint>
</robot>"""
"""Oblique joints with several variables in the middle of a robot, with off-centre bodies on them."""


def started(engine: str, *models: ModelSpec, ground: bool = True) -> Simulator:
    return start_simulator(engine, WorldSpec(models, ground=ground), lambda text: None)


def worlds(robots: Path) -> dict[str, tuple[ModelSpec, ...]]:
    panda, go2, pr2 = (robots / name for name in ("panda_description", "go2_description", "pr2_description"))
    return {
        "rover among blocks": (rover(), block("one"), block("two")),
        "panda": (model_from_files("panda", panda / "urdf/panda.urdf", panda / "srdf/panda.srdf"),),
        "go2": (model_from_files("go2", go2 / "urdf/go2.urdf", go2 / "srdf/go2.srdf", JointType.FLOATING),),
        "pr2": (model_from_files("pr2", pr2 / "urdf/pr2.urdf", pr2 / "srdf/pr2.srdf"),),
        "table that floats": (model_from_text("table", TABLE, base=JointType.FLOATING),),
        "table that slides": (model_from_text("table", TABLE, base=JointType.PLANAR),),
    }


def link_places(state: WorldState) -> dict[str, np.ndarray]:
    """Return where an engine says that every link is in the world."""
    placed = resolve_frames(state)
    return {
        f"{model.name}/{link.name}": placed.pose(model.name) @ pose_matrix(link.pose)
        for model in state.models
        for link in model.links
        if link.pose is not None
    }


def link_twists(state: WorldState) -> dict[str, tuple[float, ...]]:
    """Return how an engine says that every link moves."""
    return {f"{model.name}/{link.name}": link.twist or () for model in state.models for link in model.links}


WORLDS = ("rover among blocks", "panda", "go2", "pr2", "table that floats", "table that slides")


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("giver", sorted(ENGINES))
def test_every_engine_puts_links_where_another_had_them(robots: Path, world: str, giver: str) -> None:
    models = worlds(robots)[world]
    giving = started(giver, *models)
    giving.step(40)
    state = parse_world(write_world(giving.capture()))
    expected = link_places(state)
    assert len(expected) == sum(len(model.robot.links) for model in models)
    for taker in ENGINES:
        taking = started(taker, *models)
        report = taking.restore(state, partial=True)
        assert report.applied
        assert {item.kind for item in report.not_restored} <= {"command"}
        again = taking.capture()
        for name, T in link_places(again).items():
            np.testing.assert_allclose(T, expected[name], atol=1e-9, err_msg=f"{name}: {giver} to {taker}")
        expected_twists = link_twists(state)
        for name, twist in link_twists(again).items():
            np.testing.assert_allclose(twist, expected_twists[name], atol=1e-9, err_msg=f"{name}: {giver} to {taker}")
        for model, stated in zip(again.models, state.models, strict=True):
            joints = {joint.name: joint for joint in stated.joints}
            for joint in model.joints:
                np.testing.assert_allclose(joint.positions or (), joints[joint.name].positions or (), atol=1e-12)
                np.testing.assert_allclose(joint.velocities or (), joints[joint.name].velocities or (), atol=1e-12)


@pytest.mark.parametrize("world", ["rover among blocks", "go2", "table that floats"])
@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_what_is_restored_at_ten_stops_is_what_the_file_says(robots: Path, engine: str, world: str) -> None:
    models = worlds(robots)[world]
    giving, taking = started(engine, *models), started(engine, *models)
    for _ in range(10):
        giving.step(15)
        state = parse_world(write_world(giving.capture()))
        report = taking.restore(state)
        assert report.complete
        assert report.exact or any(note.startswith("not bit for bit") for note in report.notes)
        again = taking.capture()
        assert again.time_ns == state.time_ns
        assert again.frames == state.frames
        assert commands_of(again) == commands_of(state)
        for model, stated in zip(again.models, state.models, strict=True):
            T, T_stated = pose_matrix(model.pose), pose_matrix(stated.pose)
            np.testing.assert_allclose(T, T_stated, atol=1e-12)
            np.testing.assert_allclose(model.twist or (), stated.twist or (), atol=1e-12)
            for joint, of_file in zip(model.joints, stated.joints, strict=True):
                assert joint.name == of_file.name
                np.testing.assert_allclose(joint.positions or (), of_file.positions or (), atol=1e-12)
                np.testing.assert_allclose(joint.velocities or (), of_file.velocities or (), atol=1e-12)


@pytest.mark.parametrize("engine", ["drake", "mujoco"])
def test_an_edited_file_does_what_it_says_and_not_what_the_engines_state_beside_it_says(engine: str) -> None:
    simulator = started(engine, model_from_text("pendulum", PENDULUM), ground=False)
    simulator.step(5)
    state = parse_world(write_world(simulator.capture()))
    assert simulator.restore(state).exact
    report = simulator.restore(replace(state, time_ns=5_000_000_000))
    assert report.applied
    assert not report.exact
    assert simulator.capture().time_ns == 5_000_000_000
    (model,) = state.models
    report = simulator.restore(replace(state, models=(replace(model, pose=pose_at((1, 2, 3)), links=()),)))
    assert report.applied
    assert not report.exact
    np.testing.assert_allclose(resolve_frames(simulator.capture()).pose("pendulum")[:3, 3], (1, 2, 3), atol=1e-12)
    wanted = {JointCommand("pendulum", "swing", "position"): 0.25}
    engines = [each for each in state.engines if each.name == engine]
    report = simulator.restore(replace(state, engines=(*engines, commands_state(wanted))))
    assert report.applied
    assert not report.exact
    targets = simulator.data.ctrl if isinstance(simulator, MujocoSimulator) else commands_of(simulator.capture())[0]
    assert list(targets.values() if isinstance(targets, dict) else targets) == [0.25]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_block_comes_to_rest_on_the_floor_and_stays(engine: str) -> None:
    simulator = started(engine, block())
    simulator.step(1000)
    (landed,) = simulator.capture().models
    simulator.step(500)
    (later,) = simulator.capture().models
    assert landed.pose is not None
    assert later.pose is not None
    # The block's edges are 0.08 m long, its frame is in the middle.
    assert landed.pose.xyz_rpy[2] == pytest.approx(0.04, abs=2e-3)
    np.testing.assert_allclose(later.pose.xyz_rpy, landed.pose.xyz_rpy, atol=1e-4)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_an_object_is_put_where_the_link_that_carries_it_is(engine: str) -> None:
    arm, held = model_from_text("pendulum", PENDULUM), block("held")
    simulator = started(engine, arm, held, ground=False)
    swung = ModelState("pendulum", pose=pose_at((0, 0, 1)), joints=(JointState("swing", (np.pi / 2,), (0.0,)),))
    carried = ModelState("held", parent="pendulum", parent_link="arm", pose=pose_at((0, 0, -0.7)))
    report = simulator.restore(parse_world(write_world(WorldState(models=(swung, carried)))))
    assert report.complete, report.message
    # The arm hangs along -z of its link, which is -x of the world after a quarter turn about y.
    placed = resolve_frames(simulator.capture())
    np.testing.assert_allclose(placed.pose("held")[:3, 3], (-0.7, 0.0, 1.0), atol=1e-9)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_pose_alone_keeps_the_twist_in_the_axes_of_the_world_and_says_so(engine: str) -> None:
    simulator = started(engine, block(), ground=False)
    twist = (0.5, 0.0, 0.0, 0.0, 2.0, 3.0)
    assert simulator.restore(WorldState(models=(ModelState("block", pose=pose_at((0, 0, 1)), twist=twist),))).complete
    turned = Pose((1.0, 2.0, 3.0, np.pi / 2, 0.25, 1.0))
    report = simulator.restore(WorldState(models=(ModelState("block", pose=turned),)))
    assert report.complete
    assert "model 'block': its twist is not stated; it is kept in the axes of 'world'" in report.notes
    (model,) = simulator.capture().models
    assert model.twist is not None
    np.testing.assert_allclose(model.twist, twist, atol=1e-12)
    np.testing.assert_allclose(pose_matrix(model.pose), pose_matrix(turned), atol=1e-12)


def test_an_object_on_a_link_of_unknown_pose_is_named_and_the_rest_is_restored() -> None:
    simulator = started("mujoco", model_from_text("pendulum", PENDULUM), block("held"), ground=False)
    swung = ModelState("pendulum", pose=pose_at((0, 0, 1)))
    carried = ModelState("held", parent="pendulum", parent_link="nothing", pose=pose_at((0, 0, -0.7)))
    state = WorldState(models=(swung, carried), frames=(Frame("lid", "held", pose_at((0, 0, 1))),))
    report = simulator.restore(state, partial=True)
    assert {(item.kind, item.model or item.name) for item in report.not_restored} == {
        ("pose", "held"),
        ("frame", "lid"),
    }
    assert report.applied
    assert resolve_frames(simulator.capture()).pose("pendulum")[2, 3] == 1.0
    assert not simulator.restore(state).applied


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_frame_on_a_link_is_captured_on_that_link_and_moves_with_it(engine: str) -> None:
    simulator = started(engine, model_from_text("pendulum", PENDULUM), block(), ground=False)
    swung = ModelState("pendulum", pose=pose_at((0, 0, 1)), joints=(JointState("swing", (np.pi / 2,), (0.0,)),))
    camera = Frame("camera", "pendulum", pose_at((0, 0, -0.7)), parent_link="arm")
    lens = Frame("lens", "camera", pose_at((0, 0.25, 0)))
    report = simulator.restore(parse_world(write_world(WorldState(models=(swung,), frames=(camera, lens)))))
    assert report.complete, report.message
    captured = simulator.capture()
    frame = captured.frame("camera")
    assert (frame.parent, frame.parent_link, frame.pose) == ("pendulum", "arm", camera.pose)
    # The arm hangs along -z of its link, which is -x of the world after a quarter turn about y.
    np.testing.assert_allclose(resolve_frames(captured).pose("lens")[:3, 3], (-0.7, 0.25, 1.0), atol=1e-9)
    down = replace(swung, joints=(JointState("swing", (0.0,), (0.0,)),))
    assert simulator.restore(WorldState(models=(down,))).complete
    np.testing.assert_allclose(resolve_frames(simulator.capture()).pose("lens")[:3, 3], (0.0, 0.25, 0.3), atol=1e-9)
    assert {f.name for f in simulator.capture(motion_only=True).frames} == {"camera", "lens"}
    resolve_frames(simulator.capture(motion_only=True))
    assert simulator.capture(["block"]).frames == ()


@pytest.mark.parametrize("engine", ["drake", "mujoco"])
@pytest.mark.parametrize("stop", [1, 30, 90])
def test_an_engine_continues_its_own_state_bit_for_bit(engine: str, stop: int) -> None:
    models = (rover(), block("one"), block("two"))
    whole = started(engine, *models)
    whole.step(stop)
    state = parse_world(write_world(whole.capture()))
    whole.step(20)
    later = started(engine, *models)
    report = later.restore(state)
    assert report.exact, report.notes
    later.step(20)
    assert write_world(later.capture()) == write_world(whole.capture())


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_block_falls_as_bodies_fall(engine: str) -> None:
    simulator = started(engine, block(), ground=False)
    before = simulator.capture().models[0].pose
    simulator.step(100)
    (after,) = simulator.capture().models
    assert simulator.time_ns == 200_000_000
    assert before is not None
    assert after.pose is not None
    # Steps of 2 ms change the velocity first: n (n + 1) / 2 of them.
    fallen = 9.81 * 0.002**2 * 100 * 101 / 2
    assert before.xyz_rpy[2] - after.pose.xyz_rpy[2] == pytest.approx(fallen, rel=1e-3)
    assert after.twist is not None
    assert after.twist[2] == pytest.approx(-9.81 * 0.2, rel=1e-6)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_mimic_joint_follows_while_its_leader_moves(engine: str) -> None:
    simulator = started(engine, model_from_text("pendulum", PENDULUM), ground=False)
    (command,) = [JointCommand("pendulum", "swing", "position")]
    state = simulator.capture()
    assert simulator.restore(WorldState(models=state.models, engines=(commands_state({command: 0.5}),))).applied
    simulator.step(600)
    (model,) = simulator.capture().models
    positions = {joint.name: joint.positions for joint in model.joints}
    assert positions["swing"] == pytest.approx((0.5,), abs=0.02)
    assert positions["swing"] is not None
    assert positions["follow"] == pytest.approx((0.1 - 2.0 * positions["swing"][0],), abs=5e-3)


def test_an_engine_of_position_servos_says_which_commands_it_cannot_take() -> None:
    simulator = started("drake", model_from_text("pendulum", PENDULUM))
    state = simulator.capture()
    commands = {JointCommand("pendulum", "swing", "velocity"): 1.0, JointCommand("pendulum", "follow", "position"): 1.0}
    report = simulator.restore(WorldState(models=state.models, engines=(commands_state(commands),)))
    assert not report.applied
    assert [str(item) for item in report.not_restored] == [
        "model 'pendulum': command 'swing': the motors of this engine take positions, no velocity",
        "model 'pendulum': command 'follow': it mimics 'swing': command that one",
    ]
    muscles = EngineState("mujoco-keyframe", "1", {"act": (0.5,)})
    report = simulator.restore(WorldState(models=state.models, engines=(muscles,)))
    assert not report.applied
    assert "0 controls and 1 activations are of actuators that this simulator does not have" in report.message
    given, unknown = commands_of(simulator.capture())
    assert (given, unknown) == ({JointCommand("pendulum", "swing", "position"): 0.0}, ())


def test_a_state_of_another_world_is_not_continued_but_set(robots: Path) -> None:
    state = started("drake", block("one")).capture()
    other = started("drake", block("one"), ground=False)
    report = other.restore(state)
    assert report.applied
    assert not report.exact
    assert any("another world" in note for note in report.notes)


def test_links_of_a_drake_world_are_where_our_kinematics_has_them() -> None:
    simulator = started("drake", rover())
    (model,) = simulator.capture().models
    robot = rover().robot
    bare = complete_model(replace(model, links=()), robot)
    poses = {link.name: link.pose for link in bare.links}
    for link in model.links:
        assert link.pose is not None
        known = poses[link.name]
        assert known is not None
        np.testing.assert_allclose(link.pose.xyz_rpy, known.xyz_rpy, atol=1e-12)


def test_the_demo_carries_a_falling_robot_through_every_engine() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "demo.engines"], cwd=root, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "demo: ok" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[:1] and line.split()[0] in ENGINES]
    assert {row[0] for row in rows} == ENGINES.keys()
    for row in rows:
        # The trunk falls like a stone, except for the effect of the legs.
        fallen = 9.81 * float(row[2]) ** 2 / 2
        assert 1.8 - float(row[3]) == pytest.approx(fallen, abs=0.02)
        assert float(row[4]) == pytest.approx(9.81 * float(row[2]), rel=0.05)


def test_an_unknown_engine_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="drake"):
        started("drke", block())


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_commanded_position_is_reached_and_a_reset_takes_everything_back(engine: str) -> None:
    simulator = started(engine, rover())
    (name,) = simulator.model_names
    before = simulator.capture(motion_only=True).models
    simulator.command(name, ControlMode.POSITION, {"wrist_joint": 0.5, "elbow_joint": 0.8})
    simulator.step(1500)
    rover_now = simulator.capture().model(name)
    assert rover_now.joint("wrist_joint").positions == pytest.approx((0.5,), abs=1e-3)
    assert rover_now.joint("elbow_joint").positions == pytest.approx((0.8,), abs=1e-3)
    with pytest.raises(UnknownNameError, match="wrist_joint"):
        simulator.command(name, ControlMode.POSITION, {"wrist_joit": 0.5})
    with pytest.raises(ArrayError, match="passive"):
        simulator.command(name, ControlMode.POSITION, {"caster_swivel_joint": 0.5})
    if engine != "mujoco":
        with pytest.raises(ArrayError, match="take positions, no velocity"):
            simulator.command(name, ControlMode.VELOCITY, {"wrist_joint": 0.5})
    simulator.reset()
    again = simulator.capture(motion_only=True).models
    assert [(model.pose, model.joints) for model in again] == [(model.pose, model.joints) for model in before]
    assert simulator.time_ns == 0


BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
FLOATING_MIMIC = f"""<robot name="m"><link name="base"/><link name="c">{BODY}</link><link name="d">{BODY}</link>
<joint name="f" type="floating"><parent link="base"/><child link="c"/></joint>
<joint name="ff" type="floating"><parent link="base"/><child link="d"/><mimic joint="f" multiplier="2" offset="0.5"/>
</joint></robot>"""


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_captured_floating_follower_turns_as_its_leader(engine: str) -> None:
    simulator = started(engine, model_from_text("m", FLOATING_MIMIC), ground=False)
    lead = JointState("f", (0.1, 0.2, 0.3, 0.0, 0.6, 0.0, 0.8), (1.0, 2.0, 3.0, 0.5, 0.25, -1.0))
    assert simulator.restore(WorldState(models=(ModelState("m", pose=pose_at((0, 0, 0)), joints=(lead,)),))).complete
    follower = simulator.capture().model("m").joint("ff")
    assert follower.positions == pytest.approx((0.7, 0.9, 1.1, 0.0, 0.6, 0.0, 0.8), abs=1e-12)
    assert follower.velocities == pytest.approx((2.0, 4.0, 6.0, 0.5, 0.25, -1.0), abs=1e-12)
