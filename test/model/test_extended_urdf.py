# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops of a second file: robot.yaml of Extended URDF."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.loops import FOUR_BAR, four_bar_positions, four_bar_text, joint

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.cli.main import main
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.model.extended_urdf import with_loops_file
from robot_semantics.model.loading import robot_from_text

ENDS = "".join(
    f'<link name="{end}"/><joint name="{end}_mount" type="fixed"><origin xyz="{x} 0 0"/>'
    f'<parent link="{link}"/><child link="{end}"/></joint>'
    for end, link, x in (("A", "coupler_link", FOUR_BAR[2]), ("B", "rocker_link", FOUR_BAR[3]))
)
TEXT = re.sub(r"<constraint.*?</constraint>", ENDS, four_bar_text(), flags=re.DOTALL)


@pytest.mark.parametrize("ends", ["[A, B]", "[A_mount, B]"])
def test_motors_drive_and_all_other_joints_of_a_loop_are_passive(ends: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text(f"closed_loop: [{ends}]\ntype: ['3D']\nname_mot: [crank]\n")
    loops = ClosedLoops.of(with_loops_file(robot_from_text(TEXT), path, Diagnostics()))
    assert loops is not None
    assert loops.dependent == ("coupler", "rocker")
    found = loops.close(loops.space.pack({"crank": 0.7}))
    expected = [four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0] for side in (1.0, -1.0)]
    assert min(np.abs(np.remainder(found.q - q + np.pi, 2 * np.pi) - np.pi).max() for q in expected) < 1e-11


def test_all_problems_of_the_file_have_their_places(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text(
        "closed_loop: [[A, BB], [A, B]]\ntype: ['3d', '4d']\nname_mot: [cranc]\n"
        "joint_name: [rocker]\njoint_type: [SPHERICAL]\n"
    )
    with pytest.raises(DescriptionError) as caught:
        with_loops_file(robot_from_text(TEXT), path, Diagnostics())
    found = [(item.code, item.place.line, item.place.column) for item in caught.value.diagnostics]
    assert found == [
        ("unknown-link", 1, 19),
        ("unknown-constraint-type", 2, 14),
        ("unknown-joint", 3, 12),
        ("unknown-joint-type", 5, 14),
    ]


def test_fk_takes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "robot.urdf").write_text(TEXT)
    (tmp_path / "robot.yaml").write_text("closed_loop: [[A, B]]\ntype: ['3d']\nname_mot: [crank]\n")
    words = ["fk", str(tmp_path / "robot.urdf"), "--loops", str(tmp_path / "robot.yaml"), "--positions", "crank=0.7"]
    assert main(words) == 0
    rows = {line.split()[0]: line.split()[1:4] for line in capsys.readouterr().out.splitlines()}
    assert rows["A"] == rows["B"]


def test_a_joint_of_the_type_fixed_keeps_its_default_position(tmp_path: Path) -> None:
    # A fifth joint in the coupler gives a second degree of freedom.
    more = '<link name="bend_link"/>' + joint("bend", "continuous", "coupler_link", "bend_link", (0.2, 0, 0), (0, 0, 1))
    text = TEXT.replace(
        '<origin xyz="0.35 0 0"/><parent link="coupler_link"/>', '<origin xyz="0.15 0 0"/><parent link="bend_link"/>'
    )
    path = tmp_path / "robot.yaml"
    path.write_text("closed_loop: [[A, B]]\ntype: ['3d']\nname_mot: [crank]\njoint_name: [bend]\njoint_type: [FIXED]\n")
    robot = robot_from_text(text.replace("</robot>", f"{more}</robot>"))
    loops = ClosedLoops.of(with_loops_file(robot, path, Diagnostics()))
    assert loops is not None
    assert loops.dependent == ("coupler", "rocker")
    found = loops.close(loops.space.pack({"crank": 0.7}))
    expected = [four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0] for side in (1.0, -1.0)]
    angles = found.q[[loops.space.index[name] for name in ("crank", "coupler", "rocker")]]
    assert found.q[loops.space.index["bend"]] == 0.0
    assert min(np.abs(np.remainder(angles - q + np.pi, 2 * np.pi) - np.pi).max() for q in expected) < 1e-11
