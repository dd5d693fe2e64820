# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An object under the pointer or in an edit is highlighted in 3D and in the tree of links."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics.examples import example

SPHERES = "viewer.scene.lines.children.filter((item) => item.geometry.type === 'SphereGeometry')"
DISTANCES = "viewer.uncovered.corners.flatMap((x, k, all) => k % 3 ? [] : [Math.hypot(x, all[k + 1], all[k + 2])])"
MARKED = "viewer.drawn.filter(({colour}) => colour?.[0] === 0.9).map(({robot, link}) => robot.links[link].name)"


def studio(folder: Path) -> Served:
    """Serve the studio of the example robot with a joint property and a link that is a sphere."""
    srdf = folder / "rover.srdf"
    more = (
        '<joint_property joint_name="elbow_joint" property_name="gain" value="3"/>'
        '<link_sphere_approximation link="palm_link"><sphere center="0 0 0.1" radius="0.25"/>'
        "</link_sphere_approximation>"
    )
    srdf.write_text(example("rover_arm.srdf").read_text().replace("</robot>", f"{more}</robot>"))
    urdf = str(example("rover_arm.urdf"))
    return Served("-m", "robot_semantics.cli.main", "studio", urdf, str(srdf), "--no-browser")


@pytest.mark.timeout(400)
def test_spheres_and_joint_properties_are_seen_while_they_are_edited(browser: Browser, tmp_path: Path) -> None:
    with studio(tmp_path) as served:
        person = Person(browser, served)
        person.tab("robot")
        # Those of the file, around the link that they stand for.
        person.sees(f"{SPHERES}.length === 1")
        place = (
            f"(() => {{ const at = {SPHERES}[0].matrix.elements, robot = viewer.robots[0],"
            " T = viewer.poses(robot)[robot.linkIndex.get('palm_link')];"
            " return [0, 1, 2].map((k) => at[12 + k] - T[4 * k + 3] - 0.1 * T[4 * k + 2]); })()"
        )
        assert max(map(abs, browser.run(place))) < 1e-9
        assert browser.run(f"{SPHERES}[0].geometry.parameters.radius") == 0.25
        # Those that a person types, before they are added.
        person.choose("property-link", "forearm_link")
        person.type("spheres-of-link", "0 0 0 0.1; 0.1 0 0 0.05")
        person.sees(f"{SPHERES}.length === 3")
        person.type("spheres-of-link", "0 0 0")
        person.sees(f"{SPHERES}.length === 1")
        # A part of the link is outside of them: it is red, on the surface. One large sphere holds all of it.
        red = "viewer.uncovered"
        person.type("spheres-of-link", "0 0 0 0.1")
        person.sees(f"{red}?.link === 'forearm_link' && {red}.corners.length > 0 && {red}.corners.length % 18 === 0")
        person.sees("document.querySelector('[data-uncovered]').innerText.startsWith('Red: ')")
        assert min(browser.run(DISTANCES)) > 0.095
        person.type("spheres-of-link", "0 0 0 9")
        person.sees(f"{red} === null && document.querySelector('[data-uncovered]').innerText === ''")
        person.type("spheres-of-link", "0 0 0 0.1")
        person.press("add-spheres")
        person.sees("viewer.robots[0].spheres.forearm_link?.length === 1")
        person.press("undo")
        person.type("spheres-of-link", "0")
        person.sees(f"{red} === null")
        person.press("redo")
        person.sees(f"{red}?.corners.length > 0")
        person.choose("property-joint", "elbow_joint")
        person.sees("viewer.shownJoint?.name === 'elbow_joint'")
        person.sees(f"JSON.stringify([...new Set({MARKED})]) === '[\"forearm_link\"]'")
        browser.run("document.querySelector('[data-shows=palm_link]').focus()")
        person.sees(f"JSON.stringify([...new Set({MARKED})]) === '[\"palm_link\"]'")
        person.tab("groups")
        person.sees(f"{SPHERES}.length === 0")
        assert browser.complaints == []


@pytest.mark.timeout(400)
def test_the_pointer_and_the_tree_tell_what_a_link_is(browser: Browser, tmp_path: Path) -> None:
    with studio(tmp_path) as served:
        person = Person(browser, served)
        browser.run("document.getElementById('links').open = true")

        def row(name: str) -> str:
            return f"document.querySelector('[data-link={name}]')"

        tags = {name: browser.run(f"{row(name)}.innerText") for name in ("palm_link", "caster_wheel", "base_footprint")}
        assert "part of hand" in tags["palm_link"]
        assert "passive joint" in tags["caster_wheel"]
        assert "virtual joint" in tags["base_footprint"]
        assert "groups: arm" in browser.run(f"{row('forearm_link')}.title")
        assert "joint properties: gain = 3" in browser.run(f"{row('forearm_link')}.title")
        browser.run(f"{row('palm_link')}.focus()")
        person.sees("viewer.hovered.robot.links[viewer.hovered.link].name === 'palm_link'")
        # The pointer rests on a link in the picture.
        x, y = browser.run(
            "(() => { const robot = viewer.robots[0], T = viewer.poses(robot)[robot.linkIndex.get('base_link')],"
            " box = viewer.scene.canvas.getBoundingClientRect(),"
            " [x, y] = viewer.scene.project([0.2, 0.1, 0.05].map((part, k) => part + T[4 * k + 3]));"
            " return [box.left + x, box.top + y]; })()"
        )
        browser.move(x, y)
        person.sees("document.getElementById('tip').innerText.includes('base_link')")
        browser.move(x, 5)
        person.sees("document.getElementById('tip').hidden")
        assert browser.complaints == []
