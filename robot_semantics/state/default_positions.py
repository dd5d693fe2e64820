# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The positions of joints that have never reported: what the parameter `default_positions` asks for."""

from __future__ import annotations

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray


def default_positions(model: RobotModel, space: JointSpace, choice: str) -> FloatArray | None:
    """Return (n,) positions, or None for the choice `none`, which leaves such joints unpublished.

    `zero` is zero or the middle of bounds that exclude it, `mid` the middle of the bounds where both exist,
    ``GROUP/STATE`` a named state over zero.

    Raises:
        UnknownNameError: the SRDF has no such group or state.

    """
    if choice == "none":
        return None
    positions = np.array(space.neutral(), np.float64)
    if choice == "mid":
        bounded = np.isfinite(space.lower) & np.isfinite(space.upper)
        for joint in model.joints:
            if joint.position_count > 1:
                bounded[space.joint_positions[joint.name]] = False
        positions[bounded] = (space.lower[bounded] + space.upper[bounded]) / 2.0
    elif choice != "zero":
        group, _, state = choice.partition("/")
        for name, values in model.semantics.state(group, state).joints.items():
            positions[space.joint_positions[name]] = values
    return np.asarray(space.with_mimics(positions), np.float64)
