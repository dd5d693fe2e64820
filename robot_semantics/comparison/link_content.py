# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The content of two links: collision geometry, visual geometry and mass, and where each is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.json_value import Json
from robot_semantics.model.mesh_files import Surface, mesh_surface
from robot_semantics.transforms import invert, transform_points
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.dialects import matrix_from_origin
from robot_semantics.urdf.tree import Box, Capsule, Collision, Cylinder, Geometry, Link, Mesh, Sphere, Visual

MeshFinder = Callable[[str], Path]
"""Gives the file of a mesh's URI; raises a `RobotSemanticsError` or `OSError` that says why there is none."""

TOLERANCE = 1e-6
"""Largest difference [m, rad] of two poses that are equal: six digits is what descriptions usually have."""

POINTS = 10_000
"""Random points on each of two meshes between which the distance is measured, besides their vertices."""


class Content(NamedTuple):
    """A link with the files of its meshes."""

    link: Link
    find_mesh: MeshFinder


class RobotDifference(NamedTuple):
    """One difference.

    Attributes:
        kind: what differs, as ``joint_origin`` or ``mass``.
        name: the joint, link, group or pair of robot A; of robot B if A does not have it.
        text: the difference in words.
        a: the value of robot A, if one value says it.
        b: the value of robot B.
    """

    kind: str
    name: str
    text: str
    a: Json = None
    b: Json = None


class GeometryDifference(NamedTuple):
    """A difference in collision geometry: in words, and its size [m] where one is known."""

    text: str
    distance_m: float | None = None


def same_content(a: Link, b: Link) -> Iterator[FloatArray]:
    """Yield for each equal thing on two links the pose of A's frame in B's that puts it at the same place."""
    things_b: list[Collision | Visual] = [*b.collisions, *b.visuals]
    things_a: tuple[Collision | Visual, ...] = (*a.collisions, *a.visuals)
    for thing in things_a:
        other = next((item for item in things_b if type(item) is type(thing) and item.geometry == thing.geometry), None)
        if other is not None:
            things_b.remove(other)
            yield np.asarray(matrix_from_origin(other.origin) @ invert(matrix_from_origin(thing.origin)))
    if a.inertial is not None and b.inertial is not None and a.inertial.inertia == b.inertial.inertia:
        yield matrix_from_origin(b.inertial.origin) @ invert(matrix_from_origin(a.inertial.origin))


def geometry_differences(a: Content, b: Content, T_b_a: FloatArray) -> list[GeometryDifference]:
    """Return the differences in collision geometry of two links.

    Args:
        a: a link of the first robot.
        b: its counterpart.
        T_b_a: (4, 4) pose of the frame of A in the frame of B.
    """
    unmatched = list(b.link.collisions)
    changed = []
    for collision in a.link.collisions:
        same = next((item for item in unmatched if _same_place(a, collision, b, item, T_b_a)), None)
        if same is None:
            changed.append(collision)
        else:
            unmatched.remove(same)
    differences = []
    for first in list(changed):
        if not unmatched:
            break
        second = next((item for item in unmatched if item.geometry == first.geometry), unmatched[0])
        changed.remove(first)
        unmatched.remove(second)
        differences.append(_difference(a, first, b, second, T_b_a))
    differences += [GeometryDifference(f"{_words(item.geometry)} removed") for item in changed]
    differences += [GeometryDifference(f"{_words(item.geometry)} added") for item in unmatched]
    return differences


def _same_place(a: Content, first: Collision, b: Content, second: Collision, T_b_a: FloatArray) -> bool:
    T_a, T_b = T_b_a @ matrix_from_origin(first.origin), matrix_from_origin(second.origin)
    same_shape = first.geometry == second.geometry
    if isinstance(first.geometry, Mesh) and isinstance(second.geometry, Mesh) and not same_shape:
        try:
            surface_a, surface_b = _surface(a, first.geometry), _surface(b, second.geometry)
        except (RobotSemanticsError, OSError):
            return False
        same_shape = surface_a.vertices.shape == surface_b.vertices.shape and bool(
            np.abs(surface_a.vertices - surface_b.vertices).max() <= TOLERANCE
            and np.array_equal(surface_a.faces, surface_b.faces)
        )
    if not same_shape or np.abs(T_a[:3, 3] - T_b[:3, 3]).max() > TOLERANCE:
        return False
    if isinstance(first.geometry, Sphere):
        return True
    if isinstance(first.geometry, (Cylinder, Capsule)):
        # Round about their Z axes, and the same upside down.
        return bool(1.0 - abs(T_a[:3, 2] @ T_b[:3, 2]) <= TOLERANCE**2)
    return bool(np.abs(T_a - T_b).max() <= TOLERANCE)


def _difference(a: Content, first: Collision, b: Content, second: Collision, T_b_a: FloatArray) -> GeometryDifference:
    T_a, T_b = T_b_a @ matrix_from_origin(first.origin), matrix_from_origin(second.origin)
    if isinstance(first.geometry, Mesh) and isinstance(second.geometry, Mesh):
        try:
            distance = hausdorff_distance(
                transform_points(T_a, _surface(a, first.geometry).vertices),
                _surface(a, first.geometry),
                transform_points(T_b, _surface(b, second.geometry).vertices),
                _surface(b, second.geometry),
            )
        except (RobotSemanticsError, OSError) as error:
            return GeometryDifference(f"meshes cannot be compared: {error}")
        return GeometryDifference(f"surfaces are up to {1e3 * distance:.3g} mm apart", distance)
    if first.geometry == second.geometry:
        distance = float(np.linalg.norm(T_a[:3, 3] - T_b[:3, 3]))
        moved = f"moved {1e3 * distance:.3g} mm" if distance > TOLERANCE else "turned"
        return GeometryDifference(f"{_words(first.geometry)} {moved}", distance)
    return GeometryDifference(f"{_words(first.geometry)} → {_words(second.geometry)}")


def hausdorff_distance(points_a: FloatArray, a: Surface, points_b: FloatArray, b: Surface) -> float:
    """Return about the Hausdorff distance of two surfaces [m], from their vertices and `POINTS` random points of each.

    Args:
        points_a: (n, 3) vertices of A in a common frame [m].
        a: the surface; its faces are used.
        points_b: (m, 3) vertices of B in the same frame.
        b: likewise.
    """
    from scipy.spatial import cKDTree

    cloud_a, cloud_b = _cloud(points_a, a), _cloud(points_b, b)
    to_b, to_a = cKDTree(cloud_b).query(points_a)[0], cKDTree(cloud_a).query(points_b)[0]
    return float(max(np.max(to_b), np.max(to_a)))


def _cloud(points: FloatArray, surface: Surface) -> FloatArray:
    rng = np.random.default_rng(0)
    corners = points[surface.faces]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if not areas.sum():
        return points
    faces = rng.choice(len(areas), POINTS, p=areas / areas.sum())
    weights = rng.dirichlet(np.ones(3), POINTS)
    return np.concatenate((points, np.einsum("nk,nkj->nj", weights, corners[faces])))


def _surface(content: Content, mesh: Mesh) -> Surface:
    return mesh_surface(content.find_mesh(mesh.filename)).scaled(mesh.scale)


def _words(geometry: Geometry) -> str:
    sizes: tuple[float, ...]
    match geometry:
        case Mesh(filename=name):
            return f"mesh '{name}'"
        case Box():
            sizes = geometry.size
        case Sphere():
            sizes = (geometry.radius,)
        case _:
            sizes = (geometry.radius, geometry.length)
    return f"{type(geometry).__name__.lower()} {' '.join(f'{size:g}' for size in sizes)}"
