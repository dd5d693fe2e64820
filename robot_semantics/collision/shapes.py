# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collision geometry in MuJoCo: primitives as they are, meshes as their convex hulls, each made once.

MuJoCo collides the convex hull of a mesh in any case, so the hull is made here: every format that trimesh reads then
works, COLLADA among them, and the size limits of MuJoCo's own readers do not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

from robot_semantics.base.deferred_interrupt import deferred_interrupt
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.model.mesh_files import Surface, mesh_surface
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree

CONVEX = 1e-6
"""A hull that adds less than this share of a closed mesh's volume is the mesh."""


class MeshHull(NamedTuple):
    """A mesh file and its convex hull.

    Attributes:
        surface: its triangles [m].
        hull: its convex hull [m].
        excess: how much the hull adds to the mesh's volume, as a share of it; None where the mesh encloses none.
        convex: whether the mesh is closed and its hull adds nothing.
    """

    surface: Surface
    hull: Surface
    excess: float | None
    convex: bool


def trimesh_of(surface: Surface) -> Any:
    """Return a surface as a trimesh, a new object that the caller may change."""
    import trimesh

    return trimesh.Trimesh(surface.vertices, surface.faces, process=False)


def surface_of(mesh: Any) -> Surface:
    """Return a trimesh as a surface."""
    return Surface(np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int32))


def mesh_hull(path: Path) -> MeshHull:
    """Return a mesh file and its hull; the same object as long as the file stays the same.

    Raises:
        RobotSemanticsError: it cannot be read as a mesh, or is flat.
        MissingExtraError: trimesh is not installed.
        OSError: there is no such file.
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
        hull: Any = mesh.convex_hull
        # An open surface encloses about what it would if closed, as long as its triangles all face one way.
        volume = abs(float(mesh.volume)) if mesh.is_winding_consistent else 0.0
        excess = float(hull.volume / volume - 1.0) if volume else None
        convex = bool(mesh.is_volume) and excess is not None and abs(excess) < CONVEX
    except Exception as error:  # whatever qhull and numpy raise
        raise RobotSemanticsError(f"has no convex hull: {type(error).__name__}: {error}") from error
    return MeshHull(surface, surface_of(hull), excess, convex)


MeshFinder = Callable[[str], Path]
"""Gives the file of a mesh's URI; raises a `RobotSemanticsError` or `OSError` that says why there is none."""


class GeometryError(RobotSemanticsError):
    """A collision geometry cannot be used; the message says why."""


class Shape(NamedTuple):
    """A geometry in MuJoCo's terms.

    Attributes:
        type: MuJoCo's type of geom.
        size: half sizes [m].
        hull: the convex hull where the type is a mesh.
        surface: the triangles inside that hull, None where the shape itself is what collides.
        convex: whether those triangles are the hull's own surface.
    """

    type: Any
    size: tuple[float, float, float]
    hull: Surface | None = None
    surface: Surface | None = None
    convex: bool = True


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a link: its link's index, its shape, and ``T_link_piece`` (4, 4) [m]."""

    link: int
    shape: Shape
    T_link_piece: FloatArray


def shape_of(geometry: urdf_tree.Geometry, find_mesh: MeshFinder) -> Shape:
    """Return the geometry in MuJoCo's terms.

    Raises:
        GeometryError: no volume, or a mesh that cannot be found or read.

    """
    shape = _SHAPES[type(geometry)](geometry, find_mesh)
    if shape.hull is None and not all(size > 0.0 for size in shape.size[: _SIZES[shape.type]]):
        raise GeometryError("the collision geometry has no volume")
    return shape


def _mesh(mesh: Any, find_mesh: MeshFinder) -> Shape:
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
    """Return a hull as a shape, with the surface inside it if that is what collides."""
    return Shape(mujoco.mjtGeom.mjGEOM_MESH, (0.0, 0.0, 0.0), hull, surface, convex)


@lru_cache(maxsize=1024)
def _mesh_shape(mesh: MeshHull, scale: urdf_tree.Vec3 | None) -> Shape:
    """Return a mesh as a shape [m]; the same object for the same mesh and scale, so that it can be shared."""
    return hull_shape(mesh.hull.scaled(scale), mesh.surface.scaled(scale), convex=mesh.convex)


_SHAPES: dict[type, Callable[[Any, MeshFinder], Shape]] = {
    urdf_tree.Box: lambda box, _: Shape(mujoco.mjtGeom.mjGEOM_BOX, tuple(0.5 * edge for edge in box.size)),
    urdf_tree.Sphere: lambda sphere, _: Shape(mujoco.mjtGeom.mjGEOM_SPHERE, (sphere.radius, 0.0, 0.0)),
    urdf_tree.Cylinder: lambda c, _: Shape(mujoco.mjtGeom.mjGEOM_CYLINDER, (c.radius, 0.5 * c.length, 0.0)),
    urdf_tree.Capsule: lambda c, _: Shape(mujoco.mjtGeom.mjGEOM_CAPSULE, (c.radius, 0.5 * c.length, 0.0)),
    urdf_tree.Mesh: _mesh,
}
_SIZES: dict[Any, int] = {
    mujoco.mjtGeom.mjGEOM_BOX: 3,
    mujoco.mjtGeom.mjGEOM_SPHERE: 1,
    mujoco.mjtGeom.mjGEOM_CYLINDER: 2,
    mujoco.mjtGeom.mjGEOM_CAPSULE: 2,
}
