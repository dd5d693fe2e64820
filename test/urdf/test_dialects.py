# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The two older forms of a joint: every visual, collision and inertial frame keeps its world pose at every q.

scipy composes the expected poses from the numbers in the old text, and the actual poses from the upgraded text as read
by ElementTree.
"""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_semantics import Diagnostics, Severity
from robot_semantics.cli.main import main
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.writer import current_text, write_urdf

Matrix = npt.NDArray[np.float64]
Six = tuple[float, float, float, float, float, float]

CURRENT, ORIGINAL, PARENT_IN_LINK, TWO_ORIGINS = "current", "original", "parent in link", "two origins"
ORIGIN_IN_LINK, BOTH_IN_LINK = "parent in joint and its origin in link", "parent and its origin in link"
IN_LINK = (ORIGINAL, PARENT_IN_LINK, ORIGIN_IN_LINK, BOTH_IN_LINK)
FRAMES = ("visual", "collision", "inertial")
NO_FRAMES: dict[str, Six | None] = dict.fromkeys(FRAMES)


class OldLink(NamedTuple):
    """A link with the joint above it; the first of a robot has none. Frames are x y z roll pitch yaw or not stated."""

    dialect: str
    kind: str
    parent: int
    T_P_J: Six | None
    T_C_J: Six | None
    axis: tuple[float, float, float]
    frames: dict[str, Six | None]


def matrix(six: Six | None) -> Matrix:
    result = np.eye(4)
    if six is not None:
        result[:3, 3] = six[:3]
        result[:3, :3] = Rotation.from_euler("xyz", six[3:]).as_matrix()
    return result


def motion(kind: str, axis: npt.ArrayLike, q: Matrix) -> Matrix:
    """The joint's motion at `q`, of which it takes as many numbers as it needs."""
    unit = np.asarray(axis, dtype=float) / np.linalg.norm(np.asarray(axis, dtype=float))
    result = np.eye(4)
    if kind in ("revolute", "continuous"):
        result[:3, :3] = Rotation.from_rotvec(q[0] * unit).as_matrix()
    elif kind == "prismatic":
        result[:3, 3] = q[0] * unit
    elif kind == "planar":
        assert np.allclose(unit, [0, 0, 1])
        result[:2, 3] = q[:2]
        result[:3, :3] = Rotation.from_euler("z", q[2]).as_matrix()
    elif kind == "floating":
        result[:3, 3] = q[:3]
        result[:3, :3] = Rotation.from_rotvec(q[3:6]).as_matrix()
    return result


def old_poses(links: list[OldLink], q: Matrix) -> dict[tuple[str, str], Matrix]:
    """World poses of all frames, by the rule of the old forms: T_P_C = T_P_J @ motion(q) @ inv(T_C_J)."""
    T_W: list[Matrix] = [np.eye(4)]
    for index, link in enumerate(links[1:], 1):
        T_C_J = np.eye(4) if link.dialect == CURRENT else matrix(link.T_C_J)
        T_P_C = matrix(link.T_P_J) @ motion(link.kind, link.axis, q[index]) @ np.linalg.inv(T_C_J)
        T_W.append(T_W[link.parent] @ T_P_C)
    return {
        (f"l{index}", frame): T_W[index] @ matrix(link.frames[frame])
        for index, link in enumerate(links)
        for frame in FRAMES
    }


def new_poses(text: str, q: Matrix) -> dict[tuple[str, str], Matrix]:
    """World poses of all frames in a text in the current form."""
    root = ET.fromstring(text)
    joints = {joint.find("child").get("link"): joint for joint in root.iter("joint")}  # type: ignore[union-attr]

    def pose(element: ET.Element | None) -> Matrix:
        origin = None if element is None else element.find("origin")
        if origin is None:
            return np.eye(4)
        words = f"{origin.get('xyz', '0 0 0')} {origin.get('rpy', '0 0 0')}".split()
        x, y, z, roll, pitch, yaw = map(float, words)
        return matrix((x, y, z, roll, pitch, yaw))

    def link_pose(name: str) -> Matrix:
        joint = joints.get(name)
        if joint is None:
            return np.eye(4)
        axis, parent = joint.find("axis"), joint.find("parent")
        assert parent is not None
        words = ("1 0 0" if axis is None else axis.get("xyz", "")).split()
        moved = pose(joint) @ motion(str(joint.get("type")), [float(word) for word in words], q[int(name[1:])])
        return link_pose(str(parent.get("link"))) @ moved

    return {
        (str(link.get("name")), frame): link_pose(str(link.get("name"))) @ pose(link.find(frame))
        for link in root.iter("link")
        for frame in FRAMES
    }


def old_text(links: list[OldLink]) -> str:
    """The robot in the forms that its links ask for."""
    lines = ['<robot name="r">']
    for index, link in enumerate(links):
        joint = [] if index == 0 else joint_text(index, link)
        inside = joint if link.dialect in IN_LINK else []
        lines.append(f'<link name="l{index}">')
        lines += inside
        geometry = '<geometry><box size="1 1 1"/></geometry>'
        for frame in ("visual", "collision"):
            lines.append(f"<{frame}>{origin(link.frames[frame])}{geometry}</{frame}>")
        inertia = '<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        lines.append(f"<inertial>{origin(link.frames['inertial'])}{inertia}</inertial></link>")
        lines += joint if not inside else []
    return "\n".join([*lines, "</robot>"])


def origin(six: Six | None) -> str:
    if six is None:
        return ""
    xyz, rpy = (" ".join(map(repr, part)) for part in (six[:3], six[3:]))
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


def joint_text(index: int, link: OldLink) -> list[str]:
    start = f'<joint name="j{index}" type="{link.kind}">'
    rest = (
        f'<axis xyz="{" ".join(map(repr, link.axis))}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
    )
    if link.dialect == CURRENT:
        ends = f'<parent link="l{link.parent}"/><child link="l{index}"/>'
        return [start + origin(link.T_P_J) + ends + rest]
    if link.dialect == TWO_ORIGINS:
        parent = f'<parent link="l{link.parent}">{origin(link.T_P_J)}</parent>'
        return [f'{start}{parent}<child link="l{index}">{origin(link.T_C_J)}</child>{rest}']
    alone, moved = f'<parent name="l{link.parent}"/>', origin(link.T_P_J)
    if link.dialect == ORIGIN_IN_LINK:
        return [moved, start + origin(link.T_C_J) + alone + rest]
    if link.dialect == BOTH_IN_LINK:
        return [start + origin(link.T_C_J) + rest, alone, moved]
    parent = f'<parent name="l{link.parent}">{origin(link.T_P_J)}</parent>'
    if link.dialect == ORIGINAL:
        return [start + origin(link.T_C_J) + parent + rest]
    return [start + origin(link.T_C_J) + rest, parent]


length = st.floats(-2, 2)
angle = st.floats(-3, 3) | st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi])
sixes = st.none() | st.tuples(length, length, length, angle, angle, angle)


@st.composite
def robots(draw: st.DrawFn) -> list[OldLink]:
    links = []
    for index in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(["revolute", "continuous", "prismatic", "fixed", "planar", "floating"]))
        axis = draw(st.sampled_from([(1.0, 0.0, 0.0), (0.0, -2.0, 0.0), (0.3, 0.4, -1.2)]))
        links.append(
            OldLink(
                draw(st.sampled_from([CURRENT, *IN_LINK, TWO_ORIGINS])) if index else CURRENT,
                kind,
                draw(st.integers(0, max(index - 1, 0))),
                draw(sixes),
                draw(sixes),
                (0.0, 0.0, 1.0) if kind == "planar" else axis,
                {frame: draw(sixes) for frame in FRAMES},
            )
        )
    return links


@settings(deadline=None, max_examples=200)
@given(robots(), st.integers(0, 2**32 - 1))
def test_an_upgrade_keeps_every_frame_s_world_pose_for_every_q(links: list[OldLink], seed: int) -> None:
    diagnostics = Diagnostics()
    robot = parse_urdf(old_text(links), diagnostics=diagnostics)
    assert resolve_urdf(robot, diagnostics) is not None
    assert not diagnostics.errors
    text = write_urdf(robot)
    again = Diagnostics()
    assert parse_urdf(text, diagnostics=again) == robot
    assert not [problem for problem in again if problem.code == "older-dialect"]
    q = np.random.default_rng(seed).uniform(-3, 3, (len(links), 6))
    expected, found = old_poses(links, q), new_poses(text, q)
    assert expected.keys() == found.keys()
    for key, pose in expected.items():
        np.testing.assert_allclose(found[key], pose, atol=1e-9, err_msg=str(key))


def test_joints_in_an_older_form_are_each_warned_of() -> None:
    links = [
        OldLink(dialect, "fixed", max(index - 1, 0), None, None, (1.0, 0.0, 0.0), dict.fromkeys(FRAMES))
        for index, dialect in enumerate([CURRENT, ORIGINAL, TWO_ORIGINS, CURRENT, PARENT_IN_LINK])
    ]
    # Without any origin a joint with <parent link/> and <child link/> is in the current form.
    links[2] = links[2]._replace(T_P_J=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    diagnostics = Diagnostics()
    parse_urdf(old_text(links), diagnostics=diagnostics)
    assert [problem.code for problem in diagnostics] == ["older-dialect"] * 3
    assert {problem.severity for problem in diagnostics} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<color rgb="255 0 51"/>', '<color rgba="1 0 0.2 1"/>'),
        ('<color rgb="1 0 0.5"/>', '<color rgba="1 0 0.5 1"/>'),
        ('<color rgb="255 0 0" rgba="0 1 0 1"/>', '<color rgba="0 1 0 1"/>'),
    ],
)
def test_the_colours_of_the_review_become_those_of_today(old: str, new: str) -> None:
    robot = parse_urdf(
        f'<robot name="r"><link name="P"/><material name="m">{old}</material></robot>', "r", Diagnostics()
    )
    written = write_urdf(robot)
    assert new in written
    assert parse_urdf(written).materials == robot.materials


@pytest.mark.parametrize(
    ("old", "name"),
    [('<texture filename="wood.png"/>', "wood.png"), ('<texture name="w" filename="wood.png"/>', "w")],
)
def test_a_texture_file_in_a_visual_becomes_a_material(old: str, name: str) -> None:
    body = f'<visual><geometry><box size="1 1 1"/></geometry>{old}</visual>'
    robot = parse_urdf(f'<robot name="r"><link name="P">{body}</link></robot>', "r", Diagnostics())
    written = write_urdf(robot)
    assert f'<material name="{name}"><texture filename="wood.png"/></material>'.replace(" ", "") in "".join(
        written.split()
    )
    assert not list(parse_urdf(written).links[0].extras)
    again = Diagnostics()
    parse_urdf(written, "again", again)
    assert len(again) == 0


def test_the_origin_in_an_old_link_is_the_joint_frame_in_the_parent_link() -> None:
    text = """<robot name="r"><link name="P"/><link name="C"><!-- 1 -->
      <origin xyz="1 2 3"><!-- 2 --></origin><parent name="P"/><!-- 3 -->
      <joint name="J" type="continuous"><origin xyz="0 0 1" rpy="0 0 1.5"/></joint></link></robot>"""
    diagnostics = Diagnostics()
    robot = parse_urdf(text, diagnostics=diagnostics)
    assert [joint.origin and joint.origin.xyz for joint in robot.joints] == [(1, 2, 3)]
    assert [problem.code for problem in diagnostics] == ["link-frames-moved", "older-dialect"]
    moved = "link frames move onto the frames of their joints, as in the current form: 'C' by 1 m and 1.5 rad"
    assert next(iter(diagnostics)).message == moved
    written = "".join(write_urdf(robot).split())
    assert '<linkname="C"><!--1--><!--3--></link>' in written
    assert '<originxyz="123"><!--2--></origin><parentlink="P"/><childlink="C"/>' in written


def test_an_origin_in_a_link_without_a_joint_in_it_is_kept_but_means_nothing() -> None:
    text = '<robot name="r"><link name="P"><!-- 1 --><origin xyz="1 2 x"/><visual/><!-- 2 --></link></robot>'
    diagnostics = Diagnostics()
    robot = parse_urdf(text.replace("<visual/>", ""), diagnostics=diagnostics)
    assert [(problem.code, problem.place.column) for problem in diagnostics] == [
        ("unknown-element", text.index("<origin") + 1)
    ]
    assert '<!--1--><originxyz="12x"/><!--2-->' in "".join(write_urdf(robot).split())


@pytest.mark.parametrize("where", ["link", "joint"])
def test_a_joint_frame_that_is_stated_twice_is_an_error(where: str) -> None:
    parent = '<parent name="p"><origin xyz="1 0 0"/></parent>'
    inside, beside = (parent, "") if where == "joint" else ("", parent)
    text = f"""<robot name="r"><link name="p"/><link name="c">
      <origin/><joint name="j" type="fixed">{inside}</joint>{beside}</link></robot>"""
    diagnostics = Diagnostics()
    robot = parse_urdf(text, diagnostics=diagnostics)
    (problem,) = diagnostics.errors
    assert (problem.code, problem.place.line, problem.place.column) == ("mixed-dialects", 2, 7)
    assert resolve_urdf(robot, diagnostics) is None


def test_the_text_in_the_current_form_is_its_own_unless_it_was_rewritten() -> None:
    current = '<robot name="r"><link  name="P"/></robot>'
    assert current_text(parse_urdf(current)) == current
    assert current_text(parse_urdf(OLD)) == NEW


OLD = """<robot name="r">
  <link name="P"/>
  <!-- the child -->
  <link name="C">
    <joint name="J" type="revolute">
      <origin xyz="0 0 1"/>
      <axis xyz="0 1 0"/>
      <parent name="P"><!-- at P --><origin xyz="1 0 0"/></parent>
      <joint_properties damping="1" friction="0"/>
      <limit lower="0.9" upper="2.1" effort="1000" velocity="1"/>
      <safety_controller soft_lower_limit="0.7" soft_upper_limit="2.1" k_position="1" k_velocity="1"/>
      <calibration reference_position="0.7"/>
    </joint>
    <inertial><mass value="10"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><geometry><box size="1 1 1"/></geometry><texture name="PR2/Green"/></visual>
    <collision>
      <geometry><box size="1.01 1.01 1.01"/></geometry>
      <contact_coefficient mu="0" resitution="0" k_p="0" k_d="0"/>
    </collision>
  </link>
  <material name="PR2/Green"><color rgba="0 1 0 1"/></material>
</robot>
"""
NEW = """<?xml version="1.0"?>
<robot name="r">
  <link name="P"/>
  <!-- the child -->
  <link name="C">
    <inertial>
      <origin xyz="0 0 -1" rpy="0 0 0"/>
      <mass value="10"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
    <visual>
      <origin xyz="0 0 -1" rpy="0 0 0"/>
      <geometry>
        <box size="1 1 1"/>
      </geometry>
      <material name="PR2/Green"/>
    </visual>
    <collision>
      <origin xyz="0 0 -1" rpy="0 0 0"/>
      <geometry>
        <box size="1.01 1.01 1.01"/>
      </geometry>
      <contact_coefficient mu="0" resitution="0" k_p="0" k_d="0"/>
    </collision>
  </link>
  <joint name="J" type="revolute">
    <origin xyz="1 0 0"/>
    <axis xyz="0 1 0"/>
    <parent link="P">
      <!-- at P -->
    </parent>
    <child link="C"/>
    <dynamics damping="1" friction="0"/>
    <limit lower="0.9" upper="2.1" effort="1000" velocity="1"/>
    <safety_controller k_velocity="1" k_position="1" soft_lower_limit="0.7" soft_upper_limit="2.1"/>
    <calibration reference_position="0.7"/>
  </joint>
  <material name="PR2/Green">
    <color rgba="0 1 0 1"/>
  </material>
</robot>
"""


def test_the_founding_document_s_example_is_upgraded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.urdf", tmp_path / "new.urdf"
    old.write_text(OLD)
    assert main(["upgrade", str(old), "-o", str(new), "--dry-run"]) == 0
    assert not new.exists()
    printed = capsys.readouterr()
    assert main(["upgrade", str(old), "-o", str(new)]) == 0
    assert new.read_text() == NEW
    assert f"--- {old}\n+++ {new}\n" in printed.out
    assert '-      <joint_properties damping="1" friction="0"/>\n' in printed.out
    assert '+    <dynamics damping="1" friction="0"/>\n' in printed.out
    assert f"{old}:1:1: warning: link frames move onto the frames of" in printed.err
    assert printed.err.count("older-dialect") == 1
    assert f"{old}:5:5: warning: this joint has the form of the original proposal" in printed.err


def test_without_an_output_file_the_upgrade_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.urdf"
    old.write_text(OLD)
    assert main(["upgrade", str(old)]) == 0
    assert capsys.readouterr().out == NEW


def test_what_is_in_the_current_form_stays_byte_for_byte(tmp_path: Path) -> None:
    old, new = tmp_path / "old.urdf", tmp_path / "new.urdf"
    text = '<?xml version="1.0" encoding="latin-1"?>\r\n<robot name="é"><!-- a -- b --><link name="a"/>\r\n</robot>'
    old.write_bytes(text.encode("latin-1"))
    assert main(["upgrade", str(old), "-o", str(new)]) == 0
    assert new.read_bytes() == old.read_bytes()


def test_the_diff_is_one_that_patch_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.urdf"
    joint = '<joint name="j" type="fixed"><parent name="p"/></joint>'
    old.write_text(f'<robot name="r">\n<link name="p"/><link name="c">{joint}</link>\n</robot>')
    assert main(["upgrade", str(old), "--dry-run"]) == 0
    diff = capsys.readouterr().out
    assert "\n-</robot>\n\\ No newline at end of file\n" in diff
    assert main(["upgrade", str(old)]) == 0
    new = capsys.readouterr().out
    subprocess.run(["patch", str(old)], input=diff, text=True, check=True, capture_output=True)
    assert old.read_text() == new


def test_an_old_file_in_error_is_not_upgraded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.urdf", tmp_path / "new.urdf"
    old.write_text(OLD.replace('name="P"/>', 'name="Q"/>', 1))
    assert main(["upgrade", str(old), "-o", str(new)]) == 1
    assert not new.exists()
    assert "error: joint 'J': parent link 'P' does not exist" in capsys.readouterr().err


def test_a_xacro_is_not_upgraded_with_its_macros(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.urdf"
    old.write_text('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:x/></robot>')
    assert main(["upgrade", str(old)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {old} is a xacro: ")


def test_a_joint_in_a_link_needs_a_parent() -> None:
    diagnostics = Diagnostics()
    parse_urdf('<robot name="r"><link name="c"><joint name="j" type="fixed"/></link></robot>', diagnostics=diagnostics)
    assert [(problem.code, problem.message) for problem in diagnostics.errors] == [
        ("missing-element", "<joint> has no <parent>")
    ]


def test_a_current_robot_passes_an_upgrade_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = [
        OldLink(
            CURRENT, "revolute", max(index - 1, 0), (0.1, 0.0, 0.0, 0.1, 0.2, 0.3), None, (0.0, 1.0, 0.0), NO_FRAMES
        )
        for index in range(4)
    ]
    old, new = tmp_path / "old.urdf", tmp_path / "new.urdf"
    old.write_text(old_text(links))
    assert main(["upgrade", str(old), "-o", str(new)]) == 0
    assert new.read_bytes() == old.read_bytes()
    assert capsys.readouterr() == ("", f"{old}: is in the current form already\n")


@pytest.mark.parametrize(
    ("joints", "why"),
    [
        ("", "the link has no <joint>"),
        ('<joint name="j" type="fixed"><parent name="p"/></joint>', "its <joint> has its own"),
    ],
)
def test_a_parent_in_a_link_that_joins_nothing_is_kept_and_said(joints: str, why: str) -> None:
    body = f'<!-- 1 --><parent name="q"><!-- 2 --><origin xyz="1 2 3"/></parent><!-- 3 -->{joints}'
    text = f'<robot name="r"><link name="p"/><link name="c">{body}</link></robot>'
    diagnostics = Diagnostics()
    robot = parse_urdf(text, "old.urdf", diagnostics)
    said = next(problem for problem in diagnostics if problem.code == "unused-parent")
    assert said.severity is Severity.WARNING
    assert why in said.message
    assert said.place.column == text.index("<parent name='q'".replace("'", '"')) + 1
    written = write_urdf(robot)
    link = "".join(written.partition('<link name="c">')[2].partition("</link>")[0].split())
    assert link == '<!--1--><parentname="q"><!--2--><originxyz="123"/></parent><!--3-->'
    assert parse_urdf(written, "new.urdf", Diagnostics()).links == robot.links


def test_a_parent_with_both_names_is_said_and_the_newer_counts() -> None:
    diagnostics = Diagnostics()
    joint = '<joint name="j" type="fixed"><parent name="q" link="p"/></joint>'
    text = f'<robot name="r"><link name="p"/><link name="c">{joint}</link></robot>'
    robot = parse_urdf(text, "old.urdf", diagnostics)
    assert robot.joints[0].parent == "p"
    said = next(problem for problem in diagnostics if problem.code == "duplicate-element")
    assert (said.message, said.place.column) == (
        "<parent> has both 'link' and 'name'; the link is 'p'",
        text.index('name="q"') + 1,
    )


def test_the_properties_of_a_joint_in_the_current_form_are_its_dynamics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.urdf", tmp_path / "new.urdf"
    old.write_text(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/><!-- kept --><joint_properties damping="0.5" friction="2"/></joint></robot>'
    )
    assert main(["check", str(old), "--strict"]) == 1
    assert "<joint_properties> is an older form of <dynamics>" in capsys.readouterr().out
    assert main(["upgrade", str(old), "-o", str(new)]) == 0
    assert [item.attrib for item in ET.parse(new).getroot().iter("dynamics")] == [{"damping": "0.5", "friction": "2"}]
    assert "<!-- kept -->" in new.read_text()
    assert main(["check", str(new), "--strict"]) == 0
    assert main(["diff", str(old), str(new)]) == 0
