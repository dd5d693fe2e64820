"""Start the node for one robot: its transforms, its semantics and its snapshots."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

ARGUMENTS = (
    ("model", None, "Path of the robot's URDF, plain or xacro; name:=value after it sets a xacro argument."),
    ("semantic_model", "", "Path of the robot's SRDF, plain or xacro; empty: none."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("frame_prefix", "", "Put before the name of every link on TF, for example 'robot1/'."),
    ("use_sim_time", "false", "Take the time from /clock."),
    (
        "params_file",
        PathJoinSubstitution([FindPackageShare("robot_semantics"), "config", "robot_semantics.yaml"]),
        "Parameter file of the node.",
    ),
)


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    arguments = [
        DeclareLaunchArgument(name, description=about, **({} if default is None else {"default_value": default}))
        for name, default, about in ARGUMENTS
    ]
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {
                # As text, or it would be read as YAML. A plain file stays as it is, with the lines that messages name.
                "robot_description": _text_of("model"),
                "robot_description_semantic": _text_of("semantic_model"),
                "frame_prefix": ParameterValue(LaunchConfiguration("frame_prefix"), value_type=str),
                "use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool),
            },
        ],
        output="screen",
    )
    return LaunchDescription([*arguments, node])


def _text_of(argument: str) -> ParameterValue:
    command = Command(["python3 -m robot_semantics.cli.main expand ", LaunchConfiguration(argument)], on_stderr="warn")
    return ParameterValue(command, value_type=str)
