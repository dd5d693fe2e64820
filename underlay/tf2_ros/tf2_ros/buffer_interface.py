# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What every buffer can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod

from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration

from tf2_ros.buffer_core import AnyTime

NO_WAIT = Duration()


class BufferInterface(ABC):
    """Look-ups of transforms, of which each may wait until it can be answered."""

    @abstractmethod
    def lookup_transform(
        self, target_frame: str, source_frame: str, time: AnyTime, timeout: Duration = NO_WAIT
    ) -> TransformStamped:
        """`T_target_source` at a time; 0 is the newest time that all frames in between have data for."""

    @abstractmethod
    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: AnyTime,
        source_frame: str,
        source_time: AnyTime,
        fixed_frame: str,
        timeout: Duration = NO_WAIT,
    ) -> TransformStamped:
        """`T_target_source` between two times, over a frame that is taken as fixed between them."""

    @abstractmethod
    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: AnyTime,
        timeout: Duration = NO_WAIT,
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Whether a look-up can be answered within a time; with return_debug_tuple also why not."""

    @abstractmethod
    def can_transform_full(
        self,
        target_frame: str,
        target_time: AnyTime,
        source_frame: str,
        source_time: AnyTime,
        fixed_frame: str,
        timeout: Duration = NO_WAIT,
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Whether a look-up between two times can be answered within a time; with return_debug_tuple also why not."""
