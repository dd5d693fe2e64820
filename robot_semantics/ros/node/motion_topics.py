# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The other topics that move joints: base states (MultiDOFJointState) and odometry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.callback_groups import CallbackGroup
from rclpy.subscription import Subscription
from sensor_msgs.msg import MultiDOFJointState

from robot_semantics.base.foreign_text import shown
from robot_semantics.ros.messages.maker import row_of_pose, row_of_twist, rows_of_odometry
from robot_semantics.ros.node import qos
from robot_semantics.ros.node.served_robot import ServedRobot
from robot_semantics.state.cdr import stamp_ns
from robot_semantics.state.joint_input import Reason, Refusal
from robot_semantics.state.robot import Messages, RunningRobot
from robot_semantics.state.settings import Source

Outcome = Messages | Refusal
Read = Callable[[RunningRobot, Any], list[Outcome]]
Deliver = Callable[[ServedRobot, str, Read, Any], None]

_FED_BY_MULTI_DOF = (Source.AUTO, Source.MULTI_DOF)


class MotionTopics:
    """Makes the subscriptions of one robot; `deliver` publishes, or logs as refused, what came of each message."""

    def __init__(self, served: ServedRobot, group: CallbackGroup, now_ns: Callable[[], int], deliver: Deliver) -> None:
        self._served, self._group, self._now_ns, self._deliver = served, group, now_ns, deliver

    def subscriptions(self) -> list[Subscription]:
        """Return what to listen to for the present robot."""
        result = [self._listen(MultiDOFJointState, self._served.topic("multi_dof_joint_states"), self._multi_dof)]
        robot = self._served.robot
        if robot is not None and robot.root_source is Source.ODOMETRY:
            settings = robot.settings.virtual_joint(robot.model.root_joint.name)
            result.append(self._listen(Odometry, settings.topic, self._odometry))
        return result

    def _listen(self, message_type: Any, topic: str, read: Read) -> Subscription:
        def handle(message: Any) -> None:
            self._deliver(self._served, topic, read, message)

        return self._served.node.create_subscription(
            message_type,
            topic,
            handle,
            qos.fresh(qos.SENSOR),
            callback_group=self._group,
            qos_overriding_options=qos.overridable(),
        )

    def _multi_dof(self, robot: RunningRobot, message: MultiDOFJointState) -> list[Outcome]:
        names, count = message.joint_names, len(message.transforms)
        if not names:
            return [Refusal(Reason.EMPTY, "it names no joint")]
        if count != len(names):
            return [Refusal(Reason.WRONG_LENGTH, f"it has {len(names)} names but {count} transforms")]
        twists = message.twist if len(message.twist) == count else [None] * count
        time_ns = stamp_ns(message.header.stamp) or self._now_ns()
        outcomes: list[Outcome] = []
        for name, transform, twist in zip(names, message.transforms, twists, strict=True):
            number = robot.moving.number.get(name)
            if number is None or robot.moving.joints[number].position_count == 1:
                robot.say_once(f"multi_dof_joint_states: the robot has no planar or floating joint '{shown(name)}'")
                continue
            is_root = robot.moving.joints[number].index == 0
            if is_root and robot.root_source not in _FED_BY_MULTI_DOF:
                continue
            if is_root and message.header.frame_id not in _names_of_parent(robot):
                outcomes.append(_wrong_frame("frame_id", message.header.frame_id, robot.parent_frame))
                continue
            pose = row_of_pose(transform.translation, transform.rotation)
            rates = None if twist is None else np.array(row_of_twist(twist))
            outcomes.append(robot.motion(name, pose, rates, time_ns))
        return outcomes

    def _odometry(self, robot: RunningRobot, message: Odometry) -> list[Outcome]:
        root = robot.model.root_joint
        if not root.position_count:
            robot.say_once(f"odometry: the virtual joint '{root.name}' is fixed; its odometry is not used")
            return []
        if message.header.frame_id not in _names_of_parent(robot):
            return [_wrong_frame("frame_id", message.header.frame_id, robot.parent_frame)]
        child = robot.frame(robot.model.root_link)
        if message.child_frame_id.lstrip("/") not in (child, robot.model.root_link, ""):
            return [_wrong_frame("child_frame_id", message.child_frame_id, child)]
        time_ns = stamp_ns(message.header.stamp) or self._now_ns()
        return [robot.motion(root.name, *rows_of_odometry(message), time_ns)]


def _names_of_parent(robot: RunningRobot) -> tuple[str, ...]:
    return robot.parent_frame, robot.model.root_joint.parent_link, f"/{robot.parent_frame}", ""


def _wrong_frame(field: str, given: str, expected: str) -> Refusal:
    return Refusal(Reason.WRONG_FRAME, f"its {field} is '{shown(given)}', not '{expected}'")
