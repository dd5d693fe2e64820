# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Log of the node: short, and each message once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from sensor_msgs.msg import JointState
from support.nodes import LATCHED, Client, NodeProcess, joint_state
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

URDF = """<robot name="box"><link name="base"/><link name="lid"/><oddity/><strangeness/><whim/>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="lid"/><axis xyz="0 0 1"/></joint></robot>"""
SRDF = """<robot name="box"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="base"/>
  <group name="all"><joint name="hinge"/></group></robot>"""


PARAMETERS: dict[str, Any] = {"robot_description": URDF, "robot_description_semantic": SRDF, "diagnostics_period": 0.2}


def test_a_robot_is_described_in_one_line(node: NodeProcess) -> None:
    node.wait_for_output(
        "robot 'box': 2 links; 1 joints, 1 of which move; 1 groups; planar virtual joint 'v' in 'odom'"
    )
    assert len(re.findall(r"\[INFO\]", node.output)) == 1


def test_warnings_of_one_kind_are_one_line_with_their_number(node: NodeProcess) -> None:
    lines = [line for line in node.output.splitlines() if "is not known" in line]
    assert len(lines) == 1
    assert "<robot_description>:1:" in lines[0]
    assert lines[0].endswith("(and 2 more of this kind)")


def test_the_first_joint_values_are_told_once(client: Client, node: NodeProcess) -> None:
    publisher = client.publisher(JointState, "/joint_states")
    told = "robot 'box': received the first joint values, from /test_client"
    client.publish_until(publisher, lambda: joint_state({"hinge": 0.1}), lambda: told in node.output, "the line")
    client.publish_until(
        publisher, lambda: joint_state({"hinge": 0.2}), lambda: len(client.transforms) > 5, "more transforms"
    )
    assert node.output.count("first joint values") == 1


def test_rivals_for_many_frames_are_one_line(client: Client, start: Callable[..., NodeProcess]) -> None:
    links = "".join(f'<link name="l{number}"/>' for number in range(20))
    joints = "".join(
        f'<joint name="j{number}" type="fixed"><parent link="l0"/><child link="l{number}"/></joint>'
        for number in range(1, 20)
    )
    namespace = ("-r", "__ns:=/many", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static")
    static = client.collect(TFMessage, "/many/tf_static", LATCHED)
    node = start(
        robot_description=f'<robot name="r">{links}{joints}</robot>', diagnostics_period=0.2, ros_args=namespace
    )
    client.until(lambda: static, "the node's frames")
    rival = Client(client.domain, "rival")
    try:
        message = TFMessage(transforms=list(static[-1].transforms))
        message.transforms[0].transform.translation.x = 1.0
        rival.node.create_publisher(TFMessage, "/many/tf_static", LATCHED).publish(message)
        node.wait_for_output("and 18 more frames are published on /tf_static by /rival too: their transforms will jump")
        assert node.output.count("published on") == 1
    finally:
        rival.close()
