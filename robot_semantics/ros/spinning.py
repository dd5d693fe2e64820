"""Spins a node so that SIGINT and SIGTERM end it, every time, however often they come."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

_LOOK_S = 0.2
"""Time between two looks whether the context has been shut down."""


def spin(node: Node) -> None:
    """Serve a node until its context is shut down.

    On a signal rclpy wakes the executor first and shuts the context down after that. An executor that is quick sees a
    valid context, waits again, and nothing wakes it any more if simulated time stands still and nobody calls. A thread
    therefore looks for the shutdown and wakes the executor until it has seen it too.

    Raises:
        KeyboardInterrupt: SIGINT came while Python code ran.

    """
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    ended = threading.Event()

    def wake_at_shutdown() -> None:
        while not ended.wait(_LOOK_S):
            if not node.context.ok():
                executor.wake()

    watch = threading.Thread(target=wake_at_shutdown, name="shutdown", daemon=True)
    watch.start()
    try:
        executor.spin()
    except ExternalShutdownException:
        pass
    finally:
        ended.set()
        watch.join()


class OneInterrupt:
    """From now on only the first SIGINT raises KeyboardInterrupt, so that the end takes its course.

    launch sends a SIGINT of its own after the terminal's, and people press twice.
    """

    def __init__(self) -> None:
        self._come = False
        # Before rclpy's own handler, which calls this one; and not where SIGINT is ignored, as behind nohup.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Let no signal disturb what is done in here, nor the end of the process after it."""
        self._come = True
        in_main = threading.current_thread() is threading.main_thread()
        if in_main:
            signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        yield
        if in_main:
            # rclpy's handlers have gone with its context. Python, too, gives up its own when it ends.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if not self._come:
            self._come = True
            raise KeyboardInterrupt
