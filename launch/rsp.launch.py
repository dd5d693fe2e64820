"""Start the node in robot_state_publisher's place: its name, its parameters, its topics, and nothing else to say."""

from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from robot_semantics.ros.launch_text import declared, description

ARGUMENTS = (
    (
        "robot_description",
        "",
        str,
        "The robot's URDF, as text; where a command line is too short for it, name the file as model.",
    ),
    ("publish_frequency", "20.0", float, "Highest rate at which a joint's transform is sent [Hz]."),
    ("ignore_timestamp", "false", bool, "Publish every joint state, whatever its stamp."),
    ("frame_prefix", "", str, "Put before the name of every link on TF."),
    ("use_sim_time", "false", bool, "Take the time from /clock."),
)


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    arguments = declared(
        [
            *((name, default, about) for name, default, _, about in ARGUMENTS),
            ("model", "", "Path of the robot's URDF, plain or xacro, in the place of robot_description."),
            ("namespace", "", "Namespace of the node and its topics."),
        ]
    )
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        name="robot_state_publisher",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {
                **{name: ParameterValue(LaunchConfiguration(name), value_type=kind) for name, _, kind, _ in ARGUMENTS},
                "robot_description": description("model", otherwise="robot_description"),
            }
        ],
        output="screen",
    )
    return LaunchDescription([*arguments, node])
