# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Description files beside snapshots: shared by processes, and deleted with the last snapshot that names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from robot_semantics.base.files import locked, read_bounded
from robot_semantics.usdf.saved_descriptions import is_hash_name, named_descriptions

SUFFIX = ".usdf"
_UNFINISHED = ".unfinished"
_LOCK_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class DescriptionFiles:
    """The description files of one folder.

    Attributes:
        folder: the folder with the descriptions and the snapshots.
        max_bytes: size of the largest file that is read.
        follow_links: whether snapshots are read through symbolic links.

    """

    folder: Path
    max_bytes: int
    follow_links: bool

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder, and first delete the descriptions that a killed process left.

        Raises:
            OSError: the folder does not exist, or another process has locked it for longer than 30 s.
        """
        with locked(self.folder, _LOCK_TIMEOUT_S):
            with suppress(OSError):
                left = read_bounded(self.folder / _UNFINISHED, self.max_bytes, follow_links=False)
                self._delete_unused(left.decode(errors="replace").split())
                (self.folder / _UNFINISHED).unlink()
            yield

    @contextmanager
    def clearing(self, names: set[str]) -> Iterator[None]:
        """At the end of the block, delete the given descriptions that no snapshot names.

        If this process is killed inside, the next one that takes the lock deletes them.
        """
        if not names:
            yield
            return
        journal = self.folder / _UNFINISHED
        try:
            # On a full disk the work goes on: a deletion makes space.
            with suppress(OSError):
                journal.write_text("\n".join(sorted(names)))
            yield
        finally:
            self._delete_unused(names)
            journal.unlink(missing_ok=True)

    def names_in(self, path: Path) -> set[str]:
        """Return the hash names of the descriptions that a snapshot names; empty if the file is not a snapshot."""
        try:
            return named_descriptions(read_bounded(path, self.max_bytes, follow_links=self.follow_links)) or set()
        except OSError:
            return set()

    def content(self, name: str) -> bytes | None:
        """Return the content of a description; None if it is not a regular file.

        Raises:
            OSError: it is a symbolic link.
        """
        path = self.folder / name
        try:
            return read_bounded(path, self.max_bytes, follow_links=False)
        except OSError:
            if path.is_symlink():
                raise
            return None

    def _delete_unused(self, names: Iterable[str]) -> None:
        """Delete the given descriptions that no snapshot in or below the folder names; in doubt, delete nothing."""
        unused = set(filter(is_hash_name, names))
        for path in self.folder.rglob(f"*{SUFFIX}") if unused else ():
            if path.is_file():
                try:
                    named = named_descriptions(read_bounded(path, self.max_bytes))
                except FileNotFoundError:
                    continue  # deleted since the folder was read
                except OSError:
                    named = None
                if named is None:
                    return
                unused -= named
        for name in unused:
            (self.folder / name).unlink(missing_ok=True)
