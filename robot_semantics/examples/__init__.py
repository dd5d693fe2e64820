"""Example robots and worlds that ship with the package."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.errors import UnknownNameError

FOLDER = Path(__file__).parent
"""The folder that holds the example files."""


def example(name: str) -> Path:
    """Return the path of an example file, for instance ``rover_arm.usdf``.

    Raises:
        UnknownNameError: there is no such example; the error carries the nearest names.

    """
    path = FOLDER / name
    known = sorted(entry.name for entry in FOLDER.iterdir() if entry.suffix in {".urdf", ".srdf", ".usdf"})
    if name not in known:
        raise UnknownNameError("example", name, known)
    return path
