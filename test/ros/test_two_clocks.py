# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Publishers with different clocks and latencies, live over DDS into a tf2 buffer: every value is at its own stamp."""

from __future__ import annotations

import heapq
import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from robot_semantics_interfaces.msg import WorldState
from robot_semantics_interfaces.srv import GetCurrentState, GetStatus, GetWorldState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.bags import Tape, Tools
from support.nodes import Client, NodeProcess, joint_state
from support.tf_listener import Listener, transform
from tf2_msgs.msg import TFMessage

from robot_semantics.usdf.reader import parse_world

pytestmark = pytest.mark.ros

S = 1_000_000_000
NODE = "/robot_semantics"
OFFSETS_S = (-3600.0, -70.0, -3.0, -0.3, 0.0, 0.3, 2.0, 1000.0)
LATENCIES_S = (0.0, 0.15, 0.3)
LONGER = float(os.environ.get("LONGER", "1"))
"""`make soak` sends for a longer time."""
SECONDS = {"joints": 5.0 * LONGER, "odometry": 4.0 * LONGER, "tf": 3.0 * LONGER}
DEPTH = 20_000
RELIABLE = {"depth": DEPTH, "reliability": "reliable"}


class Cell(NamedTuple):
    """A sender: its clock [s], the latency of its messages [s] and its rate [Hz]."""

    offset_s: float
    latency_s: float
    rate_hz: int

    @property
    def is_shifted(self) -> bool:
        """True if a recording shifts it as a whole."""
        return abs(self.offset_s - self.latency_s) > 10.0


CELLS = [
    *(Cell(offset, latency, rate) for offset, latency, rate in product(OFFSETS_S, LATENCIES_S, (4, 50))),
    Cell(0.0, 0.0, 500),
    Cell(-3.0, 0.15, 500),
    Cell(0.3, 0.3, 500),
]
BASE = Cell(-0.3, 0.2, 50)
"""The odometry of the base."""


def f(seconds: float) -> float:
    return float(np.sin(np.pi * seconds))


def urdf(count: int) -> str:
    joints = "".join(
        f'<link name="l{number}"/><joint name="j{number}" type="prismatic"><parent link="base"/>'
        f'<child link="l{number}"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="9"/></joint>'
        for number in range(count)
    )
    return f'<robot name="m"><link name="base"/>{joints}</robot>'


def srdf(parent_frame: str) -> str:
    return (
        f'<robot name="m"><virtual_joint name="w" type="planar" parent_frame="{parent_frame}" child_link="base"/>'
        '<group name="base"><joint name="w"/></group></robot>'
    )


def reliable(*topics: str) -> dict[str, Any]:
    """Return the parameters by which a node misses no message."""
    return {
        f"qos_overrides./{topic}.subscription.{name}": value for topic in topics for name, value in RELIABLE.items()
    }


class Sent:
    """What one sender has sent: stamps [ns], values, and the times of sending on both clocks [s]."""

    def __init__(self, cell: Cell, publish: Callable[[int, float], None]) -> None:
        self.cell, self.publish = cell, publish
        self.stamps: list[int] = []
        self.times: list[float] = []
        self.logs: list[float] = []

    def truth(self, stamp_ns: int) -> float:
        return f(stamp_ns / S - self.cell.offset_s)

    def send(self, when_s: float) -> None:
        """Publish the message that is due at a time."""
        stamp = round((when_s - self.cell.latency_s + self.cell.offset_s) * 1e6) * 1000
        self.publish(stamp, self.truth(stamp))
        self.stamps.append(stamp)
        self.times.append(time.monotonic())
        self.logs.append(time.time())

    @property
    def last_offset_s(self) -> float:
        """How far the newest stamp was from the time at which it was sent; on a busy machine it is sent late."""
        return self.stamps[-1] / S - self.logs[-1]


class Brake:
    """Holds the senders back while many messages are on their way.

    Behind a reader with thousands of unread messages, the middleware takes milliseconds for each. Then this test would
    measure how fast the machine is.
    """

    MOST, PATIENCE_S = 20, 0.5

    def __init__(self, listener: Listener) -> None:
        self._listener, self._passed = listener, listener.count

    def wait(self, most: int = MOST) -> float:
        """Wait until a message may be sent with which at most so many are on their way; return for how long [s].

        What was lost is not waited for again.
        """
        # Held values are heard as well.
        self._passed = max(self._passed, self._listener.count) + 1
        begin = time.monotonic()
        while self._passed - self._listener.count > most:
            if time.monotonic() - begin > self.PATIENCE_S:
                self._passed = self._listener.count
            time.sleep(0.001)
        return time.monotonic() - begin


def run(senders: Sequence[Sent], seconds: float, listener: Listener, quick_s: float = 1.0) -> None:
    """Publish the messages of all senders at their times, in the test's thread; those of 500 Hz only at the end.

    While the listener is far behind, time stands still for all senders. At the end, each sends one more message alone.
    """
    begin, steady = time.time(), time.monotonic()
    brake = Brake(listener)
    waited_s = 0.0
    rng = np.random.default_rng(0)
    # Whoever listens is not found at once: what comes in a short time at first may be lost whole.
    first = {500: seconds - quick_s}
    heap = [
        (begin + first.get(cell.rate_hz, 0.0) + cell.latency_s + rng.uniform(0.0, 1.0 / cell.rate_hz), index)
        for index, cell in enumerate(sent.cell for sent in senders)
    ]
    heapq.heapify(heap)
    while heap[0][0] < begin + seconds:
        waited_s += brake.wait()
        left = heap[0][0] - begin + waited_s - (time.monotonic() - steady)
        if left > 0.0:
            time.sleep(left)
        when, index = heapq.heappop(heap)
        senders[index].send(when + waited_s)
        heapq.heappush(heap, (when + 1.0 / senders[index].cell.rate_hz, index))
    # The node knows a sender's clock by its newest message: none waits behind others, however busy the machine is.
    for sent in senders:
        brake.wait(most=1)
        sent.send(time.time())


def joint_senders(client: Client, topic: str, cells: Mapping[str, Cell]) -> list[Sent]:
    """Return a sender of each joint, all on one topic."""
    publisher = client.publisher(JointState, topic, QoSProfile(depth=DEPTH))

    def sender(joint: str) -> Callable[[int, float], None]:
        return lambda stamp, value: publisher.publish(joint_state({joint: value}, stamp))

    return [Sent(cell, sender(joint)) for joint, cell in cells.items()]


def odometry_sender(client: Client, topic: str, parent: str, child: str, cell: Cell) -> Sent:
    publisher = client.publisher(Odometry, topic, QoSProfile(depth=DEPTH))

    def publish(stamp: int, value: float) -> None:
        message = Odometry(child_frame_id=child)
        message.header = transform(parent, child, stamp, value).header
        message.pose.pose.position.x = value
        message.pose.pose.orientation.w = 1.0
        publisher.publish(message)

    return Sent(cell, publish)


def frame_senders(client: Client, cells: Mapping[str, Cell]) -> list[Sent]:
    """Return a sender of each frame in `map`."""
    publisher = client.node.create_publisher(TFMessage, "/tf", DEPTH)

    def sender(child: str) -> Callable[[int, float], None]:
        return lambda stamp, value: publisher.publish(TFMessage(transforms=[transform("map", child, stamp, value)]))

    return [Sent(cell, sender(child)) for child, cell in cells.items()]


class Matrix(NamedTuple):
    """What was sent, what a tf2 buffer has, and what the node says at the end."""

    joints: list[Sent]
    bases: list[Sent]
    heard: Listener
    world: Any
    status: Any


def wait_for_all(client: Client, node: str, senders: Sequence[Sent]) -> None:
    """Wait until a node has handled what was sent."""
    total = sum(len(sent.stamps) for sent in senders)
    client.until(
        lambda: sum(row.messages for row in client.call(GetStatus, f"{node}/get_status").senders) >= total,
        "all messages",
    )


def state_of(client: Client, node: str) -> tuple[Any, Any]:
    """Return the world state and the status of a node."""
    request = GetWorldState.Request(with_text=True)
    world = parse_world(client.call(GetWorldState, f"{node}/get_world_state", request).text)
    return world, client.call(GetStatus, f"{node}/get_status")


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess]) -> NodeProcess:
    return start(
        robot_description=urdf(len(CELLS)),
        robot_description_semantic=srdf("odom"),
        virtual_joints__w__source="odometry",
        virtual_joints__w__topic="odom",
        publish_frequency=10_000.0,
        world_state_frequency=0.0,
        **reliable("joint_states", "odom"),
    )


@pytest.fixture(scope="module")
def matrix(client: Client, node: NodeProcess) -> Matrix:
    """Return every cell as the sender of a joint of one robot, whose base has late odometry."""
    joints = joint_senders(client, "joint_states", {f"j{number}": cell for number, cell in enumerate(CELLS)})
    base = odometry_sender(client, "odom", "odom", "base", BASE)
    listener = Listener(client.domain)
    try:
        run([*joints, base], SECONDS["joints"], listener, SECONDS["joints"])
        wait_for_all(client, NODE, [*joints, base])
        world, status = state_of(client, NODE)
    finally:
        listener.close()
    return Matrix(joints, [base], listener, world, status)


@pytest.fixture(scope="module")
def moving_bases(client: Client, start: Callable[..., NodeProcess]) -> Matrix:
    """Return every cell as the odometry of a robot, whose joint has another clock."""
    names = [f"r{number}" for number in range(len(CELLS))]
    texts = {
        f"{name}__{key}": value
        for name in names
        for key, value in (
            ("robot_description", urdf(1)),
            ("robot_description_semantic", srdf(f"odom_{name}")),
            ("frame_prefix", f"{name}/"),
            ("virtual_joints.w.source", "odometry"),
            ("virtual_joints.w.topic", f"{name}/odom"),
        )
    }
    start(
        models=names,
        **texts,
        publish_frequency=10_000.0,
        world_state_frequency=0.0,
        ros_args=["-r", "__node:=bases"],
        **reliable(*(f"{name}/odom" for name in names), *(f"{name}/joint_states" for name in names)),
    )
    bases = [
        odometry_sender(client, f"{name}/odom", f"odom_{name}", f"{name}/base", cell)
        for name, cell in zip(names, CELLS, strict=True)
    ]
    joints = [joint_senders(client, f"{name}/joint_states", {"j0": Cell(0.0, 0.0, 4)})[0] for name in names]
    listener = Listener(client.domain)
    try:
        run([*joints, *bases], SECONDS["odometry"], listener)
        wait_for_all(client, "/bases", [*joints, *bases])
        world, status = state_of(client, "/bases")
    finally:
        listener.close()
    return Matrix(joints, bases, listener, world, status)


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
        fault for number, sent in enumerate(matrix.joints) for fault in faults("base", f"l{number}", sent, matrix.heard)
    ]
    bad += faults("odom", "base", matrix.bases[0], matrix.heard)
    assert not bad, "\n".join(bad[:20])


def test_every_base_by_odometry_is_where_it_was_at_its_own_stamps(moving_bases: Matrix) -> None:
    bad: list[str] = []
    for number, (joint, base) in enumerate(zip(moving_bases.joints, moving_bases.bases, strict=True)):
        bad += faults(f"odom_r{number}", f"r{number}/base", base, moving_bases.heard)
        bad += faults(f"r{number}/base", f"r{number}/l0", joint, moving_bases.heard)
    assert not bad, "\n".join(bad[:20])


def test_the_world_state_has_the_newest_value_of_every_joint_and_base(matrix: Matrix, moving_bases: Matrix) -> None:
    (model,) = matrix.world.models
    for number, sent in enumerate(matrix.joints):
        assert model.joint(f"j{number}").positions == pytest.approx((sent.truth(sent.stamps[-1]),), abs=1e-9)
    models = [model, *(moving_bases.world.model(f"r{number}") for number in range(len(CELLS)))]
    for one, sent in zip(models, [*matrix.bases, *moving_bases.bases], strict=True):
        assert one.pose.xyz_rpy[0] == pytest.approx(sent.truth(sent.stamps[-1]), abs=1e-9)
    # The clock that most senders share is that of this computer.
    assert matrix.world.time_ns in [sent.stamps[-1] for sent in matrix.joints if abs(sent.cell.offset_s) < 4.0]
    assert moving_bases.world.time_ns in [sent.stamps[-1] for sent in moving_bases.joints]


def test_the_status_tells_which_clock_is_off(matrix: Matrix, moving_bases: Matrix) -> None:
    rows = {tuple(row.names): row for row in matrix.status.senders}
    reference = matrix.status.senders[0]
    assert reference.topic == "/joint_states"
    sent_by: dict[tuple[str, ...], Sent] = {(f"j{number}",): sent for number, sent in enumerate(matrix.joints)}
    sent_by["odom", "base"] = matrix.bases[0]
    for names, sent in sent_by.items():
        row = rows[names]
        assert list(row.publishers) == ["/test_client"]
        # While nothing comes, a clock goes on by the steady clock.
        assert row.node_offset == pytest.approx(sent.last_offset_s, abs=0.15)
        assert row.offset == pytest.approx(row.node_offset - reference.node_offset, abs=1e-6)
        assert row.messages == len(sent.stamps)
    for number, sent in enumerate(moving_bases.bases):
        (row,) = [row for row in moving_bases.status.senders if row.topic == f"/r{number}/odom"]
        assert (row.kind, row.model, row.messages) == ("odometry", f"r{number}", len(sent.stamps))
        assert row.node_offset == pytest.approx(sent.last_offset_s, abs=0.15)


class Frames(NamedTuple):
    """What was sent of the frames of another node, what a tf2 buffer has of it, and the status of the node."""

    sent: list[Sent]
    heard: Listener
    status: Any


@pytest.fixture(scope="module")
def frames(client: Client, node: NodeProcess, matrix: Matrix) -> Frames:
    """Return every cell as the sender of a frame on /tf; the node has the newest value of each."""
    sent = frame_senders(client, {f"t{number}": cell for number, cell in enumerate(CELLS)})
    (first,) = frame_senders(client, {"first": Cell(0.0, 0.0, 4)})
    listener = Listener(client.domain)

    def is_heard() -> bool:
        first.publish(time.time_ns(), 0.0)
        return listener.has_heard_of("first")

    try:
        client.until(is_heard, "a listener to /tf")
        # A node listens to /tf about a second after another node begins to publish there.
        run(sent, SECONDS["tf"], listener)

        def newest_frames() -> Any:
            world, status = state_of(client, NODE)
            poses = {frame.name: frame.pose.xyz_rpy[0] for frame in world.frames if frame.pose is not None}
            wanted = {f"t{number}": sender.truth(sender.stamps[-1]) for number, sender in enumerate(sent)}
            return status if all(abs(poses.get(name, 9.0) - x) < 1e-9 for name, x in wanted.items()) else None

        status = client.until(newest_frames, "the newest value of every frame")
    finally:
        listener.close()
    return Frames(sent, listener, status)


def test_every_frame_of_another_node_has_the_newest_value_and_its_clock(frames: Frames) -> None:
    rows = {tuple(row.names): row for row in frames.status.senders}
    for number, sent in enumerate(frames.sent):
        # Transforms are listened to every 50 ms.
        assert rows["map", f"t{number}"].node_offset == pytest.approx(sent.last_offset_s, abs=0.3)


def recorded(senders: Sequence[Sent], kinds: Sequence[tuple[str, ...]], out: Path, tools: Tools) -> Any:
    """Return the arrays of `export` from a bag of the messages; a kind is a joint, or a frame pair."""
    tape = Tape()
    for sent, names in zip(senders, kinds, strict=True):
        for stamp, log_s in zip(sent.stamps, sent.logs, strict=True):
            log, pose = round(log_s * S), (sent.truth(stamp), 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
            if len(names) == 1:
                tape.joints(stamp, names, [sent.truth(stamp)], log=log)
                continue
            parent, child = names
            if parent == "map":
                tape.tf([(stamp, parent, child, pose)], log=log)
            else:
                tape.odometry(stamp, parent, child, pose, (0.0,) * 6, topic=f"/{child}", log=log)
    bag = tape.write(out)
    code, _, stderr = tools.run("export", bag, "--every", "0.037", "--max-gap", "5", "-o", out.with_suffix(".npz"))
    assert code == 0, stderr
    return np.load(out.with_suffix(".npz"))


class Compared(NamedTuple):
    """A sender, its names in a recording, its frames on TF, and what a tf2 buffer has of it."""

    sent: Sent
    names: tuple[str, ...]
    pair: tuple[str, str]
    heard: Listener


def differences(compared: Sequence[Compared], found: Any) -> Iterator[tuple[str, Cell, float]]:
    """Yield how far a recording is from a tf2 buffer, where both have the same measured values on each side."""
    frames = found["frames"].tolist()
    for sent, names, (parent, child), heard in compared:
        if len(names) == 1:
            values = found["robot/positions"][:, found["robot/joints"].tolist().index(*names)]
        else:
            values = found["frame_pose"][:, frames.index(child), 0]
        stamps = sorted(set(heard.stamps[child]))
        for time_ns, value in zip(found["time_ns"].tolist(), values.tolist(), strict=True):
            before, after = bisect_right(sent.stamps, time_ns) - 1, bisect_right(stamps, time_ns)
            sides = sent.stamps[before : before + 2] if before >= 0 else []
            if len(sides) == 2 and after and stamps[after - 1 : after + 1] == sides:
                yield child, sent.cell, abs(heard.x(parent, child, time_ns) - value)


def test_live_equals_recorded(
    matrix: Matrix, moving_bases: Matrix, frames: Frames, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools, found = Tools(tmp_path, capsys), list[tuple[str, Cell, float]]()
    # A recording shifts clocks that are far from the reference: these are compared alone.
    clocks = {cell.offset_s if cell.is_shifted else 0.0 for cell in CELLS}
    of_frames = 0
    for number, clock in enumerate(sorted(clocks)):
        chosen = [i for i, cell in enumerate(CELLS) if (cell.offset_s if cell.is_shifted else 0.0) == clock]
        of_robots = [
            *(Compared(matrix.joints[i], (f"j{i}",), ("base", f"l{i}"), matrix.heard) for i in chosen),
            *(
                Compared(
                    moving_bases.bases[i],
                    (f"odom_r{i}", f"r{i}/base"),
                    (f"odom_r{i}", f"r{i}/base"),
                    moving_bases.heard,
                )
                for i in chosen
            ),
        ]
        # The frames of other nodes were sent later: they have a recording of their own.
        of_others = [Compared(frames.sent[i], ("map", f"t{i}"), ("map", f"t{i}"), frames.heard) for i in chosen]
        for name, group in (("robots", of_robots), ("others", of_others)):
            bag = tmp_path / f"{name}{number}"
            rows = list(
                differences(group, recorded([one.sent for one in group], [one.names for one in group], bag, tools))
            )
            found += rows
            of_frames += len(rows) if name == "others" else 0
    assert len(found) - of_frames > 2000
    assert of_frames > 1000
    bad = [row for row in found if not row[2] <= 1e-9]
    assert not bad, (len(bad), bad[:10])


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
        robot_description_semantic=srdf("odom"),
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
