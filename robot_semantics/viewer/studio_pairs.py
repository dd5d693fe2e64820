# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collision pairs in the studio: generated, sorted by risk, shown, and decided by the user."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from nicegui import events, run, ui

from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.names import LinkPair
from robot_semantics.model.queries import pair_status
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.viewer.element import Choice, PairMatrix, PairTable, with_attributes
from robot_semantics.viewer.studio_widgets import Panel, button, field, heading, small, toggle
from robot_semantics.viewer.witnesses import status_word

if TYPE_CHECKING:
    from robot_semantics.collision.matrix import CollisionMatrix


# All pairs of links as one picture: a cell for each pair, coloured by the reason why it is not checked.


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
    share: float
    risky: bool


def matrix_data(
    rows: Iterable[ShownPair], links: Sequence[str], chosen: str, witnessed: Collection[str] = ()
) -> JsonObject:
    """Return the lower half of the matrix as the page draws it.

    Args:
        rows: the pairs, each with ``id``, ``link1``, ``link2``, ``state``, ``evidence`` and ``risky``.
        links: all links in the order of the matrix; links without a pair are left out.
        chosen: the ``id`` of the marked pair, or nothing.
        witnessed: the ``id`` of each pair whose collision can be shown.

    Returns:
        ``names`` of the links, ``cells`` (id, column, line, colour, frame or None, text of its tooltip, witnessed) and
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
        colour = COLOURS.get(row["state"], COLOURS["User"])
        cells.append([row["id"], column, line, colour, frame, told, row["id"] in witnessed])
    states = {row["state"] if row["state"] in COLOURS else "User" for row in pairs}
    legend: list[Json] = [[name, colour] for name, colour in COLOURS.items() if name in states]
    return {"names": names, "cells": cells, "legend": legend, "risk": RISK}


RED = [0.83, 0.2, 0.25]
COLUMNS = {"link1": "link", "link2": "link", "state": "state", "evidence": "evidence"}
"""Title of each column by its name."""
COLUMN = {"align": "left", "sortable": True}
WIDEST = 900
"""Width of the panel that no name of a link exceeds [pixels]."""
BETWEEN = "\n"
"""Between the two names of a pair's id: a name may have spaces."""


class PairsTab:
    """Shows all known pairs of links, and changes their entries in the SRDF."""

    def __init__(self, studio: Panel) -> None:
        """Begin without evidence."""
        self._studio = studio
        self._matrix: CollisionMatrix | None = None
        self._seen = -1
        self._view = "table"
        self._clicked = ""
        self._needed = 0

    def build(self) -> None:
        """Build the permanent forms and the table."""
        with ui.row(wrap=False).style("width: 100%; align-items: end; gap: 8px"):
            samples = with_attributes(
                ui.number("samples", value=10_000, min=100, step=1000, format="%d"), **{"for": "samples"}
            )
            samples.props("dense").style("width: 90px")
            self._button = button("generate", lambda: self._generate(int(samples.value or 10_000)), "generate")
            self._stop = button("stop", self._studio.collisions.stop, "stop-generate", outline=True)
            with ui.column().style("flex: 1; gap: 2px; min-width: 0") as self._bar:
                self._share = with_attributes(ui.linear_progress(0.0, show_value=False), aria_label="samples done")
                self._time_left = small("").props("data-left")
        self._default = Choice("default pose (default positions if empty)", (), name="default-pose", noun="pose")
        ui.timer(0.25, self._follow)
        self._write_button = button("write generated pairs", self._write, "write-pairs", outline=True)
        self._failures = ui.column().style("gap: 2px; width: 100%")
        self._heading = heading("")
        toggle(["table", "matrix"], self._view, self._see, "data-pair-view")
        reason = field("reason", "pair-reason", "User")
        with ui.row().style("gap: 6px"):
            button("do not check", lambda: self._decide(True, reason.value or "User"), "disable", outline=True)
            button("check", lambda: self._decide(False, reason.value or "User"), "enable", outline=True)
        self._find = field("find", "find-pair", "", self._search)
        self._find.props("clearable")
        columns = [{"name": name, "label": title, "field": name, **COLUMN} for name, title in COLUMNS.items()]
        self._table = PairTable(rows=[], columns=columns, row_key="id").classes("pairs")
        self._table.props("dense flat hide-bottom data-pairs").style("width: 100%; flex: 1; min-height: 200px")
        self._table.on("pair", self._show_pair)
        self._table.on("needs", self._need)
        with ui.column().style("width: 100%; gap: 4px") as self._matrix_view:
            self._about = small("").props("data-clicked")
            self._cells = PairMatrix(matrix_data((), (), ""))
            self._cells.props("data-matrix").style("width: 100%; flex: none")
            self._cells.on("pair", self._show_pair)
        self.renew()

    def renew(self) -> None:
        """Show the current session and evidence; typed texts and chosen pairs stay."""
        self._poses = default_poses(self._studio.session.robot)
        self._default.offer(list(self._poses))
        self._matrix = self._studio.collisions.matrix
        rows, table = self.rows(), self._view == "table"
        self._heading.set_text(f"{len(rows)} pairs, {sum(row['off'] for row in rows)} not checked")
        self._write_button.set_visibility(self._matrix is not None)
        for shown in (self._find, self._table):
            shown.set_visibility(table)
        self._matrix_view.set_visibility(not table)
        if table:
            known = {row["id"] for row in rows}
            self._table.selected = [row for row in self._table.selected if row["id"] in known]
            self._table.rows = [dict(row) for row in rows]
            self._table.props["visible-columns"] = [name for name in COLUMNS if self._matrix or name != "evidence"]
            return
        chosen = next((row for row in rows if row["id"] == self._clicked), None)
        self._about.set_text(
            "Click a cell: both links are marked."
            if chosen is None
            else f"{chosen['link1']} – {chosen['link2']}: {chosen['state']} {chosen['evidence']}".strip()
        )
        self._cells.draw(matrix_data(rows, self._studio.session.robot.link_names, self._clicked, self._witnessed()))

    def width(self) -> int:
        """Return the width of the panel in which no name is cut [pixels], at most `WIDEST`; 0 while it is not known."""
        return min(self._needed, WIDEST)

    def _need(self, event: events.GenericEventArguments) -> None:
        self._needed = int(event.args)
        if self._studio.is_open("collisions"):
            self._studio.viewer.widen_panel(self.width())

    def picked(self, link: str, joint: str) -> None:
        """Show the pairs of the link that was clicked."""
        del joint
        self._find.set_value(link)

    def _search(self, text: str) -> None:
        self._table.set_filter(text)

    def _see(self, view: str) -> None:
        self._view = view
        self.renew()

    # --- evidence

    def _follow(self) -> None:
        """Show the run of the session, which any page may have begun or stopped."""
        work = self._studio.collisions
        for shown in (self._bar, self._stop):
            shown.set_visibility(work.is_running)
        self._button.set_visibility(not work.is_running)
        if work.is_running:
            self._share.set_value(work.done / work.total if work.total else 0.0)
            left = work.seconds_left
            self._time_left.set_text("sampling …" if left is None else f"{max(1, round(left))} s left")
        if work.version == self._seen:
            return
        self._seen = work.version
        self._failures.clear()
        with self._failures:
            for line in work.problem.splitlines()[:8]:
                small(line).props("data-failed").classes("failed")
        if not work.is_running and work.matrix is not self._matrix:
            self.renew()

    async def _generate(self, samples: int) -> None:
        states = self._poses.get(str(self._default.value), ())
        await run.io_bound(self._studio.collisions.generate, samples, states)

    def _write(self) -> None:
        from robot_semantics.collision.merging import merge_matrix

        matrix = self._matrix
        if matrix is not None:
            disabled = {pair: reason.value for pair, reason in matrix.disabled().items()}
            self._studio.do("generated collision pairs", lambda text: merge_matrix(text, disabled).text)

    def rows(self) -> list[ShownPair]:
        """Return one row for each pair, the highest risk first; pairs without evidence come last."""
        robot, matrix = self._studio.session.robot, self._matrix
        evidence_of: dict[LinkPair, tuple[str, float, bool]] = {}
        if matrix is not None:
            from robot_semantics.collision.audit import pair_table
            from robot_semantics.collision.report import evidence_words

            for row in pair_table(robot, matrix):
                words, risky = evidence_words(matrix, row.evidence), row.risk.seen
                hits, count = row.evidence.hits, row.evidence.samples
                share = -1.0 if hits is None else hits / max(count, 1)
                evidence_of[row.status.pair] = (f"⚠ {words}" if risky else words, share, risky)
        stated = {*robot.semantics.disabled_collisions, *robot.semantics.enabled_collisions}
        evidence_of.update(dict.fromkeys(sorted(stated - evidence_of.keys()), ("", -2.0, False)))
        rows: list[ShownPair] = []
        for pair, (evidence, share, risky) in evidence_of.items():
            status = pair_status(robot, *pair)
            rows.append(
                {
                    "id": BETWEEN.join(pair),
                    "link1": pair.first,
                    "link2": pair.second,
                    "state": status_word(status),
                    "off": not status.checked,
                    "evidence": evidence,
                    "share": share,
                    "risky": risky,
                }
            )
        return rows

    def _witnessed(self) -> set[str]:
        """Return the ids of the pairs whose collision can be shown."""
        pairs = {} if self._matrix is None else self._matrix.pairs
        return {BETWEEN.join(pair) for pair, evidence in pairs.items() if evidence.deepest or evidence.first}

    # --- decisions

    def _decide(self, off: bool, reason: str) -> None:
        chosen = [self._clicked] * bool(self._clicked)
        if self._view == "table":
            chosen = [str(row["id"]) for row in self._table.selected]
        pairs = [LinkPair.of(*name.split(BETWEEN)) for name in chosen]
        if not pairs:
            ui.notify("Choose pairs by their boxes, or click a cell.", type="warning")
            return
        self.decide(pairs, off, reason)

    def decide(self, pairs: Sequence[LinkPair], off: bool, reason: str) -> None:
        """Disable pairs (`off`) with a reason, or enable them, also against the rules for their links."""
        title = f"{'do not check' if off else 'check'} {len(pairs)} pairs" if len(pairs) > 1 else " – ".join(pairs[0])
        if off:
            self._studio.do(title, lambda text: text.disable_collisions(dict.fromkeys(pairs, reason)))
            return
        stated = {item.pair for item in self._studio.session.text.semantic.disabled_collisions}
        by_default = {item.name for item in self._studio.session.text.semantic.default_disabled_links}
        enabled = dict.fromkeys(pair for pair in pairs if not by_default.isdisjoint(pair))
        self._studio.do(
            title, lambda text: text.remove_pairs("disable_collisions", stated & {*pairs}).enable_collisions(enabled)
        )

    def _show_pair(self, event: events.GenericEventArguments) -> None:
        """Mark both links of the clicked pair, and show their collision if one was found."""
        self._clicked = str(event.args)
        first, second = self._clicked.split(BETWEEN)
        evidence = None if self._matrix is None else self._matrix.pairs.get(LinkPair.of(first, second))
        witness = None if evidence is None else evidence.deepest or evidence.first
        if witness is not None:
            self._studio.pose(np.array(self._studio.kinematics.space.with_mimics(witness.q)))
        # In the matrix the camera follows, and the other links are a ghost.
        is_played = witness is not None and self._view == "matrix"
        self._studio.viewer.call("mark", {self._studio.actor: {first: RED, second: RED}})
        self._studio.viewer.call("playPair", self._studio.actor, [first, second] if is_played else [])
        if self._view == "matrix":
            self.renew()


def default_poses(robot: RobotModel) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the poses that may be the default pose: a name that several groups have in all of them, and each state."""
    states = tuple(robot.semantics.states)
    by_name: dict[str, list[tuple[str, str]]] = {}
    for group, name in states:
        by_name.setdefault(name, []).append((group, name))
    shared = {f"{name} of all groups": tuple(of) for name, of in by_name.items() if len(of) > 1}
    return {**shared, **{f"{group}/{name}": ((group, name),) for group, name in states}}
