# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Start the lifecycle node, then configure and activate it."""

from launch.action import Action
from launch.actions import EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.events import matches_action
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription
from robot_semantics.ros.launch_arguments import ONE_ROBOT, declare_arguments, one_robot


def start(context: LaunchContext) -> list[Action]:
    """Return the node with the parameters of the arguments, and the actions that configure and activate it."""
    node = LifecycleNode(
        package="robot_semantics",
        executable="robot_semantics_lifecycle_node",
        name="robot_semantics",
        namespace=LaunchConfiguration("namespace"),
        parameters=one_robot(context),
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
    return [activate, node, configure]


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declare_arguments(ONE_ROBOT), OpaqueFunction(function=start)])
