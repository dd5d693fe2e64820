# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops in the simulators: every type of constraint, the closed start, and the rest against the solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation
from support.loops import FOUR_BAR, four_bar_positions, four_bar_text, srdf, urdf
from support.worlds import model_from_files, model_from_text

from robot_semantics import ForwardKinematics, RobotModel, write_world
from robot_semantics.base.errors import ArrayError
from robot_semantics.examples import example
from robot_semantics.model.loading import robot_from_text
from robot_semantics.simulation.drake_directives import directives_of
from robot_semantics.simulation.loading import start_simulator
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.mujoco_export import mjcf_of
from robot_semantics.simulation.sdf_export import sdf_of
from robot_semantics.simulation.sim_models import excluded_pairs
from robot_semantics.simulation.simulator import ControlMode, Simulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.usdf.reader import parse_world

FloatArray = npt.NDArray[np.float64]

ENGINES = {"mujoco": "mujoco", "drake": "pydrake"}
TITLES = {"mujoco": "MuJoCo", "drake": "Drake"}
INERTIAL = (
    '<inertial><origin xyz="{}"/><mass value="0.4"/>'
    '<inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>'
)
POINT, TURN = np.array((0.1, -0.2, 0.3)), (0.3, -0.2, 0.5)


def heavy(text: str, centre: str = "0.1 0 0") -> str:
    """Give every link of a text a mass."""
    lines = text.splitlines()
    return "\n".join(
        line.replace("/>", f">{INERTIAL.format(centre)}</link>") if "<link name" in line else line for line in lines
    )


def simulator(engine: str, model: ModelSpec) -> Simulator:
    pytest.importorskip(ENGINES[engine])
    return start_simulator(engine, WorldSpec((model,), ground=False), lambda _: None)


def pose(world: Simulator, link: str) -> FloatArray:
    """Return the pose (4, 4) of a link in the root link, as the engine has it."""
    (state,) = [each for each in world.capture().models[0].links if each.name == link]
    assert state.pose is not None
    T = np.eye(4)
    T[:3, 3], T[:3, :3] = state.pose.xyz_rpy[:3], Rotation.from_euler("xyz", state.pose.xyz_rpy[3:]).as_matrix()
    return T


# --- every type, on a body that could float


OFFSET = np.array((0.05, 0.1, -0.1))
AXIS, CHILD_AXIS = np.array((0.6, 0.0, 0.8)), np.array((0.8, 0.0, -0.6))


def frame(xyz: FloatArray) -> FloatArray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_euler("xyz", TURN).as_matrix(), xyz
    return T


def connected(kind: str) -> ModelSpec:
    """Return a base and a body that only a constraint holds."""
    words = "{} {} {}".format
    origin = '<{}_origin xyz="{}" rpy="{}"/>'.format
    axes = f'<parent_axis xyz="{words(*AXIS)}"/>' if kind in ("revolute", "prismatic", "universal") else ""
    axes += f'<child_axis xyz="{words(*CHILD_AXIS)}"/>' if kind == "universal" else ""
    text = urdf(
        f'<joint name="free" type="floating"><origin xyz="{words(*OFFSET)}"/>'
        '<parent link="base"/><child link="body"/></joint>',
        f'<constraint name="held" type="{kind}"><parent link="base"/>{axes}'
        f'{origin("parent", words(*POINT), words(*TURN))}<child link="body"/>'
        f"{origin('child', words(*(POINT - OFFSET)), words(*TURN))}</constraint>",
        links=("base", "body"),
    )
    return model_from_text("m", heavy(text), '<robot name="loop"/>')


def gap(kind: str, T_body: FloatArray) -> tuple[float, float]:
    """Return how far the constraint is open [m], [rad], by the equations of R4.7 in spec/urdf-1.2.md."""
    A, B = frame(POINT), T_body @ frame(POINT - OFFSET)
    apart, a = B[:3, 3] - A[:3, 3], A[:3, :3] @ AXIS
    turned = float(Rotation.from_matrix(A[:3, :3].T @ B[:3, :3]).magnitude())
    axes = float(np.arctan2(np.linalg.norm(np.cross(a, B[:3, :3] @ AXIS)), a @ B[:3, :3] @ AXIS))
    return {
        "spherical": (float(np.linalg.norm(apart)), 0.0),
        "revolute": (float(np.linalg.norm(apart)), axes),
        "universal": (float(np.linalg.norm(apart)), float(abs(np.arcsin(a @ B[:3, :3] @ CHILD_AXIS)))),
        "link": (float(np.linalg.norm(apart)), turned),
    }[kind]


NOT_HELD = {("mujoco", "prismatic"), ("drake", "prismatic")}


@pytest.mark.parametrize("kind", ["spherical", "revolute", "universal", "prismatic", "link"])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_keeps_a_constraint_and_leaves_its_freedom(engine: str, kind: str) -> None:
    world = simulator(engine, connected(kind))
    about = [note for note in map(str, world.notes) if "constraint 'held'" in note]
    if (engine, kind) in NOT_HELD:
        text = f"is not simulated, and its loop opens: {TITLES[engine]} has no {kind} constraint"
        assert about == [f"model 'm': constraint 'held' {text}"]
        return
    assert not about
    # Turn about the axis that the constraint leaves free.
    a = Rotation.from_euler("xyz", TURN).as_matrix() @ AXIS
    moving = (*np.cross(a, OFFSET - POINT), *a) if kind != "link" else (0.0,) * 6
    state = world.capture(motion_only=True)
    (model,) = state.models
    (free,) = model.joints
    changed = replace(model, joints=(replace(free, velocities=tuple(map(float, moving))),))
    assert world.restore(replace(state, models=(changed,))).applied
    before, worst = pose(world, "body"), np.zeros(2)
    for _ in range(25):
        world.step(10)
        worst = np.maximum(worst, gap(kind, pose(world, "body")))
    assert (worst < (1e-3, 5e-3)).all(), worst
    moved = np.abs(pose(world, "body") - before).max()
    assert moved < 1e-3 if kind == "link" else moved > 0.1


# --- closed start, rest and restart


def closed_by(world: Simulator, robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Return the present positions (size,), and the positions that the solver finds for the same driven joints."""
    kinematics = ForwardKinematics(robot)
    q = kinematics.space.neutral()
    for each in world.capture(motion_only=True).models[0].joints:
        q[kinematics.space.joint_positions[each.name]] = each.positions
    assert kinematics.loops is not None
    return q, kinematics.loops.close(q, kinematics.loops.near(q).q).q


def hanging_four_bar(motor: str = "0.05") -> ModelSpec:
    """Return a four-bar linkage in the x-z plane with damping in its joints."""
    text = heavy(four_bar_text()).replace("0.0 0.0 1.0", "0.0 -1.0 0.0")
    text = text.replace("</joint>", f'<dynamics damping="{motor}"/></joint>')
    return model_from_text("m", text, srdf("coupler", "rocker"))


def gripper() -> ModelSpec:
    return model_from_files("m", Path(example("gripper.urdf")), Path(example("gripper.srdf")))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_four_bar_starts_closed_and_stays_closed_while_its_crank_turns(engine: str) -> None:
    model = hanging_four_bar()
    world = simulator(engine, model)
    names = ("crank", "coupler", "rocker")
    q, _ = closed_by(world, model.robot)
    # The closed form: crank at its default 0, on one of the two sides.
    sides = [four_bar_positions((0.4, 0.1, 0.35, 0.3), np.zeros(1), side)[0] for side in (1.0, -1.0)]
    assert min(np.abs(q - side).max() for side in sides) < 1e-12
    motor = {joint.name: joint.is_commandable for joint in model.robot.joints if joint.name in names}
    assert motor == {"crank": True, "coupler": False, "rocker": False}
    with pytest.raises(ArrayError, match="it is passive: no motor drives it"):
        world.command("m", ControlMode.POSITION, {"rocker": 1.0})
    world.command("m", ControlMode.POSITION, {"crank": 1.0})
    for _ in range(20):
        world.step(50)  # 2 s
        q, closed = closed_by(world, model.robot)
        pin = [pose(world, "coupler_link") @ (0.35, 0, 0, 1), pose(world, "rocker_link") @ (0.3, 0, 0, 1)]
        assert np.linalg.norm(pin[0] - pin[1]) < 1e-3
        assert np.abs(q - closed).max() < 5e-3
    assert abs(q[0] - 1.0) < 1e-3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_gripper_closes_both_loops_for_two_seconds(engine: str) -> None:
    model = gripper()
    world = simulator(engine, model)
    world.command("m", ControlMode.POSITION, {"left_knuckle_joint": 0.5})
    for _ in range(20):
        world.step(50)
        q, closed = closed_by(world, model.robot)
        assert np.abs(q - closed).max() < 5e-3
    # Each finger is a parallelogram: all its joints have the angle of the motor.
    np.testing.assert_allclose(np.abs(q), 0.5, atol=5e-3)


def test_mujoco_at_rest_is_where_the_solver_closes_the_loop() -> None:
    model = hanging_four_bar()
    world = simulator("mujoco", model)
    # Without torque the crank and all links hang under their weight.
    world.command("m", ControlMode.EFFORT, {"crank": 0.0})
    start_q, _ = closed_by(world, model.robot)
    world.step(5000)
    q, closed = closed_by(world, model.robot)
    assert np.abs(q - start_q).max() > 0.5
    rates = [each.velocities or () for each in world.capture(motion_only=True).models[0].joints]
    assert np.abs(rates).max() < 1e-4
    assert np.abs(q - closed).max() < 1e-4
    assert np.abs(q - closed).max() > 0.0  # MuJoCo's constraint is soft: the solver's result is another one


@pytest.mark.parametrize("engine", ["mujoco", "drake"])
def test_a_captured_loop_is_restored_bit_for_bit_although_the_engine_opens_it_a_little(engine: str) -> None:
    model = hanging_four_bar()
    world, again = simulator(engine, model), simulator(engine, model)
    world.command("m", ControlMode.POSITION, {"crank": 1.0})
    world.step(40)
    q, closed = closed_by(world, model.robot)
    assert np.abs(q - closed).max() > 1e-9
    text = write_world(world.capture())
    report = again.restore(parse_world(text))
    assert report.exact
    assert write_world(again.capture()) == text
    for each in (world, again):
        each.step(40)
    assert write_world(again.capture()) == write_world(world.capture())


def test_a_state_of_another_engine_starts_with_closed_loops() -> None:
    model = hanging_four_bar()
    world, other = simulator("mujoco", model), simulator("mujoco", model)
    world.command("m", ControlMode.POSITION, {"crank": 1.0})
    world.step(40)
    state = replace(world.capture(), engines=())
    assert other.restore(state).applied
    q, closed = closed_by(other, model.robot)
    assert np.abs(q - closed).max() < 1e-12
    assert q[0] == closed_by(world, model.robot)[0][0]


def test_a_note_names_the_loops_whose_passive_joints_are_unknown() -> None:
    world = simulator("mujoco", model_from_text("m", heavy(four_bar_text())))
    (note,) = [note for note in map(str, world.notes) if "constraint" in note]
    assert note.startswith("model 'm': constraints 'pin' are not closed in the positions of a state: ")
    assert "'coupler'" in note
    assert "'rocker'" in note
    # All joints have motors. The neutral state is closed nevertheless, by moving any of them.
    q = [each.positions[0] for each in world.capture(motion_only=True).models[0].joints if each.positions]
    assert min(np.abs(q - four_bar_positions(FOUR_BAR, np.array(q[:1]), side)[0]).max() for side in (1, -1)) < 1e-9


def test_links_that_a_constraint_connects_do_not_collide() -> None:
    ball = '<collision><geometry><sphere radius="0.01"/></geometry></collision></link>'
    model = robot_from_text(heavy(four_bar_text()).replace("</link>", ball), srdf("coupler", "rocker"))
    pairs = {frozenset(pair[:2]) for pair in excluded_pairs(model, range(4))}
    # All pairs of the four links but those across the linkage are connected, by a joint or by the constraint.
    assert frozenset(("coupler_link", "rocker_link")) in pairs
    assert pairs.isdisjoint({frozenset(("base", "coupler_link")), frozenset(("crank_link", "rocker_link"))})


def test_an_export_has_the_loop_or_names_what_it_loses() -> None:
    model = gripper()
    world = simulator("mujoco", model)
    world.command("m", ControlMode.POSITION, {"left_knuckle_joint": 0.5})
    assert isinstance(world, MujocoSimulator)
    written = mujoco.MjModel.from_xml_string(mjcf_of(world))
    assert (written.eq_type == mujoco.mjtEq.mjEQ_CONNECT).sum() == 4
    data = mujoco.MjData(written)
    mujoco.mj_resetDataKeyframe(written, data, 0)
    mujoco.mj_step(written, data, 1000)
    np.testing.assert_allclose(np.abs(data.qpos), 0.5, atol=5e-3)
    state = world.capture()
    for lost in (sdf_of(world.spec, state).lost, directives_of(world.spec, state).lost):
        assert [each for each in lost if "constraint" in each] == [
            "model 'm': constraint 'left_loop': its loop opens",
            "model 'm': constraint 'right_loop': its loop opens",
        ]
