"""Mesh files as surfaces, with the colours that the file itself gives."""

from __future__ import annotations

import io
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.held_interrupt import held_interrupt
from robot_semantics.model.collada_unit import unit_of
from robot_semantics.viewer.triangles import Bytes, Surface
from robot_semantics.xml.reader import read_xml


class MeshError(RobotSemanticsError):
    """A mesh file cannot be shown; the message says why."""


def load_surface(path: Path) -> Surface:
    """Return the surface of a mesh file in metres; the same object as long as the file stays the same.

    A COLLADA file's unit is obeyed and its up axis is not, as RViz reads it.

    Raises:
        MeshError: the file cannot be read as a mesh.
        MissingExtraError: trimesh is not installed.
        OSError: there is no such file.
    """
    return _load(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=2048)
@held_interrupt()
def _load(path: str, modified_ns: int) -> Surface:
    del modified_ns  # renews the answer when the file changes
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("trimesh", "view", "reading meshes") from error
    try:
        pieces = _pieces(trimesh.load_scene(path))
        if not pieces and Path(path).suffix.lower() == ".dae":
            # A material that leads nowhere makes the reader leave out the geometry too: without materials it is there.
            pieces = _pieces(trimesh.load_scene(io.BytesIO(_without_materials(Path(path))), file_type="dae"))
        surface = _joined(pieces)
    except Exception as error:
        raise MeshError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if surface is None:
        raise MeshError(f"{path} has no triangles with finite vertices")
    unit = unit_of(Path(path))
    return surface.scaled(None if unit == 1.0 else (unit, unit, unit))


def _pieces(scene: Any) -> list[Any]:
    return [piece for piece in scene.dump() if hasattr(piece, "faces") and len(piece.faces)]


def _without_materials(path: Path) -> bytes:
    root = read_xml(path, forgiving=True).root
    for bound in root.findall(".//{*}bind_material"):
        above = bound.getparent()
        if above is not None:
            above.remove(bound)
    return etree.tostring(root)


def _joined(pieces: list[Any]) -> Surface | None:
    if not pieces or not all(np.isfinite(piece.vertices).all() for piece in pieces):
        return None
    starts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    faces = np.concatenate([piece.faces + start for piece, start in zip(pieces, starts[:-1], strict=True)])
    vertices = np.concatenate([np.asarray(piece.vertices, dtype=np.float64) for piece in pieces])
    colours = [_colours(piece) for piece in pieces]
    if all(of_piece is None for of_piece in colours):
        return Surface(vertices, faces.astype(np.int32))
    grey = np.array([178, 178, 178, 255], dtype=np.uint8)
    filled = [
        np.broadcast_to(grey, (len(piece.faces), 4)) if of_piece is None else of_piece
        for piece, of_piece in zip(pieces, colours, strict=True)
    ]
    return Surface(vertices, faces.astype(np.int32), np.concatenate(filled))


def _colours(piece: Any) -> Bytes | None:
    """Return (faces, 4) colours, or None where the file gives none."""
    visual = piece.visual
    if not visual.defined:
        return None
    if visual.kind == "texture":
        image = getattr(visual.material, "image", None) or getattr(visual.material, "baseColorTexture", None)
        if image is None or visual.uv is None:
            return np.broadcast_to(np.asarray(visual.material.main_color, dtype=np.uint8), (len(piece.faces), 4))
        visual = visual.to_color()
    if visual.kind == "vertex":
        corners = np.asarray(visual.vertex_colors)[piece.faces]
        return np.asarray(corners.mean(axis=1).round(), dtype=np.uint8)
    return np.asarray(visual.face_colors, dtype=np.uint8)
