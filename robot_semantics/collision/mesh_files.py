"""Mesh files, each read once: triangles and convex hull in metres, what the hull adds, and the unit of the file.

COLLADA files are read as RViz shows them: the unit is obeyed, the up axis is not. MoveIt's collision checking obeys
neither, so a unit other than the metre is told to the user.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.held_interrupt import held_interrupt
from robot_semantics.model.collada_unit import unit_of
from robot_semantics.urdf.tree import Vec3

FloatArray = npt.NDArray[np.float64]

CONVEX = 1e-6
"""A hull that adds less than this share of a closed mesh's volume is the mesh."""


class GeometryError(RobotSemanticsError):
    """A collision geometry cannot be used; the message says why."""


class Triangles(NamedTuple):
    """A surface: (n, 3) vertices [m] and (m, 3) triangles, seen from outside counter-clockwise."""

    vertices: FloatArray
    faces: npt.NDArray[np.int32]


class MeshFacts(NamedTuple):
    """What a mesh file says.

    Attributes:
        surface: its triangles [m].
        hull: its convex hull [m].
        excess: how much the hull adds to the mesh's volume, as a share of it; None where the mesh encloses none.
        convex: whether the mesh is closed and its hull adds nothing.
        unit: the unit of the file's numbers [m]; 1 for every format but COLLADA.
    """

    surface: Triangles
    hull: Triangles
    excess: float | None
    convex: bool
    unit: float


def mesh_facts(path: Path) -> MeshFacts:
    """Return what a mesh file says; the same object as long as the file stays the same.

    Raises:
        GeometryError: it cannot be read as a mesh, or is flat.
        MissingExtraError: trimesh is not installed.
        OSError: there is no such file.
    """
    return _mesh_facts(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
@held_interrupt()
def _mesh_facts(path: str, modified_ns: int) -> MeshFacts:
    del modified_ns  # renews the answer when the file changes
    mesh = load_mesh(Path(path))
    points = np.asarray(mesh.vertices)
    if np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-9 * float(np.ptp(points) or 1.0)) < 3:
        raise GeometryError("is flat: it has no volume")
    try:
        hull: Any = mesh.convex_hull
        # An open surface encloses about what it would if closed, as long as its triangles all face one way.
        volume = abs(float(mesh.volume)) if mesh.is_winding_consistent else 0.0
        excess = float(hull.volume / volume - 1.0) if volume else None
        convex = bool(mesh.is_volume) and excess is not None and abs(excess) < CONVEX
    except Exception as error:  # whatever qhull and numpy raise
        raise GeometryError(f"has no convex hull: {type(error).__name__}: {error}") from error
    surface, hull = frozen(mesh.vertices, mesh.faces), frozen(hull.vertices, hull.faces)
    return MeshFacts(surface, hull, excess, convex, unit_of(Path(path)))


@held_interrupt()
def load_mesh(path: Path) -> Any:
    """Return a mesh file as one trimesh [m], a new object that the caller may change.

    Raises:
        GeometryError: it cannot be read as a mesh.
        MissingExtraError: trimesh is not installed.
    """
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("trimesh", "collision", "reading meshes") from error
    try:
        mesh: Any = trimesh.load(path, force="mesh")
        points = np.asarray(mesh.vertices, dtype=np.float64)
    except Exception as error:  # trimesh raises whatever its readers and numpy raise
        raise GeometryError(f"cannot be read: {type(error).__name__}: {error}") from error
    if not len(points) or not len(mesh.faces):
        raise GeometryError("has no triangles")
    if not np.isfinite(points).all():
        raise GeometryError("has vertices that are not finite")
    unit = unit_of(path)
    if unit != 1.0:
        mesh.apply_scale(unit)
    return mesh


def frozen(vertices: Any, faces: Any) -> Triangles:
    """Return copies of a surface's arrays that nobody can change: surfaces are shared."""
    triangles = Triangles(np.array(vertices, dtype=np.float64), np.array(faces, dtype=np.int32))
    for array in triangles:
        array.setflags(write=False)
    return triangles


def scaled(triangles: Triangles, scale: Vec3 | None) -> Triangles:
    """Return a surface stretched along its axes; a mirroring scale does not turn it inside out."""
    if scale is None:
        return triangles
    faces = triangles.faces[:, ::-1] if np.prod(scale) < 0.0 else triangles.faces
    return frozen(triangles.vertices * np.asarray(scale), faces)
