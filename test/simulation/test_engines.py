"""What one engine captures, every other is put into: links stand where they stood, and what is lost is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.worlds import block, model_from_files, model_from_text, rover

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.convert.commands import Command, commands_of, commands_state
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.engines import ENGINES, start
from robot_semantics.simulation.simulator import Simulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.poses import pose_matrix
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.robot import complete
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world

pytest.importorskip("pydrake", reason="Drake is not installed (pip install 'robot_semantics[drake]')")

PENDULUM = """<robot name="pendulum">
<link name="base"/>
<link name="arm"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tip"><inertial><mass value="0.1"/>
<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="follow" type="continuous"><parent link="arm"/><child link="tip"/><origin xyz="0 0 -1"/>
<axis xyz="0 1 0"/><mimic joint="swing" multiplier="-2" offset="0.1"/></joint></robot>"""


def started(engine: str, *models: ModelSpec, ground: bool = True) -> Simulator:
    return start(engine, WorldSpec(models, ground=ground), lambda text: None)


def worlds(robots: Path) -> dict[str, tuple[ModelSpec, ...]]:
    panda, go2, pr2 = (robots / name for name in ("panda_description", "go2_description", "pr2_description"))
    return {
        "rover among blocks": (rover(), block("one"), block("two")),
        "panda": (model_from_files("panda", panda / "urdf/panda.urdf", panda / "srdf/panda.srdf"),),
        "go2": (model_from_files("go2", go2 / "urdf/go2.urdf", go2 / "srdf/go2.srdf", JointType.FLOATING),),
        "pr2": (model_from_files("pr2", pr2 / "urdf/pr2.urdf", pr2 / "srdf/pr2.srdf"),),
    }


def link_places(state: WorldState) -> dict[str, np.ndarray]:
    """Return where an engine says that every link is in the world."""
    placed = resolve(state)
    return {
        f"{model.name}/{link.name}": placed.pose(model.name) @ pose_matrix(link.pose)
        for model in state.models
        for link in model.links
        if link.pose is not None
    }


WORLDS = ("rover among blocks", "panda", "go2", "pr2")


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
        for model, stated in zip(again.models, state.models, strict=True):
            joints = {joint.name: joint for joint in stated.joints}
            for joint in model.joints:
                np.testing.assert_allclose(joint.positions or (), joints[joint.name].positions or (), atol=1e-12)
                np.testing.assert_allclose(joint.velocities or (), joints[joint.name].velocities or (), atol=1e-12)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("stop", [1, 30, 90])
def test_every_engine_continues_its_own_state_bit_for_bit(engine: str, stop: int) -> None:
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
    (command,) = [Command("pendulum", "swing", "position")]
    state = simulator.capture()
    assert simulator.restore(WorldState(models=state.models, engines=(commands_state({command: 0.5}),))).applied
    simulator.step(600)
    (model,) = simulator.capture().models
    positions = {joint.name: joint.positions for joint in model.joints}
    assert positions["swing"] == pytest.approx((0.5,), abs=0.02)
    assert positions["swing"] is not None
    assert positions["follow"] == pytest.approx((0.1 - 2.0 * positions["swing"][0],), abs=5e-3)


def test_drake_says_which_commands_it_cannot_take() -> None:
    simulator = started("drake", model_from_text("pendulum", PENDULUM))
    state = simulator.capture()
    commands = {Command("pendulum", "swing", "velocity"): 1.0, Command("pendulum", "follow", "position"): 1.0}
    report = simulator.restore(WorldState(models=state.models, engines=(commands_state(commands),)))
    assert not report.applied
    assert [str(item) for item in report.not_restored] == [
        "model 'pendulum': command 'swing': the motors of this engine take positions, no velocity",
        "model 'pendulum': command 'follow': it mimics 'swing': command that one",
    ]
    given, unknown = commands_of(simulator.capture())
    assert (given, unknown) == ({Command("pendulum", "swing", "position"): 0.0}, ())


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
    bare = complete(replace(model, links=()), ForwardKinematics(robot))
    poses = {link.name: link.pose for link in bare.links}
    for link in model.links:
        assert link.pose is not None
        known = poses[link.name]
        assert known is not None
        np.testing.assert_allclose(link.pose.xyz_rpy, known.xyz_rpy, atol=1e-12)


def test_an_unknown_engine_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="drake"):
        started("drke", block())
