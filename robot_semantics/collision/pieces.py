# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collision pieces of every link. A mesh becomes its triangles, its hull, convex parts or a box."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import MissingExtraError
from robot_semantics.collision.shapes import (
    GeometryError,
    Piece,
    Shape,
    hull_shape,
    mesh_hull,
    shape_of,
    surface_of,
    trimesh_of,
)
from robot_semantics.model.mesh_files import mesh_surface
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_from_origin
from robot_semantics.urdf.tree import Vec3

CONCAVITY = 0.05
"""Concavity of a part, as a share of its size: the default of the decomposition."""

FAR_FROM_CONVEX = 0.5
"""A hull that adds more than this share of the mesh's volume gives a warning: it collides where the mesh does not."""


class LocalShape(NamedTuple):
    """A shape, and its pose in the frame of its collision element."""

    shape: Shape
    T_element_shape: FloatArray


def pieces_of(
    robot: RobotModel, resolver: PackageResolver, diagnostics: Diagnostics, geometry: str = "mesh"
) -> tuple[Piece, ...]:
    """Return the pieces of every link with collision geometry.

    Errors in `diagnostics`: every geometry that cannot be used. Warnings: a hull that adds much to its mesh, and a
    unit that MoveIt ignores.

    Args:
        robot: the robot.
        resolver: finds mesh files.
        diagnostics: receives the problems.
        geometry: how a mesh is read. ``mesh`` and ``hull``: its triangles in their convex hull; `Settings` says which
            of them decides. ``decomposed``: convex parts that follow its hollows. ``primitive``: the box around it.
    """
    places = robot.urdf.places
    source = Path(places.source)
    find = partial(resolver.resolve, relative_to=source if source.parent.is_dir() else None)
    pieces: list[Piece] = []
    for link in robot.links:
        for collision in link.urdf.collisions:
            element = collision.geometry
            try:
                # For every reading, this line raises a GeometryError for a missing, broken or flat mesh.
                shapes = [LocalShape(shape_of(element, find), np.eye(4))]
                if isinstance(element, urdf_tree.Mesh):
                    path = find(element.filename)
                    for code, message in _mesh_warnings(element.filename, path, geometry):
                        diagnostics.warning(
                            code, f"link '{link.name}': {message}", places.place(element.ordinal, "filename")
                        )
                    shapes = _shapes_of_mesh(element, path, geometry) or shapes
            except (GeometryError, OSError) as error:
                diagnostics.error("unusable-geometry", f"link '{link.name}': {error}", places.place(element.ordinal))
                continue
            T_link_element = matrix_from_origin(collision.origin)
            pieces += [Piece(link.index, shape, T_link_element @ T_element_shape) for shape, T_element_shape in shapes]
    return tuple(pieces)


def _mesh_warnings(name: str, path: Path, geometry: str) -> Iterator[tuple[str, str]]:
    """Yield the code and the message of each warning about a mesh."""
    mesh = mesh_hull(path)
    excess, unit = mesh.excess, mesh.surface.unit
    if geometry == "hull" and excess is not None and excess > FAR_FROM_CONVEX:
        adds = f"the convex hull of '{name}' adds {excess:.0%} to its volume"
        yield "far-from-convex", f"{adds}; use the 'mesh' geometry"
    if unit != 1.0:
        read = f"'{name}' is in units of {unit:g} m; it is scaled to metres, as in RViz"
        yield "mesh-unit", f"{read}; MoveIt's collision checking ignores the unit"


def _shapes_of_mesh(mesh: urdf_tree.Mesh, path: Path, geometry: str) -> list[LocalShape]:
    """Return the shapes of a mesh by a special reading; empty if the reading is the hull."""
    read = READINGS[geometry]
    try:
        return [] if read is None else read(path, mesh.scale)
    except GeometryError as error:
        raise GeometryError(f"mesh '{mesh.filename}': {error}") from error


def convex_parts(path: Path, scale: Vec3 | None) -> list[LocalShape]:
    """Return convex parts that together follow the mesh, including its hollows.

    Raises:
        GeometryError: the mesh cannot be decomposed.
        RobotSemanticsError: the mesh cannot be read.
        MissingExtraError: the `coacd` package is not installed.
    """
    try:
        import coacd
    except ImportError as error:
        raise MissingExtraError("coacd", "decomposition", "convex decomposition") from error
    mesh = trimesh_of(mesh_surface(path).scaled(scale))  # raises MissingExtraError without trimesh
    import trimesh

    coacd.set_log_level("error")
    parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=CONCAVITY, seed=0)
    if not parts:
        raise GeometryError("has no convex parts")
    hulls = [trimesh.convex.convex_hull(np.asarray(points, dtype=np.float64)) for points, _ in parts]
    return [LocalShape(hull_shape(surface_of(hull)), np.eye(4)) for hull in hulls]


def bounding_box(path: Path, scale: Vec3 | None) -> list[LocalShape]:
    """Return the smallest box round the mesh [m].

    Raises:
        RobotSemanticsError: the mesh cannot be read.
        MissingExtraError: trimesh is not installed.
    """
    box = trimesh_of(mesh_surface(path).scaled(scale)).bounding_box_oriented
    x, y, z = (0.5 * float(edge) for edge in box.primitive.extents)
    return [LocalShape(Shape(mujoco.mjtGeom.mjGEOM_BOX, (x, y, z)), np.asarray(box.primitive.transform))]


READINGS: dict[str, Callable[[Path, Vec3 | None], list[LocalShape]] | None] = {
    "mesh": None,
    "hull": None,
    "decomposed": convex_parts,
    "primitive": bounding_box,
}
"""Function that makes the shapes of a mesh, by reading. None: the hull with its triangles, which always exists."""
