# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A node with a four-bar linkage: closed on TF, held out of reach, compared with measured passive joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.time import Time
from robot_semantics_interfaces.srv import GetWorldState, ReplaceDescription
from sensor_msgs.msg import JointState
from support.loops import ROBOT_YAML, cut_four_bar_text, four_bar_positions, four_bar_text, srdf
from support.node_world import NODE
from support.nodes import Client, NodeProcess, joint_state, matrix_of
from tf2_ros import Buffer

from robot_semantics import Diagnostics
from robot_semantics.ros.tools.live_view import PublishedRobots

pytestmark = pytest.mark.ros
LENGTHS = (0.5, 0.3, 0.25, 0.2)
"""The crank cannot turn around: beyond 1.09 rad the coupler and the rocker are too short."""
SPEED = 2.0
STEP_NS = 10_000_000


def gap(buffer: Buffer, stamp_ns: int) -> float:
    """Return the distance between the two ends of the cut at a time [m]."""
    at = Time(nanoseconds=stamp_ns)
    ends = [
        matrix_of(buffer.lookup_transform("base", link, at))[:3] @ (length, 0.0, 0.0, 1.0)
        for link, length in (("coupler_link", LENGTHS[2]), ("rocker_link", LENGTHS[3]))
    ]
    return float(np.linalg.norm(ends[0] - ends[1]))


def test_a_node_closes_a_loop_on_tf(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(
        robot_description=four_bar_text(LENGTHS),
        robot_description_semantic=srdf("coupler", "rocker"),
        publish_frequency=1000.0,
        diagnostics_period=0.1,
    )
    arrays = client.collect(DiagnosticArray, "/diagnostics", 10)
    publisher = client.publisher(JointState, "joint_states")
    first = four_bar_positions(LENGTHS, np.array([0.0]), 1.0)[0]
    begin = dict(zip(("crank", "coupler", "rocker"), first.tolist(), strict=True))
    client.publish_until(
        publisher, lambda: joint_state(begin), lambda: len(client.newest()) == 3, "the first transforms"
    )

    def told(key: str) -> list[float]:
        """Return a value of all diagnostics: a difference is only in the next ones, and several can come at once."""
        return [float(item.value) for array in arrays for item in array.status[0].values if item.key == key]

    def send(theta: float, **passive: float) -> int:
        """Publish one message, a step after the one before, and wait for its transforms."""
        # By their stamps, the node publishes a joint at most every millisecond.
        client.spin_for(STEP_NS * 1e-9)
        message = joint_state({"crank": theta, **passive}, velocity=[SPEED] * (1 + len(passive)))
        stamp_ns = int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec)
        publisher.publish(message)
        client.until(lambda: len(client.at(stamp_ns)) == 3, "the transforms of a message")
        return stamp_ns

    client.forget_transforms()
    angles = np.arange(1, 51, dtype=np.float64) * (SPEED * STEP_NS * 1e-9)
    stamps = [send(theta) for theta in angles.tolist()]
    buffer = Buffer()
    for transform in client.transforms:
        buffer.set_transform(transform, "test")
    assert max(gap(buffer, stamp) for stamp in stamps) < 1e-9

    expected = four_bar_positions(LENGTHS, angles[-1:], 1.0)[0]
    world: Any = client.call(GetWorldState, "/robot_semantics/get_world_state").state.model_states[0]
    joints = {joint.name: joint for joint in world.joint_states}
    h = 1e-6
    near = four_bar_positions(LENGTHS, np.array((angles[-1] - h, angles[-1] + h), np.float64), 1.0)
    rates = SPEED * (near[1] - near[0]) / (2.0 * h)
    for at, name in enumerate(("crank", "coupler", "rocker")):
        assert np.cos(joints[name].positions[0] - expected[at]) == pytest.approx(1.0, abs=1e-12)
        assert joints[name].velocities[0] == pytest.approx(rates[at], abs=1e-6)

    send(float(angles[-1]), coupler=float(expected[1]) + 0.02, rocker=float(expected[2]))
    client.until(lambda: 0.02 in told("passive joint off by: coupler"), "the difference")

    last = client.at(send(1.05))
    held = client.at(send(1.5))
    residuals = client.until(lambda: [value for value in told("loop residual [m]") if value > 1e-3], "the residual")
    distance = np.hypot(LENGTHS[1] * np.cos(1.5) - LENGTHS[0], LENGTHS[1] * np.sin(1.5))
    assert residuals[-1] == pytest.approx(distance - LENGTHS[2] - LENGTHS[3], abs=5e-4)
    for link in ("coupler_link", "rocker_link"):
        assert np.abs(matrix_of(held[link]) - matrix_of(last[link])).max() == 0.0
    node.wait_for_output("loops stay open by")
    send(1.0)
    node.wait_for_output("all loops close again")
    assert node.stop() == 0


def test_a_node_reads_the_loops_of_a_second_text(
    client: Client, start: Callable[..., NodeProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    start(
        robot_description=cut_four_bar_text(LENGTHS),
        robot_description_loops=ROBOT_YAML,
        ros_args=["-r", "/tf_static:=s"],
    )
    publisher = client.publisher(JointState, "joint_states")
    client.forget_transforms()
    client.publish_until(
        publisher, lambda: joint_state({"crank": 0.3}), lambda: len(client.newest()) == 3, "the first transforms"
    )
    newest = client.newest()
    ends = [
        matrix_of(newest[link]) @ (length, 0.0, 0.0, 1.0)
        for link, length in (("coupler_link", LENGTHS[2]), ("rocker_link", LENGTHS[3]))
    ]
    assert np.abs(matrix_of(newest["crank_link"]) @ ends[0] - ends[1]).max() < 1e-9

    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    with PublishedRobots(NODE, 20.0, (), Diagnostics(), kinds=()) as live:
        assert [joint.name for joint in live.robots[0].actor.model.joints if joint.passive] == ["coupler", "rocker"]

    (refused,) = client.set_parameters(NODE, robot_description_loops=ROBOT_YAML.replace("B]", "C]"))
    assert not refused.successful
    assert "<robot_description_loops>:1:19: error: closed_loop: no link and no joint is called 'C'" in refused.reason
    request = ReplaceDescription.Request(urdf=cut_four_bar_text().replace("crank", "handle"))
    answer = client.call(ReplaceDescription, f"{NODE}/replace_description", request)
    assert not answer.success
    assert "name_mot: joint 'crank' does not exist" in answer.message
    (accepted,) = client.set_parameters(NODE, robot_description_loops="")
    assert accepted.successful
