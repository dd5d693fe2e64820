# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Time of the last transform of each joint, and the joints that are due."""

from __future__ import annotations

import numpy as np

from robot_semantics.transforms.arrays import BoolArray, IntArray

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
