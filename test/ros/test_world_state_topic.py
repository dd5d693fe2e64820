# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The topic ~/world_state is made for its subscribers only, and a late one never gets a state from before its time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("robot_semantics_interfaces", reason="the interface package is not built (make setup)")

from robot_semantics_interfaces.msg import WorldState
from sensor_msgs.msg import JointState
from support.nodes import LATCHED, Client, NodeProcess, joint_state

pytestmark = pytest.mark.ros

TOPIC = "/late/robot_semantics/world_state"
URDF = """<robot name="one"><link name="base"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>"""


def test_a_later_subscriber_gets_the_present_state_first(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(
        robot_description=URDF,
        world_state_frequency=20.0,
        ros_args=["-r", "__ns:=/late", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"],
    )
    joints = client.publisher(JointState, "/late/joint_states")
    frames = client.collect_tf("/late/tf")

    def publishers() -> set[bytes]:
        return {bytes(info.endpoint_gid) for info in client.node.get_publishers_info_by_topic(TOPIC)}

    def position(message: WorldState) -> float:
        return float(message.model_states[0].joint_states[0].positions[0])

    first: list[WorldState] = []
    subscription = client.node.create_subscription(WorldState, TOPIC, first.append, LATCHED)
    client.publish_until(joints, lambda: joint_state({"turn": 1.0}), lambda: first, "the state for the first")
    assert {position(message) for message in first} == {1.0}
    with_first = publishers()
    assert len(with_first) == 1
    client.node.destroy_subscription(subscription)
    client.until(lambda: publishers() and not publishers() & with_first, "a publisher without the last message")

    # The robot moves while no one subscribes.
    frames.clear()
    client.publish_until(joints, lambda: joint_state({"turn": 2.0}), lambda: len(frames) > 1, "the transforms")
    second: list[WorldState] = []
    client.node.create_subscription(WorldState, TOPIC, second.append, LATCHED)
    # The robot does not move any more: the state is sent although nothing changed.
    client.until(lambda: second, "the state for the second")
    assert position(second[0]) == 2.0
    assert node.stop() == 0
