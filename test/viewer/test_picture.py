# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pictures: the nearest surface is visible, at the position given by geometry."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from robot_semantics import Diagnostics, UnknownNameError
from robot_semantics.base.errors import ArrayError
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.picture import View, fit_camera, png_bytes, render, visible_triangles, with_legend
from robot_semantics.viewer.scene import Scene
from robot_semantics.viewer.shading import corner_normals
from robot_semantics.viewer.triangles import primitive

trimesh = pytest.importorskip("trimesh")


def test_each_pixel_shows_the_nearest_triangle_over_its_centre() -> None:
    """Against a ray through every pixel's centre, solved triangle by triangle."""
    rng = np.random.default_rng(3)
    size = (37, 29)
    corners = np.concatenate([rng.uniform(-20, 60, (60, 3, 2)), rng.uniform(1, 9, (60, 3, 1))], axis=2)
    index, nearness = visible_triangles(corners, size, 1e-3)
    checked = 0
    for row in range(size[1]):
        for column in range(size[0]):
            best, who = 0.0, -1
            for number, triangle in enumerate(corners):
                M = np.vstack([triangle[:, :2].T, np.ones(3)])
                weights = np.linalg.solve(M, [column + 0.5, row + 0.5, 1.0])
                near = float(weights @ (1.0 / triangle[:, 2]))
                if (weights >= 0.0).all() and near > best:
                    best, who = near, number
            assert index[row, column] == who
            assert nearness[row, column] == pytest.approx(best, rel=1e-5)
            checked += who >= 0
    assert checked > 500


def test_triangles_without_area_or_behind_the_eye_are_not_seen() -> None:
    line = [[0.0, 0.0, 1.0], [5.0, 5.0, 1.0], [9.0, 9.0, 1.0]]
    behind = [[0.0, 0.0, 1.0], [9.0, 0.0, -1.0], [0.0, 9.0, 1.0]]
    nan = [[0.0, 0.0, 1.0], [9.0, 0.0, np.nan], [0.0, 9.0, 1.0]]
    index, _ = visible_triangles(np.array([line, behind, nan]), (10, 10), 1e-3)
    assert (index == -1).all()


@pytest.mark.parametrize("azimuth", [0.0, 2.0, -3.0])
@pytest.mark.parametrize("elevation", [-1.0, 0.2, 1.5])
def test_the_camera_sees_every_point_and_fills_the_picture(azimuth: float, elevation: float) -> None:
    points = np.random.default_rng(5).normal(size=(200, 3)) * [3.0, 1.0, 0.5] + [100.0, -20.0, 3.0]
    size = (640, 400)
    at = fit_camera(points, size, azimuth, elevation).project(points)
    assert (at[:, 2] > 0.0).all()
    assert (at[:, :2] >= 0.0).all()
    assert (at[:, :2] <= size).all()
    spread = np.ptp(at[:, :2], axis=0) / size
    assert spread.max() > 0.9


def test_what_is_too_far_away_for_any_picture_is_refused() -> None:
    with pytest.raises(ArrayError, match="something is 1e\\+308 m away"):
        fit_camera(np.array([[0.0, 0.0, 0.0], [0.0, -1e308, 0.0]]), (640, 400), 0.0, 0.2)
    camera = fit_camera(np.array([[0.0, 0.0, 0.0], [0.0, -1e30, 0.0]]), (640, 400), 0.0, 0.2)
    assert np.isfinite(camera.project(np.array([[0.0, -1e30, 0.0]]))).all()


@pytest.mark.parametrize(
    ("geometry", "volume"),
    [
        (urdf_tree.Box((1.0, 2.0, 3.0)), 6.0),
        (urdf_tree.Cylinder(0.5, 2.0), np.pi * 0.5),
        (urdf_tree.Sphere(0.5), np.pi / 6.0),
        (urdf_tree.Capsule(0.5, 2.0), np.pi * 0.5 + np.pi / 6.0),
    ],
)
def test_primitives_are_closed_and_have_their_volume(
    geometry: urdf_tree.Box | urdf_tree.Cylinder | urdf_tree.Sphere | urdf_tree.Capsule, volume: float
) -> None:
    surface = primitive(geometry)
    mesh = trimesh.Trimesh(surface.vertices, surface.faces)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume, rel=0.03)  # outside is outside: the sign is right


def test_a_cylinder_is_smooth_round_and_sharp_at_its_rim() -> None:
    surface = primitive(urdf_tree.Cylinder(1.0, 0.1))
    normals = corner_normals(surface)
    corners = surface.vertices[surface.faces]
    side = np.abs(normals[..., 2]) < 0.5
    outward = corners[..., :2] / np.linalg.norm(corners[..., :2], axis=-1, keepdims=True).clip(1e-9)
    assert ((normals[..., :2] * outward).sum(axis=-1)[side] > 0.999).all()
    assert (np.abs(normals[..., 2][~side]) > 0.999).all()


def test_a_png_reads_back_as_it_was() -> None:
    image = np.random.default_rng(1).integers(0, 256, (23, 17, 3)).astype(np.uint8)
    image[5:15] = np.arange(17, dtype=np.uint8)[:, None]
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png_bytes(image)))), image)


def test_a_red_box_is_seen_where_it_is(tmp_path: Path) -> None:
    urdf = tmp_path / "box.urdf"
    urdf.write_text(
        '<robot name="b"><material name="red"><color rgba="1 0 0 1"/></material><link name="l"><visual>'
        '<geometry><box size="1 1 1"/></geometry><material name="red"/></visual></link></robot>'
    )
    scene = open_files([urdf], Opening(), Diagnostics())
    image = render(scene, View(size=(200, 200), azimuth=0.0, elevation=0.0)).astype(int)
    red = (image[..., 0] > 120) & (image[..., 1] < 100)
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    # A square in the middle: from ahead, a unit cube fills 0.94 of the picture.
    assert [rows[0] + rows[-1], columns[0] + columns[-1]] == pytest.approx([199, 199], abs=2)
    assert [len(rows), len(columns)] == pytest.approx([188, 188], abs=4)
    assert red[rows[0] + 2 : rows[-1] - 2, columns[0] + 2 : columns[-1] - 2].all()


def orange(image: npt.NDArray[np.int64]) -> int:
    return int(((image[..., 0] > 1.5 * image[..., 2]) & (image[..., 0] > 60)).sum())


def test_groups_are_coloured_and_the_rest_is_faded(rover: Scene) -> None:
    view = View(size=(240, 180))
    plain, arm = render(rover, view).astype(int), render(rover, replace(view, groups=("wheels",))).astype(int)
    assert orange(plain) > 2000  # base and joints
    assert 50 < orange(arm) < 1500  # one wheel
    with pytest.raises(UnknownNameError, match="unknown group 'wheel'; did you mean 'wheels'"):
        render(rover, replace(view, groups=("wheel",)))


def test_a_legend_names_the_groups(rover: Scene) -> None:
    image = render(rover, View(size=(240, 180), groups=("arm",), left_margin=0.2))
    changed = (with_legend(image, ("arm",)) != image).any(axis=-1)
    assert changed[:60, :100].sum() > 100
    assert not changed[90:].any()


def test_transparent_parts_let_through_what_is_behind(tmp_path: Path) -> None:
    boxes = "".join(
        f'<visual><origin xyz="{x} 0 0"/><geometry><box size="0.1 1 1"/></geometry>'
        f'<material name="m{x}"><color rgba="{rgba}"/></material></visual>'
        for x, rgba in ((0, "1 0 0 1"), (1, "0 0 1 0.5"))
    )
    urdf = tmp_path / "glass.urdf"
    urdf.write_text(f'<robot name="g"><link name="l">{boxes}</link></robot>')
    image = render(open_files([urdf], Opening(), Diagnostics()), View(size=(100, 100), azimuth=0.0, elevation=0.0))
    red, green, blue = image[50, 50].astype(int)
    assert min(red, blue) > 50
    assert green < 60
