# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The workspace of a tool: forward kinematics of ten thousand random configurations in one call."""

from __future__ import annotations

import numpy as np

from robot_semantics import ForwardKinematics, load_robot
from robot_semantics.examples import example

robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
kinematics = ForwardKinematics(robot, links=["tool_frame"])
q = kinematics.space.random(np.random.default_rng(0), (10_000,))
xyz = kinematics.link_poses(q)[:, 0, :3, 3]
print("the tool reaches from", xyz.min(axis=0).round(3), "to", xyz.max(axis=0).round(3), "m from the base")
