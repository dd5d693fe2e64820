# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names from foreign files are text on every page: nothing of them runs, and all of them is seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

RUN = "window.__ran=localStorage.__ran=1"
"""Leaves a mark on the page and one that outlives a reload."""

ATTACKS = (
    f"\" :a='{RUN}' z=\"",
    f"' :a=\"{RUN}\" z='",
    f"x :a={RUN} y",
    f"</script><script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"{{{{{RUN}}}}}",
    f"${{{RUN}}}`;{RUN};`",
    f"');{RUN};('",
    "@SCRIPTS@ @DATA@ @THREE@",
    "\u202elive\u2066 bidi",
    ":a",
    "__proto__",
    "constructor",
)
"""Names that break out of an attribute, a script, an HTML text, a template, a string; and keys of every object."""

MODEL = "".join(ATTACKS[:10])
"""One name with all of it."""


def robot_files(folder: Path, name: str = MODEL) -> tuple[Path, Path]:
    """Write a robot in which everything that has a name has a hostile one."""
    q = quoteattr
    links = ["base", *(f"link{attack}" for attack in ATTACKS)]
    joints = [f"joint{attack}" for attack in ATTACKS]
    shape = '<geometry><box size="0.1 0.1 0.1"/></geometry>'
    parts = [f"<link name={q(link)}><visual>{shape}</visual><collision>{shape}</collision></link>" for link in links]
    for k, joint in enumerate(joints):
        parts.append(
            f'<joint name={q(joint)} type="revolute"><parent link={q(links[k])}/><child link={q(links[k + 1])}/>'
            '<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        )
    urdf = folder / "hostile.urdf"
    urdf.write_text(f"<robot name={q(name)}>{''.join(parts)}</robot>")
    parts = [
        f'<virtual_joint name={q("virtual" + MODEL)} type="fixed" parent_frame={q("frame" + MODEL)} child_link="base"/>'
    ]
    for k, attack in enumerate(ATTACKS):
        # Without a word before it: the attack is all of the name.
        parts.append(f"<group name={q(attack)}><joint name={q(joints[k])}/></group>")
        parts.append(
            f'<group_state group={q(attack)} name={q(attack)}><joint name={q(joints[k])} value="0.1"/></group_state>'
        )
        parts.append(f"<end_effector name={q('hand' + attack)} group={q(attack)} parent_link={q(links[k])}/>")
        parts.append(f"<passive_joint name={q(joints[k])}/>")
        parts.append(
            f"<joint_property joint_name={q(joints[k])} property_name={q('p' + attack)} value={q('v' + attack)}/>"
        )
        parts.append(f"<disable_default_collisions link={q(links[k + 1])}/>")
        parts.append(
            f'<link_sphere_approximation link={q(links[k + 1])}><sphere center="0 0 0" radius="1"/>'
            "</link_sphere_approximation>"
        )
        parts.append(f"<disable_collisions link1={q(links[k])} link2={q(links[k + 1])} reason={q('why' + attack)}/>")
        # The name in a problem of the check is shown with the problem.
        parts.append(f"<passive_joint name={q('unknown' + attack)}/>")
    srdf = folder / "hostile.srdf"
    srdf.write_text(f"<robot name={q(name)}>{''.join(parts)}</robot>")
    return urdf, srdf


def harmless(browser: Browser) -> None:
    """Nothing ran."""
    assert browser.run("[window.__ran, localStorage.__ran]") == [None, None]


def shows(browser: Browser, *texts: str) -> None:
    """Each text is on the page unchanged, also in fields, which are not part of a page's text."""
    words = (
        "[document.body.innerText, document.querySelector('.studio')?.textContent, document.title,"
        " ...[...document.querySelectorAll('input, textarea, option')]"
        ".map((item) => item.value), ...[...document.querySelectorAll('#panel *')].map((item) => item.textContent),"
        " ...[...document.querySelectorAll('[data-matrix] title')].map((item) => item.textContent)].join('\\n')"
    )
    for text in texts:
        browser.wait(f"{words}.replaceAll(/\\s+/g, ' ').includes({json.dumps(' '.join(text.split()))})")
    harmless(browser)


@pytest.fixture(autouse=True)
def _page_is_clean(browser: Browser) -> Iterator[None]:
    yield
    browser.run("location.protocol.startsWith('http') && localStorage.clear()")


def walk_viewer(browser: Browser) -> None:
    """Open all parts of the viewer: groups, states, names, information on a link, search results."""
    browser.run("document.querySelectorAll('#sections details').forEach((item) => { item.open = true; })")
    browser.run("viewer.setShow('names', true)")
    browser.run("viewer.setShow('frames', true)")
    for section in ("group", "state", "problem", "witness"):
        count = browser.run(f"document.querySelectorAll('[data-{section}]').length")
        for k in range(count):
            browser.run(f"document.querySelectorAll('[data-{section}]')[{k}]?.click()")
        browser.drawn()
    for k in range(browser.run("viewer.robots[0].links.length")):
        browser.run(f"viewer.pickLink({{robot: viewer.robots[0], link: {k}}})")
        browser.drawn()
        shows(browser, browser.run(f"viewer.robots[0].links[{k}].name"))
    browser.run("const find = document.getElementById('search'); find.value = 'link'; find.oninput({target: find})")
    browser.run("viewer.pickLink(null)")
    browser.drawn()
    harmless(browser)


def open_selects(browser: Browser) -> list[str]:
    """Open each list of names in the visible tab; return the entries."""
    seen: list[str] = []
    fields = "[...document.querySelectorAll('.studio .q-select')].filter((item) => item.offsetParent)"
    browser.wait(f"{fields}.length > 0")
    for k in range(browser.run(f"{fields}.length")):
        browser.run(f"{fields}[{k}].querySelector('input').focus()")
        browser.press("ArrowDown")
        browser.wait("document.querySelector('.q-menu .q-item') !== null")
        seen += browser.run("[...document.querySelectorAll('.q-menu .q-item')].map((item) => item.textContent)")
        harmless(browser)
        browser.press("Escape")
        browser.wait("document.querySelector('.q-menu') === null")
    return seen


@pytest.mark.timeout(400)
def test_nothing_of_a_foreign_srdf_runs_in_the_studio(browser: Browser, tmp_path: Path) -> None:
    urdf, srdf = robot_files(tmp_path)
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), str(srdf), "--no-browser") as served:
        person = Person(browser, served)
        harmless(browser)
        shows(browser, MODEL)
        walk_viewer(browser)
        person.tab("start")
        shows(browser, f"chain base → link{ATTACKS[-1]}")
        person.tab("robot")
        shows(browser, f"virtual{MODEL}", *(f"{kind}{a}" for a in ATTACKS for kind in ("joint", "p", "v", "link")))
        browser.run("viewer.pickLink({robot: viewer.robots[0], link: 1})")
        shows(browser, f"joint{ATTACKS[0]}")
        person.sees("document.getElementById('property-link').value.startsWith('link')")
        assert ATTACKS[0] in "".join(open_selects(browser))
        person.tab("groups")
        shows(browser, *ATTACKS, *(f"hand{attack}" for attack in ATTACKS))
        for kind in ("joints", "links", "sub-groups", "chain"):
            person.toggle(kind)
            person.sees(f"document.querySelector('[data-kinds] [aria-pressed=true]').innerText === '{kind}'")
            for link in (1, 2):
                browser.run(f"viewer.pickLink({{robot: viewer.robots[0], link: {link}}})")
                person.sees(f"document.getElementById('effector-link').value === viewer.robots[0].links[{link}].name")
            assert ATTACKS[0] in "".join(open_selects(browser))
        browser.run("document.querySelectorAll('[aria-label^=\"show \"]').forEach((item) => item.click())")
        person.tab("states")
        shows(browser, *(f"{attack}/{attack}" for attack in ATTACKS))
        browser.run("document.querySelectorAll('[data-take]').forEach((item) => item.click())")
        assert ATTACKS[0] in "".join(open_selects(browser))
        person.tab("collisions")
        shows(browser, f"why{ATTACKS[0]}")
        browser.run("document.querySelector('[data-pairs] tbody tr td:last-child')?.click()")
        person.toggle("matrix")
        shows(browser, *(f"why{attack}" for attack in ATTACKS))
        for k in range(3):
            cell = f"document.querySelectorAll('[data-matrix] rect')[{k}]"
            person.sees(f"Boolean({cell})")
            browser.run(f"{cell}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
            person.sees("document.querySelector('[data-clicked]').innerText.includes('why')")
            harmless(browser)
        person.toggle("table")
        person.tab("text")
        shows(browser, srdf.read_text())
        browser.run("document.querySelector('[data-problems] .q-item').click()")
        shows(browser, f"unknown{ATTACKS[0]}")
        # Titles of steps and saved texts contain names.
        person.tab("groups")
        browser.run("document.querySelector('[aria-label^=\"remove group\"]').click()")
        person.sees("!document.querySelector('[data-do=undo]').disabled")
        browser.run("document.querySelector('[data-do=undo]').dispatchEvent(new MouseEvent('mouseenter'))")
        shows(browser, f"undo: remove group {ATTACKS[0]}")
        person.press("save")
        person.sees("document.querySelector('.q-dialog')?.innerText.includes('Changes of the file') === true")
        shows(browser, f"<group name={quoteattr(ATTACKS[0])}>")
        browser.press("Escape")
        person.press("undo")
        browser.wait("document.querySelector('.q-dialog') === null")
        harmless(browser)
        assert browser.complaints == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hostile.srdf", "hostile.urdf"]


@pytest.mark.timeout(400)
def test_no_name_runs_in_the_evidence_of_collisions_or_the_question_to_overwrite(
    browser: Browser, tmp_path: Path
) -> None:
    pytest.importorskip("mujoco")
    urdf, _ = robot_files(tmp_path)
    out = tmp_path / f"{ATTACKS[4].replace('/', '')}.srdf"
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), "-o", str(out), "--no-browser") as served:
        person = Person(browser, served)
        shows(browser, out.name)
        person.tab("collisions")
        person.type("samples", "100")
        person.press("generate")
        rows = "document.querySelectorAll('[data-pairs] tbody tr.cursor-pointer')"
        browser.wait(f"{rows}.length > 3")
        for k in range(3):
            browser.run(f"{rows}[{k}].click()")
            person.sees("viewer.drawn.some(({colour}) => colour?.[0] === 0.83)")
            harmless(browser)
        titles = "[...document.querySelectorAll('[data-pairs] td[title]')].map((cell) => cell.title)"
        person.sees(f"{titles}.includes({json.dumps(f'link{ATTACKS[0]}')})")
        person.press("write-pairs")
        person.sees("!document.querySelector('[data-do=undo]').disabled")
        person.toggle("matrix")
        person.sees("document.querySelectorAll('[data-matrix] rect').length > 3")
        harmless(browser)
        out.write_text("<robot")
        person.press("save")
        person.press("really-save")
        shows(browser, f"{out}: another program has changed the file since it was read")
        person.press("overwrite")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        shows(browser, f"saved {out}")
        assert browser.complaints == []
    assert out.read_text().startswith("<?xml")


LIVE = """
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.viewer.live_page import LivePanel
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.scene_data import SliderState, scene_bytes
from robot_semantics.viewer.server import PageOptions, serve_viewer

diagnostics = Diagnostics()
scene = open_files([Path(file) for file in sys.argv[1:3]], Opening(), diagnostics)
names = sys.argv[3:]

class Puppet:
    def wait(self, seen, timeout):
        frames = {name: np.eye(4) for name in names}
        return None if seen == 1 else (1, replace(scene.moments[0], label="moment" + names[0], frames=frames))
    def ask(self, what, name):
        if what == "delete":
            raise RobotSemanticsError(f"no {name}")
        return [f"did {what} {name}"]
    def snapshots(self):
        return [(name, "about " + name) for name in names]
    def snapshot(self, name):
        return scene.moments[0]
    def can_jog(self):
        return True
    def jog(self, robot, positions):
        return names[0]
    def sliders(self):
        held = {joint.name: names[0] for joint in scene.actors[0].model.joints if joint.position_count}
        return {scene.actors[0].name: SliderState(names[0], {}, held)}

content = scene_bytes(scene, live=True, problems=diagnostics)
panel = lambda viewer: LivePanel(viewer, Puppet(), "title" + names[0])
serve_viewer("page" + names[0], lambda: content, beside=panel, options=PageOptions(open_browser=False))
"""


@pytest.mark.timeout(400)
def test_nothing_of_a_foreign_snapshot_runs_on_the_live_page(browser: Browser, tmp_path: Path) -> None:
    urdf, srdf = robot_files(tmp_path)
    live = Served("-c", LIVE, str(urdf), str(srdf), MODEL, *ATTACKS)
    try:
        browser.open(live.address)
        harmless(browser)
        browser.wait("document.getElementById('snapshots')?.innerText.includes('about')")
        shows(browser, f"title{MODEL}", f"page{MODEL}", f"moment{MODEL}", *ATTACKS, *(f"about {a}" for a in ATTACKS))
        for k, name in enumerate((MODEL, *ATTACKS)):
            for what, told in (("restore", "did restore "), ("delete", "not done: no "), ("compare", "")):
                browser.run(f"document.querySelectorAll('[data-{what}]')[{k}].click()")
                if what == "restore":
                    shows(browser, f"Restore {name}?")
                    browser.run("document.querySelector('[data-do=really-restore]').click()")
                shows(browser, told + name)
                # The message of the one before is no longer there.
                browser.wait(
                    f"document.getElementById('report').innerText.includes({json.dumps((told + name).strip())})"
                )
        walk_viewer(browser)
        assert browser.complaints == []
    finally:
        live.end()


def world_file(folder: Path) -> Path:
    """Write a world of hostile models and frames."""
    q = quoteattr
    robot_files(folder)
    models = "".join(
        f'<model_state name={q("model" + attack)} rs:description="hostile.urdf" rs:semantic="hostile.srdf"/>'
        f"<frame name={q('frame' + attack)}/>"
        for attack in ATTACKS[:6]
    )
    path = folder / "hostile.usdf"
    path.write_text(f'<world_state xmlns:rs="urn:robot-semantics:usdf:1" name={q(MODEL)}>{models}</world_state>')
    return path


@pytest.mark.timeout(400)
def test_nothing_of_a_foreign_world_runs_on_its_page(browser: Browser, tmp_path: Path) -> None:
    with Served("-m", "robot_semantics.cli.main", "view", str(world_file(tmp_path)), "--no-browser") as served:
        browser.open(served.address)
        harmless(browser)
        shows(browser, MODEL, f"model{ATTACKS[0]}")
        walk_viewer(browser)
        browser.run("document.getElementById('save-usdf').click()")
        assert "model" + ATTACKS[2] in browser.run("document.getElementById('saved').value")
        harmless(browser)
        assert browser.complaints == []


@pytest.mark.parametrize("name", [*ATTACKS[3:7], "@SCRIPTS@", "@DATA@", "@THREE@", "@STYLE@", "@POLICY@", "\\1 \\g<0>"])
def test_a_robot_s_name_is_the_title_of_its_page_and_nothing_else(browser: Browser, tmp_path: Path, name: str) -> None:
    from robot_semantics import Diagnostics
    from robot_semantics.viewer.opening import Opening, open_files
    from robot_semantics.viewer.page import page

    files = list(robot_files(tmp_path, name))
    out = tmp_path / "page.html"
    out.write_text(page(open_files(files, Opening(), Diagnostics())))
    browser.open(out.as_uri())
    assert browser.run("document.title") == name
    assert browser.run("document.querySelector('h1').textContent") == name
    assert browser.run("[window.__ran, document.querySelectorAll('script').length]") == [None, 3]
    assert browser.complaints == []
