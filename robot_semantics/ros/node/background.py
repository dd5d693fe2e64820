# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Long work of services in threads, so that the executor can serve other requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Generic, ParamSpec, TypeVar

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LOOK_S = 0.01
"""Time [s] that the executor sleeps between two looks at the work; without it rclpy would look all the time."""
MAX_THREADS = 4
"""Pieces of work done at the same time; the others wait for one of these."""
_SLOTS = threading.BoundedSemaphore(MAX_THREADS)


async def in_background(
    node: Node, work: Callable[Arguments, Result], /, *arguments: Arguments.args, **options: Arguments.kwargs
) -> Result:
    """Return ``work(*arguments, **options)``, called in a thread; a callback of `node` awaits it.

    The work must not use the node, and nothing that a callback changes without a lock.

    Raises:
        Exception: the exception of the work.
    """
    return await _ThreadCall(node, lambda: work(*arguments, **options), _SLOTS)


async def in_own_thread(node: Node, work: Callable[[], Result]) -> Result:
    """Return ``work()`` like `in_background`, for work that takes minutes: it keeps no other work waiting."""
    return await _ThreadCall(node, work, nullcontext())


class _ThreadCall(Generic[Result]):
    """One call in a thread; await it once."""

    _waiting = 0

    def __init__(self, node: Node, call: Callable[[], Result], slot: AbstractContextManager[object]) -> None:
        self._node, self._call, self._slot = node, call, slot
        self._done = threading.Event()
        self._result: Result
        self._error: BaseException | None = None

    def __await__(self) -> Generator[None, None, Result]:
        threading.Thread(target=self._run, name="background", daemon=True).start()
        _ThreadCall._waiting += 1
        try:
            # The executor looks at all waiting work in turn: together they take one pause.
            while not self._done.wait(LOOK_S / _ThreadCall._waiting):
                yield
        finally:
            _ThreadCall._waiting -= 1
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self) -> None:
        try:
            with self._slot:
                self._result = self._call()
        except BaseException as error:  # noqa: BLE001 - raised where the work is awaited
            self._error = error
        finally:
            self._done.set()
            self._wake()

    def _wake(self) -> None:
        """Let the executor look at its waiting work: without messages and timers it sleeps."""
        executor = self._node.executor
        if executor is not None:
            # Suppress: the node ends at this moment.
            with suppress(InvalidHandle):
                executor.wake()
