# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The joint types of URDF and SRDF, and what each one's motion takes, as one table."""

from __future__ import annotations

import enum
from typing import NamedTuple


class JointType(enum.Enum):
    """The joint types; values are the words of URDF's and SRDF's `type` attribute."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    FLOATING = "floating"
    PLANAR = "planar"


class Motion(NamedTuple):
    """What a joint type's state consists of.

    Attributes:
        variables: suffixes of the position variables, as MoveIt names them; ``""`` is the joint's own name.
        velocities: number of velocity (and effort) components, which is the number of degrees of freedom.
    """

    variables: tuple[str, ...]
    velocities: int


MOTION: dict[JointType, Motion] = {
    JointType.REVOLUTE: Motion(("",), 1),
    JointType.CONTINUOUS: Motion(("",), 1),
    JointType.PRISMATIC: Motion(("",), 1),
    JointType.FIXED: Motion((), 0),
    JointType.PLANAR: Motion(("x", "y", "theta"), 3),
    JointType.FLOATING: Motion(("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "rot_w"), 6),
}


def variable_names(joint: str, joint_type: JointType) -> tuple[str, ...]:
    """Return the names of a joint's position variables: ``elbow``, ``base/x``, ``base/rot_w`` (MoveIt's naming)."""
    return tuple(f"{joint}/{suffix}" if suffix else joint for suffix in MOTION[joint_type].variables)
