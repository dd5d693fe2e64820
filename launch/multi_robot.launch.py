"""Start one node for two robots; each has its topics, services and parameters below its name."""

from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from robot_semantics.ros.launch_text import PARAMS_FILE, declared, description

ARGUMENTS = (
    ("model_1", None, "Path of the first robot's URDF, plain or xacro."),
    ("semantic_model_1", "", "Path of the first robot's SRDF; empty: none."),
    ("model_2", None, "Path of the second robot's URDF, plain or xacro."),
    ("semantic_model_2", "", "Path of the second robot's SRDF; empty: none."),
    ("use_sim_time", "false", "Take the time from /clock."),
    PARAMS_FILE,
)
NAMES = ("robot_1", "robot_2")


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        parameters=[
            LaunchConfiguration("params_file"),
            {
                "models": list(NAMES),
                "use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool),
                "robot_1.frame_prefix": "robot_1/",
                "robot_1.robot_description": description("model_1"),
                "robot_1.robot_description_semantic": description("semantic_model_1"),
                "robot_2.frame_prefix": "robot_2/",
                "robot_2.robot_description": description("model_2"),
                "robot_2.robot_description_semantic": description("semantic_model_2"),
            },
        ],
        output="screen",
    )
    return LaunchDescription([*declared(ARGUMENTS), node])
