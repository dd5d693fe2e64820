# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The steps of doc/studio_tutorial.md give a complete SRDF.

With the environment variable TUTORIAL_PICTURES the test writes the pictures of the page into that folder.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics
from robot_semantics.examples import example
from robot_semantics.model import queries
from robot_semantics.model.loading import load_robot

PAGE = Path(__file__).resolve().parents[2] / "doc" / "studio_tutorial.md"
PICTURES = os.environ.get("TUTORIAL_PICTURES")


def picture(browser: Browser, name: str) -> None:
    """Write a picture of the page with few colours, if pictures are wanted."""
    assert f"images/{name}.png" in PAGE.read_text(encoding="utf-8")
    if PICTURES is not None:
        from PIL import Image

        browser.run("new Promise((done) => setTimeout(done, 1500))")
        browser.run("viewer.message('')")  # no warning of a slow picture
        browser.drawn()
        image = Image.open(io.BytesIO(browser.picture())).convert("RGB")
        image.quantize(192).save(Path(PICTURES) / f"{name}.png", optimize=True)


@pytest.mark.timeout(400)
def test_the_steps_of_the_tutorial_make_a_complete_srdf(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    folder = tmp_path if PICTURES is None else Path("/tmp/rover")  # the last picture shows the path
    folder.mkdir(exist_ok=True)
    urdf, srdf = example("rover_arm.urdf"), folder / "new.srdf"
    srdf.unlink(missing_ok=True)
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), "-o", str(srdf), "--no-browser") as served:
        person = Person(browser, served)

        person.tab("start")
        person.sees("document.querySelectorAll('[data-accept]').length === 4")
        picture(browser, "studio_1_start")
        person.accept("planar virtual joint")
        person.sees("window.viewer?.robots[0].variables.includes('odom_joint/x') && !document.querySelector('[inert]')")
        person.tab("start")
        for suggestion in ("group arm", "group hand", "end effector hand", "pose home of arm", "passive joints"):
            person.accept(suggestion)
        picture(browser, "studio_2_steps")
        person.tab("states")
        person.choose("state-of-group", "arm")
        browser.run("viewer.setPosition(viewer.robots[0], 'shoulder_lift_joint', 0.9)")
        browser.run("viewer.setPosition(viewer.robots[0], 'elbow_joint', 0.8)")
        person.type("new-state", "reach")
        person.sees("/0[.]9000[^]*0[.]8000/.test(document.querySelector('[data-pose]').innerText)")
        person.press("record")
        person.sees("document.querySelector('[data-take=\"arm/reach\"]') !== null")
        browser.run("[...document.querySelectorAll('button')].find((b) => b.innerText.trim() === 'fit').click()")
        picture(browser, "studio_3_state")
        person.tab("collisions")
        person.type("samples", "1000")
        person.press("generate")
        browser.wait("document.querySelector('[data-do=write-pairs]') !== null")
        person.sees("document.querySelector('[data-pairs]').innerText.includes('of 1,000')")
        picture(browser, "studio_4_pairs")
        person.press("write-pairs")
        person.sees("/ [1-9]\\d* not checked/.test(document.querySelector('.studio').innerText)")
        person.tab("start")
        person.sees("document.querySelector('[data-step=Collisions]').dataset.done === 'true'")
        person.press("save")
        person.sees("document.querySelector('.q-dialog')?.innerText.includes('group_state') === true")
        picture(browser, "studio_5_save")
        person.press("really-save")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert browser.complaints == []
    problems = Diagnostics()
    robot = load_robot(urdf, srdf, diagnostics=problems)
    assert list(problems) == []
    semantics = robot.semantics
    assert set(semantics.groups) == {"arm", "hand"}
    assert set(semantics.end_effectors) == {"hand"}
    assert semantics.state("arm", "reach").joints["elbow_joint"] == (0.8,)
    assert semantics.state("arm", "home").joints["elbow_joint"] == (0.0,)
    assert set(semantics.passive_joints) == {"caster_swivel_joint", "caster_wheel_joint"}
    assert not queries.pair_status(robot, "base_link", "left_wheel").checked
