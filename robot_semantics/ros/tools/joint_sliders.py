# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Sliders that publish the joint states of a robot, as joint_state_publisher does, and give way to other publishers."""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState, MultiDOFJointState

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import shown
from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.node_names import node_name
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.scene import closed_pose
from robot_semantics.viewer.scene_data import SliderState

PERIOD_S = 0.1
"""Time between two joint states, the same as the default of joint_state_publisher [s]."""

LISTEN_S = 1.0
"""Time before the first joint state, in which other publishers are heard [s]."""

SILENCE_S = 1.0
"""A joint belongs to another publisher for at least this long after its last message [s]."""

INTERVALS = 2.5
"""A publisher is silent after this number of its usual intervals."""

SENT_MESSAGES = 100
"""Number of the last own messages that are recognised when they come back."""

SAME = 1e-6
"""Largest difference of equal transforms [m, and the entries of rotation matrices]."""


class OtherPublisher:
    """Arrivals of the messages with one set of joints on one topic, which other nodes publish."""

    def __init__(self, topic: str, joints: frozenset[str]) -> None:
        self.topic, self.joints = topic, joints
        self._last_s = -math.inf
        self._intervals: deque[float] = deque(maxlen=20)

    def note(self, now_s: float) -> None:
        """Note a message."""
        if math.isfinite(self._last_s):
            self._intervals.append(now_s - self._last_s)
        self._last_s = now_s

    def is_heard(self, now_s: float) -> bool:
        """Return True until the publisher is silent."""
        usual_s = statistics.median(self._intervals) if self._intervals else 0.0
        return now_s - self._last_s < max(SILENCE_S, INTERVALS * usual_s)


class SliderPositions:
    """Positions that the sliders of one robot give its joints, and the joints that belong to other publishers.

    A joint of another publisher keeps the position that was heard last, so that its slider continues from there. Mimic
    joints belong to the publisher of their leader, and leaders to the publisher of their mimic joints. The passive
    joints of closed loops follow the others.
    """

    def __init__(self, kinematics: ForwardKinematics, fed_elsewhere: Mapping[str, str]) -> None:
        """Begin in the default positions; `fed_elsewhere` has joints that joint states do not move, with the reason."""
        self._kinematics, self._space = kinematics, kinematics.space
        self._fed_elsewhere = fed_elsewhere
        self._joint_of = {name: joint.name for joint in self._space.joints for name in joint.variable_names}
        self._leader_of = {
            joint.name: self._joint_of[self._space.leader_of(joint.variable_names[0]) or joint.variable_names[0]]
            for joint in self._space.joints
        }
        loops = kinematics.solvable_loops
        self._dependent = frozenset() if loops is None else frozenset(loops.dependent)
        self._other_publishers: dict[tuple[str, frozenset[str]], OtherPublisher] = {}
        self._q = closed_pose(kinematics, self._space.neutral())[0]

    def set(self, values: Mapping[str, float], now_s: float) -> str:
        """Move joints to positions [rad, m], by variable or joint; return the reason if the robot cannot take them.

        Joints of other publishers keep their positions.
        """
        held = self.held(now_s)
        own = {name: value for name, value in values.items() if self._joint_of.get(name, name) not in held}
        try:
            q, problem = closed_pose(self._kinematics, self._space.pack(own, self._q), self._q)
        except RobotSemanticsError as error:
            return str(error)
        self._q = q
        return problem

    def hear(self, topic: str, values: Mapping[str, Sequence[float]], now_s: float) -> None:
        """Note a message of another publisher: positions [rad, m] by variable or joint; NaN is no position."""
        index, slices = self._space.index, self._space.joint_positions
        q, joints = np.array(self._q), set[str]()
        for name, numbers in values.items():
            where = slice(index[name], index[name] + 1) if name in index else slices.get(name)
            if where is not None:
                joints.add(self._joint_of[self._space.names[where.start]])
                if len(numbers) == where.stop - where.start and np.isfinite(numbers).all():
                    q[where] = numbers
        if joints:
            key = topic, frozenset(joints)
            self._other_publishers.setdefault(key, OtherPublisher(*key)).note(now_s)
            self._q = q

    def held(self, now_s: float) -> dict[str, str]:
        """Return the joints that the sliders do not move, each with the topic or the reason."""
        heard = [other for other in self._other_publishers.values() if other.is_heard(now_s)]
        topic_of = {self._leader_of[joint]: other.topic for other in heard for joint in other.joints}
        topic_of |= {self._leader_of[joint]: reason for joint, reason in self._fed_elsewhere.items()}
        held = {name: topic_of[leader] for name, leader in self._leader_of.items() if leader in topic_of}
        driven = next((held[name] for name in held if name != self._space.model.root_joint.name), None)
        return held if driven is None else held | {name: driven for name in self._dependent if name not in held}

    def values(self, now_s: float) -> dict[str, float]:
        """Return the positions to publish, by variable [rad, m]: without the joints of other publishers."""
        held = self.held(now_s)
        return {name: value for name, value in self.all_values().items() if self._joint_of[name] not in held}

    def all_values(self) -> dict[str, float]:
        """Return all positions, by variable [rad, m]."""
        return dict(zip(self._space.names, self._space.with_mimics(self._q).tolist(), strict=True))

    @property
    def T_parent_root(self) -> FloatArray:
        """(4, 4) pose of the root link in the frame of the virtual joint [m]."""
        return self._kinematics.T_parent_root(self._q)


class JointSliders:
    """Publishes the positions of the sliders of one robot, ten times a second and after each change.

    A joint is left to another publisher while that publisher is heard: on the topic itself, on
    ``multi_dof_joint_states``, or for the root link on TF. Positions on the topics `sources` move the sliders.

    A message does not name its publisher. The messages of this object are recognised by their content.
    """

    def __init__(
        self,
        node: Node,
        space: str,
        kinematics: ForwardKinematics,
        *,
        sources: Iterable[str] = (),
        own_nodes: Collection[str] = (),
        fed_elsewhere: Mapping[str, str] | None = None,
        report: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """Listen, and start to publish after `LISTEN_S`.

        Args:
            node: the node that publishes.
            space: namespace of the robot's topics, such as ``/left``; empty for the root.
            kinematics: of the robot.
            sources: topics with joint states that move the sliders.
            own_nodes: the nodes that publish the robot's description and its transforms.
            fed_elsewhere: joints that joint states do not move, each with the reason.
            report: takes a sentence whenever the sliders give joints to another publisher, or get them back.
        """
        self._node, self._report = node, report
        self._positions = SliderPositions(kinematics, fed_elsewhere or {})
        self._own_nodes = {node.get_fully_qualified_name(), *own_nodes}
        self._root = kinematics.model.root_joint
        self._lock = threading.RLock()
        self._sent: deque[tuple[int, tuple[str, ...], tuple[float, ...]]] = deque(maxlen=SENT_MESSAGES)
        self._begin_s = time.monotonic() + LISTEN_S
        self._reported: dict[str, str] = {}
        self.topic, multi_dof = f"{space}/joint_states", f"{space}/multi_dof_joint_states"
        self._publisher = node.create_publisher(JointState, self.topic, 10)
        node.create_subscription(JointState, self.topic, self._hear, qos.fresh(qos.SENSOR))
        node.create_subscription(
            MultiDOFJointState, multi_dof, partial(self._hear_poses, multi_dof), qos.fresh(qos.SENSOR)
        )
        for source in sources:
            node.create_subscription(JointState, source, partial(self._follow, source), qos.fresh(qos.SENSOR))
        node.create_timer(PERIOD_S, self.publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def slide(self, values: Mapping[str, float]) -> str:
        """Move joints to positions [rad, m], by variable or joint, and publish; return the reason of a failure."""
        with self._lock:
            problem = self._positions.set(values, time.monotonic())
            self.publish()
        return problem

    def state(self) -> SliderState:
        """Return the positions of all joints, and the joints of other publishers with their names."""
        with self._lock:
            held = self._positions.held(time.monotonic())
            names = {topic: self._who(topic) for topic in set(held.values())}
            return SliderState(self.topic, self._positions.all_values(), {name: names[held[name]] for name in held})

    def note_root(self, parent: str, T_parent_root: FloatArray, time_ns: int, topic: str, *, static: bool) -> None:
        """Note a transform (4, 4) of the root link on a TF topic.

        A virtual joint belongs to another publisher of this frame. The robot's node sends that frame from the values
        of the sliders, with their stamps.
        """
        if not self._root.position_count:
            return
        with self._lock:
            if not static and any(time_ns == sent for sent, _, _ in self._sent):
                return
            ours = self._positions.T_parent_root
            is_ours = parent == self._root.parent_link and np.allclose(T_parent_root, ours, atol=SAME)
            if not is_ours and self._others_on(topic):
                self._positions.hear(topic, {self._root.name: ()}, math.inf if static else time.monotonic())

    def publish(self) -> None:
        """Publish the joints that do not belong to another publisher."""
        now_s = time.monotonic()
        with self._lock:
            self._tell(self._positions.held(now_s))
            values = self._positions.values(now_s)
            if now_s < self._begin_s or not values:
                return
            message = JointState(name=list(values), position=list(values.values()))
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._sent.append(_content(message))
            self._publisher.publish(message)

    def _hear(self, message: JointState) -> None:
        with self._lock:
            content = _content(message)
            if content not in self._sent:
                self._positions.hear(self.topic, _positions_of(message), time.monotonic())

    def _hear_poses(self, topic: str, message: MultiDOFJointState) -> None:
        with self._lock:
            self._positions.hear(topic, dict.fromkeys(message.joint_names, ()), time.monotonic())

    def _follow(self, topic: str, message: JointState) -> None:
        known = self._positions.all_values().keys()
        stated = {name: numbers[0] for name, numbers in _positions_of(message).items() if numbers and name in known}
        problem = self.slide({name: value for name, value in stated.items() if math.isfinite(value)})
        if problem:
            self._report(f"{topic} is not used: {shown(problem)}")

    def _tell(self, held: Mapping[str, str]) -> None:
        if held == self._reported:
            return
        for topic in sorted({*held.values(), *self._reported.values()}):
            taken = [name for name in held if held[name] == topic and name not in self._reported]
            back = [name for name in self._reported if self._reported[name] == topic and name not in held]
            if taken:
                self._report(f"the sliders do not publish {_names(taken)}: {self._who(topic)} does")
            if back:
                self._report(f"the sliders publish {_names(back)} again")
        self._reported = dict(held)

    def _who(self, topic: str) -> str:
        """Return the other publishers of a topic as text; a reason that is no topic stays."""
        if not topic.startswith("/"):
            return topic
        return f"{' or '.join(sorted(self._others_on(topic))) or 'another publisher'} on {topic}"

    def _others_on(self, topic: str) -> set[str]:
        """Return the nodes that publish on a topic, without this one and those that publish the description."""
        found = {node_name(info) for info in self._node.get_publishers_info_by_topic(topic)}
        return found - self._own_nodes


def _content(message: JointState) -> tuple[int, tuple[str, ...], tuple[float, ...]]:
    return stamp_ns(message.header.stamp), tuple(message.name), tuple(message.position)


def _positions_of(message: JointState) -> dict[str, Sequence[float]]:
    """Return the positions of a joint state; without valid positions, the names only."""
    if len(message.position) != len(message.name):
        return dict.fromkeys(message.name, ())
    return {name: (float(value),) for name, value in zip(message.name, message.position, strict=True)}


def _names(joints: Sequence[str]) -> str:
    more = f" and {len(joints) - 3} more" if len(joints) > 3 else ""
    return ", ".join(f"'{shown(name)}'" for name in joints[:3]) + more
