# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""CPU time and latency from a joint state to TF: our node, a naive node, and the lower limit.

Run: python -m benchmark.bench_node [--seconds S] [--rounds N] [--cases 40x100,40x1000,200x100,200x1000]
     [--node NAME=COMMAND...]

`naive` is a plain rclpy node with typed messages, `floor` takes bytes and publishes constant bytes. A `--node` is
measured beside them, for instance the C++ one: --node cpp="ros2 run robot_state_publisher robot_state_publisher". Every
process has the same publisher and one listener on /tf. CPU time is the scheduler's figure for all threads of the
process. Latency is from the joint state's stamp to the arrival of its transforms in this process. The nodes take turns,
and the result is the median of the rounds, so other load of the machine affects all of them equally.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
import yaml
from rclpy.impl.implementation_singleton import rclpy_implementation
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from benchmark.node.robots import chain_urdf, joint_names

NODES = {
    "naive": [sys.executable, "-m", "benchmark.node.naive"],
    "robot_semantics_node": [sys.executable, "-m", "robot_semantics.ros", "robot_semantics_node"],
    "floor": [sys.executable, "-m", "benchmark.node.floor"],
}
CASES = "40x100,40x1000,200x100,200x1000"


class Measured(NamedTuple):
    """One node at one rate: CPU a message [µs], latency [µs], and the part of the messages that came through."""

    cpu_us: float
    p50_us: float
    p99_us: float
    largest_us: float
    received: float


def main() -> None:
    """Prove that naive and ours say the same, then measure all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="time that is measured in each round")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each case")
    parser.add_argument("--cases", default=CASES, help="JOINTSxRATE, comma separated")
    parser.add_argument("--starts", type=int, default=5, help="starts timed of each node; 0: none")
    parser.add_argument("--node", action="append", default=[], metavar="NAME=COMMAND", help="another node to measure")
    arguments = parser.parse_args()
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    nodes = dict(NODES)
    for word in arguments.node:
        name, _, command = word.partition("=")
        nodes[name] = shlex.split(command)
    rclpy.init()
    listener = rclpy.create_node("bench_listener")
    try:
        _compare(listener, arguments, nodes)
    finally:
        listener.destroy_node()
        rclpy.try_shutdown()


def _compare(listener: Any, arguments: argparse.Namespace, nodes: dict[str, list[str]]) -> None:
    """Print all tables."""
    _prove_equal(listener)
    if arguments.starts:
        _time_start(listener, arguments.starts)
    columns = f"{'CPU/message':>12} {'p50':>8} {'p99':>8} {'maximum':>9} {'received':>9}   ratio"
    print(f"{'joints':>6} {'rate':>6}  {'node':<22} {columns}")
    for case in arguments.cases.split(","):
        joints, rate = (int(word) for word in case.split("x"))
        rounds: dict[str, list[Measured]] = {name: [] for name in nodes}
        for _ in range(arguments.rounds):
            for name, command in nodes.items():
                rounds[name].append(_measure(listener, command, joints, rate, arguments.seconds))
        results = {
            name: Measured(*(statistics.median(values) for values in zip(*found, strict=True)))
            for name, found in rounds.items()
        }
        ours, floor = results["robot_semantics_node"], results["floor"]
        for name, result in results.items():
            print(
                f"{joints:>6} {rate:>4}Hz  {name:<22} {result.cpu_us:>9.0f} µs {result.p50_us:>5.0f} µs"
                f" {result.p99_us:>5.0f} µs {result.largest_us:>6.0f} µs {100 * result.received:>8.1f}%"
                f"   {result.cpu_us / floor.cpu_us:.2f} × floor"
            )
        naive = results["naive"]
        print(f"{'':>14} ours is {naive.cpu_us / ours.cpu_us:.1f} × cheaper than naive", flush=True)


def _start(command: Sequence[str], joints: int, folder: str) -> subprocess.Popen[bytes]:
    file = Path(folder) / "parameters.yaml"
    parameters = {"robot_description": chain_urdf(joints), "publish_frequency": 1000000.0, "world_state_frequency": 0.0}
    file.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
    return subprocess.Popen([*command, "--ros-args", "--params-file", str(file)])


def _prove_equal(listener: Any) -> None:
    """Publish one joint state to naive and to ours and compare their transforms."""
    found = {}
    for name in ("naive", "robot_semantics_node"):
        messages: list[TFMessage] = []
        subscription = listener.create_subscription(TFMessage, "/tf", messages.append, 100)
        publisher = listener.create_publisher(JointState, "joint_states", 10)
        state = JointState(name=joint_names(40), position=[0.05 * number - 1.0 for number in range(40)])
        with tempfile.TemporaryDirectory() as folder:
            process = _start(NODES[name], 40, folder)
            while not messages:
                state.header.stamp = listener.get_clock().now().to_msg()
                publisher.publish(state)
                rclpy.spin_once(listener, timeout_sec=0.1)
            _end(process)
        found[name] = {item.child_frame_id: item for item in messages[-1].transforms}
        listener.destroy_subscription(subscription)
        listener.destroy_publisher(publisher)
    naive, ours = found["naive"], found["robot_semantics_node"]
    assert set(naive) == set(ours)
    worst = 0.0
    for frame, item in naive.items():
        assert item.header.frame_id == ours[frame].header.frame_id
        for part, fields in (("translation", "xyz"), ("rotation", "xyzw")):
            for field in fields:
                one, other = (getattr(getattr(it.transform, part), field) for it in (item, ours[frame]))
                worst = max(worst, abs(one - other))
    assert worst < 1e-12, worst
    print(f"equal: {len(naive)} transforms of naive and ours differ by at most {worst:.1e}")


def _time_start(listener: Any, starts: int) -> None:
    """Print how long it takes from the start of a process to its first message on /tf, for a robot of 50 links."""
    times: dict[str, list[float]] = {"bare rclpy node": [], "robot_semantics_node": []}
    commands = {
        "bare rclpy node": [sys.executable, "-m", "benchmark.node.bare"],
        "robot_semantics_node": NODES["robot_semantics_node"],
    }
    for _ in range(starts):
        for name, command in commands.items():
            heard: list[bytes] = []
            subscription = listener.create_subscription(TFMessage, "/tf", heard.append, 100, raw=True)
            publisher = subprocess.Popen([sys.executable, "-m", "benchmark.node.publisher", "45", "100", "60"])
            time.sleep(2.0)
            with tempfile.TemporaryDirectory() as folder:
                begin = time.perf_counter()
                node = _start(command, 45, folder)
                while not heard:
                    rclpy.spin_once(listener, timeout_sec=0.1)
                times[name].append(time.perf_counter() - begin)
                _end(node)
            _end(publisher)
            listener.destroy_subscription(subscription)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(f"start to first message on /tf, 50 links: {name:<22} {median:.2f} s")
    more = medians["robot_semantics_node"] - medians["bare rclpy node"]
    print(f"{'':>43}that is {more:.2f} s beyond rclpy's own start")


def _measure(listener: Any, command: Sequence[str], joints: int, rate: int, seconds: float) -> Measured:
    subscription = listener.create_subscription(TFMessage, "/tf", lambda _data: None, 100, raw=True)
    handle = subscription.handle
    wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, listener.context.handle)
    warm_up = 2.0
    with tempfile.TemporaryDirectory() as folder:
        node = _start(command, joints, folder)
        publisher = subprocess.Popen(
            [sys.executable, "-m", "benchmark.node.publisher", str(joints), str(rate), str(seconds + warm_up + 1.0)]
        )
        latencies: list[int] = []
        first = begin = cpu_begin = None
        give_up = time.perf_counter() + warm_up + seconds + 30.0
        while True:
            wait_set.clear_entities()
            wait_set.add_subscription(handle)
            wait_set.wait(100_000_000)
            now_ns, now_s = time.time_ns(), time.perf_counter()
            if now_s > give_up:
                _end(node)
                _end(publisher)
                raise RuntimeError(f"{shlex.join(command)}: too little came on /tf")
            while (taken := handle.take_message(TFMessage, True)) is not None:
                if first is None:
                    first = now_s
                if begin is not None:
                    second, nanosecond = struct.unpack_from("<iI", taken[0], 8)
                    latencies.append(now_ns - second * 1_000_000_000 - nanosecond)
            if first is not None and begin is None and now_s - first > warm_up:
                begin, cpu_begin = now_s, cpu_ns(node.pid)
            if begin is not None and now_s - begin > seconds:
                break
        assert cpu_begin is not None
        cpu = cpu_ns(node.pid) - cpu_begin
        expected = rate * (time.perf_counter() - begin)
        _end(node)
        _end(publisher)
    listener.destroy_subscription(subscription)
    if not latencies:
        raise RuntimeError(f"{shlex.join(command)}: nothing came on /tf after the warm-up")
    ordered = sorted(latencies)
    return Measured(
        cpu / 1000.0 / len(latencies),
        statistics.median(ordered) / 1000.0,
        ordered[int(0.99 * len(ordered))] / 1000.0,
        ordered[-1] / 1000.0,
        len(latencies) / expected,
    )


def cpu_ns(pid: int) -> int:
    """Return the CPU time [ns] that all threads of a process have had."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
