# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Meshes of every format that users have give the same hull, where RViz shows them."""

from __future__ import annotations

import base64
import json
import math
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.meshes import CORNERS, FACES, dae, dae_of

from robot_semantics import Diagnostics
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.collision.pieces import bounding_box, convex_parts, pieces_of
from robot_semantics.collision.scene import build_scene
from robot_semantics.collision.shapes import Piece
from robot_semantics.model.loading import load_robot
from robot_semantics.model.mesh_files import Surface, mesh_surface
from robot_semantics.model.resources import PackageResolver

trimesh = pytest.importorskip("trimesh")


def pieces_with(
    folder: Path, file: str, scale: str = "", geometry: str = "hull"
) -> tuple[tuple[Piece, ...], Diagnostics]:
    """Return the pieces of a robot of one link with that mesh."""
    attribute = f' scale="{scale}"' if scale else ""
    (folder / "robot.urdf").write_text(
        '<robot name="r"><link name="a"><collision><geometry>\n'
        f'<mesh filename="{file}"{attribute}/></geometry></collision></link></robot>'
    )
    diagnostics = Diagnostics()
    robot = load_robot(folder / "robot.urdf")
    return pieces_of(robot, PackageResolver(), diagnostics, geometry), diagnostics


def hull_of(pieces: tuple[Piece, ...]) -> Surface:
    (piece,) = pieces
    assert piece.shape.hull is not None
    return piece.shape.hull


def assert_corners(hull: Surface, expected: np.ndarray) -> None:
    found = hull.vertices[np.lexsort(hull.vertices.T)]
    np.testing.assert_allclose(found, expected[np.lexsort(expected.T)], atol=1e-7)


def volume(hull: Surface) -> float:
    """Return the enclosed volume, negative where the triangles face inwards (the divergence theorem)."""
    a, b, c = (hull.vertices[hull.faces[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize("kind", ["stl", "stl_ascii", "obj", "ply", "off", "glb", "dae"])
def test_every_format_gives_the_same_hull(tmp_path: Path, kind: str) -> None:
    file = f"mesh.{kind.removesuffix('_ascii')}"
    if kind == "dae":
        (tmp_path / file).write_text(dae())
    else:
        trimesh.Trimesh(CORNERS, FACES, process=False).export(tmp_path / file, file_type=kind)
    pieces, diagnostics = pieces_with(tmp_path, file)
    assert list(diagnostics) == []
    assert_corners(hull_of(pieces), CORNERS)
    assert volume(hull_of(pieces)) == pytest.approx(1.0)


def test_a_binary_stl_is_read_without_trimesh_as_trimesh_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ball = trimesh.creation.icosphere(subdivisions=2, radius=0.3)
    corners = np.concatenate([ball.triangles, ball.triangles[:3]]).astype(np.float32)
    corners[5, 0] += 5e-9  # nearer to its neighbours than a vertex is told apart
    (tmp_path / "ball.stl").write_bytes(_binary_stl(corners))
    expected = trimesh.load_mesh(tmp_path / "ball.stl")
    trimesh.Trimesh(CORNERS, FACES, process=False).export(tmp_path / "mesh.obj")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    surface = mesh_surface(tmp_path / "ball.stl")
    np.testing.assert_allclose(surface.vertices[surface.faces], expected.triangles, atol=1e-7)
    assert len(surface.vertices) == len(expected.vertices) == 162
    with pytest.raises(MissingExtraError, match="trimesh"):
        mesh_surface(tmp_path / "mesh.obj")


@pytest.mark.parametrize("scale", [(0.001, 0.001, 0.001), (1.0, -1.0, 1.0), (-2.0, 0.5, 1.0)])
def test_a_scale_stretches_and_mirrors(tmp_path: Path, scale: tuple[float, float, float]) -> None:
    trimesh.Trimesh(CORNERS, FACES, process=False).export(tmp_path / "mesh.stl")
    words = " ".join(map(str, scale))
    pieces, _ = pieces_with(tmp_path, "mesh.stl", words)
    assert_corners(hull_of(pieces), CORNERS * scale)
    # Never inside out, mirrored or not: MuJoCo refuses such a mesh.
    assert volume(hull_of(pieces)) == pytest.approx(abs(float(np.prod(scale))))
    build_scene(load_robot(tmp_path / "robot.urdf"), pieces, [])
    ((box, T_mesh_box),) = bounding_box(tmp_path / "mesh.stl", scale)
    inside = (CORNERS * scale - T_mesh_box[:3, 3]) @ T_mesh_box[:3, :3]
    assert (np.abs(inside) <= np.array(box.size) * (1.0 + 1e-5)).all()
    pytest.importorskip("coacd")
    ((part, _),) = convex_parts(tmp_path / "mesh.stl", scale)
    assert part.hull is not None
    assert volume(part.hull) == pytest.approx(abs(float(np.prod(scale))), rel=0.05)


@pytest.mark.parametrize("up", ["", "<up_axis>X_UP</up_axis>", "<up_axis>Y_UP</up_axis>", "<up_axis>Z_UP</up_axis>"])
def test_a_collada_file_is_read_as_rviz_reads_it(tmp_path: Path, up: str) -> None:
    # RViz multiplies by the unit and leaves out the turn that the up axis asks for; a node's own transform counts.
    (tmp_path / "mesh.dae").write_text(
        dae(f'<unit name="millimetre" meter="0.001"/>{up}', "<translate>0 0 10</translate>")
    )
    pieces, diagnostics = pieces_with(tmp_path, "mesh.dae")
    assert_corners(hull_of(pieces), (CORNERS + np.array([0.0, 0.0, 10.0])) / 1000.0)
    (warning,) = diagnostics
    assert (warning.code, warning.place.line, warning.place.column) == ("mesh-unit", 2, 7)
    assert "in units of 0.001 m" in warning.message
    assert "MoveIt" in warning.message


def test_a_unit_that_is_no_number_counts_as_the_metre(tmp_path: Path) -> None:
    (tmp_path / "mesh.dae").write_text(dae('<unit name="cubit" meter="about half"/>'))
    pieces, diagnostics = pieces_with(tmp_path, "mesh.dae")
    assert list(diagnostics) == []
    assert_corners(hull_of(pieces), CORNERS)


def _binary_stl(corners: npt.ArrayLike) -> bytes:
    """Return a binary STL file of the triangles with these corners."""
    facets = np.asarray(corners, dtype="<f4").reshape(-1, 9)
    records = [b"\0" * 12 + facet.tobytes() + b"\0\0" for facet in facets]
    return b"".ljust(80) + len(records).to_bytes(4, "little") + b"".join(records)


NOT_FINITE = "has a triangle with a corner that is not finite"
BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "flat.stl": (lambda path: trimesh.Trimesh(CORNERS[:3], [[0, 1, 2]]).export(path), "is flat: it has no volume"),
    "points.ply": (lambda path: trimesh.PointCloud(CORNERS).export(path), ""),
    "empty.stl": (lambda path: path.write_bytes(b""), ""),
    "words.obj": (lambda path: path.write_text("a mesh, I think"), ""),
    "half.dae": (lambda path: path.write_text(dae()[:400]), "cannot be read"),
    "mesh.unknown": (lambda path: path.write_text("x"), "cannot be read"),
    "nan.obj": (lambda path: path.write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 2 3 4\n"), NOT_FINITE),
    "nan.stl": (lambda path: path.write_bytes(_binary_stl([[0, 0, math.nan], *CORNERS[:2]])), NOT_FINITE),
}


@pytest.mark.parametrize("file", sorted(BAD))
@pytest.mark.parametrize("geometry", ["hull", "primitive", "decomposed"])
def test_a_mesh_without_use_is_one_error_that_names_it(tmp_path: Path, file: str, geometry: str) -> None:
    write, words = BAD[file]
    write(tmp_path / file)
    pieces, diagnostics = pieces_with(tmp_path, file, geometry=geometry)
    assert pieces == ()
    (error,) = diagnostics
    assert (error.code, error.place.line, error.place.column) == ("unusable-geometry", 2, 1)
    assert error.message.startswith(f"link 'a': mesh '{file}': ")
    assert words in error.message


FORMATS = ("3mf", "dae", "glb", "obj", "off", "ply", "stl", "zae")


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("kind", FORMATS)
def test_a_corner_that_is_not_finite_is_an_error_in_every_format(tmp_path: Path, kind: str, value: float) -> None:
    corners = CORNERS.copy()
    corners[3, 2] = value
    mesh, file = trimesh.Trimesh(corners, FACES, process=False), tmp_path / f"mesh.{kind}"
    with np.errstate(invalid="ignore"):
        if kind == "zae":
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("mesh.dae", mesh.export(file_type="dae"))
        else:
            mesh.export(file)
    with pytest.raises(RobotSemanticsError, match=NOT_FINITE):
        mesh_surface(file)


GOOD = ("0 0 0 1 0 0 0 1 0 0 0 1", "0 1 2 0 1 3")
OTHER = ("2 0 0 3 0 0 2 1 0 2 0 1", "0 1 2 0 1 3")


@pytest.mark.parametrize(
    ("corners", "triangles", "words"),
    [
        ("2 0 0 3 0 0 nan 1 0 2 0 1", "0 1 2 0 1 3", NOT_FINITE),
        ("2 0 0 3 0 0 -NaN 1 0 2 0 1", "0 1 2 0 1 3", NOT_FINITE),
        ("2 0 0 3 0 0 1e999 1 0 2 0 1", "0 1 2 0 1 3", NOT_FINITE),
        ("2 0 0 3 0 0 -1.#IND 1 0 2 0 1", "0 1 2 0 1 3", "Corrupted float array"),
        ("2 0 0 3 0 0 x 1 0 2 0 1", "0 1 2 0 1 3", "Corrupted float array"),
        ("2 0 0 3 0 0 2", "0 1 2 0 1 3", "isn't reshapable"),
        ("2 0 0 3 0 0 2 1 0 2 0 1", "0 1 2 0 1 9", "beyond the limits"),
        ("2 0 0 3 0 0 2 1 0 2 0 1", "0 1 2 0 1 x", "Corrupted index"),
    ],
)
def test_a_damaged_geometry_of_a_collada_file_is_not_left_out(
    tmp_path: Path, corners: str, triangles: str, words: str
) -> None:
    (tmp_path / "mesh.dae").write_text(dae_of([GOOD, (corners, triangles)]))
    with pytest.raises(RobotSemanticsError) as caught:
        mesh_surface(tmp_path / "mesh.dae")
    assert words in str(caught.value)
    assert str(caught.value).count("Error: ") <= 1


BOUND = (
    '<bind_material><technique_common><instance_material symbol="x" target="#{}"/></technique_common></bind_material>'
)


@pytest.mark.parametrize(
    ("libraries", "use", "drawn"),
    [
        ("", BOUND.format("nothing"), False),
        ('<library_materials><material id="m"/></library_materials>', BOUND.format("m"), False),
        ('<library_lights><light id="l"/></library_lights>', "", True),
        ('<library_cameras><camera id="c"/></library_cameras>', "", True),
    ],
)
def test_what_is_damaged_beside_the_geometry_leaves_no_geometry_out(
    tmp_path: Path, libraries: str, use: str, drawn: bool
) -> None:
    (tmp_path / "mesh.dae").write_text(dae_of([GOOD, OTHER], libraries=libraries, materials=use))
    surface = mesh_surface(tmp_path / "mesh.dae")
    assert np.sort(surface.vertices[:, 0]).tolist() == [0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 3.0]
    assert len(surface.faces) == 4
    assert [part.partition(":")[0] for part in surface.undrawn] == ([] if drawn else ["its materials"])


OBJ = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
OFF = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 2 0\n0 0 3\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
PLY = (
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 4\nproperty list uchar int vertex_indices\nend_header\n" + OFF[10:]
)
FACET = "facet normal 0 0 0\nouter loop\nvertex {}\nvertex {}\nvertex {}\nendloop\nendfacet\n"
PLACES = ("0 0 0", "1 0 0", "0 2 0", "0 0 3")
HALVES = ["".join(FACET.format(*(PLACES[corner] for corner in face)) for face in FACES[at : at + 2]) for at in (0, 2)]
STL = f"solid a\n{HALVES[0]}endsolid a\nsolid b\n{HALVES[1]}endsolid b\n"
TEXTS = {"obj": OBJ, "off": OFF, "ply": PLY, "stl": STL}

# The same mesh in forms that the formats allow.
SAME = [
    ("obj", "f 2 3 4", "f -3 -2 -1"),
    ("obj", "f 2 3 4\n", "f -3 -2 -1\nv 7 7 7\nv 8 8 8\n"),
    ("obj", "v 0 2 0\nv 0 0 3\nf 1 3 2\n", "v 0 2 0\nf -3 -1 -2\nv 0 0 3\n"),
    ("obj", "f 2 3 4", "f 2 \\\n3 4"),
    ("obj", "f 2 3 4", "\t f 2\t3\t4"),
    ("obj", "f 2 3 4", "f  2  3  4 "),
    ("obj", "f 2 3 4\n", "s off\nusemtl m\n# f 1 0 1\nf 2 3 4\r\n"),
    ("obj", "f 2 3 4\n", "vt 0 0\nvn 0 0 1\nf -3/-1/-1 -2/-1/-1 4/1/1\n"),
    ("obj", "v 1 0 0", "v 1 0 0 1"),
    ("off", "3 1 2 3", "3 1 2 3 255 0 0"),
    ("off", "1 0 0\n", "1 0 0 # a corner\n\n# of four\n"),
    ("ply", "3 1 2 3\n", "3 1 2 3\n\n"),
    ("ply", "end_header", "property uchar red\nend_header"),
    ("stl", "solid", "SOLID"),
    ("stl", "vertex", "\n \t vertex"),
    ("stl", "solid a", "solid of a facet"),
]


@pytest.mark.parametrize(("kind", "part", "other"), SAME)
def test_every_allowed_form_of_a_text_gives_all_triangles(tmp_path: Path, kind: str, part: str, other: str) -> None:
    text = TEXTS[kind].replace(part, other)
    if "red" in other:
        text = "".join(f"{line} 9\n" if line.startswith("3 ") else f"{line}\n" for line in text.splitlines())
    assert text != TEXTS[kind]
    (tmp_path / f"mesh.{kind}").write_bytes(text.encode())
    surface = mesh_surface(tmp_path / f"mesh.{kind}")
    found = surface.vertices[surface.faces].reshape(-1, 9)
    expected = CORNERS[FACES].reshape(-1, 9)
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))


# One part of a file is damaged; the mesh library alone reads most of them, with other triangles or fewer.
DAMAGED = [
    ("obj", "v 1 0 0", "v 1 0", "'v 1 0' has fewer than three words"),
    ("obj", "f 2 3 4", "f 2 3", "'f 2 3' has fewer than three words"),
    ("obj", "f 2 3 4", "f 2 0 4", "names corner 0"),
    ("obj", "f 2 3 4", "f 2/1 3/1 0/1", "names corner 0"),
    ("obj", "f 2 3 4", "f 2 3 5", ""),
    ("obj", "f 2 3 4", "f 2 3 -5", "'-5' counts back before the first corner"),
    ("obj", "f 2 3 4", "f 2 3 x", ""),
    ("obj", "f 2 3 4", "f 2 3 4\nsurf 0 1 0 1 1 2 3 4", "is a curved surface, which is not read"),
    ("off", "4 4 0", "4 3 0", "it states 7 lines of corners and faces, and has 8"),
    ("off", "4 4 0", "4 5 0", "it states 9 lines of corners and faces, and has 8"),
    ("off", "1 0 0\n", "", "it states 8 lines of corners and faces, and has 7"),
    ("off", "3 1 2 3\n", "", "it states 8 lines of corners and faces, and has 7"),
    ("off", "3 1 2 3", "4 1 2 3", "the face '4 1 2 3' does not have the corners that it states"),
    ("off", "3 1 2 3", "2 1 2 3", "the face '2 1 2 3' does not have the corners that it states"),
    ("off", "3 1 2 3", "3 1 2 -1", ""),
    ("off", "3 1 2 3", "3 1 2 4", ""),
    ("ply", "face 4", "face 3", "it states 7 lines of corners and faces, and has 8"),
    ("ply", "\n1 0 0\n", "\n", "it states 8 lines of corners and faces, and has 7"),
    ("ply", "3 1 2 3\n", "", "it states 8 lines of corners and faces, and has 7"),
    ("ply", "\n1 0 0\n", "\n1 0\n", "the line '1 0' does not have the numbers that the header states"),
    ("ply", "3 1 2 3", "4 1 2 3", "the line '4 1 2 3' does not have the numbers that the header states"),
    ("ply", "3 1 2 3", "3 1 2 -1", "a face names a corner that does not exist"),
    ("ply", "3 1 2 3", "3 1 2 4", "a face names a corner that does not exist"),
    ("ply", "3 1 2 3", "3 1.5 2 3", ""),
    ("stl", "endsolid b\n", "", "a solid or a facet has no end"),
    ("stl", f"{FACET.format(*PLACES[1:])}endsolid b\n", "", "a solid or a facet has no end"),
    ("stl", "endsolid a\n", "", "a solid or a facet has no end"),
    ("stl", "vertex 0 0 3\nendloop\nendfacet\nendsolid b", "endloop\nendfacet\nendsolid b", ""),
]


@pytest.mark.parametrize(("kind", "part", "other", "words"), DAMAGED)
def test_no_text_is_read_in_part(tmp_path: Path, kind: str, part: str, other: str, words: str) -> None:
    assert part in TEXTS[kind]
    (tmp_path / f"mesh.{kind}").write_text(TEXTS[kind].replace(part, other, 1))
    with pytest.raises(RobotSemanticsError, match=rf"mesh\.{kind} cannot be read: ") as caught:
        mesh_surface(tmp_path / f"mesh.{kind}")
    assert words in str(caught.value)


def test_indices_of_collada_do_not_count_back(tmp_path: Path) -> None:
    (tmp_path / "mesh.dae").write_text(dae_of([GOOD, (OTHER[0], "0 1 2 0 1 -1")]))
    with pytest.raises(RobotSemanticsError, match=r"cannot be read: .*an index is negative"):
        mesh_surface(tmp_path / "mesh.dae")


@pytest.mark.parametrize(
    ("part", "other", "words"),
    [
        (rb'v3="3"', b'v3="-1"', "a face names a corner that does not exist"),
        (rb'(<item[^>]*)objectid="[^"]*"', rb'\1objectid="77"', "uses the object '77', which it does not define"),
    ],
)
def test_a_3mf_file_is_not_read_in_part(tmp_path: Path, part: bytes, other: bytes, words: str) -> None:
    trimesh.Trimesh(CORNERS, FACES, process=False).export(tmp_path / "whole.3mf")
    assert len(mesh_surface(tmp_path / "whole.3mf").faces) == 4
    with zipfile.ZipFile(tmp_path / "whole.3mf") as whole, zipfile.ZipFile(tmp_path / "mesh.3mf", "w") as damaged:
        for name in whole.namelist():
            damaged.writestr(name, re.sub(part, other, whole.read(name), flags=re.DOTALL))
    with pytest.raises(RobotSemanticsError, match=f"cannot be read: .*{words}"):
        mesh_surface(tmp_path / "mesh.3mf")


def _gltf(change: Callable[[dict[str, Any]], object]) -> str:
    """Return a glTF file of the mesh, changed."""
    data = CORNERS.astype("<f4").tobytes() + FACES.astype("<u2").tobytes()
    tree: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data), "uri": "data:;base64," + base64.b64encode(data).decode()}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": 24},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
    }
    change(tree)
    return json.dumps(tree)


UNREAD: dict[str, Callable[[dict[str, Any]], object]] = {
    "triangle fans": lambda tree: tree["meshes"][0]["primitives"][0].update(mode=6),
    "sparse positions": lambda tree: tree["accessors"][0].update(sparse={"count": 1}),
    "sparse indices": lambda tree: tree["accessors"][1].update(sparse={"count": 1}),
    "normalized positions": lambda tree: tree["accessors"][0].update(normalized=True),
    "the form of its positions is not read: no buffer view": lambda tree: tree["accessors"][0].pop("bufferView"),
    "the form of its indices is not read: KHR_draco_mesh_compression": lambda tree: (
        tree["accessors"][1].pop("bufferView"),
        tree["meshes"][0]["primitives"][0].update(extensions={"KHR_draco_mesh_compression": {}}),
    ),
    "EXT_meshopt_compression": lambda tree: tree["bufferViews"][0].update(extensions={"EXT_meshopt_compression": {}}),
}


@pytest.mark.parametrize("words", UNREAD)
def test_a_form_of_gltf_that_is_not_read_is_an_error(
    tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    (tmp_path / "whole.gltf").write_text(_gltf(lambda tree: None))
    assert len(mesh_surface(tmp_path / "whole.gltf").faces) == 4
    (tmp_path / "mesh.gltf").write_text(_gltf(UNREAD[words]))
    with pytest.raises(RobotSemanticsError, match=f"mesh.gltf cannot be read: .*{words}"):
        mesh_surface(tmp_path / "mesh.gltf")


def test_a_mesh_used_by_many_links_is_one_hull(tmp_path: Path) -> None:
    trimesh.Trimesh(CORNERS, FACES, process=False).export(tmp_path / "mesh.stl")
    mesh = '<collision><geometry><mesh filename="mesh.stl"/></geometry></collision>'
    joint = '<joint name="j{0}" type="fixed"><parent link="l0"/><child link="l{0}"/></joint>'
    (tmp_path / "robot.urdf").write_text(
        '<robot name="r">'
        + "".join(f'<link name="l{at}">{mesh}</link>' for at in range(4))
        + "".join(joint.format(at) for at in range(1, 4))
        + "</robot>"
    )
    robot = load_robot(tmp_path / "robot.urdf")
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    assert len({id(piece.shape.hull) for piece in pieces}) == 1
    assert build_scene(robot, pieces, []).model.nmesh == 1
    # A file that has changed is read again.
    (tmp_path / "mesh.stl").unlink()
    trimesh.Trimesh(2.0 * CORNERS, FACES, process=False).export(tmp_path / "mesh.stl")
    assert_corners(hull_of(pieces_of(robot, PackageResolver(), Diagnostics())[:1]), 2.0 * CORNERS)
