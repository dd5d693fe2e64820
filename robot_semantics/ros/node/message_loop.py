"""Takes the frequent messages in a thread and a wait set of its own, beside the executor that serves everything else.

An executor makes a new wait set of all the node's entities for every message, several times the cost of the work done
here. This one waits for its few subscriptions alone, and drains them. It lasts only as long as the context is valid.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.subscription import Subscription

_LOOK_NS = 200_000_000
"""How long [ns] a wait for a single subscription lasts at most after a message: then it is looked whether to stop."""
_FOREVER = -1
_TAKEN_NS = 1_000_000
"""If giving way took longer [ns], the processor is busy with something else, and messages must not wait for that."""
_RUDE_NS = 10_000_000_000
"""How long [ns] then nobody is given way to."""
_give_way: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


class SetAside(CallbackGroup):  # type: ignore[misc, unused-ignore]
    """The callback group of subscriptions that the executor must leave alone."""

    def can_execute(self, entity: Any) -> bool:
        """Say no: the message loop takes these messages."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Say no."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Never called."""


class MessageLoop:
    """A thread that gives each message to its subscription's callback, which must neither wait nor raise anything."""

    def __init__(self, context: Context, pace_s: float = 0.0) -> None:
        """With a pace the thread takes messages at most so often, many at a time: for topics where few matter."""
        self._context = context
        self._wake = rclpy_implementation.GuardCondition(context.handle)
        self._pace_s = pace_s
        self._stopping = False
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, subscriptions: Sequence[Subscription]) -> None:
        """Begin to take the messages of these subscriptions: CDR bytes where one is raw."""
        self.stop()
        if not subscriptions:
            return
        self._stopping = False
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, args=(tuple(subscriptions),), name="messages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Return when no handler runs any more; safe to call when nothing was started."""
        thread, self._thread = self._thread, None
        if thread is None or thread is threading.current_thread():
            return
        self._stopping = True
        self._stopped.set()
        self._wake.trigger_guard_condition()
        thread.join()

    def _run(self, subscriptions: tuple[Subscription, ...]) -> None:
        context = self._context
        if context.handle is None:
            return
        takers = [
            (subscription.handle, subscription.msg_type, subscription.raw, subscription.callback)
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
                # Shut down between start and here.
                if context.ok():
                    raise
                return
            in_use.enter_context(wait_set)
            if len(takers) == 1 and not self._pace_s:
                self._take_from_one(wait_set, *takers[0])
            else:
                self._take_from_all(wait_set, takers)

    def _take_from_one(
        self, wait_set: Any, handle: Any, message_type: type, raw: bool, deliver: Callable[[Any], None]
    ) -> None:
        # Every call here is made for every message, when the processor's caches have forgotten it: as few as will do.
        # That is why the messages are taken in here, and not in a function that `_take_from_all` could share.
        wait, take, now_ns = wait_set.wait, handle.take_message, time.monotonic_ns
        flowing = alone = False
        polite_from_ns = 0
        while not self._stopping:
            if flowing:
                # What was ready stays in the wait set, what was not is taken out of it.
                if not alone:
                    wait_set.clear_entities()
                    wait_set.add_subscription(handle)
                begin_ns = now_ns()
                wait(_LOOK_NS)
                woken_ns = now_ns()
                # To ask what was ready costs more than the time: a wait cut short was cut short by a message.
                alone = woken_ns - begin_ns < _LOOK_NS // 2
                # The middleware's thread has woken this one in the middle of its work, and perhaps been put off by it,
                # with locks in its hands that are wanted here next: let it finish.
                if woken_ns >= polite_from_ns:
                    _give_way()
                    given_ns = now_ns()
                    if given_ns - woken_ns > _TAKEN_NS:
                        polite_from_ns = given_ns + _RUDE_NS
            else:
                wait_set.clear_entities()
                wait_set.add_subscription(handle)
                wait_set.add_guard_condition(self._wake)
                wait(_FOREVER)
                alone = False
            flowing = False
            while (taken := take(message_type, raw)) is not None:
                flowing = True
                deliver(taken[0])
                if self._stopping:
                    return  # type: ignore[unreachable]  # another thread sets it
            if not flowing and not self._context.ok():
                return

    def _take_from_all(self, wait_set: Any, takers: list[tuple[Any, type, bool, Callable[[Any], None]]]) -> None:
        wake = self._wake
        while not self._stopping:
            if self._pace_s and self._stopped.wait(self._pace_s):
                break
            wait_set.clear_entities()
            for handle, *_ in takers:
                wait_set.add_subscription(handle)
            wait_set.add_guard_condition(wake)
            wait_set.wait(_FOREVER)
            came = False
            for number, (handle, message_type, raw, deliver) in enumerate(takers):
                if not wait_set.is_ready("subscription", number):
                    continue
                while not self._stopping:
                    taken = handle.take_message(message_type, raw)
                    if taken is None:
                        break
                    came = True
                    deliver(taken[0])
            if not came and not self._context.ok():
                return
