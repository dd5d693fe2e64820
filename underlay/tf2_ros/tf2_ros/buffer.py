# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A buffer of transforms that can wait for them."""

from __future__ import annotations

import threading
import time as wall_time
from collections.abc import Callable

from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from tf2_msgs.srv import FrameGraph

from tf2_ros.buffer_core import DEFAULT_CACHE_TIME, AnyDuration, AnyTime, BufferCore
from tf2_ros.buffer_interface import NO_WAIT, BufferInterface

Check = Callable[[], tuple[bool, str]]


class Buffer(BufferCore, BufferInterface):
    """Remembers transforms, answers look-ups, waits for what is not there yet, and forgets when time jumps back."""

    def __init__(self, cache_time: AnyDuration | None = None, node: Node | None = None) -> None:
        """With a node the buffer follows its clock and shows its frames in the service tf2_frames."""
        super().__init__(DEFAULT_CACHE_TIME if cache_time is None else cache_time)
        self._new_data = threading.Condition(self._lock)
        self._waiting: dict[Future, Callable[[], None]] = {}
        self.clock = Clock() if node is None else node.get_clock()
        if node is not None:
            self.srv = node.create_service(FrameGraph, "tf2_frames", self._show_frames)
        threshold = JumpThreshold(min_forward=None, min_backward=Duration(seconds=-1), on_clock_change=True)
        self.jump_handle = self.clock.create_jump_callback(threshold, post_callback=self.time_jump_callback)

    def time_jump_callback(self, time_jump: TimeJump) -> None:
        """Forget what was received before the clock jumped back."""
        self._logger.warning("Detected jump back in time. Clearing tf buffer.")
        self.clear()

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Remember a transform at its stamp."""
        super().set_transform(transform, authority)
        self._tell()

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Remember a transform that holds at any time."""
        super().set_transform_static(transform, authority)
        self._tell()

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: AnyTime, timeout: Duration = NO_WAIT
    ) -> TransformStamped:
        """`T_target_source` at a time; 0 is the newest time that all frames in between have data for."""
        self.can_transform(target_frame, source_frame, time, timeout)
        return self.lookup_transform_core(target_frame, source_frame, time)

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
        self.can_transform_full(target_frame, target_time, source_frame, source_time, fixed_frame, timeout)
        return self.lookup_transform_full_core(target_frame, target_time, source_frame, source_time, fixed_frame)

    async def lookup_transform_async(self, target_frame: str, source_frame: str, time: AnyTime) -> TransformStamped:
        """`T_target_source` at a time, as soon as it can be answered."""
        await self.wait_for_transform_async(target_frame, source_frame, time)
        return self.lookup_transform_core(target_frame, source_frame, time)

    async def lookup_transform_full_async(
        self, target_frame: str, target_time: AnyTime, source_frame: str, source_time: AnyTime, fixed_frame: str
    ) -> TransformStamped:
        """`T_target_source` between two times, as soon as it can be answered."""
        await self.wait_for_transform_full_async(target_frame, target_time, source_frame, source_time, fixed_frame)
        return self.lookup_transform_full_core(target_frame, target_time, source_frame, source_time, fixed_frame)

    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: AnyTime,
        timeout: Duration = NO_WAIT,
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Whether a look-up can be answered within a time; with return_debug_tuple also why not."""
        answer = self._wait(lambda: self.can_transform_core(target_frame, source_frame, time), timeout)
        return answer if return_debug_tuple else answer[0]

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
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame)
        answer = self._wait(lambda: self.can_transform_full_core(*arguments), timeout)
        return answer if return_debug_tuple else answer[0]

    def wait_for_transform_async(self, target_frame: str, source_frame: str, time: AnyTime) -> Future:
        """A future of the transform, done when the look-up can be answered."""
        return self._future(
            lambda: self.can_transform_core(target_frame, source_frame, time),
            lambda: self.lookup_transform_core(target_frame, source_frame, time),
        )

    def wait_for_transform_full_async(
        self, target_frame: str, target_time: AnyTime, source_frame: str, source_time: AnyTime, fixed_frame: str
    ) -> Future:
        """A future of the transform between two times, done when the look-up can be answered."""
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame)
        return self._future(
            lambda: self.can_transform_full_core(*arguments), lambda: self.lookup_transform_full_core(*arguments)
        )

    def _wait(self, check: Check, timeout: Duration) -> tuple[bool, str]:
        """Ask again after each new transform until the answer is yes or the time is over."""
        end = wall_time.monotonic() + timeout.nanoseconds / 1e9
        with self._new_data:
            while not (answer := check())[0] and (rest := end - wall_time.monotonic()) > 0.0:
                self._new_data.wait(rest)
        return answer

    def _future(self, check: Check, look_up: Callable[[], TransformStamped]) -> Future:
        future = Future()

        def attempt() -> None:
            if check()[0] and not future.done():
                future.set_result(look_up())

        with self._lock:
            attempt()
            if not future.done():
                self._waiting[future] = attempt
                future.add_done_callback(lambda done: self._waiting.pop(done, None))
        return future

    def _tell(self) -> None:
        """Wake up whoever waits for a transform."""
        with self._new_data:
            self._new_data.notify_all()
            for attempt in list(self._waiting.values()):
                attempt()

    def _show_frames(self, request: FrameGraph.Request, response: FrameGraph.Response) -> FrameGraph.Response:
        response.frame_yaml = self.all_frames_as_yaml()
        return response
