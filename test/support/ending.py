"""Work for worker processes that does not end well."""

from __future__ import annotations

import os
from pathlib import Path


def ends_once(folder: Path) -> str:
    """End the process without a word the first time, and do the work afterwards."""
    try:
        (folder / "was here").touch(exist_ok=False)
    except FileExistsError:
        return "done"
    os._exit(9)
