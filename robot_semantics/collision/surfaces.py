# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collision test of two surfaces with python-fcl. MuJoCo tests only their convex hulls.

A mesh is its triangles, as in MoveIt: a piece inside a mesh that crosses no triangle is free. A primitive is solid.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.collision.clearance import Clearance, box_corners
from robot_semantics.collision.shapes import Piece, Shape
from robot_semantics.transforms.arrays import BoolArray, FloatArray, Indices

try:
    import fcl
except ImportError as error:
    raise MissingExtraError("python-fcl", "collision", "collision checking on triangles") from error

SURE_DEPTH = 1e-5
"""Smallest overlap of two hulls [m] that is larger than MuJoCo's tolerance."""


class Surfaces:
    """The surfaces of a scene's pieces, in MuJoCo's order of geoms."""

    def __init__(self, pieces: Sequence[Piece], padding: float) -> None:
        """Prepare the pieces; `padding` [m] is added around every piece."""
        self._padding = padding
        self._geometries = _geometries(pieces)
        self._boxes = [None if piece.shape.hull is None else box_corners(piece.shape.hull.vertices) for piece in pieces]
        self._is_primitive = np.array([piece.shape.surface is None for piece in pieces])
        self._is_convex = np.array([piece.shape.convex for piece in pieces])
        self._inradius = np.array([_inradius(piece.shape) for piece in pieces])

    def is_proven(self, a: Indices, b: Indices, depths: FloatArray) -> BoolArray:
        """Return (n,) whether a contact of the hulls of pieces a and b (n,) proves a contact of their surfaces.

        This holds for two primitives. It also holds for two convex pieces if neither can be inside the other: then the
        penetration (`depths` (n,) [m]) is less than the thickness of both.
        """
        thickness = 2.0 * np.minimum(self._inradius[a], self._inradius[b])
        crossing = (depths > SURE_DEPTH) & (depths < 0.9 * thickness) & (self._padding == 0.0)
        proven: BoolArray = self._is_primitive[a] & self._is_primitive[b]
        proven |= self._is_convex[a] & self._is_convex[b] & crossing
        return proven

    def new_test(self) -> SurfaceTest:
        """Return a test of one pair at a time. Each thread needs its own."""
        return SurfaceTest(self._geometries, self._padding, self._boxes)


class SurfaceTest:
    """Test of two pieces in a relative pose with python-fcl, and a cache of their distances."""

    def __init__(
        self, geometries: Sequence[fcl.CollisionGeometry], padding: float, boxes: Sequence[FloatArray | None]
    ) -> None:
        """Prepare a test; `boxes` has the corners (8, 3) [m] of the box of each piece, None for a primitive."""
        self._fixed_objects = [fcl.CollisionObject(geometry) for geometry in geometries]
        self._moved_objects = [fcl.CollisionObject(geometry) for geometry in geometries]
        self._request = fcl.CollisionRequest(num_max_contacts=1, enable_contact=False)
        self._padding = padding
        self._boxes = boxes
        self._clearances: dict[tuple[int, int], Clearance] = {}

    def is_known_free(self, a: Indices, b: Indices, T_a_b: FloatArray) -> BoolArray:
        """Return (n,) whether pieces a and b (n,) in poses (n, 3, 4) are known to be free without a test."""
        free = np.zeros(len(a), dtype=np.bool_)
        for pair, clearance in self._clearances.items():
            which = np.flatnonzero((a == pair[0]) & (b == pair[1]))
            free[which] = clearance.covers(T_a_b[which])
        return free

    def touches(self, a: int, b: int, T_a_b: FloatArray) -> bool:
        """Return whether the surfaces of pieces a and b cross, or are closer than the padding of both."""
        if self._crosses(a, b, T_a_b) or (self._padding > 0.0 and self.distance(a, b, T_a_b) <= 0.0):
            return True
        box_a, box_b = self._boxes[a], self._boxes[b]
        if box_a is not None and box_b is not None:
            clearance = self._clearances.get((a, b))
            if clearance is None:
                clearance = self._clearances[a, b] = Clearance(box_b)
            if clearance.needs_distance(T_a_b):
                clearance.add(T_a_b, self.distance(a, b, T_a_b))
        return False

    def distance(self, a: int, b: int, T_a_b: FloatArray) -> float:
        """Return the distance [m] of the surfaces minus the padding of both; 0 or less if they cross."""
        self._moved_objects[b].setTransform(fcl.Transform(T_a_b[:3, :3], T_a_b[:3, 3]))
        objects = self._fixed_objects[a], self._moved_objects[b]
        return float(fcl.distance(*objects, fcl.DistanceRequest(), fcl.DistanceResult())) - 2.0 * self._padding

    def nearest(self, a: int, b: int, T_a_b: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Return the distance (see `distance`) and the nearest points on both, in the frame of a, which is a mesh.

        Return None if python-fcl gives no points.
        """
        if self.touches(a, b, T_a_b):
            return 0.0, np.zeros(3), np.zeros(3)
        result = fcl.DistanceResult()
        objects = self._fixed_objects[a], self._moved_objects[b]
        distance = float(fcl.distance(*objects, fcl.DistanceRequest(True), result))
        on_a, on_b = (np.asarray(point) for point in result.nearest_points)
        # The second point is in the frame of a or of b; this depends on the kind of geometry.
        for point in (on_b, T_a_b[:, :3] @ on_b + T_a_b[:, 3]):
            if abs(float(np.linalg.norm(point - on_a)) - distance) < 1e-6 + 1e-3 * distance:
                return distance - 2.0 * self._padding, on_a, point
        return None

    def _crosses(self, a: int, b: int, T_a_b: FloatArray) -> bool:
        moved = self._moved_objects[b]
        moved.setTransform(fcl.Transform(T_a_b[:3, :3], T_a_b[:3, 3]))
        return bool(fcl.collide(self._fixed_objects[a], moved, self._request, fcl.CollisionResult()))


def _geometries(pieces: Sequence[Piece]) -> list[fcl.CollisionGeometry]:
    geometries: dict[int, fcl.CollisionGeometry] = {}
    for piece in pieces:
        # Links often share a mesh, and so its shape.
        if id(piece.shape) not in geometries:
            geometries[id(piece.shape)] = _geometry(piece.shape)
    return [geometries[id(piece.shape)] for piece in pieces]


def _geometry(shape: Shape) -> fcl.CollisionGeometry:
    triangles = shape.surface if shape.surface is not None else shape.hull
    if triangles is not None:
        model = fcl.BVHModel()
        model.beginModel(len(triangles.vertices), len(triangles.faces))
        model.addSubModel(triangles.vertices, triangles.faces)
        model.endModel()
        return model
    kind, size = shape.type, shape.size
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return fcl.Box(*(2.0 * half for half in size))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return fcl.Sphere(size[0])
    return (fcl.Cylinder if kind == mujoco.mjtGeom.mjGEOM_CYLINDER else fcl.Capsule)(size[0], 2.0 * size[1])


def _inradius(shape: Shape) -> float:
    """Return the radius [m] of a ball that fits into the shape's hull."""
    if shape.hull is None:
        return min(size for size in shape.size if size > 0.0)
    corners = shape.hull.vertices[shape.hull.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    flat = lengths > 0.0
    outwards = normals[flat] / lengths[flat, None]
    distances = np.einsum("ij,ij->i", outwards, corners[flat, 0] - shape.hull.vertices.mean(axis=0))
    return float(max(np.abs(distances).min(), 0.0))
