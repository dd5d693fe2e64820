# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Triangles of the primitives of a description: few, but enough to look round; and of surfaces with textures.

Textures become colours of faces: a face that shows many pixels is split into many small faces. So the page and pictures
need only colours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.model.mesh_files import Bytes, FaceImage, Surface
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.urdf import tree as urdf_tree

SEGMENTS = 32
"""How many corners a circle has."""

MOST_FACES = 30_000
"""Largest number of faces that the textured faces of one surface become."""

MOST_PARTS = 64
"""Largest number of parts of an edge."""

GREY = (178, 178, 178, 255)
"""Colour of faces without a texture beside textured ones."""


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
    start = np.arange(SEGMENTS)
    end = (start + 1) % SEGMENTS
    faces = []
    for row in range(len(rows) - 1):
        above, below = row * SEGMENTS, (row + 1) * SEGMENTS
        faces.append(np.column_stack([above + start, below + start, below + end]))
        faces.append(np.column_stack([above + start, below + end, above + end]))
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


@lru_cache(maxsize=256)
def with_image(surface: Surface, path: Path, modified_ns: int) -> Surface:
    """Return the surface with the picture in a file as the texture of all faces that have texture coordinates.

    Raises:
        RobotSemanticsError: the file cannot be read as a picture.
        MissingExtraError: Pillow is not installed.
    """
    del modified_ns  # the cache key changes with the file
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("PIL", "view", "reading textures") from error
    try:
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGBA"))
    except Exception as error:  # Pillow raises any error for a damaged picture
        raise RobotSemanticsError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    uv = np.full((len(surface.faces), 3, 2), np.nan) if surface.uv is None else surface.uv
    faces = np.flatnonzero(~np.isnan(uv).any(axis=(1, 2))).astype(np.int32)
    return replace(surface, images=(FaceImage(pixels, faces),))


@lru_cache(maxsize=256)
def painted(surface: Surface) -> Surface:
    """Return the surface with its textures as colours of its faces; the same surface without textures."""
    if surface.uv is None or not surface.images:
        return surface
    sizes = [_pixels_of_edges(surface.uv[image.faces], image.pixels) for image in surface.images]
    step = 1.0
    while sum(int((_parts(size, step) ** 2).sum()) for size in sizes) > MOST_FACES and step < MOST_FACES:
        step *= 1.25
    whole = np.ones(len(surface.faces), dtype=bool)
    colours = np.tile(np.array(GREY, dtype=np.uint8), (len(surface.faces), 1))
    if surface.colours is not None:
        colours[:] = surface.colours
    vertices, faces, paints = [surface.vertices], [], []
    count = len(surface.vertices)
    for image, size in zip(surface.images, sizes, strict=True):
        pixels, parts = _reduced(image.pixels, int(step)), _parts(size, step)
        for number in np.unique(parts).tolist():
            chosen = image.faces[parts == number]
            grid, small = _grid(number)
            centres = grid[small].mean(axis=1)
            paint = _sampled(pixels, np.einsum("tb,kbd->ktd", centres, surface.uv[chosen].astype(np.float64)))
            if number == 1:
                colours[chosen] = paint[:, 0]
                continue
            whole[chosen] = False
            points = np.einsum("pb,kbd->kpd", grid, surface.vertices[surface.faces[chosen]])
            starts = count + len(grid) * np.arange(len(chosen))
            vertices.append(points.reshape(-1, 3))
            faces.append((starts[:, None, None] + small).reshape(-1, 3))
            paints.append(paint.reshape(-1, 4))
            count += len(chosen) * len(grid)
    return replace(
        surface,
        vertices=np.concatenate(vertices),
        faces=np.concatenate([surface.faces[whole], *faces]).astype(np.int32),
        colours=np.concatenate([colours[whole], *paints]),
        uv=None,
        images=(),
    )


def _pixels_of_edges(uv: npt.NDArray[np.float32], pixels: Bytes) -> FloatArray:
    """Return (m,) the length of the longest edge of each face in the picture [pixels]."""
    size = np.array([pixels.shape[1], pixels.shape[0]], dtype=np.float64)
    edges = (uv - np.roll(uv, 1, axis=1)) * size
    lengths: FloatArray = np.linalg.norm(edges, axis=-1).max(axis=1)
    return lengths


def _parts(lengths: FloatArray, step: float) -> IntArray:
    """Return (m,) the number of parts of the edges of each face, with `step` pixels each."""
    return np.clip(np.ceil(lengths / step), 1, MOST_PARTS).astype(np.int64)


def _grid(parts: int) -> tuple[FloatArray, IntArray]:
    """Return (p, 3) weights of the corners at the points of a triangle with `parts` on each edge, and (q, 3) parts."""
    rows = [(i, j) for i in range(parts + 1) for j in range(parts + 1 - i)]
    at = {row: number for number, row in enumerate(rows)}
    weights = np.array([(parts - i - j, i, j) for i, j in rows], dtype=np.float64) / parts
    upright = [(at[i, j], at[i + 1, j], at[i, j + 1]) for i, j in rows if i + j < parts]
    others = [(at[i + 1, j], at[i + 1, j + 1], at[i, j + 1]) for i, j in rows if i + j < parts - 1]
    return weights, np.array(upright + others, dtype=np.int64)


def _reduced(pixels: Bytes, step: int) -> Bytes:
    """Return a picture with the mean of each `step` x `step` pixels, as far as it is large enough."""
    step = max(min(step, pixels.shape[0], pixels.shape[1]), 1)
    height, width = pixels.shape[0] // step, pixels.shape[1] // step
    blocks = pixels[: height * step, : width * step].reshape(height, step, width, step, 4)
    return np.asarray(blocks.mean(axis=(1, 3)).round(), dtype=np.uint8)


def _sampled(pixels: Bytes, uv: FloatArray) -> Bytes:
    """Return (..., 4) colours at texture coordinates: u to the right, v upwards; the picture repeats."""
    height, width = pixels.shape[:2]
    columns = np.floor(uv[..., 0] % 1.0 * width).astype(np.int64) % width
    rows = np.floor((1.0 - uv[..., 1] % 1.0) * height).astype(np.int64) % height
    colours: Bytes = pixels[rows, columns]
    return colours
