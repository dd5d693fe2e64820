# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The page in a real browser: selections are visible, and the display is right."""

from __future__ import annotations

import importlib.util
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.browser import Browser

from robot_semantics import Diagnostics, ForwardKinematics
from robot_semantics.cli.main import main
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.table import parse_srdf
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.page import page
from robot_semantics.viewer.scene import Moment, Scene, Stance, alone, link_poses

IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
FRONT_OF_BASE = """(() => {
  const robot = viewer.robots[0], T = viewer.poses(robot)[robot.linkIndex.get("base_link")];
  const box = viewer.scene.canvas.getBoundingClientRect();
  const [x, y] = viewer.scene.project([0.2, 0.1, 0.05].map((part, k) => part + T[4 * k + 3]));
  return [box.left + x, box.top + y];
})()"""
"""Return the position on the page of the middle of the rover's front."""


def shown(browser: Browser, scene: Scene, folder: Path, **options: Any) -> None:
    file = folder / "page.html"
    file.write_text(page(scene, **options))
    browser.open(file.as_uri())
    browser.drawn()


def seen(browser: Browser) -> np.ndarray[Any, Any]:
    """Return the pixels of a page at rest: the shadow and smooth edges come some time after the rest."""
    browser.run("viewer.settle()")
    return np.asarray(Image.open(io.BytesIO(browser.picture())).convert("RGB"), dtype=np.int64)


def poses(browser: Browser, robot: int = 0) -> np.ndarray[Any, Any]:
    return np.array(browser.run(f"viewer.poses(viewer.robots[{robot}])")).reshape(-1, 4, 4)


def positions(browser: Browser, robot: int = 0) -> dict[str, float]:
    told = browser.run(f"[viewer.robots[{robot}].variables, viewer.q(viewer.robots[{robot}])]")
    return dict(zip(*told, strict=True))


def test_it_opens_offline_without_complaint_and_draws_the_robot(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    picture = seen(browser)
    orange = (picture[..., 0] > 150) & (picture[..., 2] < 90)
    assert browser.complaints == []
    assert orange[:, 400:].sum() > 3000  # the base
    if importlib.util.find_spec("axe_core_python") is not None:
        for _ in ("light", "dark"):
            assert browser.audit() == []
            browser.run("viewer.find('dark').click()")
    text = (tmp_path / "page.html").read_text().replace("http-equiv", "")
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("factor", [1.0, 10.0, 0.01])
def test_the_page_has_the_scale_of_its_grid(browser: Browser, factor: float, tmp_path: Path) -> None:
    side = 0.3 * factor
    urdf = tmp_path / "box.urdf"
    urdf.write_text(
        f'<robot name="box"><link name="a"><visual><geometry><box size="{side} {side} {side}"/></geometry></visual>'
        "</link></robot>"
    )
    shown(browser, open_files([urdf], Opening(), Diagnostics()), tmp_path)
    word, length, unit = browser.run("viewer.find('scale').textContent").split()
    assert (word, unit) == ("grid", "m")
    # Parallel lines of the drawn grid have this distance, and some lines cross the robot's surroundings.
    places = "viewer.scene.ground.children.flatMap((line) => Array.from(line.geometry.getAttribute('position').array))"
    x = np.array(browser.run(places)).reshape(-1, 2, 3)[..., 0]
    across = np.unique(x[x[:, 0] == x[:, 1], 0])
    np.testing.assert_allclose(np.diff(across), float(length), rtol=1e-5)
    assert side / 10 <= float(length) <= side
    browser.run("viewer.find('dark').click()")
    assert browser.run("viewer.find('scale').textContent") == f"grid {length} m"


def test_a_slow_browser_without_a_graphics_card_says_so(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    said = "document.getElementById('message').textContent"
    # Never for a small robot, and for a large one only after a second of drawing.
    browser.run("viewer.message(''); viewer.checkSpeed(2000)")
    assert browser.run(said) == ""
    browser.run("viewer.scene.triangles = () => 80000; viewer.checkSpeed(33)")
    assert browser.run(said) == ""
    browser.run("viewer.drawing = { spent: 500, count: 5 }; viewer.measure(performance.now())")
    assert browser.run(said) == ""
    browser.run("viewer.measure(performance.now() - 600)")
    assert browser.run(said).startswith("Slow picture: ")
    for time, rate in ((100, "10"), (2000, "0.5")):
        browser.run(f"viewer.checkSpeed({time})")
        assert browser.run(said).startswith(f"Slow picture: {rate} frames/s for ")
    assert "without a graphics card" in browser.run(said)


def test_the_page_is_as_handsome_as_the_picture(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    root = "viewer.root.getBoundingClientRect()"
    # The size of what is shown, and a bar as long as it says at the centre of the view.
    low, high = np.array(browser.run("viewer.scene.bounds([...viewer.shown.values()])"))
    sizes = browser.run("viewer.find('extent').textContent").removeprefix("size ").removesuffix(" m").split(" × ")
    np.testing.assert_allclose([float(size) for size in sizes], high - low, rtol=5e-3)
    length = float(browser.run("viewer.find('bar').textContent").removesuffix(" m"))
    ends = browser.run(
        "(() => { const { camera, controls, THREE } = viewer.scene, right = new THREE.Vector3();"
        f" right.setFromMatrixColumn(camera.matrixWorld, 0).multiplyScalar({length} / 2);"
        " const ends = [controls.target.clone().sub(right), controls.target.clone().add(right)];"
        " return ends.map((end) => viewer.scene.project(end.toArray())[0]); })()"
    )
    assert browser.run("viewer.find('bar').getBoundingClientRect().width") == pytest.approx(ends[1] - ends[0], abs=1)
    # When nothing moves the picture is finer, and a soft shadow is below the robot: dark below it, nothing at its edge.
    width = browser.run("viewer.find('stage').clientWidth")
    browser.run("viewer.fastest = 0; viewer.redraw()")
    browser.wait(f"viewer.scene.canvas.width === {2 * width}")
    shadow = np.array(browser.run("Array.from(viewer.scene.shadow.texture.image.data)")).reshape(96, 96, 4)[..., 3]
    assert shadow[40:56, 40:56].mean() > 30
    assert not shadow[[0, -1]].any()
    assert not shadow[:, [0, -1]].any()
    assert browser.run("viewer.scene.shadow.plane.position.z") == pytest.approx(low[2], abs=2e-3)
    browser.run("viewer.scene.draw()")
    assert browser.run("viewer.scene.canvas.width") == width
    # A small picture of a state shows its group.
    model = rover.actors[0].model
    kinematics = ForwardKinematics(model)
    q = kinematics.space.neutral()
    browser.run("viewer.scene.picture = (...box) => { window.box = box; return ''; }")
    for group, lowest in (
        (None, low[2]),
        ("gripper", kinematics.link_poses(q)[model.link_index["forearm_link"]][2, 3]),
    ):
        stance = {model.name: {"q": q.tolist(), "group": group}}
        browser.run(f"viewer.thumbnail({json.dumps(stance)})")
        assert browser.run("box[0][2]") >= lowest - 1e-3
        assert browser.run("box[1][2]") == pytest.approx(high[2], abs=1e-3)
    # One key hides the panels; the robot stays whole in the picture until a person turns the view.
    whole = (
        "(() => { const [low, high] = viewer.scene.bounds([...viewer.shown.values()]), stage = viewer.find('stage');"
        " const corner = (c) => viewer.scene.project(low.map((part, k) => (c >> k & 1 ? high[k] : part)));"
        " return [0, 1, 2, 3, 4, 5, 6, 7].map(corner).every(([x, y]) =>"
        " x > 0 && y > 0 && x < stage.clientWidth && y < stage.clientHeight); })()"
    )
    browser.press("p")
    browser.wait(f"viewer.find('stage').clientWidth === {root}.width")
    browser.resize(700, 900)
    browser.wait(f"viewer.scene.width === 700 && {whole}")
    browser.resize(1300, 300)
    browser.wait(f"viewer.scene.width === 1300 && {whole}")
    browser.press("p")
    browser.wait(f"viewer.find('stage').clientWidth < {root}.width")
    # A link holds the pose, the groups and the view.
    browser.run(
        "viewer.setGroups(['arm']); viewer.setPosition(viewer.robots[0], 'elbow_joint', 0.5); viewer.fit('left')"
    )
    place = "[...viewer.scene.camera.position.toArray(), ...viewer.scene.controls.target.toArray()]"
    link, before = browser.run("viewer.link()"), browser.run(place)
    assert "elbow_joint" in link
    assert "shoulder" not in link
    for hash_ in ("#shown=%7B%22eye%22%3A%5B1%5D%7D", "#shown=%", "#other", link[link.index("#") :]):
        browser.open(f"{link.partition('#')[0]}{hash_}")
        assert browser.complaints == []
    assert browser.run("viewer.groups") == ["arm"]
    assert browser.run("viewer.q(viewer.robots[0])[viewer.robots[0].variableIndex.get('elbow_joint')]") == 0.5
    assert browser.run(place) == pytest.approx(before)
    # The saved picture is that of the page.
    browser.run("viewer.download = (name, blob) => { window.saved = [name, blob]; }; viewer.savePicture()")
    browser.wait("Boolean(window.saved)")
    assert browser.run("saved[0]") == "rover_arm.png"
    size = browser.run("createImageBitmap(saved[1]).then(({ width, height }) => [width, height])")
    assert size == browser.run("[2 * viewer.scene.width, 2 * viewer.scene.height]")


def test_a_moved_robot_differs_by_its_distance(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    browser.run("const other = viewer.copy(viewer.stances); other.rover_arm.T[3] += 0.25; other.rover_arm.T[7] -= 0.6")
    assert browser.run("viewer.differencesTo(other)") == [["rover_arm moved", 0, pytest.approx(0.65), "m"]]


def test_the_pairs_are_listed_when_their_section_is_opened(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    section = "document.getElementById('disabled-collision-pairs')"
    pairs = rover.actors[0].model.semantics.disabled_collisions
    assert browser.run(f"{section}.querySelectorAll('tr').length") == 0
    for _ in range(2):
        browser.run(f"{section}.querySelector('summary').click()")
        browser.wait(f"{section}.querySelectorAll('tr').length === {len(pairs)}")
    browser.run(f"{section}.querySelector('summary').click()")
    # A panel that is built again keeps what is open.
    browser.run("viewer.panel.build()")
    assert browser.run(f"{section}.querySelectorAll('tr').length") == len(pairs)


def test_choosing_a_group_colours_it_and_fades_the_rest(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    before = seen(browser)
    browser.run("document.querySelector('[data-group=arm]').click()")
    browser.drawn()
    after = seen(browser)
    colours = browser.run("viewer.drawn.map((item) => [item.robot.links[item.link].name, item.colour, item.alpha])")
    arm = set(rover.actors[0].model.semantics.group("arm").links)
    assert {(*colour, alpha) for name, colour, alpha in colours if name in arm} == {(0.9, 0.44, 0.13, 1)}
    # The rest can be seen through, so that nothing of the group hides behind it.
    assert all(alpha < 0.5 for name, _, alpha in colours if name not in arm)
    assert (np.abs(before - after).max(axis=-1) > 30).sum() > 3000
    browser.run("document.querySelector('[data-group=arm]').click()")
    browser.drawn()
    assert (np.abs(before - seen(browser)).max(axis=-1) > 30).sum() < 50


def test_a_slider_moves_the_tool_where_forward_kinematics_says(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    actor = rover.actors[0]
    browser.run(
        "(() => { const slider = document.querySelector('input[type=range][aria-label=elbow_joint]');"
        " slider.value = 1.1; slider.dispatchEvent(new Event('input')); })()"
    )
    value = positions(browser)["elbow_joint"]
    expected = link_poses(actor, Stance(actor.kinematics.space.pack({"elbow_joint": value}), np.eye(4)))
    assert abs(value - 1.1) < 0.01
    np.testing.assert_allclose(poses(browser), expected, atol=1e-12)


def test_passive_joints_of_a_loop_have_no_slider_and_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    shown(browser, open_files([example("leg.urdf"), example("leg.srdf")], Opening(), Diagnostics()), tmp_path)
    sliders = "[...document.querySelectorAll('input[type=range]')].map((one) => [one.ariaLabel, one.disabled])"
    expected = {"hip_motor": False, "knee_motor": False, "knee": True, "rod_joint": True}
    assert dict(browser.run(sliders)) == expected
    assert "do not follow the sliders" in browser.run("document.getElementById('loops-note').innerText")


def test_its_forward_kinematics_is_the_library_s_for_every_kind_of_joint(browser: Browser, tmp_path: Path) -> None:
    kinds = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed")
    links = "".join(f'<link name="l{i}"/>' for i in range(len(kinds) + 2))
    joints = "".join(
        f'<joint name="{kind}" type="{kind}"><origin xyz="0.1 {i} -0.3" rpy="0.3 -0.2 {i}"/><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><axis xyz="0.6 0 -0.8"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
        for i, kind in enumerate(kinds)
    )
    joints += (
        '<joint name="follower" type="revolute"><parent link="l6"/><child link="l7"/><axis xyz="0 1 0"/>'
        '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
        '<mimic joint="revolute" multiplier="-2" offset="0.3"/></joint>'
    )
    urdf, srdf = tmp_path / "r.urdf", tmp_path / "r.srdf"
    urdf.write_text(f'<robot name="kinds">{links}{joints}</robot>')
    srdf.write_text(
        '<robot name="kinds"><virtual_joint name="v" type="floating" parent_frame="w" child_link="l0"/></robot>'
    )
    from robot_semantics.viewer.scene import Actor

    actor = Actor("kinds", load_robot(urdf, srdf), ())
    shown(browser, alone(actor), tmp_path)
    rng = np.random.default_rng(7)
    for q in actor.kinematics.space.random(rng, (20,)):
        told = browser.run(f"viewer.robots[0].poses({json.dumps(q.tolist())}, {IDENTITY})")
        np.testing.assert_allclose(
            np.array(told).reshape(-1, 4, 4), link_poses(actor, Stance(q, np.eye(4))), atol=1e-12
        )
    browser.run("viewer.setPosition(viewer.robots[0], 'revolute', 0.4)")
    assert positions(browser)["follower"] == pytest.approx(-0.5)


def test_a_named_state_is_taken_up(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    browser.run("document.querySelector('[data-state=\"arm/reach\"]').click()")
    found = positions(browser)
    assert {name: found[name] for name in ("lift_joint", "elbow_joint")} == {"lift_joint": 0.1, "elbow_joint": 0.8}
    browser.run("document.querySelector('[data-state=\"gripper/open\"]').click()")
    assert positions(browser)["right_finger_joint"] == 0.04  # a mimic joint


def test_a_click_on_a_link_tells_of_its_unchecked_pairs(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    x, y = browser.run(FRONT_OF_BASE)
    browser.click(x, y)
    browser.drawn()
    text = browser.run("document.getElementById('info').innerText")
    assert "base_link" in text
    for other in ("caster_wheel", "left_wheel", "lift_link", "right_wheel"):
        assert other in text
    assert "Adjacent" in text
    assert "4" in text
    assert "null" not in text


def test_what_it_saves_is_a_world_state_that_says_what_is_seen(browser: Browser, world: Scene, tmp_path: Path) -> None:
    shown(browser, world, tmp_path)
    browser.run("viewer.setPosition(viewer.robots[0], 'elbow_joint', -0.123456789012345)")
    browser.run("viewer.setPosition(viewer.robots[0], 'world_joint/theta', 2.5)")
    browser.run("viewer.download = () => {}; document.getElementById('save-usdf').click()")
    state = parse_world(browser.run("document.getElementById('saved').value"), "saved")
    model = state.model("rover_arm")
    assert model.joint("elbow_joint").positions == (-0.123456789012345,)
    assert (model.parent, model.description) == ("odom", "rover_arm.urdf")
    assert [joint.name for joint in model.joints if joint.name == "world_joint"] == []
    resolved = resolve_frames(state)
    for index, actor in enumerate(world.actors):
        np.testing.assert_allclose(resolved.pose(actor.name), poses(browser, index)[0], atol=1e-9)
    assert len(state.models) == 4


def test_a_group_state_is_text_for_an_srdf(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    shown(browser, rover, tmp_path)
    browser.run("viewer.setPosition(viewer.robots[0], 'elbow_joint', 0.7)")
    browser.run(
        "(() => { document.getElementById('state-group').value = 'arm';"
        " document.getElementById('state-name').value = 'a \"b\" <c>';"
        " document.getElementById('save-state').click(); })()"
    )
    text = browser.run("document.getElementById('saved').value")
    (state,) = parse_srdf(f'<robot name="rover_arm"><group name="arm"/>{text}</robot>').states
    assert (state.group, state.name) == ("arm", 'a "b" <c>')
    values = {joint.name: joint.values for joint in state.joints}
    assert values["elbow_joint"] == (0.7,)
    assert len(values) == 5


def test_two_moments_are_compared_ghost_and_solid(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    actor = rover.actors[0]
    q = actor.kinematics.space.pack({"elbow_joint": 1.0, "lift_joint": 0.05})
    moments = (*rover.moments, Moment("later", {actor.name: Stance(q, np.eye(4))}, 10**9))
    shown(browser, Scene("two", rover.actors, moments), tmp_path)
    browser.run(
        "(() => { const choice = document.getElementById('ghost');"
        " choice.value = '1'; choice.dispatchEvent(new Event('change')); })()"
    )
    browser.drawn()
    rows = browser.run("[...document.querySelectorAll('#differences tr')].slice(1).map((row) => row.innerText)")
    assert [row.split("\t")[0] for row in rows] == ["rover_arm/elbow_joint", "rover_arm/lift_joint"]
    assert [row.split("\t")[3] for row in rows] == ["rad", "m"]
    browser.run("document.getElementById('degrees').click()")
    browser.drawn()
    first = browser.run("document.querySelectorAll('#differences tr')[1].innerText").split("\t")
    assert first[3] == "°"
    assert float(first[2]) == pytest.approx(57.296)
    assert set(browser.run("viewer.drawn.filter((item) => item.ghost).map((item) => item.alpha)")) == {0.35}
    browser.run(
        "(() => { const slider = document.getElementById('moment');"
        " slider.value = 1; slider.dispatchEvent(new Event('input')); })()"
    )
    browser.drawn()
    assert positions(browser)["elbow_joint"] == 1.0
    assert browser.run("document.getElementById('differences').innerText") == "no difference"


def test_a_force_points_from_its_link_where_it_pushes_and_says_how_hard(
    browser: Browser, rover: Scene, tmp_path: Path
) -> None:
    (actor,) = rover.actors
    stance = Stance(actor.kinematics.space.pack({"elbow_joint": 0.9}), np.eye(4))
    force = np.array([3.0, 0.0, 4.0])
    wrenches = {actor.name: {"palm_link": (*force.tolist(), 0.0, 0.0, 0.0), "base_link": (0.0,) * 6}}
    shown(browser, rover.with_moment(Moment("pushed", {actor.name: stance}, wrenches=wrenches)), tmp_path)
    ((text, end),) = browser.run("viewer.labels.filter(([text]) => text.endsWith(' N'))")
    assert text == "5.00 N"
    T = link_poses(actor, stance)[actor.model.link_index["palm_link"]]
    along = np.array(end).reshape(4, 4)[:3, 3] - T[:3, 3]
    np.testing.assert_allclose(along / np.linalg.norm(along), T[:3, :3] @ force / 5.0, atol=1e-9)


def test_witness_poses_are_taken_up_and_their_links_marked(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    witness = {"actor": "rover_arm", "link1": "palm_link", "link2": "base_link", "positions": {"elbow_joint": 2.0}}
    shown(browser, rover, tmp_path, witnesses=[witness])
    browser.run("document.querySelector('[data-witness=\"0\"]').click()")
    browser.drawn()
    red = browser.run(
        "viewer.drawn.filter(({colour}) => colour?.[0] === 0.83).map((item) => item.robot.links[item.link].name)"
    )
    assert set(red) == {"palm_link", "base_link"}
    assert positions(browser)["elbow_joint"] == 2.0


def test_meshes_that_say_y_is_up_are_turned_on_demand(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    (actor,) = rover.actors
    first, *others = actor.surfaces
    surfaces = (replace(first, surface=replace(first.surface, y_up=True)), *others)
    shown(browser, Scene("turned", (replace(actor, surfaces=surfaces),), rover.moments), tmp_path)
    matrices = "viewer.shown.get(viewer.robot).meshes.map((mesh) => mesh.matrix.clone().transpose().elements)"
    before = np.array(browser.run(matrices)).reshape(-1, 4, 4)
    browser.run("document.getElementById('yUp').click()")
    after = np.array(browser.run(matrices)).reshape(-1, 4, 4)
    turned = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # y becomes z
    np.testing.assert_allclose(after[0], before[0] @ turned, atol=1e-12)
    np.testing.assert_array_equal(after[1:], before[1:])
    browser.run("document.getElementById('yUp').click()")
    np.testing.assert_array_equal(np.array(browser.run(matrices)).reshape(-1, 4, 4), before)


def test_a_page_has_the_witnesses_of_a_report_and_is_small(browser: Browser, tmp_path: Path) -> None:
    witness = {"positions": {"elbow_joint": 2.0}, "depth": 0.01, "sample": 3}
    pair = {"link1": "palm_link", "link2": "base_link", "hits": 1, "samples": 4, "fraction": 0.25, "reason": None}
    report, out = tmp_path / "why.json", tmp_path / "page.html"
    report.write_text(json.dumps({"pairs": [{**pair, "first": witness, "deepest": None}]}))
    files = [str(example(f"rover_arm.{kind}")) for kind in ("urdf", "srdf")]
    assert main(["view", *files, "--witnesses", str(report), "--html", str(out)]) == 0
    assert out.stat().st_size < 1_000_000
    browser.open(out.as_uri())
    browser.run("document.querySelector('[data-witness=\"0\"]').click()")
    assert positions(browser)["elbow_joint"] == 2.0
    assert "1 of 4 samples" in browser.run("document.querySelector('[data-witness=\"0\"]').title")


def test_names_that_look_like_markup_are_only_text(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    actor = replace(rover.actors[0], name=evil)
    shown(browser, Scene(evil, (actor,), (Moment(evil, {evil: rover.moments[0].stances["rover_arm"]}),)), tmp_path)
    assert browser.run("document.querySelector('h1').textContent") == evil
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.complaints == []
