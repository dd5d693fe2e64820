# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Output of commands: lines for people, JSON with a version for programs.

Names in lines cannot control or flood the terminal. `spec/commands-2.schema.json` specifies the JSON of every command,
`spec/check-2.schema.json` the JSON of problems and errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, RenderableType
from rich.table import Table

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import shown

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


LONGEST_LINE = 2000
"""Longest printed line [characters]."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 state``, ``2 states``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_line(text: object, *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a text as one line, as the built-in `print` does."""
    print(shown(str(text), LONGEST_LINE), file=file, flush=flush)


def print_document(text: str) -> None:
    """Print a document for other programs in UTF-8, as the document declares, with any locale."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdout.write(text)


JSON_VERSION = 2
"""Increased when a key changes its meaning."""


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def wants_json(arguments: argparse.Namespace) -> bool:
    """Return True if standard output is for programs; errors are then JSON there."""
    # `check` uses --format instead.
    of_a_check = None if hasattr(arguments, "json") else getattr(arguments, "format", None)
    return getattr(arguments, "json", None) in (True, "-") or of_a_check == "json"


def print_result(result: Mapping[str, object]) -> None:
    """Print a command's result, JSON-ready values by key, with the version.

    Raises:
        RobotSemanticsError: as `print_json`.
    """
    print_json({"version": JSON_VERSION, **result})


def print_output(arguments: argparse.Namespace, result: Mapping[str, object], lines: Iterable[object]) -> None:
    """Print a command's result as JSON on request, as `print_result`; else as lines for people."""
    if arguments.json:
        print_result(result)
        return
    for line in lines:
        print_line(line)


def print_json(value: object) -> None:
    """Print a value as exact JSON without NaN, in any encoding of standard output.

    Raises:
        RobotSemanticsError: a number is not finite; then nothing is printed.
    """
    # Import here: `--version` and `--help` need no JSON.
    import json

    in_unicode = (sys.stdout.encoding or "utf-8").lower().replace("_", "-").startswith("utf-")
    try:
        text = json.dumps(value, indent=2, ensure_ascii=not in_unicode, allow_nan=False)
    except ValueError as error:
        raise RobotSemanticsError(
            "a result is too large for a 64-bit float, so it cannot be written as JSON"
        ) from error
    sys.stdout.write(text + "\n")


# Console for tables and trees; names may contain brackets and control characters.


def console_for_output() -> Console:
    """Return a console; without a terminal lines are not cut or folded: a pager or a file takes any length."""

    def console(width: int | None = None) -> Console:
        return Console(highlight=False, markup=False, emoji=False, width=width)

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


# Output of long commands to stderr: a progress bar with rate and remaining time on a terminal, and all problems.


def print_all(problems: Diagnostics) -> None:
    """Print every problem to stderr, with any number of them: they are not shown again."""
    for problem in problems:
        print(problem, file=sys.stderr)


class Bar:
    """Progress bar for several phases; use it in a `with`. Without a terminal it does nothing."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled and sys.stderr.isatty()
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
                console=Console(stderr=True),
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
