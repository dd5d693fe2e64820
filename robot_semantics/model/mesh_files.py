# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Mesh files, each read once: triangles in metres, with the colours in the file.

COLLADA files are read as in RViz: their unit is used, their up axis is ignored.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from lxml import etree

from robot_semantics.base.deferred_interrupt import deferred_interrupt
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.model.mesh_checks import (
    bounded_files,
    check_mesh,
    gltf_undrawn,
    read_mesh_bytes,
    require_corners,
    whole_text,
)
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Vec3
from robot_semantics.xml.reader import parse_xml

if TYPE_CHECKING:
    import trimesh
    from trimesh.resolvers import FilePathResolver


Bytes = npt.NDArray[np.uint8]


_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
"""One facet of a binary STL file."""

_UNIT = pattern(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']")
_Y_UP = pattern(rb"<up_axis>\s*Y_UP\s*</up_axis>")
_HEADER = 100_000
"""Unit and up axis are in the first element of a COLLADA file; only this many bytes are searched."""


@record(frozen=True, eq=False)
class FaceImage:
    """A texture: the (h, w, 4) red, green, blue, alpha of its pixels, and the numbers of the faces that have it."""

    pixels: Bytes
    faces: npt.NDArray[np.int32]


@record(frozen=True, eq=False)
class Surface:
    """A surface: (n, 3) vertices [m], (m, 3) faces, counter-clockwise seen from outside.

    Attributes:
        colours: (m, 4) red, green, blue, alpha of each face; None if the file has no colours.
        unit: the unit that the file states [m]; the vertices are in metres.
        y_up: True if the file states that y is up; as in RViz, the surface is not turned.
        uv: (m, 3, 2) texture coordinates at the corners of the faces; NaN for a face without; None if no face has some.
        images: the textures of the file.
        undrawn: parts of the file's looks, such as textures, that the surface lacks, each with the reason.
    """

    vertices: FloatArray
    faces: npt.NDArray[np.int32]
    colours: Bytes | None = None
    unit: float = 1.0
    y_up: bool = False
    uv: npt.NDArray[np.float32] | None = None
    images: tuple[FaceImage, ...] = ()
    undrawn: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.vertices, self.faces, self.colours, self.uv):
            if array is not None:
                array.setflags(write=False)

    def scaled(self, scale: Vec3 | None) -> Surface:
        """Return the surface scaled along its axes; the faces of a mirrored one are turned outwards again."""
        if scale is None or scale == (1.0, 1.0, 1.0):
            return self
        vertices = self.vertices * np.asarray(scale)
        if np.prod(scale) >= 0.0:
            return replace(self, vertices=vertices)
        uv = None if self.uv is None else self.uv[:, ::-1].copy()
        return replace(self, vertices=vertices, faces=self.faces[:, ::-1].copy(), uv=uv)


def obj_of(surface: Surface) -> str:
    """Return the surface as the text of a Wavefront OBJ file, with exact numbers."""
    vertices = [f"v {x!r} {y!r} {z!r}" for x, y, z in surface.vertices.tolist()]
    faces = [f"f {a} {b} {c}" for a, b, c in (surface.faces + 1).tolist()]
    return "\n".join((*vertices, *faces, ""))


def mesh_surface(path: Path, extra: str = "collision") -> Surface:
    """Return the surface of a mesh file; the same object until the file changes.

    Raises:
        RobotSemanticsError: the file cannot be read as a mesh.
        MissingExtraError: it is not a binary STL and trimesh is not installed; `extra` names the extra in the message.
        OSError: the file does not exist.
    """
    try:
        return _surface(str(path), path.stat().st_mtime_ns)
    except ImportError as error:
        raise MissingExtraError("trimesh", extra, "reading meshes") from error


@lru_cache(maxsize=2048)
@deferred_interrupt()
def _surface(path: str, modified_ns: int) -> Surface:
    del modified_ns  # the cache key changes with the file
    content = read_mesh_bytes(Path(path))
    plain = _binary_stl(content, path) if Path(path).suffix.lower() == ".stl" else None
    if plain is not None:
        return plain
    pictures: list[str] = []
    missing: list[str] = []
    undrawn: list[str] = []
    try:
        check_mesh(Path(path), content)
        files = bounded_files(Path(path), len(content), pictures, missing)
        kind = Path(path).suffix.lower().removeprefix(".")
        surface = _joined(_meshes(content, path, kind, files, undrawn))
    except (RobotSemanticsError, ImportError):
        raise
    except Exception as error:  # trimesh raises any error of its readers and of numpy
        # The errors of COLLADA files begin with their names.
        name = f"{type(error).__name__}: "
        raise RobotSemanticsError(f"{path} cannot be read: {name}{str(error).removeprefix(name)}") from error
    if surface is None:
        raise RobotSemanticsError(f"{path} has no triangles")
    undrawn += [f"'{name}', which it names: no such file is beside the mesh" for name in missing]
    if not surface.images:
        # trimesh says nothing about a damaged picture.
        why = "it is damaged, or is not the colour of a material"
        undrawn += [f"'{name}', which it names: {why}" for name in pictures]
    if kind in ("gltf", "glb"):
        undrawn += gltf_undrawn(content)
    surface = replace(surface, undrawn=tuple(dict.fromkeys(undrawn)))
    if kind != "dae":
        return surface
    unit = _unit(content[:_HEADER])
    y_up = _Y_UP.search(content[:_HEADER]) is not None
    return replace(surface.scaled((unit, unit, unit)), unit=unit, y_up=y_up)


def _unit(header: bytes) -> float:
    """Return the unit of a COLLADA file [m]; 1 if the unit is not a number."""
    found = _UNIT.search(header)
    try:
        unit = float(found[1]) if found else 1.0
    except ValueError:
        return 1.0
    return unit if 0.0 < unit < float("inf") else 1.0


def _binary_stl(content: bytes, path: str) -> Surface | None:
    """Return the surface of a binary STL file; None for other files. Most meshes are STL and need no library (2 s)."""
    count = int.from_bytes(content[80:84], "little")
    if not count or len(content) != 84 + _FACET.itemsize * count:
        return None
    facets = np.frombuffer(content, _FACET, count, offset=84)["corners"]
    _require_finite(facets, path)
    # Corners within 1e-8 are one vertex, as in trimesh: a surface is smooth where its faces share vertices.
    corners = facets.reshape(-1, 3).astype(np.float64)
    keys = np.round(1e8 * corners)
    order = np.lexsort(keys.T)
    new = np.r_[True, (np.diff(keys[order], axis=0) != 0.0).any(axis=1)]
    faces = np.empty(len(corners), dtype=np.int32)
    faces[order] = np.cumsum(new) - 1
    return Surface(corners[order[new]], faces.reshape(-1, 3))


def _meshes(content: bytes, path: str, kind: str, files: FilePathResolver, undrawn: list[str]) -> list[trimesh.Trimesh]:
    """Return the meshes of a file, in the axes of its scene; `undrawn` takes what is left out.

    Raises:
        RobotSemanticsError: a corner is not finite.
        Exception: any error of trimesh's readers and of numpy.
    """
    import trimesh

    read = partial(trimesh.exchange.load.mesh_loaders[kind], file_type=kind, resolver=files)
    if kind in ("dae", "zae"):
        parsed = _read_collada(read, content, path, undrawn)
    else:
        parsed = read(io.BytesIO(whole_text(content, kind)))
    for part in parsed["geometry"].values() if "geometry" in parsed else [parsed]:
        # Corners that are not finite would be dropped.
        part["process"] = False
        require_corners(part)
    scene = trimesh.load_scene(parsed)
    for mesh in scene.geometry.values():
        if isinstance(mesh, trimesh.Trimesh):
            _require_finite(mesh.triangles, path)
            mesh.process()
    pieces = [piece for piece in scene.dump() if isinstance(piece, trimesh.Trimesh) and len(piece.faces)]
    for piece in pieces:
        _require_finite(piece.vertices, path)
    return pieces


_NOT_A_NUMBER = pattern(rb"(?i)(?<![\w.])[-+]?nan")
_NEGATIVE_INDEX = pattern(rb"<(?:\w+:)?p\b[^<>]*>[^<]*-")
_MATERIALS = ("bind_material", "library_materials", "library_effects", "library_images")
_SCENERY = ("library_animations", "library_cameras", "library_lights", "instance_camera", "instance_light")
"""Parts of a COLLADA file without geometry."""


def _read_collada(read: Callable[..., dict[str, Any]], content: bytes, path: str, undrawn: list[str]) -> dict[str, Any]:
    """Return what trimesh reads of a COLLADA file; its materials may be damaged, but no geometry is left out.

    Raises:
        RobotSemanticsError: a corner is not a number.
        ValueError: an index is negative.
        Exception: any error of the reader; a damaged geometry has a DaeError.
    """
    from collada.common import DaeError

    _require_numbers(content, path)
    try:
        return read(io.BytesIO(content), ignore_broken=False)
    except DaeError as error:
        try:
            root = parse_xml(content, path, forgiving=True).root
        except RobotSemanticsError:  # an archive, or not well-formed
            raise error from None
    try:
        return read(io.BytesIO(_without(root, _SCENERY)), ignore_broken=False)
    except DaeError as error:
        undrawn.append(f"its materials: {error}")
    return read(io.BytesIO(_without(root, _MATERIALS)), ignore_broken=False)


def _without(root: etree._Element, tags: Iterable[str]) -> bytes:
    """Remove some elements from a COLLADA document; return its text."""
    for element in [element for tag in tags for element in root.iterfind(f".//{{*}}{tag}")]:
        above = element.getparent()
        if above is not None:
            above.remove(element)
    return etree.tostring(root)


def _require_numbers(content: bytes, path: str) -> None:
    """Check the corners and indices of a COLLADA file: its reader takes 0 for NaN, and the last corner for -1."""
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            texts = [archive.read(part) for part in archive.namelist() if part.lower().endswith(".dae")]
    else:
        texts = [content]
    if any(map(_NEGATIVE_INDEX.search, texts)):
        raise ValueError("an index is negative: its reader counts back from the last corner")
    # Most files lack these letters: to look for them takes a tenth of the time of the pattern.
    for text in (text for text in texts if b"nan" in text.lower() and _NOT_A_NUMBER.search(text)):
        root = parse_xml(text, path, forgiving=True).root
        inputs = root.iterfind(".//{*}vertices/{*}input[@semantic='POSITION']")
        corners = {entry.get("source", "").removeprefix("#") for entry in inputs}
        for source in root.iterfind(".//{*}source"):
            numbers = etree.tostring(source, method="text", encoding="utf-8")
            if source.get("id") in corners and _NOT_A_NUMBER.search(numbers):
                raise _not_finite(path)


def _require_finite(points: npt.ArrayLike, path: str) -> None:
    if not np.isfinite(points).all():
        raise _not_finite(path)


def _not_finite(path: str) -> RobotSemanticsError:
    return RobotSemanticsError(f"{path} has a triangle with a corner that is not finite")


def _joined(pieces: list[trimesh.Trimesh]) -> Surface | None:
    if not pieces:
        return None
    starts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    faces = np.concatenate([piece.faces + start for piece, start in zip(pieces, starts[:-1], strict=True)])
    vertices = np.concatenate([np.asarray(piece.vertices, dtype=np.float64) for piece in pieces])
    colours = [_colours(piece) for piece in pieces]
    uv, images = _textures(pieces)
    if all(of_piece is None for of_piece in colours):
        return Surface(vertices, faces.astype(np.int32), uv=uv)
    grey = np.array([178, 178, 178, 255], dtype=np.uint8)
    filled = [
        np.broadcast_to(grey, (len(piece.faces), 4)) if of_piece is None else of_piece
        for piece, of_piece in zip(pieces, colours, strict=True)
    ]
    return Surface(vertices, faces.astype(np.int32), np.concatenate(filled), uv=uv, images=images)


def _textures(pieces: list[trimesh.Trimesh]) -> tuple[npt.NDArray[np.float32] | None, tuple[FaceImage, ...]]:
    """Return (faces, 3, 2) texture coordinates of all pieces, and their textures."""
    uv = np.full((sum(len(piece.faces) for piece in pieces), 3, 2), np.nan, dtype=np.float32)
    images, start = [], 0
    for piece in pieces:
        numbers = np.arange(start, start + len(piece.faces), dtype=np.int32)
        start += len(piece.faces)
        of_corners = getattr(piece.visual, "uv", None)
        if of_corners is None or len(of_corners) != len(piece.vertices):
            continue
        uv[numbers] = np.asarray(of_corners, dtype=np.float32)[piece.faces, :2]
        image = _image(piece.visual)
        if image is not None:
            pixels = np.asarray(image.convert("RGBA"))
            factor = getattr(getattr(piece.visual, "material", None), "baseColorFactor", None)
            if factor is not None and np.asarray(factor).dtype == np.uint8:
                pixels = np.round(pixels * (np.asarray(factor) / 255.0)).astype(np.uint8)
            images.append(FaceImage(pixels, numbers))
    return (None if np.isnan(uv).all() else uv), tuple(images)


class _Picture(Protocol):
    """A picture of Pillow."""

    def convert(self, mode: str) -> npt.ArrayLike: ...


def _image(visual: object) -> _Picture | None:
    """Return the picture of a texture; None without one."""
    material = getattr(visual, "material", None)
    picture: _Picture | None = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    return picture


def _colours(piece: trimesh.Trimesh) -> Bytes | None:
    """Return (faces, 4) colours; None if the file has none."""
    visual: Any = piece.visual
    if not visual.defined:
        return None
    if visual.kind == "texture":
        if _image(visual) is None or visual.uv is None:
            return np.broadcast_to(np.asarray(visual.material.main_color, dtype=np.uint8), (len(piece.faces), 4))
        visual = visual.to_color()
    if visual.kind == "vertex":
        corners = np.asarray(visual.vertex_colors)[piece.faces]
        return np.asarray(corners.mean(axis=1).round(), dtype=np.uint8)
    return np.asarray(visual.face_colors, dtype=np.uint8)
