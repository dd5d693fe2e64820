# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot that urdfdom accepts, we accept: 2,000 damaged robots read by both (pinocchio uses urdfdom)."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from lxml import etree

from robot_semantics import DescriptionError, Diagnostics, ForwardKinematics, RobotModel, Severity, load_robot
from robot_semantics.cli.main import main
from robot_semantics.model.loading import robot_from_text

CHECK_URDF = Path(sysconfig.get_path("scripts")) / "check_urdf"
"""Of urdfdom 6, which the package cmeel-urdfdom brings."""

DOCUMENTS = 2_000

ROBOT = """<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="a"><inertial><origin xyz="0 0 1"/><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual name="v"><origin xyz="1 0 0"/><geometry><box size="1 1 1"/></geometry><material name="red"/></visual></link>
  <link name="b"><collision><geometry><cylinder radius="1" length="2"/></geometry></collision></link>
  <link name="c"/><link name="d"/><link name="e"/>
  <joint name="j" type="revolute"><origin xyz="0 1 0" rpy="1 0 0"/><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1" friction="2"/>
    <safety_controller k_velocity="1" k_position="2"/><calibration rising="1"/></joint>
  <joint name="k" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 2 0"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/><mimic joint="j" multiplier="2"/></joint>
  <joint name="l" type="continuous"><parent link="b"/><child link="d"/></joint>
  <joint name="m" type="fixed"><parent link="a"/><child link="e"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>
</robot>"""
TEXTS = [
    *("", " ", "0", "1", "-1", "1.5", "0 0 0", "0 0", "1 2 3 4", " 1  2 3 ", "nan", "inf", "1e-400", "1e5", "+1", ".5"),
    *("a", "b", "c", "j", "k", "red", "x", "fixed", "revolute", "continuous", "0 0 1", "1 0 0 1"),
]


# Older forms of joints, which urdfdom ignores and we read; loops away from the root and links with two parents, which
# urdfdom does not notice and which cannot form a tree.
ON_PURPOSE = {"older-dialect", "mixed-dialects", "cycle", "two-parents"}


def damaged(rng: random.Random) -> str:
    """Return the robot with attributes changed or removed, and elements removed, copied, moved or renamed."""
    root = etree.fromstring(ROBOT)
    for _ in range(rng.choice([1, 1, 2, 3])):
        element = rng.choice([*root.iter("*")][1:])
        parent = element.getparent()
        if parent is None:
            continue
        names = [str(name) for name in element.attrib]
        change = rng.randrange(8)
        if change < 4 and names:
            element.set(rng.choice(names), rng.choice(TEXTS))
        elif change == 4 and names:
            del element.attrib[rng.choice(names)]
        elif change == 5:
            parent.remove(element)
        elif change == 6:
            parent.append(etree.fromstring(etree.tostring(element, with_tail=False)))
        else:
            element.tag = rng.choice([str(other.tag) for other in root.iter("*")])
    return str(etree.tostring(root, encoding="unicode"))


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Keep urdfdom's complaints, which go to the file descriptor, off the test's output."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 Path cannot open it any better
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def theirs(text: str) -> pinocchio.Model | None:
    with contextlib.suppress(ValueError, RuntimeError):
        return pinocchio.buildModelFromXML(text)
    return None


def test_what_urdfdom_starts_with_we_start_with_at_the_same_poses() -> None:
    rng = random.Random(5)
    outcomes: Counter[str] = Counter()
    with silenced():
        for _ in range(DOCUMENTS):
            text = damaged(rng)
            peer = theirs(text)
            diagnostics = Diagnostics()
            model: RobotModel | None = None
            with contextlib.suppress(DescriptionError):
                model = robot_from_text(text, strict=False, diagnostics=diagnostics)
            codes = {problem.code for problem in diagnostics}
            if codes & ON_PURPOSE:
                outcomes["different on purpose"] += 1
                continue
            if peer is not None:
                assert model is not None, text
                # A direction of length zero is an error; urdfdom keeps it and leaves the consequences to its users.
                if "<axis/>" not in text and "zero-axis" not in codes:
                    compare(model, peer, text)
                    outcomes["compared"] += 1
            elif model is not None and not diagnostics.errors:
                outcomes["only we find no error"] += 1
            outcomes["both" if peer is not None else "neither" if model is None else "ours"] += 1
    assert outcomes["compared"] > 600, outcomes
    assert outcomes["neither"] > 600, outcomes
    assert outcomes["different on purpose"] < 200, outcomes
    # Dynamics that say nothing are refused by urdfdom; to us they are a warning. Pinocchio wants masses that we do not.
    assert outcomes["only we find no error"] < 60, outcomes


def compare(model: RobotModel, peer: pinocchio.Model, text: str) -> None:
    """Compare the poses of all links with every joint at zero, and at 0.5 where that is one number."""
    kinematics = ForwardKinematics(model)
    space = kinematics.space
    assert sorted(list(peer.names)[1:]) == sorted(joint.name for joint in model.joints if joint.velocity_count), text
    q, positions = pinocchio.neutral(peer), np.zeros(space.size)
    for joint in model.joints:
        if joint.velocity_count != 1 or joint.mimic is not None:
            continue
        index = peer.getJointId(joint.name)
        first = peer.idx_qs[index]
        positions[space.joint_positions[joint.name]] = 0.5
        if peer.joints[index].nq == 2:
            q[first : first + 2] = np.cos(0.5), np.sin(0.5)
        else:
            q[first] = 0.5
    positions = space.with_mimics(positions)
    for joint in model.joints:
        if joint.mimic is not None:
            index = peer.getJointId(joint.name)
            value = positions[space.joint_positions[joint.name]][0]
            first = peer.idx_qs[index]
            q[first : first + peer.joints[index].nq] = (
                value if peer.joints[index].nq == 1 else (np.cos(value), np.sin(value))
            )
    data = peer.createData()
    pinocchio.framesForwardKinematics(peer, data, q)
    poses = kinematics.link_poses(positions)
    for link in model.links:
        frame = peer.getFrameId(link.name, pinocchio.FrameType.BODY)
        np.testing.assert_allclose(poses[link.index], data.oMf[frame].homogeneous, atol=1e-9, err_msg=text)


@pytest.mark.parametrize("axis", ["0 0 0", "x"])
def test_a_fixed_joint_s_axis_is_not_even_read(axis: str) -> None:
    text = ROBOT.replace('<child link="e"/>', f'<child link="e"/><axis xyz="{axis}"/>')
    with silenced():
        assert theirs(text) is not None
    assert robot_from_text(text, strict=False).joint("m") is not None


LINKS = b'<link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
ODD_BYTES = {
    "a degree sign of Latin-1": (b'<robot name="r"><!-- 90\xb0 -->' + LINKS + b"</robot>", (1, 24)),
    "after the declaration": (
        b'<?xml version="1.0" encoding="utf-8"?>\n<robot name="r">\n <!-- \xe4\xb0 -->' + LINKS + b"</robot>\n",
        (3, 7),
    ),
    "a byte-order mark, and a half character": (
        b'\xef\xbb\xbf<robot name="r"><!--\xc3-->' + LINKS + b"</robot>",
        (1, 21),
    ),
    "before the root": (b'<!-- \x93quoted\x94 --><robot name="r">' + LINKS + b"</robot>", (1, 6)),
    "a control character": (b'<robot name="r"><!-- \x01\x0c -->' + LINKS + b"</robot>", (1, 22)),
    "NULs at the end": (b'<robot name="r">' + LINKS + b"</robot>\n\0\0\0", (2, 1)),
    "a NUL and an old text": (b'<robot name="r">' + LINKS + b"</robot>\0</robot>", None),
}


@pytest.mark.parametrize(("text", "place"), ODD_BYTES.values(), ids=ODD_BYTES)
def test_bytes_that_no_xml_has_are_read_where_check_urdf_reads_them(
    text: bytes, place: tuple[int, int] | None, tmp_path: Path
) -> None:
    (tmp_path / "r.urdf").write_bytes(text)
    assert subprocess.run([CHECK_URDF, tmp_path / "r.urdf"], check=False, capture_output=True).returncode == 0
    diagnostics = Diagnostics()
    robot = load_robot(tmp_path / "r.urdf", strict=False, diagnostics=diagnostics)
    assert robot.link_names == ("a", "b")
    (problem,) = diagnostics
    assert (problem.code, problem.severity) == ("odd-bytes", Severity.WARNING)
    assert place in (None, (problem.place.line, problem.place.column))


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (b'<robot name="r\xfc">' + LINKS + b"</robot>", 15),
        (b'<robot name="r"><!-- \xfc --><gazebo>\xe9</gazebo>' + LINKS + b"</robot>", 35),
    ],
)
def test_a_byte_that_is_not_utf_8_outside_of_comments_is_an_error_with_its_place(
    text: bytes, column: int, tmp_path: Path
) -> None:
    (tmp_path / "r.urdf").write_bytes(text)
    with pytest.raises(DescriptionError) as caught:
        load_robot(tmp_path / "r.urdf", strict=False)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.place.line, problem.place.column) == ("not-decodable", 1, column)


def test_an_edited_srdf_with_such_bytes_becomes_utf_8(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_bytes(b'<robot name="r">' + LINKS + b"</robot>")
    (tmp_path / "r.srdf").write_bytes(b'<robot name="r">\n  <!-- 90\xb0 -->\n  <group name="g"/>\n</robot>\n\0\0')
    assert main(["srdf", "rename", "--in-place", str(tmp_path / "r.srdf"), "group", "g", "h"]) == 0
    written = (tmp_path / "r.srdf").read_text(encoding="utf-8")
    assert written == '<robot name="r">\n  <!-- 90\u00b0 -->\n  <group name="h"/>\n</robot>\n'
