"""Writes down what comes on /tf, and when: for `benchmark.soak`.

Run: python -m benchmark.node.tf_listener OUT.json PID...

A process of its own that does nothing else, so that it keeps up whatever the sender does. What it missed all the same
it knows by the messages' numbers. Of the processes with these ids it writes down how long their threads have waited for
a processor, so that it can be told what the machine made of a delay.
"""

from __future__ import annotations

import json
import signal
import struct
import sys
import time
from pathlib import Path

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from tf2_msgs.msg import TFMessage

LOOK_S = 0.1


def waited_s(pids: list[int]) -> float:
    """Return how long the threads of the processes have waited for a processor so far [s]."""
    total = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            try:
                total += int(Path(task, "schedstat").read_text().split()[1])
            except OSError:
                continue  # it has ended
    return total / 1e9


def main(out: Path, pids: list[int]) -> None:
    """Listen until SIGTERM, then write what was heard."""
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        ended = True

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    context = rclpy.get_default_context()
    node = rclpy.create_node("tf_listener")
    handle = node.create_subscription(TFMessage, "/tf", lambda _: None, QoSProfile(depth=20_000), raw=True).handle
    heard: list[tuple[int, float]] = []
    waits: list[tuple[float, float]] = []
    last, missed = 0, 0
    with handle, context.handle:
        wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, context.handle)
        with wait_set:
            while not ended:
                wait_set.clear_entities()
                wait_set.add_subscription(handle)
                wait_set.wait(100_000_000)
                if not waits or time.time() - waits[-1][0] > LOOK_S:
                    waits.append((time.time(), waited_s(pids)))
                while (taken := handle.take_message(TFMessage, True)) is not None:
                    data, info = taken
                    number = info["publication_sequence_number"]
                    missed += max(0, number - last - 1) if last else 0
                    last = number
                    seconds, nanoseconds = struct.unpack_from("<iI", data, 8)
                    heard.append((seconds * 1_000_000_000 + nanoseconds, time.time()))
    out.write_text(json.dumps({"heard": heard, "missed": missed, "waits": waits}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(pid) for pid in sys.argv[2:]])
