# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A real node seen in a real browser: the page follows it, also when it was gone, and its sliders move the robot."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.browser import Browser, executable
from support.nodes import RUNNING, Client, NodeProcess, joint_state
from support.patience import PATIENCE_S
from support.served import Served

from robot_semantics import ForwardKinematics
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot

pytestmark = pytest.mark.ros


@pytest.mark.skipif(executable() is None, reason="no Chromium is installed: apt install chromium")
def test_the_page_follows_the_node_calls_it_stale_when_it_is_gone_and_follows_it_again(
    start: Callable[..., NodeProcess], client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nicegui", reason="nicegui is not installed: the extra 'view' has it")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    kinematics = ForwardKinematics(load_robot(example("rover_arm.urdf"), example("rover_arm.srdf")))
    described = {
        "robot_description": example("rover_arm.urdf").read_text(),
        "robot_description_semantic": example("rover_arm.srdf").read_text(),
    }

    def see_elbow_at(value: float) -> None:
        """Publish joint states until the page shows them, and calls them fresh."""
        expected = kinematics.link_poses(kinematics.space.pack({"elbow_joint": value}))
        shown = "viewer.robots.length && !document.getElementById('stale')?.offsetParent"
        told, end = np.zeros(expected.shape), time.monotonic() + PATIENCE_S
        while not np.allclose(told, expected, atol=1e-6):
            assert time.monotonic() < end, told
            publisher.publish(joint_state({"elbow_joint": value}, time.time_ns()))
            poses = browser.run(f"{shown} ? viewer.poses(viewer.robots[0]) : null")
            told = told if poses is None else np.reshape(poses, expected.shape)

    node = start(**described)
    publisher = client.publisher(JointState, "joint_states")
    serving = Served("-m", "robot_semantics.cli.main", "view", "--live", "--no-browser")
    with serving as page, Browser(tmp_path) as browser:
        browser.open(page.address)
        see_elbow_at(0.5)
        node.stop()
        browser.wait("document.getElementById('stale')?.offsetParent !== null", PATIENCE_S)
        start(**described)
        see_elbow_at(-0.75)
        assert browser.complaints == []


@pytest.mark.skipif(executable() is None, reason="no Chromium is installed: apt install chromium")
def test_the_sliders_and_states_of_the_page_move_the_robot_but_not_the_joints_of_another_publisher(
    start: Callable[..., NodeProcess], client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nicegui", reason="nicegui is not installed: the extra 'view' has it")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    start(
        robot_description=example("rover_arm.urdf").read_text(),
        robot_description_semantic=example("rover_arm.srdf").read_text(),
    )
    kinematics = ForwardKinematics(load_robot(example("rover_arm.urdf"), example("rover_arm.srdf")))
    states = client.collect(JointState, "joint_states", 10)
    serving = Served("-m", "robot_semantics.cli.main", "view", "--live", "--sliders", "--no-browser", "--timeout", "60")

    def stated(name: str) -> float:
        known = {key: value for state in states[-3:] for key, value in zip(state.name, state.position, strict=True)}
        return float(known.get(name, np.nan))

    def value(name: str) -> str:
        return f"document.querySelector('[data-variable=\"{name}\"]')"

    def slide(name: str, to: float) -> None:
        browser.wait(f"{value(name)} !== null && !{value(name)}.disabled")
        browser.run(
            f"(() => {{ const slider = document.querySelector('input[type=range][aria-label=\"{name}\"]');"
            f" slider.value = {to}; slider.dispatchEvent(new Event('input')); }})()"
        )

    with serving as page, Browser(tmp_path) as browser:
        browser.open(page.address)
        slide("elbow_joint", 0.5)
        client.until(lambda: abs(stated("elbow_joint") - 0.5) < 2e-3, "the slider's position")
        # Mimic joints follow, and cannot be moved.
        slide("left_finger_joint", 0.02)
        client.until(lambda: abs(stated("right_finger_joint") - 0.02) < 1e-3, "the mimic joint")
        assert browser.run(f"{value('right_finger_joint')}.disabled")
        slide("world_joint/x", 1.0)
        client.until(lambda: abs(stated("world_joint/x") - 1.0) < 1e-2, "the virtual joint")
        browser.run("document.querySelector('[data-state=\"arm/reach\"]').click()")
        (reach,) = [state for state in kinematics.model.semantics.states.values() if state.name == "reach"]
        expected = {name: value[0] for name, value in reach.positions.items()}
        client.until(lambda: {name: stated(name) for name in expected} == pytest.approx(expected), "the named state")
        # The picture is the robot on TF.
        q = kinematics.space.pack({**expected, "left_finger_joint": stated("left_finger_joint")})
        poses = kinematics.link_poses(q)

        def seen() -> bool:
            told = np.reshape(browser.run("viewer.poses(viewer.robots[0])"), poses.shape)
            return np.allclose(np.linalg.inv(told[0]) @ told, poses, atol=1e-6)

        client.until(seen, "the picture")
        assert "publish /joint_states" in browser.run("document.getElementById('slider-state').innerText")
        publisher = client.publisher(JointState, "joint_states")

        def disabled() -> bool:
            return browser.run(f"{value('elbow_joint')}.disabled") is True

        client.publish_until(publisher, lambda: joint_state({"elbow_joint": -0.5}), disabled, "the slider to stop")
        told = str(browser.run("document.getElementById('slider-state').innerText"))
        assert "do not publish elbow_joint" in told
        assert "/test_client on /joint_states" in told
        assert not browser.run(f"{value('wrist_joint')}.disabled")
        browser.wait(f"!{value('elbow_joint')}.disabled && {value('elbow_joint')}.value === '-0.5'")
        browser.run("document.getElementById('default-positions').click()")
        client.until(lambda: stated("elbow_joint") == stated("wrist_joint") == 0.0, "the default positions")
        assert browser.audit(".beside") == []
        assert browser.complaints == []


@pytest.mark.skipif(executable() is None, reason="no Chromium is installed: apt install chromium")
def test_ctrl_c_ends_an_open_page_that_waits_for_a_node_which_is_gone(
    start: Callable[..., NodeProcess], client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nicegui", reason="nicegui is not installed: the extra 'view' has it")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    node = start(
        robot_description=example("rover_arm.urdf").read_text(),
        robot_description_semantic=example("rover_arm.srdf").read_text(),
        ros_args=["-r", "__ns:=/gone"],
    )
    options = ("--node=/gone/robot_semantics", "--sliders", "--no-browser", "--timeout", "300")
    page = Served("-m", "robot_semantics.cli.main", "view", "--live", *options)
    try:
        with Browser(tmp_path) as browser:
            browser.open(page.address)
            node.stop()
            gone = ("robot_semantics", "/gone")
            client.until(lambda: gone not in client.node.get_node_names_and_namespaces(), "the end of the node")
            browser.run("document.getElementById('snapshot-save').click()")
            client.spin_for(1.0)
            page.process.send_signal(signal.SIGINT)
            assert page.process.wait(PATIENCE_S) == 130
    finally:
        page.process.kill()
        page.process.wait()


@pytest.mark.parametrize("node", ["/apart/robot_semantics", "/robot_semantics"])
def test_sliders_publish_for_the_robots_of_the_node_in_any_namespace_or_say_that_it_has_none(
    start: Callable[..., NodeProcess], client: Client, monkeypatch: pytest.MonkeyPatch, node: str
) -> None:
    pytest.importorskip("nicegui", reason="nicegui is not installed: the extra 'view' has it")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(client.domain))
    for other in list(RUNNING):
        other.stop()
    running = start(
        robot_description=example("rover_arm.urdf").read_text(),
        robot_description_semantic=example("rover_arm.srdf").read_text(),
        ros_args=["-r", "__ns:=/apart", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"],
    )
    running.wait_for_output("robot 'rover_arm'")
    states = client.collect(JointState, "/apart/joint_states", 10)
    options = (f"--node={node}", "--sliders", "--no-browser", "--timeout", "60")
    with Served("-m", "robot_semantics.cli.main", "view", "--live", *options) as page:
        if node == "/apart/robot_semantics":
            assert "the sliders publish /apart/joint_states" in page.told
            client.until(lambda: any("elbow_joint" in state.name for state in states), "the joint states")
        else:
            assert "no sliders: no robot is of the node /robot_semantics" in page.told
    running.stop()
