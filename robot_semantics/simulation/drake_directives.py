# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The simulated world as Drake's model directives: the files of the robots, and their poses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from robot_semantics.convert.conversion import Converted
from robot_semantics.simulation.sim_models import lost_loops
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec, WorldSpecError, file_uri
from robot_semantics.transforms import matrix_from_xyz_quat, quat_normalize, xyz_rpy_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Box, Capsule, Collision, Cylinder, Geometry, Joint, Mesh, Sphere, Visual
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState
from robot_semantics.xml.numbers import shortest

FLOATING_Q = (4, 5, 6, 1, 2, 3, 0)
"""Columns of x y z qx qy qz qw in Drake's qw qx qy qz x y z."""

MESHES = (".obj", ".vtk", ".gltf")
"""Endings of the meshes that may collide in Drake."""


SHORTEST_AXIS = 1e-8
"""Length of an axis that Drake takes for zero."""


def directives_of(spec: WorldSpec, state: WorldState) -> Converted[str]:
    """Return model directives that load the URDFs of the robots in Drake, posed as in a captured `state`.

    Comments at its beginning say what the program that loads it must have.

    Raises:
        WorldSpecError: the path of a robot's URDF is unknown, Drake reads another robot from it, or Drake cannot name
            or place its root link.
    """
    placed, lines, lost_items = resolve_frames(state), ["directives:"], []
    needs: dict[str, None] = {}
    states = {model.name: model for model in state.models}
    for model in spec.models:
        T_world_root = placed.pose(model.name)
        _check_file(model)
        _check_names(model, T_world_root)
        lines += _added(model, states[model.name], T_world_root)
        needs.update(dict.fromkeys(_needs(model)))
        if model.has_planar_base:
            lost_items.append(f"model '{model.name}': the planar motion of its base: it is welded in place")
        lost_items += lost_loops(model)
        if model.robot.semantics.srdf is not None:
            lost_items.append(f"model '{model.name}': its SRDF, including the excluded pairs")
        meshes = _unread_meshes(model)
        if meshes:
            more = f" and {len(meshes) - 1} more" if meshes[1:] else ""
            words = f"Drake refuses it for its collision meshes, which are not {', '.join(MESHES)}: '{meshes[0]}'{more}"
            lost_items.append(f"model '{model.name}' as it is: {words}")
    lost_items.append("velocities, commands and the time")
    if spec.ground:
        lost_items.append("the floor")
    comments = [f"# The program that loads this file needs {need}" for need in needs]
    lost_items += [f"what the program that loads the file needs: {need}" for need in needs]
    return Converted("\n".join([*comments, *lines]) + "\n", tuple(lost_items))


def _check_file(spec: ModelSpec) -> None:
    """Refuse a robot that Drake does not read from its file, or reads as another one.

    Raises:
        WorldSpecError: it is one.
    """
    reason = next(_faults(spec), None)
    if reason is not None:
        raise WorldSpecError(f"model '{spec.name}': Drake cannot read '{spec.description}' as it is meant: {reason}")


def _faults(spec: ModelSpec) -> Iterator[str]:
    """Yield what Drake does not read, or reads otherwise, and the remedy."""
    urdf = spec.robot.urdf
    if str(spec.description).endswith(".xacro"):
        yield "it is a xacro; 'robot_semantics expand' writes a URDF"
    if urdf.rewritten:
        yield "it has an older form of joints; 'robot_semantics upgrade' writes the current one"
    origins = [joint.origin for joint in urdf.joints]
    for link in urdf.links:
        shapes: list[Visual | Collision] = [*link.visuals, *link.collisions]
        origins += [part.origin for part in (*shapes, link.inertial) if part is not None]
        for shape in (part.geometry for part in shapes):
            if min(_sizes(shape), default=1.0) <= 0.0:
                yield f"a {type(shape).__name__.lower()} of link '{link.name}' has a size that is not above 0"
    if any(origin is not None and origin.quat_xyzw is not None for origin in origins):
        yield "Drake ignores quat_xyzw; write an .sdf"
    for joint in urdf.joints:
        yield from _faults_of_joint(joint)


def _faults_of_joint(joint: Joint) -> Iterator[str]:
    limit, dynamics = joint.limit, joint.dynamics
    numbers = [*((limit.effort, limit.velocity) if limit else ()), *((dynamics.damping,) if dynamics else ())]
    if any(number is not None and number < 0.0 for number in numbers):
        yield f"an effort, a velocity or a damping of joint '{joint.name}' is negative"
    if joint.axis is not None and np.linalg.norm(joint.axis) < SHORTEST_AXIS:
        yield f"the axis of joint '{joint.name}' is too short"


def _sizes(shape: Geometry) -> tuple[float, ...]:
    """Return the sizes of a shape that must be above 0."""
    if isinstance(shape, Box):
        return shape.size
    if isinstance(shape, Cylinder | Capsule):
        return shape.radius, shape.length
    return (shape.radius,) if isinstance(shape, Sphere) and shape.radius else ()


def _check_names(spec: ModelSpec, T_world_root: FloatArray) -> None:
    """Refuse a robot whose links Drake takes for others: the directives name the URDF, so no name can be changed.

    Raises:
        WorldSpecError: it is one.
    """
    root = spec.robot.root_link
    advice = "write an .sdf, in which names are changed"
    is_at_world = spec.has_fixed_base and np.array_equal(T_world_root, np.eye(4))
    if WORLD in spec.robot.link_names[0 if not is_at_world else 1 :]:
        reason = f"Drake takes link '{WORLD}' for the world itself"
        reason += ", from which its root cannot stand apart" if root == WORLD else ", which no joint may move"
        raise WorldSpecError(f"model '{spec.name}': {reason}; {advice}")
    if "" in spec.name.split("::"):
        raise WorldSpecError(f"model '{spec.name}': Drake has no model with this name; {advice}")
    if not spec.has_floating_base and f"{spec.name}::{root}".rpartition("::") != (spec.name, "::", root):
        raise WorldSpecError(f"model '{spec.name}': Drake cannot name its root link '{root}'; {advice}")


def _needs(spec: ModelSpec) -> Iterator[str]:
    """Yield the packages and files of a robot that the directives name but do not contain."""
    names = sorted({shape.filename for shape in _shapes(spec, with_visuals=True)})
    files = [str(spec.description), *names]
    packages = dict.fromkeys(name.split("/")[2] for name in files if name.startswith("package://"))
    yield from (f"package '{name}' in the package map of its parser" for name in packages)
    if not files[0].startswith("package://"):
        yield f"the file '{spec.description}' of this computer, and the files that it names"


def _shapes(spec: ModelSpec, *, with_visuals: bool = False) -> list[Mesh]:
    links = [link.urdf for link in spec.robot.links]
    shapes = [part.geometry for link in links for part in link.collisions]
    shapes += [part.geometry for link in links for part in link.visuals if with_visuals]
    return [shape for shape in shapes if isinstance(shape, Mesh)]


def _unread_meshes(spec: ModelSpec) -> list[str]:
    names = {shape.filename for shape in _shapes(spec)}
    return sorted(name for name in names if not name.lower().endswith(MESHES))


def _added(spec: ModelSpec, state: ModelState, T_world_root: FloatArray) -> Iterator[str]:
    if spec.description is None:
        raise WorldSpecError(f"model '{spec.name}': the path of its URDF is unknown; model directives need it")
    uri = spec.description if "://" in spec.description else file_uri(Path(spec.description).resolve())
    yield "- add_model:"
    yield f"    name: {json.dumps(spec.name)}"
    yield f"    file: {json.dumps(uri)}"
    positions = {joint.name: np.array(joint.positions) for joint in state.joints if joint.positions is not None}
    bodies = [joint for joint in spec.robot.joints[1:] if joint.motion.has_quaternion and joint.name in positions]
    free = {joint.name for joint in bodies}
    if len(positions) > len(free):
        yield "    default_joint_positions:"
    for name, values in positions.items():
        if name not in free:
            yield f"      {json.dumps(name)}: {_row(values)}"
    root = spec.robot.root_link
    if bodies or spec.has_floating_base:
        yield "    default_free_body_pose:"
    # Drake makes no joint of a floating one: its link is a free body.
    for joint in bodies:
        values = positions[joint.name]
        yield f"      {json.dumps(joint.child_link)}:"
        yield f"        base_frame: {json.dumps(f'{spec.name}::{joint.parent_link}')}"
        T_joint_child = matrix_from_xyz_quat(values[:3], quat_normalize(values[3:]))
        yield from _pose(joint.T_parent_joint @ T_joint_child, "        ")
    if spec.has_floating_base:
        yield f"      {json.dumps(root)}:"
        yield from _pose(T_world_root, "        ")
    elif root != WORLD:
        yield "- add_weld:"
        yield "    parent: world"
        yield f"    child: {json.dumps(f'{spec.name}::{root}')}"
        yield "    X_PC:"
        yield from _pose(T_world_root, "      ")


def _pose(T: FloatArray, indent: str) -> Iterator[str]:
    xyz_rpy = xyz_rpy_from_matrix(T)
    yield f"{indent}translation: {_row(xyz_rpy[:3])}"
    yield f"{indent}rotation: !Rpy {{ deg: {_row(np.degrees(xyz_rpy[3:]))} }}"


def _row(values: FloatArray) -> str:
    return "[" + ", ".join(shortest(value) for value in values.tolist()) + "]"
