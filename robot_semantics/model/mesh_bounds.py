# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Limits of mesh files, checked before a mesh library reads them: a small file can request all memory.

A packed file states the lengths of its parts. A glTF file states its number of values, and names other files. In a
COLLADA or 3MF file, a part may contain another part many times, on several levels.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lxml import etree

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import read_bounded
from robot_semantics.base.unpack_limit import UnpackedTooLargeError, mesh_limit_for

if TYPE_CHECKING:
    from trimesh.resolvers import FilePathResolver

MOST_INSTANCES = 100_000
"""Largest number of shapes in a file; each use of a shape counts."""

_FORMATS = frozenset(("3mf", "dae", "glb", "gltf", "obj", "off", "ply", "stl", "zae"))
_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_GLB_JSON = slice(20, None)


class MeshTooLargeError(RobotSemanticsError):
    """A mesh file is longer than the limit, or has too many shapes."""


def read_mesh_bytes(path: Path) -> bytes:
    """Return the content of a mesh file.

    Raises:
        MeshTooLargeError: it is longer than the limit for meshes.
        OSError: it cannot be read or is not a regular file.
    """
    limit = mesh_limit_for(2**62)
    if path.stat().st_size > limit:
        raise MeshTooLargeError(f"{path} is longer than the {limit // 2**20} MB that are allowed for a mesh")
    return read_bounded(path, limit)


def check_mesh(path: Path, content: bytes) -> None:
    """Check from a mesh file's own statements that it does not need too much memory or time.

    Raises:
        UnpackedTooLargeError: its unpacked size is above the limit.
        MeshTooLargeError: it has too many shapes.
        ValueError: its format is not supported.
        Exception: any error of the zip, JSON and XML readers for a damaged file.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _FORMATS:
        raise ValueError(f"'{path.suffix}' is in an unknown mesh format; known are {', '.join(sorted(_FORMATS))}")
    limit = mesh_limit_for(len(content))
    if kind in ("zae", "3mf"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # The reader unpacks all parts, and no part beyond its stated length.
            if sum(part.file_size for part in archive.infolist()) > limit:
                raise UnpackedTooLargeError(str(path), limit)
            for part in archive.namelist():
                if part.lower().endswith((".dae", ".model")):
                    _check_instances(path, archive.read(part))
    elif kind == "dae":
        _check_instances(path, content)
    elif kind in ("gltf", "glb"):
        _check_gltf(path, content, limit)


def bounded_files(path: Path, size: int) -> FilePathResolver:
    """Return a resolver for trimesh that finds the files that a mesh file of `size` bytes names.

    Each must be a regular file below the folder of the mesh; together they are limited like one mesh.
    """
    from trimesh.resolvers import FilePathResolver

    class BoundedFiles(FilePathResolver):
        room = mesh_limit_for(2**62) - size

        def get(self, name: str) -> bytes:
            for candidate in (name.strip(), name.strip().lstrip("/"), name.rsplit("/", 1)[-1]):
                found = (Path(self.parent) / candidate).resolve()
                if found.is_relative_to(Path(self.parent).resolve()) and found.exists():
                    content = read_bounded(found, self.room)
                    self.room -= len(content)
                    return content
            raise FileNotFoundError(name)

    return BoundedFiles(str(path))


def _check_gltf(path: Path, content: bytes, limit: int) -> None:
    text = content
    if content.startswith(b"glTF"):
        text = content[_GLB_JSON][: int.from_bytes(content[12:16], "little")]
    tree = json.loads(text)
    values = sum(
        item["count"] * _BYTES.get(item["componentType"], 4) * _WIDTHS.get(item["type"], 16)
        for item in tree.get("accessors", [])
    )
    stored = sum(view["byteLength"] for view in tree.get("bufferViews", []))
    if max(values, stored) > max(limit, len(content)):
        raise UnpackedTooLargeError(str(path), limit)
    nodes = {str(number): map(str, node.get("children", ())) for number, node in enumerate(tree.get("nodes", []))}
    uses = {name: (list(children), 1) for name, children in nodes.items()}
    _check_uses(path, uses, (str(number) for scene in tree.get("scenes", []) for number in scene.get("nodes", ())))


def _check_instances(path: Path, text: bytes) -> None:
    """Check that the parts of a COLLADA or 3MF text do not use each other too often."""
    shapes: dict[str, int] = defaultdict(int)
    used: dict[str, list[str]] = defaultdict(list)
    around: list[str] = []
    starts = (b"instance_node", b"component")
    if not any(start in text for start in starts):
        return
    for event, element in etree.iterparse(
        io.BytesIO(text), events=("start", "end"), resolve_entities=False, no_network=True, recover=True
    ):
        tag = etree.QName(element).localname if isinstance(element.tag, str) else ""
        holder = tag in ("node", "object", "build", "visual_scene")
        if event == "end":
            if holder:
                around.pop()
            element.clear()
            continue
        own = around[-1] if around else ""
        if holder:
            name = element.get("id") or f"#{len(used)}-{len(around)}-{element.sourceline}"
            if around:
                used[own].append(name)
            around.append(name)
        elif tag in ("instance_geometry", "instance_controller", "mesh"):
            shapes[own] += 1
        elif tag in ("instance_node", "component", "item"):
            used[own].append((element.get("url") or element.get("objectid") or "").removeprefix("#"))
    names = {*shapes, *used}
    _check_uses(path, {name: (used[name], shapes[name]) for name in names}, names)


def _check_uses(path: Path, parts: Mapping[str, tuple[Iterable[str], int]], roots: Iterable[str]) -> None:
    """Check the number of shapes; each part has the parts that it uses and its own number of shapes."""
    counts: dict[str, int] = {}
    for root in roots:
        stack: list[tuple[str, Callable[[], str | None]]] = []
        _enter(root, parts, counts, stack)
        while stack:
            name, next_used = stack[-1]
            other = next_used()
            if other is None:
                stack.pop()
                used, own = parts[name]
                counts[name] = min(own + sum(counts.get(part, 0) for part in used), MOST_INSTANCES + 1)
            else:
                _enter(other, parts, counts, stack)
        if counts.get(root, 0) > MOST_INSTANCES:
            raise MeshTooLargeError(f"{path} shows more than {MOST_INSTANCES} shapes, the limit")


def _enter(
    name: str,
    parts: Mapping[str, tuple[Iterable[str], int]],
    counts: dict[str, int],
    stack: list[tuple[str, Callable[[], str | None]]],
) -> None:
    if name in parts and name not in counts:
        # The library refuses a part that contains itself; its count here is 0.
        counts[name] = 0
        following = iter(list(parts[name][0]))
        stack.append((name, lambda: next(following, None)))
