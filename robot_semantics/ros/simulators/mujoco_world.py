# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The program `mujoco_world`."""

from __future__ import annotations

import sys

from robot_semantics.ros.running.program import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


ABOUT = "A MuJoCo simulation of the robots of a USDF world, without a window."


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code: 1 if the world cannot be simulated."""
    return run(
        "mujoco_world",
        "robot_semantics.ros.simulators.world_node:MujocoWorld",
        ABOUT,
        args,
        lambda node: node.run(),
        file_argument="ros2 run robot_semantics mujoco_world --ros-args -p world:=",
    )


if __name__ == "__main__":
    sys.exit(main())
