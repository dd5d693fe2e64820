# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Snapshots as files: one folder of USDF files, written whole or not at all, and nothing outside it is touched."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import declared_utf8, save_bytes
from robot_semantics.usdf.descriptions import with_relative_paths
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world

SUFFIX = ".usdf"
LAST = "last"
"""The name that stands for the newest snapshot."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")
_AUTOSAVE = "auto-"
_DIGITS = 16
_TEXT = re.compile(rb'"([0-9a-f]{%d}\.[us]rdf)"' % _DIGITS)


class SnapshotError(RobotSemanticsError):
    """A snapshot cannot be saved, read or deleted; the message says why."""


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """One saved snapshot.

    Attributes:
        name: its name.
        comment: what was said about it when it was saved; of a file that cannot be read, why.
        time_ns: when its state was true, None where the file does not say.
        saved_ns: when the file was written.

    """

    name: str
    comment: str
    time_ns: int | None
    saved_ns: int


class Texts(NamedTuple):
    """A robot's URDF and its SRDF, empty where it has none."""

    urdf: str
    srdf: str


class SnapshotStore:
    """Saves, reads, lists and deletes snapshots by name.

    The robots' descriptions stand beside the snapshots that name them, each text once, in files that are named by its
    digest; with the last snapshot that names one it is deleted.

    A name is a file in the folder: letters, digits and ``_ . + -``. Paths are refused, as are symbolic links, unless
    `allow_paths`.
    """

    def __init__(self, folder: Path, *, allow_paths: bool = False, max_bytes: int = 64_000_000) -> None:
        self.folder = folder
        self.allow_paths = allow_paths
        self.max_bytes = max_bytes
        # Who saves a text and who deletes it because nobody needs it must not do so at once.
        self._lock = threading.Lock()

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
            SnapshotError: a name that is refused or taken, a state too large, or a file that cannot be written; what
                was there before is untouched.
        """
        if name == LAST:
            raise SnapshotError(f"'{LAST}' stands for the newest snapshot and cannot be saved under")
        with _reported(), self._lock:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.path(name)
            if os.path.lexists(path) and not overwrite:
                raise SnapshotError(f"there is a snapshot '{name}' already")
            if path.is_symlink():
                raise SnapshotError(f"'{name}' is a symbolic link; it is not replaced")
            if os.path.lexists(path) and not path.is_file():
                raise SnapshotError(f"'{name}' is no file; it is not replaced")
            described, files = described_beside(with_relative_paths(state, path.parent), texts)
            text = write_world(with_comment(described, comment)).encode()
            if len(text) > self.max_bytes:
                raise SnapshotError(f"the state takes {len(text)} bytes, more than the {self.max_bytes} allowed")
            before = self._texts_named_in(path)
            for file, content in files.items():
                if not (path.parent / file).is_file():
                    save_bytes(content, path.parent / file)
            save_bytes(text, path)
            self._forget_texts(path.parent, before - set(files))
        return path

    def load(self, name: str, diagnostics: Diagnostics | None = None) -> tuple[WorldState, Path]:
        """Return a saved state, `LAST` for the newest, and its file; warnings are added to `diagnostics`, where given.

        Raises:
            SnapshotError: a name that is refused, a file too large, a symbolic link.
            UnknownNameError: there is no such snapshot.
            DescriptionError: the file is no sound USDF.
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
        """Return the state that a text says; warnings are added to `diagnostics`, where given.

        Raises:
            SnapshotError: the text is too large.
            DescriptionError: it is no sound USDF.
        """
        if len(text) > self.max_bytes:
            raise SnapshotError(f"{source} is longer than the {self.max_bytes} bytes allowed")
        return parse_world(text, source, diagnostics)

    def delete(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotError: a name that is refused, or of something that is no file.
            UnknownNameError: there is no such snapshot.
            DescriptionError: a path leads to what is no USDF.
        """
        path = self.path(name)
        if path.parent != self.folder:
            # What only a path leads to must be a snapshot by what is in it.
            self.load(name)
        with self._reported_as_unknown(name), self._lock:
            texts = self._texts_named_in(path)
            path.unlink()
            self._forget_texts(path.parent, texts)

    def _forget_texts(self, folder: Path, names: set[str]) -> None:
        """Delete those of some descriptions that no snapshot in a folder names."""
        for path in folder.glob(f"*{SUFFIX}") if names else ():
            names = names - self._texts_named_in(path)
        for name in names:
            (folder / name).unlink(missing_ok=True)

    def saved_names(self) -> list[str]:
        """Return the names of the snapshots in the folder, oldest first."""
        return [name for _, name in self._by_age()]

    def infos(self) -> list[SnapshotInfo]:
        """Return the snapshots in the folder, oldest first."""
        found = []
        for saved_ns, name in self._by_age():
            try:
                state, _ = self.load(name)
                found.append(SnapshotInfo(name, comment_of(state), state.time_ns, saved_ns))
            except RobotSemanticsError as error:
                found.append(SnapshotInfo(name, f"cannot be read: {str(error).splitlines()[0]}", None, saved_ns))
        return found

    def _texts_named_in(self, path: Path) -> set[str]:
        """Return the names of those descriptions in a file that stand beside it and are named by their digest."""
        try:
            return {name.decode() for name in _TEXT.findall(self._read(path))}
        except (OSError, SnapshotError):
            # Nobody can restore what is no snapshot: a pipe, a link, a folder.
            return set()

    def autosave(self, state: WorldState, keep: int, *, texts: Mapping[str, Texts] = MappingProxyType({})) -> None:
        """Save a state under the next automatic name, and delete the oldest automatic ones beyond `keep`."""
        names = [name for name in self.saved_names() if re.fullmatch(rf"{_AUTOSAVE}\d{{6,}}", name)]
        number = max((int(name.removeprefix(_AUTOSAVE)) for name in names), default=0) + 1
        self.save(f"{_AUTOSAVE}{number:06}", state, "saved automatically", texts=texts)
        for name in sorted(names, key=lambda name: int(name.removeprefix(_AUTOSAVE)))[: max(0, len(names) + 1 - keep)]:
            self.delete(name)

    def path(self, name: str) -> Path:
        """Return the file of a snapshot.

        Raises:
            SnapshotError: the name is refused.
        """
        bare = name.removesuffix(SUFFIX)
        if _NAME.fullmatch(bare):
            return self.folder / f"{bare}{SUFFIX}"
        if not name or "\0" in name or not self.allow_paths:
            raise SnapshotError(
                f"'{name}' is no name of a snapshot: letters, digits and _ . + - only"
                + ("" if self.allow_paths else " (paths need the parameter allow_paths)")
            )
        with _reported():
            return self.folder / Path(name).expanduser()

    @contextmanager
    def _reported_as_unknown(self, name: str) -> Iterator[None]:
        with _reported():
            try:
                yield
            except FileNotFoundError:
                raise UnknownNameError("snapshot", name, self.saved_names()) from None

    def _read(self, path: Path) -> bytes:
        # A link could lead out of the folder; with paths allowed it may.
        flags = os.O_RDONLY | os.O_NONBLOCK | (0 if self.allow_paths else os.O_NOFOLLOW)
        if not self.allow_paths and path.is_symlink():
            raise SnapshotError(f"'{path.name}' is a symbolic link; it is not followed")
        descriptor = os.open(path, flags)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise SnapshotError(f"'{path.name}' is no file")
            if status.st_size > self.max_bytes:
                raise SnapshotError(f"'{path.name}' is longer than the {self.max_bytes} bytes allowed")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(self.max_bytes + 1)
        finally:
            os.close(descriptor)

    def _by_age(self) -> list[tuple[int, str]]:
        found = []
        with _reported():
            try:
                entries = list(os.scandir(self.folder))
            except FileNotFoundError:
                return []
        for entry in entries:
            name = entry.name.removesuffix(SUFFIX)
            if name != entry.name and _NAME.fullmatch(name) and entry.is_file(follow_symlinks=False):
                try:
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, name))
                except FileNotFoundError:
                    continue  # deleted while we looked
        return sorted(found)


def described_beside(state: WorldState, texts: Mapping[str, Texts]) -> tuple[WorldState, dict[str, bytes]]:
    """Return a state whose models name their descriptions' files, and what these files hold.

    A file is named by the digest of its text; models that name a description already keep it.
    """
    models = []
    files: dict[str, bytes] = {}
    for model in state.models:
        found = texts.get(model.name)
        if found is None or model.description is not None:
            models.append(model)
            continue
        names = []
        for text, suffix in ((found.urdf, ".urdf"), (found.srdf, ".srdf")):
            content = declared_utf8(text).encode()
            name = digest_name(text, suffix) if text.strip() else None
            names.append(name)
            if name is not None:
                files[name] = content
        models.append(replace(model, description=names[0], semantic=names[1]))
    return replace(state, models=tuple(models)), files


def digest_name(text: str, suffix: str) -> str:
    """Return the name of the file that a description stands in beside the states that name it."""
    return f"{hashlib.sha256(declared_utf8(text).encode()).hexdigest()[:_DIGITS]}{suffix}"


def with_comment(state: WorldState, comment: str) -> WorldState:
    """Return the state with a comment instead of the one it had; an empty one is none."""
    # XML 1.0 has no place for control characters.
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]", "�", comment)
    return replace(state, comment=text or None)


def comment_of(state: WorldState) -> str:
    """Return a state's comment, empty if it has none."""
    return state.comment or ""


@contextmanager
def _reported() -> Iterator[None]:
    """Turn errors of the file system into the package's own, with the file's name."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(f"{error.filename or 'the snapshot'}: {error.strerror or error}") from error
    except RuntimeError as error:
        # `expanduser`, of a user that the machine does not have.
        raise SnapshotError(str(error)) from error
