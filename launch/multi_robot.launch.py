# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Start one node for two robots; each robot has its own namespace of topics, services and parameters."""

from launch.actions import OpaqueFunction
from launch.launch_context import LaunchContext
from launch_ros.actions import Node

from launch import LaunchDescription
from robot_semantics.ros.launch_arguments import (
    PARAMS_FILE,
    USE_SIM_TIME,
    declare_arguments,
    robot_arguments,
    robot_parameters,
)

ARGUMENTS = (
    *robot_arguments("_1", "the first robot"),
    *robot_arguments("_2", "the second robot"),
    USE_SIM_TIME,
    PARAMS_FILE,
)
ROBOTS = {"robot_1.": "_1", "robot_2.": "_2"}
NAMES = tuple(prefix.rstrip(".") for prefix in ROBOTS)


def start(context: LaunchContext) -> list[Node]:
    """Return the node with the parameters of the arguments."""
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        parameters=[
            {f"{name}.frame_prefix": f"{name}/" for name in NAMES},
            *robot_parameters(context, ROBOTS, {"models": list(NAMES)}, use_sim_time=bool),
        ],
        output="screen",
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declare_arguments(ARGUMENTS), OpaqueFunction(function=start)])
