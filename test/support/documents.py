# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

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
