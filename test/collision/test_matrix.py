# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The rules: adjacency through hollow links, default pose beside Always, rigid pairs, and the Panda as shipped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.collision_oracles import packaged_robot

from robot_semantics import Diagnostics, RobotModel
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.audit import AuditFinding, audit
from robot_semantics.collision.matrix import CollisionMatrix, PairReason, Settings, adjacent_pairs, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.report import matrix_from_json, matrix_json
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.resources import PackageResolver

BALL = '<collision><geometry><sphere radius="{radius}"/></geometry></collision>'


def link(name: str, radius: float | None = 0.1) -> str:
    return f'<link name="{name}">{BALL.format(radius=radius) if radius else ""}</link>'


def joint(parent: str, child: str, x: float, kind: str = "fixed", extra: str = "") -> str:
    return (
        f'<joint name="j_{child}" type="{kind}"><origin xyz="{x} 0 0"/><parent link="{parent}"/>'
        f'<child link="{child}"/>{extra}</joint>'
    )


def robot_of(*parts: str) -> RobotModel:
    return robot_from_text(f'<robot name="r">{"".join(parts)}</robot>')


def matrix_of(robot: RobotModel, samples: int = 200) -> CollisionMatrix:
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver(), diagnostics)
    assert not diagnostics.errors
    return generate_matrix(robot, pieces, Settings(samples=samples))


def test_links_without_geometry_are_joined_through() -> None:
    # a - (h1 - h2) - b, c and b on the same hollow pair; d hangs on b.
    robot = robot_of(
        link("a"), link("h1", None), link("h2", None), link("b"), link("c"), link("d"),
        joint("a", "h1", 1), joint("h1", "h2", 1), joint("h2", "b", 1), joint("h1", "c", 1), joint("b", "d", 1),
    )  # fmt: skip
    found = adjacent_pairs(robot, ["a", "b", "c", "d"])
    assert found == {
        LinkPair.of("a", "b"): ("a", "h1", "h2", "b"),
        LinkPair.of("a", "c"): ("a", "h1", "c"),
        LinkPair.of("b", "c"): ("b", "h2", "h1", "c"),
        LinkPair.of("b", "d"): ("b", "d"),
    }


def test_pairs_that_nothing_moves_are_decided_by_geometry_once() -> None:
    robot = robot_of(
        link("base"), link("near"), link("far"), link("tip"),
        joint("base", "near", 0.15), joint("near", "tip", 0.04), joint("base", "far", 2.0),
    )  # fmt: skip
    matrix = matrix_of(robot)
    # base (0) and tip (0.19) overlap by 0.01; far (2.0) touches nothing.
    assert matrix.reason(LinkPair.of("base", "tip")) is PairReason.ALWAYS
    evidence = matrix.pairs[LinkPair.of("base", "tip")]
    assert evidence.rigid
    assert evidence.deepest is not None
    assert evidence.deepest.depth == pytest.approx(0.01, abs=1e-9)
    assert matrix.reason(LinkPair.of("near", "far")) is PairReason.NEVER
    assert matrix.pairs[LinkPair.of("near", "far")].never_bound == 0.0


def test_default_does_not_hide_always() -> None:
    # The tip ball turns about a point inside the base ball: it always collides, and in the default pose as well.
    limits = '<axis xyz="0 0 1"/>'
    robot = robot_of(
        link("base"), link("mid", 0.01), link("tip"),
        joint("base", "mid", 0.05, "continuous", limits), joint("mid", "tip", 0.05),
    )  # fmt: skip
    evidence = matrix_of(robot).pairs[LinkPair.of("base", "tip")]
    assert evidence.default_hit is True
    assert evidence.hits == evidence.samples == 200
    assert matrix_of(robot).reason(evidence.pair) is PairReason.ALWAYS


def test_a_pair_that_collides_by_default_but_seldom_is_default() -> None:
    # Prismatic from 0 to 10 m: the balls (radius 0.1) touch below 0.2 m, that is in 2 % of the range.
    limits = '<axis xyz="1 0 0"/><limit lower="0" upper="10" effort="1" velocity="1"/>'
    robot = robot_of(
        link("base"), link("mid", 0.001), link("tip"),
        joint("base", "mid", 0, "prismatic", limits), joint("mid", "tip", 0),
    )  # fmt: skip
    matrix = matrix_of(robot, 1_000)
    evidence = matrix.pairs[LinkPair.of("base", "tip")]
    assert matrix.reason(evidence.pair) is PairReason.DEFAULT
    assert evidence.hits == pytest.approx(20, abs=18)


def test_padding_counts_on_both_sides() -> None:
    robot = robot_of(link("a"), link("m", 0.001), link("b"), joint("a", "m", 0.1), joint("m", "b", 0.15))
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    pair = LinkPair.of("a", "b")  # 0.25 apart, radii 0.1: a gap of 0.05
    assert generate_matrix(robot, pieces, Settings(samples=10, padding=0.024)).reason(pair) is PairReason.NEVER
    assert generate_matrix(robot, pieces, Settings(samples=10, padding=0.026)).reason(pair) is PairReason.ALWAYS


def test_the_panda_is_as_its_moveit_srdf_says() -> None:
    robot, pieces = packaged_robot("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf")
    matrix = generate_matrix(robot, pieces, Settings(samples=10_000, adjacent="moveit"))
    shipped = {pair: reason for pair, reason in robot.semantics.disabled_collisions.items() if pair in matrix.pairs}
    other = [pair for pair in matrix.pairs if matrix.reason(pair) is not PairReason.ADJACENT]
    assert len(other) == 45
    ours = matrix.disabled()
    assert {pair: ours[pair].value for pair in other if pair in ours} == {
        pair: reason for pair, reason in shipped.items() if pair in other
    }


def test_an_audit_finds_what_collides_although_it_is_called_never() -> None:
    limits = '<axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>'
    urdf = robot_of(
        link("base"), link("mid", 0.001), link("tip"), link("bare", None),
        joint("base", "mid", 0, "prismatic", limits), joint("mid", "tip", 0), joint("tip", "bare", 0),
    ).urdf.places.text.decode()  # fmt: skip
    srdf = (
        '<robot name="r"><disable_collisions link1="base" link2="tip" reason="Never"/>'
        '<disable_collisions link1="base" link2="bare" reason="Never"/></robot>'
    )
    robot = robot_from_text(urdf, srdf, strict=False)
    rows = audit(robot, matrix_of(robot, 1_000))
    assert [(row.finding, row.pair) for row in rows] == [
        (AuditFinding.NEVER_BUT_COLLIDES, LinkPair("base", "tip")),
        (AuditFinding.ADJACENT_BUT_ENABLED, LinkPair("base", "mid")),
        (AuditFinding.ADJACENT_BUT_ENABLED, LinkPair("mid", "tip")),
        (AuditFinding.NO_GEOMETRY, LinkPair("bare", "base")),
    ]
    witness = rows[0].evidence.deepest if rows[0].evidence else None
    assert witness is not None
    assert witness.depth == pytest.approx(0.2 - witness.q[0], abs=1e-9)


def test_a_mesh_that_cannot_be_used_is_an_error_that_names_it(tmp_path: Path) -> None:
    mesh = '<collision><geometry><mesh filename="{}"/></geometry></collision>'
    (tmp_path / "broken.stl").write_bytes(b"solid nonsense")
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="a">\n{mesh.format("missing.stl")}\n{mesh.format("broken.stl")}</link></robot>'
    )
    robot = load_robot(tmp_path / "r.urdf")
    diagnostics = Diagnostics()
    pieces_of(robot, PackageResolver(), diagnostics)
    assert [(error.place.line, error.code) for error in diagnostics.errors] == [
        (2, "unusable-geometry"),
        (3, "unusable-geometry"),
    ]
    assert "missing.stl" in diagnostics.errors[0].message
    assert "broken.stl" in diagnostics.errors[1].message


def test_a_hollow_mesh_is_reported_and_can_be_decomposed(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    # An L of 1 x 4 and 3 x 1, 1 deep: volume 7, hull 7 + 0.5 * 3 * 3 * 1 = 11.5.
    outline = [[0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]]
    vertices = np.array([[x, y, z] for z in (0.0, 1.0) for x, y in outline])
    bottom = [[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 5, 4]]
    top = [[a + 6, c + 6, b + 6] for a, b, c in bottom]
    sides = [f for i in range(6) for f in ([i, (i + 1) % 6, i + 6], [(i + 1) % 6, (i + 1) % 6 + 6, i + 6])]
    mesh = trimesh.Trimesh(vertices, bottom + top + sides)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(7.0)
    mesh.export(tmp_path / "l.stl")
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="a"><collision><geometry><mesh filename="l.stl"/></geometry></collision></link>'
        "</robot>"
    )
    robot = load_robot(tmp_path / "r.urdf")
    diagnostics = Diagnostics()
    (whole,) = pieces_of(robot, PackageResolver(), diagnostics, "hull")
    (warning,) = diagnostics.warnings
    assert "adds 64% to its volume" in warning.message  # 4.5 / 7
    (box,) = pieces_of(robot, PackageResolver(), Diagnostics(), "primitive")
    assert 8.0 * np.prod(box.shape.size) == pytest.approx(16.0, rel=0.02)
    pytest.importorskip("coacd")
    parts = pieces_of(robot, PackageResolver(), Diagnostics(), "decomposed")
    assert len(parts) > 1
    volume = sum(trimesh.convex.convex_hull(part.shape.hull.vertices).volume for part in parts if part.shape.hull)
    assert volume == pytest.approx(7.0, rel=0.1)
    assert whole.shape.hull is not None


def test_a_report_has_the_counts_of_each_reason_and_gives_the_matrix_again() -> None:
    turn = '<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/>'
    # b is beside a, c meets d only sometimes, and e is far away.
    parts = (joint("a", "b", 0.3), joint("a", "c", 0.5, "revolute", turn), joint("a", "d", 0.65), joint("a", "e", 9.0))
    robot = robot_of(*(link(name) for name in "abcde"), *parts)
    matrix, space = matrix_of(robot), JointSpace.of(robot)
    content = json.loads(json.dumps(matrix_json(matrix, space)))
    reasons = [pair["reason"] for pair in content["pairs"]]
    assert len(reasons) == 10
    assert reasons == [reason.value if reason else None for reason in map(matrix.reason, matrix.pairs)]
    named = {"Adjacent", "Always", "Default", "Never", "checked"}
    assert named == {key.capitalize() if key != "checked" else key for key in content["counts"]}
    for key, count in content["counts"].items():
        assert count == reasons.count(None if key == "checked" else key), key
    assert content["counts"]["Adjacent"] == 4
    again = matrix_from_json(json.dumps(content).encode(), robot)
    assert {pair: again.reason(pair) for pair in again.pairs} == {pair: matrix.reason(pair) for pair in matrix.pairs}
    assert matrix_json(again, space)["pairs"] == content["pairs"]
    other = robot_of(*(link(name) for name in "abcdx"), *(part.replace('"e"', '"x"') for part in parts))
    with pytest.raises(RobotSemanticsError, match="the report is not about this robot"):
        matrix_from_json(json.dumps(content).encode(), other)
