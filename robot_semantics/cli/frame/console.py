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
from collections.abc import Sequence
from typing import TYPE_CHECKING

from robot_semantics.base.names import LONGEST_LINE, shown
from robot_semantics.cli.frame.printing import is_quiet, print_line, wants_colour

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TaskID

# rich is imported only for a terminal, trees and progress: its import takes longer than most commands.


class OutputConsole:
    """Standard output for tables and trees.

    On a terminal, a table that is too wide becomes a list of its rows. Without a terminal, lines are not folded and
    have no blanks at their end: a pager or a file takes any length.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()

    def print(self, output: Table | RenderableType = "") -> None:
        """Print a table, a tree or a text."""
        if not self._is_terminal and isinstance(output, (str, Table)):
            for line in output.lines() if isinstance(output, Table) else [output]:
                print(line.rstrip())
            return
        from rich.console import Console
        from rich.measure import Measurement

        console = Console(
            highlight=False,
            markup=False,
            emoji=False,
            force_terminal=self._is_terminal,
            width=None if self._is_terminal else _ENDLESS,
            color_system="auto" if wants_colour(sys.stdout) else None,
        )
        if not self._is_terminal:
            with console.capture() as capture:
                console.print(output)
            for line in capture.get().split("\n")[:-1]:
                print(line.rstrip())
            return
        width = console.options.max_width
        if isinstance(output, Table):
            unfolded = output.as_rich()
            if Measurement.get(console, console.options.update(width=_ENDLESS), unfolded).maximum > width:
                for line in output.as_list(width):
                    print_line(line, most=len(line))
                return
            output = unfolded
        console.print(output)


_ENDLESS = 10_000
"""Width of lines that are not folded [characters]."""


def console_for_output() -> OutputConsole:
    """Return a console for standard output."""
    return OutputConsole()


class Table:
    """Rows of cells below the names of their columns, which cannot control the terminal."""

    def __init__(self, columns: Sequence[str], title: str | None = None) -> None:
        self._title = None if title is None else shown(title, LONGEST_LINE)
        self._columns = [shown(column, LONGEST_LINE) for column in columns]
        self._rows: list[list[str]] = []

    def add_row(self, *cells: str | Sequence[str]) -> None:
        """Add a row; a cell is a text, or a sequence with a text for each of its lines."""
        lines = ((cell,) if isinstance(cell, str) else cell for cell in cells)
        self._rows.append(["\n".join(shown(line, LONGEST_LINE) for line in cell) for cell in lines])

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def lines(self) -> list[str]:
        """Return the lines of the table; no cell is folded."""
        table = [self._columns, *self._rows] if self._columns else self._rows
        count = max(map(len, table), default=0)
        cells = [[cell.split("\n") for cell in (*row, *[""] * (count - len(row)))] for row in table]
        widths = [max(_width(line) for row in cells for line in row[at]) for at in range(count)]
        lines = [] if self._title is None else [self._title]
        for row in cells:
            for number in range(max(map(len, row))):
                parts = [cell[number] if number < len(cell) else "" for cell in row]
                padded = (f"{part}{' ' * (width - _width(part))}" for part, width in zip(parts, widths, strict=True))
                lines.append("  ".join(padded).rstrip())
        return lines

    def as_rich(self) -> RenderableType:
        """Return the table for a terminal; it folds long cells and does not cut them."""
        from rich import table, text

        rich_table = table.Table(
            title=self._title,
            title_justify="left",
            title_style="bold",
            header_style="bold",
            show_header=bool(self._columns),
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
        )
        for column in self._columns:
            rich_table.add_column(column, overflow="fold")
        for row in self._rows:
            rich_table.add_row(*map(text.Text, row))
        return rich_table

    def as_list(self, width: int) -> list[str]:
        """Return the rows one below the other, each cell with the name of its column, folded only at blanks."""
        lines = [self._title] if self._title else []
        for first, *others in self._rows:
            lines.append(first)
            for number, cell in enumerate(others, 1):
                title = self._columns[number] if self._columns else ""
                text = " ".join(cell.split("\n"))
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


def _width(text: str) -> int:
    """Return the number of a terminal's columns that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def empty_table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table."""
    return Table(columns, title)


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
