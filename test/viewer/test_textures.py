# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Textures of OBJ and COLLADA files and of `<texture>` are in the picture and on the page, or a warning names them."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

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

PBR = "pbrMetallicRoughness"


def gltf(image: dict[str, Any] | bytes, texture: dict[str, Any], material: dict[str, Any]) -> tuple[Any, bytes]:
    """Return the JSON and the buffer of a glTF with the square; a picture of bytes is in the buffer. Its v is down."""
    corners = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], "<f4")
    buffer = corners.tobytes() + np.array([0, 1, 1, 1, 1, 0, 0, 0], "<f4").tobytes()
    buffer += np.array([0, 1, 2, 0, 2, 3], "<u2").tobytes()
    ranges = [(0, 48), (48, 32), (80, 12)]
    if isinstance(image, bytes):
        ranges.append((len(buffer), len(image)))
        buffer, image = buffer + image, {"bufferView": 3, "mimeType": "image/png"}
    primitive = {"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "material": 0}
    kinds = [(5126, 4, "VEC3"), (5126, 4, "VEC2"), (5123, 6, "SCALAR")]
    tree: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "accessors": [
            {"bufferView": number, "componentType": kind, "count": count, "type": form}
            for number, (kind, count, form) in enumerate(kinds)
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": start, "byteLength": size} for start, size in ranges],
        "materials": [material],
        "textures": [texture],
        "images": [image],
    }
    return tree, buffer


def write_gltf(
    path: Path,
    image: dict[str, Any] | bytes,
    texture: dict[str, Any] | None = None,
    **colour: object,
) -> None:
    material = {PBR: {"baseColorTexture": {"index": 0, **colour.pop("info", {})}, **colour}}  # type: ignore[dict-item]
    tree, buffer = gltf(image, texture or {"source": 0}, material)
    if path.suffix == ".gltf":
        data = base64.b64encode(buffer).decode()
        tree["buffers"] = [{"byteLength": len(buffer), "uri": f"data:application/octet-stream;base64,{data}"}]
        path.write_text(json.dumps(tree))
        return
    tree["buffers"] = [{"byteLength": len(buffer)}]
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    buffer += bytes(-len(buffer) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(buffer), b"BIN\0") + buffer
    path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)


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
    png = (tmp_path / "flag.png").read_bytes()
    write_gltf(tmp_path / "beside.gltf", {"uri": "flag.png"})
    write_gltf(tmp_path / "quoted.gltf", {"uri": "fl%61g.png"})
    write_gltf(tmp_path / "data.gltf", {"uri": f"data:image/png;base64,{base64.b64encode(png).decode()}"})
    write_gltf(tmp_path / "inside.glb", png)
    write_gltf(tmp_path / "lost.gltf", {"uri": "lost.png"})
    write_gltf(tmp_path / "bad.gltf", {"uri": "bad.png"})
    write_gltf(tmp_path / "bad_data.gltf", {"uri": "data:image/png;base64,AAAA"})
    write_gltf(tmp_path / "bad_inside.glb", b"no picture")
    write_gltf(tmp_path / "webp.gltf", {"uri": "flag.png"}, {"extensions": {"EXT_texture_webp": {"source": 0}}})
    moved = {"extensions": {"KHR_texture_transform": {"offset": [0.5, 0.0]}}}
    write_gltf(tmp_path / "moved.gltf", {"uri": "flag.png"}, info=moved)
    write_gltf(tmp_path / "second.gltf", {"uri": "flag.png"}, info={"texCoord": 1})
    write_gltf(tmp_path / "red.gltf", {"uri": "flag.png"}, baseColorFactor=[1.0, 0.0, 0.0, 1.0])
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
        ("beside.gltf", "1 1 1", ""),
        ("quoted.gltf", "1 1 1", ""),
        ("data.gltf", "1 1 1", ""),
        ("inside.glb", "1 1 1", ""),
        ("inside.glb", "-1 1 1", ""),
        ("lost.gltf", "1 1 1", TEXTURE),
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


def test_a_texture_of_gltf_is_multiplied_with_the_colour_of_its_material(folder: Path) -> None:
    part, diagnostics = shown(folder, '<mesh filename="red.gltf"/>')
    assert list(diagnostics) == []
    assert part.surface.colours is not None
    assert {tuple(colour) for colour in part.surface.colours.tolist()} == {(255, 0, 0, 255), (0, 0, 0, 255)}


def test_a_texture_of_gltf_in_a_form_that_is_not_read_is_named(folder: Path) -> None:
    _, diagnostics = shown(folder, '<mesh filename="webp.gltf"/>')
    assert "the texture of material '0': its form is not read" in " ".join(problem.message for problem in diagnostics)
    assert {problem.code for problem in diagnostics} == {"unshown-texture"}


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
        ('<mesh filename="lost.gltf"/>', "", "'lost.gltf' is drawn without 'lost.png', which it names"),
        ('<mesh filename="bad.gltf"/>', "", "'bad.gltf' is drawn without 'bad.png', which it names: it is damaged"),
        ('<mesh filename="bad_data.gltf"/>', "", "without the picture number 0 inside it: it cannot be read"),
        ('<mesh filename="bad_inside.glb"/>', "", "without the picture number 0 inside it: it cannot be read"),
        ('<mesh filename="moved.gltf"/>', "", "without the transform of the texture of material '0'"),
        ('<mesh filename="second.gltf"/>', "", "texture of material '0': only the first set is read"),
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
