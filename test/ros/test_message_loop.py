# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The loop that takes the frequent messages: none is left lying, however they come, and it ends when told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from std_msgs.msg import String
from support.patience import PATIENCE_S

from robot_semantics.ros.node.message_loop import ArrivalClock, MessageLoop

pytestmark = pytest.mark.ros

# Around the time that a wait after a message lasts at most, and far from it.
PAUSES_S = (0.0, 0.0, 0.05, 0.199, 0.2, 0.201, 0.0, 0.21, 0.45, 0.19, 0.2, 0.2)


class Heard:
    """Messages passed to a loop, and a way to wait for them."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._changed = threading.Condition()

    def take(self, message: String) -> None:
        with self._changed:
            self.texts.append(message.data)
            self._changed.notify_all()

    def until(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.texts) >= count, PATIENCE_S), self.texts


@pytest.fixture
def node(domain: int) -> Iterator[Any]:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("loop", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


@pytest.mark.parametrize("topics", [("a",), ("a", "b")], ids=["one", "several"])
def test_every_message_is_taken_whenever_it_comes(node: Any, topics: tuple[str, ...]) -> None:
    heard = Heard()
    loop = MessageLoop(node.context)
    publishers = [node.create_publisher(String, topic, 100) for topic in topics]
    subscriptions = [node.create_subscription(String, topic, heard.take, 100) for topic in topics]
    loop.start(subscriptions)
    sent = []
    for round_number in range(2):
        for number, pause_s in enumerate(PAUSES_S):
            threading.Event().wait(pause_s)
            sent.append(f"{round_number} {number}")
            publishers[number % len(publishers)].publish(String(data=sent[-1]))
        heard.until(len(sent))
        assert sorted(heard.texts) == sorted(sent)
        # Stopped and started again it goes on, whether messages have just come or not for a while.
        loop.stop()
        loop.start(subscriptions)
    threading.Event().wait(0.5)
    loop.stop()


S = 1_000_000_000


@pytest.mark.parametrize("step_s", [-7200.0, -30.0, -3.0, 0.0, 3.0, 30.0, 7200.0])
@pytest.mark.parametrize("waited_s", [0.0, 0.5, 4.9, 5.1, 60.0])
def test_an_arrival_is_known_however_long_the_message_waited_and_whenever_the_clock_was_set(
    step_s: float, waited_s: float
) -> None:
    # Both clocks of a machine whose system clock is set 1000 s after its start; the process reads them each second.
    def system_ns(steady_s: float) -> int:
        return int((1.7e9 + steady_s + (step_s if steady_s >= 1000.5 else 0.0)) * S)

    clock = ArrivalClock(system_ns(0.0))
    for steady_s in range(900, 1200):
        arrived_s = steady_s - waited_s
        # A step that is shorter than the wait makes two times possible: the later one is returned.
        is_before = arrived_s < 1000.5 <= steady_s and -waited_s < step_s < 0.0
        is_after = 1000.5 <= arrived_s < 1001.0 and 0.0 < step_s < waited_s
        arrival_s = clock.arrived_ns(system_ns(arrived_s), system_ns(steady_s), steady_s * S) / S
        assert arrival_s <= steady_s
        if not is_before and not is_after:
            assert arrival_s == pytest.approx(arrived_s, abs=1e-5)
