# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Limits of what a foreign file may take in memory: its unpacked size, and the longest part read in one piece."""

from __future__ import annotations

import os
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError

VARIABLE = "ROBOT_SEMANTICS_MAX_UNPACKED_MB"
"""Environment variable with the limit [MB]; worker processes inherit it.

The parameter ``max_unpacked`` of `mujoco_world` sets it.
"""
DEFAULT_MB = 1024
UNSUSPICIOUS_MB = 64
"""Every mesh file may unpack to so much [MB]."""
RATIO = 100
"""What was recorded never packs this well: a larger file may become so many times its size."""


class UnpackedTooLargeError(RobotSemanticsError):
    """Something unpacks to more than is allowed; the message names the limit and how to raise it."""

    def __init__(self, what: str, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{what} unpacks to more than {limit // 2**20} MB; {VARIABLE}=MB raises the limit")


def limit_for(packed_bytes: int) -> int:
    """Return how many bytes a recording of this size may unpack to."""
    stated = _stated_mb()
    allowed = DEFAULT_MB if stated is None else stated
    return max(allowed * 2**20, packed_bytes * RATIO if allowed <= DEFAULT_MB else 0)


def mesh_limit_for(packed_bytes: int) -> int:
    """Return how many bytes a mesh file of this size may unpack to: its texts take many times their size in memory."""
    stated = _stated_mb()
    if stated is not None:
        return stated * 2**20
    return min(DEFAULT_MB * 2**20, max(UNSUSPICIOUS_MB * 2**20, packed_bytes * RATIO))


def longest_part() -> int:
    """Return how many bytes of a file are read in one piece, such as a message or a chunk."""
    return limit_for(0) // 4


def _stated_mb() -> int | None:
    stated = os.environ.get(VARIABLE, "")
    if stated and not (stated.isdecimal() and int(stated)):
        raise RobotSemanticsError(f"the environment variable {VARIABLE} must be a positive number, not '{stated}'")
    return int(stated) if stated else None


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
