# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Calls a function periodically in a thread of its own, without the executor."""

from __future__ import annotations

import threading
from collections.abc import Callable


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
