# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The shortest way of a joint state to TF: from the bytes of one message straight to the bytes of the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic_ns

from robot_semantics.kinematics.in_place import Given, InPlaceTransforms
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.cdr import (
    AFTER_STAMP,
    BODY,
    JointStateData,
    JointStateRepeater,
    TransformMessage,
    pack_stamp,
    unpack_stamp,
)
from robot_semantics.state.joint_buffer import JointBuffer
from robot_semantics.state.joint_input import InputPlan
from robot_semantics.state.schedule import NEVER_NS, SenderJoints, TimeOrder

_TOP, _NEGATIVE_TOP = 0x7F, 0xFF
"""The most significant byte of infinity and NaN, and of numbers above 2**1009, which are no positions either."""


class DirectPath:
    """Takes messages that differ from ones seen before in their stamp and numbers alone.

    Whatever is unusual about a message it leaves, with nothing changed, to the general way, which knows what to do.

    Attributes:
        count: number of transforms in a message.

    """

    __slots__ = (
        "_at",
        "_buffer",
        "_effort_count",
        "_group",
        "_heads",
        "_interval_ns",
        "_into",
        "_message",
        "_order",
        "_plan",
        "_positions",
        "_repeater",
        "_tops",
        "_transforms",
        "_velocity_count",
        "count",
    )

    def __init__(
        self,
        model: RobotModel,
        plan: InputPlan,
        first: JointStateData,
        buffer: JointBuffer,
        order: TimeOrder,
        group: SenderJoints,
        joints: Sequence[int],
        frames: Sequence[tuple[str, str]],
        publish_interval_ns: int,
    ) -> None:
        """Prepare for messages like `first`; what comes of them goes to `buffer`, `order` and `group`."""
        self._plan, self._buffer, self._order, self._group = plan, buffer, order, group
        self._interval_ns, self.count = publish_interval_ns, len(frames)
        self._repeater = repeater = JointStateRepeater(first)
        self._at, self._heads = repeater.at, repeater.heads
        self._into, self._positions = repeater.buffer, repeater.positions
        self._velocity_count, self._effort_count = repeater.velocity_count, repeater.effort_count
        self._tops = slice(self._at + 7, self._at + 8 * len(plan.names), 8)
        self._message = TransformMessage(frames)
        given = _given(model, plan)
        raw = self._message
        self._transforms = InPlaceTransforms(model, joints, raw.slots, raw.places, raw.staging_array, given)

    def take(self, data: bytes, now: Callable[[], int]) -> bytes | bytearray | None:
        """Take over a message and return the transforms to send, empty if none are due, None if it is not for us.

        They hold until the next call. `now` gives the node's time [ns], asked only for messages without a stamp.
        """
        # All in one piece, with few calls: see `kinematics.in_place` for why.
        head = data[AFTER_STAMP : self._at]
        if head not in self._heads and not self._repeater.knows(head):
            return None
        try:
            self._into[:] = data
        except ValueError:
            # Of another length: with velocities, for once, or without.
            return None
        seconds, nanoseconds = unpack_stamp(data, BODY)
        stamp, stamp_ns = data[BODY:AFTER_STAMP], seconds * 1_000_000_000 + nanoseconds
        if not stamp_ns:
            stamp_ns = now()
            stamp = pack_stamp(*divmod(stamp_ns, 1_000_000_000))
        order, group = self._order, self._group
        if stamp_ns < order.last_ns:
            return None
        # Some were published apart from the others, or a joint that is in no such message is to be looked after.
        if group.stamp_ns == NEVER_NS or stamp_ns >= group.quiet_until_ns:
            return None
        (velocities, count), (efforts, other) = self._velocity_count, self._effort_count
        if data[velocities] != count or data[efforts] != other:
            return None
        tops = data[self._tops]
        if _TOP in tops or _NEGATIVE_TOP in tops:
            return None
        order.last_ns, order.suspect_ns = stamp_ns, None
        buffer, plan = self._buffer, self._plan
        if buffer.unread is None or buffer.unread[0] is not plan:
            buffer.catch_up()
        buffer.unread = plan, self._repeater, data, stamp_ns, monotonic_ns()
        if stamp_ns - group.stamp_ns < self._interval_ns:
            return b""
        group.stamp_ns = stamp_ns
        self._transforms.update(self._positions)
        return self._message.stamped(stamp)


def _given(model: RobotModel, plan: InputPlan) -> Given:
    given = Given.straight(JointSpace.of(model))
    given.source[:] = 0
    given.source[plan.target] = plan.source
    given.source[plan.mimic_target] = given.source[plan.mimic_source]
    given.factor[plan.mimic_target] = plan.multiplier
    given.offset[plan.mimic_target] = plan.offset
    return given
