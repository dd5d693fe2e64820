# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Start the node as a replacement of robot_state_publisher, with the same name, parameters and topics."""

from launch.actions import OpaqueFunction
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from robot_semantics.ros.launch_arguments import PARAMS_FILE, USE_SIM_TIME, declare_arguments, parameter_sources

ARGUMENTS = (
    (
        "robot_description",
        "",
        "The robot's URDF as text; for a long text, use model; empty: as in params_file.",
    ),
    ("model", "", "Path of the robot's URDF, plain or xacro; overrides robot_description."),
    ("publish_frequency", "", "Maximum rate of a joint's transform [Hz]; empty: as in params_file."),
    ("ignore_timestamp", "", "Publish every joint state, even with an old stamp; empty: as in params_file."),
    ("frame_prefix", "", "Prefix of every link name on TF; empty: as in params_file."),
    ("namespace", "", "Namespace of the node and its topics."),
    USE_SIM_TIME,
    PARAMS_FILE,
)


def start(context: LaunchContext) -> list[Node]:
    """Return the node with the parameters of the arguments."""
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        name="robot_state_publisher",
        namespace=LaunchConfiguration("namespace"),
        parameters=parameter_sources(
            context,
            {"robot_description": "model"},
            robot_description=str,
            publish_frequency=float,
            ignore_timestamp=bool,
            frame_prefix=str,
            use_sim_time=bool,
        ),
        output="screen",
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declare_arguments(ARGUMENTS), OpaqueFunction(function=start)])
