# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The fast path from joint states to transforms, for messages that differ from an earlier one only in numbers.

Any other message takes the general path (`RunningRobot.joint_state`). Values are parsed later, on demand. A message
with 40 joints takes 4 µs here and 52 µs on the general path; with 200 joints
9 and 62 µs (one process, warm caches). The node needs about 130 µs for a message in total (doc/measurements.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic_ns

import numpy as np

from robot_semantics.cdr.fill import TransformMessage, pack_stamp, unpack_stamp
from robot_semantics.cdr.joint_states import JointStateData, JointStateRepeater
from robot_semantics.cdr.walk import AFTER_STAMP, BODY
from robot_semantics.kinematics.joint_space import Affine, JointSpace
from robot_semantics.kinematics.local import InPlaceTransforms
from robot_semantics.live.buffer import JointBuffer, LoopCloser
from robot_semantics.live.joint_state import InputPlan, take_joint_state
from robot_semantics.live.senders import JUMP_NS, NEVER_NS, RESET_NS, MessageStream, Senders
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import BoolArray

_NOT_FINITE, _NEGATIVE_NOT_FINITE = 0x7F, 0xFF
"""Most significant byte of infinity and NaN, and of numbers above 2**1009."""

_MAX_LAYOUTS = 64
_MAX_BYTES = 250_000
"""Longer messages take the general path: this one keeps two copies of each layout."""


class FastLayout:
    """Messages of one stream with the same length and the same offset of the positions.

    Attributes:
        count: number of transforms in a message.
        stream: the stream.
        sender: the sender of the stream.
        unparsed: the newest message, its stamp, and its time of arrival. It is None after parsing.

    """

    __slots__ = (
        "_advances",
        "_arrivals_ns",
        "_buffer",
        "_compared",
        "_effort_count",
        "_heads",
        "_interval_ns",
        "_into",
        "_loops",
        "_message",
        "_named",
        "_offset",
        "_path",
        "_positions",
        "_repeater",
        "_top_bytes",
        "_transforms",
        "_values",
        "_velocity_count",
        "count",
        "epoch",
        "sender",
        "stream",
        "unparsed",
    )

    def __init__(
        self,
        model: RobotModel,
        stream: MessageStream,
        first: JointStateData,
        buffer: JointBuffer,
        path: FastPath,
        joints: Sequence[int],
        frames: Sequence[tuple[str, str]],
        loops: LoopCloser | None,
    ) -> None:
        """Prepare for messages like `first`.

        The transforms are those of the `joints` with these indices in the model, and these frames.
        `loops` is None if the message has no joint of a loop.
        """
        self.stream, self.sender, self.epoch = stream, stream.sender, path.epoch
        self._buffer, self._path = buffer, path
        self._advances, self._arrivals_ns = path.senders.advances, path.senders.arrivals_ns
        self._interval_ns, self.count = path.interval_ns, len(frames)
        self._repeater = repeater = JointStateRepeater(first)
        self._offset, self._heads = repeater.offset, repeater.heads
        self._into, self._positions = repeater.buffer, repeater.positions
        self._velocity_count, self._effort_count = repeater.velocity_count, repeater.effort_count
        self._top_bytes = slice(self._offset + 7, self._offset + 8 * len(stream.plan.names), 8)
        self._message = TransformMessage(frames)
        raw = self._message
        self._values, self._loops = _values_of(model, stream.plan), loops
        self._compared = np.zeros(0, np.intp) if loops is None else loops.compared(stream.plan.joints)
        self._named = stream.plan.joints[buffer.moving.of_variable]
        values = self._values if loops is None else None
        self._transforms = InPlaceTransforms(model, joints, raw.slots, raw.places, raw.staging_array, values)
        self.unparsed: tuple[bytes, int, int] | None = None

    def fits(self, first: JointStateData) -> bool:
        """Return True if a message of the same stream has this layout."""
        return self._offset == first.position_at and len(self._into) == len(first.data)

    def take(
        self, data: bytes, now: Callable[[], int], sequence: int | None = None, received_ns: int | None = None
    ) -> bytes | bytearray | None:
        """Take a message and return the transforms to send: empty if none are due, None for the general path.

        They are valid until the next call. `now` gives the node's time [ns], asked only for messages without a stamp.
        `sequence` is the publication sequence number, if the middleware tells it; `received_ns` the time of arrival
        on the steady clock, by default now.
        """
        if self.epoch != self._path.epoch:
            return None
        # One function with few calls: `kinematics.in_place` has the reason.
        head = data[AFTER_STAMP : self._offset]
        if head not in self._heads and not self._repeater.knows(head):
            return None
        try:
            self._into[:] = data
        except ValueError:
            # Another length, for example a message with velocities.
            return None
        seconds, nanoseconds = unpack_stamp(data, BODY)
        stamp, stamp_ns = data[BODY:AFTER_STAMP], seconds * 1_000_000_000 + nanoseconds
        if not stamp_ns:
            stamp_ns = now()
            stamp = pack_stamp(*divmod(stamp_ns, 1_000_000_000))
        sender = self.sender
        step_ns, watch = stamp_ns - sender.last_ns, sender.watch
        if not 0 <= step_ns <= RESET_NS or (sequence and sequence <= watch.sequence):
            return None
        if received_ns is None:
            received_ns = monotonic_ns()
        arrivals_ns = self._arrivals_ns
        if step_ns > received_ns - arrivals_ns[sender.number] + JUMP_NS:
            return None
        (velocities, count), (efforts, other) = self._velocity_count, self._effort_count
        if data[velocities] != count or data[efforts] != other:
            return None
        top_bytes = data[self._top_bytes]
        if _NOT_FINITE in top_bytes or _NEGATIVE_NOT_FINITE in top_bytes:
            return None
        if sequence:
            watch.sequence = sequence
            if sender.shared is not None:
                sender.shared.note_sequence(sequence)
        watch.count += 1
        sender.last_ns = stamp_ns
        sender.arrived_ns = received_ns
        sender.arrivals.append(received_ns)
        sender.total += 1
        advances = self._advances
        advances[sender.number] += step_ns
        sender.seen, sender.seen_arrivals_ns = advances[:], arrivals_ns[:]
        arrivals_ns[sender.number] = received_ns
        self.unparsed = data, stamp_ns, received_ns
        if stamp_ns - sender.published_ns < self._interval_ns:
            return b""
        sender.published_ns = stamp_ns
        positions = self._positions
        if self._loops is not None:
            named = self._values(positions)
            positions = self._loops.closed(np.where(self._named, named, self._buffer.positions), self._compared)
        self._transforms.update(positions)
        return self._message.stamped(stamp)

    def parse(self) -> None:
        """Store the values of the newest message, if they are not stored yet."""
        if self.unparsed is None:
            return
        (data, stamp_ns, received_ns), self.unparsed = self.unparsed, None
        read = self._repeater.read(data, stamp_ns)
        (values,) = take_joint_state(read.names, read.position, read.velocity, read.effort).values
        joints = self._buffer.put_joint_state(self.stream.plan, values, stamp_ns, received_ns)
        if self._loops is not None:
            self._loops.update(joints)


class FastPath:
    """The layouts of one robot's joint states that take the fast path, the newest first.

    Attributes:
        layouts: the layouts.
        epoch: a layout of an earlier epoch leaves its next message to the general path, which renews the layout.
        senders: the senders of the robot.
        interval_ns: least time between two messages with the transforms of one sender.
    """

    def __init__(self, model: RobotModel, buffer: JointBuffer, senders: Senders, interval_ns: int) -> None:
        self._model, self._buffer = model, buffer
        self.senders, self.interval_ns = senders, interval_ns
        self.layouts: tuple[FastLayout, ...] = ()
        self.epoch = 0

    def parse(self) -> None:
        """Store the values of all messages that were not parsed yet."""
        waiting = [layout for layout in self.layouts if layout.unparsed is not None]
        for layout in sorted(waiting, key=_arrival_ns):
            layout.parse()

    def enter(
        self,
        stream: MessageStream,
        data: JointStateData,
        publishable: BoolArray,
        frames_of: Callable[[BoolArray], tuple[list[int], list[tuple[str, str]]]],
        loops: LoopCloser | None,
    ) -> None:
        """Add a layout for messages like `data`, which took the general path, if such messages can take the fast one.

        Args:
            stream: of the message.
            data: the message.
            publishable: (m,) joints whose transforms can be published.
            frames_of: gives the joints' indices in the model and their frames.
            loops: closes the loops of the robot; None if there are none.
        """
        joints = stream.plan.joints
        if loops is not None and (joints & loops.joints).any():
            if not loops.is_following:
                return
            joints = joints | loops.joints
        else:
            loops = None
        if not 0 < len(data.data) <= _MAX_BYTES or stream.plan.floating or not publishable[joints].all():
            return
        if stream.sender.published_ns == NEVER_NS or (joints != stream.joints).any():
            return
        layout = next((one for one in self.layouts if one.stream is stream and one.fits(data)), None)
        if layout is None:
            layout = FastLayout(self._model, stream, data, self._buffer, self, *frames_of(joints), loops)
        layout.epoch, layout.sender = self.epoch, stream.sender
        others = [other for other in self.layouts if other is not layout]
        for other in others[_MAX_LAYOUTS - 1 :]:
            other.parse()
        self.layouts = (layout, *others[: _MAX_LAYOUTS - 1])


def _arrival_ns(layout: FastLayout) -> int:
    return layout.unparsed[2] if layout.unparsed is not None else 0


def _values_of(model: RobotModel, plan: InputPlan) -> Affine:
    mapping = Affine.identity(JointSpace.of(model).size)
    followers = plan.followers
    mapping.source[:] = 0
    mapping.source[plan.target] = plan.source
    mapping.source[followers.target] = mapping.source[followers.values.source]
    mapping.factor[followers.target] = followers.values.factor
    mapping.offset[followers.target] = followers.values.offset
    return mapping
