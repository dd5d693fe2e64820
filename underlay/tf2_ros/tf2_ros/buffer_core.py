# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The tree of frames over time and the look-ups in it, apart from any node."""

from __future__ import annotations

import math
import threading
from functools import reduce
from typing import TypeAlias

from builtin_interfaces.msg import Duration as DurationMessage
from builtin_interfaces.msg import Time as TimeMessage
from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.logging import get_logger
from rclpy.time import Time

from tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
)
from tf2_ros.frame_history import History, MovingHistory, Sample, StaticHistory
from tf2_ros.rigid_motion import IDENTITY, Motion, canonical, composed, inverted

AnyTime: TypeAlias = Time | TimeMessage
AnyDuration: TypeAlias = Duration | DurationMessage
DEFAULT_CACHE_TIME = Duration(seconds=10)
QUATERNION_TOLERANCE = 0.01  # how far from 1 the square of a quaternion's length may be
MAX_DEPTH = 1000  # a longer chain of parents is taken for a loop


class BufferCore:
    """Remembers transforms and answers where frames are in each other."""

    def __init__(self, cache_time: AnyDuration = DEFAULT_CACHE_TIME) -> None:
        self._cache_ns = nanoseconds(cache_time)
        self._histories: dict[str, History] = {}
        self._known: set[str] = set()  # parents included
        self._authorities: dict[str, str] = {}
        self._lock = threading.RLock()
        self._logger = get_logger("tf2_buffer")

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Remember a transform at its stamp."""
        self._set(transform, authority, static=False)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Remember a transform that holds at any time."""
        self._set(transform, authority, static=True)

    def _set(self, transform: TransformStamped, authority: str, static: bool) -> None:
        parent, child = transform.header.frame_id.removeprefix("/"), transform.child_frame_id.removeprefix("/")
        t, q = transform.transform.translation, transform.transform.rotation
        motion = Motion((t.x, t.y, t.z), (q.x, q.y, q.z, q.w))
        fault = _fault(parent, child, motion)
        if fault:
            self._logger.error(f"Ignoring a transform from '{parent}' to '{child}' of authority '{authority}': {fault}")
            return
        with self._lock:
            history = self._histories.get(child)
            if history is None or isinstance(history, StaticHistory) != static:
                history = StaticHistory() if static else MovingHistory(self._cache_ns)
                self._histories[child] = history
            self._known |= {parent, child}
            if history.insert(nanoseconds(transform.header.stamp), Sample(parent, canonical(motion))):
                self._authorities[child] = authority
            else:
                self._logger.warning(f"Ignoring data from the past for frame '{child}' of authority '{authority}'")

    def lookup_transform_core(self, target_frame: str, source_frame: str, time: AnyTime) -> TransformStamped:
        """`T_target_source` at a time; 0 is the newest time that all frames in between have data for."""
        with self._lock:
            motion, time_ns = self._lookup(target_frame, source_frame, nanoseconds(time))
        return _message(target_frame, source_frame, motion, time_ns)

    def lookup_transform_full_core(
        self, target_frame: str, target_time: AnyTime, source_frame: str, source_time: AnyTime, fixed_frame: str
    ) -> TransformStamped:
        """`T_target_source` between two times, over a frame that is taken as fixed between them."""
        with self._lock:
            for argument, frame in (("target", target_frame), ("source", source_frame), ("fixed", fixed_frame)):
                self._validate(frame, f"lookupTransform argument {argument}_frame")
            T_fixed_source, _ = self._lookup(fixed_frame, source_frame, nanoseconds(source_time))
            T_target_fixed, time_ns = self._lookup(target_frame, fixed_frame, nanoseconds(target_time))
        return _message(target_frame, source_frame, composed(T_target_fixed, T_fixed_source), time_ns)

    def can_transform_core(self, target_frame: str, source_frame: str, time: AnyTime) -> tuple[bool, str]:
        """Whether a look-up would succeed, and why not."""
        try:
            self.lookup_transform_core(target_frame, source_frame, time)
        except TransformException as reason:
            return False, str(reason)
        return True, ""

    def can_transform_full_core(
        self, target_frame: str, target_time: AnyTime, source_frame: str, source_time: AnyTime, fixed_frame: str
    ) -> tuple[bool, str]:
        """Whether a look-up between two times would succeed, and why not."""
        try:
            self.lookup_transform_full_core(target_frame, target_time, source_frame, source_time, fixed_frame)
        except TransformException as reason:
            return False, str(reason)
        return True, ""

    def get_latest_common_time(self, target_frame: str, source_frame: str) -> Time:
        """The newest time that all frames between two have data for; 0 where that is any time."""
        with self._lock:
            for frame in (target_frame, source_frame):
                self._validate(frame, "get_latest_common_time")
            return Time(nanoseconds=self._latest_common_ns(target_frame, source_frame))

    def clear(self) -> None:
        """Forget all moving transforms."""
        with self._lock:
            for history in self._histories.values():
                history.clear()

    def all_frames_as_yaml(self) -> str:
        """The tree with rates and times, as YAML."""
        lines = []
        with self._lock:
            for frame, history in self._histories.items():
                latest = history.latest()
                if latest is None:
                    continue
                oldest_ns, newest_ns = history.span_ns()
                lines += [
                    f"{frame}: ",
                    f"  parent: '{latest.parent}'",
                    f"  broadcaster: '{self._authorities.get(frame, 'no recorded authority')}'",
                    f"  rate: {len(history) * 1e9 / max(newest_ns - oldest_ns, 100_000):.3f}",
                    f"  most_recent_transform: {newest_ns / 1e9:.6f}",
                    f"  oldest_transform: {oldest_ns / 1e9:.6f}",
                    f"  buffer_length: {(newest_ns - oldest_ns) / 1e9:.3f}",
                ]
        return "".join(f"{line}\n" for line in lines) or "[]"

    def all_frames_as_string(self) -> str:
        """One line for each frame that has a parent."""
        with self._lock:
            parents = {frame: history.latest() for frame, history in self._histories.items()}
        return "".join(f"Frame {frame} exists with parent {at.parent}.\n" for frame, at in parents.items() if at)

    def _validate(self, frame: str, where: str) -> None:
        if not frame:
            raise InvalidArgumentException(
                f'Invalid argument "{frame}" passed to {where} - in tf2 frame_ids cannot be empty'
            )
        if frame.startswith("/"):
            raise InvalidArgumentException(
                f"Invalid argument \"{frame}\" passed to {where} - in tf2 frame_ids cannot start with a '/'"
            )
        if frame not in self._known:
            raise LookupException(f'"{frame}" passed to {where} does not exist. ')

    def _lookup(self, target: str, source: str, time_ns: int) -> tuple[Motion, int]:
        """`T_target_source` and the time it is for."""
        if target == source:
            history = self._histories.get(target)
            return IDENTITY, time_ns or (history.span_ns()[1] if history else 0)
        self._validate(target, "lookupTransform argument target_frame")
        self._validate(source, "lookupTransform argument source_frame")
        time_ns = time_ns or self._latest_common_ns(target, source)
        from_source, from_target = self._paths(target, source, time_ns)
        return composed(inverted(_along(from_target)), _along(from_source)), time_ns

    def _paths(self, target: str, source: str, time_ns: int) -> tuple[list[Motion], list[Motion]]:
        """The motions from the source up, and from the target up, to the frame where the two ways meet."""
        gap, frame = None, source
        from_source: list[Motion] = []
        while (history := self._histories.get(frame)) is not None and frame != target:
            try:
                sample = history.at(time_ns)
            except ExtrapolationException as reason:
                gap = reason  # of no matter if the target lies below this frame
                break
            from_source.append(sample.motion)
            frame = self._parent(sample, from_source)
        top, frame = frame, target
        from_target: list[Motion] = []
        while frame != top and (history := self._histories.get(frame)) is not None:
            if frame == source:
                return [], from_target
            try:
                sample = history.at(time_ns)
            except ExtrapolationException as reason:
                raise _between(reason, source, target) from None
            from_target.append(sample.motion)
            frame = self._parent(sample, from_target)
        if frame == top:
            return from_source, from_target
        raise _between(gap, source, target) if gap else _unconnected(source, target)

    def _latest_common_ns(self, target: str, source: str) -> int:
        """The oldest of the newest times on the way between two frames, of those that move; 0 where none does."""
        above_source = self._climb(source, {target})
        depth_of = {frame: depth for depth, (frame, _) in enumerate(above_source)}
        above_target = self._climb(target, set(depth_of))
        meeting = depth_of.get(above_target[-1][0])
        if meeting is None:
            raise _unconnected(source, target)
        stamps = [stamp for _, stamp in above_source[1 : meeting + 1] + above_target[1:] if stamp]
        return min(stamps, default=0)

    def _climb(self, frame: str, goals: set[str]) -> list[tuple[str, int]]:
        """The frame and those above it by what is newest, up to a goal, each with the stamp of the way to it."""
        chain = [(frame, 0)]
        while frame not in goals and (history := self._histories.get(frame)) and (latest := history.latest()):
            chain.append((latest.parent, latest.stamp_ns))
            frame = latest.parent
            if len(chain) > MAX_DEPTH:
                raise self._loop()
        return chain

    def _loop(self) -> LookupException:
        return LookupException(f"The tf tree is invalid because it contains a loop.\n{self.all_frames_as_string()}")

    def _parent(self, sample: Sample, path: list[Motion]) -> str:
        if len(path) > MAX_DEPTH:
            raise self._loop()
        return sample.parent


def _fault(parent: str, child: str, motion: Motion) -> str | None:
    """Why a transform cannot be taken."""
    if not child:
        return "child_frame_id is not set"
    if not parent:
        return "frame_id is not set"
    if parent == child:
        return "frame_id and child_frame_id are the same"
    if any(math.isnan(value) for value in motion.translation):
        return f"it has a nan in its translation {motion.translation}"
    if not abs(sum(value * value for value in motion.quat_xyzw) - 1.0) <= QUATERNION_TOLERANCE:
        return f"its quaternion {motion.quat_xyzw} is no rotation"
    return None


def _along(motions: list[Motion]) -> Motion:
    """The motion up a way: the first leads up from the lowest frame."""
    return reduce(lambda below, above: composed(above, below), motions, IDENTITY)


def _between(reason: ExtrapolationException, source: str, target: str) -> ExtrapolationException:
    return ExtrapolationException(f"{reason}, when looking up transform from frame [{source}] to frame [{target}]")


def _unconnected(source: str, target: str) -> ConnectivityException:
    return ConnectivityException(
        f"Could not find a connection between '{target}' and '{source}' because they are not part of the same tree."
        "Tf has two or more unconnected trees."
    )


def nanoseconds(time: AnyTime | AnyDuration) -> int:
    """Return a time or a duration, of rclpy or of a message, in nanoseconds."""
    if isinstance(time, TimeMessage | DurationMessage):
        return int(time.sec) * 1_000_000_000 + int(time.nanosec)
    return int(time.nanoseconds)


def _message(target: str, source: str, motion: Motion, time_ns: int) -> TransformStamped:
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = target, source
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time_ns, 1_000_000_000)
    (x, y, z), (qx, qy, qz, qw) = canonical(motion)
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = x, y, z
    q.x, q.y, q.z, q.w = qx, qy, qz, qw
    return message
