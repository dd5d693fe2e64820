# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Parts of an SRDF are changed in place in the studio: names with all references, members, values, what uses a part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot


def quoted(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def rename(person: Person, selector: str, new: str) -> None:
    """Double click a name, type another one and press Enter."""
    browser = person.browser
    browser.wait(f"{quoted(selector)} !== null")
    browser.run(f"{quoted(selector)}.scrollIntoView({{block: 'center'}})")
    x, y = browser.run(
        f"(() => {{ const b = {quoted(selector)}.getBoundingClientRect(); return [b.x + 5, b.y + 5]; }})()"
    )
    for count in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            browser._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)
    person.sees("document.activeElement.classList.contains('part-field')")
    browser.run("document.activeElement.select()")
    browser.type(new)
    browser.press("Enter")


def fill(person: Person, row: str, cell: str, value: str) -> None:
    """Change a value of a row that is unfolded."""
    field = f"{row} [data-cell='{cell}']"
    person.sees(f"{quoted(field)} !== null")
    person.browser.run(f"{quoted(field)}.focus(); {quoted(field)}.select()")
    person.browser.type(value)
    person.browser.press("Enter")


@pytest.mark.timeout(200)
def test_names_members_and_values_are_changed_in_place(browser: Browser, tmp_path: Path) -> None:
    srdf = tmp_path / "rover.srdf"
    srdf.write_bytes(example("rover_arm.srdf").read_bytes())
    urdf = example("rover_arm.urdf")
    before = load_robot(urdf, srdf).semantics
    command = ("-m", "robot_semantics.cli.main", "studio", str(urdf), str(srdf), "--no-browser")
    with Served(*command) as served:
        person = Person(browser, served)
        person.tab("groups")
        # A group's new name is in its states, its end effector and the groups that have it; an old name is refused.
        rename(person, "[data-group-row=arm] [data-rename]", "gripper")
        person.sees("document.body.innerText.includes(\"there is already a group 'gripper'\")")
        rename(person, "[data-group-row=arm] [data-rename]", "limb")
        person.sees("document.querySelector('[data-group-row=limb]') !== null")
        rename(person, "[data-effector] [data-rename]", "tool")
        person.sees("document.querySelector('[data-effector=tool]') !== null")
        effector = before.end_effectors[next(iter(before.end_effectors))]
        browser.run(f"{quoted('[data-effector=tool] [data-change]')}.click()")
        fill(person, "[data-effector=tool]", "parent_link", "no_such_link")
        person.sees("document.body.innerText.includes('no_such_link')")
        fill(person, "[data-effector=tool]", "parent_link", "forearm_link")
        person.sees("viewer.robots[0].endEffectors[0].parentLink === 'forearm_link'")
        # The pen of a row without values changes its name.
        browser.run(f"{quoted('[data-group-row=base] [data-change]')}.click()")
        person.sees("document.activeElement.classList.contains('part-field')")
        browser.press("Escape")
        person.sees(f"{quoted('[data-group-row=base] [data-rename]')} !== null")
        # A member goes by its ×.
        chips = "document.querySelectorAll('[data-group-row=gripper] .part-chip').length"
        count = browser.run(chips)
        browser.run(f"{quoted('[data-group-row=gripper] [data-cut]')}.click()")
        person.sees(f"{chips} === {count - 1}")
        person.press("undo")
        person.sees(f"{chips} === {count}")
        person.tab("states")
        person.sees("document.querySelector('[data-take=\"limb/reach\"]') !== null")
        rename(person, "[data-take='limb/reach']", "stretch")
        person.sees("document.querySelector('[data-take=\"limb/stretch\"]') !== null")
        row = ".part:has([data-take='limb/stretch'])"
        browser.run(f"{quoted(row + ' [data-change]')}.click()")
        fill(person, row, "elbow_joint", "0,5x")
        person.sees("document.body.innerText.includes('is not a number')")
        fill(person, row, "elbow_joint", "0.625")
        person.sees("viewer.robots[0].states.find((one) => one.name === 'stretch').joints.elbow_joint[0] === 0.625")
        person.tab("robot")
        virtual = load_robot(urdf, srdf).root_joint
        row = f".part:has([data-rename='{virtual.name}'])"
        person.sees(f"{quoted(row)} !== null")
        browser.run(f"{quoted(row + ' [data-change]')}.click()")
        browser.run(f"{quoted(row + ' [data-cell=passive]')}.click()")
        person.sees(f"viewer.robots[0].passive.includes('{virtual.name}')")
        fill(person, row, "parent_frame", "map")
        person.sees("viewer.robots[0].frame === 'map'")
        browser.run(
            f"(() => {{ const box = {quoted(row + ' [data-cell=type]')}; box.value = 'floating';"
            " box.dispatchEvent(new Event('change')); })()"
        )
        person.sees(f"viewer.robots[0].variables.includes('{virtual.name}/rot_w')")
        person.press("undo")
        person.sees(f"!viewer.robots[0].variables.includes('{virtual.name}/rot_w')")
        for dark in (False, True):
            browser.run(f"viewer.shows.dark !== {json.dumps(dark)} && viewer.find('dark').click()")
            browser.drawn()
            assert browser.audit(".beside") == []
        person.save()
        assert browser.complaints == []
    problems = Diagnostics()
    robot = load_robot(urdf, srdf, diagnostics=problems)
    assert [str(problem) for problem in problems] == []
    after = robot.semantics
    assert set(after.groups) == {"limb" if name == "arm" else name for name in before.groups}
    assert after.groups["gripper"].links == before.groups["gripper"].links
    assert after.end_effectors["tool"].group == effector.group
    assert after.end_effectors["tool"].parent_link == "forearm_link"
    assert after.state("limb", "stretch").joints["elbow_joint"] == (0.625,)
    assert robot.root_joint.parent_link == "map"
    assert virtual.name in after.passive_joints


@pytest.mark.timeout(200)
def test_the_removal_of_a_used_part_says_what_uses_it(browser: Browser, tmp_path: Path) -> None:
    srdf = tmp_path / "rover.srdf"
    srdf.write_bytes(example("rover_arm.srdf").read_bytes())
    urdf = example("rover_arm.urdf")
    semantics = load_robot(urdf, srdf).semantics
    states = [name for group, name in semantics.states if group == "gripper"]
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), str(srdf), "--no-browser") as served:
        person = Person(browser, served)
        person.tab("groups")
        remove = quoted('[aria-label="remove group gripper"]')
        person.sees(f"Boolean({remove})")
        for answer in ("undo", "remove-uses"):
            browser.run(f"{remove}.click()")
            person.sees("document.querySelector('[data-group-row=gripper]') === null")
            person.sees("document.querySelector('[data-uses]') !== null")
            words = browser.run("document.querySelector('[data-uses]').innerText")
            assert all(f"state gripper/{name}" in words for name in states)
            assert any(f"end effector {item.name}" in words for item in semantics.end_effectors.values())
            assert browser.audit(".beside") == []
            person.press(answer)
            person.sees("document.querySelector('[data-uses]') === null")
            person.sees(f"({remove} !== null) === {json.dumps(answer == 'undo')}")
        person.save()
        assert browser.complaints == []
    problems = Diagnostics()
    after = load_robot(urdf, srdf, diagnostics=problems).semantics
    assert [str(problem) for problem in problems] == []
    assert "gripper" not in after.groups
    assert not any(group == "gripper" for group, _ in after.states)
    assert "gripper" not in srdf.read_text()


def large(folder: Path, count: int = 500) -> tuple[Path, Path]:
    """Write a robot of `count` links with 300 groups."""
    links = ["<link name='base'/>"]
    for at in range(count - 1):
        parent = f"link_{at - 1}" if at % 25 else "base"
        links.append(
            f"<link name='link_{at}'/><joint name='joint_{at}' type='revolute'><parent link='{parent}'/>"
            f"<child link='link_{at}'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
        )
    groups = [
        f"<group name='group_{at}'>"
        + "".join(f"<joint name='joint_{at % 20 * 25 + k}'/>" for k in range(8 if at % 20 < 19 else 5))
        + "</group>"
        for at in range(300)
    ]
    urdf, srdf = folder / "large.urdf", folder / "large.srdf"
    urdf.write_text(f"<robot name='large'>{''.join(links)}</robot>")
    srdf.write_text("<robot name='large'>\n" + "\n".join(groups) + "\n</robot>\n")
    return urdf, srdf


MOST_ADDED = 60
"""Largest number of elements that a changed name of one of 300 groups adds to the page."""


@pytest.mark.timeout(200)
def test_of_three_hundred_groups_only_changed_rows_are_redrawn_and_no_click_is_lost(
    browser: Browser, tmp_path: Path
) -> None:
    urdf, srdf = large(tmp_path)
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), str(srdf), "--no-browser") as served:
        person = Person(browser, served)
        person.tab("groups")
        person.sees("document.querySelectorAll('[data-group-row]').length === 300")
        browser.run(
            "window.touched = new Set(); new MutationObserver((list) => list.forEach(({target, addedNodes}) => {"
            " for (const node of [target, ...addedNodes]) {"
            "  const row = (node.nodeType === 1 ? node : node.parentElement)?.closest('[data-group-row]');"
            "  if (row) touched.add(row.dataset.groupRow); } }))"
            ".observe(document.querySelector('.studio'), {subtree: true, childList: true, attributes: true}); 1"
        )
        # A row out of sight is not laid out, and the sliders of the robot's joints stay as they are.
        browser.wait(
            "!document.querySelector('[data-group-row=group_299] .part-title')"
            ".checkVisibility({contentVisibilityAuto: true})"
        )
        browser.run(
            "window.added = 0; new MutationObserver((list) => list.forEach(({addedNodes}) => addedNodes.forEach("
            " (node) => { if (node.nodeType === 1) added += 1 + node.querySelectorAll('*').length; })))"
            ".observe(document.body, {subtree: true, childList: true}); 1"
        )
        rename(person, "[data-group-row=group_150] [data-rename]", "other")
        person.sees("document.querySelector('[data-group-row=other]') !== null")
        person.sees("viewer.robots[0].groups.other !== undefined")
        # The new row has 28 elements; the panel at the left has a button and two options.
        assert 28 <= browser.run("added") <= MOST_ADDED
        # Three clicks in a row, faster than any answer: each is about the row that the person saw.
        browser.run(
            "for (const name of ['group_7', 'group_8', 'group_299'])"
            " document.querySelector(`[data-group-row=${name}] [aria-label^=remove]`).click()"
        )
        person.sees("document.querySelectorAll('[data-group-row]').length === 297")
        person.sees("Object.keys(viewer.robots[0].groups).length === 297")
        assert browser.run("added") <= 2 * MOST_ADDED
        assert set(browser.run("[...touched]")) <= {"group_150", "other", "group_7", "group_8", "group_299"}
        person.save()
        assert browser.complaints == []
    names = {group.name for group in load_robot(urdf, srdf).semantics.groups.values()}
    assert names == {*(f"group_{at}" for at in range(300)), "other"} - {"group_150", "group_7", "group_8", "group_299"}


@pytest.mark.timeout(200)
def test_a_robot_of_two_thousand_links_opens_and_is_edited(browser: Browser, tmp_path: Path) -> None:
    urdf, srdf = large(tmp_path, 2000)
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), str(srdf), "--no-browser") as served:
        person = Person(browser, served)
        person.sees("viewer.robots[0].links.length === 2000")
        person.tab("groups")
        rename(person, "[data-group-row=group_150] [data-rename]", "other")
        person.sees("viewer.robots[0].groups.other !== undefined")
        person.choose("chain-0", "link_1975")
        person.choose("chain-1", "link_1990")
        person.type("group-name", "last")
        person.press("add-group")
        person.sees("viewer.robots[0].groups.last?.joints.length === 15")
        for tab in ("robot", "states", "collisions", "text", "start"):
            person.tab(tab)
        person.save()
        assert browser.complaints == []
    semantics = load_robot(urdf, srdf).semantics
    assert semantics.group("last").joints[-1] == "joint_1990"
    assert {"other", "last"} <= semantics.groups.keys()


ODD = ("__proto__", "constructor", "arm\u202egripper")
"""Names that a page could lose, or show as another name."""


@pytest.mark.timeout(200)
def test_odd_names_show_and_a_pasted_name_is_taken_at_once(browser: Browser, tmp_path: Path) -> None:
    urdf, srdf = tmp_path / "r.urdf", tmp_path / "r.srdf"
    urdf.write_text(example("rover_arm.urdf").read_text())
    groups = "".join(f'<group name="{name}"><link name="palm_link"/></group>' for name in ODD)
    srdf.write_text(example("rover_arm.srdf").read_text().replace("</robot>", f"{groups}</robot>"), encoding="utf-8")
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), str(srdf), "--no-browser") as served:
        person = Person(browser, served)
        person.tab("groups")
        person.sees(f"document.querySelectorAll('[data-group-row]').length === {6 + len(ODD)}")
        for name in ODD:
            # In the list of groups and in the panel at the left.
            for items in ("[data-group-row] .part-title", "#groups .chip"):
                shown = (
                    f"[...document.querySelectorAll('{items}')].find((one) => one.textContent === {json.dumps(name)})"
                )
                person.sees(f"Boolean({shown})")
                # A sign that turns the direction of writing round is marked.
                marks = browser.run(f"[...{shown}.querySelectorAll('.bidi')].map((one) => one.dataset.sign)")
                assert marks == ["U+202E"] * name.count("\u202e")
            browser.run(f"{shown}.click()")
            person.sees(f"viewer.groups.includes({json.dumps(name)}) && viewer.drawn.some(({{alpha}}) => alpha < 1)")
        # A change of the document lets them stay.
        rename(person, "[data-group-row=arm] [data-rename]", "limb")
        person.sees("'limb' in viewer.robots[0].groups && Object.hasOwn(viewer.robots[0].groups, '__proto__')")
        # Pasted and Enter without a pause: the list has had no time to open.
        for field, name in (("chain-0", "base_link"), ("chain-1", "palm_link")):
            browser.run(f"document.getElementById('{field}').focus()")
            browser.type(name)
            browser.press("Enter")
        person.type("group-name", "pasted")
        person.press("add-group")
        person.sees("document.querySelector('[data-group-row=pasted]')?.textContent.includes('base_link → palm_link')")
        person.sees("document.querySelector('.q-menu') === null")
        # A step that is not needed is ticked, and says so.
        person.press("undo")
        person.tab("start")
        step = "document.querySelector('[data-step=\"Passive joints\"]')"
        person.sees(f"{step}.dataset.done === 'true'")
        for passive in ("caster_swivel_joint", "caster_wheel_joint"):
            person.tab("robot")
            remove = quoted(f'[aria-label="remove passive joint {passive}"]')
            person.sees(f"{remove} !== null")
            browser.run(f"{remove}.click()")
        person.tab("start")
        person.sees(f"{step}.dataset.done === 'false' && {step}.innerText.includes('none yet')")
        urdf.write_text(urdf.read_text().replace("caster", "roller"))
        person.sees(f"{step}.dataset.done === 'true' && {step}.innerText.includes('not needed')")
        assert browser.complaints == []
