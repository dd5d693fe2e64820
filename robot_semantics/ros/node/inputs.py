# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Subscriptions of the node for its robots: joint states, base states, odometry, TF; all on the message loop."""

from __future__ import annotations

import numpy as np
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from robot_semantics.base.nanoseconds import stamp_ns as stamp_of
from robot_semantics.cdr.errors import CdrError
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.joint_states import JointStateData, JointStateReader
from robot_semantics.cdr.walk import BIG_ENDIAN
from robot_semantics.ros.messages.maker import deserialized
from robot_semantics.ros.node.message_loop import MessageLoop, SetAside
from robot_semantics.ros.node.motion_topics import MotionTopics, Read, ReceivedOdometry, own_statement
from robot_semantics.ros.node.outputs import Outputs
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.served_robot import ServedRobot
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.state.joint_input import Reason, Refusal
from robot_semantics.state.robot import Messages, RunningRobot
from robot_semantics.state.samples import RootStatement
from robot_semantics.state.settings import Source

NO_ROBOT = Refusal(Reason.NO_MODEL, "there is no robot description yet")


class Inputs:
    """The subscriptions of all robots, made and removed together."""

    def __init__(self, robots: Robots, outputs: Outputs, frames: WorldFrames, *, raw: bool) -> None:
        """With `raw` joint states are taken as bytes."""
        self._robots, self._outputs, self._frames, self._raw = robots, outputs, frames, raw
        self._node = robots.node
        self._loops: list[MessageLoop] = []
        self._set_aside = SetAside()
        self._subscriptions: list[Subscription] = []
        self._heard: list[tuple[Source, str]] = []
        self._odometry: dict[str, ReceivedOdometry] = {}

    def start(self) -> None:
        """Subscribe to the sources of the present robots."""
        frequent = [self._joint_states(served) for served in self._robots.served]
        others: list[Subscription] = []
        for served in self._robots.served:
            others += MotionTopics(served, self._set_aside, self._robots.now_ns, self._deliver).subscriptions()
            odometry = self._odometry[served.prefix] = ReceivedOdometry(served, self._set_aside)
            others += odometry.subscriptions()
            if served.robot is not None and served.robot.root_source is Source.TF:
                self._frames.listen_to_all()
        self._heard = self._root_sources()
        self._subscriptions = [*frequent, *others]
        # Waiting for a single subscription is the cheapest.
        for together in (*([subscription] for subscription in frequent), others):
            loop = MessageLoop(self._node.context)
            loop.start(together)
            self._loops.append(loop)

    def stop(self) -> None:
        """Remove all subscriptions."""
        for loop in self._loops:
            loop.stop()
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._loops, self._subscriptions = [], []

    def robots_changed(self) -> None:
        """Subscribe again if a virtual joint has another source now; otherwise keep the subscriptions, so that no
        message is lost.
        """
        if self._root_sources() != self._heard:
            self.stop()
            self.start()

    def root_statements(self, served: ServedRobot) -> tuple[RootStatement, ...]:
        """Return the poses of a robot's root link by the virtual joint's source and by odometry."""
        robot, odometry = served.robot, self._odometry.get(served.prefix)
        if robot is None:
            return ()
        said = (own_statement(robot), None if odometry is None else odometry.statement(robot))
        return tuple(statement for statement in said if statement is not None)

    def follows_tf(self) -> bool:
        """Return True if `refresh` has a root link to look up."""
        return any(robot.root_source is Source.TF for robot in self._robots.present)

    def refresh(self) -> None:
        """Look up the root links of those robots that follow TF."""
        for served in self._robots.served:
            robot = served.robot
            if robot is None or robot.root_source is not Source.TF or not robot.model.root_joint.position_count:
                continue
            root_frame = robot.frame(robot.model.root_link)
            # A root link `world` moves in the frame `world`: TF has only the link under this name.
            same = robot.parent_frame == root_frame
            found = None if same else self._frames.pose(robot.parent_frame, root_frame)
            if found is not None:
                stamp_ns = self._robots.now_ns() if found.stamp_ns is None else found.stamp_ns
                with self._robots.lock:
                    robot.motion(robot.model.root_joint.name, found.xyz_quat, None, stamp_ns)

    def _root_sources(self) -> list[tuple[Source, str]]:
        return [
            (robot.root_source, robot.settings.virtual_joint(robot.model.root_joint.name).topic)
            for robot in self._robots.present
        ]

    def _joint_states(self, served: ServedRobot) -> Subscription:
        reader = JointStateReader()
        topic = served.topic("joint_states")
        traffic, lock, now_ns, outputs = served.traffic, self._robots.lock, self._robots.now_ns, self._outputs

        def handle(message: bytes | JointState) -> None:
            # Hot path: avoid calls before publishing, see `kinematics.in_place`.
            with lock:
                traffic.received += 1
                robot = served.robot
                if robot is not None and isinstance(message, bytes):
                    for layout in robot.fast_path.layouts:
                        transforms = layout.take(message, now_ns)
                        if transforms is not None:
                            if transforms:
                                outputs.send_now(transforms)
                                traffic.transforms += layout.count
                            return
                result: Messages | Refusal = NO_ROBOT
                if robot is not None:
                    data = _read(reader, message)
                    result = data if isinstance(data, Refusal) else robot.joint_state(data, now_ns)
                if isinstance(result, Refusal):
                    traffic.refused_joint_states += 1
                    served.refusals.add(topic, result)
                elif result:
                    outputs.send(served, result)
                if robot is not None and robot.notices:
                    self._log_notices(served, robot)

        return served.listen(JointState, topic, handle, self._set_aside, raw=self._raw)

    def _deliver(self, served: ServedRobot, topic: str, read: Read, message: RosMessage) -> None:
        """Read a message from another topic than joint_states; publish the result, or log why it is refused."""
        with self._robots.lock:
            robot = served.robot
            if robot is None:
                return
            for outcome in read(robot, message):
                if isinstance(outcome, Refusal):
                    served.refusals.add(topic, outcome)
                else:
                    self._outputs.send(served, outcome)
            if robot.notices:
                self._log_notices(served, robot)

    def _log_notices(self, served: ServedRobot, robot: RunningRobot) -> None:
        served.report_notices(robot.notices)
        robot.notices.clear()


def _read(reader: JointStateReader, message: bytes | JointState) -> JointStateData | Refusal:
    if isinstance(message, bytes):
        try:
            if not message.startswith(BIG_ENDIAN):
                return reader.read(message)
            # Rare: leave big-endian messages to rclpy.
            message = deserialized(message, JointState)
        except CdrError as error:
            return Refusal(Reason.MALFORMED, f"its bytes are not a joint state: {error}")
    return JointStateData(
        stamp_of(message.header.stamp),
        tuple(message.name),
        np.asarray(message.position, np.float64),
        np.asarray(message.velocity, np.float64),
        np.asarray(message.effort, np.float64),
    )
