"""Ctrl-C while a library works that must not be left half way, or that catches everything, as trimesh does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupt() -> Iterator[None]:
    """Have SIGINT and SIGTERM that come in here handled at the end of it, where Python handles them."""
    in_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if in_main}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    come: list[int] = []
    for number in held:
        signal.signal(number, lambda number, _frame: come.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        if come:
            signal.raise_signal(come[0])
