# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Drake's own parser reads the output of `sim export`: every link has the pose of our kinematics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pydrake", reason="Drake is not installed (pip install 'robot_semantics[drake]')")

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.multibody.tree import ModelInstanceIndex
from pydrake.systems.framework import DiagramBuilder
from support.worlds import ROBOTS, block, model_from_files, model_from_text, rover

from robot_semantics import ForwardKinematics, WorldState, read_world
from robot_semantics.cli.main import main
from robot_semantics.examples import example
from robot_semantics.model.mesh_files import mesh_surface, obj_of
from robot_semantics.simulation.drake_directives import directives_of
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.sdf_export import ObjMeshes, sdf_of
from robot_semantics.simulation.world_spec import WorldSpec
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.urdf.tree import Mesh
from robot_semantics.usdf.frames import resolve


class Loaded:
    """A plant from Drake's parser for a text."""

    def __init__(self, document: str | Path, ending: str = "") -> None:
        self.plant, self.scene_graph = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001)
        parser = Parser(self.plant)
        parser.package_map().Add("example-robot-data", str(ROBOTS.parent))
        if isinstance(document, Path):
            parser.AddModels(str(document))
        else:
            parser.AddModelsFromString(document, ending)
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()

    def pose(self, model: str, link: str) -> np.ndarray:
        body = self.plant.GetBodyByName(link, self.plant.GetModelInstanceByName(model))
        return np.array(self.plant.EvalBodyPoseInWorld(self.context, body).GetAsMatrix4())


def expected(state: WorldState) -> dict[tuple[str, str], np.ndarray]:
    placed = resolve(state)
    return {
        (model.name, link.name): placed.pose(model.name) @ pose_matrix(link.pose)
        for model in state.models
        for link in model.links
        if link.pose is not None
    }


def moved() -> MujocoSimulator:
    simulator = MujocoSimulator(WorldSpec((rover(), block("one"))))
    simulator.step(30)
    return simulator


def test_drake_directives_put_every_link_where_the_simulation_has_it() -> None:
    simulator = moved()
    state = simulator.capture()
    written = directives_of(simulator.spec, state)
    loaded = Loaded(written.value, "dmd.yaml")
    for (model, link), T in expected(state).items():
        np.testing.assert_allclose(loaded.pose(model, link), T, atol=1e-9, err_msg=f"{model}/{link}")
    assert any("it is welded in place" in what for what in written.lost)
    assert any("velocities" in what for what in written.lost)


def test_meshes_for_which_drake_refuses_a_robot_are_named(robots: Path) -> None:
    panda = robots / "panda_description"
    spec = model_from_files("panda", panda / "urdf/panda.urdf", panda / "srdf/panda.srdf")
    simulator = MujocoSimulator(WorldSpec((spec,)))
    written = directives_of(simulator.spec, simulator.capture())
    with pytest.raises(RuntimeError, match="unsupported extension"):
        Loaded(written.value, "dmd.yaml")
    (words,) = [what for what in written.lost if "Drake refuses it" in what]
    assert words.endswith("meshes/collision/hand.stl' and 8 more")
    assert not any("Drake refuses" in what for what in directives_of(moved().spec, moved().capture()).lost)


def test_an_sdf_world_has_every_link_where_our_kinematics_has_it_at_any_positions(robots: Path, tmp_path: Path) -> None:
    panda = robots / "panda_description"
    arm = model_from_files("panda", panda / "urdf/panda.urdf", panda / "srdf/panda.srdf")
    simulator = MujocoSimulator(WorldSpec((rover(), block("one"), arm)))
    simulator.step(30)
    state = simulator.capture()
    meshes = ObjMeshes(tmp_path / "meshes")
    (tmp_path / "world.sdf").write_text(sdf_of(simulator.spec, state, meshes).value)
    meshes.folder.mkdir()
    for path, surface in meshes.surfaces.items():
        path.write_text(obj_of(surface))
    loaded, placed = Loaded(tmp_path / "world.sdf"), resolve(state)
    # Drake has a hull of each collision mesh, no larger and no smaller than ours.
    inspector = loaded.scene_graph.model_inspector()
    for link in arm.robot.links:
        body = loaded.plant.GetBodyByName(link.name, loaded.plant.GetModelInstanceByName("panda"))
        shapes = [inspector.GetShape(shape) for shape in loaded.plant.GetCollisionGeometriesForBody(body)]
        assert len(shapes) == len(link.urdf.collisions), link.name
        for shape, collision in zip(shapes, link.urdf.collisions, strict=True):
            if isinstance(collision.geometry, Mesh):
                hull = mesh_surface(arm.find_mesh(collision.geometry.filename)).vertices
                corners = np.array(
                    [shape.GetConvexHull().vertex(at) for at in range(shape.GetConvexHull().num_vertices())]
                )
                np.testing.assert_allclose(np.ptp(corners, axis=0), np.ptp(hull, axis=0), rtol=1e-6, err_msg=link.name)
    rng = np.random.default_rng(3)
    for model in simulator.spec.models:
        forward = ForwardKinematics(model.robot)
        q = forward.space.neutral()
        instance = loaded.plant.GetModelInstanceByName(model.name)
        for joint in model.robot.joints[1:]:
            if joint.position_count == 1 and joint.mimic is None:
                value = rng.uniform(-0.5, 0.5)
                q[forward.space.positions_of(joint)] = value
        q = forward.space.with_mimics(q)
        theirs = loaded.plant.GetPositions(loaded.context)
        for joint in model.robot.joints[1:]:
            if joint.position_count == 1:
                at = loaded.plant.GetJointByName(joint.name, instance).position_start()
                theirs[at] = q[forward.space.positions_of(joint)][0]
        loaded.plant.SetPositions(loaded.context, theirs)
        root = placed.pose(model.name)
        T_root_link = forward.link_poses(q)
        for link in model.robot.links:
            T = root @ np.linalg.inv(T_root_link[0]) @ T_root_link[link.index]
            np.testing.assert_allclose(loaded.pose(model.name, link.name), T, atol=1e-9, err_msg=link.name)


TURNTABLE = """<robot name="t"><link name="base"/><link name="turn"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="turn"/><origin xyz="0 0 1" rpy="0.1 0 0"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint></robot>"""


def test_a_joint_with_the_name_of_a_link_is_renamed_in_sdf_and_that_is_said() -> None:
    simulator = MujocoSimulator(WorldSpec((model_from_text("t", TURNTABLE),)))
    written = sdf_of(simulator.spec, simulator.capture())
    loaded = Loaded(written.value, "sdf")
    joint = loaded.plant.GetJointByName("turn_joint")
    assert (joint.position_lower_limit(), joint.position_upper_limit()) == (-1.0, 2.0)
    assert any("joint 'turn' has the name of a link: it is 'turn_joint'" in what for what in written.lost)


@pytest.mark.parametrize("ending", ["sdf", "dmd.yaml"])
def test_the_command_writes_what_drake_reads(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / f"world.{ending}"
    assert main(["sim", "export", str(example("rover_arm.usdf")), "-o", str(output)]) == 0
    assert "not carried: " in capsys.readouterr().err
    loaded = Loaded(output.read_text(), ending)
    stated = {model.name for model in read_world(example("rover_arm.usdf")).models}
    assert stated <= {loaded.plant.GetModelInstanceName(index) for index in _instances(loaded)}


def test_an_ending_that_no_export_has_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sim", "export", str(example("rover_arm.usdf")), "-o", str(tmp_path / "world.yaml")])
    assert ".dmd.yaml" in capsys.readouterr().err


def _instances(loaded: Loaded) -> list[ModelInstanceIndex]:
    return [ModelInstanceIndex(at) for at in range(loaded.plant.num_model_instances())]


def test_the_command_writes_collision_meshes_beside_an_sdf_as_files_that_drake_reads(
    robots: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, output = robots / "panda_description/urdf/panda.urdf", tmp_path / "arm.sdf"
    world = tmp_path / "arm.usdf"
    world.write_text('<world_state><model_state name="arm"><pose>0 0 0 0 0 0</pose></model_state></world_state>')
    command = ["sim", "export", str(world), "--model", f"arm={urdf}", "-o", str(output)]
    assert main(command) == 0, capsys.readouterr().err
    assert Loaded(output).plant.num_collision_geometries() > len(list((tmp_path / "arm_meshes").glob("*.obj"))) > 5
    output.unlink()
    assert main(command) == 1
    assert ".obj exists already; --force overwrites it" in capsys.readouterr().err
    assert not output.exists()
