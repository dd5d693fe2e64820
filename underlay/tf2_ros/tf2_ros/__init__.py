# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The part of tf2_ros that Python nodes use, for environments without a ROS 2 installation.

Names and behaviour are those of the real package: code that imports this one runs unchanged with that one. Left out are
the action client, velocities, and the conversions between message types (`Buffer.transform`). One rule is different:
the real package normalises a quaternion of any length; this one ignores a transform whose quaternion is no rotation.
"""

from tf2_ros.buffer import Buffer
from tf2_ros.buffer_core import BufferCore
from tf2_ros.buffer_interface import BufferInterface
from tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)
from tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster
from tf2_ros.transform_broadcaster import TransformBroadcaster
from tf2_ros.transform_listener import TransformListener

__all__ = [
    "Buffer",
    "BufferCore",
    "BufferInterface",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "StaticTransformBroadcaster",
    "TimeoutException",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
]
