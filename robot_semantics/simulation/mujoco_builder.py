# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Build a compiled MuJoCo model from checked robots.

The model is built joint by joint from `RobotModel`, because MuJoCo's URDF reader refuses most real files. Each link is
a body, also on a fixed joint, so that every link has a pose. The parent frame of a robot that does not float is a mocap
body, which can move at run time without compiling again.

The layout of each robot's state in MuJoCo's arrays is here too.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.record import record
from robot_semantics.collision.mujoco_joints import add_joints
from robot_semantics.convert.mujoco_bases import FRAME
from robot_semantics.model.mesh_files import Surface
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import JointModel
from robot_semantics.simulation.sim_models import (
    Hold,
    LoopRow,
    SimJoint,
    collision_shapes,
    excluded_pairs,
    link_inertias,
    loop_rows,
    sim_joints,
)
from robot_semantics.simulation.simulator import ControlMode
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import mujoco


@record(frozen=True, slots=True, eq=False)
class JointIndices:
    """Indices of one moving joint in qpos and qvel, and of its actuators.

    Attributes:
        joint: the robot's joint.
        qpos: indices of its positions. A floating joint has x y z, then MuJoCo's quaternion w x y z.
        qvel: indices of its velocities.
        actuators: indices of its actuators, one per degree of freedom, or none.

    """

    joint: JointModel
    qpos: IntArray
    qvel: IntArray
    actuators: IntArray


@record(frozen=True, eq=False)
class ModelLayout:
    """One robot in the compiled model.

    Attributes:
        spec: the robot.
        bodies: (n_links,) body of each link.
        joints: the moving joints of the description, in model order, without the root joint.
        root: indices of the root joint; None if it is fixed.
        mocap: index of the mocap body of the root's parent frame; -1 for a floating root.

    """

    spec: ModelSpec
    bodies: IntArray
    joints: tuple[JointIndices, ...]
    root: JointIndices | None
    mocap: int

    @property
    def name(self) -> str:
        """The model's name."""
        return self.spec.name

    @cached_property
    def by_name(self) -> dict[str, JointIndices]:
        """The moving joints by name."""
        return {indices.joint.name: indices for indices in self.joints}

    @cached_property
    def joint_indices(self) -> tuple[JointIndices, ...]:
        """All moving joints. The root joint is first if it moves."""
        return self.joints if self.root is None else (self.root, *self.joints)


def body_name(model: str, link: str) -> str:
    """Return the name of a link's body."""
    return f"{model}/{link}"


def frame_body_name(model: str) -> str:
    """Return the name of the mocap body of a root's parent frame. No link can have this name."""
    return f"{model}{FRAME}"


def joint_names(model: str, joint: JointModel) -> tuple[str, ...]:
    """Return the names of a joint's MuJoCo joints: one for each variable; three slides and a ball if it floats."""
    if joint.motion.has_quaternion:
        return tuple(f"{model}/{joint.name}/{part}" for part in ("trans_x", "trans_y", "trans_z", "rot"))
    return tuple(f"{model}/{variable}" for variable in joint.variable_names)


def layout_of(model: mujoco.MjModel, spec: ModelSpec) -> ModelLayout:
    """Return the layout of a robot's state in a compiled MjModel."""
    bodies = np.array([model.body(body_name(spec.name, link.name)).id for link in spec.robot.links], dtype=np.int64)
    joints = tuple(
        _joint_indices(model, spec, joint, joint_names(spec.name, joint))
        for joint in spec.robot.joints[1:]
        if joint.velocity_count
    )
    root_joint = spec.root_joint
    root: JointIndices | None = None
    mocap = -1
    if spec.has_floating_base:
        root = _joint_indices(model, spec, root_joint, (f"{spec.name}/{root_joint.name}",))
    else:
        mocap = int(model.body(frame_body_name(spec.name)).mocapid[0])
        if spec.has_planar_base:
            names = tuple(f"{spec.name}/{root_joint.name}/{suffix}" for suffix in ("x", "y", "theta"))
            root = _joint_indices(model, spec, root_joint, names)
    bodies.setflags(write=False)
    return ModelLayout(spec, bodies, joints, root, mocap)


def _joint_indices(model: mujoco.MjModel, spec: ModelSpec, joint: JointModel, names: tuple[str, ...]) -> JointIndices:
    ids = [model.joint(name).id for name in names]
    qpos = np.concatenate([model.jnt_qposadr[i] + np.arange(_POSITIONS[model.jnt_type[i]]) for i in ids])
    qvel = np.concatenate([model.jnt_dofadr[i] + np.arange(_VELOCITIES[model.jnt_type[i]]) for i in ids])
    actuators = np.array([_actuator(model, name) for name in names], dtype=np.int64)
    arrays = (qpos.astype(np.int64), qvel.astype(np.int64), actuators[actuators >= 0])
    for array in arrays:
        array.setflags(write=False)
    return JointIndices(joint, *arrays)


def _actuator(model: mujoco.MjModel, name: str) -> int:
    try:
        return int(model.actuator(name).id)
    except KeyError:
        return -1


_POSITIONS = (7, 4, 1, 1)
_VELOCITIES = (6, 3, 1, 1)


# Gains and modes of MuJoCo's actuators, one for each degree of freedom, and the support of a robot's weight.


REACH = 5e-4
"""Largest distance from its target at which dry friction may stop a position servo [rad, m]."""


@record(frozen=True, slots=True, eq=False)
class Servos:
    """The actuators' gains, ``force = stiffness * (target - q) - damping * v``, and modes.

    Attributes:
        stiffness: (nu,) [N/m or N m/rad].
        damping: (nu,) [N s/m or N m s/rad].
        default_modes: (nu,) modes at the start.
        weights: bodies whose weight motors hold, with these motors. A motor in effort mode holds no weight.

    """

    stiffness: FloatArray
    damping: FloatArray
    default_modes: IntArray
    weights: tuple[tuple[int, IntArray], ...] = ()

    @classmethod
    def tuned(
        cls,
        model: mujoco.MjModel,
        frequency: float,
        free: Collection[str] = (),
        held: Iterable[Mapping[int, IntArray]] = (),
    ) -> Servos:
        """Return critically damped servos of one natural `frequency` [rad/s] for the inertia that each joint moves.

        The inertia is taken at zero positions. `held` has the bodies whose weight motors hold, with these motors. Dry
        friction makes a servo stiffer, so that it still reaches its target within `REACH`. The actuators named in
        `free` start in effort mode, so nothing holds their joints. All others hold their positions.
        """
        data = mujoco.MjData(model)
        # Not a forward pass: all robots still overlap at the origin.
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        dofs = model.jnt_dofadr[model.actuator_trnid[:, 0]]
        inertia = mass.diagonal()[dofs]
        modes = np.full(model.nu, ControlMode.POSITION, dtype=np.int64)
        modes[[model.actuator(name).id for name in free]] = ControlMode.EFFORT
        stiffness = np.maximum(inertia * frequency**2, model.dof_frictionloss[dofs] / REACH)
        stiffness = np.minimum(stiffness, inertia * (0.5 / model.opt.timestep) ** 2)
        arrays = (stiffness, 2.0 * np.sqrt(stiffness * inertia), modes)
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays, tuple(item for bodies in held for item in bodies.items()))

    def apply(self, model: mujoco.MjModel, modes: IntArray) -> None:
        """Write the gains of the actuators' `modes` (nu,) into an MjModel."""
        position, velocity, effort = (modes == mode for mode in ControlMode)
        model.actuator_gainprm[:, 0] = np.select(
            (position, velocity, effort), (self.stiffness, self.damping, np.ones_like(self.stiffness))
        )
        model.actuator_biasprm[:, 1] = np.where(position, -self.stiffness, 0.0)
        model.actuator_biasprm[:, 2] = np.where(effort, 0.0, -self.damping)
        effort_modes = modes == ControlMode.EFFORT
        for body, actuators in self.weights:
            model.body_gravcomp[body] = 0.0 if effort_modes[actuators].any() else 1.0


_ROUNDS = 3


def bodies_held_by_motors(model: mujoco.MjModel, layout: ModelLayout) -> dict[int, IntArray]:
    """Return the bodies whose weight motors hold, each with the actuators between it and the root.

    Bodies behind a joint without a motor are not held: their gravity compensation is switched off in `model`. Motors
    hold the passive joints of closed loops, which follow from the driven joints.
    """
    robot, loops, actuators = layout.spec.robot, layout.spec.loops, {0: np.zeros(0, np.int64)}
    freedoms = () if loops is None or loops.problem else loops.freedoms
    following = {name: freedom.driven for freedom in freedoms for name in freedom.dependent}
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        above = actuators.get(link.parent)
        indices = layout.by_name.get(joint.name)
        actuator_ids = np.zeros(0, np.int64) if indices is None else indices.actuators
        driven = indices is None or len(actuator_ids) == len(indices.qvel) or joint.mimic is not None
        if joint.name in following:
            motors = [layout.by_name[name].actuators for name in following[joint.name]]
            actuator_ids, driven = np.concatenate([np.zeros(0, np.int64), *motors]), True
        if above is not None and driven:
            actuators[link.index] = np.concatenate((above, actuator_ids))
    for link in robot.links:
        if link.index not in actuators:
            model.body_gravcomp[layout.bodies[link.index]] = 0.0
    return {int(layout.bodies[index]): row for index, row in actuators.items()}


def soften_floor_contacts(model: mujoco.MjModel, layout: ModelLayout) -> None:
    """Soften the geoms of a robot that reach into the floor, so that together they carry the robot's weight.

    A planar base keeps the height of the robot. Without softening, wheels that are a millimetre too deep would be
    pressed with ten times the weight.
    """
    bodies = set(layout.bodies.tolist())
    ours = np.array([int(body) in bodies for body in model.geom_bodyid])
    ground = model.geom("ground").id
    probe = copy.copy(model)
    probe.geom_contype[:], probe.geom_conaffinity[:] = ours, np.arange(model.ngeom) == ground
    weight = float(model.body_mass[layout.bodies].sum() * np.abs(model.opt.gravity[2]))
    for _ in range(_ROUNDS):
        data = mujoco.MjData(probe)
        mujoco.mj_forward(probe, data)
        force, geoms = 0.0, set()
        for index in range(data.ncon):
            pressed = np.zeros(6)
            mujoco.mj_contactForce(probe, data, index, pressed)
            force += pressed[0]
            geoms |= set(data.contact[index].geom.tolist()) - {ground}
        if force <= weight or not geoms:
            return
        for geom in geoms:
            for changed in (probe, model):
                # Stiffness depends on the square of the time constant.
                changed.geom_solref[geom, 0] *= np.sqrt(force / weight)


SERVO_FREQUENCY = 25.0
"""Natural frequency [rad/s] of the critically damped position servos of all joints: URDF has no gains."""

LOOP_IMPEDANCE = [0.99, 0.999, 0.001, 0.5, 2.0]
"""MuJoCo's `solimp` of loop constraints, stiffer than by default. Their time constant is two time steps, the shortest
that MuJoCo allows."""
_EQUALITIES = {
    Hold.POINT: mujoco.mjtEq.mjEQ_CONNECT,
    Hold.FRAME: mujoco.mjtEq.mjEQ_WELD,
    Hold.DISTANCE: mujoco.mjtEq.mjEQ_TENDON,
}
"""Constraints of MuJoCo. A distance is the length of a tendon."""


@record(frozen=True, slots=True, eq=False)
class BuiltWorld:
    """A compiled world.

    Attributes:
        model: the MjModel.
        layouts: layout of each robot's state, by name.
        notes: changes and omissions that MuJoCo made necessary.
        servos: gains and modes of the actuators.
        digest: SHA-256 of the compiled model; the same in every process that builds the same world.
        source: the MjSpec of the model.

    """

    model: mujoco.MjModel
    layouts: dict[str, ModelLayout]
    servos: Servos
    notes: tuple[BuildNote, ...]
    digest: str
    source: mujoco.MjSpec

    def layout(self, name: str) -> ModelLayout:
        """Return the layout of the model called `name`.

        Raises:
            UnknownNameError: the world has no such model; the error has the nearest names.

        """
        if name not in self.layouts:
            raise UnknownNameError("model", name, self.layouts)
        return self.layouts[name]


def build_mujoco_world(spec: WorldSpec) -> BuiltWorld:
    """Compile a world.

    Raises:
        WorldSpecError: MuJoCo refuses the world; the message has MuJoCo's reason.

    """
    mj = mujoco.MjSpec()
    _options(mj, spec)
    builder = _MujocoBuilder(mj)
    for model in spec.models:
        builder.add(model)
    if spec.ground:
        mj.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    if spec.edit is not None:
        spec.edit(mj)
    if mj.option.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP):
        # Measured: with sleeping islands, even the complete integration state does not continue bit for bit.
        mj.option.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        builder.note("", "option 'sleep'", "is switched off: with it a restart is not exact")
    try:
        compiled = mj.compile()
    except ValueError as error:
        raise WorldSpecError(f"MuJoCo cannot compile the world: {error}") from error
    builder.set_distances(compiled)
    layouts = {model.name: layout_of(compiled, model) for model in spec.models}
    if spec.ground:
        for model in spec.models:
            if model.has_planar_base:
                soften_floor_contacts(compiled, layouts[model.name])
    held = [bodies_held_by_motors(compiled, layout) for layout in layouts.values() if layout.spec.carries_weight]
    servos = Servos.tuned(compiled, SERVO_FREQUENCY, builder.drives, held)
    servos.apply(compiled, servos.default_modes)
    return BuiltWorld(compiled, layouts, servos, tuple(builder.notes), compiled_digest(compiled), mj)


def compiled_digest(model: mujoco.MjModel) -> str:
    """Return the SHA-256 of a compiled MjModel, in hexadecimal."""
    buffer = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return hashlib.sha256(buffer.tobytes()).hexdigest()


def _options(mj: mujoco.MjSpec, spec: WorldSpec) -> None:
    compiler = mj.compiler
    compiler.degree = False
    compiler.autolimits = False
    compiler.fusestatic = False
    compiler.discardvisual = False
    compiler.alignfree = False
    compiler.balanceinertia = False
    compiler.inertiafromgeom = int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE)
    mj.option.timestep = spec.timestep
    mj.option.gravity = [0.0, 0.0, spec.gravity]
    # Implicit in the velocities: joint damping and servos stay stable on light links.
    mj.option.integrator = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)


class _MujocoBuilder:
    """Adds robots to an MjSpec, and collects notes."""

    def __init__(self, mj: mujoco.MjSpec) -> None:
        self.mj = mj
        self.notes: list[BuildNote] = []
        self.drives: list[str] = []
        self._distances: list[tuple[mujoco.MjsEquality, float]] = []
        self._meshes: dict[int, tuple[str, Surface]] = {}

    def note(self, model: str, part: str, message: str) -> None:
        self.notes.append(BuildNote(model, part, message))

    def add(self, spec: ModelSpec) -> None:
        robot, joints = spec.robot, sim_joints(spec, self.notes, ties_several=True)
        if spec.has_floating_base:
            bodies = [self.mj.worldbody.add_body(name=body_name(spec.name, robot.root_link))]
            bodies[0].add_freejoint(name=f"{spec.name}/{spec.root_joint.name}", align=0)
        else:
            frame = self.mj.worldbody.add_body(name=frame_body_name(spec.name), mocap=True)
            bodies = [frame.add_body(name=body_name(spec.name, robot.root_link))]
            self._add_joint(spec, bodies[0], joints[0])
        for link, joint in zip(robot.links[1:], joints[1:], strict=True):
            pose = xyz_quat_from_matrix(joint.joint.T_parent_joint)
            body = bodies[link.parent].add_body(
                name=body_name(spec.name, link.name), pos=pose[:3], quat=pose[[6, 3, 4, 5]]
            )
            bodies.append(body)
            self._add_joint(spec, body, joint)
        self._add_inertias(spec, bodies)
        if spec.carries_weight:
            for body in bodies:
                body.gravcomp = 1.0
        with_geometry = self._add_geometry(spec, bodies)
        self._add_ties(spec, joints)
        for number, row in enumerate(loop_rows(spec, self.notes, "MuJoCo", _EQUALITIES)):
            self._add_loop(f"{spec.name}/{row.name}/{number}", row, bodies)
        self._add_excludes(spec, with_geometry)

    def _add_joint(self, spec: ModelSpec, body: mujoco.MjsBody, joint: SimJoint) -> None:
        for added_joint in add_joints(body, joint.joint, joint_names(spec.name, joint.joint)):
            # MuJoCo's damping is a polynomial in the velocity; URDF's is its linear term.
            added_joint.damping, added_joint.frictionloss = [joint.damping, 0.0, 0.0], joint.friction
            if joint.limits is not None:
                added_joint.limited, added_joint.range = 1, joint.limits
            if not joint.driven:
                continue
            self._add_motor(added_joint.name, joint.effort)
            if len(joint.motions) > 1:
                # A planar joint is driven, not held: it is free until a command arrives.
                self.drives.append(added_joint.name)
                continue
            added_joint.actgravcomp = 1
            if np.isfinite(joint.effort):
                # The effort limit includes the effort that holds the weight.
                added_joint.actfrclimited, added_joint.actfrcrange = 1, [-joint.effort, joint.effort]

    def _add_motor(self, name: str, effort: float) -> None:
        motor = self.mj.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.ctrllimited = 0
        motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        if np.isfinite(effort):
            motor.forcelimited, motor.forcerange = 1, [-effort, effort]

    def _add_inertias(self, spec: ModelSpec, bodies: list[mujoco.MjsBody]) -> None:
        for body, inertia in zip(bodies, link_inertias(spec, self.notes), strict=True):
            body.explicitinertial = True
            body.mass = inertia.mass
            body.ipos = inertia.xyz
            body.iquat = inertia.quat_xyzw[[3, 0, 1, 2]]
            body.inertia = inertia.moments

    def _add_geometry(self, spec: ModelSpec, bodies: list[mujoco.MjsBody]) -> list[int]:
        shapes = collision_shapes(spec, self.notes)
        for link, name, shape, T_link_shape, _ in shapes:
            pose = xyz_quat_from_matrix(T_link_shape)
            geom = bodies[link].add_geom(
                type=shape.type, size=shape.size, pos=pose[:3], quat=pose[[6, 3, 4, 5]], density=0.0
            )
            geom.name = f"{spec.name}/{name}"
            if shape.hull is not None:
                geom.meshname = self._mesh(geom.name, shape.hull)
        return sorted({each.link for each in shapes})

    def _mesh(self, name: str, hull: Surface) -> str:
        """Return the name of the mesh asset. Robots with the same description share their meshes."""
        known = self._meshes.get(id(hull))
        if known is not None:
            return known[0]
        self.mj.add_mesh(name=name, uservert=hull.vertices.ravel(), userface=hull.faces.ravel())
        self._meshes[id(hull)] = (name, hull)  # keeps the hull alive, so its id stays unique
        return name

    def _add_ties(self, spec: ModelSpec, joints: Sequence[SimJoint]) -> None:
        for joint in joints:
            for leader, part, multiplier, offset in joint.ties:
                equality = self.mj.add_equality(type=mujoco.mjtEq.mjEQ_JOINT)
                equality.name = equality.name1 = joint_names(spec.name, joint.joint)[part]
                equality.name2 = joint_names(spec.name, leader)[part]
                equality.data[:2] = offset, multiplier

    def _add_loop(self, name: str, row: LoopRow, bodies: list[mujoco.MjsBody]) -> None:
        equality, sites = self.mj.add_equality(type=_EQUALITIES[row.hold]), []
        ends = (("parent", row.parent, row.T_parent_frame), ("child", row.child, row.T_child_frame))
        for end, link, T_link_frame in ends:
            pose = xyz_quat_from_matrix(T_link_frame)
            site = bodies[link].add_site(name=f"{name}/{end}", pos=pose[:3], quat=pose[[6, 3, 4, 5]])
            sites.append(site.name)
        equality.solref, equality.solimp = [2.0 * self.mj.option.timestep, 1.0], LOOP_IMPEDANCE
        if row.hold is Hold.DISTANCE:
            tendon = self.mj.add_tendon(name=name)
            for site_name in sites:
                tendon.wrap_site(site_name)
            equality.name1 = name
            self._distances.append((equality, row.distance))
            return
        equality.objtype = mujoco.mjtObj.mjOBJ_SITE
        equality.name1, equality.name2 = sites

    def set_distances(self, compiled: mujoco.MjModel) -> None:
        """Set the lengths of the tendons of loops. MuJoCo counts them from the length at zero positions."""
        for equality, distance in self._distances:
            equality.data[0] = distance - compiled.tendon_length0[compiled.tendon(equality.name1).id]
            compiled.eq_data[equality.id, 0] = equality.data[0]

    def _add_excludes(self, spec: ModelSpec, with_geometry: list[int]) -> None:
        names = spec.robot.link_names
        for pair in excluded_pairs(spec.robot, with_geometry):
            self.mj.add_exclude(bodyname1=body_name(spec.name, pair.first), bodyname2=body_name(spec.name, pair.second))
        if spec.has_fixed_base:
            rigid = rigid_bodies(spec.robot)
            for index in with_geometry:
                if rigid[index] == 0:
                    # Neither can move, so contacts with the floor would only waste time.
                    self.mj.add_exclude(bodyname1="world", bodyname2=body_name(spec.name, names[index]))
