"""Spins a node so that SIGINT and SIGTERM end it, every time, however often they come."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

_LOOK_S = 1.0
"""Time between two looks whether the context has been shut down."""


class _Executor(SingleThreadedExecutor):  # type: ignore[misc]  # rclpy is typed in part
    # rclpy's destructor asks for this even where the constructor failed, because the context was shut down before.
    _sigint_gc = None


def spin(node: Node) -> None:
    """Serve a node until its context is shut down.

    On a signal rclpy wakes the executor first and shuts the context down after that. An executor that is quick sees a
    valid context, waits again, and nothing wakes it any more if simulated time stands still and nobody calls. A thread
    therefore looks for the shutdown and wakes the executor until it has seen it too.
    """
    executor = _Executor(context=node.context)
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


class Interrupts:
    """From now on a SIGINT raises nothing, wherever it comes and however often: rclpy shuts the context down for it.

    In the middle of a start or an end a KeyboardInterrupt leaves things half done. launch sends a SIGINT of its own
    after the terminal's, and people press twice.

    Attributes:
        come: whether there was one; before rclpy's own handler is there, nobody else notes it.

    """

    def __init__(self) -> None:
        self.come = False
        # Not where SIGINT is ignored, as behind nohup.
        if _in_main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Let no signal disturb what is done in here, nor the end of the process after it."""
        if _in_main_thread():
            signal.signal(signal.SIGTERM, self._note)
        yield
        if _in_main_thread():
            # rclpy's handlers have gone with its context. Python, too, gives up its own when it ends.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.come = True


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
