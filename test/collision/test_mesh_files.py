# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Meshes of every format that users have give the same hull, where RViz shows them."""

from __future__ import annotations

import math
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

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
