# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Transform messages from plain numbers and back."""

from __future__ import annotations

from geometry_msgs.msg import TransformStamped
from rclpy.time import Time

IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def stamped(parent: str, child: str, stamp_ns: int = 0, values: tuple[float, ...] = IDENTITY) -> TransformStamped:
    """A message from x y z qx qy qz qw of `T_parent_child`."""
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = parent, child
    message.header.stamp = Time(nanoseconds=stamp_ns).to_msg()
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z, q.x, q.y, q.z, q.w = values
    return message


def numbers(message: TransformStamped) -> list[float]:
    """The values x y z qx qy qz qw of a message."""
    t, q = message.transform.translation, message.transform.rotation
    return [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
