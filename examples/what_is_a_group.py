# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The groups of an SRDF, and the named state of a group at given positions."""

from __future__ import annotations

from robot_semantics import JointSpace, load_robot
from robot_semantics.examples import example
from robot_semantics.kinematics.joint_space import with_state
from robot_semantics.model import queries

robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
for group in robot.semantics.groups.values():
    kind = f"a chain from {group.base_link} to {group.tip_link}" if group.is_chain else "no chain"
    parts = ", ".join(group.subgroups) or "-"
    print(f"{group.name}: {len(group.active_joints)} active joints, {kind}, part of it: {parts}")

space = JointSpace.of(robot)
positions = dict(zip(space.names, with_state(space, "arm", "stowed").tolist(), strict=True))
for match in queries.matching_states(robot, "arm", positions, tolerance=0.01):
    print(f"the arm is {match.state}")
answer = queries.run_query(lambda: robot.semantics.group("amr"))
print(answer.message)
