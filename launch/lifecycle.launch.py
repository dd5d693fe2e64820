"""Start the managed node and bring it up: configured as soon as it runs, activated as soon as it is configured."""

from launch.actions import EmitEvent, RegisterEventHandler
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription
from robot_semantics.ros.launch_text import PARAMS_FILE, declared, description

ARGUMENTS = (
    ("model", None, "Path of the robot's URDF, plain or xacro."),
    ("semantic_model", "", "Path of the robot's SRDF, plain or xacro; empty: none."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("frame_prefix", "", "Put before the name of every link on TF."),
    ("use_sim_time", "false", "Take the time from /clock."),
    PARAMS_FILE,
)


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    node = LifecycleNode(
        package="robot_semantics",
        executable="robot_semantics_lifecycle_node",
        name="robot_semantics",
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
    return LaunchDescription([*declared(ARGUMENTS), activate, node, configure])
