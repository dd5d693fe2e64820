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
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console, RenderableType
from rich.table import Table

from robot_semantics.base.names import LONGEST_LINE, shown
from robot_semantics.cli.frame.printing import is_quiet, wants_colour

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def console_for_output() -> Console:
    """Return a console; without a terminal lines are not cut or folded: a pager or a file takes any length."""

    def console(width: int | None = None) -> Console:
        colours: Literal["auto"] | None = "auto" if wants_colour(sys.stdout) else None
        return Console(highlight=False, markup=False, emoji=False, width=width, color_system=colours)

    terminal = console()
    return terminal if terminal.is_terminal else console(10_000)


class _ShownTable(Table):
    """A table whose cells cannot control the terminal."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row, as in rich."""
        super().add_row(*(shown(cell, LONGEST_LINE) if isinstance(cell, str) else cell for cell in cells), **options)


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
        made.add_column(column, overflow="fold")
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
