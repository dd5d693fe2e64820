# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collision geometry for MuJoCo: primitives, and the convex hulls of meshes. Each hull is computed once.

MuJoCo collides the convex hull of every mesh, so the hull is computed here. Then every format that trimesh reads works,
including COLLADA, and the size limits of MuJoCo's readers do not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from robot_semantics.base.deferred_interrupt import deferred_interrupt
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.record import record
from robot_semantics.model.mesh_files import Surface, mesh_surface
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree

if TYPE_CHECKING:
    import trimesh

CONVEX = 1e-6
"""A closed mesh is convex if its hull adds less than this share of its volume."""


class MeshHull(NamedTuple):
    """A mesh file and its convex hull.

    Attributes:
        surface: its triangles [m].
        hull: its convex hull [m].
        excess: volume that the hull adds, as a share of the mesh's volume; None if the mesh encloses no volume.
        convex: whether the mesh is closed and its hull adds nothing.
    """

    surface: Surface
    hull: Surface
    excess: float | None
    convex: bool


def trimesh_of(surface: Surface) -> trimesh.Trimesh:
    """Return a surface as a trimesh: a new object that the caller may change."""
    import trimesh

    return trimesh.Trimesh(surface.vertices, surface.faces, process=False)


def surface_of(mesh: trimesh.Trimesh) -> Surface:
    """Return a trimesh as a surface."""
    return Surface(np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int32))


def mesh_hull(path: Path) -> MeshHull:
    """Return a mesh and its hull. The same file gives the same object until it changes.

    Raises:
        RobotSemanticsError: the file cannot be read as a mesh, or the mesh is flat.
        MissingExtraError: trimesh is not installed.
        OSError: the file does not exist.
    """
    return _mesh_hull(mesh_surface(path))


@lru_cache(maxsize=1024)
@deferred_interrupt()
def _mesh_hull(surface: Surface) -> MeshHull:
    points = surface.vertices
    if np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-9 * float(np.ptp(points) or 1.0)) < 3:
        raise RobotSemanticsError("is flat: it has no volume")
    mesh = trimesh_of(surface)
    try:
        hull: trimesh.Trimesh = mesh.convex_hull
        # The volume of an open surface is about right if all its triangles face one way.
        volume = abs(float(mesh.volume)) if mesh.is_winding_consistent else 0.0
        excess = float(hull.volume / volume - 1.0) if volume else None
        convex = bool(mesh.is_volume) and excess is not None and abs(excess) < CONVEX
    except Exception as error:  # qhull and numpy raise many types
        raise RobotSemanticsError(f"has no convex hull: {type(error).__name__}: {error}") from error
    return MeshHull(surface, surface_of(hull), excess, convex)


MeshFinder = Callable[[str], Path]
"""Returns the file of a mesh's URI, or raises a `RobotSemanticsError` or `OSError` with the reason."""


class GeometryError(RobotSemanticsError):
    """A collision geometry cannot be used; the message gives the reason."""


class Shape(NamedTuple):
    """A geometry in MuJoCo's terms.

    Attributes:
        type: MuJoCo's type of geom.
        size: half sizes [m].
        hull: the convex hull of a mesh, else None.
        surface: the triangles in the hull; None if the shape itself collides.
        convex: whether these triangles are the surface of the hull.
    """

    type: mujoco.mjtGeom
    size: tuple[float, float, float]
    hull: Surface | None = None
    surface: Surface | None = None
    convex: bool = True


@record(frozen=True, slots=True)
class Piece:
    """One piece of a link: its link's index, its shape, and ``T_link_piece`` (4, 4) [m]."""

    link: int
    shape: Shape
    T_link_piece: FloatArray


def shape_of(geometry: urdf_tree.Geometry, find_mesh: MeshFinder) -> Shape:
    """Return the geometry in MuJoCo's terms.

    Raises:
        GeometryError: the geometry has no volume, or its mesh cannot be found or read.

    """
    shape = _SHAPES[type(geometry)](geometry, find_mesh)
    if shape.hull is None and not all(size > 0.0 for size in shape.size[: _SIZES[shape.type]]):
        raise GeometryError("the collision geometry has no volume")
    return shape


def _mesh(mesh: urdf_tree.Mesh, find_mesh: MeshFinder) -> Shape:
    try:
        shape = _mesh_shape(mesh_hull(find_mesh(mesh.filename)), mesh.scale)
    except MissingExtraError:
        raise
    except (RobotSemanticsError, OSError) as error:
        raise GeometryError(f"mesh '{mesh.filename}': {error}") from error
    if shape.hull is None or np.ptp(shape.hull.vertices, axis=0).min() <= 0.0:
        raise GeometryError(f"mesh '{mesh.filename}' is flat: it has no volume")
    return shape


def hull_shape(hull: Surface, surface: Surface | None = None, *, convex: bool = True) -> Shape:
    """Return a hull as a shape, with the surface in it if the surface collides."""
    return Shape(mujoco.mjtGeom.mjGEOM_MESH, (0.0, 0.0, 0.0), hull, surface, convex)


@lru_cache(maxsize=1024)
def _mesh_shape(mesh: MeshHull, scale: urdf_tree.Vec3 | None) -> Shape:
    """Return a mesh as a shape [m]. The same mesh and scale give the same object, so geoms can share it."""
    return hull_shape(mesh.hull.scaled(scale), mesh.surface.scaled(scale), convex=mesh.convex)


_SHAPES: dict[type, Callable[[Any, MeshFinder], Shape]] = {
    urdf_tree.Box: lambda box, _: Shape(mujoco.mjtGeom.mjGEOM_BOX, tuple(0.5 * edge for edge in box.size)),
    urdf_tree.Sphere: lambda sphere, _: Shape(mujoco.mjtGeom.mjGEOM_SPHERE, (sphere.radius, 0.0, 0.0)),
    urdf_tree.Cylinder: lambda c, _: Shape(mujoco.mjtGeom.mjGEOM_CYLINDER, (c.radius, 0.5 * c.length, 0.0)),
    urdf_tree.Capsule: lambda c, _: Shape(mujoco.mjtGeom.mjGEOM_CAPSULE, (c.radius, 0.5 * c.length, 0.0)),
    urdf_tree.Mesh: _mesh,
}
_SIZES: dict[mujoco.mjtGeom, int] = {
    mujoco.mjtGeom.mjGEOM_BOX: 3,
    mujoco.mjtGeom.mjGEOM_SPHERE: 1,
    mujoco.mjtGeom.mjGEOM_CYLINDER: 2,
    mujoco.mjtGeom.mjGEOM_CAPSULE: 2,
}
