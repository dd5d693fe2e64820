"""What an SRDF's groups mean, and in which named state a group is."""

from __future__ import annotations

from robot_semantics.examples import example
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.named_states import with_state
from robot_semantics.model import queries
from robot_semantics.model.loading import load_robot

robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
for group in robot.semantics.groups.values():
    kind = f"a chain from {group.base_link} to {group.tip_link}" if group.is_chain else "no chain"
    parts = ", ".join(group.subgroups) or "-"
    print(f"{group.name}: {len(group.active_joints)} active joints, {kind}, part of it: {parts}")

space = JointSpace.of(robot)
positions = dict(zip(space.names, with_state(space, "arm", "stowed").tolist(), strict=True))
for match in queries.matching_states(robot, "arm", positions, tolerance=0.01):
    print(f"the arm is {match.state}")
answer = queries.answer(lambda: robot.semantics.group("amr"))
print(answer.message)
