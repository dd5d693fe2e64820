"""Files that are whole or not there."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.description.text_files import save_bytes


def replace_file(path: str | Path, data: bytes) -> None:
    """Put `data` in the place of a file, as `robot_semantics.description.text_files.save_bytes` does.

    Raises:
        OSError: the file cannot be written; what was there before is untouched.
    """
    save_bytes(data, path)
