# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Draw doc/images/rooms.svg: the rooms of the package in layers, from the imports of its modules.

An arrow goes from a room to a room that it imports; arrows that follow from others are left out.

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
WIDTH, HEIGHT, ROOM_WIDTH, ROOM_HEIGHT = 180, 92, 136, 44


def imports() -> dict[str, set[str]]:
    """Return the imported rooms of each room."""
    rooms: dict[str, set[str]] = {path.parent.name: set() for path in PACKAGE.glob("*/__init__.py")}
    for room, others in rooms.items():
        for path in (PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{PACKAGE.name}."):
                    others.add(node.module.split(".")[1])
        others.intersection_update(rooms.keys() - {room})
    return rooms


def without_implied(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows of an acyclic graph that are not implied by longer paths."""

    @cache
    def below(room: str) -> frozenset[str]:
        return frozenset(graph[room]).union(*(below(other) for other in graph[room]))

    return {
        room: {other for other in others if not any(other in below(between) for between in others)}
        for room, others in graph.items()
    }


def floors(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the rooms by layers, lowest first; each is directly above the highest room that it imports."""

    @cache
    def height(room: str) -> int:
        return max((height(other) + 1 for other in graph[room]), default=0)

    return [
        sorted(room for room in graph if height(room) == floor) for floor in range(1 + max(height(r) for r in graph))
    ]


def picture() -> str:
    """Return the drawing."""
    graph = without_implied(imports())
    storeys = floors(graph)
    width, height = WIDTH * max(map(len, storeys)), HEIGHT * len(storeys)
    places = {
        room: ((width - WIDTH * len(storey)) / 2 + WIDTH * (number + 0.5), height - HEIGHT * (floor + 0.5))
        for floor, storey in enumerate(storeys)
        for number, room in enumerate(storey)
    }
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="17" text-anchor="middle">'
        ),
        "<title>The rooms of robot_semantics; an arrow goes to a room that is imported</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        (
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="#57606a"/></marker>'
        ),
    ]
    for room in sorted(graph):
        x, y = places[room]
        for other in sorted(graph[room]):
            to_x, to_y = places[other]
            start, end = y + ROOM_HEIGHT / 2, to_y - ROOM_HEIGHT / 2
            bend = (end - start) / 2
            path = f"M{x:g} {start:g}C{x:g} {start + bend:g} {to_x:g} {end - bend:g} {to_x:g} {end:g}"
            lines.append(f'<path d="{path}" fill="none" stroke="#57606a" marker-end="url(#tip)"/>')
    for room, (x, y) in sorted(places.items()):
        left, top = x - ROOM_WIDTH / 2, y - ROOM_HEIGHT / 2
        box = f'x="{left:g}" y="{top:g}" width="{ROOM_WIDTH}" height="{ROOM_HEIGHT}" rx="8"'
        lines.append(f'<rect {box} fill="#ddf4ff" stroke="#0969da"/><text x="{x:g}" y="{y + 6:g}">{room}</text>')
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
