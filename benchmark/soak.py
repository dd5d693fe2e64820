"""Soaks the node: joint states at 500 Hz for ten minutes, one in fifty of them malformed; `make soak`.

Run: python -m benchmark.soak [--seconds S] [--rate HZ] [--joints N]

Every good message must come out on /tf, every malformed one be counted, the process must log no fault and not grow.
"""

from __future__ import annotations

import argparse
import math
import os
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
from robot_semantics_interfaces.srv import GetStatus
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from benchmark.node.robots import chain_urdf, joint_names

ONE_IN = 50
MOST_GROWTH_BYTES = 2_000_000
DEEP = QoSProfile(depth=5000)

Spoil = Callable[[JointState], None]


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


SPOILT: dict[str, Spoil] = {
    "wrong_length": _wrong_length,
    "not_finite": _nan,
    "unknown_joints_only": _unknown,
    "duplicate_name": _duplicate,
    "empty": _empty,
    "time_backwards": _time_backwards,
}


@dataclass
class Soaked:
    """What came of it.

    Attributes:
        good: stamps [ns] of the good messages sent.
        published: stamps [ns] seen on /tf.
        bad: malformed messages sent, by the reason they should be refused for.
        refused: what the node says it refused, by reason.
        growth_bytes: growth of the process's resident memory after the warm-up.
        faults: lines of the node's log that tell of a fault.
    """

    good: list[int] = field(default_factory=list)
    published: set[int] = field(default_factory=set)
    bad: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    growth_bytes: int = 0
    faults: list[str] = field(default_factory=list)
    exit_code: int = -1

    def complaints(self) -> list[str]:
        """Return what is not as it should be."""
        missing = [stamp for stamp in self.good if stamp not in self.published]
        extra = self.published - set(self.good)
        return [
            *([f"{len(missing)} of {len(self.good)} good messages were not published"] if missing else []),
            *([f"{len(extra)} messages on /tf that no good message asked for"] if extra else []),
            *([f"refused {dict(self.refused)}, sent {dict(self.bad)}"] if self.refused != self.bad else []),
            *([f"memory grew by {self.growth_bytes:,} bytes"] if self.growth_bytes > MOST_GROWTH_BYTES else []),
            *([f"the log tells of faults: {self.faults[:3]}"] if self.faults else []),
            *([f"exit code {self.exit_code}"] if self.exit_code else []),
        ]


def soak(seconds: float, rate_hz: float, joints: int, say: Callable[[str], None]) -> Soaked:
    """Run the node for a time and return what came of it; the DDS domain is that of the environment."""
    result = Soaked()
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("soak", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def heard(message: TFMessage) -> None:
        stamp = message.transforms[0].header.stamp
        result.published.add(stamp.sec * 1_000_000_000 + stamp.nanosec)

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
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            _send(node, executor, publisher, process.pid, result, seconds, rate_hz, joints, say)
        finally:
            process.send_signal(signal.SIGINT)
            result.exit_code = process.wait(30.0)
            lines = log.read_text().splitlines()
            result.faults = [line for line in lines if "Traceback" in line or "could not be handled" in line]
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
    seconds: float,
    rate_hz: float,
    joints: int,
    say: Callable[[str], None],
) -> None:
    names = joint_names(joints)
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

    begin, number, warm_bytes = time.perf_counter(), 0, 0
    kinds = list(SPOILT)
    next_report = 10.0
    while (passed := time.perf_counter() - begin) < seconds:
        message = _good(names, number / rate_hz)
        if number % ONE_IN == ONE_IN - 1:
            kind = kinds[(number // ONE_IN) % len(kinds)]
            SPOILT[kind](message)
            result.bad[kind] += 1
        else:
            stamp = message.header.stamp
            result.good.append(stamp.sec * 1_000_000_000 + stamp.nanosec)
        publisher.publish(message)
        number += 1
        while time.perf_counter() - begin < number / rate_hz:
            executor.spin_once(timeout_sec=max(0.0, number / rate_hz - (time.perf_counter() - begin)))
        if not warm_bytes and passed > seconds / 4.0:
            warm_bytes = resident_bytes(pid)
        if passed > next_report:
            next_report += 30.0
            say(f"{passed:5.0f} s: {number:,} sent, {len(result.published):,} published, {resident_bytes(pid):,} bytes")
    end = time.monotonic() + 10.0
    while len(result.published) < len(result.good) and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    result.growth_bytes = resident_bytes(pid) - warm_bytes
    now = status()
    counted = Counter(dict(zip(now.refusal_reasons, map(int, now.refusal_counts), strict=True)))
    counted.subtract(dict(zip(before.refusal_reasons, map(int, before.refusal_counts), strict=True)))
    result.refused = +counted


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
    arguments = parser.parse_args()
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    result = soak(arguments.seconds, arguments.rate, arguments.joints, lambda line: print(line, flush=True))
    complaints = result.complaints()
    print(
        f"{len(result.good):,} good messages, {result.bad.total():,} malformed; memory grew by"
        f" {result.growth_bytes:,} bytes after the warm-up"
    )
    for complaint in complaints:
        print(f"WRONG: {complaint}")
    print("soak: failed" if complaints else "soak: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
