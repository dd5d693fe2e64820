# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rate limit for repeated reports, with a count of the suppressed ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from typing import NamedTuple

from robot_semantics.base.caches import LruCache

PERIOD_S = 5.0
"""Shortest time between two reports of the same kind [s]."""


class _Period(NamedTuple):
    since_s: float
    passed: int
    held_back: int


class Throttle:
    """Rate limit: lets `burst` reports of each kind pass in a period. It remembers the most recent kinds."""

    def __init__(self, burst: int = 1, period_s: float = PERIOD_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._period_s, self._clock = burst, period_s, clock
        self._kinds: LruCache[Hashable, _Period] = LruCache(256)

    def admit(self, kind: Hashable) -> int | None:
        """Return None if it is too soon; else the number of suppressed reports of this kind since the last one that
        passed.
        """
        now_s = self._clock()
        period = self._kinds.get(kind) or _Period(-math.inf, 0, 0)
        if now_s - period.since_s >= self._period_s:
            self._kinds.put(kind, _Period(now_s, 1, 0))
            return period.held_back
        if period.passed < self._burst:
            self._kinds.put(kind, period._replace(passed=period.passed + 1))
            return period.held_back
        self._kinds.put(kind, period._replace(held_back=period.held_back + 1))
        return None

    def admit_sentence(self, kind: Hashable, sentence: str) -> str | None:
        """Return the sentence with the number of suppressed ones; None if it is too soon."""
        more = self.admit(kind)
        if not more:
            return None if more is None else sentence
        return f"{sentence} ({more} more of this kind since the last such report)"
