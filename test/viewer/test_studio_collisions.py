# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collisions in the studio: suggested poses are free, a run belongs to all pages and is kept, the table is readable."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics, ForwardKinematics, RobotModel, RobotSemanticsError
from robot_semantics.examples import example
from robot_semantics.kinematics.joint_space import JointSpace, with_state
from robot_semantics.model.apply_semantics import apply_semantics
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.suggestions import accept_all, suggestions

pytest.importorskip("mujoco")
pin = pytest.importorskip("pinocchio")
SHARE = Path(pin.__file__).parents[4] / "share"
PANDA = "panda_description/urdf/panda.urdf"


def shipped(urdf: str) -> Path:
    path = SHARE / "example-robot-data" / "robots" / urdf
    if not path.exists():
        pytest.skip("example-robot-data is not installed")
    return path


@pytest.mark.parametrize("urdf", [PANDA, "ur_description/urdf/ur5_robot.urdf", "pr2_description/urdf/pr2.urdf"])
def test_no_suggested_pose_collides(urdf: str) -> None:
    from robot_semantics.collision.matrix import Settings, generate_matrix
    from robot_semantics.collision.merging import merge_matrix
    from robot_semantics.collision.pieces import pieces_of
    from robot_semantics.collision.poses import PoseCollisions

    robot = load_robot(shipped(urdf), strict=False, diagnostics=Diagnostics())
    pieces = pieces_of(robot, PackageResolver((str(SHARE),)), Diagnostics())
    poses = PoseCollisions(robot, pieces)

    def free_pose(model: RobotModel, q: FloatArray, joints: Collection[str]) -> FloatArray:
        pose = poses.free_positions(model, q, joints)
        if pose is None:
            raise RobotSemanticsError("none is free")
        return pose

    session = EditSession(robot, SrdfText.empty(robot.name, "new.srdf"), Path("/does/not/exist.srdf"))
    for _ in range(4):
        for suggestion in suggestions(session.robot, session.text.semantic, free_pose):
            if suggestion.step in ("group", "state"):
                with contextlib.suppress(RobotSemanticsError):
                    session.change(suggestion.title, suggestion.edit)
    # The matrix of this robot, without the rule that hides a collision of the default pose.
    matrix = generate_matrix(robot, pieces, Settings(samples=1000, search=False))
    always = {
        pair: reason.value for pair, reason in matrix.disabled().items() if reason.value in ("Adjacent", "Always")
    }
    session.change("pairs", lambda text: merge_matrix(text, always).text)
    space = ForwardKinematics(session.robot).space
    assert session.robot.semantics.states
    for group, name in session.robot.semantics.states:
        # Other groups are in their own suggested poses.
        q = np.array(space.neutral())
        for other in dict.fromkeys((*session.robot.semantics.states, (group, name))):
            q = np.array(with_state(space, *other, q))
        for joint in session.robot.semantics.group(group).active_joints:
            at = space.joint_positions[joint]
            assert np.all((space.lower[at] - 1e-5 <= q[at]) & (q[at] <= space.upper[at] + 1e-5)), joint
        assert poses.colliding(session.robot, q) == [], (group, name)


SAMPLES, MOST_FREE = 40, 2
"""Sampled poses, and in how many of them a pair is free that touches in any pose."""


@pytest.mark.parametrize(
    "urdf",
    [
        "icub_description/robots/icub_reduced.urdf",
        "hyq_description/robots/hyq_no_sensors.urdf",
        "pr2_description/urdf/pr2.urdf",
        "tiago_pro_description/robots/tiago_pro.urdf",
    ],
)
def test_another_library_finds_no_collision_in_suggested_poses(urdf: str) -> None:
    from support.collision_oracles import CoalCounter, packaged_robot

    from robot_semantics.collision.matrix import adjacent_pairs
    from robot_semantics.collision.poses import PoseCollisions

    shipped(urdf)
    robot, pieces = packaged_robot(urdf)
    poses, space = PoseCollisions(robot, pieces), ForwardKinematics(robot).space

    def free_pose(model: RobotModel, q: FloatArray, joints: Collection[str]) -> FloatArray:
        pose = poses.free_positions(model, q, joints)
        if pose is None:
            raise RobotSemanticsError("none is free")
        return pose

    text, _, _ = accept_all(robot, SrdfText.empty(robot.name, "new.srdf"), free_pose)
    made = apply_semantics(robot, text.semantic, Diagnostics())
    known = JointSpace.of(made).index
    oracle = CoalCounter(robot, pieces, set())
    # Pairs that touch in any pose: links with a joint between them, and those of nearly all random poses.
    links = robot.link_index
    solid = {robot.link_names[piece.link] for piece in pieces}
    ways = adjacent_pairs(robot, solid)
    usual = {tuple(sorted(links[name] for name in pair)) for pair, way in ways.items() if len(way) == 2}
    low, high = (np.where(np.isfinite(limit), limit, at) for limit, at in ((space.lower, -1.0), (space.upper, 1.0)))
    rng, samples = np.random.default_rng(1), []
    for _ in range(SAMPLES):
        q = np.array(space.neutral())
        for joint in robot.joints:
            if joint.position_count == 1:
                at = space.joint_positions[joint.name]
                q[at] = rng.uniform(low[at], high[at])
        samples.append(np.array(space.with_mimics(q)))
    counts = Counter(pair for hits in oracle.hits(np.array(samples)) for pair in hits)
    usual |= {pair for pair, count in counts.items() if count >= SAMPLES - MOST_FREE}
    parents = [link.parent for link in robot.links]

    def joints_above(link: int, joints: Collection[str]) -> set[str]:
        above = set()
        while link >= 0:
            joint = robot.joints[link]
            above |= {joint.name} & {*joints}
            if joint.mimic is not None and joint.mimic.joint in joints:
                above.add(joint.name)
            link = parents[link]
        return above

    assert made.semantics.states
    for group, name in made.semantics.states:
        pose, joints = with_state(JointSpace.of(made), group, name), made.semantics.group(group).active_joints
        q = np.array([pose[known[variable]] for variable in space.names])
        (hits,) = oracle.hits(q[np.newaxis])
        found = {pair for pair in hits - usual if joints_above(pair[0], joints) != joints_above(pair[1], joints)}
        assert {tuple(robot.link_names[at] for at in pair) for pair in found} == set(), (group, name)


@pytest.mark.timeout(300)
def test_a_run_belongs_to_all_pages_and_its_evidence_is_kept(browser: Browser, tmp_path: Path) -> None:
    urdf, out = shipped(PANDA), tmp_path / "panda.srdf"
    command = ("-m", "robot_semantics.cli.main", "studio", str(urdf), "-o", str(out), "--no-browser")
    report = tmp_path / "panda.collisions.json"
    rows = "[...document.querySelectorAll('[data-pairs] tbody tr.cursor-pointer')]"
    with Served(*command) as served:
        person = Person(browser, served)
        for suggestion in ("group arm", "group hand", "pose home of arm", "pose home of hand"):
            person.accept(suggestion)
        # Free of collision by the studio's own test.
        person.tab("states")
        person.choose("state-of-group", "arm")
        for state in ("arm/home", "hand/home"):
            person.sees(f"document.querySelector('[data-take=\"{state}\"]') !== null")
            browser.run(f"document.querySelector('[data-take=\"{state}\"]').click()")
        person.sees("document.querySelector('[data-collisions]').innerText.startsWith('No collision between checked')")
        person.tab("collisions")
        person.type("samples", "9000000")
        person.choose("default-pose", "home of all groups")
        person.press("generate")
        person.sees("/^\\d+ s left$/.test(document.querySelector('[data-left]').innerText)")
        # The page comes again, and the run is still there; another page can stop it.
        browser.run("window.isOld = true; location.reload()")
        person.sees("!window.isOld && Boolean(window.viewer) && !document.querySelector('[inert]')")
        person.tab("collisions")
        person.sees("document.querySelector('[data-do=stop-generate]').checkVisibility()")
        person.press("stop-generate")
        person.sees("document.querySelector('[data-failed]').innerText.startsWith('stopped')")
        assert not report.exists()
        person.type("samples", "1000")
        person.choose("default-pose", "home of all groups")
        person.press("generate")
        person.sees("document.querySelector('[data-do=write-pairs]').checkVisibility()")
        person.press("write-pairs")
        person.save()
    stated = json.loads(report.read_text())
    assert (stated["version"], stated["samples"]) == (2, 1000)
    # No pair is disabled because of the default pose.
    assert "Default" not in {pair["reason"] for pair in stated["pairs"]}
    # A pose that collides is a problem in the list: its pair is checked, or not checked for no good reason.
    text = out.read_text()
    values = "".join(f'<joint name="panda_joint{at}" value="0"/>' for at in (1, 2, 3, 5, 6, 7))
    state = f'<group_state name="zero" group="arm">{values}<joint name="panda_joint4" value="-1.5708"/></group_state>'
    out.write_text(text.replace("</robot>", f"{state}</robot>"))
    with Served("-m", "robot_semantics.cli.main", "studio", str(urdf), str(out), "--no-browser") as served:
        person = Person(browser, served)
        title = "document.querySelector('[data-problems]').innerText"
        person.sees(f"/check: [1-9]/.test({title})")
        browser.press("F8")
        chosen = "document.querySelector('.problem-line[data-chosen=true]').innerText"
        person.sees(f"{chosen}.includes(\"state 'arm/zero' collides: 'panda_\")")
        person.sees("document.querySelector('[data-panel=states]') !== null")
        # The evidence of the last session is there; at 440 px no name is cut but for the part that all have.
        person.tab("collisions")
        person.sees(f"{rows}.length > 5")
        person.sees("document.querySelector('[data-pairs]').innerText.includes('of 1,000')")
        assert abs(browser.run("document.querySelector('.studio').clientWidth") - 440) < 6
        cells = f"{rows}.flatMap((row) => [...row.children].slice(1, 3))"
        assert "panda_…" in browser.run("document.querySelector('[data-pairs] thead').innerText")
        assert browser.run(f"{cells}.every((cell) => cell.title === 'panda_' + cell.textContent)")
        # No evidence is cut.
        evidence = f"{rows}.map((row) => row.children[4])"
        assert browser.run(f"{evidence}.every((cell) => cell.scrollWidth <= cell.clientWidth)")
        head = "[...document.querySelectorAll('.pairs th.sortable')][3]"
        browser.run(f"{head}.click()")
        words = f"{rows}.map((row) => row.children[4].textContent).filter((text) => / of /.test(text))"
        shares = (
            f"{words}.map((text) => text.match(/([\\d,]+) of ([\\d,]+)/).slice(1).map((part) =>"
            " Number(part.replaceAll(',', '')))).map(([hits, all]) => hits / all)"
        )
        person.sees(f"{shares}.length > 3 && {shares}.every((one, at, all) => at === 0 || one <= all[at - 1])")
        assert browser.audit(".beside") == []
        assert browser.complaints == []


def test_a_report_of_another_robot_is_no_evidence(tmp_path: Path) -> None:
    from robot_semantics.collision.matrix import Settings, generate_matrix
    from robot_semantics.collision.pieces import pieces_of
    from robot_semantics.collision.report import matrix_from_json, matrix_json
    from robot_semantics.kinematics.joint_space import JointSpace

    robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
    matrix = generate_matrix(robot, pieces_of(robot, PackageResolver(), Diagnostics()), Settings(samples=200))
    space = JointSpace.of(robot)
    text = json.dumps(matrix_json(matrix, space)).encode()
    again = matrix_from_json(text, robot)
    assert json.dumps(matrix_json(again, space)["pairs"]).encode() in text
    other = load_robot(shipped(PANDA), strict=False, diagnostics=Diagnostics())
    for content in (text, b"[]", b"{", b'{"pairs": [1]}', b'{"pairs": []}'):
        with pytest.raises(RobotSemanticsError, match="not about this robot"):
            matrix_from_json(content, other)


PICTURES = os.environ.get("TUTORIAL_PICTURES")
FRAMES, FRAME_MS, LARGEST_FILM = 50, 200, 2_000_000
"""Of the film of ten seconds: its frames, the time of each [ms], and the size of its file at most [bytes]."""


def film(browser: Browser, path: Path, steps: int) -> None:
    """Write a film in which an arrow key goes from one collision to the next."""
    from PIL import Image

    browser.resize(1100, 640)
    browser.run("viewer.message('')")
    frames = []
    for number in range(FRAMES):
        if number % (FRAMES // steps) == 0:
            browser.press("ArrowRight")
        browser.drawn()
        image = Image.open(io.BytesIO(browser.picture())).convert("RGB")
        frames.append(image.resize((825, 480), Image.Resampling.LANCZOS))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0, quality=60, method=6)
    assert path.stat().st_size <= LARGEST_FILM


@pytest.mark.timeout(300)
def test_the_arrow_keys_play_the_collisions_of_the_matrix(browser: Browser, tmp_path: Path) -> None:
    from robot_semantics.collision.pieces import pieces_of
    from robot_semantics.collision.poses import PoseCollisions

    files = tuple(shutil.copy(example(f"rover_arm.{kind}"), tmp_path) for kind in ("urdf", "srdf"))
    robot = load_robot(*files)
    poses = PoseCollisions(robot, pieces_of(robot, PackageResolver(), Diagnostics()))
    with Served("-m", "robot_semantics.cli.main", "studio", *map(str, files), "--no-browser") as served:
        person = Person(browser, served)
        person.tab("collisions")
        person.type("samples", "1000")
        person.press("generate")
        person.sees("document.querySelector('[data-do=write-pairs]').checkVisibility()")
        person.toggle("matrix")
        person.sees("document.querySelectorAll('[data-matrix] rect').length > 5")
        browser.run("document.querySelector('[data-matrix] svg').focus()")
        eye = browser.run("viewer.scene.camera.position.toArray()")
        seen = []
        for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
            before = browser.run("viewer.played?.links.join()")
            browser.press(key)
            person.sees(f"viewer.played && viewer.played.links.join() !== {json.dumps(before)}")
            links = browser.run("viewer.played.links")
            person.sees(
                f"document.querySelector('[data-clicked]').innerText.startsWith({json.dumps(' – '.join(links))})"
            )
            # The page is in the pose of the collision; the two links are red, and all others are a ghost.
            q = np.array(browser.run("viewer.q(viewer.robots[0])"))
            assert tuple(links) in poses.touching(q)
            is_own = "viewer.played.links.includes(robot.links[link].name)"
            alphas = f"viewer.drawn.map(({{robot, link, alpha}}) => [{is_own}, alpha])"
            browser.drawn()
            assert {(bool(own), alpha) for own, alpha in browser.run(alphas)} == {(True, 1), (False, 0.16)}
            seen.append(links)
        assert seen[0] == seen[2] != seen[1]
        # The camera has followed.
        person.sees(f"viewer.scene.camera.position.distanceTo({{x: {eye[0]}, y: {eye[1]}, z: {eye[2]}}}) > 0.05")
        assert browser.audit(".beside") == []
        if PICTURES is not None:
            from PIL import Image

            browser.run("viewer.message('')")
            browser.drawn()
            image = Image.open(io.BytesIO(browser.picture())).convert("RGB")
            # Rare colours stay: a single cell has the colour of its reason.
            few = image.quantize(256, Image.Quantize.MAXCOVERAGE)
            few.save(Path(PICTURES) / "studio.png", optimize=True)
            film(browser, Path(PICTURES) / "studio_matrix.webp", 5)
        browser.run("viewer.scene.canvas.focus()")
        browser.press("Escape")
        person.sees("viewer.played === null")
        assert browser.complaints == []
