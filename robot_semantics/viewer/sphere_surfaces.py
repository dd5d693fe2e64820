# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Spheres of links as surfaces, and the parts of links that their spheres do not cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.mesh_files import Surface
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Sphere
from robot_semantics.viewer.link_surfaces import LinkSurface, Rgba
from robot_semantics.viewer.scene import Scene
from robot_semantics.viewer.triangles import primitive

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece

SPHERE: Rgba = (0.18, 0.62, 0.27, 0.4)
UNCOVERED: Rgba = (0.9, 0.05, 0.05, 1.0)

SHARE = 1.0 / 50.0
"""Longest edge of an uncovered part, as a share of the size of its link."""

LIFT = 2e-3
"""Distance of an uncovered part from the surface, as a share of the size of its link: it is seen on both sides."""


def with_spheres(scene: Scene, package_paths: Sequence[str], diagnostics: Diagnostics, *, balls: bool = False) -> Scene:
    """Return the scene with the uncovered parts of links that have spheres; with `balls`, also with the spheres.

    Raises:
        MissingExtraError: the extra ``collision`` is not installed.
    """
    from robot_semantics.collision.pieces import pieces_of

    actors = []
    for actor in scene.actors:
        pieces = pieces_of(actor.model, PackageResolver(package_paths), diagnostics)
        added = [*uncovered_surfaces(actor.model, pieces), *(sphere_surfaces(actor.model) if balls else ())]
        actors.append(replace(actor, surfaces=(*actor.surfaces, *added)))
    return replace(scene, actors=tuple(actors))


def sphere_surfaces(model: RobotModel) -> Iterator[LinkSurface]:
    """Yield the spheres of the SRDF as transparent surfaces."""
    for link, spheres in model.semantics.link_spheres.items():
        for sphere in spheres:
            ball = primitive(Sphere(radius=sphere.radius)) if sphere.radius > 0.0 else None
            if ball is not None:
                pose = np.eye(4)
                pose[:3, 3] = sphere.center
                yield LinkSurface(model.link_index[link], ball, pose, SPHERE, "sphere")


def uncovered_surfaces(model: RobotModel, pieces: Sequence[Piece]) -> Iterator[LinkSurface]:
    """Yield the parts of links that no sphere of the SRDF holds; a link with radius 0 has none."""
    for link, stated in model.semantics.link_spheres.items():
        own = [piece for piece in pieces if piece.link == model.link_index[link]]
        parts = uncovered_parts(own, np.array([(*one.center, one.radius) for one in stated]))
        if len(parts):
            surface = Surface(parts.reshape(-1, 3), np.arange(3 * len(parts), dtype=np.int32).reshape(-1, 3))
            yield LinkSurface(model.link_index[link], surface, np.eye(4), UNCOVERED, "uncovered")


def uncovered_parts(pieces: Sequence[Piece], rows: FloatArray) -> FloatArray:
    """Return the parts (n, 3, 3) of a link that spheres (m, 4), x y z radius, do not hold [m], on both sides."""
    from robot_semantics.collision.sphere_check import link_surface
    from robot_semantics.collision.sphere_cover import Spheres, uncovered

    if not pieces or not len(rows) or not rows[:, 3].any():
        return np.zeros((0, 3, 3))
    surface = link_surface(pieces)
    size = float(np.linalg.norm(np.ptp(np.concatenate([part.corners.reshape(-1, 3) for part in surface]), axis=0)))
    parts = uncovered(surface, Spheres(rows[:, :3], rows[:, 3]), SHARE * size)
    normals = np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0])
    lift = LIFT * size * normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return np.concatenate([parts + lift[:, None], parts[:, ::-1] - lift[:, None]])
