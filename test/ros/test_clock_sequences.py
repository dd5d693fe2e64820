# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Sequences of clocks over DDS: slow and quick simulated time, resets, restarts, subsets and two publishers.

Seven robots of one node live through their sequences at the same time. Each has stamps of an epoch of its own.
"""

from __future__ import annotations

import heapq
import math
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile
from robot_semantics_interfaces.srv import GetStatus, GetWorldState
from sensor_msgs.msg import JointState
from support import loops as linkages
from support.nodes import Client, NodeProcess, joint_state
from support.tf_listener import Listener

from robot_semantics.usdf.reader import parse_world

pytestmark = pytest.mark.ros

S = 1_000_000_000
NODE = "/robot_semantics"
SECONDS = 8.0
LIMIT = '<limit lower="-9" upper="9" effort="1" velocity="9"/>'
COMPLETE_AFTER_S = 0.1
ROBOTS = {"warm": "a", "slow": "ab", "quick": "ab", "reset": "abc", "back": "ab", "subsets": "abcd", "two": "a"}
EPOCHS_S = {name: 1_700_000_000 + 100_000 * number for number, name in enumerate([*ROBOTS, "loop"])}
FACTOR, PLAYED = 0.3, 10.0
"""Speeds of simulated time, and of a recording that is played."""


def f(seconds: float) -> float:
    return math.sin(math.pi * seconds)


def urdf(joints: str) -> str:
    parts = "".join(
        f'<link name="l{name}"/><joint name="{name}" type="prismatic"><parent link="base"/><child link="l{name}"/>'
        f'<axis xyz="1 0 0"/>{LIMIT}</joint>'
        for name in joints
    )
    return f'<robot name="m"><link name="base"/>{parts}</robot>'


def four_bar_with_arm() -> str:
    arm = linkages.joint("arm", "continuous", "rocker_link", "arm_link", (0, 0, 1), (0, 1, 0))
    return linkages.four_bar_text().replace("</robot>", f'<link name="arm_link"/>{arm}</robot>')


class Scene:
    """What is sent to each robot: stamps [ns] and values by robot and joint, and how long they were on their way."""

    def __init__(self, client: Client, other: Client) -> None:
        self._client, self._other = client, other
        self.sent: dict[tuple[str, str], dict[int, float]] = {}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        self.longest_gap_s = 0.0

    def publisher(self, robot: str, *, by_other: bool = False) -> Any:
        who = self._other if by_other else self._client
        return who.publisher(JointState, f"{robot}/joint_states", QoSProfile(depth=2000))

    def remove(self, publisher: Any) -> None:
        self._client.node.destroy_publisher(publisher)

    def at(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (seconds, next(self._number), act))

    def send(self, seconds: float, publisher: Any, robot: str, stamp_s: float, **values: float) -> None:
        """Send a joint state at a time of the scene; its stamp is in the epoch of the robot."""
        stamp = round((EPOCHS_S[robot] + stamp_s) * 1000) * 1_000_000 if stamp_s >= 0.0 else round(-stamp_s * S)
        for name, value in values.items():
            self.sent.setdefault((robot, name), {})[stamp] = value
        self.at(seconds, lambda: publisher.publish(joint_state(values, stamp)))

    def run(self) -> None:
        begin = last = time.monotonic()
        while self._events:
            seconds, _, act = heapq.heappop(self._events)
            left = seconds - (time.monotonic() - begin)
            if left > 0.0:
                time.sleep(left)
            act()
            self.longest_gap_s = max(self.longest_gap_s, time.monotonic() - last)
            last = time.monotonic()


def slow(scene: Scene) -> None:
    """A simulator at factor 0.3; joint b is silent for most of the time."""
    publisher = scene.publisher("slow")
    for number in range(int(SECONDS * FACTOR * 50)):
        now = number / 50
        scene.send(now / FACTOR, publisher, "slow", now, a=f(now))
        if now <= 0.5 or now > 2.0:
            scene.send(now / FACTOR, publisher, "slow", now, b=now)


def quick(scene: Scene) -> None:
    """A recording played ten times as fast; joint b is sent on change, every 12 s of the recording."""
    publisher = scene.publisher("quick")
    for number in range(int(SECONDS * PLAYED * 20)):
        now = number / 20
        scene.send(now / PLAYED, publisher, "quick", now, a=f(now))
        if number % 240 == 10:
            scene.send(now / PLAYED, publisher, "quick", now, b=now / 100)


def reset(scene: Scene) -> None:
    """A simulator that begins again at 0 after 3 s; joint c was sent once, before."""
    publisher = scene.publisher("reset")
    scene.send(0.5, publisher, "reset", 0.5, c=0.25)
    for number in range(int(SECONDS * 50)):
        now = number / 50
        # Negative times are without the epoch.
        stamp = now if now < 3.0 else -(now - 3.0 + 0.02)
        scene.send(now, publisher, "reset", stamp, a=f(now))
        scene.send(now + 0.01, publisher, "reset", stamp, b=f(now))


def back(scene: Scene) -> None:
    """The sender of joint b restarts after 3.5 s; then its clock is 2 s behind."""
    publisher, first, second = (scene.publisher("back", by_other=number == 2) for number in range(3))
    for number in range(int(SECONDS * 50)):
        now = number / 50
        scene.send(now, publisher, "back", now, a=f(now))
        if now < 3.0 or now > 3.5:
            restarted = now > 3.5
            scene.send(now, second if restarted else first, "back", now - 2.0 * restarted, b=f(now - 2.0 * restarted))
    scene.at(3.05, lambda: scene.remove(first))


def subsets(scene: Scene) -> None:
    """One publisher sends changing subsets of four joints."""
    publisher, rng = scene.publisher("subsets"), np.random.default_rng(1)
    for number in range(int(SECONDS * 50)):
        now = number / 50
        chosen = [name for name in "abcd" if rng.random() < 0.6] or ["a"]
        scene.send(now, publisher, "subsets", now, **{name: f(now) for name in chosen})


def two(scene: Scene) -> None:
    """Two publishers of one joint: the second is 0.5 s behind, and its joint stands still."""
    publisher, still = scene.publisher("two"), scene.publisher("two", by_other=True)
    for number in range(int(SECONDS * 50)):
        now = number / 50
        scene.send(now, publisher, "two", now, a=f(now))
        if number % 2:
            scene.send(now + 0.01, still, "two", now - 0.501, a=7.0)


CRANK = linkages.four_bar_positions(linkages.FOUR_BAR, np.array([0.3, 0.8, 1.4]), 1.0)
"""Closed configurations of crank, coupler and rocker, by the intersection of circles."""


def loop(scene: Scene) -> None:
    """A closed loop whose crank is sent on change, beside an arm with a clock 50 s ahead."""
    publisher = scene.publisher("loop")
    first = dict(zip(("crank", "coupler", "rocker"), CRANK[0].tolist(), strict=True))
    scene.send(0.2, publisher, "loop", 0.2, **first)
    for number, when in enumerate((2.5, 5.0), 1):
        scene.send(when, publisher, "loop", when, crank=float(CRANK[number][0]))
    for number in range(int(SECONDS * 50)):
        now = number / 50
        scene.send(now, publisher, "loop", now + 50.0, arm=f(now))


class Lived:
    """What was sent, what a tf2 buffer has heard, and what the node says."""

    def __init__(self, scene: Scene, heard: Listener, node: NodeProcess, status: Any, world: Any, health: Any) -> None:
        self.sent, self.heard, self.node = scene.sent, heard, node
        self.status, self.world, self.health = status, world, health
        self.longest_gap_s = scene.longest_gap_s

    def stamps(self, robot: str, link: str) -> list[int]:
        return sorted(set(self.heard.stamps.get(f"{robot}/{link}", ())))

    def x(self, robot: str, joint: str, stamp: int) -> float:
        return self.heard.x(f"{robot}/base", f"{robot}/l{joint}", stamp)

    def check_stamps(self, robot: str, joint: str, may_lack: int = 0) -> None:
        """Check that all sent values but a few are on TF, each at its own stamp."""
        sent, heard = self.sent[robot, joint], set(self.stamps(robot, f"l{joint}"))
        lacking = [stamp for stamp in sent if stamp not in heard]
        assert len(lacking) <= may_lack, (robot, joint, len(lacking), len(sent), lacking[:5])
        for stamp in heard.intersection(sent):
            x = self.heard.transforms[f"{robot}/l{joint}", stamp].translation.x
            assert x == pytest.approx(sent[stamp], abs=1e-9), (robot, joint, stamp)

    def held(self, robot: str, joint: str) -> list[int]:
        return [stamp for stamp in self.stamps(robot, f"l{joint}") if stamp not in self.sent[robot, joint]]

    def log(self, robot: str, text: str) -> list[str]:
        """Return the lines of the log about the joint states of a robot."""
        return [line for line in self.node.output.splitlines() if f"{robot}/joint_states" in line and text in line]


@pytest.fixture(scope="module")
def lived(client: Client, start: Callable[..., NodeProcess]) -> Iterator[Lived]:
    texts = {
        f"{name}__{key}": text
        for name, joints in ROBOTS.items()
        for key, text in (("robot_description", urdf(joints)), ("frame_prefix", f"{name}/"))
    }
    node = start(
        models=[*ROBOTS, "loop"],
        **texts,
        loop__robot_description=four_bar_with_arm(),
        loop__robot_description_semantic=linkages.srdf("coupler", "rocker"),
        loop__frame_prefix="loop/",
        publish_frequency=10_000.0,
        world_state_frequency=0.0,
        diagnostics_period=0.5,
        **{
            f"qos_overrides./{name}/joint_states.subscription.{key}": value
            for name in (*ROBOTS, "loop")
            for key, value in (("depth", 2000), ("reliability", "reliable"))
        },
    )
    health = client.collect(DiagnosticArray, "/diagnostics", 50)
    other = Client(client.domain, "second_publisher")
    listener = Listener(client.domain)
    try:
        warm = client.publisher(JointState, "warm/joint_states")
        client.publish_until(warm, lambda: joint_state({"a": 0.0}), lambda: listener.count > 0, "the first transform")
        scene = Scene(client, other)
        for sequence in (slow, quick, reset, back, subsets, two, loop):
            sequence(scene)
        scene.run()
        client.until(lambda: "come from several publishers" in node.output, "the second publisher")
        world = client.call(GetWorldState, f"{NODE}/get_world_state", GetWorldState.Request(with_text=True))
        status = client.call(GetStatus, f"{NODE}/get_status")
    finally:
        # A tf2 buffer keeps 10 s: of a clock that steps back it takes nothing.
        listener.close(but=("reset/", "two/"))
    yield Lived(scene, listener, node, status, parse_world(world.text), health)
    other.close()


def test_a_joint_that_is_silent_in_a_slow_simulator_is_held_in_simulated_time(lived: Lived) -> None:
    lived.check_stamps("slow", "a")
    lived.check_stamps("slow", "b")
    assert not lived.held("slow", "a")
    begin, end = (EPOCHS_S["slow"] + seconds for seconds in (0.5, 2.0))
    held = [stamp / S - begin for stamp in lived.held("slow", "b")]
    # It is held behind the other joint's stamps, as often as these come.
    assert len(held) > 40
    assert max(held) <= end - begin - 0.5 * COMPLETE_AFTER_S
    assert max(held) > 1.1
    assert max(after - before for before, after in pairwise(held)) < 0.2
    assert lived.x("slow", "b", round((begin + 1.0) * S)) == pytest.approx(0.5, abs=1e-9)


def test_a_joint_on_change_in_a_quick_recording_is_never_refused(lived: Lived) -> None:
    lived.check_stamps("quick", "a")
    lived.check_stamps("quick", "b")
    assert not lived.log("quick", "")
    # Between its messages it is held, where it was, in the stamps of the recording.
    changes = sorted(lived.sent["quick", "b"])
    assert len(changes) > 5
    for before, after in pairwise(changes):
        held = [stamp for stamp in lived.held("quick", "b") if before < stamp < after]
        assert all(lived.x("quick", "b", stamp) == lived.sent["quick", "b"][before] for stamp in held)
    assert any(stamp for stamp in lived.held("quick", "b") if stamp < changes[1])


def test_after_a_reset_to_zero_only_what_was_sent_again_is_known(lived: Lived) -> None:
    # The first message after a reset may be late.
    lived.check_stamps("reset", "a", may_lack=2)
    lived.check_stamps("reset", "b", may_lack=2)
    assert min(lived.stamps("reset", "lc")) > S * EPOCHS_S["reset"]
    model = lived.world.model("reset")
    assert {joint.name for joint in model.joints} == {"a", "b"}
    assert any("the stamps of 'a' went back by 1700" in line for line in lived.node.output.splitlines())


def test_a_sender_that_restarts_two_seconds_back_goes_on_beside_the_other_one(lived: Lived) -> None:
    lived.check_stamps("back", "a", may_lack=0)
    sent = sorted(lived.sent["back", "b"])
    heard = set(lived.stamps("back", "lb"))
    assert sum(stamp not in heard for stamp in sent) <= 1
    again = round((EPOCHS_S["back"] + 1.6) * S)
    assert lived.x("back", "b", again) == pytest.approx(f(1.6), abs=1e-9)
    assert lived.world.model("back").joint("b").positions == pytest.approx((f(SECONDS - 0.02 - 2.0),), abs=1e-9)


def test_changing_subsets_of_one_publisher_are_no_conflict(lived: Lived) -> None:
    for joint in "abcd":
        lived.check_stamps("subsets", joint)
        sent = sorted(lived.sent["subsets", joint])
        held = lived.held("subsets", joint)
        for before, after in pairwise(sent):
            if bisect_left(held, before) == bisect_left(held, after):
                middle, gap_s = (before + after) // 2, (after - before) / S
                truth = f(middle / S - EPOCHS_S["subsets"])
                assert abs(lived.x("subsets", joint, middle) - truth) <= np.pi**2 / 8.0 * gap_s**2 + 1e-6
    assert not lived.log("subsets", "")


def test_two_publishers_of_which_one_stands_still_are_named_and_not_late(lived: Lived) -> None:
    (line,) = lived.log("two", "come from several publishers")
    assert "'a' come from several publishers" in line
    assert "/second_publisher" in line
    assert "/test_client" in line
    lived.check_stamps("two", "a", may_lack=10)
    states = [item.message for message in lived.health for item in message.status if item.name.endswith(": two")]
    assert any("1 joints from several publishers" in message for message in states)


def test_a_loop_whose_first_input_is_sent_on_change_stays_closed_in_its_clock(lived: Lived) -> None:
    crank = lived.stamps("loop", "crank_link")
    assert crank == lived.stamps("loop", "coupler_link") == lived.stamps("loop", "rocker_link")
    changes = sorted(lived.sent["loop", "crank"])
    assert set(changes) <= set(crank)
    # While the crank is silent, all are held together.
    assert len(crank) > 20
    assert max(crank) < S * (EPOCHS_S["loop"] + 20)
    for stamp in crank:
        number = sum(change <= stamp for change in changes) - 1
        for angle, parent, child in zip(
            CRANK[number], ("base", "crank_link", "base"), ("crank_link", "coupler_link", "rocker_link"), strict=True
        ):
            q = lived.heard.rotation(f"loop/{parent}", f"loop/{child}", stamp)
            assert math.remainder(2.0 * math.atan2(q.z, q.w) - angle, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-6)
    assert set(lived.sent["loop", "arm"]) <= set(lived.stamps("loop", "arm_link"))
