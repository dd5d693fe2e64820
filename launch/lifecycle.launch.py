"""Start the managed node and bring it up: configured as soon as it runs, activated as soon as it is configured."""

from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.events import matches_action
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription

ARGUMENTS = (
    ("model", None, "Path of the robot's URDF, plain or xacro."),
    ("semantic_model", "", "Path of the robot's SRDF, plain or xacro; empty: none."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("frame_prefix", "", "Put before the name of every link on TF."),
    ("use_sim_time", "false", "Take the time from /clock."),
)


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    arguments = [
        DeclareLaunchArgument(name, description=about, **({} if default is None else {"default_value": default}))
        for name, default, about in ARGUMENTS
    ]
    node = LifecycleNode(
        package="robot_semantics",
        executable="robot_semantics_lifecycle_node",
        name="robot_semantics",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {
                "robot_description": _text_of("model"),
                "robot_description_semantic": _text_of("semantic_model"),
                "frame_prefix": ParameterValue(LaunchConfiguration("frame_prefix"), value_type=str),
                "use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool),
            }
        ],
        output="screen",
    )
    configure = EmitEvent(
        event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=Transition.TRANSITION_CONFIGURE)
    )
    activate = RegisterEventHandler(
        OnStateTransition(
            target_lifecycle_node=node,
            start_state="configuring",
            goal_state="inactive",
            entities=[
                EmitEvent(
                    event=ChangeState(
                        lifecycle_node_matcher=matches_action(node), transition_id=Transition.TRANSITION_ACTIVATE
                    )
                )
            ],
        )
    )
    return LaunchDescription([*arguments, activate, node, configure])


def _text_of(argument: str) -> ParameterValue:
    command = Command(["python3 -m robot_semantics.cli.main expand ", LaunchConfiguration(argument)], on_stderr="warn")
    return ParameterValue(command, value_type=str)
