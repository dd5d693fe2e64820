# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Drake's own parser reads the output of `sim export`: every link has the pose of our kinematics."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

pytest.importorskip("pydrake", reason="Drake is not installed (pip install '.[drake]')")

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from pydrake.multibody.tree import ModelInstanceIndex
from pydrake.systems.framework import DiagramBuilder
from support.sdformat import has_libsdformat, models_by_libsdformat
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
from robot_semantics.usdf.frames import resolve_frames


@pytest.fixture(autouse=True)
def _written_sdf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Open each SDFormat text that a test hands to Drake with libsdformat too, where that is installed."""
    usual = Loaded.__init__

    def opened(self: Loaded, document: str | Path, ending: str = "") -> None:
        usual(self, document, ending)
        path = document if isinstance(document, Path) else tmp_path / f"opened.{ending}"
        if not isinstance(document, Path):
            path.write_text(document)
        if path.suffix == ".sdf" and has_libsdformat():
            assert models_by_libsdformat(path)

    monkeypatch.setattr(Loaded, "__init__", opened)


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
    placed = resolve_frames(state)
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
    loaded, placed = Loaded(tmp_path / "world.sdf"), resolve_frames(state)
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
    assert stated <= {loaded.plant.GetModelInstanceName(index) for index in _instances(loaded.plant)}


def test_an_ending_that_no_export_has_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "export", str(example("rover_arm.usdf")), "-o", str(tmp_path / "world.yaml")]) == 2
    assert ".dmd.yaml" in capsys.readouterr().err


def _instances(plant: MultibodyPlant) -> list[ModelInstanceIndex]:
    return [ModelInstanceIndex(at) for at in range(plant.num_model_instances())]


def test_the_command_writes_collision_meshes_beside_an_sdf_as_files_that_drake_reads(
    robots: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, output = robots / "panda_description/urdf/panda.urdf", tmp_path / "arm.sdf"
    world = tmp_path / "arm.usdf"
    world.write_text('<world_state><model_state name="arm"><pose>0 0 0 0 0 0</pose></model_state></world_state>')
    command = ["sim", "export", str(world), "--urdf", f"arm={urdf}", "-o", str(output)]
    assert main(command) == 0, capsys.readouterr().err
    assert Loaded(output).plant.num_collision_geometries() > len(list((tmp_path / "arm_meshes").glob("*.obj"))) > 5
    output.unlink()
    assert main(command) == 1
    assert ".obj exists already; --force overwrites it" in capsys.readouterr().err
    assert not output.exists()


ODD = """<robot name="r"><link name="{base}"/><link name="{tip}"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="frame"/>
<joint name="{joint}" type="revolute"><parent link="{base}"/><child link="{tip}"/><origin xyz="0 0 1"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
<joint name="at" type="fixed"><parent link="{tip}"/><child link="frame"/><origin xyz="1 0 0"/></joint></robot>"""
USUAL = {"base": "base", "tip": "tip", "joint": "joint"}
RESERVED = ["world", "a::b", "::", "__model__", "__root__", "__any__", "____"]
UNUSUAL = ["ground", "link", "a b", "a/b", "__x", "x__", "___", ":a", "\u00e9"]


def exported(tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str, **robots: Mapping[str, str]) -> str:
    """Write `w.ENDING` of a world with some robots, by `usdf new` and `sim export`; return what the export says."""
    for number, names in enumerate(robots.values()):
        (tmp_path / f"r{number}.urdf").write_text(ODD.format(**{**USUAL, **names}))
    models = [f"{model}={tmp_path}/r{number}.urdf" for number, model in enumerate(robots)]
    assert main(["usdf", "new", *models, "-o", str(tmp_path / "w.usdf"), "--force"]) == 0
    capsys.readouterr()
    code = main(["sim", "export", str(tmp_path / "w.usdf"), "-o", str(tmp_path / f"w.{ending}"), "--force"])
    said = capsys.readouterr().err
    assert (code == 0) is (tmp_path / f"w.{ending}").exists(), said
    return said


@pytest.mark.parametrize("kind", ["base", "tip", "joint", "model"])
def test_an_sdf_with_any_names_is_read_and_each_changed_name_is_listed(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [*RESERVED, *UNUSUAL]
    robots: dict[str, dict[str, str]] = {f"m{number}": {kind: name} for number, name in enumerate(names)}
    if kind == "model":
        # No model of a world has the other two.
        names = [name for name in names if name not in ("world", "a/b")]
        robots = {name: {} for name in names}
    said = exported(tmp_path, capsys, "sdf", **robots)
    plant = Loaded(tmp_path / "w.sdf").plant
    lines = [line for line in said.splitlines() if f"{kind if kind in ('joint', 'model') else 'link'} '" in line]
    first = next(at for at in _instances(plant) if plant.GetModelInstanceName(at).startswith(("m0", "a_b")))
    for number, name in enumerate(names):
        inside = ModelInstanceIndex(int(first) + number)
        links = {plant.get_body(index).name() for index in plant.GetBodyIndices(inside)}
        joints = {plant.get_joint(index).name() for index in plant.GetJointIndices(inside)}
        assert len(links) == 3
        changes = [line for line in lines if f"'{name}' has a name that SDFormat reserves: it is" in line]
        written = changes[0].rpartition("'")[0].rpartition("'")[2] if name in RESERVED else name
        assert len(changes) == (name in RESERVED)
        assert written in {"model": {plant.GetModelInstanceName(inside)}, "joint": joints}.get(kind, links)


def test_a_link_without_mass_weighs_nothing_in_sdf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = exported(tmp_path, capsys, "sdf", m={})
    plant = Loaded(tmp_path / "w.sdf").plant
    inside = plant.GetModelInstanceByName("m")
    # The description has 2 kg. A link without <inertial> would have 1 kg.
    assert plant.CalcTotalMass(plant.CreateDefaultContext(), [inside]) == pytest.approx(2.0, abs=1e-5)
    assert "1e-06 kg: 'base', 'frame'" in said


READ = """import sys
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.framework import DiagramBuilder
builder = DiagramBuilder()
plant, _ = AddMultibodyPlantSceneGraph(builder, 0.001)
Parser(plant).AddModels(sys.argv[1])
print(plant.num_collision_geometries())"""


def test_a_world_of_many_shapes_and_a_floor_does_not_crash_drake(tmp_path: Path) -> None:
    shape = '<collision><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision>'
    links = "".join(f'<link name="l{number}">{shape}</link>' for number in range(60))
    joints = "".join(
        f'<joint name="j{number}" type="fixed"><parent link="l0"/><child link="l{number}"/></joint>'
        for number in range(1, 60)
    )
    simulator = MujocoSimulator(WorldSpec((model_from_text("m", f'<robot name="r">{links}{joints}</robot>'),)))
    (tmp_path / "w.sdf").write_text(sdf_of(simulator.spec, simulator.capture()).value)
    # A process of its own: a crash would end the tests.
    read = [sys.executable, "-c", READ, str(tmp_path / "w.sdf")]
    assert subprocess.run(read, capture_output=True, check=True).stdout.strip() == b"61"


def test_an_sdf_has_the_lowest_version_that_defines_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(tmp_path, capsys, "sdf", m={})
    assert '<sdf version="1.9">' in (tmp_path / "w.sdf").read_text()
    # The fingers of the example follow one another: <mimic> is of 1.11, the version of Gazebo Harmonic.
    assert main(["sim", "export", str(example("rover_arm.usdf")), "-o", str(tmp_path / "e.sdf")]) == 0
    assert '<sdf version="1.11">' in (tmp_path / "e.sdf").read_text()


def test_the_joints_of_an_exported_sdf_are_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(tmp_path, capsys, "sdf", m={"base": "world", "joint": "a::b"})
    output = tmp_path / "w.sdf"
    assert main(["usdf", "edit", str(tmp_path / "w.usdf"), "--joint", "m/a::b=0.5", "--in-place"]) == 0
    assert main(["sim", "export", str(tmp_path / "w.usdf"), "-o", str(output), "--force"]) == 0
    assert main(["usdf", "convert", str(output), "-o", str(tmp_path / "back.usdf")]) == 0
    (model,) = read_world(tmp_path / "back.usdf").models
    assert {joint.name: joint.positions for joint in model.joints} == {"a_b": (0.5,)}
    assert {link.name for link in model.links} == {"world_link", "tip", "frame"}


@pytest.mark.parametrize("name", ["world", "a::b", "__model__", None, "kitchen"])
def test_a_converted_state_has_a_world_that_libsdformat_accepts(
    name: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = "" if name is None else f' name="{name}"'
    (tmp_path / "w.usdf").write_text(f'<world_state{named}><model_state name="a::m"/></world_state>')
    assert main(["usdf", "convert", str(tmp_path / "w.usdf"), "-o", str(tmp_path / "w.sdf")]) == 0
    said = capsys.readouterr().err
    assert ("the world" in said) is (name not in (None, "kitchen"))
    assert "model 'a::m' has a name that SDFormat reserves: it is 'a_m'" in said
    assert models_by_libsdformat(tmp_path / "w.sdf") == {}


@pytest.mark.parametrize("kind", ["base", "tip", "joint", "model"])
def test_a_converted_state_has_the_names_of_the_exported_world(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The state of `usdf convert` belongs to the models of `sim export`, which libsdformat and Drake read."""
    # "a_b" and "frame" are names that another part of the robot has.
    names = [*RESERVED, *UNUSUAL, "frame", "a_b"]
    other = {"base": "tip", "tip": "base", "joint": "tip", "model": "tip"}[kind]
    others = ["a::b" if name == "a_b" else "a_b" for name in names]
    robots = {f"m{number}": {kind: name, other: others[number]} for number, name in enumerate(names)}
    robots = {key: words for key, words in robots.items() if words.get(kind) != "frame" or kind == "joint"}
    if kind == "model":
        robots = {name: {} for name in names if name not in ("world", "a/b")}
    exported(tmp_path, capsys, "sdf", **robots)
    world = etree.parse(tmp_path / "w.sdf").getroot()[0]
    models = {
        str(model.get("name")): ({str(joint.get("name")) for joint in model.iter("joint")}, model)
        for model in world.findall("model")
        if model.find("static") is None
    }
    # The captured state has all links.
    assert main(["sim", "run", str(tmp_path / "w.usdf"), "--steps", "0", "-o", str(tmp_path / "full.usdf")]) == 0
    assert main(["usdf", "convert", str(tmp_path / "full.usdf"), "-o", str(tmp_path / "state.sdf")]) == 0
    if has_libsdformat():
        assert models_by_libsdformat(tmp_path / "state.sdf") == {}
    (converted,) = etree.parse(tmp_path / "state.sdf").getroot()
    assert converted.get("name") == world.get("name")
    states = converted.findall("state/model_state")
    assert [state.get("name") for state in states] == list(models)
    for state in states:
        joints, model = models[str(state.get("name"))]
        assert {joint.get("name") for joint in state.findall("joint_state")} <= joints
        links = {link.get("name") for link in model.findall("link")}
        assert {link.get("name") for link in state.findall("link_state")} == links


@pytest.mark.parametrize("name", ["world", "a::b", "::", "__model__", "a b", ":a"])
@pytest.mark.parametrize("kind", ["base", "tip", "joint", "model"])
def test_directives_with_any_name_are_read_by_drake_or_refused(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "model" and name == "world":
        pytest.skip("no model of a world has this name")
    said = exported(tmp_path, capsys, "dmd.yaml", **({name: {}} if kind == "model" else {"m": {kind: name}}))
    output = tmp_path / "w.dmd.yaml"
    if output.exists():
        assert Loaded(output.read_text(), "dmd.yaml").plant.num_positions() == 1
    else:
        assert f"'{name}'" in said
        assert "write an .sdf" in said


def test_a_robot_whose_root_is_the_world_stands_at_the_origin_in_directives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(tmp_path, capsys, "dmd.yaml", m={"base": "world"})
    assert Loaded((tmp_path / "w.dmd.yaml").read_text(), "dmd.yaml").pose("m", "tip")[2, 3] == 1.0
    assert main(["usdf", "edit", str(tmp_path / "w.usdf"), "--pose", "m=1 0 0 0 0 0", "--in-place"]) == 0
    assert main(["sim", "export", str(tmp_path / "w.usdf"), "-o", str(tmp_path / "moved.dmd.yaml"), "--partial"]) == 1
    assert not (tmp_path / "moved.dmd.yaml").exists()


def test_directives_say_which_packages_and_files_they_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_pkg").mkdir()
    (tmp_path / "my_pkg/box.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    mesh = '<collision><geometry><mesh filename="package://my_pkg/box.obj"/></geometry></collision>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="base">{mesh}</link></robot>')
    assert main(["usdf", "new", f"m={tmp_path}/r.urdf", "-o", str(tmp_path / "w.usdf")]) == 0
    output = tmp_path / "w.dmd.yaml"
    assert main(["sim", "export", str(tmp_path / "w.usdf"), "-o", str(output)]) == 0
    said = capsys.readouterr().err
    for need in ("package 'my_pkg' in the package map of its parser", f"the file '{tmp_path}/r.urdf' of this computer"):
        assert f"not carried: what the program that loads the file needs: {need}" in said
        assert f"# The program that loads this file needs {need}" in output.read_text()
    with pytest.raises(RuntimeError, match="unknown package 'my_pkg'"):
        Loaded(output.read_text(), "dmd.yaml")


_TWO = '<robot name="r" version="{}"><link name="a"/><link name="b"/><joint name="j" type="fixed">{}</joint></robot>'
_LINK = '<link name="a"><collision><geometry>{}</geometry></collision></link>'
_ENDS = '<parent link="a"/><child link="b"/>'
OTHERS = {
    "an older form": (
        "r.urdf",
        _TWO.format("1.0", '<parent link="a"/><child link="b"><origin xyz="1 0 0"/></child>'),
        "'robot_semantics upgrade'",
    ),
    "a quaternion": ("r.urdf", _TWO.format("1.1", f'<origin quat_xyzw="1 0 0 0"/>{_ENDS}'), "Drake ignores quat_xyzw"),
    "a box without size": (
        "r.urdf",
        _TWO.format("1.0", _ENDS).replace('<link name="a"/>', _LINK.format('<box size="1 0 1"/>')),
        "a box of link 'a' has a size that is not above 0",
    ),
    "a flat cylinder": (
        "r.urdf",
        _TWO.format("1.0", _ENDS).replace('<link name="a"/>', _LINK.format('<cylinder radius="1" length="0"/>')),
        "a cylinder of link 'a' has a size that is not above 0",
    ),
    "a negative damping": (
        "r.urdf",
        _TWO.format("1.0", f'{_ENDS}<dynamics damping="-1"/>').replace("fixed", "continuous"),
        "an effort, a velocity or a damping of joint 'j' is negative",
    ),
    "a short axis": (
        "r.urdf",
        _TWO.format("1.0", f'{_ENDS}<axis xyz="0 0 1e-9"/>').replace("fixed", "continuous"),
        "the axis of joint 'j' is too short",
    ),
    "a xacro": ("r.urdf.xacro", _TWO.format("1.0", _ENDS), "'robot_semantics expand'"),
}


@pytest.mark.parametrize(("file", "text", "advice"), OTHERS.values(), ids=OTHERS)
def test_a_robot_that_drake_reads_as_another_one_gets_no_directives(
    file: str, text: str, advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).write_text(text)
    (tmp_path / "w.usdf").write_text(
        '<world_state><model_state name="m"><pose>0 0 0 0 0 0</pose></model_state></world_state>'
    )
    export = ["sim", "export", str(tmp_path / "w.usdf"), "--urdf", f"m={tmp_path / file}", "-o"]
    assert main([*export, str(tmp_path / "w.sdf")]) == 0
    Loaded(tmp_path / "w.sdf")
    assert main([*export, str(tmp_path / "w.dmd.yaml")]) == 1
    said = capsys.readouterr().err
    assert f"model 'm': Drake cannot read '{tmp_path / file}' as it is meant: " in said
    assert advice in said
    assert not (tmp_path / "w.dmd.yaml").exists()


def test_a_floating_joint_is_a_free_body_in_directives_where_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.urdf").write_text(
        """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="floating"><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><parent link="a"/><child link="b"/>
</joint></robot>"""
    )
    (tmp_path / "w.usdf").write_text(
        """<world_state><model_state name="m"><pose>10 0 0 0 0 0</pose><joint_state name="j">
<positions>1 2 3 0 0 0 1</positions></joint_state></model_state></world_state>"""
    )
    words = ["sim", "export", str(tmp_path / "w.usdf"), "--urdf", f"m={tmp_path}/r.urdf", "-o"]
    assert main([*words, str(tmp_path / "w.dmd.yaml")]) == 0, capsys.readouterr().err
    # One metre up and a quarter turn to the left: x of the joint is y of the world, and y is -x.
    at = Loaded((tmp_path / "w.dmd.yaml").read_text(), "dmd.yaml").pose("m", "b")[:3, 3]
    np.testing.assert_allclose(at, (8.0, 1.0, 4.0), atol=1e-12)


@pytest.mark.parametrize("ending", ["sdf", "dmd.yaml"])
def test_paths_with_spaces_and_other_letters_are_found_by_drake(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my r\u00f6bot 100%"
    folder.mkdir()
    (folder / "b x.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    mesh = '<geometry><mesh filename="b x.obj"/></geometry>'
    link = f'<link name="a"><collision>{mesh}</collision><visual>{mesh}</visual></link>'
    (folder / "r 1.urdf").write_text(f'<robot name="r">{link}</robot>')
    assert main(["usdf", "new", f"m={folder}/r 1.urdf", "-o", str(folder / "w.usdf")]) == 0
    output = folder / f"my w.{ending}"
    assert main(["sim", "export", str(folder / "w.usdf"), "-o", str(output)]) == 0, capsys.readouterr().err
    shapes = Loaded(output).plant.num_collision_geometries()
    assert shapes == (2 if ending == "sdf" else 1)
