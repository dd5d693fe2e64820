# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The message types with a known layout, as the fields of their serialised form."""

from __future__ import annotations

from typing import NamedTuple

JOINT_STATE = "sensor_msgs/msg/JointState"
MULTI_DOF = "sensor_msgs/msg/MultiDOFJointState"
ODOMETRY = "nav_msgs/msg/Odometry"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
POSE_WITH_COVARIANCE_STAMPED = "geometry_msgs/msg/PoseWithCovarianceStamped"
STRING = "std_msgs/msg/String"
TF_MESSAGE = "tf2_msgs/msg/TFMessage"
TRANSFORM_STAMPED = "geometry_msgs/msg/TransformStamped"


class MessageField(NamedTuple):
    """A field of a message type.

    Attributes:
        name: its name.
        kind: ``seq`` (of a ROS 1 header), ``stamp``, ``text``, ``texts``, ``doubles``, ``double_list`` or ``repeat``.
        size: number of doubles, for ``doubles``.
        fields: of one element, for ``repeat``.
    """

    name: str
    kind: str
    size: int = 0
    fields: tuple[MessageField, ...] = ()


_HEADER = (MessageField("seq", "seq"), MessageField("stamp", "stamp"), MessageField("frame_id", "text"))
_CHILD = MessageField("child_frame_id", "text")
_POSE = MessageField("pose", "doubles", 7)
_TWIST = MessageField("twist", "doubles", 6)

JOINT_STATE_NAMES = (*_HEADER, MessageField("name", "texts"))
"""The fields of a joint state before its positions."""

ODOMETRY_FRAMES = (*_HEADER, _CHILD)
"""The fields of an odometry message before its pose."""

Flat = tuple[tuple[str, str], ...]
"""Every primitive field of a message, as (path, type)."""


def _doubles(path: str, names: str) -> Flat:
    return tuple((f"{path}.{name}", "float64") for name in names)


def _flat_pose(path: str, position: str = "position", rotation: str = "orientation") -> Flat:
    return (*_doubles(f"{path}.{position}", "xyz"), *_doubles(f"{path}.{rotation}", "xyzw"))


def _flat_transform(path: str) -> Flat:
    return _flat_pose(path, "translation", "rotation")


def _flat_header(path: str = "header") -> Flat:
    return ((f"{path}.stamp.sec", "int32"), (f"{path}.stamp.nanosec", "uint32"), (f"{path}.frame_id", "string"))


def _two_vectors(path: str, first: str, second: str) -> Flat:
    return (*_doubles(f"{path}.{first}", "xyz"), *_doubles(f"{path}.{second}", "xyz"))


_FLAT_TRANSFORM_STAMPED = (*_flat_header(), ("child_frame_id", "string"), *_flat_transform("transform"))

DEFINITIONS: dict[str, Flat] = {
    JOINT_STATE: (
        *(*_flat_header(), ("name", "string[]")),
        *((name, "float64[]") for name in ("position", "velocity", "effort")),
    ),
    TF_MESSAGE: tuple((f"transforms[].{path}", kind) for path, kind in _FLAT_TRANSFORM_STAMPED),
    ODOMETRY: (
        *(*_flat_header(), ("child_frame_id", "string")),
        *(*_flat_pose("pose.pose"), ("pose.covariance", "float64[36]")),
        *(*_two_vectors("twist.twist", "linear", "angular"), ("twist.covariance", "float64[36]")),
    ),
    MULTI_DOF: (
        *(*_flat_header(), ("joint_names", "string[]")),
        *_flat_transform("transforms[]"),
        *_two_vectors("twist[]", "linear", "angular"),
        *_two_vectors("wrench[]", "force", "torque"),
    ),
    POSE_STAMPED: (*_flat_header(), *_flat_pose("pose")),
    POSE_WITH_COVARIANCE_STAMPED: (*_flat_header(), *_flat_pose("pose.pose"), ("pose.covariance", "float64[36]")),
    TRANSFORM_STAMPED: _FLAT_TRANSFORM_STAMPED,
    STRING: (("data", "string"),),
}
"""The definitions of the types in `FIELDS`, with the names of ROS 2."""

FIELDS: dict[str, tuple[MessageField, ...]] = {
    JOINT_STATE: (
        *JOINT_STATE_NAMES,
        MessageField("position", "double_list"),
        MessageField("velocity", "double_list"),
        MessageField("effort", "double_list"),
    ),
    TF_MESSAGE: (MessageField("transforms", "repeat", fields=(*_HEADER, _CHILD, _POSE)),),
    ODOMETRY: (
        *ODOMETRY_FRAMES,
        _POSE,
        MessageField("pose_covariance", "doubles", 36),
        _TWIST,
        MessageField("twist_covariance", "doubles", 36),
    ),
    MULTI_DOF: (
        *_HEADER,
        MessageField("joint_names", "texts"),
        MessageField("transforms", "repeat", fields=(_POSE,)),
        MessageField("twists", "repeat", fields=(_TWIST,)),
        MessageField("wrenches", "repeat", fields=(MessageField("wrench", "doubles", 6),)),
    ),
    POSE_STAMPED: (*_HEADER, _POSE),
    POSE_WITH_COVARIANCE_STAMPED: (*_HEADER, _POSE, MessageField("pose_covariance", "doubles", 36)),
    TRANSFORM_STAMPED: (*ODOMETRY_FRAMES, _POSE),
    STRING: (MessageField("data", "text"),),
}
