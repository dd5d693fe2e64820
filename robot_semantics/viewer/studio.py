# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The studio: an SRDF edited beside the robot that it is about; every change a step, nothing written without a look."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from nicegui import events, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.element import ViewerElement
from robot_semantics.viewer.scene_data import semantics_of
from robot_semantics.viewer.studio_groups import GroupsTab
from robot_semantics.viewer.studio_pairs import PairsTab
from robot_semantics.viewer.studio_robot import RobotTab
from robot_semantics.viewer.studio_states import StatesTab
from robot_semantics.viewer.studio_widgets import button, field, problem_line

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece
    from robot_semantics.model.robot_model import RobotModel

WIDTH = 440
"""Of the panel [pixels]."""
LOOK_S = 0.5
"""How often a page looks whether another one, or another program, has made a change [s]."""


class Tab(Protocol):
    """One page of the panel."""

    def show(self) -> None:
        """Build it anew."""

    def picked(self, link: str, joint: str) -> None:
        """A link was clicked in the viewer; `joint` is its parent joint."""


class Studio:
    """The panel of one page; several may edit one session.

    Attributes:
        session: what is edited.
        viewer: where the robot is seen.
        pieces: reads the robot's collision geometry.
        running: asks the running robot for its joint positions [rad, m] by variable.
        newest: gives the robot as its file describes it now, or raises why it does not.
        actor: the robot's name in the viewer.
        q: (size,) the pose that is seen [rad, m].
    """

    def __init__(
        self,
        viewer: ViewerElement,
        session: EditSession,
        pieces: Callable[[], tuple[Piece, ...]],
        running: Callable[[], Mapping[str, float]],
        newest: Callable[[], RobotModel],
    ) -> None:
        """Build the panel beside the viewer."""
        self.viewer, self.session, self.pieces, self.running = viewer, session, pieces, running
        self.newest, self._bare, self._told = newest, session.bare, ""
        self.actor = session.bare.name
        self.kinematics = ForwardKinematics(session.robot)
        self.q: FloatArray = self.kinematics.space.neutral()
        self._seen = session.version
        self._tabs: dict[str, Tab] = {
            "robot": RobotTab(self),
            "groups": GroupsTab(self),
            "states": StatesTab(self),
            "collisions": PairsTab(self),
        }
        with ui.element("div").style(f"width: {WIDTH}px").classes("beside studio"):
            self._head()
            with ui.tabs().props("dense no-caps inline-label align=justify").style("width: 100%") as tabs:
                for name in self._tabs:
                    ui.tab(name).props(f'data-tab="{name}"')
                ui.tab("text").props('data-tab="text"')
            self._chosen = tabs
            with ui.tab_panels(tabs, value="groups", animated=False).style("width: 100%; flex: 1; min-height: 0"):
                for name, tab in self._tabs.items():
                    with ui.tab_panel(name).style("padding: 12px; overflow-y: auto"):
                        tab.show()
                with ui.tab_panel("text").style("padding: 12px"):
                    self._text()
            self._problems()
        self._question = self._ask()
        viewer.on("picked", self._picked)
        viewer.on("posed", self._posed)
        viewer.on("dark", lambda event: ui.dark_mode().set_value(bool(event.args["on"])))
        ui.timer(LOOK_S, self._look)

    # --- changes

    def do(self, title: str, edit: Callable[[SrdfText], SrdfText]) -> bool:
        """Make a change and show it; tell whether there was one. Why it cannot be made is told on the page."""
        try:
            changed = self.session.change(title, edit)
        except RobotSemanticsError as error:
            ui.notify(str(error), type="negative", position="bottom")
            return False
        if changed:
            self.renew()
        return changed

    def renew(self) -> None:
        """Show what the session has now."""
        self._seen = self.session.version
        robot = self.session.robot
        before, now = self.kinematics.model.root_joint, robot.root_joint
        if (before.name, before.type, before.parent_link) != (now.name, now.type, now.parent_link):
            # Another virtual joint: the page's robot has other variables.
            ui.navigate.reload()
            return
        self.kinematics = ForwardKinematics(robot)
        self.viewer.tell("setSemantics", self.actor, semantics_of(robot))
        for part in (self._head, self._problems, self._text, *(tab.show for tab in self._tabs.values())):
            part.refresh()  # type: ignore[attr-defined]  # each is a refreshable method

    def pose(self, q: FloatArray) -> None:
        """Put the robot into a pose."""
        self.q = q
        self.viewer.tell("setPositions", self.actor, q.tolist())

    async def _look(self) -> None:
        problem = ""
        try:
            self.session.look()
            # Meshes that have changed are read beside what goes on.
            robot = await run.io_bound(self.newest)
            if robot is not None:
                self.session.take_robot(robot)
        except RobotSemanticsError as error:
            problem = str(error)
        if problem not in ("", self._told):
            ui.notify(problem, type="negative", position="bottom")
        self._told = problem
        if self._bare is not self.session.bare:
            self._bare = self.session.bare
            ui.navigate.reload()
        elif self._seen != self.session.version:
            self.renew()
        self._question.set_value(self.session.written is not None)

    def _ask(self) -> ui.dialog:
        """Return the question what is to count: what another program has written, or the changes not saved."""
        with ui.dialog().props("persistent") as dialog, ui.card():
            ui.label("Another program has changed the file").style("font-weight: 600")
            ui.label("There are changes here that are not saved. Taking the file is a step that can be undone.")
            with ui.row().style("width: 100%; justify-content: flex-end"):
                for text, take in (("keep my changes", False), ("take the file", True)):
                    button = ui.button(text, on_click=partial(self.session.settle, take=take))
                    button.props(f'no-caps {"" if take else "flat"} data-do="{text.replace(" ", "-")}"')
        return dialog

    def _picked(self, event: events.GenericEventArguments) -> None:
        tab = self._tabs.get(str(self._chosen.value))
        if tab is not None:
            tab.picked(event.args["link"], event.args["joint"])

    def _posed(self, event: events.GenericEventArguments) -> None:
        q = np.array(event.args["q"], dtype=np.float64)
        if q.shape == self.q.shape:
            self.q = q

    # --- what is always there

    @ui.refreshable_method
    def _head(self) -> None:
        session = self.session
        with ui.row(wrap=False).style("width: 100%; padding: 10px 12px 4px; align-items: center; gap: 6px"):
            with ui.column().style("gap: 0; flex: 1; min-width: 0"):
                ui.label(session.output.name).style("font-weight: 600; overflow: hidden; text-overflow: ellipsis")
                ui.label("saved" if session.is_saved else "not saved yet").props("data-saved").style(
                    "font-size: 12px; opacity: 0.75"
                )
            for icon, what, title in (("undo", self._undo, session.undoable), ("redo", self._redo, session.redoable)):
                step = ui.button(icon=icon, on_click=what).props(f'flat dense round data-do="{icon}"')
                step.tooltip(f"{icon}: {title}" if title else f"nothing to {icon}")
                step.set_enabled(title is not None)
            button("save …", self._save, "save")

    def _undo(self) -> None:
        self.session.undo()
        self.renew()

    def _redo(self) -> None:
        self.session.redo()
        self.renew()

    def _save(self) -> None:
        with ui.dialog() as dialog, ui.card().style("width: 860px; max-width: 95vw"):
            ui.label("What changes in the file").style("font-weight: 600")
            difference = self.session.diff() or "nothing"
            with ui.scroll_area().style("height: 50vh; width: 100%; border: 1px solid #8884"):
                ui.html(diff_html(difference), sanitize=False)
            path = field("file", "save-as", str(self.session.output))
            with ui.row().style("width: 100%; justify-content: flex-end"):
                ui.button("cancel", on_click=dialog.close).props("flat no-caps")
                button("save", lambda: self._saved(dialog, path.value or ""), "really-save")
        dialog.open()

    def _saved(self, dialog: ui.dialog, path: str) -> None:
        target = Path(path)
        if target != self.session.output and target.exists():
            ui.notify(f"{target} is there already", type="negative")
            return
        try:
            self.session.save(target)
        except OSError as error:
            ui.notify(f"{target}: {error.strerror}", type="negative")
            return
        dialog.close()
        ui.notify(f"saved {target}", type="positive")
        self.renew()

    @ui.refreshable_method
    def _problems(self) -> None:
        found = self.session.problems
        title = f"check: {len(found)} {'message' if len(found) == 1 else 'messages'}" if found else "check: no problems"
        fold = ui.expansion(title, icon="rule").props("dense data-problems")
        fold.style("width: 100%; flex: none; border-top: 1px solid #8884")
        with fold, ui.column().style("max-height: 30vh; overflow-y: auto; gap: 4px; width: 100%; flex-wrap: nowrap"):
            for problem in found[:200]:
                problem_line(problem)

    @ui.refreshable_method
    def _text(self) -> None:
        area = ui.textarea(value=str(self.session.text)).props("outlined for=whole-text spellcheck=false")
        area.style("width: 100%").props('input-style="font: 12px/1.45 ui-monospace, monospace; height: 60vh"')

        def take() -> None:
            self.do("edit the text", lambda text: SrdfText(area.value or "", text.xml.source))

        button("take over", take, "take-text")


def diff_html(difference: str) -> str:
    """Return a unified diff with its lines in colours."""
    colours = {"+": "#1b7f3b26", "-": "#c3282d26", "@": "#1f6fb226"}
    lines = (
        f'<div style="background: {colours.get(line[:1], "transparent")}">{html.escape(line) or " "}</div>'
        for line in difference.split("\n")
    )
    return f'<div style="font: 12px/1.5 ui-monospace, monospace; white-space: pre">{"".join(lines)}</div>'
