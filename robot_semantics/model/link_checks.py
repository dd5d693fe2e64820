# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of single links: impossible masses and inertias, undefined materials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.urdf.tree import Box, Cylinder, Inertial, Link, Material, Sphere, UrdfRobot, Visual


def check_links(robot: UrdfRobot, diagnostics: Diagnostics) -> frozenset[str]:
    """Report wrong inertials and materials; return the links with a meaningless inertial."""
    with_inertial = [(link.name, link.inertial) for link in robot.links if link.inertial is not None]
    bad = frozenset([name for name, inertial in with_inertial if not _mass_is_good(name, inertial, robot, diagnostics)])
    _check_inertias(with_inertial, robot, diagnostics)
    _check_sizes(robot, diagnostics)
    _check_materials(robot, diagnostics)
    return bad


def materials_by_name(robot: UrdfRobot) -> dict[str, Material]:
    """Return the definition for each material name: at robot level, else the first one in a link."""
    found: dict[str, Material] = {}
    for material in (*robot.materials, *(visual.material for visual in _visuals(robot) if visual.material)):
        if material.name and _defines(material):
            found.setdefault(material.name, material)
    return found


def _mass_is_good(name: str, inertial: Inertial, robot: UrdfRobot, diagnostics: Diagnostics) -> bool:
    if inertial.mass >= 0:
        return True
    message = f"the mass of link '{name}' is negative: {inertial.mass:g} kg"
    diagnostics.error("negative-mass", message, robot.places.place(inertial.mass_at, "value"))
    return False


def _check_inertias(inertials: list[tuple[str, Inertial]], robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    """Warn about inertias that are not positive semi-definite, by their principal minors."""
    for name, inertial in inertials:
        if _is_semi_definite(inertial.inertia):
            continue
        message = f"the inertia of link '{name}' is not positive semi-definite, which is impossible for a body"
        diagnostics.warning("inertia-not-physical", message, robot.places.place(inertial.inertia_at))


def _is_semi_definite(inertia: Sequence[float]) -> bool:
    # Scaled to entries of at most 1: the minors neither overflow nor underflow, and one tolerance fits all.
    scale = max(map(abs, inertia)) or 1.0
    xx, xy, xz, yy, yz, zz = (value / scale for value in inertia)
    minors = (
        xx,
        yy,
        zz,
        xx * yy - xy * xy,
        xx * zz - xz * xz,
        yy * zz - yz * yz,
        xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz),
    )
    # The rounded decimal inertia of a thin rod may miss semi-definiteness slightly.
    return min(minors) >= -1e-9


def _check_sizes(robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    """Warn about negative sizes, which every reader treats differently; negative capsules are parse errors."""
    for link in robot.links:
        shapes = [visual.geometry for visual in link.visuals] + [shape.geometry for shape in link.collisions]
        for shape in shapes:
            if isinstance(shape, (Box, Cylinder, Sphere)):
                for name, value in _sizes(shape):
                    if value < 0:
                        tag = type(shape).__name__.lower()
                        message = f"attribute '{name}' of <{tag}> should not be negative, but is {value:g}"
                        diagnostics.warning("negative-size", message, robot.places.place(shape.at, name))


def _sizes(shape: Box | Cylinder | Sphere) -> Iterator[tuple[str, float]]:
    """Yield the lengths of a shape with their attribute names."""
    if isinstance(shape, Box):
        yield "size", min(shape.size)
    else:
        yield "radius", shape.radius
    if isinstance(shape, Cylinder):
        yield "length", shape.length


def _check_materials(robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    first: dict[str, Material] = {}
    for material in robot.materials:
        if not material.name:
            continue
        if material.name in first:
            line = robot.places.place(first[material.name].at).line
            message = f"material '{material.name}' is declared twice, first on line {line}"
            diagnostics.error("duplicate-name", message, robot.places.place(material.at, "name"))
            continue
        first[material.name] = material
        if not _defines(material):
            message = f"material '{material.name}' has neither a colour nor a texture"
            diagnostics.warning("empty-material", message, robot.places.place(material.at))
    known = materials_by_name(robot)
    inline = [visual.material for visual in _visuals(robot) if visual.material is not None]
    _check_colours((*robot.materials, *inline), robot, diagnostics)
    for visual in _visuals(robot):
        used = visual.material
        if used is None or not used.name:
            continue
        if used.name not in known:
            message = f"material '{used.name}' is not defined"
            place = robot.places.place(used.at, "name")
            diagnostics.warning("unknown-material", message, place, name=used.name, valid=known)
        elif _defines(used) and _appearance(used) != _appearance(known[used.name]):
            line = robot.places.place(known[used.name].at).line
            message = f"material '{used.name}' looks different on line {line}, and other programs use that one"
            diagnostics.warning("material-redefined", message, robot.places.place(used.at))


def _check_colours(materials: Iterable[Material], robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    for material in materials:
        if material.rgba is not None and not all(0.0 <= value <= 1.0 for value in material.rgba):
            rgba = " ".join(f"{value:g}" for value in material.rgba)
            message = f"the colour {rgba} of material '{material.name or ''}' is not within 0 to 1"
            diagnostics.warning("colour-range", message, robot.places.place(material.at))


def _visuals(robot: UrdfRobot) -> list[Visual]:
    return [visual for link in robot.content if isinstance(link, Link) for visual in link.visuals]


def _defines(material: Material) -> bool:
    return material.rgba is not None or material.texture is not None


def _appearance(material: Material) -> tuple[object, object]:
    return material.rgba, material.texture
