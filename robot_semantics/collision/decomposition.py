"""Other readings of a mesh than its one convex hull: convex parts, the box round it, and what a hull adds."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from robot_semantics.collision.shapes import GeometryError, Hull, Shape
from robot_semantics.description.urdf_tree import Vec3
from robot_semantics.errors import MissingExtraError
from robot_semantics.transforms.arrays import FloatArray

CONCAVITY = 0.05
"""How far a part may be from convex, as a share of its size: the decomposition's own default."""


def load_mesh(path: Path) -> Any:
    """Return a mesh file as one trimesh, in the file's own units.

    Raises:
        GeometryError: it cannot be read.
        MissingExtraError: trimesh is not installed.
    """
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("trimesh", "collision", "reading meshes") from error
    try:
        return trimesh.load(path, force="mesh")
    except Exception as error:
        raise GeometryError(f"mesh '{path}' cannot be read: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=1024)
def excess_volume(path: str, modified_ns: int) -> float | None:
    """Return how much the hull adds to the mesh's volume, as a share of it; None where a mesh encloses no volume."""
    del modified_ns  # renews the answer when the file changes
    mesh = load_mesh(Path(path))
    if not mesh.is_watertight or mesh.volume <= 0.0:
        return None
    return float(mesh.convex_hull.volume / mesh.volume - 1.0)


def convex_parts(path: Path, scale: Vec3 | None) -> list[Shape]:
    """Return convex parts that together follow the mesh, hollows included.

    Raises:
        GeometryError: the mesh cannot be read or decomposed.
        MissingExtraError: the `coacd` package is not installed.
    """
    try:
        import coacd
    except ImportError as error:
        raise MissingExtraError("coacd", "collision", "convex decomposition") from error
    mesh = load_mesh(path)
    coacd.set_log_level("error")
    vertices = np.asarray(mesh.vertices) * np.asarray(scale or (1.0, 1.0, 1.0))
    parts = coacd.run_coacd(coacd.Mesh(vertices, mesh.faces), threshold=CONCAVITY, seed=0)
    if not parts:
        raise GeometryError(f"mesh '{path}' has no convex parts")
    return [_hull_shape(np.asarray(part_vertices, dtype=np.float64)) for part_vertices, _ in parts]


def _hull_shape(points: FloatArray) -> Shape:
    import trimesh

    hull = trimesh.convex.convex_hull(points)
    vertices, faces = np.array(hull.vertices, dtype=np.float64), np.array(hull.faces, dtype=np.int32)
    return Shape(mujoco.mjtGeom.mjGEOM_MESH, (0.0, 0.0, 0.0), Hull(vertices, faces))


def bounding_primitive(path: Path, scale: Vec3 | None) -> tuple[Shape, FloatArray]:
    """Return the smallest box round the mesh, and its pose in the mesh's frame (4, 4) [m].

    Raises:
        GeometryError: the mesh cannot be read.
        MissingExtraError: trimesh is not installed.
    """
    mesh = load_mesh(path)
    mesh.apply_scale(scale or (1.0, 1.0, 1.0))
    box = mesh.bounding_box_oriented
    half = tuple(float(edge) / 2.0 for edge in box.primitive.extents)
    return Shape(mujoco.mjtGeom.mjGEOM_BOX, (half[0], half[1], half[2])), np.asarray(box.primitive.transform)
