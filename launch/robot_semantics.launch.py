# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Start the node for one robot: its transforms, its semantics and its snapshots."""

from launch.actions import OpaqueFunction
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from robot_semantics.ros.launch_text import PARAMS_FILE, USE_SIM_TIME, declared, descriptions, stated

ARGUMENTS = (
    ("model", None, "Path of the robot's URDF, plain or xacro; name:=value after it sets a xacro argument."),
    ("semantic_model", "", "Path of the robot's SRDF, plain or xacro; empty: none."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("frame_prefix", "", "Put before the name of every link on TF, for example 'robot1/'."),
    USE_SIM_TIME,
    PARAMS_FILE,
)


def start(context: LaunchContext) -> list[Node]:
    """Return the node as the arguments want it."""
    urdf, srdf = descriptions("model", "semantic_model")
    given = stated(context, frame_prefix=str, use_sim_time=bool)
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {"robot_description": urdf, "robot_description_semantic": srdf, **given},
        ],
        output="screen",
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
