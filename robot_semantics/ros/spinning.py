"""Spins a node so that SIGINT and SIGTERM end it, every time."""

from __future__ import annotations

import threading

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
