# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""ROS messages from plain rows of numbers, for the message classes of any library.

The classes come by name, such as ``sensor_msgs/msg/JointState``, from rclpy's packages or from the `rosbags` library.
Both take their fields as keywords.

The topics of a model have a valid name that is made from the name of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from robot_semantics.base.errors import ArrayError, RobotSemanticsError
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.cdr.generated_types import MessageTypes, RosMessage
from robot_semantics.cdr.message_types import JOINT_STATE, MULTI_DOF, STRING, TF_MESSAGE

CLOCK = "rosgraph_msgs/msg/Clock"

Row = Sequence[float]


class Transform(NamedTuple):
    """Pose of a frame.

    Attributes:
        xyz_quat: (7,) T_parent_child [m].
    """

    parent: str
    child: str
    xyz_quat: Row


class JointRow(NamedTuple):
    """One variable of a joint [rad, m, N m, N]. None is an unknown value; a NaN position is also unknown."""

    name: str
    position: float
    velocity: float | None
    effort: float | None


class PoseRow(NamedTuple):
    """One joint with several degrees of freedom.

    Attributes:
        xyz_quat: (7,) [m].
        twist: (6,) in the axes of the message's frame [m/s, rad/s]; None if unknown.
    """

    name: str
    xyz_quat: Row
    twist: Row | None


class MessageMaker:
    """Fills messages.

    Attributes:
        types: message classes by name.
    """

    def __init__(self, types: MessageTypes) -> None:
        self.types = types
        self._vector, self._quaternion, self._transform, self._twist, self._stamped = (
            types[f"geometry_msgs/msg/{name}"]
            for name in ("Vector3", "Quaternion", "Transform", "Twist", "TransformStamped")
        )
        self._time, self._header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]

    def clock(self, time_ns: int) -> RosMessage:
        """Return the time as ``rosgraph_msgs/msg/Clock``."""
        return self.types[CLOCK](clock=self.time(time_ns))

    def text(self, text: str) -> RosMessage:
        """Return ``std_msgs/msg/String``."""
        return self.types[STRING](data=text)

    def transforms(self, time_ns: int, rows: Sequence[Transform]) -> RosMessage:
        """Return ``tf2_msgs/msg/TFMessage`` with one stamp."""
        headers: dict[str, RosMessage] = {}
        for row in rows:
            if row.parent not in headers:
                headers[row.parent] = self._header_of(time_ns, row.parent)
        return self.types[TF_MESSAGE](
            transforms=[
                self._stamped(
                    header=headers[row.parent], child_frame_id=row.child, transform=self.transform(row.xyz_quat)
                )
                for row in rows
            ]
        )

    def joint_states(self, time_ns: int, rows: Sequence[JointRow]) -> list[RosMessage]:
        """Return ``sensor_msgs/msg/JointState``: rows with the same known values share a message, without zeros."""
        kinds: dict[tuple[bool, bool], list[JointRow]] = {}
        for row in rows:
            kinds.setdefault((row.velocity is not None, row.effort is not None), []).append(row)
        return [
            self.types[JOINT_STATE](
                header=self._header_of(time_ns, ""),
                name=[row.name for row in some],
                position=np.array([row.position for row in some], dtype=np.float64),
                velocity=np.array([row.velocity for row in some if velocity], dtype=np.float64),
                effort=np.array([row.effort for row in some if effort], dtype=np.float64),
            )
            for (velocity, effort), some in kinds.items()
        ]

    def multi_dof(self, time_ns: int, frame: str, rows: Sequence[PoseRow]) -> list[RosMessage]:
        """Return ``sensor_msgs/msg/MultiDOFJointState``, joints with and without twists in separate messages."""
        messages = []
        for with_twist in (True, False):
            chosen_rows = [row for row in rows if (row.twist is not None) is with_twist]
            if chosen_rows:
                message = self.types[MULTI_DOF](
                    header=self._header_of(time_ns, frame),
                    joint_names=[row.name for row in chosen_rows],
                    transforms=[self.transform(row.xyz_quat) for row in chosen_rows],
                    twist=[self.twist(row.twist) for row in chosen_rows if row.twist is not None],
                    wrench=[],
                )
                messages.append(message)
        return messages

    def time(self, time_ns: int) -> RosMessage:
        """Return ``builtin_interfaces/msg/Time``.

        Raises:
            ArrayError: it is not an integer, or its seconds exceed the 32 bits of ROS.
        """
        if not hasattr(time_ns, "__index__"):
            raise ArrayError("time", f"{time_ns!r} is not a whole number of nanoseconds")
        seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
        if not -(2**31) <= seconds < 2**31:
            raise ArrayError(
                "time", f"{seconds_text(time_ns)} s is too large for a ROS time, which has 32 bits of seconds"
            )
        return self._time(sec=seconds, nanosec=nanoseconds)

    def transform(self, xyz_quat: Row) -> RosMessage:
        """Return ``geometry_msgs/msg/Transform`` of (7,) x y z [m] and a quaternion."""
        return self._transform(translation=self._xyz(xyz_quat[:3]), rotation=self._turn(xyz_quat[3:]))

    def pose(self, xyz_quat: Row) -> RosMessage:
        """Return ``geometry_msgs/msg/Pose`` of (7,) x y z [m] and a quaternion."""
        point = self.types["geometry_msgs/msg/Point"]
        x, y, z = map(float, xyz_quat[:3])
        return self.types["geometry_msgs/msg/Pose"](position=point(x=x, y=y, z=z), orientation=self._turn(xyz_quat[3:]))

    def twist(self, row: Row) -> RosMessage:
        """Return ``geometry_msgs/msg/Twist`` of (6,) numbers [m/s, rad/s]."""
        return self._twist(linear=self._xyz(row[:3]), angular=self._xyz(row[3:]))

    def wrench(self, row: Row) -> RosMessage:
        """Return ``geometry_msgs/msg/Wrench`` of (6,) numbers [N, N m]."""
        return self.types["geometry_msgs/msg/Wrench"](force=self._xyz(row[:3]), torque=self._xyz(row[3:]))

    def _header_of(self, time_ns: int, frame: str) -> RosMessage:
        return self._header(stamp=self.time(time_ns), frame_id=frame)

    def _xyz(self, row: Row) -> RosMessage:
        x, y, z = map(float, row)
        return self._vector(x=x, y=y, z=z)

    def _turn(self, row: Row) -> RosMessage:
        x, y, z, w = map(float, row)
        return self._quaternion(x=x, y=y, z=z, w=w)


LONGEST_NAMESPACE = 200
"""Characters of a namespace; rmw takes topic names of up to 247."""


def topic_namespace(name: str) -> str:
    """Return the namespace, without slashes around it, of the topics of a model.

    Characters that a topic name may not have become ``_``; a part that begins with a digit gets ``_`` before it.
    """
    parts = (re.sub(r"[^A-Za-z0-9_]", "_", part) or "_" for part in name.split("/"))
    return "/".join(f"_{part}" if part[0].isdigit() else part for part in parts)


def topic_namespaces(names: Iterable[str]) -> dict[str, str]:
    """Return the `topic_namespace` of each model by its name.

    Raises:
        RobotSemanticsError: two models have the same one, or a name is too long.
    """
    names_of: dict[str, str] = {}
    for name in names:
        namespace = topic_namespace(name)
        if len(namespace) > LONGEST_NAMESPACE:
            raise RobotSemanticsError(
                f"model '{name}': too long for a topic name (at most {LONGEST_NAMESPACE} characters)"
            )
        other = next((other for other, taken in names_of.items() if taken == namespace and other != name), None)
        if other is not None:
            raise RobotSemanticsError(
                f"models '{other}' and '{name}' have the same topics, '/{namespace}/...'; rename one of them"
            )
        names_of[name] = namespace
    return names_of
