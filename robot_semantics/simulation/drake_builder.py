# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Build a Drake MultibodyPlant from checked robots, joint by joint, with the same geometry as in MuJoCo."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import mujoco
import numpy as np
from pydrake.geometry import (
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    Capsule,
    CollisionFilterDeclaration,
    Convex,
    Cylinder,
    GeometryId,
    GeometrySet,
    HalfSpace,
    ProximityProperties,
    SceneGraph,
    Sphere,
)
from pydrake.geometry import Shape as DrakeShape
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction, MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    Joint,
    JointActuator,
    ModelInstanceIndex,
    PdControllerGains,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RigidBody,
    RotationalInertia,
    SpatialInertia,
    WeldJoint,
)
from pydrake.systems.framework import Diagram, DiagramBuilder

from robot_semantics.collision.shapes import Shape
from robot_semantics.simulation.collision_shapes import collision_shapes, excluded_pairs
from robot_semantics.simulation.drake_surfaces import ignored_elements, surface_properties
from robot_semantics.simulation.inertia import BodyInertia, link_inertias
from robot_semantics.simulation.sim_joints import SimJoint, sim_joints
from robot_semantics.simulation.sim_loops import Hold, LoopRow, loop_rows
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.transforms import matrix_from_quat, matrix_from_rotation, rotation_from_z
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.extra import Extra

FRICTION = CoulombFriction(1.0, 1.0)
"""Friction of surfaces without properties, as in MuJoCo. URDF has no friction of surfaces."""

_SURFACE = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="l"><collision>
<geometry><box size="1 1 1"/></geometry>{}</collision></link></robot>"""

SERVO_FREQUENCY = 25.0
"""Natural frequency [rad/s] of the position servos, critically damped at the default pose, as in MuJoCo."""
_HELD = (Hold.POINT, Hold.FRAME, Hold.DISTANCE)


@dataclass(eq=False)
class DrakeModel:
    """One robot in the plant.

    Attributes:
        spec: the robot.
        instance: the plant's model instance.
        bodies: bodies of the links.
        root: joint of the root link; a weld if it is fixed.
        joints: the moving joints of the description, by name.
        base: parent frame of the root link; None if it floats.
        driven: names of the joints with motors, in the plant's order.
        actuators: the motors of these joints.
    """

    spec: ModelSpec
    instance: ModelInstanceIndex
    bodies: list[RigidBody] = field(default_factory=list)
    root: Joint | None = None
    joints: dict[str, Joint] = field(default_factory=dict)
    base: FixedOffsetFrame | None = None
    driven: list[str] = field(default_factory=list)
    actuators: list[JointActuator] = field(default_factory=list)


@dataclass(eq=False)
class DrakeWorld:
    """A finalized plant in its diagram, with its robots by name, and notes about changes and omissions.

    `digest` covers everything that no robot's digest covers: meshes, surfaces, excluded pairs, joints with motors.
    """

    diagram: Diagram
    plant: MultibodyPlant
    models: dict[str, DrakeModel]
    notes: tuple[BuildNote, ...]
    digest: str


def build_world(spec: WorldSpec) -> DrakeWorld:
    """Build a world.

    Raises:
        WorldSpecError: Drake refuses the world; the message has Drake's reason.
    """
    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, spec.timestep)
    # Without them, positions and velocities are the whole state.
    plant.SetUseSampledOutputPorts(False)
    plant.set_contact_model(ContactModel.kHydroelasticWithFallback)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, spec.gravity])
    adder = _DrakeBuilder(plant, scene_graph)
    try:
        models = {model.name: adder.add(model) for model in spec.models}
        if spec.ground:
            floor = proximity_properties(None)
            if adder.hydroelastic:
                AddRigidHydroelasticProperties(properties=floor)
            plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", floor)
        plant.Finalize()
        _tune(plant, models)
        diagram = builder.Build()
    except RuntimeError as error:
        raise WorldSpecError(f"Drake cannot build the world: {error}") from error
    return DrakeWorld(diagram, plant, models, tuple(adder.notes), adder.digest.hexdigest())


def rigid_transform(T: FloatArray) -> RigidTransform:
    """Return a (4, 4) transform as a RigidTransform, with an orthonormal rotation as Drake requires."""
    return RigidTransform(RotationMatrix.ProjectToRotationMatrix(T[:3, :3]), T[:3, 3])


def proximity_properties(stated: Extra | None) -> ProximityProperties:
    """Return the stated ProximityProperties as Drake's parser reads them, or the default ones.

    Raises:
        RuntimeError: Drake refuses the properties; the message has Drake's reason.
    """
    if stated is None:
        properties = ProximityProperties()
        AddContactMaterial(friction=FRICTION, properties=properties)
        return properties
    plant, scene_graph = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001)
    try:
        Parser(plant).AddModelsFromString(_SURFACE.format(stated.xml), "urdf")
    except RuntimeError as error:
        # Drop the place in the message: it is a place in _SURFACE.
        raise RuntimeError(str(error).partition("error: ")[2] or str(error)) from None
    inspector = scene_graph.model_inspector()
    (geometry,) = inspector.GetAllGeometryIds()
    return ProximityProperties(inspector.GetProximityProperties(geometry))


def _tune(plant: MultibodyPlant, models: dict[str, DrakeModel]) -> None:
    """Set the gains of every servo for the inertia that it moves at the default pose."""
    inertia = np.diag(plant.CalcMassMatrix(plant.CreateDefaultContext()))
    for model in models.values():
        for name, actuator in zip(model.driven, model.actuators, strict=True):
            moved = float(inertia[model.joints[name].velocity_start()])
            gains = PdControllerGains(p=moved * SERVO_FREQUENCY**2, d=2.0 * moved * SERVO_FREQUENCY)
            actuator.set_controller_gains(gains)


class _DrakeBuilder:
    def __init__(self, plant: MultibodyPlant, scene_graph: SceneGraph) -> None:
        self.plant, self.scene_graph = plant, scene_graph
        self.notes: list[BuildNote] = []
        self.digest = hashlib.sha256()
        self.hydroelastic = False

    def add(self, spec: ModelSpec) -> DrakeModel:
        robot = spec.robot
        model = DrakeModel(spec, self.plant.AddModelInstance(spec.name))
        for link, inertia in zip(robot.links, link_inertias(spec, self.notes), strict=True):
            model.bodies.append(self.plant.AddRigidBody(link.name, model.instance, _spatial_inertia(inertia)))
        root, *joints = sim_joints(spec, self.notes, ties_several=False)
        self._add_root(model, root)
        for link, joint in zip(robot.links[1:], joints, strict=True):
            above = self._frame(f"{joint.name}//joint", model.bodies[link.parent], joint.joint.T_parent_joint, model)
            made = self._add_joint(joint, above, model.bodies[link.index], model)
            if joint.motions:
                model.joints[joint.name] = made
        for joint in joints:
            for leader, _, multiplier, offset in joint.ties:
                follower = model.joints[joint.name]
                self.plant.AddCouplerConstraint(follower, model.joints[leader.name], multiplier, offset)
        for row in loop_rows(spec, self.notes, "Drake", _HELD):
            self._add_loop(model, row)
        if spec.carries_weight:
            self.plant.set_gravity_enabled(model.instance, False)
        self._add_geometry(model)
        return model

    def _frame(self, name: str, body: RigidBody, T: FloatArray, model: DrakeModel) -> FixedOffsetFrame:
        return self.plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), rigid_transform(T), model.instance))

    def _add_root(self, model: DrakeModel, root_joint: SimJoint) -> None:
        root, world = model.bodies[0], self.plant.world_body()
        if root_joint.joint.motion.has_quaternion:
            joint = QuaternionFloatingJoint("//root", world.body_frame(), root.body_frame())
            model.root = self.plant.AddJoint(joint)
            return
        model.base = self._frame("//base", world, np.eye(4), model)
        if root_joint.joint.motion.is_planar:
            model.root = self._add_planar("//root", root_joint, model.base, root, model)
        else:
            weld = WeldJoint("//root", model.base, root.body_frame(), RigidTransform())
            model.root = self.plant.AddJoint(weld)

    def _add_planar(self, name: str, joint: SimJoint, above: RigidBody, body: RigidBody, model: DrakeModel) -> Joint:
        # Drake moves in the x-y plane of frames whose z is along the axis.
        R = matrix_from_rotation(rotation_from_z(joint.axis))
        plane = self.plant.AddFrame(FixedOffsetFrame(f"{name}//plane", above, rigid_transform(R), model.instance))
        moved = self._frame(f"{name}//moved", body, R, model)
        return self.plant.AddJoint(PlanarJoint(name, plane, moved, [joint.damping] * 3))

    def _add_joint(self, joint: SimJoint, above: RigidBody, body: RigidBody, model: DrakeModel) -> Joint:
        frame = body.body_frame()
        if not joint.motions:
            return self.plant.AddJoint(WeldJoint(joint.name, above, frame, RigidTransform()))
        if joint.joint.motion.is_planar:
            return self._add_planar(joint.name, joint, above, body, model)
        if joint.joint.motion.has_quaternion:
            return self.plant.AddJoint(QuaternionFloatingJoint(joint.name, above, frame, joint.damping))
        kind = PrismaticJoint if joint.joint.motion.slides else RevoluteJoint
        made = self.plant.AddJoint(kind(joint.name, above, frame, joint.axis, damping=joint.damping))
        if joint.limits is not None:
            lower, upper = joint.limits
            made.set_position_limits([lower], [upper])
        if joint.friction:
            self._note(model, f"joint '{joint.name}'", f"has friction {joint.friction:g}, which Drake does not have")
        if joint.driven:
            actuator = self.plant.AddJointActuator(joint.name, made, joint.effort)
            actuator.set_controller_gains(PdControllerGains(p=1.0, d=1.0))
            model.driven.append(joint.name)
            model.actuators.append(actuator)
        return made

    def _add_loop(self, model: DrakeModel, row: LoopRow) -> None:
        parent, child = model.bodies[row.parent], model.bodies[row.child]
        at, to = row.T_parent_frame, row.T_child_frame
        if row.hold is Hold.FRAME:
            self.plant.AddWeldConstraint(parent, rigid_transform(at), child, rigid_transform(to))
        elif row.hold is Hold.POINT:
            self.plant.AddBallConstraint(parent, at[:3, 3], child, to[:3, 3])
        else:
            self.plant.AddDistanceConstraint(parent, at[:3, 3], child, to[:3, 3], row.distance)

    def _note(self, model: DrakeModel, part: str, message: str) -> None:
        self.notes.append(BuildNote(model.spec.name, part, message))

    def _add_geometry(self, model: DrakeModel) -> None:
        spec, of_link = model.spec, dict[str, list[GeometryId]]()
        for link, name, shape, T_link_shape, collision in collision_shapes(spec, self.notes):
            body, made = model.bodies[link], _drake_shape(shape, name)
            stated, part = surface_properties(collision), f"collision '{name}'"
            try:
                properties = proximity_properties(stated)
                geometry = self.plant.RegisterCollisionGeometry(
                    body, rigid_transform(T_link_shape), made, name, properties
                )
            except RuntimeError as error:
                place = spec.robot.urdf.places.place(stated.at if stated is not None else collision.at)
                raise WorldSpecError(f"{place}: model '{spec.name}': {part}: {error} [{place.path}]") from error
            of_link.setdefault(spec.robot.link_names[link], []).append(geometry)
            self.hydroelastic |= properties.HasProperty("hydroelastic", "compliance_type")
            if shape.hull is not None:
                self.digest.update(shape.hull.vertices.tobytes())
            if stated is not None:
                self.digest.update(f"{name} {stated.xml}".encode())
                for words in ignored_elements(stated):
                    self._note(model, part, f"states {words}")
        filters = self.scene_graph.collision_filter_manager()
        index = spec.robot.link_index
        pairs = excluded_pairs(spec.robot, [index[name] for name in of_link])
        self.digest.update(repr((spec.name, list(of_link), pairs, model.driven)).encode())
        for pair in pairs:
            first, second = (GeometrySet(of_link[name]) for name in pair)
            filters.Apply(CollisionFilterDeclaration().ExcludeBetween(first, second))


def _spatial_inertia(inertia: BodyInertia) -> SpatialInertia:
    if inertia.mass == 0.0:
        return SpatialInertia.Zero()
    R = matrix_from_quat(inertia.quat_xyzw)
    central = R @ np.diag(inertia.moments) @ R.T
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = central.tolist()
    return SpatialInertia.MakeFromCentralInertia(inertia.mass, inertia.xyz, RotationalInertia(xx, yy, zz, xy, xz, yz))


def _drake_shape(shape: Shape, name: str) -> DrakeShape:
    kinds, size = mujoco.mjtGeom, shape.size
    if shape.hull is not None:
        return Convex(shape.hull.vertices.T, name)
    if shape.type == kinds.mjGEOM_BOX:
        return Box(*(2.0 * half for half in size))
    if shape.type == kinds.mjGEOM_SPHERE:
        return Sphere(size[0])
    return (Cylinder if shape.type == kinds.mjGEOM_CYLINDER else Capsule)(size[0], 2.0 * size[1])
