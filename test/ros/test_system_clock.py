# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A node whose system clock steps, by libfaketime: timers, periods and silence run on the steady clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from robot_semantics_interfaces.msg import WorldState
from robot_semantics_interfaces.srv import GetStatus
from sensor_msgs.msg import JointState
from support.nodes import LATCHED, Client, NodeProcess, joint_state, stamp_of

pytestmark = pytest.mark.ros

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
if not LIBRARIES:
    pytest.skip("libfaketime is not installed (Debian: faketime)", allow_module_level=True)

S = 1_000_000_000
STEPS_S = (-30, -3600, 7200)
LIMITS = '<limit lower="-9" upper="9" effort="1" velocity="9"/>'
URDF = f"""<robot name="m"><link name="base"/><link name="tip"/><joint name="turn" type="revolute">
  <parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>{LIMITS}</joint></robot>"""
SRDF = """<robot name="m"><group name="g"><joint name="turn"/></group>
  <group_state name="up" group="g"><joint name="turn" value="0.7"/></group_state></robot>"""


class Clock:
    """The system clock of the nodes under test: steps from the real time on."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "faketime"
        self.offset_s = 0
        self.step(0)
        self.environment = {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def step(self, seconds: int) -> None:
        self.offset_s += seconds
        new = self._file.with_suffix(".new")
        new.write_text(f"{self.offset_s:+d}\n")
        new.replace(self._file)


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Clock:
    return Clock(tmp_path_factory.mktemp("clock"))


@pytest.fixture(scope="module")
def node(clock: Clock, start: Callable[..., NodeProcess]) -> NodeProcess:
    """Return a node of a robot that nothing moves, and of one whose joint states come from another computer."""
    texts = {f"{name}__{key}": text for name in ("still", "busy") for key, text in (("robot_description", URDF),
             ("robot_description_semantic", SRDF), ("frame_prefix", f"{name}/"))}  # fmt: skip
    return start(
        models=["still", "busy"],
        **texts,
        still__default_positions="g/up",
        world_state_frequency=20.0,
        diagnostics_period=0.2,
        environment=clock.environment,
    )


def test_everything_goes_on_after_steps_of_the_system_clock(client: Client, clock: Clock, node: NodeProcess) -> None:
    worlds = client.collect(WorldState, "/robot_semantics/world_state", LATCHED)
    health = client.collect(DiagnosticArray, "/diagnostics", 10)
    publisher = client.publisher(JointState, "/busy/joint_states")
    seen: dict[str, list[Any]] = {"tf": client.transforms, "world_state": worlds, "diagnostics": health}

    def number_of(frame: str) -> int:
        return sum(item.child_frame_id == frame for item in client.transforms)

    def move(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            publisher.publish(joint_state({"turn": time.monotonic() % 1.0}))
            client.spin_for(0.02)

    def has_gone_on() -> bool:
        move(0.1)
        return number_of("still/tip") > 5 and number_of("busy/tip") > 5 and len(worlds) > 5 and len(health) > 1

    client.until(has_gone_on, "the first messages")
    for seconds in STEPS_S:
        clock.step(seconds)
        move(0.3)
        for messages in seen.values():
            messages.clear()
        client.until(has_gone_on, f"messages after a step by {seconds} s", 20.0)
        # Transforms of the robot that nothing moves have the node's time, and those of the other one its sender's.
        ours, theirs = (
            [stamp_of(item) / S - time.time() for item in client.transforms[-40:] if item.child_frame_id == frame]
            for frame in ("still/tip", "busy/tip")
        )
        assert ours[-1] == pytest.approx(clock.offset_s, abs=10.0)
        assert theirs[-1] == pytest.approx(0.0, abs=10.0)
        rows = client.call(GetStatus, "/robot_semantics/get_status").senders
        (row,) = [row for row in rows if row.model == "busy"]
        # While the test waits for the answer, the sender is silent.
        assert row.state in ("reference", "silent")
        assert row.last_heard < 10.0
        assert row.node_offset == pytest.approx(-clock.offset_s, abs=10.0)
    assert "reset" not in node.output
