# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.


"""The running node and `export` read the same joint states from the same messages, however dirty these are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from robot_semantics_interfaces.srv import GetStatus, GetWorldState
from sensor_msgs.msg import JointState
from support.bags import Tape, Tools
from support.nodes import Client, NodeProcess, joint_state

from robot_semantics import WorldState, read_world
from robot_semantics.usdf.reader import parse_world

pytestmark = pytest.mark.ros

NAME = "/live/robot_semantics"
SECOND = 1_000_000_000
LIMIT = '<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
URDF = f"""<robot name="crane"><link name="base"/><link name="l1"/><link name="l2"/><link name="l3"/><link name="l4"/>
  <link name="l5"/><link name="l6"/><link name="l7"/>
  <joint name="a" type="revolute"><parent link="base"/><child link="l1"/>{LIMIT}</joint>
  <joint name="b" type="prismatic"><parent link="l1"/><child link="l2"/>{LIMIT}</joint>
  <joint name="c" type="continuous"><parent link="l2"/><child link="l3"/><axis xyz="0 0 1"/></joint>
  <joint name="m" type="revolute"><parent link="l3"/><child link="l4"/>{LIMIT}
    <mimic joint="a" multiplier="-2" offset="0.5"/></joint>
  <joint name="p" type="planar"><parent link="base"/><child link="l5"/><axis xyz="0 0 1"/></joint>
  <joint name="f" type="floating"><parent link="base"/><child link="l6"/></joint>
  <joint name="fixed" type="fixed"><parent link="base"/><child link="l7"/></joint></robot>"""
FREE = [f"f/{part}" for part in ("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "rot_w")]
nan, inf = math.nan, math.inf


class Message(NamedTuple):
    """A joint state; `at` is its stamp [s] after the last one that the clock gave, None for the stamp 0."""

    names: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float] = ()
    effort: Sequence[float] = ()
    at: float | None = 0.0


ABC, CLEAN = ["a", "b", "c"], Message(["a", "b", "c"], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
Dirt = tuple[str, list[Message]]
KINDS: list[Dirt] = [
    ("clean", [CLEAN, Message(["p/x", "p/y", "p/theta"], [1, 2, 3], [4, 5, 6]), Message(FREE, [1, 2, 3, 0, 0, 0, 1])]),
    ("no stamp", [CLEAN._replace(position=[0.5, 0.6, 0.7], at=None)]),
    ("no velocity", [Message(ABC, [0.11, 0.12, 0.13])]),
    ("velocity too short", [Message(ABC, [0.21, 0.22, 0.23], [1.0], [1, 2, 3])]),
    ("velocity too long", [Message(ABC, [0.31, 0.32, 0.33], [1, 2, 3, 4])]),
    ("effort too short", [Message(ABC, [0.41, 0.42, 0.43], [1, 2, 3], [1])]),
    ("no position", [Message(ABC, [], [1, 2, 3])]),
    ("position too short", [Message(ABC, [9, 9])]),
    ("position too long", [Message(ABC, [9, 9, 9, 9])]),
    ("empty", [Message([], [])]),
    ("values without names", [Message([], [1, 2, 3], [1])]),
    ("a name twice", [Message(["a", "b", "a"], [9, 9, 9])]),
    ("nan", [Message(ABC, [nan, 0.52, 0.53], [1, 2, 3], [4, 5, 6])]),
    ("inf", [Message(ABC, [0.61, -inf, 0.63], [1, 2, 3])]),
    ("all nan", [Message(ABC, [nan, nan, nan])]),
    ("velocity nan and inf", [Message(ABC, [0.71, 0.72, 0.73], [nan, 2, inf], [-inf, 5, 6])]),
    ("an unknown name", [Message(["a", "stranger"], [0.81, 9], [1, 9])]),
    ("unknown names only", [Message(["stranger", "other"], [9, 9])]),
    ("an empty name", [Message(["", "b"], [9, 0.91], [9, 1])]),
    ("a fixed joint", [Message(["fixed", "c"], [9, 0.92])]),
    ("another order", [Message(["c", "a", "b"], [0.13, 0.11, 0.12], [3, 1, 2])]),
    ("partial", [Message(["b"], [1.01]), Message(["c"], [1.02], [0.5])]),
    ("mimic measured, then its leader", [Message(["a", "m"], [0.3, 0.4], [1, 2], [3, 4]), Message(["a"], [0.35])]),
    ("leader without and with velocity", [Message(["a"], [0.36], [7.0]), Message(["m"], [0.25], [1.0])]),
    ("a part of a planar joint", [Message(["p/x"], [7.0], [0.5])]),
    ("a quaternion of another length", [Message(FREE, [4, 5, 6, 0, 0, 3, 4])]),
    ("a quaternion of zeros", [Message([*FREE, "a"], [7, 8, 9, 0, 0, 0, 0, 0.44])]),
    ("a part of a quaternion", [Message(["f/rot_x", "f/trans_x"], [0.5, 2.5])]),
    ("the same stamp twice", [Message(ABC, [1, 2, 3]), Message(ABC, [1.1, 2.1, 3.1], at=-0.05)]),
    (
        "late",
        [Message(ABC, [2, 3, 4], at=0.2), Message(ABC, [9] * 3, at=-0.3), Message(ABC, [2.1, 3.1, 4.1], at=0.2)],
    ),
    (
        "two senders of one joint",
        [Message(["b"], [5.5], [2], at=0.3), Message(ABC, [5.1, 5.5, 5.3], [1, 2, 3], at=-0.1)],
    ),
    ("one far back", [Message(ABC, [9, 9, 9], at=-3600.0), Message(ABC, [6.1, 6.2, 6.3], at=3600.1)]),
    ("ahead", [Message(ABC, [9, 9, 9], at=50.0), Message(ABC, [9, 9, 9], at=-50.0), Message(ABC, [7.1, 7.2, 7.3])]),
    ("back less than a second", [Message(ABC, [9, 9, 9], at=-0.9), Message(ABC, [9, 9, 9])]),
    ("set back", [Message(ABC, [8.1, 8.2, 8.3], at=-20.0), Message(ABC, [8.4, 8.5, 8.6], [1, 2, 3])]),
    ("two publishers after it", [Message(["b"], [1.5]), Message(FREE, [1, 2, 3, 0.5, 0.5, 0.5, 0.5])]),
    ("set back again", [Message(ABC, [1, 2, 3], at=-1.5), Message(ABC, [1.1, 1.2, 1.3])]),
]


class Feed:
    """Publishes messages to the node, and records them as they were sent."""

    def __init__(self, client: Client, tape: Tape) -> None:
        self.client, self.tape = client, tape
        self.publisher = client.publisher(JointState, "/live/joint_states")
        self.now_ns, self.log_ns = time.time_ns() - SECOND // 2, time.time_ns()

    def received(self) -> int:
        return int(self.client.call(GetStatus, f"{NAME}/get_status").joint_states_received)

    def send(self, message: Message) -> None:
        """Send a message 50 ms after the one before, by the clock that its stamps show."""
        stamp_ns = 0
        if message.at is not None:
            stamp_ns = self.now_ns = self.now_ns + SECOND // 20 + int(message.at * SECOND)
        sent = JointState(name=list(message.names))
        sent.position, sent.velocity, sent.effort = ([float(x) for x in part] for part in message[1:4])
        sent.header.stamp = joint_state({}, stamp_ns).header.stamp
        before = self.received()
        self.publisher.publish(sent)
        self.client.until(lambda: self.received() > before, "the message", 10.0)
        self.log_ns = max(self.log_ns + 1, time.time_ns())
        if message.at is None:
            # A message without a stamp counts when it was recorded; the node says when it came.
            self.now_ns = self.log_ns = self.state().time_ns or 0
        self.tape.joints(stamp_ns, message.names, *message[1:4], log=self.log_ns)

    def state(self) -> WorldState:
        answer = self.client.call(GetWorldState, f"{NAME}/get_world_state", GetWorldState.Request(with_text=True))
        assert answer.success, answer.message
        return parse_world(answer.text)


def joints(state: WorldState) -> dict[str, Any]:
    (model,) = state.models
    # The ages of the node are differences of arrival, those of a recording are differences of stamps.
    return {joint.name: (joint.positions, joint.velocities, joint.torques) for joint in model.joints}


def test_the_node_and_export_give_the_same_states(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = start(robot_description=URDF, ros_args=["-r", "__ns:=/live"])
    tools, tape = Tools(tmp_path, capsys), Tape()
    feed = Feed(client, tape)
    tape.text("/robot_description", URDF, feed.log_ns)
    # The live state at the end of each kind of dirt, by the run of the clock and its time.
    live: dict[int, dict[int, tuple[str, dict[str, Any]]]] = {1: {}}
    for kind, messages in KINDS:
        if kind.startswith("set back"):
            live[len(live) + 1] = {}
        for message in messages:
            feed.send(message)
        state = feed.state()
        live[len(live)][state.time_ns or 0] = (kind, joints(state))
    assert node.stop() == 0
    assert len(KINDS) > 30
    bag = tape.write(tmp_path / "bag")
    differences = []
    for run, states in live.items():
        out = tmp_path / f"run{run}"
        times = [part for time_ns in states for part in ("--at", f"@{time_ns // SECOND}.{time_ns % SECOND:09}")]
        how = ("--interpolate", "previous", "--max-gap", "0", "--run", run)
        code, _, stderr = tools.run("export", bag, *times, *how, "-o", out if len(states) > 1 else f"{out}.usdf")
        assert code == 0, stderr
        files = sorted(out.glob("*.usdf")) if len(states) > 1 else [Path(f"{out}.usdf")]
        recorded = {state.time_ns: joints(state) for state in map(read_world, files)}
        assert recorded.keys() == states.keys()
        for time_ns, (kind, found) in states.items():
            names = sorted(found.keys() | recorded[time_ns].keys())
            pairs = ((name, found.get(name), recorded[time_ns].get(name)) for name in names)
            differences += [(kind, name, ours, theirs) for name, ours, theirs in pairs if ours != theirs]
    assert not differences, "\n".join(map(str, differences))
    assert sum(len(found) for states in live.values() for _, found in states.values()) > 100
