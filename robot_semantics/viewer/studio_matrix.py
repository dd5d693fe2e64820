# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All pairs of links as one picture: a cell for each pair, coloured by why it is not checked."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

COLOURS = {
    "checked": "#e5e8ec",
    "enabled": "#7fc97f",
    "Adjacent": "#2180c7",
    "Never": "#9ad0f5",
    "Default": "#f9c21a",
    "Always": "#9a5b13",
    "User": "#8008f7",
}
"""By what is said of a pair; other reasons have that of User."""
RISK = "#c3282d"
WIDTH, NAMES, LETTER = 400, 130, 6.0
"""Of the picture and of its names at most; of a letter [pixels]."""


def matrix_svg(rows: Iterable[dict[str, Any]], links: Sequence[str], chosen: str) -> str:
    """Return the lower half of the matrix as SVG; each cell says in ``data-pair`` which pair it is.

    Args:
        rows: the pairs, each with ``id``, ``link1``, ``link2``, ``state``, ``evidence`` and ``risky``.
        links: all links in the order in which they are to stand; those without a pair are left out.
        chosen: the ``id`` of the pair that is marked, or nothing.
    """
    pairs = list(rows)
    used = {name for row in pairs for name in (row["link1"], row["link2"])}
    names = [name for name in links if name in used]
    at = {name: number for number, name in enumerate(names)}
    room = min(NAMES, LETTER * max((len(name) for name in names), default=0))
    cell = min(18.0, (WIDTH - room) / max(len(names), 1))
    parts = []
    for name, k in at.items():
        size = min(11.0, max(cell, 4.0))
        shown = name if LETTER * len(name) <= room else f"{name[: int(room / LETTER) - 1]}…"
        y = (k + 0.5) * cell
        parts.append(
            f'<text x="{room - 3:.1f}" y="{y:.1f}" font-size="{size:.1f}" text-anchor="end" dominant-baseline="central"'
            f' fill="currentColor">{html.escape(shown)}<title>{html.escape(name)}</title></text>'
        )
    for row in pairs:
        column, line = sorted((at[row["link1"]], at[row["link2"]]))
        colour = COLOURS.get(row["state"], COLOURS["User"])
        edge = "currentColor" if row["id"] == chosen else RISK if row["risky"] else "none"
        told = f"{row['link1']} – {row['link2']}: {row['state']} {row['evidence']}".strip()
        parts.append(
            f'<rect x="{room + column * cell + 0.5:.1f}" y="{line * cell + 0.5:.1f}" width="{cell - 1:.1f}" '
            f'height="{cell - 1:.1f}" fill="{colour}" stroke="{edge}" stroke-width="1.5" '
            f'data-pair="{html.escape(row["id"])}"><title>{html.escape(told)}</title></rect>'
        )
    width, height = room + len(names) * cell + 1, len(names) * cell + 1
    return f'<svg width="{width:.0f}" height="{height:.0f}">{"".join(parts)}</svg>'


def legend_html(states: Iterable[str]) -> str:
    """Return what the colours of these states mean, and the frame of risky pairs."""
    shown = dict.fromkeys(state if state in COLOURS else "User" for state in states)
    boxes = [(name, f"background:{COLOURS[name]}") for name in COLOURS if name in shown]
    boxes.append(("collides, not checked", f"border:2px solid {RISK}"))
    return "".join(
        f'<span style="white-space:nowrap;margin-right:10px"><i style="display:inline-block;width:11px;height:11px;'
        f'margin-right:4px;{style}"></i>{name}</span>'
        for name, style in boxes
    )
