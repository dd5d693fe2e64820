"""Mesh files, each read once: the convex hull in metres, what the hull adds, and the unit that the file states.

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

FloatArray = npt.NDArray[np.float64]


class GeometryError(RobotSemanticsError):
    """A collision geometry cannot be used; the message says why."""


class Hull(NamedTuple):
    """The convex hull of a mesh: (n, 3) vertices [m] and (m, 3) triangles."""

    vertices: FloatArray
    faces: npt.NDArray[np.int32]


class MeshFacts(NamedTuple):
    """What a mesh file says.

    Attributes:
        hull: its convex hull [m].
        excess: how much the hull adds to the mesh's volume, as a share of it; None where the mesh encloses none.
        unit: the unit of the file's numbers [m]; 1 for every format but COLLADA.
    """

    hull: Hull
    excess: float | None
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
        excess = float(hull.volume / mesh.volume - 1.0) if mesh.is_volume else None
    except Exception as error:  # whatever qhull and numpy raise
        raise GeometryError(f"has no convex hull: {type(error).__name__}: {error}") from error
    return MeshFacts(frozen_hull(hull.vertices, hull.faces), excess, unit_of(Path(path)))


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


def frozen_hull(vertices: Any, faces: Any) -> Hull:
    """Return copies of a hull's arrays that nobody can change: hulls are shared."""
    hull = Hull(np.array(vertices, dtype=np.float64), np.array(faces, dtype=np.int32))
    for array in hull:
        array.setflags(write=False)
    return hull
