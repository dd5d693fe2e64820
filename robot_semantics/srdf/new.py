# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Construction of new SRDF elements, written by `robot_semantics.srdf.edit`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from robot_semantics.base.names import frame_name
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES
from robot_semantics.xml.edit import NewElement
from robot_semantics.xml.numbers import number_text

VIRTUAL_JOINT_FRAMES = {kind: "world" if kind == "fixed" else "odom" for kind in VIRTUAL_JOINT_TYPES}
"""Default parent frame of a virtual joint by its type (REP-105)."""


def virtual_joint(name: str, joint_type: str, parent_frame: str, child_link: str) -> NewElement:
    """Return a virtual joint of `child_link` in `parent_frame`; the type is fixed, planar or floating."""
    return NewElement(
        "virtual_joint",
        (("name", name), ("type", joint_type), ("parent_frame", frame_name(parent_frame)), ("child_link", child_link)),
    )


def passive_joint(name: str) -> NewElement:
    """Return the element that marks a joint as passive (not driven)."""
    return NewElement("passive_joint", (("name", name),))


def group_members(
    chains: Iterable[tuple[str, str]] = (),
    joints: Iterable[str] = (),
    links: Iterable[str] = (),
    subgroups: Iterable[str] = (),
) -> tuple[NewElement, ...]:
    """Return the members of a group; each chain is (base link, tip link)."""
    return (
        *(NewElement("link", (("name", name),)) for name in links),
        *(NewElement("joint", (("name", name),)) for name in joints),
        *(NewElement("chain", (("base_link", base), ("tip_link", tip))) for base, tip in chains),
        *(NewElement("group", (("name", name),)) for name in subgroups),
    )


def group(name: str, members: Sequence[NewElement]) -> NewElement:
    """Return a group with members from `group_members`."""
    return NewElement("group", (("name", name),), tuple(members))


def group_state(name: str, group: str, values: Mapping[str, Sequence[float]]) -> NewElement:
    """Return a named state: joint → one value for each position variable [rad, m, quaternion x y z w]."""
    joints = tuple(
        NewElement("joint", (("name", joint), ("value", " ".join(number_text(value) for value in numbers))))
        for joint, numbers in values.items()
    )
    return NewElement("group_state", (("name", name), ("group", group)), joints)


def end_effector(name: str, group: str, parent_link: str, parent_group: str | None = None) -> NewElement:
    """Return an end effector: `group` is mounted on `parent_link`."""
    attributes = (("name", name), ("parent_link", parent_link), ("group", group))
    return NewElement(
        "end_effector", attributes if parent_group is None else (*attributes, ("parent_group", parent_group))
    )


def joint_property(joint: str, name: str, value: str) -> NewElement:
    """Return a property of a joint."""
    return NewElement("joint_property", (("joint_name", joint), ("property_name", name), ("value", value)))


def disable_default_collisions(link: str) -> NewElement:
    """Return the element that disables all collision pairs of a link unless they are enabled."""
    return NewElement("disable_default_collisions", (("link", link),))


def link_spheres(link: str, spheres: Iterable[Sequence[float]]) -> NewElement:
    """Return spheres that approximate a link: for each, x y z of the centre in the link frame, and the radius [m]."""
    parts = tuple(
        NewElement("sphere", (("center", " ".join(map(number_text, (x, y, z)))), ("radius", number_text(radius))))
        for x, y, z, radius in spheres
    )
    return NewElement("link_sphere_approximation", (("link", link),), parts)
