# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Panel beside the viewer of a running node: its clock and its snapshots."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from nicegui import events, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.viewer.element import StanceDifference, Thumbnail, ViewerElement, with_attributes
from robot_semantics.viewer.scene import Moment
from robot_semantics.viewer.scene_data import LiveStance, SliderState, live_moment

UPDATE_PERIOD = 1.0 / 30.0
"""Shortest time between two updates of a page [s]."""

STALE_S = 1.0
"""Time without an update after which the page says so over the whole scene [s]."""

SENDERS_S = 2.0
"""Time between two looks at the senders [s]."""

PICTURED = 12
"""Number of snapshots, the newest, that have a picture and a difference."""

LISTED_DIFFERENCES = 8
"""Number of values that the question before a restore lists."""


SLIDERS_PERIOD = 0.2
"""Time between two looks at the sliders of the robots [s]."""


class LivePageSource(Protocol):
    """Running robots: the source of a live page, and the target of its requests."""

    def wait(self, seen: int, timeout: float) -> tuple[int, Moment] | None:
        """Wait for a moment with a number above `seen`; return the moment and its number, or None after `timeout`
        [s].
        """

    def ask(self, what: str, name: str) -> Sequence[str]:
        """Save, restore or delete (`what`) a snapshot; return the report, or raise a `RobotSemanticsError`."""

    def snapshots(self) -> list[tuple[str, str]]:
        """Return the name and a description of each saved snapshot, the newest first."""

    def snapshot(self, name: str) -> Moment:
        """Return the content of a saved snapshot, or raise a `RobotSemanticsError`."""

    def can_jog(self) -> bool:
        """Return True if a node subscribes to joint commands of a robot without `sliders`."""

    def jog(self, robot: str, positions: Mapping[str, float]) -> str:
        """Move joints of a robot to positions [rad, m], by name: by its sliders, or by a command.

        Return the reason if the robot cannot take them.
        """

    def sliders(self) -> Mapping[str, SliderState]:
        """Return the sliders that publish joint states, by the name of their robot."""


class LivePanel:
    """Panel beside the viewer: the clock, the sliders, the senders and the snapshots of the node."""

    def __init__(
        self,
        viewer: ViewerElement,
        robots: LivePageSource,
        title: str,
        senders: Callable[[], Sequence[str]] | None = None,
        is_described: Callable[[], bool] = lambda: False,
    ) -> None:
        """Build it, and let the viewer follow the robots.

        Args:
            viewer: the viewer.
            robots: the robots.
            title: title of the panel.
            senders: return the table of senders, a line each, or raise a `RobotSemanticsError`; None: no table.
            is_described: return True if the node of a robot runs, also if it has no joint states.
        """
        self._viewer, self._robots, self._is_described = viewer, robots, is_described
        self._number, self._heard_at = -1, time.monotonic()
        self._listed: list[tuple[str, str]] = []
        self._stances: dict[tuple[str, str], dict[str, LiveStance]] = {}
        self._problem = ""
        self._sliders: dict[str, SliderState] = {}
        with ui.element("div").style("overflow-y: auto; padding: 14px; gap: 8px").classes("beside"):
            ui.label(title).style("font-weight: 600; overflow-wrap: anywhere")
            self._clock = ui.label("waiting for the node").props("id=live-state")
            self._jog = ui.switch("command the joints by their sliders", on_change=self._command).props("dense id=jog")
            self._jog.set_visibility(False)
            self._publishing = ui.column().style("gap: 2px; font-size: 12px; width: 100%")
            self._publishing.props("id=slider-state role=status")
            if senders is not None:
                with ui.expansion("Senders and their clocks").props("dense id=senders").classes("w-full") as table:
                    self._senders = ui.column().style("gap: 2px; font-size: 12px; width: 100%")
                self._read_senders = senders
                ui.timer(SENDERS_S, partial(self._list_senders, table))
            ui.separator()
            ui.label("Snapshots").style("font-weight: 600")
            with ui.row(wrap=False).style("align-items: center; width: 100%; gap: 6px"):
                self._name = ui.input("name (by time)").props("dense for=snapshot-name").style("flex: 1")
                ui.button("save", on_click=self._save).props("no-caps dense id=snapshot-save")
            self._question = ui.column().style("gap: 6px; width: 100%").props("id=restore-question")
            self._report = ui.column().style("gap: 2px; font-size: 12px; width: 100%").props("id=report")
            self._rows = ui.column().style("gap: 2px; width: 100%").props("id=snapshots")
        ui.timer(UPDATE_PERIOD, self._follow)
        ui.timer(0.1, self._list, once=True)
        ui.timer(STALE_S, self._find_simulators)
        ui.timer(SLIDERS_PERIOD, self._show_sliders)
        viewer.on("ready", self._show_all_sliders)
        viewer.on("jogged", lambda event: self._move(event.args["actor"], event.args["positions"]))

    def _follow(self) -> None:
        found = self._robots.wait(self._number, 0.0)
        if found is not None:
            self._number, moment = found
            self._set_problem("")
            self._heard_at = time.monotonic()
            self._viewer.call("follow", live_moment(moment))
            self._clock.set_text(moment.label)
        silence = time.monotonic() - self._heard_at
        if silence > STALE_S:
            shown = f"No update for {int(silence)} s: the robots are shown as last seen."
            told = "The node runs, but no joint states come." if self._is_described() else "Is the node running?"
            self._set_problem(f"{shown} {told}")

    def _show_sliders(self) -> None:
        """Tell the page what has changed in the sliders, but nothing that a person has just moved there."""
        states = self._robots.sliders()
        if {name: state.held for name, state in states.items()} != self._held():
            self._publishing.clear()
            with self._publishing:
                for sentence in _sentences(states):
                    ui.label(sentence).style("overflow-wrap: anywhere")
        for name, state in states.items():
            shown = self._sliders.get(name)
            if shown != state:
                before = {} if shown is None else shown.values
                moved = {key: value for key, value in state.values.items() if before.get(key) != value}
                self._viewer.call("setSliders", name, moved, dict(state.held))
                self._sliders[name] = state

    def _show_all_sliders(self) -> None:
        self._sliders.clear()
        self._show_sliders()

    def _held(self) -> dict[str, Mapping[str, str]]:
        return {name: state.held for name, state in self._sliders.items()}

    def _move(self, robot: str, positions: Mapping[str, float]) -> None:
        problem = self._robots.jog(robot, positions)
        if problem:
            self._viewer.call("message", problem)
        if robot in self._sliders:
            shown = self._sliders[robot]
            self._sliders[robot] = shown._replace(values={**shown.values, **positions})

    async def _list_senders(self, table: ui.expansion) -> None:
        """Renew the table of senders while it is open."""
        if not table.value:
            return
        try:
            lines = await run.io_bound(self._read_senders) or ["no message has arrived yet"]
        except RobotSemanticsError as error:
            lines = [str(error)]
        self._senders.clear()
        with self._senders:
            for line in lines:
                ui.label(line).style("overflow-wrap: anywhere")

    def _set_problem(self, text: str) -> None:
        if text != self._problem:
            self._problem = text
            self._viewer.call("setLost", text)

    def _find_simulators(self) -> None:
        there = self._robots.can_jog()
        self._jog.set_visibility(there)
        if not there:
            self._jog.set_value(False)

    def _command(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        self._viewer.call("setJogging", bool(event.value))

    async def _compare(self, name: str) -> None:
        try:
            moment = await run.io_bound(self._robots.snapshot, name)
        except RobotSemanticsError as error:
            self._show_report([str(error)])
            return
        if moment is not None:
            self._viewer.call("compareWith", {**live_moment(moment), "label": name})
            self._show_report([f"{name} is shown as a ghost. The differences are listed on the left."])

    async def _ask_to_restore(self, name: str) -> None:
        """Show a snapshot as a ghost with the values that would change, and ask whether to restore it."""
        try:
            moment = await run.io_bound(self._robots.snapshot, name)
        except RobotSemanticsError as error:
            moment, reason = None, f"It is not known what would move: {error}"
        else:
            reason = "The ghost shows where the robots would be. These values would change:"
        self._question.clear()
        with self._question, ui.card().style("width: 100%; gap: 6px").props("role=group aria-label=restore"):
            ui.label(f"Restore {name}?").style("font-weight: 600; overflow-wrap: anywhere")
            ui.label(reason).style("font-size: 12px; overflow-wrap: anywhere")
            if moment is not None:
                shown = live_moment(moment)
                self._viewer.call("compareWith", {**shown, "label": name})
                StanceDifference(shown["stances"], LISTED_DIFFERENCES)
            with ui.row().style("width: 100%; justify-content: flex-end"):
                ui.button("cancel", on_click=self._end_question).props("flat dense no-caps data-do=cancel-restore")
                restore = ui.button("restore", on_click=partial(self._restore, name)).props("dense no-caps")
                with_attributes(restore.style("padding: 0 12px"), data_do="really-restore")

    async def _restore(self, name: str) -> None:
        self._end_question()
        await self._ask("restore", name)

    def _end_question(self) -> None:
        self._question.clear()
        self._viewer.call("endComparison")

    async def _save(self) -> None:
        await self._ask("save", self._name.value or "")

    async def _ask(self, what: str, name: str) -> None:
        try:
            told = await run.io_bound(self._robots.ask, what, name) or ()
        except RobotSemanticsError as error:
            told = [f"not done: {error}"]
        self._show_report(told)
        await self._list()

    def _show_report(self, lines: Sequence[str]) -> None:
        self._report.clear()
        with self._report:
            for line in lines:
                ui.label(line).style("overflow-wrap: anywhere")

    async def _list(self) -> None:
        try:
            snapshots = await run.io_bound(self._robots.snapshots)
        except RobotSemanticsError as error:
            self._show_report([str(error)])
            return
        # A new button under the pointer would lose the click.
        if snapshots is None or snapshots == self._listed:
            return
        self._listed = list(snapshots)
        known = self._stances
        self._stances = {
            item: known[item] if item in known else await self._read(item[0]) for item in snapshots[:PICTURED]
        }
        self._rows.clear()
        with self._rows:
            for name, about in snapshots:
                self._row(name, about)

    async def _read(self, name: str) -> dict[str, LiveStance]:
        """Return where the robots are in a snapshot; nothing if its file cannot be read here."""
        try:
            moment = await run.io_bound(self._robots.snapshot, name)
        except RobotSemanticsError:
            return {}
        return {} if moment is None else live_moment(moment)["stances"]

    def _row(self, name: str, about: str) -> None:
        stances = self._stances.get((name, about))
        with ui.row(wrap=False).style("align-items: center; width: 100%; gap: 6px"):
            if stances:
                Thumbnail(stances, f"robots in the snapshot {name}")
            with with_attributes(ui.column(), data_snapshot=name).style("gap: 0; flex: 1; min-width: 0"):
                with_attributes(ui.label(name), title=name).classes("one-line")
                ui.label(about).style("font-size: 11px")
                if stances:
                    StanceDifference(stances, 1)
            acts: dict[str, tuple[str, Callable[[str], Awaitable[None]]]] = {
                "restore": ("settings_backup_restore", self._ask_to_restore),
                "compare": ("compare", self._compare),
                "delete": ("delete", partial(self._ask, "delete")),
            }
            for what, (icon, act) in acts.items():
                button = ui.button(icon=icon, on_click=partial(act, name)).tooltip(what)
                with_attributes(button, **{f"data-{what}": name, "aria-label": f"{what} {name}"})
                button.props("dense flat round size=sm")


def _sentences(states: Mapping[str, SliderState]) -> list[str]:
    """Return the joints that sliders publish, and those that they do not, in words."""
    sentences = []
    for state in states.values():
        joints_of: dict[str, list[str]] = {}
        for joint, publisher in state.held.items():
            joints_of.setdefault(publisher, []).append(joint)
        sentences.append(f"The sliders publish {state.topic}.")
        sentences += [
            f"The sliders do not publish {', '.join(joints)}: moved by {publisher}."
            for publisher, joints in joints_of.items()
        ]
    return sentences
