# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The clock rule for messages with stamps, the same for the node and for recordings.

A stamp before the newest one is late. A stamp that is at least `RESET_NS` before the newest one, followed by another
such stamp in order, means that the clock was set back: a simulation was reset, or a recording is played again.
Exception: a few stamps were ahead, and the next ones continue from the time before them. Then the clock was not set
back.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import numpy as np

from robot_semantics.base.caches import LruCache
from robot_semantics.base.names import shown
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.live.joint_state import InputPlan, MovingJoints, Refusal, make_plan
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import BoolArray, IntArray

# Time of the last transform of each joint, and the joints that are due.


NEVER_NS = -(1 << 62)
"""Stamp before any message; differences to it do not overflow 64 bits."""

_FAR_NS = 1 << 62


class PublishSchedule:
    """Publish times of a robot's moving joints.

    Attributes:
        published_ns: (m,) stamp of the last transform of each joint, `NEVER_NS` before the first.
        interval_ns: least time between two transforms of one joint.
    """

    def __init__(self, count: int, interval_ns: int, complete_after_ns: int) -> None:
        """A joint that is silent for `complete_after_ns` is repeated."""
        self.interval_ns, self._complete_after_ns = interval_ns, complete_after_ns
        self.published_ns = np.full(count, NEVER_NS, np.int64)

    def forget(self) -> None:
        """Make all joints due, after a jump of the clock."""
        self.published_ns[:] = NEVER_NS

    def due(self, joints: BoolArray, stamp_ns: int) -> BoolArray:
        """Return the `joints` (m,) that are due at a time, and mark them as published."""
        joints = joints & (stamp_ns - self.published_ns >= self.interval_ns)
        self.published_ns[joints] = stamp_ns
        return joints

    def published_together_ns(self, joints: BoolArray) -> int:
        """Return the common time of the last transforms of `joints`; `NEVER_NS` if the times differ."""
        published_ns = self.published_ns[joints]
        same = len(published_ns) and (published_ns == published_ns[0]).all()
        return int(published_ns[0]) if same else NEVER_NS

    def quiet_until_ns(self, joints: BoolArray, stamps_ns: IntArray) -> int:
        """Return the time until which none of `joints`, with values of `stamps_ns` (m,), has to be repeated."""
        silent_ns = np.maximum(stamps_ns, self.published_ns + self.interval_ns)[joints].min(initial=_FAR_NS)
        return int(silent_ns) + self._complete_after_ns


RESET_NS = 1_000_000_000
"""A clock that jumps back by at least this much [ns] was reset."""


MOST_AHEAD = 3
"""At most this many messages in a row are stamped ahead of their clock; more of them are its time."""


TOGETHER_NS = 2_000_000_000
"""Resets that several publishers show within this much time of arrival are one."""


class Arrival(enum.Enum):
    """How the stamp of a message fits to the stamps before it."""

    IN_ORDER = "in order"
    LATE = "late"
    RESET = "reset"
    """The second message of a clock that was set back; the first one was reported as late."""
    RETURN = "return"
    """The second message after the stamps returned from ahead; the first one was reported as late."""


class MessageOrder:
    """Order of the messages of one publisher.

    Attributes:
        last_ns: stamp of the newest message in order, `NEVER_NS` before the first.
        suspect_ns: stamp of the message before, if that one was late by at least `RESET_NS`.
        ahead: number of messages since a jump ahead by more than `RESET_NS`; 0 after more than `MOST_AHEAD`.
    """

    __slots__ = ("_before_ns", "ahead", "last_ns", "suspect_ns")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Accept any next stamp."""
        self.last_ns = NEVER_NS
        self.suspect_ns: int | None = None
        self.ahead, self._before_ns = 0, NEVER_NS

    def take(self, stamp_ns: int) -> Arrival:
        """Return how a stamp fits to the earlier ones, and remember it."""
        back_ns = self.last_ns - stamp_ns
        if back_ns <= 0:
            arrival = Arrival.IN_ORDER
            if back_ns < -RESET_NS and self.last_ns != NEVER_NS:
                self.ahead, self._before_ns = 1, self.last_ns
            elif self.ahead:
                self.ahead = (self.ahead + 1) % (MOST_AHEAD + 1)
        elif back_ns < RESET_NS:
            self.suspect_ns = None
            return Arrival.LATE
        elif self.suspect_ns is None or stamp_ns < self.suspect_ns:
            self.suspect_ns = stamp_ns
            return Arrival.LATE
        else:
            arrival = Arrival.RETURN if self.ahead and stamp_ns >= self._before_ns else Arrival.RESET
            self.ahead = 0
        self.last_ns, self.suspect_ns = stamp_ns, None
        return arrival


def stamp_resets(stamps_ns: IntArray) -> list[tuple[int, int]]:
    """Return (index, jump back [ns]) of the first message after each reset, for stamps (n,) in order of arrival."""
    highest = np.maximum.accumulate(stamps_ns)
    far = np.flatnonzero(highest - stamps_ns >= RESET_NS)
    if not len(far):
        return []
    # Skip the stamps before the first one that is far behind; only the last jump ahead before it matters.
    first = int(far[0])
    jumps = np.flatnonzero(np.diff(highest[:first]) > RESET_NS)
    begin = int(jumps[-1]) + 1 if len(jumps) else first
    order = MessageOrder()
    order.last_ns = int(highest[begin - 1]) if begin else NEVER_NS
    for stamp_ns in stamps_ns[begin:first].tolist():
        order.take(stamp_ns)
    newest_ns = order.last_ns
    found = []
    for index, stamp_ns in enumerate(stamps_ns[first:].tolist(), first):
        if order.take(stamp_ns) is Arrival.RESET:
            found.append((index - 1, newest_ns - int(stamps_ns[index - 1])))
        newest_ns = order.last_ns
    return found


# Streams of joint states: messages with one list of names, with their input plan and the order of their stamps.


_MAX_STREAMS = 64
_MAX_NAMES = 2_000_000
"""Limit for the characters in all names that are kept."""


class MessageStream:
    """Messages with one list of names.

    Attributes:
        plan: how their values get to the robot's variables.
        order: the order of their stamps.
        shared: whether another stream has some of the same joints.
        published_ns: stamp of the last transforms of all its joints; `NEVER_NS` if they had different stamps.
        quiet_until_ns: no other joint has to be repeated before this stamp.
    """

    __slots__ = ("order", "plan", "published_ns", "quiet_until_ns", "shared")

    def __init__(self, plan: InputPlan) -> None:
        self.plan, self.order, self.shared = plan, MessageOrder(), False
        self.published_ns = self.quiet_until_ns = NEVER_NS


class MessageStreams:
    """The newest streams of one robot's joint states."""

    def __init__(
        self,
        model: RobotModel,
        space: JointSpace,
        moving: MovingJoints,
        fed_elsewhere: frozenset[str],
        report_once: Callable[[str], None],
    ) -> None:
        """Joints in `fed_elsewhere` are not taken from joint states; `report_once` takes sentences for the log."""
        self._model, self._space, self._moving, self._fed_elsewhere = model, space, moving, fed_elsewhere
        self._report_once = report_once
        self._streams: LruCache[tuple[str, ...], MessageStream | Refusal] = LruCache(
            _MAX_STREAMS, _MAX_NAMES, forgotten=_leave
        )
        self._last: tuple[tuple[str, ...], MessageStream | Refusal] | None = None

    def find(self, names: tuple[str, ...]) -> MessageStream | Refusal:
        """Return the stream of messages with these names, or the reason why such messages are refused."""
        if self._last is None or names is not self._last[0]:
            self._last = names, self._streams.get(names) or self._new(names)
        return self._last[1]

    def accept_any_stamp(self) -> None:
        """Accept any next stamp of any stream."""
        for stream in self._streams:
            if isinstance(stream, MessageStream):
                stream.order.forget()

    def leave_fast_path(self, joints: BoolArray | None = None) -> None:
        """Let the next message of every stream with one of these joints (m,) take the general path; by default of all
        streams.
        """
        for stream in self._streams:
            if isinstance(stream, MessageStream) and (joints is None or (stream.plan.joints & joints).any()):
                stream.published_ns = NEVER_NS

    def _new(self, names: tuple[str, ...]) -> MessageStream | Refusal:
        plan = make_plan(names, self._model, self._space, self._moving, self._fed_elsewhere)
        if isinstance(plan, Refusal):
            self._streams.put(names, plan, sum(map(len, names)))
            return plan
        stream = MessageStream(plan)
        for other in self._streams:
            if isinstance(other, MessageStream) and (other.plan.joints & plan.joints).any():
                other.shared = stream.shared = True
        self._streams.put(names, stream, sum(map(len, names)))
        self._report(plan)
        return stream

    def _report(self, plan: InputPlan) -> None:
        for name in plan.unknown:
            self._report_once(f"joint_states: the robot has no joint '{shown(name)}'; its values are not used")
        for name in plan.incomplete:
            self._report_once(f"joint_states: '{shown(name)}' is not used: a part of its quaternion is missing")
        for name in plan.names:
            if name in self._moving.number and name not in self._space.index:
                variables = " ".join(self._space.names[self._space.joint_positions[name]])
                self._report_once(f"joint_states: '{name}' has several values ({variables}); one alone is not used")


def _leave(stream: MessageStream | Refusal) -> None:
    if isinstance(stream, MessageStream):
        stream.published_ns = NEVER_NS
