# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A disk of a few hundred kilobytes, which a test fills up."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FILLER = "filler"


class SmallDisk:
    """A mounted tmpfs; its filler is not a file of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def leave(self, pages: int) -> None:
        """Fill the disk up to this many free pages."""
        filler = self.folder / FILLER
        filler.unlink(missing_ok=True)
        status = os.statvfs(self.folder)
        filler.write_bytes(bytes((status.f_bavail - pages) * status.f_frsize))

    def files(self) -> dict[str, bytes | None]:
        """Return the content of every file, and None for every folder, by path in the disk."""
        return {
            str(path.relative_to(self.folder)): None if path.is_dir() else path.read_bytes()
            for path in self.folder.rglob("*")
            if path.name != FILLER
        }


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[SmallDisk]:
    """Mount a disk of this size at a new folder; skip the test where this user may not mount."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "robot_semantics_test", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"a tmpfs cannot be mounted: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
