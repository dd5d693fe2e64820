"""What an SRDF consists of, as data: every element, its attributes and its children."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

VIRTUAL_JOINT_TYPES = ("fixed", "planar", "floating")
"""Types that a virtual joint can have."""


@dataclass(frozen=True, slots=True)
class ElementSpec:
    """One element: the attributes it must have, those it may have, and the elements it may hold."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: Mapping[str, ElementSpec] = field(default_factory=dict)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute that has a meaning."""
        return self.required + self.optional


_NAMED = ElementSpec(("name",))
_PAIR = ElementSpec(("link1", "link2"), ("reason",))

ROBOT = ElementSpec(
    ("name",),
    ("version",),
    {
        "virtual_joint": ElementSpec(("name", "type", "parent_frame", "child_link")),
        "passive_joint": _NAMED,
        "group": ElementSpec(
            ("name",),
            (),
            {"joint": _NAMED, "link": _NAMED, "chain": ElementSpec(("base_link", "tip_link")), "group": _NAMED},
        ),
        "group_state": ElementSpec(("name", "group"), (), {"joint": ElementSpec(("name", "value"))}),
        "end_effector": ElementSpec(("name", "group", "parent_link"), ("parent_group",)),
        "disable_collisions": _PAIR,
        "enable_collisions": _PAIR,
        "disable_default_collisions": ElementSpec(("link",)),
        "link_sphere_approximation": ElementSpec(("link",), (), {"sphere": ElementSpec(("center", "radius"))}),
        "joint_property": ElementSpec(("joint_name", "property_name", "value")),
    },
)
"""The root element; what is not below it here has no meaning in an SRDF and is kept as it stands."""


def _homes(spec: ElementSpec, tag: str) -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {}
    for child, child_spec in spec.children.items():
        homes.setdefault(child, []).append(tag)
        for name, parents in _homes(child_spec, child).items():
            homes.setdefault(name, []).extend(parents)
    return homes


HOMES: Mapping[str, tuple[str, ...]] = {tag: tuple(parents) for tag, parents in _homes(ROBOT, "robot").items()}
"""Tag → the elements in which it has a meaning."""

SRDF_REFERENCES: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "link": (
        ("robot", "virtual_joint", "child_link"),
        ("group", "link", "name"),
        ("group", "chain", "base_link"),
        ("group", "chain", "tip_link"),
        ("robot", "end_effector", "parent_link"),
        ("robot", "disable_collisions", "link1"),
        ("robot", "disable_collisions", "link2"),
        ("robot", "enable_collisions", "link1"),
        ("robot", "enable_collisions", "link2"),
        ("robot", "disable_default_collisions", "link"),
        ("robot", "link_sphere_approximation", "link"),
    ),
    "joint": (
        ("robot", "virtual_joint", "name"),
        ("robot", "passive_joint", "name"),
        ("group", "joint", "name"),
        ("group_state", "joint", "name"),
        ("robot", "joint_property", "joint_name"),
    ),
    "group": (
        ("robot", "group", "name"),
        ("group", "group", "name"),
        ("robot", "group_state", "group"),
        ("robot", "end_effector", "group"),
        ("robot", "end_effector", "parent_group"),
    ),
    "end_effector": (("robot", "end_effector", "name"),),
    "frame": (("robot", "virtual_joint", "parent_frame"),),
}
"""Kind of thing → where an SRDF names one: the parent's tag, the element's tag, the attribute."""
