# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Loop constraints of a robot: links that stay connected although the tree of joints does not connect them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True, eq=False)
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
