"""Reading what a link looks like and touches with: origins, shapes, materials, visuals and collisions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from robot_semantics.urdf.scanner import VERSIONS, Attributes, Child, Part, Scanner, Version
from robot_semantics.urdf.tree import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Material,
    Mesh,
    Origin,
    Sphere,
    Visual,
)
from robot_semantics.xml.numbers import number, numbers, positive, quaternion, vec3

_NAME: Attributes = {"name": str}
_RGBA: Attributes = {"rgba": partial(numbers, count=4)}
_FILENAME: Attributes = {"filename": str}
_ORIGIN: Attributes = {"xyz": vec3, "rpy": vec3}
_ORIGIN_1_1: Attributes = {**_ORIGIN, "quat_xyzw": quaternion}
_ZERO = (0.0, 0.0, 0.0)
ORIGIN: dict[Version, Attributes] = {(1, 0): _ORIGIN, (1, 1): _ORIGIN_1_1, (1, 2): _ORIGIN_1_1}


class Shape(NamedTuple):
    """A shape of `<geometry>`: its value type, attributes (its fields), those it must have, and its first version."""

    make: Callable[..., Geometry]
    attributes: Attributes
    required: tuple[str, ...]
    since: str = "1.0"


SHAPES: dict[str, Shape] = {
    "box": Shape(Box, {"size": vec3}, ("size",)),
    "cylinder": Shape(Cylinder, {"radius": number, "length": number}, ("radius", "length")),
    "capsule": Shape(Capsule, {"radius": positive, "length": positive}, ("radius", "length"), "1.1"),
    "sphere": Shape(Sphere, {"radius": number}, ("radius",)),
    "mesh": Shape(Mesh, {"filename": str, "scale": vec3}, ("filename",)),
}


def read_origin(scanner: Scanner, part: Part, within: str = "origin") -> Origin | None:
    """Read an `<origin>`; None when it has no meaning."""
    values, at, good = scanner.leaf(part, ORIGIN[scanner.version], within)
    if "rpy" in values and "quat_xyzw" in values:
        scanner.error(
            "two-orientations", "<origin> has both 'rpy' and 'quat_xyzw'; one of them must go", at, "quat_xyzw"
        )
        return None
    return Origin(values.get("xyz", _ZERO), values.get("rpy"), values.get("quat_xyzw"), at) if good else None


def origin_child(scanner: Scanner, part: Part) -> bool:
    """Read the `<origin>` of a part, which has no meaning if its origin has none."""
    origin = read_origin(scanner, part)
    if origin is None:
        part.good = False
        return False
    part.values["origin"] = origin
    return True


def read_material(scanner: Scanner) -> Material:
    """Read `<material>`, at robot level or inline."""
    part = scanner.composite(_NAME, _MATERIAL)
    if not part.values.get("name"):
        message = "<material> has no attribute 'name', so nothing can refer to it and most readers leave it out"
        scanner.warning("unnamed-material", message, part.at)
    get = part.values.get
    return Material(get("name"), get("rgba"), get("texture"), tuple(part.extras), tuple(part.order), part.at)


def _color(scanner: Scanner, part: Part) -> bool:
    if "rgb" in scanner.texts[scanner.next]:
        return _old_color(scanner, part)
    values, _, good = scanner.leaf(part, _RGBA, "color", ("rgba",))
    if good:
        part.values["rgba"] = values["rgba"]
    return good


def _old_color(scanner: Scanner, part: Part) -> bool:
    """Read the review's `<color rgb>`, whose numbers go up to 255."""
    values, at, good = scanner.leaf(part, {**_RGBA, "rgb": vec3}, "color", ("rgb",))
    if not good:
        return False
    if "rgba" in values:
        scanner.warning("duplicate-element", "<color> has both 'rgba' and 'rgb'; 'rgba' counts", at, "rgb")
        part.values["rgba"] = values["rgba"]
        return True
    whole = 255.0 if max(values["rgb"]) > 1.0 else 1.0
    message = f"<color rgb> is the review's form of <color rgba>; its numbers are taken to go up to {whole:g}"
    scanner.in_older_dialect(message, at)
    part.values["rgba"] = (*(value / whole for value in values["rgb"]), 1.0)
    return True


def _texture(scanner: Scanner, part: Part) -> bool:
    values, at, _ = scanner.leaf(part, _FILENAME, "texture")
    # Exporters write an empty <texture/> beside a colour; it says nothing, and every reader passes over it.
    if not values.get("filename"):
        scanner.warning("empty-element", "<texture> has no attribute 'filename'; it is not used", at)
        return False
    part.values["texture"] = values["filename"]
    return True


def _geometry(scanner: Scanner, part: Part) -> bool:
    """Read `<geometry>` with its one shape, which is the first element in it."""
    at = scanner.enter()
    if scanner.texts[at]:
        scanner.attributes(part, "geometry", at, {}, {}, "geometry")
    shapes = 0
    while (tag := scanner.marks[scanner.here]) is not None:
        if shapes and tag in SHAPES:
            scanner.keep_duplicate(part, "geometry", "shape", shapes)
            continue
        if type(tag) is not str or shapes:
            scanner.keep(part, "geometry", SHAPES, shapes, ("geometry", at))
            continue
        shapes += 1
        shape = SHAPES.get(tag)
        if shape is None:
            message = f"<{tag}> is no shape; known are {', '.join(SHAPES)}"
            scanner.error("unknown-shape", message, scanner.next, name=tag, valid=SHAPES)
            scanner.skip()
            continue
        values, shape_at, good = scanner.leaf(part, shape.attributes, f"geometry/{tag}", shape.required)
        if scanner.version < VERSIONS[shape.since]:
            message = f"<{tag}> needs version {shape.since} of <robot>"
            scanner.error("newer-version", message, shape_at)
        elif good:
            part.values["geometry"] = shape.make(*map(values.get, shape.attributes), shape_at)
    scanner.here += 1
    if not shapes:
        scanner.error("missing-element", f"<geometry> has no shape; known are {', '.join(SHAPES)}", at)
    return "geometry" in part.values


def _material(scanner: Scanner, part: Part) -> bool:
    part.values["material"] = read_material(scanner)
    return True


def _old_texture(scanner: Scanner, part: Part) -> bool:
    """Read the original proposal's `<texture name>`, today's reference to a material, or its `<texture filename>`."""
    required = () if "filename" in scanner.texts[scanner.next] else ("name",)
    values, at, good = scanner.leaf(part, {**_NAME, **_FILENAME}, "texture", required)
    if not good or "material" in part.values:
        return False
    scanner.in_older_dialect("<texture> in <visual> is the original proposal's form of <material>", at)
    part.values["material"] = Material(
        values.get("name") or values.get("filename"), texture=values.get("filename"), at=at
    )
    part.order.append("material")
    return False


_MATERIAL: dict[str, Child] = {"color": _color, "texture": _texture}
_COLLISION: dict[str, Child] = {"origin": origin_child, "geometry": _geometry}
_VISUAL: dict[str, Child] = {**_COLLISION, "material": _material, "texture": _old_texture}


def read_visual(scanner: Scanner) -> Visual | None:
    """Read `<visual>`; None when it has no meaning."""
    part = scanner.composite(_NAME, _VISUAL)
    if not _has_geometry(scanner, part):
        return None
    get = part.values.get
    extras, order = tuple(part.extras), tuple(part.order)
    return Visual(part.values["geometry"], get("origin"), get("material"), get("name"), extras, order, part.at)


def read_collision(scanner: Scanner) -> Collision | None:
    """Read `<collision>`; None when it has no meaning."""
    part = scanner.composite(_NAME, _COLLISION)
    if not _has_geometry(scanner, part):
        return None
    get = part.values.get
    return Collision(
        part.values["geometry"], get("origin"), get("name"), tuple(part.extras), tuple(part.order), part.at
    )


def _has_geometry(scanner: Scanner, part: Part) -> bool:
    if "geometry" not in part.seen:
        scanner.error("missing-element", f"<{part.tag}> has no <geometry>", part.at)
    return part.good and "geometry" in part.values
