# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The studio: an SRDF is edited beside its robot; every change is a step, and the user sees the changes before
saving.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from nicegui import Client, events, run, ui

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.system import import_locks
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.edit_session import (
    Draft,
    EditSession,
    FileChangedError,
    TypedText,
    text_hash,
    unified_diff,
)
from robot_semantics.viewer.element import (
    MAX_TYPED,
    DiffText,
    KeptWork,
    Shortcuts,
    TextPane,
    ViewerElement,
    with_attributes,
)
from robot_semantics.viewer.scene import closed_pose
from robot_semantics.viewer.scene_data import semantics_of
from robot_semantics.viewer.studio_groups import GroupsTab
from robot_semantics.viewer.studio_pairs import PairsTab
from robot_semantics.viewer.studio_robot import RobotTab
from robot_semantics.viewer.studio_start import FIRST_FIELDS, NEXT_STEP, ProblemList, StartTab
from robot_semantics.viewer.studio_states import StatesTab
from robot_semantics.viewer.studio_widgets import button, field, heading, remark, small
from robot_semantics.viewer.witnesses import CollisionWork

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece
    from robot_semantics.model.robot_model import RobotModel


# Keyboard shortcuts of the studio and the overlay that lists them.


KEYS = {
    "ctrl+s": "save",
    "ctrl+z": "undo",
    "ctrl+shift+z": "redo",
    "ctrl+y": "redo",
    "ctrl+f": "find",
    "f8": "next",
    "shift+f8": "previous",
    "?": "help",
    **{f"alt+{number}": f"tab {number}" for number in range(1, 8)},
}
"""Purpose of each key."""

LISTED = (
    ("Ctrl+S", "save"),
    ("Ctrl+Z", "undo"),
    ("Ctrl+Shift+Z, Ctrl+Y", "redo"),
    ("Ctrl+F", "find a pair, or a name in the robot"),
    ("F8, Shift+F8", "next and previous message of the check"),
    ("Alt+1 … Alt+6", "open a tab"),
    ("?", "this list"),
    ("1 2 3 4 5 0", "view from front, back, left, right, top, corner"),
    ("F, P", "fit the view to the robot; hide or show the panels"),
    ("A  N  R  C  D", "link axes, names, frames, collision geometry, dark"),
    ("/", "search the robot"),
    ("Enter, Tab", "in a list: take the marked name"),
    ("Escape", "close a list or dialog; clear the selection"),
)
"""Keys and their purpose, as the overlay shows them."""


def help_dialog() -> ui.dialog:
    """Return a dialog that lists the shortcuts."""
    with (
        with_attributes(ui.dialog(), aria_label="keyboard shortcuts") as dialog,
        ui.card().style("min-width: 420px").props("data-help"),
    ):
        ui.label("Keyboard shortcuts").style("font-weight: 600")
        with ui.grid(columns="auto 1fr").style("gap: 6px 18px; align-items: baseline"):
            for keys, does in LISTED:
                ui.label(keys).classes("keys")
                ui.label(does)
        ui.button("close", on_click=dialog.close).props("flat no-caps autofocus").style("align-self: flex-end")
    return dialog


TOO_LONG = (
    f"it is longer than {MAX_TYPED:,} characters, so only this page has it. Edit the file with an editor: the studio "
    "loads its changes."
)
"""Message about a typed text that is not sent to the server."""

SHOWN_LINES, LONGEST_LINE = 3000, 100_000
"""Largest number of lines of a shown difference, and of characters of a line: a page needs seconds for more."""

LOOK_S = 0.5
"""How often a page looks whether another one, or another program, has made a change [s]."""


def import_early() -> None:
    """Import the modules of the first change, save and pose, which the first click would wait for."""
    import numpy.random  # noqa: F401
    from nicegui.functions import notify  # noqa: F401

    import_locks()
    with contextlib.suppress(MissingExtraError):
        from robot_semantics.collision import pieces  # noqa: F401


class Tab(Protocol):
    """One page of the panel."""

    def build(self) -> None:
        """Build it, once for a page."""

    def renew(self) -> None:
        """Show the current session; typed texts stay."""

    def picked(self, link: str, joint: str) -> None:
        """A link was clicked in the viewer; `joint` is its parent joint."""


class Studio:
    """The panel of one page; several may edit one session.

    Attributes:
        session: what is edited.
        viewer: the viewer with the robot.
        pieces: reads the robot's collision geometry.
        collisions: the work on collisions that all pages share.
        running: returns the joint positions of the running robot [rad, m] by variable.
        newest: returns the robot of the present file, or raises the reason why it is invalid.
        actor: the robot's name in the viewer.
        q: (size,) the shown pose [rad, m].
        windows: holds dialogs that outlive the button that opened them.
        notice: shows a notice about the last change; the next change clears it.
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
        self.collisions = CollisionWork.of(session, pieces)
        self._problems_seen = self.collisions.version
        self.newest, self._bare, self._reported_problem = newest, session.bare, ""
        self.actor = session.bare.name
        self.kinematics = ForwardKinematics(session.robot)
        self.q: FloatArray = closed_pose(self.kinematics, self.kinematics.space.neutral())[0]
        self._seen = session.version
        self._is_deleted, self._missing = False, 0
        self._typed_number, self._is_too_long = 0, False
        self._typed_pieces: list[str] = []
        self._page = ui.context.client.id
        self._stale: set[str] = set()
        self._states, self._pairs = StatesTab(self), PairsTab(self)
        self._tabs: dict[str, Tab] = {
            "start": StartTab(self),
            "robot": RobotTab(self),
            "groups": GroupsTab(self),
            "states": self._states,
            "collisions": self._pairs,
        }
        with ui.element("div").classes("beside studio"):
            self._work = KeptWork().on("kept", self._offer_kept).on("tab", self._open_kept)
            self._build_head()
            with ui.tabs(on_change=self._opened).style("width: 100%") as tabs:
                tabs.props("dense no-caps inline-label align=justify outside-arrows mobile-arrows")
                for name in self._tabs:
                    with_attributes(ui.tab(name), data_tab=name)
                with_attributes(ui.tab("text"), data_tab="text")
            self._chosen = tabs
            first = "groups" if session.text.semantic.groups else "start"
            with ui.tab_panels(tabs, value=first, animated=False).style("width: 100%; flex: 1; min-height: 0"):
                for name, tab in self._tabs.items():
                    with with_attributes(ui.tab_panel(name), data_panel=name).classes("panel"):
                        tab.build()
                with with_attributes(ui.tab_panel("text"), data_panel="text").classes("panel"):
                    self._text()
            self._is_tab_chosen = False
            self.notice = ui.element("div")
            self._problems = ProblemList(session, self.collisions, self.open)
            self._keys = Shortcuts(KEYS).on("shortcut", lambda event: self._shortcut(str(event.args)))
            self.windows = ui.element("div")
        self._question, self._help = self._ask(), help_dialog()
        self._offer, self._offered = self._ask_about_draft(), False
        self._keep()
        if first == "start":
            self._keys.focus(NEXT_STEP)
        viewer.close_loops(lambda name: self.kinematics)
        viewer.on("picked", self._picked)
        viewer.on("posed", self._posed)
        ui.timer(LOOK_S, self._poll_file)

    # --- changes

    def do(self, title: str, edit: Callable[[SrdfText], SrdfText]) -> bool:
        """Make a change and show it; return True if the text has changed. A failure is shown."""
        try:
            changed = self.session.change(title, edit)
        except RobotSemanticsError as error:
            ui.notify(str(error), type="negative", position="bottom")
            return False
        if changed:
            self.renew()
        return changed

    def renew(self) -> None:
        """Show the current session."""
        self._seen = self.session.version
        self.notice.clear()
        self.session.adopt_typed(self._page, Client.instances)
        robot = self.session.robot
        before, now = self.kinematics.model.root_joint, robot.root_joint
        is_other = self._bare is not self.session.bare
        self._bare = self.session.bare
        if is_other or (before.name, before.type, before.parent_link) != (now.name, now.type, now.parent_link):
            self._take_robot(ForwardKinematics(robot))
        else:
            self.kinematics = ForwardKinematics(robot)
            self.viewer.call("setSemantics", self.actor, semantics_of(self.kinematics))
        self._keep()
        self._show_head()
        self._problems.show()
        # The tabs that are not open are renewed when they are opened.
        self._stale = {*self._tabs, "text"}
        self._renew_tab(str(self._chosen.value))

    def _take_robot(self, kinematics: ForwardKinematics) -> None:
        """Show a robot with other variables, another virtual joint for example; joints of the same name stay."""
        before, space = self.kinematics.space, kinematics.space
        q = space.neutral()
        for name, at in space.index.items():
            if name in before.index:
                q[at] = self.q[before.index[name]]
        self.actor, self.kinematics = self.session.bare.name, kinematics
        self.q = closed_pose(kinematics, q)[0]
        self._states.forget_robot()
        self.viewer.run_method("reload")

    def _keep(self) -> None:
        """Let the page keep the document, for the time when its server does not answer."""
        session = self.session
        self._work.keep(
            session.output.name, str(session.text), text_hash(session.file_content), unsaved=not session.is_saved
        )

    def _opened(self, event: events.ValueChangeEventArguments[Any]) -> None:
        self._is_tab_chosen = True
        self._work.keep_tab(str(event.value))
        # Spheres are edited on one tab, and hide the robot on the others.
        self.viewer.call("show", "spheres", str(event.value) == "robot")
        if str(event.value) != "robot":
            self.viewer.call("showNothingEdited")
        self._renew_tab(str(event.value))
        self.viewer.widen_panel(self._pairs.width() if str(event.value) == "collisions" else 0)

    def _renew_tab(self, name: str) -> None:
        if name not in self._stale:
            return
        self._stale.remove(name)
        if name == "text":
            self._show_text()
        else:
            self._tabs[name].renew()

    def open(self, name: str) -> None:
        """Open a tab."""
        self._chosen.set_value(name)

    def focus(self, name: str) -> None:
        """Give the focus to the element of an id."""
        self._keys.focus(name)

    def clear(self, name: str, text: str) -> None:
        """Clear the field of an id if it still has this text: the user may have typed the next one."""
        self._keys.clear_field(name, text)

    def is_open(self, name: str) -> bool:
        """Return whether a tab is open."""
        return str(self._chosen.value) == name

    def _shortcut(self, what: str) -> None:
        if what.startswith("tab "):
            names = [*self._tabs, "text"]
            number = int(what[4:]) - 1
            if number < len(names):
                self.open(names[number])
                self._keys.focus(FIRST_FIELDS.get(names[number], ""))
        elif what == "find":
            self._keys.focus("find-pair" if self._chosen.value == "collisions" else "search")
        elif what in ("next", "previous"):
            self._problems.step(1 if what == "next" else -1)
            self._keys.scroll_to('.problem-line[data-chosen="true"]')
        else:
            {"save": self._save, "undo": self._undo, "redo": self._redo, "help": self._open_help}[what]()

    def pose(self, q: FloatArray) -> None:
        """Show the robot in a pose with closed loops."""
        self.q, problem = closed_pose(self.kinematics, q, self.q)
        self.viewer.call("setPositions", self.actor, self.q.tolist())
        self.viewer.call("message", problem)
        self._states.moved()

    async def _poll_file(self) -> None:
        problem = ""
        try:
            self.session.read_changes()
            # Changed meshes are read in the background.
            robot = await run.io_bound(self.newest)
            if robot is not None:
                self.session.take_robot(robot)
        except RobotSemanticsError as error:
            problem = str(error)
        except OSError as error:
            problem = f"{self.session.output}: {error.strerror}"
        if problem not in ("", self._reported_problem):
            ui.notify(problem, type="negative", position="bottom")
        self._reported_problem = problem
        self.session.keep_typed()
        # A file that is being replaced may be missing for a moment.
        self._missing = self._missing + 1 if self.session.is_deleted else 0
        is_deleted = self._missing > 1
        if self._seen != self.session.version:
            self.renew()
        elif is_deleted != self._is_deleted:
            self._show_head()
        self._is_deleted = is_deleted
        self._question.set_value(self.session.written is not None)
        self._show_offer()
        await run.io_bound(self.collisions.check_states)
        if self._problems_seen != self.collisions.version:
            self._problems_seen = self.collisions.version
            self._problems.show()

    def _ask(self) -> ui.dialog:
        """Return the question which version to use: the file of another program, or the unsaved changes."""
        question = with_attributes(ui.dialog(), aria_label="another program has changed the file")
        with question.props("persistent") as dialog, ui.card():
            ui.label("Another program has changed the file").style("font-weight: 600")
            ui.label("You have unsaved changes. Taking the file is a step that you can undo.")
            with ui.row().style("width: 100%; justify-content: flex-end"):
                for text, take in (("keep my changes", False), ("take the file", True)):
                    answer = ui.button(text, on_click=partial(self.session.choose_version, take=take)).props("no-caps")
                    answer.props.set_bool("flat", not take)
                    with_attributes(answer, data_do=text.replace(" ", "-"))
        return dialog

    # --- unsaved work of an earlier session

    def _offer_kept(self, event: events.GenericEventArguments) -> None:
        """Offer the document that this page kept while its server did not answer."""
        content = str(event.args["text"]).encode()
        base = self.session.file_content if str(event.args["base"]) == text_hash(self.session.file_content) else None
        with contextlib.suppress(RobotSemanticsError):
            self.session.offer(Draft(content, base, ("kept by the page",), (), time.time()))

    def _open_kept(self, event: events.GenericEventArguments) -> None:
        """Open the tab that this page had before it came again, unless a person has chosen one since."""
        if not self._is_tab_chosen and event.args in (*self._tabs, "text"):
            self.open(str(event.args))

    def _ask_about_draft(self) -> ui.dialog:
        dialog = with_attributes(ui.dialog(), aria_label="unsaved changes of the last session").props("persistent")
        with dialog, ui.card().style("width: 860px; max-width: 95vw").props("data-draft"):
            self._draft = ui.column().style("width: 100%; gap: 8px")
            with ui.row().style("width: 100%; justify-content: flex-end"):
                for text, take in (("throw them away", False), ("take them", True)):
                    answer = ui.button(text, on_click=partial(self._answer_offer, take)).props("no-caps")
                    answer.props.set_bool("flat", not take)
                    answer.props.set_bool("autofocus", take)
                    with_attributes(answer, data_do="take-draft" if take else "drop-draft")
        return dialog

    def _show_offer(self) -> None:
        draft = self.session.offered
        if (draft is not None) == self._offered:
            return
        self._offered = draft is not None
        if draft is not None:
            self._draft.clear()
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(draft.time))
            with self._draft:
                ui.label(f"Unsaved changes of {when}").style("font-weight: 600")
                words = f"{len(draft.titles)} steps: {', '.join(draft.titles[-12:])}" if draft.titles else ""
                remark(words).style("max-height: 20vh; overflow-y: auto")
                diffs = self.session.offered_diffs()
                if draft.base != self.session.file_content:
                    ui.label("The file has changed since. Taking your changes replaces the whole text.").props(
                        "data-draft-conflict"
                    )
                for title, diff in diffs:
                    heading(title)
                    _difference(diff, title, f"{44 // len(diffs)}vh")
        self._offer.set_value(draft is not None)

    def _answer_offer(self, take: bool) -> None:
        try:
            self.session.answer_offer(take=take)
        except RobotSemanticsError as error:
            ui.notify(str(error), type="negative", position="bottom")
        self._show_offer()
        self.renew()

    def _picked(self, event: events.GenericEventArguments) -> None:
        tab = self._tabs.get(str(self._chosen.value))
        if tab is not None:
            tab.picked(event.args["link"], event.args["joint"])

    def _posed(self, event: events.GenericEventArguments) -> None:
        q = np.array(event.args["q"], dtype=np.float64)
        if q.shape == self.q.shape:
            self.q = q
            self._states.moved()

    # --- the head, above all tabs

    def _build_head(self) -> None:
        """Build the head once: a click on a button that is built anew would be lost."""
        with ui.row(wrap=False).style("width: 100%; padding: 10px 12px 4px; align-items: center; gap: 6px"):
            with ui.column().style("gap: 0; flex: 1; min-width: 0"):
                self._title = ui.label().style("font-weight: 600; overflow: hidden; text-overflow: ellipsis")
                self._state = ui.label().props("data-saved").style("font-size: 12px; opacity: 0.75")
                self._unkept = small("").props("data-draft-problem").classes("failed")
            self._steps: dict[str, tuple[ui.button, ui.tooltip]] = {}
            for icon, act in (("undo", self._undo), ("redo", self._redo)):
                step = with_attributes(ui.button(icon=icon, on_click=act), data_do=icon, aria_label=icon)
                with step.props("flat dense round"):
                    self._steps[icon] = step, ui.tooltip("")
            button("save …", self._save, "save")
            keys = ui.button(icon="keyboard", on_click=self._open_help).props("flat dense round")
            with_attributes(keys, aria_label="keyboard shortcuts", data_do="keys").tooltip("keyboard shortcuts: ?")
        self._show_head()

    def _show_head(self) -> None:
        session = self.session
        state = "saved" if session.is_saved and not self._is_too_long else "not saved yet"
        self._title.set_text(session.output.name)
        self._state.set_text("the file was deleted" if self._missing > 1 else state)
        self._unkept.set_text(session.draft_problem)
        self._unkept.set_visibility(bool(session.draft_problem))
        for icon, title in (("undo", session.undoable), ("redo", session.redoable)):
            step, tooltip = self._steps[icon]
            tooltip.set_text(f"{icon}: {title}" if title else f"nothing to {icon}")
            step.set_enabled(title is not None)

    def _open_help(self) -> None:
        self._help.open()

    def _undo(self) -> None:
        self.session.undo()
        self.renew()

    def _redo(self) -> None:
        self.session.redo()
        self.renew()

    def _save(self) -> None:
        if not self._apply_typed():
            return
        session, text = self.session, self.session.text
        window = with_attributes(ui.dialog(), aria_label="save the file")
        # A refreshed head deletes what is built inside of it.
        window.move(self.windows)
        with window as dialog, ui.card().style("width: 860px; max-width: 95vw"):
            dialog.on("hide", dialog.delete)
            ui.label("Changes of the file").style("font-weight: 600")
            _difference(session.diff() or "no changes", "changes", "50vh")
            if session.typed:
                remark("Another page has typed text that is not applied; it is not saved.")
            path = field("file", "save-as", str(session.output))
            with ui.row().style("width: 100%; justify-content: flex-end"):
                ui.button("cancel", on_click=dialog.close).props("flat no-caps")
                save = partial(self._saved, dialog, text)
                button("save", lambda: save(path.value or ""), "really-save").props("autofocus")
        dialog.open()

    def _saved(self, dialog: ui.dialog, text: SrdfText, path: str, *, overwrite: bool = False) -> None:
        """Write the text that the dialog shows, also if another page has changed the document since."""
        target = Path(path)
        try:
            self.session.save(target, overwrite=overwrite, text=text)
        except FileChangedError as error:
            self._ask_to_overwrite(dialog, text, path, str(error))
            return
        except OSError as error:
            ui.notify(f"{target}: {error.strerror}", type="negative")
            return
        dialog.close()
        ui.notify(f"saved {target}", type="positive")
        self.renew()

    def _ask_to_overwrite(self, saving: ui.dialog, text: SrdfText, path: str, problem: str) -> None:
        """Ask whether to write the file although another program changed it."""
        window = with_attributes(ui.dialog(), aria_label="overwrite the file").props("persistent")
        window.move(self.windows)
        with window as dialog, ui.card():
            ui.label(problem).style("font-weight: 600; overflow-wrap: anywhere")
            ui.label("If you overwrite it, the changes of the other program are lost.")
            with ui.row().style("width: 100%; justify-content: flex-end"):
                ui.button("cancel", on_click=dialog.close).props("flat no-caps")

                def overwrite() -> None:
                    dialog.close()
                    self._saved(saving, text, path, overwrite=True)

                button("overwrite", overwrite, "overwrite")
        dialog.open()

    # --- the tab with the text

    def _text(self) -> None:
        self._pane = TextPane(self._page).on("typed", self._typed)
        # Built once: a click on a button that is built anew would be lost.
        with ui.column().style("width: 100%; gap: 6px").props("data-typed-conflict") as self._conflict:
            self._about_typed = small("")
            with ui.column().style("width: 100%; gap: 6px") as self._choice:
                self._typed_difference = _difference("", "difference", "24vh")
                button("use my text", partial(self._end_typing, replace=True), "use-typed")
        with ui.row().style("gap: 6px"):
            button("apply", self._apply_typed, "take-text")
            self._drop = button("use the document", partial(self._end_typing, replace=False), "drop-text", outline=True)
        self._show_text()

    def _show_text(self) -> None:
        """Show the document; typed text stays, and is shown beside a document that has changed meanwhile."""
        session = self.session
        typed, base = session.adopt_typed(self._page, Client.instances), text_hash(bytes(session.text))
        self._pane.show(str(session.text), base, None if typed is None else typed._asdict())
        is_conflict = typed is not None and typed.base != base
        self._drop.set_visibility(typed is not None or self._is_too_long)
        self._conflict.set_visibility(self._is_too_long or is_conflict)
        self._choice.set_visibility(is_conflict and not self._is_too_long)
        if self._is_too_long:
            self._about_typed.set_text(f"The typed text is not saved: {TOO_LONG}")
        elif typed is not None and is_conflict:
            self._about_typed.set_text(
                "The document has changed since you began to type. This is the way from it to your text:"
            )
            self._typed_difference.show(
                _shown_lines(unified_diff(bytes(session.text), typed.text.encode(), "document", "typed"))
            )

    def _typed(self, event: events.GenericEventArguments) -> None:
        was, typed = (self.session.is_saved, self._is_too_long), event.args
        if self._typed_number != typed["number"]:
            self._typed_number, self._typed_pieces = int(typed["number"]), []
        self._is_too_long = bool(typed.get("is_too_long"))
        if typed["piece"] is None:
            self.session.type(self._page, None)
        elif not self._is_too_long:
            self._typed_pieces.append(str(typed["piece"]))
            if not typed["is_last"]:
                return
            if typed["before"] != self._page:
                self.session.type(str(typed["before"]), None)
            self.session.type(self._page, TypedText("".join(self._typed_pieces), str(typed["base"])))
            self._typed_pieces = []
        # The page has it: only the rest is shown anew.
        self._seen = self.session.version
        self._show_text()
        if was != (self.session.is_saved, self._is_too_long):
            self._show_head()
            self._keep()

    def _apply_typed(self, *, replace: bool = False) -> bool:
        """Make the typed text a step; return False if that is not possible: the reason is shown, the text stays."""
        if self._is_too_long:
            self.open("text")
            ui.notify(f"The typed text is not applied: {TOO_LONG}", type="negative", position="bottom")
            return False
        if self._page not in self.session.typed:
            return True
        try:
            self.session.apply_typed(self._page, replace=replace)
        except RobotSemanticsError as error:
            self.open("text")
            ui.notify(f"The typed text is not applied: {error}", type="negative", position="bottom")
            return False
        self._pane.settle(self._typed_number)
        self.renew()
        self._show_text()
        return True

    def _end_typing(self, *, replace: bool) -> None:
        if replace:
            self._apply_typed(replace=True)
            return
        self.session.type(self._page, None)
        self._is_too_long = False
        self._pane.settle(self._typed_number)
        self.renew()
        self._show_text()


def _difference(diff: str, title: str, height: str) -> DiffText:
    """Show a unified diff in a box of this height."""
    box = with_attributes(ui.element("div"), role="region", tabindex="0", aria_label=title)
    box.style["max-height"] = height
    with box.style("width: 100%; overflow: auto; border: 1px solid #8884"):
        return DiffText(_shown_lines(diff))


def _shown_lines(diff: str) -> list[str]:
    """Return the lines of a diff, at most `SHOWN_LINES` with at most `LONGEST_LINE` characters."""
    lines = diff.split("\n")
    shown = [line if len(line) < LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[:SHOWN_LINES]]
    return shown if len(lines) <= SHOWN_LINES else [*shown, f"… {len(lines) - SHOWN_LINES:,} more lines"]
