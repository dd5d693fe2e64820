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
from robot_semantics.ros.launch_arguments import PARAMS_FILE, USE_SIM_TIME, declare_arguments, node_parameters

ARGUMENTS = (
    (
        "model",
        "",
        "Path of the robot's URDF, plain or xacro, then xacro arguments name:=value; empty: as in params_file.",
    ),
    ("semantic_model", "", "Path of the robot's SRDF, plain or xacro; empty: as in params_file."),
    ("loops", "", "Path of a robot.yaml of Extended URDF with closed loops; empty: as in params_file."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("frame_prefix", "", "Prefix of every link name on TF, for example 'robot1/'; empty: as in params_file."),
    USE_SIM_TIME,
    PARAMS_FILE,
)
DESCRIPTIONS = {"robot_description": "model", "robot_description_semantic": "semantic_model"}
LOOPS = {"robot_description_loops": "loops"}


def start(context: LaunchContext) -> list[Node]:
    """Return the node with the parameters of the arguments."""
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        namespace=LaunchConfiguration("namespace"),
        parameters=node_parameters(context, DESCRIPTIONS, texts=LOOPS, frame_prefix=str, use_sim_time=bool),
        output="screen",
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declare_arguments(ARGUMENTS), OpaqueFunction(function=start)])
