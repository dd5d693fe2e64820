# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Cover of links by spheres: closed forms, samples of the surface, and a planted hole."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed (pip install '.[collision]')")
pytest.importorskip("mujoco", reason="mujoco is not installed (pip install '.[collision]')")

from robot_semantics.base.diagnostics import Diagnostics  # noqa: E402
from robot_semantics.collision.pieces import pieces_of  # noqa: E402
from robot_semantics.collision.sphere_check import LinkCheck, check_spheres  # noqa: E402
from robot_semantics.model.loading import load_robot  # noqa: E402
from robot_semantics.model.resources import PackageResolver  # noqa: E402

Sphere = tuple[float, float, float, float]
CUBE = '<box size="2 2 2"/>'


def checked(folder: Path, geometry: str, spheres: list[Sphere] | None, tolerance: float = 0.0) -> LinkCheck:
    """Return the check of a link with one geometry at its origin."""
    urdf, srdf = folder / "robot.urdf", folder / "robot.srdf"
    link = f"<collision><geometry>{geometry}</geometry></collision>"
    urdf.write_text(f'<robot name="r" version="1.2"><link name="a">{link}</link></robot>')
    lines = "".join(f'<sphere center="{x!r} {y!r} {z!r}" radius="{r!r}"/>' for x, y, z, r in spheres or ())
    element = f'<link_sphere_approximation link="a">{lines}</link_sphere_approximation>' if spheres else ""
    srdf.write_text(f'<robot name="r">{element}</robot>')
    robot = load_robot(urdf, srdf)
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver(()), diagnostics)
    diagnostics.raise_if_failed()
    (result,) = check_spheres(robot, pieces, robot.semantics.link_spheres, tolerance)
    return result


def test_the_sphere_around_a_cube_covers_it(tmp_path: Path) -> None:
    for spheres in ([(0.0, 0.0, 0.0, math.sqrt(3.0))], None):
        result = checked(tmp_path, CUBE, spheres)
        assert (result.covered, result.protrusion, result.witness) == (True, 0.0, None)
        assert result.overshoot == pytest.approx(math.sqrt(3.0) - 1.0, abs=1e-12)
        assert result.volume_ratio == pytest.approx(4 / 3 * math.pi * 3**1.5 / 8, rel=1e-12)


def test_the_sphere_in_a_cube_leaves_the_corners(tmp_path: Path) -> None:
    result = checked(tmp_path, CUBE, [(0.0, 0.0, 0.0, 1.0)])
    assert result.covered is False
    assert result.protrusion == pytest.approx(math.sqrt(3.0) - 1.0, abs=1e-12)
    assert result.witness is not None
    assert np.abs(result.witness.point) == pytest.approx([1.0, 1.0, 1.0])
    assert checked(tmp_path, CUBE, [(0.0, 0.0, 0.0, 1.0)], 0.74).covered


@pytest.mark.parametrize("size", [(2.0, 2.0, 2.0), (1.0, 0.6, 0.4)])
def test_eight_spheres_that_touch_in_the_middle_of_each_face_cover_a_box(
    size: tuple[float, float, float], tmp_path: Path
) -> None:
    radius = 0.25 * math.hypot(*size) + 1e-13
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    spheres = [(x * size[0] / 4, y * size[1] / 4, z * size[2] / 4, radius) for x, y, z in signs]
    box = f'<box size="{size[0]} {size[1]} {size[2]}"/>'
    assert checked(tmp_path, box, spheres).covered
    # A millimetre less leaves a hole of 1 mm at the corners, and in the middle of each face.
    small = checked(tmp_path, box, [(x, y, z, radius - 1e-3) for x, y, z, _ in spheres])
    assert small.covered is False
    assert small.protrusion == pytest.approx(1e-3, abs=1e-9)


def test_a_sphere_covers_the_same_sphere_and_no_larger_one(tmp_path: Path) -> None:
    ball = '<sphere radius="0.3"/>'
    same = checked(tmp_path, ball, [(0.0, 0.0, 0.0, 0.3)])
    assert same.covered
    assert same.overshoot == 0.0
    moved = checked(tmp_path, ball, [(0.01, 0.02, 0.0, 0.31)])
    assert moved.covered is False
    assert moved.protrusion == pytest.approx(math.hypot(0.01, 0.02) - 0.01, abs=1e-5)


def test_the_walls_of_cylinders_and_capsules_are_inside_of_what_is_covered(tmp_path: Path) -> None:
    around = math.hypot(0.1, 0.2)
    result = checked(tmp_path, '<cylinder radius="0.1" length="0.4"/>', [(0.0, 0.0, 0.0, around)])
    assert result.covered is False
    assert 0.0 < (result.protrusion or 0.0) < 1e-6
    assert checked(tmp_path, '<cylinder radius="0.1" length="0.4"/>', [(0.0, 0.0, 0.0, around)], 1e-6).covered
    assert checked(tmp_path, '<cylinder radius="0.1" length="0.4"/>', None).covered


def test_one_sphere_in_the_middle_of_a_cylinder_or_a_capsule_has_the_values_of_the_closed_forms(tmp_path: Path) -> None:
    radius, half, ball = 0.1, 0.3, 0.15
    volume = 4 / 3 * math.pi * ball**3
    wall = 2 * math.pi * radius**2 * half
    shapes = {
        # The rim is the farthest part of a cylinder; 4.7e-6 radii are the allowance for its prism.
        f'<cylinder radius="{radius}" length="{2 * half}"/>': (math.hypot(radius, half), 4.7e-7, wall),
        f'<capsule radius="{radius}" length="{2 * half}"/>': (radius + half, 1e-12, wall + 4 / 3 * math.pi * radius**3),
    }
    for geometry, (farthest, allowance, own) in shapes.items():
        result = checked(tmp_path, geometry, [(0.0, 0.0, 0.0, ball)])
        assert result.covered is False
        assert result.protrusion is not None
        assert -1e-12 <= result.protrusion - (farthest - ball) <= allowance
        assert result.witness is not None
        assert abs(result.witness.point[2]) == pytest.approx(half if "cylinder" in geometry else radius + half)
        assert result.overshoot == pytest.approx(ball - radius, abs=1e-12)
        assert result.volume_ratio == pytest.approx(volume / own, rel=1e-12)
        assert checked(tmp_path, geometry, [(0.0, 0.0, 0.0, farthest + 1e-6)]).covered
        assert not checked(tmp_path, geometry, [(0.0, 0.0, 0.0, farthest - 1e-6)]).covered


def test_a_link_with_radius_0_is_not_considered(tmp_path: Path) -> None:
    assert checked(tmp_path, CUBE, [(0.0, 0.0, 0.0, 0.0)]) == LinkCheck("a", 0)


def grown(mesh: object, radius: float) -> list[Sphere]:
    """Return spheres on a mesh such that together they cover it: each triangle has its own."""
    corners = np.asarray(mesh.triangles)  # type: ignore[attr-defined]
    middles = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1) + radius
    return [(float(x), float(y), float(z), float(far)) for (x, y, z), far in zip(middles, reach, strict=True)]


def test_no_sample_of_the_surface_is_outside_of_a_proven_cover(tmp_path: Path) -> None:
    mesh = trimesh.creation.torus(0.3, 0.1, major_sections=12, minor_sections=8)
    mesh.export(tmp_path / "torus.stl")
    geometry = f'<mesh filename="file://{tmp_path}/torus.stl"/>'
    spheres = grown(mesh, 1e-6)
    result = checked(tmp_path, geometry, spheres)
    assert result.covered
    samples, _ = trimesh.sample.sample_surface(mesh, 50_000, seed=1)
    values = np.array(spheres)
    nearest = min_distance(samples, values)
    assert nearest.max() <= 1e-9
    # Few spheres that need splitting: the proof and the samples agree on the largest distance.
    few = spheres[::3]
    worse = checked(tmp_path, geometry, few)
    sampled = min_distance(samples, np.array(few)).max()
    assert worse.protrusion is not None
    assert sampled <= worse.protrusion + 1e-5
    assert worse.protrusion <= sampled + 0.01
    assert worse.witness is not None
    assert min_distance(worse.witness.point[None], np.array(few))[0] == pytest.approx(worse.protrusion, abs=1e-12)


def min_distance(points: np.ndarray, spheres: np.ndarray) -> np.ndarray:
    distances = np.linalg.norm(points[:, None] - spheres[:, :3], axis=2) - spheres[:, 3]
    return np.asarray(distances.min(axis=1))


def test_a_hole_of_1_mm_is_found_in_a_fine_mesh(tmp_path: Path) -> None:
    mesh = trimesh.creation.icosphere(subdivisions=4, radius=0.2)
    spike = int(np.argmax(mesh.vertices[:, 0]))
    mesh.vertices[spike] *= 1.005
    mesh.export(tmp_path / "ball.stl")
    result = checked(tmp_path, f'<mesh filename="file://{tmp_path}/ball.stl"/>', [(0.0, 0.0, 0.0, 0.2 + 1e-7)])
    assert result.covered is False
    assert result.protrusion == pytest.approx(1e-3, abs=1e-6)
    assert result.witness is not None
    assert result.witness.triangle is not None
    assert spike in mesh.faces[result.witness.triangle]
