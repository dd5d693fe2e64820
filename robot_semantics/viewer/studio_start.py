# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The tab start of the studio with the steps to a new SRDF, and the messages of the check below all tabs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nicegui import run, ui

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.element import with_attributes
from robot_semantics.viewer.studio_widgets import Panel, button, heading, on_named, problem_line, remark
from robot_semantics.viewer.suggestions import Suggestion, accept_all, suggestions
from robot_semantics.viewer.witnesses import CollisionWork, PoseProblem

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
LISTED = 12
"""Largest number of listed suggestions of a step, until a person asks for more."""


def tab_of(problem: Diagnostic | PoseProblem) -> str:
    """Return the tab that edits the element of a message."""
    found = re.match(r"/robot/(\w+)", problem.place.path)
    return TABS.get(found[1], "text") if found else "text"


def _key(problem: Diagnostic | PoseProblem) -> str:
    return f"{problem.place.line or 0} {problem.message}"


class ProblemList:
    """The messages of the check, collapsed at first."""

    def __init__(self, session: EditSession, collisions: CollisionWork, open_tab: Callable[[str], None]) -> None:
        """Build the list with no message chosen; `open_tab` shows a tab."""
        self._session, self._collisions, self._open_tab = session, collisions, open_tab
        self._chosen = -1
        self._shown: list[Diagnostic | PoseProblem] | None = None
        fold = ui.expansion(icon="rule").props("dense data-problems")
        self._fold = fold.style("width: 100%; flex: none; border-top: 1px solid #8884")
        self._fold.on_value_change(self._fill)
        with self._fold:
            self._lines = ui.column()
        for event in ("click", "keydown.enter"):
            on_named(self._lines, event, {"message": self._choose_message})
        self._lines.style("max-height: 30vh; overflow-y: auto; gap: 4px; width: 100%; flex-wrap: nowrap")
        self.show()

    def _all(self) -> list[Diagnostic | PoseProblem]:
        return [*self._session.problems, *self._collisions.pose_problems]

    def show(self) -> None:
        """Show the present messages; the same messages stay on the page."""
        found = self._all()
        if found == self._shown:
            return
        self._shown = found
        count = f"{len(found)} {'message' if len(found) == 1 else 'messages'}" if found else "no problems"
        self._fold.set_text(f"check: {count}")
        self._fill()

    def _fill(self) -> None:
        """Build the lines; a closed list has only its title."""
        self._lines.clear()
        with self._lines:
            for number, problem in enumerate((self._shown or [])[:SHOWN] if self._fold.value else ()):
                line = problem_line(problem).classes("problem-line")
                chosen = str(number == self._chosen).lower()
                with_attributes(line, role="button", tabindex="0", data_chosen=chosen, data_message=_key(problem))

    def step(self, by: int) -> None:
        """Go to the next (1) or the previous (-1) message, from the last to the first."""
        count = min(len(self._all()), SHOWN)
        if not count:
            ui.notify("The check has no messages.", type="positive")
            return
        self._fold.open()
        self._choose((self._chosen + by) % count if 0 <= self._chosen < count else 0 if by > 0 else count - 1)

    def _choose_message(self, key: str) -> None:
        found = [number for number, problem in enumerate(self._all()) if _key(problem) == key]
        if found:
            self._choose(found[0])

    def _choose(self, number: int) -> None:
        self._chosen = number
        self._fill()
        self._open_tab(tab_of(self._all()[number]))


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
        "Pairs of links that need no check: neighbours, and pairs that never touch. Planning fails without them: "
        "neighbours touch in every pose.",
        True,
    ),
    Step("Check", "text", "", "All messages of the check. The file is ready when there are none.", True),
)


class StartTab:
    """Lists the steps with their state, and suggestions that one click accepts."""

    def __init__(self, studio: Panel) -> None:
        """Begin."""
        self._studio = studio
        self._refused: set[str] = set()
        self._unfolded: set[str] = set()
        self._adding: set[str] = set()
        self._buttons: dict[str, ui.button] = {}

    def build(self) -> None:
        """Build the list."""
        self._suggestions, self._shown = self._suggested(), self._states()
        with ui.column().style("width: 100%; gap: 10px; flex-wrap: nowrap") as box:
            self._list()
        on_named(box, "click", {"accept": self._accept, "open": self._open, "more": self._unfold})

    def renew(self) -> None:
        """Show the present state of the session; what stays the same is not built anew, so that no click is lost."""
        titles, shown = [suggestion.title for suggestion in self._suggestions], self._shown
        self._suggestions, self._shown = self._suggested(), self._states()
        if titles != [suggestion.title for suggestion in self._suggestions] or shown != self._shown:
            self._list.refresh()

    def _states(self) -> list[tuple[str, bool]]:
        return [self._state(step) for step in STEPS]

    def picked(self, link: str, joint: str) -> None:
        """Ignore clicks on links."""

    @ui.refreshable_method
    def _list(self) -> None:
        suggestions = self._suggestions
        self._buttons.clear()
        # Without a suggestion, the robot may not need the optional steps.
        following = next((step for step in STEPS if step.is_needed and not self._state(step)[1]), STEPS[-1])
        with ui.row(wrap=False).style("width: 100%; align-items: center"):
            heading("Steps to a complete SRDF").style("flex: 1")
            if len(suggestions) > 1:
                button(f"accept all {len(suggestions)}", self._accept_all, "accept-all", outline=True)
        essential = [suggestion for suggestion in suggestions if not suggestion.is_optional]
        for step in STEPS:
            count, done = self._state(step)
            if not done and self._is_needless(step, suggestions):
                count, done = "not needed", True
            row = ui.column().style("width: 100%; gap: 2px").classes("step")
            with with_attributes(row, data_step=step.title, data_done=str(done).lower()):
                with ui.row(wrap=False).style("width: 100%; align-items: center; gap: 8px"):
                    icon = ui.icon("check_circle" if done else "radio_button_unchecked", size="20px")
                    icon.classes("done" if done else "open")
                    opener = ui.button(step.title)
                    with_attributes(opener, data_open=step.title).props("flat dense no-caps align=left")
                    if not essential and step is following:
                        with_attributes(opener, id=NEXT_STEP)
                    opener.style("font-weight: 600; padding: 0 4px")
                    ui.space()
                    remark(count)
                remark(step.about).style("padding-left: 28px")
                self._suggest(
                    step, [suggestion for suggestion in suggestions if suggestion.step == step.suggested], essential
                )

    def _suggest(self, step: Step, suggested: Sequence[Suggestion], essential: Sequence[Suggestion]) -> None:
        """List the suggestions of a step; hundreds of rows would slow down each edit."""
        shown = suggested if step.title in self._unfolded else suggested[:LISTED]
        for suggestion in shown:
            self._suggestion(suggestion, is_first=essential[:1] == [suggestion])
        if len(shown) < len(suggested):
            more = ui.button(f"{len(suggested) - len(shown)} more").props("flat dense no-caps size=12px")
            with_attributes(more, data_more=step.title).style("margin-left: 28px; align-self: flex-start")

    def _unfold(self, step: str) -> None:
        self._unfolded.add(step)
        self._list.refresh()

    def _is_needless(self, step: Step, suggestions: Sequence[Suggestion]) -> bool:
        """Return True if this robot does not need a step: nothing of its kind is suggested, or can be later."""
        if any(suggestion.step == step.suggested for suggestion in suggestions):
            return False
        is_later = step.title == "End effectors" and not self._studio.session.text.semantic.groups
        return step.title in ("Virtual joint", "End effectors", "Passive joints") and not is_later

    def _suggested(self) -> list[Suggestion]:
        session = self._studio.session
        found = suggestions(session.robot, session.text.semantic, self._studio.collisions.free_pose)
        return [suggestion for suggestion in found if suggestion.title not in self._refused]

    async def _accept_all(self) -> None:
        """Make one step of all suggestions, and of those that follow from them."""
        session = self._studio.session
        text = session.text
        made = await run.io_bound(accept_all, session.bare, text, self._studio.collisions.free_pose)
        if made is None or session.text is not text:
            ui.notify("The document has changed meanwhile: nothing is added.", type="warning")
            return
        changed, added, failed = made
        for problem in failed:
            ui.notify(problem, type="warning", position="bottom")
        if self._studio.do(f"{len(added)} suggestions", lambda _: changed):
            self._studio.focus(NEXT_STEP)

    def _open(self, step: str) -> None:
        tab = next(item.tab for item in STEPS if item.title == step)
        self._studio.open(tab)
        self._studio.focus(FIRST_FIELDS[tab])

    def _present(self, title: str) -> Suggestion | None:
        """Return a suggestion for the present robot: its limits, for example, may have changed."""
        return next((item for item in self._suggestions if item.title == title), None)

    async def _accept(self, title: str) -> None:
        suggestion = self._present(title)
        if suggestion is None or title in self._adding:
            return
        self._adding.add(title)
        if title in self._buttons:
            # A pose free of collision takes a moment to find.
            self._buttons[title].props("loading")
        try:
            text = self._studio.session.text
            changed = await run.io_bound(suggestion.edit, text)
        except RobotSemanticsError as error:
            # What cannot be added is not suggested again.
            ui.notify(f"{title}: {error}", type="negative", position="bottom")
            self._refused.add(title)
            self.renew()
            return
        finally:
            self._adding.discard(title)

        def added(newest: SrdfText) -> SrdfText:
            return (
                changed if newest is text and changed is not None else (self._present(title) or suggestion).edit(newest)
            )

        if self._studio.do(title, added):
            # The pressed button no longer exists.
            self._studio.focus(NEXT_STEP)

    def _suggestion(self, suggestion: Suggestion, *, is_first: bool) -> None:
        title = suggestion.title
        with ui.row(wrap=False).style("padding-left: 28px; width: 100%; align-items: center; gap: 8px"):
            ui.label(title).style("flex: 1; font-size: 12px; overflow-wrap: anywhere")
            add = ui.button("add").props("dense no-caps outline size=12px").style("padding: 0 8px")
            with_attributes(add, data_accept=title, aria_label=f"add {title}")
            add.props.set_bool("loading", title in self._adding)
            self._buttons[title] = add
            if is_first:
                with_attributes(add, id=NEXT_STEP)

    def _state(self, step: Step) -> tuple[str, bool]:
        """Return the state of a step in words, and True if it is done."""
        session = self._studio.session
        text: SrdfText = session.text
        semantic = text.semantic
        if step.title == "Check":
            errors = sum(problem.severity is Severity.ERROR for problem in session.problems)
            count = len(session.problems) + len(self._studio.collisions.pose_problems)
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
