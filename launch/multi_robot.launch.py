# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Start one node for two robots; each has its topics, services and parameters below its name."""

from launch.actions import OpaqueFunction
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from robot_semantics.ros.launch_text import PARAMS_FILE, USE_SIM_TIME, declared, descriptions, stated

ARGUMENTS = (
    ("model_1", None, "Path of the first robot's URDF, plain or xacro."),
    ("semantic_model_1", "", "Path of the first robot's SRDF; empty: none."),
    ("model_2", None, "Path of the second robot's URDF, plain or xacro."),
    ("semantic_model_2", "", "Path of the second robot's SRDF; empty: none."),
    USE_SIM_TIME,
    PARAMS_FILE,
)
NAMES = ("robot_1", "robot_2")


def start(context: LaunchContext) -> list[Node]:
    """Return the node as the arguments want it."""
    urdf_1, srdf_1, urdf_2, srdf_2 = descriptions("model_1", "semantic_model_1", "model_2", "semantic_model_2")
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        parameters=[
            {"robot_1.frame_prefix": "robot_1/", "robot_2.frame_prefix": "robot_2/"},
            LaunchConfiguration("params_file"),
            {
                "models": list(NAMES),
                "robot_1.robot_description": urdf_1,
                "robot_1.robot_description_semantic": srdf_1,
                "robot_2.robot_description": urdf_2,
                "robot_2.robot_description_semantic": srdf_2,
                **stated(context, use_sim_time=bool),
            },
        ],
        output="screen",
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
