# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The compiled model is the described robot: kinematics, masses and joint inertia as pinocchio has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from support.worlds import block, find_mesh_beside, model_from_files, model_from_text, rover, world

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.examples import example
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.mujoco_builder import build_mujoco_world
from robot_semantics.simulation.simulator import ControlMode
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec, WorldSpecError

pin = pytest.importorskip("pinocchio")


def pinocchio_positions(model: Any, layout: Any, qpos: Any) -> Any:
    """Return pinocchio's q for MuJoCo's qpos of a fixed robot whose joints turn or slide."""
    q = pin.neutral(model)
    for place in layout.joints:
        joint = model.joints[model.getJointId(place.joint.name)]
        value = float(qpos[place.qpos[0]])
        q[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
    return q


def random_state(simulator: MujocoSimulator, layout: Any, rng: np.random.Generator) -> None:
    """Set random positions within the limits, and random velocities."""
    for place in layout.joints:
        limits = place.joint.limits
        lower, upper = max(limits.lower, -2.0), min(limits.upper, 2.0)
        simulator.data.qpos[place.qpos] = rng.uniform(lower, max(lower, upper))
    simulator.data.qvel[:] = rng.normal(size=simulator.model.nv)


FIXED = (
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "talos_data/robots/talos_left_arm.urdf",
    "kinova_description/robots/kinova.urdf",
    "pr2_description/urdf/pr2.urdf",
)


@pytest.mark.parametrize("path", FIXED)
def test_links_stand_where_pinocchio_puts_them(robots: Path, path: str) -> None:
    urdf = robots / path
    simulator = world(model_from_files("r", urdf))
    layout = simulator.built.layout("r")
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    rng = np.random.default_rng(1)
    for _ in range(3):
        random_state(simulator, layout, rng)
        mujoco.mj_kinematics(simulator.model, simulator.data)
        pin.framesForwardKinematics(model, data, pinocchio_positions(model, layout, simulator.data.qpos))
        for link, body in zip(layout.spec.robot.link_names, layout.bodies, strict=True):
            expected = data.oMf[model.getFrameId(link, pin.FrameType.BODY)]
            np.testing.assert_allclose(simulator.data.xpos[body], expected.translation, atol=1e-12)
            np.testing.assert_allclose(simulator.data.xmat[body].reshape(3, 3), expected.rotation, atol=1e-12)


@pytest.mark.parametrize("path", FIXED[:4])
def test_joint_inertia_and_bias_forces_are_pinocchios(robots: Path, path: str) -> None:
    urdf = robots / path
    simulator = world(model_from_files("r", urdf))
    layout = simulator.built.layout("r")
    model = pin.buildModelFromUrdf(str(urdf))
    pinocchio_data = model.createData()
    random_state(simulator, layout, np.random.default_rng(2))
    mujoco.mj_forward(simulator.model, simulator.data)
    q = pinocchio_positions(model, layout, simulator.data.qpos)
    order = [model.joints[model.getJointId(place.joint.name)].idx_v for place in layout.joints]
    v = np.zeros(model.nv)
    v[order] = [simulator.data.qvel[place.qvel[0]] for place in layout.joints]
    inertia = pin.crba(model, pinocchio_data, q)
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    mass = np.zeros((simulator.model.nv, simulator.model.nv))
    mujoco.mj_fullM(simulator.model, simulator.data, mass)
    dofs = [int(place.qvel[0]) for place in layout.joints]
    # Robots whose inertias MuJoCo changes are not compared; the test checks the reported changes instead.
    assert not [note for note in simulator.notes if "inertia" in note.message or "mass" in note.message]
    np.testing.assert_allclose(mass[np.ix_(dofs, dofs)], inertia[np.ix_(order, order)], rtol=1e-9, atol=1e-10)
    bias = pin.rnea(model, pinocchio_data, q, v, np.zeros(model.nv))
    np.testing.assert_allclose(simulator.data.qfrc_bias[dofs], bias[order], rtol=1e-8, atol=1e-8)


def test_a_full_inertia_matrix_keeps_its_products() -> None:
    urdf = """<robot name="r"><link name="base"/>
      <link name="body"><inertial><origin xyz="0.1 0.2 -0.1" rpy="0.3 -0.5 0.9"/><mass value="2.5"/>
      <inertia ixx="0.05" ixy="0.011" ixz="-0.007" iyy="0.06" iyz="0.004" izz="0.04"/></inertial></link>
      <joint name="j" type="revolute"><parent link="base"/><child link="body"/><axis xyz="0.3 0.5 0.8"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    simulator = world(model_from_text("r", urdf))
    assert not [note for note in simulator.notes if "inertia" in note.message]
    model = pin.buildModelFromXML(urdf)
    expected = pin.crba(model, model.createData(), np.array([0.4]))[0, 0]
    simulator.data.qpos[:] = 0.4
    mujoco.mj_forward(simulator.model, simulator.data)
    mass = np.zeros((1, 1))
    mujoco.mj_fullM(simulator.model, simulator.data, mass)
    assert mass[0, 0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_nearly_every_robot_compiles_and_runs(robots: Path) -> None:
    checked = 0
    problems = []
    for urdf in sorted(robots.rglob("*.urdf")):
        try:
            robot = load_robot(urdf, strict=False, diagnostics=Diagnostics())
            spec = WorldSpec((ModelSpec("r", robot, find_mesh_beside(urdf), JointType.FLOATING),))
        except DescriptionError:
            continue  # not a robot, or a part was left out: the readers' tests say why
        try:
            built = build_mujoco_world(spec)
        except WorldSpecError as error:
            problems.append(f"{urdf.name}: {error}")
            continue
        data = mujoco.MjData(built.model)
        mujoco.mj_step(built.model, data, 20)
        if not np.isfinite(data.qpos).all():
            problems.append(f"{urdf.name}: not finite")
        assert len(built.layout("r").bodies) == len(robot.links)
        checked += 1
    assert not problems
    assert checked >= 60


def test_the_same_world_has_the_same_digest_in_every_build() -> None:
    first, second = (build_mujoco_world(WorldSpec((rover(), block()))) for _ in range(2))
    other = build_mujoco_world(WorldSpec((rover(), block()), timestep=0.001))
    assert first.digest == second.digest != other.digest


def test_damping_friction_limits_and_effort_are_the_descriptions(rover_robot: Any) -> None:
    simulator = world(rover())
    model = simulator.model
    joint = model.joint("rover/lift_joint")
    assert joint.damping[0] == 40.0
    assert joint.frictionloss[0] == 2.0
    assert joint.range.tolist() == [0.0, 0.2]
    assert joint.limited[0]
    assert not model.joint("rover/left_wheel_joint").limited[0]
    assert model.actuator("rover/lift_joint").forcerange.tolist() == [-300.0, 300.0]


def test_passive_and_mimic_joints_have_no_motor() -> None:
    layout = world(rover()).built.layout("rover")
    without = {place.joint.name for place in layout.joints if not len(place.actuators)}
    assert without == {"caster_swivel_joint", "caster_wheel_joint", "right_finger_joint"}


def test_a_mimic_joint_follows_its_leader() -> None:
    simulator = world(rover())
    layout = simulator.built.layout("rover")
    for target in (0.035, 0.005):
        simulator.command("rover", ControlMode.POSITION, {"left_finger_joint": target})
        simulator.step(1500)
        left, right = (
            simulator.data.qpos[layout.by_name[f"{side}_finger_joint"].qpos[0]] for side in ("left", "right")
        )
        assert left == pytest.approx(target, abs=2e-3)
        assert right == pytest.approx(left, abs=1e-4)


def test_what_a_joint_connects_and_what_the_srdf_disables_never_touches() -> None:
    simulator = world(rover(), ground=False)
    pairs = set()
    rng = np.random.default_rng(3)
    layout = simulator.built.layout("rover")
    for _ in range(200):
        random_state(simulator, layout, rng)
        mujoco.mj_forward(simulator.model, simulator.data)
        for geoms in simulator.data.contact.geom:
            bodies = simulator.model.geom_bodyid[geoms]
            pairs.add(tuple(sorted(simulator.model.body(body).name.split("/")[1] for body in bodies)))
    disabled = {tuple(pair) for pair in layout.spec.robot.semantics.disabled_collisions}
    assert pairs
    assert not pairs & disabled
    assert ("palm_link", "wrist_link") not in pairs


def test_without_an_srdf_nothing_of_a_robot_touches_itself_and_that_is_said(robots: Path) -> None:
    simulator = world(
        model_from_files("a", robots / "go2_description/urdf/go2.urdf", base=JointType.FLOATING), ground=False
    )
    assert [note for note in simulator.notes if note.part == "self-collision"]
    mujoco.mj_forward(simulator.model, simulator.data)
    assert simulator.data.ncon == 0


def test_a_mesh_that_is_missing_is_said_and_left_out() -> None:
    urdf = """<robot name="r"><link name="a"><collision><geometry><mesh filename="package://nowhere/x.stl"/></geometry>
      </collision></link></robot>"""
    simulator = world(model_from_text("m", urdf))
    (note,) = (note for note in simulator.notes if "geometry" in note.message)
    assert note.model == "m"
    assert note.part == "link 'a'"
    assert "package://nowhere/x.stl" in note.message


def test_sleeping_is_switched_off_and_that_is_said() -> None:
    def sleepy(spec: Any) -> None:
        spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)

    simulator = MujocoSimulator(WorldSpec((block(),), edit=sleepy))
    assert [note.message for note in simulator.notes if "sleep" in note.part]
    assert not simulator.model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ((block("a"), block("a")), "two models are called 'a'"),
        ((block("a/b"),), "must not be empty or contain"),
        ((block("world"), block("b")), "is the name of a model"),
    ],
)
def test_a_world_with_bad_names_is_refused(models: tuple[ModelSpec, ...], message: str) -> None:
    with pytest.raises(WorldSpecError, match=message):
        WorldSpec(models)


def test_a_time_step_must_be_positive() -> None:
    with pytest.raises(WorldSpecError, match="must be positive"):
        WorldSpec((block(),), timestep=0.0)


def test_the_example_needs_no_changes() -> None:
    assert not world(rover(), block()).notes
    assert load_robot(example("rover_arm.urdf"), example("rover_arm.srdf")).semantics.srdf is not None
