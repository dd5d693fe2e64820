"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

_DECLARED = re.compile(r"""(\A\s*<\?xml[^>]*?encoding\s*=\s*["'])[A-Za-z0-9._-]+(["'])""")


def declared_utf8(text: str) -> str:
    """Return an XML text whose declaration, where it states an encoding, states UTF-8: what it is printed in."""
    return _DECLARED.sub(r"\1UTF-8\2", text, count=1)


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
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as device:
            device.write(data)
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        # Nobody knows the temporary name.
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # A full disk does not say which file was being written.
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        # The name is on the disk only when the folder is.
        os.fsync(folder)
    finally:
        os.close(folder)
