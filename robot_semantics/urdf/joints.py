"""Reading joints, in the current form and in the two older ones.

In the older forms a joint has two origins, which give the same joint frame J as seen from either link: the parent's is
``T_P_J``, the other ``T_C_J``. The first becomes the joint's origin; the second is left with the scanner, by child
link, for the child's frame to be moved onto J.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from robot_semantics.urdf.geometry import origin_child, read_origin
from robot_semantics.urdf.scanner import Attributes, Child, Later, Part, Scanner
from robot_semantics.urdf.tree import (
    Calibration,
    Dynamics,
    Extra,
    Joint,
    Limit,
    Mimic,
    Origin,
    SafetyController,
)
from robot_semantics.xml.numbers import not_negative, number, vec3


class LinkEnd(NamedTuple):
    """What `<parent>` or `<child>` says: the link, where it stands, and in older forms the joint frame in that link."""

    link: str | None
    at: int
    origin: Origin | None
    good: bool


class Leaf(NamedTuple):
    """A child of `<joint>` that has attributes only: its value type, attributes (its fields), those it must have."""

    make: Callable[..., Any]
    attributes: Attributes
    required: tuple[str, ...] = ()


LEAVES: dict[str, Leaf] = {
    "dynamics": Leaf(Dynamics, {"damping": number, "friction": number}),
    "safety_controller": Leaf(
        SafetyController,
        dict.fromkeys(("k_velocity", "k_position", "soft_lower_limit", "soft_upper_limit"), number),
        ("k_velocity",),
    ),
    "calibration": Leaf(Calibration, dict.fromkeys(("rising", "falling", "reference_position"), number)),
    "mimic": Leaf(Mimic, {"joint": str, "multiplier": number, "offset": number}, ("joint",)),
}

_LIMIT: Attributes = dict.fromkeys(("lower", "upper", "effort", "velocity"), number)
# Version 1.2 is the first to say that these are magnitudes, and the first to do without effort and velocity.
_LIMIT_1_2: Attributes = {
    "lower": number,
    "upper": number,
    **dict.fromkeys(("effort", "velocity", "acceleration", "deceleration", "jerk"), not_negative),
}
_OLD_NAMES = {"joint_properties": "dynamics"}
_JOINT_ATTRIBUTES: Attributes = {"name": str, "type": str}
_AXIS: Attributes = {"xyz": vec3}
_LINK_ATTRIBUTES: Attributes = {"link": str}
_OLD_LINK_ATTRIBUTES: Attributes = {"link": str, "name": str}


def read_joint(scanner: Scanner) -> Joint | None:
    """Read a `<joint>` at robot level; None when it cannot stand in a tree at all."""
    part = scanner.composite(_JOINT_ATTRIBUTES, _JOINT)
    parent: LinkEnd | None = part.values.pop("parent", None)
    child: LinkEnd | None = part.values.pop("child", None)
    for tag in ("parent", "child"):
        if tag not in part.seen:
            scanner.error("missing-element", f"<joint> has no <{tag}>", part.at)
    joint = _make(scanner, part, parent, child.link if child else None, child.at if child else -1)
    if parent is None or child is None or (parent.origin is None and child.origin is None):
        return joint
    if "origin" in part.seen:
        message = "a joint has either an <origin> of its own or, in the two-origin form, those in <parent> and <child>"
        scanner.error("mixed-dialects", message, part.at)
        scanner.complete = False
        return joint
    scanner.in_older_dialect(_OLDER.format("two-origin"), part.at)
    if joint is not None and child.origin is not None:
        scanner.child_origins[joint.child] = child.origin
    return joint


_OLDER = (
    "this joint is in the {} proposal's form, which other readers take for something else; "
    "'robot_semantics upgrade' writes the current one"
)


def scan_nested_joint(scanner: Scanner) -> Part:
    """Read a `<joint>` inside a `<link>` as far as it goes by itself."""
    return scanner.composite(_JOINT_ATTRIBUTES, _NESTED)


def read_nested_joint(
    scanner: Scanner, part: Part, child: str, link_parent: LinkEnd | None, link_origin: Later | None
) -> Joint | None:
    """Make the joint inside link `child`.

    Its parent may be stated in the link instead of in the joint, and so may its frame in the parent.
    """
    scanner.in_older_dialect(_OLDER.format("original"), part.at)
    parent: LinkEnd | None = part.values.pop("parent", None)
    if parent is None and "parent" not in part.seen:
        parent = link_parent
        if parent is None:
            scanner.error("missing-element", "<joint> has no <parent>", part.at)
    if link_origin is not None and parent is not None:
        parent = _with_origin(scanner, part, parent, link_origin)
    T_C_J: Origin | None = part.values.pop("origin", None)
    joint = _make(scanner, part, parent, child, part.at)
    if joint is not None and T_C_J is not None:
        scanner.child_origins[joint.child] = T_C_J
    return joint


def _with_origin(scanner: Scanner, part: Part, parent: LinkEnd, link_origin: Later) -> LinkEnd:
    """Return `parent` with the joint frame that the `<origin>` of the link states."""
    if parent.origin is not None:
        message = "the joint frame in the parent link is stated twice: by this <origin> and by the one in <parent>"
        scanner.error("mixed-dialects", message, link_origin.next)
        return parent._replace(good=False)
    origin = scanner.read_later(link_origin, lambda: read_origin(scanner, part, "parent/origin"))
    return parent._replace(origin=origin, good=parent.good and origin is not None)


def read_link_end(scanner: Scanner, part: Part, *, old: bool = True) -> LinkEnd:
    """Read `<parent>` or `<child>` with the origin that the older forms put inside."""
    tag = str(scanner.marks[scanner.here])
    at = scanner.enter()
    values: dict[str, Any] = {}
    good = True
    texts = scanner.texts[at]
    if len(texts) == 1 and "link" in texts:
        values["link"] = texts["link"]
    else:
        good = scanner.attributes(part, tag, at, _OLD_LINK_ATTRIBUTES if old else _LINK_ATTRIBUTES, values, tag)
    link = values.get("link") or values.get("name")
    if "link" in values and "name" in values:
        message = f"<{tag}> has both 'link' and 'name'; the link is '{link}'"
        scanner.warning("duplicate-element", message, at, "name" if values["link"] else "link")
    if not link:
        scanner.error("missing-attribute", f"<{tag}> has no attribute 'link'", at)
    origin: Origin | None = None
    while (mark := scanner.marks[scanner.here]) is not None:
        if mark == "origin" and origin is None:
            origin = read_origin(scanner, part, f"{tag}/origin")
            good &= origin is not None
        else:
            scanner.keep(part, tag, ("origin",), 0, (tag, at))
    scanner.here += 1
    return LinkEnd(link, at, origin, good)


def _make(scanner: Scanner, part: Part, parent: LinkEnd | None, child: str | None, child_at: int) -> Joint | None:
    values = part.values
    named = scanner.named("joint", values, part.at)
    if not values.get("type"):
        scanner.error("missing-attribute", "<joint> has no attribute 'type'", part.at)
    if not part.good or parent is None or not parent.good:
        scanner.complete = False
    if not named or not values.get("type") or parent is None or not parent.link or child is None:
        scanner.complete = False
        return None
    if parent.origin is not None:
        values["origin"] = parent.origin
    if parent.origin is not None or "parent" not in part.order or "child" not in part.order:
        _put_in_order(part)
    get = values.get
    return Joint(
        values["name"],
        values["type"],
        parent.link,
        child,
        get("origin"),
        get("axis"),
        get("limit"),
        get("dynamics"),
        get("safety_controller"),
        get("calibration"),
        get("mimic"),
        tuple(map(_in_current_form, part.extras)) if part.extras else (),
        tuple(part.order),
        parent.at,
        child_at,
        get("axis_at", -1),
        part.at,
    )


def _put_in_order(part: Part) -> None:
    """Let the order of a joint in an older form be that of the children it has today."""
    if "origin" in part.order and "origin" not in part.values:
        part.remove("origin")
    elif "origin" not in part.order and "origin" in part.values:
        part.insert("origin", 0)
    if "parent" not in part.order:
        part.insert("parent", int("origin" in part.order))
    if "child" not in part.order:
        part.insert("child", part.order.index("parent") + 1)


_CURRENT_PLACES = {"parent/origin": "origin", "child/origin": "child"}


def _in_current_form(extra: Extra) -> Extra:
    """Return `extra`; from an element that today's form does not have, moved to the one that says the same."""
    place = _CURRENT_PLACES.get(extra.within)
    return extra if place is None else Extra(extra.position, extra.xml, extra.tag, place, extra.at)


def _end(scanner: Scanner, part: Part) -> bool:
    tag = scanner.marks[scanner.here]
    end = read_link_end(scanner, part, old=False)
    part.values[tag] = end
    part.good &= end.good and end.link is not None
    return end.link is not None


def _old_parent(scanner: Scanner, part: Part) -> bool:
    part.values["parent"] = read_link_end(scanner, part)
    return True


def _axis(scanner: Scanner, part: Part) -> bool:
    values, at, good = scanner.leaf(part, _AXIS, "axis", ("xyz",))
    if good:
        part.values["axis"] = values["xyz"]
        part.values["axis_at"] = at
    elif "xyz" in scanner.texts[at] and part.values.get("type") not in ("fixed", "floating"):
        part.good = False
    return good


def _limit(scanner: Scanner, part: Part) -> bool:
    if scanner.version >= (1, 2):
        bounded = part.values.get("type") in ("revolute", "prismatic")
        table, required = _LIMIT_1_2, ("lower", "upper") if bounded else ()
    else:
        table, required = _LIMIT, ("effort", "velocity")
    values, at, _ = scanner.leaf(part, table, "limit", required)
    get = values.get
    part.values["limit"] = Limit(
        get("lower"),
        get("upper"),
        get("effort"),
        get("velocity"),
        get("acceleration"),
        get("deceleration"),
        get("jerk"),
        at,
    )
    return True


def _leaf(scanner: Scanner, part: Part) -> bool:
    written = str(scanner.marks[scanner.here])
    tag = _OLD_NAMES.get(written, written)
    leaf = LEAVES[tag]
    values, at, good = scanner.leaf(part, leaf.attributes, tag, leaf.required)
    if good and not values:
        scanner.warning("empty-element", f"<{written}> has no attribute, so it says nothing", at)
    if good:
        part.values[tag] = leaf.make(*map(values.get, leaf.attributes), at)
    return good


def _old_dynamics(scanner: Scanner, part: Part) -> bool:
    if "dynamics" in part.seen:
        scanner.keep_duplicate(part)
        return False
    part.seen.add("dynamics")
    if _leaf(scanner, part):
        part.order.append("dynamics")
    return False


_LEAVES: dict[str, Child] = {"limit": _limit, **dict.fromkeys(LEAVES, _leaf)}
_JOINT: dict[str, Child] = {"origin": origin_child, "parent": _end, "child": _end, "axis": _axis, **_LEAVES}
_NESTED: dict[str, Child] = {
    "origin": origin_child,
    "parent": _old_parent,
    "axis": _axis,
    "joint_properties": _old_dynamics,
    **_LEAVES,
}
