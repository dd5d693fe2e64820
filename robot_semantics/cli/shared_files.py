"""Files that are installed beside the package, under ``share/robot_semantics``: schemas and conformance cases."""

from __future__ import annotations

from pathlib import Path

import robot_semantics
from robot_semantics.base.errors import RobotSemanticsError


def shared(name: str) -> Path:
    """Return the folder `name`: of the source tree where the package lies in one, else of the installation.

    Raises:
        RobotSemanticsError: it is not installed.
    """
    package = Path(robot_semantics.__file__).parent
    for above in package.parents:
        for folder in (above / name, above / "share" / "robot_semantics" / name):
            if folder.is_dir() and any(folder.glob("*.*")):
                return folder
    raise RobotSemanticsError(f"share/robot_semantics/{name} is not installed above {package}")
