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
from robot_semantics.simulation.sim_loops import lost_loops
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.transforms import quat_normalize, xyz_rpy_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Mesh
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState
from robot_semantics.xml.numbers import shortest

FLOATING_Q = (4, 5, 6, 1, 2, 3, 0)
"""Columns of x y z qx qy qz qw in Drake's qw qx qy qz x y z."""

MESHES = (".obj", ".vtk", ".gltf")
"""Endings of the meshes that may collide in Drake."""


def directives_of(spec: WorldSpec, state: WorldState) -> Converted[str]:
    """Return model directives that load the URDFs of the robots in Drake, posed as in a captured `state`.

    Comments at its beginning say what the program that loads it must have.

    Raises:
        WorldSpecError: the path of a robot's URDF is unknown, Drake reads another robot from it, or Drake cannot name
            or place its root link.
    """
    placed, lines, lost = resolve(state), ["directives:"], []
    needs: dict[str, None] = {}
    states = {model.name: model for model in state.models}
    for model in spec.models:
        T_world_root = placed.pose(model.name)
        _check_file(model)
        _check_names(model, T_world_root)
        lines += _added(model, states[model.name], T_world_root)
        needs.update(dict.fromkeys(_needs(model)))
        if model.has_planar_base:
            lost.append(f"model '{model.name}': the planar motion of its base: it is welded in place")
        lost += lost_loops(model)
        if model.robot.semantics.srdf is not None:
            lost.append(f"model '{model.name}': its SRDF, including the excluded pairs")
        meshes = _unread_meshes(model)
        if meshes:
            more = f" and {len(meshes) - 1} more" if meshes[1:] else ""
            words = f"Drake refuses it for its collision meshes, which are not {', '.join(MESHES)}: '{meshes[0]}'{more}"
            lost.append(f"model '{model.name}' as it is: {words}")
    lost.append("velocities, commands and the time")
    if spec.ground:
        lost.append("the floor")
    comments = [f"# The program that loads this file needs {need}" for need in needs]
    lost += [f"what the program that loads the file needs: {need}" for need in needs]
    return Converted("\n".join([*comments, *lines]) + "\n", tuple(lost))


def _check_file(spec: ModelSpec) -> None:
    """Refuse a robot that Drake reads from its file as another one.

    Raises:
        WorldSpecError: it is one.
    """
    urdf = spec.robot.urdf
    parts = [
        part for link in urdf.links for part in (*link.visuals, *link.collisions, link.inertial) if part is not None
    ]
    reason = ""
    if str(spec.description).endswith(".xacro"):
        reason = "it is a xacro; 'robot_semantics expand' writes a URDF"
    elif urdf.rewritten:
        reason = "it has an older form of joints; 'robot_semantics upgrade' writes the current one"
    elif any(part.origin.quat_xyzw is not None for part in (*parts, *urdf.joints) if part.origin is not None):
        reason = "Drake ignores quat_xyzw; write an .sdf"
    if reason:
        raise WorldSpecError(f"model '{spec.name}': Drake cannot read '{spec.description}' as it is meant: {reason}")


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
    uri = spec.description if "://" in spec.description else Path(spec.description).absolute().as_uri()
    yield "- add_model:"
    yield f"    name: {json.dumps(spec.name)}"
    yield f"    file: {json.dumps(uri)}"
    joints = [joint for joint in state.joints if joint.positions is not None]
    if joints:
        yield "    default_joint_positions:"
    for joint in joints:
        positions = np.array(joint.positions)
        if len(positions) == len(FLOATING_Q):
            ours = np.concatenate((positions[:3], quat_normalize(positions[3:])))
            positions[list(FLOATING_Q)] = ours
        yield f"      {json.dumps(joint.name)}: {_row(positions)}"
    root = spec.robot.root_link
    if spec.has_floating_base:
        yield "    default_free_body_pose:"
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
