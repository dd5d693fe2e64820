"""The convex pieces of every link, by one of three readings of its collision geometry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.collision.decomposition import bounding_primitive, convex_parts, excess_volume
from robot_semantics.collision.scene import Piece
from robot_semantics.collision.shapes import GeometryError, Shape, shape_of
from robot_semantics.description import urdf_tree
from robot_semantics.description.urdf_dialects import matrix_of
from robot_semantics.diagnostics import Diagnostics
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray

FAR_FROM_CONVEX = 0.5
"""A hull that adds more than this share of the mesh's own volume is reported: it collides where the mesh does not."""


class LocalShape(NamedTuple):
    """A shape, and where it stands in the frame of the collision element it comes from."""

    shape: Shape
    T_element_shape: FloatArray


Reading = Callable[[urdf_tree.Mesh, Path], list[LocalShape]]


def pieces_of(
    robot: RobotModel, resolver: PackageResolver, diagnostics: Diagnostics, geometry: str = "hull"
) -> tuple[Piece, ...]:
    """Return the pieces of every link with collision geometry.

    `geometry` is how a mesh is read: ``hull`` (its convex hull), ``decomposed`` (convex parts that follow its hollows)
    or ``primitive`` (the box round it). A geometry that cannot be used is an error in `diagnostics`, never a silently
    missing piece; a hull that adds much to its mesh is a warning.
    """
    reading = READINGS[geometry]
    source = Path(robot.urdf.places.source)
    relative_to = source if source.exists() else None
    pieces: list[Piece] = []
    for link in robot.links:
        for collision in link.urdf.collisions:
            T_link_element = matrix_of(collision.origin)
            try:
                shapes = _shapes(collision.geometry, resolver, relative_to, reading)
            except GeometryError as error:
                place = robot.urdf.places.place(collision.geometry.at)
                diagnostics.error("unusable-geometry", f"link '{link.name}': {error}", place)
                continue
            if geometry == "hull":
                _warn_of_excess(robot, link.name, collision.geometry, resolver, relative_to, diagnostics)
            pieces += [Piece(link.index, shape, T_link_element @ T_element_shape) for shape, T_element_shape in shapes]
    return tuple(pieces)


def _shapes(
    geometry: urdf_tree.Geometry, resolver: PackageResolver, relative_to: Path | None, reading: Reading
) -> list[LocalShape]:
    if not isinstance(geometry, urdf_tree.Mesh):
        return [LocalShape(shape_of(geometry, Path), np.eye(4))]
    # `shape_of` looks the file up as well; it is what turns a missing file into a GeometryError.
    whole = shape_of(geometry, lambda uri: resolver.resolve(uri, relative_to))
    if reading is _hull:
        return [LocalShape(whole, np.eye(4))]
    return reading(geometry, resolver.resolve(geometry.filename, relative_to))


def _hull(mesh: urdf_tree.Mesh, path: Path) -> list[LocalShape]:
    return [LocalShape(shape_of(mesh, lambda _: path), np.eye(4))]


def _decomposed(mesh: urdf_tree.Mesh, path: Path) -> list[LocalShape]:
    return [LocalShape(shape, np.eye(4)) for shape in convex_parts(path, mesh.scale)]


def _primitive(mesh: urdf_tree.Mesh, path: Path) -> list[LocalShape]:
    return [LocalShape(*bounding_primitive(path, mesh.scale))]


READINGS: dict[str, Reading] = {"hull": _hull, "decomposed": _decomposed, "primitive": _primitive}


def _warn_of_excess(
    robot: RobotModel,
    link: str,
    geometry: urdf_tree.Geometry,
    resolver: PackageResolver,
    relative_to: Path | None,
    diagnostics: Diagnostics,
) -> None:
    if not isinstance(geometry, urdf_tree.Mesh):
        return
    path = resolver.resolve(geometry.filename, relative_to)
    excess = excess_volume(str(path), path.stat().st_mtime_ns)
    if excess is not None and excess > FAR_FROM_CONVEX:
        diagnostics.warning(
            "far-from-convex",
            f"link '{link}': the convex hull of '{geometry.filename}' adds {excess:.0%} to its volume; "
            "'decomposed' geometry follows it more closely",
            robot.urdf.places.place(geometry.at, "filename"),
        )
