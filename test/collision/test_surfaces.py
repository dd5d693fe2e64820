# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots made by hand, whose answers follow from their construction: hollow links, empty links, single touches."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.collision_oracles import CoalCounter, packaged_robot

from robot_semantics import Diagnostics, ForwardKinematics, JointSpace, RobotModel
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.audit import AuditFinding, audit
from robot_semantics.collision.counting import CollisionCounter
from robot_semantics.collision.matrix import (
    CollisionMatrix,
    PairReason,
    Settings,
    _centre,
    _Search,
    generate_matrix,
    rigid_contacts,
)
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.sampling import block_sampler
from robot_semantics.collision.scene import SurfaceTest, build_scene
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.transforms.arrays import FloatArray

trimesh = pytest.importorskip("trimesh")


FEW = Settings(samples=400)


def matrix_of(robot: RobotModel, settings: Settings = FEW) -> CollisionMatrix:
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver(), diagnostics)
    assert not diagnostics.errors
    return generate_matrix(robot, pieces, settings)


def link(name: str, geometry: str = "", origin: str = "0 0 0") -> str:
    collision = f'<collision><origin xyz="{origin}"/><geometry>{geometry}</geometry></collision>' if geometry else ""
    return f'<link name="{name}">{collision}</link>'


def joint(kind: str, parent: str, child: str, xyz: str = "0 0 0", extra: str = "") -> str:
    return (
        f'<joint name="j_{child}" type="{kind}"><origin xyz="{xyz}"/><parent link="{parent}"/><child link="{child}"/>'
        f"{extra}</joint>"
    )


def limits(axis: str, lower: float, upper: float) -> str:
    return f'<axis xyz="{axis}"/><limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'


@pytest.fixture
def chain_links(tmp_path: Path) -> RobotModel:
    """Two rings through one another, of radius 1 and 0.1 thick, the second turning about its own axis."""
    trimesh.creation.torus(major_radius=1.0, minor_radius=0.1).export(tmp_path / "ring.stl")
    ring, speck = '<mesh filename="ring.stl"/>', '<sphere radius="0.01"/>'
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">'
        + link("a", ring)
        + link("axle", speck, "0 0 5")
        + link("b", ring)
        + joint("fixed", "a", "axle", "1 0 0").replace('xyz="1 0 0"', 'xyz="1 0 0" rpy="1.5707963267948966 0 0"')
        + joint("continuous", "axle", "b", extra='<axis xyz="0 0 1"/>')
        + "</robot>"
    )
    return load_robot(tmp_path / "r.urdf")


def test_rings_through_one_another_never_touch_although_their_hulls_always_do(chain_links: RobotModel) -> None:
    pair = LinkPair("a", "b")
    matrix = matrix_of(chain_links)
    assert matrix.reason(pair) is PairReason.NEVER
    assert (matrix.pairs[pair].hits, matrix.pairs[pair].hull_hits) == (0, 400)
    by_hulls = matrix_of(chain_links, Settings(samples=400, geometry="hull"))
    assert by_hulls.reason(pair) is PairReason.ALWAYS
    assert by_hulls.contradicted() == {pair: PairReason.NEVER}
    assert matrix.contradicted() == {}


@pytest.mark.parametrize("geometry", ["mesh", "hull"])
def test_rings_that_nothing_moves_touch_by_their_hulls_only(
    chain_links: RobotModel, tmp_path: Path, geometry: str
) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(path.read_text().replace('type="continuous"', 'type="fixed"'))
    matrix = matrix_of(load_robot(path), Settings(samples=10, geometry=geometry))
    evidence = matrix.pairs[LinkPair("a", "b")]
    assert evidence.rigid
    assert (evidence.hits, evidence.hull_hits) == (0 if geometry == "mesh" else 10, 10)


def test_rigid_pairs_are_those_of_two_links_and_their_hulls_touch_by_any_overlap() -> None:
    box, parts = '<box size="0.2 0.2 0.2"/>', []
    for at, (name, x) in enumerate([("a", 0.0), ("b", 0.15), ("c", 0.5), ("d", 3.0)]):
        # Two boxes of one link that overlap are no pair.
        other = link(name, box, f"{x} 0.1 0").replace(f'<link name="{name}">', "")
        parts += [link(name, box, f"{x} 0 0").replace("</link>", "") + other]
        parts += [joint("fixed", "a", name)] if at else []
    robot = robot_from_text(f'<robot name="r">{"".join(parts)}</robot>')
    scene = build_scene(robot, pieces_of(robot, PackageResolver(), Diagnostics()), [])
    contacts = rigid_contacts(robot, scene, JointSpace(robot).neutral())
    assert sorted(contacts) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [pair for pair in sorted(contacts) if contacts[pair].touch] == [(0, 1)]
    assert [pair for pair in sorted(contacts) if contacts[pair].hulls_touch] == [(0, 1)]
    assert contacts[0, 1].distance == pytest.approx(-0.05, abs=1e-6)
    assert contacts[0, 2].distance == pytest.approx(0.3, abs=1e-6)


def test_the_poses_of_a_scene_are_those_of_the_kinematics_for_every_joint_type() -> None:
    kinds = ("revolute", "prismatic", "continuous", "floating", "planar", "fixed")
    shape, parts = '<box size="0.1 0.2 0.3"/>', [link("l0", '<box size="0.1 0.2 0.3"/>')]
    for at, kind in enumerate(kinds, 1):
        axis = limits("0 0.6 0.8", -2.0, 2.0) if kind not in ("floating", "fixed") else ""
        turned = joint(kind, f"l{at - 1}", f"l{at}", "1 2 3", axis).replace('xyz="1 2 3"', 'xyz="1 2 3" rpy="1 2 3"')
        parts += [link(f"l{at}", shape), turned]
    robot = robot_from_text(f'<robot name="r">{"".join(parts)}</robot>')
    scene = build_scene(robot, pieces_of(robot, PackageResolver(), Diagnostics()), [])
    data = mujoco.MjData(scene.model)
    for q in JointSpace(robot).random(np.random.default_rng(0), (20,)):
        data.qpos[:] = scene.qpos(q)
        mujoco.mj_kinematics(scene.model, data)
        expected = ForwardKinematics(robot).link_poses(q)
        np.testing.assert_allclose(scene.link_poses(data), expected[:, :3], atol=1e-9)


def test_the_centre_of_a_link_is_the_middle_of_the_box_around_its_pieces() -> None:
    box = link("a", '<box size="0.2 0.2 0.4"/>', "1 2 3").replace('xyz="1 2 3"', 'xyz="1 2 3" rpy="0 0 0.5"')
    ball = link("b", '<sphere radius="0.3"/>', "-1 -2 5")
    robot = robot_from_text(f'<robot name="r">{box}{ball}{joint("fixed", "a", "b")}</robot>')
    scene = build_scene(robot, pieces_of(robot, PackageResolver(), Diagnostics()), [])
    np.testing.assert_allclose(_centre(scene, 0), (1.0, 2.0, 3.0), atol=1e-9)
    np.testing.assert_allclose(_centre(scene, 1), (-1.0, -2.0, 5.0), atol=1e-9)


def test_the_first_pair_of_the_first_sample_is_tested_like_every_other(tmp_path: Path) -> None:
    # Two rings in one another: their hulls prove nothing. In the second sample, the second ring is far away.
    trimesh.creation.torus(major_radius=1.0, minor_radius=0.1).export(tmp_path / "ring.stl")
    ring = '<mesh filename="ring.stl"/>'
    slide = joint("prismatic", "a", "b", extra=limits("1 0 0", -9.0, 9.0))
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{link("a", ring)}{link("b", ring)}{slide}</robot>')
    robot = load_robot(tmp_path / "r.urdf")
    scene = build_scene(robot, pieces_of(robot, PackageResolver(), Diagnostics()), [])
    counts = CollisionCounter(scene).count(np.array([[0.1], [8.0], [0.2]])).surfaces
    assert counts.pairs() == {(0, 1): 2}
    assert counts.first[counts.pair_index(0, 1)] == 0


def noted_questions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    asked = []
    touch = SurfaceTest.touches

    def noted(test: SurfaceTest, a: int, b: int, T_a_b: np.ndarray) -> bool:
        asked.append((a, b))
        return touch(test, a, b, T_a_b)

    monkeypatch.setattr(SurfaceTest, "touches", noted)
    return asked


@pytest.mark.parametrize(("radius", "reason"), [(0.2, PairReason.ALWAYS), (0.01, PairReason.NEVER)])
def test_pairs_without_doubt_are_looked_at_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, radius: float, reason: PairReason
) -> None:
    # A ring turns about its own axis, 0.1 m thick. A large ball on its circle always meets it, as 1,000 samples prove;
    # a small one in its middle is always in its hull and never meets it, which 5,000 samples prove less well.
    trimesh.creation.torus(major_radius=1.0, minor_radius=0.1).export(tmp_path / "ring.stl")
    trimesh.creation.icosphere(subdivisions=2, radius=radius).export(tmp_path / "ball.stl")
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">'
        + link("base", '<mesh filename="ball.stl"/>', f"{1 if reason is PairReason.ALWAYS else 0} 0 0")
        + link("axle", '<sphere radius="0.01"/>', "0 0 5")
        + link("ring", '<mesh filename="ring.stl"/>')
        + joint("continuous", "base", "axle", extra='<axis xyz="0 0 1"/>')
        + joint("fixed", "axle", "ring")
        + "</robot>"
    )
    asked = noted_questions(monkeypatch)
    matrix = matrix_of(load_robot(tmp_path / "r.urdf"), Settings(samples=5_000, search=False))
    evidence = matrix.pairs[LinkPair("base", "ring")]
    samples = 1_000 if reason is PairReason.ALWAYS else 5_000
    assert (matrix.reason(evidence.pair), evidence.samples) == (reason, samples)
    assert evidence.hull_hits == samples
    # The ball in the middle is 0.89 m from the ring: a few poses with that distance cover a whole turn.
    assert len(asked) <= 1_002


def test_what_is_known_to_be_free_is_free() -> None:
    # PR2, whose forearms rotate inside the shells of the upper arms: no pose covered by known ones collides.
    robot, pieces = packaged_robot("pr2_description/urdf/pr2.urdf")
    scene = build_scene(robot, pieces, [])
    assert scene.surfaces is not None
    known, fresh = scene.surfaces.new_test(), scene.surfaces.new_test()
    draw = block_sampler(scene.space, 0)
    q = scene.space.with_mimics(np.concatenate([draw(block) for block in range(4)]))
    T_root_link = ForwardKinematics(robot).link_poses(q)[:, :, :3]
    spared = 0
    for first, second in (("l_shoulder_lift_link", "l_upper_arm_link"), ("l_shoulder_pan_link", "l_upper_arm_link")):
        one, other = (int(np.flatnonzero(scene.geom_link == robot.link_index[name])[0]) for name in (first, second))
        a, b = np.full(len(q), one), np.full(len(q), other)
        poses = scene.relative_poses(T_root_link, np.arange(len(q)), a, b)
        for block in np.split(np.arange(len(q)), 4):
            free = known.is_known_free(a[block], b[block], poses[block])
            spared += int(free.sum())
            assert not [pose for pose in poses[block][free] if fresh.touches(one, other, pose)]
            for pose in poses[block][~free]:
                known.touches(one, other, pose)
    assert spared > 500


@pytest.mark.parametrize("padding", [0.0, 0.01])
def test_a_contact_of_hulls_proves_a_contact_of_surfaces_unless_one_can_be_inside_the_other(
    tmp_path: Path, padding: float
) -> None:
    # A small cube, 0.2 m thick, at a wall of a large one: from a penetration of 0.2 m, it is inside, where the surfaces
    # do not touch. A ring is not convex. A ball and a box are solid.
    trimesh.creation.box(extents=(2.0, 2.0, 2.0)).export(tmp_path / "large.stl")
    trimesh.creation.box(extents=(0.2, 0.3, 0.4)).export(tmp_path / "small.stl")
    trimesh.creation.torus(major_radius=1.0, minor_radius=0.1).export(tmp_path / "ring.stl")
    meshes = [f'<mesh filename="{name}.stl"/>' for name in ("large", "small", "ring")]
    shapes = [*meshes, '<sphere radius="0.1"/>', '<box size="1 1 1"/>']
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">'
        + "".join(link(f"l{at}", shape) for at, shape in enumerate(shapes))
        + "".join(joint("floating", "l0", f"l{at}") for at in range(1, len(shapes)))
        + "</robot>"
    )
    robot = load_robot(tmp_path / "r.urdf")
    surfaces = build_scene(robot, pieces_of(robot, PackageResolver(), Diagnostics()), [], padding).surfaces
    assert surfaces is not None

    def proven(a: int, b: int, depth: float) -> bool:
        (answer,) = surfaces.is_proven(np.array([a]), np.array([b]), np.array([depth]))
        assert surfaces.is_proven(np.array([b]), np.array([a]), np.array([depth])).tolist() == [answer]
        return bool(answer)

    # No margin of the hulls' distance proves a contact, nor a depth that is almost the thickness.
    assert [proven(0, 1, depth) for depth in (0.0, 5e-6, 2e-5, 0.1, 0.17)] == [False, False, True, True, True]
    assert [proven(0, 1, depth) for depth in (0.2, 0.25, 0.3, 0.5, 1.0)] == [False] * 5
    assert [proven(0, 0, depth) for depth in (0.5, 1.5, 2.0)] == [True, True, False]
    assert [proven(a, 2, 0.05) for a in (0, 1, 3)] == [False] * 3
    # A ball 0.2 m thick, and a box 1 m thick, at the mesh of a cube; then the two, whose contact needs no proof.
    assert [proven(0, b, 0.15) for b in (3, 4)] == [True] * 2
    assert [proven(0, b, 0.25) for b in (3, 4)] == [False, True]
    assert [proven(3, 4, depth) for depth in (0.0, 0.15, 0.6)] == [True] * 3


def outside_box(points: FloatArray, half: tuple[float, ...]) -> FloatArray:
    """Return the signed distances of points (n, 3) to a box."""
    off = np.abs(points) - half
    return np.asarray(np.linalg.norm(np.maximum(off, 0.0), axis=1) + np.minimum(off.max(axis=1), 0.0))


SHAPES: dict[str, Callable[[FloatArray], FloatArray]] = {
    '<sphere radius="0.3"/>': lambda at: np.linalg.norm(at, axis=1) - 0.3,
    '<box size="0.2 0.4 0.6"/>': lambda at: outside_box(at, (0.1, 0.2, 0.3)),
    '<cylinder radius="0.2" length="0.6"/>': lambda at: np.maximum(
        np.hypot(at[:, 0], at[:, 1]) - 0.2, np.abs(at[:, 2]) - 0.3
    ),
    '<mesh filename="cube.stl"/>': lambda at: outside_box(at, (0.5, 0.5, 0.5)),
}
"""Shapes with a function that is 0 on their surfaces."""


@pytest.mark.parametrize("geometry", SHAPES)
def test_nearest_points_are_on_both_surfaces(tmp_path: Path, geometry: str) -> None:
    trimesh.creation.box(extents=(1.0, 1.0, 1.0)).export(tmp_path / "cube.stl")
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">'
        + link("a", '<mesh filename="cube.stl"/>')
        + link("b", geometry)
        + joint("floating", "a", "b")
        + "</robot>"
    )
    robot = load_robot(tmp_path / "r.urdf")
    surfaces = build_scene(robot, pieces_of(robot, PackageResolver(), Diagnostics()), []).surfaces
    assert surfaces is not None
    test, rng = surfaces.new_test(), np.random.default_rng(0)
    for R in Rotation.random(20, random_state=1).as_matrix():
        way = rng.normal(size=3)
        T_a_b = np.column_stack([R, way / np.linalg.norm(way) * rng.uniform(1.8, 3.0)])
        nearest = test.nearest(0, 1, T_a_b)
        assert nearest is not None
        distance, on_a, on_b = nearest
        assert np.linalg.norm(on_a - on_b) == pytest.approx(distance, abs=1e-5)
        assert outside_box(on_a[None], (0.5, 0.5, 0.5))[0] == pytest.approx(0.0, abs=1e-5)
        assert SHAPES[geometry]((on_b - T_a_b[:, 3])[None] @ R)[0] == pytest.approx(0.0, abs=1e-5)


def test_padding_counts_between_triangles_too(chain_links: RobotModel) -> None:
    # How near the circles in the rings come, worked out from points on both.
    t = np.linspace(0.0, 2.0 * np.pi, 721)
    a = np.column_stack([np.cos(t), np.sin(t), 0.0 * t])
    b = np.column_stack([1.0 + np.cos(t), 0.0 * t, np.sin(t)])
    gap = np.linalg.norm(a[:, None] - b[None], axis=2).min() - 0.2
    pair = LinkPair("a", "b")
    assert matrix_of(chain_links, Settings(samples=5, padding=gap / 2 - 0.01)).reason(pair) is PairReason.NEVER
    assert matrix_of(chain_links, Settings(samples=5, padding=gap / 2 + 0.01)).reason(pair) is PairReason.ALWAYS


def test_a_ball_in_a_box_of_triangles_is_free_until_it_meets_a_wall(tmp_path: Path) -> None:
    # A slider carries a ball of radius 0.1 from the middle of a cube with edges of 2 m to 2 m outside: it crosses the
    # wall at 1 m from 0.9 to 1.1 m, a tenth of the way.
    trimesh.creation.box(extents=(2.0, 2.0, 2.0)).export(tmp_path / "box.stl")
    ball, speck = '<sphere radius="0.1"/>', '<sphere radius="0.01"/>'
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">'
        + link("base", '<mesh filename="box.stl"/>')
        + link("cart", speck, "0 0 9")
        + link("tip", ball)
        + joint("prismatic", "base", "cart", extra=limits("1 0 0", 0.0, 2.0))
        + joint("fixed", "cart", "tip")
        + "</robot>"
    )
    matrix = matrix_of(load_robot(tmp_path / "r.urdf"), Settings(samples=1_000))
    evidence = matrix.pairs[LinkPair("base", "tip")]
    assert matrix.reason(evidence.pair) is None
    assert evidence.hits == pytest.approx(100, abs=43)
    assert evidence.default_hit is False
    assert evidence.deepest is not None
    assert 0.9 <= evidence.deepest.q[0] <= 1.1


def test_a_pair_that_touches_in_the_default_pose_alone_says_by_how_much() -> None:
    # Boxes with edges of 1 m, face to face at 0 but for 0.1 mm; the joint only ever draws them apart.
    box, speck = '<box size="1 1 1"/>', '<sphere radius="0.01"/>'
    robot = robot_from_text(
        '<robot name="r">'
        + link("base", box)
        + link("cart", speck, "0 0 9")
        + link("tip", box)
        + joint("prismatic", "base", "cart", extra=limits("1 0 0", 0.0, 1000.0))
        + joint("fixed", "cart", "tip", "0.9999 0 0")
        + "</robot>"
    )
    matrix = matrix_of(robot)
    evidence = matrix.pairs[LinkPair("base", "tip")]
    assert (matrix.reason(evidence.pair), evidence.hits) == (PairReason.DEFAULT, 0)
    assert evidence.default_depth == pytest.approx(1e-4, abs=1e-6)
    assert evidence.found_by_search is False


@pytest.fixture
def post_and_tip() -> RobotModel:
    """A tip on a circle of 1 m, joined to a post on that circle by an empty link only.

    Balls of radius r touch within 2 asin(r) of the post's angle on either side: with r = sin(pi / 16), in an eighth of
    all turns.
    """
    ball = f'<sphere radius="{math.sin(math.pi / 16.0)!r}"/>'
    srdf = '<robot name="r"><disable_collisions link1="base" link2="tip" reason="Adjacent"/></robot>'
    urdf = (
        '<robot name="r">'
        + link("base", ball, "-1 0 0")
        + link("wrist")
        + link("tip", ball)
        + joint("continuous", "base", "wrist", extra='<axis xyz="0 0 1"/>')
        + joint("fixed", "wrist", "tip", "1 0 0")
        + "</robot>"
    )
    return robot_from_text(urdf, srdf)


def test_links_joined_by_an_empty_link_are_counted(post_and_tip: RobotModel) -> None:
    pair = LinkPair("base", "tip")
    matrix = matrix_of(post_and_tip, Settings(samples=1_000))
    assert matrix.pairs[pair].hits == pytest.approx(125, abs=47)
    assert matrix.pairs[pair].adjacency == ("base", "wrist", "tip")
    assert matrix.reason(pair) is None
    assert [(row.finding, row.pair) for row in audit(post_and_tip, matrix)] == [(AuditFinding.NEIGHBOURS_COLLIDE, pair)]
    as_moveit = matrix_of(post_and_tip, Settings(samples=2_000, adjacent="moveit"))
    assert as_moveit.reason(pair) is PairReason.ADJACENT
    assert audit(post_and_tip, as_moveit) == ()


@pytest.mark.parametrize("geometry", ["mesh", "sphere"])
@pytest.mark.parametrize(("corner", "reason"), [(1.13, None), (1.15, PairReason.NEVER)])
def test_a_search_finds_the_one_corner_where_a_pair_touches(
    tmp_path: Path, geometry: str, corner: float, reason: PairReason | None
) -> None:
    # A ball of radius 0.1 on two slides, each from 0 to 1 m, and one like it at (corner, corner): from (1, 1) it is
    # 0.184 m away, or 0.212 m. They touch in about 1e-4 of all configurations or in none. 100 samples see nothing.
    trimesh.creation.icosphere(subdivisions=3, radius=0.1).export(tmp_path / "ball.stl")
    ball = '<mesh filename="ball.stl"/>' if geometry == "mesh" else '<sphere radius="0.1"/>'
    speck = '<sphere radius="0.001"/>'
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">'
        + link("base", ball, f"{corner} {corner} 0")
        + link("x", speck, "0 0 5")
        + link("y", speck, "0 0 9")
        + link("tip", ball)
        + joint("prismatic", "base", "x", extra=limits("1 0 0", 0.0, 1.0))
        + joint("prismatic", "x", "y", extra=limits("0 1 0", 0.0, 1.0))
        + joint("fixed", "y", "tip")
        + "</robot>"
    )
    robot = load_robot(tmp_path / "r.urdf")
    pair = LinkPair("base", "tip")
    assert matrix_of(robot, Settings(samples=100, search=False)).reason(pair) is PairReason.NEVER
    matrix = matrix_of(robot, Settings(samples=100))
    evidence = matrix.pairs[pair]
    assert matrix.reason(pair) is reason
    assert evidence.hits == 0
    assert evidence.found_by_search is (reason is None)
    if evidence.first is not None:
        x, y = evidence.first.q
        assert np.hypot(corner - x, corner - y) < 0.2
        # No sample has found it.
        assert evidence.first.sample == -1


def test_a_search_gives_the_same_for_any_number_of_jobs() -> None:
    robot, pieces = packaged_robot("icub_description/robots/icub_reduced.urdf")
    one, three = (generate_matrix(robot, pieces, Settings(samples=300, jobs=jobs)) for jobs in (1, 3))
    assert [pair for pair in one.pairs if one.pairs[pair].found_by_search]
    for pair, evidence in one.pairs.items():
        other = three.pairs[pair]
        assert (evidence.hits, evidence.found_by_search) == (other.hits, other.found_by_search)
        if evidence.first is not None and other.first is not None:
            np.testing.assert_array_equal(evidence.first.q, other.first.q)


def test_what_a_search_finds_collides_says_coal() -> None:
    robot, pieces = packaged_robot("go2_description/urdf/go2.urdf")
    matrix = generate_matrix(robot, pieces, Settings(samples=500))
    found = {pair: evidence.first for pair, evidence in matrix.pairs.items() if evidence.found_by_search}
    assert found
    counter = CoalCounter(robot, pieces, set())
    for pair, witness in found.items():
        assert witness is not None
        (hits,) = counter.hits(JointSpace.of(robot).with_mimics(witness.q)[None])
        assert tuple(sorted(robot.link_index[name] for name in pair)) in hits, pair


def test_the_gradient_of_a_search_is_that_of_the_distance() -> None:
    # The links on two arms: hinges and slides that move either of them, and one that follows.
    ball, rod = '<sphere radius="0.05"/>', '<capsule radius="0.02" length="0.3"/>'
    robot = robot_from_text(
        '<robot name="r" version="1.2">'
        + link("base", ball, "0 0 -3")
        + "".join(link(name, rod) for name in ("a", "b", "c", "d"))
        + joint("revolute", "base", "a", "0.6 0 0", limits("1 2 3", -2.0, 2.0))
        + joint("prismatic", "a", "b", "0 0 0.4", limits("1 1 0", -1.0, 1.0))
        + joint("revolute", "base", "c", "-0.6 0 0", limits("0 1 1", -2.0, 2.0))
        + joint("revolute", "c", "d", "0 0.5 0", limits("1 0 0", -2.0, 2.0) + '<mimic joint="j_b" multiplier="2"/>')
        + "</robot>"
    )
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    search = _Search(build_scene(robot, pieces, ()))
    pair = (robot.link_index["b"], robot.link_index["d"])
    joints = search._joints_between(*pair)

    def distance(q: np.ndarray) -> float:
        proximity = search._proximity(pair, q)
        assert proximity is not None
        return proximity.distance

    for drawn in np.random.default_rng(0).uniform(-1.0, 1.0, size=(10, JointSpace.of(robot).size)):
        q = JointSpace.of(robot).with_mimics(drawn)
        proximity = search._proximity(pair, q)
        assert proximity is not None
        gradient = search._gradient(proximity, joints)
        # The joint that follows is no variable of the search.
        for at in np.flatnonzero(np.array(JointSpace.of(robot).names) != "j_d"):
            step = 1e-6 * np.eye(len(q))[at]
            slope = (distance(q + step) - distance(q - step)) / 2e-6
            assert gradient[at] == pytest.approx(slope, abs=1e-4)
