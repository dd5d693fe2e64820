# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Spheres that are free never contradict triangles that collide: an independent test by fcl."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed (pip install '.[spheres]')")
fcl = pytest.importorskip("fcl", reason="fcl is not installed (pip install '.[spheres]')")
pytest.importorskip("mujoco", reason="mujoco is not installed (pip install '.[spheres]')")
pytest.importorskip("morphit_rs", reason="morphit_rs is not installed (pip install '.[spheres]')")

from robot_semantics.base.diagnostics import Diagnostics  # noqa: E402
from robot_semantics.collision.pieces import pieces_of  # noqa: E402
from robot_semantics.collision.sphere_cover import Spheres  # noqa: E402
from robot_semantics.collision.sphere_fit import Fit, FitTask, _least_overshoot, _moved, fit_link  # noqa: E402
from robot_semantics.model.loading import load_robot  # noqa: E402
from robot_semantics.model.resources import PackageResolver  # noqa: E402

SEED = 5
CONFIGURATIONS = 3_000


def test_spheres_that_are_free_never_contradict_triangles_that_collide(tmp_path: Path) -> None:
    mesh = trimesh.creation.torus(0.3, 0.1, major_sections=20, minor_sections=10)
    mesh.export(tmp_path / "ring.stl")
    link = f'<collision><geometry><mesh filename="file://{tmp_path}/ring.stl"/></geometry></collision>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{link}</link></robot>')
    pieces = pieces_of(load_robot(tmp_path / "r.urdf"), PackageResolver(()), Diagnostics())
    spheres = fit_link(FitTask("a", pieces, 10, None, SEED)).spheres
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.faces))
    model.addSubModel(mesh.vertices, mesh.faces)
    model.endModel()
    one, other = fcl.CollisionObject(model), fcl.CollisionObject(model)
    draw = np.random.default_rng(SEED)
    smaller = Spheres(spheres.centers, 0.5 * spheres.radii)
    seen = dict.fromkeys(itertools.product((False, True), repeat=2), 0)
    contradictions_of_smaller = 0
    for _ in range(CONFIGURATIONS):
        rotation = trimesh.transformations.random_rotation_matrix(draw.uniform(size=3))[:3, :3]
        offset = draw.uniform(-0.9, 0.9, size=3)
        other.setTransform(fcl.Transform(rotation, offset))
        collide = fcl.collide(one, other, fcl.CollisionRequest(), fcl.CollisionResult()) > 0
        seen[touch(spheres, rotation, offset), collide] += 1
        contradictions_of_smaller += collide and not touch(smaller, rotation, offset)
    assert seen[False, True] == 0
    # Each other combination occurs, and spheres that do not cover are caught.
    assert min(seen[False, False], seen[True, False], seen[True, True]) > 100
    assert contradictions_of_smaller > 0


def touch(spheres: Spheres, rotation: np.ndarray, offset: np.ndarray) -> bool:
    """Return whether the spheres touch the same spheres, moved."""
    moved = spheres.centers @ rotation.T + offset
    distances = np.linalg.norm(spheres.centers[:, None] - moved, axis=2)
    return bool((distances <= spheres.radii[:, None] + spheres.radii).any())


def fitted(folder: Path, geometry: str, count: int | None, overshoot: float | None = None) -> Fit:
    """Return the fit of a link with one geometry at its origin."""
    link = f"<collision><geometry>{geometry}</geometry></collision>"
    (folder / "r.urdf").write_text(f'<robot name="r" version="1.2"><link name="a">{link}</link></robot>')
    pieces = pieces_of(load_robot(folder / "r.urdf"), PackageResolver(()), Diagnostics())
    return fit_link(FitTask("a", pieces, count, overshoot, SEED))


def distances(points: np.ndarray, spheres: Spheres) -> np.ndarray:
    """Return the signed distances of points to the nearest sphere."""
    each = np.linalg.norm(points[:, None] - spheres.centers, axis=2) - spheres.radii
    return np.asarray(each.min(axis=1))


@pytest.mark.parametrize(
    ("radius", "half", "count"), [(0.1, 0.4, 3), (0.05, 0.2, 4), (0.05, 0.15, 8), (0.1, 0.01, 2), (0.06, 0.3, 1)]
)
def test_spheres_of_a_capsule_are_as_small_as_on_its_axis(
    radius: float, half: float, count: int, tmp_path: Path
) -> None:
    fit = fitted(tmp_path, f'<capsule radius="{radius}" length="{2 * half}"/>', count)
    # The least overshoot of equal spheres on the axis whose circles reach each other, by trial.
    overshoots = np.linspace(0.0, half, 400_001)
    reach = (count - 1) * np.sqrt((radius + overshoots) ** 2 - radius**2) + overshoots
    least = overshoots[(reach >= half).argmax()]
    assert least - 2e-6 <= fit.overshoot <= 1.02 * least + 3e-6
    turns, heights, levels = np.random.default_rng(SEED).uniform(size=(3, 50_000))
    ends = np.where(heights < 0.5, 1.0, -1.0) * (half + radius * levels)
    wall = half * (2.0 * levels - 1.0)
    for height in (wall, ends):
        across = np.sqrt(radius**2 - np.maximum(np.abs(height) - half, 0.0) ** 2)
        points = np.stack([across * np.cos(7 * turns), across * np.sin(7 * turns), height], axis=1)
        assert distances(points, fit.spheres).max() <= 1e-9


@pytest.mark.parametrize("needed", [1, 2, 3, 5, 6, 7, 8])
def test_a_largest_overshoot_is_reached_with_the_fewest_spheres(needed: int, tmp_path: Path) -> None:
    radius, half = 0.1, 0.4
    overshoots = np.linspace(0.0, half, 400_001)
    levels = np.sqrt((radius + overshoots) ** 2 - radius**2)
    # The least overshoot of one sphere fewer, and of so many, as in the test above.
    more, least = (
        overshoots[((count - 1) * levels + overshoots >= half).argmax()] if count else 2.0 * half
        for count in (needed - 1, needed)
    )
    fit = fitted(tmp_path, f'<capsule radius="{radius}" length="{2 * half}"/>', None, 0.5 * (more + least))
    assert len(fit.spheres.radii) == needed
    assert fit.overshoot <= 0.5 * (more + least)


def test_of_the_covers_with_so_many_centers_the_chosen_one_has_the_least_largest_overshoot() -> None:
    # Six points, two centers. Two pairs of centers cover three points each, by 0.5 and by 0.3; one center covers all
    # points by 1; near each point another center has an overshoot of 0.1.
    halves = np.repeat(np.eye(2), 3, axis=0) > 0.0
    overshoots = np.concatenate(
        [np.ones((6, 1)), np.where(halves, 0.5, 2.0), np.where(halves, 0.3, 2.0), 2.0 - 1.9 * np.eye(6)], axis=1
    )
    assert sorted(_least_overshoot(overshoots, 2).tolist()) == [3, 4]
    assert _least_overshoot(overshoots, 1).tolist() == [0]
    assert sorted(_least_overshoot(overshoots, 6).tolist()) == [5, 6, 7, 8, 9, 10]
    # One center covers all three points by 0.5. Two centers cannot do better, but the second is near the worst point.
    overshoots = np.array([[0.1, 2.0, 2.0], [0.5, 0.05, 2.0], [0.5, 2.0, 0.06]])
    assert _least_overshoot(overshoots, 2).tolist() == [0, 1]


@pytest.mark.parametrize("starts", [[0.3], [0.4, 0.3], [-1.0, -1.1, 0.3, 0.2]])
def test_moved_spheres_of_cubes_in_a_row_are_almost_the_spheres_around_the_cubes(starts: list[float]) -> None:
    size = np.array([len(starts), 1.0, 1.0])
    points, fine = (
        trimesh.sample.sample_surface_even(trimesh.creation.box(size), count, seed=1)[0] for count in (3_000, 20_000)
    )
    points = np.concatenate([points, trimesh.creation.box(size).vertices])
    begin = np.array([(start, 0.1 * (at % 2), 0.05) for at, start in enumerate(starts)])
    signs = -np.ones(len(begin))
    centers = _moved(points, begin, signs, cKDTree(fine), np.random.default_rng(SEED))
    # The largest sphere inside of the box has the radius of the least distance to a side.
    inside = Spheres(centers, (size / 2.0 - np.abs(centers)).min(axis=1))
    best = 0.5 * math.sqrt(3.0) - 0.5
    assert best - 1e-9 <= distances(points, inside).max() <= 1.05 * best


@pytest.mark.parametrize(("radius", "half", "count"), [(0.1, 0.4, 4), (0.2, 0.05, 8), (0.05, 0.2, 1)])
def test_spheres_of_a_cylinder_cover_it_and_are_at_most_those_on_its_axis(
    radius: float, half: float, count: int, tmp_path: Path
) -> None:
    fit = fitted(tmp_path, f'<cylinder radius="{radius}" length="{2 * half}"/>', count)
    assert len(fit.spheres.radii) <= count
    on_axis = math.hypot(radius, half / count)
    # The distance of a centre on the axis to the surface is the distance to the wall or to an end.
    assert fit.overshoot <= 1.02 * (on_axis - min(radius, half / count)) + 3e-6
    turns, shares, sides = np.random.default_rng(SEED).uniform(size=(3, 50_000))
    wall = np.stack([radius * np.cos(7 * turns), radius * np.sin(7 * turns), half * (2 * shares - 1)], axis=1)
    across = radius * np.sqrt(shares)
    ends = np.stack([across * np.cos(7 * turns), across * np.sin(7 * turns), half * np.sign(sides - 0.5)], axis=1)
    assert distances(np.concatenate([wall, ends]), fit.spheres).max() <= 1e-9


@pytest.mark.parametrize("size", [(1.0, 0.0002, 0.0002), (0.01, 0.02, 0.8)])
def test_spheres_of_a_bar_are_at_most_those_on_its_axis(size: tuple[float, float, float], tmp_path: Path) -> None:
    fit = fitted(tmp_path, f'<box size="{size[0]} {size[1]} {size[2]}"/>', 8)
    thin, middle, long = sorted(side / 2.0 for side in size)
    assert fit.overshoot <= 1.02 * (math.hypot(thin, middle, long / 8) - thin) + 3e-6
    points, _ = trimesh.sample.sample_surface(trimesh.creation.box(size), 50_000, seed=1)
    assert distances(points, fit.spheres).max() <= 1e-9


def test_eight_spheres_of_a_cube_are_almost_as_small_as_those_in_its_corners(tmp_path: Path) -> None:
    fit = fitted(tmp_path, '<box size="1 1 1"/>', 8)
    # Each around an eighth of the cube: from 0.25 m below the surface to a corner.
    in_corners = 0.25 * math.sqrt(3.0) - 0.25
    assert in_corners <= fit.overshoot <= 1.12 * in_corners
