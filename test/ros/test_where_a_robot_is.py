# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The pose of a robot, and the result of restoring a state on it: the same in all services, over real DDS."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from robot_semantics_interfaces.msg import WorldState as WorldStateMessage
from robot_semantics_interfaces.srv import DeleteSnapshot, GetCurrentState, GetStatus, GetWorldState, RestoreSnapshot
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from support.node_world import NODE, OneNode, transform, without_files
from support.nodes import LATCHED, Client, joint_state, matrix_of, said
from tf2_msgs.msg import TFMessage

from robot_semantics import WorldState
from robot_semantics.cli.main import main
from robot_semantics.ros.messages.world_messages import items_from_messages, world_to_message
from robot_semantics.transforms.pose import Pose, pose_from_matrix, pose_matrix
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import WORLD

pytestmark = pytest.mark.ros

URDF = """<robot name="r"><link name="base_link"/><link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>{looks}</link>
  <joint name="turn" type="continuous"><parent link="base_link"/><child link="arm"/>
    <origin xyz="0.5 0 0.2"/><axis xyz="0 0 1"/></joint></robot>"""
PLAIN = URDF.format(looks="")
SRDF = '<robot name="r"><virtual_joint name="v" type="{}" parent_frame="{}" child_link="base_link"/></robot>'
PLANAR, FIXED = SRDF.format("planar", "odom"), SRDF.format("fixed", "odom")


def matrix(x: float, y: float, z: float, yaw: float = 0.0) -> Any:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_euler("z", yaw).as_matrix(), (x, y, z)
    return T


def pose(x: float, y: float, z: float, yaw: float = 0.0) -> Pose:
    return pose_from_matrix(matrix(x, y, z, yaw))


@pytest.fixture
def node(client: Client, tmp_path: Path) -> Any:
    """Return a function that starts a node with one robot ``r``, which ends with the test."""
    running: list[OneNode] = []

    def start(srdf: str | None, *static: Any, urdf: str = PLAIN, **parameters: Any) -> OneNode:
        running.append(OneNode({"r": (urdf, srdf)}, tmp_path, static, client, **parameters))
        return running[-1]

    yield start
    for one in running:
        one.close()


def everywhere(one: OneNode) -> WorldState:
    """Return the world state, which the file, the service and the topic say alike."""
    topic: list[Any] = []
    subscription = one.client.node.create_subscription(WorldStateMessage, f"{NODE}/world_state", topic.append, LATCHED)
    publisher, now_ns = one.client.publisher(JointState, "/r/joint_states"), time.time_ns()

    def agreed() -> WorldState | None:
        publisher.publish(joint_state({"turn": 0.5}, now_ns))
        file, answer = one.saved()
        service = one.state()
        message = world_to_message(without_files(file), items_from_messages(answer.missing, done=False))
        if not file.models[0].joints or not topic or topic[-1] != message:
            return None
        # Changes between the two calls are in only one of the answers.
        return file if without_files(service) == without_files(file) else None

    state: WorldState = one.client.until(agreed, "the same state from all")
    one.client.node.destroy_subscription(subscription)
    one.client.node.destroy_publisher(publisher)
    return state


def test_a_fixed_base_stands_where_its_parameter_says_in_every_answer(node: Any, client: Client) -> None:
    one = node(FIXED, **{"r.virtual_joints.v.pose": [1.0, 2.0, 3.0, 0.0, 0.0, 0.5], "world_state_frequency": 10.0})
    state = everywhere(one)
    assert state.models[0].parent == "odom"
    np.testing.assert_allclose(pose_matrix(state.models[0].pose), matrix(1, 2, 3, 0.5), atol=1e-12)
    client.until(lambda: "r/base_link" in client.static_frames(), "the base on /tf_static")
    np.testing.assert_allclose(
        matrix_of(client.static_frames()["r/base_link"]), pose_matrix(state.models[0].pose), atol=1e-12
    )


@pytest.mark.parametrize("srdf", [None, PLANAR], ids=["without", "unheard"])
def test_a_base_that_another_node_moves_is_where_tf_has_it(node: Any, client: Client, srdf: str | None) -> None:
    one = node(srdf, transform("map", "odom", pose(5.0, 0.0, 0.0, 1.0)), world_state_frequency=10.0)
    publisher = client.publisher(TFMessage, "/tf", 100)

    def placed() -> Any:
        publisher.publish(TFMessage(transforms=[transform("odom", "r/base_link", pose(1.0, 2.0, 0.0, 0.5))]))
        return one.state().models[0].pose

    client.until(placed, "the base from TF")
    state = everywhere(one)
    assert state.models[0].parent == "odom"
    assert {frame.name: frame.parent for frame in state.frames} == {"odom": "map", "map": WORLD}
    expected = matrix(5, 0, 0, 1.0) @ matrix(1, 2, 0, 0.5)
    np.testing.assert_allclose(resolve_frames(state).pose("r"), expected, atol=1e-12)
    _, answer = one.saved()
    assert {item.kind for item in answer.missing} == {"links"}
    # The node cannot move robots that others move, and reports this.
    model = '<model_state name="r"><parent>odom</parent><pose>{}</pose></model_state><frame name="odom"/>'
    there = one.restore(f"<world_state>{model.format('1 2 0 0 0 0.5')}</world_state>")
    assert there.success, there.message
    assert "model 'r': pose: it is there" in said(there.restored)
    elsewhere = one.restore(f"<world_state>{model.format('1 2.5 0 0 0 0.5')}</world_state>")
    assert not elsewhere.success
    assert "another node's transforms move 'r/base_link', 0.5 m and" in elsewhere.message
    client.node.destroy_publisher(publisher)


def test_where_nobody_says_where_a_base_is_it_is_not_stated_and_missing(node: Any) -> None:
    one = node(None)
    state, answer = one.saved()
    assert (state.models[0].parent, state.models[0].pose) == (WORLD, None)
    assert ("pose", "r", "not_stated") in {(item.kind, item.model, item.code) for item in answer.missing}
    still = "<twist>0 0 0 0 0 0</twist>"
    world = f'<world_state><model_state name="r"><pose>{{}} 0 0 0 0 0</pose>{still}</model_state></world_state>'
    refused = one.restore(world.format(1.25))
    assert not refused.success
    assert "'r/base_link' has no virtual joint that the node could move, 1.25 m and 0 rad away" in refused.message
    there = one.restore(world.format(0))
    assert there.success, there.message
    assert "model 'r': pose: it is there" in said(there.restored)


def test_a_frame_that_tf_places_elsewhere_is_not_restored_and_that_is_a_failure(node: Any) -> None:
    one = node(PLANAR, transform("map", "odom", pose(3.0, 0.0, 0.0)))
    text = """<world_state><model_state name="r"><parent>odom</parent><pose>1 0 0 0 0 0</pose></model_state>
      <frame name="odom"><parent>map</parent><pose>1 0 0 0 0 0</pose></frame>
      <frame name="map"><pose>0 0 0 0 0 0</pose></frame></world_state>"""
    answer = one.restore(text)
    assert (answer.success, said(answer.restored)) == (False, [])
    (item,) = answer.not_restored
    assert (item.kind, item.name, item.code) == ("frame", "odom", "elsewhere")
    assert "on TF it is 2 m and 0 rad away from there" in item.reason
    assert one.saved()[0].models[0].pose is None
    answer = one.restore(text, partial=True)
    assert answer.success
    assert [item.name for item in answer.not_restored] == ["odom"]
    assert one.saved()[0].models[0].pose.xyz_rpy[0] == 1.0


def test_an_object_on_a_link_is_placed_by_the_joints_or_named_where_it_cannot_be(node: Any) -> None:
    one = node(PLANAR)
    text = """<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="r"><parent>odom</parent>
      <pose>1 0 0 0 0 0</pose>{}</model_state><frame name="odom"><pose>0 0 0 0 0 0</pose></frame>
      <model_state name="cup" rs:parent_link="arm"><parent>r</parent><pose>0 0 1 0 0 0</pose></model_state>
      <frame name="lid"><parent>cup</parent><pose>0 0 1 0 0 0</pose></frame></world_state>"""
    turn = '<joint_state name="turn"><positions>0.3</positions></joint_state>'
    answer = one.restore(text.format(turn), dry_run=True, partial=True)
    assert {(item.kind, item.model) for item in answer.not_restored} == {("model", "cup")}
    answer = one.restore(text.format(""), partial=True)
    assert answer.success, answer.message
    assert {(item.kind, item.model or item.name) for item in answer.not_restored} == {
        ("model", "cup"),
        ("pose", "cup"),
        ("frame", "lid"),
    }
    reasons = [item.reason for item in answer.not_restored if item.kind == "pose"]
    assert reasons == ["the pose of link 'r::arm', on which it stands, is neither stated nor follows"]
    assert one.saved()[0].models[0].pose.xyz_rpy[0] == 1.0
    assert not one.restore(text.format("")).success


def test_odometry_says_where_a_base_is_where_nothing_else_does(node: Any, client: Client) -> None:
    one = node(PLANAR)
    client.transforms.clear()
    publisher = client.publisher(Odometry, "/odom")
    message = Odometry(child_frame_id="r/base_link")
    message.header.frame_id = "odom"
    message.header.stamp.sec = int(time.time())
    message.pose.pose.position.x, message.pose.pose.orientation.z, message.pose.pose.orientation.w = 3.0, 0.6, 0.8
    message.twist.twist.linear.x = 0.5

    def heard() -> Any:
        publisher.publish(message)
        model = one.state().models[0]
        return model if model.pose is not None else None

    model = client.until(heard, "the pose from odometry")
    yaw = 2.0 * np.arctan2(0.6, 0.8)
    assert model.parent == "odom"
    np.testing.assert_allclose(pose_matrix(model.pose), matrix(3.0, 0.0, 0.0, yaw), atol=1e-12)
    np.testing.assert_allclose(model.twist, [0.5 * np.cos(yaw), 0.5 * np.sin(yaw), 0, 0, 0, 0], atol=1e-12)
    assert "r/base_link" not in client.newest()


FOOT = PLAIN.replace(
    '<link name="base_link"/>',
    """<link name="foot"/><link name="base_link"/><joint name="f" type="fixed"><parent link="foot"/>
    <child link="base_link"/><origin xyz="0.1 0 0.3" rpy="0 0 0.5"/></joint>""",
)
ON_FOOT = PLANAR.replace("base_link", "foot")


@pytest.mark.parametrize("source", ["auto", "odometry"])
@pytest.mark.parametrize("child", ["", "foot", "r/foot", "base_link", "r/base_link", "odom_link"])
def test_odometry_of_every_name_of_the_base_moves_the_base(node: Any, client: Client, source: str, child: str) -> None:
    more = {"r.virtual_joints.v.base_frame": "odom_link", "r.virtual_joints.v.source": source}
    one = node(ON_FOOT, urdf=FOOT, **{"r.frame_prefix": "", **more})
    place = matrix(3.0, 1.0, 0.0, 0.2)
    if "base_link" in child:
        place = place @ matrix(0.1, 0.0, 0.3, 0.5)
    publisher = client.publisher(Odometry, "/odom")
    message = Odometry(child_frame_id=child)
    message.header.frame_id = "odom"
    message.header.stamp.sec = int(time.time())
    position, q = message.pose.pose.position, message.pose.pose.orientation
    position.x, position.y, position.z = place[:3, 3].tolist()
    q.x, q.y, q.z, q.w = Rotation.from_matrix(place[:3, :3]).as_quat().tolist()
    # The link turns about its own axis and moves along its own x axis.
    message.twist.twist.linear.x, message.twist.twist.angular.z = 0.5, 2.0

    def heard() -> Any:
        publisher.publish(message)
        model = one.state().models[0]
        return model if model.pose is not None else None

    model = client.until(heard, "the pose from odometry")
    assert model.parent == "odom"
    np.testing.assert_allclose(pose_matrix(model.pose), matrix(3.0, 1.0, 0.0, 0.2), atol=1e-9)
    yaw = 0.7 if "base_link" in child else 0.2
    lever = np.array([3.0, 1.0, 0.0]) - place[:3, 3]
    velocity = 0.5 * np.array([np.cos(yaw), np.sin(yaw), 0.0]) + np.cross([0.0, 0.0, 2.0], lever)
    np.testing.assert_allclose(model.twist, [*velocity, 0, 0, 2.0], atol=1e-9)


@pytest.mark.parametrize("source", ["auto", "tf"])
@pytest.mark.parametrize("child", ["r/foot", "r/base_link", "odom_link"])
def test_tf_of_another_name_of_the_base_places_it(node: Any, client: Client, source: str, child: str) -> None:
    more = {"r.virtual_joints.v.base_frame": "odom_link", "r.virtual_joints.v.source": source}
    one = node(ON_FOOT, urdf=FOOT, **{"r.frame_prefix": "", **more})
    place = matrix(3.0, 1.0, 0.0, 0.2)
    if "base_link" in child:
        place = place @ matrix(0.1, 0.0, 0.3, 0.5)
    publisher = client.publisher(TFMessage, "/tf", 100)

    def heard() -> Any:
        publisher.publish(TFMessage(transforms=[transform("odom", child, pose_from_matrix(place))]))
        state = one.state()
        return state if state.models[0].pose is not None else None

    state = client.until(heard, "the pose from TF")
    client.node.destroy_publisher(publisher)
    assert state.models[0].parent == "odom"
    np.testing.assert_allclose(pose_matrix(state.models[0].pose), matrix(3.0, 1.0, 0.0, 0.2), atol=1e-9)
    assert {frame.name for frame in state.frames} == {"odom"}


def test_a_pose_is_restored_through_the_frames_of_its_world(node: Any) -> None:
    one = node(PLANAR, transform(WORLD, "odom", pose(1.0, 0.0, 0.0)))
    text = """<world_state><model_state name="r"><parent>map</parent><pose>1 1 0 0 0 0</pose></model_state>
      <frame name="map"><pose>7 7 0 0 0 0</pose></frame></world_state>"""
    answer = one.restore(text)
    assert answer.success, answer.message
    assert any("frame 'map': no node publishes it" in item.reason for item in answer.notes)
    state, _ = one.saved()
    assert state.models[0].parent == "odom"
    np.testing.assert_allclose(pose_matrix(state.models[0].pose), matrix(7, 8, 0), atol=1e-12)
    np.testing.assert_allclose(resolve_frames(state).pose("r"), matrix(8, 8, 0), atol=1e-12)


def test_what_a_fixed_base_cannot_take_is_refused_item_by_item(node: Any) -> None:
    one = node(FIXED)
    answer = one.restore("""<world_state><model_state name="r"><parent>map</parent><pose>9 9 9 0 0 0</pose>
      <twist>1 0 0 0 0 0</twist><joint_state name="turn"><positions>0.5</positions></joint_state></model_state>
      <frame name="map"><pose>0 0 0 0 0 0</pose><twist>0 0 0 0 0 0</twist></frame></world_state>""")
    assert not answer.success
    assert {(item.kind, item.model) for item in answer.not_restored} == {("pose", "r"), ("twist", "r")}
    assert not answer.restored
    assert one.saved()[0].models[0].joints == ()


def test_links_alone_move_the_joints_that_follow_and_say_so(node: Any) -> None:
    one = node(PLANAR)
    T = matrix(0.5, 0.0, 0.2, 0.3)
    text = one_model(f'<link_state name="arm"><pose>{numbers(T)}</pose></link_state>')
    answer = one.restore(text)
    assert answer.success, answer.message
    assert [(item.kind, item.name, item.code) for item in answer.restored if item.kind == "joint"] == [
        ("joint", "turn", "derived")
    ]
    (joint,) = one.saved()[0].models[0].joints
    assert joint.positions == pytest.approx((0.3,), abs=1e-12)
    refused = one.restore(one_model(f'<link_state name="arm"><pose>{numbers(T + T)}</pose></link_state>'))
    assert not refused.success
    assert refused.message


def one_model(content: str) -> str:
    return f'<world_state><model_state name="r">{content}</model_state></world_state>'


def numbers(T: Any) -> str:
    return " ".join(map(repr, pose_from_matrix(T).xyz_rpy))


def test_a_joint_that_is_neither_stated_nor_follows_stays_unknown(node: Any) -> None:
    one = node(PLANAR)
    answer = one.restore(
        '<world_state><model_state name="r"><parent>odom</parent><pose>1 0 0 0 0 0</pose></model_state>'
        '<frame name="odom"><pose>0 0 0 0 0 0</pose></frame></world_state>'
    )
    assert answer.success, answer.message
    state, saved = one.saved()
    assert state.models[0].joints == ()
    assert ("joint", "turn") in {(item.kind, item.name) for item in saved.missing}
    assert any("1 joints have no stated or derived position" in item.reason for item in answer.notes)


def test_a_model_of_another_name_that_is_likely_the_robot_is_named(node: Any) -> None:
    one = node(PLANAR)
    answer = one.restore(
        '<world_state><model_state name="my_r_1"><joint_state name="turn"><positions>0.5</positions></joint_state>'
        "</model_state></world_state>"
    )
    assert not answer.success
    assert "model 'my_r_1': the node has no such robot; it is very like its robot 'r'" in answer.message


def test_the_node_s_own_file_is_checked_and_simulated_as_it_is(
    node: Any, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    one = node(FIXED)
    publisher = client.publisher(JointState, "/r/joint_states")

    def known() -> bool:
        publisher.publish(joint_state({"turn": 0.5}))
        return bool(one.state().models[0].joints)

    client.until(known, "the joint")
    state, answer = one.saved("own")
    model = state.models[0]
    assert model.description is not None
    assert (one.folder / model.description).read_text() == PLAIN
    assert (one.folder / str(model.semantic)).read_text() == FIXED
    assert main(["check", answer.path, "--strict"]) == 0, capsys.readouterr().out
    pytest.importorskip("mujoco")
    assert main(["sim", "run", answer.path, "--steps", "2"]) == 0, capsys.readouterr().err
    one.saved("second")
    assert len(list(one.folder.glob("*.urdf"))) == 1
    # With the last snapshot that names them they go.
    for name in ("own", "second"):
        assert list(one.folder.glob("*.srdf"))
        request = DeleteSnapshot.Request(name=name)
        assert client.call(DeleteSnapshot, f"{NODE}/delete_snapshot", request).success
    assert not list(one.folder.iterdir())


def test_another_robot_s_state_is_refused_and_other_looks_are_a_note(node: Any, client: Client) -> None:
    one = node(PLANAR)
    text = Path(one.saved("plain")[1].path).read_text()
    assert one.restore(text).success
    red = URDF.format(looks='<visual><geometry><sphere radius="0.1"/></geometry></visual>')
    assert client.set_parameters(NODE, r__robot_description=red)[0].successful
    answer = restore_by_name(client, "plain")
    assert answer.success, answer.message
    assert any("its look has changed" in item.reason for item in answer.notes)
    # A macro file that a state names is not run, not even to compare looks.
    (description,) = one.folder.glob("*.urdf")
    description.rename(description.with_suffix(".xacro"))
    file = one.folder / "plain.usdf"
    file.write_text(file.read_text().replace(description.name, description.with_suffix(".xacro").name))
    answer = restore_by_name(client, "plain")
    assert answer.success, answer.message
    assert not any("its look has changed" in item.reason for item in answer.notes)
    description.with_suffix(".xacro").rename(description)
    file.write_text(file.read_text().replace(description.with_suffix(".xacro").name, description.name))
    heavy = PLAIN.replace('mass value="1"', 'mass value="2"')
    assert client.set_parameters(NODE, r__robot_description=heavy)[0].successful
    refused = restore_by_name(client, "plain")
    assert not refused.success
    assert [item.kind for item in refused.not_restored] == ["description"]


def restore_by_name(client: Client, name: str) -> Any:
    return client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(name=name))


def test_a_robot_on_another_robot_s_link_is_saved_and_restored_there(client: Client, tmp_path: Path) -> None:
    robots = {"a": (PLAIN, FIXED), "b": (PLAIN, SRDF.format("floating", "a/arm"))}
    with OneNode(robots, tmp_path, (), client) as one:
        publishers = [client.publisher(JointState, f"/{name}/joint_states") for name in robots]
        names = [f"v/{axis}" for axis in ("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "rot_w")]
        base = dict(zip(names, (0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0), strict=True))

        def whole() -> WorldState | None:
            publishers[0].publish(joint_state({"turn": 0.3}))
            publishers[1].publish(joint_state({"turn": 0.0, **base}))
            state, _ = one.saved("stacked")
            return state if all(model.joints and model.pose for model in state.models) else None

        state = client.until(whole, "both robots")
        assert (state.model("b").parent, state.model("b").parent_link) == ("a", "arm")
        expected = matrix(0.5, 0, 0.2, 0.3) @ matrix(0, 0.1, 0)
        np.testing.assert_allclose(resolve_frames(state).pose("b", "a"), expected, atol=1e-12)
        answer = one.restore(MOVED)
        assert answer.success, answer.message
        moved = one.saved()[0]
        np.testing.assert_allclose(resolve_frames(moved).pose("b", "a"), matrix(0.0, 2.0, 0.0, 0.0), atol=1e-9)


MOVED = """<world_state><model_state name="a"><parent>odom</parent><pose>0 0 0 0 0 0</pose>
    <joint_state name="turn"><positions>1.0</positions></joint_state></model_state>
  <model_state name="b"><parent>a</parent><pose>0 2 0 0 0 0</pose></model_state>
  <frame name="odom"><pose>0 0 0 0 0 0</pose></frame></world_state>"""


@pytest.mark.parametrize("joint", [None, "planar"])
def test_a_root_link_called_world_is_saved_and_restored_as_a_link(node: Any, client: Client, joint: str | None) -> None:
    urdf = PLAIN.replace("base_link", "world")
    srdf = None if joint is None else SRDF.format(joint, "world").replace("base_link", "world")
    one = node(srdf, transform("r/world", "camera", pose(0.0, 0.0, 3.0)), urdf=urdf)
    publisher = client.publisher(JointState, "/r/joint_states")
    base = {"v/x": 1.0, "v/y": 2.0, "v/theta": 0.5} if joint == "planar" else {}

    def whole() -> WorldState | None:
        publisher.publish(joint_state({"turn": 0.3, **base}))
        state, _ = one.saved("world_link")
        placed = joint is None or state.models[0].pose is not None
        return state if state.models[0].joints and placed and state.frames else None

    state = client.until(whole, "the robot and the camera")
    world = resolve_frames(state)
    np.testing.assert_allclose(world.pose("r"), matrix(1, 2, 0, 0.5) if base else np.eye(4), atol=1e-12)
    np.testing.assert_allclose(world.pose("camera", "r"), matrix(0, 0, 3), atol=1e-12)
    client.node.destroy_publisher(publisher)
    answer = restore_by_name(client, "world_link")
    assert answer.success, answer.message


@pytest.mark.parametrize("source", ["multi_dof", "odometry", "tf"])
def test_a_leading_slash_of_a_frame_changes_nothing(
    node: Any, client: Client, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every name has the slash that tf2 drops: of SRDF, parameter, prefix, TF, odometry, restored state."""
    srdf = SRDF.format("planar", "/odom")
    more = {} if source == "multi_dof" else {"r.virtual_joints.v.parent_frame": "/odom"}
    one = node(srdf, transform("/map", "/odom", pose(5.0, 0.0, 0.0)), **{"r.frame_prefix": "/r/", **more})
    text = """<world_state><model_state name="r"><parent>/odom</parent><pose>1 2 0 0 0 0</pose></model_state>
      <frame name="/odom"><parent>/map</parent><pose>5 0 0 0 0 0</pose></frame>
      <frame name="/map"><pose>0 0 0 0 0 0</pose></frame></world_state>"""
    if source == "multi_dof":
        answer = one.restore(text)
        assert answer.success, answer.message
        client.until(lambda: "r/base_link" in client.newest(), "the root link on TF")
        assert client.newest()["r/base_link"].header.frame_id == "odom"
    else:
        kind, topic = (Odometry, "/odom") if source == "odometry" else (TFMessage, "/tf")
        publisher = client.publisher(kind, topic, 100)
        item = transform("/odom", "/r/base_link", pose(1.0, 2.0, 0.0))
        message: Any = TFMessage(transforms=[item])
        if source == "odometry":
            message = Odometry(header=item.header, child_frame_id=item.child_frame_id)
            message.pose.pose.position.x, message.pose.pose.position.y = 1.0, 2.0
            message.pose.pose.orientation.w = 1.0

        def heard() -> Any:
            publisher.publish(message)
            return one.state().models[0].pose

        client.until(heard, "the pose of the root link")
        client.node.destroy_publisher(publisher)
    state = one.state()
    assert (state.models[0].parent, {frame.name for frame in state.frames}) == ("odom", {"odom", "map"})
    np.testing.assert_allclose(resolve_frames(state).pose("r"), matrix(6.0, 2.0, 0.0), atol=1e-12)


def test_odometry_of_a_frame_that_nothing_explains_is_named(start: Any, client: Client) -> None:
    one = start(robot_description=FOOT, robot_description_semantic=ON_FOOT, ros_args=["-r", "__ns:=/unexplained"])
    publisher = client.publisher(Odometry, "/unexplained/odom")
    message = Odometry(child_frame_id="robot0base")
    message.header.frame_id = "odom"

    def is_named() -> bool:
        client.call(GetWorldState, "/unexplained/robot_semantics/get_world_state")
        return "its child_frame_id is 'robot0base', not 'foot'" in one.output

    client.publish_until(publisher, lambda: message, is_named, "the name of the frame")
    assert "virtual_joints.NAME.base_frame" in one.output
    one.stop()


def test_a_base_frame_that_is_a_moving_link_is_refused(start: Any, client: Client) -> None:
    given = {"robot_description": FOOT, "robot_description_semantic": ON_FOOT, "frame_prefix": "p/"}
    one = start(**given, virtual_joints__v__base_frame="p/arm", ros_args=["-r", "__ns:=/refused"])
    assert one.wait() == 1
    assert "parameter 'virtual_joints.v.base_frame': the link 'p/arm' moves" in one.output
    one = start(**given, ros_args=["-r", "__ns:=/refused"])
    (answer,) = client.set_parameters("/refused/robot_semantics", virtual_joints__v__base_frame="arm")
    assert not answer.successful
    assert "it must be fixed to the root link 'foot'" in answer.reason
    (answer,) = client.set_parameters("/refused/robot_semantics", virtual_joints__v__base_frame="base_link")
    assert answer.successful
    one.stop()


def test_the_current_state_of_a_base_on_tf_follows_a_link_that_is_fixed_to_it(start: Any, client: Client) -> None:
    planar = '<robot name="foot"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="foot"/>'
    start(
        robot_description=FOOT,
        robot_description_semantic=f'{planar}<group name="base"><joint name="v"/></group></robot>',
        virtual_joints__v__source="tf",
        ros_args=["-r", "__ns:=/fixed", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"],
    )
    publisher = client.publisher(TFMessage, "/fixed/tf", 100)
    place = matrix(3.0, 1.0, 0.0, 0.2) @ matrix(0.1, 0.0, 0.3, 0.5)
    name = FOOT.split('name="')[1].split('"')[0]

    def followed() -> Any:
        publisher.publish(TFMessage(transforms=[transform("odom", f"{name}/base_link", pose_from_matrix(place))]))
        request = GetCurrentState.Request(group="base")
        answer = client.call(GetCurrentState, "/fixed/robot_semantics/get_current_state", request)
        return answer if answer.success else None

    answer = client.until(followed, "the current state")
    assert list(answer.state.values) == pytest.approx([3.0, 1.0, 0.2], abs=1e-9)


def moved_by_odometry(
    client: Client, publisher: Any, places: dict[str, float], namespace: str, frame: str = "odom", count: int = 3
) -> dict[str, float] | None:
    """Send odometry with x by child frame; return x of the models in the world state when `count` are placed."""
    for child, x in places.items():
        message = Odometry(child_frame_id=child)
        message.header.frame_id = frame
        message.pose.pose.position.x = x
        message.pose.pose.orientation.w = 1.0
        publisher.publish(message)
    client.spin_for(0.1)
    request = GetWorldState.Request(with_text=True)
    answer = client.call(GetWorldState, f"{namespace}/robot_semantics/get_world_state", request)
    models = {model.name: model.pose for model in parse_world(answer.text).models}
    poses = {name: pose.xyz_rpy[0] for name, pose in models.items() if pose is not None}
    return poses if len(poses) == count else None


def test_each_of_several_robots_is_found_by_its_urdf_s_name_and_a_stranger_is_named(start: Any, client: Client) -> None:
    planar = '<robot name="{0}"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="foot"/></robot>'
    old = FOOT.split('name="')[1].split('"')[0]
    texts = {
        f"{model}__{key}": text
        for model, urdf in (("r", "left"), ("q", "right"), ("twin1", "twin"), ("twin2", "twin"))
        for key, text in (
            ("robot_description", FOOT.replace(f'name="{old}"', f'name="{urdf}"', 1)),
            ("robot_description_semantic", planar.format(urdf)),
            ("frame_prefix", f"{model}_"),
            ("virtual_joints.v.topic", "/several/odom"),
        )
    }
    one = start(models=["r", "q", "twin1", "twin2"], **texts, ros_args=["-r", "__ns:=/several"])
    publisher = client.publisher(Odometry, "/several/odom")
    places = {"left/foot": 1.0, "right/foot": 2.0, "twin1/foot": 3.0, "twin/foot": 4.0, "nobody/foot": 5.0}

    found = partial(moved_by_odometry, client, publisher, places, "/several")
    assert client.until(found, "the poses") == {"r": 1.0, "q": 2.0, "twin1": 3.0}
    for child in ("twin/foot", "nobody/foot"):
        assert f"its child_frame_id is '{child}', not " in one.output
    for child in ("left/foot", "right/foot", "twin1/foot"):
        assert f"its child_frame_id is '{child}'" not in one.output
    one.stop()


@pytest.mark.parametrize("source", ["auto", "odometry"])
def test_robots_with_one_topic_of_odometry_take_their_own_messages_alone(
    start: Any, client: Client, source: str
) -> None:
    planar = '<robot name="foot"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="foot"/></robot>'
    texts = {
        f"{model}__{key}": text
        for model, prefix in (("bare", ""), ("west", "west_"), ("east", "east_"))
        for key, text in (
            ("robot_description", FOOT),
            ("robot_description_semantic", planar),
            ("frame_prefix", prefix),
            ("virtual_joints.v.topic", "/shared/odom"),
            ("virtual_joints.v.source", source),
        )
    }
    one = start(models=["bare", "west", "east"], **texts, ros_args=["-r", "__ns:=/shared"])
    publisher = client.publisher(Odometry, "/shared/odom")
    places = {"east_foot": 1.0, "west_foot": 2.0, "foot": 3.0}

    placed = partial(moved_by_odometry, client, publisher, places, "/shared")
    for _ in range(3):
        assert client.until(placed, "the poses") == {"east": 1.0, "west": 2.0, "bare": 3.0}
    status = client.call(GetStatus, "/shared/robot_semantics/get_status")
    assert not status.refusals, one.output
    assert "not used" not in one.output
    one.stop()


@pytest.mark.parametrize("source", ["auto", "odometry"])
def test_odometry_without_a_child_frame_moves_a_robot_only_if_it_can_be_of_no_other(
    start: Any, client: Client, source: str
) -> None:
    planar = '<robot name="foot"><virtual_joint name="v" type="planar" parent_frame="{}" child_link="foot"/></robot>'
    parents = {"west": "odom", "east": "odom", "north": "hall"}
    texts = {
        f"{model}__{key}": text
        for model, parent in parents.items()
        for key, text in (
            ("robot_description", FOOT),
            ("robot_description_semantic", planar.format(parent)),
            ("frame_prefix", f"{model}_"),
            ("virtual_joints.v.topic", "/unnamed/odom"),
            ("virtual_joints.v.source", source),
        )
    }
    one = start(models=list(parents), **texts, ros_args=["-r", f"__ns:=/unnamed_{source}"])
    publisher = client.publisher(Odometry, "/unnamed/odom")
    move = partial(moved_by_odometry, client, publisher, namespace=f"/unnamed_{source}")
    refusal = "may be of 'west', 'east'; give each robot a topic"
    # Two robots are in odom, one is in hall.
    assert client.until(lambda: move({"": 5.0}, frame="hall", count=1), "the only robot there") == {"north": 5.0}
    assert refusal not in one.output
    client.until(lambda: [move({"": 6.0, "foot": 6.0})] and refusal in one.output, "the refusal")
    placed = client.until(lambda: move({"": 6.0, "foot": 6.0, "west_foot": 1.0}, count=2), "the named robot")
    assert placed == {"north": 5.0, "west": 1.0}
    one.stop()
