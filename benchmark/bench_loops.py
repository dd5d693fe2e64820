# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Cost of closed loops: CPU time of a joint state for a six-bar linkage, and 10,000 configurations together.

Run: python -m benchmark.bench_loops

The same joint states go to the robot with its two constraints and to the robot without them, in turns, in this process:
from the bytes of the message to the bytes for TF. The open robot takes the node's fast path.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_semantics.cdr.joint_states import JointStateReader
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import RobotModel

MESSAGES, ROUNDS, BATCH = 2000, 9, 10_000
RATE_HZ, SPEED = 100.0, 2.0
LINKS = ("base", "crank", "coupler", "rocker", "coupler2", "rocker2")
JOINTS = (
    ("crank", "base", 0.0),
    ("coupler", "crank", 0.1),
    ("rocker", "base", 0.4),
    ("coupler2", "rocker", 0.15),
    ("rocker2", "base", 0.9),
)
PINS = (("coupler", 0.35, "rocker", 0.3), ("coupler2", 0.5, "rocker2", 0.3))
PASSIVE = ("coupler", "rocker", "coupler2", "rocker2")


def six_bar(*, closed: bool) -> RobotModel:
    """Return two four-bar linkages: the rocker of the first drives the second; `closed` adds their constraints."""
    parts = [f'<link name="{name}"/>' for name in LINKS]
    parts += [
        f'<joint name="j_{child}" type="continuous"><origin xyz="{x} 0 0"/><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="0 0 1"/></joint>'
        for child, parent, x in JOINTS
    ]
    parts += [
        f'<constraint name="pin_{a}" type="revolute"><parent link="{a}"/><parent_origin xyz="{x} 0 0"/>'
        f'<parent_axis xyz="0 0 1"/><child link="{b}"/><child_origin xyz="{y} 0 0"/></constraint>'
        for a, x, b, y in PINS
        if closed
    ]
    srdf = "".join(f'<passive_joint name="j_{name}"/>' for name in PASSIVE)
    return robot_from_text(f'<robot name="six_bar">{"".join(parts)}</robot>', f'<robot name="six_bar">{srdf}</robot>')


class Fed:
    """A robot that gets messages as the node gives them."""

    def __init__(self, model: RobotModel) -> None:
        self._robot = RunningRobot("r", model, RobotSettings(publish_interval_ns=0))
        self._reader = JointStateReader()

    def take(self, data: bytes) -> None:
        """Read one message and make the bytes for TF."""
        for layout in self._robot.fast_path.layouts:
            if layout.take(data, lambda: 1) is not None:
                return
        if not self._robot.joint_state(self._reader.read(data), lambda: 1):
            raise SystemExit("bench_loops: nothing is published")


def messages(loops: ClosedLoops, first: int, count: int) -> list[bytes]:
    """Return joint states of all joints at the closed positions of a turning crank."""
    theta = loops.home.q[0, loops.space.index["j_crank"]] + np.arange(first, first + count) * SPEED / RATE_HZ
    q = np.tile(loops.home.q[0], (count, 1))
    q[:, loops.space.index["j_crank"]] = theta
    found = loops.close_series(q)
    result = []
    for number, row in enumerate(found.q, first + 1):
        message = JointState(name=list(loops.space.names), position=row.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(number * 1e9 / RATE_HZ), 10**9)
        result.append(serialize_message(message))
    return result


def main() -> None:
    """Measure both."""
    loops = ClosedLoops.of(six_bar(closed=True))
    assert loops is not None
    pair = {"open": Fed(six_bar(closed=False)), "closed": Fed(six_bar(closed=True))}
    times: dict[str, list[float]] = {name: [] for name in pair}
    for number in range(ROUNDS):
        data = messages(loops, number * MESSAGES, MESSAGES)
        for name, robot in pair.items():
            start = time.process_time()
            for item in data:
                robot.take(item)
            times[name].append((time.process_time() - start) / MESSAGES * 1e6)
    medians = {name: statistics.median(rounds[1:]) for name, rounds in times.items()}
    added = statistics.median(b - a for a, b in zip(times["open"][1:], times["closed"][1:], strict=True))
    print(f"a joint state of a six-bar linkage: open {medians['open']:.1f} µs, closed {medians['closed']:.1f} µs")
    print(f"added by two closed loops: {added:.1f} µs CPU a message (median of {ROUNDS - 1} pairs)")
    q = np.tile(loops.home.q, (BATCH, 1))
    q[:, loops.space.index["j_crank"]] = np.random.default_rng(0).uniform(-np.pi, np.pi, BATCH)
    batches = []
    for _ in range(ROUNDS):
        start = time.process_time()
        found = loops.close(q, other_branches=False)
        batches.append(time.process_time() - start)
    gap = float(found.position_error[found.closed].max())
    print(
        f"{BATCH} random configurations together: {statistics.median(batches):.2f} s CPU, "
        f"{found.closed.mean():.1%} close, residual at most {gap:.1g} m"
    )
    start = time.process_time()
    q[:, loops.space.index["j_crank"]] = np.arange(BATCH) * SPEED / RATE_HZ
    found = loops.close_series(q)
    print(
        f"{BATCH} configurations of a series: {time.process_time() - start:.2f} s CPU, {found.closed.mean():.1%} close"
    )


if __name__ == "__main__":
    main()
