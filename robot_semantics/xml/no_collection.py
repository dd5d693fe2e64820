"""Reading without the garbage collector, which would go over the many new values again and again.

A reader makes tens of thousands of values that refer to each other in one direction only: none of them is garbage.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector off for a while; as a decorator, during a call."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
