# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint states of a world state as rows of messages."""

from __future__ import annotations

from collections.abc import Iterator

from robot_semantics.convert.messages import JointRow
from robot_semantics.model.joint_types import JointType, variable_names
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.usdf.world_state import JointState


def scalar_rows(joint: JointState, size: int) -> Iterator[JointRow]:
    """Yield the rows of the variables of a joint whose positions are stated."""
    names = (joint.name,) if size == 1 else variable_names(joint.name, JointType.PLANAR)
    for i, (name, position) in enumerate(zip(names[:size], joint.positions or (), strict=True)):
        velocity = joint.velocities[i] if joint.velocities is not None else None
        yield JointRow(name, position, velocity, joint.torques[i] if joint.torques is not None else None)


def floating_pose(joint: JointState) -> tuple[float, ...]:
    """Return the positions of a floating joint as x y z qx qy qz qw; rpy is converted."""
    positions = joint.positions or ()
    return positions if len(positions) == 7 else (*positions[:3], *quat_from_rpy(positions[3:]).tolist())
