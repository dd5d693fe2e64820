# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Takes the frequent messages in its own thread with its own wait set; the executor serves everything else.

An executor makes a new wait set of all entities of the node for every message, which costs several times the work of
the callback. This thread waits only for its few subscriptions. It ends with the context.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from inspect import signature
from time import monotonic_ns, time_ns
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.client import Client
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from rclpy.waitable import Waitable

from robot_semantics.ros.running.spinning import is_up

_FOREVER = -1
_STEP_NS = 100_000_000
"""A larger change of the difference between two clocks from one message to the next is a step [ns]."""
_NEVER_NS = -1 << 62

MessageInfo = Mapping[str, int | None]
"""What the middleware tells about a message, by the names of rclpy."""

Deliver = Callable[..., None]


def sequence_of(info: MessageInfo) -> int | None:
    """Return the publication sequence number of a message, if the middleware tells it."""
    return info.get("publication_sequence_number")


class ArrivalClock:
    """The steady time at which messages arrived, from the system time that the middleware tells.

    The system clock may have been set since: then the offset between both clocks changed at once.
    """

    __slots__ = ("_before_ns", "_offset_ns", "_step_ns")

    def __init__(self, offset_ns: int) -> None:
        """`offset_ns` is the system time minus the steady time now."""
        # Offsets now and before the system clock was set, and the steady time when that was seen.
        self._offset_ns = self._before_ns = offset_ns
        self._step_ns = _NEVER_NS

    def arrived_ns(self, stamp_ns: int, system_ns: int, steady_ns: int) -> int:
        """Return the steady time of an arrival by the system time `stamp_ns`; both clocks are read now [ns].

        Of an arrival about the time of a step, return the latest time that both clocks allow.
        """
        # Hot path: with cold caches, each further call and tuple takes a microsecond.
        offset_ns = system_ns - steady_ns
        if not -_STEP_NS <= offset_ns - self._offset_ns <= _STEP_NS:
            self._before_ns, self._step_ns = self._offset_ns, steady_ns
        self._offset_ns = offset_ns
        arrival_ns = stamp_ns - offset_ns
        if self._step_ns <= arrival_ns <= steady_ns:
            return arrival_ns
        possible = [each_ns for each_ns in (arrival_ns, stamp_ns - self._before_ns) if each_ns <= steady_ns]
        return max(possible, default=steady_ns)


_arrivals = ArrivalClock(time_ns() - monotonic_ns())


def received_ns(info: MessageInfo) -> int:
    """Return when a message arrived, on the steady clock: messages may have waited for this process."""
    stamp_ns, steady_ns = info.get("received_timestamp"), monotonic_ns()
    return _arrivals.arrived_ns(stamp_ns, time_ns(), steady_ns) if stamp_ns else steady_ns


def _with_info(callback: Callable[..., None]) -> Deliver:
    """Return a callback that takes a message and its info, for one that may take the message alone."""
    if len(signature(callback).parameters) > 1:
        return callback
    return lambda message, _info: callback(message)


class SetAside(CallbackGroup):  # type: ignore[misc, unused-ignore]  # rclpy is typed in part
    """The callback group of subscriptions that the executor must ignore."""

    def can_execute(self, entity: Subscription | Timer | Client | Service | Waitable) -> bool:
        """Return False: the message loop takes these messages."""
        return False

    def beginning_execution(self, entity: Subscription | Timer | Client | Service | Waitable) -> bool:
        """Return False."""
        return False

    def ending_execution(self, entity: Subscription | Timer | Client | Service | Waitable) -> None:
        """Never called."""


class MessageLoop:
    """A thread that calls the callback of each message; a callback must not wait and must not raise.

    A callback with two parameters gets the message and its `MessageInfo`.

    Attributes:
        is_waiting: True while all messages that have arrived are handled.
    """

    def __init__(self, context: Context, pace_s: float = 0.0) -> None:
        """With a pace, the thread takes messages at this interval, many together: for topics with few relevant
        messages.
        """
        self._context = context
        self._wake = rclpy_implementation.GuardCondition(context.handle)
        self._pace_s = pace_s
        self.is_waiting = True
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, subscriptions: Sequence[Subscription]) -> None:
        """Begin to take the messages of these subscriptions, as CDR bytes if a subscription is raw."""
        self.stop()
        if not subscriptions:
            return
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, args=(tuple(subscriptions),), name="messages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait until no callback runs; does nothing if it was not started."""
        thread, self._thread = self._thread, None
        if thread is None or thread is threading.current_thread():
            return
        self._stopped.set()
        self._wake.trigger_guard_condition()
        thread.join()

    def _run(self, subscriptions: tuple[Subscription, ...]) -> None:
        context = self._context
        if context.handle is None:
            return
        takers = [
            (subscription.handle, subscription.msg_type, subscription.raw, _with_info(subscription.callback))
            for subscription in subscriptions
        ]
        with ExitStack() as in_use:
            try:
                for handle, *_ in takers:
                    in_use.enter_context(handle)
                in_use.enter_context(self._wake)
                in_use.enter_context(context.handle)
                wait_set = rclpy_implementation.WaitSet(len(takers), 1, 0, 0, 0, 0, context.handle)
            except (InvalidHandle, rclpy_implementation.RCLError):
                # The context was shut down after the start.
                if is_up(context):
                    raise
                return
            in_use.enter_context(wait_set)
            self._take(wait_set, takers)

    def _take(self, wait_set: Any, takers: list[tuple[Any, type, bool, Deliver]]) -> None:
        while not self._stopped.is_set():
            if self._pace_s and self._stopped.wait(self._pace_s):
                return
            wait_set.clear_entities()
            for handle, *_ in takers:
                wait_set.add_subscription(handle)
            wait_set.add_guard_condition(self._wake)
            self.is_waiting = True
            wait_set.wait(_FOREVER)
            self.is_waiting = False
            has_message = False
            for handle, message_type, raw, deliver in takers:
                # Skip is_ready(): an empty take costs the same.
                while not self._stopped.is_set():
                    taken = handle.take_message(message_type, raw)
                    if taken is None:
                        break
                    has_message = True
                    deliver(taken[0], taken[1])
            if not has_message and not is_up(self._context):
                return
