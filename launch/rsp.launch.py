"""Start the node in robot_state_publisher's place: its name, its parameters, its topics, and nothing else to say."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

ARGUMENTS = (
    ("robot_description", None, str, "The robot's URDF, as text."),
    ("publish_frequency", "20.0", float, "Highest rate at which a joint's transform is sent [Hz]."),
    ("ignore_timestamp", "false", bool, "Publish every joint state, whatever its stamp."),
    ("frame_prefix", "", str, "Put before the name of every link on TF."),
    ("use_sim_time", "false", bool, "Take the time from /clock."),
)


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    arguments = [
        DeclareLaunchArgument(name, description=about, **({} if default is None else {"default_value": default}))
        for name, default, _, about in ARGUMENTS
    ]
    namespace = DeclareLaunchArgument(
        "namespace", default_value="", description="Namespace of the node and its topics."
    )
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        name="robot_state_publisher",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {name: ParameterValue(LaunchConfiguration(name), value_type=kind) for name, _, kind, _ in ARGUMENTS}
        ],
        output="screen",
    )
    return LaunchDescription([*arguments, namespace, node])
