"""Which links move as one: those that only fixed joints connect."""

from __future__ import annotations

from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import RobotModel


def rigid_bodies(robot: RobotModel) -> tuple[int, ...]:
    """Return for each link the index of the topmost link to which it is rigidly fixed."""
    bodies: list[int] = [0]
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        bodies.append(bodies[link.parent] if joint.type is JointType.FIXED else link.index)
    return tuple(bodies)
