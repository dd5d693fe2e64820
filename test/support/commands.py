# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared by the tests of the command line: runs in this process, and real robots."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def program_folder() -> Path:
    """Return the folder of the installed commands: that of this Python, or in a workspace `lib` of the package."""
    prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    beside = Path(sys.executable).parent
    folders = [beside, *(Path(prefix) / "lib" / "robot_semantics" for prefix in prefixes)]
    return next((folder for folder in folders if (folder / "robot_semantics").is_file()), beside)


@dataclass(frozen=True)
class Result:
    """Result of one run of the command."""

    code: int
    out: str
    err: str


RunCommand = Callable[..., Result]
