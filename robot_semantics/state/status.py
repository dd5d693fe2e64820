# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What has come in and gone out, counted; and the log of refused messages, which says each kind of thing seldom."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable

from robot_semantics.base.throttle import Throttle
from robot_semantics.state.joint_input import Reason, Refusal


class Traffic:
    """Counters of one robot since the start.

    Attributes:
        received: joint-state messages that came in, refused ones included.
        refused_joint_states: how many of them were refused.
        transforms: transforms sent on /tf.
        refused: refused messages of any topic by reason.
        last_errors: the newest sentences of the log, newest first.

    """

    __slots__ = ("last_errors", "received", "refused", "refused_joint_states", "transforms")

    def __init__(self) -> None:
        self.received = 0
        self.refused_joint_states = 0
        self.transforms = 0
        self.refused: Counter[Reason] = Counter()
        self.last_errors: deque[str] = deque(maxlen=10)

    @property
    def used(self) -> int:
        """Joint-state messages that were taken over."""
        return self.received - self.refused_joint_states


class RefusalLog:
    """Counts refused messages and logs each kind seldom."""

    def __init__(
        self,
        traffic: Traffic,
        log: Callable[[str], None],
        publishers: Callable[[str], list[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`publishers` gives the names of the nodes that publish on a topic."""
        self._traffic, self._log, self._publishers = traffic, log, publishers
        self._throttle = Throttle(clock=clock)

    def add(self, topic: str, refusal: Refusal) -> None:
        """Count one refused message and, if it is time, log it with the names of its possible senders."""
        self._traffic.refused[refusal.reason] += 1
        sentence = self._throttle.admitted((topic, refusal.reason), refusal.message)
        if sentence is not None:
            self._log(f"refused a message on {topic} from {self._senders(topic)}: {sentence}")

    def _senders(self, topic: str) -> str:
        return " or ".join(sorted(set(self._publishers(topic)))) or "a publisher that has gone"
