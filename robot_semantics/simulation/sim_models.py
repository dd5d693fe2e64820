# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints, loops, shapes and inertia of a simulated model, the same for every engine; builders only translate them."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from robot_semantics.base.names import LinkPair, quoted
from robot_semantics.base.record import record
from robot_semantics.collision.shapes import GeometryError, Shape, shape_of
from robot_semantics.kinematics.joint_space import followings
from robot_semantics.kinematics.motions import ElementaryMotion, elementary_motions
from robot_semantics.model.queries import pair_status
from robot_semantics.model.rigid_bodies import inertia_matrix, rigid_bodies
from robot_semantics.model.robot_model import ConstraintType, JointModel, LoopConstraint, RobotModel
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec
from robot_semantics.transforms import matrix_from_quat, quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_from_origin
from robot_semantics.urdf.tree import Collision


class Tie(NamedTuple):
    """``position[part] = multiplier * position[part] of leader + offset``."""

    leader: JointModel
    part: int
    multiplier: float
    offset: float


@record(frozen=True, slots=True, eq=False)
class SimJoint:
    """One simulated joint.

    Attributes:
        joint: the joint of the description, or the root joint.
        motions: its elementary motions; a fixed joint has none.
        limits: lower and upper position [rad, m] of a joint with one variable, or None without limits.
        damping: viscous damping [N s/m, N m s/rad].
        friction: dry friction [N, N m].
        effort: largest force or torque of its motor [N, N m]; infinite without a limit.
        ties: equations that make its variables follow a leader; empty without a leader.
        driven: whether motors drive it. A motor drives a commandable joint that does not float. The root joint may be
            passive.
    """

    joint: JointModel
    motions: tuple[ElementaryMotion, ...]
    limits: tuple[float, float] | None
    damping: float
    friction: float
    effort: float
    ties: tuple[Tie, ...]
    driven: bool

    @property
    def name(self) -> str:
        """The joint's name."""
        return self.joint.name

    @property
    def axis(self) -> FloatArray:
        """(3,) unit axis in the joint frame; a planar joint's is the normal of its plane."""
        return self.joint.axis


def sim_joints(spec: ModelSpec, notes: list[BuildNote], *, ties_several: bool) -> tuple[SimJoint, ...]:
    """Return the joints of a model in the order of its links, the root joint first.

    Args:
        spec: the model.
        notes: receives a note for each statement that cannot be simulated.
        ties_several: whether the simulator can tie planar joints and the translation of floating ones, because it makes
            them from joints with one variable.
    """
    followed = _ties(spec, notes, several=ties_several)
    joints = []
    root = spec.root_joint
    for joint in (root, *spec.robot.joints[1:]):
        motions = elementary_motions(joint)
        axes_only = all(motion.kind != "ball" for motion in motions)
        # A simulated base can be driven, also if it is passive in the SRDF.
        driven = axes_only and (joint.is_commandable or (joint is root and joint.is_active))
        limits, effort = None, np.inf
        if len(motions) == 1:
            limits = _limits(spec, joint, notes)
            effort = _effort(spec, joint, notes) if driven else np.inf
        ties = followed.get(joint.name, ())
        joints.append(SimJoint(joint, motions, limits, joint.damping, joint.friction, effort, ties, driven))
    return tuple(joints)


def _limits(spec: ModelSpec, joint: JointModel, notes: list[BuildNote]) -> tuple[float, float] | None:
    lower, upper = joint.limits.lower, joint.limits.upper
    if not (np.isfinite(lower) and np.isfinite(upper)):
        return None
    if upper > lower:
        return lower, upper
    notes.append(BuildNote(spec.name, f"joint '{joint.name}'", f"has limits {lower:g} and {upper:g}: not limited"))
    return None


def _effort(spec: ModelSpec, joint: JointModel, notes: list[BuildNote]) -> float:
    effort = joint.limits.effort
    if effort > 0.0:
        return effort
    notes.append(BuildNote(spec.name, f"joint '{joint.name}'", f"has the effort limit {effort:g}: not limited"))
    return np.inf


def _ties(spec: ModelSpec, notes: list[BuildNote], *, several: bool) -> dict[str, tuple[Tie, ...]]:
    """Return the ties of each mimic joint. A note names each joint that does not follow, or follows only in part."""
    ties = {}
    for joint, leader, mimic in followings(spec.robot):
        part = f"joint '{joint.name}'"
        if leader.virtual and not spec.has_planar_base:
            notes.append(BuildNote(spec.name, part, f"does not follow the virtual joint '{leader.name}' here"))
        elif joint.position_count > 1 and not several:
            message = f"does not follow '{leader.name}' here: only joints with one variable do"
            notes.append(BuildNote(spec.name, part, message))
        else:
            if joint.motion.has_quaternion:
                message = f"follows '{leader.name}' here in its translation only; its rotation is free"
                notes.append(BuildNote(spec.name, part, message))
            parts = range(joint.motion.mimicked)
            ties[joint.name] = tuple(Tie(leader, at, mimic.multiplier, mimic.offset) for at in parts)
    return ties


class Hold(enum.Enum):
    """What a row of a constraint keeps."""

    POINT = "point"
    """The origins of both frames coincide."""
    DISTANCE = "distance"
    """The origins of both frames keep a distance."""
    FRAME = "frame"
    """Both frames coincide."""


class LoopRow(NamedTuple):
    """One constraint of an engine.

    Attributes:
        name: name of the loop constraint.
        hold: what the row keeps.
        parent, child: indices of the links.
        T_parent_frame, T_child_frame: (4, 4) frames of the row in these links [m].
        distance: distance of the origins [m].
    """

    name: str
    hold: Hold
    parent: int
    child: int
    T_parent_frame: FloatArray
    T_child_frame: FloatArray
    distance: float


_ROWS = {
    ConstraintType.SPHERICAL: ((Hold.POINT, 0.0),),
    ConstraintType.REVOLUTE: ((Hold.POINT, -1.0), (Hold.POINT, 1.0)),
    ConstraintType.UNIVERSAL: ((Hold.POINT, 0.0), (Hold.DISTANCE, 1.0)),
    ConstraintType.PRISMATIC: (),
    ConstraintType.LINK: ((Hold.FRAME, 0.0),),
}
"""Rows of each type, and how far along its axes their origins are, in lever arms.

Two points on a common axis leave only the rotation about this axis. The ends of two perpendicular axes of length 1 that
start at one point have the distance sqrt(2). No engine has a prismatic constraint.
"""


def loop_rows(spec: ModelSpec, notes: list[BuildNote], engine: str, held: Collection[Hold]) -> tuple[LoopRow, ...]:
    """Return the constraints that close the loops of a model.

    Args:
        spec: the model.
        notes: receives a note for each constraint that the engine does not keep, or keeps only in part.
        engine: the engine's name in notes.
        held: the rows that the engine has.
    """
    constraints, rows = spec.robot.constraints, list[LoopRow]()
    if spec.loops is not None and spec.loops.problem:
        part = f"constraints {quoted([constraint.name for constraint in constraints], 9)}"
        notes.append(BuildNote(spec.name, part, f"are not closed in the positions of a state: {spec.loops.problem}"))
    for constraint in constraints:
        wanted = tuple(_rows(spec, constraint))
        kept = [row for row in wanted if row.hold in held]
        rows += kept
        if not wanted or len(kept) < len(wanted):
            result = "holds only as a spherical one" if kept else "is not simulated, and its loop opens"
            kind = constraint.type.value
            notes.append(
                BuildNote(spec.name, f"constraint '{constraint.name}'", f"{result}: {engine} has no {kind} constraint")
            )
    return tuple(rows)


def lost_loops(spec: ModelSpec) -> list[str]:
    """Return a line for each loop constraint of a model, for a format that has no such constraints."""
    return [f"model '{spec.name}': constraint '{each.name}': its loop opens" for each in spec.robot.constraints]


def _rows(spec: ModelSpec, constraint: LoopConstraint) -> Iterator[LoopRow]:
    index = spec.robot.link_index
    parent, child = constraint.T_parent_frame, constraint.T_child_frame
    # As long as the links: then an angle weighs as much as a distance.
    arm = max(float(np.linalg.norm(parent[:3, 3])), float(np.linalg.norm(child[:3, 3]))) or _ARM
    is_crossed = constraint.type is ConstraintType.UNIVERSAL
    axis = constraint.parent_axis
    for hold, arms in _ROWS[constraint.type]:
        ends = (
            _moved(parent, arms * arm * axis),
            _moved(child, arms * arm * (constraint.child_axis if is_crossed else axis)),
        )
        yield LoopRow(
            constraint.name,
            hold,
            index[constraint.parent_link],
            index[constraint.child_link],
            *ends,
            arm * np.sqrt(2.0) if hold is Hold.DISTANCE else 0.0,
        )


_ARM = 0.1
"""Lever arm [m] of a constraint whose frames are both at the origins of their links."""


def _moved(T: FloatArray, offset: FloatArray) -> FloatArray:
    """Return a (4, 4) frame with its origin moved by `offset` (3,) in its own axes."""
    moved = np.array(T)
    moved[:3, 3] += T[:3, :3] @ offset
    return moved


class LinkShape(NamedTuple):
    """One collision geometry: the index of its link, its name ``LINK/NUMBER``, and ``T_link_shape`` (4, 4) [m]."""

    link: int
    name: str
    shape: Shape
    T_link_shape: FloatArray
    collision: Collision


def collision_shapes(spec: ModelSpec, notes: list[BuildNote]) -> list[LinkShape]:
    """Return the collision shapes of a robot, link by link. Each geometry that cannot be used gets a note."""
    shapes = []
    for link in spec.robot.links:
        for number, collision in enumerate(link.urdf.collisions):
            try:
                shape = shape_of(collision.geometry, spec.find_mesh)
            except GeometryError as error:
                message = f"collides without its geometry {number}: {error}"
                notes.append(BuildNote(spec.name, f"link '{link.name}'", message))
                continue
            T_link_shape = matrix_from_origin(collision.origin)
            shapes.append(LinkShape(link.index, f"{link.name}/{number}", shape, T_link_shape, collision))
    if len({each.link for each in shapes}) > 1 and spec.robot.semantics.srdf is None:
        notes.append(BuildNote(spec.name, "self-collision", "is off: no SRDF states which links may touch"))
    return shapes


def excluded_pairs(robot: RobotModel, links: Iterable[int]) -> tuple[LinkPair, ...]:
    """Return the pairs of `links` (indices) that are never tested for collision, sorted.

    A pair is excluded in four cases:

    - Both links are in one rigid body.
    - A joint or a loop constraint connects the bodies of the links.
    - The SRDF does not check the pair (`pair_status`).
    - The robot has no SRDF.
    """
    rigid, names = rigid_bodies(robot), robot.link_names
    above = {rigid[link.index]: rigid[link.parent] for link in robot.links[1:] if rigid[link.index] == link.index}
    index = robot.link_index
    looped = {frozenset((rigid[index[c.parent_link]], rigid[index[c.child_link]])) for c in robot.constraints}
    no_srdf = robot.semantics.srdf is None
    excluded = []
    for first, second in combinations(links, 2):
        a, b = rigid[first], rigid[second]
        joined = a == b or above.get(a) == b or above.get(b) == a or frozenset((a, b)) in looped
        status = pair_status(robot, names[first], names[second])
        if joined or no_srdf or not status.checked:
            excluded.append(status.pair)
    return tuple(sorted(excluded))


SMALLEST_MASS = 1e-3
"""Mass [kg] of a moving body without mass: a simulator needs one."""
SMALLEST_GYRATION = 1e-3
"""Radius of gyration [m] of a moving body about an axis with a zero moment."""
ZERO_GYRATION = 1e-6
"""Largest radius of gyration [m] that is treated as zero."""


@record(frozen=True, slots=True, eq=False)
class BodyInertia:
    """Inertia of one body, in its link's frame.

    Attributes:
        mass: [kg].
        xyz: (3,) centre of mass [m].
        quat_xyzw: (4,) orientation of the principal axes.
        moments: (3,) principal moments [kg m²].
        changes: one message for each change; empty if the description was used unchanged.

    """

    mass: float
    xyz: FloatArray
    quat_xyzw: FloatArray
    moments: FloatArray
    changes: tuple[str, ...] = ()


def link_inertias(spec: ModelSpec, notes: list[BuildNote]) -> list[BodyInertia]:
    """Return the inertia of every link of a model. Add each change to `notes`."""
    robot = spec.robot
    rigid = rigid_bodies(robot)
    heavy = {rigid[link.index] for link in robot.links if link.urdf.inertial and link.urdf.inertial.mass > 0.0}
    inertias = []
    for link, joint in zip(robot.links, robot.joints, strict=True):
        is_fixed = spec.has_fixed_base if link.index == 0 else not joint.position_count
        own = bool(link.urdf.inertial and link.urdf.inertial.mass > 0.0)
        moves = not is_fixed and (own or rigid[link.index] not in heavy)
        inertias.append(body_inertia(link.urdf.inertial, moves=moves))
        notes += [BuildNote(spec.name, f"link '{link.name}'", change) for change in inertias[-1].changes]
    return inertias


def body_inertia(inertial: urdf_tree.Inertial | None, *, moves: bool) -> BodyInertia:
    """Return the principal inertia of a link.

    MuJoCo demands more than URDF: positive moments that fulfil the triangle inequality, and a mass for every moving
    body. Other values are changed as little as possible, and each change is stated.

    Args:
        inertial: the link's element, or None.
        moves: whether the link moves against its parent, and nothing heavy is fixed to it.

    """
    if inertial is None or (inertial.mass <= 0.0 and not any(inertial.inertia)):
        if not moves:
            return BodyInertia(0.0, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3))
        moments = np.full(3, SMALLEST_MASS * SMALLEST_GYRATION**2)
        change = f"moves but has no mass: {SMALLEST_MASS:g} kg assumed"
        return BodyInertia(SMALLEST_MASS, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), moments, (change,))
    changes: list[str] = []
    mass = inertial.mass
    if mass <= 0.0:
        mass = SMALLEST_MASS
        changes.append(f"has moments but no mass: {SMALLEST_MASS:g} kg assumed")
    T_link_inertial = matrix_from_origin(inertial.origin)
    inertia = inertia_matrix(inertial)
    moments, axes = inertia.diagonal().copy(), np.eye(3)
    # Keep diagonal inertias as written: an eigensolver would reorder the axes.
    if not np.array_equal(inertia, np.diag(moments)):
        moments, axes = np.linalg.eigh(inertia)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
    moments = _possible_moments(moments, mass, moves, changes)
    quat_xyzw = quat_from_matrix(T_link_inertial[:3, :3] @ axes)
    return BodyInertia(mass, T_link_inertial[:3, 3], quat_xyzw, moments, tuple(changes))


def _possible_moments(moments: FloatArray, mass: float, moves: bool, changes: list[str]) -> FloatArray:
    """Return moments that a rigid body can have: not negative, and each at most the sum of the two others."""
    floor = mass * SMALLEST_GYRATION**2 if moves else 0.0
    least, most = moments.min(), moments.max()
    if least < -1e-9 * most:
        changes.append(f"has a negative principal moment of inertia ({least:.3g} kg m²): raised to {floor:.3g}")
        result = np.maximum(moments, floor)
    elif moves and least <= mass * ZERO_GYRATION**2:
        changes.append(f"moves but has a principal moment of inertia of zero: raised to {floor:.3g} kg m²")
        result = np.maximum(moments, floor)
    else:
        result = np.maximum(moments, 0.0)
    order = np.argsort(result)
    small, middle, large = result[order]
    deficit = large - (small + middle)
    if deficit > 0.0:
        # A thin plate fulfils the inequality with equality, so a rounding error gives no message.
        if deficit > 1e-6 * large:
            changes.append(
                f"has moments of inertia that no rigid body has (by {deficit:.3g} kg m²): the smaller ones raised"
            )
        result = result.copy()
        result[order[:2]] += 0.5 * deficit * (1.0 + 1e-9) + 1e-15 * large
    return result


def lumped_at_root(robot: RobotModel, inertias: list[BodyInertia]) -> list[BodyInertia]:
    """Return the inertias with all links fixed to the root link added to it, for engines whose base has mass.

    Args:
        robot: the robot.
        inertias: inertias of its links.

    """
    rigid, T_root_link = rigid_bodies(robot), [np.eye(4)]
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        T_root_link.append(T_root_link[link.parent] @ joint.T_parent_joint)
    heavy = [index for index, inertia in enumerate(inertias) if rigid[index] == 0 and inertia.mass > 0.0]
    if heavy in ([], [0]):
        return inertias
    mass = np.array([inertias[index].mass for index in heavy])
    centres = np.array([(T_root_link[index] @ [*inertias[index].xyz, 1.0])[:3] for index in heavy])
    centre = mass @ centres / mass.sum()
    total = np.zeros((3, 3))
    for index, m, d in zip(heavy, mass, centres - centre, strict=True):
        R = T_root_link[index][:3, :3] @ matrix_from_quat(inertias[index].quat_xyzw)
        total += R @ np.diag(inertias[index].moments) @ R.T + m * (d @ d * np.eye(3) - np.outer(d, d))
    moments, axes = np.linalg.eigh(total)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    nothing = body_inertia(None, moves=False)
    result = [nothing if index in heavy else inertia for index, inertia in enumerate(inertias)]
    result[0] = BodyInertia(float(mass.sum()), centre, quat_from_matrix(axes), moments)
    return result
