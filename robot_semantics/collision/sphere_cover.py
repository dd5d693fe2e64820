# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Proof that spheres cover a surface: a piece lies in a sphere if its corners do, else it is split.

For one sphere, the signed distance is convex, so its maximum over a triangle is at a corner. This gives an upper bound
for each piece; on a ball and on a cylinder, a closed form does. Corners give a lower bound. Pieces are split by their
longest edge until the bounds decide, so that they stay near square.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.collision.shapes import Piece
from robot_semantics.model.mesh_files import Surface
from robot_semantics.transforms.arrays import FloatArray

ROUNDING = 1e-12
"""Allowance for rounding [m]: a corner exactly on a sphere is inside it."""

RESOLUTION = 1e-5
"""The largest protrusion is known to this length [m]."""

SMALLEST = 1e-6
"""A piece with shorter edges [m] is not split: where its bounds do not decide, the surface is not covered."""

MOST_PIECES = 2_000_000
"""Largest number of pieces of a proof."""

_ENTRIES = 2_000_000
_ON_THE_WALL = 1.0 - 1e-9
"""Share of the radius from which a corner is on the wall of a tube."""


class TooFineError(RobotSemanticsError):
    """The proof of a cover needs more than `MOST_PIECES` pieces."""


class Spheres(NamedTuple):
    """Spheres of a link: ``centers`` (n, 3) and ``radii`` (n,) [m], in the link frame."""

    centers: FloatArray
    radii: FloatArray


class Patches(NamedTuple):
    """Parts of a surface of one collision element.

    Attributes:
        corners: (n, 3, 3) of triangles, or (n, 4, 3) of trapezoids [m], in the link frame.
        element: index of the collision element in its link.
        triangles: (n,) index of the mesh's triangle that each part belongs to; None for a primitive.
        ball: centre and radius of the sphere that the parts lie on; None for other parts.
        tube: pose (4, 4) and radius of the cylinder about z that the parts are of: an edge with both corners on its
            wall stands for the arc between them. None for other parts.
    """

    corners: FloatArray
    element: int
    triangles: npt.NDArray[np.int64] | None = None
    ball: tuple[FloatArray, float] | None = None
    tube: tuple[FloatArray, float] | None = None


class Cover(NamedTuple):
    """How far a surface is outside of spheres.

    Attributes:
        lower: signed distance of `point` to the nearest sphere [m]: a point of the surface is so far outside.
        upper: no point of the surface is farther outside [m].
        point: the point of the surface, in the link frame [m].
        element: index of the collision element.
        triangle: index of the triangle in the mesh; None for a primitive.
    """

    lower: float
    upper: float
    point: FloatArray
    element: int
    triangle: int | None


def cover(surface: Iterable[Patches], spheres: Spheres, tolerance: float = 0.0) -> Cover:
    """Return bounds of the largest signed distance of a surface to its nearest sphere.

    Args:
        surface: the parts of the surface, at least one.
        spheres: at least one sphere.
        tolerance: pieces are split until they are inside or outside of the spheres grown by this length [m].

    Raises:
        TooFineError: the proof needs too many pieces.
    """
    inside = tolerance + ROUNDING
    count = 0
    stack = [_bounded(chunk, spheres) for part in surface for chunk in _chunks(part, spheres)]
    best = max((todo.farthest for todo in stack), key=lambda found: found.lower)
    while stack:
        todo, upper, found = stack.pop()
        if found.lower > best.lower:
            best = found._replace(upper=max(found.lower, best.upper))
        undecided = (upper > inside) & (best.lower <= inside)
        split = (upper > ROUNDING) & (undecided | (upper > best.lower + RESOLUTION))
        split[split] = _longest_edges(_selected(todo, split)) > SMALLEST
        if not split.all():
            best = best._replace(upper=max(best.upper, float(upper[~split].max())))
        if split.any():
            count += 2 * int(split.sum())
            if count > MOST_PIECES:
                raise TooFineError(f"the proof needs more than {MOST_PIECES:,} pieces")
            stack += [_bounded(chunk, spheres) for chunk in _chunks(_halved(_selected(todo, split)), spheres)]
    return best


class _Bounded(NamedTuple):
    """Pieces with an upper bound (n,) each, and their farthest corner."""

    part: Patches
    upper: FloatArray
    farthest: Cover


def _bounded(part: Patches, spheres: Spheres) -> _Bounded:
    points = part.corners.reshape(-1, 3)
    distances = sphere_distances(points, spheres)
    nearest = distances.min(axis=1)
    at = int(nearest.argmax())
    triangle = None if part.triangles is None else int(part.triangles[at // part.corners.shape[1]])
    farthest = Cover(float(nearest[at]), float(nearest[at]), points[at], part.element, triangle)
    return _Bounded(part, _bounds(part, spheres, distances).min(axis=1), farthest)


def shrunk(surface: Iterable[Patches], spheres: Spheres, spacing: float) -> Spheres:
    """Return smaller spheres that still cover the pieces of a surface, or never larger ones; spheres that hold no piece
    are left out.

    Each piece belongs to the sphere that holds it best.

    Args:
        surface: the parts of the surface.
        spheres: the spheres.
        spacing: longest edge of the pieces [m].
    """
    excess = np.full(len(spheres.radii), -np.inf)
    for todo in _pieces(surface, spheres, lambda part: _longest_edges(part) > spacing):
        bounds = _bounds(todo, spheres, sphere_distances(todo.corners.reshape(-1, 3), spheres))
        np.maximum.at(excess, bounds.argmin(axis=1), bounds.min(axis=1))
    used = np.isfinite(excess)
    return Spheres(spheres.centers[used], (spheres.radii + np.minimum(excess, 0.0))[used])


def uncovered(surface: Iterable[Patches], spheres: Spheres, spacing: float) -> FloatArray:
    """Return the pieces (n, 3, 3) of a surface with a corner outside of all spheres [m].

    Their edges are at most `spacing` long; a flat piece that is wholly outside may be larger. Pieces without such a
    corner are split further, to `spacing` / 16.
    """

    def too_large(part: Patches) -> npt.NDArray[np.bool_]:
        distances = sphere_distances(part.corners.reshape(-1, 3), spheres)
        corners, longest = distances.min(axis=1).reshape(part.corners.shape[:2]), _longest_edges(part)
        large: npt.NDArray[np.bool_] = _bounds(part, spheres, distances).min(axis=1) > ROUNDING
        large &= longest > np.where(corners.max(axis=1) > ROUNDING, spacing, spacing / 16.0)
        if part.ball is None:
            # A point of a flat piece is nearer to a corner than the longest edge.
            large &= corners.min(axis=1) <= longest
        return large

    corners = triangles_of(_pieces(surface, spheres, too_large))
    distances = sphere_distances(corners.reshape(-1, 3), spheres).min(axis=1)
    return np.asarray(corners[distances.reshape(-1, 3).max(axis=1) > ROUNDING])


def triangles_of(surface: Iterable[Patches]) -> FloatArray:
    """Return the flat triangles (n, 3, 3) between the corners of a surface [m]."""
    all_corners = [part.corners for part in surface]
    fans = [corners[:, [0, at, at + 1]] for corners in all_corners for at in range(1, corners.shape[1] - 1)]
    triangles = np.concatenate(fans)
    has_area = (triangles != np.roll(triangles, 1, axis=1)).any(axis=2).all(axis=1)
    return np.asarray(triangles[has_area])


def corner_points(surface: Iterable[Patches], spacing: float) -> FloatArray:
    """Return points (n, 3) of a surface [m], about one in each cube with edges of half the `spacing`."""
    few = Spheres(np.zeros((1, 3)), np.zeros(1))
    parts = list(_pieces(surface, few, lambda part: _longest_edges(part) > spacing))
    points = np.concatenate([part.corners.reshape(-1, 3) for part in parts])
    cells = np.floor((points - points.min(axis=0)) / (0.5 * spacing)).astype(np.int64)
    _, first = np.unique(np.ravel_multi_index(tuple(cells.T), tuple(cells.max(axis=0) + 1)), return_index=True)
    return np.asarray(points[np.sort(first)])


def _pieces(
    surface: Iterable[Patches], spheres: Spheres, too_large: Callable[[Patches], npt.NDArray[np.bool_]]
) -> Iterator[Patches]:
    """Yield the pieces of a surface, split until none is too large."""
    stack = [chunk for part in surface for chunk in _chunks(part, spheres)]
    while stack:
        todo = stack.pop()
        large = too_large(todo)
        if large.any():
            stack += _chunks(_halved(_selected(todo, large)), spheres)
        if not large.all():
            yield _selected(todo, ~large)


def _chunks(part: Patches, spheres: Spheres) -> Iterator[Patches]:
    """Yield a part in pieces that need little memory."""
    count = max(1, _ENTRIES // (3 * len(spheres.radii)))
    yield from (_selected(part, slice(at, at + count)) for at in range(0, len(part.corners), count))


def _selected(part: Patches, which: slice | npt.NDArray[np.bool_]) -> Patches:
    triangles = None if part.triangles is None else part.triangles[which]
    return part._replace(corners=part.corners[which], triangles=triangles)


def sphere_distances(points: FloatArray, spheres: Spheres) -> FloatArray:
    """Return the signed distances (n, spheres) of points (n, 3) to spheres [m], negative inside."""
    # Import here: it takes a quarter of a second.
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, spheres.centers) - spheres.radii)


def _bounds(part: Patches, spheres: Spheres, distances: FloatArray) -> FloatArray:
    """Return bounds (n, spheres) of the largest signed distance of each piece to each sphere.

    `distances` (corners of all, spheres) are those of the corners.
    """
    corners = part.corners
    if part.tube is not None:
        return _tube_bounds(corners, *part.tube, spheres)
    if part.ball is None:
        return np.asarray(distances.reshape(*corners.shape[:2], -1).max(axis=1))
    # On a ball, the squared distance to a point is linear in the unit normal. A normal of the piece is a point of the
    # flat triangle, scaled by at most 1 / (distance of the triangle to the centre).
    center, radius = part.ball
    normals = (corners - center) / radius
    middle = normals.mean(axis=1)
    spread = np.linalg.norm(normals - middle[:, None], axis=2).max(axis=1)
    scale = 1.0 / np.maximum(np.linalg.norm(middle, axis=1) - spread, 1e-3)
    offsets = center - spheres.centers
    lengths = np.linalg.norm(offsets, axis=1)
    along = (normals @ offsets.T).max(axis=1)
    along = np.minimum(np.where(along > 0.0, along * scale[:, None], along), lengths)
    squares = radius**2 + lengths**2 + 2.0 * radius * along
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) - spheres.radii)


def _tube_bounds(corners: FloatArray, T_link_tube: FloatArray, radius: float, spheres: Spheres) -> FloatArray:
    """Return the bounds for pieces of a cylinder: exact for a part of an end or a rectangle of the wall.

    Across the axis, the farthest point of an arc is one of its ends, or the point opposite to the sphere's centre.
    """
    local, centers = ((points - T_link_tube[:3, 3]) @ T_link_tube[:3, :3] for points in (corners, spheres.centers))
    across = np.linalg.norm(local[:, :, None, :2] - centers[:, :2], axis=3).max(axis=1)
    along = np.abs(local[:, :, None, 2] - centers[:, 2]).max(axis=1)
    on_wall = np.hypot(local[..., 0], local[..., 1]) >= _ON_THE_WALL * radius
    # Angles from a corner on the wall; pieces are less than half a turn wide.
    angles = np.arctan2(local[..., 1], local[..., 0])
    first = np.take_along_axis(angles, on_wall.argmax(axis=1)[:, None], axis=1)
    turns = np.where(on_wall, np.remainder(angles - first + math.pi, 2.0 * math.pi) - math.pi, 0.0)
    low, high = turns.min(axis=1), turns.max(axis=1)
    opposite = np.arctan2(-centers[:, 1], -centers[:, 0])
    away = np.remainder(opposite - (first[:, 0] + 0.5 * (low + high))[:, None] + math.pi, 2.0 * math.pi) - math.pi
    holds_opposite = (np.abs(away) <= 0.5 * (high - low)[:, None] + 1e-12) & on_wall.any(axis=1, keepdims=True)
    across = np.where(holds_opposite, np.hypot(centers[:, 0], centers[:, 1]) + radius, across)
    return np.asarray(np.hypot(across, along) - spheres.radii)


def _longest_edges(part: Patches) -> FloatArray:
    return np.asarray(np.linalg.norm(part.corners - np.roll(part.corners, 1, axis=1), axis=2).max(axis=1))


def _halved(part: Patches) -> Patches:
    """Return the pieces, each split in two by the middle of its longest edge, and of the opposite one."""
    edges = np.roll(part.corners, -1, axis=1) - part.corners
    first = (edges**2).sum(axis=2).argmax(axis=1)
    order = (first[:, None] + np.arange(edges.shape[1])) % edges.shape[1]
    a, b, *rest = np.moveaxis(np.take_along_axis(part.corners, order[..., None], axis=1), 1, 0)
    middle = _middles(part, a, b)
    if len(rest) == 1:
        pieces: list[tuple[FloatArray, ...]] = [(a, middle, rest[0]), (middle, b, rest[0])]
    else:
        c, d = rest
        other = _middles(part, c, d)
        pieces = [(a, middle, other, d), (middle, b, c, other)]
    corners = np.concatenate([np.stack(piece, axis=1) for piece in pieces])
    return part._replace(corners=corners, triangles=None if part.triangles is None else np.tile(part.triangles, 2))


def _middles(part: Patches, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the middles (n, 3) of edges from `a` (n, 3) to `b` (n, 3), on the surface of the part."""
    middle = 0.5 * (a + b)
    if part.ball is not None:
        center, radius = part.ball
        middle = center + radius * (middle - center) / np.linalg.norm(middle - center, axis=1, keepdims=True)
    if part.tube is not None:
        pose, radius = part.tube
        offsets = (np.stack([a, b, middle]) - pose[:3, 3]) @ pose[:3, :2]
        lengths = np.linalg.norm(offsets, axis=2)
        is_arc = (lengths[:2] >= _ON_THE_WALL * radius).all(axis=0)
        outwards = (radius / lengths[2][is_arc] - 1.0)[:, None] * offsets[2][is_arc]
        middle[is_arc] += outwards @ pose[:3, :2].T
    return middle


# Signed distances of points to collision pieces: exact for primitives and triangles.


def signed_distances(pieces: Sequence[Piece], points: FloatArray) -> FloatArray:
    """Return the distances of points (n, 3) in the link frame to the surface of pieces together [m], negative inside.

    Where pieces overlap, the point may be deeper inside of their union: the value is an upper bound there.
    """
    return np.asarray(np.min([_distances_to_piece(piece, points) for piece in pieces], axis=0))


def _distances_to_piece(piece: Piece, points: FloatArray) -> FloatArray:
    pose, shape = piece.T_link_piece, piece.shape
    local = (points - pose[:3, 3]) @ pose[:3, :3]
    if shape.surface is not None:
        triangles = _Triangles(shape.surface)
        return np.array([triangles.signed_distance(point) for point in local])
    if shape.type == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.asarray(np.linalg.norm(local, axis=1) - shape.size[0])
    if shape.type == mujoco.mjtGeom.mjGEOM_CAPSULE:
        radius, half, _ = shape.size
        local[:, 2] -= np.clip(local[:, 2], -half, half)
        return np.asarray(np.linalg.norm(local, axis=1) - radius)
    if shape.type == mujoco.mjtGeom.mjGEOM_CYLINDER:
        outside = np.stack([np.hypot(local[:, 0], local[:, 1]), np.abs(local[:, 2])], axis=1) - shape.size[:2]
    else:
        outside = np.abs(local) - shape.size
    return np.asarray(np.linalg.norm(np.maximum(outside, 0.0), axis=1) + np.minimum(outside.max(axis=1), 0.0))


class _Triangles:
    """Triangles of a mesh, with the values that do not depend on the point.

    A point needs a distance for each vertex and few operations for each triangle: this takes a quarter of the time of
    vector products of all corners.
    """

    def __init__(self, surface: Surface) -> None:
        self._vertices = surface.vertices
        self._faces = np.ascontiguousarray(surface.faces.T)
        a, b, c = (surface.vertices[column] for column in self._faces)
        self._normals = np.cross(b - a, c - a)
        self._offsets = np.einsum("ij,ij->i", a, self._normals)
        self._squares = [np.einsum("ij,ij->i", edge, edge) for edge in (b - a, c - b, a - c)]
        self._longest = np.sqrt(np.max(self._squares, axis=0))

    def signed_distance(self, point: FloatArray) -> float:
        """Return the distance of a point [m], negative where the triangles wind around it."""
        # Import here: it takes half a second.
        import trimesh

        offsets = self._vertices - point
        squares = np.einsum("ij,ij->i", offsets, offsets)
        lengths = np.sqrt(squares)
        (la, lb, lc), (sa, sb, sc) = ([values[column] for column in self._faces] for values in (lengths, squares))
        # Twice the products of the corners as vectors from the point.
        ab, bc, ca = (
            one + other - edge for one, other, edge in zip((sa, sb, sc), (sb, sc, sa), self._squares, strict=True)
        )
        volume = self._offsets - self._normals @ point
        angle = 2.0 * np.arctan2(volume, la * lb * lc + 0.5 * (ab * lc + bc * la + ca * lb)).sum()
        # A point of a triangle is nearer to its nearest corner than the longest edge: most triangles are too far away.
        nearest = np.minimum(np.minimum(la, lb), lc)
        near = nearest - self._longest <= nearest.min()
        # Unit lengths: the function has absolute tolerances.
        size = np.maximum(self._longest[near], 1e-9)
        corners = np.stack([offsets[column[near]] for column in self._faces], axis=1) / size[:, None, None]
        origin = np.zeros((len(corners), 3))
        closest = trimesh.triangles.closest_point(corners, origin)  # type: ignore[no-untyped-call]  # it has no types
        distance = float((np.linalg.norm(closest, axis=1) * size).min())
        return -distance if abs(angle) > 2.0 * math.pi else distance
