# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Start the node for one robot."""

from launch.actions import OpaqueFunction
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from robot_semantics.ros.launch_arguments import ONE_ROBOT, declare_arguments, one_robot


def start(context: LaunchContext) -> list[Node]:
    """Return the node with the parameters of the arguments."""
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        namespace=LaunchConfiguration("namespace"),
        parameters=one_robot(context),
        output="screen",
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declare_arguments(ONE_ROBOT), OpaqueFunction(function=start)])
