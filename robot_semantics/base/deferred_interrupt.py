# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Delay of Ctrl-C while a library call must not stop half way, or catches every exception, as trimesh does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext


@contextmanager
def deferred_interrupt(*, below: bool = True) -> Iterator[None]:
    """Delay SIGINT and SIGTERM that arrive inside the block; the normal handlers run at the end of the block.

    Handlers that a library has set below Python, such as those of rclpy, are then in place again. A program that has
    none starts sooner without `below`.
    """
    in_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if in_main}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    come: list[int] = []
    try:
        with _kept_below(list(held)) if below else nullcontext():
            for number in held:
                signal.signal(number, lambda number, _frame: come.append(number))
            try:
                yield
            finally:
                for number, handler in held.items():
                    signal.signal(number, handler)
    finally:
        if come:
            signal.raise_signal(come[0])


def _kept_below(numbers: list[int]) -> AbstractContextManager[None]:
    # Import here: each import delays every start.
    from robot_semantics.base.system import handlers_kept

    return handlers_kept(numbers)
