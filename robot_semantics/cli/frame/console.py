# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Tables and progress on the terminal, with colours only where they are wanted."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from robot_semantics.base.names import LONGEST_LINE, shown
from robot_semantics.cli.frame.printing import is_quiet, print_line, wants_colour

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class OutputConsole:
    """Standard output for tables and trees.

    On a terminal, a table that is too wide becomes a list of its rows. Without a terminal, lines are not folded and
    have no blanks at their end: a pager or a file takes any length.
    """

    def __init__(self, columns: int | None = None) -> None:
        colours: Literal["auto"] | None = "auto" if wants_colour(sys.stdout) else None
        self._console = Console(highlight=False, markup=False, emoji=False, width=columns, color_system=colours)
        self._is_terminal = self._console.is_terminal
        if not self._is_terminal:
            self._console.width = 10_000

    def print(self, renderable: RenderableType = "") -> None:
        """Print a table, a tree or a text."""
        if not self._is_terminal:
            with self._console.capture() as capture:
                self._console.print(renderable)
            for line in capture.get().split("\n")[:-1]:
                print(line.rstrip())
            return
        width = self._console.options.max_width
        if isinstance(renderable, _ShownTable) and renderable.width_in(self._console) > width:
            for line in renderable.as_list(width):
                print_line(line, most=len(line))
            return
        self._console.print(renderable)


def console_for_output() -> OutputConsole:
    """Return a console for standard output."""
    return OutputConsole()


class _ShownTable(Table):
    """A table whose cells cannot control the terminal."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row, as in rich."""
        super().add_row(*(shown(cell, LONGEST_LINE) if isinstance(cell, str) else cell for cell in cells), **options)

    def width_in(self, console: Console) -> int:
        """Return the width of the table if no cell is folded."""
        wide = console.options.update(width=10_000)
        return Measurement.get(console, wide, self).maximum

    def as_list(self, width: int) -> list[str]:
        """Return the rows one below the other, each cell with the name of its column, folded only at blanks."""
        titles = [str(column.header) for column in self.columns]
        lines = [str(self.title)] if self.title else []
        for row in zip(*(column.cells for column in self.columns), strict=True):
            first, *others = row
            lines.append(str(first))
            for title, cell in zip(titles[1:], others, strict=True):
                text = " ".join(str(cell).split("\n")) if isinstance(cell, (str, Text)) else ""
                if text and text != "-":
                    lines += textwrap.wrap(
                        f"{title}: {text}" if title else text,
                        width,
                        initial_indent="  ",
                        subsequent_indent="    ",
                        break_long_words=False,
                        break_on_hyphens=False,
                    )
        return lines


def table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table; it folds long cells and does not cut them."""
    made = _ShownTable(
        title=None if title is None else shown(title, LONGEST_LINE),
        title_justify="left",
        title_style="bold",
        header_style="bold",
        show_header=bool(columns),
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for column in columns:
        made.add_column(shown(column, LONGEST_LINE), overflow="fold")
    return made


class Bar:
    """Progress bar for several phases; use it in a `with`. Without a terminal or with ``--quiet`` it does nothing."""

    def __init__(self) -> None:
        self._enabled = not is_quiet() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        """Start drawing."""
        if self._enabled:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description:>8}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True, color_system="auto" if wants_colour(sys.stderr) else None),
                transient=True,
            )
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()

    def phase(self, name: str, total: int) -> None:
        """Begin a phase of `total` steps."""
        if self._progress is not None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(name, total=total or None, rate="")

    def advance(self, count: int) -> None:
        """Report `count` more finished steps."""
        if self._progress is not None and self._task is not None:
            (task,) = self._progress.tasks
            rate = f"{task.speed:,.0f}/s" if task.speed else ""
            self._progress.update(self._task, advance=count, rate=rate)
