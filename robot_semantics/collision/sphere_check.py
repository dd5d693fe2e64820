# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Check of the sphere approximation of each link: proven cover, overshoot and volume."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.collision.shapes import Piece, Shape, trimesh_of
from robot_semantics.collision.sphere_cover import (
    ROUNDING,
    Cover,
    Patches,
    Spheres,
    TooFineError,
    cover,
    signed_distances,
)
from robot_semantics.model.omissions import refuse_omissions
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfSphere
from robot_semantics.transforms import transform_points
from robot_semantics.transforms.arrays import FloatArray

_SECTORS = 16
"""Sectors of a cylinder before its parts are split."""

GRID = 64
"""Points along each axis of the grid that measures the volume of the spheres together."""

TOO_LARGE = 1000.0
"""Smallest radius and coordinate of a sphere that is refused [m]: `ROUNDING` is too small for it."""

NO_GEOMETRY = "no collision geometry"
"""Message about a robot without anything that spheres could cover."""

_THIN = 4.0
"""Longest edge / shortest edge from which a triangle is split across its long sides."""

_FACE = np.array([(1.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (-1.0, -1.0, 1.0), (1.0, -1.0, 1.0)])
_CUBE: FloatArray = np.array(
    [np.roll(face, axis, axis=1) for axis in range(3) for face in (_FACE, _FACE[::-1] * (1.0, 1.0, -1.0))]
)
"""Faces (6, 4, 3) of a cube from -1 to 1, anticlockwise from outside."""

_BOX = mujoco.mjtGeom.mjGEOM_BOX
_SPHERE = mujoco.mjtGeom.mjGEOM_SPHERE
_CYLINDER = mujoco.mjtGeom.mjGEOM_CYLINDER
_CAPSULE = mujoco.mjtGeom.mjGEOM_CAPSULE


class LinkCheck(NamedTuple):
    """Result for one link. All values but the first two are None if the link has a sphere of radius 0.

    Attributes:
        link: its name.
        spheres: number of spheres.
        covered: whether the spheres are proven to cover the surface within the tolerance.
        protrusion: largest distance of the surface to the nearest sphere [m]; 0 if all is inside.
        witness: the point that is farthest outside; None if all is inside.
        overshoot: largest distance of a sphere beyond the surface [m]; an upper bound if the link is not convex.
        volume_ratio: volume of the spheres together / volume of the geometry.
    """

    link: str
    spheres: int
    covered: bool | None = None
    protrusion: float | None = None
    witness: Cover | None = None
    overshoot: float | None = None
    volume_ratio: float | None = None


def check_spheres(
    robot: RobotModel,
    pieces: tuple[Piece, ...],
    stated: Mapping[str, tuple[SrdfSphere, ...]],
    tolerance: float = 0.0,
) -> Iterator[LinkCheck]:
    """Yield the check of every link with collision geometry, by the rules of MoveIt.

    A link that is missing in `stated` has one enclosing sphere. A sphere of radius 0 means that it is not considered.
    """
    refuse_omissions(robot)
    for link, own_pieces, surface, spheres in _approximations(robot, pieces, stated):
        if not spheres.radii.any():
            yield LinkCheck(robot.link_names[link], 0)
            continue
        try:
            proof = cover(surface, spheres, tolerance)
        except TooFineError as error:
            raise TooFineError(
                f"link '{robot.link_names[link]}': {error}: its spheres only touch along a line of the surface; "
                "make them larger, or accept a protrusion with --tolerance"
            ) from None
        uncovered = proof.upper > tolerance + ROUNDING
        # Where the bounds do not decide, only the upper one is safe.
        unproven = uncovered and proof.lower <= tolerance + ROUNDING
        distance = proof.upper if unproven else proof.lower
        out = distance > ROUNDING
        reach = signed_distances(own_pieces, spheres.centers) + spheres.radii
        volume = sum(_volume(piece) for piece in own_pieces)
        yield LinkCheck(
            link=robot.link_names[link],
            spheres=len(spheres.radii),
            covered=not uncovered,
            protrusion=distance if out else 0.0,
            witness=proof if out else None,
            overshoot=max(0.0, float(reach.max())),
            volume_ratio=union_volume(spheres) / volume,
        )


def sphere_pieces(robot: RobotModel, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return the spheres of every link with collision geometry as pieces, by the rules of MoveIt."""
    sphere_list: list[Piece] = []
    for link, *_, spheres in _approximations(robot, pieces, robot.semantics.link_spheres):
        for center, radius in zip(*spheres, strict=True):
            if radius > 0.0:
                pose = np.eye(4)
                pose[:3, 3] = center
                sphere_list.append(Piece(link, Shape(_SPHERE, (float(radius), 0.0, 0.0)), pose))
    return tuple(sphere_list)


def _approximations(
    robot: RobotModel, pieces: tuple[Piece, ...], stated: Mapping[str, tuple[SrdfSphere, ...]]
) -> Iterator[tuple[int, list[Piece], list[Patches], Spheres]]:
    """Yield the index, pieces, surface and spheres of each link with collision geometry.

    Raises:
        RobotSemanticsError: a sphere is `TOO_LARGE`.
    """
    for link in robot.links:
        own_pieces = [piece for piece in pieces if piece.link == link.index]
        rows = np.array([(*one.center, one.radius) for one in stated.get(link.name, ())]).reshape(-1, 4)
        spheres, surface = Spheres(rows[:, :3], rows[:, 3]), link_surface(own_pieces)
        if own_pieces and not len(rows):
            spheres = enclosing_sphere(surface)
        refuse_large_spheres(link.name, spheres)
        if own_pieces:
            yield link.index, own_pieces, surface, spheres


def refuse_large_spheres(link: str, spheres: Spheres) -> None:
    """Refuse spheres about which nothing can be proved.

    Raises:
        RobotSemanticsError: a sphere is `TOO_LARGE`.
    """
    if max(np.abs(spheres.centers).max(initial=0.0), spheres.radii.max(initial=0.0)) > TOO_LARGE:
        raise RobotSemanticsError(f"link '{link}': a sphere is larger than {TOO_LARGE:g} m, or farther away")


def link_surface(pieces: Sequence[Piece]) -> list[Patches]:
    """Return the surface of the pieces of a link."""
    return [part for element, piece in enumerate(pieces) for part in surface_parts(piece, element)]


def enclosing_sphere(surface: list[Patches]) -> Spheres:
    """Return one sphere around the surface, with its centre in the middle of the bounding box."""
    # A ball is a point with a radius.
    points = [part.corners.reshape(-1, 3) if part.ball is None else part.ball[0][None] for part in surface]
    around = [0.0 if part.ball is None else part.ball[1] for part in surface]
    low = np.min([own.min(axis=0) - radius for own, radius in zip(points, around, strict=True)], axis=0)
    high = np.max([own.max(axis=0) + radius for own, radius in zip(points, around, strict=True)], axis=0)
    center = 0.5 * (low + high)
    reach = [np.linalg.norm(own - center, axis=1).max() + radius for own, radius in zip(points, around, strict=True)]
    return Spheres(center[None], np.array([max(reach)]))


def surface_parts(piece: Piece, element: int) -> Iterator[Patches]:
    """Yield the surface of a piece in the link frame, exactly."""
    shape, pose = piece.shape, piece.T_link_piece
    if shape.surface is not None:
        corners = transform_points(pose, shape.surface.vertices)[shape.surface.faces]
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
        is_thin = edges.max(axis=1) > _THIN * edges.min(axis=1)
        if not is_thin.all():
            yield Patches(corners[~is_thin], element, np.flatnonzero(~is_thin))
        if is_thin.any():
            # As trapezoids with an edge of length 0 at the sharp corner: their halves stay few.
            sharp = (edges[is_thin].argmin(axis=1)[:, None] + np.array([0, 1, 1, 2])) % 3
            quads = np.take_along_axis(corners[is_thin], sharp[..., None], axis=1)
            yield Patches(quads, element, np.flatnonzero(is_thin))
    elif shape.type == _BOX:
        yield Patches(transform_points(pose, _CUBE * shape.size), element)
    elif shape.type != _SPHERE:
        radius, half, _ = shape.size
        wall, ends = _tube_parts(radius, half)
        for corners in (wall, ends) if shape.type == _CYLINDER else (wall,):
            yield Patches(transform_points(pose, corners), element, tube=(pose, radius))
    if shape.type in (_SPHERE, _CAPSULE):
        radius, height, _ = shape.size  # The height of a sphere is 0.
        yield from (_half_ball(pose, radius, height, side, element) for side in (1.0, -1.0))


def _tube_parts(radius: float, half: float) -> tuple[FloatArray, FloatArray]:
    """Return rectangles (n, 4, 3) of the wall of a cylinder about z, and triangles (n, 3, 3) of its ends."""
    turns = np.linspace(0.0, 2.0 * math.pi, _SECTORS, endpoint=False)
    low = np.stack([radius * np.cos(turns), radius * np.sin(turns), np.full(_SECTORS, -half)], axis=1)
    high, middle = low * (1.0, 1.0, -1.0), np.broadcast_to((0.0, 0.0, half), low.shape)
    next_low, next_high = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
    wall = np.stack([low, next_low, next_high, high], axis=1)
    ends = [np.stack([middle, high, next_high], axis=1), np.stack([-middle, next_low, low], axis=1)]
    return wall, np.concatenate(ends)


def union_volume(spheres: Spheres) -> float:
    """Return the volume of the spheres together [m^3], measured with a grid of points; of one sphere, exactly."""
    if len(spheres.radii) == 1:
        return 4.0 / 3.0 * math.pi * float(spheres.radii[0]) ** 3
    low = (spheres.centers - spheres.radii[:, None]).min(axis=0)
    steps = ((spheres.centers + spheres.radii[:, None]).max(axis=0) - low) / GRID
    axes = [low[axis] + steps[axis] * (np.arange(GRID) + 0.5) for axis in range(3)]
    filled = np.zeros((GRID, GRID, GRID), dtype=bool)
    for center, radius in zip(*spheres, strict=True):
        x, y, z = ((axis - value) ** 2 for axis, value in zip(axes, center, strict=True))
        filled |= x[:, None, None] + y[:, None] + z <= radius**2
    return float(filled.sum() * steps.prod())


def _volume(piece: Piece) -> float:
    """Return the volume of a piece [m^3]; of an open mesh, that of its hull."""
    shape = piece.shape
    if shape.surface is not None and shape.hull is not None:
        mesh = trimesh_of(shape.surface)
        return abs(float((mesh if mesh.is_volume else trimesh_of(shape.hull)).volume))
    x, y, z = shape.size
    ball, tube = 4.0 / 3.0 * math.pi * x**3, 2.0 * math.pi * x**2 * y
    return {_BOX: 8.0 * x * y * z, _SPHERE: ball, _CYLINDER: tube, _CAPSULE: tube + ball}[shape.type]


def _half_ball(pose: FloatArray, radius: float, height: float, side: float, element: int) -> Patches:
    """Return a half sphere about (0, 0, ±height) that opens to the other side."""
    ring = radius * np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    top = np.broadcast_to([0.0, 0.0, side * radius], ring.shape)
    center = np.array([0.0, 0.0, side * height])
    corners = center + np.stack([ring, np.roll(ring, -1, axis=0), top], axis=1)
    return Patches(transform_points(pose, corners), element, ball=(transform_points(pose, center), radius))
