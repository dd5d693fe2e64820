# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DECLARED = re.compile(r"""(\A\s*<\?xml[^>]*?encoding\s*=\s*["'])[A-Za-z0-9._-]+(["'])""")


def declared_utf8(text: str) -> str:
    """Return an XML text whose declaration, where it states an encoding, states UTF-8: what it is printed in."""
    return _DECLARED.sub(r"\1UTF-8\2", text, count=1)


def resolved(path: str | Path) -> Path:
    """Return an absolute path without symbolic links.

    Raises:
        OSError: the links go round in a circle.
    """
    try:
        return Path(path).resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def save_text(text: str, path: str | Path) -> None:
    """Write `text` to a file as UTF-8; otherwise as `save_bytes`.

    Raises:
        OSError: the file cannot be written; what was there before is untouched.
    """
    save_bytes(text.encode(), path)


def save_bytes(data: bytes, path: str | Path) -> None:
    """Put `data` in the place of a file, atomically: a reader sees the old file or the whole new one.

    The file keeps its permissions. What is there and is no regular file, ``/dev/null`` or a pipe, is written to, never
    replaced.

    Raises:
        OSError: the file cannot be written; what was there before is untouched.
    """
    # A symbolic link stays one: the file that it names is replaced.
    target = resolved(path)
    if target.exists() and not target.is_file():
        with target.open("wb") as device:
            device.write(data)
        return
    try:
        with temporary_beside(target) as temporary:
            with suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
    except OSError as error:
        # Nobody knows the temporary name, and a full disk names nothing.
        raise OSError(error.errno, error.strerror, str(path)) from None
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        # The name is on the disk only when the folder is.
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def temporary_beside(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """Give an empty file, or a folder, beside `target` under a temporary name; what is not renamed by then is removed.

    What a killed process left of this kind in the same folder is removed first: nobody holds its lock any more.

    Raises:
        OSError: it cannot be made.
    """
    _sweep(target.parent)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    if folder:
        temporary.mkdir()
    else:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    lock = os.open(temporary, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield temporary
    finally:
        _remove(temporary)
        os.close(lock)


def _sweep(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes left, once a process and folder."""
    if folder in _swept:
        return
    _swept.add(folder)
    now = time.time()
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            # One that is a moment old may be about to be locked.
            if _TEMPORARY.fullmatch(entry.name) and now - entry.stat(follow_symlinks=False).st_mtime > _MOMENT_S:
                _remove_if_unlocked(Path(entry.path))


def _remove_if_unlocked(path: Path) -> None:
    with suppress(OSError):
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        finally:
            os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")
_MOMENT_S = 1.0
_swept: set[Path] = set()
