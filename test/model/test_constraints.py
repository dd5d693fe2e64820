# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Loop constraints in a URDF: every problem with its place, what is kept, and older forms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.loops import FloatArray, constraint, four_bar_text, srdf
from support.marks import unmarked

from robot_semantics import Diagnostics, ForwardKinematics, Severity
from robot_semantics.cli.main import main
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import ConstraintType
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.writer import write_urdf

LINKS = (
    '<link name="base"/><link name="arm"/><link name="hand"/>'
    '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>'
    '<joint name="k" type="fixed"><parent link="arm"/><child link="hand"/></joint>'
)
ENDS = '<parent link="base"/><child link="hand"/>'


def robot(body: str) -> str:
    return f'<robot name="r">\n{LINKS}\n{body}</robot>'


@pytest.mark.parametrize(
    ("body", "code", "message", "suggestion"),
    [
        (
            f'<constraint name="c" §type="spherica">{ENDS}</constraint>',
            "unknown-constraint-type",
            "constraint 'c' is of unknown type 'spherica'",
            "spherical",
        ),
        (
            '<constraint name="c" type="link"><parent §link="bse"/><child link="hand"/></constraint>',
            "unknown-link",
            "constraint 'c': parent link 'bse' does not exist",
            "base",
        ),
        (
            '<constraint name="c" type="link"><parent link="arm"/><child §link="arm"/></constraint>',
            "constraint-in-one-body",
            "constraint 'c' connects link 'arm' with itself",
            None,
        ),
        (
            '<constraint name="c" type="link"><parent link="arm"/><child §link="hand"/></constraint>',
            "constraint-in-one-body",
            "constraint 'c': links 'arm' and 'hand' cannot move relative to each other: only fixed joints connect them",
            None,
        ),
        (
            f'<constraint name="c" type="prismatic_joint">{ENDS}<parent_axis §xyz="0 0 0"/></constraint>',
            "zero-axis",
            "the <parent_axis> of constraint 'c' is 0 0 0",
            None,
        ),
        (
            (
                f'<constraint name="c" type="link">{ENDS}</constraint>'
                f'<constraint §name="c" type="link">{ENDS}</constraint>'
            ),
            "duplicate-name",
            "constraint 'c' is declared twice",
            None,
        ),
        (
            f'<constraint name="c" type="revolute">{ENDS}<child_origin §xyz="0 0"/></constraint>',
            "wrong-count",
            "attribute 'xyz' of <child_origin> should be 3 numbers, not 2: '0 0'",
            None,
        ),
        (
            f'§<constraint type="revolute">{ENDS}</constraint>',
            "missing-attribute",
            "<constraint> has no attribute 'name'",
            None,
        ),
        (
            '§<constraint name="c" type="revolute"><parent link="base"/></constraint>',
            "missing-element",
            "<constraint> has no <child>",
            None,
        ),
    ],
)
def test_each_problem_has_its_place_and_leaves_the_constraint_out(
    body: str, code: str, message: str, suggestion: str | None
) -> None:
    text, place = unmarked(robot(body))
    found = Diagnostics()
    model = robot_from_text(text, strict=False, diagnostics=found)
    (problem,) = found
    assert (problem.code, problem.message, problem.suggestion) == (code, message, suggestion)
    assert (problem.place.line, problem.place.column) == place
    assert problem.severity is Severity.ERROR
    assert len(model.constraints) == text.count('name="c"') // 2


def test_an_axis_without_effect_is_a_warning() -> None:
    text, place = unmarked(robot(f'<constraint name="c" type="link">{ENDS}§<child_axis xyz="0 1 0"/></constraint>'))
    found = Diagnostics()
    model = robot_from_text(text, diagnostics=found)
    (problem,) = found
    assert (problem.severity, problem.code) == (Severity.WARNING, "unused-axis")
    assert problem.message == "constraint 'c' is link, so its <child_axis> has no effect"
    assert (problem.place.line, problem.place.column) == place
    assert len(model.constraints) == 1


def test_every_spelling_of_a_type_is_read_and_kept() -> None:
    names = [name for kind in ConstraintType for name in (kind.value, f"{kind.value}_joint")][:-1]
    assert len(names) == 9
    body = "".join(f'<constraint name="{name}" type="{name}">{ENDS}</constraint>' for name in names)
    model = robot_from_text(robot(body))
    assert [constraint.type.value for constraint in model.constraints] == [n.removesuffix("_joint") for n in names]
    again = parse_urdf(write_urdf(model.urdf))
    assert [constraint.type for constraint in again.constraints] == names
    assert again == model.urdf


def test_a_constraint_is_written_with_all_its_content() -> None:
    body = (
        '<constraint name="c" type="universal" note="1">\n<!-- here -->'
        '<parent link="base"/><parent_origin xyz="0.1 0 0" rpy="0 0 1"/><parent_axis xyz="0 0 2"/>'
        '<child link="hand"/><child_origin xyz="0 0.25 0"/><child_axis xyz="0 3 0"/><gazebo a="b"/></constraint>'
    )
    first = parse_urdf(robot(body), diagnostics=Diagnostics())
    text = write_urdf(first)
    assert parse_urdf(text, diagnostics=Diagnostics()) == first
    for part in ("<!-- here -->", 'note="1"', '<gazebo a="b"/>', '<child_axis xyz="0 3 0"/>'):
        assert part in text
    (resolved,) = robot_from_text(robot(body), strict=False).constraints
    assert resolved.parent_axis.tolist() == [0.0, 0.0, 1.0]
    assert resolved.child_axis.tolist() == [0.0, 1.0, 0.0]
    assert resolved.T_parent_frame[:3, 3].tolist() == [0.1, 0.0, 0.0]
    assert np.abs(resolved.T_parent_frame[:2, 0] - (np.cos(1.0), np.sin(1.0))).max() < 1e-15


def test_an_upgrade_keeps_the_places_of_a_constraint() -> None:
    # In the two-origin form, the frame of the child link is not the frame of its joint.
    shifted = '<child link="crank_link"><origin xyz="0.02 0.03 0" rpy="0 0 0.4"/></child>'
    ends = '<parent link="base"/><child link="crank_link"/>'
    new = four_bar_text()
    old = new.replace(f'<origin xyz="0.0 0.0 0.0"/>{ends}', f'<parent link="base"/>{shifted}')
    assert old != new
    direct = constraint("pin2", "spherical", ("crank_link", (0.05, 0, 0)), ("base", (0.05, 0, 0)))
    new, old = (text.replace("</robot>", f"{direct}</robot>") for text in (new, old))
    models = [robot_from_text(text, strict=False) for text in (new, old)]
    points = []
    for model, T_C_J in zip(models, (np.eye(4), _pose(0.02, 0.03, 0.4)), strict=True):
        pin = model.constraints[1]
        pose = ForwardKinematics(model, ["crank_link"]).link_poses(np.zeros(3))[0]
        points.append((pose @ pin.T_parent_frame, T_C_J))
    # The point is fixed to the old frame of the link: seen from the joint's frame it is inv(T_C_J) @ point.
    expected = np.linalg.inv(points[1][1]) @ points[0][0]
    assert np.abs(points[1][0] - expected).max() < 1e-15


def _pose(x: float, y: float, yaw: float) -> FloatArray:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    texts = {"robot.urdf": four_bar_text(), "robot.srdf": srdf("coupler", "rocker")}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [f"{tmp_path}/{name}" for name in texts]


def test_check_tells_the_degrees_of_freedom(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *files]) == 0
    out = capsys.readouterr().out
    assert "note: loop 'pin': 1 degree of freedom; 'coupler', 'rocker' follow from 'crank'" in out


def test_check_warns_without_passive_joints(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", files[0]]) == 0
    said = "add <passive_joint> for 2 of 'crank', 'coupler', 'rocker' to the SRDF"
    assert said in capsys.readouterr().out


def test_fk_closes_the_loops(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fk", *files, "--joint", "crank=0.7", "--json"]) == 0
    poses = json.loads(capsys.readouterr().out)["poses"]
    model = robot_from_text(four_bar_text(), srdf("coupler", "rocker"))
    loops = ClosedLoops.of(model)
    assert loops is not None
    x, y = poses["coupler_link"][:2]
    yaw = 2.0 * np.arctan2(poses["coupler_link"][5], poses["coupler_link"][6])
    pin = np.array((x + 0.35 * np.cos(yaw), y + 0.35 * np.sin(yaw)))
    assert abs(np.hypot(*(pin - (0.4, 0.0))) - 0.3) < 1e-12


@pytest.mark.parametrize(
    ("positions", "said"),
    [
        (["crank=0.7", "rocker=1.8"], "joint 'rocker' is passive: the loops need 1.77006492"),
        (["crank=2"], "the loops of 'pin' do not close at these positions: they stay open by 0.2"),
    ],
)
def test_fk_refuses_positions_that_do_not_close(
    positions: list[str], said: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if "crank=2" in positions:
        Path(files[0]).write_text(four_bar_text((0.5, 0.3, 0.25, 0.2)))
    assert main(["fk", *files, *(part for word in positions for part in ("--joint", word))]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("tag", ["loop", "loop_joint", "coupling", "drake:ball_constraint"])
def test_loops_of_other_programs_are_named(tag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(robot(f"<{tag}/>").replace("<robot ", '<robot xmlns:drake="http://drake.mit.edu" '))
    main(["check", str(path), "--all"])
    assert f"<{tag}> closes a loop for another program only; write a <constraint> for it" in capsys.readouterr().out
