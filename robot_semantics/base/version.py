# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The version; it is stated only in `package.xml`, where the ROS release tools change it."""

from __future__ import annotations

import re
from pathlib import Path

_NAME = "robot_semantics"


def _read_version() -> str:
    """Return the version in the package.xml of the sources, or in the metadata of an installation."""
    manifest = Path(__file__).parents[2] / "package.xml"
    text = manifest.read_text(encoding="utf-8") if manifest.is_file() else ""
    # The folder above an installed package may have the manifest of another package.
    if f"<name>{_NAME}</name>" in text and (found := re.search(r"<version>(.+)</version>", text)):
        return found[1]
    from importlib.metadata import version

    return version(_NAME)


__version__ = _read_version()
