# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The messages of rclpy: filled by `convert.messages`, and read from bytes and into rows."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Quaternion, Transform, TransformStamped, Twist, Vector3, Wrench
from geometry_msgs.msg import Pose as PoseMessage
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Header, String
from tf2_msgs.msg import TFMessage

from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.layout import CdrError
from robot_semantics.convert.messages import MessageMaker
from robot_semantics.kinematics.motions import twist_in_parent
from robot_semantics.transforms import matrix_from_xyz_quat
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_quaternion, xyz_quat_of


def deserialized(data: bytes, kind: type[RosMessage]) -> RosMessage:
    """Return the message of the type `kind` from its bytes, as the middleware reads them.

    Raises:
        CdrError: the bytes are not such a message.
    """
    try:
        message: RosMessage = deserialize_message(data, kind)
    except Exception as error:
        # Each middleware raises its own exceptions.
        raise CdrError(f"{len(data)} bytes are not a {kind.__name__}: {error}") from error
    return message


_TYPES = (
    *(Time, Point, PoseMessage, Quaternion, Transform, TransformStamped, Twist, Vector3, Wrench),
    *(Clock, JointState, MultiDOFJointState, Header, String, TFMessage),
)
MAKER = MessageMaker({f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}": kind for kind in _TYPES})


def pose_message(pose: Pose) -> PoseMessage:
    """Return the message of a pose."""
    return MAKER.pose(xyz_quat_of(pose))


def matrix_from_message(message: Transform) -> FloatArray:
    """Return the (4, 4) transform of a message.

    Raises:
        ArrayError: it is not finite, or its quaternion is all zeros.
    """
    xyz, turn = message.translation, message.rotation
    return matrix_from_xyz_quat((xyz.x, xyz.y, xyz.z), (turn.x, turn.y, turn.z, turn.w))


def row_of_pose(position: Point | Vector3, orientation: Quaternion) -> FloatArray:
    """Return (7,) x, y, z and the quaternion without a check."""
    turn = orientation
    return np.array([position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w])


def pose_from_message(message: PoseMessage) -> Pose:
    """Return the pose of a message. A quaternion of length 1 keeps every bit; a rounded one is normalised."""
    row = row_of_pose(message.position, message.orientation).tolist()
    return pose_from_quaternion(row[:3], row[3:])


def rows_of_odometry(message: Odometry) -> tuple[FloatArray, FloatArray]:
    """Return (7,) the pose as `row_of_pose`, and (6,) the twist, converted from the child's to the parent's axes."""
    pose = row_of_pose(message.pose.pose.position, message.pose.pose.orientation)
    twist = np.array(row_of_twist(message.twist.twist))
    return pose, twist_in_parent(pose, twist) if np.isfinite(pose).all() and pose[3:].any() else twist


def row_of_twist(message: Twist) -> Vec6:
    """Return the linear and the angular velocity of a message."""
    return _six(message.linear, message.angular)


def row_of_wrench(message: Wrench) -> Vec6:
    """Return the force and the torque of a message."""
    return _six(message.force, message.torque)


def _six(first: Vector3, second: Vector3) -> Vec6:
    return (first.x, first.y, first.z, second.x, second.y, second.z)
