# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The main job: a client sees the PR2 where pinocchio says it is; the node answers and stops cleanly."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Transform
from robot_semantics_interfaces.srv import GetGroup, ListGroups
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import String
from support.nodes import DATA, Client, NodeProcess, joint_state, matrix_of

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.ros

NODE = "/robot_semantics"
PR2_GROUPS = json.loads((DATA / "moveit" / "erd_pr2_description__pr2.json").read_text())["group_names"]


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess], pr2: tuple[str, str]) -> NodeProcess:
    return start(robot_description=pr2[0], robot_description_semantic=pr2[1], publish_frequency=1000.0)


def test_every_link_is_where_pinocchio_puts_it(client: Client, node: NodeProcess, pr2: tuple[str, str]) -> None:
    # Pinocchio's planar joint stands for the SRDF's: position x y and the heading's cosine and sine.
    model = pin.buildModelFromXML(pr2[0], pin.JointModelPlanar())
    data = model.createData()
    joints = client.publisher(JointState, "joint_states")
    base = client.publisher(MultiDOFJointState, "multi_dof_joint_states")
    client.until(client.static_frames, "the static transforms")
    rng = np.random.default_rng(7)
    checked = 0
    for _ in range(3):
        q = pin.randomConfiguration(
            model, np.maximum(model.lowerPositionLimit, -2.0), np.minimum(model.upperPositionLimit, 2.0)
        )
        q[:2] = rng.uniform(-5.0, 5.0, 2)
        heading = rng.uniform(-np.pi, np.pi)
        q[2:4] = np.cos(heading), np.sin(heading)
        positions = {}
        for index in range(2, model.njoints):
            part = q[model.joints[index].idx_q : model.joints[index].idx_q + model.joints[index].nq]
            positions[model.names[index]] = np.arctan2(part[1], part[0]) if len(part) == 2 else part[0]
        pose = Transform()
        pose.translation.x, pose.translation.y = q[:2]
        pose.rotation.z, pose.rotation.w = np.sin(heading / 2), np.cos(heading / 2)

        def send(stamp_ns: int, positions: dict[str, float] = positions, pose: Transform = pose) -> None:
            message = MultiDOFJointState(joint_names=["world_joint"], transforms=[pose])
            message.header.frame_id = "odom_combined"
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
            joints.publish(joint_state(positions, stamp_ns))
            base.publish(message)

        tree = client.static_frames() | _moving(client, send, len(positions) + 1)
        pin.framesForwardKinematics(model, data, q)
        for frame in model.frames:
            if frame.type != pin.FrameType.BODY or frame.name == "universe":
                continue
            expected = data.oMf[model.getFrameId(frame.name, pin.FrameType.BODY)].homogeneous
            actual = np.eye(4)
            name = frame.name
            while name != "odom_combined":
                actual = matrix_of(tree[name]) @ actual
                name = tree[name].header.frame_id
            np.testing.assert_allclose(actual, expected, atol=1e-9)
            checked += 1
    assert checked >= 3 * 80


def _moving(client: Client, send: Callable[[int], None], count: int) -> dict[str, Any]:
    """Return `count` transforms with one stamp; sent again if a message gets lost, for the node listens best effort."""
    for _ in range(20):
        stamp = time.time_ns()
        send(stamp)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            client.spin_for(0.02)
            if len(found := client.at(stamp)) == count:
                return found
    raise AssertionError(f"waited in vain for {count} transforms")


def test_groups_are_answered_and_misspelt_ones_corrected(client: Client, node: NodeProcess) -> None:
    groups = client.call(ListGroups, f"{NODE}/list_groups")
    assert groups.success
    assert groups.groups == PR2_GROUPS
    found = client.call(GetGroup, f"{NODE}/get_group", GetGroup.Request(name="right_arm"))
    assert found.success
    assert found.group.is_chain
    assert (found.group.base_link, found.group.tip_link) == ("torso_lift_link", "r_wrist_roll_link")
    missing = client.call(GetGroup, f"{NODE}/get_group", GetGroup.Request(name="rigth_arm"))
    assert not missing.success
    assert "unknown group 'rigth_arm'" in missing.message
    assert missing.nearest[0] == "right_arm"


def test_descriptions_are_latched_for_late_joiners(client: Client, node: NodeProcess, pr2: tuple[str, str]) -> None:
    urdf = client.collect(String, "robot_description")
    srdf = client.collect(String, "robot_description_semantic")
    client.until(lambda: urdf and srdf, "the descriptions")
    assert urdf[0].data == pr2[0]
    assert srdf[0].data == pr2[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_node_cleanly(
    client: Client, start: Callable[..., NodeProcess], pr2: tuple[str, str], number: int
) -> None:
    node = start(robot_description=pr2[0], ros_args=["-r", "__node:=doomed"])
    client.until(lambda: "doomed" in client.node.get_node_names(), "the node")
    client.call(ListGroups, "/doomed/list_groups")
    assert node.stop(number) == 0
    assert "Traceback" not in node.output
