# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The programs of the nodes: ``python -m robot_semantics.ros PROGRAM`` starts what ``ros2 run`` does."""

from __future__ import annotations

import sys

from robot_semantics.ros.running.program import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# The node's class, what it does, and the command that starts it with a file, up to the file's name.
PROGRAMS = {
    "robot_semantics_node": (
        "robot_semantics.ros.node.nodes:RobotSemanticsNode",
        "Publishes the transforms of a robot, answers questions about its SRDF, and saves snapshots.",
        "ros2 launch robot_semantics robot_semantics.launch.py model:=",
    ),
    "robot_semantics_lifecycle_node": (
        "robot_semantics.ros.node.nodes:RobotSemanticsLifecycleNode",
        "The same node as robot_semantics_node, with the states of a lifecycle node.",
        "ros2 launch robot_semantics lifecycle.launch.py model:=",
    ),
    "mujoco_world": (
        "robot_semantics.ros.simulators.world_node:MujocoWorld",
        "A MuJoCo simulation of the robots of a USDF world, without a window.",
        "ros2 run robot_semantics mujoco_world --ros-args -p world:=",
    ),
}


def robot_semantics_node(args: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code."""
    return run("robot_semantics_node", *PROGRAMS["robot_semantics_node"], args)


def robot_semantics_lifecycle_node(args: Sequence[str] | None = None) -> int:
    """Run the node with the states of a lifecycle node; return the exit code."""
    return run("robot_semantics_lifecycle_node", *PROGRAMS["robot_semantics_lifecycle_node"], args)


def mujoco_world(args: Sequence[str] | None = None) -> int:
    """Run a simulation; return the exit code: 1 if the world cannot be simulated."""
    return run("mujoco_world", *PROGRAMS["mujoco_world"], args, lambda node: node.run())


_RUN = {
    function.__name__: function for function in (robot_semantics_node, robot_semantics_lifecycle_node, mujoco_world)
}


def main() -> int:
    """Run the program that the first argument names; return the exit code: 2 without one."""
    program = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if program not in PROGRAMS:
        from robot_semantics.base.names import print_line

        print_line(f"usage: python -m robot_semantics.ros {{{','.join(PROGRAMS)}}} ...", file=sys.stderr)
        return 2
    return _RUN[program]()


if __name__ == "__main__":
    sys.exit(main())
