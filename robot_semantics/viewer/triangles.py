# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Triangles of the primitives of a description: few, but enough to look round."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from robot_semantics.model.mesh_files import Surface
from robot_semantics.urdf import tree as urdf_tree

SEGMENTS = 32
"""How many corners a circle has."""


@lru_cache(maxsize=512)
def primitive(geometry: urdf_tree.Box | urdf_tree.Cylinder | urdf_tree.Capsule | urdf_tree.Sphere) -> Surface:
    """Return the surface of a primitive, centred on its frame, cylinders and capsules along z; equal primitives share
    one surface.
    """
    surface: Surface = _PRIMITIVES[type(geometry)](geometry)
    return surface


def _box(box: urdf_tree.Box) -> Surface:
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))]
    return Surface(0.5 * signs * np.asarray(box.size), np.array(faces, dtype=np.int32))


def _turned(radii: list[float], heights: list[float]) -> Surface:
    """Return the surface of revolution about z of a line of (radius, height) points, from top to bottom."""
    angles = np.linspace(0.0, 2.0 * np.pi, SEGMENTS, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    rows = [np.column_stack([radius * ring, np.full(SEGMENTS, z)]) for radius, z in zip(radii, heights, strict=True)]
    here = np.arange(SEGMENTS)
    there = (here + 1) % SEGMENTS
    faces = []
    for row in range(len(rows) - 1):
        above, below = row * SEGMENTS, (row + 1) * SEGMENTS
        faces.append(np.column_stack([above + here, below + here, below + there]))
        faces.append(np.column_stack([above + here, below + there, above + there]))
    vertices, triangles = np.concatenate(rows), np.concatenate(faces)
    # If a row is a single point, one of the two triangles of each piece has no area.
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    solid = np.linalg.norm(np.cross(b - a, c - a), axis=-1) > 0.0
    return Surface(vertices, triangles[solid].astype(np.int32))


def _cylinder(cylinder: urdf_tree.Cylinder) -> Surface:
    r, h = cylinder.radius, 0.5 * cylinder.length
    return _turned([0.0, r, r, 0.0], [h, h, -h, -h])


def _capsule(capsule: urdf_tree.Capsule) -> Surface:
    r, h = capsule.radius, 0.5 * capsule.length
    quarter = np.linspace(0.0, 0.5 * np.pi, SEGMENTS // 4 + 1)
    top = [(r * float(np.sin(angle)), h + r * float(np.cos(angle))) for angle in quarter]
    line = top + [(radius, -height) for radius, height in reversed(top)]
    line[0], line[-1] = (0.0, h + r), (0.0, -h - r)
    return _turned([radius for radius, _ in line], [height for _, height in line])


def _sphere(sphere: urdf_tree.Sphere) -> Surface:
    half = np.linspace(0.0, np.pi, SEGMENTS // 2 + 1)
    radii, heights = sphere.radius * np.sin(half), sphere.radius * np.cos(half)
    radii[[0, -1]] = 0.0
    return _turned(radii.tolist(), heights.tolist())


_PRIMITIVES: dict[type, Callable[[Any], Surface]] = {
    urdf_tree.Box: _box,
    urdf_tree.Cylinder: _cylinder,
    urdf_tree.Capsule: _capsule,
    urdf_tree.Sphere: _sphere,
}
