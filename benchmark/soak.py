"""Soaks the node: joint states at 500 Hz for ten minutes, a third of them bad, while 50 clients ask; `make soak`.

Run: python -m benchmark.soak [--seconds S] [--rate HZ] [--joints N] [--clients N] [--changes N]

Every good message must come out on /tf, every bad one be counted for what it is, the process must log no fault, not
grow, and not pause. What the machine does besides must not count: joint states are sent reliably, what never reached
the node is told apart from what the node lost, and of a pause the time is taken off that the node waited for a
processor.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rclpy
import yaml
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from robot_semantics_interfaces.srv import GetStatus
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from benchmark.node.robots import chain_urdf, joint_names

ONE_IN = 3
"""So many messages are one bad one."""
LONGEST_PAUSE_S = 0.05
MOST_GROWTH_BYTES = 2_000_000
DEEP = QoSProfile(depth=5000)

Spoil = Callable[[JointState], bytes | None]


def _wrong_length(message: JointState) -> None:
    message.position = message.position[:-1]


def _nan(message: JointState) -> None:
    message.position[len(message.position) // 2] = math.nan


def _unknown(message: JointState) -> None:
    message.name = [f"unknown_{name}" for name in message.name]


def _duplicate(message: JointState) -> None:
    message.name = [message.name[0], *message.name[:-1]]


def _empty(message: JointState) -> None:
    message.name, message.position = [], []


def _time_backwards(message: JointState) -> None:
    message.header.stamp.sec -= 10


def _garbage(message: JointState) -> bytes:
    rng = random.Random(message.header.stamp.nanosec)
    sound = serialize_message(message)
    return rng.choice([rng.randbytes(200), sound[: len(sound) // 8 * 4], sound[:12] + b"\xff" * 200, b"no CDR at all"])


SPOILT: dict[str, Spoil] = {
    "wrong_length": _wrong_length,
    "not_finite": _nan,
    "unknown_joints_only": _unknown,
    "duplicate_name": _duplicate,
    "empty": _empty,
    "time_backwards": _time_backwards,
    "malformed": _garbage,
}


@dataclass
class Soaked:
    """What came of it.

    Attributes:
        good: stamps [ns] of the good messages sent.
        published: stamps [ns] seen on /tf.
        bad: malformed messages sent, by the reason they should be refused for.
        refused: what the node says it refused, by reason.
        undelivered: messages that never reached the node.
        changes: changes of the description; a new robot takes its first message for in time, whatever its stamp.
        pause_s: longest time between two messages on /tf, less what the sender and the scheduler made of it.
        growth_bytes: growth of the process's resident memory after the warm-up.
        faults: lines of the node's log that tell of a fault.
    """

    good: list[int] = field(default_factory=list)
    published: set[int] = field(default_factory=set)
    bad: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    undelivered: int = 0
    changes: int = 0
    pause_s: float = 0.0
    growth_bytes: int = 0
    faults: list[str] = field(default_factory=list)
    exit_code: int = -1

    def complaints(self) -> list[str]:
        """Return what is not as it should be."""
        missing = [stamp for stamp in self.good if stamp not in self.published]
        extra = self.published - set(self.good)
        return [
            *(
                [f"{len(missing)} of {len(self.good)} good messages were not published"]
                if len(missing) > self.undelivered
                else []
            ),
            *([f"{len(extra)} messages on /tf that no good one asked for"] if len(extra) > self.changes else []),
            *(
                [f"refused {dict(self.refused)}, sent {dict(self.bad)}"]
                if self.refused - self.bad or (self.bad - self.refused).total() > self.undelivered + self.changes
                else []
            ),
            *([f"nothing on /tf for {self.pause_s:.3f} s"] if self.pause_s > LONGEST_PAUSE_S else []),
            *([f"memory grew by {self.growth_bytes:,} bytes"] if self.growth_bytes > MOST_GROWTH_BYTES else []),
            *([f"the log tells of faults: {self.faults[:3]}"] if self.faults else []),
            *([f"exit code {self.exit_code}"] if self.exit_code else []),
        ]


def soak(options: argparse.Namespace, say: Callable[[str], None]) -> Soaked:
    """Run the node for a time and return what came of it; the DDS domain is that of the environment."""
    joints: int = options.joints
    result = Soaked(changes=options.changes)
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("soak", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)

    pauses = Pauses(result)

    def heard(message: TFMessage) -> None:
        stamp = message.transforms[0].header.stamp
        result.published.add(stamp.sec * 1_000_000_000 + stamp.nanosec)
        pauses.heard()

    node.create_subscription(TFMessage, "/tf", heard, DEEP)
    publisher = node.create_publisher(JointState, "joint_states", DEEP)
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder, "parameters.yaml"), Path(folder, "log")
        # Nothing may get lost on the way, or it could not be told from what the node loses.
        parameters = {
            "robot_description": chain_urdf(joints),
            "publish_frequency": 1e6,
            "qos_overrides./joint_states.subscription.reliability": "reliable",
            "qos_overrides./joint_states.subscription.depth": 5000,
            "qos_overrides./tf.publisher.depth": 5000,
        }
        file.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
        command = [
            sys.executable,
            "-m",
            "robot_semantics.ros.node",
            "--ros-args",
            "--params-file",
            str(file),
        ]
        asking = [sys.executable, "-m", "benchmark.node.callers", str(options.clients), str(options.changes)]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        pauses.watch(process.pid)
        callers = subprocess.Popen([*asking, str(options.seconds), str(joints)])
        try:
            _send(node, executor, publisher, process.pid, result, pauses, options, say)
        finally:
            callers.terminate()
            callers.wait(30.0)
            process.send_signal(signal.SIGINT)
            result.exit_code = process.wait(30.0)
            lines = log.read_text().splitlines()
            result.faults = [line for line in lines if "Traceback" in line or "internal error" in line]
            executor.shutdown()
            node.destroy_node()
            rclpy.shutdown(context=context)
    return result


def _send(
    node: Any,
    executor: Any,
    publisher: Any,
    pid: int,
    result: Soaked,
    pauses: Pauses,
    options: argparse.Namespace,
    say: Callable[[str], None],
) -> None:
    names, rate_hz, seconds = joint_names(options.joints), options.rate, options.seconds
    client = node.create_client(GetStatus, "/robot_semantics/get_status")

    def status() -> Any:
        while True:
            future = client.call_async(GetStatus.Request())
            end = time.monotonic() + 2.0
            while not future.done() and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.05)
            if future.done():
                return future.result()

    # Until a first message has come out, the ends may not all have found each other.
    while not result.published:
        publisher.publish(_good(names, 0.0))
        executor.spin_once(timeout_sec=0.2)
    while executor_spins(executor):
        pass
    result.published.clear()
    before = status()
    pauses.begin()

    begin, number, warm_bytes = time.perf_counter(), 0, 0
    kinds = list(SPOILT)
    next_report = 10.0
    while (passed := time.perf_counter() - begin) < seconds:
        message = _good(names, number / rate_hz)
        if number % ONE_IN == ONE_IN - 1:
            kind = kinds[(number // ONE_IN) % len(kinds)]
            publisher.publish(SPOILT[kind](message) or message)
            result.bad[kind] += 1
        else:
            stamp = message.header.stamp
            result.good.append(stamp.sec * 1_000_000_000 + stamp.nanosec)
            publisher.publish(message)
        pauses.sent()
        number += 1
        while time.perf_counter() - begin < number / rate_hz:
            executor.spin_once(timeout_sec=max(0.0, number / rate_hz - (time.perf_counter() - begin)))
        if not warm_bytes and passed > seconds / 4.0:
            warm_bytes = resident_bytes(pid)
        if passed > next_report:
            next_report += 10.0
            say(f"{passed:5.0f} s: {number:,} sent, {len(result.published):,} published, {resident_bytes(pid):,} bytes")
    end = time.monotonic() + 10.0
    while len(result.published) < len(result.good) and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    result.growth_bytes = resident_bytes(pid) - warm_bytes
    now = status()
    result.undelivered = number - (now.joint_states_received - before.joint_states_received)
    counted = Counter(dict(zip(now.refusal_reasons, map(int, now.refusal_counts), strict=True)))
    counted.subtract(dict(zip(before.refusal_reasons, map(int, before.refusal_counts), strict=True)))
    result.refused = +counted


class Pauses:
    """The longest pause on /tf that is the node's own: less what the sender paused, and the scheduler made it wait."""

    def __init__(self, result: Soaked) -> None:
        self._result = result
        self._pid = 0
        self._heard_s = self._looked_s = math.inf
        self._sent_s = 0.0
        self._late_s = 0.0
        self._waited_s = 0.0

    def watch(self, pid: int) -> None:
        """Look at the threads of this process."""
        self._pid = pid

    def begin(self) -> None:
        """Count from now on."""
        self._heard_s = self._looked_s = self._sent_s = time.monotonic()
        self._waited_s = self._waits()

    def sent(self) -> None:
        """Note that a message has been sent."""
        now_s = time.monotonic()
        self._late_s = max(self._late_s, now_s - self._sent_s)
        self._sent_s = now_s

    def heard(self) -> None:
        """Note that a message has come."""
        now_s = time.monotonic()
        pause_s = now_s - self._heard_s
        if pause_s > LONGEST_PAUSE_S or now_s - self._looked_s > 0.25:
            waited_s = self._waits()
            own_s = pause_s - self._late_s - (waited_s - self._waited_s)
            self._result.pause_s = max(self._result.pause_s, own_s)
            self._looked_s, self._waited_s = now_s, waited_s
        self._heard_s, self._late_s = now_s, 0.0

    def _waits(self) -> float:
        """Return how long the process's threads have waited for a processor so far [s]."""
        total = 0
        for task in Path(f"/proc/{self._pid}/task").iterdir():
            try:
                total += int(Path(task, "schedstat").read_text().split()[1])
            except OSError:
                continue  # it has ended
        return total / 1e9


def executor_spins(executor: Any) -> bool:
    """Handle one thing that waits; return whether there was one within a tenth of a second."""
    begin = time.monotonic()
    executor.spin_once(timeout_sec=0.1)
    return time.monotonic() - begin < 0.09


def _good(names: list[str], phase: float) -> JointState:
    message = JointState(name=names, position=[math.sin(phase + number) for number in range(len(names))])
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
    return message


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    """Soak, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rate", type=float, default=500.0, metavar="HZ")
    parser.add_argument("--joints", type=int, default=40)
    parser.add_argument("--clients", type=int, default=50, help="clients that call the node's services all the time")
    parser.add_argument("--changes", type=int, default=120, help="changes of the description")
    arguments = parser.parse_args()
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    result = soak(arguments, lambda line: print(line, flush=True))
    complaints = result.complaints()
    print(
        f"{len(result.good):,} good messages, {result.bad.total():,} bad, {result.undelivered} of them lost on the way;"
        f" memory grew by {result.growth_bytes:,} bytes after the warm-up; longest pause {result.pause_s * 1e3:.0f} ms"
    )
    for complaint in complaints:
        print(f"WRONG: {complaint}")
    print("soak: failed" if complaints else "soak: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
