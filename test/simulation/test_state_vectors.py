# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""State vectors of other programs: the programs take them, and put every link where our kinematics does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import ForwardKinematics, RobotSemanticsError, WorldState, write_world
from robot_semantics.cli.main import main
from robot_semantics.convert.state_vectors import StateVector, state_vectors
from robot_semantics.kinematics.joint_orders import ORDERS
from robot_semantics.model.loading import robot_from_text
from robot_semantics.usdf.robot import from_joint_positions

FloatArray = npt.NDArray[np.float64]
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def joint(name: str, kind: str, parent: str, child: str, axis: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
    )


# Names and file order disagree on purpose; so do the two legs' depths.
URDF = (
    '<robot name="walker">'
    + "".join(f'<link name="{name}">{INERTIAL}</link>' for name in ("base", "l1", "l2", "l3", "r1", "r2"))
    + joint("b_slide", "prismatic", "l1", "l2", "0 1 0")
    + joint("b_hip", "revolute", "base", "l1", "1 0 0")
    + joint("a_hip", "continuous", "base", "r1", "0 0 1")
    + joint("b_plane", "planar", "l2", "l3", "0 0 1")
    + joint("a_knee", "revolute", "r1", "r2", "0 1 0")
    + "</robot>"
)
SRDF = """<robot name="walker">
  <virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="base"/>
</robot>"""


class Case:
    """A random state of the robot, with the poses of all links by our kinematics."""

    def __init__(self) -> None:
        rng = np.random.default_rng(4)
        self.robot = robot_from_text(URDF, SRDF)
        self.forward = ForwardKinematics(self.robot)
        space = self.forward.space
        self.q = space.random(rng)
        self.v = rng.normal(size=space.velocity_size)
        model = from_joint_positions(self.forward.model, self.q, self.v)
        self.world = WorldState("w", models=(model,))
        self.T_world_link = self.forward.T_parent_root(self.q) @ self.forward.link_poses(self.q)
        self.links = self.robot.link_names

    def vector(self, order: str) -> StateVector:
        found = state_vectors(self.world, {"walker": self.robot}, order)
        assert not found.lost
        return found.value["walker"]


@pytest.fixture(scope="module")
def case() -> Case:
    return Case()


def mujoco_links(vector: StateVector, links: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_string(URDF)
    spec.compiler.fusestatic = False
    spec.body("base").add_freejoint()
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = vector.positions, vector.velocities
    mujoco.mj_forward(model, data)
    poses, twists = np.tile(np.eye(4), (len(links), 1, 1)), np.zeros((len(links), 6))
    for at, link in enumerate(links):
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, link)
        poses[at, :3, :3], poses[at, :3, 3] = data.xmat[number].reshape(3, 3), data.xpos[number]
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, number, twists[at], 0)
    return poses, np.roll(twists, 3, axis=1)


def drake_links(vector: StateVector, links: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    plants = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    plant = plants.MultibodyPlant(0.01)
    parsing.Parser(plant).AddModelsFromString(URDF, "urdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, vector.positions)
    plant.SetVelocities(context, vector.velocities)
    bodies = [plant.GetBodyByName(link) for link in links]
    motions = [plant.EvalBodySpatialVelocityInWorld(context, body) for body in bodies]
    poses = np.array([plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4() for body in bodies])
    return poses, np.array([[*motion.translational(), *motion.rotational()] for motion in motions])


def pinocchio_links(vector: StateVector, links: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    pinocchio = pytest.importorskip("pinocchio")
    model = pinocchio.buildModelFromXML(URDF, pinocchio.JointModelFreeFlyer())
    data = model.createData()
    pinocchio.forwardKinematics(model, data, vector.positions, vector.velocities)
    pinocchio.updateFramePlacements(model, data)
    frames = [model.getFrameId(link, pinocchio.FrameType.BODY) for link in links]
    axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    twists = np.array([pinocchio.getFrameVelocity(model, data, frame, axes).vector for frame in frames])
    return np.array([data.oMf[frame].homogeneous for frame in frames]), twists


PROGRAMS: dict[str, Callable[[StateVector, tuple[str, ...]], tuple[FloatArray, FloatArray]]] = {
    "mujoco": mujoco_links,
    "drake": drake_links,
    "pinocchio": pinocchio_links,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_program_puts_every_link_where_we_do(program: str, case: Case) -> None:
    poses, twists = PROGRAMS[program](case.vector(program), case.links)
    np.testing.assert_allclose(poses, case.T_world_link, rtol=0.0, atol=1e-9)
    R = case.T_world_link[:, :3, :3]
    own = case.forward.link_twists(case.q, case.v, with_virtual_joint=True)
    in_world = np.concatenate([np.einsum("nij,nj->ni", R, part) for part in (own[:, :3], own[:, 3:])], axis=1)
    np.testing.assert_allclose(twists, in_world, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_each_number_has_a_name_and_a_unit(order: str, case: Case) -> None:
    if order == "pybullet":
        with pytest.raises(
            RobotSemanticsError, match="joint 'b_plane' of 'walker': pybullet has no joint of type planar"
        ):
            case.vector(order)
        return
    vector = case.vector(order)
    assert len(vector.positions) == len(vector.position_components)
    assert len(vector.velocities) == len(vector.velocity_components)
    quaternion = [vector.base_position[at] for at in (range(4) if order == "drake" else range(3, 7))]
    w = quaternion[0] if ORDERS[order].quaternion == "wxyz" else quaternion[3]
    assert w == pytest.approx(case.q[case.forward.space.index["world_joint/rot_w"]])


def test_what_is_not_stated_is_nan_and_named(case: Case) -> None:
    (model,) = case.world.models
    few = tuple(joint for joint in model.joints if joint.name != "a_knee")
    world = WorldState("w", models=(replace(model, joints=few, links=(), pose=None, twist=None),))
    found = state_vectors(world, {"walker": case.robot}, "mujoco")
    vector = found.value["walker"]
    names = [
        part.name for part, value in zip(vector.position_components, vector.positions, strict=True) if np.isnan(value)
    ]
    assert names == [*(f"world_joint/{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")), "a_knee"]
    assert len(found.lost) == 1
    assert "a_knee" in found.lost[0]


def test_the_command_writes_the_vectors_and_needs_npz(tmp_path: Path, case: Case, capsys: Any) -> None:
    for name, text in (("w.urdf", URDF), ("w.srdf", SRDF), ("w.usdf", write_world(case.world))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = ["usdf", "convert", str(tmp_path / "w.usdf"), "--order", "drake"]
    words += ["--urdf", f"{tmp_path / 'w.urdf'},{tmp_path / 'w.srdf'}"]
    assert main([*words, "-o", str(tmp_path / "w.npz")]) == 0
    with np.load(tmp_path / "w.npz") as arrays:
        np.testing.assert_array_equal(arrays["walker/positions"], case.vector("drake").positions)
        assert arrays["walker/joints"].tolist() == ["b_hip", "b_slide", "b_plane", "a_hip", "a_knee"]
        assert arrays["walker/position_units"].tolist()[:7] == ["1"] * 4 + ["m"] * 3
        assert arrays["quaternion"] == "wxyz"
    assert main([*words, "-o", str(tmp_path / "w.json")]) == 2
    assert "state vectors go into an .npz file" in capsys.readouterr().err
