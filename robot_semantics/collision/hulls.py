# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The convex hulls of mesh files, each made once, and what a hull adds to its mesh."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_semantics.base.deferred_interrupt import deferred_interrupt
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.model.mesh_files import Surface, mesh_surface

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
