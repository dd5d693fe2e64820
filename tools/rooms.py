# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Draw doc/images/rooms.svg: the wings of the package with their rooms, and the imports between wings.

An arrow goes from a wing to a wing that it imports; arrows that follow from others are left out.

Run: python tools/rooms.py [--check]
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "robot_semantics"
PICTURE = ROOT / "doc" / "images" / "rooms.svg"
WIDTH, HEIGHT, ROOM_WIDTH, ROOM_HEIGHT, NAME_WIDTH = 140, 76, 120, 36, 130

WINGS: dict[str, tuple[str, ...]] = {
    "base": ("base", "transforms", "cdr", "examples"),
    "formats": ("xml", "urdf", "srdf"),
    "robot": ("model", "kinematics", "comparison", "collision", "bringup"),
    "world": ("usdf", "convert"),
    "live": ("live",),
    "recording": ("recording",),
    "simulation": ("simulation",),
    "screen": ("viewer", "lsp"),
    "ros": ("ros",),
    "cli": ("cli", "api"),
}
"""The rooms of each wing, the ground floor first: a wing imports only wings before it."""


def imports() -> dict[str, set[str]]:
    """Return the imported wings of each wing."""
    wing_of = {room: wing for wing, rooms in WINGS.items() for room in rooms}
    wings: dict[str, set[str]] = {wing: set() for wing in WINGS}
    for room, wing in wing_of.items():
        for path in (PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{PACKAGE.name}."):
                    wings[wing].add(wing_of[node.module.split(".")[1]])
        wings[wing].discard(wing)
    return wings


def without_implied(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows of an acyclic graph that are not implied by longer paths."""

    @cache
    def below(wing: str) -> frozenset[str]:
        return frozenset(graph[wing]).union(*(below(other) for other in graph[wing]))

    return {
        wing: {other for other in others if not any(other in below(between) for between in others)}
        for wing, others in graph.items()
    }


def picture() -> str:
    """Return the drawing: a row for each wing, and arrows on the left."""
    graph = without_implied(imports())
    lanes = 16 * max(1, sum(map(len, graph.values())))
    left = lanes + NAME_WIDTH
    width, height = left + WIDTH * max(map(len, WINGS.values())), HEIGHT * len(WINGS)
    middle = {wing: height - HEIGHT * (floor + 0.5) for floor, wing in enumerate(WINGS)}
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="17" text-anchor="middle">'
        ),
        "<title>The wings of robot_semantics and their rooms; an arrow goes to a wing that is imported</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        (
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="#57606a"/></marker>'
        ),
    ]
    arrows = sorted((list(WINGS).index(wing), list(WINGS).index(other)) for wing in graph for other in graph[wing])
    for lane, (start, end) in enumerate(sorted(arrows, key=lambda arrow: arrow[0] - arrow[1])):
        x, top, bottom = lanes - 16 * (lane + 0.5), middle[list(WINGS)[start]] + 6, middle[list(WINGS)[end]] - 6
        path = f"M{lanes:g} {top:g}H{x:g}V{bottom:g}H{lanes:g}"
        lines.append(f'<path d="{path}" fill="none" stroke="#57606a" marker-end="url(#tip)"/>')
    for wing, rooms in WINGS.items():
        y = middle[wing]
        lines.append(f'<text x="{lanes + NAME_WIDTH / 2:g}" y="{y + 6:g}" font-weight="bold">{wing}</text>')
        for number, room in enumerate(rooms):
            x = left + WIDTH * (number + 0.5)
            box = f'x="{x - ROOM_WIDTH / 2:g}" y="{y - ROOM_HEIGHT / 2:g}" width="{ROOM_WIDTH}" height="{ROOM_HEIGHT}"'
            lines.append(f'<rect {box} rx="8" fill="#ddf4ff" stroke="#0969da"/>')
            lines.append(f'<text x="{x:g}" y="{y + 6:g}">{room}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> int:
    """Write the picture, or with --check report if it is current."""
    drawn = picture()
    if "--check" in sys.argv[1:]:
        return 0 if PICTURE.exists() and PICTURE.read_text() == drawn else 1
    PICTURE.write_text(drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
