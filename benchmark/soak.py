# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Soak test of the node: 500 Hz joint states for ten minutes, a third of them bad, while 50 clients call; `make soak`.

Run: python -m benchmark.soak [--seconds S] [--rate HZ] [--joints N] [--clients N] [--changes N] [--times WHICH]

Every good message must come out on /tf, and every bad one must be counted with its reason. The process must not log a
fault, grow, or delay a message.

Other load of the machine does not count. Joint states are sent reliably; messages that the middleware lost are counted
separately from messages that the node lost. For delays only the node's own working time counts. On an otherwise idle
machine all time can count (`--times all`); on a machine with shared virtual cores none (`--times none`), because there
processor time grows while the process does not run.
"""

from __future__ import annotations

import argparse
import json
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
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rclpy
import yaml
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from robot_semantics_interfaces.srv import GetStatus
from sensor_msgs.msg import JointState

from benchmark.node.robots import chain_urdf, joint_names

ONE_IN = 3
"""One of this number of messages is bad."""
LONGEST_PAUSE_S = 0.05
MOST_GROWTH_BYTES = 2_000_000
WARM_S = 300.0
"""In a shorter run the second half is still a warm-up, and may take five times as much memory."""
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
    sound: bytes = serialize_message(message)
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
    """Results of the soak test.

    Attributes:
        changes: number of description changes; a new robot accepts its first message with any stamp.
        good: stamps [ns] of the good messages sent.
        bad: number of bad messages sent, by the expected reason of refusal.
        published: stamps [ns] seen on /tf.
        missed: messages on /tf that the middleware did not deliver to the recording process.
        undelivered: messages that the middleware did not deliver to the node.
        refused: number of refused messages by reason, as the node reports them.
        worked_s: longest working time of the node between the sending of a message and its publication [s].
        pause_s: longest total time between the two [s].
        judged_times: which of the two times may make the test fail: "none", "work" or "all".
        most_growth_bytes: allowed growth of the memory.
        growth_bytes: growth of the process's resident memory in the second half.
        faults: lines of the node's log that report a fault.
    """

    changes: int
    judged_times: str
    most_growth_bytes: int
    good: list[int] = field(default_factory=list)
    bad: Counter[str] = field(default_factory=Counter)
    published: set[int] = field(default_factory=set)
    missed: int = 0
    undelivered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    worked_s: float = 0.0
    pause_s: float = 0.0
    growth_bytes: int = 0
    faults: list[str] = field(default_factory=list)
    exit_code: int = -1

    def complaints(self) -> list[str]:
        """Return the failed requirements."""
        sent = set(self.good)
        unpublished, extra = len(sent - self.published), len(self.published - sent)
        uncounted = (self.bad - self.refused).total()
        found = {
            f"{unpublished} of {len(sent)} good messages were not published": unpublished
            > self.missed + self.undelivered,
            f"{extra} messages on /tf that no good one asked for": extra > self.changes,
            f"refused {dict(self.refused)}, sent {dict(self.bad)}": self.refused - self.bad
            or uncounted > self.undelivered + self.changes,
            f"while a message was under way the node worked for {self.worked_s:.3f} s": self.judged_times != "none"
            and self.worked_s > LONGEST_PAUSE_S,
            f"a message took {self.pause_s:.3f} s": self.judged_times == "all" and self.pause_s > LONGEST_PAUSE_S,
            f"memory grew by {self.growth_bytes:,} bytes": self.growth_bytes > self.most_growth_bytes,
            f"the log tells of faults: {self.faults[:3]}": self.faults,
            f"exit code {self.exit_code}": self.exit_code,
        }
        return [complaint for complaint, is_so in found.items() if is_so]


def soak(options: argparse.Namespace, say: Callable[[str], None]) -> Soaked:
    """Run the node for a time and return the results, in the DDS domain of the environment."""
    warm = options.seconds >= WARM_S
    result = Soaked(options.changes, options.times, MOST_GROWTH_BYTES * (1 if warm else 5))
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("soak", context=context)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stack.callback(rclpy.shutdown, context=context)
        stack.callback(node.destroy_node)
        file, log, heard = (Path(folder, name) for name in ("parameters.yaml", "log", "heard.json"))
        parameters = {
            "robot_description": chain_urdf(options.joints),
            "publish_frequency": 1e6,
            "invalid_positions": "refuse",
            "qos_overrides./joint_states.subscription.reliability": "reliable",
            "qos_overrides./joint_states.subscription.depth": 5000,
            "qos_overrides./tf.publisher.depth": 5000,
        }
        file.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))

        def start(module: str, *arguments: object, output: Any = None) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", module, *map(str, arguments)]
            process = subprocess.Popen(command, stdout=output, stderr=output and subprocess.STDOUT)
            stack.callback(process.kill)
            return process

        with log.open("wb") as output:
            process = start(
                "robot_semantics.ros", "robot_semantics_node", "--ros-args", "--params-file", file, output=output
            )
        listener = start("benchmark.node.tf_listener", heard, process.pid)
        callers = start("benchmark.node.callers", options.clients, options.changes, options.seconds, options.joints)
        _send(node, process.pid, heard, result, options, say)
        callers.terminate()
        # Messages of the node may still be on their way.
        time.sleep(2.0)
        listener.terminate()
        for helper in (callers, listener):
            helper.wait(30.0)
        process.send_signal(signal.SIGINT)
        result.exit_code = process.wait(30.0)
        lines = log.read_text().splitlines()
        result.faults = [line for line in lines if "Traceback" in line or "internal error" in line]
        told = json.loads(heard.read_text())
    result.missed = told["missed"]
    sent = set(result.good)
    for stamp_ns, took_s, worked_s in told["heard"]:
        # Before the first good message, all nodes had to discover each other.
        if stamp_ns >= result.good[0]:
            result.published.add(stamp_ns)
        if stamp_ns in sent:
            result.pause_s = max(result.pause_s, took_s)
            result.worked_s = max(result.worked_s, worked_s)
    return result


def _send(
    node: Any, pid: int, heard: Path, result: Soaked, options: argparse.Namespace, say: Callable[[str], None]
) -> None:
    names, kinds = joint_names(options.joints), list(SPOILT)
    publisher = node.create_publisher(JointState, "joint_states", DEEP)
    client = node.create_client(GetStatus, "/robot_semantics/get_status")
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)

    def status() -> Any:
        while True:
            future = client.call_async(GetStatus.Request())
            executor.spin_until_future_complete(future, 2.0)
            if future.done():
                return future.result()

    # The nodes have discovered each other when the first message is recorded.
    while not heard.exists():
        publisher.publish(_good(names, 0.0))
        time.sleep(0.2)
    before = status()
    begin, number, warm_bytes, next_report = time.perf_counter(), 0, 0, 10.0
    while (passed := time.perf_counter() - begin) < options.seconds:
        message = _good(names, number / options.rate)
        if number % ONE_IN == ONE_IN - 1:
            kind = kinds[(number // ONE_IN) % len(kinds)]
            publisher.publish(SPOILT[kind](message) or message)
            result.bad[kind] += 1
        else:
            stamp = message.header.stamp
            result.good.append(stamp.sec * 1_000_000_000 + stamp.nanosec)
            publisher.publish(message)
        number += 1
        time.sleep(max(0.0, number / options.rate - (time.perf_counter() - begin)))
        if not warm_bytes and passed > options.seconds / 2.0:
            warm_bytes = resident_bytes(pid)
        if passed > next_report:
            next_report += 30.0
            say(f"{passed:5.0f} s: {number:,} sent, {resident_bytes(pid):,} bytes")

    def received() -> int:
        return int(status().joint_states_received - before.joint_states_received)

    end = time.monotonic() + 20.0
    while received() < number and time.monotonic() < end:
        time.sleep(0.2)
    result.undelivered = number - received()
    result.growth_bytes = resident_bytes(pid) - warm_bytes
    now = status()
    counted = Counter({refusal.reason: int(refusal.count) for refusal in now.refusals})
    counted.subtract({refusal.reason: int(refusal.count) for refusal in before.refusals})
    result.refused = +counted
    executor.shutdown()


def _good(names: list[str], phase: float) -> JointState:
    message = JointState(name=names, position=[math.sin(phase + number) for number in range(len(names))])
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
    return message


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    """Run the soak test and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rate", type=float, default=500.0, metavar="HZ")
    parser.add_argument("--joints", type=int, default=40)
    parser.add_argument("--clients", type=int, default=50, help="clients that call the node's services all the time")
    parser.add_argument("--changes", type=int, help="changes of the description; by default one in 5 s")
    parser.add_argument(
        "--times",
        choices=("none", "work", "all"),
        default="work",
        help="what may not take longer than 50 ms a message: the node's own work (default), all of its way, or nothing",
    )
    arguments = parser.parse_args()
    if arguments.changes is None:
        arguments.changes = round(arguments.seconds / 5.0)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    result = soak(arguments, lambda line: print(line, flush=True))
    complaints = result.complaints()
    print(
        f"{len(result.good):,} good messages, {result.bad.total():,} bad, {result.undelivered} lost before the node,"
        f" {result.missed} after it; memory grew by {result.growth_bytes:,} bytes in the second half; the slowest"
        f" message took {result.pause_s * 1e3:.0f} ms; the most that the node worked before one came out was"
        f" {result.worked_s * 1e3:.0f} ms"
    )
    for complaint in complaints:
        print(f"WRONG: {complaint}")
    print("soak: failed" if complaints else "soak: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
