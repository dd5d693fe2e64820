# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The demo's robot, the PR2 of the package example-robot-data, and the world in which it starts."""

from __future__ import annotations

import site
import sys
from pathlib import Path

from demo.failure import DemoError
from robot_semantics import RobotModel, WorldState, load_robot
from robot_semantics.examples import example
from robot_semantics.transforms.pose import Pose, pose_from_quaternion
from robot_semantics.usdf.world_state import Frame, JointState, ModelState

PACKAGE = "example-robot-data"
URDF = f"package://{PACKAGE}/robots/pr2_description/urdf/pr2.urdf"
SRDF = f"package://{PACKAGE}/robots/pr2_description/srdf/pr2.srdf"
MODEL = "pr2"


def package_folder() -> Path:
    """Return the folder of the package example-robot-data.

    Raises:
        DemoError: it is not installed.
    """
    for folder in (*site.getsitepackages(), *sys.path):
        share = Path(folder) / "cmeel.prefix" / "share"
        if (share / PACKAGE).is_dir():
            return share
    raise DemoError(f"the package {PACKAGE} is not installed: `make demo` does that by itself")


def load(share: Path) -> tuple[RobotModel, Path, Path]:
    """Return the PR2 and its two files; invalid parts of its SRDF are left out, as in the node."""
    urdf, srdf = (share / uri.removeprefix("package://") for uri in (URDF, SRDF))
    return load_robot(urdf, srdf, strict=False), urdf, srdf


def first_world(robot: RobotModel) -> WorldState:
    """Return the first state of the simulation: arms tucked, and a block that will fall onto the base."""
    positions: dict[str, float] = {"torso_lift_joint": 0.05}
    for group, state in (("left_arm", "tuck_left_arm"), ("right_arm", "tuck_right_arm")):
        positions |= {name: values[0] for name, values in robot.semantics.state(group, state).joints.items()}
    joints = tuple(JointState(name, (value,)) for name, value in positions.items())
    pr2 = ModelState(MODEL, "odom_combined", _upright(), joints=joints, description=URDF, semantic=SRDF)
    block = ModelState(
        "block",
        pose=pose_from_quaternion((1.2, 0.1, 0.8), (0.1, 0.2, 0.3, 0.9)),
        description=str(example("block.urdf")),
        semantic=str(example("block.srdf")),
    )
    odom = Frame("odom_combined", pose=pose_from_quaternion((0.5, -0.25, 0.0), (0.0, 0.0, 0.6, 0.8)), twist=(0.0,) * 6)
    return WorldState("demo", (pr2, block), (odom,), 0)


def _upright() -> Pose:
    return Pose((0.0,) * 6, (0.0, 0.0, 0.0, 1.0))
