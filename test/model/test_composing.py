# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One robot from two: names, comments, meshes, references, and the pairs between base and part."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from robot_semantics import Diagnostics, ForwardKinematics
from robot_semantics.base.names import LinkPair
from robot_semantics.cli.main import main
from robot_semantics.collision.matrix import CollisionMatrix, Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.transforms import matrix_from_xyz_rpy

SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
PART = """<?xml version="1.0"?>
<!-- licence of the part -->
<robot name="tool" xmlns:drake="urn:drake">
  <!-- the body -->
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="body">
    <visual><geometry><mesh filename="meshes/body.stl"/></geometry><material name="grey"/></visual>
    <collision><geometry><box size="0.05 0.05 0.05"/></geometry></collision>
  </link>
  <link name="left"/><link name="right"/>
  <joint name="open" type="prismatic"><parent link="body"/><child link="left"/>
    <limit lower="0" upper="0.04" effort="1" velocity="1"/></joint>
  <joint name="follow" type="prismatic"><parent link="body"/><child link="right"/>
    <limit lower="0" upper="0.04" effort="1" velocity="1"/><mimic joint="open"/></joint>
  <transmission name="drive"><joint name="open"/><actuator name="motor"/></transmission>
  <ros2_control name="hand" type="system"><joint name="open"/></ros2_control>
  <gazebo reference="left"/>
  <drake:joint name="kept"/>
</robot>
"""
PART_SRDF = """<robot name="tool">
  <virtual_joint name="mount" type="fixed" parent_frame="world" child_link="body"/>
  <!-- both fingers -->
  <group name="hand"><joint name="mount"/><joint name="open"/><joint name="follow"/></group>
  <group_state name="closed" group="hand"><joint name="open" value="0"/></group_state>
  <end_effector name="gripper" group="hand" parent_link="body"/>
  <disable_collisions link1="left" link2="right" reason="Adjacent"/>
</robot>
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in ("rover_arm.urdf", "rover_arm.srdf"):
        (tmp_path / name).write_text(example(name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "parts" / "meshes").mkdir(parents=True)
    (tmp_path / "parts" / "tool.urdf").write_text(PART, encoding="utf-8")
    (tmp_path / "parts" / "tool.srdf").write_text(PART_SRDF, encoding="utf-8")
    return tmp_path


def compose(files: Path, *words: str, srdfs: tuple[Path, ...] = ()) -> int:
    """Compose the rover and the tool, with the SRDFs of both if two are given."""
    base, part = str(files / "rover_arm.urdf"), str(files / "parts" / "tool.urdf")
    if srdfs:
        base, part = f"{base},{srdfs[0]}", f"{part},{srdfs[1]}"
    out = str(files / "out" / "two.urdf")
    (files / "out").mkdir(exist_ok=True)
    return main(["compose", base, part, "--at", "palm_link", "-o", out, *words])


def test_every_name_of_the_part_gets_the_prefix_and_comments_stay(files: Path) -> None:
    assert compose(files, "--prefix", "t_", "--origin", "0", "0", "0.1", "0", "0", "1.5") == 0
    text = (files / "out" / "two.urdf").read_text(encoding="utf-8")
    assert "<!-- licence of the part -->" in text
    assert "<!-- the body -->" in text
    root = etree.fromstring(text.encode())
    expected = (
        *("joint[@name='t_open']/parent[@link='t_body']", "joint[@name='t_follow']/mimic[@joint='t_open']"),
        *("transmission[@name='t_drive']/joint[@name='t_open']", "transmission/actuator[@name='t_motor']"),
        *("ros2_control[@name='t_hand']/joint[@name='t_open']", "gazebo[@reference='t_left']"),
        *("material[@name='t_grey']", "link[@name='t_body']/visual/material[@name='t_grey']"),
        *("link/visual/geometry/mesh[@filename='../parts/meshes/body.stl']", "{urn:drake}joint[@name='kept']"),
    )
    for path in expected:
        assert root.find(path) is not None, path
    base = (files / "rover_arm.urdf").read_text(encoding="utf-8")
    assert text.startswith(base[: base.rindex("</robot>")].rstrip()[:2000].partition("<robot")[0])
    robot = load_robot(files / "out" / "two.urdf", strict=False)
    kinematics = ForwardKinematics(robot)
    poses = kinematics.link_poses(kinematics.space.neutral())
    at, part = robot.link_index["palm_link"], robot.link_index["t_body"]
    expected_pose = poses[at] @ matrix_from_xyz_rpy((0.0, 0.0, 0.1), (0.0, 0.0, 1.5))
    np.testing.assert_allclose(poses[part], expected_pose, atol=1e-12)


def test_srdfs_are_merged_without_the_parts_virtual_joint(files: Path) -> None:
    srdfs = files / "rover_arm.srdf", files / "parts" / "tool.srdf"
    assert compose(files, "--prefix", "t_", "--samples", "200", srdfs=srdfs) == 0
    srdf = files / "out" / "two.srdf"
    assert "<!-- both fingers -->" in srdf.read_text(encoding="utf-8")
    robot = load_robot(files / "out" / "two.urdf", srdf, strict=False)
    alone = load_robot(files / "rover_arm.urdf", files / "rover_arm.srdf", strict=False)
    assert set(robot.semantics.groups) == {*alone.semantics.groups, "t_hand"}
    assert robot.semantics.groups["t_hand"].joints == ("t_follow", "t_open")
    assert robot.semantics.states["t_hand", "closed"].joints == {"t_open": (0.0,)}
    assert robot.semantics.end_effectors["t_gripper"].parent_link == "t_body"
    assert LinkPair.of("t_left", "t_right") in robot.semantics.disabled_collisions
    assert LinkPair.of("palm_link", "t_body") in robot.semantics.disabled_collisions
    assert alone.semantics.disabled_collisions.keys() <= robot.semantics.disabled_collisions.keys()
    assert [joint.name for joint in robot.semantics.virtual_joints] == [
        joint.name for joint in alone.semantics.virtual_joints
    ]


def test_a_link_that_does_not_exist_is_named_and_nothing_is_written(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compose(files, "--at", "palm_lnk") == 1
    assert "did you mean 'palm_link'" in capsys.readouterr().err
    assert not list((files / "out").iterdir())


@pytest.mark.parametrize("text", ["x", "nan", "1_0"])
def test_an_origin_has_the_numbers_of_a_urdf(text: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        compose(files, "--origin", "0", "0", text, "0", "0", "0")
    assert f"argument --origin: should be a number, not '{text}'" in capsys.readouterr().err
    assert not list((files / "out").iterdir())


def test_names_in_both_robots_ask_for_a_prefix(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "parts" / "tool.urdf").write_text(PART.replace('"body"', '"base_link"'), encoding="utf-8")
    assert compose(files) == 1
    assert "link 'base_link' is in both robots: give the part another --prefix" in capsys.readouterr().err


EXTENDED = PART.replace(
    "</robot>",
    """<ros2_control name="a" type="system"><joint name="follow"><param name="mimic">open</param></joint></ros2_control>
  <sensor name="left"><parent link="left"/></sensor><sensor name="ft"><parent joint="open"/></sensor>
  <transmission name="pr2"><gap_joint name="open"/><passive_joint name="follow"/><leftActuator name="l"/></transmission>
  <frame name="grasp" link="left"/>
  <gazebo><plugin name="mimic"><joint> open </joint><mimicJoint>follow</mimicJoint><frameName>left</frameName>
    <text>left</text></plugin></gazebo>
</robot>""",
)


def test_sensors_plugins_and_controllers_refer_to_the_new_names_and_other_mentions_are_reported(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "parts" / "tool.urdf").write_text(EXTENDED, encoding="utf-8")
    assert compose(files, "--prefix", "t_") == 0
    assert capsys.readouterr().err.count("'left' gets no prefix in this element") == 1
    root = etree.parse(files / "out" / "two.urdf").getroot()
    texts = {str(element.tag): element.text for element in root.iterfind("gazebo/plugin/*")}
    assert texts == {"joint": " t_open ", "mimicJoint": "t_follow", "frameName": "t_left", "text": "left"}
    assert root.findtext("ros2_control/joint/param[@name='mimic']") == "t_open"
    for path in (
        *("sensor[@name='t_ft']/parent[@joint='t_open']", "sensor[@name='t_left']/parent[@link='t_left']"),
        *("transmission[@name='t_pr2']/gap_joint[@name='t_open']", "frame[@name='t_grasp'][@link='t_left']"),
        *("transmission/passive_joint[@name='t_follow']", "transmission/leftActuator[@name='t_l']"),
    ):
        assert root.find(path) is not None, path


def test_one_part_is_mounted_twice(files: Path) -> None:
    assert compose(files, "--prefix", "a_") == 0
    first, part = files / "out" / "two.urdf", files / "parts" / "tool.urdf"
    twice = files / "out" / "twice.urdf"
    words = ["compose", str(first), str(part), "--at", "a_left", "-o", str(twice)]
    assert main([*words, "--prefix", "a_"]) == 1
    assert main([*words, "--prefix", "b_"]) == 0
    robot, alone = load_robot(twice, strict=False), load_robot(files / "rover_arm.urdf", strict=False)
    assert len(robot.links) == len(alone.links) + 2 * 3
    assert {robot.joint(name).mimic.joint for name in ("a_follow", "b_follow")} == {"a_open", "b_open"}  # type: ignore[union-attr]


def test_a_material_in_both_robots_asks_for_a_prefix(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = (files / "rover_arm.urdf").read_text(encoding="utf-8")
    (files / "rover_arm.urdf").write_text(base.replace("</robot>", '<material name="grey"/></robot>'), encoding="utf-8")
    assert compose(files) == 1
    assert "material 'grey' is in both robots: give the part another --prefix" in capsys.readouterr().err


QUATERNION = """<robot name="p"{version}><link name="b"/><link name="c"/><joint name="j" type="fixed">
<origin xyz="0 0 1" quat_xyzw="0 0 0.6 0.8"/><parent link="b"/><child link="c"/></joint></robot>"""
CAPSULE = """<robot name="b"{version}><link name="a"><collision><geometry><capsule radius="1" length="2"/></geometry>
</collision></link></robot>"""
PLAIN = '<robot name="b"{version}><link name="a"/></robot>'
TURNED = [[0.28, -0.96, 0.0], [0.96, 0.28, 0.0], [0.0, 0.0, 1.0]]
"""The rotation of the quaternion 0 0 0.6 0.8."""


@pytest.mark.parametrize(
    ("base", "part", "version", "R"),
    [
        (PLAIN.format(version=""), QUATERNION.format(version=' version="1.1"'), "1.1", TURNED),
        (PLAIN.format(version=' version="1.0"'), QUATERNION.format(version=' version="1.2"'), "1.2", TURNED),
        (PLAIN.format(version=' version="1.2"'), QUATERNION.format(version=""), "1.0", np.eye(3)),
        (PLAIN.format(version=""), QUATERNION.format(version=""), None, np.eye(3)),
        (CAPSULE.format(version=' version="1.1"'), QUATERNION.format(version=' version="1.2"'), "1.1", TURNED),
    ],
)
def test_the_version_is_one_under_which_base_and_part_mean_what_they_meant(
    base: str, part: str, version: str | None, R: list[list[float]], tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("base.urdf", "part.urdf", "out.urdf")]
    for file, text in zip(files, (base, part), strict=False):
        file.write_text(text)
    assert main(["compose", str(files[0]), str(files[1]), "--at", "a", "-o", str(files[2])]) == 0
    assert etree.parse(files[2]).getroot().get("version") == version
    robot = load_robot(files[2], strict=False)
    np.testing.assert_allclose(robot.joint("j").T_parent_joint[:3, :3], R, atol=1e-12)
    assert len(robot.link("a").urdf.collisions) == base.count("<collision>")


def test_a_part_without_a_common_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / name for name in ("base.urdf", "part.urdf", "out.urdf")]
    files[0].write_text(CAPSULE.format(version=' version="1.1"'))
    files[1].write_text(QUATERNION.format(version=""))
    assert main(["compose", str(files[0]), str(files[1]), "--at", "a", "-o", str(files[2])]) == 1
    assert "no version gives both the meaning that they have now" in capsys.readouterr().err
    assert not files[2].exists()


@pytest.mark.parametrize("empty", ['<robot name="cell"/>', '<robot name="cell" />', '<robot name="cell"></robot>'])
def test_a_base_srdf_may_be_empty_in_one_tag(empty: str, files: Path) -> None:
    (files / "cell.srdf").write_text(f'<?xml version="1.0"?>\n{empty}\n')
    srdfs = files / "cell.srdf", files / "parts" / "tool.srdf"
    assert compose(files, "--prefix", "t_", "--samples", "50", srdfs=srdfs) == 0
    root = etree.parse(files / "out" / "two.srdf").getroot()
    assert (root.get("name"), [group.get("name") for group in root.iter("group")]) == ("cell", ["t_hand"])


def test_pairs_that_an_srdf_decides_get_no_line(files: Path) -> None:
    base = (files / "rover_arm.srdf").read_text()
    enable = '<enable_collisions link1="palm_link" link2="t_body"/></robot>'
    (files / "rover_arm.srdf").write_text(base.replace("</robot>", enable))
    part = PART_SRDF.replace("</robot>", '<disable_default_collisions link="left"/></robot>')
    (files / "parts" / "tool.srdf").write_text(part)
    srdfs = files / "rover_arm.srdf", files / "parts" / "tool.srdf"
    assert compose(files, "--prefix", "t_", "--samples", "50", srdfs=srdfs) == 0
    root = etree.parse(files / "out" / "two.srdf").getroot()
    pairs = {LinkPair.of(*map(str, item.attrib.values()[:2])) for item in root.iter("disable_collisions")}
    assert [pair for pair in pairs if "t_left" in pair] == [("t_left", "t_right")]
    assert ("palm_link", "t_body") not in pairs
    assert root.find("enable_collisions[@link2='t_body']") is not None


def test_problems_have_their_place_in_the_file_of_base_or_part(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, tool, semantic = files / "rover_arm.srdf", files / "parts" / "tool.urdf", files / "parts" / "tool.srdf"
    nobody = '\n  <passive_joint name="nobody"/></robot>'
    texts = {
        tool: (PART.replace('upper="0.04" effort="1"', 'upper="0.04" effort="x"', 1), 'effort="x"'),
        semantic: (
            PART_SRDF.replace('group="hand"><joint name="open"', 'group="hand"><joint\n name="opn"'),
            'name="opn"',
        ),
        base: (base.read_text().replace("</robot>", nobody), 'name="nobody"'),
    }
    for file, (text, _) in texts.items():
        file.write_text(text)
    assert compose(files, "--prefix", "t_", srdfs=(base, semantic)) == 1
    said = capsys.readouterr().err
    for file, (text, word) in texts.items():
        before = text[: text.index(word)]
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        assert f"{file}:{line}:{column}: error: " in said, (file, said)
    assert "two." not in said
    assert not list((files / "out").iterdir())


def evidence(matrix: CollisionMatrix) -> dict[LinkPair, tuple[object, ...]]:
    return {
        pair: (matrix.reason(pair), found.hits, found.samples, found.found_by_search)
        for pair, found in matrix.pairs.items()
    }


@pytest.mark.skipif(not SHARE.is_dir(), reason="example-robot-data is not installed")
@pytest.mark.parametrize(
    ("base", "at"),
    [
        ("panda_description/urdf/panda_collision.urdf", "panda_link8"),
        ("z1_description/urdf/z1.urdf", "link06"),
        ("go2_description/urdf/go2.urdf", "base"),
    ],
)
def test_pairs_of_base_and_part_are_those_of_the_whole_matrix(base: str, at: str, files: Path) -> None:
    out = files / "two.urdf"
    words = [str(SHARE / base), str(files / "rover_arm.urdf"), "--at", at, "--prefix", "p_", "-o", str(out)]
    assert main(["compose", *words, "--origin", "0", "0", "0.2", "0", "0", "0"]) == 0
    robot = load_robot(out, strict=False)
    folders = [SHARE.parents[1], SHARE.parents[1] / "example-robot-data"]
    pieces = pieces_of(robot, PackageResolver(folders), Diagnostics())
    part = [name for name in robot.link_names if name.startswith("p_")]
    cross = {LinkPair.of(a, b) for a in set(robot.link_names) - set(part) for b in part}
    settings = Settings(samples=600)
    whole = evidence(generate_matrix(robot, pieces, settings))
    alone = evidence(generate_matrix(robot, pieces, settings, only=cross))
    assert alone
    assert alone == {pair: found for pair, found in whole.items() if pair in cross}
