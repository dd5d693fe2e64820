# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing of a URDF tree as text: reading it again gives the same tree, with every number bit for bit the same.

Numbers are the shortest decimal text that reads back to the same 64-bit float. Children have the order of the original
text; new children follow in the usual order. Comments, processing instructions and foreign elements are unchanged,
before the same child.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import save_text
from robot_semantics.urdf.tree import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Extra,
    Geometry,
    Inertial,
    Joint,
    Link,
    Material,
    Mesh,
    Origin,
    Sphere,
    UrdfRobot,
    Visual,
)
from robot_semantics.xml.numbers import number_text

Value = str | float | tuple[float, ...] | None

INDENT = "  "
SHAPE_TAGS: dict[type[Geometry], str] = {
    Box: "box",
    Cylinder: "cylinder",
    Capsule: "capsule",
    Sphere: "sphere",
    Mesh: "mesh",
}
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
JOINT_VALUES = ("calibration", "dynamics", "limit", "mimic", "safety_controller")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


class Node(NamedTuple):
    """An element to write; a string child is written unchanged."""

    tag: str
    attributes: list[tuple[str, str]]
    children: list[Node | str]


def write_urdf(robot: UrdfRobot) -> str:
    """Return `robot` as URDF text.

    Raises:
        RobotSemanticsError: a number is not finite, or a text has characters that XML cannot hold.
    """
    lines = ['<?xml version="1.0"?>', *robot.prolog]
    _render(_robot(robot), "", lines)
    lines += robot.epilog
    return "\n".join(lines) + "\n"


def save_urdf(robot: UrdfRobot, path: str | Path) -> None:
    """Write `robot` to a file, atomically.

    Raises:
        RobotSemanticsError: as `write_urdf`.
        OSError: the file cannot be written.
    """
    save_text(write_urdf(robot), path)


def current_text(robot: UrdfRobot) -> str:
    """Return the text of the tree: the original text, or a new one if the tree was rewritten.

    Raises:
        RobotSemanticsError: as `write_urdf`.
    """
    return robot.places.text.decode() if robot.places.text and not robot.rewritten else write_urdf(robot)


def finite_number_text(value: float) -> str:
    """Return the shortest text that reads back to the same 64-bit float.

    Raises:
        RobotSemanticsError: the value is not finite.
    """
    if not math.isfinite(value):
        raise RobotSemanticsError(f"a description cannot have the number {value}")
    return number_text(value)


def _robot(robot: UrdfRobot) -> Node:
    attributes: dict[str, Value] = {f"xmlns:{p}" if p else "xmlns": uri for p, uri in robot.namespaces}
    attributes |= {"name": robot.name, "version": robot.version}
    children = [(type(item).__name__.lower(), _WRITERS[type(item)](item)) for item in robot.content]
    return _composite("robot", attributes, children, robot.extras, ())


def _link(link: Link) -> Node:
    children = [] if link.inertial is None else [("inertial", _inertial(link.inertial))]
    children += [("visual", _visual(visual)) for visual in link.visuals]
    children += [("collision", _collision(collision)) for collision in link.collisions]
    return _composite("link", {"name": link.name}, children, link.extras, link.order)


def _inertial(inertial: Inertial) -> Node:
    children = _origin(inertial.origin, inertial.extras)
    children.append(("mass", _leaf("mass", {"value": inertial.mass}, inertial.extras)))
    inertia = dict(zip(INERTIA, inertial.inertia, strict=True))
    children.append(("inertia", _leaf("inertia", inertia, inertial.extras)))
    return _composite("inertial", {}, children, inertial.extras, inertial.order)


def _visual(visual: Visual) -> Node:
    children = _origin(visual.origin, visual.extras)
    children.append(("geometry", _geometry(visual.geometry, visual.extras)))
    if visual.material is not None:
        children.append(("material", _material(visual.material)))
    return _composite("visual", {"name": visual.name}, children, visual.extras, visual.order)


def _collision(collision: Collision) -> Node:
    children = _origin(collision.origin, collision.extras)
    children.append(("geometry", _geometry(collision.geometry, collision.extras)))
    return _composite("collision", {"name": collision.name}, children, collision.extras, collision.order)


def _geometry(geometry: Geometry, extras: tuple[Extra, ...]) -> Node:
    tag = SHAPE_TAGS[type(geometry)]
    shape = _leaf(tag, _values(geometry), extras, f"geometry/{tag}")
    inside = [extra for extra in extras if extra.within == "geometry"]
    return _composite("geometry", {}, [(tag, shape)], tuple(inside), (), "geometry")


def _material(material: Material) -> Node:
    children = []
    if material.rgba is not None:
        children.append(("color", _leaf("color", {"rgba": material.rgba}, material.extras)))
    if material.texture is not None:
        children.append(("texture", _leaf("texture", {"filename": material.texture}, material.extras)))
    return _composite("material", {"name": material.name}, children, material.extras, material.order)


def _joint(joint: Joint) -> Node:
    children = _origin(joint.origin, joint.extras)
    children.append(("parent", _leaf("parent", {"link": joint.parent}, joint.extras)))
    children.append(("child", _leaf("child", {"link": joint.child}, joint.extras)))
    if joint.axis is not None:
        children.append(("axis", _leaf("axis", {"xyz": joint.axis}, joint.extras)))
    for tag in JOINT_VALUES:
        value = getattr(joint, tag)
        if value is not None:
            children.append((tag, _leaf(tag, _values(value), joint.extras)))
    return _composite("joint", {"name": joint.name, "type": joint.type}, children, joint.extras, joint.order)


_WRITERS: dict[type, Any] = {Link: _link, Joint: _joint, Material: _material}


def _origin(origin: Origin | None, extras: tuple[Extra, ...]) -> list[tuple[str, Node]]:
    return [] if origin is None else [("origin", _leaf("origin", _values(origin), extras))]


def _values(item: Any) -> dict[str, Value]:
    """Return the attributes of a value whose fields are named like its attributes."""
    return {field.name: getattr(item, field.name) for field in fields(item) if field.name != "at"}


def _leaf(tag: str, attributes: Mapping[str, Value], extras: tuple[Extra, ...], within: str | None = None) -> Node:
    return _composite(tag, attributes, [], extras, (), within or tag)


def _composite(
    tag: str,
    attributes: Mapping[str, Value],
    children: list[tuple[str, Node]],
    extras: tuple[Extra, ...],
    order: tuple[str, ...],
    within: str = "",
) -> Node:
    own = [extra for extra in extras if extra.within == within]
    written = [(name, _text(value)) for name, value in attributes.items() if value is not None]
    written += [(extra.tag[1:], extra.xml) for extra in own if extra.tag.startswith("@")]
    nodes = _in_order(children, order)
    verbatim = sorted((extra for extra in own if not extra.tag.startswith("@")), key=lambda extra: extra.position)
    items: list[Node | str] = []
    for index, node in enumerate(nodes):
        while verbatim and verbatim[0].position <= index:
            items.append(verbatim.pop(0).xml)
        items.append(node)
    items += [extra.xml for extra in verbatim]
    return Node(tag, written, items)


def _in_order(children: list[tuple[str, Node]], order: tuple[str, ...]) -> list[Node]:
    """Return the nodes in the given order; a tag that `order` does not have follows its usual predecessor."""
    if not order:
        return [node for _, node in children]
    waiting: dict[str, list[tuple[int, Node]]] = {}
    for usual, (tag, node) in enumerate(children):
        waiting.setdefault(tag, []).append((usual, node))
    placed = [waiting[tag].pop(0) for tag in order if waiting.get(tag)]
    for usual, (tag, node) in enumerate(children):
        if (usual, node) in waiting[tag]:
            after = [index for index, (other, _) in enumerate(placed, 1) if other < usual]
            placed.insert(after[-1] if after else 0, (usual, node))
    return [node for _, node in placed]


def _text(value: str | float | tuple[float, ...]) -> str:
    if isinstance(value, str):
        return value
    return " ".join(map(finite_number_text, value)) if isinstance(value, tuple) else finite_number_text(value)


def _render(node: Node, indent: str, lines: list[str]) -> None:
    start = f"{indent}<{node.tag}" + "".join([f' {name}="{_escaped(text)}"' for name, text in node.attributes])
    if not node.children:
        lines.append(f"{start}/>")
        return
    lines.append(f"{start}>")
    for child in node.children:
        if isinstance(child, str):
            lines.append(f"{indent}{INDENT}{child}")
        else:
            _render(child, indent + INDENT, lines)
    lines.append(f"{indent}</{node.tag}>")


def _escaped(text: str) -> str:
    bad = _NOT_XML.search(text)
    if bad:
        raise RobotSemanticsError(f"XML does not allow the character U+{ord(bad.group()):04X} of {text!r}")
    return "".join(map(_escape, text)) if any(map(_ESCAPES.__contains__, text)) else text


def _escape(character: str) -> str:
    return _ESCAPES.get(character, character)
