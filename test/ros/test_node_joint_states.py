# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint states in, transforms out: every way in which messages are good, incomplete, late or wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_semantics_interfaces.srv import GetStatus, GetWorldState
from sensor_msgs.msg import JointState
from support.nodes import Client, NodeProcess, joint_state, matrix_of, stamp_of

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"

# A finger that mimics a finger that mimics the drive, written before its leader: the order must not matter.
URDF = """<robot name="hand">
  <link name="palm"/><link name="far"/><link name="near"/><link name="drive"/><link name="rail"/><link name="wrist"/>
  <joint name="a_far" type="revolute"><parent link="near"/><child link="far"/><axis xyz="0 0 1"/>
    <mimic joint="b_near" multiplier="2" offset="0.1"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <joint name="b_near" type="revolute"><parent link="drive"/><child link="near"/><axis xyz="0 0 1"/>
    <mimic joint="c_drive" multiplier="-3" offset="0.2"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <joint name="c_drive" type="revolute"><origin xyz="0 0 1"/><parent link="palm"/><child link="drive"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="d_rail" type="prismatic"><origin rpy="0 0 1.5707963267948966"/><parent link="palm"/><child link="rail"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="e_wrist" type="fixed"><origin xyz="1 2 3"/><parent link="palm"/><child link="wrist"/></joint>
</robot>"""
SRDF = """<robot name="hand"><group name="all"><joint name="c_drive"/><joint name="d_rail"/></group>
  <group_state name="ready" group="all"><joint name="c_drive" value="0.5"/><joint name="d_rail" value="0.25"/>
  </group_state>
</robot>"""


PARAMETERS: dict[str, Any] = {
    "robot_description": URDF,
    "robot_description_semantic": SRDF,
    "publish_frequency": 1000.0,
    "complete_after": 0.05,
    "stale_timeout": 1.5,
    "diagnostics_period": 0.2,
    "invalid_positions": "refuse",
}


Send = Callable[[JointState], int]


@pytest.fixture(scope="module")
def send(node: NodeProcess, client: Client) -> Send:
    """Return a function that publishes a joint state and returns its stamp [ns]."""
    publisher = client.publisher(JointState, "joint_states")
    status = f"{NODE}/get_status"
    client.publish_until(
        publisher, JointState, lambda: client.call(GetStatus, status).joint_states_received, "the first message"
    )

    def send(message: JointState) -> int:
        publisher.publish(message)
        return int(message.header.stamp.sec) * 1_000_000_000 + int(message.header.stamp.nanosec)

    return send


def angle(transform: Any) -> float:
    return 2.0 * math.atan2(transform.transform.rotation.z, transform.transform.rotation.w)


def move(client: Client, send: Send, positions: dict[str, float], *frames: str) -> dict[str, Any]:
    """Publish positions until transforms of `frames` come with their stamp, and return all with that stamp.

    A joint state may get lost on its way: the node listens best effort.
    """
    for _ in range(20):
        stamp = send(joint_state(positions))
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            client.spin_for(0.02)
            if set(frames) <= set(client.at(stamp)):
                return client.at(stamp)
    raise AssertionError(f"waited in vain for {frames}")


def refused(client: Client, reason: str) -> int:
    status = client.call(GetStatus, f"{NODE}/get_status")
    return next((int(refusal.count) for refusal in status.refusals if refusal.reason == reason), 0)


def test_before_any_message_nothing_is_guessed(client: Client, node: NodeProcess) -> None:
    client.until(client.static_frames, "the fixed frames")
    assert set(client.static_frames()) == {"wrist"}
    assert not client.transforms


def test_a_partial_message_moves_its_joint_and_the_chain_of_mimics(
    client: Client, node: NodeProcess, send: Send
) -> None:
    found = move(client, send, {"c_drive": 0.3}, "drive", "near", "far")
    near = -3 * 0.3 + 0.2
    assert angle(found["drive"]) == pytest.approx(0.3, abs=1e-12)
    assert angle(found["near"]) == pytest.approx(near, abs=1e-12)
    assert angle(found["far"]) == pytest.approx(2 * near + 0.1, abs=1e-12)
    assert found["near"].header.frame_id == "drive"
    assert found["drive"].transform.translation.z == 1.0


def test_a_measured_mimic_joint_is_where_it_was_measured(client: Client, node: NodeProcess, send: Send) -> None:
    found = move(client, send, {"c_drive": 0.1, "b_near": 0.7}, "near", "drive")
    assert angle(found["near"]) == pytest.approx(0.7, abs=1e-12)


def test_a_silent_joint_is_repeated_from_its_last_value(client: Client, node: NodeProcess, send: Send) -> None:
    move(client, send, {"c_drive": 0.1}, "drive")
    then = stamp_of(move(client, send, {"d_rail": 0.4}, "rail")["rail"])
    # A message of another sender does not make it silent, whatever its stamp.
    ahead = send(joint_state({"c_drive": 0.15}, then + 900_000_000))
    client.until(lambda: "drive" in client.at(ahead), "drive")
    assert not [item for item in client.transforms if item.child_frame_id == "rail" and stamp_of(item) > then]
    # After a single message, silence begins 1 s after complete_after.
    client.spin_for(1.2)
    now = stamp_of(move(client, send, {"c_drive": 0.2}, "drive")["drive"])
    client.until(lambda: stamp_of(client.newest()["rail"]) > then, "rail")
    rail = client.newest()["rail"]
    np.testing.assert_allclose(matrix_of(rail)[:3, 3], [0.0, 0.4, 0.0], atol=1e-12)
    assert then < stamp_of(rail)
    assert "rail" not in client.at(now)


def test_a_message_without_a_stamp_counts_as_of_now(client: Client, node: NodeProcess, send: Send) -> None:
    time.sleep(0.25)  # past the stamp of the message before, which lay ahead
    before = time.time_ns()
    send(joint_state({"c_drive": -0.2}, 0))
    client.until(lambda: stamp_of(client.newest()["drive"]) >= before, "the transform")
    assert stamp_of(client.newest()["drive"]) <= time.time_ns()
    assert angle(client.newest()["drive"]) == pytest.approx(-0.2, abs=1e-12)


NOW = time.time_ns


@pytest.mark.parametrize(
    ("reason", "message", "named"),
    [
        ("not_finite", lambda: joint_state({"d_rail": 0.1, "c_drive": math.nan}), "'c_drive' is nan"),
        ("not_finite", lambda: joint_state({"d_rail": math.inf, "c_drive": 0.1}), "'d_rail' is inf"),
        ("wrong_length", lambda: JointState(name=["c_drive", "d_rail"], position=[1.0]), "from 'd_rail' on"),
        ("wrong_length", lambda: JointState(name=["c_drive"], position=[1.0, 2.0]), "1 names but 2 positions"),
        ("no_positions", lambda: JointState(name=["c_drive"], velocity=[1.0]), "no position for 'c_drive'"),
        ("empty", JointState, "names no joint"),
        ("duplicate_name", lambda: JointState(name=["c_drive"] * 2, position=[1.0, 2.0]), "'c_drive' more than once"),
        ("unknown_joints_only", lambda: joint_state({"wheel": 1.0}), "none of its joints ('wheel')"),
        (
            "time_backwards",
            lambda: joint_state({"c_drive": 0.0}, NOW() - 60_000_000_000),
            "before the last stamp of 'c_drive'",
        ),
    ],
    ids=["nan", "inf", "short", "long", "velocity_only", "empty", "duplicate", "unknown", "late"],
)
def test_a_wrong_message_is_refused_counted_and_named(
    client: Client,
    node: NodeProcess,
    send: Send,
    reason: str,
    message: Callable[[], JointState],
    named: str,
) -> None:
    move(client, send, {"c_drive": 0.11}, "drive")
    before = refused(client, reason)
    bad = send(message())
    client.until(lambda: refused(client, reason) == before + 1, "the refusal")
    assert not client.at(bad)
    if before == 0:
        line = next(line for line in node.output.splitlines() if named in line)
        assert "refused a message on joint_states from /test_client" in line
    move(client, send, {"c_drive": 0.12}, "drive")


def test_refusals_of_one_kind_are_logged_seldom(client: Client, node: NodeProcess, send: Send) -> None:
    before, logged = refused(client, "empty"), node.output.count("it names no joint")
    for _ in range(5):
        send(JointState())
    client.until(lambda: refused(client, "empty") == before + 5, "the refusals")
    assert node.output.count("it names no joint") <= logged + 1


def test_an_unknown_joint_among_known_ones_is_reported_once_and_the_others_move(
    client: Client, node: NodeProcess, send: Send
) -> None:
    for position in (0.31, 0.32):
        found = move(client, send, {"c_drive": position, "caster": 1.0}, "drive")
        assert angle(found["drive"]) == pytest.approx(position, abs=1e-12)
    assert node.output.count("the robot has no joint 'caster'") == 1


def test_values_from_before_a_reset_of_the_clock_are_not_stated(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(robot_description=URDF, ros_args=["-r", "__ns:=/reset"])
    publisher = client.publisher(JointState, "/reset/joint_states")
    name = "/reset/robot_semantics"

    def send(seconds: float, **positions: float) -> None:
        """Publish, and wait until the node has it."""
        before = client.call(GetStatus, f"{name}/get_status").joint_states_received
        publisher.publish(joint_state(positions, int(seconds * 1e9)))
        client.until(lambda: client.call(GetStatus, f"{name}/get_status").joint_states_received > before, "it")

    def stated() -> tuple[float, dict[str, float]]:
        state = client.call(GetWorldState, f"{name}/get_world_state").state
        (model,) = state.model_states
        found = {joint.name: joint.positions[0] for joint in model.joint_states if len(joint.positions)}
        return state.header.stamp.sec + state.header.stamp.nanosec * 1e-9, found

    send(100.0, c_drive=0.5, a_far=0.0, b_near=0.0)
    send(100.0, d_rail=0.5)
    send(2.0, d_rail=0.1)
    assert stated() == (100.0, {"c_drive": 0.5, "a_far": 0.0, "b_near": 0.0, "d_rail": 0.5})
    send(2.5, d_rail=0.25)
    node.wait_for_output("the clock was reset, and earlier values are not used any more")
    assert stated() == (2.5, {"d_rail": 0.25})
    # Less than a second back is late, however often.
    for seconds in (1.6, 1.7, 1.8):
        send(seconds, d_rail=0.9)
    assert stated() == (2.5, {"d_rail": 0.25})
    # Stamps are compared within one set of names; of two sets with one joint, the last message counts.
    send(2.4, d_rail=0.7, c_drive=0.125)
    assert stated()[1]["d_rail"] == 0.7
    assert stated()[1]["c_drive"] == 0.125
    assert node.stop() == 0


def test_two_late_messages_in_order_mean_that_time_was_set_back(client: Client, node: NodeProcess, send: Send) -> None:
    move(client, send, {"d_rail": 0.5}, "rail")
    back = send(joint_state({"d_rail": 0.6}, time.time_ns() - 3_600_000_000_000))
    client.spin_for(0.1)
    assert not client.at(back)
    again = send(joint_state({"d_rail": 0.7}, back + 10_000_000))
    client.until(lambda: "rail" in client.at(again), "the transform in the set-back time")
    node.wait_for_output("the stamps of 'd_rail' went back by ")


def test_a_position_outside_the_limits_is_published_and_reported(client: Client, node: NodeProcess, send: Send) -> None:
    found = move(client, send, {"c_drive": 1.5}, "drive")
    assert angle(found["drive"]) == pytest.approx(1.5, abs=1e-12)
    node.wait_for_output("'c_drive' is at 1.5, outside its limits -1 to 1")
    send(joint_state({"c_drive": 0.0}))


def test_a_silent_joint_is_reported_and_so_is_its_return(client: Client, node: NodeProcess, send: Send) -> None:
    node.wait_for_output("no new values in 1.5 s for")
    send(joint_state({"c_drive": 0.0, "d_rail": 0.0}))
    node.wait_for_output("values come again for")


@pytest.mark.parametrize("reliability", [ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT])
@pytest.mark.parametrize("durability", [DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL])
def test_publishers_of_any_quality_are_heard(
    client: Client, node: NodeProcess, reliability: ReliabilityPolicy, durability: DurabilityPolicy
) -> None:
    other = Client(client.domain)
    try:
        publisher = other.publisher(
            JointState, "joint_states", QoSProfile(depth=1, reliability=reliability, durability=durability)
        )
        client.transforms.clear()
        client.publish_until(
            publisher,
            lambda: joint_state({"c_drive": 0.42}),
            lambda: any(
                abs(angle(item) - 0.42) < 1e-12 for item in client.transforms if item.child_frame_id == "drive"
            ),
            "the transform",
        )
    finally:
        other.close()


def test_the_node_may_come_back_after_its_publisher_and_its_listeners(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    publisher = client.node.create_publisher(JointState, "/again/joint_states", 10)
    for _ in range(2):
        again = start(robot_description=URDF, ros_args=["-r", "__ns:=/again", "-r", "/tf:=tf"])
        frames = client.collect_tf("/again/tf")
        client.publish_until(publisher, lambda: joint_state({"c_drive": 0.1}), partial(bool, frames), "a transform")
        assert again.stop() == 0
        client.until(lambda: publisher.get_subscription_count() == 0, "the node's end")


def test_never_seen_joints_get_the_positions_asked_for(client: Client, start: Callable[..., NodeProcess]) -> None:
    expected = {"zero": (0.0, 0.0), "mid": (0.0, 0.5), "all/ready": (0.5, 0.25)}
    node = start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        default_positions="zero",
        ros_args=["-r", "__ns:=/defaults", "-r", "/tf:=tf"],
    )
    frames = client.collect_tf("/defaults/tf")
    publisher = client.publisher(JointState, "/defaults/joint_states")
    for choice, (drive, rail) in expected.items():
        assert client.set_parameters("/defaults/robot_semantics", default_positions=choice)[0].successful
        frames.clear()
        client.publish_until(
            publisher,
            lambda: joint_state({"a_far": 1.0}),
            lambda: len({item.child_frame_id for item in frames}) == 4,
            "all transforms",
        )
        found = {item.child_frame_id: item for item in frames}
        assert angle(found["drive"]) == pytest.approx(drive, abs=1e-12)
        assert found["rail"].transform.translation.y == pytest.approx(rail, abs=1e-12)
        assert angle(found["near"]) == pytest.approx(-3 * drive + 0.2, abs=1e-12)
    assert node.stop() == 0


def test_only_the_joint_without_a_number_is_left_out_unless_the_message_is_to_be_refused(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(robot_description=URDF, ros_args=["-r", "__ns:=/skip", "-r", "/tf:=tf"])
    frames = client.collect_tf("/skip/tf")
    publisher = client.publisher(JointState, "/skip/joint_states")
    client.publish_until(
        publisher, lambda: joint_state({"c_drive": math.nan, "d_rail": 0.5}), lambda: frames, "the transform"
    )
    assert {item.child_frame_id for item in frames} == {"rail"}
    node.wait_for_output("the position of 'c_drive' is nan; the message's other joints are used")
    assert node.stop() == 0
