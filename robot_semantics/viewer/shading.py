# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shading of triangles: smooth normals on smooth surfaces, and the colour of each pixel."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from robot_semantics.model.mesh_files import Surface
from robot_semantics.transforms.arrays import FloatArray

Shades = npt.NDArray[np.float32]
"""Colours, directions and shares of pixels: nobody sees more than seven digits."""

_CREASE = 0.8
"""Cosine of the angle between a face and its largest neighbour from which on an edge is meant to be one."""

_SIDES = 3
"""Largest number of smooth sides at a corner; the other sides are flat."""

# Two lamps that move with the camera (x right, y down, z forward): one above on the left, a weak one on the right.
_LAMPS = ((np.array([-0.45, -0.75, -0.6]), 0.58), (np.array([0.8, 0.1, -0.4]), 0.24))
_AMBIENT = 0.40


@lru_cache(maxsize=4096)
def corner_normals(surface: Surface) -> npt.NDArray[np.float32]:
    """Return (m, 3, 3) unit normals at the corners of each face; at a sharp edge, the normal of the face."""
    xyz = np.ascontiguousarray(surface.vertices.T)
    a, b, c = (xyz[:, surface.faces[:, corner]] for corner in range(3))
    (ux, uy, uz), (vx, vy, vz) = b - a, c - a
    areas = np.stack([uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx])
    flat = _unit(areas)
    # A file may give each face its own vertices: merge vertices at the same position.
    extent = max(float(np.ptp(surface.vertices, axis=0).max()), 1e-12)
    cells = np.round((surface.vertices - surface.vertices.min(axis=0)) * (1e5 / extent)).astype(np.int64)
    _, same = np.unique((cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2], return_inverse=True)
    vertices = same[surface.faces].ravel()
    normals = np.repeat(flat.astype(np.float32), 3, axis=1)
    by_size = np.argsort(np.sqrt((areas * areas).sum(axis=0)), kind="stable")
    rest = (3 * by_size[:, None] + np.arange(3)).ravel()
    # At each vertex, the largest face collects its smooth neighbours; then the largest of the rest, and so on.
    for _ in range(_SIDES):
        vertex, face = vertices[rest], rest // 3
        leader = np.zeros(vertices.max() + 1, dtype=np.int64)
        leader[vertex] = face
        along = np.einsum("ij,ij->j", flat[:, face], flat[:, leader[vertex]]) > _CREASE
        one, vertex, face = rest[along], vertex[along], face[along]
        sums: FloatArray = np.stack([np.bincount(vertex, area[face], len(leader)) for area in areas])
        normals[:, one] = _unit(sums).astype(np.float32)[:, vertex]
        rest = rest[~along]
    result: npt.NDArray[np.float32] = np.ascontiguousarray(normals.T).reshape(-1, 3, 3)
    result.setflags(write=False)
    return result


def lit(rgb: Shades, normals: Shades, rays: Shades) -> Shades:
    """Return (3, n) shaded colours of (3, n) colours, normals and viewing directions in the camera's axes."""
    # A surface seen from inside is shaded like one seen from outside, because many meshes have inverted faces.
    normals = np.where((normals * rays).sum(axis=0) > 0.0, -normals, normals)
    lamps = [(direction / np.linalg.norm(direction)).astype(np.float32)[:, None] for direction, _ in _LAMPS]
    light = np.full(rgb.shape[1], _AMBIENT, dtype=np.float32)
    for lamp, (_, strength) in zip(lamps, _LAMPS, strict=True):
        light += np.float32(strength) * np.maximum((normals * lamp).sum(axis=0), np.float32(0.0))
    half = lamps[0] - rays
    half /= np.sqrt((half * half).sum(axis=0))
    # Squares: numpy's power of an array takes ten times as long.
    eighth = np.maximum((normals * half).sum(axis=0), np.float32(0.0)) ** 2
    eighth *= eighth
    eighth *= eighth
    shine = np.float32(0.16) * eighth * eighth * eighth
    colours: Shades = np.clip(rgb * light + shine, 0.0, 1.0)
    return colours


def _unit(vectors: FloatArray) -> FloatArray:
    """Return (3, n) vectors with the length 1; those of length 0 as they are."""
    lengths = np.sqrt((vectors * vectors).sum(axis=0))
    units: FloatArray = vectors / np.where(lengths > 0.0, lengths, 1.0)
    return units


GROUP_COLOURS: tuple[tuple[float, float, float, float], ...] = (
    (0.90, 0.44, 0.13, 1.0),  # orange
    (0.13, 0.50, 0.78, 1.0),  # blue
    (0.98, 0.76, 0.10, 1.0),  # yellow
    (0.02, 0.90, 0.46, 1.0),  # green
    (0.50, 0.03, 0.97, 1.0),  # violet
    (0.57, 0.78, 0.99, 1.0),  # sky
    (0.58, 0.16, 0.02, 1.0),  # rust
    (0.27, 0.21, 0.71, 1.0),  # indigo
    (0.70, 0.38, 0.50, 1.0),  # rose
    (0.57, 0.46, 0.27, 1.0),  # tan
    (0.58, 0.02, 0.51, 1.0),  # magenta
    (0.41, 0.22, 0.19, 1.0),  # brown
)

FADED: tuple[float, float, float, float] = (0.82, 0.83, 0.85, 1.0)
"""Colour of a link outside of the chosen groups."""


def group_colour(number: int) -> tuple[float, float, float, float]:
    """Return the colour of group number `number`; after the last colour the first one follows."""
    return GROUP_COLOURS[number % len(GROUP_COLOURS)]
