# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A pose is described while the robot moves, pictured where it is named, and lies between two others on a slider."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics, JointSpace
from robot_semantics.collision.poses import PoseCollisions
from robot_semantics.examples import example
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.viewer.studio_states import pose_between

BOX = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
SLIDE = (
    f'<robot name="r"><link name="a">{BOX}</link><link name="b">{BOX}</link><joint name="j" type="prismatic">'
    '<parent link="a"/><child link="b"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    "</joint></robot>"
)


@pytest.mark.parametrize(("q", "collides"), [(0.0, True), (0.099, True), (0.101, False), (-0.101, False)])
def test_two_boxes_collide_as_long_as_they_overlap(q: float, collides: bool) -> None:
    pytest.importorskip("mujoco")
    from robot_semantics.collision.pieces import pieces_of

    robot = robot_from_text(SLIDE)
    poses = PoseCollisions(robot, pieces_of(robot, PackageResolver(), Diagnostics()))
    assert poses.colliding(robot, np.array([q])) == ([("a", "b")] if collides else [])
    semantics = '<robot name="r"><disable_collisions link1="a" link2="b" reason="User"/></robot>'
    assert poses.colliding(robot_from_text(SLIDE, semantics), np.array([q])) == []


def test_a_pose_between_two_goes_the_short_way_round() -> None:
    kinds = ("continuous", "revolute", "floating", "planar")
    joints = "".join(
        f'<link name="l{at}"/><joint name="{kind}" type="{kind}"><parent link="{above}"/><child link="l{at}"/>'
        '<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
        for at, (kind, above) in enumerate(zip(kinds, ("base", "l0", "l1", "l2"), strict=True))
    )
    space = JointSpace.of(robot_from_text(f'<robot name="r"><link name="base"/>{joints}</robot>'))
    # A floating joint at the second pose is turned by 90 degrees about z.
    first = np.array([3.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 3.0])
    second = np.array([-3.0, -3.0, 2.0, 0.0, 0.0, 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5), 2.0, 0.0, -3.0])
    middle = pose_between(space, first, second, 0.5)
    assert np.cos(middle[0]) == pytest.approx(-1.0)
    np.testing.assert_allclose(middle[1:3], [0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(
        middle[5:], [0.0, 0.0, np.sin(np.pi / 8), np.cos(np.pi / 8), 1.0, 0.0, np.pi], atol=1e-12
    )
    np.testing.assert_allclose(pose_between(space, first, second, 0.0), first)


@pytest.mark.timeout(400)
def test_a_pose_is_described_pictured_and_moved_to_another(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    files = [str(example(f"rover_arm.{kind}")) for kind in ("urdf", "srdf")]
    command = ("-m", "robot_semantics.cli.main", "studio", *files, "-o", str(tmp_path / "o.srdf"), "--no-browser")
    with Served(*command) as served:
        person = Person(browser, served)
        person.tab("states")
        person.choose("state-of-group", "arm")
        rows = "[...document.querySelectorAll('[data-pose] tbody tr')].map((row) => row.textContent.trim())"
        person.sees(f"{rows}.some((row) => row.startsWith('elbow_joint'))")
        person.sees("document.querySelector('[data-collisions]').innerText === 'No collision between checked links.'")
        browser.run("viewer.setPosition(viewer.robots[0], 'elbow_joint', 99)")
        person.sees("document.querySelector('[data-pose] .failed')?.innerText === '99.0000'")
        person.sees("document.querySelector('[data-pose]').innerText.includes('1 outside their limits')")
        # A picture of each state, in its own pose.
        pictures = "[...document.querySelectorAll('.thumbnail')]"
        taken = "[...document.querySelectorAll('[data-take]')]"
        person.sees(f"{pictures}.length === {taken}.length && {pictures}.every((one) => one.naturalWidth === 168)")
        assert browser.run(f"new Set({pictures}.map((one) => one.src)).size") > 2
        names = browser.run(f"{taken}.map((one) => one.dataset.take)")
        arm = [name for name in names if name.startswith("arm/")]
        person.choose("pose-from", arm[0])
        person.choose("pose-to", arm[1])
        q = "viewer.q(viewer.robots[0])[viewer.robots[0].variableIndex.get('elbow_joint')]"
        ends = []
        for name in arm[:2]:
            browser.run(f"document.querySelector('[data-take=\"{name}\"]').click()")
            state = f"viewer.robots[0].states.find((s) => s.group + '/' + s.name === '{name}').joints.elbow_joint[0]"
            person.sees(f"{q} === {state}")
            ends.append(browser.run(q))
        browser.run("document.querySelector('[data-between] [tabindex]').focus()")
        browser.press("ArrowRight")
        person.sees(f"Math.abs({q} - {ends[0] + 0.01 * (ends[1] - ends[0])}) < 1e-6")
        assert browser.complaints == []
