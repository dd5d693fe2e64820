# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The steps to a new SRDF in the studio: their purpose, their state, and suggestions that one click adds."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from nicegui import ui

from robot_semantics.base.diagnostics import Severity
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.element import with_attributes
from robot_semantics.viewer.studio_keys import FIRST_FIELDS, NEXT_STEP
from robot_semantics.viewer.studio_widgets import Panel, heading, remark
from robot_semantics.viewer.suggestions import Suggestion, suggestions


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
