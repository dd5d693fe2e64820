# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Output for people: rich on a terminal, plain text elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console
from rich.table import Table

from demo.comparison import Difference

FloatArray = npt.NDArray[np.float64]


class Report:
    """Prints the demo's steps and tables."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._console = Console(width=None if self._terminal else 110, highlight=self._terminal)

    @contextmanager
    def step(self, title: str) -> Iterator[list[str]]:
        """Show a step with its duration and its outcome, which the caller appends to the yielded list."""
        started = time.monotonic()
        outcome: list[str] = []
        if self._terminal:
            with self._console.status(title):
                yield outcome
        else:
            yield outcome
        words = f": {outcome[-1]}" if outcome else ""
        self._console.print(
            f"[bold]{title}[/bold]{words} [dim]({time.monotonic() - started:.1f} s)[/dim]", soft_wrap=True
        )

    def poses(self, rows: Sequence[tuple[str, FloatArray, FloatArray]]) -> None:
        """Show (7,) poses before and after, and their differences."""
        self._title("Poses in odom_combined, metres; before as the snapshot states them, after as TF has them")
        table = self._table()
        for column in ("link", "", "x y z", "qx qy qz qw", "difference"):
            table.add_column(column, no_wrap=True)
        for name, before, after in rows:
            # A quaternion and its negative are one orientation.
            same = after if before[3:] @ after[3:] >= 0.0 else np.concatenate((after[:3], -after[3:]))
            table.add_row(name, "before", _numbers(before[:3]), _numbers(before[3:]), "")
            apart = f"{np.abs(before - same).max():.1e}"
            table.add_row("", "after", _numbers(same[:3]), _numbers(same[3:]), apart)
        self._console.print(table)

    def differences(self, found: Sequence[Difference]) -> None:
        """Show the largest differences."""
        self._title("Largest differences between the snapshot and the restored simulation")
        table = self._table()
        for column in ("values", "number", "difference"):
            table.add_column(column, no_wrap=True)
        for item in found:
            table.add_row(f"{item.kind} [{item.unit}]".replace("[", "\\["), str(item.number), f"{item.largest:.1e}")
        self._console.print(table)

    def line(self, text: str) -> None:
        """Show a line."""
        self._console.print(text, soft_wrap=True)

    def _title(self, text: str) -> None:
        self._console.print(f"\n[bold]{text}[/bold]", soft_wrap=True)

    def _table(self) -> Table:
        return Table(box=box.SIMPLE if self._terminal else box.ASCII2, show_edge=False)


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{value:+.5f}" for value in values)
