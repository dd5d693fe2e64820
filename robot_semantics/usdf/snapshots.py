# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Snapshots as files: a folder of USDF files and descriptions that several processes may share."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import file_name_fault, locked, make_folder, read_bounded, save_bytes
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.usdf.descriptions import with_relative_paths
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.saved_descriptions import (
    Texts,
    check_descriptions,
    copied_beside,
    described_beside,
    is_hash_name,
    named_descriptions,
)
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world

# Description files beside snapshots: shared by processes, and deleted with the last snapshot that names them.


SUFFIX = ".usdf"
_UNFINISHED = ".unfinished"
_LOCK_TIMEOUT_S = 30.0


@record(frozen=True, slots=True)
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
                journal.write_bytes("\n".join(sorted(names)).encode())
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


LAST = "last"
"""The name that stands for the newest snapshot."""
DEFAULT_FOLDER = "~/.ros/robot_semantics/snapshots"
"""Each node has a folder of its own below this one."""
_NAME = pattern(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")
_AUTOSAVE = "auto-"


class SnapshotError(RobotSemanticsError):
    """A snapshot cannot be saved, read or deleted; the message says why."""


@record(frozen=True, slots=True)
class SnapshotInfo:
    """One saved snapshot.

    Attributes:
        name: its name.
        comment: the comment that it was saved with; for a file that cannot be read, the reason.
        time_ns: the time of its state, None if the file states none.
        saved_ns: when the file was written.

    """

    name: str
    comment: str
    time_ns: int | None
    saved_ns: int


class SnapshotStore:
    """Saves, reads, lists and deletes snapshots by name.

    The descriptions of the robots are beside the snapshots, each text once, in files named by the hash of their
    content. A description is deleted with the last snapshot below the folder that names it. A lock lets several
    processes use one folder.

    A name is a file in the folder: letters, digits and ``_ . + -``. Paths and symbolic links are refused, unless
    `allow_paths`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        owner: str = "",
        allow_paths: bool = False,
        max_bytes: int = 64_000_000,
    ) -> None:
        """Set the limits of the store; the first `save` makes the folder.

        Args:
            folder: where snapshots are saved.
            owner: part of automatic names, so that stores on one folder keep and delete their own.
            allow_paths: whether names may be paths, and symbolic links are followed.
            max_bytes: size of the largest snapshot or description that is saved or read.
        """
        self.folder = folder
        self.owner = owner
        self.allow_paths = allow_paths
        self.max_bytes = max_bytes

    @classmethod
    def of_node(
        cls, node: str, directory: str = "", *, allow_paths: bool = False, max_bytes: int = 64_000_000
    ) -> SnapshotStore:
        """Return the store of a node.

        Args:
            node: the full name of the node, as ``/ns/robot_semantics``.
            directory: its parameter ``snapshots.directory``; empty means a folder of its own below `DEFAULT_FOLDER`.
            allow_paths: as for `SnapshotStore`.
            max_bytes: as for `SnapshotStore`.

        Raises:
            SnapshotError: the directory begins with the ``~`` of an unknown user.
        """
        owner = node.strip("/").replace("/", ".")
        with _reported():
            folder = Path(directory).expanduser() if directory else Path(DEFAULT_FOLDER).expanduser() / owner
        return cls(folder, owner=owner, allow_paths=allow_paths, max_bytes=max_bytes)

    def save(
        self,
        name: str,
        state: WorldState,
        comment: str = "",
        *,
        overwrite: bool = False,
        texts: Mapping[str, Texts] = MappingProxyType({}),
    ) -> Path:
        """Save a state, with the descriptions of some of its models by their names, and return its file.

        Raises:
            SnapshotError: the name is refused or taken, the state is too large, or the file cannot be written; existing
                files stay unchanged.
        """
        if name == LAST:
            raise SnapshotError(f"'{LAST}' means the newest snapshot: choose another name")
        path = self.path(name)
        if path.name.startswith(_AUTOSAVE):
            raise SnapshotError(f"'{_AUTOSAVE}' begins the names of automatic snapshots: choose another name")
        with self._locked(path):
            self._save(path, state, comment, overwrite=overwrite, texts=texts)
        return path

    @contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        """Make the folder, and lock the folder of `path` against other processes."""
        with _reported():
            make_folder(self.folder)
        with _reported(), self._files(path).locked():
            yield

    def _save(
        self, path: Path, state: WorldState, comment: str, *, overwrite: bool, texts: Mapping[str, Texts]
    ) -> None:
        if os.path.lexists(path) and not overwrite:
            raise SnapshotError(f"a snapshot '{path.stem}' exists already")
        if path.is_symlink():
            raise SnapshotError(f"'{path.stem}' is a symbolic link; it is not replaced")
        if os.path.lexists(path) and not path.is_file():
            raise SnapshotError(f"'{path.stem}' is not a file; it is not replaced")
        copied, copies = copied_beside(state, self.max_bytes)
        described, files = described_beside(with_relative_paths(copied, path.parent), texts)
        files.update(copies)
        text = write_world(with_comment(described, comment) if comment else described).encode()
        if len(text) > self.max_bytes:
            raise SnapshotError(f"the state takes {len(text)} bytes, more than the {self.max_bytes} allowed")
        there = self._files(path)
        missing = {file: content for file, content in files.items() if there.content(file) != content}
        dropped = there.names_in(path) - set(files)
        with there.clearing({*missing, *dropped}):
            for file, content in missing.items():
                save_bytes(content, path.parent / file)
            save_bytes(text, path)

    def load(self, name: str, diagnostics: Diagnostics | None = None) -> tuple[WorldState, Path]:
        """Return a saved state, `LAST` for the newest, and its file; add warnings to `diagnostics`, if given.

        Raises:
            SnapshotError: the name is refused, the file is too large, or it is a symbolic link.
            UnknownNameError: the snapshot does not exist.
            DescriptionError: the file is not valid USDF.
        """
        if name == LAST:
            saved = self.saved_names()
            if not saved:
                raise SnapshotError("nothing has been saved yet")
            name = saved[-1]
        path = self.path(name)
        with self._reported_as_unknown(name):
            text = self._read(path)
        return self.parse(text, str(path), diagnostics), path

    def parse(self, text: str | bytes, source: str, diagnostics: Diagnostics | None = None) -> WorldState:
        """Return the state of a text; add warnings to `diagnostics`, if given.

        Raises:
            SnapshotError: the text is too large.
            DescriptionError: it is not valid USDF.
        """
        if len(text) > self.max_bytes:
            raise SnapshotError(f"{source} is longer than the {self.max_bytes} bytes allowed")
        return parse_world(text, source, diagnostics)

    def check_descriptions(self, state: WorldState, path: Path) -> None:
        """Compare the descriptions beside the file `path` of a state with the hashes in their names.

        Raises:
            DamagedDescriptionError: one was changed after it was saved.
            SnapshotError: one cannot be read.
        """
        with _reported():
            check_descriptions(state, path, self.max_bytes)

    def delete(self, name: str) -> None:
        """Delete a snapshot, and the descriptions that no other snapshot names.

        Raises:
            SnapshotError: the name is refused, or it is not the name of a file.
            UnknownNameError: the snapshot does not exist.
            DescriptionError: a path leads to a file that is not USDF.
        """
        path = self.path(name)
        with self._reported_as_unknown(name):
            path.lstat()
        if path.parent != self.folder:
            # A path may lead anywhere: only a file that is USDF is deleted.
            self.load(name)
        with self._reported_as_unknown(name), self._files(path).locked():
            self._delete(path)

    def _delete(self, path: Path) -> None:
        files = self._files(path)
        with files.clearing(files.names_in(path)):
            path.unlink()

    def autosave(self, state: WorldState, keep: int, *, texts: Mapping[str, Texts] = MappingProxyType({})) -> None:
        """Save a state under the next automatic name, and delete the owner's oldest automatic ones beyond `keep`.

        On a full disk the owner's oldest automatic ones are deleted until there is room, but never the newest.

        Raises:
            SnapshotError: the state is too large, or the file cannot be written.
        """
        prefix = f"{_AUTOSAVE}{self.owner}-" if self.owner else _AUTOSAVE
        own = re.compile(rf"{re.escape(prefix)}(\d{{6,}})")
        # The number is chosen under the lock: a second process may have the same name.
        with self._locked(self.path(prefix)):
            numbers = sorted(int(match[1]) for match in map(own.fullmatch, self._names_of(self.folder)) if match)
            number = max(numbers, default=0) + 1
            path = self.path(f"{prefix}{number:06}")
            while True:
                try:
                    self._save(path, state, "saved automatically", overwrite=False, texts=texts)
                    break
                except OSError as error:
                    if error.errno not in (errno.ENOSPC, errno.EDQUOT) or len(numbers) < 2:
                        raise
                self._delete(self.path(f"{prefix}{numbers.pop(0):06}"))
        for old in numbers[: max(0, len(numbers) + 1 - keep)]:
            with suppress(UnknownNameError):  # another process saved this name first
                self.delete(f"{prefix}{old:06}")

    def saved_names(self) -> list[str]:
        """Return the names of the snapshots in the folder, oldest first."""
        return [name for _, name in self._by_age()]

    def infos(self) -> list[SnapshotInfo]:
        """Return the snapshots in the folder, oldest first."""
        infos = []
        for saved_ns, name in self._by_age():
            try:
                state, _ = self.load(name)
                infos.append(SnapshotInfo(name, comment_of(state), state.time_ns, saved_ns))
            except UnknownNameError:
                continue  # another process deleted it meanwhile
            except RobotSemanticsError as error:
                infos.append(SnapshotInfo(name, f"cannot be read: {str(error).splitlines()[0]}", None, saved_ns))
        return infos

    def path(self, name: str) -> Path:
        """Return the file under which a name is saved.

        Raises:
            SnapshotError: the name is refused.
        """
        bare = name.removesuffix(SUFFIX)
        if _NAME.fullmatch(bare):
            # Folders are shared, also with systems on which this would not be a file.
            fault = file_name_fault(f"{bare}{SUFFIX}")
            if fault is not None:
                raise SnapshotError(f"'{name}' is not a snapshot name: {fault}")
            return self.folder / f"{bare}{SUFFIX}"
        if not name or "\0" in name or not self.allow_paths:
            raise SnapshotError(
                f"'{name}' is not a snapshot name: use only letters, digits and _ . + -"
                + ("" if self.allow_paths else " (paths need the parameter allow_paths)")
            )
        with _reported():
            return self.folder / Path(name).expanduser()

    def name_by_time(self, state: WorldState) -> str:
        """Return a name made of the owner and the time of a state."""
        return "-".join(["snapshot", *([self.owner] if self.owner else []), seconds_text(state.time_ns or 0)])

    @contextmanager
    def _reported_as_unknown(self, name: str) -> Iterator[None]:
        with _reported():
            try:
                yield
            except FileNotFoundError:
                raise UnknownNameError("snapshot", name, self.saved_names()) from None

    def _files(self, path: Path) -> DescriptionFiles:
        """Return the description files beside a snapshot."""
        return DescriptionFiles(path.parent, self.max_bytes, follow_links=self.allow_paths)

    def _read(self, path: Path) -> bytes:
        return read_bounded(path, self.max_bytes, follow_links=self.allow_paths)

    def _names_of(self, folder: Path) -> dict[str, int]:
        """Return the snapshots in a folder, with the time of writing of each [ns]."""
        names = {}
        with _reported():
            try:
                entries = list(os.scandir(folder))
            except FileNotFoundError:
                return {}
        for entry in entries:
            name = entry.name.removesuffix(SUFFIX)
            if name != entry.name and _NAME.fullmatch(name) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):  # deleted since the folder was read
                    names[name] = entry.stat(follow_symlinks=False).st_mtime_ns
        return names

    def _by_age(self) -> list[tuple[int, str]]:
        return sorted((saved_ns, name) for name, saved_ns in self._names_of(self.folder).items())


def with_comment(state: WorldState, comment: str) -> WorldState:
    """Return the state with another comment; an empty comment removes it."""
    # XML 1.0 has no place for control characters.
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]", "�", comment)
    return replace(state, comment=text or None)


def comment_of(state: WorldState) -> str:
    """Return a state's comment, empty if it has none."""
    return state.comment or ""


@contextmanager
def _reported() -> Iterator[None]:
    """Convert errors of the file system to errors of this package, with the file's name."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(f"{error.filename or 'the snapshot'}: {error.strerror or error}") from error
    except RuntimeError as error:
        # `expanduser` raises it for an unknown user.
        raise SnapshotError(str(error)) from error
