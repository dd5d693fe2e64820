"""The messages of rclpy, filled the one way that `convert.messages` has."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Twist, Vector3
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Header, String
from tf2_msgs.msg import TFMessage

from robot_semantics.convert.messages import MessageMaker

_TYPES = (
    *(Time, Quaternion, Transform, TransformStamped, Twist, Vector3),
    *(Clock, JointState, MultiDOFJointState, Header, String, TFMessage),
)
MAKER = MessageMaker({f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}": kind for kind in _TYPES})
