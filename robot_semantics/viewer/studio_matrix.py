# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All pairs of links as one picture: a cell for each pair, coloured by the reason why it is not checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from robot_semantics.base.json_value import Json, JsonObject

COLOURS = {
    "checked": "#e5e8ec",
    "enabled": "#7fc97f",
    "Adjacent": "#2180c7",
    "Never": "#9ad0f5",
    "Default": "#f9c21a",
    "Always": "#9a5b13",
    "User": "#8008f7",
}
"""Colour of a cell by the state of its pair; other reasons have the colour of User."""
RISK = "#c3282d"
"""Frame of a pair that collides and is not checked."""


class ShownPair(TypedDict):
    """A pair of links in the table: ``off`` if it is not checked, ``risky`` if it collides and is not checked."""

    id: str
    link1: str
    link2: str
    state: str
    off: bool
    evidence: str
    risky: bool


def matrix_data(rows: Iterable[ShownPair], links: Sequence[str], chosen: str) -> JsonObject:
    """Return the lower half of the matrix as the page draws it.

    Args:
        rows: the pairs, each with ``id``, ``link1``, ``link2``, ``state``, ``evidence`` and ``risky``.
        links: all links in the order of the matrix; links without a pair are left out.
        chosen: the ``id`` of the marked pair, or nothing.

    Returns:
        ``names`` of the links, ``cells`` (id, column, line, colour, frame or None, text of its tooltip) and
        ``legend`` (word, colour).
    """
    pairs = list(rows)
    used = {name for row in pairs for name in (row["link1"], row["link2"])}
    names = [name for name in links if name in used]
    at = {name: number for number, name in enumerate(names)}
    cells: list[Json] = []
    for row in pairs:
        column, line = sorted((at[row["link1"]], at[row["link2"]]))
        frame = "currentColor" if row["id"] == chosen else RISK if row["risky"] else None
        told = f"{row['link1']} – {row['link2']}: {row['state']} {row['evidence']}".strip()
        cells.append([row["id"], column, line, COLOURS.get(row["state"], COLOURS["User"]), frame, told])
    states = {row["state"] if row["state"] in COLOURS else "User" for row in pairs}
    legend: list[Json] = [[name, colour] for name, colour in COLOURS.items() if name in states]
    return {"names": names, "cells": cells, "legend": legend, "risk": RISK}
