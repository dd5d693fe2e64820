# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The checked, immutable robot: one kinematic tree with its loop constraints, its semantics and resolved names."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostics import Diagnostic
from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.record import record
from robot_semantics.model.joint_types import (
    MOTION,
    UNLIMITED,
    JointFrames,
    JointLimits,
    JointType,
    Motion,
    default_within,
    is_unlimited,
    usable_range,
    variable_names,
)
from robot_semantics.model.semantics import Semantics
from robot_semantics.urdf import tree as urdf_tree

if TYPE_CHECKING:
    from robot_semantics.transforms.arrays import FloatArray


class ConstraintType(enum.Enum):
    """The connections of a loop constraint; values are the words of the `type` attribute in URDF."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    UNIVERSAL = "universal"
    SPHERICAL = "spherical"
    LINK = "link"

    @property
    def equations(self) -> int:
        """Number of equations between the two frames."""
        return _EQUATIONS[self]

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it uses: ``parent_axis``, and ``child_axis`` of a universal joint."""
        return _AXES.get(self, ())


_EQUATIONS = {
    ConstraintType.REVOLUTE: 5,
    ConstraintType.PRISMATIC: 5,
    ConstraintType.UNIVERSAL: 4,
    ConstraintType.SPHERICAL: 3,
    ConstraintType.LINK: 6,
}
_AXES = {
    ConstraintType.REVOLUTE: ("parent_axis",),
    ConstraintType.PRISMATIC: ("parent_axis",),
    ConstraintType.UNIVERSAL: ("parent_axis", "child_axis"),
}


@record(frozen=True, slots=True, eq=False)
class LoopConstraint:
    """A connection of two links that closes a loop.

    Attributes:
        T_parent_frame: (4, 4) pose of the connection's frame in the parent link [m].
        T_child_frame: (4, 4) pose of the connection's frame in the child link [m].
        parent_axis: (3,) unit axis in the connection's frame: of a revolute joint, a prismatic joint, or the first of a
            universal joint.
        child_axis: (3,) unit axis of a universal joint in the child's frame of the connection.
        urdf: its URDF element; None for a constraint of another file.
    """

    name: str
    type: ConstraintType
    parent_link: str
    child_link: str
    T_parent_frame: FloatArray
    T_child_frame: FloatArray
    parent_axis: FloatArray
    child_axis: FloatArray
    urdf: urdf_tree.Constraint | None = None


ASSUMED_ROOT_JOINT = "ASSUMED_FIXED_ROOT_JOINT"
"""MoveIt's name for the root link's parent joint if no virtual joint names it."""


MIMIC_TOLERANCE = 1e-6
"""Largest difference between a mimic joint and the position from its leader, if both are given [rad, m]."""


@record(frozen=True, slots=True)
class MimicSource:
    """``position = multiplier * source position + offset``, chains resolved to a joint that moves independently."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def through(self, leader: MimicSource) -> MimicSource:
        """Return the final source of this joint if its own source follows `leader`."""
        return MimicSource(
            leader.joint, self.multiplier * leader.multiplier, self.multiplier * leader.offset + self.offset
        )

    def follow(self, leader: Sequence[float], kind: JointType) -> tuple[float, ...]:
        """Return a follower's positions from its leader's; both are of type `kind`."""
        scaled = MOTION[kind].mimicked
        return (*(self.multiplier * value + self.offset for value in leader[:scaled]), *leader[scaled:])

    def lead(self, follower: Sequence[float], kind: JointType) -> tuple[float, ...]:
        """Return the leader's positions from the follower's: the inverse of `follow`; the multiplier must not be 0."""
        scaled = MOTION[kind].mimicked
        return (*((value - self.offset) / self.multiplier for value in follower[:scaled]), *follower[scaled:])

    @classmethod
    def of(cls, mimic: urdf_tree.Mimic) -> MimicSource:
        """Return the source of a `<mimic>`; a missing multiplier is 1, a missing offset 0."""
        multiplier = 1.0 if mimic.multiplier is None else mimic.multiplier
        return cls(mimic.joint, multiplier, 0.0 if mimic.offset is None else mimic.offset)


@record(frozen=True, slots=True, eq=False)
class JointModel:
    """One joint of the tree; its child link has the same index.

    Attributes:
        index: index in `RobotModel.joints`, and of its child link in `RobotModel.links`.
        parent_link: the parent link; for the root joint the SRDF's parent frame, ``""`` if there is none.
        frames: poses and axes of all joints of its robot.
        mimic: the joint that this one follows, if any.
        passive: True if a passive_joint of the SRDF names it.
        virtual: True if it is from the SRDF (or assumed), not from the URDF.
        urdf: its URDF element; None for a virtual joint.
    """

    index: int
    name: str
    type: JointType
    parent_link: str
    child_link: str
    frames: JointFrames
    limits: JointLimits = UNLIMITED
    mimic: MimicSource | None = None
    passive: bool = False
    virtual: bool = False
    urdf: urdf_tree.Joint | None = None

    @property
    def T_parent_joint(self) -> FloatArray:
        """(4, 4) pose of the joint frame in the parent [m]; at q = 0 it is the child link's frame."""
        T: FloatArray = self.frames.T_parent_joint[self.index]
        return T

    @property
    def axis(self) -> FloatArray:
        """(3,) unit axis in the joint frame; for a planar joint the normal of its plane."""
        axis: FloatArray = self.frames.axes[self.index]
        return axis

    @property
    def variable_names(self) -> tuple[str, ...]:
        """Names of the position variables, empty for a fixed joint."""
        return variable_names(self.name, self.type)

    @property
    def position_count(self) -> int:
        """Number of position variables: 0, 1, 3 (planar) or 7 (floating)."""
        return len(MOTION[self.type].variables)

    @property
    def velocity_count(self) -> int:
        """Number of degrees of freedom: 0, 1, 3 (planar) or 6 (floating)."""
        return MOTION[self.type].velocities

    @property
    def motion(self) -> Motion:
        """The state variables of its type."""
        return MOTION[self.type]

    @property
    def is_active(self) -> bool:
        """True with own degrees of freedom: neither fixed nor a mimic (as in MoveIt; passive joints are active)."""
        return self.velocity_count > 0 and self.mimic is None

    @property
    def is_commandable(self) -> bool:
        """True if a motor may drive the joint: it is active and not passive."""
        return self.is_active and not self.passive

    @property
    def damping(self) -> float:
        """Damping [N s/m, N m s/rad]; 0 if not given."""
        dynamics = None if self.urdf is None else self.urdf.dynamics
        return 0.0 if dynamics is None else max(dynamics.damping or 0.0, 0.0)

    @property
    def friction(self) -> float:
        """Dry friction [N, N m]; 0 if not given."""
        dynamics = None if self.urdf is None else self.urdf.dynamics
        return 0.0 if dynamics is None else max(dynamics.friction or 0.0, 0.0)


@record(frozen=True, slots=True, eq=False)
class LinkModel:
    """One link of the tree.

    Attributes:
        index: index in `RobotModel.links`, and of its parent joint in `RobotModel.joints`.
        parent: index of the parent link; -1 for the root.
        children: indices of the child links, sorted by the names of their joints.
        urdf: its URDF element.
    """

    index: int
    name: str
    parent: int
    children: tuple[int, ...]
    urdf: urdf_tree.Link


@record(frozen=True, eq=False)
class RobotModel:
    """A robot: joints and links depth first, siblings by joint name in byte order, as in MoveIt and KDL.

    ``joints[i]`` is the parent joint of ``links[i]``; index 0 is the root link under its virtual (or assumed) joint.

    Attributes:
        urdf: the tree of the URDF text.
        semantics: groups, states, end effectors and collision pairs; empty without an SRDF.
        constraints: connections that close loops of links.
        omissions: errors of the descriptions by which a part was left out that proofs need (`model.omissions`).
    """

    name: str
    joints: tuple[JointModel, ...]
    links: tuple[LinkModel, ...]
    urdf: urdf_tree.UrdfRobot
    semantics: Semantics = field(default_factory=Semantics)
    constraints: tuple[LoopConstraint, ...] = ()
    omissions: tuple[Diagnostic, ...] = ()

    @property
    def root_link(self) -> str:
        """Name of the root link."""
        return self.links[0].name

    @property
    def root_joint(self) -> JointModel:
        """The virtual joint above the root link; named `ASSUMED_ROOT_JOINT` and fixed if the SRDF has none."""
        return self.joints[0]

    @property
    def has_virtual_joint(self) -> bool:
        """True if the SRDF defines the root joint."""
        return self.root_joint.parent_link != ""

    @cached_property
    def joint_index(self) -> Mapping[str, int]:
        """Index of each joint by name."""
        return MappingProxyType({joint.name: joint.index for joint in self.joints})

    @cached_property
    def link_index(self) -> Mapping[str, int]:
        """Index of each link by name."""
        return MappingProxyType({link.name: link.index for link in self.links})

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, in model order."""
        return tuple(link.name for link in self.links)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints, in model order, the root joint first."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def extent(self) -> float:
        """The size of the robot: the sum of the distances between joints, at least 1 [m]."""
        offsets = self.root_joint.frames.T_parent_joint[1:, :3, 3]
        return max(1.0, sum(math.hypot(*xyz) for xyz in offsets.tolist()))

    def usable_range(self, joint: JointModel) -> tuple[float, float]:
        """Return the lower and upper end that sampling, default positions and sliders use for a joint with one variable
        [rad, m]; infinite for a continuous joint.
        """
        low, high = joint.limits.bounds
        return usable_range(joint.type, low, high, self.extent if is_unlimited(joint.type, low, high) else 1.0)

    def default_position(self, joint: JointModel) -> float:
        """Return the default position of a joint with one variable: 0, or the middle of a usable range without 0."""
        return default_within(*self.usable_range(joint))

    @cached_property
    def unlimited_joints(self) -> tuple[JointModel, ...]:
        """The joints whose limits are so far apart that they mean "not limited"."""
        return tuple(joint for joint in self.joints[1:] if is_unlimited(joint.type, *joint.limits.bounds))

    @cached_property
    def urdf_text(self) -> str:
        """The URDF for other readers; for an older dialect, the upgraded text with the link frames of this model."""
        from robot_semantics.urdf.writer import current_text

        return current_text(self.urdf)

    def joint(self, name: str) -> JointModel:
        """Return the joint called `name`.

        Raises:
            UnknownNameError: it does not exist; the error has the nearest names.
        """
        index = self.joint_index.get(name)
        if index is None:
            raise UnknownNameError("joint", name, self.joint_index)
        return self.joints[index]

    def link(self, name: str) -> LinkModel:
        """Return the link called `name`.

        Raises:
            UnknownNameError: it does not exist; the error has the nearest names.
        """
        index = self.link_index.get(name)
        if index is None:
            raise UnknownNameError("link", name, self.link_index)
        return self.links[index]

    def to_root(self, link: int) -> list[int]:
        """Return the indices of a link and of all links above it, the root last; their parent joints have the same
        indices.
        """
        found = []
        while link >= 0:
            found.append(link)
            link = self.links[link].parent
        return found

    def moving_between(self, a: str, b: str) -> set[int]:
        """Return the indices of the joints that move two links relative to each other."""
        above = (set(self.to_root(self.link_index[link])) for link in (a, b))
        return {link for link in set.symmetric_difference(*above) if self.joints[link].velocity_count}
