# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files installed beside the package, in ``share/robot_semantics``: schemas and conformance cases."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError


def shared_folder(name: str) -> Path:
    """Return the folder `name`: in the source tree if the package is in one, else in the installation.

    Raises:
        RobotSemanticsError: it is not installed.
    """
    package = Path(__file__).parents[1]
    for above in package.parents:
        for folder in (above / name, above / "share" / "robot_semantics" / name):
            if folder.is_dir() and any(folder.glob("*.*")):
                return folder
    raise RobotSemanticsError(f"share/robot_semantics/{name} is not installed above {package}")
