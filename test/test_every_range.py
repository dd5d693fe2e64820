# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Limits that mean none: every consumer of a joint's range uses the same usable part of it.

The expected ranges are arithmetic: the robot's extent is |(0, 0, 1)| + |(0, 0, -0.5)| + |(0.3, 0.4, 0)| = 2 m.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli.main import main
from robot_semantics.collision.matrix import Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.sampling import block_sampler
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel

TURN = 2.0 * math.pi
RANGES: dict[tuple[str, str, str], tuple[float, float] | None] = {
    # type, lower, upper: the usable range; None: the stated one limits the joint.
    ("prismatic", "-1", "2"): None,
    ("prismatic", "-400", "600"): None,
    ("prismatic", "0", "0"): None,
    ("prismatic", "-1e16", "1e16"): (-2.0, 2.0),
    ("prismatic", "-3.4e38", "3.4e38"): (-2.0, 2.0),
    ("prismatic", "-1.7976931348623157e308", "1.7976931348623157e308"): (-2.0, 2.0),
    ("prismatic", "-1e6", "1e6"): (-2.0, 2.0),
    ("prismatic", "-0.5", "1e16"): (-0.5, 2.0),
    ("prismatic", "5", "1e16"): (5.0, 7.0),
    ("prismatic", "-1e16", "-3"): (-5.0, -3.0),
    ("prismatic", "0", "1001"): (0.0, 2.0),
    ("revolute", "-3", "4"): None,
    ("revolute", "-5000", "5000"): None,
    ("revolute", "-1e16", "1e16"): (-TURN, TURN),
    ("revolute", "1", "1e30"): (1.0, 1.0 + TURN),
    ("revolute", "-10001", "0"): (-TURN, 0.0),
}


def text(kind: str, lower: str, upper: str, more: str = "") -> str:
    box = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
    return f"""<robot name="a"><link name="base">{box}</link><link name="rail"/><link name="head">{box}</link>
<link name="flag"/>
<joint name="f" type="fixed"><origin xyz="0 0 1"/><parent link="base"/><child link="rail"/></joint>
<joint name="q" type="{kind}"><origin xyz="0 0 -0.5"/><parent link="rail"/><child link="head"/><axis xyz="0 0 -1"/>
<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>{more}</joint>
<joint name="g" type="fixed"><origin xyz="0.3 0.4 0"/><parent link="head"/><child link="flag"/></joint></robot>"""


def usable(kind: str, lower: str, upper: str) -> tuple[float, float]:
    return RANGES[kind, lower, upper] or (float(lower), float(upper))


def default(low: float, high: float) -> float:
    return 0.0 if low <= 0.0 <= high else (low + high) / 2.0


EACH = pytest.mark.parametrize(("kind", "lower", "upper"), RANGES, ids=[" ".join(row) for row in RANGES])


@EACH
def test_samples_defaults_and_middles(kind: str, lower: str, upper: str) -> None:
    robot = robot_from_text(text(kind, lower, upper))
    low, high = usable(kind, lower, upper)
    assert robot.usable_range(robot.joint("q")) == pytest.approx((low, high), abs=1e-12)
    space = JointSpace.of(robot)
    assert space.neutral().tolist() == pytest.approx([default(low, high)], abs=1e-12)
    for q in (
        space.random(np.random.default_rng(0), (2000,)),
        block_sampler(space, 0)(0),
        block_sampler(space, 0, "sobol")(0),
    ):
        assert low <= q.min() <= q.max() <= high
        # The whole range is sampled, not only a part of it.
        assert q.max() - q.min() >= 0.9 * (high - low)


@EACH
def test_the_middle_of_the_node_and_the_sliders(kind: str, lower: str, upper: str) -> None:
    from robot_semantics.kinematics.forward import ForwardKinematics
    from robot_semantics.viewer.scene import Actor
    from robot_semantics.viewer.scene_data import _joint

    robot = robot_from_text(text(kind, lower, upper))
    low, high = usable(kind, lower, upper)
    assert mid_positions(robot).tolist() == pytest.approx([(low + high) / 2.0], abs=1e-12)
    shown = _joint(Actor("a", robot, (), "world"), robot.joint("q"))
    assert shown["range"] == pytest.approx([low, high], abs=1e-12)
    # A page also gets the stated limits: a position beyond them is marked.
    assert (shown["lower"], shown["upper"]) == (float(lower), float(upper))
    assert ForwardKinematics(robot).link_poses(JointSpace.of(robot).neutral()).max() < 1e4


def mid_positions(robot: RobotModel) -> np.ndarray:
    from robot_semantics.live.buffer import default_positions

    found = default_positions(robot, JointSpace.of(robot), "mid")
    assert found is not None
    return found


@EACH
def test_check_says_once_that_a_joint_is_not_limited(kind: str, lower: str, upper: str) -> None:
    problems = Diagnostics()
    robot_from_text(text(kind, lower, upper), diagnostics=problems)
    unlimited = [item for item in problems if item.code == "unlimited-range"]
    assert len(unlimited) == (RANGES[kind, lower, upper] is not None)
    assert not unlimited or "large-angle" not in {item.code for item in problems}


@pytest.mark.parametrize("bound", ["1e16", "3.4e38", "1.7976931348623157e308", "1e6"])
def test_a_pair_that_touches_within_the_robots_size_is_not_never(bound: str) -> None:
    """The head passes through the base: its range is 4 m, and it touches in 0.4 m of it."""
    robot = robot_from_text(text("prismatic", f"-{bound}", bound))
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    matrix = generate_matrix(robot, pieces, Settings(samples=2000))
    ((pair, evidence),) = matrix.pairs.items()
    assert matrix.reason(pair) is None
    assert evidence.hits is not None
    assert evidence.hits / evidence.samples == pytest.approx(0.4 / 4.0, abs=0.03)


def test_soft_limits_limit_a_joint_without_others() -> None:
    soft = '<safety_controller soft_lower_limit="-0.5" soft_upper_limit="1" k_velocity="1"/>'
    robot = robot_from_text(text("prismatic", "-1e16", "1e16", soft))
    assert robot.usable_range(robot.joint("q")) == (-0.5, 1.0)
    assert robot.unlimited_joints == ()


def test_reports_name_the_joints_and_a_matrix_of_one_pose_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    free, stuck, out = tmp_path / "free.urdf", tmp_path / "stuck.urdf", tmp_path / "o.srdf"
    free.write_text(text("prismatic", "-1e16", "1e16"))
    stuck.write_text(text("prismatic", "0", "0"))
    words = ["-o", str(out), "--force", "--samples", "500"]
    assert main(["collisions", "generate", str(free), *words, "--json"]) == 0
    said = capsys.readouterr()
    assert "note: joint 'q' is not limited: it is sampled from -2 to 2" in said.err
    assert json.loads(said.out)["unlimited_joints"] == [{"joint": "q", "lower": -2.0, "upper": 2.0}]
    assert "one pose" not in said.out + said.err
    assert main(["collisions", "generate", str(stuck), *words, "--json"]) == 0
    said = capsys.readouterr()
    assert "note: the matrix is from one pose" in said.err
    report = json.loads(said.out)
    assert (report["samples"], report["pairs"][0]["samples"]) == (1, 1)
    # One sample proves next to nothing: with 95 % confidence the probability is below 1 - 0.05 = 0.95.
    assert report["pairs"][0]["never_bound"] == pytest.approx(0.95)
    # Beside a joint that moves, the stuck one is named.
    both = tmp_path / "both.urdf"
    more = '<link name="hand"/><joint name="turn" type="continuous"><parent link="head"/><child link="hand"/></joint>'
    both.write_text(stuck.read_text().replace("</robot>", f"{more}</robot>"))
    assert main(["collisions", "generate", str(both), *words]) == 0
    assert "note: 'q': no range, so links that nothing else moves are compared in one pose" in capsys.readouterr().err
    assert main(["collisions", "generate", str(stuck), *words]) == 0
    capsys.readouterr()
    assert main(["collisions", "check", str(stuck), str(out), "--samples", "500"]) == 0
    assert "one pose" in capsys.readouterr().err


def test_a_robot_that_nothing_moves_is_decided_exactly() -> None:
    """Its pairs are rigid: one test decides each of them, and no probability is left."""
    robot = robot_from_text(text("fixed", "0", "0"))
    matrix = generate_matrix(robot, pieces_of(robot, PackageResolver(), Diagnostics()), Settings(samples=500))
    ((_, evidence),) = matrix.pairs.items()
    assert (matrix.samples, evidence.rigid, evidence.never_bound) == (500, True, 0.0)
