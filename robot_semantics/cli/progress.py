# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Output of long commands to stderr: a progress bar with rate and remaining time on a terminal, and all problems."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostics import Diagnostics

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


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
