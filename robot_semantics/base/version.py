# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The version; it is stated only in `package.xml`, where the ROS release tools change it."""

from __future__ import annotations

import os
import re

_NAME = "robot_semantics"


def _read_version() -> str:
    """Return the version in the package.xml of the sources, or in the metadata of an installation."""
    # No pathlib: its import takes as long as an empty Python (12 of 23 ms), and `--version` needs nothing else of it.
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    manifest = os.path.join(folder, "package.xml")  # noqa: PTH118
    if os.path.isfile(manifest):  # noqa: PTH113
        with open(manifest, encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
        # The folder above an installed package may have the manifest of another package.
        if f"<name>{_NAME}</name>" in text and (found := re.search(r"<version>(.+)</version>", text)):
            return found[1]
    # The name of the folder with the metadata has the version: importlib.metadata takes half of the start.
    pattern = re.compile(rf"{_NAME}-([^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info")
    versions = {found[1] for name in os.listdir(folder) if (found := pattern.fullmatch(name))}  # noqa: PTH208
    if len(versions) == 1:
        return versions.pop()
    from importlib.metadata import version

    return version(_NAME)


__version__ = _read_version()
