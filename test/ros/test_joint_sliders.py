# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Sliders publish what joint_state_publisher would, and leave a joint to whoever else publishes it."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Transform, TransformStamped
from sensor_msgs.msg import JointState, MultiDOFJointState
from support.nodes import LATCHED, Client, NodeProcess, joint_state
from support.patience import PATIENCE_S
from tf2_msgs.msg import TFMessage

from robot_semantics import Diagnostics, ForwardKinematics
from robot_semantics.examples import example
from robot_semantics.model.loading import robot_from_text
from robot_semantics.ros.tools.joint_sliders import SliderPositions
from robot_semantics.ros.tools.live_view import PublishedRobots, SliderOptions

pytestmark = pytest.mark.ros

LIMITS = 'effort="1" velocity="1"'
URDF = f"""<robot name="r">
  <link name="base"/> <link name="l1"/> <link name="l2"/> <link name="l3"/> <link name="l4"/>
  <joint name="far" type="revolute"> <parent link="base"/> <child link="l1"/> <axis xyz="0 0 1"/>
    <limit lower="1" upper="2" {LIMITS}/> </joint>
  <joint name="leader" type="prismatic"> <parent link="l1"/> <child link="l2"/> <axis xyz="1 0 0"/>
    <limit lower="-1" upper="3" {LIMITS}/>
    <safety_controller soft_lower_limit="0.5" soft_upper_limit="2.5" k_velocity="1"/> </joint>
  <joint name="follower" type="prismatic"> <parent link="l2"/> <child link="l3"/> <axis xyz="1 0 0"/>
    <limit lower="-9" upper="9" {LIMITS}/> <mimic joint="leader" multiplier="2" offset="0.25"/> </joint>
  <joint name="turn" type="continuous"> <parent link="base"/> <child link="l4"/> <axis xyz="0 0 1"/> </joint>
</robot>"""
SRDF = '<robot name="r"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="base"/></robot>'
DEFAULTS = {"v/x": 0.0, "v/y": 0.0, "v/theta": 0.0, "far": 1.5, "leader": 1.5, "follower": 3.25, "turn": 0.0}
"""Zero, or the middle of bounds without zero, with soft limits; the mimic joint is 2 × 1.5 + 0.25."""


def positions(elsewhere: dict[str, str] | None = None) -> SliderPositions:
    return SliderPositions(ForwardKinematics(robot_from_text(URDF, SRDF)), elsewhere or {})


def test_all_joints_begin_in_their_default_positions_and_mimic_joints_follow() -> None:
    sliders = positions()
    assert sliders.values(0.0) == pytest.approx(DEFAULTS)
    assert sliders.set({"leader": 2.0, "v/theta": 0.5}, 0.0) == ""
    assert sliders.values(0.0) == pytest.approx({**DEFAULTS, "leader": 2.0, "follower": 4.25, "v/theta": 0.5})
    assert sliders.set({"follower": 1.25}, 0.0) == ""
    assert sliders.values(0.0)["leader"] == pytest.approx(0.5)
    assert "no_joint" in sliders.set({"no_joint": 1.0}, 0.0)
    assert "finite" in sliders.set({"turn": math.nan}, 0.0)


@pytest.mark.parametrize("stated", ["leader", "follower"])
def test_a_mimic_joint_and_its_leader_belong_to_the_publisher_of_either(stated: str) -> None:
    sliders = positions()
    sliders.hear("/joint_states", {stated: (0.75,), "unknown": (1.0,)}, 10.0)
    assert sliders.held(10.5) == {"leader": "/joint_states", "follower": "/joint_states"}
    assert sliders.values(10.5).keys() == DEFAULTS.keys() - {"leader", "follower"}
    sliders.set({"leader": 1.0, "turn": 1.0}, 10.5)
    assert sliders.all_values()["leader"] == (0.75 if stated == "leader" else 1.5)
    assert sliders.all_values()["turn"] == 1.0
    assert sliders.held(11.1) == {}


@pytest.mark.parametrize(("period", "silent_after"), [(0.02, 1.0), (0.5, 1.25), (4.0, 10.0)])
def test_a_publisher_is_silent_after_a_second_and_after_two_and_a_half_of_its_intervals(
    period: float, silent_after: float
) -> None:
    sliders = positions()
    for number in range(8):
        sliders.hear("/joint_states", {"turn": (0.1 * number,)}, 100.0 + period * number)
    last = 100.0 + period * 7
    assert sliders.held(last + 0.98 * silent_after) == {"turn": "/joint_states"}
    assert sliders.held(last + 1.02 * silent_after) == {}
    assert sliders.values(last + 1.02 * silent_after)["turn"] == pytest.approx(0.7)


def test_what_is_no_position_still_names_the_joint() -> None:
    sliders = positions()
    sliders.hear("/joint_states", {"turn": (math.nan,), "far": (), "v/x": (2.0,)}, 0.0)
    assert sliders.held(0.5).keys() == {"turn", "far", "v"}
    assert sliders.all_values() == pytest.approx({**DEFAULTS, "v/x": 2.0})
    sliders.hear("/joint_states", {"nothing": (1.0,)}, 5.0)
    assert sliders.held(5.0) == {}


def test_a_virtual_joint_with_another_source_is_never_published() -> None:
    sliders = positions({"v": "source odometry"})
    assert sliders.held(0.0) == {"v": "source odometry"}
    assert sliders.values(0.0).keys() == DEFAULTS.keys() - {"v/x", "v/y", "v/theta"}


PARAMETERS = {
    "robot_description": example("rover_arm.urdf").read_text(),
    "robot_description_semantic": example("rover_arm.srdf").read_text(),
}


class Shown:
    """A running robot with sliders, and its reports."""

    def __init__(self, live: PublishedRobots, reports: list[str]) -> None:
        self.live, self.reports = live, reports
        (self.actor,) = live.scene.actors

    def held(self) -> dict[str, str]:
        return dict(self.live.sliders()[self.actor.name].held)


@pytest.fixture(scope="module")
def shown(start: Callable[..., NodeProcess], domain: int) -> Iterator[Shown]:
    start(**PARAMETERS, virtual_joints__world_joint__base_frame="odom_base")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        reports: list[str] = []
        options = SliderOptions(["wanted"], reports.append)
        with PublishedRobots("/robot_semantics", 30.0, (), Diagnostics(), sliders=options) as live:
            yield Shown(live, reports)


def test_joint_states_are_published_for_all_joints_and_the_node_moves_the_whole_robot(
    client: Client, shown: Shown
) -> None:
    states = client.collect(JointState, "joint_states", 10)
    client.until(lambda: len(states) > 12, "joint states")
    moving = {name for joint in shown.actor.kinematics.space.joints for name in joint.variable_names}
    assert set(states[-1].name) == moving
    stamps = [state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec for state in states[2:12]]
    assert 0.05 < np.median(np.diff(stamps)) < 0.2
    values = {"elbow_joint": 0.7, "left_finger_joint": 0.03, "world_joint/x": 1.5, "world_joint/theta": 0.4}
    assert shown.live.jog(shown.actor.name, values) == ""

    def stated() -> dict[str, float]:
        return dict(zip(states[-1].name, states[-1].position, strict=True))

    client.until(lambda: stated()["world_joint/x"] == 1.5, "the moved sliders")
    assert {name: stated()[name] for name in values} == pytest.approx(values)
    assert stated()["right_finger_joint"] == pytest.approx(0.03)
    frames = {link for link in shown.actor.model.link_names if link != "base_footprint"}
    client.until(lambda: frames | {"base_footprint"} <= client.newest().keys() | client.static_frames().keys(), "TF")
    root = client.until(lambda: _moved(client.newest().get("base_footprint")), "the root link")
    assert (root.header.frame_id, root.transform.translation.x) == ("odom", pytest.approx(1.5))


def _moved(transform: Any) -> Any:
    return transform if transform is not None and transform.transform.translation.x > 1.0 else None


def test_a_state_that_the_robot_cannot_take_is_refused_with_the_reason(shown: Shown) -> None:
    before = shown.live.sliders()[shown.actor.name].values
    assert "left_finger_joint" in shown.live.jog(
        shown.actor.name, {"left_finger_joint": 0.01, "right_finger_joint": 0.03}
    )
    assert shown.live.sliders()[shown.actor.name].values == before


def test_a_source_moves_the_sliders(client: Client, shown: Shown) -> None:
    publisher = client.publisher(JointState, "wanted")

    def wrist() -> bool:
        return shown.live.sliders()[shown.actor.name].values["wrist_joint"] == 0.25

    def message() -> JointState:
        return JointState(name=["wrist_joint", "no_joint", "elbow_joint"], position=[0.25, 1.0, math.nan])

    client.publish_until(publisher, message, wrist, "the slider")
    assert shown.held() == {}


def odometry_transform(x: float, child: str = "base_footprint") -> TransformStamped:
    sent = TransformStamped(child_frame_id=child, transform=Transform())
    sent.header.frame_id = "odom"
    sent.header.stamp.sec, sent.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
    sent.transform.translation.x, sent.transform.rotation.w = x, 1.0
    return sent


ROOT = ["world_joint"]
ARM = ["shoulder_pan_joint", "elbow_joint"]
OTHERS: dict[str, tuple[Any, str, Callable[[], Any], list[str]]] = {
    "all of the arm": (JointState, "joint_states", lambda: joint_state(dict.fromkeys(ARM, 0.2)), ARM),
    "a leader": (
        JointState,
        "joint_states",
        lambda: joint_state({"left_finger_joint": 0.02}),
        ["left_finger_joint", "right_finger_joint"],
    ),
    "a variable": (JointState, "joint_states", lambda: joint_state({"world_joint/x": 0.2}), ROOT),
    "without positions": (
        JointState,
        "joint_states",
        lambda: JointState(name=["elbow_joint"], velocity=[1.0]),
        ARM[1:],
    ),
    "multi-DOF": (
        MultiDOFJointState,
        "multi_dof_joint_states",
        lambda: MultiDOFJointState(joint_names=ROOT, transforms=[Transform()]),
        ROOT,
    ),
    "TF": (TFMessage, "/tf", lambda: TFMessage(transforms=[odometry_transform(9.0)]), ROOT),
    "base_frame on TF": (
        TFMessage,
        "/tf",
        lambda: TFMessage(transforms=[odometry_transform(9.0, "/odom_base")]),
        ROOT,
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_sliders_stop_while_another_publisher_is_heard_and_say_so(client: Client, shown: Shown, kind: str) -> None:
    message_type, topic, make, joints = OTHERS[kind]
    client.until(lambda: not shown.held(), "the end of the last publisher")
    shown.reports.clear()
    publisher = client.node.create_publisher(message_type, topic, 10)
    client.publish_until(publisher, make, lambda: set(shown.held()) == set(joints), "the sliders to stop")
    full = topic if topic.startswith("/") else f"/{topic}"
    assert all(text == f"/test_client on {full}" for text in shown.held().values())
    space = shown.actor.kinematics.space
    variables = {name for joint in joints for name in space.model.joint(joint).variable_names}
    sent = client.collect(JointState, "joint_states", 10)
    for _ in range(10):
        publisher.publish(make())
        client.spin_for(0.1)
    ours = [state for state in sent if len(state.name) > 3]
    assert len(ours) > 3
    assert all(not variables & set(state.name) for state in ours)
    assert all(set(space.names) - variables == set(state.name) for state in ours)
    client.until(lambda: not shown.held(), "the sliders to go on", 20.0)
    client.node.destroy_publisher(publisher)

    def words() -> str:
        return " and ".join(shown.reports)

    client.until(lambda: "the sliders publish" in words().partition("the sliders do not publish")[2], "the reports")
    assert all(f"'{joint}'" in words() for joint in joints)


def test_a_root_link_that_is_fixed_by_another_node_stays_there(client: Client, shown: Shown) -> None:
    client.until(lambda: not shown.held(), "the end of the last publisher")
    publisher = client.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    publisher.publish(TFMessage(transforms=[odometry_transform(3.0)]))
    client.until(lambda: set(shown.held()) == {"world_joint"}, "the virtual joint to be left alone")
    client.spin_for(2.0)
    assert set(shown.held()) == {"world_joint"}


def test_only_robots_of_the_node_have_sliders(
    start: Callable[..., NodeProcess], client: Client, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    start(**PARAMETERS, frame_prefix="b/", ros_args=["-r", "__ns:=/b"])
    client.until(lambda: client.node.count_publishers("/b/robot_description"), "the second robot")
    seen = 0
    while seen < 2:
        # On a busy machine, one description may be discovered long after the other.
        with PublishedRobots("/b/robot_semantics", 30.0, (), Diagnostics(), sliders=SliderOptions()) as live:
            seen = len(live.scene.actors)
            name = "b" if seen == 2 else live.scene.actors[0].name
            topics = {name: state.topic for name, state in live.sliders().items()}
            assert topics in ({name: "/b/joint_states"}, {})
    assert topics == {"b": "/b/joint_states"}


def test_without_the_page_s_framework_the_sliders_publish_the_default_positions(
    start: Callable[..., NodeProcess], client: Client, tmp_path: Path
) -> None:
    (tmp_path / "nicegui.py").touch()
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    names = ["-r", "__ns:=/headless"]
    start(**PARAMETERS, frame_prefix="h/", ros_args=names)
    states = client.collect(JointState, "/headless/joint_states", 10)
    command = [sys.executable, "-m", "robot_semantics.cli.main", "view", "--live", "--sliders", "--timeout", "60"]
    with subprocess.Popen(
        [*command, "--node=/headless/robot_semantics"],
        env={**os.environ, "ROS_DOMAIN_ID": str(client.domain), "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            client.until(lambda: states and "elbow_joint" in states[-1].name, "joint states")
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=PATIENCE_S)[0]
        finally:
            # Without an end it would be waited for without end, and talk into other tests.
            process.kill()
    assert "no page is served" in output
    assert "'.[view]'" in output or "robot_semantics[view]" in output
    assert "the sliders publish /headless/joint_states" in output
