# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What a buffer remembers of one frame: where it was in its parent, and when."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple, Protocol

from tf2_ros.exceptions import ExtrapolationException
from tf2_ros.rigid_motion import Motion, interpolated


class Sample(NamedTuple):
    """Where a frame is in its parent."""

    parent: str
    motion: Motion  # T_parent_frame


class Latest(NamedTuple):
    """The newest that is known of a frame; a time of 0 stands for any time."""

    stamp_ns: int
    parent: str


class History(Protocol):
    """One frame over time."""

    def insert(self, stamp_ns: int, sample: Sample) -> bool:
        """Add a sample; False where it is too old to be kept."""

    def at(self, time_ns: int) -> Sample:
        """The frame at a time, interpolated; 0 is the newest. Outside of what is known: ExtrapolationException."""

    def latest(self) -> Latest | None:
        """The newest sample's time and parent."""

    def span_ns(self) -> tuple[int, int]:
        """Time of the oldest and of the newest sample."""

    def clear(self) -> None:
        """Forget what is not true for all time."""

    def __len__(self) -> int:
        """How many samples there are."""


class StaticHistory:
    """A frame that never moves: the last sample holds at any time."""

    def __init__(self) -> None:
        self._sample: Sample | None = None

    def insert(self, stamp_ns: int, sample: Sample) -> bool:
        self._sample = sample
        return True

    def at(self, time_ns: int) -> Sample:
        if self._sample is None:
            raise ExtrapolationException("the frame has no transform")
        return self._sample

    def latest(self) -> Latest | None:
        return None if self._sample is None else Latest(0, self._sample.parent)

    def span_ns(self) -> tuple[int, int]:
        return 0, 0

    def clear(self) -> None:
        """A static transform outlives a clearing of the buffer."""

    def __len__(self) -> int:
        return 1


class MovingHistory:
    """A frame that moves: samples in the order of their time, back to the newest less the length of the memory."""

    def __init__(self, length_ns: int) -> None:
        self._length_ns = length_ns
        self._stamps: list[int] = []
        self._samples: list[Sample] = []

    def insert(self, stamp_ns: int, sample: Sample) -> bool:
        oldest = self._stamps[-1] - self._length_ns if self._stamps else stamp_ns
        drop = bisect_left(self._stamps, oldest)
        del self._stamps[:drop], self._samples[:drop]
        if stamp_ns < oldest:
            return False
        place = bisect_right(self._stamps, stamp_ns)
        same = bisect_left(self._stamps, stamp_ns)
        if sample not in self._samples[same:place]:
            self._stamps.insert(place, stamp_ns)
            self._samples.insert(place, sample)
        return True

    def at(self, time_ns: int) -> Sample:
        stamps = self._stamps
        if not stamps:
            raise ExtrapolationException("Lookup would require extrapolation, but no data is in the buffer")
        if time_ns in (0, stamps[-1]):
            return self._samples[-1]
        if time_ns == stamps[0]:
            return self._samples[0]
        asked, need = seconds(time_ns), "Lookup would require extrapolation"
        if len(stamps) == 1:
            raise ExtrapolationException(f"{need} at time {asked}, but only time {seconds(stamps[0])} is in the buffer")
        if time_ns > stamps[-1]:
            newest = seconds(stamps[-1])
            raise ExtrapolationException(
                f"{need} into the future.  Requested time {asked} but the latest data is at time {newest}"
            )
        if time_ns < stamps[0]:
            oldest = seconds(stamps[0])
            raise ExtrapolationException(
                f"{need} into the past.  Requested time {asked} but the earliest data is at time {oldest}"
            )
        newer = bisect_right(stamps, time_ns)
        one, two = self._samples[newer - 1], self._samples[newer]
        if one.parent != two.parent:
            return one
        ratio = (time_ns - stamps[newer - 1]) / (stamps[newer] - stamps[newer - 1])
        return Sample(one.parent, interpolated(one.motion, two.motion, ratio))

    def latest(self) -> Latest | None:
        return Latest(self._stamps[-1], self._samples[-1].parent) if self._stamps else None

    def span_ns(self) -> tuple[int, int]:
        return (self._stamps[0], self._stamps[-1]) if self._stamps else (0, 0)

    def clear(self) -> None:
        self._stamps.clear()
        self._samples.clear()

    def __len__(self) -> int:
        return len(self._stamps)


def seconds(time_ns: int) -> str:
    """A time as messages show it."""
    return f"{time_ns / 1e9:.6f}"
