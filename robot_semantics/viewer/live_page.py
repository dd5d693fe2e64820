# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What stands beside the viewer where it follows a running node: its clock and its snapshots."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from nicegui import events, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.viewer.element import ViewerElement, with_attributes
from robot_semantics.viewer.scene import Moment
from robot_semantics.viewer.scene_data import live_moment

UPDATE_PERIOD = 1.0 / 30.0
"""Shortest time between two updates of a page [s]."""

STALE_S = 1.0
"""Silence after which what is seen is called stale [s]."""


class LiveRobotSource(Protocol):
    """Robots that move by themselves: what a live page follows, and whom it asks."""

    def wait(self, seen: int, timeout: float) -> tuple[int, Moment] | None:
        """Return the newest moment and its number once that is above `seen`; None if none came in `timeout` seconds."""

    def ask(self, what: str, name: str) -> Sequence[str]:
        """Save, restore or delete (`what`) a snapshot; return what to tell, or raise a `RobotSemanticsError`."""

    def snapshots(self) -> list[tuple[str, str]]:
        """Return name and what is known of each saved snapshot, the newest first."""

    def snapshot(self, name: str) -> Moment:
        """Return what a saved snapshot states, or raise a `RobotSemanticsError`."""

    def can_jog(self) -> bool:
        """Tell whether anything takes commands for the joints of any."""

    def jog(self, robot: str, positions: Mapping[str, float]) -> None:
        """Command joints of a robot to positions [rad, m], by name."""


class LivePanel:
    """What stands beside the viewer: the clock, whether it stands still, and the snapshots of the node."""

    def __init__(self, viewer: ViewerElement, robots: LiveRobotSource, title: str) -> None:
        """Build it, and let the viewer follow the robots."""
        self._viewer, self._robots = viewer, robots
        self._number, self._heard_at = -1, time.monotonic()
        self._listed: list[tuple[str, str]] = []
        with ui.element("div").style("overflow-y: auto; padding: 14px; gap: 8px").classes("beside"):
            ui.label(title).style("font-weight: 600; overflow-wrap: anywhere")
            with ui.row().style("align-items: center; gap: 8px"):
                self._clock = ui.label("waiting for the node").props("id=live-state")
                self._stale = ui.badge("stale", color="orange-10").props("id=stale")
            self._stale.set_visibility(False)
            self._jog = ui.switch("command the joints by their sliders", on_change=self._command).props("dense id=jog")
            self._jog.set_visibility(False)
            ui.separator()
            ui.label("Snapshots").style("font-weight: 600")
            with ui.row(wrap=False).style("align-items: center; width: 100%; gap: 6px"):
                self._name = ui.input("name (by time)").props("dense for=snapshot-name").style("flex: 1")
                ui.button("save", on_click=self._save).props("no-caps dense id=snapshot-save")
            self._report = ui.column().style("gap: 2px; font-size: 12px; width: 100%").props("id=report")
            self._rows = ui.column().style("gap: 2px; width: 100%").props("id=snapshots")
        ui.timer(UPDATE_PERIOD, self._follow)
        ui.timer(0.1, self._list, once=True)
        ui.timer(STALE_S, self._look_for_simulators)
        viewer.on("jogged", lambda event: robots.jog(event.args["actor"], event.args["positions"]))

    def _follow(self) -> None:
        found = self._robots.wait(self._number, 0.0)
        if found is not None:
            self._number, moment = found
            self._heard_at = time.monotonic()
            self._viewer.tell("follow", live_moment(moment))
            self._clock.set_text(moment.label)
        self._stale.set_visibility(time.monotonic() - self._heard_at > STALE_S)

    def _look_for_simulators(self) -> None:
        there = self._robots.can_jog()
        self._jog.set_visibility(there)
        if not there:
            self._jog.set_value(False)

    def _command(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        self._viewer.tell("setJogging", bool(event.value))

    async def _compare(self, name: str) -> None:
        try:
            moment = await run.io_bound(self._robots.snapshot, name)
        except RobotSemanticsError as error:
            self._tell([str(error)])
            return
        if moment is not None:
            self._viewer.tell("compareWith", {**live_moment(moment), "label": name})
            self._tell([f"{name} is shown as a ghost; what differs stands at the left"])

    async def _save(self) -> None:
        await self._ask("save", self._name.value or "")

    async def _ask(self, what: str, name: str) -> None:
        try:
            told = await run.io_bound(self._robots.ask, what, name) or ()
        except RobotSemanticsError as error:
            told = [f"not done: {error}"]
        self._tell(told)
        await self._list()

    def _tell(self, lines: Sequence[str]) -> None:
        self._report.clear()
        with self._report:
            for line in lines:
                ui.label(line).style("overflow-wrap: anywhere")

    async def _list(self) -> None:
        try:
            found = await run.io_bound(self._robots.snapshots)
        except RobotSemanticsError as error:
            self._tell([str(error)])
            return
        # A button that is made anew under the pointer takes no click.
        if found is not None and found != self._listed:
            self._listed = list(found)
            self._rows.clear()
            with self._rows:
                for name, about in found:
                    self._row(name, about)

    def _row(self, name: str, about: str) -> None:
        with ui.row(wrap=False).style("align-items: center; width: 100%; gap: 4px"):
            with with_attributes(ui.column(), data_snapshot=name).style("gap: 0; flex: 1; min-width: 0"):
                ui.label(name).style("overflow-wrap: anywhere")
                ui.label(about).style("font-size: 11px; opacity: 0.75")
            icons = {"restore": "settings_backup_restore", "compare": "compare", "delete": "delete"}
            for what, icon in icons.items():
                ask = partial(self._compare, name) if what == "compare" else partial(self._ask, what, name)
                button = ui.button(icon=icon, on_click=ask).tooltip(what)
                with_attributes(button, **{f"data-{what}": name, "aria-label": f"{what} {name}"})
                button.props("dense flat round size=sm")
