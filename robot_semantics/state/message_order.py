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

import numpy as np

from robot_semantics.state.schedule import NEVER_NS
from robot_semantics.transforms.arrays import IntArray

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
