# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Streams of joint states: messages with one list of names, with their input plan and the order of their stamps."""

from __future__ import annotations

from collections.abc import Callable

from robot_semantics.base.foreign_text import shown
from robot_semantics.base.lru_cache import LruCache
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.joint_input import InputPlan, MovingJoints, Refusal, make_plan
from robot_semantics.state.message_order import MessageOrder
from robot_semantics.state.schedule import NEVER_NS
from robot_semantics.transforms.arrays import BoolArray

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
