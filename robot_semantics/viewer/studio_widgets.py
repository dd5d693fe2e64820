# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Widgets of the tabs of the studio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nicegui import events, ui

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.srdf.edit import PARTS, SrdfText
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.element import PartList, ViewerElement, with_attributes

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece
    from robot_semantics.viewer.witnesses import CollisionWork, PoseProblem

COLOURS = {Severity.ERROR: "red-8", Severity.WARNING: "deep-orange-10", Severity.NOTE: "blue-grey"}

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
    collisions: CollisionWork
    running: Callable[[], Mapping[str, float]]
    actor: str
    q: FloatArray
    windows: ui.element
    notice: ui.element

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


NAMED = """(event) => {
  const part = event.target.closest("[data-accept], [data-open], [data-more], [data-message]");
  if (part) emit({ ...part.dataset });
}"""
"""Sends the data attributes of the element that was used, which name what it is for."""


def on_named(box: ui.element, event: str, handlers: Mapping[str, Callable[[str], object]]) -> None:
    """Call a handler with the value of its data attribute, one of `NAMED` without ``data-``, of the element in `box`
    that was used.

    The page may show an element that the server has just built anew: a click on it is about its name.
    """

    def handle(used: events.GenericEventArguments) -> object:
        name = next((name for name in handlers if name in used.args), None)
        return None if name is None else handlers[name](str(used.args[name]))

    box.on(event, handle, js_handler=NAMED)


def toggle(options: Sequence[str], value: str | None, chosen: Callable[[str], object], name: str) -> ui.toggle:
    """Show a choice of one of several words; `name` is its mark."""
    shown = ui.toggle(list(options), value=value, on_change=lambda event: chosen(str(event.value)))
    return with_attributes(shown, **{name: ""}).props("dense no-caps size=12px padding='2px 10px'")


# Rows of parts that are changed in place.


RENAMED = {"group": "group", "end effector": "end_effector", "virtual joint": "joint"}
"""The kind of name, as in `SrdfText.rename`, of each kind of part that can be renamed; states have their own."""


def part_row(
    session: EditSession,
    kind: str,
    *name: str,
    about: str = "",
    chips: Sequence[Member] = (),
    cells: Sequence[Cell] = (),
    **more: Json,
) -> JsonObject:
    """Return the row of a part: its kind (of `robot_semantics.srdf.edit.PARTS`) and name, and what it shows.

    Args:
        session: its messages about the part are shown.
        kind: the kind of the part.
        name: its name.
        about: a line below the name.
        chips: members that a click removes.
        cells: values that are edited in place.
        more: `marks` (attributes), `take` (words of a button), `stances` (of a picture), `visible`, `folded`, `shows`.
    """
    problems: list[Json] = []
    for problem in session.about(name[-1])[:5]:
        line = f"line {problem.place.line}: " if problem.place.line else ""
        problems.append([problem.severity.value, line + problem.message])
    return {
        "key": "\n".join((kind, *name)),
        "kind": kind,
        "name": list(name),
        "title": "/".join(name) if kind == "state" else name[0],
        "renamable": kind in RENAMED or kind == "state",
        "about": about,
        "chips": [{"kind": chip.kind, "name": list(chip.name), "words": chip.words} for chip in chips],
        "cells": [cell._asdict() for cell in cells] or None,
        "problems": problems,
        **more,
    }


Act = Mapping[str, Any]
"""What a person did with a row: ``what``, ``kind``, ``name``, and more, see `PartList`."""


class Member(NamedTuple):
    """A member of a group: its kind (joint, link, group or chain), its name or two links, and its words."""

    kind: str
    name: tuple[str, ...]
    words: str


class Cell(NamedTuple):
    """A value that is edited in place.

    Attributes:
        key: its name, for `Parts`.
        label: its words.
        value: its text, or True or False.
        kind: text, choice or box.
        list: the kind of names that it takes; any text without.
    """

    key: str
    label: str
    value: str | bool
    kind: str = "text"
    list: str = ""


class Parts:
    """A list of parts of the document on a tab, changed in place."""

    def __init__(
        self,
        studio: Panel,
        rows: Callable[[], list[JsonObject]],
        options: Callable[[], Mapping[str, Sequence[str]]],
        edit: Callable[[tuple[str, ...], str, str | bool], Callable[[SrdfText], SrdfText]] | None = None,
        acts: Mapping[str, Callable[[Act], object]] | None = None,
    ) -> None:
        """Show the list.

        Args:
            studio: the panel.
            rows: return the present rows, see `part_row`.
            options: return the lists of names that cells take, by kind.
            edit: return the change that gives a cell (part's name, key) a value; errors are shown.
            acts: what ``take``, ``see`` and ``hover`` do.
        """
        self._studio, self._rows, self._options = studio, rows, options
        self._edit, self._acts = edit, acts or {}
        self._list = PartList().on("act", self._act)
        self.renew()

    def renew(self) -> None:
        """Show the present rows."""
        self._list.show(self._rows(), self._options())

    def _act(self, event: events.GenericEventArguments) -> None:
        args: Act = event.args
        what, kind, name = str(args["what"]), str(args["kind"]), tuple(str(word) for word in args["name"])
        if what == "remove":
            remove_part(self._studio, kind, *name)
        elif what == "rename":
            new = str(args["value"]).strip()
            self._studio.do(f"rename {kind} {name[-1]} to {new}", partial(_renamed, kind=kind, name=name, new=new))
        elif what == "cut":
            member = (str(args["member"]), *(str(word) for word in args["members"]))
            self._studio.do(f"remove {' '.join(member)}", lambda text: text.remove_member(name[0], *member))
        elif what == "set" and self._edit is not None:
            key, value = str(args["cell"]), args["value"] if isinstance(args["value"], bool) else str(args["value"])
            try:
                edit = self._edit(name, key, value)
            except RobotSemanticsError as error:
                ui.notify(str(error), type="negative", position="bottom")
            else:
                self._studio.do(f"{key} of {kind} {'/'.join(name)}", edit)
            # A value that was refused is shown as it was.
            self._list.update()
        elif what in self._acts:
            self._acts[what](args)


def one_of(value: str, names: Sequence[str], noun: str) -> str:
    """Return a name of a list.

    Raises:
        UnknownNameError: the list does not have it.
    """
    if value not in names:
        raise UnknownNameError(noun, value, names)
    return value


def _renamed(text: SrdfText, kind: str, name: tuple[str, ...], new: str) -> SrdfText:
    of_tree, fields = PARTS[kind]
    known = {tuple(getattr(item, field) for field in fields) for item in getattr(text.semantic, of_tree)}
    if (*name[:-1], new) in known:
        raise RobotSemanticsError(f"there is already a {kind} '{new}'")
    if kind == "state":
        return text.rename_state(name[0], name[1], new)
    return text.rename(RENAMED[kind], name[0], new)


def remove_part(studio: Panel, kind: str, *name: str) -> None:
    """Remove a part; if others name it, say so and offer to remove them also."""
    title = f"remove {kind} {'/'.join(name)}"
    uses = studio.session.text.uses(kind, *name) if kind in ("group", "virtual joint") else ()
    if not studio.do(title, lambda text: text.remove(kind, *name)) or not uses:
        return

    def remove() -> None:
        studio.do(f"remove the uses of {name[0]}", lambda text: text.remove_uses(kind, *name))

    with studio.notice, ui.card().classes("notice").props("data-uses role=status"):
        small(f"The {kind} '{name[0]}' is removed. These parts still name it:").style("font-weight: 600")
        for words in dict.fromkeys(use.words for use in uses):
            small(words)
        with ui.row().style("width: 100%; justify-content: flex-end; gap: 6px"):
            ui.button("keep them", on_click=studio.notice.clear).props("flat dense no-caps")
            button("remove them also", remove, "remove-uses")


def problem_line(problem: Diagnostic | PoseProblem) -> ui.row:
    """Show one message."""
    with ui.row(wrap=False).style("gap: 6px; align-items: baseline; width: 100%").props("data-problem") as line:
        ui.badge(problem.severity.value, color=COLOURS[problem.severity])
        where = f"line {problem.place.line}: " if problem.place.line else ""
        ui.label(where + problem.message).style("font-size: 12px; overflow-wrap: anywhere")
    return line
