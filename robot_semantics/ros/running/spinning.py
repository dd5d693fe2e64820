# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Spins a node so that a shutdown of its context ends it, every time; and calls a function periodically without it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from rclpy import executors
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerGuardCondition
from rclpy.task import Future

_LOOK_S = 1.0
"""Time between two looks whether the node is told to stop."""


class _QuietGuard(SignalHandlerGuardCondition):  # type: ignore[misc, unused-ignore]  # rclpy is typed in part
    def __del__(self) -> None:
        # The constructor failed because the context was shut down: the parent has nothing to delete.
        with suppress(AttributeError):
            super().__del__()


# The executor's constructor uses this name.
vars(executors)["SignalHandlerGuardCondition"] = _QuietGuard


class QuietExecutor(SingleThreadedExecutor):  # type: ignore[misc]  # rclpy is typed in part
    """An executor that can be destroyed at any moment of its construction without a message."""

    # rclpy's destructor reads this also after a failed constructor, if the context was shut down before.
    _sigint_gc = None


def is_up(context: Context) -> bool:
    """Return whether a context is initialized and not shut down, in any thread.

    The context's own ``ok`` waits for its lock. On Kilted, a shutdown holds this lock while it destroys the nodes, and
    the end of a node waits for its threads.
    """
    handle = context.handle
    try:
        return handle is not None and bool(handle.ok())
    except InvalidHandle:
        return False


def spin(node: Node, told_to_stop: Callable[[], bool] = lambda: False) -> None:
    """Serve a node until its context is shut down or it is told to stop.

    On a signal, rclpy wakes the executor first and then shuts the context down. A fast executor still sees a valid
    context and waits again. If simulated time stands still and no request comes, it never wakes up. A signal while
    rclpy installs its handlers is lost. Therefore a thread checks for both cases and wakes the executor. Otherwise it
    lets the executor sleep: a wake takes the interpreter from the thread of the joint states.
    """
    executor = QuietExecutor(context=node.context)
    executor.add_node(node)
    ended = threading.Event()
    stopped: Future = Future()

    def look() -> None:
        while not ended.wait(_LOOK_S):
            if told_to_stop():
                stopped.set_result(None)
                return
            if not is_up(node.context):
                executor.wake()

    watch = threading.Thread(target=look, name="shutdown", daemon=True)
    watch.start()
    try:
        executor.spin_until_future_complete(stopped)
    except ExternalShutdownException:
        pass
    finally:
        ended.set()
        watch.join()


class Pulse:
    """A thread that calls a function at a fixed period.

    A timer of an executor makes a wait set of all entities of the node before and after each call. This thread only
    sleeps. The function must not raise, and must not create or remove entities of the node.
    """

    def __init__(self, call: Callable[[], object]) -> None:
        """The thread begins with `start`."""
        self._call = call
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, period_s: float) -> None:
        """Call the function every `period_s` seconds from now on.

        The thread of an earlier period ends after its present call. It is not awaited, because the caller may hold a
        lock that this call needs.
        """
        self._stopped.set()
        stopped = self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(stopped, period_s), name="periodic", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait until it has ended; the caller must not hold a lock that the function needs."""
        thread, self._thread = self._thread, None
        self._stopped.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self, stopped: threading.Event, period_s: float) -> None:
        while not stopped.wait(period_s):
            self._call()
