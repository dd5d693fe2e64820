# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The SRDF of the Panda, made from nothing by the keyboard alone, is the one that ships with the robot."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.browser import Browser
from support.keyboard import Keyboard
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics, RobotModel
from robot_semantics.model.loading import load_robot

PAGE = Path(__file__).resolve().parents[2] / "doc" / "studio_tutorial.md"
MOST_ACTIONS = 40
TEXT = "document.getElementById('whole-text')?.value"
GROUPS = "Object.keys(viewer.robots[0].groups).length"


def panda() -> tuple[Path, Path]:
    """Return the URDF and SRDF of the Panda of a package on PyPI."""
    pin = pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    folder = Path(pin.__file__).parents[4] / "share/example-robot-data/robots/panda_description"
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed")
    return folder / "urdf" / "panda.urdf", folder / "srdf" / "panda.srdf"


def make_groups(person: Person, keys: Keyboard) -> None:
    arm = [f"panda_joint{number}" for number in range(1, 8)]
    keys.shortcut("3", "group-name", alt=True)
    for name, kind, members in (
        ("arm", "joints", arm),
        ("hand", "joints", ["panda_finger_joint1"]),
        ("arm_and_hand", "sub-groups", ["arm", "hand"]),
    ):
        keys.fill("#group-name", name)
        chosen = f"document.querySelector('[data-kinds] [aria-pressed=true]').innerText === '{kind}'"
        if not person.browser.run(chosen):
            number = ("chain", "joints", "links", "sub-groups").index(kind) + 1
            keys.push(f"[data-kinds] button:nth-child({number})")
            person.sees(chosen)
        for count, member in enumerate(members, 1):
            keys.choose("members", member)
            person.sees(f"document.querySelectorAll('[data-panel=groups] .q-chip').length === {count}")
        keys.push("[data-do=add-group]")
        person.sees(f"document.querySelector('[data-group-row={name}]') !== null")
    keys.fill("#effector-name", "end_effector")
    keys.choose("effector-group", "arm")
    keys.choose("effector-link", "panda_hand_tcp")
    keys.push("[data-do=add-effector]")
    person.sees("document.querySelector('[data-effector=end_effector]') !== null")


def make_state(person: Person, keys: Keyboard, shipped: RobotModel) -> None:
    keys.shortcut("4", "state-of-group", alt=True)
    keys.choose("state-of-group", "arm_and_hand")
    person.sees("viewer.focus === 'arm_and_hand'")
    keys.shortcut("f", "search", ctrl=True)
    index = "viewer.robots[0].variableIndex"
    for joint, (value,) in shipped.semantics.state("arm_and_hand", "default").joints.items():
        now = f"viewer.q(viewer.robots[0])[{index}.get('{joint}')]"
        if person.browser.run(f"{now} === {value}"):
            continue
        keys.fill(f"[data-variable={joint}]", str(value))
        person.browser.press("Tab")
        person.sees(f"{now} === {value}")
    keys.shortcut("4", "state-of-group", alt=True)
    keys.fill("#new-state", "default")
    keys.push("[data-do=record]")
    person.sees("document.querySelector('[data-take=\"arm_and_hand/default\"]') !== null")


def make_pairs(person: Person, keys: Keyboard) -> None:
    keys.shortcut("5", "samples", alt=True)
    keys.push("[data-do=generate]")
    person.browser.wait("document.querySelector('[data-do=write-pairs]')?.offsetParent != null", 240.0)
    keys.push("[data-do=write-pairs]")
    person.sees("/ [1-9]\\d* not checked/.test(document.querySelector('.studio').innerText)")


@pytest.mark.timeout(500)
def test_the_panda_s_srdf_is_made_undone_and_redone_by_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    urdf, srdf = panda()
    out = tmp_path / "panda.srdf"
    shipped = load_robot(urdf, srdf, strict=False, diagnostics=Diagnostics())
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), "-o", str(out), "--no-browser") as served:
        person, keys = Person(browser, served), Keyboard(browser)
        make_groups(person, keys)
        make_state(person, keys, shipped)
        make_pairs(person, keys)
        keys.shortcut("s", ctrl=True)
        person.sees("document.activeElement.dataset.do === 'really-save'")
        keys.push("[data-do=really-save]")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        person.sees("document.querySelector('.q-dialog__inner') === null")
        assert keys.actions <= MOST_ACTIONS
        assert f"| **sum** | **{keys.actions}** |" in PAGE.read_text(encoding="utf-8")

        # Every step is undone to the empty file, and redone.
        browser.press("6", alt=True)
        person.sees(f"{TEXT}?.includes('panda_hand_tcp') && document.activeElement.id === 'whole-text'")
        made = browser.run(TEXT)
        for key, shift, button, end in (
            ("z", False, "undo", f"{GROUPS} === 0"),
            ("Z", True, "redo", f"{TEXT} === {made!r}"),
        ):
            enabled = f"!document.querySelector('[data-do={button}]').disabled"
            person.sees(enabled)
            browser.run("document.activeElement.blur()")
            while browser.run(enabled):
                before = browser.run(TEXT)
                browser.press(key, ctrl=True, shift=shift)
                person.sees(f"{TEXT} !== {before!r}")
            person.sees(end)
        assert browser.complaints == []
    assert out.read_text() == made
    made_robot = load_robot(urdf, out, diagnostics=Diagnostics())
    ours, theirs = made_robot.semantics, shipped.semantics
    assert {name: group.joints for name, group in ours.groups.items()} == {
        name: group.joints for name, group in theirs.groups.items()
    }
    assert {name: group.links for name, group in ours.groups.items()} == {
        name: group.links for name, group in theirs.groups.items()
    }
    assert ours.end_effectors["end_effector"] == theirs.end_effectors["end_effector"]
    assert ours.end_effectors.keys() == theirs.end_effectors.keys()
    assert ours.state("arm_and_hand", "default").joints == theirs.state("arm_and_hand", "default").joints
    assert ours.disabled_collisions.keys() == theirs.disabled_collisions.keys()
