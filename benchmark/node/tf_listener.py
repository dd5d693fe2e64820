# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Record the messages on /tf, their delays, and the share of the delays in which a node was working: for
`benchmark.soak`.

Run: python -m benchmark.node.tf_listener OUT.json PID

This separate process does nothing else, so it keeps up with any publisher. Lost messages are found by the messages'
numbers. It creates the file at the first message and fills it at the end.

The delay of a message is from its stamp to its publication. The node with this PID worked while it used a processor. It
cannot have worked longer than the delay minus the time in which its threads waited for a processor. So a delay that the
machine causes, by running other processes first, does not count.
"""

from __future__ import annotations

import json
import signal
import struct
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from tf2_msgs.msg import TFMessage

LOOK_NS = 10_000_000


def clock_of(pid: int) -> int:
    """Return the clock of a process's processor time: Linux's, as clock_getcpuclockid(3) makes it."""
    return (~pid << 3) | 2


def waited_ns(pid: int) -> int:
    """Return the time that the threads of a process have waited for a processor so far [ns]."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has ended
            total += int(Path(task, "schedstat").read_text().split()[1])
    return total


def main(out: Path, pid: int) -> None:
    """Listen until SIGTERM, then write the result."""
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
    heard: list[tuple[int, float, float]] = []
    # Time of day, and the node's running and waiting time [ns]; a message began at the last sample before it.
    looks: deque[tuple[int, int, int]] = deque([(0, 0, 0)])
    last, missed, asked_ns, delayed_ns = 0, 0, 0, 0
    with handle, context.handle:
        wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, context.handle)
        with wait_set:
            while not ended:
                wait_set.clear_entities()
                wait_set.add_subscription(handle)
                wait_set.wait(LOOK_NS)
                now_ns, worked_ns = time.time_ns(), time.clock_gettime_ns(clock_of(pid))
                if now_ns - asked_ns > LOOK_NS:
                    asked_ns, delayed_ns = now_ns, waited_ns(pid)
                while (taken := handle.take_message(TFMessage, True)) is not None:
                    data, info = taken
                    number = info["publication_sequence_number"]
                    missed += max(0, number - last - 1) if last else 0
                    last = number
                    seconds, nanoseconds = struct.unpack_from("<iI", data, 8)
                    stamp_ns = seconds * 1_000_000_000 + nanoseconds
                    while len(looks) > 1 and looks[1][0] <= stamp_ns:
                        looks.popleft()
                    took_ns = info["source_timestamp"] - stamp_ns
                    _, worked_before_ns, delayed_before_ns = looks[0]
                    if took_ns > LOOK_NS:
                        delayed_ns = waited_ns(pid)
                    own_ns = min(worked_ns - worked_before_ns, took_ns - (delayed_ns - delayed_before_ns))
                    if not heard:
                        out.touch()
                    heard.append((stamp_ns, took_ns / 1e9, own_ns / 1e9))
                looks.append((now_ns, worked_ns, delayed_ns))
    out.write_text(json.dumps({"heard": heard, "missed": missed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
