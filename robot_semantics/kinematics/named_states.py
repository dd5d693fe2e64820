# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Named states of the SRDF as positions: the joints of one group are set, all others stay."""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.transforms.arrays import FloatArray


class MissingJoints(enum.Enum):
    """Choice of the position for a joint of the group that the state does not have."""

    DEFAULT = "default"
    """The joint's default position: 0, or the middle of limits that exclude 0."""
    CURRENT = "current"
    """The joint's current position."""


def with_state(
    space: JointSpace,
    group: str,
    state: str,
    current: npt.ArrayLike | None = None,
    missing: MissingJoints = MissingJoints.CURRENT,
) -> FloatArray:
    """Return (..., size) positions with the group in its named state; other joints keep their positions.

    Mimic joints follow their leaders (`JointSpace.pack`).

    Args:
        space: the joint space of the robot.
        group: name of the group.
        state: name of the state in the group.
        current: (..., size) current positions; by default the default positions.
        missing: choice for joints of the group that the state does not have.

    Raises:
        UnknownNameError: the group or state does not exist.
        ArrayError: `current` has the wrong shape or is not finite.
    """
    semantics = space.model.semantics
    values = semantics.state(group, state).positions
    neutral = space.neutral()
    q = neutral.copy() if current is None else np.array(space.checked_positions(current))
    if missing is MissingJoints.DEFAULT:
        for joint in semantics.group(group).active_joints:
            where = space.joint_positions[joint]
            q[..., where] = neutral[where]
    return space.pack(values, q)
