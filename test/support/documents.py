# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The fenced blocks of README.md and doc/, and the files that they speak of."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from robot_semantics.examples import FOLDER

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "doc").glob("**/*.md")])
LINKED = [
    *DOCUMENTS,
    *(
        path
        for folder in ("spec", "conformance", "interop", "benchmark", "examples", "interfaces")
        for path in sorted((ROOT / folder).glob("**/*.md"))
    ),
]
"""Pages whose links and anchors a test follows."""
IN_ORDER = {
    "doc/getting_started.md": ("rclpy", "mujoco", "nicegui"),
    "doc/cheat_sheet.md": ("rosbags", "mujoco", "nicegui", "fcl", "matplotlib"),
    "doc/moveit.md": ("mujoco", "fcl"),
    "doc/bag_to_usdf.md": ("rosbags", "mujoco", "nicegui"),
}
"""Tutorials and how-tos whose blocks need each other, with the modules they need: test_pages_in_order.py runs them."""
FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its first line, its language, its text, and the output that the page shows for it."""

    line: int
    language: str
    text: str
    output: str


def blocks(document: Path) -> list[Block]:
    """Return the fenced blocks of a page; a `text` block directly below another block is the output of that block."""
    text = document.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    below = [
        after["text"] if after["language"] == "text" and not text[match.end() : after.start()].strip() else ""
        for match, after in itertools.pairwise(found)
    ]
    return [
        Block(text.count("\n", 0, match.start()) + 1, match["language"], match["text"], output)
        for match, output in zip(found, [*below, ""], strict=False)
    ]


def missing_lines(output: str, printed: str) -> list[str]:
    """Return the lines of a page's output that a command did not print; spaces at the end of a line do not count."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    return [
        line
        for line in output.splitlines()
        if line.strip(".…") and not any(" ".join(line.split()) in at for at in lines)
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


def anchors(document: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them: a repeated heading gets -1, -2, ..."""
    found: list[str] = []
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for heading in re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.append(anchor if anchor not in found else f"{anchor}-{found.count(anchor)}")
    return set(found)
