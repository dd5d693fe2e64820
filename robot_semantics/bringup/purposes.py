# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What a simulator, MoveIt or Gazebo would say of a robot whose files have no fault: `check --for`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import JointModel, LinkModel, RobotModel
from robot_semantics.urdf.tree import Box, Capsule, Collision, Cylinder, Geometry, Limit, Mesh, Sphere, Visual

HUGE = 20.0
"""Extent of one shape that is probably in millimetres [m]."""


def check_for(
    purpose: str,
    robot: RobotModel,
    diagnostics: Diagnostics,
    resolver: PackageResolver,
    is_reserved: Callable[[str], bool],
) -> None:
    """Add warnings about values that are valid in the files, and that a program changes, ignores or refuses.

    Args:
        purpose: ``simulation``, ``moveit`` or ``gazebo``.
        robot: the checked robot.
        diagnostics: takes the warnings.
        resolver: finds mesh files; a mesh that cannot be read is not measured.
        is_reserved: whether SDFormat reserves a name.
    """
    places = robot.urdf.places
    for link in robot.links:
        place = places.place(link.urdf.ordinal)
        for code, message in _link_problems(purpose, robot, link, is_reserved):
            diagnostics.warning(code, f"link '{link.name}': {message}", place)
        parts: tuple[Visual | Collision, ...] = (*link.urdf.visuals, *link.urdf.collisions)
        for part in parts:
            extent = _extent(part, robot, resolver)
            if extent > HUGE:
                message = f"link '{link.name}': a shape is {extent:.4g} m long: is it in millimetres?"
                diagnostics.warning("huge-link", message, places.place(part.geometry.ordinal))
    for joint in robot.joints:
        if joint.urdf is not None:
            limit = joint.urdf.limit
            for code, message in _joint_problems(purpose, joint, limit, is_reserved):
                place = places.place((limit or joint.urdf).ordinal)
                diagnostics.warning(code, f"joint '{joint.name}': {message}", place)
    semantics = robot.semantics
    if purpose == "moveit" and not semantics.groups:
        diagnostics.warning("no-group", "no planning group: MoveIt plans for groups of an SRDF", _root(robot))
    elif purpose == "moveit" and not semantics.virtual_joints:
        message = f"no virtual joint: MoveIt fixes the root link '{robot.root_link}' to the world"
        diagnostics.warning("no-virtual-joint", message, _root(robot))


def _root(robot: RobotModel) -> SourcePlace:
    return robot.urdf.places.place(max(robot.urdf.ordinal, 0))


def _link_problems(
    purpose: str, robot: RobotModel, link: LinkModel, is_reserved: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    inertial = link.urdf.inertial
    if purpose in ("simulation", "gazebo") and link.parent >= 0:
        moves = robot.joints[link.index].position_count > 0
        if moves and (inertial is None or inertial.mass <= 0.0):
            does = (
                "simulators refuse it or assume one" if purpose == "simulation" else "Gazebo ignores it and its joint"
            )
            yield "no-mass", f"it moves and has no mass: {does}"
        elif inertial is not None and inertial.mass > 0.0 and not any(inertial.inertia):
            yield "no-inertia", f"it has a mass of {inertial.mass:g} kg and no moment of inertia"
    if purpose in ("simulation", "moveit") and link.urdf.visuals and not link.urdf.collisions:
        yield "no-collision", "it has a visual shape and no collision shape: nothing collides with it"
    if purpose == "gazebo" and is_reserved(link.name):
        yield "sdf-name", "SDFormat reserves this name: Gazebo refuses the robot"


def _joint_problems(
    purpose: str, joint: JointModel, limit: Limit | None, is_reserved: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    if joint.position_count == 1 and joint.mimic is None and limit is not None:
        if purpose in ("simulation", "gazebo") and limit.effort == 0.0:
            yield "zero-limit", "the effort limit is 0: a motor cannot move it, or its effort is not limited"
        if limit.velocity == 0.0:
            who = "MoveIt cannot time a trajectory" if purpose == "moveit" else "it cannot move, or is not limited"
            yield "zero-limit", f"the velocity limit is 0: {who}"
    if purpose == "gazebo" and is_reserved(joint.name):
        yield "sdf-name", "SDFormat reserves this name: Gazebo refuses the robot"


def _extent(part: Visual | Collision, robot: RobotModel, resolver: PackageResolver) -> float:
    """Return the largest extent of a shape along an axis [m]; 0 if it cannot be measured."""
    shape: Geometry = part.geometry
    if isinstance(shape, Box):
        return max(shape.size)
    if isinstance(shape, Cylinder):
        return max(shape.length, 2.0 * shape.radius)
    if isinstance(shape, Capsule):
        return shape.length + 2.0 * shape.radius
    if isinstance(shape, Sphere):
        return 2.0 * shape.radius
    return _mesh_extent(shape, robot, resolver)


def _mesh_extent(mesh: Mesh, robot: RobotModel, resolver: PackageResolver) -> float:
    # Import here: few checks measure meshes.
    from robot_semantics.model.mesh_files import mesh_surface

    try:
        vertices = mesh_surface(Path(resolver.resolve(mesh.filename, robot.urdf.places.source))).vertices
    except (RobotSemanticsError, OSError):
        return 0.0
    if not len(vertices):
        return 0.0
    extents = (vertices.max(axis=0) - vertices.min(axis=0)).tolist()
    return float(max(extent * abs(scale) for extent, scale in zip(extents, mesh.scale or (1.0,) * 3, strict=True)))
