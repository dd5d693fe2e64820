# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether the stamps of one sender go forward; a late message is told from time itself going back."""

from __future__ import annotations

import enum

NEVER_NS = -(1 << 62)
"""Stamp of what has not happened yet; differences to it do not overflow 64 bits."""


class Order(enum.Enum):
    """How a stamp stands to those before it."""

    FORWARD = "forward"
    LATE = "late"
    RESTARTED = "restarted"


class TimeOrder:
    """Watches the stamps of one sender.

    A stamp before the last one is late. Two late ones that are in order among themselves mean that the sender's clock
    has been set back, as when a recording starts anew: from there it goes on.

    Attributes:
        last_ns: stamp of the newest message in order, `NEVER_NS` before the first.
        suspect_ns: stamp of the last late message, if none in order has come since.

    """

    __slots__ = ("last_ns", "suspect_ns")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Take the next stamp for the first."""
        self.last_ns = NEVER_NS
        self.suspect_ns: int | None = None

    def look(self, stamp_ns: int) -> Order:
        """Return how a stamp stands; a message in order still has to be noted with `accept`."""
        if stamp_ns >= self.last_ns:
            return Order.FORWARD
        if self.suspect_ns is not None and stamp_ns >= self.suspect_ns:
            return Order.RESTARTED
        self.suspect_ns = stamp_ns
        return Order.LATE

    def accept(self, stamp_ns: int) -> None:
        """Make a stamp the newest."""
        self.last_ns = stamp_ns
        self.suspect_ns = None
