# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Semantics of a robot: the resolved content of an SRDF, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import LinkPair
from robot_semantics.base.record import record
from robot_semantics.srdf import tree as srdf_tree


@record(frozen=True, slots=True)
class Group:
    """A group with everything that MoveIt derives for it; every tuple of joints or links is in model order.

    Attributes:
        active_joints: joints with degrees of freedom that are not mimic joints; passive joints are active.
        commandable_joints: active and not passive.
        links: child links of the joints; a chain's base link is not included.
        variable_names: of all moving joints, including mimic joints.
        base_link: parent link of a chain's first joint; empty if the group is not a chain.
        tip_link: child link of a chain's last joint; empty if the group is not a chain.
        common_root: nearest joint above (or among) all the joint roots; empty if there is none.
        within: every group whose joints are a subset of this group's joints, including this group.
        end_effectors: names of the end effectors attached to this group.
        states: names of the group's states.
    """

    name: str
    joints: tuple[str, ...]
    active_joints: tuple[str, ...]
    passive_joints: tuple[str, ...]
    fixed_joints: tuple[str, ...]
    mimic_joints: tuple[str, ...]
    continuous_joints: tuple[str, ...]
    commandable_joints: tuple[str, ...]
    links: tuple[str, ...]
    variable_names: tuple[str, ...]
    is_chain: bool
    base_link: str
    tip_link: str
    common_root: str
    within: tuple[str, ...]
    end_effectors: tuple[str, ...]
    states: tuple[str, ...]

    @property
    def subgroups(self) -> tuple[str, ...]:
        """Every other group whose joints are a subset of this group's joints."""
        # Computed on demand: if thousands of groups have the same joints, each contains all others.
        return tuple(name for name in self.within if name != self.name)

    def as_dict(self) -> JsonObject:
        """Return all fields by name, for JSON."""
        facts = {item.name: getattr(self, item.name) for item in fields(self)}
        return {"subgroups" if name == "within" else name: value for name, value in facts.items()} | {
            "subgroups": self.subgroups
        }


@record(frozen=True, slots=True)
class NamedState:
    """A group state: joint name → values, one for each position variable [rad, m, unit quaternion x y z w].

    Attributes:
        joints: the values in the state.
        leaders: leaders that follow from mimic joints, for mimic joints whose leaders are not in the state.
    """

    name: str
    group: str
    joints: Mapping[str, tuple[float, ...]]
    leaders: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def positions(self) -> Mapping[str, tuple[float, ...]]:
        """All positions of the state: the given ones and the leaders."""
        return {**self.joints, **self.leaders}


@record(frozen=True, slots=True)
class EndEffector:
    """An end effector: `group` is mounted on `parent_link`; `parent_group` is resolved, and empty if there is none."""

    name: str
    group: str
    parent_link: str
    parent_group: str


@record(frozen=True, slots=True)
class VirtualJoint:
    """A virtual joint of the SRDF; `type` is fixed, planar or floating."""

    name: str
    type: str
    parent_frame: str
    child_link: str


@record(frozen=True, slots=True)
class Semantics:
    """The resolved SRDF of one robot; empty without an SRDF.

    Attributes:
        groups: by name, in byte order.
        states: by (group, state) name.
        end_effectors: by name.
        virtual_joints: all of them; the root one is also `RobotModel.root_joint`.
        disabled_collisions: pair → reason, as written.
        enabled_collisions: pairs of enable_collisions.
        default_disabled_links: links of disable_default_collisions.
        link_spheres: link → its spheres for collision checks; a single sphere of radius 0 means that the link has none.
        joint_properties: joint → property name → value text.
        srdf: the tree of the text; None without an SRDF.
    """

    groups: Mapping[str, Group] = field(default_factory=lambda: MappingProxyType({}))
    states: Mapping[tuple[str, str], NamedState] = field(default_factory=lambda: MappingProxyType({}))
    end_effectors: Mapping[str, EndEffector] = field(default_factory=lambda: MappingProxyType({}))
    virtual_joints: tuple[VirtualJoint, ...] = ()
    passive_joints: tuple[str, ...] = ()
    disabled_collisions: Mapping[LinkPair, str] = field(default_factory=lambda: MappingProxyType({}))
    enabled_collisions: frozenset[LinkPair] = frozenset()
    default_disabled_links: tuple[str, ...] = ()
    link_spheres: Mapping[str, tuple[srdf_tree.SrdfSphere, ...]] = field(default_factory=lambda: MappingProxyType({}))
    joint_properties: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    srdf: srdf_tree.SrdfDocument | None = None

    def group(self, name: str) -> Group:
        """Return the group called `name`.

        Raises:
            UnknownNameError: it does not exist; the error has the nearest names.
        """
        if name not in self.groups:
            raise UnknownNameError("group", name, self.groups)
        return self.groups[name]

    def state(self, group: str, name: str) -> NamedState:
        """Return the state called `name` of `group`.

        Raises:
            UnknownNameError: the group, or the state in it, does not exist.
        """
        states = self.group(group).states
        if name not in states:
            raise UnknownNameError("state", name, states, f"group '{group}'")
        return self.states[group, name]

    def state_from_path(self, word: str) -> NamedState:
        """Return the state for ``GROUP/STATE``; names may contain slashes, and the first match is used.

        Raises:
            UnknownNameError: the group, or the state in it, does not exist.
        """
        ways = [(word[:at], word[at + 1 :]) for at, letter in enumerate(word) if letter == "/"]
        if not ways:
            raise UnknownNameError("state", word, map("/".join, self.states))
        known = [way for way in ways if way in self.states] or [way for way in ways if way[0] in self.groups]
        return self.state(*(known or ways)[0])
