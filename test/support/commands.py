"""What tests of the command line share: running it in this process, and real robots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """What one run of the command gave."""

    code: int
    out: str
    err: str


RunCommand = Callable[..., Result]
