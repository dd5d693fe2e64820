# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An SRDF as a plain tree: only the content of the text, names not resolved, elements numbered in document order.

`ordinal` is the element's number in document order; `SrdfDocument.places` gives line, column and path for it.
Comparisons ignore `ordinal`. Comments and foreign elements are not in the tree: the writer edits the original text in
place.
"""

from __future__ import annotations

from dataclasses import field

from robot_semantics.base.names import LinkPair
from robot_semantics.base.record import record
from robot_semantics.xml.source_map import SourceMap


@record(frozen=True)
class NameReference:
    """A reference to a joint, link, group or other part by name."""

    name: str
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class SrdfVirtualJoint:
    """A virtual joint, as written."""

    name: str
    type: str
    parent_frame: str
    child_link: str
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class SrdfChain:
    """A serial chain of a group."""

    base_link: str
    tip_link: str
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class SrdfGroup:
    """A group with any mix of joints, links, chains and subgroups."""

    name: str
    joints: tuple[NameReference, ...] = ()
    links: tuple[NameReference, ...] = ()
    chains: tuple[SrdfChain, ...] = ()
    subgroups: tuple[NameReference, ...] = ()
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class JointValue:
    """A joint of a group state; `values` is None if the text is not finite numbers."""

    name: str
    values: tuple[float, ...] | None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class GroupState:
    """A named state of a group."""

    name: str
    group: str
    joints: tuple[JointValue, ...] = ()
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class SrdfEndEffector:
    """An end effector; `parent_group` is None if the attribute is missing."""

    name: str
    group: str
    parent_link: str
    parent_group: str | None = None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class CollisionPair:
    """A disable_collisions or enable_collisions element."""

    link1: str
    link2: str
    reason: str = ""
    ordinal: int = field(default=-1, compare=False)

    @property
    def pair(self) -> LinkPair:
        """The pair of links, independent of their order in the text."""
        return LinkPair.of(self.link1, self.link2)


@record(frozen=True)
class SrdfSphere:
    """A sphere of a link_sphere_approximation: centre in the link frame [m] and radius [m]."""

    center: tuple[float, float, float]
    radius: float
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class LinkSpheres:
    """A link_sphere_approximation."""

    link: str
    spheres: tuple[SrdfSphere, ...] = ()
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class JointProperty:
    """A joint_property: a free name and value for a joint."""

    joint_name: str
    property_name: str
    value: str
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class SrdfDocument:
    """A whole SRDF; each tuple is in document order."""

    name: str
    virtual_joints: tuple[SrdfVirtualJoint, ...] = ()
    passive_joints: tuple[NameReference, ...] = ()
    groups: tuple[SrdfGroup, ...] = ()
    states: tuple[GroupState, ...] = ()
    end_effectors: tuple[SrdfEndEffector, ...] = ()
    disabled_collisions: tuple[CollisionPair, ...] = ()
    enabled_collisions: tuple[CollisionPair, ...] = ()
    default_disabled_links: tuple[NameReference, ...] = ()
    link_spheres: tuple[LinkSpheres, ...] = ()
    joint_properties: tuple[JointProperty, ...] = ()
    version: str | None = None
    places: SourceMap = field(default_factory=lambda: SourceMap("<none>", b""), compare=False, repr=False)
    ordinal: int = field(default=-1, compare=False)
