# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A small mesh file that requests all memory or time is refused; so is a named file that is not regular."""

from __future__ import annotations

import json
import os
import time
import zipfile
from pathlib import Path

import pytest
from support.meshes import CORNERS, dae

from robot_semantics import RobotSemanticsError
from robot_semantics.model.mesh_files import mesh_surface

trimesh = pytest.importorskip("trimesh")
MB = 2**20


def packed(path: Path, name: str, text: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return path


def test_a_packed_mesh_is_read(tmp_path: Path) -> None:
    surface = mesh_surface(packed(tmp_path / "mesh.zae", "mesh.dae", dae().encode()))
    assert sorted({tuple(corner) for corner in surface.vertices.tolist()}) == sorted(map(tuple, CORNERS.tolist()))


@pytest.mark.parametrize(("file", "part"), [("mesh.zae", "mesh.dae"), ("mesh.3mf", "3D/3dmodel.model")])
def test_a_packed_mesh_that_unpacks_to_too_much_is_refused_before(tmp_path: Path, file: str, part: str) -> None:
    path = packed(tmp_path / file, part, dae().encode() + b" " * (100 * MB))
    assert path.stat().st_size < MB
    begin = time.process_time()
    with pytest.raises(RobotSemanticsError, match="unpacks to more than 64 MB; ROBOT_SEMANTICS_MAX_UNPACKED_MB=MB"):
        mesh_surface(path)
    assert time.process_time() - begin < 5.0


def test_the_environment_states_the_limit_of_meshes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "mesh.zae", "mesh.dae", dae().encode() + b" " * (3 * MB))
    monkeypatch.setenv("ROBOT_SEMANTICS_MAX_UNPACKED_MB", "2")
    with pytest.raises(RobotSemanticsError, match="unpacks to more than 2 MB"):
        mesh_surface(path)
    monkeypatch.setenv("ROBOT_SEMANTICS_MAX_UNPACKED_MB", "4")
    assert len(mesh_surface(path).faces) == 4


def gltf(**parts: object) -> str:
    node = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}]}
    return json.dumps(node | {"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}]} | parts)


def test_a_gltf_file_that_states_more_values_than_it_has_is_refused(tmp_path: Path) -> None:
    values = [{"componentType": 5126, "count": 200_000_000, "type": "VEC3"}]
    path = tmp_path / "mesh.gltf"
    path.write_text(gltf(accessors=values))
    with pytest.raises(RobotSemanticsError, match="unpacks to more than"):
        mesh_surface(path)


def test_buffer_views_of_one_buffer_are_counted_as_often_as_they_are_copied(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(MB))
    views = [{"buffer": 0, "byteLength": MB}] * 2000
    path = tmp_path / "mesh.gltf"
    path.write_text(gltf(accessors=[], bufferViews=views, buffers=[{"uri": "data.bin", "byteLength": MB}]))
    with pytest.raises(RobotSemanticsError, match="unpacks to more than"):
        mesh_surface(path)


@pytest.mark.parametrize("kind", ["pipe", "sparse"])
def test_what_a_mesh_names_is_a_regular_file_of_bounded_length(tmp_path: Path, kind: str) -> None:
    data = tmp_path / "data.bin"
    if kind == "pipe":
        os.mkfifo(data)
    else:
        data.touch()
        os.truncate(data, 2**40)
    path = tmp_path / "mesh.gltf"
    values = [{"componentType": 5126, "count": 3, "type": "VEC3", "bufferView": 0}]
    views = [{"buffer": 0, "byteLength": 36}]
    path.write_text(gltf(accessors=values, bufferViews=views, buffers=[{"uri": "data.bin", "byteLength": 36}]))
    with pytest.raises(RobotSemanticsError, match="is not a regular file" if kind == "pipe" else "is longer than"):
        mesh_surface(path)


def test_a_mesh_file_as_long_as_a_disk_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mesh.stl"
    path.touch()
    os.truncate(path, 2**40)
    with pytest.raises(RobotSemanticsError, match="longer than the 1024 MB that are allowed for a mesh"):
        mesh_surface(path)


def test_parts_that_use_parts_many_times_are_refused(tmp_path: Path) -> None:
    chain = "".join(f'<node id="k{n}">{2 * f"""<instance_node url="#k{n + 1}"/>"""}</node>' for n in range(40))
    library = f'<library_nodes>{chain}<node id="k40"><instance_geometry url="#g"/></node></library_nodes>'
    text = dae(node='<instance_node url="#k0"/>').replace(
        "<library_visual_scenes>", f"{library}<library_visual_scenes>"
    )
    (tmp_path / "mesh.dae").write_text(text)
    with pytest.raises(RobotSemanticsError, match="shows more than 100000 shapes"):
        mesh_surface(tmp_path / "mesh.dae")
    chain = "".join(
        f'<object id="{n}"><components>{2 * f"""<component objectid="{n + 1}"/>"""}</components></object>'
        for n in range(1, 40)
    )
    model = (
        '<model xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources><object id="40"><mesh>'
        '<vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="1" z="0"/></vertices>'
        '<triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh></object>'
        f'{chain}</resources><build><item objectid="1"/></build></model>'
    )
    with pytest.raises(RobotSemanticsError, match="shows more than 100000 shapes"):
        mesh_surface(packed(tmp_path / "mesh.3mf", "3D/3dmodel.model", model.encode()))
