# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Suggestions are accepted all together in the studio, by the mouse and by the keyboard, and by the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.browser import Browser
from support.keyboard import Keyboard
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics
from robot_semantics.cli.main import main
from robot_semantics.model.loading import load_robot

pin = pytest.importorskip("pinocchio")
ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
LEGGED = {"mouse": "go2_description/urdf/go2.urdf", "keyboard": "anymal_b_simple_description/robots/anymal.urdf"}


@pytest.mark.timeout(200)
@pytest.mark.parametrize("by", sorted(LEGGED))
def test_all_suggestions_are_one_press_and_one_step(browser: Browser, tmp_path: Path, by: str) -> None:
    urdf, out, made = ROBOTS / LEGGED[by], tmp_path / "new.srdf", tmp_path / "command.srdf"
    if not urdf.exists():
        pytest.skip("example-robot-data is not installed")
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), "-o", str(out), "--no-browser") as served:
        person = Person(browser, served)
        person.sees("document.querySelector('[data-do=accept-all]') !== null")
        if by == "keyboard":
            keys = Keyboard(browser)
            keys.push("[data-do=accept-all]")
            assert keys.actions == 1
        else:
            browser.wait("document.getAnimations().every((one) => one.playState !== 'running')")
            box = "document.querySelector('[data-do=accept-all]').getBoundingClientRect()"
            browser.click(*browser.run(f"[{box}.x + 9, {box}.y + 9]"))
        person.sees("'whole_body' in viewer.robots[0].groups && viewer.robots[0].endEffectors.length === 4")
        # Nothing is left to suggest: the next needed step has the focus.
        person.sees("document.querySelector('[data-accept]') === null")
        person.sees("document.activeElement.dataset.open === 'Collisions'")
        person.save()
        person.press("undo")
        person.sees("Object.keys(viewer.robots[0].groups).length === 0")
        assert browser.complaints == []
    assert main(["srdf", "new", str(urdf), "--suggest", "-o", str(made)]) == 0
    shipped = Diagnostics()
    groups = load_robot(urdf, out, strict=False, diagnostics=shipped).semantics.groups
    assert groups.keys() == load_robot(urdf, made, strict=False, diagnostics=Diagnostics()).semantics.groups.keys()
