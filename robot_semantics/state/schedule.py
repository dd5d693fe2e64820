# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""When: whether the stamps of a sender go forward, and which joints' transforms are due."""

from __future__ import annotations

import numpy as np

from robot_semantics.transforms.arrays import BoolArray, IntArray

NEVER_NS = -(1 << 62)
"""Stamp of what has not happened yet; differences to it do not overflow 64 bits."""


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

    def is_late(self, stamp_ns: int) -> bool:
        """Tell of a stamp before the last one whether its message is late, or the sender's clock has been set back."""
        if self.suspect_ns is not None and stamp_ns >= self.suspect_ns:
            return False
        self.suspect_ns = stamp_ns
        return True

    def accept(self, stamp_ns: int) -> None:
        """Make a stamp the newest."""
        self.last_ns = stamp_ns
        self.suspect_ns = None


_FAR_NS = 1 << 62


class SenderJoints:
    """Joints that one sender's messages give: while nothing else happens to them, one number says when all were sent.

    Attributes:
        joints: (m,) bool, which of the moving joints they are.
        stamp_ns: of the last transforms of all of them; `NEVER_NS` where they were sent apart, or cannot be sent.
        quiet_until_ns: up to this stamp no other joint has been silent for so long that it is to be repeated.

    """

    __slots__ = ("joints", "quiet_until_ns", "stamp_ns")

    def __init__(self, joints: BoolArray) -> None:
        self.joints = joints
        self.stamp_ns = NEVER_NS
        self.quiet_until_ns = NEVER_NS


class Schedule:
    """When each of a robot's moving joints was last published."""

    def __init__(self, count: int, interval_ns: int, complete_after_ns: int) -> None:
        """`interval_ns` is the least time between two transforms of one joint, `complete_after_ns` that of silence."""
        self._interval_ns, self._complete_after_ns = interval_ns, complete_after_ns
        self._published_ns = np.full(count, NEVER_NS, np.int64)
        self._groups: list[SenderJoints] = []

    def joints_of_sender(self, joints: BoolArray) -> SenderJoints:
        """Return a new group of joints, which `forget_sender` takes away again."""
        group = SenderJoints(joints)
        self._groups.append(group)
        return group

    def forget_sender(self, group: SenderJoints) -> None:
        """Take a group away; it says nothing any more."""
        self._spread()
        self._groups.remove(group)
        group.stamp_ns = NEVER_NS

    def forget(self) -> None:
        """Take all joints for never published, after a jump of the clock."""
        self._published_ns[:] = NEVER_NS
        for group in self._groups:
            group.stamp_ns = NEVER_NS

    def separate(self) -> None:
        """Look at every joint by itself next time: others can be published than before."""
        self._spread()
        for group in self._groups:
            group.stamp_ns = NEVER_NS

    def due(self, joints: BoolArray, stamp_ns: int) -> BoolArray:
        """Return (m,) those of `joints` whose transforms are due at a time, and take them for published."""
        self._spread()
        joints = joints & (stamp_ns - self._published_ns >= self._interval_ns)
        self._published_ns[joints] = stamp_ns
        self._separate_those_with(joints)
        return joints

    def unite(self, group: SenderJoints, able: BoolArray, stamps_ns: IntArray) -> None:
        """Find out what holds for a group as a whole; `able` joints can be published, `stamps_ns` are their values'."""
        self._spread()
        published_ns = self._published_ns[group.joints]
        same = len(published_ns) and (published_ns == published_ns[0]).all() and able[group.joints].all()
        # The same joint must not be in two groups that go their own ways.
        self._separate_those_with(group.joints)
        group.stamp_ns = int(published_ns[0]) if same else NEVER_NS
        others = able & ~group.joints
        silent_ns = np.maximum(stamps_ns, self._published_ns + self._interval_ns)[others].min(initial=_FAR_NS)
        group.quiet_until_ns = int(silent_ns) + self._complete_after_ns

    def _separate_those_with(self, joints: BoolArray) -> None:
        for group in self._groups:
            if (group.joints & joints).any():
                group.stamp_ns = NEVER_NS

    def _spread(self) -> None:
        for group in self._groups:
            if group.stamp_ns != NEVER_NS:
                self._published_ns[group.joints] = group.stamp_ns
