"""The programs in examples/ run and say what they should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SAYS = {
    "where_is_the_tool.py": "the tool reaches from",
    "what_is_a_group.py": "the arm is stowed\nunknown group 'amr'; did you mean 'arm'?\n",
    "save_a_world.py": "the same again: True\n",
    "take_a_picture.py": "a picture of 320 x 240\n",
}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: str(path.name))
def test_examples_run(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert SAYS[path.name] in done.stdout
