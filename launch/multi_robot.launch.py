"""Start one node for two robots; each has its topics, services and parameters below its name."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

ARGUMENTS = (
    ("model_1", None, "Path of the first robot's URDF, plain or xacro."),
    ("semantic_model_1", "", "Path of the first robot's SRDF; empty: none."),
    ("model_2", None, "Path of the second robot's URDF, plain or xacro."),
    ("semantic_model_2", "", "Path of the second robot's SRDF; empty: none."),
    ("use_sim_time", "false", "Take the time from /clock."),
)
NAMES = ("robot_1", "robot_2")


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    arguments = [
        DeclareLaunchArgument(name, description=about, **({} if default is None else {"default_value": default}))
        for name, default, about in ARGUMENTS
    ]
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        parameters=[
            {
                "models": list(NAMES),
                "use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool),
                "robot_1.frame_prefix": "robot_1/",
                "robot_1.robot_description": _text_of("model_1"),
                "robot_1.robot_description_semantic": _text_of("semantic_model_1"),
                "robot_2.frame_prefix": "robot_2/",
                "robot_2.robot_description": _text_of("model_2"),
                "robot_2.robot_description_semantic": _text_of("semantic_model_2"),
            }
        ],
        output="screen",
    )
    return LaunchDescription([*arguments, node])


def _text_of(argument: str) -> ParameterValue:
    command = Command(["python3 -m robot_semantics.cli.main expand ", LaunchConfiguration(argument)], on_stderr="warn")
    return ParameterValue(command, value_type=str)
