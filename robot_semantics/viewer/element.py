# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The viewer as an element of a served page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from nicegui import events, json, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.json_value import JsonObject
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.viewer.page import ASSETS, three_js
from robot_semantics.viewer.scene import closed_pose
from robot_semantics.viewer.scene_data import LiveStance

AnyElement = TypeVar("AnyElement", bound=ui.element)


def with_attributes(element: AnyElement, **attributes: str) -> AnyElement:
    """Set attributes of an element to any texts, and return the element; ``_`` in a name means ``-``.

    ``element.props()`` parses its string, so a text from a file must not be a part of that string. A quote in the text
    would begin another attribute, and the page evaluates attributes whose names begin with a colon.
    """
    element.props.update({name.replace("_", "-"): value for name, value in attributes.items()})
    return element


class ViewerElement(
    ui.element,
    component=str(ASSETS / "component.js"),
    esm={"nicegui-scene": str(three_js().parent), "robot-semantics-viewer": str(ASSETS)},
):
    """Viewer of the scene at an address. Its events are ``ready``; ``picked`` (actor, link, joint, shift); ``posed``
    (actor, q) after the user moved a joint; ``opened`` (actor, q, before, request) if it has loops, see `close_loops`;
    ``dragged`` (actor, T: 16 numbers of T_world_gizmo row by row, done).

    Attributes:
        widen_panel: makes the panel beside the viewer so wide [pixels], unless a person has chosen its width.
    """

    def __init__(self, source: str) -> None:
        """Show the scene at the address `source` of this server, in the form of `scene_bytes`."""
        super().__init__()
        self._props["source"] = source
        self.widen_panel: Callable[[int], None] = lambda pixels: None
        self.style("width: 100%; height: 100%")

    def call(self, what: str, *values: object) -> None:
        """Call the function `what` of the viewer's JavaScript application, without waiting."""
        # As a text: in a script, the name ``__proto__`` would not be a key.
        self.run_method("tellViewer", what, json.dumps(values))

    def close_loops(self, robot: Callable[[str], ForwardKinematics]) -> None:
        """Close the loops of robots in the page after their joints were moved there; `robot` returns one by name."""

        async def close(event: events.GenericEventArguments) -> None:
            name, q, before = (event.args[key] for key in ("actor", "q", "before"))
            found = await run.io_bound(_closed, robot, name, q, before)
            if found is not None:
                self.call("closed", name, event.args["request"], *found)

        self.on("opened", close)


def _closed(
    robot: Callable[[str], ForwardKinematics], name: str, q: list[float], before: list[float]
) -> tuple[list[float], str]:
    try:
        closed, problem = closed_pose(robot(name), np.array(q, np.float64), np.array(before, np.float64))
    except RobotSemanticsError as error:
        return before, str(error)
    return closed.tolist(), problem


class Choice(ui.select, component=str(ASSETS / "choice.js")):
    """A field to choose one name of a list, or several, by typing, arrow keys and Enter, or by clicks."""

    def __init__(
        self,
        label: str,
        options: Sequence[str],
        changed: Callable[[Any], object] = lambda value: None,
        *,
        name: str,
        noun: str,
        multiple: bool = False,
    ) -> None:
        """Offer `options`; `name` is the id of the field, `noun` the kind of name, for messages."""
        super().__init__(list(options), label=label, with_input=True, multiple=multiple)
        with_attributes(self, **{"for": name, "noun": noun}).props("dense").style("width: 100%")
        self.props.set_bool("use-chips", multiple)
        self.on_value_change(lambda event: changed(event.value))

    def offer(self, options: Sequence[str]) -> None:
        """Offer other names; chosen names that are not among them are removed."""
        names = list(options)
        if names == self.options:
            return
        kept = [name for name in self.value or () if name in names] if self.multiple else self.value
        self.set_options(names, value=kept if self.multiple or kept in names else None)

    def _event_args_to_value(self, e: events.GenericEventArguments) -> Any:
        # By name, because the list may have changed, and a number would mean another name.
        chosen = e.args if self.multiple else [e.args]
        names = [option["label"] for option in chosen or () if isinstance(option, dict)]
        known = [name for name in names if name in self.options]
        return known if self.multiple else next(iter(known), None)


class Shortcuts(ui.element, component=str(ASSETS / "shortcuts.js")):
    """Keys of the whole page; it emits ``shortcut`` (the purpose of the key). Keys are ignored while a dialog is
    open.
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        """Listen to keys, such as ``ctrl+s``; each key has a word for its purpose."""
        super().__init__()
        self.props["keys"] = dict(keys)

    def focus(self, name: str) -> None:
        """Give the focus to the element of an id; the text of a field is selected."""
        self.run_method("focus", name)

    def clear_field(self, name: str, text: str) -> None:
        """Clear the text field of an id if it still has this text."""
        self.run_method("clear", name, text)

    def scroll_to(self, selector: str) -> None:
        """Scroll to an element."""
        self.run_method("show", selector)


class PairMatrix(ui.element, component=str(ASSETS / "matrix.js")):
    """Draws a symmetric matrix of links as cells; it emits ``pair`` (the cell's id) after a click on a cell."""

    def __init__(self, matrix: JsonObject) -> None:
        """Draw a matrix, see `robot_semantics.viewer.studio_pairs.matrix_data`."""
        super().__init__()
        self.props["matrix"] = matrix

    def draw(self, matrix: JsonObject) -> None:
        """Draw another matrix."""
        self.props["matrix"] = matrix


class PairTable(ui.table, component=str(ASSETS / "pair_table.js")):
    """Table of pairs of links with a box for each; it emits ``pair`` (the row's id) after a click on a row, or Enter on
    its box, and ``needs`` (the width of the panel in which no name is cut [pixels]).
    """


class Thumbnail(ui.element, component=str(ASSETS / "thumbnail.js")):
    """A small picture of robots in other positions, drawn by the viewer of the page."""

    def __init__(self, stances: Mapping[str, LiveStance], about: str) -> None:
        """Draw robots with positions ``q`` and, if their pose differs, ``T`` by their names; `about` is the
        description.
        """
        super().__init__()
        self.props.update({"stances": dict(stances), "about": about})


class StanceDifference(ui.element, component=str(ASSETS / "difference.js")):
    """List of the differences between the robots in the viewer of the page and other positions of these robots."""

    def __init__(self, stances: Mapping[str, LiveStance], most: int) -> None:
        """List at most `most` values, the largest difference first; `stances` as for `Thumbnail`."""
        super().__init__()
        self.props.update({"stances": dict(stances), "most": most})


class DiffText(ui.element, component=str(ASSETS / "diff.js")):
    """Shows the lines of a unified diff, the added and the removed ones coloured."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Show lines."""
        super().__init__()
        self.show(lines)

    def show(self, lines: Sequence[str]) -> None:
        """Show other lines."""
        self.props["lines"] = list(lines)


MAX_TYPED = 4_000_000
"""Longest text that can be typed [characters]: it is sent with each key."""


class TextPane(ui.element, component=str(ASSETS / "text_pane.js")):
    """The text of the document as a field; it emits ``typed`` (number, piece, is_last, base, before) while a person
    types.

    `number` counts what was typed. A long text comes in pieces; a `piece` that is null means the text of the document,
    and `is_too_long` that the page keeps the text for itself. `base` is the hash of the document on which the text was
    typed, `before` the page that sent the text earlier.
    """

    def __init__(self, page: str) -> None:
        """Show no text yet; `page` is the id of the page."""
        super().__init__()
        self._answers = 0
        self.props.update({"page": page, "longest": MAX_TYPED})

    def show(self, text: str, base: str, typed: Mapping[str, str] | None) -> None:
        """Show the document with its hash `base`, and a typed text that the server knows."""
        self.props.update({"text": text, "base": base, "typed": None if typed is None else dict(typed)})

    def settle(self, number: int) -> None:
        """Let go of what was typed up to this number: it is applied, or not wanted."""
        self._answers += 1
        self.props["settled"] = {"answer": self._answers, "number": number}


class KeptWork(ui.element, component=str(ASSETS / "kept_work.js")):
    """Keeps the document on the page while the server does not answer; it emits ``kept`` (name, text, base) if the
    page before had another document, and ``tab`` (name) if another tab was chosen there.
    """

    def keep(self, name: str, text: str, base: str, *, unsaved: bool) -> None:
        """Keep the document `text` of the file `name`; `base` is the hash of the file."""
        self.props.update({"name": name, "text": text, "base": base, "unsaved": unsaved})

    def keep_tab(self, name: str) -> None:
        """Keep the name of the open tab."""
        self.props["tab"] = name


class PartList(ui.element, component=str(ASSETS / "part_list.js")):
    """Rows of parts of the document, each with its key; rows that do not change stay on the page as they are.

    It emits ``act`` (what, kind, name, and more): ``rename`` (value), ``remove``, ``cut`` (member, members), ``set``
    (cell, value), ``take``, ``see`` and ``hover`` (on).
    """

    def show(self, rows: Sequence[JsonObject], options: Mapping[str, Sequence[str]]) -> None:
        """Show rows, see `robot_semantics.viewer.studio_widgets.part_row`; `options` are the lists of names by kind."""
        # As texts: the framework watches each value of a nested list.
        self.props.update(
            {"rows": list(map(json.dumps, rows)), "options": {kind: list(names) for kind, names in options.items()}}
        )
