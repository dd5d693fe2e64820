# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Keyboard shortcuts of the studio and the overlay that lists them."""

from __future__ import annotations

from nicegui import ui

from robot_semantics.viewer.element import with_attributes

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
