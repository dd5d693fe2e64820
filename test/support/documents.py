"""The fenced blocks of README.md and doc/, and the files that they speak of."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from robot_semantics.examples import FOLDER

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "doc").glob("**/*.md")])
FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: in which line it starts, its language and its text."""

    line: int
    language: str
    text: str


def blocks(document: Path) -> list[Block]:
    text = document.read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, match.start()) + 1, match["language"], match["text"])
        for match in FENCE.finditer(text)
    ]


def name(document: Path) -> str:
    return str(document.relative_to(ROOT))


def put_examples(folder: Path) -> None:
    """Copy the example robots into a folder, also as what documents call "robot" and "world"."""
    for file in FOLDER.iterdir():
        if file.suffix in {".urdf", ".srdf", ".usdf"}:
            shutil.copy(file, folder)
            if file.stem == "rover_arm":
                shutil.copy(file, folder / f"{'world' if file.suffix == '.usdf' else 'robot'}{file.suffix}")
