"""Lines for people: whatever names they hold, they neither steer a terminal nor fill it."""

from __future__ import annotations

from typing import TextIO

from robot_semantics.base.foreign_text import shown

LONGEST_LINE = 2000
"""Characters of a line that are printed at most."""


def say(text: object, *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a text as one line, as the built-in `print` does."""
    print(shown(str(text), LONGEST_LINE), file=file, flush=flush)
