# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Inertia of a simulated link: mass, principal axes and possible moments, from a URDF's `<inertial>`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_semantics.model.rigid_bodies import inertia_matrix, rigid_bodies
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec
from robot_semantics.transforms import matrix_from_quat, quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_of

SMALLEST_MASS = 1e-3
"""Mass [kg] of a moving body without mass: a simulator needs one."""
SMALLEST_GYRATION = 1e-3
"""Radius of gyration [m] of a moving body about an axis with a zero moment."""
ZERO_GYRATION = 1e-6
"""Largest radius of gyration [m] that is treated as zero."""


@dataclass(frozen=True, slots=True, eq=False)
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
    T_link_inertial = matrix_of(inertial.origin)
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
    heavy = [at for at, inertia in enumerate(inertias) if rigid[at] == 0 and inertia.mass > 0.0]
    if heavy in ([], [0]):
        return inertias
    mass = np.array([inertias[at].mass for at in heavy])
    centres = np.array([(T_root_link[at] @ [*inertias[at].xyz, 1.0])[:3] for at in heavy])
    centre = mass @ centres / mass.sum()
    total = np.zeros((3, 3))
    for at, m, d in zip(heavy, mass, centres - centre, strict=True):
        R = T_root_link[at][:3, :3] @ matrix_from_quat(inertias[at].quat_xyzw)
        total += R @ np.diag(inertias[at].moments) @ R.T + m * (d @ d * np.eye(3) - np.outer(d, d))
    moments, axes = np.linalg.eigh(total)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    nothing = body_inertia(None, moves=False)
    result = [nothing if at in heavy else inertia for at, inertia in enumerate(inertias)]
    result[0] = BodyInertia(float(mass.sum()), centre, quat_from_matrix(axes), moments)
    return result
