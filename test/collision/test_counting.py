# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Counts equal python-fcl's on the same hulls, and depend only on the seed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.collision_oracles import CoalCounter, FclCounter, packaged_robot

from robot_semantics import Diagnostics, JointSpace, RobotModel
from robot_semantics.collision.counting import (
    NO_SAMPLE,
    CollisionCounter,
    ContactsLostError,
    Counts,
    Tally,
    count_blocks,
)
from robot_semantics.collision.matrix import Settings, adjacent_pairs, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.sampling import BLOCK, SAMPLERS, block_sampler
from robot_semantics.collision.scene import CollisionScene, build_scene
from robot_semantics.collision.shapes import Piece
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver

ROBOTS = (
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "kinova_description/robots/kinova.urdf",
    "pr2_description/urdf/pr2.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "tiago_description/robots/tiago_dual.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "go2_description/urdf/go2.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "icub_description/robots/icub_reduced.urdf",
)


def excluded_links(robot: RobotModel, pieces: tuple[Piece, ...]) -> list[tuple[int, int]]:
    names = {robot.link_names[piece.link] for piece in pieces}
    return [(robot.link_index[pair.first], robot.link_index[pair.second]) for pair in adjacent_pairs(robot, names)]


def rigid_body(robot: RobotModel) -> list[int]:
    body = [0] * len(robot.links)
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        body[link.index] = body[link.parent] if joint.type is JointType.FIXED else link.index
    return body


def scene_of(robot: RobotModel, pieces: tuple[Piece, ...]) -> CollisionScene:
    return build_scene(robot, pieces, excluded_links(robot, pieces))


@pytest.mark.parametrize("urdf", ROBOTS)
def test_hits_are_those_of_python_fcl(urdf: str) -> None:
    robot, pieces = packaged_robot(urdf)
    excluded = {(min(pair), max(pair)) for pair in excluded_links(robot, pieces)}
    scene = scene_of(robot, pieces)
    counts = count_blocks(scene, block_sampler(scene.space, 7), range(1)).hulls
    q = scene.space.with_mimics(block_sampler(scene.space, 7)(0))
    # Pairs that no joint moves are decided once, elsewhere: MuJoCo never tests them.
    body = rigid_body(robot)
    expected: dict[tuple[int, int], int] = {}
    for hit in FclCounter(robot, pieces, excluded).hits(q):
        for pair in hit:
            if body[pair[0]] != body[pair[1]]:
                expected[pair] = expected.get(pair, 0) + 1
    assert counts.samples == BLOCK
    assert expected
    ours = counts.pairs()
    for pair in {*ours, *expected}:
        assert abs(ours.get(pair, 0) - expected.get(pair, 0)) <= 1, [robot.link_names[at] for at in pair]


@pytest.mark.parametrize("urdf", ROBOTS)
def test_what_the_surfaces_do_is_what_coal_says_of_the_triangles(urdf: str) -> None:
    robot, pieces = packaged_robot(urdf)
    excluded = {(min(pair), max(pair)) for pair in excluded_links(robot, pieces)}
    scene = scene_of(robot, pieces)
    few = block_sampler(scene.space, 11)(0)[:40]
    tally = CollisionCounter(scene).count(few)
    body = rigid_body(robot)
    expected: dict[tuple[int, int], int] = {}
    for hit in CoalCounter(robot, pieces, excluded).hits(scene.space.with_mimics(few)):
        for pair in hit:
            if body[pair[0]] != body[pair[1]]:
                expected[pair] = expected.get(pair, 0) + 1
    ours = tally.surfaces.pairs()
    assert expected
    # A touch within rounding may fall either way.
    different = {pair for pair in {*ours, *expected} if abs(ours.get(pair, 0) - expected.get(pair, 0)) > 1}
    assert not different, [[robot.link_names[at] for at in pair] for pair in different]
    assert (tally.surfaces.hits <= tally.hulls.hits).all()


@pytest.fixture(scope="module")
def panda() -> tuple[RobotModel, tuple[Piece, ...]]:
    return packaged_robot("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf")


def assert_same(a: Counts, b: Counts) -> None:
    assert a.samples == b.samples
    for name in ("hits", "first", "deepest", "depth"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("sampler", sorted(SAMPLERS))
def test_counts_do_not_depend_on_jobs_or_split(panda: tuple[RobotModel, tuple[Piece, ...]], sampler: str) -> None:
    scene = scene_of(*panda)
    draw = block_sampler(scene.space, 3, sampler)
    whole = count_blocks(scene, draw, range(6))
    threads = count_blocks(scene, draw, range(6), jobs=3)
    parts = Tally(Counts.empty(scene.links), Counts.empty(scene.links))
    for part in (range(4, 6), range(1), range(1, 4)):
        parts.add(count_blocks(scene, draw, part))
    for other in (threads, parts):
        assert_same(whole.surfaces, other.surfaces)
        assert_same(whole.hulls, other.hulls)
    assert whole.surfaces.samples == whole.hulls.samples == 6 * BLOCK


def test_another_seed_changes_only_what_was_called_rare(panda: tuple[RobotModel, tuple[Piece, ...]]) -> None:
    first, second = (generate_matrix(*panda, Settings(samples=4_000, seed=seed)) for seed in (0, 1))
    changed = {pair for pair in first.pairs if first.reason(pair) is not second.reason(pair)}
    assert first.disabled() != {}
    assert changed <= {*first.rare(), *second.rare()}


@pytest.mark.parametrize("sampler", sorted(SAMPLERS))
def test_samples_fill_the_limits_and_nothing_else(panda: tuple[RobotModel, tuple[Piece, ...]], sampler: str) -> None:
    space = JointSpace.of(panda[0])
    q = np.concatenate([block_sampler(space, 5, sampler)(block) for block in range(4)])
    arm = slice(0, 7)
    assert (q >= space.lower).all()
    assert (q <= space.upper).all()
    span = space.upper[arm] - space.lower[arm]
    np.testing.assert_allclose(q.mean(axis=0)[arm], (space.lower + space.upper)[arm] / 2.0, atol=0.03 * span.max())
    np.testing.assert_allclose(q.std(axis=0)[arm], span / np.sqrt(12.0), rtol=0.05)


def test_a_witness_collides_as_deep_as_it_says(panda: tuple[RobotModel, tuple[Piece, ...]]) -> None:
    robot, pieces = panda
    matrix = generate_matrix(robot, pieces, Settings(samples=1_000))
    fcl_counter = FclCounter(robot, pieces, set())
    checked = 0
    for pair, evidence in matrix.pairs.items():
        for witness in (evidence.first, evidence.deepest):
            if witness is not None:
                (hit,) = fcl_counter.hits(JointSpace.of(robot).with_mimics(witness.q)[None])
                assert tuple(sorted(robot.link_index[name] for name in pair)) in hit
                assert witness.depth is None or witness.depth >= 0.0
                checked += 1
        if evidence.first and evidence.deepest:
            assert evidence.first.sample <= evidence.deepest.sample
    assert checked > 20


@pytest.mark.parametrize("arena", [2_000_000, 300_000])
def test_lost_contacts_are_an_error_not_a_low_count(monkeypatch: pytest.MonkeyPatch, arena: int) -> None:
    ball = '<collision><geometry><sphere radius="1"/></geometry></collision>'
    axis = '<axis xyz="1 0 0"/><limit lower="0" upper="0.001" effort="1" velocity="1"/>'
    links = "".join(f'<link name="l{i}">{ball}</link>' for i in range(150))
    joints = "".join(
        f'<joint name="j{i}" type="prismatic"><parent link="l{i - 1}"/><child link="l{i}"/>{axis}</joint>'
        for i in range(1, 150)
    )
    robot = robot_from_text(f'<robot name="r">{links}{joints}</robot>')
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    scene = build_scene(robot, pieces, [])
    counts = count_blocks(scene, block_sampler(scene.space, 0), range(1), last=2).hulls
    assert len(counts.pairs()) == 150 * 149 // 2
    monkeypatch.setattr("robot_semantics.collision.scene.ARENA_BYTES", arena)
    small = build_scene(robot, pieces, [])
    with pytest.raises(ContactsLostError, match="memory is full"):
        count_blocks(small, block_sampler(small.space, 0), range(1), last=2)


def test_the_default_settings_are_those_of_the_documents() -> None:
    page = (Path(__file__).parents[2] / "doc" / "commands.md").read_text()
    (section,) = re.findall(r"^## collisions generate\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    found = dict(re.findall(r"^\| `--([a-z-]+)[^|]*\|[^|]*\(([\w.]+)[:)]", section, re.MULTILINE))
    documented = {
        name: found[name] for name in ("samples", "seed", "sampler", "always-fraction", "geometry", "adjacent")
    }
    settings = Settings()
    assert documented == {name: str(getattr(settings, name.replace("-", "_"))) for name in documented}
    assert (settings.padding, settings.confidence, settings.search) == (0.0, None, True)


def test_counts_of_parts_in_any_order_are_those_of_all_samples() -> None:
    rng, links, samples = np.random.default_rng(0), 3, 12
    # Many equal depths; -inf: no collision.
    depths = rng.choice([-np.inf, -np.inf, 0.1, 0.2], size=(samples, links * links))
    hit = np.isfinite(depths)
    first = np.where(hit.any(axis=0), hit.argmax(axis=0), NO_SAMPLE)
    deepest = np.where(hit.any(axis=0), depths.argmax(axis=0), NO_SAMPLE)

    def part(sample: int) -> Counts:
        number = np.where(hit[sample], sample, NO_SAMPLE)
        return Counts(links, 1, hit[sample].astype(np.int64), number, number.copy(), depths[sample].copy())

    for _ in range(20):
        counts = Counts.empty(links)
        for sample in rng.permutation(samples).tolist():
            counts.add(part(sample))
        assert counts.samples == samples
        np.testing.assert_array_equal(counts.hits, hit.sum(axis=0))
        np.testing.assert_array_equal(counts.first, first)
        np.testing.assert_array_equal(counts.deepest, deepest)
        np.testing.assert_array_equal(counts.depth, depths.max(axis=0))
