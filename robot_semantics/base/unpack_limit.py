# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Limits on memory for foreign files: the unpacked size, and the longest part read in one piece."""

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
"""Unpacked size that is allowed for every mesh file [MB]."""
RATIO = 100
"""Allowed ratio of unpacked to packed size for larger files; recorded data never packs this well."""


class UnpackedTooLargeError(RobotSemanticsError):
    """Unpacked data is larger than the limit; the message names the limit and how to raise it."""

    def __init__(self, what: str, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{what} unpacks to more than {limit // 2**20} MB; {VARIABLE}=MB raises the limit")


def limit_for(packed_bytes: int) -> int:
    """Return the largest unpacked size of a recording of this size [bytes]."""
    stated = _stated_mb()
    allowed = DEFAULT_MB if stated is None else stated
    return max(allowed * 2**20, packed_bytes * RATIO if allowed <= DEFAULT_MB else 0)


def mesh_limit_for(packed_bytes: int) -> int:
    """Return the largest unpacked size of a mesh file of this size [bytes]; its textures take many times their size."""
    stated = _stated_mb()
    if stated is not None:
        return stated * 2**20
    return min(DEFAULT_MB * 2**20, max(UNSUSPICIOUS_MB * 2**20, packed_bytes * RATIO))


def longest_part() -> int:
    """Return the longest part of a file that is read in one piece, such as a message or a chunk [bytes]."""
    return limit_for(0) // 4


def _stated_mb() -> int | None:
    stated = os.environ.get(VARIABLE, "")
    if stated and not (stated.isdecimal() and int(stated)):
        raise RobotSemanticsError(f"the environment variable {VARIABLE} must be a positive number, not '{stated}'")
    return int(stated) if stated else None


def set_limit(megabytes: int) -> None:
    """Set the unpack limit of this process and its child processes [MB]."""
    os.environ[VARIABLE] = str(megabytes)


def check_unpacked(path: Path, size: int) -> None:
    """Check that `path` may unpack to `size` bytes.

    Raises:
        UnpackedTooLargeError: `size` is above the limit.
    """
    limit = limit_for(path.stat().st_size)
    if size > limit:
        raise UnpackedTooLargeError(str(path), limit)
