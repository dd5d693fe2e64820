# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots at the edge: odd names, nothing that moves, nothing to collide, joints of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from robot_semantics import Diagnostics, JointSpace, RobotModel
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.audit import AuditFinding, audit
from robot_semantics.collision.matrix import CollisionMatrix, PairReason, Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.sampling import BLOCK, SAMPLERS, block_sampler
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver


def ball(name: str, radius: float = 0.1) -> str:
    geometry = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>' if radius else ""
    return f'<link name="{name}">{geometry}</link>'


def joint(name: str, kind: str, parent: str, child: str, extra: str = "", xyz: str = "0 0 0") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{xyz}"/><parent link="{parent}"/><child link="{child}"/>'
        f"{extra}</joint>"
    )


def limits(lower: float, upper: float, axis: str = "1 0 0") -> str:
    return f'<axis xyz="{axis}"/><limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'


def robot_of(*parts: str, srdf: str | None = None) -> RobotModel:
    return robot_from_text(f'<robot name="r">{"".join(parts)}</robot>', srdf)


def matrix_of(robot: RobotModel, **settings: float) -> CollisionMatrix:
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver(), diagnostics)
    assert not diagnostics.errors
    return generate_matrix(robot, pieces, Settings(**{"samples": 1000, **settings}))  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [("world", "link0", "link1"), ("böse Verbindung", "手首", "a/b"), ("-1", " ", "%s")])
def test_a_link_may_be_called_anything(names: tuple[str, str, str]) -> None:
    base, mid, tip = names
    robot = robot_of(
        ball(base), ball(mid, 0.01), ball(tip),
        joint("slide", "prismatic", base, mid, limits(0, 1)), joint("mount", "fixed", mid, tip),
    )  # fmt: skip
    matrix = matrix_of(robot)
    assert set(matrix.pairs) == {LinkPair.of(base, mid), LinkPair.of(mid, tip), LinkPair.of(base, tip)}
    # They touch below 0.2 m: in a fifth of the range; the default pose is 0.
    assert matrix.pairs[LinkPair.of(base, tip)].hits == pytest.approx(200, abs=60)
    assert matrix.reason(LinkPair.of(base, tip)) is PairReason.DEFAULT


@pytest.mark.parametrize("sampler", sorted(SAMPLERS))
def test_a_robot_that_cannot_move_is_decided_once(sampler: str) -> None:
    robot = robot_of(
        ball("a"), ball("b"), ball("c"),
        joint("ab", "fixed", "a", "b", xyz="0.15 0 0"), joint("bc", "fixed", "b", "c", xyz="0.15 0 0"),
    )  # fmt: skip
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver(), diagnostics)
    matrix = generate_matrix(robot, pieces, Settings(samples=10, sampler=sampler))
    assert {pair: matrix.reason(pair) for pair in matrix.pairs} == {
        LinkPair("a", "b"): PairReason.ADJACENT,
        LinkPair("b", "c"): PairReason.ADJACENT,
        LinkPair("a", "c"): PairReason.NEVER,
    }


@pytest.mark.parametrize("parts", [(ball("only"),), (ball("only", 0),), (ball("a"), ball("b", 0))])
def test_fewer_than_two_links_to_collide_make_no_pairs(parts: tuple[str, ...]) -> None:
    mount = (joint("ab", "fixed", "a", "b"),) if len(parts) == 2 else ()
    assert dict(matrix_of(robot_of(*parts, *mount)).pairs) == {}


def test_a_mimic_joint_follows_its_leader() -> None:
    # The follower moves by 1 - leader, so the tip stays 1 m away from the base: the pair can never collide. Without
    # following, it would collide in one of 50 configurations.
    follow = limits(0, 1) + '<mimic joint="leader" multiplier="-1" offset="1"/>'
    robot = robot_of(
        ball("base"), ball("mid", 0.01), ball("tip"),
        joint("leader", "prismatic", "base", "mid", limits(0, 1)),
        joint("follower", "prismatic", "mid", "tip", follow),
    )  # fmt: skip
    assert matrix_of(robot, samples=2000).reason(LinkPair("base", "tip")) is PairReason.NEVER
    straight = robot_of(
        ball("base"), ball("mid", 0.01), ball("tip"),
        joint("leader", "prismatic", "base", "mid", limits(0, 1)),
        joint("follower", "prismatic", "mid", "tip", limits(0, 1)),
    )  # fmt: skip
    # The sum of two uniform numbers is below 0.2 with probability 0.02.
    assert matrix_of(straight, samples=2000).pairs[LinkPair("base", "tip")].hits == pytest.approx(40, abs=25)


def test_a_passive_joint_is_sampled_like_any_other() -> None:
    parts = (
        ball("base"), ball("mid", 0.01), ball("tip"),
        joint("slide", "prismatic", "base", "mid", limits(0, 1)), joint("mount", "fixed", "mid", "tip"),
    )  # fmt: skip
    passive = '<robot name="r"><passive_joint name="slide"/></robot>'
    active, with_passive = matrix_of(robot_of(*parts)), matrix_of(robot_of(*parts, srdf=passive))
    pair = LinkPair("base", "tip")
    assert active.pairs[pair].hits == with_passive.pairs[pair].hits == pytest.approx(200, abs=60)


def test_a_continuous_joint_is_sampled_over_its_whole_turn() -> None:
    # The tip runs on a circle of radius 1; a post stands at 120 degrees of it. Balls of 0.1 m touch within
    # 2 asin(0.1) of that angle on either side: in 4 asin(0.1) / 2 pi of all turns.
    robot = robot_of(
        ball("base", 0.01), ball("post"), ball("hub", 0.01), ball("tip"),
        joint("at", "fixed", "base", "post", xyz=f"{np.cos(2.0943951023931953)} {np.sin(2.0943951023931953)} 0"),
        joint("turn", "continuous", "base", "hub", '<axis xyz="0 0 1"/>'),
        joint("arm", "fixed", "hub", "tip", xyz="1 0 0"),
    )  # fmt: skip
    expected = 4.0 * np.arcsin(0.1) / (2.0 * np.pi)
    for sampler, tolerance in (("uniform", 0.03), ("sobol", 0.005)):
        evidence = matrix_of(robot, samples=1000, sampler=sampler).pairs[LinkPair("post", "tip")]  # type: ignore[arg-type]
        assert evidence.hits is not None
        assert evidence.hits / 1000 == pytest.approx(expected, abs=tolerance)


def test_planar_and_floating_joints_inside_a_robot_are_sampled() -> None:
    bounds = '<axis xyz="0 0 1"/>'
    robot = robot_of(
        ball("base"), ball("a", 0.01), ball("b", 0.01), ball("c"),
        joint("p", "planar", "base", "a", bounds), joint("f", "floating", "a", "b"), joint("m", "fixed", "b", "c"),
    )  # fmt: skip
    space = JointSpace.of(robot)
    q = np.concatenate([block_sampler(space, 0)(block) for block in range(4)])
    where = space.joint_positions["f"]
    np.testing.assert_allclose(np.linalg.norm(q[:, where][:, 3:], axis=1), 1.0)
    # Uniform rotations have no mean direction: every component of the quaternion has variance 1/4.
    np.testing.assert_allclose((q[:, where][:, 3:] ** 2).mean(axis=0), 0.25, atol=0.03)
    assert np.ptp(q[:, space.joint_positions["p"]], axis=0) == pytest.approx([2.0, 2.0, 2.0 * np.pi], rel=0.02)
    assert (matrix_of(robot).pairs[LinkPair("base", "c")].hits or 0) > 0


def test_a_floating_base_stays_where_it_is() -> None:
    srdf = '<robot name="r"><virtual_joint name="v" type="floating" parent_frame="odom" child_link="base"/></robot>'
    robot = robot_of(ball("base"), ball("tip"), joint("turn", "continuous", "base", "tip"), srdf=srdf)
    space = JointSpace.of(robot)
    q = block_sampler(space, 0)(0)
    np.testing.assert_array_equal(q[:, space.joint_positions["v"]], np.tile([0, 0, 0, 0, 0, 0, 1.0], (BLOCK, 1)))


def test_padding_reaches_moving_pairs_and_keeps_depths_of_padded_links() -> None:
    robot = robot_of(
        ball("base"), ball("mid", 0.01), ball("tip"),
        joint("slide", "prismatic", "base", "mid", limits(0, 1)), joint("mount", "fixed", "mid", "tip"),
    )  # fmt: skip
    pair = LinkPair("base", "tip")
    bare, padded = matrix_of(robot, samples=1000), matrix_of(robot, samples=1000, padding=0.05)
    # Two balls of 0.1 m touch below 0.2 m; each 0.05 m larger, below 0.3 m.
    assert bare.pairs[pair].hits == pytest.approx(200, abs=57)
    assert padded.pairs[pair].hits == pytest.approx(300, abs=65)
    for matrix, touch in ((bare, 0.2), (padded, 0.3)):
        deepest = matrix.pairs[pair].deepest
        assert deepest is not None
        assert deepest.depth == pytest.approx(touch - deepest.q[0], abs=1e-9)


def test_the_default_pose_may_be_chosen() -> None:
    robot = robot_of(
        ball("base"), ball("mid", 0.01), ball("tip"),
        joint("slide", "prismatic", "base", "mid", limits(0, 10)), joint("mount", "fixed", "mid", "tip"),
    )  # fmt: skip
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    pair = LinkPair("base", "tip")
    near = generate_matrix(robot, pieces, Settings(samples=500), default_q=np.array([0.1]))
    far = generate_matrix(robot, pieces, Settings(samples=500), default_q=np.array([5.0]))
    assert (near.reason(pair), far.reason(pair)) == (PairReason.DEFAULT, None)
    assert (near.pairs[pair].default_hit, far.pairs[pair].default_hit) == (True, False)


@pytest.mark.parametrize(("fraction", "reason"), [(0.15, PairReason.ALWAYS), (0.25, None), (0.0, PairReason.ALWAYS)])
def test_the_share_from_which_on_a_pair_always_collides_may_be_chosen(
    fraction: float, reason: PairReason | None
) -> None:
    robot = robot_of(
        ball("base"), ball("mid", 0.01), ball("tip"),
        joint("slide", "prismatic", "base", "mid", limits(-1, 0)), joint("mount", "fixed", "mid", "tip", xyz="1 0 0"),
    )  # fmt: skip
    # At 0 to 1 m it touches in a fifth of the range, but not at the default pose, 1 m away.
    assert matrix_of(robot, always_fraction=fraction).reason(LinkPair("base", "tip")) is reason


@pytest.mark.parametrize("stated", ["Adjacent", "Always", "Default"])
def test_an_audit_names_reasons_that_do_not_hold(stated: str) -> None:
    parts = (
        ball("base"), ball("mid", 0.01), ball("tip"),
        joint("slide", "prismatic", "base", "mid", limits(-1, 0)), joint("mount", "fixed", "mid", "tip", xyz="1 0 0"),
    )  # fmt: skip
    # They meet in a fifth of the range, not in the default pose, and are not neighbours: no reason holds but a user's.
    for reason, expected in ((stated, AuditFinding.REASON_DOES_NOT_HOLD), ("User", None)):
        srdf = f'<robot name="r"><disable_collisions link1="base" link2="tip" reason="{reason}"/></robot>'
        robot = robot_of(*parts, srdf=srdf)
        rows = [row for row in audit(robot, matrix_of(robot)) if row.pair == LinkPair("base", "tip")]
        assert [row.finding for row in rows] == ([expected] if expected else [])
        assert not any(row.finding.is_dangerous for row in rows)
