# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Build bodies in Bullet from checked robots, joint by joint, with the same geometry as in MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pybullet

from robot_semantics.collision.shapes import Shape
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.simulation.collision_shapes import LinkShape, collision_shapes, excluded_pairs
from robot_semantics.simulation.inertia import BodyInertia, body_inertia, link_inertias, lumped_at_root
from robot_semantics.simulation.sim_joints import SimJoint, sim_joints
from robot_semantics.simulation.sim_loops import Hold, loop_rows
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.transforms import invert, matrix_from_xyz_quat, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray

UNLIMITED = 1e9
"""Force [N, N m] or speed [m/s, rad/s] without a limit: Bullet cannot use infinity."""
BASE = -1
"""Bullet's link number of the base of a body."""
_NO_INERTIA = body_inertia(None, moves=False)
_OVERLAP_M = 0.01
_Z = np.array([0.0, 0.0, 1.0])
_CONSTRAINTS = {Hold.POINT: pybullet.JOINT_POINT2POINT, Hold.FRAME: pybullet.JOINT_FIXED}
_KINDS = {"slide": pybullet.JOINT_PRISMATIC, "hinge": pybullet.JOINT_REVOLUTE, "ball": pybullet.JOINT_SPHERICAL}


class JointSlot(NamedTuple):
    """A joint of Bullet: its link, and the start of its position and velocity in the arrays of a robot."""

    link: int
    position: int
    velocity: int


@dataclass(eq=False)
class BulletBody:
    """One robot in Bullet.

    The arrays of a robot start with the values of a planar root joint. The values of its joint space follow.

    Attributes:
        spec: the robot.
        number: Bullet's number of the body.
        links: Bullet's link number of each link.
        scalar_joints: Bullet's joints of one variable.
        ball_joints: Bullet's ball joints: a quaternion x y z w, and an angular velocity.
        T_link_inertial: (4, 4) principal axes in the centre of mass, of Bullet's base and of each of its links.
        sizes: number of positions and number of velocities.
        pieces: by link name, the links of Bullet that collide for it.
        motors: by joint name, the link of Bullet that a motor drives, and its effort [N, N m].
    """

    spec: ModelSpec
    number: int = -1
    links: list[int] = field(default_factory=list)
    scalar_joints: list[JointSlot] = field(default_factory=list)
    ball_joints: list[JointSlot] = field(default_factory=list)
    T_link_inertial: list[FloatArray] = field(default_factory=list)
    sizes: tuple[int, int] = (0, 0)
    pieces: dict[str, list[int]] = field(default_factory=dict)
    motors: dict[str, tuple[int, float]] = field(default_factory=dict)


class BulletClient:
    """Bullet's functions for one world. The client of `pybullet_utils` writes to the standard output."""

    def __init__(self) -> None:
        self._number = pybullet.connect(pybullet.DIRECT)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(getattr(pybullet, name), physicsClientId=self._number)

    def __del__(self) -> None:
        pybullet.disconnect(self._number)


class BulletWorld:
    """A world in Bullet.

    Attributes:
        client: Bullet's functions for this world.
        bodies: robots by name.
        notes: changes and omissions that Bullet made necessary.
    """

    def __init__(self, spec: WorldSpec) -> None:
        """Build a world.

        Raises:
            WorldSpecError: PyBullet refuses the world; the message has the reason.
        """
        self.client = BulletClient()
        self.client.setGravity(0.0, 0.0, spec.gravity)
        self.client.setTimeStep(spec.timestep)
        self.client.setPhysicsEngineParameter(deterministicOverlappingPairs=1)
        ground = None
        if spec.ground:
            ground = self.client.createMultiBody(0.0, self.client.createCollisionShape(pybullet.GEOM_PLANE))
            self.client.changeDynamics(ground, BASE, lateralFriction=1.0)
        self.notes: list[BuildNote] = []
        self.bodies: dict[str, BulletBody] = {}
        for model in spec.models:
            try:
                self.bodies[model.name] = _BulletBuilder(self.client, model, self.notes).build(ground)
            except pybullet.error as error:
                raise WorldSpecError(f"PyBullet cannot build the model '{model.name}': {error}") from error

    def deepest_contact(self) -> str:
        """Return a phrase with the two links of a robot that overlap most in the last step.

        Return an empty text if no links overlap by more than 10 mm.
        """
        deep = [point for point in self.client.getContactPoints() if point[1] == point[2] and point[8] < -_OVERLAP_M]
        if not deep:
            return ""
        _, number, _, *pieces, _, _, _, depth = min(deep, key=lambda point: point[8])[:9]
        body = next(body for body in self.bodies.values() if body.number == number)
        one, other = (name for piece in pieces for name, own in body.pieces.items() if piece in own)
        return f" (links '{one}' and '{other}' of '{body.spec.name}' overlap by {-1e3 * depth:.0f} mm)"


@dataclass(eq=False)
class _LinkPart:
    """One link of Bullet: its joint to the parent, its inertia and its collision shape."""

    parent: int
    T_parent_part: FloatArray
    kind: int = pybullet.JOINT_FIXED
    axis: FloatArray = field(default_factory=lambda: _Z)
    joint: SimJoint | None = None
    inertia: BodyInertia = _NO_INERTIA
    shape: int = -1


class _BulletBuilder:
    """Adds one robot to a world."""

    def __init__(self, client: BulletClient, spec: ModelSpec, notes: list[BuildNote]) -> None:
        self.client, self.notes, self.body = client, notes, BulletBody(spec)
        self.joints = sim_joints(spec, notes, ties_several=True)
        self.parts = [_LinkPart(BASE, np.eye(4))]
        self.places: dict[str, list[int]] = {}

    def build(self, ground: int | None) -> BulletBody:
        """Return the robot. It has no pose yet."""
        spec, robot = self.body.spec, self.body.spec.robot
        inertias = link_inertias(spec, self.notes)
        if spec.has_floating_base:
            inertias = lumped_at_root(robot, inertias)
        elif spec.has_fixed_base:
            inertias[0] = _NO_INERTIA  # a base without mass stays where it is
        shapes: list[list[LinkShape]] = [[] for _ in robot.links]
        for shape in collision_shapes(spec, self.notes):
            shapes[shape.link].append(shape)
        space, root, at = JointSpace.of(robot), 0, BASE
        if spec.has_planar_base:
            root, at = 3, self._chain(self.joints[0], BASE, np.eye(4), (0, 0))
        self.body.sizes = root + space.size, root + space.velocity_size
        self._add_link(at, inertias[0], shapes[0])
        for link, joint in zip(robot.links[1:], self.joints[1:], strict=True):
            model, start = joint.joint, (0, 0)
            if joint.motions:
                start = root + space.positions_of(model).start, root + space.velocities_of(model).start
            at = self._chain(joint, self.body.links[link.parent], model.T_parent_joint, start)
            self._add_link(at, inertias[link.index], shapes[link.index])
        self._create()
        self._add_mimics()
        self._add_loops()
        self._exclude_contacts(ground)
        return self.body

    def _chain(self, joint: SimJoint, parent: int, T: FloatArray, start: tuple[int, int]) -> int:
        """Add the joints of Bullet that together move like a joint. Return the link of the last one."""
        moves = [(_KINDS[motion.kind], motion.axis) for motion in joint.motions] or [(pybullet.JOINT_FIXED, _Z)]
        places = self.places[joint.name] = []
        for place, (kind, axis) in enumerate(moves):
            self.parts.append(_LinkPart(parent, T, kind, axis, joint))
            parent, T = len(self.parts) - 2, np.eye(4)
            places.append(parent)
            slot = JointSlot(parent, start[0] + place, start[1] + place)
            if kind == pybullet.JOINT_SPHERICAL:
                self.body.ball_joints.append(slot)
            elif kind != pybullet.JOINT_FIXED:
                self.body.scalar_joints.append(slot)
        return parent

    def _add_link(self, bullet_link: int, inertia: BodyInertia, shapes: list[LinkShape]) -> None:
        """Give a link of Bullet an inertia and a shape. Each further shape becomes a fixed link without mass.

        The further links follow directly: Bullet numbers links depth first, in any order of creation.
        """
        name = self.body.spec.robot.link_names[len(self.body.links)]
        self.body.links.append(bullet_link)
        self.parts[bullet_link + 1].inertia = inertia
        for number, each in enumerate(shapes):
            if number:
                self.parts.append(_LinkPart(bullet_link, np.eye(4)))
            piece = bullet_link if number == 0 else len(self.parts) - 2
            self.parts[piece + 1].shape = self._shape(each.shape, each.T_link_shape)
            self.body.pieces.setdefault(name, []).append(piece)

    def _shape(self, shape: Shape, T_link_shape: FloatArray) -> int:
        pose, kinds = xyz_quat_from_matrix(T_link_shape), mujoco.mjtGeom
        if shape.hull is not None:
            options: dict[str, object] = {"shapeType": pybullet.GEOM_MESH, "vertices": shape.hull.vertices.tolist()}
        elif shape.type == kinds.mjGEOM_BOX:
            options = {"shapeType": pybullet.GEOM_BOX, "halfExtents": shape.size}
        elif shape.type == kinds.mjGEOM_SPHERE:
            options = {"shapeType": pybullet.GEOM_SPHERE, "radius": shape.size[0]}
        else:
            kind = pybullet.GEOM_CYLINDER if shape.type == kinds.mjGEOM_CYLINDER else pybullet.GEOM_CAPSULE
            options = {"shapeType": kind, "radius": shape.size[0], "height": 2.0 * shape.size[1]}
        placed = {"collisionFramePosition": pose[:3].tolist(), "collisionFrameOrientation": pose[3:].tolist()}
        return int(self.client.createCollisionShape(**options, **placed))

    def _create(self) -> None:
        base, *parts = self.parts
        poses = [xyz_quat_from_matrix(part.T_parent_part) for part in parts]
        inertias = [part.inertia for part in parts]
        body = self.body
        body.number = self.client.createMultiBody(
            baseMass=base.inertia.mass,
            baseCollisionShapeIndex=base.shape,
            baseInertialFramePosition=base.inertia.xyz.tolist(),
            baseInertialFrameOrientation=base.inertia.quat_xyzw.tolist(),
            linkMasses=[inertia.mass for inertia in inertias],
            linkCollisionShapeIndices=[part.shape for part in parts],
            linkVisualShapeIndices=[-1] * len(parts),
            linkPositions=[pose[:3].tolist() for pose in poses],
            linkOrientations=[pose[3:].tolist() for pose in poses],
            linkInertialFramePositions=[inertia.xyz.tolist() for inertia in inertias],
            linkInertialFrameOrientations=[inertia.quat_xyzw.tolist() for inertia in inertias],
            linkParentIndices=[part.parent + 1 for part in parts],
            linkJointTypes=[part.kind for part in parts],
            linkJointAxis=[part.axis.tolist() for part in parts],
            flags=pybullet.URDF_USE_SELF_COLLISION,
        )
        if body.number < 0 or self.client.getNumJoints(body.number) != len(parts):
            message = f"it refuses a robot of {len(parts)} links and pieces"
            raise WorldSpecError(f"PyBullet cannot build the model '{body.spec.name}': {message}")
        body.T_link_inertial = [matrix_from_xyz_quat(part.inertia.xyz, part.inertia.quat_xyzw) for part in self.parts]
        for at, part in enumerate(self.parts, start=BASE):
            self.client.changeDynamics(
                body.number,
                at,
                localInertiaDiagonal=part.inertia.moments.tolist(),
                lateralFriction=1.0,
                linearDamping=0.0,
                angularDamping=0.0,
                jointDamping=0.0,
                # Without it, links under a lasting force slide slowly for ever, for example feet under a weight. Wheels
                # under a driven base must not stick.
                frictionAnchor=int(body.spec.has_floating_base),
            )
            # In one call with the moments, Bullet would ignore these.
            self.client.changeDynamics(body.number, at, maxJointVelocity=UNLIMITED)
            if part.joint is not None and part.kind != pybullet.JOINT_FIXED:
                self._set_joint(at, part.kind, part.joint)

    def _set_joint(self, bullet_link: int, kind: int, joint: SimJoint) -> None:
        """Set the damping, friction, limits and motor of a joint of Bullet."""
        number, friction = self.body.number, joint.friction
        self.client.changeDynamics(number, bullet_link, jointDamping=joint.damping)
        if kind == pybullet.JOINT_SPHERICAL:
            how = pybullet.POSITION_CONTROL
            self.client.setJointMotorControlMultiDof(
                number, bullet_link, how, targetPosition=[0, 0, 0, 1], force=[0, 0, 0]
            )
            return
        # Friction is a motor with velocity 0. Without a command, Bullet uses a motor of its own.
        self.client.setJointMotorControl2(number, bullet_link, pybullet.VELOCITY_CONTROL, force=friction)
        if joint.limits is not None:
            lower, upper = joint.limits
            limits = {"jointLowerLimit": lower, "jointUpperLimit": upper, "jointLimitForce": UNLIMITED}
            self.client.changeDynamics(number, bullet_link, **limits)
        if joint.driven and len(joint.motions) == 1:
            self.body.motors[joint.name] = bullet_link, min(joint.effort, UNLIMITED)
            if friction:
                message = f"has friction {friction:g}, which PyBullet gives only to joints without motors"
                self.notes.append(BuildNote(self.body.spec.name, f"joint '{joint.name}'", message))

    def _add_mimics(self) -> None:
        """Make mimic joints follow their leaders."""
        number, nowhere = self.body.number, [0.0, 0.0, 0.0]
        for joint in self.joints:
            for leader, part, multiplier, offset in joint.ties:
                at, led_by = self.places[joint.name][part], self.places[leader.name][part]
                gear = self.client.createConstraint(
                    number, at, number, led_by, pybullet.JOINT_GEAR, [0.0, 0.0, 1.0], nowhere, nowhere
                )
                # follower + ratio * leader = target
                changes = {"gearRatio": -multiplier, "relativePositionTarget": offset, "maxForce": UNLIMITED}
                self.client.changeConstraint(gear, **changes)

    def _add_loops(self) -> None:
        """Close the loops. Bullet has the frames relative to the principal axes in the centres of mass."""
        body = self.body
        for row in loop_rows(body.spec, self.notes, "PyBullet", _CONSTRAINTS):
            ends, nowhere, links = [], [0.0, 0.0, 0.0], [body.links[row.parent], body.links[row.child]]
            for at, T_link_frame in zip(links, (row.T_parent_frame, row.T_child_frame), strict=True):
                ends.append(xyz_quat_from_matrix(invert(body.T_link_inertial[at + 1]) @ T_link_frame))
            number = self.client.createConstraint(
                body.number,
                links[0],
                body.number,
                links[1],
                _CONSTRAINTS[row.hold],
                nowhere,
                *(end[:3].tolist() for end in ends),
                *(end[3:].tolist() for end in ends),
            )
            self.client.changeConstraint(number, maxForce=UNLIMITED)

    def _exclude_contacts(self, ground: int | None) -> None:
        """Switch off contacts of excluded pairs. Contacts of a fixed base with the floor only waste time."""
        robot, number = self.body.spec.robot, self.body.number
        index = robot.link_index
        for first, second in excluded_pairs(robot, [index[name] for name in self.body.pieces]):
            for one in self.body.pieces[first]:
                for other in self.body.pieces[second]:
                    self.client.setCollisionFilterPair(number, number, one, other, 0)
        rigid = rigid_bodies(robot)
        for name, pieces in self.body.pieces.items():
            for number_of, one in enumerate(pieces):
                for other in pieces[number_of + 1 :]:
                    self.client.setCollisionFilterPair(number, number, one, other, 0)
                if ground is not None and self.body.spec.has_fixed_base and rigid[index[name]] == 0:
                    self.client.setCollisionFilterPair(number, ground, one, BASE, 0)
