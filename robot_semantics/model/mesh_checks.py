# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of mesh files: the mesh library has no limits, and it leaves out or misreads parts of some files."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_to_bytes

import numpy as np
import numpy.typing as npt
from lxml import etree

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import read_bounded
from robot_semantics.base.pattern import pattern
from robot_semantics.base.unpack_limit import UnpackedTooLargeError, mesh_limit_for

if TYPE_CHECKING:
    from trimesh.resolvers import FilePathResolver

GltfTree = dict[str, Any]

MOST_INSTANCES = 100_000
"""Largest number of shapes in a file; each use of a shape counts."""

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tga", ".tif", ".tiff", ".webp")
"""Endings of pictures."""

_FORMATS = frozenset(("3mf", "dae", "glb", "gltf", "obj", "off", "ply", "stl", "zae"))
_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_TRIANGLES, _TRIANGLE_FAN = 4, 6
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


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


def bounded_files(path: Path, size: int, pictures: list[str], missing: list[str]) -> FilePathResolver:
    """Return a resolver for trimesh that finds the files that a mesh file of `size` bytes names.

    Each must be a regular file below the folder of the mesh; together they are limited like one mesh. `pictures`
    takes the names of pictures that are read, `missing` the names of files that do not exist there.
    """
    from trimesh.resolvers import FilePathResolver

    class BoundedFiles(FilePathResolver):
        room = mesh_limit_for(2**62) - size

        def get(self, name: str) -> bytes:
            # The names in glTF are URIs.
            for candidate in (name.strip(), name.strip().lstrip("/"), name.rsplit("/", 1)[-1], unquote(name)):
                found = (Path(self.parent) / candidate).resolve()
                if found.is_relative_to(Path(self.parent).resolve()) and found.exists():
                    content = read_bounded(found, self.room)
                    self.room -= len(content)
                    if name.lower().endswith(IMAGES):
                        pictures.append(name)
                    return content
            missing.append(name)
            raise FileNotFoundError(name)

    return BoundedFiles(str(path))


def _check_gltf(path: Path, content: bytes, limit: int) -> None:
    tree = json.loads(gltf_parts(content)[0])
    values = sum(
        item["count"] * _BYTES.get(item["componentType"], 4) * _WIDTHS.get(item["type"], 16)
        for item in tree.get("accessors", [])
    )
    stored = sum(view["byteLength"] for view in tree.get("bufferViews", []))
    if max(values, stored) > max(limit, len(content)):
        raise UnpackedTooLargeError(str(path), limit)
    nodes = {str(number): map(str, node.get("children", ())) for number, node in enumerate(tree.get("nodes", []))}
    uses = {name: (list(children), 1) for name, children in nodes.items()}
    _require_read_forms(tree)
    _check_uses(path, uses, (str(number) for scene in tree.get("scenes", []) for number in scene.get("nodes", ())))


def _require_read_forms(tree: GltfTree) -> None:
    """Check that trimesh reads all triangles of a glTF tree: of a form that it does not know, it takes 0 or nothing."""
    for primitive in (entry for mesh in tree.get("meshes", []) for entry in mesh["primitives"]):
        if primitive.get("mode", _TRIANGLES) == _TRIANGLE_FAN:
            raise ValueError("its triangle fans (mode 6) are not read")
        draco = "KHR_draco_mesh_compression" in primitive.get("extensions", {}) and find_spec("DracoPy") is not None
        for name, number in (
            ("positions", primitive["attributes"].get("POSITION")),
            ("indices", primitive.get("indices")),
        ):
            if number is None:
                continue
            accessor = tree["accessors"][number]
            view = tree["bufferViews"][accessor["bufferView"]] if "bufferView" in accessor else {}
            compressed = [word for word in view.get("extensions", {}) if word.endswith("_meshopt_compression")]
            if "sparse" in accessor:
                raise ValueError(f"its sparse {name} are not read")
            if compressed or (not view and not draco):
                form = (compressed or [*primitive.get("extensions", {}), "no buffer view"])[0]
                raise ValueError(f"the form of its {name} is not read: {form}")
            if name == "positions" and accessor.get("normalized"):
                raise ValueError("its normalized positions are not read")


def gltf_parts(content: bytes) -> tuple[bytes, bytes]:
    """Return the JSON and the binary part of a glTF file; in the form with two files the second is empty."""
    if not content.startswith(b"glTF"):
        return content, b""
    size = int.from_bytes(content[12:16], "little")
    return content[20 : 20 + size], content[28 + size :]


def gltf_undrawn(content: bytes) -> Iterator[str]:
    """Yield the textures of a glTF file that trimesh omits or draws elsewhere, each with the reason.

    Raises:
        Exception: any error of the JSON reader and of a damaged tree.
    """
    text, binary = gltf_parts(content)
    tree = json.loads(text)
    used: set[int] = set()
    for number, material in enumerate(tree.get("materials", [])):
        name = f"the texture of material '{material.get('name', number)}'"
        if "KHR_materials_pbrSpecularGlossiness" in material.get("extensions", {}):
            yield f"{name}: its extension KHR_materials_pbrSpecularGlossiness is not read"
        info = material.get("pbrMetallicRoughness", {}).get("baseColorTexture")
        if info is None:
            continue
        if info.get("texCoord", 0):
            yield f"the texture coordinates of {name}: only the first set is read"
        if "KHR_texture_transform" in info.get("extensions", {}):
            yield f"the transform of {name}: it is not read"
        source = tree["textures"][info["index"]].get("source")
        if source is None:
            yield f"{name}: its form is not read"
        else:
            used.add(source)
    for number in sorted(used):
        data = _gltf_data(tree["images"][number], tree, binary)
        if data is not None and not _is_picture(data):
            yield f"the picture number {number} inside it: it cannot be read"


def _gltf_data(item: GltfTree, tree: GltfTree, binary: bytes) -> bytes | None:
    """Return the content of a picture or buffer inside a glTF file; None for one in a file of its own."""
    uri = item.get("uri")
    if uri is not None:
        head, _, data = uri.partition(",")
        if not head.startswith("data:"):
            return None
        return base64.b64decode(data) if head.endswith(";base64") else unquote_to_bytes(data)
    if "bufferView" not in item:
        return binary
    view = tree["bufferViews"][item["bufferView"]]
    buffer = _gltf_data(tree["buffers"][view["buffer"]], tree, binary)
    start = view.get("byteOffset", 0)
    return None if buffer is None else buffer[start : start + view["byteLength"]]


def _is_picture(data: bytes) -> bool:
    try:
        from PIL import Image
    except ImportError:
        return False
    try:
        Image.open(io.BytesIO(data)).load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
    return True


def _check_instances(path: Path, text: bytes) -> None:
    """Check that the parts of a COLLADA or 3MF text exist (trimesh leaves others out) and are not used too often."""
    shapes: dict[str, int] = defaultdict(int)
    used: dict[str, list[str]] = defaultdict(list)
    around: list[str] = []
    defined: set[str] = set()
    of_3mf: set[str] = set()
    starts = (b"instance_node", b"objectid")
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
        instance_name = around[-1] if around else ""
        if holder:
            name = element.get("id") or f"#{len(used)}-{len(around)}-{element.sourceline}"
            if around:
                used[instance_name].append(name)
            around.append(name)
            defined.add(name)
        elif tag in ("instance_geometry", "instance_controller", "mesh"):
            shapes[instance_name] += 1
        elif tag in ("instance_node", "component", "item"):
            used[instance_name].append((element.get("url") or element.get("objectid") or "").removeprefix("#"))
            if tag != "instance_node" and not any(name.endswith("path") for name in element.attrib):
                of_3mf.add(element.get("objectid", ""))
    unknown = sorted(of_3mf - defined)
    if unknown:
        raise ValueError(f"it uses the object '{unknown[0]}', which it does not define")
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


def whole_text(content: bytes, kind: str) -> bytes:
    """Return the content of a mesh file in a form that trimesh reads wholly; texts alone are checked and changed.

    Raises:
        ValueError: trimesh would read the text in part: it has more or fewer lines than it states, or a line does not
            have the stated numbers.
    """
    if kind == "obj":
        return _plain_obj(content)
    if kind == "off":
        return _plain_off(content)
    if kind == "stl":
        _require_all_of_stl(content)
    elif kind == "ply" and b"ascii" in content[:100].lower():
        _require_all_of_ply(content)
    return content


_OBJ_MARGIN = pattern(rb"(?m)^ +")
_OBJ_SHORT = pattern(rb"(?m)^[vf] (?! *[^ \r\n]+ +[^ \r\n]+ +[^ \r\n])[^\r\n]*")
_OBJ_ZERO = pattern(rb"(?m)^f(?: [^\r\n]*)? \+?0+(?=[/ \r\n]|$)[^\r\n]*")
_OBJ_CURVED = pattern(rb"(?m)^surf .*")
_OBJ_BACK = pattern(rb"(?m)^f[^\r\n]*[ /]-")
_OBJ_KINDS = (b"v", b"vt", b"vn")
"""Lists that a corner of a face names, in this order: positions, texture coordinates, normals."""


def _plain_obj(content: bytes) -> bytes:
    """Return an OBJ file in the form that trimesh reads wholly: one line each, without tabs, indices from the start.

    Raises:
        ValueError: a corner or a face has too few numbers, an index is 0 or before the start, or a surface is curved.
    """
    text = content.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").replace(b"\t", b" ")
    text = _OBJ_MARGIN.sub(b"", text)
    for form, reason in (
        (_OBJ_SHORT, "has fewer than three words"),
        (_OBJ_ZERO, "names corner 0; the first corner is 1"),
        (_OBJ_CURVED, "is a curved surface, which is not read"),
    ):
        bad = form.search(text)
        if bad is not None:
            raise ValueError(f"'{_line([bad[0].strip()])}' {reason}")
    if _OBJ_BACK.search(text) is None:
        return text
    lines, counts = text.splitlines(), dict.fromkeys(_OBJ_KINDS, 0)
    for number, line in enumerate(lines):
        kind, _, rest = line.partition(b" ")
        if kind in counts:
            counts[kind] += 1
        elif kind == b"f" and b"-" in rest:
            lines[number] = b"f " + b" ".join(_from_the_start(corner, counts) for corner in rest.split())
    return b"\n".join(lines)


def _from_the_start(corner: bytes, counts: Mapping[bytes, int]) -> bytes:
    """Return a corner of a face with indices from the start: a negative one counts back from its line."""
    indices = []
    for kind, index in zip(_OBJ_KINDS, corner.split(b"/"), strict=False):
        back = index.startswith(b"-")
        place = counts[kind] + int(index) + 1 if back else 0
        if back and place < 1:
            raise ValueError(f"'{corner.decode('utf-8', 'replace')}' counts back before the first corner")
        indices.append(b"%d" % place if back else index)
    return b"/".join(indices)


def _plain_off(content: bytes) -> bytes:
    """Return an OFF file without comments and empty lines; trimesh reads some lines twice if there are comments.

    Raises:
        ValueError: there are more or fewer lines than the file states, or a face has fewer corners than it states.
    """
    text = re.sub(rb"#[^\n]*", b"", content)
    words = [line.split() for line in text.partition(b"OFF")[2].splitlines()]
    counts, *rows = filter(None, words)
    _require_rows(rows, int(counts[0]) + int(counts[1]))
    for row in rows[int(counts[0]) :]:
        if int(row[0]) < 3 or len(row) < 1 + int(row[0]):
            raise ValueError(f"the face '{_line(row)}' does not have the corners that it states")
    return b"\n".join((b"OFF", *map(b" ".join, (counts, *rows))))


def _require_all_of_stl(content: bytes) -> None:
    facets, solids, ends, corners = (
        len(re.findall(rb"(?mi)^[ \t]*%b\b" % word, content))
        for word in (b"endfacet", b"solid", b"endsolid", b"vertex")
    )
    if solids and (solids != ends or corners != 3 * facets):
        raise ValueError("a solid or a facet has no end")


def _require_all_of_ply(content: bytes) -> None:
    head, _, body = content.partition(b"end_header")
    elements: list[tuple[int, list[list[bytes]]]] = []
    for line in head.splitlines():
        words = line.split()
        if words[:1] == [b"element"]:
            elements.append((int(words[2]), []))
        elif words[:1] == [b"property"]:
            elements[-1][1].append(words[1:])
    rows = [line.split() for line in body.rstrip().splitlines()[1:]]
    _require_rows(rows, sum(count for count, _ in elements))
    remaining = iter(rows)
    for count, properties in elements:
        for row in islice(remaining, count):
            place = 0
            for form in properties:
                size = int(row[place]) if form[0] == b"list" and place < len(row) else 0
                place += 1 + size
                if size and form[2] not in (b"float", b"double", b"float32", b"float64"):
                    _ = [int(word) for word in row[place - size : place]]
            if place != len(row):
                raise ValueError(f"the line '{_line(row)}' does not have the numbers that the header states")


def _require_rows(rows: Sequence[object], stated: int) -> None:
    if len(rows) != stated:
        raise ValueError(f"it states {stated} lines of corners and faces, and has {len(rows)}")


def _line(words: Sequence[bytes]) -> str:
    return b" ".join(words)[:60].decode("utf-8", "replace")


def require_corners(part: Mapping[str, npt.ArrayLike]) -> None:
    """Check that corners have three numbers, and that faces name corners that exist."""
    corners, faces = np.asarray(part["vertices"]), np.asarray(part.get("faces", ()))
    if len(corners) and corners.shape[1:] != (3,):
        raise ValueError("a corner does not have three numbers")
    if faces.size and (faces.min() < 0 or faces.max() >= len(corners)):
        raise ValueError("a face names a corner that does not exist")
