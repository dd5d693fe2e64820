# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files: bounded reading, atomic writing, locks between processes, and formats by the endings of names."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PureWindowsPath
from typing import BinaryIO

from robot_semantics.base.deferred_interrupt import deferred_interrupt
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import STANDARD_INPUT as STANDARD_INPUT
from robot_semantics.base.pattern import pattern

NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
"""Flag to refuse a symbolic link; 0 on a system without it."""
# Without O_BINARY, Windows would change the bytes of a text.
_WAITING_FLAGS: int = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_READ_FLAGS: int = _WAITING_FLAGS | getattr(os, "O_NONBLOCK", 0)
READ_TIMEOUT_S = 60.0
"""Longest time to read a file that another file names [s]."""

_DECLARED = pattern(r"""(\A\s*<\?xml[^>]*?encoding\s*=\s*["'])[A-Za-z0-9._-]+(["'])""")


def declared_utf8(text: str) -> str:
    """Return an XML text whose declaration, if it states an encoding, states UTF-8: the text is printed as UTF-8."""
    return _DECLARED.sub(r"\1UTF-8\2", text, count=1)


def file_name_fault(name: str) -> str | None:
    """Return why Windows cannot have a file of this name; None if it can.

    Folders are shared between systems, so such a name is refused on every system.
    """
    forbidden = sorted({letter for letter in name if letter in _NOT_IN_NAMES or ord(letter) < 32})
    if forbidden:
        return f"Windows allows no {forbidden[0]!r} in a file name"
    if name.endswith((".", " ")):
        return "Windows drops a dot or a space at the end of a file name"
    if _DEVICE.fullmatch(name):
        return "Windows has a device of this name"
    return None


def check_file_name(path: Path) -> None:
    """Check that a new file, and the folders that are made for it, can have their names on every system.

    Raises:
        OSError: one cannot.
    """
    for part in (path, *path.parents):
        if part.exists() or not part.name:
            return
        fault = file_name_fault(part.name)
        if fault is not None:
            raise OSError(errno.EINVAL, f"{fault}: choose another name", str(path))


def lock_of(path: Path) -> Path:
    """Return the name of a lock file beside `path`. After a kill, the next save in the folder deletes this file."""
    return path.with_name(f".{path.name.lstrip('.')}.{0:08}{_LOCK}")


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it exists.

    Raises:
        OSError: it cannot be made, or Windows cannot hold its name.
    """
    check_file_name(folder)
    folder.mkdir(parents=True, exist_ok=True)


_NOT_IN_NAMES = '<>:"|?*\\'
_DEVICE = pattern(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE)


def resolved(path: str | Path) -> Path:
    """Return an absolute path without symbolic links.

    Raises:
        OSError: the links form a loop.
    """
    try:
        return Path(path).resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def relative_path(path: str | Path, folder: str | Path) -> str:
    """Return a path relative to a folder, with ``/``; an absolute path if they are on different drives.

    The folder is taken without symbolic links: the system follows a link before it goes up by ``..``.

    Raises:
        OSError: as `resolved`.
    """
    try:
        return Path(os.path.relpath(path, resolved(folder))).as_posix()
    except ValueError:
        return Path(path).absolute().as_posix()


def read_bounded(
    path: str | Path, max_bytes: int, *, follow_links: bool = True, timeout_s: float = READ_TIMEOUT_S
) -> bytes:
    """Return the content of a regular file whose name may come from a foreign document or request.

    A pipe, a device or a folder raises an error immediately. A file longer than `max_bytes` is not read.

    Raises:
        OSError: the file cannot be read, is not a regular file, has more than `max_bytes` bytes, is a symbolic link
                while `follow_links` is False, or takes longer than `timeout_s` [s].
    """
    descriptor = _open_regular(path, follow_links=follow_links)
    try:
        end = time.monotonic() + timeout_s
        size = os.fstat(descriptor).st_size
        parts: list[bytes] = []
        room = max_bytes + 1
        while size <= max_bytes and room and (part := _read_part(descriptor, min(room, max(size, _PART_BYTES)))) != b"":
            if time.monotonic() > end:
                raise OSError(errno.ETIMEDOUT, f"takes longer to read than {timeout_s:g} s", str(path))
            if part is None:
                time.sleep(_POLL_S)
                continue
            parts.append(part)
            room -= len(part)
        if size > max_bytes or not room:
            raise OSError(errno.EFBIG, f"is longer than the {max_bytes} bytes allowed", str(path))
        return b"".join(parts)
    finally:
        os.close(descriptor)


def read_named(path: str | Path, max_bytes: int) -> bytes:
    """Return the content of a file that the user names: a regular file, or a pipe or ``/dev/stdin``, read to its end.

    Raises:
        OSError: the file cannot be read, is a device, a folder or a socket, or has more than `max_bytes` bytes.
    """
    is_input = _kept is not None and str(path) == STANDARD_INPUT
    if is_input and sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed", str(path))
    about = os.fstat(0) if is_input else Path(path).stat()
    if stat.S_ISREG(about.st_mode) and not is_input:
        return read_bounded(path, max_bytes)
    is_input = is_input or _is_standard_input(about)
    if not (is_input or stat.S_ISFIFO(about.st_mode)):
        kind = "a folder" if stat.S_ISDIR(about.st_mode) else "a device or a socket"
        raise OSError(errno.EISDIR if kind == "a folder" else errno.EINVAL, f"is {kind}, not a file", str(path))
    if _kept is not None and str(path) in _kept:
        return _kept[str(path)]
    with os.fdopen(os.dup(0) if is_input else os.open(path, _WAITING_FLAGS), "rb") as pipe:
        content = pipe.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"is longer than the {max_bytes} bytes allowed", str(path))
    if _kept is not None:
        _kept[str(path)] = content
    return content


def _is_standard_input(about: os.stat_result) -> bool:
    try:
        return os.path.samestat(about, os.fstat(0))
    except OSError:  # standard input is closed
        return False


@contextmanager
def keep_pipes() -> Iterator[None]:
    """Let `read_named` return the same content again for a pipe, which can be read only once.

    Inside, ``-`` is the name of standard input.
    """
    global _kept
    before, _kept = _kept, {}
    try:
        yield
    finally:
        _kept = before


def open_bounded(path: str | Path, longest_part: int) -> BinaryIO:
    """Open a regular file that is read in parts; reading a part longer than `longest_part` bytes raises an error.

    A wrong length in a damaged file can then not fill the memory.

    Raises:
        OSError: the file cannot be read or is not a regular file; later: a part is too long.
    """
    return _BoundedReader(io.FileIO(_open_regular(path), "rb"), str(path), longest_part)


class _BoundedReader(io.BufferedReader):
    """A file that refuses reads longer than a limit."""

    def __init__(self, raw: io.FileIO, name: str, longest: int) -> None:
        super().__init__(raw)
        self._path, self._longest = name, longest

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next `size` bytes, or all that are left."""
        wanted = os.fstat(self.fileno()).st_size - self.tell() if size is None or size < 0 else size
        if wanted > self._longest:
            message = f"has a part of {wanted} bytes, more than the {self._longest} allowed"
            raise OSError(errno.EFBIG, message, self._path)
        return super().read(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line, cut at the limit."""
        wanted = self._longest if size is None or size < 0 else min(size, self._longest)
        return super().readline(wanted)


def _open_regular(path: str | Path, *, follow_links: bool = True) -> int:
    """Return a descriptor of a regular file; other kinds of file raise an error without waiting."""
    if not follow_links and Path(path).is_symlink():
        raise OSError(errno.ELOOP, "is a symbolic link; it is not followed", str(path))
    descriptor = os.open(path, _READ_FLAGS | (0 if follow_links else NO_LINK))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return descriptor


def _read_part(descriptor: int, size: int) -> bytes | None:
    """Return the next bytes: empty at the end, None if the file has none at the moment, such as a kernel log."""
    try:
        return os.read(descriptor, size)
    except BlockingIOError:
        return None


@contextmanager
def locked(folder: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock of a folder, shared by threads and processes; the kernel frees it when the process ends.

    Temporary files of killed processes are deleted first.

    Raises:
        OSError: the folder cannot be read, or another process holds the lock for longer than `timeout_s` [s].
    """
    from robot_semantics.base import system

    with ExitStack() as stack:
        try:
            stack.enter_context(system.held_lock(folder / _FOLDER_LOCK, timeout_s))
        except TimeoutError:
            message = f"another process has locked this folder for more than {timeout_s:g} s"
            raise OSError(errno.ETIMEDOUT, message, str(folder)) from None
        _sweep(folder, again=True)
        yield


def save_text(text: str, path: str | Path) -> None:
    """Write `text` to a file as UTF-8, atomically like `save_bytes`.

    Raises:
        OSError: the file cannot be written; the old file is unchanged.
    """
    save_bytes(text.encode(), path)


def save_bytes(data: bytes, path: str | Path, mode: int | None = None) -> None:
    """Replace a file by `data` atomically: a reader sees the old file or the whole new one.

    The file keeps its permissions, or gets those of `mode`. A target that is not a regular file, such as ``/dev/null``
    or a pipe, is written to and never replaced.

    Raises:
        OSError: the file cannot be written; the old file is unchanged.
    """
    save_all({Path(path): data}, mode)


def save_all(files: Mapping[Path, bytes], mode: int | None = None) -> None:
    """Save several files as `save_bytes`: none of them if one cannot be written.

    Signals wait while the files get their names. If the process is killed then, the next save in the folder gives the
    other files their names: a hidden list has them.

    Raises:
        OSError: a file cannot be written; the old files are unchanged.
    """
    from robot_semantics.base import system

    with ExitStack() as stack:
        written: list[tuple[Path, Path, Path]] = []
        for path, data in files.items():
            # A symbolic link stays one: the file that it names is replaced.
            target = resolved(path)
            if target.exists() and not target.is_file():
                with target.open("wb") as device:
                    device.write(data)
                continue
            with _named(path):
                temporary = stack.enter_context(temporary_beside(target))
                with suppress(FileNotFoundError):
                    temporary.chmod(stat.S_IMODE(target.stat().st_mode) if mode is None else mode)
                with temporary.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            written.append((path, temporary, target))
        stack.enter_context(deferred_interrupt())
        if len(written) > 1:
            stack.enter_context(_restored_after_error([target for _, _, target in written]))
        for parent, names in _by_folder(written).items():
            if len(names) > 1:
                stack.enter_context(_announced(parent, names))
        for path, temporary, target in written:
            with _named(path):
                system.replace_file(temporary, target)
    for parent in {target.parent for _, _, target in written}:
        # The new name is safe on the disk only after the folder is synced.
        system.sync_folder(parent)


@contextmanager
def _restored_after_error(targets: Sequence[Path]) -> Iterator[None]:
    """Write the old files again, and delete the new ones, if one of several files cannot be replaced."""
    old = {target: target.read_bytes() if target.exists() else None for target in targets}
    try:
        yield
    except OSError:
        for target, data in old.items():
            with suppress(OSError):
                if data is None:
                    target.unlink(missing_ok=True)
                elif target.read_bytes() != data:
                    save_bytes(data, target)
        raise


def _by_folder(written: Sequence[tuple[Path, Path, Path]]) -> dict[Path, dict[str, str]]:
    """Return the new names of temporary files by their names, for each folder."""
    folders: dict[Path, dict[str, str]] = {}
    for _, temporary, target in written:
        folders.setdefault(target.parent, {})[temporary.name] = target.name
    return folders


@contextmanager
def _announced(folder: Path, names: Mapping[str, str]) -> Iterator[None]:
    """Keep a list of new names of temporary files in a folder, which `_sweep` completes if this process is killed."""
    # Import here: few programs need it, and each import delays every start.
    import json

    from robot_semantics.base import system

    with temporary_beside(folder / "files") as temporary:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            json.dump(dict(names), file)
            file.flush()
            os.fsync(file.fileno())
        announced = temporary.with_suffix(_SET)
        system.replace_file(temporary, announced)
        try:
            yield
        finally:
            announced.unlink(missing_ok=True)


def _complete(announced: Path) -> None:
    """Give the files of a killed process the names in its list; a list of another user or with a path is ignored."""
    import json

    from robot_semantics.base import system

    with suppress(OSError):
        if system.user_id() not in (None, announced.lstat().st_uid):
            return
        with suppress(ValueError, AttributeError, TypeError):
            for old, new in json.loads(read_bounded(announced, _PART_BYTES, follow_links=False)).items():
                # A name with a drive or a backslash leaves the folder on Windows.
                is_inside = all(PureWindowsPath(name).name == name != ".." for name in (old, new))
                if is_inside and new and _TEMPORARY.fullmatch(old):
                    with suppress(FileNotFoundError):
                        system.replace_file(announced.parent / old, announced.parent / new)
        announced.unlink(missing_ok=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the file name to errors: the temporary name is unknown to the user, and a full disk gives no name."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def temporary_beside(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """Yield an empty file or folder beside `target` under a temporary name; delete it unless it was renamed.

    Temporary files of killed processes in the same folder are deleted first: their locks are free.

    Raises:
        OSError: it cannot be made.
    """
    from robot_semantics.base import system

    check_file_name(target)
    _sweep(target.parent)
    with ExitStack() as stack:
        while True:
            temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
            # Another process that sweeps may hold the lock for a moment: take another name.
            with suppress(TimeoutError):
                stack.enter_context(system.held_lock(temporary.with_suffix(_LOCK)))
                break
        stack.callback(_remove, temporary)
        if folder:
            temporary.mkdir()
        else:
            temporary.touch(exist_ok=False)
        yield temporary


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder that only this user can read; delete it at the end.

    Temporary folders of killed processes are deleted as in `temporary_beside`.

    Args:
        parent: the parent folder; by default the system's folder for temporary files.

    Raises:
        OSError: it cannot be made.
    """
    import tempfile

    where = Path(tempfile.gettempdir()) if parent is None else parent
    with temporary_beside(where / "robot_semantics", folder=True) as folder:
        folder.chmod(0o700)
        yield folder


def replace_folder(temporary: Path, target: Path) -> None:
    """Replace the folder `target` by the temporary folder, atomically if the file system can.

    Afterwards the old folder has the temporary name, or is deleted.

    Raises:
        OSError: it cannot be renamed.
    """
    # Import here: few commands write a folder.
    import shutil

    from robot_semantics.base import system

    if system.exchange_folders(temporary, target):
        return
    # `_sweep` does not delete this name: a killed process loses nothing.
    old = target.with_name(f".{target.name}.{os.urandom(4).hex()}.old")
    system.replace_file(target, old)
    system.replace_file(temporary, target)
    shutil.rmtree(old)


def _sweep(folder: Path, *, again: bool = False) -> None:
    """Complete what killed processes began, and delete their temporary files and folders.

    This is done once for each process and folder, and `again` on request.
    """
    from robot_semantics.base import system

    if folder in _swept and not again:
        return
    _swept.add(folder)
    with suppress(OSError):
        paths = [Path(entry.path) for entry in os.scandir(folder) if entry.name.startswith(".")]
        # A list, a temporary and their lock have one name with different endings. Lists first: they need the others.
        ours = [path for path in paths if path.suffix in _ENDINGS and _TEMPORARY.fullmatch(f"{path.stem}.tmp")]
        for path in sorted(ours, key=lambda path: path.suffix != _SET):
            try:
                with suppress(PermissionError), system.held_lock(path.with_suffix(_LOCK)):
                    if path.suffix == _SET:
                        _complete(path)
                    _remove(path.with_suffix(".tmp"))
            except TimeoutError:
                # Its process is at work. It may be sweeping: its list needs the other files.
                if path.suffix == _SET:
                    return


def _remove(path: Path) -> None:
    if path.is_dir():
        # Import here: few commands write a folder.
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


_SET, _LOCK = ".set", ".lck"
"""Endings of a list of files that get their names together, and of the lock of a temporary file or folder."""
_ENDINGS = (_SET, ".tmp", _LOCK)
_FOLDER_LOCK = ".robot_semantics.lock"
_TEMPORARY = pattern(r"\..+\.[0-9a-f]{8}\.tmp")
_POLL_S = 0.01
_PART_BYTES = 2**20
_swept: set[Path] = set()
_kept: dict[str, bytes] | None = None


class UnknownEndingError(RobotSemanticsError):
    """A file name has an ending of no known format.

    Attributes:
        path: the file.
        endings: the known endings.
    """

    def __init__(self, path: str | Path, endings: tuple[str, ...]) -> None:
        self.path = path
        self.endings = endings
        *others, last = endings
        words = f"{', '.join(others)} or {last}" if others else last
        ending = Path(path).suffix
        super().__init__(
            f"'{path}' has the ending '{ending}'; known is {words}"
            if ending
            else f"'{path}' has no ending; known is {words}"
        )


def format_of(path: str | Path, formats: Mapping[str, str], without: str | None = None) -> str:
    """Return the format for the ending of `path`; case does not matter.

    Args:
        path: the file's name.
        formats: format by ending, for example ``{".json": "json"}``; an ending may be double: ``.dmd.yaml``.
        without: the format of a name without an ending.

    Raises:
        UnknownEndingError: the ending is not in `formats`, or is missing and `without` is not given.
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    found = formats.get("".join(endings[-2:])) or formats.get("".join(endings[-1:]))
    if found is None and not endings:
        found = without
    if found is None:
        raise UnknownEndingError(path, tuple(formats))
    return found
