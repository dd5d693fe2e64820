"""Reading links: inertial, visuals, collisions, geometry and materials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.description.urdf_numbers import number, numbers
from robot_semantics.description.urdf_scanner import Convert, Part, Scanner
from robot_semantics.description.urdf_tree import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Link,
    Material,
    Mesh,
    Origin,
    Sphere,
    Visual,
)


def vec3(text: str) -> tuple[float, ...]:
    """Return three numbers."""
    return numbers(text, 3)


def vec4(text: str) -> tuple[float, ...]:
    """Return four numbers."""
    return numbers(text, 4)


def positive(text: str) -> float:
    """Return a number above zero."""
    value = number(text)
    if value <= 0:
        raise ValueError(f"should be above 0, not {text.strip()}")
    return value


ORIGIN: dict[str, Convert | None] = {"xyz": vec3, "rpy": vec3}
ORIGIN_1_1: dict[str, Convert | None] = {"xyz": vec3, "rpy": vec3, "quat_xyzw": vec4}


class Shape(NamedTuple):
    """A shape of `<geometry>`: its value type, its attributes, those it cannot do without, and its first version."""

    make: Callable[..., Geometry]
    attributes: dict[str, Convert | None]
    required: tuple[str, ...]
    since: tuple[int, int] = (1, 0)


SHAPES: dict[str, Shape] = {
    "box": Shape(Box, {"size": vec3}, ("size",)),
    "cylinder": Shape(Cylinder, {"radius": number, "length": number}, ("radius", "length")),
    "capsule": Shape(Capsule, {"radius": number, "length": number}, ("radius", "length"), (1, 1)),
    "sphere": Shape(Sphere, {"radius": number}, ("radius",)),
    "mesh": Shape(Mesh, {"filename": None, "scale": vec3}, ("filename",)),
}


def read_origin(scanner: Scanner, part: Part, element: etree._Element) -> tuple[Origin | None, bool]:
    """Read `<origin>`; return it, and whether it is good."""
    table = ORIGIN_1_1 if scanner.version >= (1, 1) else ORIGIN
    values, at, good = scanner.leaf(part, element, table, "origin")
    if not good:
        return None, False
    return Origin(**values, at=at), True


_INERTIA: dict[str, Convert | None] = dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), number)


def read_inertial(scanner: Scanner, element: etree._Element) -> tuple[Inertial | None, list[Any]]:
    """Read `<inertial>`; None when it has no meaning."""
    part = Part(element, scanner.number())
    scanner.attributes(part, element, part.at, {})
    origin, mass, inertia = None, None, None
    good = True
    for child in element:
        tag = child.tag
        if tag == "origin" and "origin" not in part.order:
            origin, fine = read_origin(scanner, part, child)
            good &= fine
        elif tag == "mass" and tag not in part.order:
            values, at, fine = scanner.leaf(part, child, {"value": number}, "mass")
            fine = scanner.require(values, ("value",), "mass", at, fine)
            if fine and values["value"] < 0:
                scanner.error(
                    "negative-mass", f"the mass should not be negative, but is {values['value']:g} kg", at, "value"
                )
                fine = False
            mass = values.get("value")
            good &= fine
        elif tag == "inertia" and tag not in part.order:
            values, at, fine = scanner.leaf(part, child, _INERTIA, "inertia")
            good &= scanner.require(values, _INERTIA, "inertia", at, fine)
            inertia = tuple(values.get(name, 0.0) for name in _INERTIA)
        else:
            scanner.keep(part, child, valid=("origin", "mass", "inertia"))
            continue
        part.order.append(tag)
    for name, value in (("mass", mass), ("inertia", inertia)):
        if value is None and name not in part.order:
            scanner.error("missing-element", f"<inertial> has no <{name}>", part.at)
            good = False
    if not good or mass is None or inertia is None:
        return None, part.extras
    return (
        Inertial(mass, inertia, origin, tuple(part.extras), tuple(part.order), part.at),
        [],
    )


def read_geometry(scanner: Scanner, part: Part, element: etree._Element) -> Geometry | None:
    """Read `<geometry>` with its one shape; None when it has no meaning."""
    at = scanner.number()
    scanner.attributes(part, element, at, {}, "geometry")
    result: Geometry | None = None
    seen = False
    for child in element:
        tag = child.tag
        shape = SHAPES.get(tag) if isinstance(tag, str) else None
        if shape is None or seen:
            scanner.keep(part, child, "geometry", SHAPES)
            continue
        seen = True
        values, number_, good = scanner.leaf(part, child, shape.attributes, f"geometry/{tag}")
        if scanner.require(values, shape.required, str(tag), number_, good):
            result = shape.make(**values, at=number_)
    if not seen:
        scanner.error("missing-element", f"<geometry> has no shape; known are {', '.join(SHAPES)}", at)
    return result


def read_material(scanner: Scanner, element: etree._Element) -> Material:
    """Read `<material>`, at robot level or inline."""
    part = Part(element, scanner.number())
    values, _ = scanner.attributes(part, element, part.at, {"name": None})
    rgba, texture = None, None
    for child in element:
        tag = child.tag
        if tag == "color" and tag not in part.order:
            found, at, good = scanner.leaf(part, child, {"rgba": vec4}, "color")
            scanner.require(found, ("rgba",), "color", at, good)
            rgba = found.get("rgba")
        elif tag == "texture" and tag not in part.order:
            found, at, good = scanner.leaf(part, child, {"filename": None}, "texture")
            scanner.require(found, ("filename",), "texture", at, good)
            texture = found.get("filename")
        else:
            scanner.keep(part, child, valid=("color", "texture"))
            continue
        part.order.append(tag)
    return Material(values.get("name"), rgba, texture, tuple(part.extras), tuple(part.order), part.at)


def read_shape_holder(scanner: Scanner, element: etree._Element) -> Visual | Collision | None:
    """Read `<visual>` or `<collision>`; None when it has no meaning."""
    part = Part(element, scanner.number())
    visual = element.tag == "visual"
    known = ("origin", "geometry", "material") if visual else ("origin", "geometry")
    values, _ = scanner.attributes(part, element, part.at, {"name": None})
    origin, geometry, material = None, None, None
    good = True
    for child in element:
        tag = child.tag
        if tag not in known or tag in part.order:
            scanner.keep(part, child, valid=known)
            continue
        if tag == "origin":
            origin, fine = read_origin(scanner, part, child)
            good &= fine
        elif tag == "geometry":
            geometry = read_geometry(scanner, part, child)
            good &= geometry is not None
        else:
            material = read_material(scanner, child)
        part.order.append(tag)
    if "geometry" not in part.order:
        scanner.error("missing-element", f"<{element.tag}> has no <geometry>", part.at)
    if not good or geometry is None:
        return None
    extras, order = tuple(part.extras), tuple(part.order)
    if visual:
        return Visual(geometry, origin, material, values.get("name"), extras, order, part.at)
    return Collision(geometry, origin, values.get("name"), extras, order, part.at)


def read_link(scanner: Scanner, element: etree._Element) -> Link | None:
    """Read `<link>`; None when it has no name."""
    part = Part(element, scanner.number())
    values, _ = scanner.attributes(part, element, part.at, {"name": None})
    inertial: Inertial | None = None
    visuals: list[Visual] = []
    collisions: list[Collision] = []
    for child in element:
        tag = child.tag
        if tag == "inertial" and tag not in part.order:
            inertial, _lost = read_inertial(scanner, child)
            if inertial is None:
                continue
        elif tag in ("visual", "collision"):
            holder = read_shape_holder(scanner, child)
            if isinstance(holder, Visual):
                visuals.append(holder)
            elif isinstance(holder, Collision):
                collisions.append(holder)
            else:
                continue
        else:
            scanner.keep(part, child, valid=("inertial", "visual", "collision"))
            continue
        part.order.append(tag)
    name = values.get("name")
    if not name:
        scanner.error("missing-attribute", "<link> has no attribute 'name'", part.at)
        return None
    return Link(name, inertial, tuple(visuals), tuple(collisions), tuple(part.extras), tuple(part.order), part.at)
