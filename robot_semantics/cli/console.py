# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Console for tables and trees; names may contain brackets and control characters."""

from __future__ import annotations

from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

from robot_semantics.base.foreign_text import shown
from robot_semantics.cli.printing import LONGEST_LINE


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
