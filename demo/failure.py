"""How the demo fails: with a reason."""

from __future__ import annotations


class DemoError(Exception):
    """The demo has not shown what it should; the message says what went wrong."""
