# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pose of a robot's root link: every source of a virtual joint, and the components that a planar one cannot have."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Transform, TransformStamped, Twist
from nav_msgs.msg import Odometry
from robot_semantics_interfaces.srv import GetVirtualJoints, GetWorldState
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState, MultiDOFJointState
from support.nodes import LATCHED, Client, NodeProcess, joint_state, matrix_of
from tf2_msgs.msg import TFMessage

from robot_semantics.ros.messages.world_messages import world_from_message
from robot_semantics.usdf.frames import resolve_frames

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"

URDF = '<robot name="base"><link name="base"/></robot>'
SRDF = """<robot name="base">
  <virtual_joint name="root" type="{}" parent_frame="odom" child_link="base"/>
</robot>"""
FLOATING, PLANAR, FIXED = (SRDF.format(kind) for kind in ("floating", "planar", "fixed"))

# A pose well off the plane, and a twist in the parent's axes.
XYZ = np.array([1.0, -2.0, 0.25])
R = Rotation.from_euler("ZYX", [0.7, 0.2, -0.1])


PARAMETERS: dict[str, Any] = {
    "robot_description": URDF,
    "robot_description_semantic": FLOATING,
    "publish_frequency": 1000.0,
}
"""One node, whose parameters each test sets for itself."""


@pytest.fixture
def setup(client: Client, node: NodeProcess) -> Callable[..., None]:
    def setup(srdf: str, **parameters: Any) -> None:
        values = {"source": "auto", "topic": "odom", "parent_frame": "", "pose": [0.0] * 6, **parameters}
        assert client.set_parameters(NODE, robot_description_semantic=srdf)[0].successful
        for name, value in values.items():
            (result,) = client.set_parameters(NODE, **{f"virtual_joints__root__{name}": value})
            assert result.successful, result.reason
        client.forget_transforms()
        client.static_messages.clear()

    return setup


def multi_dof(frame_id: str = "odom", quat: Any = None, names: tuple[str, ...] = ("root",)) -> MultiDOFJointState:
    message = MultiDOFJointState(joint_names=list(names))
    message.header.frame_id = frame_id
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
    pose, twist = Transform(), Twist()
    pose.translation.x, pose.translation.y, pose.translation.z = XYZ
    q = pose.rotation
    q.x, q.y, q.z, q.w = R.as_quat() if quat is None else quat
    twist.linear.x, twist.linear.y, twist.angular.z = 0.1, 0.2, 0.3
    message.transforms = [pose] * len(names)
    message.twist = [twist] * len(names)
    return message


def publish_until_base(client: Client, publisher: Any, make: Callable[[], Any]) -> Any:
    """Publish until the base has a transform and return it."""
    client.publish_until(publisher, make, lambda: "base" in client.newest(), "the transform of the base")
    return client.newest()["base"]


def expected(rotation: Rotation, xyz: Any) -> Any:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation.as_matrix(), xyz
    return T


def test_a_floating_base_follows_multi_dof_joint_states(client: Client, setup: Callable[..., None]) -> None:
    setup(FLOATING)
    publisher = client.publisher(MultiDOFJointState, "multi_dof_joint_states")
    found = publish_until_base(client, publisher, multi_dof)
    assert found.header.frame_id == "odom"
    np.testing.assert_allclose(matrix_of(found), expected(R, XYZ), atol=1e-12)


def test_a_quaternion_of_another_length_means_the_same_rotation(client: Client, setup: Callable[..., None]) -> None:
    setup(FLOATING)
    publisher = client.publisher(MultiDOFJointState, "multi_dof_joint_states")
    found = publish_until_base(client, publisher, lambda: multi_dof(quat=3.0 * R.as_quat()))
    np.testing.assert_allclose(matrix_of(found), expected(R, XYZ), atol=1e-12)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (lambda: multi_dof(quat=[0.0] * 4), "the quaternion of 'root' is zero"),
        (lambda: multi_dof(quat=[math.nan, 0.0, 0.0, 1.0]), "the pose of 'root' is not finite"),
        (lambda: multi_dof("map"), "its frame_id is 'map', not 'odom'"),
        (lambda: MultiDOFJointState(joint_names=["root"]), "it has 1 names but 0 transforms"),
        (MultiDOFJointState, "it names no joint"),
    ],
    ids=["zero_quaternion", "nan", "frame", "length", "empty"],
)
def test_a_wrong_base_state_is_refused(
    client: Client, node: NodeProcess, setup: Callable[..., None], message: Callable[[], Any], reason: str
) -> None:
    setup(FLOATING)
    publisher = client.publisher(MultiDOFJointState, "multi_dof_joint_states")
    client.publish_until(publisher, message, lambda: reason in node.output, "the refusal")
    assert "refused a message on multi_dof_joint_states from /test_client" in node.output
    assert "base" not in client.newest()


def test_a_planar_base_takes_the_plane_s_part_and_says_what_is_lost(
    client: Client, node: NodeProcess, setup: Callable[..., None]
) -> None:
    setup(PLANAR)
    publisher = client.publisher(MultiDOFJointState, "multi_dof_joint_states")
    found = matrix_of(publish_until_base(client, publisher, multi_dof))
    np.testing.assert_allclose(found[:3, 3], [1.0, -2.0, 0.0], atol=1e-12)
    # The turn about z that leaves the smallest tilt.
    _, _, z, w = R.as_quat()
    kept = Rotation.from_quat(np.array([0.0, 0.0, z, w]) / math.hypot(z, w))
    np.testing.assert_allclose(found[:3, :3], kept.as_matrix(), atol=1e-12)
    tilt = (kept.inv() * R).magnitude()
    node.wait_for_output(f"0.25 m off the plane and a tilt of {tilt:.6g} rad")
    state = client.call(GetWorldState, f"{NODE}/get_world_state").state.model_states[0]
    assert state.parent == "odom"
    assert state.has_twist
    assert (state.twist.linear.x, state.twist.linear.y, state.twist.angular.z) == pytest.approx(
        (0.1, 0.2, 0.3), abs=1e-12
    )


@pytest.mark.parametrize(
    ("srdf", "positions", "T"),
    [
        (
            PLANAR,
            {"root/x": 1.0, "root/y": -2.0, "root/theta": 0.7},
            expected(Rotation.from_euler("z", 0.7), [1, -2, 0]),
        ),
        (
            FLOATING,
            {
                **dict(zip(("root/trans_x", "root/trans_y", "root/trans_z"), XYZ, strict=True)),
                **dict(zip(("root/rot_x", "root/rot_y", "root/rot_z", "root/rot_w"), R.as_quat(), strict=True)),
            },
            expected(R, XYZ),
        ),
    ],
    ids=["planar", "floating"],
)
def test_joint_states_move_the_base_by_moveit_s_variable_names(
    client: Client, setup: Callable[..., None], srdf: str, positions: Mapping[str, float], T: Any
) -> None:
    setup(srdf, source="joint_states")
    publisher = client.publisher(JointState, "joint_states")
    found = publish_until_base(client, publisher, lambda: joint_state(positions))
    np.testing.assert_allclose(matrix_of(found), T, atol=1e-12)


def test_half_a_base_position_is_not_published(client: Client, setup: Callable[..., None], node: NodeProcess) -> None:
    setup(FLOATING, source="joint_states")
    setup(PLANAR, source="joint_states")
    publisher = client.publisher(JointState, "joint_states")
    for _ in range(3):
        publisher.publish(joint_state({"root/x": 1.0}))
        client.spin_for(0.1)
    assert "base" not in client.newest()
    publish_until_base(client, publisher, lambda: joint_state({"root/y": 2.0, "root/theta": 0.0}))


def test_odometry_moves_the_base_and_its_twist_is_turned_into_the_parent_s_axes(
    client: Client, setup: Callable[..., None], node: NodeProcess
) -> None:
    setup(FLOATING, source="odometry", topic="wheels/odom")
    publisher = client.publisher(Odometry, "wheels/odom")

    def odometry(child: str = "base") -> Odometry:
        message = Odometry(child_frame_id=child)
        message.header.frame_id = "odom"
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
        position, q = message.pose.pose.position, message.pose.pose.orientation
        position.x, position.y, position.z = XYZ
        q.x, q.y, q.z, q.w = R.as_quat()
        message.twist.twist.linear.x = 0.5
        return message

    found = publish_until_base(client, publisher, odometry)
    np.testing.assert_allclose(matrix_of(found), expected(R, XYZ), atol=1e-12)
    state = client.call(GetWorldState, f"{NODE}/get_world_state").state.model_states[0]
    velocity = state.twist.linear
    np.testing.assert_allclose([velocity.x, velocity.y, velocity.z], R.apply([0.5, 0.0, 0.0]), atol=1e-12)
    client.publish_until(
        publisher,
        lambda: odometry("camera"),
        lambda: "its child_frame_id is 'camera', not 'base'" in node.output,
        "the refusal",
    )


def test_with_source_tf_the_node_listens_and_never_publishes(client: Client, setup: Callable[..., None]) -> None:
    setup(FLOATING, source="tf")
    own = client.node.create_publisher(TFMessage, "/tf", 100)
    fixed = client.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    fixed.publish(TFMessage(transforms=[stamped("odom", "platform", [0.0, 0.0, 1.0])]))

    def known() -> Any:
        own.publish(TFMessage(transforms=[stamped("platform", "base", XYZ)]))
        state = world_from_message(client.call(GetWorldState, f"{NODE}/get_world_state").state)
        placed = {body.name for body in state.bodies if body.pose is not None}
        return state if {"base", "platform", "odom"} <= placed else None

    state = client.until(known, "the pose from TF")
    assert state.model("base").parent == "platform"
    np.testing.assert_allclose(resolve_frames(state).pose("base", "odom")[:3, 3], [1.0, -2.0, 1.25], atol=1e-12)
    assert {item.header.frame_id for item in client.transforms if item.child_frame_id == "base"} <= {"platform"}
    client.node.destroy_publisher(own)
    client.node.destroy_publisher(fixed)


@pytest.mark.parametrize("srdf", [FIXED, FLOATING, PLANAR], ids=["fixed", "floating", "planar"])
def test_a_fixed_base_is_on_tf_static_where_it_is_told_to_be(
    client: Client, setup: Callable[..., None], srdf: str
) -> None:
    setup(srdf, source="fixed", pose=[1.0, 2.0, 0.0, 0.0, 0.0, 0.5], parent_frame="hall")
    client.set_parameters(NODE, virtual_joints__root__pose=[1.0, 2.0, 0.0, 0.0, 0.0, 0.6])
    client.until(
        lambda: any(item.transform.translation.y == 2.0 for item in client.static_frames().values()), "the fixed base"
    )
    client.until(lambda: np.isclose(client.static_frames()["base"].transform.rotation.z, math.sin(0.3)), "its new pose")
    assert client.static_frames()["base"].header.frame_id == "hall"
    np.testing.assert_allclose(
        matrix_of(client.static_frames()["base"]), expected(Rotation.from_euler("z", 0.6), [1, 2, 0]), atol=1e-12
    )


def test_a_fixed_virtual_joint_is_the_identity_by_default(client: Client, setup: Callable[..., None]) -> None:
    setup(FLOATING)
    setup(FIXED)
    client.set_parameters(NODE, frame_prefix="")
    client.until(client.static_frames, "the fixed base")
    np.testing.assert_array_equal(matrix_of(client.static_frames()["base"]), np.eye(4))
    assert client.static_frames()["base"].header.frame_id == "odom"


def test_a_source_that_is_none_is_rejected_with_the_nearest_word(client: Client, setup: Callable[..., None]) -> None:
    setup(FLOATING)
    (result,) = client.set_parameters(NODE, virtual_joints__root__source="odometri")
    assert not result.successful
    assert "did you mean 'odometry'?" in result.reason


def stamped(parent: str, child: str, xyz: Any) -> TransformStamped:
    item = TransformStamped(child_frame_id=child)
    item.header.frame_id = parent
    item.header.stamp.sec, item.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
    item.transform.translation.x, item.transform.translation.y, item.transform.translation.z = map(float, xyz)
    item.transform.rotation.w = 1.0
    return item


def test_the_services_report_the_parent_frame_of_the_running_node(client: Client, setup: Callable[..., None]) -> None:
    for stated, expected in (("hall", "hall"), ("", "odom")):
        setup(PLANAR, source="fixed", parent_frame=stated)
        (joint,) = client.call(GetVirtualJoints, f"{NODE}/get_virtual_joints").virtual_joints
        assert (joint.name, joint.type, joint.parent_frame, joint.child_link) == ("root", "planar", expected, "base")
        answer = client.call(GetWorldState, f"{NODE}/get_world_state")
        assert [model.parent for model in answer.state.model_states] == [expected]
