"""Reading joints: frames, axis, limits and what else a joint may carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.description.urdf_links import read_origin, vec3
from robot_semantics.description.urdf_numbers import number
from robot_semantics.description.urdf_scanner import Convert, Part, Scanner
from robot_semantics.description.urdf_tree import Calibration, Dynamics, Joint, Limit, Mimic, SafetyController


class Leaf(NamedTuple):
    """A child of `<joint>` that is a value of its own: its type, attributes and the ones it cannot do without."""

    make: Callable[..., Any]
    attributes: dict[str, Convert | None]
    required: tuple[str, ...] = ()


LEAVES: dict[str, Leaf] = {
    "limit": Leaf(
        Limit,
        dict.fromkeys(("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"), number),
    ),
    "dynamics": Leaf(Dynamics, {"damping": number, "friction": number}),
    "safety_controller": Leaf(
        SafetyController,
        dict.fromkeys(("k_velocity", "k_position", "soft_lower_limit", "soft_upper_limit"), number),
        ("k_velocity",),
    ),
    "calibration": Leaf(Calibration, dict.fromkeys(("rising", "falling", "reference_position"), number)),
    "mimic": Leaf(Mimic, {"joint": None, "multiplier": number, "offset": number}, ("joint",)),
}
CHILDREN = ("origin", "parent", "child", "axis", *LEAVES)


def read_joint(scanner: Scanner, element: etree._Element) -> tuple[Joint | None, bool]:
    """Read `<joint>`; return it (None when it cannot stand in a tree at all) and whether its motion is known."""
    part = Part(element, scanner.number())
    values, _ = scanner.attributes(part, element, part.at, {"name": None, "type": None})
    fields: dict[str, Any] = {}
    links: dict[str, str] = {}
    good = True
    for child in element:
        tag = child.tag
        if tag not in CHILDREN or tag in part.order:
            scanner.keep(part, child, valid=CHILDREN)
            continue
        leaf = LEAVES.get(tag)
        if leaf is not None:
            found, at, fine = scanner.leaf(part, child, leaf.attributes, tag)
            if scanner.require(found, leaf.required, tag, at, fine) or (tag == "limit"):
                fields[tag] = leaf.make(**found, at=at)
        elif tag == "origin":
            fields[tag], fine = read_origin(scanner, part, child)
            good &= fine
        elif tag == "axis":
            found, at, fine = scanner.leaf(part, child, {"xyz": vec3}, tag)
            good &= scanner.require(found, ("xyz",), tag, at, fine)
            fields[tag] = found.get("xyz")
        else:
            found, at, fine = scanner.leaf(part, child, {"link": None}, tag)
            if scanner.require(found, ("link",), tag, at, fine):
                links[tag] = found["link"]
        part.order.append(tag)
    for tag in ("parent", "child"):
        if tag not in part.order:
            scanner.error("missing-element", f"<joint> has no <{tag}>", part.at)
    for name in ("name", "type"):
        if not values.get(name):
            scanner.error("missing-attribute", f"<joint> has no attribute '{name}'", part.at)
    if not values.get("name") or not values.get("type") or len(links) < 2:
        return None, False
    return (
        Joint(
            values["name"],
            values["type"],
            links["parent"],
            links["child"],
            **fields,
            extras=tuple(part.extras),
            order=tuple(part.order),
            at=part.at,
        ),
        good,
    )
