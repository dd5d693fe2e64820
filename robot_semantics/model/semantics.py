# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What the parts of a robot mean: the resolved content of an SRDF, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.names import LinkPair
from robot_semantics.srdf import tree as srdf_tree


@dataclass(frozen=True, slots=True)
class Group:
    """A group with everything derived, as MoveIt computes it; every tuple of joints or links is in model order.

    Attributes:
        active_joints: those with degrees of freedom that are not mimic joints; passive ones are active.
        commandable_joints: active and not passive.
        links: child links of the joints; a chain's base link is not among them.
        variable_names: of all joints that move, mimic joints included.
        base_link: parent link of a chain's first joint, empty if the group is not a chain.
        tip_link: child link of a chain's last joint, empty if the group is not a chain.
        common_root: nearest joint above (or among) all the joint roots, empty if there is none.
        within: every group whose joints are a subset of this one's, this one included.
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
        """Every other group whose joints are a subset of this one's."""
        # Made when it is asked for: of thousands of groups with the same joints each is within each.
        return tuple(name for name in self.within if name != self.name)

    def as_dict(self) -> dict[str, Any]:
        """Return everything by its name, for JSON."""
        facts = {item.name: getattr(self, item.name) for item in fields(self)}
        return {"subgroups" if name == "within" else name: value for name, value in facts.items()} | {
            "subgroups": self.subgroups
        }


@dataclass(frozen=True, slots=True)
class NamedState:
    """A group state: joint name → values, one per position variable [rad, m, unit quaternion x y z w].

    Attributes:
        joints: what the state says.
        leaders: leaders of mimic joints that the state names without them, where these joints need them.
    """

    name: str
    group: str
    joints: Mapping[str, tuple[float, ...]]
    leaders: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def positions(self) -> Mapping[str, tuple[float, ...]]:
        """What the state says and what follows for leaders: the whole of its pose."""
        return {**self.joints, **self.leaders}


@dataclass(frozen=True, slots=True)
class EndEffector:
    """An end effector: `group` is mounted on `parent_link`; `parent_group` as resolved, empty if there is none."""

    name: str
    group: str
    parent_link: str
    parent_group: str


@dataclass(frozen=True, slots=True)
class VirtualJoint:
    """A virtual joint as the SRDF states it; `type` is fixed, planar or floating."""

    name: str
    type: str
    parent_frame: str
    child_link: str


@dataclass(frozen=True, slots=True)
class Semantics:
    """The resolved SRDF of one robot; all empty where there is none.

    Attributes:
        groups: by name, in byte order.
        states: by (group, state) name.
        end_effectors: by name.
        virtual_joints: every one stated; the root one is also `RobotModel.root_joint`.
        disabled_collisions: pair → reason, as written.
        enabled_collisions: pairs that enable_collisions names.
        default_disabled_links: links of disable_default_collisions.
        link_spheres: link → spheres that stand for it in collision checks; one of radius 0 means that it has none.
        joint_properties: joint → property name → value text.
        srdf: the tree of the text, None where no SRDF was given.
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
            UnknownNameError: there is none; the error carries the nearest names.
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

    def state_called(self, word: str) -> NamedState:
        """Return the state that ``GROUP/STATE`` means; names may have slashes in them, and the first that fit count.

        Raises:
            UnknownNameError: the group, or the state in it, does not exist.
        """
        ways = [(word[:at], word[at + 1 :]) for at, letter in enumerate(word) if letter == "/"] or [(word, "")]
        known = [way for way in ways if way in self.states] or [way for way in ways if way[0] in self.groups]
        return self.state(*(known or ways)[0])
