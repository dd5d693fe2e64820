"""Saying each kind of thing seldom, and counting what is left out in between."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

REPEAT_AFTER_S = 5.0
"""A thing of the same kind is said again only after so long [s]."""


class Throttle:
    """Lets one thing of each kind pass in a while. Kinds beyond `most` push out the one that was longest silent."""

    def __init__(
        self, period_s: float = REPEAT_AFTER_S, most: int = 256, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._period_s, self._most, self._clock = period_s, most, clock
        self._kinds: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()
        """Kind → when it last passed, and how many have been held back since."""

    def admit(self, kind: Hashable) -> int | None:
        """Return None where it is too soon; else how many of this kind were held back since the last that passed."""
        now_s = self._clock()
        passed_s, held_back = self._kinds.get(kind, (-self._period_s, 0))
        if now_s - passed_s < self._period_s:
            self._kinds[kind] = passed_s, held_back + 1
            return None
        self._kinds[kind] = now_s, 0
        self._kinds.move_to_end(kind)
        if len(self._kinds) > self._most:
            self._kinds.popitem(last=False)
        return held_back
