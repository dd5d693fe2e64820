"""The unit of a COLLADA mesh, as RViz obeys it: trimesh leaves it to the caller."""

from __future__ import annotations

import re
from pathlib import Path

_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']")
_HEADER = 100_000
"""A COLLADA file states its unit in its first element; no more than this many bytes are searched."""


def unit_of(path: Path) -> float:
    """Return the unit [m] that a COLLADA file states, 1 for every other file and where the statement is no number."""
    if path.suffix.lower() != ".dae":
        return 1.0
    with path.open("rb") as file:
        found = _UNIT.search(file.read(_HEADER))
    try:
        unit = float(found[1]) if found else 1.0
    except ValueError:
        return 1.0
    return unit if 0.0 < unit < float("inf") else 1.0
