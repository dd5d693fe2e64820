# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The message types that a recording is read for, as the fields of their serialised form."""

from __future__ import annotations

from robot_semantics.convert.messages import JOINT_STATE, MULTI_DOF, STRING, TF_MESSAGE
from robot_semantics.recording.layout import Field

_HEADER = (Field("seq", "seq"), Field("stamp", "stamp"), Field("frame_id", "text"))
_POSE = Field("pose", "doubles", 7)
_TWIST = Field("twist", "doubles", 6)

ODOMETRY = "nav_msgs/msg/Odometry"

FIELDS: dict[str, tuple[Field, ...]] = {
    JOINT_STATE: (
        *_HEADER,
        Field("name", "texts"),
        Field("position", "double_list"),
        Field("velocity", "double_list"),
        Field("effort", "double_list"),
    ),
    TF_MESSAGE: (Field("transforms", "repeat", fields=(*_HEADER, Field("child_frame_id", "text"), _POSE)),),
    ODOMETRY: (
        *_HEADER,
        Field("child_frame_id", "text"),
        _POSE,
        Field("pose_covariance", "doubles", 36),
        _TWIST,
        Field("twist_covariance", "doubles", 36),
    ),
    MULTI_DOF: (
        *_HEADER,
        Field("joint_names", "texts"),
        Field("transforms", "repeat", fields=(_POSE,)),
        Field("twists", "repeat", fields=(_TWIST,)),
        Field("wrenches", "repeat", fields=(Field("wrench", "doubles", 6),)),
    ),
    STRING: (Field("data", "text"),),
}

USUAL_TYPES = {
    "tf": TF_MESSAGE,
    "tf_static": TF_MESSAGE,
    "joint_states": JOINT_STATE,
    "robot_description": STRING,
    "robot_description_semantic": STRING,
}
"""What the messages of topics are that are called so in any namespace."""

ROS1_NAMES = {"tf/msg/tfMessage": TF_MESSAGE}
"""Older names of the same messages."""
