# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Textures of OBJ and COLLADA files and of `<texture>` are in the picture and on the page, or a warning names them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PIL", reason="Pillow is not installed")
pytest.importorskip("trimesh", reason="trimesh is not installed")

from PIL import Image

from robot_semantics import Diagnostics, load_robot
from robot_semantics.cli.main import main
from robot_semantics.model.resources import PackageResolver
from robot_semantics.viewer.link_surfaces import LinkSurface, link_surfaces
from robot_semantics.viewer.triangles import MOST_FACES

RED, GREEN, BLUE = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255)

SQUARE = """v -1 0 -1
v 1 0 -1
v 1 0 1
v -1 0 1
vt 0 0
vt 1 0
vt 1 1
vt 0 1
{}f 1/1 2/2 3/3
f 1/1 3/3 4/4
"""
"""Two triangles that show a whole picture upright, from x = -1, z = -1 to x = 1, z = 1."""

COLLADA = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_images><image id="i"><init_from>flag.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam>
<technique sid="c"><lambert><diffuse><texture texture="t" texcoord="UV"/></diffuse></lambert></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">-1 0 -1 1 0 -1 1 0 1 -1 0 1</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<source id="u"><float_array id="ua" count="8">0 0 1 0 1 1 0 1</float_array><technique_common>
<accessor source="#ua" count="4" stride="2"><param name="S" type="float"/><param name="T" type="float"/></accessor>
</technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles material="x" count="2"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="TEXCOORD" source="#u" offset="1" set="0"/><p>0 0 1 1 2 2 0 0 2 2 3 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="w"><node id="n"><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="x" target="#m"><bind_vertex_input semantic="UV" input_semantic="TEXCOORD" input_set="0"/>
</instance_material></technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#w"/></scene></COLLADA>"""

TEXTURE = '<material name="t"><texture filename="flag.png"/></material>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with meshes and their picture: blue, with red above on the left and green below on the right."""
    pixels = np.zeros((64, 64, 4), dtype=np.uint8)
    pixels[:] = BLUE
    pixels[:32, :32], pixels[32:, 32:] = RED, GREEN
    Image.fromarray(pixels).save(tmp_path / "flag.png")
    for name, picture in (("flag", "flag.png"), ("lost", "lost.png"), ("bad", "bad.png")):
        (tmp_path / f"{name}.mtl").write_text(f"newmtl m\nKd 1 1 1\nmap_Kd {picture}\n")
        (tmp_path / f"{name}.obj").write_text(f"mtllib {name}.mtl\n" + SQUARE.format("usemtl m\n"))
    (tmp_path / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "plain.obj").write_text(SQUARE.format(""))
    (tmp_path / "flag.dae").write_text(COLLADA)
    return tmp_path


def shown(folder: Path, geometry: str, material: str = "") -> tuple[LinkSurface, Diagnostics]:
    visual = f"<visual><geometry>{geometry}</geometry>{material}</visual>"
    (folder / "r.urdf").write_text(f'<robot name="r"><link name="a">{visual}</link></robot>')
    robot = load_robot(folder / "r.urdf", strict=False)
    diagnostics = Diagnostics()
    (surface,) = link_surfaces(robot, PackageResolver(), folder / "r.urdf", diagnostics)
    return surface, diagnostics


@pytest.mark.parametrize(
    ("mesh", "scale", "material"),
    [
        ("flag.obj", "1 1 1", ""),
        ("flag.dae", "1 1 1", ""),
        ("plain.obj", "1 1 1", TEXTURE),
        ("lost.obj", "1 1 1", TEXTURE),
        ("flag.obj", "-1 1 1", ""),
    ],
)
def test_a_texture_is_in_the_colours_where_the_picture_has_them(
    folder: Path, mesh: str, scale: str, material: str
) -> None:
    part, diagnostics = shown(folder, f'<mesh filename="{mesh}" scale="{scale}"/>', material)
    assert list(diagnostics) == []
    surface = part.surface
    assert part.rgba is None
    assert surface.colours is not None
    corners = surface.vertices[surface.faces]
    sides = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    # All of the square, and nothing twice.
    assert np.linalg.norm(np.cross(*sides), axis=-1).sum() / 2 == pytest.approx(4.0)
    mirrored = -1 if scale.startswith("-") else 1
    x, _, z = (corners.mean(axis=1) * (mirrored, 1, 1)).T
    for colour, where in (
        (RED, (x < -0.1) & (z > 0.1)),
        (GREEN, (x > 0.1) & (z < -0.1)),
        (BLUE, ((x > 0.1) & (z > 0.1)) | ((x < -0.1) & (z < -0.1))),
    ):
        assert where.sum() > 10
        assert (surface.colours[where] == colour).all()


def test_a_colour_of_the_description_is_used_instead_of_the_texture_of_the_mesh(folder: Path) -> None:
    part, diagnostics = shown(
        folder, '<mesh filename="flag.obj"/>', '<material name="m"><color rgba="1 1 0 1"/></material>'
    )
    assert part.rgba == (1.0, 1.0, 0.0, 1.0)
    assert list(diagnostics) == []


@pytest.mark.parametrize(
    ("geometry", "material", "message"),
    [
        ('<mesh filename="lost.obj"/>', "", "'lost.obj' is drawn without 'lost.png', which it names"),
        ('<mesh filename="bad.obj"/>', "", "'bad.obj' is drawn without 'bad.png', which it names"),
        ('<box size="1 1 1"/>', TEXTURE, "texture 'flag.png' is not shown: textures of a box are not drawn"),
        ('<mesh filename="flag.obj"/>', TEXTURE.replace("flag", "gone"), "texture not shown: 'gone.png' is not found"),
        ('<mesh filename="flag.obj"/>', TEXTURE.replace("flag", "bad"), "bad.png cannot be read"),
    ],
)
def test_a_texture_that_is_not_drawn_is_named(folder: Path, geometry: str, material: str, message: str) -> None:
    _, diagnostics = shown(folder, geometry, material)
    (problem,) = diagnostics
    assert problem.code == "unshown-texture"
    assert message in problem.message
    assert problem.place.line == 1


def test_a_large_picture_on_few_faces_becomes_a_limited_number_of_faces(folder: Path) -> None:
    Image.fromarray(np.zeros((3000, 2000, 3), dtype=np.uint8)).save(folder / "flag.png")
    part, _ = shown(folder, '<mesh filename="flag.obj"/>')
    assert 2000 < len(part.surface.faces) <= MOST_FACES


def test_the_picture_shows_the_texture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(folder, '<mesh filename="flag.obj"/>')
    command = ["view", str(folder / "r.urdf"), "--png", str(folder / "p.png"), "--azimuth", "-80", "--size", "200x200"]
    assert main(command) == 0
    pixels = np.asarray(Image.open(folder / "p.png").convert("RGB")).reshape(-1, 3).astype(int)
    for channel in range(3):
        others = np.delete(pixels, channel, axis=1).max(axis=1)
        assert (pixels[:, channel] > 100 + others).sum() > 500


def test_the_command_says_which_texture_it_does_not_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(folder, '<box size="1 1 1"/>', TEXTURE)
    assert main(["view", str(folder / "r.urdf"), "--png", str(folder / "p.png")]) == 0
    assert "warning: texture 'flag.png' is not shown: textures of a box are not drawn" in capsys.readouterr().err
