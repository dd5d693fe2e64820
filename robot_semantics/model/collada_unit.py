# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The unit of a COLLADA mesh, which RViz uses, and its up axis, which RViz ignores."""

from __future__ import annotations

import re
from pathlib import Path

from robot_semantics.base.files import open_bounded

_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']")
_Y_UP = re.compile(rb"<up_axis>\s*Y_UP\s*</up_axis>")
_HEADER = 100_000
"""Both are in the first element of a COLLADA file; only this many bytes are searched."""


def unit_of(path: Path) -> float:
    """Return the unit [m] of a COLLADA file; 1 for every other file, and if the unit is not a number."""
    if path.suffix.lower() != ".dae":
        return 1.0
    found = _UNIT.search(_header(path))
    try:
        unit = float(found[1]) if found else 1.0
    except ValueError:
        return 1.0
    return unit if 0.0 < unit < float("inf") else 1.0


def is_y_up(path: Path) -> bool:
    """Return True if a COLLADA file has its y axis upwards; RViz and this package ignore this."""
    return path.suffix.lower() == ".dae" and _Y_UP.search(_header(path)) is not None


def _header(path: Path) -> bytes:
    with open_bounded(path, _HEADER) as file:
        return file.read(_HEADER)
