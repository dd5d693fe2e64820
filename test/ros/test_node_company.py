# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The node among others: several robots, a manager, namespaces, diagnostics, the world state, rivals on TF."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import ListParameters
from rclpy.serialization import serialize_message
from robot_semantics_interfaces.msg import WorldState
from robot_semantics_interfaces.srv import (
    GetCollisionPair,
    GetCurrentState,
    GetGroup,
    GetStatus,
    GetWorldState,
    ListCollisionPairs,
    ListGroups,
)
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.nodes import LATCHED, Client, NodeProcess, joint_state, stamp_of
from tf2_msgs.msg import TFMessage

from robot_semantics.examples import example
from robot_semantics.model.loading import robot_from_text
from robot_semantics.ros.node.outputs import TfAuthority
from robot_semantics.usdf.reader import parse_world

pytestmark = pytest.mark.ros

URDF, SRDF = example("rover_arm.urdf").read_text(), example("rover_arm.srdf").read_text()
ONE = """<robot name="{name}"><link name="base"/><link name="tip"/><link name="flag"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint>
  <joint name="pole" type="fixed"><parent link="base"/><child link="flag"/></joint>
</robot>"""
ONE_SRDF = '<robot name="{name}"><group name="{group}"><joint name="turn"/></group></robot>'
TRANSITIONS = {"configure": 1, "cleanup": 2, "activate": 3, "deactivate": 4, "shutdown": 6}


def in_namespace(name: str) -> dict[str, Any]:
    return {"ros_args": ["-r", f"__ns:=/{name}", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"]}


def test_two_robots_live_in_one_node_each_below_its_name(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(
        models=["left", "right"],
        publish_frequency=1000.0,
        left__robot_description=ONE.format(name="arm"),
        left__robot_description_semantic=ONE_SRDF.format(name="arm", group="port"),
        left__frame_prefix="left/",
        right__robot_description=ONE.format(name="arm"),
        right__robot_description_semantic=ONE_SRDF.format(name="arm", group="starboard"),
        right__frame_prefix="right/",
        **in_namespace("pair"),
    )
    service = "/pair/robot_semantics"
    assert client.call(ListGroups, f"{service}/left/list_groups").groups == ["port"]
    assert client.call(ListGroups, f"{service}/right/list_groups").groups == ["starboard"]
    moving, fixed = client.collect_tf("/pair/tf"), client.collect(TFMessage, "/pair/tf_static")
    client.until(lambda: fixed, "the fixed frames")
    assert {item.child_frame_id for item in fixed[-1].transforms} == {"left/flag", "right/flag"}
    publisher = client.publisher(JointState, "/pair/right/joint_states")
    client.publish_until(publisher, lambda: joint_state({"turn": 0.5}), lambda: moving, "a transform")
    assert {item.child_frame_id for item in moving} == {"right/tip"}
    status = client.call(GetStatus, f"{service}/get_status")
    assert status.models == ["left", "right"]
    assert [(item.model, item.joint) for item in status.joints] == [("left", "turn"), ("right", "turn")]
    assert math.isnan(status.joints[0].age)
    assert 0.0 <= status.joints[1].age < 20.0
    state = client.call(GetWorldState, f"{service}/get_world_state").state
    assert [model.name for model in state.model_states] == ["left", "right"]
    # A default of all robots is read at the start; later it would change nothing, and says so.
    (result,) = client.set_parameters(service, frame_prefix="both/")
    assert not result.successful
    assert "has no effect any more: set 'left.frame_prefix', 'right.frame_prefix'" in result.reason
    only = client.call(GetWorldState, f"{service}/get_world_state", GetWorldState.Request(models=["right"])).state
    assert [model.name for model in only.model_states] == ["right"]
    wrong = client.call(GetWorldState, f"{service}/get_world_state", GetWorldState.Request(models=["rigth"]))
    assert (wrong.success, list(wrong.nearest)) == (False, ["right"])
    descriptions = client.collect(String, "/pair/left/robot_description")
    client.until(lambda: descriptions, "the description")
    (result,) = client.set_parameters(service, left__robot_description="<robot")
    assert result.reason.startswith("<left.robot_description>:1:")
    assert node.stop() == 0


def test_robots_that_share_a_frame_are_told_to_take_prefixes(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(
        models=["one", "other"],
        one__robot_description=ONE.format(name="arm"),
        other__robot_description=ONE.format(name="arm"),
        **in_namespace("twins"),
    )
    node.wait_for_output("the models 'one' and 'other' both have the frame 'flag': give each a frame_prefix")
    assert node.output.count("give each a frame_prefix") == 1


def test_of_an_older_dialect_the_upgraded_text_is_published_which_has_the_frames_on_tf(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    old = """<robot name="old"><link name="base"/><link name="box"><parent name="base"/><origin xyz="1 0 0"/>
      <joint name="j" type="fixed"><origin xyz="0 0 1"/></joint>
      <visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>"""
    node = start(robot_description=old, **in_namespace("old"))
    fixed, texts = client.collect(TFMessage, "/old/tf_static"), client.collect(String, "/old/robot_description")
    client.until(lambda: fixed and texts, "the frames and the description")
    assert fixed[-1].transforms[0].transform.translation.x == 1.0
    link = ElementTree.fromstring(texts[-1].data).find("link[@name='box']/visual/origin")
    assert link is not None
    assert link.get("xyz") == "0 0 -1"
    node.wait_for_output("link frames move onto the frames of their joints, as in the current form: 'box' by 1 m")


def test_typed_messages_say_the_same(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=ONE.format(name="one"), raw_messages=False, **in_namespace("typed"))
    moving, fixed = client.collect_tf("/typed/tf"), client.collect(TFMessage, "/typed/tf_static")
    publisher = client.publisher(JointState, "/typed/joint_states")
    client.publish_until(publisher, lambda: joint_state({"turn": 0.5}), lambda: moving and fixed, "the transforms")
    assert moving[0].header.frame_id == "base"
    assert moving[0].transform.rotation.z == pytest.approx(math.sin(0.25), abs=1e-12)
    assert fixed[0].transforms[0].child_frame_id == "flag"
    assert node.stop() == 0


def test_a_managed_node_does_what_its_manager_says(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(
        program="robot_semantics_lifecycle_node",
        robot_description=ONE.format(name="one"),
        **in_namespace("managed"),
    )
    name = "/managed/robot_semantics"
    moving, fixed = client.collect_tf("/managed/tf"), client.collect(TFMessage, "/managed/tf_static")
    publisher = client.node.create_publisher(JointState, "/managed/joint_states", 10)

    def change(transition: str) -> bool:
        request = ChangeState.Request()
        request.transition.id = TRANSITIONS[transition]
        return bool(client.call(ChangeState, f"{name}/change_state", request).success)

    def state() -> str:
        return str(client.call(GetState, f"{name}/get_state").current_state.label)

    assert state() == "unconfigured"
    names = client.call(ListParameters, f"{name}/list_parameters").result.names
    assert {"robot_description", "publish_frequency", "state_tolerance", "snapshots.directory"} <= set(names)
    (refused, accepted) = client.set_parameters(name, publish_frequency=-1.0, state_tolerance=0.25)
    assert "must be greater than 0" in refused.reason
    assert accepted.successful
    assert not change("activate")  # impossible from here
    change("configure")
    client.until(lambda: state() == "inactive", "the node to be inactive")
    assert client.get_parameter(name, "state_tolerance").double_value == 0.25
    assert client.call(ListGroups, f"{name}/list_groups").success
    assert client.call(GetStatus, f"{name}/get_status").state == "inactive"
    client.spin_for(0.3)
    assert not fixed
    change("activate")
    client.until(lambda: state() == "active", "the node to be active")
    client.until(lambda: fixed, "the fixed frames")
    client.publish_until(publisher, lambda: joint_state({"turn": 0.1}), lambda: moving, "a transform")
    change("deactivate")
    client.until(lambda: state() == "inactive", "the node to be inactive again")
    client.spin_for(0.2)
    moving.clear()
    for _ in range(5):
        publisher.publish(joint_state({"turn": 0.2}))
        client.spin_for(0.05)
    assert not moving
    change("activate")
    client.publish_until(publisher, lambda: joint_state({"turn": 0.3}), lambda: moving, "a transform")
    change("deactivate")
    change("cleanup")
    client.until(lambda: state() == "unconfigured", "the node to be unconfigured again")
    client.until(lambda: not client.node.get_publishers_info_by_topic("/managed/tf"), "the topics to go")
    assert client.set_parameters(name, robot_description="<robot")[0].successful  # nobody has read it yet
    change("configure")
    node.wait_for_output("<robot_description>:1:")
    assert state() == "unconfigured"
    assert client.set_parameters(name, robot_description=ONE.format(name="two"))[0].successful
    change("configure")
    client.until(lambda: state() == "inactive", "the node to be inactive")
    change("shutdown")
    client.until(lambda: state() == "finalized", "the node to be finalized")
    assert node.stop() == 0
    assert "Traceback" not in node.output


def test_the_world_state_is_latched_and_the_same_as_the_service_gives(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        world_state_frequency=10.0,
        **in_namespace("world"),
    )
    name = "/world/robot_semantics"
    publisher = client.publisher(JointState, "/world/joint_states")
    messages = client.collect(WorldState, f"{name}/world_state")
    base = {"world_joint/x": 1.0, "world_joint/y": 2.0, "world_joint/theta": 0.5}
    states = robot_from_text(URDF, SRDF).semantics
    stowed = {joint: value for joint, (value,) in states.state("arm", "stowed").joints.items()}
    client.publish_until(
        publisher,
        lambda: joint_state({**base, **stowed, "elbow_joint": 2.0}),
        lambda: messages and messages[-1].model_states[0].pose.position.x == 1.0,
        "the world state",
    )
    model = messages[-1].model_states[0]
    assert (model.name, model.parent) == ("rover_arm", "odom")
    assert (model.pose.position.x, model.pose.position.y) == (1.0, 2.0)
    assert model.pose.orientation.z == pytest.approx(math.sin(0.25), abs=1e-12)
    joints = {joint.name: list(joint.positions) for joint in model.joint_states}
    assert joints["elbow_joint"] == [2.0]
    assert joints["shoulder_lift_joint"] == [-0.9]
    assert "world_joint" not in joints
    assert not client.call(GetWorldState, f"{name}/get_world_state").text
    answer = client.call(GetWorldState, f"{name}/get_world_state", GetWorldState.Request(with_text=True))
    assert answer.success
    assert parse_world(answer.text).models[0].name == "rover_arm"
    late = client.collect(WorldState, f"{name}/world_state")
    client.until(lambda: late, "the world state for one who comes late")
    current = client.call(GetCurrentState, f"{name}/get_current_state", GetCurrentState.Request(group="arm"))
    assert current.success
    assert current.matching_state == ""
    assert current.distance == pytest.approx(0.2, abs=1e-12)  # the elbow, 2.0 for the stowed 2.2
    wide = GetCurrentState.Request(group="arm", tolerance=0.25)
    assert client.call(GetCurrentState, f"{name}/get_current_state", wide).matching_state == "stowed"
    pair = GetCollisionPair.Request(link1="base_link", link2="lift_link")
    assert client.call(GetCollisionPair, f"{name}/get_collision_pair", pair).pair.reason == "Adjacent"
    pairs = client.call(
        ListCollisionPairs, f"{name}/list_collision_pairs", ListCollisionPairs.Request(link="base_link")
    )
    assert all("base_link" in (pair.link1, pair.link2) for pair in pairs.pairs)
    assert ("base_link", "lift_link", False, "Adjacent") in [
        (pair.link1, pair.link2, pair.checked, pair.reason) for pair in pairs.pairs
    ]
    nobody = client.call(
        ListCollisionPairs, f"{name}/list_collision_pairs", ListCollisionPairs.Request(link="bas_link")
    )
    assert (nobody.success, nobody.nearest[0]) == (False, "base_link")
    unknown = client.call(GetGroup, f"{name}/get_group", GetGroup.Request(name="ram"))
    assert list(unknown.nearest) == ["arm"]
    assert node.stop() == 0


def test_diagnostics_tell_rates_refusals_and_silent_joints(client: Client, start: Callable[..., NodeProcess]) -> None:
    start(
        robot_description=ONE.format(name="one"), diagnostics_period=0.1, stale_timeout=0.5, **in_namespace("diagnosed")
    )
    arrays = client.collect(DiagnosticArray, "/diagnostics", 10)
    publisher = client.publisher(JointState, "/diagnosed/joint_states")

    def newest() -> tuple[Any, dict[str, str]]:
        if not arrays:
            return None, {}
        status = arrays[-1].status[0]
        return status, {item.key: item.value for item in status.values}

    def is_well() -> bool:
        status, values = newest()
        return values.get("transforms sent", "0") != "0" and (status.message, status.level) == ("ok", b"\x00")

    client.publish_until(publisher, lambda: joint_state({"turn": 0.1}), is_well, "use")
    assert newest()[0].name == "diagnosed/robot_semantics: one"
    client.publish_until(publisher, JointState, lambda: "refused: empty" in newest()[1], "the refusal")
    assert "it names no joint" in newest()[1]["error 1"]
    client.until(lambda: "age of turn [s]" in newest()[1], "the silent joint")
    assert newest()[0].message == "1 joints without new values"
    assert newest()[0].level == b"\x01"


def test_another_publisher_of_our_frames_is_named_once(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=ONE.format(name="one"), diagnostics_period=0.2, **in_namespace("contested"))
    rival = Client(client.domain, "rival")
    try:
        fixed = rival.node.create_publisher(TFMessage, "/contested/tf_static", LATCHED)
        fixed.publish(TFMessage(transforms=[transform("mast", "flag")]))
        moving = rival.node.create_publisher(TFMessage, "/contested/tf", 10)
        joints = client.publisher(JointState, "/contested/joint_states")
        node.wait_for_output("'flag' is published on /tf_static by /rival too")

        def contest() -> TFMessage:
            joints.publish(joint_state({"turn": 0.1}))
            return TFMessage(transforms=[transform("elsewhere", "free"), transform("base", "tip")])

        client.publish_until(
            moving, contest, lambda: "'tip' is published on /tf by /rival too" in node.output, "the report"
        )
        client.spin_for(0.5)
        assert node.output.count("'tip' is published") == 1
        assert "'free'" not in node.output
    finally:
        rival.close()


def test_a_node_alone_on_tf_suspects_nobody(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=ONE.format(name="one"), diagnostics_period=0.1, **in_namespace("alone"))
    frames = client.collect_tf("/alone/tf")
    publisher = client.publisher(JointState, "/alone/joint_states")
    other = client.node.create_publisher(TFMessage, "/alone/tf", 10)
    client.publish_until(publisher, lambda: joint_state({"turn": 0.1}), lambda: frames, "the transforms")
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        other.publish(TFMessage(transforms=[transform("map", "odom")]))
        publisher.publish(joint_state({"turn": 0.1}))
        client.spin_for(0.02)
    assert frames
    assert "is published" not in node.output


@pytest.mark.parametrize("names", [("twin", "twin"), ("left", "right")])
def test_two_nodes_of_one_robot_report_each_other(
    client: Client, start: Callable[..., NodeProcess], names: tuple[str, str]
) -> None:
    space = f"/{names[0]}_and_{names[1]}"
    nodes = [
        start(
            robot_description=ONE.format(name="one"),
            diagnostics_period=0.2,
            ros_args=("-r", f"__node:={name}", "-r", f"/tf:={space}/tf", "-r", f"/tf_static:={space}/tf_static"),
        )
        for name in names
    ]
    joints = client.publisher(JointState, "/joint_states")
    others = [f"a second node called /{names[1]}" if names[0] == names[1] else f"/{name}" for name in names[::-1]]

    def reported() -> bool:
        return all(
            f"'tip' is published on /tf by {other} too" in node.output
            and f"'flag' is published on /tf_static by {other} too" in node.output
            for node, other in zip(nodes, others, strict=True)
        )

    client.publish_until(joints, lambda: joint_state({"turn": 0.1}), reported, "both reports of both nodes")


class OneNode:
    """Two publishers, ours and a foreign one, and subscriptions that immediately get messages of another thread."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.reports: list[str] = []
        self.other = "other"
        self.publishers = [SimpleNamespace(topic_name="/tf"), SimpleNamespace(topic_name="/tf_static")]
        self.authority = TfAuthority(cast(Any, self), lambda: frozenset({"tip"}), self.reports.append)

    def resolve_topic_name(self, topic: str) -> str:
        return topic

    def count_publishers(self, _topic: str) -> int:
        return 2

    def get_fully_qualified_name(self) -> str:
        return "/one"

    def get_publishers_info_by_topic(self, _topic: str) -> list[Any]:
        return [SimpleNamespace(node_namespace="/", node_name=name) for name in ("one", self.other)]

    def create_subscription(self, _type: Any, topic: str, take: Callable[[bytes], None], *_: Any, **__: Any) -> str:
        message = serialize_message(TFMessage(transforms=[transform("base", "tip")]))
        if self.authority.watching:
            self.authority.note(message)
        take(message)
        self.heard.append(topic)
        return topic


def test_own_messages_are_noted_before_any_can_come_back() -> None:
    node = OneNode()
    node.authority.tick(b"")
    assert node.authority.watching
    assert not node.heard
    node.authority.tick(b"")
    assert node.heard == ["/tf", "/tf_static"]
    assert not node.reports


def test_a_rival_is_looked_for_when_its_name_is_known() -> None:
    node = OneNode()
    node.other = "_NODE_NAME_UNKNOWN_"
    node.authority.tick(b"")
    assert not node.authority.watching
    node.other = "other"
    node.authority.tick(b"")
    assert node.authority.watching


def test_the_simulated_clock_may_jump_back(client: Client, start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=ONE.format(name="one"), use_sim_time=True, **in_namespace("simulated"))
    frames = client.collect_tf("/simulated/tf")
    clock = client.publisher(Clock, "/clock")
    publisher = client.publisher(JointState, "/simulated/joint_states")

    def at(seconds: int) -> JointState:
        message = Clock()
        message.clock.sec = seconds
        clock.publish(message)
        client.spin_for(0.1)
        return joint_state({"turn": 0.1}, seconds * 1_000_000_000)

    # Time goes on: a transform that is lost on its way is not sent again for the same stamp.
    later = count(1000)
    client.publish_until(publisher, lambda: at(next(later)), lambda: frames, "a transform")

    def stamped(seconds: int) -> bool:
        return any(stamp_of(item) == seconds * 1_000_000_000 for item in frames)

    # The first message after the jump is used: the clock has said so.
    client.publish_until(publisher, lambda: at(10), lambda: stamped(10), "a transform in the earlier time")
    # Without a stamp of its own a message gets the simulated time.
    at(20)
    client.publish_until(publisher, lambda: joint_state({"turn": 0.2}, 0), lambda: stamped(20), "a transform")
    assert node.stop() == 0


def test_qualities_of_service_can_be_overridden(client: Client, start: Callable[..., NodeProcess]) -> None:
    key = "qos_overrides./tuned/joint_states.subscription.reliability"
    start(**{"robot_description": ONE.format(name="one"), key: "reliable"}, **in_namespace("tuned"))
    client.call(ListGroups, "/tuned/robot_semantics/list_groups")
    (info,) = client.until(
        lambda: client.node.get_subscriptions_info_by_topic("/tuned/joint_states"), "the subscription"
    )
    assert info.qos_profile.reliability.name == "RELIABLE"


def test_the_qualities_of_service_are_those_of_robot_state_publisher(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    start(robot_description=ONE.format(name="one"), **in_namespace("plain"))
    client.call(ListGroups, "/plain/robot_semantics/list_groups")
    expected = {
        "tf": ("RELIABLE", "VOLATILE"),
        "tf_static": ("RELIABLE", "TRANSIENT_LOCAL"),
        "robot_description": ("RELIABLE", "TRANSIENT_LOCAL"),
    }
    for topic, (reliability, durability) in expected.items():
        (info,) = client.node.get_publishers_info_by_topic(f"/plain/{topic}")
        profile = info.qos_profile
        assert (profile.reliability.name, profile.durability.name) == (reliability, durability)
    (info,) = client.node.get_subscriptions_info_by_topic("/plain/joint_states")
    assert (info.qos_profile.reliability.name, info.qos_profile.durability.name) == ("BEST_EFFORT", "VOLATILE")


def transform(parent: str, child: str) -> TransformStamped:
    item = TransformStamped(child_frame_id=child)
    item.header.frame_id = parent
    item.header.stamp.sec, item.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
    item.transform.rotation.w = 1.0
    return item
