# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Cost of closed loops: CPU time of a joint state for a six-bar linkage, and 10,000 configurations together.

The peer of the 10,000 configurations is Newton's method with pinocchio's constraints and Jacobians, in a plain loop.

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
PEER_BATCH, PEER_STEPS, PEER_ERROR = 1000, 60, 1e-10
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


class Peer:
    """Newton's method on pinocchio's own constraints."""

    def __init__(self, model: RobotModel) -> None:
        import pinocchio

        self._pinocchio = pinocchio
        self._model = pinocchio.buildModelFromXML(model.urdf_text)
        self._data = self._model.createData()
        self._names = [joint.name for joint in model.joints if joint.name.startswith("j_")]
        self._joints = [self._model.joints[self._model.getJointId(name)] for name in self._names]
        self._passive = [self._model.joints[self._model.getJointId(f"j_{name}")].idx_v for name in PASSIVE]
        self._constraints = []
        for parent, x, child, y in PINS:
            places = [(self._model.getJointId(f"j_{link}"), at) for link, at in ((parent, x), (child, y))]
            frames = [(joint, pinocchio.SE3(np.eye(3), np.array([at, 0.0, 0.0]))) for joint, at in places]
            kind, axes = pinocchio.ContactType.CONTACT_3D, pinocchio.ReferenceFrame.LOCAL
            constraint = pinocchio.RigidConstraintModel(kind, self._model, *frames[0], *frames[1], axes)
            self._constraints.append((constraint, constraint.createData()))

    def configuration(self, loops: ClosedLoops, q: np.ndarray) -> np.ndarray:
        """Return positions (size,) of this package as pinocchio's, in which an angle is a cosine and a sine."""
        result = np.empty(self._model.nq)
        for name, joint in zip(self._names, self._joints, strict=True):
            angle = q[loops.space.index[name]]
            result[joint.idx_q : joint.idx_q + 2] = np.cos(angle), np.sin(angle)
        return result

    def errors(self, q: np.ndarray) -> np.ndarray:
        """Return how far the pins are open in their plane [m]; prepare the Jacobians."""
        self._pinocchio.computeJointJacobians(self._model, self._data, q)
        for constraint, data in self._constraints:
            constraint.calc(self._model, self._data, data)
        return np.concatenate([data.c1Mc2.translation[:2] for _, data in self._constraints])

    def close(self, q: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return closed positions and whether they close."""
        for _ in range(PEER_STEPS):
            errors = self.errors(q)
            if np.abs(errors).max() < PEER_ERROR:
                return q, True
            each = [self._pinocchio.getConstraintJacobian(self._model, self._data, *item) for item in self._constraints]
            J = np.concatenate([part[:2] for part in each])
            step = np.zeros(self._model.nv)
            step[self._passive] = np.linalg.solve(J[:, self._passive], errors)
            # A long step leaves the part of the curve that the Jacobian describes.
            q = self._pinocchio.integrate(self._model, q, step / max(np.linalg.norm(step), 1.0))
        return q, False


def compare_with_pinocchio(loops: ClosedLoops, start: np.ndarray, closed: np.ndarray, seconds: float) -> None:
    """Print the time of the peer for the same configurations; first prove that ours close its constraints."""
    peer = Peer(six_bar(closed=False))
    gap = max(float(np.abs(peer.errors(peer.configuration(loops, q))).max()) for q in closed)
    assert gap < PEER_ERROR, gap
    starts = [peer.configuration(loops, q) for q in start[:PEER_BATCH]]
    begun = time.process_time()
    found = [peer.close(q) for q in starts]
    own = (time.process_time() - begun) * len(closed) / PEER_BATCH
    print(
        f"pinocchio's Newton in a loop: {own:.2f} s CPU for {len(closed)} (from {PEER_BATCH}), "
        f"{np.mean([closes for _, closes in found]):.1%} close; ours / pinocchio {seconds / own:.2f}"
    )


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
    compare_with_pinocchio(loops, q, found.q, statistics.median(batches))
    start = time.process_time()
    q[:, loops.space.index["j_crank"]] = np.arange(BATCH) * SPEED / RATE_HZ
    found = loops.close_series(q)
    print(
        f"{BATCH} configurations of a series: {time.process_time() - start:.2f} s CPU, {found.closed.mean():.1%} close"
    )


if __name__ == "__main__":
    main()
