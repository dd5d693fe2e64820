# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Suggestions are accepted all together in the studio, by the mouse and by the keyboard, and by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree
from support.browser import Browser
from support.keyboard import Keyboard
from support.person import Person
from support.served import Served
from support.shipped_srdf import MOST_ACTIONS, SHIPPED_SRDF, described, missing_parts, robot_file

from robot_semantics import Diagnostics
from robot_semantics.cli.main import main
from robot_semantics.model.loading import load_robot


class Mouse:
    """A person who uses the studio by the mouse alone; attribute `actions` counts the clicks."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.actions = 0

    def push(self, selector: str) -> None:
        """Click into the middle of a button at rest, when nothing lies over it."""
        middle = (
            f"(() => {{ const button = [...document.querySelectorAll({json.dumps(selector)})].at(-1);"
            " const box = button?.getBoundingClientRect();"
            " const [x, y] = box ? [box.x + box.width / 2, box.y + box.height / 2] : [-1, -1];"
            " return document.getAnimations().every((one) => one.playState !== 'running')"
            " && button?.contains(document.elementFromPoint(x, y)) ? [x, y] : null; })()"
        )
        place = None
        while place is None:
            self.browser.wait(f"{middle} !== null")
            # The button may move again before it is asked for its place.
            place = self.browser.run(middle)
        self.actions += 1
        self.browser.click(*place)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sorted(SHIPPED_SRDF))
def test_five_robots_get_their_groups_and_end_effectors_by_the_keyboard_and_by_the_mouse(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    shipped, urdf = described(*SHIPPED_SRDF[name]), tmp_path / "robot.urdf"
    out, made = tmp_path / "new.srdf", tmp_path / "command.srdf"
    source = etree.parse(robot_file(SHIPPED_SRDF[name][0]))
    # The page draws fast without meshes; suggestions depend on collision geometry.
    for link in source.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    source.write(urdf)
    texts = []
    packages = ("--package-path", str(robot_file(".")))
    command = ("robot_semantics.cli.main", "studio", str(urdf), "-o", str(out), "--no-browser", *packages)
    with Served("-m", *command) as served:
        person = Person(browser, served)
        keys, mouse = Keyboard(browser), Mouse(browser)
        hands: tuple[Keyboard | Mouse, ...] = (keys, mouse)
        for hand in hands:
            if hand is keys:
                # The first suggestion has the focus; the button is above it.
                person.sees("document.activeElement.dataset.accept !== undefined")
                keys.push("[data-do=accept-all]", back=True)
            else:
                mouse.push("[data-do=accept-all]")
            person.sees("Object.keys(viewer.robots[0].groups).length > 0")
            # Nothing is left to suggest: the next needed step has the focus.
            person.sees("document.querySelector('[data-accept]') === null")
            person.sees("document.activeElement.dataset.open === 'Collisions'")
            if hand is keys:
                keys.shortcut("s", ctrl=True)
                person.sees("document.activeElement.dataset.do === 'really-save'")
            else:
                mouse.push("[data-do=save]")
            hand.push("[data-do=really-save]")
            person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
            person.sees("document.querySelector('.q-dialog__inner') === null")
            assert hand.actions == 3 <= MOST_ACTIONS
            texts.append(out.read_text(encoding="utf-8"))
            robot = load_robot(urdf, out, strict=False, diagnostics=Diagnostics())
            assert missing_parts(robot, shipped) == (set(), set())
            # All suggestions are one step.
            person.press("undo")
            person.sees("Object.keys(viewer.robots[0].groups).length === 0")
        assert browser.complaints == []
    assert texts[0] == texts[1]
    # The command makes the same groups.
    assert main(["srdf", "new", str(urdf), "--suggest", "-o", str(made), *packages]) == 0
    groups = load_robot(urdf, made, strict=False, diagnostics=Diagnostics()).semantics.groups
    assert groups.keys() == robot.semantics.groups.keys()
