# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The studio, used like a person by clicks and typing: every other command reads the edited file."""

from __future__ import annotations

import importlib.util
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics, ForwardKinematics
from robot_semantics.base.names import LinkPair
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot

ROOT = Path(__file__).resolve().parents[2]
STRETCH = "hello-robot-stretch-urdf-*/**/stretch_description_RE1V0_tool_stretch_gripper.urdf"


def chain(person: Person, name: str, base: str, tip: str) -> None:
    person.tab("groups")
    person.type("group-name", name)
    person.click_link(base)
    person.sees(f"document.getElementById('chain-0').value === '{base}'")
    person.click_link(tip)
    person.sees(f"document.getElementById('chain-1').value === '{tip}'")
    person.press("add-group")
    person.sees(f"document.querySelector('[data-group-row={name}]') !== null")


def accessible(browser: Browser) -> list[str]:
    """Return what axe-core complains about, nothing where it is not installed."""
    return browser.audit() if importlib.util.find_spec("axe_core_python") else []


@pytest.mark.corpus
@pytest.mark.timeout(400)
def test_a_whole_srdf_is_authored_for_a_real_robot(browser: Browser, tmp_path: Path) -> None:
    found = sorted((ROOT / "build" / "corpus").glob(STRETCH))
    if not found:
        pytest.skip("the corpus is not downloaded: make test")
    out = tmp_path / "stretch.srdf"
    with Served("-m", "robot_semantics.cli.main", "studio", str(found[0]), "-o", str(out), "--no-browser") as served:
        person = Person(browser, served)
        chain(person, "arm", "link_mast", "link_gripper")
        chain(person, "head", "link_head", "link_head_tilt")
        person.type("group-name", "gripper")
        person.toggle("joints")
        for link in ("link_gripper_finger_left", "link_gripper_finger_right"):
            person.click_link(link)
        person.sees("document.querySelectorAll('.q-chip').length === 2")
        person.press("add-group")
        person.sees("document.querySelector('[data-group-row=gripper]') !== null")
        person.type("effector-name", "hand")
        person.choose("effector-group", "gripper")
        person.choose("effector-link", "link_gripper")
        person.press("add-effector")
        person.sees("document.querySelector('[data-effector=hand]') !== null")
        person.tab("states")
        person.choose("state-of-group", "arm")
        browser.run("viewer.setPosition(viewer.robots[0], 'joint_lift', 0.75)")
        person.type("new-state", "up")
        person.sees("document.querySelector('[data-pose]').innerText.includes('0.7500')")
        person.press("record")
        person.sees("document.querySelector('[data-take=\"arm/up\"]') !== null")
        person.tab("robot")
        person.toggle("planar")
        person.press("add-virtual")
        # The robot has other variables now: the page reloads.
        person.sees("window.viewer?.robots[0].variables.includes('odom_joint/x')")
        person.tab("robot")
        person.click_link("link_left_wheel")
        person.sees("document.getElementById('property-joint')?.value === 'joint_left_wheel'")
        person.press("add-passive")
        person.sees("document.querySelector('.studio').innerText.includes('Passive joints (1)')")
        # Its meshes are not in the package: the page says so, and keeps saying it.
        person.tab("collisions")
        person.press("generate")
        person.sees("document.querySelectorAll('[data-failed]').length > 0")
        assert "link_mast" in browser.run("document.querySelector('.studio').innerText")
        person.save()
        assert browser.complaints == []
    problems = Diagnostics()
    robot = load_robot(found[0], out, strict=False, diagnostics=problems)
    semantics = robot.semantics
    assert set(semantics.groups) == {"arm", "head", "gripper"}
    assert semantics.group("arm").active_joints == (
        *("joint_lift", "joint_arm_l3", "joint_arm_l2", "joint_arm_l1", "joint_arm_l0", "joint_wrist_yaw"),
    )
    assert semantics.group("gripper").joints == ("joint_gripper_finger_left", "joint_gripper_finger_right")
    assert semantics.end_effectors["hand"].parent_link == "link_gripper"
    assert semantics.state("arm", "up").joints["joint_lift"] == (0.75,)
    assert semantics.passive_joints == ("joint_left_wheel",)
    assert robot.root_joint.name == "odom_joint"
    assert [str(problem) for problem in problems if str(out) in problem.place.source] == []


@pytest.mark.timeout(400)
def test_pairs_are_generated_disabled_and_undone_and_comments_stay(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    srdf = tmp_path / "rover.srdf"
    before = example("rover_arm.srdf").read_text().replace("</robot>", "  <!-- a person's words -->\n</robot>")
    srdf.write_text(before)
    command = ("-m", "robot_semantics.cli.main", "studio", str(example("rover_arm.urdf")), str(srdf), "--no-browser")
    with Served(*command) as served:
        person = Person(browser, served)
        person.tab("collisions")
        person.type("samples", "300")
        person.press("generate")
        browser.wait("document.querySelector('[data-do=write-pairs]') !== null")
        person.type("find-pair", "palm_link")
        row = (
            "[...document.querySelectorAll('[data-pairs] tbody tr')]"
            ".find((row) => /base_link/.test(row.textContent) && /palm_link/.test(row.textContent))"
        )
        person.sees(f"Boolean({row})")
        browser.run(f"{row}.click()")
        person.sees("viewer.drawn.some(({colour}) => colour?.[0] === 0.83)")
        marked = (
            "viewer.drawn.filter(({colour}) => colour?.[0] === 0.83).map((item) => item.robot.links[item.link].name)"
        )
        assert set(browser.run(marked)) == {"palm_link", "base_link"}
        browser.run(f"{row}.querySelector('[type=checkbox]').click()")
        person.sees(f"{row}.querySelector(':checked') !== null")
        person.type("pair-reason", "Never seen")
        person.press("disable")
        person.sees("document.querySelector('[data-pairs]').textContent.includes('Never seen')")
        person.press("undo")
        person.sees("!document.querySelector('[data-pairs]').textContent.includes('Never seen')")
        assert srdf.read_text() == before
        person.press("redo")
        person.sees("document.querySelector('[data-pairs]').textContent.includes('Never seen')")
        person.press("save")
        person.sees("document.querySelector('.q-dialog')?.innerText.includes('Never seen') === true")
        person.press("really-save")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert browser.complaints == []
    after = srdf.read_text()
    line = next(line for line in after.splitlines() if "Never seen" in line)
    assert after.replace(line + "\n", "") == before


@pytest.mark.timeout(400)
def test_the_matrix_of_pairs_is_looked_at_and_changed_by_clicks(browser: Browser, tmp_path: Path) -> None:
    srdf = tmp_path / "rover.srdf"
    srdf.write_bytes(example("rover_arm.srdf").read_bytes())
    command = ("-m", "robot_semantics.cli.main", "studio", str(example("rover_arm.urdf")), str(srdf), "--no-browser")
    with Served(*command) as served:
        person = Person(browser, served)
        person.tab("collisions")
        person.toggle("matrix")
        cell = (
            "[...document.querySelectorAll('[data-matrix] rect')].find((rect) =>"
            " rect.dataset.pair.includes('base_link') && rect.dataset.pair.includes('caster_wheel'))"
        )
        person.sees(f"Boolean({cell})")
        stated = len(load_robot(example("rover_arm.urdf"), srdf).semantics.disabled_collisions)
        assert browser.run("document.querySelectorAll('[data-matrix] rect').length") == stated
        browser.run(f"{cell}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        person.sees("document.querySelector('[data-clicked]').innerText === 'base_link – caster_wheel: Adjacent'")
        marked = (
            "viewer.drawn.filter(({colour}) => colour?.[0] === 0.83).map(({robot, link}) => robot.links[link].name)"
        )
        person.sees(f"{marked}.length > 0")
        assert set(browser.run(marked)) == {"base_link", "caster_wheel"}
        person.type("pair-reason", "Looked at")
        person.press("disable")
        person.sees(f"{cell}.textContent.endsWith('Looked at')")
        person.press("enable")
        person.sees(f"{cell} === undefined")
        person.press("undo")
        person.sees(f"{cell}.textContent.endsWith('Looked at')")
        assert browser.complaints == []


RUNNING = """
import sys
from pathlib import Path
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.scene_data import scene_bytes
from robot_semantics.viewer.server import PageOptions, serve_viewer
from robot_semantics.viewer.scene import Actor, alone
from robot_semantics.viewer.studio import Studio

bare = load_robot(example("rover_arm.urdf"))
session = EditSession(bare, SrdfText.from_file(example("rover_arm.srdf")), Path(sys.argv[1]))
answers = [{"elbow_joint": 0.625, "left_finger_joint": 0.02, "stranger": 1.0}]

def running():
    if not answers:
        raise RobotSemanticsError("nothing runs")
    return answers.pop()

content = scene_bytes(alone(Actor(bare.name, session.robot, ())))
studio = lambda viewer: Studio(viewer, session, tuple, running, lambda: bare)
serve_viewer("s", lambda: content, beside=studio, options=PageOptions(open_browser=False))
"""


@pytest.mark.timeout(400)
def test_a_state_is_recorded_as_the_running_robot_stands(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "out.srdf"
    with Served("-c", RUNNING, str(out)) as served:
        person = Person(browser, served)
        person.tab("states")
        person.press("take-running")
        person.sees("viewer.q(viewer.robots[0]).includes(0.625)")
        person.choose("state-of-group", "arm")
        person.type("new-state", "as it ran")
        person.press("record")
        person.sees("document.querySelector('[data-take=\"arm/as it ran\"]') !== null")
        person.press("take-running")
        person.sees("document.body.innerText.includes('nothing runs')")
        person.save()
        assert browser.complaints == []
    state = load_robot(example("rover_arm.urdf"), out).semantics.state("arm", "as it ran")
    assert state.joints["elbow_joint"] == (0.625,)


@pytest.mark.timeout(400)
def test_what_other_programs_write_is_taken_up_and_no_edit_is_lost(browser: Browser, tmp_path: Path) -> None:
    urdf, srdf = (tmp_path / f"rover_arm.{kind}" for kind in ("urdf", "srdf"))
    for path in (urdf, srdf):
        path.write_text(example(path.name).read_text())
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), str(srdf), "--no-browser") as served:
        person = Person(browser, served)
        group = '<group name="late"><link name="palm_link"/></group>'
        srdf.write_text(srdf.read_text().replace("</robot>", f"{group}</robot>"))
        person.sees("document.querySelector('[data-group-row=late]') !== null")
        chain(person, "mine", "base_link", "palm_link")
        # The description changes: the page shows it, and the edit stays as a step that can be undone.
        joint = '<joint name="horn_joint" type="fixed"><parent link="palm_link"/><child link="horn"/></joint>'
        urdf.write_text(urdf.read_text().replace("</robot>", f'<link name="horn"/>{joint}</robot>'))
        person.sees("viewer.robots[0].linkIndex.has('horn') && 'mine' in viewer.robots[0].groups")
        urdf.write_text("<robot")
        person.sees("document.body.innerText.includes('rover_arm.urdf:1')")
        # The file has also changed: the user is asked.
        theirs = srdf.read_text().replace('name="late"', 'name="later"')
        srdf.write_text(theirs)
        person.sees("document.querySelector('[data-do=take-the-file]') !== null")
        assert accessible(browser) == []
        person.press("take-the-file")
        person.sees("document.querySelector('[data-group-row=later]') !== null")
        assert not browser.run("'mine' in viewer.robots[0].groups")
        person.press("undo")
        person.sees("document.querySelector('[data-group-row=mine]') !== null")
        assert srdf.read_text() == theirs
        # Not well-formed now: it cannot be taken, and is not overwritten without a question.
        srdf.write_text("<robot")
        person.press("save")
        person.press("really-save")
        person.sees("document.body.innerText.includes('another program has changed the file since it was read')")
        assert srdf.read_text() == "<robot"
        assert accessible(browser) == []
        person.press("overwrite")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert 'name="mine"' in srdf.read_text()
        # A folder in its place is said.
        srdf.unlink()
        srdf.mkdir()
        person.sees("document.body.innerText.includes('rover_arm.srdf: is a folder now')")
        person.press("save")
        person.press("really-save")
        person.sees("document.body.innerText.includes('is a folder; choose a file')")
        assert browser.complaints == []


@pytest.mark.timeout(400)
def test_a_dragged_hand_goes_where_it_is_dragged(browser: Browser, tmp_path: Path) -> None:
    files = [str(example(f"rover_arm.{kind}")) for kind in ("urdf", "srdf")]
    command = ("-m", "robot_semantics.cli.main", "studio", *files, "-o", str(tmp_path / "o.srdf"), "--no-browser")
    with Served(*command) as served:
        person = Person(browser, served)
        person.tab("states")
        person.choose("state-of-group", "arm")
        browser.run("document.querySelector('[data-take=\"arm/reach\"]').click()")
        person.sees(
            "Math.abs(viewer.q(viewer.robots[0])[viewer.robots[0].variableIndex.get('elbow_joint')] - 0.8) < 1e-9"
        )
        browser.run("document.querySelector('[data-drag]').click()")
        person.sees("Boolean(viewer.gizmo)")
        browser.drawn()
        # The arrow that points up: its head, twenty-five pixels lower.
        x, y, up = browser.run(
            "(() => { const T = viewer.gizmo.T, box = viewer.scene.canvas.getBoundingClientRect();"
            " const at = (k, d) => [T[3] + d * T[k], T[7] + d * T[4 + k], T[11] + d * T[8 + k]];"
            " const k = [0, 1, 2].sort((a, b) => Math.abs(T[8 + b]) - Math.abs(T[8 + a]))[0];"
            " const p = viewer.scene.project(at(k, 0.125 * viewer.size));"
            " return [box.left + p[0], box.top + p[1], k]; })()"
        )
        before = np.array(browser.run("viewer.gizmo.T")).reshape(4, 4)
        browser.drag(x, y, x, y + 25)
        browser.run("new Promise((done) => setTimeout(done, 1500))")
        browser.drawn()
        after = np.array(browser.run("viewer.gizmo.T")).reshape(4, 4)
        moved = after[:3, 3] - before[:3, 3]
        assert np.linalg.norm(moved) > 0.005
        np.testing.assert_allclose(np.cross(moved, before[:3, up]), 0.0, atol=1e-3)
        # Forward kinematics of the positions that the page has agrees with the gizmo.
        robot = load_robot(*files, strict=False)
        kinematics = ForwardKinematics(robot)
        q = np.array(browser.run("viewer.q(viewer.robots[0])"))
        tip = robot.link_index[robot.semantics.group("arm").tip_link]
        T = kinematics.T_parent_root(q) @ kinematics.link_poses(q)[tip]
        np.testing.assert_allclose(T, after, atol=1e-3)
        assert browser.complaints == []


def studio(folder: Path, *more: str) -> Served:
    """The studio of the example robot, with a copy of its SRDF."""
    srdf = folder / "rover.srdf"
    srdf.write_bytes(example("rover_arm.srdf").read_bytes())
    command = ("-m", "robot_semantics.cli.main", "studio", str(example("rover_arm.urdf")), str(srdf), *more)
    return Served(*command, "--no-browser")


@pytest.mark.timeout(400)
def test_a_person_may_be_faster_than_the_server(browser: Browser, tmp_path: Path) -> None:
    with studio(tmp_path) as served:
        person = Person(browser, served)
        person.tab("groups")
        person.sees("document.getElementById('group-name') !== null")
        # Typed, clicked and added before the server has answered anything.
        browser.run(
            "(() => { const name = document.getElementById('group-name'), robot = viewer.robots[0];"
            " name.value = 'fast'; name.dispatchEvent(new Event('input', {bubbles: true}));"
            " for (const link of ['base_link', 'palm_link']) viewer.pickLink({robot, link: robot.linkIndex.get(link)});"
            " })()"
        )
        browser.run("new Promise((done) => Vue.nextTick(done))")
        # The next name is typed as soon as the row appears, before the rest of the answer to *add*.
        browser.run(
            "(() => { new MutationObserver((found, one) => {"
            " if (!document.querySelector('[data-group-row=fast]')) return;"
            " one.disconnect(); const name = document.getElementById('group-name');"
            " name.value = 'next'; name.dispatchEvent(new Event('input', {bubbles: true}));"
            " }).observe(document.body, {childList: true, subtree: true});"
            " document.querySelector('[data-do=add-group]').click(); })()"
        )
        person.sees("document.querySelector('[data-group-row=fast]') !== null")
        assert "base_link → palm_link" in browser.run("document.querySelector('[data-group-row=fast]').textContent")
        for link in ("base_link", "wrist_link"):
            person.click_link(link)
        person.sees("document.getElementById('chain-1').value === 'wrist_link'")
        assert browser.run("document.getElementById('group-name').value") == "next"
        person.press("add-group")
        person.sees("document.querySelector('[data-group-row=next]') !== null")
        person.sees("document.getElementById('group-name').value === ''")
        assert browser.complaints == []


@pytest.mark.timeout(400)
def test_two_pages_edit_one_file_and_neither_loses_what_is_typed(browser: Browser, tmp_path: Path) -> None:
    with studio(tmp_path) as served, Browser(tmp_path / "second") as other:
        first, second = Person(browser, served), Person(other, served)
        second.tab("groups")
        second.type("group-name", "half a na")
        chain(first, "mine", "base_link", "palm_link")
        second.sees("document.querySelector('[data-group-row=mine]') !== null && 'mine' in viewer.robots[0].groups")
        assert other.run("document.getElementById('group-name').value") == "half a na"
        second.press("undo")
        first.sees("document.querySelector('[data-group-row=mine]') === null && !('mine' in viewer.robots[0].groups)")
        first.press("redo")
        second.sees("document.querySelector('[data-group-row=mine]') !== null")
        # A text that is typed on one page stays when the other page makes a step; a person chooses one of them.
        area, typed = "document.getElementById('whole-text')", '<group name="typed"><link name="palm_link"/></group>'
        second.tab("text")
        second.sees(f"{area}.value.includes('name=\"mine\"')")
        whole = other.run(f"{area}.value").replace("</robot>", f"{typed}</robot>")
        other.run(f"{area}.focus(); {area}.select()")
        other.type(whole)
        chain(first, "third", "base_link", "palm_link")
        second.sees("document.querySelector('[data-do=use-typed]').checkVisibility()")
        assert other.run(f"{area}.value") == whole
        assert "third" in other.run("document.querySelector('[data-typed-conflict]').innerText")
        second.press("use-typed")
        second.sees("'typed' in viewer.robots[0].groups && !('third' in viewer.robots[0].groups)")
        second.press("undo")
        first.sees("'third' in viewer.robots[0].groups && !('typed' in viewer.robots[0].groups)")
        second.save()
        first.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert browser.complaints == other.complaints == []
    assert '<group name="mine">' in (tmp_path / "rover.srdf").read_text()


@pytest.mark.timeout(400)
def test_the_page_comes_back_when_its_killed_server_is_started_again_with_its_token(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOT_SEMANTICS_TOKEN", "the token of both")
    with studio(tmp_path) as served:
        person, port = Person(browser, served), str(served.port)
        chain(person, "mine", "base_link", "palm_link")
        before = (tmp_path / "rover.srdf").read_bytes()
        served.process.kill()
        served.process.wait(30)
        person.sees("document.getElementById('popup').checkVisibility()")
    assert (tmp_path / "rover.srdf").read_bytes() == before
    with studio(tmp_path, "--port", port):
        # The saved part is there again; the unsaved step is offered.
        browser.wait("document.querySelector('[data-do=save]') !== null && Boolean(window.viewer?.robots)")
        person.sees("!document.querySelector('[inert]') && !('mine' in viewer.robots[0].groups)")
        person.press("drop-draft")
        person.sees("document.querySelector('.q-dialog__inner') === null")
        chain(person, "again", "base_link", "palm_link")
        person.save()
    assert '<group name="again">' in (tmp_path / "rover.srdf").read_text()


@pytest.mark.timeout(400)
def test_names_are_chosen_by_the_keyboard_and_wrong_ones_turn_red(browser: Browser, tmp_path: Path) -> None:
    def value(field: str) -> str:
        return f"document.getElementById('{field}').value"

    def red(field: str) -> str:
        return f"document.getElementById('{field}').closest('.q-field').classList.contains('q-field--error')"

    with studio(tmp_path) as served:
        person = Person(browser, served)
        person.tab("groups")
        person.type("group-name", "typed")
        browser.press("Tab")
        # Enter takes the first match, and Tab does the same; a completely typed name needs neither.
        browser.run("document.getElementById('chain-0').focus()")
        browser.type("base_li")
        person.sees("document.querySelector('.q-menu .q-manual-focusable--focused')?.innerText === 'base_link'")
        browser.press("Enter")
        person.sees(f"{value('chain-0')} === 'base_link'")
        person.sees("document.querySelector('.q-menu') === null")
        browser.press("Tab")
        person.sees("document.activeElement.id === 'chain-1'")
        browser.type("nothing")
        person.sees(red("chain-1"))
        person.sees("document.body.innerText.includes('no such link')")
        browser.run("document.getElementById('chain-1').select()")
        browser.type("palm_link")
        person.sees(f"!{red('chain-1')}")
        # No list lies over the button.
        assert browser.run("document.querySelector('.q-menu')") is None
        # A click takes a completely typed name, and is a click.
        browser.click(
            *browser.run(
                "(() => { const box = document.querySelector('[data-do=add-group]').getBoundingClientRect();"
                " return [box.left + 9, box.top + 9]; })()"
            )
        )
        person.sees("document.querySelector('[data-group-row=typed]') !== null")
        # Arrows choose; several names are chosen one after the other.
        person.toggle("links")
        person.sees("document.getElementById('members')?.offsetParent !== null")
        for words in ("palm", "base_lin"):
            browser.run("document.getElementById('members').focus()")
            browser.type(words)
            person.sees("document.querySelector('.q-menu .q-manual-focusable--focused') !== null")
            browser.press("Enter")
            person.sees(f"[...document.querySelectorAll('.q-chip')].some((chip) => chip.innerText.includes('{words}'))")
            person.sees(f"{value('members')} === ''")
        browser.press("Escape")
        assert browser.complaints == []


@pytest.mark.timeout(400)
def test_the_panel_is_widened_by_dragging_and_stays_so(browser: Browser, tmp_path: Path) -> None:
    width = "document.querySelector('.studio').getBoundingClientRect().width"
    rover = example("rover_arm.urdf").read_text()
    long = tmp_path / "long.urdf"
    names = {"upper_arm_link": f"upper_{'very_' * 4}long_link", "forearm_link": f"fore_{'very_' * 4}long_link"}
    srdf = example("rover_arm.srdf").read_text()
    for name, other in names.items():
        rover, srdf = rover.replace(f'"{name}"', f'"{other}"'), srdf.replace(f'"{name}"', f'"{other}"')
    long.write_text(rover)
    long.with_suffix(".srdf").write_text(srdf)
    # The tab with the pairs takes as much as their names need.
    with Served(
        "-m", "robot_semantics.cli.main", "studio", str(long), str(long.with_suffix(".srdf")), "--no-browser"
    ) as served:
        person = Person(browser, served)
        browser.resize(1900, 850)
        before = browser.run(width)
        person.tab("collisions")
        for name in names.values():
            cell = f"[...document.querySelectorAll('[data-pairs] td')].find((cell) => cell.title === '{name}')"
            person.sees(f"{cell}.textContent === '{name}' && {cell}.scrollWidth <= {cell}.clientWidth")
        assert browser.run(width) > before + 100
        person.tab("groups")
        browser.wait(f"Math.abs({width} - {before}) < 2")
        assert not browser.run("document.cookie.includes('robot_semantics_panel=')")
    with studio(tmp_path) as served:
        Person(browser, served)
        before = browser.run(width)
        x, y = browser.run(
            "(() => { const box = document.querySelector('.q-splitter__separator').getBoundingClientRect();"
            " return [box.left + box.width / 2, 300]; })()"
        )
        browser.drag(x, y, x - 150, y)
        browser.wait(f"Math.abs({width} - {before} - 150) < 4")
        browser.wait("document.cookie.includes('robot_semantics_panel=')")
    # Another start has another port.
    with studio(tmp_path) as served:
        Person(browser, served)
        assert abs(browser.run(width) - before - 150) < 4
        browser.run("document.cookie = 'robot_semantics_panel=; max-age=0; path=/'")
        assert browser.complaints == []


@pytest.mark.timeout(400)
def test_long_names_of_pairs_are_cut_in_the_middle_and_whole_on_hover(browser: Browser, tmp_path: Path) -> None:
    with studio(tmp_path) as served:
        person = Person(browser, served)
        browser.resize(900, 850)
        person.tab("collisions")
        cell = "[...document.querySelectorAll('[data-pairs] td')].find((cell) => cell.title === 'upper_arm_link')"
        person.sees(f"{cell}.textContent === 'upper_arm_link'")
        browser.run("document.querySelector('.page > .q-splitter__after').style.width = '260px'")
        person.sees(f"/^u.*….*k$/.test({cell}.textContent) && {cell}.scrollWidth <= {cell}.clientWidth")
        rows = "[...document.querySelectorAll('.pairs tbody tr')].filter((row) => row.offsetHeight > 0)"
        assert browser.run(f"Math.max(...{rows}.map((row) => row.offsetHeight))") <= 32
        names = "[...document.querySelectorAll('.pairs tbody tr td:nth-child(2)')].map((cell) => cell.title)"
        head = "[...document.querySelectorAll('.pairs th.sortable')][0]"
        browser.run(f"{head}.click()")
        person.sees(f"{head}.classList.contains('sorted')")
        person.sees(f"JSON.stringify({names}) === JSON.stringify({names}.slice().sort())")
        # The server has answered the first click when it opens a dialog.
        person.press("keys")
        person.sees("document.activeElement.innerText === 'close'")
        browser.press("Enter")
        person.sees("document.querySelector('.q-dialog__inner') === null")
        browser.run(f"{head}.click()")
        person.sees(f"JSON.stringify({names}) === JSON.stringify({names}.slice().sort().reverse())")
        # Only rows in sight exist, the last pair is at the end, and the box above chooses them all.
        browser.run(f"{head}.click()")
        browser.resize(900, 600)
        srdf = tmp_path / "rover.srdf"
        robot = load_robot(example("rover_arm.urdf"), srdf)
        pairs = {LinkPair.of(*pair) for pair in itertools.combinations(robot.link_names, 2)}
        more = "".join(
            f'<disable_collisions link1="{one}" link2="{two}" reason="User"/>'
            for one, two in pairs - robot.semantics.disabled_collisions.keys()
        )
        srdf.write_text(srdf.read_text().replace("</robot>", f"{more}</robot>"))
        person.sees(f"document.querySelector('[data-panel=collisions]').innerText.includes('{len(pairs)} pairs')")
        box = "document.querySelector('.pairs .q-table__middle')"
        person.sees(f"{names}.length < {len(pairs)} - 10")
        browser.run(f"{box}.scrollTop = 1e6")
        last = "[...document.querySelectorAll('.pairs tbody tr.cursor-pointer')].at(-1)"
        person.sees(f"Math.abs({last}.getBoundingClientRect().bottom - {box}.getBoundingClientRect().bottom) < 2")
        browser.run("document.querySelector('[aria-label=\"all pairs\"]').click()")
        person.sees(f"{last}.querySelector(':checked') !== null")
        browser.run(f"{box}.scrollTop = 0")
        boxes = "[...document.querySelectorAll('.pairs tbody [type=checkbox]')]"
        person.sees(f"{boxes}.length > 3 && {boxes}.every((one) => one.checked)")
        assert browser.complaints == []


@pytest.mark.timeout(400)
def test_shortcuts_save_undo_redo_find_and_lead_to_messages(browser: Browser, tmp_path: Path) -> None:
    with studio(tmp_path) as served:
        person = Person(browser, served)
        browser.press("?")
        person.sees("document.querySelector('[data-help]').innerText.includes('Ctrl+Shift+Z')")
        # A dialog is answered first.
        person.sees("document.activeElement.innerText === 'close'")
        browser.press("s", ctrl=True)
        browser.press("Enter")
        browser.wait("document.querySelector('.q-dialog__inner') === null")
        # A state that loses its group: one message for each place that names it.
        person.tab("groups")
        browser.run("document.querySelector('[aria-label=\"remove group gripper\"]').click()")
        person.sees("document.querySelector('[data-group-row=gripper]') === null")
        browser.press("z", ctrl=True)
        person.sees("document.querySelector('[data-group-row=gripper]') !== null")
        browser.press("Z", ctrl=True, shift=True)
        person.sees("document.querySelector('[data-group-row=gripper]') === null")
        browser.press("F8")
        person.sees("document.querySelector('.problem-line[data-chosen=true]').innerText.includes('gripper')")
        first = browser.run("document.querySelector('.problem-line[data-chosen=true]').innerText")
        browser.press("F8", shift=True)
        chosen = "document.querySelector('.problem-line[data-chosen=true]').innerText"
        person.sees(f"{chosen} !== {json.dumps(first)}")
        # Each leads to the tab of its topic.
        for _ in range(10):
            last = browser.run(chosen)
            if "group_state" in last or "state" in last:
                person.sees("document.querySelector('[data-panel=states]') !== null")
                break
            browser.press("F8")
            person.sees(f"{chosen} !== {json.dumps(last)}")
        browser.press("5", alt=True)
        person.sees("document.activeElement.id === 'samples'")
        browser.press("f", ctrl=True)
        person.sees("document.activeElement.id === 'find-pair'")
        # In a field the keys of texts are the field's.
        browser.type("a?b")
        browser.press("?")
        assert browser.run("document.querySelector('.q-dialog__inner') === null")
        browser.press("s", ctrl=True)
        person.sees("document.activeElement.dataset.do === 'really-save'")
        browser.press("Enter")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert '<group name="gripper">' not in (tmp_path / "rover.srdf").read_text()
        assert browser.complaints == []


@pytest.mark.timeout(400)
def test_a_new_srdf_is_made_of_accepted_suggestions(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "new.srdf"
    urdf = str(example("rover_arm.urdf"))
    with Served("-m", "robot_semantics.cli.main", "studio", urdf, "-o", str(out), "--no-browser") as served:
        person = Person(browser, served)

        def state(step: str) -> str:
            return f"document.querySelector('[data-step=\"{step}\"]').dataset.done"

        for step in ("Virtual joint", "Groups", "End effectors", "Poses", "Passive joints", "Collisions"):
            person.sees(f"{state(step)} === 'false'")
        # Enter leads from one suggestion to the next.
        focused = "document.activeElement.dataset.accept"
        person.sees(f"{focused}?.startsWith('planar virtual joint')")
        browser.press("Enter")
        # The robot has other variables: the page comes again, with the first tab.
        person.sees("window.viewer?.robots[0].variables.includes('odom_joint/x') && !document.querySelector('[inert]')")
        person.sees(f"{focused}?.startsWith('group arm')")
        person.tab("groups")
        browser.press("1", alt=True)
        for suggestion in ("group arm", "group hand", "end effector hand"):
            person.sees(f"{focused}?.startsWith('{suggestion}')")
            browser.press("Enter")
        person.sees(f"{focused}?.startsWith('pose home of arm')")
        person.accept("pose home of arm")
        person.accept("passive joints")
        for step in ("Virtual joint", "Groups", "End effectors", "Poses", "Passive joints", "Check"):
            person.sees(f"{state(step)} === 'true'")
        # No suggestion is left: the next needed step leads to its tab.
        person.accept("pose home of hand")
        browser.press("1", alt=True)
        person.sees("document.activeElement.dataset.open === 'Collisions'")
        browser.press("Enter")
        person.sees("document.activeElement.id === 'samples'")
        person.save()
        assert browser.complaints == []
    robot = load_robot(example("rover_arm.urdf"), out)
    shipped = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf")).semantics
    assert robot.root_joint.type.value == "planar"
    assert set(robot.semantics.passive_joints) == set(shipped.passive_joints)
    assert set(robot.semantics.group("hand").active_joints) == set(shipped.group("gripper").active_joints)
    assert robot.semantics.end_effectors["hand"].parent_group == "arm"


@pytest.mark.timeout(400)
def test_every_tab_and_dialog_is_accessible_in_light_and_dark(browser: Browser, tmp_path: Path) -> None:
    if importlib.util.find_spec("axe_core_python") is None:
        pytest.skip("axe-core is not installed: pip install axe-core-python")
    with studio(tmp_path) as served:
        person = Person(browser, served)
        for dark in (False, True):
            browser.run(
                f"document.getElementById('dark').checked !== {json.dumps(dark)} && viewer.find('dark').click()"
            )
            person.sees(f"document.body.classList.contains('body--dark') === {json.dumps(dark)}")
            for name in ("start", "robot", "groups", "states", "collisions", "text"):
                person.tab(name)
                browser.drawn()
                # The viewer beside the tabs stays the same.
                assert browser.audit("html" if name == "start" else ".beside") == [], name
            person.press("keys")
            person.sees("document.activeElement.innerText === 'close'")
            assert browser.audit() == []
            browser.press("Enter")
            person.sees("document.querySelector('.q-dialog__inner') === null")
            person.press("save")
            person.sees("document.activeElement.dataset.do === 'really-save'")
            assert browser.audit() == []
            browser.press("Escape")
            person.sees("document.querySelector('.q-dialog__inner') === null")
        # From a small screen, also at a zoom of 200 %, to a large one: nothing is cut at the right.
        beyond = (
            "[...document.querySelectorAll('.studio *')].filter((one) => one.checkVisibility()"
            " && !one.closest('.q-tabs, [data-pairs]') && one.getBoundingClientRect().right > innerWidth + 1).length"
        )
        for width, height, zoom in ((1280, 720, 1), (1280, 720, 2), (3840, 2160, 1)):
            browser.resize(width // zoom, height // zoom)
            browser.wait(f"innerWidth === {width // zoom}")
            for name in ("start", "robot", "groups", "states", "collisions", "text"):
                person.tab(name)
                person.sees(f"document.documentElement.scrollWidth <= innerWidth && {beyond} === 0")
            widths = "['#whole-text', '[data-panel=text]'].map((one) => document.querySelector(one).offsetWidth)"
            field, panel = browser.run(widths)
            assert field > panel - 40
            assert browser.audit(".beside") == [], (width, zoom)
        assert browser.complaints == []
