# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Example robots and worlds that ship with the package."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.errors import UnknownNameError

FOLDER = Path(__file__).parent
"""The folder that holds the example files."""

FILES = tuple(sorted(path for path in FOLDER.iterdir() if path.suffix in {".urdf", ".srdf", ".usdf"}))
"""The example files."""


def example(name: str) -> Path:
    """Return the path of an example file, for instance ``rover_arm.usdf``.

    Raises:
        UnknownNameError: the example does not exist; the error has the nearest names.

    """
    path = FOLDER / name
    known = tuple(file.name for file in FILES)
    if name not in known:
        raise UnknownNameError("example", name, known)
    return path
