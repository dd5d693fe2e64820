# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The pieces of every link, by one of the readings of its collision geometry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.collision.decomposition import bounding_primitive, convex_parts
from robot_semantics.collision.hulls import mesh_hull
from robot_semantics.collision.shapes import GeometryError, Piece, Shape, shape_of
from robot_semantics.model.collada_unit import unit_of
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_of

FAR_FROM_CONVEX = 0.5
"""A hull that adds more than this share of the mesh's own volume is reported: it collides where the mesh does not."""


class LocalShape(NamedTuple):
    """A shape, and where it stands in the frame of the collision element it comes from."""

    shape: Shape
    T_element_shape: FloatArray


Reading = Callable[[urdf_tree.Mesh, Path], list[LocalShape]]


def pieces_of(
    robot: RobotModel, resolver: PackageResolver, diagnostics: Diagnostics, geometry: str = "mesh"
) -> tuple[Piece, ...]:
    """Return the pieces of every link with collision geometry.

    `geometry` is how a mesh is read: ``mesh`` and ``hull`` (its triangles in their convex hull; which of them decides
    is for `Settings` to say), ``decomposed`` (convex parts that follow its hollows) or ``primitive`` (the box round
    it). A geometry that cannot be used is an error in `diagnostics`, never a silently
    missing piece; a hull that adds much to its mesh, and a unit that MoveIt would overlook, are warnings.
    """
    source = Path(robot.urdf.places.source)
    reader = _Reader(robot, resolver, source if source.exists() else None, diagnostics, geometry)
    pieces: list[Piece] = []
    for link in robot.links:
        for collision in link.urdf.collisions:
            T_link_element = matrix_of(collision.origin)
            try:
                shapes = reader.shapes(collision.geometry, link.name)
            except (GeometryError, OSError) as error:
                place = robot.urdf.places.place(collision.geometry.at)
                diagnostics.error("unusable-geometry", f"link '{link.name}': {error}", place)
                continue
            pieces += [Piece(link.index, shape, T_link_element @ T_element_shape) for shape, T_element_shape in shapes]
    return tuple(pieces)


class _Reader(NamedTuple):
    robot: RobotModel
    resolver: PackageResolver
    relative_to: Path | None
    diagnostics: Diagnostics
    geometry: str

    def shapes(self, geometry: urdf_tree.Geometry, link: str) -> list[LocalShape]:
        """Return the shapes of a collision element of `link`.

        Raises:
            GeometryError: it cannot be used.
        """
        # Whatever the reading of meshes, this is what turns a missing, broken or flat one into a GeometryError.
        whole = shape_of(geometry, self._find)
        if not isinstance(geometry, urdf_tree.Mesh):
            return [LocalShape(whole, np.eye(4))]
        path = self._find(geometry.filename)
        self._warn(geometry, link, path)
        try:
            return READINGS[self.geometry](geometry, path)
        except GeometryError as error:
            raise GeometryError(f"mesh '{geometry.filename}': {error}") from error

    def _find(self, uri: str) -> Path:
        return self.resolver.resolve(uri, self.relative_to)

    def _warn(self, mesh: urdf_tree.Mesh, link: str, path: Path) -> None:
        excess, unit = mesh_hull(path).excess, unit_of(path)
        place = self.robot.urdf.places.place(mesh.at, "filename")
        if self.geometry == "hull" and excess is not None and excess > FAR_FROM_CONVEX:
            self.diagnostics.warning(
                "far-from-convex",
                f"link '{link}': the convex hull of '{mesh.filename}' adds {excess:.0%} to its volume; "
                "'mesh' geometry follows it",
                place,
            )
        if unit != 1.0:
            self.diagnostics.warning(
                "mesh-unit",
                f"link '{link}': '{mesh.filename}' is in units of {unit:g} m, and is read so, as RViz reads it; "
                "MoveIt's collision checking takes its numbers for metres",
                place,
            )


def _whole(mesh: urdf_tree.Mesh, path: Path) -> list[LocalShape]:
    return [LocalShape(shape_of(mesh, lambda _: path), np.eye(4))]


def _decomposed(mesh: urdf_tree.Mesh, path: Path) -> list[LocalShape]:
    return [LocalShape(shape, np.eye(4)) for shape in convex_parts(path, mesh.scale)]


def _primitive(mesh: urdf_tree.Mesh, path: Path) -> list[LocalShape]:
    return [LocalShape(*bounding_primitive(path, mesh.scale))]


READINGS: dict[str, Reading] = {"mesh": _whole, "hull": _whole, "decomposed": _decomposed, "primitive": _primitive}
