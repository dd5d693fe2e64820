# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops in served pages: the passive joints follow while a person drags a slider."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics.examples import example

LEG = (str(example("leg.urdf")), str(example("leg.srdf")))
PIN = """
(() => {
  const robot = viewer.robots[0], poses = viewer.poses(robot);
  const at = (link, p) => { const T = poses[robot.linkIndex.get(link)];
    return [0, 1, 2].map((i) => T[4 * i] * p[0] + T[4 * i + 1] * p[1] + T[4 * i + 2] * p[2] + T[4 * i + 3]); };
  const a = at("rod", [0, 0, -0.3]), b = at("shank", [-0.08, 0, 0]);
  return Math.hypot(...a.map((part, k) => part - b[k]));
})()
"""
"""Distance of the rod's end from its pin on the shank, by the page's own forward kinematics [m]."""


def drag(browser: Browser, joint: str, way: list[float]) -> None:
    """Move a slider along some values, one every 10 ms."""
    browser.run(
        f"""(async () => {{
  const slider = document.querySelector('input[type=range][aria-label={joint}]');
  for (const value of {way}) {{
    slider.value = value; slider.dispatchEvent(new Event("input"));
    await new Promise((done) => setTimeout(done, 10));
  }}
}})()"""
    )


def q(browser: Browser, joint: str) -> float:
    return float(browser.run(f"viewer.q(viewer.robots[0])[viewer.robots[0].variableIndex.get('{joint}')]"))


def settled(browser: Browser, joint: str, value: float) -> None:
    """Wait until a joint has a value and the loop is closed."""
    browser.wait(
        f"Math.abs(viewer.q(viewer.robots[0])[viewer.robots[0].variableIndex.get('{joint}')] - {value}) < 2e-3"
        f" && {PIN.strip()} < 1e-10"
    )


@pytest.mark.timeout(300)
def test_passive_joints_follow_a_dragged_slider(browser: Browser) -> None:
    with Served("-m", "robot_semantics.cli.main", "view", *LEG, "--no-browser") as served:
        browser.open(served.address)
        browser.drawn()
        assert browser.run("document.getElementById('loops-note')") is None
        drag(browser, "knee_motor", np.linspace(0.0, -0.9, 40).tolist())
        settled(browser, "knee_motor", -0.9)
        # The four links are a parallelogram: the shank turns as the crank.
        assert abs(q(browser, "knee") + 0.9) < 2e-3
        drag(browser, "hip_motor", np.linspace(0.0, 0.3, 20).tolist())
        settled(browser, "hip_motor", 0.3)
        assert abs(q(browser, "knee") + 1.2) < 3e-3


@pytest.mark.timeout(300)
def test_a_loop_that_leaves_its_limits_stays_closed_and_the_page_says_so(browser: Browser) -> None:
    with Served("-m", "robot_semantics.cli.main", "view", *LEG, "--no-browser") as served:
        browser.open(served.address)
        browser.drawn()
        drag(browser, "hip_motor", [0.4])
        settled(browser, "hip_motor", 0.4)
        drag(browser, "knee_motor", np.linspace(0.0, -1.2, 25).tolist())
        browser.wait("/joint 'knee' at .* outside its limits/.test(document.getElementById('message').textContent)")
        browser.wait(f"{PIN.strip()} < 1e-10")
        assert -1.3 <= q(browser, "knee") < -1.2
        drag(browser, "knee_motor", [-0.5])
        settled(browser, "knee_motor", -0.5)
        assert browser.run("document.getElementById('message').hidden")


@pytest.mark.timeout(300)
def test_the_studio_saves_a_closed_pose(browser: Browser, tmp_path: Path) -> None:
    semantic = tmp_path / "leg.srdf"
    group = '<group name="all"><chain base_link="hip" tip_link="shank"/></group>'
    semantic.write_text(Path(LEG[1]).read_text().replace("<passive_joint", f"{group}<passive_joint", 1))
    with Served("-m", "robot_semantics.cli.main", "studio", LEG[0], str(semantic), "--no-browser") as served:
        person = Person(browser, served)
        person.tab("states")
        person.choose("state-of-group", "all")
        person.sees("document.getElementById('joints-of').value === 'all'")
        # The sliders of all joints: the motor is not in the group.
        browser.run("viewer.setFocus('')")
        drag(browser, "knee_motor", np.linspace(0.0, 0.6, 30).tolist())
        settled(browser, "knee_motor", 0.6)
        person.type("new-state", "bent")
        person.sees("/knee\\s+0\\.(59|60)/.test(document.querySelector('[data-pose]').innerText)")
        person.press("record")
        person.sees("document.querySelector('[data-take=\"all/bent\"]') !== null")
        person.save()
    words = semantic.read_text()
    value = words.partition('<joint name="knee" value="')[2].partition('"')[0]
    assert abs(float(value) - 0.6) < 2e-3
