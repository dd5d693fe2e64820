"""Ctrl-C while a library works that catches everything, as trimesh does: it would be lost, or pass for a bad file."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_interrupt() -> Iterator[None]:
    """Have a KeyboardInterrupt that comes in here raised at the end of it; nothing changes where SIGINT means other."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    come = threading.Event()
    signal.signal(signal.SIGINT, lambda _number, _frame: come.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if come.is_set():
            raise KeyboardInterrupt
