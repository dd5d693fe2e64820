# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All messages of the check below the tabs; each opens the tab of its element."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from nicegui import ui

from robot_semantics.base.diagnostics import Diagnostic
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.element import with_attributes
from robot_semantics.viewer.studio_widgets import problem_line

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
