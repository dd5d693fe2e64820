# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops of a second file: robot.yaml of Extended URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.loops import FOUR_BAR, ROBOT_YAML, cut_four_bar_text, four_bar_positions, joint, urdf

from robot_semantics import DescriptionError, Diagnostics, ForwardKinematics
from robot_semantics.cli.main import main
from robot_semantics.kinematics.loops import ClosedLoops, close_loops
from robot_semantics.model.loading import robot_from_text

TEXT = cut_four_bar_text()
NO_RANGE = '<limit effort="1" velocity="1"/>'


@pytest.mark.parametrize("ends", ["[A, B]", "[A_mount, B]"])
@pytest.mark.parametrize("passive", ["continuous", "revolute"])
def test_motors_drive_and_all_other_joints_of_a_loop_are_passive(passive: str, ends: str) -> None:
    loops_text = f"closed_loop: [{ends}]\ntype: ['3D']\nname_mot: [crank]\n"
    # A revolute joint without a range can turn.
    text = TEXT.replace("continuous", passive).replace('<axis xyz="0.0 0.0 1.0"/>', f'{NO_RANGE}<axis xyz="0 0 1"/>')
    loops = ClosedLoops.of(robot_from_text(text, None, loops_text))
    assert loops is not None
    assert loops.dependent == ("coupler", "rocker")
    found = close_loops(loops, loops.space.pack({"crank": 0.7}))
    expected = [four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0] for side in (1.0, -1.0)]
    assert min(np.abs(np.remainder(found - q + np.pi, 2 * np.pi) - np.pi).max() for q in expected) < 1e-11


def test_all_problems_of_the_file_have_their_places() -> None:
    loops_text = (
        "closed_loop: [[A, BB], [A, B]]\ntype: ['3d', '4d']\nname_mot: [cranc]\n"
        "joint_name: [rocker, crank, rokker]\njoint_type: [UJOINT_XX, SPHERICAL]\n"
    )
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(TEXT, None, loops_text)
    found = [(item.code, item.place.line, item.place.column) for item in caught.value.diagnostics]
    assert found == [
        ("wrong-count", 1, 1),
        ("unknown-link", 1, 19),
        ("unknown-constraint-type", 2, 14),
        ("unknown-joint", 3, 12),
        ("unknown-joint-type", 5, 14),
    ]


def test_the_type_of_a_mimic_joint_and_of_its_leader_cannot_change() -> None:
    loops_text = ROBOT_YAML + "joint_name: [crank, lamp]\njoint_type: [SPHERICAL, UJOINT_XY]\n"
    lamp = joint("lamp", "continuous", "base", "lamp_link", (0, 1, 0), (0, 0, 1), '<mimic joint="crank"/>')
    text = TEXT.replace("</robot>", f'<link name="lamp_link"/>{lamp}</robot>')
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(text, None, loops_text)
    assert [(item.place.line, item.place.column) for item in caught.value.diagnostics] == [(4, 14), (4, 21)]


@pytest.mark.parametrize(
    ("loops_text", "code", "place"),
    [
        ("closed_loop: [[A, A]]\ntype: ['3d']\n", "constraint-in-one-body", (1, 15)),
        ("closed_loop: [[A, A_mount]]\ntype: ['6d']\n", "constraint-in-one-body", (1, 15)),
        ("type: []\n", "wrong-count", (1, 1)),
        ("[A, B]\n", "wrong-count", (1, 1)),
        (ROBOT_YAML.replace("[crank]", "crank"), "wrong-count", (3, 11)),
        (ROBOT_YAML + "joint_name: [rocker, rocker]\njoint_type: [FIXED, FIXED]\n", "duplicate-name", (4, 22)),
    ],
)
def test_loops_without_a_meaning_are_errors(loops_text: str, code: str, place: tuple[int, int]) -> None:
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(TEXT, None, loops_text)
    assert [(item.code, item.place.line, item.place.column) for item in caught.value.diagnostics] == [(code, *place)]


def test_an_unknown_key_is_a_warning() -> None:
    diagnostics = Diagnostics()
    robot_from_text(TEXT, None, f"{ROBOT_YAML}name_motor: [rocker]\n", diagnostics=diagnostics)
    (found,) = diagnostics
    assert (found.code, found.place.line, found.suggestion) == ("unknown-key", 4, "name_mot")


def test_fk_takes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "robot.urdf").write_text(TEXT)
    (tmp_path / "robot.yaml").write_text(ROBOT_YAML)
    words = ["fk", str(tmp_path / "robot.urdf"), "--loops", str(tmp_path / "robot.yaml"), "--joint", "crank=0.7"]
    assert main(words) == 0
    rows = {line.split()[0]: line.split()[1:4] for line in capsys.readouterr().out.splitlines()}
    assert rows["A"] == rows["B"]


def test_a_joint_of_the_type_fixed_keeps_its_default_position() -> None:
    # A fifth joint in the coupler gives a second degree of freedom.
    more = '<link name="bend_link"/>' + joint("bend", "continuous", "coupler_link", "bend_link", (0.2, 0, 0), (0, 0, 1))
    text = TEXT.replace(
        '<origin xyz="0.35 0 0"/><parent link="coupler_link"/>', '<origin xyz="0.15 0 0"/><parent link="bend_link"/>'
    )
    loops_text = ROBOT_YAML + "joint_name: [bend]\njoint_type: [FIXED]\n"
    loops = ClosedLoops.of(robot_from_text(text.replace("</robot>", f"{more}</robot>"), None, loops_text))
    assert loops is not None
    assert loops.dependent == ("coupler", "rocker")
    found = loops.close(loops.space.pack({"crank": 0.7}))
    expected = [four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0] for side in (1.0, -1.0)]
    angles = found.q[[loops.space.index[name] for name in ("crank", "coupler", "rocker")]]
    assert found.q[loops.space.index["bend"]] == 0.0
    assert min(np.abs(np.remainder(angles - q + np.pi, 2 * np.pi) - np.pi).max() for q in expected) < 1e-11


def test_a_rod_with_a_universal_and_a_ball_joint_has_its_closed_form() -> None:
    # In the URDF both joints of the rod are revolute. The crank turns about z, the rocker about x.
    radius, rocker, rod, offset = 0.05, 0.15, 0.3, np.array((0.2, 0.1, 0.15))
    z = (0.0, 0.0, 1.0)
    text = urdf(
        joint("crank", "continuous", "base", "a", (0, 0, 0), z),
        joint("swing", "revolute", "a", "rod", (radius, 0, 0), z),
        joint("end", "fixed", "rod", "A", (rod, 0, 0), z),
        joint("rocker", "continuous", "base", "d", offset, (1, 0, 0)),
        joint("ball", "revolute", "d", "B", (0, rocker, 0), z),
        links=["base", "a", "rod", "A", "d", "B"],
    )
    loops_text = (
        "closed_loop: [[A, B]]\ntype: ['6d']\nname_mot: [crank]\n"
        "joint_name: [swing, ball]\njoint_type: [UJOINT_ZY, SPHERICAL]\n"
    )
    loops = ClosedLoops.of(robot_from_text(text, None, loops_text))
    assert loops is not None
    assert loops.freedoms[0].driven == ("crank",)
    theta = np.linspace(0.0, 6.0 * np.pi, 61)
    found = loops.close_series(loops.space.pack({"crank": theta[:, None]}, loops.home.q[0]))
    assert found.closed.all()
    pin = np.stack((radius * np.cos(theta), radius * np.sin(theta), 0.0 * theta), axis=-1) - offset
    # |pin|^2 + rocker^2 - 2 rocker (y cos + z sin) = rod^2
    angle = np.arctan2(pin[:, 2], pin[:, 1])
    spread = np.arccos((np.sum(pin**2, axis=-1) + rocker**2 - rod**2) / (2 * rocker * np.hypot(pin[:, 1], pin[:, 2])))
    off = [found.q[:, loops.space.index["rocker"]] - angle - side * spread for side in (1, -1)]
    errors = [np.abs(np.remainder(each + np.pi, 2.0 * np.pi) - np.pi).max() for each in off]
    assert min(errors) < 1e-11 < max(errors)
    # The rod turns about z of the crank, then about its own y: it has no rotation about its x axis.
    poses = ForwardKinematics(loops.space.model, ["a", "rod"]).link_poses(found.q)
    T_a_rod = np.linalg.inv(poses[:, 0]) @ poses[:, 1]
    assert np.abs(T_a_rod[:, :3, 3] - (radius, 0.0, 0.0)).max() < 1e-12
    assert np.abs(T_a_rod[:, 2, 1]).max() < 1e-12
