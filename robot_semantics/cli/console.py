"""The console that tables and trees are printed on: names are shown as they are, whatever brackets they have."""

from __future__ import annotations

from rich.console import Console


def console_for_output() -> Console:
    """Return a console; without a terminal nothing is cut or folded: a pager or a file takes lines of any length."""

    def console(width: int | None = None) -> Console:
        return Console(highlight=False, markup=False, emoji=False, width=width)

    terminal = console()
    return terminal if terminal.is_terminal else console(10_000)
