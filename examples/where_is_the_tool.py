"""Where a tool can be: forward kinematics of ten thousand random configurations at once."""

from __future__ import annotations

import numpy as np

from robot_semantics.examples import example
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.loading import load_robot

robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
kinematics = ForwardKinematics(robot, links=["tool_frame"])
q = kinematics.space.random(np.random.default_rng(0), (10_000,))
xyz = kinematics.link_poses(q)[:, 0, :3, 3]
print("the tool reaches from", xyz.min(axis=0).round(3), "to", xyz.max(axis=0).round(3), "m from the base")
