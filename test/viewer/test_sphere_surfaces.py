# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pictures and pages show the spheres of links, and in red the parts that no sphere holds."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("trimesh", reason="trimesh is not installed (pip install '.[collision]')")
pytest.importorskip("mujoco", reason="mujoco is not installed (pip install '.[collision]')")

from robot_semantics import Diagnostics
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.picture import View, render
from robot_semantics.viewer.scene import Scene, with_spheres
from robot_semantics.viewer.scene_data import MAGIC, scene_bytes

CUBE = '<collision><geometry><box size="2 2 2"/></geometry></collision>'


def scene_with(folder: Path, radius: float, *, balls: bool = False) -> Scene:
    """Return a cube with edges of 2 m and one sphere about its middle."""
    (folder / "r.urdf").write_text(f'<robot name="r"><link name="a">{CUBE}</link></robot>')
    sphere = f'<sphere center="0 0 0" radius="{radius!r}"/>'
    element = f'<link_sphere_approximation link="a">{sphere}</link_sphere_approximation>'
    (folder / "r.srdf").write_text(f'<robot name="r">{element}</robot>')
    scene = open_files([folder / "r.urdf", folder / "r.srdf"], Opening(kinds=("collision",)), Diagnostics())
    return with_spheres(scene, (), Diagnostics(), balls=balls)


def uncovered_triangles(scene: Scene) -> np.ndarray:
    found = [
        shown.surface.vertices[shown.surface.faces] for shown in scene.actors[0].surfaces if shown.kind == "uncovered"
    ]
    return np.concatenate([np.zeros((0, 3, 3)), *found])


def test_the_uncovered_area_of_a_cube_is_that_of_its_faces_without_a_disc(tmp_path: Path) -> None:
    radius = 1.2
    triangles = uncovered_triangles(scene_with(tmp_path, radius))
    area = (
        0.5
        * np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1).sum()
    )
    # Both sides of six faces; a piece on the border counts whole.
    expected = 2 * 6 * (4 - math.pi * (radius**2 - 1))
    assert expected <= area <= 1.08 * expected
    # Each has a corner outside, up to the lift from the face.
    assert (np.linalg.norm(triangles, axis=2).max(axis=1) > radius - 0.01).all()


def test_a_face_far_from_the_sphere_is_uncovered_in_few_pieces(tmp_path: Path) -> None:
    triangles = uncovered_triangles(scene_with(tmp_path, 0.01))
    edges = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert 0.5 * np.linalg.norm(edges, axis=1).sum() == pytest.approx(2 * 24)
    assert len(triangles) <= 2 * 12 * 4**3


@pytest.mark.parametrize("radius", [0.0, math.sqrt(3.0) + 1e-9])
def test_a_covered_link_and_one_with_radius_0_have_no_uncovered_part(tmp_path: Path, radius: float) -> None:
    assert len(uncovered_triangles(scene_with(tmp_path, radius))) == 0


def test_two_spheres_that_cover_together_leave_no_red(tmp_path: Path) -> None:
    scene_with(tmp_path, 1.0)
    rows = "".join(
        f'<sphere center="{x} {y} {z}" radius="{math.sqrt(3) / 2 + 1e-9!r}"/>'
        for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)
    )  # fmt: skip
    element = f'<link_sphere_approximation link="a">{rows}</link_sphere_approximation>'
    (tmp_path / "r.srdf").write_text(f'<robot name="r">{element}</robot>')
    scene = open_files([tmp_path / "r.urdf", tmp_path / "r.srdf"], Opening(kinds=("collision",)), Diagnostics())
    assert len(uncovered_triangles(with_spheres(scene, (), Diagnostics()))) == 0


def red(image: np.ndarray) -> int:
    """Return the number of pixels that are much more red than green."""
    return int((image[..., 0].astype(int) - image[..., 1] > 100).sum())


def test_a_picture_has_red_only_where_a_sphere_is_missing(tmp_path: Path) -> None:
    view = View(size=(96, 96), kind="collision")
    assert red(render(scene_with(tmp_path, 1.2, balls=True), view)) > 300
    covered = render(scene_with(tmp_path, 1.8, balls=True), view)
    assert red(covered) == 0
    # The sphere is drawn over the cube: green.
    assert (covered[..., 1].astype(int) - covered[..., 0] > 20).sum() > 500


def document(scene: Scene, **shown: Any) -> dict[str, Any]:
    content = zlib.decompress(scene_bytes(scene, **shown))
    size = int.from_bytes(content[len(MAGIC) : len(MAGIC) + 4], "little")
    return dict(json.loads(content[len(MAGIC) + 4 : len(MAGIC) + 4 + size]))


def test_a_page_gets_the_uncovered_parts_and_draws_the_spheres_itself(tmp_path: Path) -> None:
    data = document(scene_with(tmp_path, 1.2), spheres=True)
    assert data["spheres"] is True
    assert [part["kind"] for part in data["actors"][0]["parts"]] == ["both", "uncovered"]
    assert data["actors"][0]["spheres"] == {"a": [[0.0, 0.0, 0.0, 1.2]]}
