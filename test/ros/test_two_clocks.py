# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Publishers with different clocks and latencies, live over DDS into a tf2 buffer: every value is at its own stamp."""

from __future__ import annotations

import heapq
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pytest
import rclpy
import tf2_ros
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from robot_semantics_interfaces.msg import WorldState
from robot_semantics_interfaces.srv import GetCurrentState, GetStatus, GetWorldState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.nodes import Client, NodeProcess, joint_state
from tf2_msgs.msg import TFMessage

from robot_semantics.usdf.reader import parse_world

pytestmark = pytest.mark.ros

S = 1_000_000_000
NODE = "/robot_semantics"
OFFSETS_S = (-3600.0, -70.0, -3.0, -0.3, 0.0, 0.3, 2.0, 1000.0)
LATENCIES_S = (0.0, 0.15, 0.3)
SECONDS = 6.0
RELIABLE = {
    f"qos_overrides./{topic}.subscription.{name}": value
    for topic in ("joint_states", "odom")
    for name, value in (("depth", 5000), ("reliability", "reliable"))
}


class Cell(NamedTuple):
    """A sender: its clock [s], the latency of its messages [s] and its rate [Hz]."""

    offset_s: float
    latency_s: float
    rate_hz: int


CELLS = [
    *(Cell(offset, latency, rate) for offset, latency, rate in product(OFFSETS_S, LATENCIES_S, (4, 50))),
    Cell(0.0, 0.0, 500),
    Cell(-3.0, 0.15, 500),
    Cell(0.3, 0.3, 500),
]
BASE = Cell(-0.3, 0.2, 50)
"""The odometry of the base."""
FRAMES = [Cell(offset, 0.15, 50) for offset in OFFSETS_S]
"""Transforms of other nodes."""


def f(seconds: float) -> float:
    return float(np.sin(np.pi * seconds))


def urdf(count: int) -> str:
    joints = "".join(
        f'<link name="l{number}"/><joint name="j{number}" type="prismatic"><parent link="base"/>'
        f'<child link="l{number}"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="9"/></joint>'
        for number in range(count)
    )
    return f'<robot name="m"><link name="base"/>{joints}</robot>'


SRDF = (
    '<robot name="m"><virtual_joint name="w" type="planar" parent_frame="odom" child_link="base"/>'
    '<group name="base"><joint name="w"/></group></robot>'
)


class Sent:
    """What one sender has sent: stamps [ns], values, and the times of sending [s]."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.stamps: list[int] = []
        self.times: list[float] = []

    def truth(self, stamp_ns: int) -> float:
        return f(stamp_ns / S - self.cell.offset_s)


class Schedule:
    """Publishes the messages of all senders at their times, in the test's thread."""

    def __init__(self, client: Client) -> None:
        self._joints = client.publisher(JointState, "joint_states", QoSProfile(depth=5000))
        self._odometry = client.publisher(Odometry, "odom", QoSProfile(depth=5000))
        self._tf = client.node.create_publisher(TFMessage, "/tf", 100)
        self.joints = [Sent(cell) for cell in CELLS]
        self.base = Sent(BASE)
        self.frames = [Sent(cell) for cell in FRAMES]

    def run(self, seconds: float) -> None:
        begin, steady = time.time(), time.monotonic()
        senders = [
            *((sent, self._joint, number) for number, sent in enumerate(self.joints)),
            (self.base, self._base, 0),
            *((sent, self._frame, number) for number, sent in enumerate(self.frames)),
        ]
        rng = np.random.default_rng(0)
        heap = [
            (begin + sent.cell.latency_s + rng.uniform(0.0, 1.0 / sent.cell.rate_hz), index)
            for index, (sent, *_) in enumerate(senders)
        ]
        heapq.heapify(heap)
        while heap[0][0] < begin + seconds:
            left = heap[0][0] - begin - (time.monotonic() - steady)
            if left > 0.0:
                time.sleep(left)
            when, index = heapq.heappop(heap)
            sent, publish, number = senders[index]
            cell = sent.cell
            stamp = round((when - cell.latency_s + cell.offset_s) * 1e6) * 1000
            publish(number, stamp, sent.truth(stamp))
            sent.stamps.append(stamp)
            sent.times.append(time.monotonic())
            heapq.heappush(heap, (when + 1.0 / cell.rate_hz, index))

    def _joint(self, number: int, stamp: int, value: float) -> None:
        self._joints.publish(joint_state({f"j{number}": value}, stamp))

    def _base(self, _number: int, stamp: int, value: float) -> None:
        message = Odometry(child_frame_id="base")
        message.header = transform("odom", "base", stamp, value).header
        message.pose.pose.position.x = value
        message.pose.pose.orientation.w = 1.0
        self._odometry.publish(message)

    def _frame(self, number: int, stamp: int, value: float) -> None:
        self._tf.publish(TFMessage(transforms=[transform("map", f"t{number}", stamp, value)]))


def transform(parent: str, child: str, stamp_ns: int, x: float) -> TransformStamped:
    item = TransformStamped(child_frame_id=child)
    item.header.frame_id = parent
    item.header.stamp.sec, item.header.stamp.nanosec = divmod(stamp_ns, S)
    item.transform.translation.x = x
    item.transform.rotation.w = 1.0
    return item


class Listener:
    """A tf2 buffer; the messages are taken as bytes in a thread of their own, and put into it at the end."""

    def __init__(self, domain: int) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self._node = rclpy.create_node("listener", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._messages: list[bytes] = []
        self._node.create_subscription(TFMessage, "/tf", self._messages.append, 5000, raw=True)
        self.buffer = tf2_ros.Buffer(cache_time=Duration(seconds=100))
        self.stamps: dict[str, list[int]] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stopped.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self._stopped.set()
        self._thread.join()
        for data in self._messages:
            for item in deserialize_message(data, TFMessage).transforms:
                self.buffer.set_transform(item, "node")
                stamp = item.header.stamp.sec * S + item.header.stamp.nanosec
                self.stamps.setdefault(item.child_frame_id, []).append(stamp)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def x(self, parent: str, child: str, stamp_ns: int) -> float:
        found = self.buffer.lookup_transform(parent, child, Time(nanoseconds=stamp_ns))
        return float(found.transform.translation.x)


class Matrix(NamedTuple):
    """What was sent, what a tf2 buffer has, and what the node says at the end."""

    sent: Schedule
    heard: Listener
    world: Any
    status: Any


@pytest.fixture(scope="module")
def matrix(client: Client, start: Callable[..., NodeProcess]) -> Matrix:
    start(
        robot_description=urdf(len(CELLS)),
        robot_description_semantic=SRDF,
        virtual_joints__w__source="odometry",
        virtual_joints__w__topic="odom",
        publish_frequency=10_000.0,
        world_state_frequency=0.0,
        **RELIABLE,
    )
    schedule, listener = Schedule(client), Listener(client.domain)
    try:
        schedule.run(SECONDS)
        total = sum(len(sent.stamps) for sent in schedule.joints)

        received = -1
        while (now := client.call(GetStatus, f"{NODE}/get_status").joint_states_received) != received:
            received = now
            client.spin_for(1.0)
        assert received == total
        request = GetWorldState.Request(with_text=True)
        world = parse_world(client.call(GetWorldState, f"{NODE}/get_world_state", request).text)
        status = client.call(GetStatus, f"{NODE}/get_status")
    finally:
        listener.close()
    return Matrix(schedule, listener, world, status)


def was_silent(sent: Sent, stamp_ns: int) -> bool:
    """Return True if the test itself, on a busy machine, fell silent after the last stamp before a time."""
    at = bisect_right(sent.stamps, stamp_ns)
    last = sent.times[at] if at < len(sent.times) else sent.times[-1] + 1.0
    return bool(last - sent.times[max(0, at - 1)] > max(0.08, 2.0 / sent.cell.rate_hz))


def faults(parent: str, child: str, sent: Sent, heard: Listener) -> Iterator[str]:
    """Yield what a buffer has wrong about one frame."""
    known = set(sent.stamps)
    stamps = sorted(set(heard.stamps.get(child, ())))
    real = [stamp for stamp in stamps if stamp in known]
    # On a busy machine, a part of the messages is lost on the way to this test.
    if len(real) < 0.3 * len(known):
        yield f"{child} {sent.cell}: {len(real)} of {len(known)} transforms"
    for stamp in real:
        error = abs(heard.x(parent, child, stamp) - sent.truth(stamp))
        if error > 1e-9:
            yield f"{child} {sent.cell}: {error} off at a stamp of its own"
    held = [stamp for stamp in stamps if stamp not in known and sent.stamps[0] < stamp < sent.stamps[-1]]
    # A busy machine may deliver messages late, so a few held values are right.
    if sum(not was_silent(sent, stamp) for stamp in held) > 5 + 0.02 * len(known):
        yield f"{child} {sent.cell}: held, although its messages came: {len(held)} times"
    # Between two stamps, tf2 interpolates linearly.
    for before, after in pairwise(real):
        middle, gap_s = (before + after) // 2, (after - before) / S
        if not any(before < stamp < after for stamp in held):
            error = abs(heard.x(parent, child, middle) - sent.truth(middle))
            if error > np.pi**2 / 8.0 * gap_s**2 + 1e-6:
                yield f"{child} {sent.cell}: {error} off between stamps {gap_s} s apart"


def test_every_joint_is_where_it_was_at_its_own_stamps(matrix: Matrix) -> None:
    bad = [
        fault
        for number, sent in enumerate(matrix.sent.joints)
        for fault in faults("base", f"l{number}", sent, matrix.heard)
    ]
    assert not bad, "\n".join(bad[:20])


def test_the_base_by_late_odometry_is_where_it_was_at_its_own_stamps(matrix: Matrix) -> None:
    bad = list(faults("odom", "base", matrix.sent.base, matrix.heard))
    assert not bad, "\n".join(bad[:20])


def test_the_world_state_has_the_newest_value_of_every_sender(matrix: Matrix) -> None:
    (model,) = matrix.world.models
    for number, sent in enumerate(matrix.sent.joints):
        assert model.joint(f"j{number}").positions == pytest.approx((sent.truth(sent.stamps[-1]),), abs=1e-9)
    assert model.pose.xyz_rpy[0] == pytest.approx(matrix.sent.base.truth(matrix.sent.base.stamps[-1]), abs=1e-9)
    for number, sent in enumerate(matrix.sent.frames):
        # Transforms are listened to every 50 ms, and from the first second on.
        pose = matrix.world.frame(f"t{number}").pose
        assert min(abs(pose.xyz_rpy[0] - sent.truth(stamp)) for stamp in sent.stamps[-20:]) < 1e-9
    # The clock that most senders share is that of this computer.
    stamps = [sent.stamps[-1] for sent in matrix.sent.joints if abs(sent.cell.offset_s) < 4.0]
    assert matrix.world.time_ns in stamps


def test_the_status_tells_which_clock_is_off(matrix: Matrix) -> None:
    rows = {tuple(row.names): row for row in matrix.status.senders}
    reference = matrix.status.senders[0]
    assert reference.topic == "/joint_states"
    for number, sent in enumerate(matrix.sent.joints):
        row, cell = rows[f"j{number}",], sent.cell
        assert list(row.publishers) == ["/test_client"]
        # While nothing comes, a clock goes on by the steady clock.
        assert row.node_offset == pytest.approx(cell.offset_s - cell.latency_s, abs=0.15)
        assert row.offset == pytest.approx(row.node_offset - reference.node_offset, abs=1e-6)
        assert row.messages == len(sent.stamps)
    assert rows["odom", "base"].kind == "odometry"
    assert rows["odom", "base"].node_offset == pytest.approx(BASE.offset_s - BASE.latency_s, abs=0.15)
    for number, sent in enumerate(matrix.sent.frames):
        assert rows["map", f"t{number}"].node_offset == pytest.approx(sent.cell.offset_s - 0.15, abs=0.3)


def test_two_publishers_of_the_same_joints_are_named(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=urdf(2), diagnostics_period=0.2, ros_args=["-r", "__ns:=/both", "-r", "/tf:=tf"])
    status = client.collect(DiagnosticArray, "/diagnostics", 10)
    other = Client(client.domain, "joint_state_publisher")
    try:
        broadcaster = client.publisher(JointState, "/both/joint_states")
        publisher = other.publisher(JointState, "/both/joint_states")
        end = time.monotonic() + 20.0
        number = 0
        while "come from several publishers" not in node.output and time.monotonic() < end:
            now = time.time_ns()
            broadcaster.publish(joint_state({"j0": 1.0, "j1": 1.0}, now))
            if number % 2:
                # Two seconds behind: neither late nor a reset.
                publisher.publish(joint_state({"j0": 0.0, "j1": 0.0}, now - 2 * S))
            number += 1
            client.spin_for(0.05)
        (line,) = [line for line in node.output.splitlines() if "come from several publishers" in line]
        assert (
            "'j0', 'j1' come from several publishers on joint_states: /joint_state_publisher and /test_client" in line
        )
        client.until(
            lambda: any(
                "2 joints from several publishers" in item.message and item.level == b"\x01"
                for message in status
                for item in message.status
            ),
            "the diagnostics",
        )
        found = client.call(GetStatus, "/both/robot_semantics/get_status")
        assert [row.state for row in found.senders] == ["several publishers"]
        assert not found.refusals
        assert "the clock was reset" not in node.output
    finally:
        other.close()


def test_the_current_state_of_a_root_link_on_tf_is_the_newest(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    start(
        robot_description=urdf(1),
        robot_description_semantic=SRDF,
        virtual_joints__w__source="tf",
        ros_args=["-r", "__ns:=/follow", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"],
    )
    publisher = client.publisher(TFMessage, "/follow/tf")
    request = GetCurrentState.Request(group="base")
    behind: list[float] = []
    begin = time.time()
    while time.time() < begin + 4.0:
        now = time.time()
        publisher.publish(TFMessage(transforms=[transform("odom", "base", round(now * S), now - begin)]))
        client.spin_for(0.02)
        if now > begin + 1.0 and len(behind) < 60:
            sent = time.time()
            answer = client.call(GetCurrentState, "/follow/robot_semantics/get_current_state", request)
            if answer.success and time.time() - sent < 0.5:
                behind.append(now - begin - answer.state.values[0])
    assert len(behind) > 5
    # TF is read every 50 ms.
    assert np.median(behind) < 0.2


def test_a_fast_clock_of_a_simulator_leaves_the_rate_of_the_world(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    start(
        robot_description=urdf(1),
        world_state_frequency=5.0,
        use_sim_time=True,
        ros_args=["-r", "__ns:=/fast", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static", "-r", "/clock:=clock"],
    )
    worlds = client.collect(WorldState, "/fast/robot_semantics/world_state")
    clock = client.publisher(Clock, "/fast/clock")
    publisher = client.publisher(JointState, "/fast/joint_states")
    begin = time.monotonic()

    def run(seconds: float) -> int:
        worlds.clear()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # A hundred seconds of the simulator in one.
            message = joint_state({"j0": time.monotonic() % 1.0}, round((time.monotonic() - begin) * 100 * S))
            clock.publish(Clock(clock=message.header.stamp))
            publisher.publish(message)
            client.spin_for(0.02)
        return len(worlds)

    client.until(lambda: run(0.3), "the world")
    assert 10 <= run(3.0) <= 18
