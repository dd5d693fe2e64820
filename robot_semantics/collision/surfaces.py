# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The surfaces of two pieces against each other: python-fcl decides about what the hulls in MuJoCo only suspect.

A mesh is its triangles, as in MoveIt: what lies inside without crossing them is free. A primitive is solid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.collision.clearance import Clearance, box_corners
from robot_semantics.collision.shapes import Piece, Shape
from robot_semantics.transforms.arrays import BoolArray, FloatArray

try:
    import fcl
except ImportError as error:
    raise MissingExtraError("python-fcl", "collision", "collision checking on triangles") from error

GeomArray = npt.NDArray[np.integer[Any]]

SURE_DEPTH = 1e-5
"""Hulls that overlap by less [m] may touch within MuJoCo's tolerance only."""


class Surfaces:
    """The surfaces of a scene's pieces, in MuJoCo's order of geoms."""

    def __init__(self, pieces: Sequence[Piece], padding: float) -> None:
        """`padding` [m] is added round every piece."""
        self._padding = padding
        self._geometries = _geometries(pieces)
        self._boxes = [None if piece.shape.hull is None else box_corners(piece.shape.hull.vertices) for piece in pieces]
        self._bare = np.array([piece.shape.surface is None for piece in pieces])
        self._convex = np.array([piece.shape.convex for piece in pieces])
        self._inradius = np.array([_inradius(piece.shape) for piece in pieces])

    def decided(self, a: Any, b: Any, depths: FloatArray) -> Any:
        """Tell for each contact of hulls, of pieces a and b (n,), whether the hulls settle it: the surfaces cross too.

        So it is of two primitives, and of two convex pieces unless one may lie inside the other, which takes a
        penetration (`depths` (n,) [m]) of at least its own thickness.
        """
        thickness = 2.0 * np.minimum(self._inradius[a], self._inradius[b])
        crossing = (depths > SURE_DEPTH) & (depths < 0.9 * thickness) & (self._padding == 0.0)
        return (self._bare[a] & self._bare[b]) | (self._convex[a] & self._convex[b] & crossing)

    def test(self) -> SurfaceTest:
        """Return what asks about one pair at a time; each thread needs its own."""
        return SurfaceTest(self._geometries, self._padding, self._boxes)


class SurfaceTest:
    """Asks python-fcl about two pieces in a relative pose, and remembers how far from each other it found them."""

    def __init__(self, geometries: Sequence[Any], padding: float, boxes: Sequence[FloatArray | None]) -> None:
        """`boxes` has the corners (8, 3) [m] round each piece, None for a primitive."""
        self._still = [fcl.CollisionObject(geometry) for geometry in geometries]
        self._moved = [fcl.CollisionObject(geometry) for geometry in geometries]
        self._request = fcl.CollisionRequest(num_max_contacts=1, enable_contact=False)
        self._padding = padding
        self._boxes = boxes
        self._clearances: dict[tuple[int, int], Clearance] = {}

    def known_free(self, a: GeomArray, b: GeomArray, T_a_b: FloatArray) -> BoolArray:
        """Tell which pieces a and b (n,) stand in poses (n, 3, 4) so near to free ones that they need no question."""
        free = np.zeros(len(a), dtype=np.bool_)
        for pair, clearance in self._clearances.items():
            which = np.flatnonzero((a == pair[0]) & (b == pair[1]))
            free[which] = clearance.covers(T_a_b[which])
        return free

    def touch(self, a: int, b: int, T_a_b: FloatArray) -> bool:
        """Tell whether the surfaces of pieces a and b cross, or come closer than the padding of both."""
        if self._crosses(a, b, T_a_b) or (self._padding > 0.0 and self.distance(a, b, T_a_b) <= 0.0):
            return True
        box_a, box_b = self._boxes[a], self._boxes[b]
        if box_a is not None and box_b is not None:
            clearance = self._clearances.get((a, b))
            if clearance is None:
                clearance = self._clearances[a, b] = Clearance(box_b)
            if clearance.wants(T_a_b):
                clearance.add(T_a_b, self.distance(a, b, T_a_b))
        return False

    def distance(self, a: int, b: int, T_a_b: FloatArray) -> float:
        """Return the distance [m] of the surfaces less the padding of both; 0 or less where they cross."""
        self._moved[b].setTransform(fcl.Transform(T_a_b[:3, :3], T_a_b[:3, 3]))
        found = fcl.distance(self._still[a], self._moved[b], fcl.DistanceRequest(), fcl.DistanceResult())
        return float(found) - 2.0 * self._padding

    def nearest(self, a: int, b: int, T_a_b: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Return the distance as `distance` gives it and the nearest points on both, in the frame of a, a mesh.

        None where python-fcl does not tell the points.
        """
        if self.touch(a, b, T_a_b):
            return 0.0, np.zeros(3), np.zeros(3)
        result = fcl.DistanceResult()
        distance = float(fcl.distance(self._still[a], self._moved[b], fcl.DistanceRequest(True), result))
        on_a, on_b = (np.asarray(point) for point in result.nearest_points)
        # Depending on the kind of geometry, the second point is in the frame of a or of b.
        for point in (on_b, T_a_b[:, :3] @ on_b + T_a_b[:, 3]):
            if abs(float(np.linalg.norm(point - on_a)) - distance) < 1e-6 + 1e-3 * distance:
                return distance - 2.0 * self._padding, on_a, point
        return None

    def _crosses(self, a: int, b: int, T_a_b: FloatArray) -> bool:
        moved = self._moved[b]
        moved.setTransform(fcl.Transform(T_a_b[:3, :3], T_a_b[:3, 3]))
        return bool(fcl.collide(self._still[a], moved, self._request, fcl.CollisionResult()))


def _geometries(pieces: Sequence[Piece]) -> list[Any]:
    made: dict[int, Any] = {}
    for piece in pieces:
        # Links often share a mesh, and then its shape.
        if id(piece.shape) not in made:
            made[id(piece.shape)] = _geometry(piece.shape)
    return [made[id(piece.shape)] for piece in pieces]


def _geometry(shape: Shape) -> Any:
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
