"""Writing text files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def save_text(text: str, path: str | Path) -> None:
    """Write `text` to a file as UTF-8; the file appears whole or not at all, and keeps its permissions.

    What is there and is no regular file, ``/dev/null`` or a pipe, is written to, never replaced.

    Raises:
        OSError: the file cannot be written; what was there before is untouched.
    """
    # A symbolic link stays one: the file that it names is replaced.
    target = Path(path).resolve()
    data = text.encode()
    if target.exists() and not target.is_file():
        with target.open("wb") as device:
            device.write(data)
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
