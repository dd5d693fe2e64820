# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The program `robot_semantics_node`, also `python -m robot_semantics.ros.node`."""

from __future__ import annotations

import sys

from robot_semantics.ros.running.program import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


ABOUT = "Publishes the transforms of a robot, answers questions about its SRDF, and saves snapshots."


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code."""
    return run(
        "robot_semantics_node",
        "robot_semantics.ros.node.nodes:RobotSemanticsNode",
        ABOUT,
        args,
        file_argument="ros2 launch robot_semantics robot_semantics.launch.py model:=",
    )


if __name__ == "__main__":
    sys.exit(main())
