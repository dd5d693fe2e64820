# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A value of each kind of element reaches the page that a browser shows: URDF, SRDF, USDF and a YAML file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from lxml import etree
from PIL import Image
from support.browser import Browser
from support.every_element import CUP_TEXT, TEXTS
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics
from robot_semantics.model.loading import RobotOptions
from robot_semantics.usdf.table import NAMESPACE
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.page import page


class Fact(NamedTuple):
    """An element with two values, an expression of the page, and what it is for each of them."""

    path: str
    name: str
    second: str
    script: str
    expected: tuple[object, object]


SLIDER = "document.querySelector('[aria-label=\"{}\"]')"
NUMBER = "document.querySelector('[data-variable=\"{}\"]').value"
CELLS = "[...document.querySelectorAll('#{} td')].map((cell) => cell.textContent)"
ROWS = "[...document.querySelectorAll('#{} > div')].map((row) => row.textContent)"
FACT_OF_LINK = "document.querySelector('[data-link={}]').title"
HEIGHT = "viewer.poses(viewer.robots[0])[1][11] - viewer.poses(viewer.robots[0])[0][11]"

URDF_FACTS = (
    Fact("joint/safety_controller", "soft_upper_limit", "1.1", SLIDER.format("j") + ".max", ("1.2", "1.1")),
    Fact("joint/origin", "xyz", "0 0 0.75", HEIGHT, (0.5, 0.75)),
    # With j at 0.3: 0.3 · multiplier + 0.1.
    Fact("joint/mimic", "multiplier", "0.7", NUMBER.format("k"), ("0.25", "0.31")),
)
SRDF_FACTS = (
    Fact("virtual_joint", "name", "w", "viewer.robots[0].variables[0]", ("v/x", "w/x")),
    Fact("passive_joint", "name", "k", ROWS.format("passive-joints"), (["l", "m"], ["k", "m"])),
    Fact("group/joint", "name", "m", "viewer.robots[0].groups.arm.joints.includes('m')", (False, True)),
    Fact("group_state", "name", "up", "document.querySelector('[data-state]').dataset.state", ("arm/home", "arm/up")),
    Fact("end_effector", "name", "grip", CELLS.format("end-effectors") + "[0]", ("tool", "grip")),
    Fact("disable_collisions", "link1", "d", CELLS.format("disabled-collision-pairs"),
         (["c", "e", "User"], ["d", "e", "User"])),
    Fact("enable_collisions", "link1", "c", CELLS.format("enabled-collision-pairs") + ".slice(0, 2)",
         (["b", "d"], ["b", "c"])),
    Fact("disable_default_collisions", "link", "a", ROWS.format("links-with-collisions-off-by-default"),
         (["d"], ["a"])),
    Fact("link_sphere_approximation", "link", "b", FACT_OF_LINK.format("b") + ".includes('spheres: 1')", (False, True)),
    Fact("joint_property", "value", "7", FACT_OF_LINK.format("b") + ".match(/p = (\\d)/)[1]", ("1", "7")),
)  # fmt: skip
USDF_FACTS = (
    Fact("model_state/joint_state/positions", "", "0.5", NUMBER.format("j"), ("0.3", "0.5")),
    # In odom, which is at x = 1 in map, and then at 3.
    Fact("model_state/pose", "", "4 2 0 0 0 1.2870022175866867", "viewer.poses(viewer.robots[0])[0][3]", (2.0, 7.0)),
    Fact("frame/pose", "", "3 0 0 0 0 0", "viewer.frames().odom[3]", (1.0, 3.0)),
    Fact("model_state", "name", "s", "viewer.robots[0].name", ("r", "s")),
)
FACTS = {"urdf": URDF_FACTS, "srdf": SRDF_FACTS, "usdf": USDF_FACTS}
EVERY_SECTION = "document.querySelectorAll('details').forEach((part) => { part.open = true; }), 1"


def texts(kind: str, chosen: Iterable[Fact]) -> str:
    """Return a document with the second values of some facts."""
    # Without its loops every joint may be passive or not.
    root = etree.fromstring(re.sub(r"<constraint.*</constraint>", "", TEXTS[kind][1], flags=re.DOTALL).encode())
    for fact in chosen:
        element = root.find(fact.path, {"rs": NAMESPACE})
        assert element is not None, fact.path
        if fact.name:
            element.set(fact.name, fact.second)
        else:
            element.text = fact.second
    text = etree.tostring(root).decode()
    return text.replace("<parent>r</parent>", "<parent>s</parent>") if 'name="s"' in text else text


def write(folder: Path, *changed: str) -> None:
    """Write the documents, some kinds with all their second values."""
    (folder / "cup.urdf").write_text(CUP_TEXT)
    for name, colour in (("one.png", "red"), ("two.png", "blue")):
        Image.new("RGB", (2, 2), colour).save(folder / name)
    for kind, facts in FACTS.items():
        name = "w.usdf" if kind == "usdf" else f"r.{kind}"
        (folder / name).write_text(texts(kind, facts if kind in changed else ()))


@pytest.mark.parametrize("changed", ["", *FACTS])
def test_the_page_of_view_shows_each_element(browser: Browser, tmp_path: Path, changed: str) -> None:
    write(tmp_path, changed)
    scene = open_files([tmp_path / "w.usdf"], Opening(kinds=("visual", "collision")), Diagnostics())
    (tmp_path / "page.html").write_text(page(scene))
    browser.open((tmp_path / "page.html").as_uri())
    browser.run(EVERY_SECTION)
    # A long section is filled when it is opened.
    for part in ("#links .link", "#disabled-collision-pairs td", "#enabled-collision-pairs td"):
        browser.wait(f"document.querySelector('{part}') !== null")
    for kind, facts in FACTS.items():
        for fact in facts:
            # The follower moves with the joint, which has another position in the changed world.
            if changed == "usdf" and fact.path == "joint/mimic":
                continue
            value = browser.run(fact.script)
            expected = fact.expected[kind == changed]
            assert value == (pytest.approx(expected) if isinstance(expected, float) else expected), fact
    assert browser.complaints == []


@pytest.mark.parametrize(("link", "passive"), [("d", "l"), ("e", "m")])
def test_the_page_of_view_uses_a_yaml_file_of_loops(browser: Browser, tmp_path: Path, link: str, passive: str) -> None:
    write(tmp_path)
    loops = tmp_path / "robot.yaml"
    loops.write_text(f"closed_loop: [[c, {link}]]\ntype: ['6d']\nname_mot: [j]\n")
    scene = open_files(
        [tmp_path / "r.urdf", tmp_path / "r.srdf"], Opening(options=RobotOptions(loops=str(loops))), Diagnostics()
    )
    (tmp_path / "page.html").write_text(page(scene))
    browser.open((tmp_path / "page.html").as_uri())
    assert browser.run("viewer.robots[0].dependent") == [passive]
    assert browser.run("document.getElementById('loops-note') !== null")
    assert browser.run(SLIDER.format(f"{passive}/trans_x") + ".disabled")
    assert browser.complaints == []


STUDIO = {
    "robot": (
        *("w\nplanar: a in odom", "Passive joints (2)\nk\n", "Joint properties (1)\nj\np = 7\n"),
        *("Links with collisions off by default (1)\na\n", "Links as spheres (1)\nb\n1 spheres\n"),
    ),
    "groups": ("joint m×", "End effectors (1)\ngrip\nhand on c\n"),
    "states": ("Named states (1)\narm/up\n",),
    "collisions": ("2 pairs, 1 not checked",),
}
"""What the tabs of the studio say about the second values."""


@pytest.mark.timeout(200)
def test_the_studio_shows_each_element(browser: Browser, tmp_path: Path) -> None:
    write(tmp_path, "urdf", "srdf")
    files = (str(tmp_path / "r.urdf"), str(tmp_path / "r.srdf"))
    with Served("-m", "robot_semantics.cli.main", "studio", *files, "--no-browser") as served:
        person = Person(browser, served)
        for tab, words in STUDIO.items():
            person.tab(tab)
            for text in words:
                person.sees(f"document.querySelector('.studio').innerText.includes({json.dumps(text)})")
        for links in ("d e", "b c"):
            person.sees(f"document.querySelector('[data-pairs] [aria-label=\"{links}\"]') !== null")
        person.sees(f"{SLIDER.format('j')}.max === '1.1'")
        browser.run("viewer.setPosition(viewer.robots[0], 'j', 0.3)")
        person.sees(f"{NUMBER.format('k')} === '0.31'")
        assert browser.run(HEIGHT) == pytest.approx(0.75)
        assert browser.complaints == []
