# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Start the node in robot_state_publisher's place: its name, its parameters, its topics, and nothing else to say."""

from launch.actions import OpaqueFunction
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from robot_semantics.ros.launch_text import PARAMS_FILE, USE_SIM_TIME, declared, descriptions, stated

ARGUMENTS = (
    (
        "robot_description",
        "",
        "The robot's URDF, as text; where a command line is too short for it, name the file as model.",
    ),
    ("model", "", "Path of the robot's URDF, plain or xacro, in the place of robot_description."),
    ("publish_frequency", "", "Highest rate at which a joint's transform is sent [Hz]; empty: as in params_file."),
    ("ignore_timestamp", "", "Publish every joint state, whatever its stamp; empty: as in params_file."),
    ("frame_prefix", "", "Put before the name of every link on TF."),
    ("namespace", "", "Namespace of the node and its topics."),
    USE_SIM_TIME,
    PARAMS_FILE,
)


def start(context: LaunchContext) -> list[Node]:
    """Return the node as the arguments want it."""
    (urdf,) = descriptions("model", otherwise="robot_description")
    given = stated(context, publish_frequency=float, ignore_timestamp=bool, frame_prefix=str, use_sim_time=bool)
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        name="robot_state_publisher",
        namespace=LaunchConfiguration("namespace"),
        parameters=[LaunchConfiguration("params_file"), {"robot_description": urdf, **given}],
        output="screen",
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
