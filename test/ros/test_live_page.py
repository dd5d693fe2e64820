# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A real node seen in a real browser: the page follows it, calls it stale when it is gone, and follows it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.browser import Browser, executable
from support.nodes import PATIENCE_S, Client, NodeProcess, joint_state
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
