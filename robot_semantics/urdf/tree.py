# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A URDF as a plain tree: only the content of the text, names not resolved, elements numbered in document order.

Lengths are in metres, angles in radians, masses in kilograms (REP-103). `ordinal` is the element's number in document
order: `UrdfRobot.places` gives line, column and path for it. `order` has the tags of its children in their original
order. Comparisons ignore `ordinal` and `order`.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import NamedTuple

from robot_semantics.base.record import record
from robot_semantics.urdf.extras import Extra
from robot_semantics.xml.source_map import SourceMap

Vec3 = tuple[float, float, float]
Vec4 = tuple[float, float, float, float]


@record(frozen=True, slots=True)
class Origin:
    """A frame in its parent: rpy about the fixed axes X, Y, Z, or (version 1.1) a quaternion x y z w, which has
    priority.
    """

    xyz: Vec3 = (0.0, 0.0, 0.0)
    rpy: Vec3 | None = None
    quat_xyzw: Vec4 | None = None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Box:
    """A box centred on its frame; `size` is its full edge lengths."""

    size: Vec3
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Cylinder:
    """A cylinder along z, centred on its frame."""

    radius: float
    length: float
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Capsule:
    """A cylinder along z with half-sphere caps, centred on its frame; `length` is without the caps."""

    radius: float
    length: float
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Sphere:
    """A sphere centred on its frame."""

    radius: float
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Mesh:
    """A mesh file, with the name in the text."""

    filename: str
    scale: Vec3 | None = None
    ordinal: int = field(default=-1, compare=False)


Geometry = Box | Cylinder | Capsule | Sphere | Mesh


@record(frozen=True)
class Material:
    """A material: a definition if it has a colour or a texture, else a reference by name."""

    name: str | None = None
    rgba: Vec4 | None = None
    texture: str | None = None
    extras: tuple[Extra, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)
    ordinal: int = field(default=-1, compare=False)


class Inertia(NamedTuple):
    """The inertia matrix about the axes of its frame [kg m²]."""

    ixx: float
    ixy: float
    ixz: float
    iyy: float
    iyz: float
    izz: float


@record(frozen=True)
class Inertial:
    """Mass and inertia about `origin`, the centre of mass; `inertia` has the numbers of `Inertia`."""

    mass: float
    inertia: tuple[float, float, float, float, float, float]
    origin: Origin | None = None
    extras: tuple[Extra, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)
    mass_ordinal: int = field(default=-1, compare=False)
    inertia_ordinal: int = field(default=-1, compare=False)
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Visual:
    """Shape of a link for display."""

    geometry: Geometry
    origin: Origin | None = None
    material: Material | None = None
    name: str | None = None
    extras: tuple[Extra, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Collision:
    """Shape of a link for collision checking."""

    geometry: Geometry
    origin: Origin | None = None
    name: str | None = None
    extras: tuple[Extra, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True, slots=True)
class Link:
    """A rigid body."""

    name: str
    inertial: Inertial | None = None
    visuals: tuple[Visual, ...] = ()
    collisions: tuple[Collision, ...] = ()
    extras: tuple[Extra, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True, slots=True)
class Limit:
    """A joint's limits as written; None for a missing attribute."""

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None
    acceleration: float | None = None
    deceleration: float | None = None
    jerk: float | None = None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Dynamics:
    """Damping [N s/m or N m s/rad] and static friction [N or N m]."""

    damping: float | None = None
    friction: float | None = None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class SafetyController:
    """Soft limits and the gains of their controller."""

    k_velocity: float
    k_position: float | None = None
    soft_lower_limit: float | None = None
    soft_upper_limit: float | None = None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Calibration:
    """Positions at which a calibration flag rises or falls, or (2009 review) the reference position."""

    rising: float | None = None
    falling: float | None = None
    reference_position: float | None = None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Mimic:
    """``position = multiplier * position of joint + offset``; None for a missing attribute."""

    joint: str
    multiplier: float | None = None
    offset: float | None = None
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True, slots=True)
class Joint:
    """A joint; `axis` is as written, in the joint frame; None if missing."""

    name: str
    type: str
    parent: str
    child: str
    origin: Origin | None = None
    axis: Vec3 | None = None
    limit: Limit | None = None
    dynamics: Dynamics | None = None
    safety_controller: SafetyController | None = None
    calibration: Calibration | None = None
    mimic: Mimic | None = None
    extras: tuple[Extra, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)
    parent_ordinal: int = field(default=-1, compare=False)
    child_ordinal: int = field(default=-1, compare=False)
    axis_ordinal: int = field(default=-1, compare=False)
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True, slots=True)
class Constraint:
    """A connection of two links that closes a loop; None for a missing origin or axis.

    Attributes:
        type: as written.
        parent_origin, child_origin: frames of the connection in these links.
        parent_axis, child_axis: axes in these frames, as written.
    """

    name: str
    type: str
    parent: str
    child: str
    parent_origin: Origin | None = None
    child_origin: Origin | None = None
    parent_axis: Vec3 | None = None
    child_axis: Vec3 | None = None
    extras: tuple[Extra, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)
    parent_ordinal: int = field(default=-1, compare=False)
    child_ordinal: int = field(default=-1, compare=False)
    parent_axis_ordinal: int = field(default=-1, compare=False)
    child_axis_ordinal: int = field(default=-1, compare=False)
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class UrdfRobot:
    """A whole description; `content` has everything at robot level in document order.

    Attributes:
        version: as written; None if the attribute is missing (then 1.0).
        namespaces: prefix and URI of the namespaces declared on the root element; the default namespace has prefix "".
        places: places of the elements in the text.
        extras: comments and foreign elements at robot level.
        rewritten: True if the tree differs from the text: it was converted to the current form, or links were added
            that only joints name.
        complete: True if every link and joint of the text could be read; else no kinematic tree can be made.
        prolog: comments and processing instructions before the root element, verbatim.
        epilog: comments and processing instructions after the root element, verbatim.
    """

    name: str
    version: str | None = None
    content: tuple[Link | Joint | Material | Constraint, ...] = ()
    extras: tuple[Extra, ...] = ()
    namespaces: tuple[tuple[str, str], ...] = ()
    complete: bool = field(default=True, compare=False)
    rewritten: bool = field(default=False, compare=False)
    prolog: tuple[str, ...] = ()
    epilog: tuple[str, ...] = ()
    places: SourceMap = field(default_factory=lambda: SourceMap("<none>", b""), compare=False, repr=False)
    ordinal: int = field(default=-1, compare=False)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links, in document order."""
        return tuple(item for item in self.content if isinstance(item, Link))

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints, in document order."""
        return tuple(item for item in self.content if isinstance(item, Joint))

    @cached_property
    def materials(self) -> tuple[Material, ...]:
        """The robot-level materials, in document order."""
        return tuple(item for item in self.content if isinstance(item, Material))

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """The loop constraints, in document order."""
        return tuple(item for item in self.content if isinstance(item, Constraint))
