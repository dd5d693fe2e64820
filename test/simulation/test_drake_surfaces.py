# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Surface properties in Drake's URDF elements have the same effect as with Drake's own parser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("pydrake", reason="Drake is not installed (pip install '.[drake]')")

from pydrake.geometry import AddContactMaterial, AddRigidHydroelasticProperties, HalfSpace, ProximityProperties
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactResults, CoulombFriction
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder
from support.worlds import block, model_from_text

from robot_semantics import write_world
from robot_semantics.examples import example
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.drake import DrakeSimulator, build_drake_world
from robot_semantics.simulation.sdf_export import sdf_of
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.usdf.reader import parse_world

MASS = 2.0
COMPLIANT = """<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="2e5"/>
<drake:mesh_resolution_hint value="0.04"/><drake:hunt_crossley_dissipation value="1.5"/>
<drake:mu_dynamic value="0.3"/><drake:mu_static value="0.4"/>"""
RIGID = '<drake:rigid_hydroelastic/><drake:mesh_resolution_hint value="0.1"/><drake:mu_static value="0.5"/>'
POINT = '<drake:point_contact_stiffness value="2e4"/><drake:hunt_crossley_dissipation value="0.5"/>'


def ball(inner: str, shape: str = '<sphere radius="0.1"/>') -> str:
    """Return a body of 2 kg with the given surface properties."""
    stated = f"<drake:proximity_properties>{inner}</drake:proximity_properties>" if inner else ""
    return f"""<robot name="ball" xmlns:drake="http://drake.mit.edu"><link name="ball">
<inertial><mass value="{MASS}"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry>{shape}</geometry>{stated}</collision></link></robot>"""


def spec(urdf: str) -> ModelSpec:
    return model_from_text("ball", urdf, base=JointType.FLOATING)


def said(scene_graph: Any, body: str) -> dict[str, dict[str, str]]:
    """Return the properties of a body's only geometry, by group and name."""
    inspector = scene_graph.model_inspector()
    (found,) = [each for each in inspector.GetAllGeometryIds() if body in inspector.GetName(inspector.GetFrameId(each))]
    properties = inspector.GetProximityProperties(found)

    def words(value: Any) -> str:
        try:
            value = value.get_value()
        except RuntimeError:  # What kind of compliance, of a type that has no Python.
            return repr(type(value))
        friction = isinstance(value, CoulombFriction)
        return f"{value.static_friction()} {value.dynamic_friction()}" if friction else str(value)

    groups = {name: properties.GetPropertiesInGroup(name) for name in properties.GetGroupNames()}
    return {group: {name: words(value) for name, value in inside.items()} for group, inside in groups.items() if inside}


class Parsed:
    """A plant from Drake's parser for a URDF, above a floor."""

    def __init__(self, urdf: str) -> None:
        builder = DiagramBuilder()
        self.plant, self.scene_graph = AddMultibodyPlantSceneGraph(builder, 0.002)
        Parser(self.plant).AddModelsFromString(urdf, "urdf")
        floor = ProximityProperties()
        AddContactMaterial(friction=CoulombFriction(1.0, 1.0), properties=floor)
        AddRigidHydroelasticProperties(properties=floor)
        self.plant.RegisterCollisionGeometry(self.plant.world_body(), RigidTransform(), HalfSpace(), "floor", floor)
        self.plant.Finalize()
        self.diagram = builder.Build()

    def rest(self, z: float, seconds: float) -> tuple[float, ContactResults]:
        """Let it fall from a height; return its rest position and its contacts."""
        simulator = Simulator(self.diagram)
        context = self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        self.plant.SetFreeBodyPose(context, self.plant.GetBodyByName("ball"), RigidTransform([0.0, 0.0, z]))
        simulator.AdvanceTo(seconds)
        body = self.plant.GetBodyByName("ball")
        height = self.plant.EvalBodyPoseInWorld(context, body).translation()[2]
        return float(height), self.plant.get_contact_results_output_port().Eval(context)


@pytest.mark.parametrize("inner", [COMPLIANT, RIGID, POINT, '<drake:mu_dynamic value="0.2"/>', ""])
@pytest.mark.parametrize("shape", ['<sphere radius="0.1"/>', '<cylinder radius="0.1" length="0.2"/>'])
def test_surfaces_are_what_drakes_own_parser_makes_of_the_file(inner: str, shape: str) -> None:
    urdf = ball(inner, shape)
    ours = build_drake_world(WorldSpec((spec(urdf),))).diagram
    (scene_graph,) = [system for system in ours.GetSystems() if "scene_graph" in system.get_name()]
    assert said(scene_graph, "ball") == said(Parsed(urdf).scene_graph, "ball")


def test_a_compliant_ball_rests_on_a_patch_that_carries_its_weight_where_drakes_own_parser_has_it() -> None:
    height, touching = Parsed(ball(COMPLIANT)).rest(0.11, 2.0)
    simulator = DrakeSimulator(WorldSpec((spec(ball(COMPLIANT)),)))
    started = parse_world(
        '<world_state><model_state name="ball"><pose>0 0 0.11 0 0 0</pose></model_state></world_state>'
    )
    assert simulator.restore(started).applied
    simulator.step(1000)
    (model,) = simulator.capture().models
    assert model.pose is not None
    assert model.pose.xyz_rpy[2] == pytest.approx(height, abs=1e-9)
    # It sinks in by millimetres, where a stiff point would by none.
    assert 1e-3 < 0.1 - height < 0.05
    plant, context = simulator._world.plant, simulator._inner
    ours = plant.get_contact_results_output_port().Eval(context)
    for results in (touching, ours):
        assert (results.num_hydroelastic_contacts(), results.num_point_pair_contacts()) == (1, 0)
        force = results.hydroelastic_contact_info(0).F_Ac_W().translational()
        np.testing.assert_allclose(np.abs(force), [0.0, 0.0, MASS * 9.81], atol=1e-3)


def test_a_world_of_which_nothing_is_said_touches_at_points() -> None:
    simulator = DrakeSimulator(WorldSpec((block(),)))
    simulator.step(1000)
    results = simulator._world.plant.get_contact_results_output_port().Eval(simulator._inner)
    assert results.num_hydroelastic_contacts() == 0
    assert results.num_point_pair_contacts() > 0


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ('<drake:mu_static value="-0.5"/>', "The given dynamic friction is negative: -0.5"),
        ('<drake:mu_static value="much"/>', "Expected single value for attribute 'value' got 'much'"),
        ("<drake:rigid_hydroelastic/>", "missing the ('hydroelastic', 'resolution_hint') property"),
        (COMPLIANT + RIGID, "mutually-exclusive tags"),
        ('<drake:point_contact_stiffness value="0"/>', "must be strictly positive; given 0"),
    ],
)
def test_what_drake_refuses_is_an_error_with_its_place_and_drakes_reason(inner: str, words: str) -> None:
    with pytest.raises(WorldSpecError) as error:
        build_drake_world(WorldSpec((spec(ball(inner)),)))
    assert words in str(error.value)
    assert ":3:55: model 'ball': collision 'ball/0': " in str(error.value)
    assert str(error.value).endswith("[/robot/link[@name='ball']/collision/drake:proximity_properties]")


def test_what_drake_passes_over_without_a_word_is_noted_with_the_nearest_name() -> None:
    inner = '<drake:mu_statik value="2"/><mu_static value="2"/><drake:mu_static value="3"/><drake:mu_static value="4"/>'
    notes = [str(note) for note in build_drake_world(WorldSpec((spec(ball(inner)),))).notes]
    begin = "model 'ball': collision 'ball/0' states "
    assert [note.removeprefix(begin) for note in notes if note.startswith(begin)] == [
        "<drake:mu_statik>, which Drake does not know; did you mean <drake:mu_static>?",
        "<mu_static>, which Drake does not know; did you mean <drake:mu_static>?",
        "another <drake:mu_static>: the first one counts",
    ]


def test_a_state_goes_on_exactly_only_with_the_surfaces_that_it_was_saved_with() -> None:
    state = parse_world(write_world(DrakeSimulator(WorldSpec((spec(ball(COMPLIANT)),))).capture()))
    same, other = (DrakeSimulator(WorldSpec((spec(ball(inner)),))) for inner in (COMPLIANT, POINT))
    assert same.restore(state).exact
    report = other.restore(state)
    assert report.applied
    assert not report.exact


def test_a_state_goes_on_exactly_only_with_the_pairs_that_do_not_touch_that_it_was_saved_with() -> None:
    urdf, srdf = example("rover_arm.urdf").read_text(), example("rover_arm.srdf").read_text()
    pair = next(line for line in srdf.splitlines() if "<disable_collisions" in line and "Adjacent" not in line)
    same, other = (
        DrakeSimulator(WorldSpec((model_from_text("rover", urdf, text),))) for text in (srdf, srdf.replace(pair, ""))
    )
    state = parse_world(write_world(same.capture()))
    assert same.restore(state).exact
    report = other.restore(state)
    assert report.applied
    assert not report.exact


def test_an_exported_sdf_world_says_of_surfaces_what_the_urdf_says() -> None:
    world = WorldSpec((spec(ball(COMPLIANT)),), ground=False)
    text = sdf_of(world, DrakeSimulator(world).capture()).value
    plant, scene_graph = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.002)
    Parser(plant).AddModelsFromString(text, "sdf")
    assert said(scene_graph, "ball") == said(Parsed(ball(COMPLIANT)).scene_graph, "ball")
