# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Other readings of a mesh than its one convex hull: convex parts, and the box round it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.collision.hulls import surface_of, trimesh_of
from robot_semantics.collision.shapes import GeometryError, Shape, hull_shape
from robot_semantics.model.mesh_files import mesh_surface
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Vec3

CONCAVITY = 0.05
"""How far a part may be from convex, as a share of its size: the decomposition's own default."""


def convex_parts(path: Path, scale: Vec3 | None) -> list[Shape]:
    """Return convex parts that together follow the mesh, hollows included.

    Raises:
        GeometryError: the mesh cannot be decomposed.
        RobotSemanticsError: it cannot be read.
        MissingExtraError: the `coacd` package is not installed.
    """
    try:
        import coacd
    except ImportError as error:
        raise MissingExtraError("coacd", "decomposition", "convex decomposition") from error
    mesh = _scaled_mesh(path, scale)  # or says that trimesh is missing
    import trimesh

    coacd.set_log_level("error")
    parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=CONCAVITY, seed=0)
    if not parts:
        raise GeometryError("has no convex parts")
    hulls = [trimesh.convex.convex_hull(np.asarray(points, dtype=np.float64)) for points, _ in parts]
    return [hull_shape(surface_of(hull)) for hull in hulls]


def bounding_primitive(path: Path, scale: Vec3 | None) -> tuple[Shape, FloatArray]:
    """Return the smallest box round the mesh, and its pose in the mesh's frame (4, 4) [m].

    Raises:
        RobotSemanticsError: the mesh cannot be read.
        MissingExtraError: trimesh is not installed.
    """
    box = _scaled_mesh(path, scale).bounding_box_oriented
    half = tuple(float(edge) / 2.0 for edge in box.primitive.extents)
    return Shape(mujoco.mjtGeom.mjGEOM_BOX, (half[0], half[1], half[2])), np.asarray(box.primitive.transform)


def _scaled_mesh(path: Path, scale: Vec3 | None) -> Any:
    return trimesh_of(mesh_surface(path).scaled(scale))
