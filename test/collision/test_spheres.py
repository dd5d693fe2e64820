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
mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (pip install '.[collision]')")

from robot_semantics.base.diagnostics import Diagnostics  # noqa: E402
from robot_semantics.base.errors import RobotSemanticsError  # noqa: E402
from robot_semantics.collision import sphere_cover  # noqa: E402
from robot_semantics.collision.pieces import pieces_of  # noqa: E402
from robot_semantics.collision.shapes import Piece, Shape, surface_of  # noqa: E402
from robot_semantics.collision.sphere_check import (  # noqa: E402
    LinkCheck,
    check_spheres,
    link_surface,
    union_volume,
)
from robot_semantics.model.loading import load_robot  # noqa: E402
from robot_semantics.model.resources import PackageResolver  # noqa: E402

Sphere = tuple[float, float, float, float]
CUBE = '<box size="2 2 2"/>'


def checked(
    folder: Path, geometry: str, spheres: list[Sphere] | None, tolerance: float = 0.0, origin: str = ""
) -> LinkCheck:
    """Return the check of a link with one geometry."""
    urdf, srdf = folder / "robot.urdf", folder / "robot.srdf"
    link = f"<collision><origin {origin}/><geometry>{geometry}</geometry></collision>"
    urdf.write_text(f'<robot name="r" version="1.2"><link name="a">{link}</link></robot>')
    lines = "".join(f'<sphere center="{x:.17g} {y:.17g} {z:.17g}" radius="{r:.17g}"/>' for x, y, z, r in spheres or ())
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


def test_the_sphere_around_a_ball_is_the_ball(tmp_path: Path) -> None:
    result = checked(tmp_path, '<sphere radius="0.3"/>', None, origin='xyz="1 2 3"')
    assert result.covered
    assert result.overshoot == pytest.approx(0.0, abs=1e-12)
    assert result.volume_ratio == pytest.approx(1.0, rel=1e-12)


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


@pytest.mark.parametrize("half", [0.0, 0.3])
def test_a_ball_or_capsule_protrudes_most_where_it_is_farthest_from_the_sphere(half: float, tmp_path: Path) -> None:
    geometry = f'<capsule radius="0.2" length="{2.0 * half}"/>' if half else '<sphere radius="0.2"/>'
    for way in np.random.default_rng(2).normal(size=(12, 3)):
        center = 0.3 * way / np.linalg.norm(way)
        result = checked(tmp_path, geometry, [(*center.tolist(), 0.25)])
        # The farthest point is behind the middle of the farther half ball.
        away = max(np.linalg.norm(center - (0.0, 0.0, end)) for end in (half, -half))
        assert result.covered is False
        assert result.protrusion == pytest.approx(away + 0.2 - 0.25, abs=1e-5)


def test_a_sphere_that_touches_the_rims_of_a_cylinder_covers_it_and_no_smaller_one(tmp_path: Path) -> None:
    around = math.hypot(0.1, 0.2)
    cylinder = '<cylinder radius="0.1" length="0.4"/>'
    assert checked(tmp_path, cylinder, [(0.0, 0.0, 0.0, around + 1e-13)]).covered
    assert checked(tmp_path, cylinder, None).covered
    small = checked(tmp_path, cylinder, [(0.0, 0.0, 0.0, around - 1e-6)])
    assert small.covered is False
    assert small.protrusion == pytest.approx(1e-6, abs=1e-12)


@pytest.mark.parametrize("radius", [0.1, 2.0])
def test_the_middle_of_an_arc_is_farther_out_than_its_ends(radius: float) -> None:
    # A strip of the wall of a cylinder, a radian wide, and a sphere whose centre is on the other side of the axis.
    height, behind = 0.1 * radius, 0.5 * radius
    turns, heights = np.array([-0.5, 0.5, 0.5, -0.5]), height * np.array([-1.0, -1.0, 1.0, 1.0])
    strip = np.stack([radius * np.cos(turns), radius * np.sin(turns), heights], axis=1)
    patches = sphere_cover.Patches(strip[None], 0, tube=(np.eye(4), radius))
    farthest = math.hypot(radius + behind, height)
    ends = np.linalg.norm(strip - (-behind, 0.0, 0.0), axis=1)
    # The sphere has all corners inside.
    sphere = sphere_cover.Spheres(np.array([[-behind, 0.0, 0.0]]), np.array([0.5 * (ends.max() + farthest)]))
    found = sphere_cover.cover([patches], sphere)
    assert found.lower <= farthest - sphere.radii[0] <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-5


def test_the_farthest_point_of_a_part_of_a_cylinder_is_that_of_dense_points() -> None:
    # Rectangles of the wall, up to half a turn wide, and triangles of an end with 0 to 3 corners on the wall.
    rng, radius, up = np.random.default_rng(0), 0.5, np.array([0.0, 0.0, 0.2])
    begins, widths = rng.uniform(-math.pi, math.pi, size=25), rng.uniform(0.1, 3.1, size=25)
    centers = np.concatenate([rng.uniform(-1.0, 1.0, size=(30, 3)), [[-0.3, 0.0, 0.0], [0.3, 0.0, 0.0]]])
    spheres = sphere_cover.Spheres(centers, np.full(len(centers), 0.1))
    shares = np.linspace(0.0, 1.0, 1_001)
    for begin, width, lengths in zip(begins, widths, rng.uniform(0.0, radius, size=(25, 3)), strict=True):
        turns = begin + width * np.array([0.0, 1.0, 1.0, 0.0])
        wall = np.stack([radius * np.cos(turns), radius * np.sin(turns), np.array([-0.2, -0.2, 0.2, 0.2])], axis=1)
        arc = begin + width * shares
        dense = np.stack([radius * np.cos(arc), radius * np.sin(arc), 0.0 * arc], axis=1)
        rims = np.concatenate([dense - up, dense + up])
        lengths[: rng.integers(4)] = radius
        turns = begin + width * np.array([0.0, 1.0, 0.5])
        end = np.stack([lengths * np.cos(turns), lengths * np.sin(turns), np.full(3, 0.2)], axis=1)
        corners = [end, dense + up][: 1 + (lengths[:2] == radius).all()]
        for part, points in ((wall, rims), (end, np.concatenate(corners))):
            rolled = np.roll(part, rng.integers(len(part)), axis=0)
            patches = sphere_cover.Patches(rolled[None], 0, tube=(np.eye(4), radius))
            distances = sphere_cover.sphere_distances(rolled, spheres)
            expected = sphere_cover.sphere_distances(points, spheres).max(axis=0)
            (found,) = sphere_cover._bounds(patches, spheres, distances)
            np.testing.assert_allclose(found, expected, atol=1e-6)


def test_distances_to_a_small_box_of_triangles_are_those_of_the_closed_form() -> None:
    half = np.array([0.004, 0.01, 0.03])
    mesh = trimesh.creation.box(2.0 * half)
    shape = Shape(mujoco.mjtGeom.mjGEOM_MESH, (0.0, 0.0, 0.0), surface=surface_of(mesh))
    points = np.random.default_rng(0).uniform(-1.5, 1.5, size=(2_000, 3)) * half
    outside = np.abs(points) - half
    expected = np.linalg.norm(np.maximum(outside, 0.0), axis=1) + np.minimum(outside.max(axis=1), 0.0)
    assert (expected < 0.0).sum() > 100
    np.testing.assert_allclose(
        sphere_cover.signed_distances([Piece(0, shape, np.eye(4))], points), expected, atol=1e-12
    )


def test_a_proof_that_is_too_fine_ends_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sphere_cover, "MOST_PIECES", 200_000)
    # The circles of neighbours meet on the wall, where no split ends.
    spheres = [(0.0, 0.0, z, math.hypot(0.5, 0.5) + 1e-10) for z in (-1.0, 0.0, 1.0)]
    with pytest.raises(RobotSemanticsError, match="link 'a': the proof needs more than 200,000 pieces"):
        checked(tmp_path, '<cylinder radius="0.5" length="3"/>', spheres)


def test_a_proof_may_need_the_largest_number_of_pieces_and_not_one_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halved, pieces = sphere_cover._halved, 0

    def counted(part: sphere_cover.Patches) -> sphere_cover.Patches:
        nonlocal pieces
        both = halved(part)
        pieces += len(both.corners)
        return both

    monkeypatch.setattr(sphere_cover, "_halved", counted)
    spheres = [(x, y, z, 1.0) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    assert checked(tmp_path, CUBE, spheres).covered
    monkeypatch.setattr(sphere_cover, "_halved", halved)
    monkeypatch.setattr(sphere_cover, "MOST_PIECES", pieces)
    assert checked(tmp_path, CUBE, spheres).covered
    monkeypatch.setattr(sphere_cover, "MOST_PIECES", pieces - 1)
    with pytest.raises(RobotSemanticsError, match="the proof needs more than"):
        checked(tmp_path, CUBE, spheres)


def test_one_sphere_in_the_middle_of_a_cylinder_or_a_capsule_has_the_values_of_the_closed_forms(tmp_path: Path) -> None:
    radius, half, ball = 0.1, 0.3, 0.15
    volume = 4 / 3 * math.pi * ball**3
    wall = 2 * math.pi * radius**2 * half
    shapes = {
        # The rim is the farthest part of a cylinder.
        f'<cylinder radius="{radius}" length="{2 * half}"/>': (math.hypot(radius, half), 1e-12, wall),
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


THIN = {
    "rod": (
        lambda t: f'<cylinder radius="{t}" length="1"/>',
        lambda t: trimesh.creation.cylinder(t, 1.0, sections=720),
    ),
    "disc": (
        lambda t: f'<cylinder radius="0.5" length="{2 * t}"/>',
        lambda t: trimesh.creation.cylinder(0.5, 2.0 * t, sections=720),
    ),
    "plate": (lambda t: f'<box size="1 0.5 {2 * t}"/>', lambda t: trimesh.creation.box((1.0, 0.5, 2.0 * t))),
    "bar": (lambda t: f'<box size="1 {2 * t} {2 * t}"/>', lambda t: trimesh.creation.box((1.0, 2.0 * t, 2.0 * t))),
    "capsule": (
        lambda t: f'<capsule radius="{t}" length="1"/>',
        lambda t: trimesh.creation.capsule(1.0, t, count=(32, 64)),
    ),
}


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of pieces that are split, one for each step."""
    counts: list[int] = []
    halve = sphere_cover._halved

    def counted(part: sphere_cover.Patches) -> sphere_cover.Patches:
        counts.append(len(part.corners))
        return halve(part)

    monkeypatch.setattr(sphere_cover, "_halved", counted)
    return counts


@pytest.mark.parametrize("thickness", [0.02, 0.005, 0.001, 0.0001])
@pytest.mark.parametrize("shape", list(THIN))
def test_thin_parts_are_proven_with_few_pieces_and_agree_with_dense_points(
    shape: str, thickness: float, tmp_path: Path, pieces: list[int]
) -> None:
    geometry, oracle = (make(thickness) for make in THIN[shape])
    points, _ = trimesh.sample.sample_surface(oracle, 100_000, seed=1)
    centers = [(x, y) for x in np.linspace(-0.45, 0.45, 10) for y in (-0.3, 0.0, 0.3)]
    for radius in (0.06, 0.16, 0.24, 0.4):
        if shape in ("rod", "capsule"):
            spheres = [(0.0, 0.0, x, radius) for x, y in centers if y == 0.0]
        else:
            spheres = [(x, y, 0.0, radius) for x, y in centers]
        pieces.clear()
        result = checked(tmp_path, geometry, spheres)
        sampled = min_distance(points, np.array(spheres)).max()
        assert result.protrusion is not None
        # The points lie on the surface of a polygon inside of the shape, 2 mm apart.
        assert sampled <= result.protrusion + 1e-5
        assert result.protrusion <= max(0.0, sampled) + 0.005
        assert result.covered is (result.protrusion == 0.0)
        assert sum(pieces) <= 30_000


def test_tight_spheres_on_the_axis_of_a_rod_need_few_pieces(tmp_path: Path, pieces: list[int]) -> None:
    # Circles of neighbours meet at hypot(5 mm, 10 mm) = 11.18 mm.
    heights = np.linspace(-0.49, 0.49, 50)
    rod = '<cylinder radius="0.005" length="1"/>'
    least = math.hypot(0.005, 0.01)
    assert checked(tmp_path, rod, [(0.0, 0.0, float(z), least + 2e-5) for z in heights]).covered
    assert sum(pieces) <= 100_000
    assert not checked(tmp_path, rod, [(0.0, 0.0, float(z), least - 2e-5) for z in heights]).covered


@pytest.mark.parametrize("turn", ["0 0 0", "0.3 -1.2 2.5"])
def test_off_axis_spheres_of_cylinders_agree_with_dense_points(turn: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    rotation = trimesh.transformations.euler_matrix(*(float(value) for value in turn.split()), axes="sxyz")[:3, :3]
    for radius, half in ((0.1, 0.3), (0.4, 0.02), (0.02, 0.5), (0.3, 0.3)):
        angles, levels, shares = draw.uniform(size=(3, 40_000))
        wall = np.stack([radius * np.cos(7 * angles), radius * np.sin(7 * angles), half * (2 * levels - 1)], axis=1)
        across = radius * np.sqrt(shares)
        sides = half * np.sign(levels - 0.5)
        ends = np.stack([across * np.cos(7 * angles), across * np.sin(7 * angles), sides], axis=1)
        points = np.concatenate([wall, ends]) @ rotation.T + (0.1, -0.2, 0.3)
        for _ in range(8):
            centers = draw.uniform(-1.0, 1.0, size=(5, 3)) * (radius, radius, half) @ rotation.T + (0.1, -0.2, 0.3)
            values = np.column_stack([centers, draw.uniform(0.3, 0.8, size=5) * max(radius, half)])
            spheres = [(float(x), float(y), float(z), float(far)) for x, y, z, far in values]
            cylinder = f'<cylinder radius="{radius}" length="{2 * half}"/>'
            result = checked(tmp_path, cylinder, spheres, origin=f'xyz="0.1 -0.2 0.3" rpy="{turn}"')
            sampled = min_distance(points, values).max()
            assert result.protrusion is not None
            assert sampled - 1e-9 <= result.protrusion + (1e-5 if result.protrusion else 0.0)
            assert result.protrusion <= max(0.0, sampled) + 0.01


def test_needles_of_a_mesh_are_proven_with_few_pieces(tmp_path: Path, pieces: list[int]) -> None:
    mesh = trimesh.creation.cylinder(0.001, 1.0, sections=64)
    mesh.export(tmp_path / "rod.stl")
    geometry = f'<mesh filename="file://{tmp_path}/rod.stl"/>'
    heights = np.linspace(-0.45, 0.45, 10)
    assert checked(tmp_path, geometry, [(0.0, 0.0, float(z), 0.05002) for z in heights]).covered
    assert sum(pieces) <= 30_000
    small = checked(tmp_path, geometry, [(0.0, 0.0, float(z), 0.04) for z in heights])
    points, _ = trimesh.sample.sample_surface(mesh, 100_000, seed=1)
    spheres = np.array([(0.0, 0.0, z, 0.04) for z in heights])
    assert small.protrusion == pytest.approx(min_distance(points, spheres).max(), abs=2e-4)
    assert small.witness is not None
    assert small.witness.triangle is not None
    on_triangle = trimesh.triangles.closest_point(mesh.triangles[[small.witness.triangle]], small.witness.point[None])
    assert on_triangle[0] == pytest.approx(small.witness.point, abs=1e-6)


def piece(kind: str, size: tuple[float, float, float]) -> Piece:
    """Return a primitive that is turned and moved in its link."""
    pose = trimesh.transformations.euler_matrix(0.3, -1.2, 2.5, axes="sxyz")
    pose[:3, 3] = (0.1, -0.2, 0.3)
    return Piece(0, Shape(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"), size), pose)


ROUND = 8.0 * math.sin(math.pi / 8.0)
"""Area of a regular polygon with 16 corners on a circle of radius 1."""
EDGE = 2.0 * math.sin(math.pi / 16.0)
"""Length of its edges."""


@pytest.mark.parametrize(
    ("kind", "size", "volume", "area"),
    [
        ("BOX", (0.1, 0.2, 0.35), 8 * 0.1 * 0.2 * 0.35, 8 * (0.1 * 0.2 + 0.2 * 0.35 + 0.35 * 0.1)),
        (
            "CYLINDER",
            (0.2, 0.35, 0.0),
            ROUND * 0.2**2 * 2 * 0.35,
            2 * ROUND * 0.2**2 + 16 * EDGE * 0.2 * 2 * 0.35,
        ),
        # An octahedron.
        ("SPHERE", (0.2, 0.0, 0.0), 4 / 3 * 0.2**3, 4 * math.sqrt(3.0) * 0.2**2),
    ],
)
def test_the_corners_of_a_surface_make_a_closed_surface(
    kind: str, size: tuple[float, float, float], volume: float, area: float
) -> None:
    triangles = sphere_cover.triangles_of(link_surface([piece(kind, size)]))
    mesh = trimesh.Trimesh(triangles.reshape(-1, 3).round(12), np.arange(3 * len(triangles)).reshape(-1, 3))
    assert mesh.is_watertight
    # The triangles of a flat shape are wound from outside. On a ball, the order of the corners has no meaning.
    assert mesh.is_winding_consistent or kind == "SPHERE"
    mesh = trimesh.convex.convex_hull(mesh) if kind == "SPHERE" else mesh
    assert mesh.volume == pytest.approx(volume, rel=1e-9)
    assert mesh.area == pytest.approx(area, rel=1e-9)


def test_the_thin_triangles_of_a_mesh_are_parts_of_its_surface() -> None:
    mesh = trimesh.creation.cylinder(0.001, 1.0, sections=8)
    mesh.apply_translation((1.0, -2.0, 3.0))
    shape = Shape(mujoco.mjtGeom.mjGEOM_MESH, (0.0, 0.0, 0.0), surface=surface_of(mesh))
    parts = link_surface([Piece(0, shape, np.eye(4))])
    for part in parts:
        assert part.triangles is not None
        edges = np.linalg.norm(part.corners - np.roll(part.corners, 1, axis=1), axis=2)
        # A trapezoid has an edge of length 0 at its sharp corner.
        lengths = np.sort(edges, axis=1)[:, -3:]
        assert ((lengths[:, 2] > 4.0 * lengths[:, 0]) == (part.corners.shape[1] == 4)).all()
        assert (edges.min(axis=1) == 0.0).all() == (part.corners.shape[1] == 4)
        for corners, triangle in zip(part.corners, part.triangles, strict=True):
            assert {*map(tuple, corners)} == {*map(tuple, mesh.triangles[triangle])}
    assert sorted(np.concatenate([part.triangles for part in parts])) == [*range(len(mesh.faces))]
    assert trimesh.triangles.area(sphere_cover.triangles_of(parts)).sum() == pytest.approx(mesh.area, rel=1e-9)


def test_the_volumes_of_spheres_and_geometry_are_those_of_closed_forms(tmp_path: Path) -> None:
    one, two = 0.3, 0.2
    balls = 4 / 3 * math.pi * (one**3 + two**3)
    # The lens of two spheres whose centers are 0.4 m apart.
    far = 0.4
    common = math.pi * (one + two - far) ** 2 * (far**2 + 2 * far * (one + two) - 3 * (one - two) ** 2) / (12 * far)
    for offset, expected in ((2.0, balls), (far, balls - common)):
        spheres = sphere_cover.Spheres(np.array([[0.5, -1.0, 2.0], [0.5, offset - 1.0, 2.0]]), np.array([one, two]))
        assert union_volume(spheres) == pytest.approx(expected, rel=0.02)
    sizes = {
        '<box size="0.2 0.3 0.7"/>': 0.2 * 0.3 * 0.7,
        '<cylinder radius="0.2" length="0.7"/>': math.pi * 0.2**2 * 0.7,
        '<capsule radius="0.2" length="0.7"/>': math.pi * 0.2**2 * 0.7 + 4 / 3 * math.pi * 0.2**3,
        '<sphere radius="0.2"/>': 4 / 3 * math.pi * 0.2**3,
    }
    for geometry, volume in sizes.items():
        result = checked(tmp_path, geometry, [(0.0, 0.0, 0.0, one)])
        assert result.volume_ratio == pytest.approx(4 / 3 * math.pi * one**3 / volume, rel=1e-12)


@pytest.mark.parametrize("spacing", [0.3, 0.1])
def test_points_of_a_surface_are_one_in_each_small_cube_and_near_to_every_point(spacing: float) -> None:
    box = piece("BOX", (0.4, 0.5, 0.6))
    points = sphere_cover.corner_points(link_surface([box]), spacing)
    cubes = ((points - points.min(axis=0)) // (0.5 * spacing)).astype(int)
    assert len({*map(tuple, cubes)}) == len(points)
    np.testing.assert_allclose(sphere_cover.signed_distances([box], points), 0.0, atol=1e-12)
    surface = trimesh.creation.box(2.0 * np.array(box.shape.size), transform=box.T_link_piece)
    samples, _ = trimesh.sample.sample_surface(surface, 5_000, seed=1)
    # A corner of the piece that holds the point is nearer than the longest edge; its cube has another point.
    nearest = np.linalg.norm(samples[:, None] - points, axis=2).min(axis=1)
    assert nearest.max() <= spacing * (1.0 + 0.5 * math.sqrt(3.0))


def test_the_bound_of_a_part_of_a_ball_is_near_its_farthest_point() -> None:
    rng, radius = np.random.default_rng(0), 0.5
    center = np.array([0.1, -0.2, 0.3])
    spheres = sphere_cover.Spheres(rng.uniform(-1.0, 1.0, size=(40, 3)), np.full(40, 0.1))
    shares = rng.dirichlet(np.ones(3), size=2_000)
    for size in (0.5, 0.1, 0.02):
        for middle in rng.normal(size=(20, 3)):
            corners = middle / np.linalg.norm(middle) + size * rng.uniform(-1.0, 1.0, size=(3, 3))
            corners = center + radius * corners / np.linalg.norm(corners, axis=1, keepdims=True)
            flat = shares @ corners - center
            dense = np.concatenate([corners, center + radius * flat / np.linalg.norm(flat, axis=1, keepdims=True)])
            farthest = sphere_cover.sphere_distances(dense, spheres).max(axis=0)
            part = sphere_cover.Patches(corners[None], 0, ball=(center, radius))
            (found,) = sphere_cover._bounds(part, spheres, sphere_cover.sphere_distances(corners, spheres))
            assert (found >= farthest - 1e-12).all()
            # The allowance for the whole triangle is in proportion to its size.
            assert (found <= farthest + 2.0 * radius * size).all()


def test_a_small_hole_between_spheres_is_drawn_as_small_pieces() -> None:
    # Four spheres around a point of a square leave a hole of 4 cm.
    point, away, spacing = np.array([0.37, 0.41, 0.0]), 0.8, 0.25
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    ways = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    spheres = sphere_cover.Spheres(point + away * ways, np.full(4, away - 0.02))
    hole = sphere_cover.uncovered([sphere_cover.Patches(square[None], 0)], spheres, spacing)
    assert len(hole)
    assert np.abs(hole - point).max() <= 0.02 + spacing / 8.0
    # A larger hole is drawn with pieces of the spacing, not with smaller ones.
    hole = sphere_cover.uncovered([sphere_cover.Patches(square[None], 0)], spheres._replace(radii=np.zeros(4)), spacing)
    edges = np.linalg.norm(hole - np.roll(hole, 1, axis=1), axis=2)
    assert trimesh.triangles.area(hole).sum() == pytest.approx(1.0)
    assert edges.max() <= math.sqrt(2.0)
