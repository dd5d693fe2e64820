# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A world state from joint positions, written to a file and read again with identical numbers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from robot_semantics import JointSpace, WorldState, load_robot, read_world, save_world
from robot_semantics.examples import example
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.world_state import Frame

robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
q = JointSpace.of(robot).random(np.random.default_rng(1))
odom = Frame("odom", pose=Pose((1.0, 2.0, 0.0, 0.0, 0.0, 0.5)))
state = WorldState("example", (from_joint_positions(robot, q),), (odom,), time_ns=12_500_000_000)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "example.usdf"
    save_world(state, path)
    again = read_world(path)
print("the same again:", again == state)
print("the tool in the world:\n", resolve_frames(again).pose("rover_arm::tool_frame").round(3))
