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

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from nicegui import events, run, ui

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.edit_session import EditSession, FileChangedError
from robot_semantics.viewer.element import DiffText, Shortcuts, ViewerElement, with_attributes
from robot_semantics.viewer.scene import closed_pose
from robot_semantics.viewer.scene_data import semantics_of
from robot_semantics.viewer.studio_groups import GroupsTab
from robot_semantics.viewer.studio_pairs import PairsTab
from robot_semantics.viewer.studio_robot import RobotTab
from robot_semantics.viewer.studio_states import StatesTab
from robot_semantics.viewer.studio_widgets import Panel, button, field, heading, problem_line, remark
from robot_semantics.viewer.suggestions import Suggestion, suggestions

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

NEXT_STEP = "next-step"
"""Id of the button on the tab start that continues the work."""

FIRST_FIELDS = {
    "start": NEXT_STEP,
    "robot": "property-joint",
    "groups": "group-name",
    "states": "state-of-group",
    "collisions": "samples",
    "text": "whole-text",
}
"""The element of each tab that has the focus when the tab is opened by a key."""

LISTED = (
    ("Ctrl+S", "save"),
    ("Ctrl+Z", "undo"),
    ("Ctrl+Shift+Z, Ctrl+Y", "redo"),
    ("Ctrl+F", "find a pair, or a name in the robot"),
    ("F8, Shift+F8", "next and previous message of the check"),
    ("Alt+1 … Alt+6", "open a tab"),
    ("?", "this list"),
    ("1 2 3 4 5 0", "view from front, back, left, right, top, corner"),
    ("F", "fit the view to the robot"),
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


# All messages of the check below the tabs; each opens the tab of its element.


TABS = {
    "group": "groups",
    "end_effector": "groups",
    "group_state": "states",
    "disable_collisions": "collisions",
    "enable_collisions": "collisions",
    "virtual_joint": "robot",
    "passive_joint": "robot",
    "joint_property": "robot",
    "disable_default_collisions": "robot",
    "link_sphere_approximation": "robot",
}
"""The tab that edits each element of an SRDF; all others are edited as text."""
SHOWN = 200
"""Largest number of listed messages."""


def tab_of(problem: Diagnostic) -> str:
    """Return the tab that edits the element of a message."""
    found = re.match(r"/robot/(\w+)", problem.place.path)
    return TABS.get(found[1], "text") if found else "text"


class ProblemList:
    """The messages of the check, collapsed at first."""

    def __init__(self, session: EditSession, open_tab: Callable[[str], None]) -> None:
        """Begin with no message chosen; `open_tab` shows a tab."""
        self._session, self._open_tab = session, open_tab
        self._chosen = -1
        self._open = False

    @ui.refreshable_method
    def show(self) -> None:
        """Build the list."""
        found = self._session.problems
        title = f"check: {len(found)} {'message' if len(found) == 1 else 'messages'}" if found else "check: no problems"
        fold = ui.expansion(title, icon="rule", value=self._open).props("dense data-problems")
        fold.on_value_change(lambda event: setattr(self, "_open", bool(event.value)))
        fold.style("width: 100%; flex: none; border-top: 1px solid #8884")
        with fold, ui.column().style("max-height: 30vh; overflow-y: auto; gap: 4px; width: 100%; flex-wrap: nowrap"):
            for number, problem in enumerate(found[:SHOWN]):
                line = problem_line(problem).classes("problem-line")
                with_attributes(line, role="button", tabindex="0", data_chosen=str(number == self._chosen).lower())
                for event in ("click", "keydown.enter"):
                    line.on(event, partial(self._choose, number))

    def step(self, by: int) -> None:
        """Go to the next (1) or the previous (-1) message, from the last to the first."""
        count = min(len(self._session.problems), SHOWN)
        if not count:
            ui.notify("The check has no messages.", type="positive")
            return
        self._open = True
        self._choose((self._chosen + by) % count if 0 <= self._chosen < count else 0 if by > 0 else count - 1)

    def _choose(self, number: int) -> None:
        self._chosen = number
        self.show.refresh()
        self._open_tab(tab_of(self._session.problems[number]))


# The steps to a new SRDF in the studio: their purpose, their state, and suggestions that one click adds.


class Step(NamedTuple):
    """A step of the work: its title, its tab, the kind of its suggestions, its purpose, and if every robot needs it."""

    title: str
    tab: str
    suggested: str
    about: str
    is_needed: bool = False


STEPS = (
    Step(
        "Virtual joint",
        "robot",
        "virtual joint",
        "Connects the robot to the world. Not needed if the root link is the world, or if no other object is in it.",
    ),
    Step("Groups", "groups", "group", "Joints that are planned together: an arm, a hand, a leg. Always needed.", True),
    Step(
        "End effectors",
        "groups",
        "end effector",
        "Tell which group is a hand, and which link carries it. Not needed without a hand.",
    ),
    Step("Poses", "states", "state", "Named joint positions, such as home. Planning works without them."),
    Step(
        "Passive joints",
        "robot",
        "passive joint",
        "Joints without a motor, such as casters. Not needed if each joint has a motor or mimics another joint.",
    ),
    Step(
        "Collisions",
        "collisions",
        "",
        "Pairs of links that need no check: neighbours, and pairs that never touch. Planning is slow without them.",
        True,
    ),
    Step("Check", "text", "", "All messages of the check. The file is ready when there are none.", True),
)


class StartTab:
    """Lists the steps with their state, and suggestions that one click accepts."""

    def __init__(self, studio: Panel) -> None:
        """Begin."""
        self._studio = studio

    def build(self) -> None:
        """Build the list."""
        self._list()

    def renew(self) -> None:
        """Show the present state of the session."""
        self._list.refresh()

    def picked(self, link: str, joint: str) -> None:
        """Ignore clicks on links."""

    @ui.refreshable_method
    def _list(self) -> None:
        session = self._studio.session
        found = suggestions(session.robot, session.text.semantic)
        # Without a suggestion, the robot may not need the optional steps.
        following = next((step for step in STEPS if step.is_needed and not self._state(step)[1]), STEPS[-1])
        heading("Steps to a complete SRDF")
        for step in STEPS:
            count, done = self._state(step)
            row = ui.column().style("width: 100%; gap: 2px").classes("step")
            with with_attributes(row, data_step=step.title, data_done=str(done).lower()):
                with ui.row(wrap=False).style("width: 100%; align-items: center; gap: 8px"):
                    icon = ui.icon("check_circle" if done else "radio_button_unchecked", size="20px")
                    icon.classes("done" if done else "open")
                    opener = ui.button(step.title, on_click=partial(self._open, step.tab))
                    with_attributes(opener, data_open=step.title).props("flat dense no-caps align=left")
                    if not found and step is following:
                        with_attributes(opener, id=NEXT_STEP)
                    opener.style("font-weight: 600; padding: 0 4px")
                    ui.space()
                    remark(count)
                remark(step.about).style("padding-left: 28px")
                for suggestion in found:
                    if suggestion.step == step.suggested:
                        self._suggestion(suggestion, is_first=suggestion is found[0])

    def _open(self, tab: str) -> None:
        self._studio.open(tab)
        self._studio.focus(FIRST_FIELDS[tab])

    def _suggestion(self, suggestion: Suggestion, *, is_first: bool) -> None:
        def accept() -> None:
            if self._studio.do(suggestion.title, suggestion.edit):
                # The pressed button no longer exists.
                self._studio.focus(NEXT_STEP)

        with ui.row(wrap=False).style("padding-left: 28px; width: 100%; align-items: center; gap: 8px"):
            ui.label(suggestion.title).style("flex: 1; font-size: 12px; overflow-wrap: anywhere")
            add = ui.button("add", on_click=accept).props("dense no-caps outline size=12px").style("padding: 0 8px")
            with_attributes(add, data_accept=suggestion.title, aria_label=f"add {suggestion.title}")
            if is_first:
                with_attributes(add, id=NEXT_STEP)

    def _state(self, step: Step) -> tuple[str, bool]:
        """Return the state of a step in words, and True if it is done."""
        session = self._studio.session
        text: SrdfText = session.text
        semantic = text.semantic
        if step.title == "Check":
            errors = sum(problem.severity is Severity.ERROR for problem in session.problems)
            count = len(session.problems)
            return (f"{count} messages, {errors} errors" if count else "no problems"), not count
        counts = {
            "Virtual joint": len(semantic.virtual_joints),
            "Groups": len(semantic.groups),
            "End effectors": len(semantic.end_effectors),
            "Poses": len(semantic.states),
            "Passive joints": len(semantic.passive_joints),
            "Collisions": len(semantic.disabled_collisions),
        }
        count = counts[step.title]
        words = f"{count} pairs" if step.title == "Collisions" else str(count)
        return (words if count else "none yet"), count > 0


LOOK_S = 0.5
"""How often a page looks whether another one, or another program, has made a change [s]."""


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
        running: returns the joint positions of the running robot [rad, m] by variable.
        newest: returns the robot of the present file, or raises the reason why it is invalid.
        actor: the robot's name in the viewer.
        q: (size,) the shown pose [rad, m].
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
        self.q: FloatArray = closed_pose(self.kinematics, self.kinematics.space.neutral())[0]
        self._seen = session.version
        self._stale: set[str] = set()
        self._states = StatesTab(self)
        self._tabs: dict[str, Tab] = {
            "start": StartTab(self),
            "robot": RobotTab(self),
            "groups": GroupsTab(self),
            "states": self._states,
            "collisions": PairsTab(self),
        }
        with ui.element("div").classes("beside studio"):
            self._head()
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
            self._problems = ProblemList(session, self.open)
            self._problems.show()
            self._keys = Shortcuts(KEYS).on("shortcut", lambda event: self._shortcut(str(event.args)))
        self._question, self._help = self._ask(), help_dialog()
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
        robot = self.session.robot
        before, now = self.kinematics.model.root_joint, robot.root_joint
        if (before.name, before.type, before.parent_link) != (now.name, now.type, now.parent_link):
            # Another virtual joint: the page's robot has other variables.
            ui.navigate.reload()
            return
        self.kinematics = ForwardKinematics(robot)
        self.viewer.call("setSemantics", self.actor, semantics_of(self.kinematics))
        self._head.refresh()
        self._problems.show.refresh()
        # The tabs that are not open are renewed when they are opened.
        self._stale = {*self._tabs, "text"}
        self._renew_tab(str(self._chosen.value))

    def _opened(self, event: events.ValueChangeEventArguments[Any]) -> None:
        # Spheres are edited on one tab, and hide the robot on the others.
        self.viewer.call("show", "spheres", str(event.value) == "robot")
        if str(event.value) != "robot":
            self.viewer.call("showNothingEdited")
        self._renew_tab(str(event.value))

    def _renew_tab(self, name: str) -> None:
        if name not in self._stale:
            return
        self._stale.remove(name)
        if name == "text":
            self._text.refresh()
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
                step = with_attributes(ui.button(icon=icon, on_click=what), data_do=icon, aria_label=icon)
                step.props("flat dense round")
                step.tooltip(f"{icon}: {title}" if title else f"nothing to {icon}")
                step.set_enabled(title is not None)
            button("save …", self._save, "save")
            keys = ui.button(icon="keyboard", on_click=self._open_help).props("flat dense round")
            with_attributes(keys, aria_label="keyboard shortcuts", data_do="keys").tooltip("keyboard shortcuts: ?")

    def _open_help(self) -> None:
        self._help.open()

    def _undo(self) -> None:
        self.session.undo()
        self.renew()

    def _redo(self) -> None:
        self.session.redo()
        self.renew()

    def _save(self) -> None:
        window = with_attributes(ui.dialog(), aria_label="save the file")
        with window as dialog, ui.card().style("width: 860px; max-width: 95vw"):
            dialog.on("hide", dialog.delete)
            ui.label("Changes of the file").style("font-weight: 600")
            difference = self.session.diff() or "nothing"
            changes = with_attributes(ui.element("div"), role="region", tabindex="0", aria_label="changes")
            with changes.style("height: 50vh; width: 100%; overflow: auto; border: 1px solid #8884"):
                DiffText(difference.split("\n"))
            path = field("file", "save-as", str(self.session.output))
            with ui.row().style("width: 100%; justify-content: flex-end"):
                ui.button("cancel", on_click=dialog.close).props("flat no-caps")
                button("save", lambda: self._saved(dialog, path.value or ""), "really-save").props("autofocus")
        dialog.open()

    def _saved(self, dialog: ui.dialog, path: str, *, overwrite: bool = False) -> None:
        target = Path(path)
        try:
            self.session.save(target, overwrite=overwrite)
        except FileChangedError as error:
            self._ask_to_overwrite(dialog, path, str(error))
            return
        except OSError as error:
            ui.notify(f"{target}: {error.strerror}", type="negative")
            return
        dialog.close()
        ui.notify(f"saved {target}", type="positive")
        self.renew()

    def _ask_to_overwrite(self, saving: ui.dialog, path: str, problem: str) -> None:
        """Ask whether to write the file although another program changed it."""
        with with_attributes(ui.dialog(), aria_label="overwrite the file").props("persistent") as dialog, ui.card():
            ui.label(problem).style("font-weight: 600; overflow-wrap: anywhere")
            ui.label("If you overwrite it, the changes of the other program are lost.")
            with ui.row().style("width: 100%; justify-content: flex-end"):
                ui.button("cancel", on_click=dialog.close).props("flat no-caps")

                def overwrite() -> None:
                    dialog.close()
                    self._saved(saving, path, overwrite=True)

                button("overwrite", overwrite, "overwrite")
        dialog.open()

    @ui.refreshable_method
    def _text(self) -> None:
        area = ui.textarea(value=str(self.session.text)).props(
            "outlined for=whole-text spellcheck=false aria-label=text"
        )
        area.style("width: 100%").props('input-style="font: 12px/1.45 ui-monospace, monospace; height: 60vh"')

        def take() -> None:
            self.do("edit the text", lambda text: SrdfText(area.value or "", text.xml.source))

        button("apply", take, "take-text")
