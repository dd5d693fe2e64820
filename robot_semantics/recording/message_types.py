# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The message types that a recording is read for, as the fields of their serialised form."""

from __future__ import annotations

from robot_semantics.cdr.message_types import JOINT_STATE, STRING, TF_MESSAGE

USUAL_TYPES = {
    "tf": TF_MESSAGE,
    "tf_static": TF_MESSAGE,
    "joint_states": JOINT_STATE,
    "robot_description": STRING,
    "robot_description_semantic": STRING,
}
"""Message types of topics with these names, in any namespace."""

ROS1_NAMES = {"tf/msg/tfMessage": TF_MESSAGE}
"""Older names of the same messages."""
