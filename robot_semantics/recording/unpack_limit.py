# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""How much a packed input may become: what would unpack to more than a machine holds is refused, not unpacked."""

from __future__ import annotations

import os
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError

VARIABLE = "ROBOT_SEMANTICS_MAX_UNPACKED_MB"
"""Environment variable with the limit [MB]; worker processes inherit it. The option ``--max-unpacked`` sets it."""
DEFAULT_MB = 1024
RATIO = 100
"""What was recorded never packs this well: a larger file may become so many times its size."""


class UnpackedTooLargeError(RobotSemanticsError):
    """Something unpacks to more than is allowed; the message names the limit and how to raise it."""

    def __init__(self, what: str, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{what} unpacks to more than {limit // 2**20} MB; --max-unpacked MB raises the limit")


def limit_for(packed_bytes: int) -> int:
    """Return how many bytes something of this size may unpack to."""
    stated = os.environ.get(VARIABLE, "")
    allowed = int(stated) if stated.isdecimal() else DEFAULT_MB
    return max(allowed * 2**20, packed_bytes * RATIO if allowed <= DEFAULT_MB else 0)


def set_limit(megabytes: int) -> None:
    """Let this process and those that it starts unpack up to so much [MB]."""
    os.environ[VARIABLE] = str(megabytes)


def check_unpacked(path: Path, size: int) -> None:
    """Look whether `path` may unpack to `size` bytes.

    Raises:
        UnpackedTooLargeError: it may not.
    """
    limit = limit_for(path.stat().st_size)
    if size > limit:
        raise UnpackedTooLargeError(str(path), limit)
