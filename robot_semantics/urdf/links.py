"""Reading links: inertial, visuals, collisions, and the joint that the original proposal puts inside a link."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from robot_semantics.urdf.geometry import origin_child, read_collision, read_visual
from robot_semantics.urdf.joints import (
    LinkEnd,
    read_link_end,
    read_nested_joint,
    scan_nested_joint,
)
from robot_semantics.urdf.scanner import Attributes, Child, Part, Scanner
from robot_semantics.urdf.tree import Extra, Inertial, Joint, Link
from robot_semantics.xml.numbers import number

_NAME: Attributes = {"name": str}
_MASS: Attributes = {"value": number}
_INERTIA: Attributes = dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), number)
_six = itemgetter(*_INERTIA)


def read_link(scanner: Scanner) -> tuple[Link | None, list[Joint]]:
    """Read `<link>`, None when it has no name, and the joints inside it, which are in the original proposal's form."""
    part = scanner.composite(_NAME, _LINK, _REPEATED)
    name: str | None = part.values.get("name")
    if not scanner.named("link", part.values, part.at):
        scanner.complete = False
    if "parent" in part.values:
        _keep_unused_parent(scanner, part, part.values["parent"])
    nested: list[Joint] = []
    joint_parts: list[Part] = part.values.get("joint", [])
    origin = part.values.get("origin")
    if origin is not None:
        if joint_parts:
            del part.extras[origin.extra]
        else:
            scanner.warn_of_unknown("origin", origin.next, "link", CURRENT)
    for joint_part in joint_parts:
        joint = read_nested_joint(scanner, joint_part, name or "", part.values.get("parent"), origin)
        if joint is not None:
            nested.append(joint)
    if name is None:
        return None, nested
    return (
        Link(
            name,
            part.values.get("inertial"),
            tuple(part.values.get("visual", ())),
            tuple(part.values.get("collision", ())),
            tuple(map(_in_current_form, part.extras)) if part.extras else (),
            tuple(part.order),
            part.at,
        ),
        nested,
    )


def _keep_unused_parent(scanner: Scanner, part: Part, parent: LinkEnd) -> None:
    """Keep a `<parent>` in a link that joins nothing: every joint there has one of its own, or there is none."""
    joints: list[Part] = part.values.get("joint", [])
    if any("parent" not in joint.seen for joint in joints):
        return
    why = "its <joint> has one of its own" if joints else "there is no <joint> with it"
    scanner.warning("unused-parent", f"<parent> in <link> joins nothing: {why}; it is kept but not used", parent.at)
    position, index = part.values["parent_stands"]
    extras = [extra for extra in part.extras if not extra.within.startswith("parent")]
    extras.insert(index, Extra(position, None, "parent", "", parent.at, scanner.document.places))
    part.extras = extras


def _in_current_form(extra: Extra) -> Extra:
    """Return `extra`; out of the `<parent>` that only an older form's link has, it moves into the link."""
    if not extra.within.startswith("parent"):
        return extra
    return Extra(extra.position, extra.xml, extra.tag, "", extra.at)


def _inertial(scanner: Scanner, part: Part) -> bool:
    inner = scanner.composite({}, _INERTIAL)
    for tag in ("mass", "inertia"):
        if tag not in inner.seen:
            scanner.error("missing-element", f"<inertial> has no <{tag}>", inner.at)
    if not inner.good or "mass" not in inner.values or "inertia" not in inner.values:
        return False
    values = inner.values
    part.values["inertial"] = Inertial(
        values["mass"],
        values["inertia"],
        values.get("origin"),
        tuple(inner.extras),
        tuple(inner.order),
        values["mass_at"],
        values["inertia_at"],
        inner.at,
    )
    return True


def _mass(scanner: Scanner, part: Part) -> bool:
    values, at, good = scanner.leaf(part, _MASS, "mass", _MASS)
    if good:
        part.values["mass"] = values["value"]
        part.values["mass_at"] = at
    return good


def _inertia(scanner: Scanner, part: Part) -> bool:
    values, at, good = scanner.leaf(part, _INERTIA, "inertia", _INERTIA)
    if good:
        part.values["inertia"] = _six(values)
        part.values["inertia_at"] = at
    return good


def _visual(scanner: Scanner, part: Part) -> bool:
    return _append(part, "visual", read_visual(scanner))


def _collision(scanner: Scanner, part: Part) -> bool:
    return _append(part, "collision", read_collision(scanner))


def _append(part: Part, key: str, value: Any) -> bool:
    if value is None:
        return False
    part.values.setdefault(key, []).append(value)
    return True


def _joint(scanner: Scanner, part: Part) -> bool:
    # What joins it to its parent may stand after it, in the link: it is put together when the link has been read.
    part.values.setdefault("joint", []).append(scan_nested_joint(scanner))
    return False


def _parent(scanner: Scanner, part: Part) -> bool:
    part.values["parent_stands"] = (len(part.order), len(part.extras))
    part.values["parent"] = read_link_end(scanner, part)
    return False


def _origin(scanner: Scanner, part: Part) -> bool:
    # Today's link has none. Beside a joint in the link it is the joint's frame in the parent link.
    part.values["origin"] = scanner.keep_for_later(part)
    return False


CURRENT = ("inertial", "visual", "collision")
_INERTIAL: dict[str, Child] = {"origin": origin_child, "mass": _mass, "inertia": _inertia}
_LINK: dict[str, Child] = {
    "inertial": _inertial,
    "visual": _visual,
    "collision": _collision,
    "joint": _joint,
    "parent": _parent,
    "origin": _origin,
}
_REPEATED = frozenset({"visual", "collision", "joint"})
