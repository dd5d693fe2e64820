"""Collision pairs in the studio: generated, sorted by risk, looked at, and decided by a person."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from nicegui import events, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LinkPair
from robot_semantics.viewer.studio_parts import Panel, heading

if TYPE_CHECKING:
    from robot_semantics.collision.matrix import CollisionMatrix

RED = [0.83, 0.2, 0.25]
COLUMNS = (
    ("link1", "link", "left"),
    ("link2", "link", "left"),
    ("state", "is", "left"),
    ("evidence", "evidence", "left"),
)
RISKY = 0.5
"""Risk from which on a pair is marked."""


class PairsTab:
    """Shows all pairs of links that are known, and changes what the SRDF says of them."""

    def __init__(self, studio: Panel) -> None:
        """Begin without evidence."""
        self._studio = studio
        self._matrix: CollisionMatrix | None = None
        self._done, self._total = 0, 0
        self._filter = ""
        self._table: ui.table | None = None

    def picked(self, link: str, joint: str) -> None:
        """Show the pairs of the link that was clicked."""
        del joint
        self._filter = link
        self.show.refresh()

    @ui.refreshable_method
    def show(self) -> None:
        """Build the tab."""
        with ui.row(wrap=False).style("width: 100%; align-items: end; gap: 8px"):
            samples = ui.number("samples", value=10_000, min=100, step=1000, format="%d").props("dense for=samples")
            samples.style("width: 90px")
            self._button = ui.button("generate", on_click=lambda: self._generate(int(samples.value or 10_000)))
            self._button.props('no-caps dense data-do="generate"').style("padding: 0 14px")
            self._bar = ui.linear_progress(0.0, show_value=False).style("flex: 1; margin-bottom: 10px")
            self._bar.set_visibility(False)
            ui.timer(0.1, self._progress)
        if self._matrix is not None:
            ui.button("write what was generated", on_click=self._write).props(
                'no-caps dense outline data-do="write-pairs"'
            ).style("padding: 0 14px")
        rows = self._rows()
        heading(f"{len(rows)} pairs, {sum(row['off'] for row in rows)} not checked")
        ui.input("find", value=self._filter, on_change=self._found).props("dense clearable for=find-pair").style(
            "width: 100%"
        )
        reason = ui.input("reason", value="User").props("dense for=pair-reason").style("width: 100%")
        with ui.row().style("gap: 6px"):
            for title, off in (("do not check", True), ("check", False)):
                ui.button(title, on_click=lambda off=off: self._decide(off, str(reason.value or "User"))).props(
                    f'no-caps dense outline data-do="{"disable" if off else "enable"}"'
                ).style("padding: 0 10px")
        columns = [
            {
                "name": name,
                "label": label,
                "field": name,
                "align": align,
                "sortable": True,
                "style": "white-space: normal",
            }
            for name, label, align in COLUMNS
        ]
        table = ui.table(rows=rows, columns=columns, row_key="id", selection="multiple")
        table.props("dense flat virtual-scroll wrap-cells :rows-per-page-options=[0] hide-bottom data-pairs")
        table.style("width: 100%; max-height: 52vh; font-size: 12px")
        table.bind_filter_from(self, "_filter")
        table.on("rowClick", self._look, js_handler="(event, row) => emit(row.id)")
        self._table = table

    def _progress(self) -> None:
        self._bar.set_value(self._done / self._total if self._total else 0.0)

    def _found(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        self._filter = event.value or ""

    # --- evidence

    async def _generate(self, samples: int) -> None:
        self._button.disable()
        self._bar.set_visibility(True)
        try:
            self._matrix = await run.io_bound(self._sampled, samples)
            self.show.refresh()
        except RobotSemanticsError as error:
            ui.notify(str(error), type="negative")
            self._button.enable()
            self._bar.set_visibility(False)
        finally:
            self._done = self._total = 0

    def _sampled(self, samples: int) -> CollisionMatrix:
        from robot_semantics.collision.matrix import NO_PAIRS, Settings, generate_matrix

        settings = Settings(samples=samples, jobs=os.cpu_count() or 1)
        self._total = settings.total

        def advance(count: int) -> None:
            self._done += count

        matrix = generate_matrix(self._studio.session.robot, self._studio.pieces(), settings, progress=advance)
        if not matrix.pairs:
            raise RobotSemanticsError(NO_PAIRS)
        return matrix

    def _write(self) -> None:
        from robot_semantics.collision.merging import merge

        matrix = self._matrix
        if matrix is not None:
            disabled = {pair: reason.value for pair, reason in matrix.disabled().items()}
            self._studio.do("generated collision pairs", lambda text: merge(text, disabled).text)

    def _rows(self) -> list[dict[str, Any]]:
        """Return one row for each pair, the riskiest first: not checked although it collides, or nearly never."""
        semantic = self._studio.session.text.semantic
        off = {LinkPair.of(item.link1, item.link2): item.reason or "" for item in semantic.disabled_collisions}
        on = {LinkPair.of(item.link1, item.link2) for item in semantic.enabled_collisions}
        known = dict.fromkeys((*off, *sorted(on)))
        if self._matrix is not None:
            known |= dict.fromkeys(self._matrix.pairs)
        rows = [
            {
                "id": " ".join(pair),
                "link1": pair.first,
                "link2": pair.second,
                "state": off.get(pair, "enabled" if pair in on else "checked"),
                "off": pair in off,
                **self._evidence(pair, pair in off),
            }
            for pair in known
        ]
        rows.sort(key=lambda row: (-row["risk"], row["id"]))
        return rows

    def _evidence(self, pair: LinkPair, off: bool) -> dict[str, Any]:
        from robot_semantics.collision.report import evidence_words

        evidence = None if self._matrix is None else self._matrix.pairs.get(pair)
        if self._matrix is None or evidence is None:
            return {"evidence": "", "risk": 0.0}
        words = evidence_words(self._matrix, evidence)
        share = (evidence.hits or 0) / evidence.samples if evidence.samples else 0.0
        always = share >= self._matrix.always_fraction
        # A pair that nobody checks and that can collide is a danger; one that hardly ever does, a question.
        risk = 1.0 - share if off and share > 0.0 and not always else RISKY / 2 if pair in self._matrix.rare() else 0.0
        return {"evidence": f"⚠ {words}" if risk >= RISKY else words, "risk": risk}

    # --- decisions

    def _decide(self, off: bool, reason: str) -> None:
        table = self._table
        pairs = [LinkPair.of(row["link1"], row["link2"]) for row in (table.selected if table else ())]
        if not pairs:
            ui.notify("choose pairs by their boxes first", type="warning")
            return
        title = f"{'do not check' if off else 'check'} {len(pairs)} pairs" if len(pairs) > 1 else " – ".join(pairs[0])
        if off:
            self._studio.do(title, lambda text: text.disable_collisions(dict.fromkeys(pairs, reason)))
            return
        stated = {
            LinkPair.of(item.link1, item.link2) for item in self._studio.session.text.semantic.disabled_collisions
        }
        self._studio.do(
            title, lambda text: text.remove_pairs("disable_collisions", [pair for pair in pairs if pair in stated])
        )

    def _look(self, event: events.GenericEventArguments) -> None:
        """Mark both links of the pair that was clicked, and show them colliding if that was seen."""
        first, second = str(event.args).split(" ")
        self._studio.viewer.tell("mark", {self._studio.actor: {first: RED, second: RED}})
        evidence = None if self._matrix is None else self._matrix.pairs.get(LinkPair.of(first, second))
        witness = None if evidence is None else evidence.deepest or evidence.first
        if witness is not None:
            self._studio.pose(np.array(self._studio.kinematics.space.with_mimics(witness.q)))
