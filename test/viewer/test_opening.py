# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files become a scene: the content decides their kind, and content that cannot be shown is reported."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_semantics import Diagnostics, RobotSemanticsError, UnknownNameError, read_world
from robot_semantics.cli.main import main
from robot_semantics.examples import FOLDER, example
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.viewer.opening import FileKind, Opening, open_files, viewed_kind
from robot_semantics.viewer.scene import Scene, link_poses, posed
from robot_semantics.viewer.witnesses import witnesses

URDF, SRDF, USDF = (example(f"rover_arm.{kind}") for kind in ("urdf", "srdf", "usdf"))


def opened(*paths: Path) -> Scene:
    return open_files(paths, Opening(), Diagnostics())


def test_kinds_are_told_by_content(tmp_path: Path) -> None:
    for path, kind in ((URDF, FileKind.URDF), (SRDF, FileKind.SRDF), (USDF, FileKind.USDF)):
        other = shutil.copy(path, tmp_path / f"{kind.name}.txt")
        assert viewed_kind(Path(other)) is kind
    assert viewed_kind(tmp_path) is FileKind.SERIES


def test_the_founding_document_s_root_is_a_world_too(tmp_path: Path) -> None:
    path = tmp_path / "old.usdf"
    path.write_text('<world name="w"><frame name="odom"/></world>')
    assert viewed_kind(path) is FileKind.USDF


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "neither URDF, SRDF nor USDF"),
        ("no xml", "neither URDF, SRDF nor USDF"),
        ("<sdf/>", "neither URDF, SRDF nor USDF"),
        ('<robot name="r"><group name="g"/></robot>', "an SRDF has nothing to show without its URDF: give both"),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(RobotSemanticsError, match=message):
        opened(path)


def test_two_urdfs_are_shown_over_each_other(tmp_path: Path) -> None:
    scene = opened(URDF, example("block.urdf"))
    assert [actor.name for actor in scene.actors] == ["rover_arm", "block"]
    for stance in scene.moments[0].stances.values():
        np.testing.assert_array_equal(stance.T_world_base, np.eye(4))
    # Two versions of one robot have the names of their files.
    other = tmp_path / "newer.urdf"
    other.write_bytes(URDF.read_bytes())
    assert [actor.name for actor in opened(URDF, other).actors] == ["rover_arm", "newer"]
    with pytest.raises(RobotSemanticsError, match="given twice"):
        opened(other, other)
    # An SRDF could be about either.
    with pytest.raises(RobotSemanticsError, match="there is another URDF"):
        opened(URDF, other, example("rover_arm.srdf"))


def test_a_world_stands_where_its_frames_say() -> None:
    scene = opened(USDF)
    world = resolve_frames(read_world(USDF))
    moment = scene.moments[0]
    assert [actor.name for actor in scene.actors] == ["rover_arm", "block_1", "block_2", "block_3"]
    for actor in scene.actors:
        root = link_poses(actor, moment.stances[actor.name])[0]
        np.testing.assert_allclose(root, world.pose(actor.name), atol=1e-12)
    np.testing.assert_allclose(moment.frames["odom"], world.pose("odom"))


def test_a_pose_that_the_virtual_joint_cannot_make_is_kept_all_the_same(tmp_path: Path) -> None:
    for path in (URDF, SRDF, *FOLDER.glob("block.*")):
        shutil.copy(path, tmp_path)
    tilted = tmp_path / "tilted.usdf"
    tilted.write_text(USDF.read_text().replace("<pose>0 0 0 0 0 0</pose>", "<pose>1 2 0.5 0.3 -0.2 1.1</pose>", 1))
    scene = opened(tilted)
    actor = scene.actors[0]
    stance = scene.moments[0].stances[actor.name]
    np.testing.assert_allclose(
        link_poses(actor, stance)[0], resolve_frames(read_world(tilted)).pose("rover_arm"), atol=1e-12
    )
    assert stance.q[actor.kinematics.space.index["world_joint/x"]] == pytest.approx(1.0)


def test_a_state_of_links_alone_is_shown_at_the_joints_that_follow_and_says_what_does_not(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="a"/><link name="b"/>'
        '<joint name="turn" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>'
        '<joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="0" upper="9" effort="1" velocity="1"/></joint></robot>'
    )
    (tmp_path / "w.usdf").write_text(
        '<world_state><model_state name="arm"><pose>1 2 3 0 0 0</pose>'
        '<link_state name="a"><pose>0 0 0 0 0 0.75</pose></link_state>'
        '<link_state name="b"><pose>0.5 0 2 0 0 0.75</pose></link_state></model_state></world_state>'
    )
    found = Diagnostics()
    scene = open_files([tmp_path / "w.usdf", tmp_path / "arm.urdf"], Opening(), found)
    actor, stance = scene.actors[0], scene.moments[0].stances["arm"]
    assert stance.q[actor.kinematics.space.index["turn"]] == pytest.approx(0.75)
    assert [(item.severity.value, item.code) for item in found] == [
        ("note", "derived"),
        ("warning", "not-shown"),
        ("warning", "not-shown"),
    ]
    messages = [item.message for item in found]
    assert "'lift'" in messages[1]
    assert "0.5 m" in messages[1]


def test_several_states_are_as_many_moments(tmp_path: Path) -> None:
    for path in (URDF, SRDF, *FOLDER.glob("block.*")):
        shutil.copy(path, tmp_path)
    for number in range(3):
        text = USDF.read_text().replace('rs:time="0.0', f'rs:time="{number}.5')
        (tmp_path / f"{number}.usdf").write_text(text)
    scene = opened(*sorted(tmp_path.glob("*.usdf")))
    assert [moment.label for moment in scene.moments] == ["0.500 s", "1.500 s", "2.500 s"]
    assert [moment.label for moment in opened(tmp_path).moments] == ["0.500 s", "1.500 s", "2.500 s"]
    assert len(scene.actors) == 4


def test_a_model_without_a_description_is_said_to_be_a_frame_and_is_no_picture(tmp_path: Path) -> None:
    states = [tmp_path / f"{number}.usdf" for number in range(2)]
    for state in states:
        state.write_text('<world_state><model_state name="crate"><pose>1 0 0 0 0 0</pose></model_state></world_state>')
    problems = Diagnostics()
    scene = open_files(states, Opening(), problems)
    np.testing.assert_array_equal(scene.moments[0].frames["crate"][:3, 3], [1.0, 0.0, 0.0])
    (problem,) = [problem for problem in problems if problem.code == "not-shown"]
    assert "'crate'" in problem.message
    assert main(["view", str(states[0]), "--png", str(tmp_path / "x.png")]) == 1
    assert not (tmp_path / "x.png").exists()


def test_a_missing_mesh_is_a_warning_with_its_place_and_the_rest_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r"><link name="a"><visual><geometry>\n<mesh filename="package://nowhere/x.stl"/>'
        '</geometry></visual><visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>'
    )
    found = Diagnostics()
    scene = open_files([path], Opening(), found)
    assert [part.kind for part in scene.actors[0].surfaces] == ["missing", "visual"]
    (warning,) = found
    assert (warning.code, warning.place.line, warning.place.column) == ("unshown-mesh", 2, 7)
    assert "package://nowhere/x.stl" in warning.message


def test_a_link_without_visuals_shows_its_collision_geometry_only_where_the_robot_has_no_visuals_at_all(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.urdf"
    box = '<geometry><box size="1 1 1"/></geometry>'
    links = f'<link name="a">{{}}</link><link name="b"><collision>{box}</collision></link>'
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    for visual, kinds in ((f"<visual>{box}</visual>", ["visual"]), ("", ["both"])):
        path.write_text(f'<robot name="r">{links.format(visual)}{joint}</robot>')
        assert [part.kind for part in opened(path).actors[0].surfaces] == kinds


@pytest.mark.parametrize(("axis", "told"), [("Y_UP", True), ("Z_UP", False)])
def test_a_mesh_that_says_y_is_up_is_noted_with_its_place(tmp_path: Path, axis: str, told: bool) -> None:
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    dae = trimesh.creation.box((1.0, 2.0, 3.0)).export(file_type="dae").decode()
    plain = re.sub("<up_axis>.*?</up_axis>", "", dae)
    (tmp_path / "m.dae").write_text(plain.replace("</asset>", f"<up_axis>{axis}</up_axis></asset>"))
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r"><link name="a"><visual><geometry>\n<mesh filename="m.dae"/></geometry></visual></link></robot>'
    )
    found = Diagnostics()
    (part,) = open_files([path], Opening(), found).actors[0].surfaces
    # Drawn as it is written, as RViz draws it.
    np.testing.assert_allclose(np.ptp(part.surface.vertices, axis=0), [1.0, 2.0, 3.0])
    assert part.surface.y_up is told
    assert [(item.code, item.place.line, "m.dae says" in item.message) for item in found] == [
        ("y-up-mesh", 2, True)
    ] * told


def test_colours_follow_names_wherever_they_are_defined(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    visuals = "".join(
        f'<visual><geometry><box size="1 1 1"/></geometry>{material}</visual>'
        for material in (
            '<material name="later"/>',
            '<material name="later"><color rgba="0 1 0 1"/></material>',
            '<material name="top"/>',
            "",
        )
    )
    path.write_text(
        f'<robot name="r"><link name="a">{visuals}</link>'
        '<material name="top"><color rgba="1 0 0 0.5"/></material></robot>'
    )
    parts = opened(path).actors[0].surfaces
    assert [part.rgba for part in parts] == [(0, 1, 0, 1), (0, 1, 0, 1), (1, 0, 0, 0.5), None]


def test_states_and_positions_are_taken_up_in_order(rover: Scene) -> None:
    scene = posed(rover, rover.actors[0], [("arm", "reach"), ("gripper", "open")], {"elbow_joint": 0.25})
    q = scene.moments[0].stances["rover_arm"].q
    index = rover.actors[0].kinematics.space.index
    names = ("lift_joint", "elbow_joint", "left_finger_joint", "right_finger_joint")
    assert [q[index[name]] for name in names] == [0.1, 0.25, 0.04, 0.04]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--state", "reach"], 2, "--state takes [MODEL/]GROUP/NAME, not 'reach'"),
        (["--state", "arm/reech"], 1, "unknown state 'reech' of group 'arm'; did you mean 'reach'"),
        (["--joint", "elbow=1"], 1, "unknown joint variable 'elbow'; did you mean 'elbow_joint'"),
        (["--joint", "elbow_joint=much"], 2, "--joint takes NAME=NUMBERS with finite numbers"),
        (["--joint", "elbow_joint"], 2, "--joint takes NAME=NUMBERS"),
        (["--joint", "elbow_joint=nan"], 2, "with finite numbers"),
        # Python alone takes this for 10.
        (["--joint", "elbow_joint=1_0"], 2, "with finite numbers apart by blanks, not 'elbow_joint=1_0'"),
    ],
)
def test_what_is_asked_wrongly_is_said(
    words: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(example(f"rover_arm.{ending}")) for ending in ("urdf", "srdf")]
    assert main(["view", *files, "--png", str(tmp_path / "a.png"), "--size", "64x64", *words]) == code
    assert message in capsys.readouterr().err


def test_with_several_robots_the_one_that_is_meant_is_named(world: Scene) -> None:
    with pytest.raises(RobotSemanticsError, match="which of rover_arm, block_1, block_2, block_3 is meant"):
        world.actor(None)
    with pytest.raises(UnknownNameError, match="unknown model 'rover'"):
        world.actor("rover")
    assert len(posed(world, world.actor("rover_arm"), [("arm", "reach")], {}).moments) == 1


def centre(image: np.ndarray, channel: int) -> list[float]:
    """Return where a colour is on an image: right and down from its middle, in shares of its size."""
    others = [other for other in range(3) if other != channel]
    rows, columns = np.nonzero((image[..., channel] > 120) & (image[..., others] < 100).all(axis=-1))
    height, width = image.shape[:2]
    return [columns.mean() / width - 0.5, rows.mean() / height - 0.5]


def test_standard_views_stand_beside_each_other(tmp_path: Path) -> None:
    links = [
        f'<visual><origin xyz="{place}"/><geometry><box size="0.2 0.2 0.2"/></geometry>'
        f'<material name="{colour}"><color rgba="{colour} 1"/></material></visual>'
        for place, colour in (("1 0 0", "1 0 0"), ("0 1 0", "0 1 0"), ("0 0 1", "0 0 1"))
    ]
    urdf, png = tmp_path / "axes.urdf", tmp_path / "views.png"
    urdf.write_text(f'<robot name="axes"><link name="l">{"".join(links)}</link></robot>')
    views = ["--view", "front", "--view", "left", "--view", "top"]
    assert main(["view", str(urdf), *views, "--png", str(png), "--size", "600x200"]) == 0
    image = np.asarray(Image.open(png)).astype(int)
    assert image.shape == (200, 600, 3)
    front, left, top = image[:, :200], image[:, 200:400], image[:, 400:]
    # Red is ahead, green to the left of the robot, blue above it.
    assert centre(front, 1)[0] - centre(front, 2)[0] > 0.2
    assert centre(front, 2)[1] - centre(front, 1)[1] < -0.2
    assert centre(left, 0)[0] - centre(left, 2)[0] < -0.2
    assert centre(top, 0)[1] - centre(top, 2)[1] < -0.2
    assert centre(top, 1)[0] - centre(top, 2)[0] < -0.2


def test_witnesses_come_from_a_generated_matrix(rover: Scene, tmp_path: Path) -> None:
    report = tmp_path / "why.json"
    generate = ["collisions", "generate", str(URDF), str(SRDF), "-o", str(tmp_path / "new.srdf")]
    assert main([*generate, "--samples", "300", "--report", str(report)]) == 0
    found = witnesses(rover, report)
    assert found
    assert {item["actor"] for item in found} == {"rover_arm"}
    for item in found:
        assert set(item["positions"]) <= set(rover.actors[0].kinematics.space.names)
    report.write_text(json.dumps({"pairs": [{"link1": "a"}]}))
    assert not witnesses(rover, report)
    report.write_text("{}")
    with pytest.raises(RobotSemanticsError, match="not a report of a collision matrix"):
        witnesses(rover, report)


def test_the_command_writes_pictures_and_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, page = tmp_path / "r.png", tmp_path / "r.html"
    robot = ["view", str(URDF), str(SRDF)]
    assert main([*robot, "--png", str(picture), "--html", str(page), "--size", "160x120", "--group", "arm"]) == 0
    assert Image.open(picture).size == (160, 120)
    assert page.read_text().startswith("<!doctype html>")
    capsys.readouterr()
    for out in ("--png", "--html"):
        assert main([*robot, out, str(tmp_path / "x"), "--group", "arms"]) == 1
        assert capsys.readouterr().err == "error: unknown group 'arms'; did you mean 'arm'?\n"
    assert not (tmp_path / "x").exists()
    assert main(["view"]) == 2
