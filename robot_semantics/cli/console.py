"""The console that tables and trees are printed on: names are shown as they are, whatever brackets they have."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def console_for_output() -> Console:
    """Return a console; without a terminal nothing is cut or folded: a pager or a file takes lines of any length."""

    def console(width: int | None = None) -> Console:
        return Console(highlight=False, markup=False, emoji=False, width=width)

    terminal = console()
    return terminal if terminal.is_terminal else console(10_000)


def table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table; where it has to fold, it folds a cell rather than cut it."""
    made = Table(
        title=title,
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
