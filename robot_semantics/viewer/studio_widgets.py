# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Widgets of the tabs of the studio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from nicegui import ui

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.element import ViewerElement, with_attributes

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece

COLOURS = {Severity.ERROR: "red-8", Severity.WARNING: "orange-9", Severity.NOTE: "blue-grey"}

NAME_CELL = """
<q-td :props="props"><span class="cut" :title="props.value"
  ><span>{{ props.value.slice(0, -9) }}</span><span>{{ props.value.slice(-9) }}</span></span></q-td>
"""
"""A name that is cut in the middle where the column is narrow; all of it on hover."""


class Panel(Protocol):
    """The panel around a tab of the studio, as the tab sees it."""

    session: EditSession
    viewer: ViewerElement
    kinematics: ForwardKinematics
    pieces: Callable[[], tuple[Piece, ...]]
    running: Callable[[], Mapping[str, float]]
    actor: str
    q: FloatArray

    def do(self, title: str, edit: Callable[[SrdfText], SrdfText]) -> bool:
        """Make a change and show it; return True if the text has changed."""

    def renew(self) -> None:
        """Show the current session."""

    def open(self, name: str) -> None:
        """Open a tab."""

    def is_open(self, name: str) -> bool:
        """Return whether a tab is open."""

    def focus(self, name: str) -> None:
        """Give the focus to the element of an id."""

    def clear(self, name: str, text: str) -> None:
        """Clear the field of an id if it still has this text: the user may have typed the next one."""

    def pose(self, q: FloatArray) -> None:
        """Show the robot in a pose."""


def heading(text: str) -> ui.label:
    """Show a heading."""
    return ui.label(text).style("font-weight: 600; margin-top: 4px")


def small(text: str) -> ui.label:
    """Show a small text with full contrast."""
    return ui.label(text).style("font-size: 12px; overflow-wrap: anywhere")


def remark(text: str) -> ui.label:
    """Show a small text."""
    return ui.label(text).style("font-size: 12px; opacity: 0.8; overflow-wrap: anywhere")


def button(title: str, pressed: Callable[[], object], name: str, *, outline: bool = False) -> ui.button:
    """Show a button; `name` is its ``data-do``."""
    shown = ui.button(title, on_click=pressed).style("padding: 0 12px")
    shown.props.set_bool("outline", outline)
    return with_attributes(shown, data_do=name).props("no-caps dense")


def field(
    label: str, name: str, value: str | None = "", changed: Callable[[str], object] | None = None, **options: Any
) -> ui.input:
    """Show a text field; `name` is its id."""
    shown = with_attributes(ui.input(label, value=value or "", **options), **{"for": name}).props("dense")
    shown.style("width: 100%")
    if changed is not None:
        shown.on_value_change(lambda event: changed(event.value or ""))
    return shown


def toggle(options: Sequence[str], value: str | None, chosen: Callable[[str], object], name: str) -> ui.toggle:
    """Show a choice of one of several words; `name` is its mark."""
    shown = ui.toggle(list(options), value=value, on_change=lambda event: chosen(str(event.value)))
    return with_attributes(shown, **{name: ""}).props("dense no-caps size=12px padding='2px 10px'")


def remove_button(studio: Panel, kind: str, *name: str) -> None:
    """Show a button that removes a part: a kind of `robot_semantics.srdf.edit.PARTS`, and its name."""
    title = f"remove {kind} {'/'.join(name)}"
    button = ui.button(icon="delete", on_click=lambda: studio.do(title, lambda text: text.remove(kind, *name)))
    with_attributes(button, aria_label=title).props("flat dense round size=sm")


def messages(studio: Panel, *names: str) -> None:
    """Show the messages of the check about these names."""
    for problem in studio.session.about(*names)[:5]:
        problem_line(problem)


def problem_line(problem: Diagnostic) -> ui.row:
    """Show one message."""
    with ui.row(wrap=False).style("gap: 6px; align-items: baseline; width: 100%").props("data-problem") as line:
        ui.badge(problem.severity.value, color=COLOURS[problem.severity])
        where = f"line {problem.place.line}: " if problem.place.line else ""
        ui.label(where + problem.message).style("font-size: 12px; overflow-wrap: anywhere")
    return line
