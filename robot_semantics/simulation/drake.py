# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulator of URDF and SRDF robots in Drake. Its state is a USDF world state."""

from __future__ import annotations

import hashlib
import logging
import platform
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.base.errors import MissingExtraError

try:
    import mujoco
    import pydrake  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("drake", "drake", "simulating with Drake") from error

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

from robot_semantics.base.errors import ArrayError
from robot_semantics.base.nanoseconds import whole_nanoseconds
from robot_semantics.collision.shapes import Shape
from robot_semantics.simulation.drake_directives import FLOATING_Q
from robot_semantics.simulation.drake_surfaces import ignored_elements, surface_properties
from robot_semantics.simulation.restoring import TIME_DIFFERS, RestorePlan
from robot_semantics.simulation.robot_motion import (
    LinkMotion,
    MechanismState,
    capture_without_forces,
    driven_joints,
    neutral_motion,
    restored_motion,
    with_unit_quaternions,
)
from robot_semantics.simulation.sim_models import (
    BodyInertia,
    Hold,
    LoopRow,
    SimJoint,
    collision_shapes,
    excluded_pairs,
    link_inertias,
    loop_rows,
    sim_joints,
)
from robot_semantics.simulation.simulator import ControlMode, DivergedError, SimulationError, Simulator
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.transforms import matrix_from_quat, matrix_from_rotation, rotation_from_z
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.extras import Extra
from robot_semantics.usdf.commands import JointCommand, commands_state
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.world_state import EngineState, ModelState, WorldState

# Base of the simulators whose state is joint positions and velocities, and whose motors are position servos.


Motions = Mapping[str, MechanismState]


class JointStateSimulator(Simulator):
    """Simulator whose engine reads and writes the motion of each robot. Captured states have no forces."""

    def __init__(self, spec: WorldSpec) -> None:
        """Prepare. A subclass builds its world first.

        Raises:
            WorldSpecError: the world cannot be built.
        """
        super().__init__(spec)
        self._driven = {name: driven_joints(robot) for name, robot in self._robots.items()}
        self._motors = {name: {joint: at for at, joint in enumerate(joints)} for name, joints in self._driven.items()}
        self.reset()

    # --- methods of an engine

    @abstractmethod
    def _read(self, name: str, last: MechanismState) -> MechanismState:
        """Return the present motion of a robot. Its base and the targets of its servos come from `last`."""

    @abstractmethod
    def _write(self, motions: Motions) -> None:
        """Set the motion of all robots."""

    @abstractmethod
    def _hold(self, name: str, motion: MechanismState) -> None:
        """Set the targets of a robot's servos."""

    @abstractmethod
    def _links(self, name: str) -> LinkMotion:
        """Return the motion of the links of a robot, as the engine has them."""

    @abstractmethod
    def _advance(self) -> None:
        """Advance by one time step.

        Raises:
            SimulationError: the engine cannot continue. The world is unchanged, or in its neutral state.
        """

    # --- methods of a simulator

    @property
    def time(self) -> float:
        """Simulation time [s]."""
        return self._time

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""
        self._frames, self._trial_time = {}, 0.0
        self._trial = {name: neutral_motion(spec, self._robots[name]) for name, spec in self._models.items()}
        self._accept_trial()

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            SimulationError: the engine cannot continue; the message has the time.
        """
        for _ in range(count):
            now = self._time
            try:
                self._advance()
            except SimulationError as error:
                raise type(error)(f"{error} after {now:g} s") from error
            self._time += self.spec.timestep

    def _command(self, model: str, mode: ControlMode, targets: Mapping[int, float]) -> None:
        if mode is not ControlMode.POSITION:
            raise ArrayError("targets", _positions_only(mode))
        motion = self._motions[model]
        wanted = motion.targets.copy()
        wanted[list(targets)] = list(targets.values())
        self._motions[model] = replace(motion, targets=wanted)
        self._hold(model, self._motions[model])

    def _roots(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        return {name: self._links(name).root() for name in self._models}

    def _states(self, names: Iterable[str], placed: ResolvedWorld, *, links: bool) -> Iterator[ModelState]:
        motions = self._present_motions()
        for name in names:
            spec, robot, digest = self._models[name], self._robots[name], self._digests[name]
            yield capture_without_forces(spec, robot, motions[name], self._links(name), placed, digest, links=links)

    def _engine_states(self) -> tuple[EngineState, ...]:
        commands = {
            JointCommand(name, joint, "position"): float(target)
            for name, motion in self._motions.items()
            for joint, target in zip(self._driven[name], motion.targets, strict=True)
        }
        return (commands_state(commands),)

    def _compute_trial(self, plan: RestorePlan, now: ResolvedWorld, time: float) -> None:
        self._trial_time = time
        self._trial = {
            name: restored_motion(self._models[name], self._robots[name], motion, plan, now)
            for name, motion in self._present_motions().items()
        }

    def _set_trial_command(self, model: str, motor: int, mode: ControlMode, target: float) -> str | None:
        if mode is not ControlMode.POSITION:
            return _positions_only(mode)
        self._trial[model].targets[motor] = target
        return None

    def _accept_trial(self) -> None:
        self._write(self._trial)
        for name, motion in self._trial.items():
            self._hold(name, motion)
        self._motions, self._time = self._trial, self._trial_time

    def _present_motions(self) -> dict[str, MechanismState]:
        return {name: self._read(name, last) for name, last in self._motions.items()}


def _positions_only(mode: ControlMode) -> str:
    return f"the motors of this engine take positions, no {mode.name.lower()}"


# Build a Drake MultibodyPlant from checked robots, joint by joint, with the same geometry as in MuJoCo.


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


def build_drake_world(spec: WorldSpec) -> DrakeWorld:
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
        added_joint = self.plant.AddJoint(kind(joint.name, above, frame, joint.axis, damping=joint.damping))
        if joint.limits is not None:
            lower, upper = joint.limits
            added_joint.set_position_limits([lower], [upper])
        if joint.friction:
            self._note(model, f"joint '{joint.name}'", f"has friction {joint.friction:g}, which Drake does not have")
        if joint.driven:
            actuator = self.plant.AddJointActuator(joint.name, added_joint, joint.effort)
            actuator.set_controller_gains(PdControllerGains(p=1.0, d=1.0))
            model.driven.append(joint.name)
            model.actuators.append(actuator)
        return added_joint

    def _add_loop(self, model: DrakeModel, row: LoopRow) -> None:
        parent, child = model.bodies[row.parent], model.bodies[row.child]
        parent_pose, to = row.T_parent_frame, row.T_child_frame
        if row.hold is Hold.FRAME:
            self.plant.AddWeldConstraint(parent, rigid_transform(parent_pose), child, rigid_transform(to))
        elif row.hold is Hold.POINT:
            self.plant.AddBallConstraint(parent, parent_pose[:3, 3], child, to[:3, 3])
        else:
            self.plant.AddDistanceConstraint(parent, parent_pose[:3, 3], child, to[:3, 3], row.distance)

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
                place = spec.robot.urdf.places.place(stated.ordinal if stated is not None else collision.ordinal)
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


if TYPE_CHECKING:
    from pydrake.multibody.tree import Joint

VERSION = version("drake")

FLOATING_V = (3, 4, 5, 0, 1, 2)
"""Columns of linear before angular velocities in Drake, which has angular velocities first."""

_CONTRADICTION = 1e-9
"""Largest rounding difference [m, rad and their rates] between stated values and the engine's. More is an edit."""
_PARTS = tuple(field.name for field in fields(MechanismState))
_STATED = {
    "base": "poses of robots",
    "root_positions": "positions",
    "root_velocities": "velocities",
    "positions": "positions",
    "velocities": "velocities",
    "targets": "commands",
}


class DrakeSimulator(JointStateSimulator):
    """A Drake world of robots.

    Drake's discrete plant starts every step from positions and velocities alone. To continue bit for bit, it needs
    these, the targets of the servos and the poses of the bases.
    """

    ENGINE, TITLE = "drake", "Drake"

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0, its joints at their default positions.

        Raises:
            WorldSpecError: the world cannot be built.
        """
        self._world = build_drake_world(spec)
        self._context = self._world.diagram.CreateDefaultContext()
        self._inner = self._world.plant.GetMyMutableContextFromRoot(self._context)
        super().__init__(spec)
        said = (sorted((name, str(digest)) for name, digest in self._digests.items()), spec.timestep, spec.gravity)
        self._digest = hashlib.sha256(repr((*said, spec.ground, self._world.digest)).encode()).hexdigest()

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """Changes and omissions that the engine made necessary."""
        return self._world.notes

    def _advance(self) -> None:
        try:
            following = self._world.diagram.EvalUniquePeriodicDiscreteUpdate(self._context)
        except RuntimeError as error:
            raise SimulationError(f"Drake cannot continue: {error}") from error
        if not np.isfinite(following.get_vector(0).value()).all():
            raise DivergedError("the simulation diverged")
        self._context.SetDiscreteState(following)

    # --- motion of robots

    def _read(self, name: str, last: MechanismState) -> MechanismState:
        plant, model = self._world.plant, self._world.models[name]
        q, v = plant.GetPositions(self._inner), plant.GetVelocities(self._inner)
        space = self._robots[name].kinematics.space
        positions, velocities = last.positions.copy(), last.velocities.copy()
        for joint_name, joint in model.joints.items():
            positions[space.joint_positions[joint_name]] = q[_indices(joint, "position")]
            velocities[space.joint_velocities[joint_name]] = v[_indices(joint, "velocity")]
        root = q[_indices(model.root, "position")], v[_indices(model.root, "velocity")]
        return MechanismState(last.base, *root, positions, velocities, last.targets)

    def _write(self, motions: Mapping[str, MechanismState]) -> None:
        plant = self._world.plant
        q, v = np.array(plant.GetPositions(self._inner)), np.array(plant.GetVelocities(self._inner))
        for name, model in self._world.models.items():
            motion, space = motions[name], self._robots[name].kinematics.space
            q[_indices(model.root, "position")] = motion.root_positions
            v[_indices(model.root, "velocity")] = motion.root_velocities
            for joint_name, joint in model.joints.items():
                q[_indices(joint, "position")] = motion.positions[space.joint_positions[joint_name]]
                v[_indices(joint, "velocity")] = motion.velocities[space.joint_velocities[joint_name]]
        plant.SetPositions(self._inner, q)
        plant.SetVelocities(self._inner, v)

    def _hold(self, name: str, motion: MechanismState) -> None:
        model = self._world.models[name]
        if model.base is not None:
            model.base.SetPoseInParentFrame(self._inner, rigid_transform(motion.base))
        if model.driven:
            # The targets have the order of the plant's motors: both follow the order of creation.
            port = self._world.plant.get_desired_state_input_port(model.instance)
            port.FixValue(self._inner, np.concatenate([motion.targets, np.zeros(len(motion.targets))]))

    def _links(self, name: str) -> LinkMotion:
        plant, bodies = self._world.plant, self._world.models[name].bodies
        poses = [plant.EvalBodyPoseInWorld(self._inner, body) for body in bodies]
        motion = [plant.EvalBodySpatialVelocityInWorld(self._inner, body) for body in bodies]
        twists = [np.concatenate((velocity.translational(), velocity.rotational())) for velocity in motion]
        return LinkMotion(np.array([T.GetAsMatrix4() for T in poses]), np.array(twists))

    # --- the engine's own state

    def _engine_states(self) -> tuple[EngineState, ...]:
        return (self._engine_state(self._present_motions()), *super()._engine_states())

    def _engine_state(self, motions: Mapping[str, MechanismState]) -> EngineState:
        arrays = {part: _concatenated(motions, part) for part in _PARTS} | {"time": np.array([self._time])}
        said = {"world": self._digest, "machine": platform.machine()}
        return EngineState(self.ENGINE, VERSION, {k: tuple(v.tolist()) for k, v in arrays.items()}, said)

    def _continue_exactly(self, state: WorldState, names: tuple[str, ...] | None) -> str | None:
        engine, like = self._matching_engine_state(state, names, VERSION), self._engine_state(self._trial)
        if isinstance(engine, str):
            return engine
        if engine.attributes != like.attributes:
            return "the engine state belongs to another world"
        if {k: len(values) for k, values in engine.arrays.items()} != {k: len(v) for k, v in like.arrays.items()}:
            return "the engine state's arrays have other sizes"
        beside = dict(self._trial)
        for part in _PARTS:
            stated = [getattr(motion, part) for motion in self._trial.values()]
            ends = np.cumsum([values.size for values in stated])[:-1]
            for name, old, new in zip(beside, stated, np.split(np.array(engine.arrays[part]), ends), strict=True):
                beside[name] = replace(beside[name], **{part: new.reshape(old.shape)})
        ours, theirs = (
            {name: with_unit_quaternions(self._robots[name], motion) for name, motion in motions.items()}
            for motions in (self._trial, beside)
        )
        for part in _PARTS:
            if not np.abs(_concatenated(ours, part) - _concatenated(theirs, part)).max(initial=0.0) <= _CONTRADICTION:
                return f"its {_STATED[part]} differ from the engine's state in the same file"
        (time,) = engine.arrays["time"]
        if state.time_ns not in (None, whole_nanoseconds(time)):
            return TIME_DIFFERS
        self._trial, self._trial_time = beside, time
        return None


def _concatenated(motions: Mapping[str, MechanismState], part: str) -> FloatArray:
    return np.concatenate([np.zeros(0), *(getattr(motion, part).ravel() for motion in motions.values())])


def _indices(joint: Joint, kind: str) -> list[int]:
    """Return the indices of a joint, in our order, in all positions or velocities of the plant."""
    start = getattr(joint, f"{kind}_start")()
    count = joint.num_positions() if kind == "position" else joint.num_velocities()
    return [start + at for at in {7: FLOATING_Q, 6: FLOATING_V}.get(count, range(count))]


def start(spec: WorldSpec, warn: Callable[[str], None]) -> DrakeSimulator:
    """Return a world in Drake.

    Raises:
        WorldSpecError: the world cannot be built.
    """
    del warn
    # Drake warns only about unused features: deformable bodies on half spaces.
    logging.getLogger("drake").setLevel(logging.ERROR)
    return DrakeSimulator(spec)
