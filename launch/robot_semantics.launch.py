"""Start the node for one robot: its transforms, its semantics and its snapshots."""

from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from robot_semantics.ros.launch_text import PARAMS_FILE, declared, description

ARGUMENTS = (
    ("model", None, "Path of the robot's URDF, plain or xacro; name:=value after it sets a xacro argument."),
    ("semantic_model", "", "Path of the robot's SRDF, plain or xacro; empty: none."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("frame_prefix", "", "Put before the name of every link on TF, for example 'robot1/'."),
    ("use_sim_time", "false", "Take the time from /clock."),
    PARAMS_FILE,
)


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {
                "robot_description": description("model"),
                "robot_description_semantic": description("semantic_model"),
                "frame_prefix": ParameterValue(LaunchConfiguration("frame_prefix"), value_type=str),
                "use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool),
            },
        ],
        output="screen",
    )
    return LaunchDescription([*declared(ARGUMENTS), node])
