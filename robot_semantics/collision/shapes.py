"""Collision geometry in MuJoCo: primitives as they are, meshes as the vertices of their convex hulls.

MuJoCo collides the convex hull of a mesh in any case, so the hull is made here: every format that trimesh reads then
works, COLLADA among them, and the size limits of MuJoCo's own readers do not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.description import urdf_tree
from robot_semantics.errors import MissingExtraError, RobotSemanticsError

FloatArray = npt.NDArray[np.float64]
MeshFinder = Callable[[str], Path]
"""Gives the file of a mesh's URI; raises a `RobotSemanticsError` or `OSError` that says why there is none."""


class GeometryError(RobotSemanticsError):
    """A collision geometry cannot be simulated; the message says why."""


class Hull(NamedTuple):
    """The convex hull of a mesh: (n, 3) vertices [m] and (m, 3) triangles."""

    vertices: FloatArray
    faces: npt.NDArray[np.int32]


class Shape(NamedTuple):
    """A geometry in MuJoCo's terms: the type, the half sizes, and the hull where the type is a mesh."""

    type: Any
    size: tuple[float, float, float]
    hull: Hull | None = None


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
        path = find_mesh(mesh.filename)
        hull = scaled_hull(str(path), path.stat().st_mtime_ns, mesh.scale)
    except MissingExtraError:
        raise
    except (RobotSemanticsError, OSError) as error:
        raise GeometryError(f"mesh '{mesh.filename}': {error}") from error
    if np.ptp(hull.vertices, axis=0).min() <= 0.0:
        raise GeometryError(f"mesh '{mesh.filename}' is flat: it has no volume")
    return Shape(mujoco.mjtGeom.mjGEOM_MESH, (0.0, 0.0, 0.0), hull)


@lru_cache(maxsize=1024)
def scaled_hull(path: str, modified_ns: int, scale: urdf_tree.Vec3 | None) -> Hull:
    """Return the hull of a mesh file in metres; the same object for the same file and scale, so that it can be shared.

    Raises:
        GeometryError: the file cannot be read as a mesh.
        MissingExtraError: trimesh is not installed.

    """
    hull = convex_hull(path, modified_ns)
    if scale is None:
        return hull
    # A mirroring scale turns the triangles inside out.
    faces = hull.faces[:, ::-1].copy() if np.prod(scale) < 0.0 else hull.faces
    vertices = hull.vertices * np.asarray(scale)
    vertices.setflags(write=False)
    faces.setflags(write=False)
    return Hull(vertices, faces)


@lru_cache(maxsize=1024)
def convex_hull(path: str, modified_ns: int) -> Hull:
    """Return the hull of a mesh file, in the file's own units; `modified_ns` renews it when the file changes.

    Raises:
        GeometryError: the file cannot be read as a mesh.
        MissingExtraError: trimesh is not installed.

    """
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("trimesh", "mujoco", "reading meshes") from error
    try:
        mesh: Any = trimesh.load(path, force="mesh")
        hull = mesh.convex_hull
        vertices, faces = np.array(hull.vertices, dtype=np.float64), np.array(hull.faces, dtype=np.int32)
    except Exception as error:  # trimesh raises whatever its readers, qhull and numpy raise
        raise GeometryError(f"cannot be read: {type(error).__name__}: {error}") from error
    if not len(vertices) or not np.isfinite(vertices).all():
        raise GeometryError("has no finite vertices")
    vertices.setflags(write=False)
    faces.setflags(write=False)
    return Hull(vertices, faces)


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
