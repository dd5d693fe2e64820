# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Appearance of a robot: one coloured surface for each visual of each link."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.record import record
from robot_semantics.model.element_checks import materials_by_name
from robot_semantics.model.mesh_files import Surface, mesh_surface
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_from_origin
from robot_semantics.viewer.triangles import painted, primitive, with_image

Rgba = tuple[float, float, float, float]

Kind = Literal["visual", "collision", "both", "missing", "uncovered", "sphere"]
"""Kind of a surface. Collision geometry is `both` if there are no visuals; a box (`missing`) replaces a lost mesh.
Spheres of a link leave parts of it `uncovered`.
"""

PLAIN: Rgba = (0.75, 0.76, 0.78, 1.0)
"""Colour of a surface without a colour."""


@record(frozen=True, eq=False)
class LinkSurface:
    """One visual or collision of a link.

    Attributes:
        link: index of the link.
        surface: its triangles; links with the same shape share one object.
        T_link_surface: (4, 4) [m].
        rgba: the colour in the description; None if it has no colour, so that the surface has its own colours.
    """

    link: int
    surface: Surface
    T_link_surface: FloatArray
    rgba: Rgba | None
    kind: Kind = "visual"


VISUALS: tuple[Kind, ...] = ("visual",)

MISSING = primitive(urdf_tree.Box(size=(0.06, 0.06, 0.06)))
"""Box that replaces a mesh that cannot be shown [m]."""


def link_surfaces(
    model: RobotModel,
    resolver: PackageResolver,
    relative_to: Path | None,
    diagnostics: Diagnostics,
    *,
    kinds: Collection[Kind] = VISUALS,
) -> tuple[LinkSurface, ...]:
    """Return the surfaces of all links; a robot without any visuals is shown by its collision geometry.

    A mesh that cannot be found or read gives a warning and is replaced by a small box.

    Args:
        model: the robot.
        resolver: finds the mesh files.
        relative_to: the description's file, for relative paths.
        diagnostics: takes the warnings.
        kinds: visuals, collision geometry, or both.

    Raises:
        MissingExtraError: the description names mesh files, and trimesh is not installed.
    """
    named = materials_by_name(model.urdf)
    bare = not any(link.urdf.visuals for link in model.links)
    surfaces = []
    y_ups: list[urdf_tree.Mesh] = []
    for link in model.links:
        shown: list[tuple[urdf_tree.Visual | urdf_tree.Collision, Kind]] = []
        if "visual" in kinds:
            shown += [(visual, "visual") for visual in link.urdf.visuals]
        if "collision" in kinds or (bare and kinds):
            shown += [(item, "both" if bare else "collision") for item in link.urdf.collisions]
        for item, kind in shown:
            surface = _surface(model.urdf, item.geometry, resolver, relative_to, diagnostics)
            if surface is not None and surface.y_up and isinstance(item.geometry, urdf_tree.Mesh):
                y_ups.append(item.geometry)
            if surface is not None:
                rgba = None
                if isinstance(item, urdf_tree.Visual):
                    material = _definition(item.material, named)
                    textured = _textured(model.urdf, item, material, surface, resolver, relative_to, diagnostics)
                    rgba = material.rgba if material is not None and textured is surface else None
                    surface = textured
                surfaces.append(LinkSurface(link.index, surface, matrix_from_origin(item.origin), rgba, kind))
            elif kind != "collision":
                surfaces.append(LinkSurface(link.index, MISSING, matrix_from_origin(item.origin), PLAIN, "missing"))
    _note_y_up(model.urdf, y_ups, diagnostics)
    return tuple(surfaces)


def _note_y_up(robot: urdf_tree.UrdfRobot, meshes: Sequence[urdf_tree.Mesh], diagnostics: Diagnostics) -> None:
    """Add a note about the meshes that say that y is up."""
    if meshes:
        others = f" and {len(meshes) - 1} other meshes say" if len(meshes) > 1 else " says"
        text = f"{Path(meshes[0].filename).name}{others} that y is up; they are drawn with z up, as RViz draws them"
        diagnostics.note("y-up-mesh", text, robot.places.place(meshes[0].ordinal, "filename"))


def _surface(
    robot: urdf_tree.UrdfRobot,
    geometry: urdf_tree.Geometry,
    resolver: PackageResolver,
    relative_to: Path | None,
    diagnostics: Diagnostics,
) -> Surface | None:
    """Return the surface; None if it cannot be shown."""
    if not isinstance(geometry, urdf_tree.Mesh):
        return primitive(geometry)
    place = robot.places.place(geometry.ordinal, "filename")
    try:
        path = resolver.resolve(geometry.filename, relative_to)
        return mesh_surface(path, "view").scaled(geometry.scale)
    except MissingExtraError:
        raise
    except (RobotSemanticsError, OSError) as error:
        diagnostics.warning("unshown-mesh", f"not shown: {error}", place)
        return None


def _textured(
    robot: urdf_tree.UrdfRobot,
    visual: urdf_tree.Visual,
    material: urdf_tree.Material | None,
    surface: Surface,
    resolver: PackageResolver,
    relative_to: Path | None,
    diagnostics: Diagnostics,
) -> Surface:
    """Return the surface with the textures that a visual shows; warn about each texture that is not shown."""
    if material is not None and material.rgba is not None and material.texture is None:
        return surface
    if material is None or material.texture is None:
        for part in surface.undrawn:
            mesh = visual.geometry.filename if isinstance(visual.geometry, urdf_tree.Mesh) else ""
            message = f"'{mesh}' is drawn without {part}"
            diagnostics.warning("unshown-texture", message, robot.places.place(visual.geometry.ordinal))
        return surface if not surface.images else painted(surface)
    place = robot.places.place(material.ordinal)
    if surface.uv is None:
        kind = type(visual.geometry).__name__.lower()
        reason = "the mesh has no texture coordinates" if kind == "mesh" else f"textures of a {kind} are not drawn"
        diagnostics.warning("unshown-texture", f"texture '{material.texture}' is not shown: {reason}", place)
        return surface
    try:
        path = resolver.resolve(material.texture, relative_to)
        return painted(with_image(surface, path, path.stat().st_mtime_ns))
    except (RobotSemanticsError, OSError) as error:
        diagnostics.warning("unshown-texture", f"texture not shown: {error}", place)
        return surface


def _definition(
    material: urdf_tree.Material | None, named: Mapping[str, urdf_tree.Material]
) -> urdf_tree.Material | None:
    if material is None or material.rgba is not None or material.texture is not None:
        return material
    return named.get(material.name or "")
